//! A table as CSV (RFC 4180): what a figure shows, for those who want the numbers.

use std::fmt::Write;

use relscale_records::spreadsheet;

/// A table with a header.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    /// Names of the columns.
    pub(crate) header: &'static [&'static str],
    /// One cell a column in each.
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    /// Written with the fewest digits that give the same number back.
    Number(f64),
    Count(u64),
    Flag(bool),
    Empty,
}

impl Cell {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Option<f64>> for Cell {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Empty, Self::Number)
    }
}

impl From<Option<u64>> for Cell {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Self::Empty, Self::Count)
    }
}

impl Table {
    /// The table as text, lines ended by a line feed.
    pub(crate) fn to_csv(&self) -> String {
        let mut text = self.header.join(",");
        text.push('\n');
        for row in &self.rows {
            debug_assert_eq!(row.len(), self.header.len());
            for (at, cell) in row.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                // Writing to a string cannot fail.
                let _ = match cell {
                    Cell::Text(value) => write!(text, "{}", quoted(value)),
                    Cell::Number(value) => write!(text, "{value}"),
                    Cell::Count(value) => write!(text, "{value}"),
                    Cell::Flag(value) => write!(text, "{value}"),
                    Cell::Empty => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_no_formula_and_a_number_stays_one() {
        let row =
            vec![Cell::text("=HYPERLINK(\"x\")"), Cell::Number(-0.5), Cell::text("-ln x"), Cell::text("@a")];
        let table = Table { header: &["a", "b", "c", "d"], rows: vec![row] };
        assert_eq!(table.to_csv(), "a,b,c,d\n\"'=HYPERLINK(\"\"x\"\")\",-0.5,'-ln x,'@a\n");
    }

    #[test]
    fn awkward_text_stays_in_its_cell_and_numbers_keep_their_digits() {
        let table = Table {
            header: &["name", "value", "count", "used"],
            rows: vec![
                vec![Cell::text("a, \"b\""), Cell::Number(0.1 + 0.2), Cell::Count(3), Cell::Flag(true)],
                vec![Cell::text("c"), Cell::Empty, None::<u64>.into(), Some(1.5).into()],
            ],
        };
        assert_eq!(
            table.to_csv(),
            "name,value,count,used\n\"a, \"\"b\"\"\",0.30000000000000004,3,true\nc,,,1.5\n"
        );
    }
}
