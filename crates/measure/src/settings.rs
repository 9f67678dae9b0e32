//! How to measure; the same for all models and corpora of a session.

use relscale_corpus::Tokenizer;
use relscale_records::provenance::{PrefixProvenance, ScoreColumn, TieRule, VocabularyRule};
use relscale_records::study::SliceOf;

use crate::draw::Draw;
use crate::engine::EngineIdentity;
use crate::error::{Error, Result};
use crate::layout::PART_TOKENS;
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
    /// Which rows of the head take part. Where nobody says: those of known tokens, or all for an
    /// engine that cannot leave any out.
    pub vocabulary: Option<VocabularyRule>,
    /// How equal logits count. Where nobody says: against the model, or as the engine does where it
    /// tells no ties.
    pub tie_rule: Option<TieRule>,
    /// Positions to score at most in each corpus (see [`crate::layout`]).
    pub tokens: Option<u64>,
    /// Which documents that limit takes; without one, nothing is drawn.
    pub draw: Draw,
    /// Tokens of a batch; the engine's number where nobody says. Does not change the results.
    pub batch_tokens: Option<usize>,
    /// Which slice of a corpus's documents is measured, to be merged with the others; all of them
    /// where nobody says.
    pub slice: Option<SliceOf>,
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
            vocabulary: None,
            tie_rule: None,
            tokens: None,
            draw: Draw::AsBegun,
            batch_tokens: None,
            slice: None,
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
    pub fn for_protocol(name: &str) -> Self {
        let (vocabulary, tie_rule) = match name {
            "paper" => (Some(VocabularyRule::Rows), Some(TieRule::Greater)),
            "rolling" | "strided" | "half-window" => (Some(VocabularyRule::Rows), None),
            _ => (None, None),
        };
        Self { protocol: name.to_owned(), vocabulary, tie_rule, ..Self::default() }
    }

    /// The rows that take part with an engine.
    ///
    /// # Errors
    /// [`Error::OnlyRows`] where known tokens were asked for, and the engine ranks over all rows.
    pub(crate) fn vocabulary_of(&self, engine: &EngineIdentity) -> Result<VocabularyRule> {
        match (self.vocabulary, engine.rows_only) {
            (Some(VocabularyRule::Tokens), true) => {
                Err(Error::OnlyRows { engine: engine.name.clone() })
            }
            (None, true) => Ok(VocabularyRule::Rows),
            (None, false) => Ok(VocabularyRule::Tokens),
            (Some(rule), _) => Ok(rule),
        }
    }

    /// How equal logits count with an engine.
    ///
    /// # Errors
    /// [`Error::OtherTies`] where another rule was asked for than that of an engine that tells no
    /// ties.
    pub(crate) fn tie_rule_of(&self, engine: &EngineIdentity) -> Result<TieRule> {
        let (asked, own) = (self.tie_rule, engine.rank_rule);
        if !engine.lacks.contains(&ScoreColumn::Ties) {
            return Ok(asked.unwrap_or(TieRule::AtLeast));
        }
        if asked.is_some_and(|asked| asked != own) {
            let (engine, protocol) = (engine.name.clone(), self.protocol.clone());
            return Err(Error::OtherTies { engine, protocol, rule: own });
        }
        Ok(own)
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
