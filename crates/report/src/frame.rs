//! A table with named columns: the numbers of a figure. Written, it is the figure's CSV (RFC 4180);
//! read by column name, it is what the figure's drawing encodes.
//!
//! A frame is selected from a result row by row, column by column ([`Frame::from_rows`]), and
//! frames of several kinds of rows are stacked by the names of their columns ([`Frame::stacked`]).

use std::fmt::Write;

use relscale_records::spreadsheet;

use crate::format;

/// Columns of one length.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Frame {
    columns: Vec<Column>,
    length: usize,
}

#[derive(Debug, Clone, PartialEq)]
struct Column {
    name: &'static str,
    cells: Vec<Datum>,
}

/// What one cell of a frame holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Datum {
    Text(String),
    /// Written with the fewest digits that give the same number back.
    Number(f64),
    Count(u64),
    Flag(bool),
    Empty,
}

impl Frame {
    /// Begins a frame with a row for each of `rows`.
    pub(crate) fn from_rows<T: Copy>(rows: impl IntoIterator<Item = T>) -> Selection<T> {
        Selection { rows: rows.into_iter().collect(), columns: Vec::new() }
    }

    /// Frames one below the other. Columns are joined by name, in the order in which they are first
    /// met; cells of columns that a frame does not have are empty.
    pub(crate) fn stacked(frames: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for frame in frames {
            for column in frame.columns {
                match all.columns.iter_mut().find(|known| known.name == column.name) {
                    Some(known) => known.cells.extend(column.cells),
                    None => {
                        let mut cells = vec![Datum::Empty; all.length];
                        cells.extend(column.cells);
                        all.columns.push(Column { name: column.name, cells });
                    }
                }
            }
            all.length += frame.length;
            for column in &mut all.columns {
                column.cells.resize(all.length, Datum::Empty);
            }
        }
        all
    }

    /// The same with columns before all others that say one thing in every row.
    pub(crate) fn led<const N: usize>(mut self, by: [(&'static str, Datum); N]) -> Self {
        let leading = by.map(|(name, cell)| Column { name, cells: vec![cell; self.length] });
        self.columns.splice(0..0, leading);
        self
    }

    /// Whether it has this column.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|known| known.name == column)
    }

    /// Its columns without a row.
    pub(crate) fn emptied(&self) -> Self {
        let columns =
            self.columns.iter().map(|column| Column { name: column.name, cells: Vec::new() });
        Self { columns: columns.collect(), length: 0 }
    }

    /// All rows.
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows { frame: self, at: (0..self.length).collect() }
    }

    /// The table as text, lines ended by a line feed.
    pub(crate) fn to_csv(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let mut text = names.join(",");
        text.push('\n');
        for row in 0..self.length {
            for (at, column) in self.columns.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                // Writing to a string cannot fail.
                let _ = match &column.cells[row] {
                    Datum::Text(value) => write!(text, "{}", quoted(value)),
                    Datum::Number(value) => write!(text, "{value}"),
                    Datum::Count(value) => write!(text, "{value}"),
                    Datum::Flag(value) => write!(text, "{value}"),
                    Datum::Empty => Ok(()),
                };
            }
            text.push('\n');
        }
        text
    }
}

/// As spreadsheets take it for a text, and in quotes where it would otherwise end the cell.
fn quoted(text: &str) -> String {
    let text = spreadsheet::cell(text);
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}

/// Rows whose columns are being named.
pub(crate) struct Selection<T> {
    rows: Vec<T>,
    columns: Vec<Column>,
}

impl<T: Copy> Selection<T> {
    /// A further column.
    pub(crate) fn column<C: Into<Datum>>(
        mut self,
        name: &'static str,
        cell: impl Fn(T) -> C,
    ) -> Self {
        let cells = self.rows.iter().map(|row| cell(*row).into()).collect();
        self.columns.push(Column { name, cells });
        self
    }

