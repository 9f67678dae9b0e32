//! Very long texts, encoded in blocks, in parallel.
//!
//! Encoding keeps offsets and strings of all tokens of a call, some hundred bytes a token, so one
//! call on a file of 50 MB needs gigabytes, and runs on one thread. A text is cut only where the
//! cut provably changes nothing, for byte-level tokenizers whose pattern is known (GPT-2's own, and
//! the ones of Qwen2 and Llama 3). No such pattern looks back, and in each of them
//!
//! * what is not white space ends before a space, which can only begin a piece;
//! * letters and digits end before a line's end;
//! * letters end before a digit or a punctuation mark, which can only begin a piece.
//!
//! A cut inside an added token would take it apart, so there is none where one spans it. What is
//! left without a place to cut is one word for the tokenizer, whose merges take a second and a
//! hundred megabytes for each megabyte of it: beyond [`LONGEST_WORD`] that is no text, and it is
//! refused. Every other tokenizer gets its texts whole, up to [`LONGEST_WHOLE`].

use tokenizers::normalizers::NormalizerWrapper;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::split::SplitPattern;

/// Blocks are cut at the first safe place after this many bytes.
const BLOCK_BYTES: usize = 1 << 18;

/// Bytes without a place to cut that are still encoded: about 15 seconds and a gigabyte.
pub const LONGEST_WORD: usize = 8 << 20;

/// Bytes of a text that is encoded whole, by a tokenizer whose texts cannot be cut.
pub const LONGEST_WHOLE: usize = 64 << 20;

/// How Qwen2 and Qwen2.5 split a text.
pub(super) const QWEN2_PATTERN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// How Llama 3 does.
pub(super) const LLAMA3_PATTERN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Patterns for which the reasons above hold, besides GPT-2's.
const SAFE_PATTERNS: [&str; 2] = [QWEN2_PATTERN, LLAMA3_PATTERN];

/// A stretch of text that is too long to encode: its first byte and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong {
    pub(super) start: usize,
    pub(super) bytes: usize,
    pub(super) limit: usize,
}

/// Whether and where a tokenizer's texts may be cut.
#[derive(Debug, Clone)]
pub(super) struct BlockRule {
    safe: bool,
    block_bytes: usize,
    longest_word: usize,
    longest_whole: usize,
    /// Added tokens, which a cut must not take apart.
    added: Vec<String>,
}

impl BlockRule {
    pub(super) fn from_tokenizer(inner: &tokenizers::Tokenizer) -> Self {
        let added = inner.get_added_tokens_decoder();
        // Such tokens look at their neighbours, or match what a normaliser makes of the text.
        let plain = added.values().all(|token| {
            !token.rstrip && !token.single_word && (token.content.is_ascii() || !token.normalized)
        });
        let safe = plain
            && keeps_boundaries(inner.get_normalizer())
            && inner.get_pre_tokenizer().is_some_and(has_known_pattern);
        Self {
            safe,
            block_bytes: BLOCK_BYTES,
            longest_word: LONGEST_WORD,
            longest_whole: LONGEST_WHOLE,
            added: added
                .into_values()
                .map(|token| token.content)
                .filter(|content| content.len() > 1)
                .collect(),
        }
    }

    #[cfg(test)]
    pub(super) fn with_block_bytes(self, block_bytes: usize) -> Self {
        Self { block_bytes, ..self }
    }

    /// The blocks of a text; together they are the text.
    pub(super) fn split<'t>(&self, text: &'t str) -> Result<Vec<&'t str>, TooLong> {
        if !self.safe {
            let (bytes, limit) = (text.len(), self.longest_whole);
            return if bytes > limit {
                Err(TooLong { start: 0, bytes, limit })
            } else {
                Ok(vec![text])
            };
        }
        let mut blocks = Vec::new();
        let mut start = 0;
        while text.len() - start > self.block_bytes {
            let from = start + self.block_bytes;
            let cut = (from..text.len()).find(|&at| self.is_cut(text, at)).unwrap_or(text.len());
            self.check_word(text, from, cut)?;
            blocks.push(&text[start..cut]);
            start = cut;
        }
        if start < text.len() || blocks.is_empty() {
            blocks.push(&text[start..]);
        }
        Ok(blocks)
    }

    /// Refuses a word that began before `from` and reaches to `cut`.
    fn check_word(&self, text: &str, from: usize, cut: usize) -> Result<(), TooLong> {
        if cut - from <= self.longest_word.saturating_sub(self.block_bytes) {
            return Ok(());
        }
        let start = (0..from).rev().find(|&at| self.is_cut(text, at)).unwrap_or(0);
        let bytes = cut - start;
        if bytes <= self.longest_word {
            return Ok(());
        }
        Err(TooLong { start, bytes, limit: self.longest_word })
    }

    fn is_cut(&self, text: &str, at: usize) -> bool {
        is_boundary(text, at)
            && !self.added.iter().any(|token| spans(text.as_bytes(), token.as_bytes(), at))
    }
}

