//! Text of anybody made safe to show: names of folders, models and runs may hold what a terminal
//! obeys.

use std::borrow::Cow;

use relscale_records::shell::is_unseen;

/// The text with every character that a terminal obeys, or that turns the direction of writing,
/// written out as `\u{1b}`. Line feeds and tabs stay.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    written_out(text, |c| is_unseen(c) && !matches!(c, '\n' | '\t'))
}

/// The same for what must stay in one line: a cell of a table, the title of a bar.
pub(crate) fn safe_line(text: &str) -> Cow<'_, str> {
    written_out(text, is_unseen)
}

/// JSON with such characters in JSON's own way, so that it holds the same: they occur in its
/// strings only.
pub(crate) fn safe_json(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| is_unseen(c) && !matches!(c, '\n' | '\t' | '\r');
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if obeyed(c) {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

fn written_out(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_written_out() {
        assert_eq!(
            safe("a\u{1b}[31mb\r\u{7f}\u{9b}2J\u{202e}\u{7}"),
            r"a\u{1b}[31mb\r\u{7f}\u{9b}2J\u{202e}\u{7}"
        );
        assert_eq!(safe("one\n\ttwo 日本 é"), "one\n\ttwo 日本 é");
        assert_eq!(safe_line("one\ntwo\t"), r"one\ntwo\t");
        assert!(matches!(safe("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_holds_the_same() {
        let value = serde_json::json!({ "a\u{9b}": "\u{1b}[0m\u{7f}\u{202e}\n\"" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let safe = safe_json(&text);
        assert!(!safe.contains(|c| is_unseen(c) && c != '\n'), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }
}