    /// Two further columns: the ends of an interval.
    pub(crate) fn ends(
        self,
        names: [&'static str; 2],
        ends: impl Fn(T) -> Option<(f64, f64)>,
    ) -> Self {
        let [low, high] = names;
        self.column(low, |row| Some(ends(row)?.0)).column(high, |row| Some(ends(row)?.1))
    }

    /// A further column whose cells rows of another kind fill.
    pub(crate) fn empty(self, name: &'static str) -> Self {
        self.column(name, |_| Datum::Empty)
    }

    /// The frame.
    pub(crate) fn frame(self) -> Frame {
        Frame { length: self.rows.len(), columns: self.columns }
    }
}

/// Some rows of a frame, in its order.
#[derive(Clone)]
pub(crate) struct Rows<'f> {
    frame: &'f Frame,
    at: Vec<usize>,
}

impl<'f> Rows<'f> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = FrameRow<'f>> + use<'f, '_> {
        self.at.iter().map(|&at| FrameRow { frame: self.frame, at })
    }

    /// Those that `keep` wants.
    pub(crate) fn only(&self, keep: impl Fn(FrameRow<'f>) -> bool) -> Self {
        Self {
            frame: self.frame,
            at: self.iter().filter(|row| keep(*row)).map(|row| row.at).collect(),
        }
    }

    /// Those with this text in a column.
    pub(crate) fn matching(&self, column: &str, text: &str) -> Self {
        self.only(|row| row.text(column) == text)
    }

    /// Those with this count in a column.
    pub(crate) fn at(&self, column: &str, count: u32) -> Self {
        self.only(|row| row.number(column) == Some(f64::from(count)))
    }

    /// Those with a number above `bound` in a column.
    pub(crate) fn above(&self, column: &str, bound: f64) -> Self {
        self.only(|row| row.number(column) > Some(bound))
    }

    /// Those with something in a column.
    pub(crate) fn with(&self, column: &str) -> Self {
        self.only(|row| *row.cell(column) != Datum::Empty)
    }

    /// The rows of each thing that a column names, in the order in which they are first met.
    pub(crate) fn by(&self, column: &str) -> Vec<Self> {
        let mut parts: Vec<(&'f Datum, Self)> = Vec::new();
        for row in self.iter() {
            let cell = row.cell(column);
            match parts.iter_mut().find(|(known, _)| *known == cell) {
                Some((_, part)) => part.at.push(row.at),
                None => parts.push((cell, Self { frame: self.frame, at: vec![row.at] })),
            }
        }
        parts.into_iter().map(|(_, part)| part).collect()
    }

    pub(crate) fn first(&self) -> Option<FrameRow<'f>> {
        self.iter().next()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// The text of a column in the first row; empty when there is none.
    pub(crate) fn text(&self, column: &str) -> &'f str {
        self.first().map_or("", |row| row.text(column))
    }

    /// The numbers of a column.
    pub(crate) fn numbers(&self, column: &str) -> Vec<f64> {
        self.iter().filter_map(|row| row.number(column)).collect()
    }

    /// The smallest and the largest number of a column; infinity and zero when there is none.
    pub(crate) fn range(&self, column: &str) -> (f64, f64) {
        let numbers = self.numbers(column).into_iter();
        numbers
            .fold((f64::INFINITY, 0.0), |(low, high), at| (f64::min(low, at), f64::max(high, at)))
    }
}

/// One row of a frame.
#[derive(Clone, Copy)]
pub(crate) struct FrameRow<'f> {
    frame: &'f Frame,
    /// Its place in the frame.
    pub(crate) at: usize,
}

