//! How to measure; the same for all models and corpora of a session.

use relscale_corpus::Tokenizer;
use relscale_records::provenance::{PrefixProvenance, TieRule, VocabularyRule};

use crate::layout::PART_TOKENS;
use crate::run::BATCH_TOKENS;
use crate::scratch;
use crate::source::ModelFacts;

/// The token put in before texts or windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefix {
    /// What the model was trained with: see [`choose_prefix`].
    Auto,
    /// None.
    None,
    /// This id.
    Id(u32),
}

/// How to measure; the same for all models and corpora of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Name of the protocol.
    pub protocol: String,
    /// Window length in tokens; the model's maximum (512 for `paper`) if not given.
    pub length: Option<usize>,
    /// Stride in tokens; half the length if not given.
    pub stride: Option<usize>,
    /// The prefix.
    pub prefix: Prefix,
    /// Which rows of the head take part.
    pub vocabulary: VocabularyRule,
    /// How equal logits count.
    pub tie_rule: TieRule,
    /// Positions to score at most in each corpus (see [`crate::layout`]).
    pub tokens: Option<u64>,
    /// Tokens of a batch; does not change the results.
    pub batch_tokens: usize,
    /// Positions after which a part is closed; leave it but in tests.
    pub part_tokens: u64,
    /// Bytes of a tokenised text that stay in memory ([`crate::scratch`]); does not change the results.
    pub text_memory: usize,
}

impl Default for Settings {
    /// Whole documents, each token but the first scored once; known tokens only; ties against the model.
    fn default() -> Self {
        Self {
            protocol: "document".into(),
            length: None,
            stride: None,
            prefix: Prefix::Auto,
            vocabulary: VocabularyRule::Tokens,
            tie_rule: TieRule::AtLeast,
            tokens: None,
            batch_tokens: BATCH_TOKENS,
            part_tokens: PART_TOKENS,
            text_memory: scratch::MEMORY,
        }
    }
}

impl Settings {
    /// What the published code of the rank law does: the first 512 tokens of each document, no special tokens, all rows of the
    /// head, ties in the model's favour.
    pub fn paper() -> Self {
        Self {
            protocol: "paper".into(),
            vocabulary: VocabularyRule::Rows,
            tie_rule: TieRule::Greater,
            ..Self::default()
        }
    }
}

/// The prefix, and why.
///
/// With [`Prefix::Auto`]: what the tokenizer would put before a text by itself; else, for OPT, its beginning-of-text `</s>`, with
/// which it was trained though its older files do not say so; else, for `rolling`, which cannot do without, beginning-of-text or, failing
/// that, end-of-text; else none (GPT-2, Pythia, Qwen).
pub fn choose_prefix(
    settings: &Settings,
    facts: &ModelFacts,
    tokenizer: Option<&Tokenizer>,
) -> Option<PrefixProvenance> {
    let because =
        |id: Option<u32>, reason: &str| id.map(|id| PrefixProvenance { id, reason: reason.to_owned() });
    let named = tokenizer.map(|t| *t.named_specials()).unwrap_or_default();
    match settings.prefix {
        Prefix::None => None,
        Prefix::Id(id) => because(Some(id), "asked for"),
        Prefix::Auto => {
            let by_itself = tokenizer.and_then(|t| t.added_by_processor().before.first().copied());
            let bos = named.bos.or(facts.bos);
            let opt = facts.model.architecture == "opt";
            let rolling = settings.protocol == "rolling";
            because(by_itself, "the tokenizer puts it before every text")
                .or_else(|| because(bos.filter(|_| opt), "OPT was trained with it before every text"))
                .or_else(|| because(bos.filter(|_| rolling), "`rolling` needs one: beginning-of-text"))
                .or_else(|| because(named.eos.filter(|_| rolling), "`rolling` needs one: end-of-text"))
        }
    }
}
