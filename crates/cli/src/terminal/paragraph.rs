//! Sentences on a terminal, as wide as it is.

use comfy_table::Table;

/// Width of the terminal; without end where standard output is none. `COLUMNS` wins, as it does in
/// shells.
pub(super) fn columns() -> usize {
    let Some(columns) = Table::new().width() else { return usize::MAX };
    let wanted = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    wanted.filter(|columns| *columns > 0).unwrap_or(usize::from(columns))
}

/// A paragraph: `first` before its first line, as much room before the others. Broken between words
/// where standard output is a terminal; in one line elsewhere, for `grep`.
pub(crate) fn paragraph(first: &str, text: &str) -> String {
    match columns() {
        usize::MAX => format!("{first}{text}"),
        columns => wrapped(first, text, columns.clamp(40, 100)),
    }
}

fn wrapped(first: &str, text: &str, columns: usize) -> String {
    let indent = first.chars().count();
    let mut out = first.to_owned();
    let mut column = indent;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > columns {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if column > indent {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("- ", "one two three", 9), "- one two\n  three");
        assert_eq!(wrapped("- ", "one two three", 10), "- one two\n  three");
        assert_eq!(wrapped("", "incomprehensible words", 6), "incomprehensible\nwords");
        assert_eq!(wrapped("note: ", "", 40), "note: ");
    }
}
