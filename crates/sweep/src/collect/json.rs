//! JSON as Python writes it: `NaN` and `Infinity` stand bare there.

use serde_json::Value;

/// Parses a text; a bare `NaN`, `Infinity` or `-Infinity` becomes the string of that name, which [`number`] reads.
///
/// # Errors
/// What `serde_json` says of the text.
pub(super) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match quoted(text) {
        Some(mended) => serde_json::from_str(&mended),
        None => Err(error),
    })
}

/// A number, be it one that JSON does not have.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
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
        if !in_string {
            let word = ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| rest.starts_with(word));
            if let Some(word) = word {
                mended.extend(["\"", word, "\""]);
                rest = &rest[word.len()..];
                found = true;
                continue;
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_words_are_numbers_and_texts_stay() {
        let found = parse(r#"{"a": NaN, "b": [-Infinity, 1.5], "c": "say \"NaN\", NaN"}"#).unwrap();
        assert!(number(&found["a"]).unwrap().is_nan());
        assert_eq!(number(&found["b"][0]), Some(f64::NEG_INFINITY));
        assert_eq!(number(&found["b"][1]), Some(1.5));
        assert_eq!(found["c"].as_str(), Some("say \"NaN\", NaN"));
        assert!(parse("{\"a\": nan}").is_err() && parse("{\"a\": NaN").is_err());
    }
}
