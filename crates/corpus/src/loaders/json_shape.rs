//! What the lines of a JSON file are, by looking at the first of them.

use std::path::Path;

use super::open::first_bytes;

/// Bytes in which the first line of a file is looked for.
const SNIFFED: u64 = 1 << 20;

/// What the lines of a JSON file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonShape {
    /// Objects, one a line.
    Lines,
    /// One line with one object: a row, or a file of settings.
    OneLine,
    /// An array.
    Array,
    /// One value over several lines.
    Value,
    /// No JSON.
    None,
}

impl JsonShape {
    /// What the first lines of a file say.
    pub(super) fn from_file(path: &Path) -> Self {
        first_bytes(path, SNIFFED).map_or(Self::None, |bytes| Self::from_bytes(&bytes))
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let cut = bytes.len() as u64 == SNIFFED;
        let mut lines =
            bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let Some(first) = lines.next() else { return Self::None };
        match first.trim_ascii() {
            [b'[', rest @ ..] if rest.is_empty() || rest.trim_ascii_start().starts_with(b"{") => {
                Self::Array
            }
            // A line longer than what was read: whatever it is, it begins as a row does.
            [b'{', rest @ ..] if cut && first.len() as u64 >= SNIFFED - 3 => {
                if rest.trim_ascii_start().starts_with(b"\"") { Self::Lines } else { Self::None }
            }
            line if is_object(line) => match lines.next().map(|next| next.trim_ascii()) {
                None => Self::OneLine,
                Some(next) if is_object(next) || (cut && next.starts_with(b"{")) => Self::Lines,
                Some(_) => Self::OneLine,
            },
            [b'{', rest @ ..] if rest.is_empty() || rest.trim_ascii_start().starts_with(b"\"") => {
                Self::Value
            }
            _ => Self::None,
        }
    }

    /// Whether a line is a JSON object, to its end. One with half of a surrogate pair is an object
    /// all the same.
    pub(super) fn is_row(line: &str) -> bool {
        is_object(line.trim().as_bytes())
    }
}

fn is_object(line: &[u8]) -> bool {
    line.starts_with(b"{")
        && match serde_json::from_slice::<serde::de::IgnoredAny>(line) {
            Ok(_) => true,
            Err(error) => error.to_string().contains("surrogate"),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_json() {
        for (text, shape) in [
            ("{\"a\": 1}\n{\"b\": 2}\n", JsonShape::Lines),
            ("\u{FEFF}\n{\"a\": 1}\n\n{\"a\": 1", JsonShape::OneLine),
            ("{\"a\": \"\\ud83d\"}\n{}\n", JsonShape::Lines),
            ("{}", JsonShape::OneLine),
            ("[\n{\"a\": 1}]", JsonShape::Array),
            ("[{\"a\": 1}]", JsonShape::Array),
            ("{\n \"a\": 1\n}", JsonShape::Value),
            ("{ x", JsonShape::None),
            ("[1] a footnote", JsonShape::None),
            ("plain", JsonShape::None),
        ] {
            assert_eq!(JsonShape::from_bytes(text.as_bytes()), shape, "{text}");
        }
    }
}
