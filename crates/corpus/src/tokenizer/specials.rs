//! Special tokens: those with a role, and those that a tokenizer would add by itself.

use serde::Serialize;

use super::guard::guarded;

/// The tokens with a role, as the folder's configuration names them. Several may be one token (OPT:
/// beginning, end and unknown are all `</s>`), which is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct NamedSpecials {
    /// Beginning of text.
    pub bos: Option<u32>,
    /// End of text.
    pub eos: Option<u32>,
    /// Unknown.
    pub unk: Option<u32>,
    /// Padding.
    pub pad: Option<u32>,
}

/// Ids that a tokenizer would have put before and after a text by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddedByProcessor {
    /// Before the text.
    pub before: Vec<u32>,
    /// After the text.
    pub after: Vec<u32>,
    /// What makes it do so, in words, for the record.
    pub why: &'static str,
}

impl Default for AddedByProcessor {
    fn default() -> Self {
        Self {
            before: Vec::new(),
            after: Vec::new(),
            why: "the tokenizer puts it before every text",
        }
    }
}

impl AddedByProcessor {
    /// True if it would have added nothing.
    pub fn is_nothing(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

/// Removes the post-processor and says what it would have added.
///
/// It is removed although encoding is done without specials, because the byte-level one also trims
/// the spaces off token offsets, from which the bytes of tokens are computed. What it adds is found
/// by trying, which is right for every kind of processor.
pub(super) fn take_post_processor(
    inner: &mut tokenizers::Tokenizer,
) -> Result<AddedByProcessor, String> {
    let ids = |inner: &tokenizers::Tokenizer, with_specials| {
        guarded(|| inner.encode("a", with_specials).map(|encoding| encoding.get_ids().to_vec()))
    };
    let mut added = AddedByProcessor::default();
    if inner.get_post_processor().is_some() {
        let (plain, full) = (ids(inner, false)?, ids(inner, true)?);
        if let Some(at) = full.windows(plain.len().max(1)).position(|window| window == plain) {
            added.before = full[..at].to_vec();
            added.after = full[at + plain.len()..].to_vec();
        } else if full != plain {
            added.before = full;
        }
        inner.with_post_processor(None::<tokenizers::PostProcessorWrapper>);
    }
    Ok(added)
}
