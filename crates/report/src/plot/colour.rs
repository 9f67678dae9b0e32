//! The palette: Okabe and Ito's colours that differ for every kind of colour vision, then two more.
//!
//! A corpus has the same colour and mark in every figure of a page. From the ninth corpus on colours return with a thinner
//! line; by then the labels carry the distinction.

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
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#6b7280", "#8c564b"];

/// Which of the palette's colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style(Option<usize>);

impl Style {
    /// The colour of text, for what belongs to no corpus.
    pub(crate) const NEUTRAL: Self = Self(None);

    /// The style of the corpus that is `index`th by name.
    pub(crate) fn of(index: usize) -> Self {
        Self(Some(index))
    }

    /// The colour, `#rrggbb`.
    pub(crate) fn colour(self) -> &'static str {
        self.0.map_or(INK, |index| PALETTE[index % PALETTE.len()])
    }

    /// The mark of the corpus: colours that grey or a kind of colour vision merges still differ by shape.
    pub(crate) fn mark(self) -> Mark {
        const MARKS: [Mark; 5] = [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Wedge];
        self.0.map_or(Mark::Disc, |index| MARKS[index % MARKS.len()])
    }

    /// Width of its lines in pixels.
    pub(super) fn width(self) -> f64 {
        if self.0.is_none_or(|index| index < PALETTE.len()) { 2.0 } else { 1.0 }
    }
}
