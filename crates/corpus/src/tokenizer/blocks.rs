//! Very long texts, encoded in blocks.
//!
//! Encoding keeps offsets and strings of all tokens of a call, some hundred bytes a token, so one call on a file of
//! 50 MB needs gigabytes. A text is cut only where the cut provably changes nothing: between an ASCII letter and the
//! single space before another ASCII letter, for byte-level tokenizers whose pattern always starts a new piece there
//! (GPT-2's own, and the ones of Qwen2 and Llama 3). Every other tokenizer gets its texts whole.

use tokenizers::normalizers::NormalizerWrapper;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::split::SplitPattern;

/// Blocks are cut at the first safe place after this many bytes.
const BLOCK_BYTES: usize = 1 << 20;

/// Patterns in which a space before a letter always starts a piece, besides GPT-2's.
const SAFE_PATTERNS: [&str; 2] = [
    // Qwen2, Qwen2.5
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    // Llama 3
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
];

/// Whether and where a tokenizer's texts may be cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockRule {
    safe: bool,
    block_bytes: usize,
}

impl BlockRule {
    pub(super) fn of(inner: &tokenizers::Tokenizer) -> Self {
        let safe = keeps_boundaries(inner.get_normalizer())
            && inner.get_pre_tokenizer().is_some_and(splits_before_words)
            && !inner.get_added_tokens_decoder().values().any(|token| has_boundary(&token.content));
        Self { safe, block_bytes: BLOCK_BYTES }
    }

    #[cfg(test)]
    pub(super) fn with_block_bytes(self, block_bytes: usize) -> Self {
        Self { block_bytes, ..self }
    }

    /// The blocks of a text; together they are the text.
    pub(super) fn split(self, text: &str) -> Vec<&str> {
        let mut blocks = Vec::new();
        let mut rest = text;
        while self.safe && rest.len() > self.block_bytes {
            let Some(cut) = (self.block_bytes..rest.len() - 1).find(|&i| is_boundary(rest.as_bytes(), i))
            else {
                break;
            };
            let (block, after) = rest.split_at(cut);
            blocks.push(block);
            rest = after;
        }
        blocks.push(rest);
        blocks
    }
}

/// A space at `i` between two ASCII letters (so `i` is a character boundary).
fn is_boundary(bytes: &[u8], i: usize) -> bool {
    i > 0
        && bytes[i] == b' '
        && bytes[i - 1].is_ascii_alphabetic()
        && bytes.get(i + 1).is_some_and(u8::is_ascii_alphabetic)
}

fn has_boundary(token: &str) -> bool {
    (0..token.len()).any(|i| is_boundary(token.as_bytes(), i))
}

/// None and NFC act on neighbouring characters only, and never on these ASCII ones.
fn keeps_boundaries(normalizer: Option<&NormalizerWrapper>) -> bool {
    match normalizer {
        None | Some(NormalizerWrapper::NFC(_)) => true,
        Some(NormalizerWrapper::Sequence(sequence)) => {
            sequence.as_ref().iter().all(|one| keeps_boundaries(Some(one)))
        }
        Some(_) => false,
    }
}

fn splits_before_words(pre_tokenizer: &PreTokenizerWrapper) -> bool {
    match pre_tokenizer {
        PreTokenizerWrapper::ByteLevel(byte_level) => byte_level.use_regex && !byte_level.add_prefix_space,
        PreTokenizerWrapper::Sequence(sequence) => match sequence.as_ref() {
            [PreTokenizerWrapper::Split(split), PreTokenizerWrapper::ByteLevel(byte_level)] => {
                let known =
                    matches!(&split.pattern, SplitPattern::Regex(p) if SAFE_PATTERNS.contains(&p.as_str()));
                known && !byte_level.use_regex && !byte_level.add_prefix_space
            }
            [one] => splits_before_words(one),
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GPT-2's own pattern, a tiny vocabulary.
    fn byte_level(json_normalizer: &str) -> crate::Tokenizer {
        let alphabet = tokenizers::pre_tokenizers::byte_level::ByteLevel::alphabet();
        let mut letters: Vec<char> = alphabet.into_iter().collect();
        letters.sort_unstable();
        let vocab: serde_json::Map<String, serde_json::Value> = letters
            .into_iter()
            .map(String::from)
            .chain(["Ġt", "Ġth", "ĠĠ", "er"].map(String::from))
            .enumerate()
            .map(|(id, token)| (token, id.into()))
            .collect();
        let json = format!(
            r#"{{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":{json_normalizer},
            "pre_tokenizer":{{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true}},
            "post_processor":{{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true}},"decoder":null,
            "model":{{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,
            "end_of_word_suffix":null,"fuse_unk":false,"vocab":{},
            "merges":[["Ġ","t"],["Ġt","h"],["Ġ","Ġ"],["e","r"]]}}}}"#,
            serde_json::Value::Object(vocab)
        );
        crate::Tokenizer::from_json(&json).unwrap()
    }

    #[test]
    fn blocks_change_nothing() {
        let text = "The  other thing, they're 'there'  \n\n the e\u{301}t the theatre\u{301} 12 the. Rather  the other \
                    thrill \u{1F642} that the";
        for normalizer in ["null", r#"{"type":"NFC"}"#] {
            let whole = byte_level(normalizer);
            assert!(whole.blocks.safe);
            let expected = whole.encode(text).unwrap();
            for block_bytes in 1..40 {
                let mut cut = whole.clone();
                cut.blocks = cut.blocks.with_block_bytes(block_bytes);
                assert!(block_bytes > 30 || cut.blocks.split(text).len() > 1);
                assert_eq!(cut.encode(text).unwrap(), expected, "{block_bytes}");
            }
        }
        assert!(!byte_level(r#"{"type":"Lowercase"}"#).blocks.safe);
    }

    #[test]
    fn cuts_only_before_a_space_between_letters() {
        let rule = BlockRule { safe: true, block_bytes: 4 };
        assert_eq!(rule.split("ab  cd, ef gh i"), ["ab  cd, ef", " gh i"]);
        assert_eq!(rule.split("żółw żółw"), ["żółw żółw"]);
        assert_eq!(rule.split(""), [""]);
        assert_eq!(BlockRule { safe: false, ..rule }.split("ab cd ef gh"), ["ab cd ef gh"]);
    }
}
