//! Where the panels of a drawing stand: rows, broken where their panels would be too narrow, and
//! which titles of axes stand once for a row or for all of them.

use super::axes::Axes;
use super::pen::{LINE, SMALL, TEXT, width_of};
use super::{Axis, Drawing, FigureStyle, Mark, Panel, Series, Style};
use crate::format::shortened;

/// Between panels.
pub(super) const GAP: f64 = 14.0;
/// Left of axes with a title of their own: title and ticks of the y axis.
pub(super) const LEFT: f64 = 66.0;
/// The part of it that is the title's.
const TITLE: f64 = 18.0;
/// Below the axes: ticks of the x axis.
const TICKS: f64 = 26.0;
/// Below them: its title.
const BELOW: f64 = 20.0;
/// Right of axes without labels: half the last tick's text.
const RIGHT: f64 = 14.0;
/// The narrowest panel; where there is no room for all of a row, they stand above each other.
const NARROWEST: f64 = 250.0;
/// The tallest drawing in which a title stands once for all rows: in a taller one, of which a
/// screen shows a part, it would be out of sight of most panels.
const TALL: f64 = 1000.0;

/// Between axes and the text of labels.
pub(super) const LEADER: f64 = 32.0;
/// The axes' least share of a panel: where labels beside them would leave less, they stand above.
const AXES: f64 = 0.5;
/// The lowest axes that a style makes.
const LOWEST: f64 = 130.0;
/// Longest first line of a label, in characters.
pub(super) const LONGEST: usize = 30;

/// How a title of panels' axes stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Title<'a> {
    /// At each panel.
    Own,
    /// Once for the row; empty where there is none.
    Shared(&'a str),
}

/// Panels beside each other.
pub(super) struct Row<'a> {
    pub(super) panels: &'a [Panel],
    /// Width of each.
    pub(super) width: f64,
    pub(super) x: Title<'a>,
    pub(super) y: Title<'a>,
    style: FigureStyle,
}

/// All rows, with the titles that they share.
pub(super) struct Grid<'a> {
    pub(super) rows: Vec<Row<'a>>,
    pub(super) x: Option<&'a str>,
    pub(super) y: Option<&'a str>,
}

impl<'a> Grid<'a> {
    pub(super) fn new(drawing: &'a Drawing, style: FigureStyle) -> Self {
        let mut rows: Vec<Row<'a>> =
            broken(drawing, style).into_iter().map(|panels| Row::new(panels, style)).collect();
        let low = rows.iter().map(|row| row.height() + GAP).sum::<f64>() <= TALL;
        // A row without any title leaves it to the others.
        let once = |title: fn(&Row<'a>) -> Title<'a>| {
            let mut titles = rows.iter().map(title).filter(|title| *title != Title::Shared(""));
            match titles.next() {
                Some(Title::Shared(of)) if low => {
                    titles.all(|other| other == Title::Shared(of)).then_some(of)
                }
                _ => None,
            }
        };
        let (x, y) = (once(|row| row.x), once(|row| row.y));
        for row in &mut rows {
            row.x = if x.is_some() { Title::Shared("") } else { row.x };
        }
        Self { rows, x, y }
    }

    pub(super) fn height(&self) -> f64 {
        let rows = self.rows.iter().map(|row| row.height() + GAP).sum::<f64>();
        rows + if self.x.is_some() { BELOW } else { 0.0 }
    }
}

/// The rows of a drawing, broken where their panels would be too narrow; rows that belong together
/// are broken alike, so that a panel keeps what stands below it.
fn broken(drawing: &Drawing, style: FigureStyle) -> Vec<&[Panel]> {
    let most = (((style.width() + GAP) / (NARROWEST + GAP)) as usize).max(1);
    let mut broken = Vec::new();
    for rows in drawing.rows.chunks(drawing.together.max(1)) {
        let chunks = |row: &'_ [Panel]| {
            let pieces = row.len().div_ceil(most).max(1);
            row.len().div_ceil(pieces).max(1)
        };
        let mut parts: Vec<_> = rows.iter().map(|row| row.chunks(chunks(row))).collect();
        loop {
            let next: Vec<&[Panel]> = parts.iter_mut().filter_map(Iterator::next).collect();
            if next.is_empty() {
                break;
            }
            broken.extend(next);
        }
    }
    broken
}

/// What the names of a panel's rows need.
fn names(panel: &Panel) -> f64 {
    let names = panel.y.names().iter().map(|name| width_of(name, SMALL) + 16.0);
    names.fold(0.0, f64::max)
}

impl<'a> Row<'a> {
    fn new(panels: &'a [Panel], style: FigureStyle) -> Self {
        let shared = |title: fn(&Panel) -> &Axis| {
            let mut titles = panels.iter().map(|panel| title(panel).title.as_str());
            let first = titles.next().unwrap_or_default();
            if titles.all(|other| other == first) { Title::Shared(first) } else { Title::Own }
        };
        let (x, y) = (shared(|panel| &panel.x), shared(|panel| &panel.y));
        let y = if y == Title::Shared("") { Title::Own } else { y };
        let gaps = GAP * (panels.len() as f64 - 1.0);
        let strip = if y == Title::Own { 0.0 } else { TITLE };
        Self { panels, width: (style.width() - strip - gaps) / panels.len() as f64, x, y, style }
    }