/// Whether a piece begins at byte `at`, by the reasons at the top.
fn is_boundary(text: &str, at: usize) -> bool {
    let Some(next) = text.as_bytes().get(at) else { return false };
    // Where nearly all places are sorted out, without decoding a character.
    let may_begin =
        next.is_ascii_punctuation() || next.is_ascii_digit() || b" \n\r\t".contains(next);
    if at == 0 || !(may_begin || *next >= 0xE3) || !text.is_char_boundary(at) {
        return false;
    }
    let Some(before) = text[..at].chars().next_back() else { return false };
    match next {
        // A character that a normaliser may have put together keeps what follows it: the library's
        // offsets of its pieces depend on that.
        b' ' => {
            !before.is_ascii_whitespace()
                && (before.is_ascii() || is_letter(before) || is_wide_mark(before))
        }
        b'\n' | b'\r' | b'\t' => before.is_ascii_alphanumeric(),
        _ if may_begin => is_letter(before),
        _ => is_letter(before) && text[at..].chars().next().is_some_and(is_wide_mark),
    }
}

/// Letters of which it is sure: Latin without diacritics, kana, Chinese characters, Hangul
/// syllables.
fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c, '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{4E00}'..='\u{9FA5}' | '\u{AC00}'..='\u{D7A3}')
}

/// Punctuation of scripts without spaces: comma, full stop, and their wide kin.
fn is_wide_mark(c: char) -> bool {
    matches!(
        c,
        '\u{3001}'
            | '\u{3002}'
            | '\u{FF01}'
            | '\u{FF08}'
            | '\u{FF09}'
            | '\u{FF0C}'
            | '\u{FF1A}'
            | '\u{FF1B}'
            | '\u{FF1F}'
    )
}

/// Whether `token` stands in `text` with byte `at` inside it.
fn spans(text: &[u8], token: &[u8], at: usize) -> bool {
    let first = (at + 1).saturating_sub(token.len());
    (first..at).any(|start| text.get(start..start + token.len()) == Some(token))
}

/// None and NFC act on neighbouring characters only, and none of those at which a text is cut joins
/// with what is before it.
pub(super) fn keeps_boundaries(normalizer: Option<&NormalizerWrapper>) -> bool {
    match normalizer {
        None | Some(NormalizerWrapper::NFC(_)) => true,
        Some(NormalizerWrapper::Sequence(sequence)) => {
            sequence.as_ref().iter().all(|one| keeps_boundaries(Some(one)))
        }
        Some(_) => false,
    }
}

