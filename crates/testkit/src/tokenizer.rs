//! A byte-level BPE tokenizer in a few lines: every byte, some pairs that English has many of, one
//! special token.

use serde_json::{Map, Value, json};

/// Merges, in order; `Ġ` is how byte-level alphabets spell a space.
const MERGES: [(&str, &str); 24] = [
    ("Ġ", "t"),
    ("h", "e"),
    ("i", "n"),
    ("r", "e"),
    ("o", "n"),
    ("Ġ", "a"),
    ("e", "r"),
    ("Ġt", "he"),
    ("a", "t"),
    ("Ġ", "s"),
    ("e", "n"),
    ("Ġ", "o"),
    ("i", "s"),
    ("o", "r"),
    ("e", "s"),
    ("n", "d"),
    ("Ġ", "w"),
    ("a", "n"),
    ("i", "t"),
    ("Ġo", "f"),
    ("in", "g"),
    ("e", "d"),
    ("Ġa", "nd"),
    ("Ġ", "in"),
];

/// The text of the special token, which has the last id.
pub const SPECIAL: &str = "<|endoftext|>";

/// Entries with the special token.
pub const ENTRIES: usize = 256 + MERGES.len() + 1;

/// The text of a `tokenizer.json`. Ids: bytes in the order of their spelling, merges, the special
/// token.
pub fn json() -> String {
    json_with(MERGES.len())
}

/// The same with the first merges only, so that texts have more tokens; the special token is still
/// the last.
pub fn json_with(merges: usize) -> String {
    let merges = &MERGES[..merges];
    let entries = 256 + merges.len() + 1;
    let mut vocabulary = Map::new();
    let mut add = |token: String| {
        let id = vocabulary.len();
        vocabulary.insert(token, json!(id));
    };
    let mut bytes: Vec<char> = (0..=255).map(spelling).collect();
    bytes.sort_unstable();
    bytes.into_iter().for_each(|byte| add(byte.to_string()));
    merges.iter().for_each(|(left, right)| add(format!("{left}{right}")));
    let byte_level = json!({
        "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true,
    });
    let merges: Vec<Value> = merges.iter().map(|(left, right)| json!([left, right])).collect();
    let tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [{
            "id": entries - 1, "content": SPECIAL, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true,
        }],
        "normalizer": null,
        "pre_tokenizer": byte_level,
        "post_processor": null,
        "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
            "vocab": vocabulary, "merges": merges,
        },
    });
    tokenizer.to_string()
}

/// How byte-level alphabets (GPT-2's) spell a byte: itself where it is printable, a letter from
/// U+0100 on where not.
fn spelling(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if printable(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&other| !printable(other)).count() as u32;
    char::from_u32(0x100 + before).unwrap_or('\u{fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_spelt_as_in_gpt2() {
        assert_eq!([b' ', b'\n', b'a', 0, 0xad].map(spelling), ['Ġ', 'Ċ', 'a', 'Ā', 'Ń']);
        let value: Value = serde_json::from_str(&json()).unwrap();
        assert_eq!(value["model"]["vocab"].as_object().unwrap().len(), ENTRIES - 1);
    }
}
