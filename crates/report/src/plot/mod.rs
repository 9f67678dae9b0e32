//! The wall around kuva: a drawing as data, and its SVG.
//!
//! A [`Drawing`] is a grid of [`Panel`]s under one legend; a panel has two axes, [`Series`] of marks and lines, and
//! guides. Everything is in the units of the data. Only `draw` knows pixels, and only `draw` knows kuva.
//!
//! kuva's scene and its SVG writer do the drawing; its automatic axes do not. On a log scale those span whole decades
//! and mark 1, 2 and 5 only, while a family's `-ln RBP_k` often spans a third of a decade.
//!
//! | file | what |
//! |---|---|
//! | `style` | how large a figure is beside its text |
//! | `axis`, `ticks` | scales and ranges; ticks that people would choose |
//! | `apart` | marks beside each other where error bars would cover one another |
//! | `clip` | lines cut where they leave the axes |
//! | `colour` | the palette, the same over all figures of a page |
//! | `label` | labels in the margin, pushed apart |
//! | `draw` | a drawing to SVG: panels, axes, labels, legend |
//! | `marks` | what stands inside the axes |
//! | `pen` | strokes and texts |
//! | `png` | the same drawing in pixels |

mod apart;
mod axis;
mod clip;
mod colour;
mod draw;
mod label;
mod marks;
mod pen;
mod png;
mod style;
#[cfg(test)]
mod tests;
mod ticks;

pub(crate) use axis::Axis;
pub(crate) use colour::Style;
pub(crate) use draw::svg;
pub(crate) use png::png;
pub use style::{FigureStyle, UnknownStyle};

/// A figure as it will be seen.
pub(crate) struct Drawing {
    /// What it shows, for those who cannot see it.
    pub(crate) title: String,
    /// Explains marks and lines that no label in a margin explains.
    pub(crate) legend: Vec<Key>,
    /// Panels by row.
    pub(crate) rows: Vec<Vec<Panel>>,
}

/// One entry of a legend.
pub(crate) struct Key {
    pub(crate) style: Style,
    pub(crate) sample: Sample,
    pub(crate) text: String,
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
    /// Whether marks at one place whose error bars would cover one another are set beside each other.
    pub(crate) apart: bool,
    /// Regions behind everything.
    pub(crate) shades: Vec<Shade>,
    /// Lines that mean something.
    pub(crate) guides: Vec<Guide>,
    pub(crate) series: Vec<Series>,
}

impl Panel {
    /// Empty axes.
    pub(crate) fn of(x: Axis, y: Axis, height: f64) -> Self {
        Self {
            heading: String::new(),
            notes: Vec::new(),
            x,
            y,
            height,
            apart: true,
            shades: Vec::new(),
            guides: Vec::new(),
            series: Vec::new(),
        }
    }
}

/// A region between two values of the horizontal axis, such as that beyond the data. Ends outside the axis are its ends.
pub(crate) struct Shade {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// What it is; not drawn where there is no room for it.
    pub(crate) text: String,
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

/// An end of the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Left,
    Right,
}

/// What is drawn in one colour; parts that are empty are not drawn.
pub(crate) struct Series {
    pub(crate) style: Style,
    /// The corpus (or variety, or domain) that it is of, for a page on which these can be switched off; empty for none.
    pub(crate) whose: String,
    pub(crate) line: Line,
    pub(crate) mark: Mark,
    /// The line, in data units.
    pub(crate) path: Vec<(f64, f64)>,
    /// Its continuation beyond the data, dotted.
    pub(crate) beyond: Vec<(f64, f64)>,
    /// An interval along the line: x with its lower and upper end, x ascending.
    pub(crate) band: Vec<(f64, f64, f64)>,
    /// The bars of a histogram.
    pub(crate) bars: Vec<Bar>,
    /// The marks.
    pub(crate) points: Vec<Point>,
    /// Whether error bars lie: their ends are values of the horizontal axis.
    pub(crate) lying: bool,
    /// Whether the line joins the marks, wherever these are set beside each other.
    pub(crate) joined: bool,
    /// Lines of text in the right margin, the first in bold; empty for none.
    pub(crate) label: Vec<String>,
}

impl Series {
    /// Nothing yet, in the colour and mark of `style`.
    pub(crate) fn of(style: Style, whose: &str) -> Self {
        Self {
            style,
            whose: whose.to_owned(),
            line: Line::Solid,
            mark: style.mark(),
            path: Vec::new(),
            beyond: Vec::new(),
            band: Vec::new(),
            bars: Vec::new(),
            points: Vec::new(),
            lying: false,
            joined: false,
            label: Vec::new(),
        }
    }

    /// Marks joined by a line.
    pub(crate) fn joined(style: Style, whose: &str, points: Vec<Point>) -> Self {
        Self { joined: true, points, ..Self::of(style, whose) }
    }
}

/// One bar of a histogram: from the foot of the axes (or zero, where that is higher) to its value.
pub(crate) struct Bar {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) value: f64,
    /// What a pointer that rests on it is told.
    pub(crate) tip: String,
}

/// One mark.
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Lower and upper end of its error bar, of y unless the series says that bars lie.
    pub(crate) bar: Option<(f64, f64)>,
    pub(crate) look: Look,
    /// What a pointer that rests on it is told.
    pub(crate) tip: String,
}

impl Point {
    /// A full mark without error bars.
    pub(crate) fn of(x: f64, y: f64, tip: String) -> Self {
        Self { x, y, bar: None, look: Look::Filled, tip }
    }
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
