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
//! | `axis` | scales, ranges, ticks that people would choose |
//! | `apart` | marks beside each other where error bars would cover one another |
//! | `colour` | the palette, the same over all figures of a page |
//! | `label` | labels in the margin, pushed apart |
//! | `draw` | a drawing to SVG |

mod apart;
mod axis;
mod colour;
mod draw;
mod label;

pub(crate) use axis::Axis;
pub(crate) use colour::Style;
pub(crate) use draw::svg;

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
    pub(crate) line: Line,
    pub(crate) mark: Mark,
    pub(crate) text: String,
}

/// One pair of axes with what is drawn in them.
pub(crate) struct Panel {
    /// In bold above the axes; empty for none.
    pub(crate) heading: String,
    /// Coloured lines below the heading.
    pub(crate) notes: Vec<(Style, String)>,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Height of the axes in pixels.
    pub(crate) height: f64,
    /// Horizontal lines that mean something.
    pub(crate) guides: Vec<Guide>,
    pub(crate) series: Vec<Series>,
}

/// A horizontal line with what it means.
pub(crate) struct Guide {
    pub(crate) at: f64,
    pub(crate) text: String,
    /// At which end the text stands: that where the curves keep away from it.
    pub(crate) end: End,
}

/// An end of the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Left,
    Right,
}

/// Marks and a line of one colour.
pub(crate) struct Series {
    pub(crate) style: Style,
    pub(crate) line: Line,
    pub(crate) mark: Mark,
    /// The line, in data units.
    pub(crate) path: Vec<(f64, f64)>,
    /// The marks.
    pub(crate) points: Vec<Point>,
    /// Lines of text in the right margin, the first in bold; empty for none.
    pub(crate) label: Vec<String>,
}

/// One mark.
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Lower and upper end of its error bar.
    pub(crate) bar: Option<(f64, f64)>,
    /// Drawn as an outline: there, but not to be relied on.
    pub(crate) hollow: bool,
    /// What a pointer that rests on it is told.
    pub(crate) tip: String,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Solid,
    Dashed,
}

/// The shape of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Disc,
    Diamond,
}