    /// Where a panel begins.
    pub(super) fn start(&self, column: usize) -> f64 {
        self.strip() + column as f64 * (self.width + GAP)
    }

    /// Room for a title that the row shares.
    fn strip(&self) -> f64 {
        if self.y == Title::Own { 0.0 } else { TITLE }
    }

    /// Room to the left of the axes of a panel without the names of its rows.
    pub(super) fn ticks(&self) -> f64 {
        LEFT - self.strip()
    }

    pub(super) fn header(&self) -> f64 {
        self.panels.iter().map(|panel| header_height(panel, self.width)).fold(0.0, f64::max)
    }

    pub(super) fn height(&self) -> f64 {
        let heights = self.panels.iter().map(|panel| axes_height(panel, self.width, self.style));
        let titled = self.x != Title::Shared("");
        self.header() + heights.fold(0.0, f64::max) + TICKS + if titled { BELOW } else { 0.0 }
    }

    /// Room to the left of the axes: for the names of rows, where the axis has any.
    fn left(&self, panel: &Panel) -> f64 {
        f64::max(names(panel), self.ticks())
    }

    /// The axes of a panel, where the row begins at a height.
    pub(super) fn axes(&self, column: usize, y: f64) -> Axes<'a> {
        let panel = &self.panels[column];
        let (start, left) = (self.start(column), self.left(panel));
        let above = labels_above(panel, self.width);
        let top = y + self.header();
        Axes {
            x: &panel.x,
            y: &panel.y,
            left: start + left,
            right: start + self.width - if above { RIGHT } else { margin(panel) },
            top,
            bottom: top + axes_height(panel, self.width, self.style),
        }
    }
}

/// How high the axes of a panel are.
fn axes_height(panel: &Panel, width: f64, style: FigureStyle) -> f64 {
    // Never so low that the title of the axis does not fit beside it.
    let height = f64::max(panel.height * style.shrunk(), f64::min(panel.height, LOWEST));
    if labels_above(panel, width) { height } else { f64::max(height, labels_height(panel)) }
}

fn header_height(panel: &Panel, width: f64) -> f64 {
    let lines = header(panel, width).len() + usize::from(!panel.heading.is_empty());
    lines as f64 * LINE + 8.0
}

/// What the labels of a panel need at least.
fn labels_height(panel: &Panel) -> f64 {
    panel.series.iter().map(label_height).sum()
}

pub(super) fn label_height(series: &Series) -> f64 {
    if series.label.is_empty() { 0.0 } else { series.label.len() as f64 * LINE + 6.0 }
}

/// Room to the right of the axes for labels beside them.
fn margin(panel: &Panel) -> f64 {
    let widths = panel.series.iter().flat_map(|series| {
        series.label.iter().enumerate().map(|(at, label)| match at {
            // Bold is wider.
            0 => 1.25 * width_of(&shortened(label, LONGEST), TEXT),
            _ => width_of(label, SMALL),
        })
    });
    widths.fold(RIGHT, |margin, width| f64::max(margin, LEADER + 6.0 + width))
}

/// Whether labels beside the axes would take too much of the width.
pub(super) fn labels_above(panel: &Panel, width: f64) -> bool {
    let beside = margin(panel);
    beside > RIGHT && width - f64::max(names(panel), LEFT) - beside < AXES * width
}

/// A line between heading and axes.
pub(super) struct Note {
    pub(super) style: Style,
    /// The mark before it.
    pub(super) mark: Option<Mark>,
    pub(super) text: String,
}

/// The lines between heading and axes: the panel's notes, and the labels that have no room beside
/// the axes.
pub(super) fn header(panel: &Panel, width: f64) -> Vec<Note> {
    let note = |(style, text): &(Style, String)| {
        let mark = (*style != Style::NEUTRAL).then(|| style.mark());
        Note { style: *style, mark, text: text.clone() }
    };
    let mut lines: Vec<Note> = panel.notes.iter().map(note).collect();
    if labels_above(panel, width) {
        let labelled = panel.series.iter().filter(|series| !series.label.is_empty());
        lines.extend(labelled.flat_map(|series| {
            let note = |mark, text| Note { style: series.style, mark, text };
            let whole = series.label.join(", ");
            match series.label.as_slice() {
                [name, rest @ ..] if !rest.is_empty() && 30.0 + width_of(&whole, SMALL) > width => {
                    vec![
                        note(Some(series.mark), shortened(name, LONGEST)),
                        note(None, rest.join(", ")),
                    ]
                }
                _ => vec![note(Some(series.mark), whole)],
            }
        }));
    }
    lines
}
