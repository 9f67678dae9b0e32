//! The vocabulary as people read it: what each id stands for.
//!
//! Byte-level vocabularies spell bytes in an alphabet of 256 printable characters (`Ġthe` for
//! ` the`). Here they are spelled back, and a token whose bytes are no whole characters is told
//! apart: such tokens are pieces of rare characters, and they are among those that a model ranks
//! worst.

use std::collections::{BTreeMap, BTreeSet};

use relscale_records::Vocabulary;
use relscale_records::vocabulary::{TokenKind, VocabularyEntry};

use super::bytes::{is_byte_fallback, is_byte_level};

/// All entries of a tokenizer, added tokens included.
pub(super) fn entries(
    inner: &tokenizers::Tokenizer,
    sha256: &str,
    special: &BTreeSet<u32>,
) -> relscale_records::Result<Vocabulary> {
    let added = inner.get_added_tokens_decoder();
    let alphabet = is_byte_level(inner).then(alphabet);
    let by_id: BTreeMap<u32, String> =
        inner.get_vocab(true).into_iter().map(|(text, id)| (id, text)).collect();
    let entries = by_id.into_iter().map(|(id, token)| {
        let (kind, text) = match &alphabet {
            _ if special.contains(&id) => (TokenKind::Special, token),
            _ if added.contains_key(&id) => (TokenKind::Normal, token),
            Some(alphabet) => spelled_back(token, alphabet),
            None if is_byte_fallback(&token) => (TokenKind::Byte, token),
            None => (TokenKind::Normal, token),
        };
        VocabularyEntry { id, text, kind }
    });
    Vocabulary::new(sha256, entries.collect())
}

/// The text of a token of a byte-level vocabulary, or its bytes where they are no text.
fn spelled_back(token: String, alphabet: &BTreeMap<char, u8>) -> (TokenKind, String) {
    let bytes: Option<Vec<u8>> = token.chars().map(|c| alphabet.get(&c).copied()).collect();
    match bytes.map(String::from_utf8) {
        Some(Ok(text)) => (TokenKind::Normal, text),
        Some(Err(bytes)) => (
            TokenKind::Byte,
            bytes.as_bytes().iter().map(|byte| format!("<0x{byte:02X}>")).collect(),
        ),
        // Not written in the alphabet: an entry that no text can give.
        None => (TokenKind::Normal, token),
    }
}

/// GPT-2's alphabet: printable bytes of Latin-1 stand for themselves, the others are numbered from
/// U+0100 on.
fn alphabet() -> BTreeMap<char, u8> {
    let printable = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    let others = (0..=u8::MAX).filter(|byte| !printable(byte));
    let numbered = ('\u{100}'..).zip(others);
    (0..=u8::MAX).filter(printable).map(|byte| (char::from(byte), byte)).chain(numbered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alphabet_has_256_letters_and_spells_as_gpt_2_does() {
        let alphabet = alphabet();
        assert_eq!(alphabet.len(), 256);
        assert_eq!(alphabet.values().collect::<BTreeSet<_>>().len(), 256);
        assert_eq!(
            (alphabet[&'Ġ'], alphabet[&'Ċ'], alphabet[&'ĉ'], alphabet[&'Ń']),
            (b' ', b'\n', b'\t', 0xAD)
        );
    }

    #[test]
    fn whole_characters_are_text_and_pieces_are_bytes() {
        let alphabet = alphabet();
        let spelled = |token: &str| spelled_back(token.to_owned(), &alphabet);
        assert_eq!(spelled("Ġthe"), (TokenKind::Normal, " the".to_owned()));
        // é is C3 A9.
        assert_eq!(spelled("Ã©"), (TokenKind::Normal, "é".to_owned()));
        assert_eq!(spelled("Ã"), (TokenKind::Byte, "<0xC3>".to_owned()));
        assert_eq!(spelled("ä¸"), (TokenKind::Byte, "<0xE4><0xB8>".to_owned()));
        assert_eq!(spelled("漢"), (TokenKind::Normal, "漢".to_owned()));
    }
}