fn has_known_pattern(pre_tokenizer: &PreTokenizerWrapper) -> bool {
    match pre_tokenizer {
        PreTokenizerWrapper::ByteLevel(byte_level) => {
            byte_level.use_regex && !byte_level.add_prefix_space
        }
        PreTokenizerWrapper::Sequence(sequence) => match sequence.as_ref() {
            [PreTokenizerWrapper::Split(split), PreTokenizerWrapper::ByteLevel(byte_level)] => {
                let known = matches!(&split.pattern, SplitPattern::Regex(p) if SAFE_PATTERNS.contains(&p.as_str()));
                known && !byte_level.use_regex && !byte_level.add_prefix_space
            }
            [one] => has_known_pattern(one),
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPT_2: &str = r#"{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true}"#;

    /// One of [`SAFE_PATTERNS`], as the tokenizers that use them spell it.
    fn split_by(pattern: &str) -> String {
        let pattern = serde_json::Value::from(pattern);
        format!(
            r#"{{"type":"Sequence","pretokenizers":[
            {{"type":"Split","pattern":{{"Regex":{pattern}}},"behavior":"Isolated","invert":false}},
            {{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}}]}}"#
        )
    }

    /// A tiny vocabulary, with one added token.
    fn byte_level(json_normalizer: &str, pre_tokenizer: &str) -> crate::Tokenizer {
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
            r#"{{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{{"id":260,"content":"<|end of text|>","single_word":false,"lstrip":false,"rstrip":false,
            "normalized":false,"special":true}}],"normalizer":{json_normalizer},"pre_tokenizer":{pre_tokenizer},
            "post_processor":{{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true}},"decoder":null,
            "model":{{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,
            "end_of_word_suffix":null,"fuse_unk":false,"vocab":{},
            "merges":[["Ġ","t"],["Ġt","h"],["Ġ","Ġ"],["e","r"]]}}}}"#,
            serde_json::Value::Object(vocab)
        );
        crate::Tokenizer::from_json(&json).unwrap()
    }

    /// Every kind of place, and what must not be mistaken for one.
    const HARD: &str = "The  other thing, they're 'there'  \n\n the e\u{301}t the theatre\u{301} 12 the. Rather\tthe other\nthe\r\n
        thrill \u{1F642} that the<|end of text|> the <|end of texts x\u{3000} y\u{A0} z 中文，你好。世界 한국어, テスト！ab12cd345 67,8\n9.\n\nIt's
        THE'RE 's !!\n\n ?? a\u{308} \u{308}b  \u{1100}\u{1161} x.y,z;w:(v)[u]{t}<s>/r\\q|p'o\"n`m~l^k=j+i-h_g*f&e%d$c#b@a";

    #[test]
    fn blocks_change_nothing() {
        let patterns = [GPT_2.to_owned(), split_by(SAFE_PATTERNS[0]), split_by(SAFE_PATTERNS[1])];
        for (normalizer, pattern) in
            ["null", r#"{"type":"NFC"}"#].iter().flat_map(|n| patterns.iter().map(move |p| (n, p)))
        {
            let whole = byte_level(normalizer, pattern);
            assert!(whole.blocks.safe);
            let expected = whole.encode(HARD).unwrap();
            for block_bytes in 1..80 {
                let mut cut = whole.clone();
                cut.blocks = cut.blocks.with_block_bytes(block_bytes);
                assert!(cut.blocks.split(HARD).unwrap().len() > 4);
                assert_eq!(cut.encode(HARD).unwrap(), expected, "{block_bytes} {pattern}");
            }
        }
        assert!(!byte_level(r#"{"type":"Lowercase"}"#, GPT_2).blocks.safe);
    }

    fn rule(block_bytes: usize) -> BlockRule {
        BlockRule {
            safe: true,
            block_bytes,
            longest_word: 100,
            longest_whole: 100,
            added: vec!["<a b>".into()],
        }
    }

    #[test]
    fn cuts_only_where_a_piece_begins() {
        let rule = rule(4);
        assert_eq!(rule.split("ab  cd, ef gh i").unwrap(), ["ab  cd", ", ef", " gh i"]);
        assert_eq!(rule.split("żółw  żółw").unwrap(), ["żółw", "  żółw"]);
        assert_eq!(rule.split("abc<a b> cd").unwrap(), ["abc<a b>", " cd"]);
        assert_eq!(rule.split("abcd!!\n\nef").unwrap(), ["abcd", "!!\n\nef"]);
        assert_eq!(rule.split("").unwrap(), [""]);
        assert_eq!(
            BlockRule { safe: false, ..rule }.split("ab cd ef gh").unwrap(),
            ["ab cd ef gh"]
        );
    }

    #[test]
    fn a_word_without_end_is_refused_and_one_below_the_limit_is_not() {
        let rule = rule(10);
        let word = |length: usize| format!("so {} it is", "x".repeat(length));
        assert_eq!(rule.split(&word(99)).unwrap().concat(), word(99));
        assert_eq!(rule.split(&word(100)), Err(TooLong { start: 2, bytes: 101, limit: 100 }));
        assert_eq!(
            rule.split(&"y".repeat(1_000)),
            Err(TooLong { start: 0, bytes: 1_000, limit: 100 })
        );
        let whole = BlockRule { safe: false, ..rule };
        assert_eq!(
            whole.split(&"a ".repeat(51)),
            Err(TooLong { start: 0, bytes: 102, limit: 100 })
        );
    }
}
