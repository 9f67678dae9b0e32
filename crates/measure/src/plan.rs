//! A model x a corpus x a protocol becomes a run: its provenance, its key, its parts.
//!
//! Everything that can be refused is refused here, before a single token is scored.

use relscale_records::Provenance;
use relscale_records::provenance::{
    CorpusProvenance, DrawProvenance, LimitProvenance, ProtocolProvenance, ScoringProvenance,
    TieRule, ToolProvenance, VocabularySizes,
};
use relscale_records::study::{RunPlan, RunRecord, SliceOf};
use relscale_records::version::FORMAT;

use crate::engine::Vocabulary;
use crate::error::{Error, Result};
use crate::layout::{Layout, Windows};
use crate::source::{ModelFacts, TokenizerFacts};
use crate::text::TokenisedCorpus;

/// What is asked of a run beyond model, corpus and tokenizer.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The protocol with its parameters and prefix, as recorded.
    pub protocol: ProtocolProvenance,
    /// How equal logits count.
    pub tie_rule: TieRule,
    /// Positions to score at most (see [`crate::layout`]).
    pub tokens: Option<u64>,
    /// Which slice of its documents is measured; all of them where nobody says.
    pub slice: Option<SliceOf>,
    /// Positions after which a part is closed; [`crate::layout::PART_TOKENS`] but in tests.
    pub part_tokens: u64,
}

/// A run that can be carried out.
#[derive(Debug)]
pub struct PlannedRun {
    /// What it is.
    pub record: RunRecord,
    /// Which documents and positions.
    pub layout: Layout,
}

/// Plans one run.
///
/// # Errors
/// [`Error::TokenizerTooLarge`] or, of ids that came without a tokenizer, [`Error::IdTooLarge`]
/// when a token of the text has no row in the model, [`Error::UnknownId`] when it has none that
/// counts, [`Error::NothingToScore`], [`Error::ZeroLimit`], those of [`crate::scratch`], and the
/// protocol's.
pub fn plan(
    model: &ModelFacts,
    corpus: &TokenisedCorpus,
    tokenizer: &TokenizerFacts,
    windows: &dyn Windows,
    vocabulary: &Vocabulary,
    asked: &Asked,
) -> Result<PlannedRun> {
    check_ids(model, corpus, tokenizer, vocabulary)?;
    let layout = Layout::new(corpus, windows, asked.tokens)?;
    let text = (corpus.provenance.clone(), corpus.drawn);
    let provenance = provenance(model, text, tokenizer, vocabulary, asked);
    let plan = RunPlan {
        documents: layout.documents(),
        scored: layout.total(),
        part_tokens: asked.part_tokens,
        // There are at most as many parts as documents.
        parts: layout.parts(asked.part_tokens, None)?.len() as u32,
    };
    let slice = asked.slice.map(|which| layout.slice(which)).transpose()?;
    let computed_on = model.identity.computed_on.iter().cloned().collect();
    let record = RunRecord { slice, computed_on, ..RunRecord::new(provenance, plan) };
    Ok(PlannedRun { record, layout })
}

/// Everything that decides a run's numbers; its hash is the run's key. `text`: the corpus, and how
/// documents are drawn from it, if they are.
pub fn provenance(
    model: &ModelFacts,
    text: (CorpusProvenance, Option<DrawProvenance>),
    tokenizer: &TokenizerFacts,
    vocabulary: &Vocabulary,
    asked: &Asked,
) -> Provenance {
    let identity = model.identity.clone();
    let (corpus, drawn) = text;
    Provenance {
        format: FORMAT,
        tool: ToolProvenance::this(),
        model: model.model.clone(),
        tokenizer: tokenizer.provenance.clone(),
        corpus,
        protocol: asked.protocol.clone(),
        scoring: ScoringProvenance {
            engine: identity.name,
            engine_revision: identity.revision,
            compute_dtype: identity.compute_dtype,
            tie_rule: asked.tie_rule,
            vocabulary_rule: vocabulary.rule(),
            vocabulary: VocabularySizes {
                tokenizer: tokenizer.size,
                with_added: tokenizer.with_added,
                rows: model.rows,
                scored: vocabulary.scored(),
            },
            lacks: identity.lacks,
            rank_rule: identity.rank_rule,
            engine_version: identity.version,
            cautions: identity.cautions,
        },
        limit: asked.tokens.map(|tokens| LimitProvenance { tokens, drawn }),
    }
}

/// A text with ids that the model has no row for would read beyond the embedding, and a token that
/// takes no part has no rank. A tokenizer may have more ids than the model has rows, as long as no
/// text uses them.
fn check_ids(
    model: &ModelFacts,
    corpus: &TokenisedCorpus,
    tokenizer: &TokenizerFacts,
    vocabulary: &Vocabulary,
) -> Result<()> {
    let (model, rows) = (&model.model.name, model.rows);
    for document in corpus.documents() {
        let document = document?;
        let mut ids = document.encoded.ids.iter().copied().enumerate();
        let Some((position, id)) = ids.find(|&(_, id)| !vocabulary.contains(id)) else { continue };
        let (corpus, document, model) = (corpus.name().to_owned(), document.id, model.clone());
        return Err(if id >= rows && tokenizer.largest_id >= rows {
            let (largest_id, size) = (tokenizer.largest_id, tokenizer.with_added);
            Error::TokenizerTooLarge { corpus, document, id, model, largest_id, size, rows }
        } else if id >= rows {
            Error::IdTooLarge { corpus, document, position, id, model, rows }
        } else {
            Error::UnknownId { corpus, document, position, id, model }
        });
    }
    Ok(())
}