impl<'f> FrameRow<'f> {
    /// A cell.
    ///
    /// # Panics
    /// When the frame has no such column: what is shown of a figure is in its table.
    fn cell(&self, column: &str) -> &'f Datum {
        match self.frame.columns.iter().find(|known| known.name == column) {
            Some(known) => &known.cells[self.at],
            None => panic!("a figure encodes the column {column:?}, which its table does not have"),
        }
    }

    /// A number or count; none where the cell is empty.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        match self.cell(column) {
            Datum::Number(value) => Some(*value),
            Datum::Count(value) => Some(*value as f64),
            _ => None,
        }
    }

    /// A number with four digits; empty where the cell is.
    pub(crate) fn significant(&self, column: &str) -> String {
        self.number(column).map_or(String::new(), format::significant)
    }

    /// A count in full; empty where the cell is.
    pub(crate) fn count(&self, column: &str) -> String {
        match self.cell(column) {
            Datum::Count(value) => format::count(*value),
            _ => String::new(),
        }
    }

    /// A count without marks between its thousands; empty where the cell is.
    pub(crate) fn plain(&self, column: &str) -> String {
        match self.cell(column) {
            Datum::Count(value) => value.to_string(),
            _ => String::new(),
        }
    }

    /// A text; empty where the cell is.
    pub(crate) fn text(&self, column: &str) -> &'f str {
        match self.cell(column) {
            Datum::Text(text) => text,
            _ => "",
        }
    }

    /// Whether a flag is set.
    pub(crate) fn flag(&self, column: &str) -> bool {
        *self.cell(column) == Datum::Flag(true)
    }

    /// Whether a flag is there and not set.
    pub(crate) fn denied(&self, column: &str) -> bool {
        *self.cell(column) == Datum::Flag(false)
    }

    /// The ends of an interval.
    pub(crate) fn ends(&self, [low, high]: [&str; 2]) -> Option<(f64, f64)> {
        Some((self.number(low)?, self.number(high)?))
    }

    /// `0.104 [0.098, 0.110]`: a number with its interval.
    pub(crate) fn estimate(&self, [value, low, high]: [&str; 3]) -> String {
        self.number(value)
            .map_or(String::new(), |value| format::with_ends(value, self.ends([low, high])))
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Datum {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Datum {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Datum {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<u64> for Datum {
    fn from(value: u64) -> Self {
        Self::Count(value)
    }
}

impl From<u32> for Datum {
    fn from(value: u32) -> Self {
        Self::Count(value.into())
    }
}

impl From<bool> for Datum {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Datum {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_no_formula_and_a_number_stays_one() {
        let frame = Frame::from_rows([()])
            .column("a", |()| "=HYPERLINK(\"x\")")
            .column("b", |()| -0.5)
            .column("c", |()| "-ln x")
            .column("d", |()| "@a")
            .frame();
        assert_eq!(frame.to_csv(), "a,b,c,d\n\"'=HYPERLINK(\"\"x\"\")\",-0.5,'-ln x,'@a\n");
    }

    #[test]
    fn awkward_text_stays_in_its_cell_and_numbers_keep_their_digits() {
        let frame =
            Frame::from_rows([("a, \"b\"", Some(0.1 + 0.2), Some(3_u64)), ("c", None, None)])
                .column("name", |(name, ..)| name)
                .column("value", |(_, value, _)| value)
                .column("count", |(.., count)| count)
                .column("used", |(name, ..)| name != "c")
                .frame();
        assert_eq!(
            frame.to_csv(),
            "name,value,count,used\n\"a, \"\"b\"\"\",0.30000000000000004,3,true\nc,,,false\n"
        );
    }

    fn stacked() -> Frame {
        let measured = Frame::from_rows([1.0, 2.0]).column("x", |x| x).column("y", |x| 10.0 * x);
        let missing = Frame::from_rows(["lost"]).column("x", |_| 3.0).column("why", |why| why);
        Frame::stacked([measured.frame(), missing.frame()]).led([("row", "all".into())])
    }

    #[test]
    fn frames_stack_by_the_names_of_their_columns() {
        assert_eq!(stacked().to_csv(), "row,x,y,why\nall,1,10,\nall,2,20,\nall,3,,lost\n");
        assert_eq!(stacked().emptied().to_csv(), "row,x,y,why\n");
    }

    #[test]
    fn rows_are_found_by_what_stands_in_them() {
        let frame = stacked();
        let rows = frame.rows();
        assert_eq!(rows.with("y").numbers("y"), [10.0, 20.0]);
        assert_eq!(rows.matching("why", "lost").numbers("x"), [3.0]);
        assert_eq!(rows.range("x"), (1.0, 3.0));
        let parts: Vec<Vec<f64>> = rows.by("why").iter().map(|part| part.numbers("x")).collect();
        assert_eq!(parts, [vec![1.0, 2.0], vec![3.0]]);
    }

    #[test]
    #[should_panic(expected = "\"z\", which its table does not have")]
    fn a_column_that_is_not_there_is_refused() {
        stacked().rows().numbers("z");
    }
}
