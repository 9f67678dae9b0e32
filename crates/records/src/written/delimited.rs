//! Rows of CSV and its kin: commas, semicolons, tabs or bars between the values, as spreadsheets of
//! every language write them.

use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};

use super::Fault;
use super::number::Comma;
use crate::spreadsheet;

/// What may stand between values; of those that a header has equally often, the last.
const BETWEEN: [u8; 4] = [b'|', b'\t', b';', b','];

/// A table as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Delimited {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Each row with its line; as many cells as there are columns.
    pub rows: Vec<(u64, Vec<String>)>,
    /// What commas in its numbers are.
    pub comma: Comma,
    /// The last line, where the file ends inside it: its writer was killed, or is at work. It is no
    /// row.
    pub torn: Option<u64>,
}

/// Reads a table with a header; `tabs`: the file's name says that these stand between the values.
///
/// A first line `sep=;`, as Excel has it, says what stands between the values; else the header
/// does. Cells behind the last column, and rows, that are empty are no values: spreadsheets leave
/// them behind. An apostrophe that keeps a text from being a formula is none of it
/// ([`spreadsheet`]). A last line without a line feed that has too few values is torn.
///
/// # Errors
/// A row with another number of values than the header.
pub fn read(text: &str, tabs: bool) -> Result<Delimited, Fault> {
    let (told, rest) = separator(text);
    let skipped = u64::from(rest.len() < text.len());
    let between = told.unwrap_or_else(|| header_separator(rest, tabs));
    let mut reader = ReaderBuilder::new()
        .delimiter(between)
        .trim(Trim::All)
        .flexible(true)
        .has_headers(false)
        .from_reader(rest.as_bytes());
    let mut records = reader.records();
    let line = |record: &StringRecord| {
        let Some(position) = record.position() else { return skipped + 1 };
        // The reader counts from where the record before ended; blank lines lie between.
        let bytes = rest.as_bytes().get(position.byte() as usize..).unwrap_or_default();
        let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        skipped + position.line() + blank.filter(|byte| **byte == b'\n').count() as u64
    };
    let refuse = |error: csv::Error| {
        let reason = match error.kind() {
            ErrorKind::Utf8 { .. } => "not UTF-8".to_owned(),
            _ => error.to_string(),
        };
        Fault { line: skipped + error.position().map_or(1, csv::Position::line), reason }
    };
    let header = match records.next() {
        Some(header) => header.map_err(refuse)?,
        None => StringRecord::new(),
    };
    let columns: Vec<String> = filled(&header).iter().map(|name| (*name).to_owned()).collect();
    let ended = rest.ends_with(['\n', '\r']);
    let mut rows = Vec::new();
    // A row that is none, and whether it is too short; only the last may be torn.
    let mut none: Option<(Fault, bool)> = None;
    for record in records {
        let record = record.map_err(refuse)?;
        if let Some((fault, _)) = none.take() {
            return Err(fault);
        }
        let cells = filled(&record);
        if cells.is_empty() {
            continue;
        }
        let (line, given, wanted) = (line(&record), record.len(), columns.len());
        if cells.len() > wanted || given < wanted {
            let reason = if cells.len() > wanted && between == b',' {
                format!(
                    "{given} values, but the header has {wanted}; a value with a comma inside, as 3,65 or 1,400,000, needs quotation marks"
                )
            } else {
                format!("{given} values, but the header has {wanted}")
            };
            none = Some((Fault { line, reason }, given < wanted));
            continue;
        }
        rows.push((
            line,
            (0..wanted)
                .map(|at| spreadsheet::read(record.get(at).unwrap_or_default()).to_owned())
                .collect(),
        ));
    }
    let torn = match none {
        None => None,
        Some((fault, true)) if !ended => Some(fault.line),
        Some((fault, _)) => return Err(fault),
    };
    let cells =
        || rows.iter().flat_map(|(_, cells): &(u64, Vec<String>)| cells).map(String::as_str);
    let comma = match Comma::from_cells(cells()) {
        // That is why there are semicolons.
        Comma::Unknown if between == b';' => Comma::Decimal,
        told => told,
    };
    Ok(Delimited { columns, rows, comma, torn })
}

