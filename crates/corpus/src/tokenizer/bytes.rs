//! Source bytes of each token.
//!
//! Bits per byte divide by the bytes of the text. Counting the bytes of decoded tokens instead goes
//! wrong three ways: half a character decodes to U+FFFD (3 bytes), normalisation changes lengths,
//! and an added prefix space counts a byte that nobody wrote. So every byte of the source is given
//! to exactly one token, by the offsets that the tokenizer reports, and the sum is the length of
//! the text by construction.

use tokenizers::decoders::DecoderWrapper;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

/// How many bytes each token spells by itself, where that is known: one byte a character for
/// byte-level alphabets, one for byte-fallback tokens. Used to share out a character among the
/// tokens that hold its pieces.
#[derive(Debug, Clone)]
pub(super) struct SourceLengths {
    /// By id; 0 = not known.
    own: Vec<u32>,
    /// Every byte of a text is spelled by some token, and nothing else is: all 256 letters of a
    /// byte-level alphabet are there.
    complete: bool,
}

impl SourceLengths {
    pub(super) fn from_tokenizer(inner: &tokenizers::Tokenizer) -> Self {
        let byte_level = is_byte_level(inner);
        let vocab = inner.get_vocab(true);
        let added = inner.get_added_tokens_decoder();
        let largest = vocab.values().max().copied().unwrap_or(0);
        let letter = |letter: char| vocab.contains_key(letter.encode_utf8(&mut [0; 4]) as &str);
        let complete = byte_level && ByteLevel::alphabet().into_iter().all(letter);
        let mut own = vec![0; largest as usize + 1];
        for (token, id) in vocab {
            let length = if added.contains_key(&id) {
                token.len()
            } else if byte_level {
                token.chars().count()
            } else if is_byte_fallback(&token) {
                1
            } else {
                0
            };
            own[id as usize] = u32::try_from(length).unwrap_or(0);
        }
        Self { own, complete }
    }

    /// Bytes of each of `ids`, where they follow from the tokens alone: each spells its bytes, and
    /// all of them the text. `None` where offsets are needed: other alphabets, white space that an
    /// added token swallowed.
    pub(super) fn spelled(&self, ids: &[u32], text_len: usize) -> Option<Vec<u32>> {
        if !self.complete {
            return None;
        }
        let own = |&id: &u32| self.own.get(id as usize).copied();
        let bytes: Vec<u32> = ids.iter().map(own).collect::<Option<_>>()?;
        let sum: u64 = bytes.iter().map(|&length| u64::from(length)).sum();
        (sum == text_len as u64).then_some(bytes)
    }

    /// Bytes of each of `ids`, given the byte offsets `(start, end)` of each and the length of the
    /// text. Sums to `text_len` if there is at least one token.
    ///
    /// Tokens whose offsets overlap hold pieces of one character. Such a group shares its bytes by
    /// the tokens' own lengths when these add up, else each token takes what lies between the last
    /// byte taken and its own end. Bytes that no token covers (dropped white space) go to the token
    /// after them, at the end of the text to the last.
    pub(super) fn per_token(
        &self,
        ids: &[u32],
        offsets: &[(usize, usize)],
        text_len: usize,
    ) -> Vec<u32> {
        let mut bytes = Vec::with_capacity(ids.len());
        let (mut first, mut taken) = (0, 0);
        while first < ids.len() {
            let mut end = offsets[first].1.max(taken);
            let mut last = first + 1;
            while last < ids.len() && offsets[last].0 < end {
                end = end.max(offsets[last].1);
                last += 1;
            }
            if last == ids.len() {
                end = text_len;
            }
            self.share(&ids[first..last], &offsets[first..last], taken, end, &mut bytes);
            (first, taken) = (last, end);
        }
        bytes
    }

    /// Gives the source bytes `taken..end` to the tokens of one group.
    fn share(
        &self,
        ids: &[u32],
        offsets: &[(usize, usize)],
        taken: usize,
        end: usize,
        bytes: &mut Vec<u32>,
    ) {
        let own = ids.iter().map(|&id| self.own.get(id as usize).copied().unwrap_or(0));
        let known = own.clone().all(|length| length > 0);
        if known && own.clone().map(|length| length as usize).sum::<usize>() == end - taken {
            bytes.extend(own);
            return;
        }
        let mut at = taken;
        for (i, offset) in offsets.iter().enumerate() {
            let upto = if i + 1 == offsets.len() { end } else { offset.1.clamp(at, end) };
            bytes.push(u32::try_from(upto - at).unwrap_or(u32::MAX));
            at = upto;
        }
    }
}

/// Tokens are written in GPT-2's alphabet of 256 printable characters, one a byte.
pub(super) fn is_byte_level(inner: &tokenizers::Tokenizer) -> bool {
    let by_decoder = matches!(inner.get_decoder(), Some(DecoderWrapper::ByteLevel(_)));
    let by_pre_tokenizer = match inner.get_pre_tokenizer() {
        Some(PreTokenizerWrapper::ByteLevel(_)) => true,
        Some(PreTokenizerWrapper::Sequence(sequence)) => {
            sequence.as_ref().iter().any(|one| matches!(one, PreTokenizerWrapper::ByteLevel(_)))
        }
        _ => false,
    };
    by_decoder || by_pre_tokenizer
}

/// `<0xE4>`: one byte of a character that the vocabulary lacks.
pub(super) fn is_byte_fallback(token: &str) -> bool {
    let hex = token.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
    hex.is_some_and(|hex| hex.len() == 2 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_in_pieces_is_shared_byte_by_byte() {
        let lengths = SourceLengths { own: vec![1, 2, 1, 3], complete: false };
        // "é" (2 bytes) as two pieces after a three-byte token.
        assert_eq!(lengths.per_token(&[3, 0, 2], &[(0, 3), (3, 5), (3, 5)], 5), [3, 1, 1]);
        // A 4-byte character as 2 + 1 + 1.
        assert_eq!(lengths.per_token(&[1, 0, 2], &[(0, 4), (0, 4), (0, 4)], 4), [2, 1, 1]);
    }

    #[test]
    fn lengths_that_do_not_add_up_fall_back_to_offsets() {
        let lengths = SourceLengths { own: vec![0; 4], complete: false };
        // A prefix space that nobody wrote, a dropped space between, a dropped newline at the end.
        assert_eq!(lengths.per_token(&[0, 1], &[(0, 2), (3, 5)], 6), [2, 4]);
        // Pieces of one character whose own lengths are unknown: the first takes all.
        assert_eq!(lengths.per_token(&[0, 1, 2], &[(0, 4), (0, 4), (4, 5)], 5), [4, 0, 1]);
    }

    #[test]
    fn no_token_no_bytes() {
        assert!(SourceLengths { own: vec![], complete: false }.per_token(&[], &[], 3).is_empty());
    }
}
