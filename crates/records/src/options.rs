//! The tags by which a document is an option of a question: `item`, `option`, `gold`, `span_bytes`.
//! Read alike by who measures, which refuses them before any work, and by who judges what was
//! measured.

use std::collections::BTreeMap;

/// The question that an option belongs to.
pub const ITEM: &str = "item";

/// Whether a document is a right option: its tag `gold`, `true` or `false` in any case (Python
/// writes `True`). `None` without the tag.
///
/// # Errors
/// In words, for any other value.
///
/// ```
/// let tags = [("gold".to_owned(), "True".to_owned())].into();
/// assert_eq!(relscale_records::options::gold(&tags), Ok(Some(true)));
/// ```
pub fn gold(tags: &BTreeMap<String, String>) -> Result<Option<bool>, String> {
    match tags.get("gold").map(String::as_str) {
        None => Ok(None),
        Some(value) if value.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Some(value) if value.eq_ignore_ascii_case("false") => Ok(Some(false)),
        Some(other) => Err(format!("gold = `{other}` of {} is not true or false", name(tags))),
    }
}

/// Bytes of the scored text without the space that joins it: its tag `span_bytes`. `None` without
/// the tag.
///
/// # Errors
/// In words, for what is no number.
pub fn span_bytes(tags: &BTreeMap<String, String>) -> Result<Option<u64>, String> {
    let Some(text) = tags.get("span_bytes") else { return Ok(None) };
    let bytes = text
        .parse()
        .map_err(|_| format!("span_bytes = `{text}` of {} is no number of bytes", name(tags)));
    bytes.map(Some)
}

/// Whether a question can be judged: so many options, so many of them right.
///
/// # Errors
/// In words.
pub fn check(options: usize, golds: usize) -> Result<(), String> {
    if options < 2 {
        return Err(
            "it has one option, and a choice needs two; conditions such as gold=true take options away"
                .to_owned(),
        );
    }
    if golds == 0 {
        return Err(format!("none of its {options} options is gold"));
    }
    if golds == options {
        return Err(format!("all of its {options} options are gold, so every answer is right"));
    }
    Ok(())
}

fn name(tags: &BTreeMap<String, String>) -> String {
    tags.get("option").map_or_else(|| "an option".to_owned(), |option| format!("option `{option}`"))
}
