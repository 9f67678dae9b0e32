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
    /// Bytes of a tokenised text that stay in memory ([`crate::scratch`]); does not change the
    /// results.
    pub text_memory: usize,
    /// Whether a finished run whose rows were left behind is measured again, for the sake of its
    /// rows.
    pub rows: bool,
}

impl Default for Settings {
    /// Whole documents, each token but the first scored once; known tokens only; ties against the
    /// model.
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
            rows: false,
        }
    }
}

impl Settings {
    /// What a protocol that follows a tool takes for granted with it: `paper` (the published code
    /// of the rank law) and the three of `rolling`, `strided` and `half-window` count all rows of
    /// the head, as their tools do; `paper` counts ties in the model's favour.
    pub fn of_protocol(name: &str) -> Self {
        let (vocabulary, tie_rule) = match name {
            "paper" => (VocabularyRule::Rows, TieRule::Greater),
            "rolling" | "strided" | "half-window" => (VocabularyRule::Rows, TieRule::AtLeast),
            _ => (VocabularyRule::Tokens, TieRule::AtLeast),
        };
        Self { protocol: name.to_owned(), vocabulary, tie_rule, ..Self::default() }
    }
}

/// The prefix, and why.
///
/// With [`Prefix::Auto`]: for `rolling`, as lm-evaluation-harness (`prefix_token_id` of `HFLM`),
/// the tokenizer's beginning-of-text or, failing that, its end-of-text; else what the tokenizer
/// would put before a text by itself; else, for OPT, its beginning-of-text `</s>`, with which it
/// was trained though its older files do not say so; else none (GPT-2, Pythia, Qwen). What
/// `config.json` says counts only where there is no tokenizer.
pub fn choose_prefix(
    settings: &Settings,
    facts: &ModelFacts,
    tokenizer: Option<&Tokenizer>,
) -> Option<PrefixProvenance> {
    let because = |id: Option<u32>, reason: &str| {
        id.map(|id| PrefixProvenance { id, reason: reason.to_owned() })
    };
    let named = tokenizer.map(|t| *t.named_specials()).unwrap_or_default();
    let of_config = facts.bos.filter(|_| tokenizer.is_none());
    match settings.prefix {
        Prefix::None => None,
        Prefix::Id(id) => because(Some(id), "asked for"),
        Prefix::Auto if settings.protocol == "rolling" => {
            because(named.bos, "`rolling` needs one: the tokenizer's beginning-of-text")
                .or_else(|| because(named.eos, "`rolling` needs one: the tokenizer's end-of-text"))
                .or_else(|| {
                    because(of_config, "`rolling` needs one: beginning-of-text of config.json")
                })
        }
        Prefix::Auto => {
            let by_itself = tokenizer.map(Tokenizer::added_by_processor);
            let first = by_itself.and_then(|added| added.before.first().copied());
            let opt = facts.model.architecture == "opt";
            let bos = named.bos.or(facts.bos).filter(|_| opt);
            because(first, by_itself.map_or("", |added| added.why))
                .or_else(|| because(bos, "OPT was trained with it before every text"))
        }
    }
}
