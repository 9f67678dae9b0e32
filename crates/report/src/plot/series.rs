//! Rows of a frame as they are drawn in one colour: marks, lines, bands, bars.
//!
//! The fields of a series are filled from the cells of rows that columns name, here and nowhere
//! else.

use super::{Axis, Line, Look, Mark, Style};
use crate::frame::{FrameRow, Rows};

/// What is drawn in one colour; parts that are empty are not drawn.
pub(crate) struct Series {
    pub(super) style: Style,
    /// The corpus (or variety, or domain) that it is of, for a page on which these can be switched
    /// off; empty for none.
    pub(super) whose: String,
    pub(super) line: Line,
    pub(super) mark: Mark,
    /// The line, in data units.
    pub(super) path: Vec<(f64, f64)>,
    /// Its continuation beyond the data, dotted.
    pub(super) beyond: Vec<(f64, f64)>,
    /// An interval along the line: x with its lower and upper end, x ascending.
    pub(super) band: Vec<(f64, f64, f64)>,
    /// The bars of a histogram.
    pub(super) bars: Vec<Bar>,
    /// The marks.
    pub(super) points: Vec<Point>,
    /// Whether error bars lie: their ends are values of the horizontal axis.
    pub(super) lying: bool,
    /// Whether the line joins the marks, wherever these are set beside each other.
    pub(super) joined: bool,
    /// Lines of text in the right margin, the first in bold; empty for none.
    pub(super) label: Vec<String>,
}

/// One bar of a histogram: from the foot of the axes (or zero, where that is higher) to its value.
pub(super) struct Bar {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) value: f64,
    /// What a pointer that rests on it is told.
    pub(super) tip: String,
}

/// One mark.
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Lower and upper end of its error bar, of y unless the series says that bars lie.
    pub(super) bar: Option<(f64, f64)>,
    pub(super) look: Look,
    /// What a pointer that rests on it is told.
    pub(super) tip: String,
}

impl Series {
    /// Nothing yet, in the colour and mark of `style`.
    pub(crate) fn new(style: Style, whose: &str) -> Self {
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

    /// With another kind of line.
    pub(crate) fn stroke(self, line: Line) -> Self {
        Self { line, ..self }
    }

    /// With another mark.
    pub(crate) fn shape(self, mark: Mark) -> Self {
        Self { mark, ..self }
    }

    /// With a text in the right margin, its first line in bold.
    pub(crate) fn label(self, label: Vec<String>) -> Self {
        Self { label, ..self }
    }

    /// With a line through some rows, by x.
    pub(crate) fn line(self, rows: &Rows<'_>, x: impl Into<Num>, y: impl Into<Num>) -> Self {
        Self { path: line(rows, &x.into(), &y.into()), ..self }
    }

    /// With a dotted line through some rows: it goes on where there are no data.
    pub(crate) fn beyond(self, rows: &Rows<'_>, x: impl Into<Num>, y: impl Into<Num>) -> Self {
        Self { beyond: line(rows, &x.into(), &y.into()), ..self }
    }

    /// With an interval along some rows.
    pub(crate) fn band(self, rows: &Rows<'_>, x: &'static str, ends: [&'static str; 2]) -> Self {
        let at = |row: FrameRow<'_>| {
            row.ends(ends).zip(row.number(x)).map(|((low, high), x)| (x, low, high))
        };
        let mut band: Vec<_> = rows.iter().filter_map(at).collect();
        band.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { band, ..self }
    }

    /// With a bar for each of some rows, as a histogram has.
    pub(crate) fn bars(
        self,
        rows: &Rows<'_>,
        [from, to]: [Num; 2],
        value: &'static str,
        tip: impl Fn(FrameRow<'_>) -> String,
    ) -> Self {
        let bar = |row: FrameRow<'_>| {
            Some(Bar {
                from: from.at(row)?,
                to: to.at(row)?,
                value: row.number(value)?,
                tip: tip(row),
            })
        };
        Self { bars: rows.iter().filter_map(bar).collect(), ..self }
    }

    /// With marks.
    pub(crate) fn marks(self, marks: Marks<'_>) -> Self {
        Self { points: marks.points.into_iter().map(|(_, point)| point).collect(), ..self }
    }

    /// With marks whose error bars lie.
    pub(crate) fn lying(self, marks: Marks<'_>) -> Self {
        Self { lying: true, ..self.marks(marks) }
    }

    /// With marks, in their order joined by the line.
    pub(crate) fn joined(self, marks: Marks<'_>) -> Self {
        Self { joined: true, ..self.marks(marks) }
    }

    /// Every place along the horizontal axis, but those of bands.
    pub(super) fn places(&self) -> impl Iterator<Item = f64> {
        let lines = self.path.iter().chain(&self.beyond).map(|(x, _)| *x);
        let bars = self.bars.iter().flat_map(|bar| [bar.from, bar.to]);
        lines.chain(bars).chain(self.points.iter().map(|point| point.x)).chain(self.ends(true))
    }

    /// The heights of its marks.
    pub(crate) fn marked(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|point| point.y)
    }

