//! The wall around kuva: what the rows of a frame look like, and its SVG.
//!
//! A [`Drawing`] is a grid of [`Panel`]s under one legend; a panel has two axes, [`Series`] of
//! marks and lines, and guides. A series takes its numbers from rows of a
//! [`Frame`](crate::frame::Frame) by the names of columns, and from nowhere else, so a figure
//! cannot draw what its table lacks. Everything is in the units of the data. Only `draw` knows
//! pixels, and only `draw` knows kuva.
//!
//! kuva's scene and its SVG writer do the drawing; its automatic axes do not. On a log scale those
//! span whole decades and mark 1, 2 and 5 only, while a family's `-ln RBP_k` often spans a third of
//! a decade.
//!
//! | file | what |
//! |---|---|
//! | `series` | rows of a frame as marks, lines, bands and bars of one colour |
//! | `style` | how large a figure is beside its text |
//! | `axis`, `ticks` | scales that hold what is drawn; ticks that people would choose |
//! | `axes` | where they stand on the page: data to pixels |
//! | `apart` | marks beside each other where error bars would cover one another |
//! | `clip` | lines cut where they leave the axes |
//! | `colour` | the palette, the same over all figures of a page |
//! | `label` | labels in the margin, pushed apart |
//! | `grid` | rows of panels, and which titles of axes they share |
//! | `draw` | a drawing to SVG: panels, axes, labels, legend |
//! | `lean` | an SVG in fewer bytes |
//! | `marks` | what stands inside the axes |
//! | `pen` | strokes and texts |
//! | `png` | the same drawing in pixels |

mod apart;
mod axes;
mod axis;
mod clip;
mod colour;
mod draw;
mod grid;
mod label;
mod lean;
mod marks;
mod pen;
mod png;
mod series;
mod style;
#[cfg(test)]
mod tests;
mod ticks;

pub(crate) use axis::Axis;
pub(crate) use colour::Style;
pub(crate) use draw::svg;
pub(crate) use lean::untold;
pub(crate) use png::png;
pub(crate) use series::{Marks, Num, Series};
pub use style::{FigureStyle, UnknownStyle};

/// A figure as it will be seen.
pub(crate) struct Drawing {
    /// What it shows, for those who cannot see it.
    pub(crate) title: String,
    /// Explains marks and lines that no label in a margin explains.
    pub(crate) legend: Vec<Key>,
    /// Panels by row.
    pub(crate) rows: Vec<Vec<Panel>>,
    /// How many rows after each other belong together, a panel to what stands below it: where there
    /// is no room for a row they are broken alike.
    pub(crate) together: usize,
}

impl Drawing {
    /// Rows of panels under a legend.
    pub(crate) fn new(legend: Vec<Key>, rows: Vec<Vec<Panel>>) -> Self {
        Self { title: String::new(), legend, rows, together: 1 }
    }

    /// One panel.
    pub(crate) fn one(legend: Vec<Key>, panel: Panel) -> Self {
        Self::new(legend, vec![vec![panel]])
    }

    /// Panels in rows of at most `columns`.
    pub(crate) fn wrapped(legend: Vec<Key>, panels: Vec<Panel>, columns: usize) -> Self {
        let mut panels = panels.into_iter().peekable();
        let mut rows = Vec::new();
        while panels.peek().is_some() {
            rows.push(panels.by_ref().take(columns).collect());
        }
        Self::new(legend, rows)
    }

    /// The same, each row with the one below it.
    pub(crate) fn paired(self) -> Self {
        Self { together: 2, ..self }
    }

    /// Whether nothing stands inside its axes but guides.
    pub(crate) fn is_bare(&self) -> bool {
        self.rows.iter().flatten().flat_map(|panel| &panel.series).all(Series::is_bare)
    }
}

/// One entry of a legend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    style: Style,
    sample: Sample,
    text: String,
}

impl Key {
    /// Of what a sample shows.
    pub(crate) fn new(style: Style, sample: Sample, text: impl Into<String>) -> Self {
        Self { style, sample, text: text.into() }
    }

    /// Of a line with the mark of its colour.
    pub(crate) fn series(style: Style, text: impl Into<String>) -> Self {
        Self::new(style, Sample::Series(Line::Solid, style.mark()), text)
    }

    /// Of a line in the colour of text.
    pub(crate) fn line(line: Line, text: impl Into<String>) -> Self {
        Self::new(Style::NEUTRAL, Sample::Line(line), text)
    }

