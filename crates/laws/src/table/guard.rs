//! What must be equal before runs may share a line.
//!
//! A law compares models, so everything else must be the same: tokenizer (ranks are per token),
//! text, window protocol, tie rule, the numbers that logits were computed in, and the very
//! positions that were scored, document by document. A model that is a copy of another would count
//! twice.

use std::collections::HashMap;

use relscale_records::provenance::{DrawProvenance, DrawRule, TieRule, VocabularyRule};
use relscale_records::{DocumentTally, RunTally};

use crate::error::{Difference, LawsError};

/// Checks the runs of one family on one corpus, at least one.
///
/// # Errors
/// The first difference found, with both models and what each has.
pub(crate) fn check(family: &str, corpus: &str, runs: &[&RunTally]) -> Result<(), LawsError> {
    for run in runs {
        whole(run)?;
    }
    let mut names = HashMap::new();
    let mut weights = HashMap::new();
    for run in runs {
        if names.insert(&run.model, ()).is_some() {
            return Err(LawsError::SameName {
                family: family.to_owned(),
                corpus: corpus.to_owned(),
                model: run.model.clone(),
            });
        }
        if let Some(first) = weights.insert(&run.weights_sha256, &run.model) {
            return Err(LawsError::SameWeights {
                family: family.to_owned(),
                first: first.clone(),
                second: run.model.clone(),
                sha256: run.weights_sha256.clone(),
            });
        }
    }
    let first = runs[0];
    for &run in &runs[1..] {
        if let Some((what, first_value, second_value)) = difference(first, run) {
            return Err(LawsError::Unlike {
                family: family.to_owned(),
                corpus: corpus.to_owned(),
                difference: Box::new(Difference {
                    what,
                    first: first.model.clone(),
                    first_value,
                    second: run.model.clone(),
                    second_value,
                }),
            });
        }
    }
    Ok(())
}

fn difference(a: &RunTally, b: &RunTally) -> Option<(&'static str, String, String)> {
    let hash = |text: &str| format!("sha256 {text}");
    if a.tokenizer_sha256 != b.tokenizer_sha256 {
        return Some(("the tokenizer", hash(&a.tokenizer_sha256), hash(&b.tokenizer_sha256)));
    }
    if a.text_sha256 != b.text_sha256 {
        return Some(("the text", hash(&a.text_sha256), hash(&b.text_sha256)));
    }
    if a.drawn != b.drawn {
        let name = |run: &RunTally| match run.drawn {
            None => "the first of the text".to_owned(),
            Some(DrawProvenance { by: DrawRule::Sha256, seed }) => format!("drawn by seed {seed}"),
        };
        return Some(("the draw of documents", name(a), name(b)));
    }
    if a.protocol.name != b.protocol.name {
        return Some(("the window protocol", a.protocol.name.clone(), b.protocol.name.clone()));
    }
    let prefix = |run: &RunTally| run.protocol.prefix.as_ref().map(|prefix| prefix.id);
    if prefix(a) != prefix(b) {
        let name = |run| prefix(run).map_or("none".to_owned(), |id| format!("token {id}"));
        return Some(("the token put before windows", name(a), name(b)));
    }
    if a.vocabulary_rule != b.vocabulary_rule {
        let name = |run: &RunTally| match run.vocabulary_rule {
            VocabularyRule::Tokens => "rows that some token maps to".to_owned(),
            VocabularyRule::Rows => "all rows".to_owned(),
        };
        return Some(("the choice of rows that compete for a rank", name(a), name(b)));
    }
    if a.tie_rule != b.tie_rule {
        return Some(("the tie rule", rule(a.tie_rule), rule(b.tie_rule)));
    }
    if a.compute_dtype != b.compute_dtype {
        return Some((
            "the type of number that logits were computed in",
            a.compute_dtype.clone(),
            b.compute_dtype.clone(),
        ));
    }
    if a.documents.len() != b.documents.len() {
        let count = |run: &RunTally| format!("{} documents", run.documents.len());
        return Some(("the set of documents", count(a), count(b)));
    }
    let positions = |tally: &DocumentTally| tally.scored + tally.nonfinite;
    a.documents.iter().zip(&b.documents).find_map(|(x, y)| {
        if x.document != y.document {
            let name = |tally: &DocumentTally| format!("document {}", tally.document);
            return Some(("the set of documents", name(x), name(y)));
        }
        (positions(x) != positions(y)).then(|| {
            let count = |tally: &DocumentTally| {
                format!("{} scored positions in document {}", positions(tally), tally.document)
            };
            ("the set of scored positions", count(x), count(y))
        })
    })
}

fn rule(rule: TieRule) -> String {
    match rule {
        TieRule::AtLeast => ">= (ties count against the model)",
        TieRule::Greater => "> (ties count for the model)",
    }
    .to_owned()
}

/// Refuses sums that cannot be: a later average must not be the first to notice.
pub(super) fn whole(run: &RunTally) -> Result<(), LawsError> {
    if run.non_embedding == 0 {
        return Err(LawsError::NoParameters { model: run.model.clone() });
    }
    let mut previous = None;
    for tally in &run.documents {
        let reason = if tally.hits.len() != run.k_grid.len() {
            format!("{} counts of hits for {} values of k", tally.hits.len(), run.k_grid.len())
        } else if !tally.hits.is_sorted() || tally.hits.last().is_some_and(|h| *h > tally.scored) {
            format!("hits {:?} must rise with k up to {} tokens", tally.hits, tally.scored)
        } else if !(tally.sum_nll.is_finite() && tally.sum_entropy.is_none_or(f64::is_finite)) {
            format!("sums {} and {:?} nats must be finite", tally.sum_nll, tally.sum_entropy)
        } else if previous.is_some_and(|previous| previous >= tally.document) {
            "documents must come in ascending order, each once".to_owned()
        } else {
            previous = Some(tally.document);
            continue;
        };
        return Err(LawsError::Corrupt {
            model: run.model.clone(),
            corpus: run.corpus.clone(),
            document: tally.document,
            reason,
        });
    }
    Ok(())
}