    /// Every height, but those of bands, which may be many times wider than all else.
    pub(crate) fn heights(&self) -> impl Iterator<Item = f64> {
        let lines = self.path.iter().chain(&self.beyond).map(|(_, y)| *y);
        let bars = self.bars.iter().map(|bar| bar.value);
        lines.chain(bars).chain(self.marked()).chain(self.ends(false))
    }

    /// The ends of its error bars, if they lie so.
    fn ends(&self, lying: bool) -> impl Iterator<Item = f64> {
        let points = self.points.iter().filter(move |_| self.lying == lying);
        points.filter_map(|point| point.bar).flat_map(|(low, high)| [low, high])
    }

    /// Whether nothing is drawn.
    pub(crate) fn is_bare(&self) -> bool {
        self.places().next().is_none() && self.band.is_empty()
    }
}

fn line(rows: &Rows<'_>, x: &Num, y: &Num) -> Vec<(f64, f64)> {
    let mut line: Vec<_> = rows.iter().filter_map(|row| Some((x.at(row)?, y.at(row)?))).collect();
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    line
}

/// Marks of some rows: of those that have both numbers.
pub(crate) struct Marks<'f> {
    points: Vec<(FrameRow<'f>, Point)>,
}

impl<'f> Marks<'f> {
    /// Full marks without error bars, each with what it tells a pointer.
    pub(crate) fn at(
        rows: &Rows<'f>,
        x: impl Into<Num>,
        y: impl Into<Num>,
        tip: impl Fn(FrameRow<'f>) -> String,
    ) -> Self {
        let (x, y) = (x.into(), y.into());
        let point = |row| {
            let (x, y) = (x.at(row)?, y.at(row)?);
            Some((row, Point { x, y, bar: None, look: Look::Filled, tip: tip(row) }))
        };
        Self { points: rows.iter().filter_map(point).collect() }
    }

    /// With error bars.
    pub(crate) fn error(self, low: impl Into<Num>, high: impl Into<Num>) -> Self {
        self.error_where(|_| true, low, high)
    }

    /// With error bars on some.
    pub(crate) fn error_where(
        mut self,
        which: impl Fn(FrameRow<'f>) -> bool,
        low: impl Into<Num>,
        high: impl Into<Num>,
    ) -> Self {
        let (low, high) = (low.into(), high.into());
        for (row, point) in self.points.iter_mut().filter(|(row, _)| which(*row)) {
            point.bar = low.at(*row).zip(high.at(*row));
        }
        self
    }

    /// With a look for each.
    pub(crate) fn look(mut self, look: impl Fn(FrameRow<'f>) -> Look) -> Self {
        for (row, point) in &mut self.points {
            point.look = look(*row);
        }
        self
    }

    /// With one look for all.
    pub(crate) fn all(self, look: Look) -> Self {
        self.look(|_| look)
    }
}

/// A number of each row: that of a column, or one that follows from columns alone.
pub(crate) struct Num(Box<dyn Fn(FrameRow<'_>) -> Option<f64>>);

impl Num {
    /// What follows from the numbers of some columns; none where one of them is empty. A plain
    /// function: it can bring no number that the row does not have.
    pub(crate) fn made<const N: usize>(
        columns: [&'static str; N],
        of: fn([f64; N]) -> f64,
    ) -> Self {
        Self(Box::new(move |row| {
            let mut numbers = [0.0; N];
            for (number, column) in numbers.iter_mut().zip(columns) {
                *number = row.number(column)?;
            }
            Some(of(numbers))
        }))
    }

    /// The place of a column's text on an axis of [`rows`](Axis::rows), and a little above it.
    pub(crate) fn row(column: &'static str, names: &[String], above: f64) -> Self {
        let names = names.to_vec();
        Self(Box::new(move |row| {
            let at = names.iter().position(|name| name == row.text(column))?;
            Some(Axis::row(at) + above)
        }))
    }

    fn at(&self, row: FrameRow<'_>) -> Option<f64> {
        self.0(row)
    }
}

impl From<&'static str> for Num {
    fn from(column: &'static str) -> Self {
        Self(Box::new(move |row| row.number(column)))
    }
}

#[cfg(test)]
impl Point {
    /// A full mark without error bars.
    pub(super) fn new(x: f64, y: f64, tip: String) -> Self {
        Self { x, y, bar: None, look: Look::Filled, tip }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    fn frame() -> Frame {
        Frame::from_rows([(3.0, Some(0.3)), (1.0, Some(0.1)), (2.0, None)])
            .column("x", |(x, _)| x)
            .column("y", |(_, y)| y)
            .ends(["low", "high"], |(_, y)| Some((y? - 0.01, y? + 0.01)))
            .column("name", |(x, _)| if x > 1.0 { "many" } else { "one" })
            .frame()
    }

    #[test]
    fn a_series_holds_the_cells_that_its_columns_name_and_no_others() {
        let frame = frame();
        let rows = frame.rows();
        let marks = Marks::at(&rows, "x", "y", |row| row.text("name").to_owned());
        let marks = marks.error("low", "high").look(|row| Look::claimed(row.text("name") == "one"));
        let series = Series::new(Style::NEUTRAL, "").marks(marks).line(&rows, "x", "y");
        let series = series.band(&rows, "x", ["low", "high"]);
        assert_eq!(series.path, [(1.0, 0.1), (3.0, 0.3)], "a row without y is not drawn; by x");
        assert_eq!(series.band, [(1.0, 0.1 - 0.01, 0.1 + 0.01), (3.0, 0.3 - 0.01, 0.3 + 0.01)]);
        let [many, one] = series.points.as_slice() else { panic!("two rows have both") };
        assert_eq!((many.x, many.y, many.look), (3.0, 0.3, Look::Hollow));
        assert_eq!(one.bar, Some((0.1 - 0.01, 0.1 + 0.01)));
        assert_eq!((one.look, one.tip.as_str()), (Look::Filled, "one"));
    }

    #[test]
    fn what_follows_from_columns_is_empty_where_one_of_them_is() {
        let frame = frame();
        let sum = Num::made(["x", "y"], |[x, y]| x + y);
        let found: Vec<Option<f64>> = frame.rows().iter().map(|row| sum.at(row)).collect();
        assert_eq!(found, [Some(3.3), Some(1.1), None]);
        let names = ["one".to_owned(), "many".to_owned()];
        let place = Num::row("name", &names, 0.25);
        let found: Vec<Option<f64>> = frame.rows().iter().map(|row| place.at(row)).collect();
        assert_eq!(found, [Some(-0.75), Some(0.25), Some(-0.75)]);
    }

    #[test]
    fn without_rows_nothing_is_drawn() {
        let (full, empty) = (frame(), frame().emptied());
        let drawn = |frame: &Frame| {
            let rows = frame.rows();
            let series = Series::new(Style::NEUTRAL, "").line(&rows, "x", "y");
            series.joined(Marks::at(&rows, "x", "y", |_| String::new())).is_bare()
        };
        assert!(!drawn(&full) && drawn(&empty));
    }

    #[test]
    #[should_panic(expected = "\"size\", which its table does not have")]
    fn a_column_that_the_table_lacks_is_refused() {
        let _ = Series::new(Style::NEUTRAL, "").line(&frame().rows(), "size", "y");
    }
}
