//! One byte-level byte-pair vocabulary for a whole family, trained with the `tokenizers` crate.

use crate::error::{Error, Result};
use rayon::prelude::*;
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::{
    AddedToken, DecoderWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper,
};
use tokenizers::{Tokenizer, TokenizerBuilder, TokenizerImpl};

/// Stands before each document in training; always id 0.
pub const SEPARATOR: &str = "<|endoftext|>";

/// Id of [`SEPARATOR`].
pub const SEPARATOR_ID: u32 = 0;

type Parts = TokenizerImpl<
    BPE,
    NormalizerWrapper,
    PreTokenizerWrapper,
    PostProcessorWrapper,
    DecoderWrapper,
>;

/// Trains a vocabulary of `entries` entries (256 bytes, the separator and merges) on `texts`.
///
/// The same texts in the same order give the same vocabulary.
///
/// # Errors
/// [`Error::Tokenizer`] with the library's words.
pub fn train<'a>(texts: impl Iterator<Item = &'a str> + Send, entries: usize) -> Result<Tokenizer> {
    let problem = |error: tokenizers::Error| Error::Tokenizer(error.to_string());
    let mut trainer = BpeTrainer::builder()
        .show_progress(false)
        .vocab_size(entries)
        .min_frequency(2)
        .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
        .special_tokens(vec![AddedToken::from(SEPARATOR, true)])
        .build();
    let mut parts: Parts = TokenizerBuilder::new()
        .with_model(BPE::default())
        .with_normalizer(None)
        .with_pre_tokenizer(Some(ByteLevel::new(false, true, true).into()))
        .with_post_processor(None)
        .with_decoder(Some(ByteLevel::default().into()))
        .build()
        .map_err(problem)?;
    parts.train(&mut trainer, texts).map_err(problem)?;
    // Through the file's form, so that what is used is what will be read back.
    let json =
        serde_json::to_string(&parts).map_err(|error| Error::Tokenizer(error.to_string()))?;
    json.parse().map_err(problem)
}

/// The ids of all texts, a separator before each.
///
/// # Errors
/// [`Error::Tokenizer`] with the library's words.
pub fn stream(tokenizer: &Tokenizer, texts: &[&str]) -> Result<Vec<u32>> {
    let encoded: Result<Vec<Vec<u32>>> = texts
        .par_iter()
        .map(|text| {
            let encoding = tokenizer.encode_fast(*text, false);
            encoding
                .map(|e| e.get_ids().to_vec())
                .map_err(|error| Error::Tokenizer(error.to_string()))
        })
        .collect();
    let encoded = encoded?;
    let mut ids = Vec::with_capacity(encoded.iter().map(|ids| ids.len() + 1).sum());
    for document in encoded {
        ids.push(SEPARATOR_ID);
        ids.extend(document);
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trained_vocabulary_is_repeatable_and_encodes_any_text() {
        let texts =
            ["fn main() { println!(\"hello\"); }", "fn other() { println!(\"hello again\"); }"]
                .repeat(4);
        let one = train(texts.iter().copied(), 300).unwrap();
        let two = train(texts.iter().copied(), 300).unwrap();
        assert_eq!(one.to_string(false).unwrap(), two.to_string(false).unwrap());
        assert_eq!(one.token_to_id(SEPARATOR), Some(SEPARATOR_ID));
        let text = "fn caf\u{e9}() \u{1f980}\n";
        let ids = one.encode(text, false).unwrap().get_ids().to_vec();
        assert_eq!(one.decode(&ids, false).unwrap(), text);
        assert_eq!(stream(&one, &[text, ""]).unwrap(), [&[0], &ids[..], &[0]].concat());
    }
}
