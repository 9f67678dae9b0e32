//! The palette: Okabe and Ito's colours that differ for every kind of colour vision, two of them
//! darkened to stand out on paper, then two more.
//!
//! A corpus has the same colour and mark in every figure of a page. From the ninth corpus on
//! colours return with a thinner line; by then the labels carry the distinction.

use super::Mark;

/// Text and axes.
pub(super) const INK: &str = "#1f2328";
/// Text that matters less.
pub(super) const MUTED: &str = "#59636e";
/// Grid lines.
pub(super) const GRID: &str = "#e4e7eb";
/// Regions where there are no data.
pub(super) const SHADE: &str = "#f3f1ec";
/// The background.
pub(super) const PAPER: &str = "#ffffff";

const PALETTE: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#3792cb", "#b07800", "#6b7280", "#8c564b"];

/// Viridis from dark to where it still stands out on paper, then on through its hues no lighter:
/// for what has an order, such as a length. The page has a lighter scale for dark screens.
const STEPS: [&str; 7] =
    ["#440154", "#472f7d", "#39568c", "#28788e", "#1a8f86", "#3f8f3a", "#7f8500"];

/// Which colour, and with it which mark and width of line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The colour of text, for what belongs to no corpus.
    Neutral,
    /// Of the palette.
    Named(usize),
    /// Of an ordered scale: place in [`STEPS`], place in the order.
    Step(usize, usize),
}

impl Style {
    /// The colour of text, for what belongs to no corpus.
    pub(crate) const NEUTRAL: Self = Self::Neutral;

    /// The style of the corpus that is `index`th by name.
    pub(crate) fn for_corpus(index: usize) -> Self {
        Self::Named(index)
    }

    /// The style of the `index`th of `count` things in an order: darkest first, lightest last, in
    /// grey too.
    pub(crate) fn step(index: usize, count: usize) -> Self {
        let last = STEPS.len() - 1;
        // A few lie apart on the scale, but not up to its palest end.
        let gaps = count.saturating_sub(1).max(4);
        Self::Step((index * last).div_ceil(gaps).min(last), index)
    }

    /// The colour, `#rrggbb`.
    pub(crate) fn colour(self) -> &'static str {
        match self {
            Self::Neutral => INK,
            Self::Named(index) => PALETTE[index % PALETTE.len()],
            Self::Step(at, _) => STEPS[at],
        }
    }

    /// The mark of the corpus: colours that grey or a kind of colour vision merges still differ by
    /// shape.
    pub(crate) fn mark(self) -> Mark {
        const MARKS: [Mark; 5] =
            [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Wedge];
        match self {
            Self::Neutral => Mark::Disc,
            Self::Named(index) | Self::Step(_, index) => MARKS[index % MARKS.len()],
        }
    }

    /// Width of its lines in pixels.
    pub(super) fn width(self) -> f64 {
        match self {
            Self::Named(index) if index >= PALETTE.len() => 1.0,
            _ => 2.0,
        }
    }
}