/// The values of a row without empty ones at its end.
fn filled(record: &StringRecord) -> Vec<&str> {
    let mut cells: Vec<&str> = record.iter().collect();
    while cells.last().is_some_and(|cell| cell.is_empty()) {
        cells.pop();
    }
    cells
}

/// What a first line `sep=;` says, and the text behind it.
fn separator(text: &str) -> (Option<u8>, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let line = line.trim_end_matches('\r').trim_matches('"');
    let told = match line.get(..4) {
        Some(word) if word.eq_ignore_ascii_case("sep=") => {
            line.as_bytes().get(4..).unwrap_or_default()
        }
        _ => return (None, text),
    };
    match told {
        [one] => (Some(*one), rest),
        // A tab may have been written as its name.
        b"\\t" | b"" => (Some(b'\t'), rest),
        _ => (None, text),
    }
}

/// What stands between the names of the header, outside of quotation marks.
fn header_separator(text: &str, tabs: bool) -> u8 {
    let header = text.trim_start().lines().next().unwrap_or_default();
    let count = |between: u8| {
        let outside = header.split('"').step_by(2);
        outside.map(|part| part.bytes().filter(|byte| *byte == between).count()).sum::<usize>()
    };
    if tabs && count(b'\t') > 0 {
        return b'\t';
    }
    let most = BETWEEN.into_iter().max_by_key(|between| count(*between)).unwrap_or(b',');
    if tabs && count(most) == 0 { b'\t' } else { most }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<Vec<String>> {
        read(text, false).unwrap().rows.into_iter().map(|(_, cells)| cells).collect()
    }

    #[test]
    fn one_table_however_it_is_delimited() {
        let expected = [["1e7", "a, b"], ["2e7", "c"]].map(|row| row.map(str::to_owned).to_vec());
        for text in [
            "S,note\n1e7,\"a, b\"\n2e7,c\n",
            "S;note\n1e7;a, b\n2e7;c",
            "S\tnote\r\n1e7\ta, b\r\n2e7\tc\r\n",
            "S|note\n1e7|a, b\n2e7|c\n",
            "sep=;\nS;note\n1e7;a, b\n2e7;c\n",
            "\"SEP=,\"\r\nS,note\r\n1e7,\"a, b\"\r\n2e7,c\r\n",
            "S,note,,\n1e7,\"a, b\",,\n2e7,c,,\n,,,\n,,\n",
            "\n S , note \n1e7,\"a, b\",,,\n 2e7 , c \n\n",
            "S,\"a;b;c;d\"\n1e7,\"a, b\"\n2e7,c\n",
        ] {
            assert_eq!(cells(text), expected, "{text:?}");
        }
        let found = read("sep=;\nS;loss\n1;3,655\n\n2;3,5\n", false).unwrap();
        assert_eq!((found.rows[1].0, found.comma), (5, Comma::Decimal));
        assert_eq!(read("S;loss\n1;3,655\n", false).unwrap().comma, Comma::Decimal);
        assert_eq!(read("S,loss\n1,\"3,655\"\n", false).unwrap().comma, Comma::Unknown);
        assert_eq!(read("S,loss\n", true).unwrap().columns, ["S", "loss"]);
        assert_eq!(read("", false).unwrap().columns, [""; 0]);
    }

    #[test]
    fn rows_of_another_length_are_refused_and_torn_ends_are_told() {
        let fault = |text: &str| read(text, false).unwrap_err();
        assert_eq!(
            fault("a,b\n1\n2,3\n"),
            Fault { line: 2, reason: "1 values, but the header has 2".to_owned() }
        );
        let decimal = fault("a,b\n1,3,65\n");
        assert!(
            decimal.reason.starts_with("3 values, but the header has 2")
                && decimal.reason.contains("3,65")
        );
        assert_eq!(fault("a;b\n1;2;3\n").line, 2);
        let torn = read("a,b\n1,2\n3", false).unwrap();
        assert_eq!((torn.rows.len(), torn.torn), (1, Some(3)));
        assert_eq!(fault("a,b\n1,2\n3,4,5").line, 3);
    }
}
