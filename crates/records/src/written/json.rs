//! JSON as Python and C write it: `NaN` and `Infinity` stand bare there, in any spelling.

use serde_json::Value;

use super::number::{self, Comma, Reading};

/// Parses a text; a bare `NaN`, `Infinity`, `-inf` and the like becomes the string of that name,
/// which [`number()`] reads.
///
/// # Errors
/// What `serde_json` says of the text.
pub fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match quoted(text) {
        Some(mended) => serde_json::from_str(&mended),
        None => Err(error),
    })
}

/// A number, be it one that JSON does not have.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        // One beyond the range of doubles stands as it was written.
        Value::Number(number) => number.as_f64().or_else(|| number.to_string().parse().ok()),
        Value::String(text) => match number::read(text, Comma::Unknown) {
            Reading::Number(number) => Some(number),
            _ => None,
        },
        _ => None,
    }
}

/// The text with bare words for numbers in quotation marks; `None` when there are none.
fn quoted(text: &str) -> Option<String> {
    let mut mended = String::with_capacity(text.len() + 16);
    let (mut in_string, mut escaped, mut found) = (false, false, false);
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if !in_string && let Some(word) = bare(rest) {
            mended.extend(["\"", word, "\""]);
            rest = &rest[word.len()..];
            found = true;
            continue;
        }
        match letter {
            '"' if !escaped => in_string = !in_string,
            _ => {}
        }
        escaped = in_string && letter == '\\' && !escaped;
        mended.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    found.then_some(mended)
}

/// A bare word at the beginning that stands for a number that JSON does not have.
fn bare(text: &str) -> Option<&str> {
    if !text.starts_with(|letter: char| "+-nNiI1".contains(letter)) {
        return None;
    }
    let end = text
        .find(|letter: char| ",]}:\"".contains(letter) || letter.is_whitespace())
        .unwrap_or(text.len());
    let word = &text[..end];
    // `1` itself is a number.
    let of_letters = word.contains(|letter: char| letter.is_alphabetic())
        && serde_json::from_str::<Value>(word).is_err();
    let no_number = |word: &str| matches!(number::read(word, Comma::Unknown), Reading::Number(n) if !n.is_finite());
    (of_letters && no_number(word)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_words_are_numbers_and_texts_stay() {
        let found =
            parse(r#"{"a": NaN, "b": [-Infinity, 1.5], "c": "say \"NaN\", NaN", "n": null}"#)
                .unwrap();
        assert!(number(&found["a"]).unwrap().is_nan());
        assert_eq!(number(&found["b"][0]), Some(f64::NEG_INFINITY));
        assert_eq!(number(&found["b"][1]), Some(1.5));
        assert_eq!(found["c"].as_str(), Some("say \"NaN\", NaN"));
        assert!(found["n"].is_null());
        for bare in ["nan", "-nan", "inf", "+Inf", "-infinity", "1.#INF", "-nan(ind)"] {
            let found = parse(&format!("{{\"a\":{bare}}}")).unwrap();
            assert!(!number(&found["a"]).unwrap().is_finite(), "{bare}");
        }
        assert!(parse("{\"a\": nano}").is_err() && parse("{\"a\": NaN").is_err());
        assert_eq!(number(&Value::from("1.4e6")), Some(1.4e6));
    }
}
