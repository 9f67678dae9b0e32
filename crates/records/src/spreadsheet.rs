//! A text as a cell of a CSV that a spreadsheet does not take for a formula.
//!
//! Programs of spreadsheets run what a cell begins with `=`, `+`, `-`, `@`, tab or carriage return
//! says, and names of models, runs and families are anybody's. So a *text* that begins so gets an
//! apostrophe before it, which such programs take for "text follows". Numbers stay numbers, also as
//! texts (`-0.5`). A text that begins with apostrophes before such a letter gets one more, so that
//! [`read`] gives back what [`cell`] was given.

use std::borrow::Cow;

/// What the text becomes in a CSV.
///
/// ```
/// use relscale_records::spreadsheet::{cell, read};
/// assert_eq!(cell("=1+1"), "'=1+1");
/// assert_eq!(cell("-0.5"), "-0.5");
/// assert_eq!(read("'=1+1"), "=1+1");
/// assert_eq!(read("'tis"), "'tis");
/// ```
pub fn cell(text: &str) -> Cow<'_, str> {
    if is_formula(text.trim_start_matches('\'')) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// What a cell of a CSV was before [`cell`].
pub fn read(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if is_formula(text.trim_start_matches('\'')) => text,
        _ => cell,
    }
}

fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_and_none_is_a_formula() {
        let texts = [
            "", "a", "=A1", "'=A1", "''=A1", "'", "-", "-0.5", "+1e3", "-x", "@SUM(1)", "\tx",
            "\rx", "-inf", "'x", "a=b",
        ];
        for text in texts {
            let written = cell(text);
            assert_eq!(read(&written), text);
            let number = written.parse::<f64>().is_ok();
            assert!(
                number || !written.starts_with(['=', '+', '-', '@', '\t', '\r']),
                "{written:?}"
            );
        }
    }
}