    /// Of a mark in the colour of text.
    pub(crate) fn mark(mark: Mark, look: Look, text: impl Into<String>) -> Self {
        Self::new(Style::NEUTRAL, Sample::Mark(mark, look), text)
    }

    /// A key for each corpus (or variety, or domain) that has a series in some panels.
    pub(crate) fn each<'a>(panels: impl IntoIterator<Item = &'a Panel>) -> Vec<Self> {
        let mut keys: Vec<Self> = Vec::new();
        for series in panels.into_iter().flat_map(|panel| &panel.series) {
            if !series.whose.is_empty() && !keys.iter().any(|key| key.text == series.whose) {
                keys.push(Self::series(series.style, &series.whose));
            }
        }
        keys
    }
}

/// What a legend shows of what it explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sample {
    /// A line with its mark.
    Series(Line, Mark),
    Line(Line),
    Mark(Mark, Look),
    /// The area of a band.
    Band,
}

/// One pair of axes with what is drawn in them.
pub(crate) struct Panel {
    /// In bold above the axes; empty for none.
    pub(crate) heading: String,
    /// Coloured lines below the heading.
    pub(crate) notes: Vec<(Style, String)>,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Height of the axes in pixels of a page.
    pub(crate) height: f64,
    /// Whether marks at one place whose error bars would cover one another are set beside each
    /// other.
    pub(crate) apart: bool,
    /// Regions behind everything.
    pub(crate) shades: Vec<Shade>,
    /// Lines that mean something.
    pub(crate) guides: Vec<Guide>,
    pub(crate) series: Vec<Series>,
}

impl Panel {
    /// Axes that hold some series.
    pub(crate) fn new(x: Axis, y: Axis, height: f64, series: Vec<Series>) -> Self {
        let (across, up) =
            (series.iter().flat_map(Series::places), series.iter().flat_map(Series::heights));
        Self {
            heading: String::new(),
            notes: Vec::new(),
            x: x.around(across),
            y: y.around(up),
            height,
            apart: true,
            shades: Vec::new(),
            guides: Vec::new(),
            series,
        }
    }

    /// Gives the vertical axes of some panels one length in units of the scale: on log axes equal
    /// slopes are then equal exponents.
    pub(crate) fn equal_spans(panels: &mut [Self]) {
        let span = panels.iter().map(|panel| panel.y.span()).fold(0.0, f64::max);
        for panel in panels {
            panel.y.widen(span);
        }
    }
}

/// A region between two values of the horizontal axis, such as that beyond the data. Ends outside
/// the axis are its ends.
pub(crate) struct Shade {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// What it is; not drawn where there is no room for it.
    pub(crate) text: &'static str,
}

impl Shade {
    /// All above a value.
    pub(crate) fn above(from: f64, text: &'static str) -> Self {
        Self { from, to: f64::INFINITY, text }
    }

    /// All below a value.
    pub(crate) fn below(to: f64, text: &'static str) -> Self {
        Self { from: f64::NEG_INFINITY, to, text }
    }
}

/// A line across the axes with what it means.
pub(crate) enum Guide {
    /// At a value of the vertical axis.
    Level {
        at: f64,
        text: String,
        /// At which end the text stands: that where the curves keep away from it.
        end: End,
    },
    /// At a value of the horizontal axis.
    Upright { at: f64, text: String },
}

impl Guide {
    /// At a value of the vertical axis, with its meaning at an end.
    pub(crate) fn level(at: f64, text: impl Into<String>, end: End) -> Self {
        Self::Level { at, text: text.into(), end }
    }

    /// At a value of the horizontal axis.
    pub(crate) fn upright(at: f64) -> Self {
        Self::Upright { at, text: String::new() }
    }
}

/// An end of the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Left,
    Right,
}

/// What a mark says about its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// A full mark: the law was fitted to it.
    Filled,
    /// An outline: there, but not to be relied on.
    Hollow,
    /// An outline with a dot: kept from the fit that is drawn.
    HeldOut,
}

impl Look {
    /// Hollow unless a claim rests on it.
    pub(crate) fn claimed(claimed: bool) -> Self {
        if claimed { Self::Filled } else { Self::Hollow }
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Solid,
    Dashed,
    Dotted,
    DashDot,
}

/// The shape of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Disc,
    Square,
    Triangle,
    Diamond,
    /// A triangle on its tip.
    Wedge,
}
