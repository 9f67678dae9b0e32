//! One family on one corpus: every item under every model.

use std::collections::BTreeMap;

use relscale_records::parquet::DocumentRow;
use relscale_records::{DocumentTally, RunTally};

use super::items::{self, Grouping, Item};
use super::score::{ItemScore, OptionScore};
use crate::error::LawsError;
use crate::table::check_alike;

/// Items and models of one family on one corpus.
pub(crate) struct Panel<'a> {
    pub(crate) family: &'a str,
    pub(crate) corpus: &'a str,
    /// Which documents these are, which seeds the drawing of items.
    pub(crate) documents_key: String,
    pub(super) items: Vec<Item>,
    /// Smallest first.
    pub(crate) models: Vec<ModelScores<'a>>,
    /// Items that some model cannot be judged on.
    pub(crate) left_out: Vec<(String, String)>,
}

/// One model's scores, an entry an item of the panel.
pub(crate) struct ModelScores<'a> {
    pub(crate) tally: &'a RunTally,
    pub(super) scores: Vec<ItemScore>,
}

/// Items of one format and one distribution, by group.
pub(super) struct FormatItems<'a> {
    pub(super) format: &'a str,
    pub(super) distribution: &'a str,
    /// Group and indices of its items, by name.
    pub(super) groups: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> Panel<'a> {
    /// The panels of all corpora that have items, by family, then corpus.
    ///
    /// # Errors
    /// Runs that may not be compared; [`LawsError::Item`]; [`LawsError::NoItems`] when no document
    /// of any corpus belongs to an item, [`LawsError::NoTag`] when none that does has the tags
    /// asked for.
    pub(crate) fn all(
        runs: &'a [RunTally],
        documents: &BTreeMap<String, Vec<DocumentRow>>,
        grouping: Grouping<'_>,
        wanted: impl Fn(&RunTally) -> bool,
    ) -> Result<Vec<Self>, LawsError> {
        let mut sorted: BTreeMap<(&str, &str), Vec<&RunTally>> = BTreeMap::new();
        for run in runs.iter().filter(|run| wanted(run)) {
            sorted.entry((&run.family, &run.corpus)).or_default().push(run);
        }
        let Some((&(_, corpus), _)) = sorted.first_key_value() else {
            return Err(LawsError::NoRuns);
        };
        let (mut panels, mut any_item) = (Vec::new(), false);
        for ((family, corpus), mut runs) in sorted {
            let rows = documents.get(&runs[0].documents_key()).map_or(&[][..], Vec::as_slice);
            let items = items::from_documents(corpus, rows, grouping)?;
            any_item |= rows.iter().any(|row| row.tags.contains_key("item"));
            if items.is_empty() {
                continue;
            }
            runs.sort_by(|a, b| (a.non_embedding, &a.model).cmp(&(b.non_embedding, &b.model)));
            check_alike(family, corpus, &runs)?;
            panels.push(Self::new(family, corpus, &runs, items));
        }
        match (panels.is_empty(), any_item) {
            (false, _) => Ok(panels),
            (true, true) => {
                Err(LawsError::NoTag { tags: grouping.tags(), corpus: corpus.to_owned() })
            }
            (true, false) => Err(LawsError::NoItems { corpus: corpus.to_owned() }),
        }
    }

    fn new(family: &'a str, corpus: &'a str, runs: &[&'a RunTally], items: Vec<Item>) -> Self {
        let mut left_out = Vec::new();
        let (mut kept, mut scores): (Vec<Item>, Vec<Vec<ItemScore>>) = Default::default();
        for item in items {
            let of_models: Result<Vec<ItemScore>, String> =
                runs.iter().map(|run| score(run, &item)).collect();
            match of_models {
                Ok(of_models) => {
                    kept.push(item);
                    scores.push(of_models);
                }
                Err(reason) => left_out.push((item.name, reason)),
            }
        }
        let models = runs
            .iter()
            .enumerate()
            .map(|(at, tally)| ModelScores {
                tally,
                scores: scores.iter().map(|of_models| of_models[at].clone()).collect(),
            })
            .collect();
        let documents_key = runs[0].documents_key();
        Self { family, corpus, documents_key, items: kept, models, left_out }
    }

    /// The cells by format, then distribution.
    pub(super) fn cells(&self) -> Vec<FormatItems<'_>> {
        let mut cells: BTreeMap<(&str, &str), BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
        for (at, item) in self.items.iter().enumerate() {
            let cell = cells.entry((&item.format, &item.distribution)).or_default();
            cell.entry(&item.group).or_default().push(at);
        }
        cells
            .into_iter()
            .map(|((format, distribution), groups)| FormatItems { format, distribution, groups })
            .collect()
    }
}

/// An item under a model.
///
/// # Errors
/// In words: an option that was not scored, a non-finite logit.
fn score(run: &RunTally, item: &Item) -> Result<ItemScore, String> {
    let tally = |document: u32| -> Option<&DocumentTally> {
        let at = run.documents.binary_search_by_key(&document, |tally| tally.document).ok()?;
        run.documents.get(at)
    };
    let mut scores = Vec::with_capacity(item.options.len());
    for option in &item.options {
        let of = tally(option.document).filter(|tally| tally.scored + tally.nonfinite > 0);
        let Some(of) = of else {
            return Err(format!("option `{}` has no scored token", option.name));
        };
        if of.nonfinite > 0 {
            return Err(format!(
                "option `{}` has {} positions with a non-finite logit under {}",
                option.name, of.nonfinite, run.model
            ));
        }
        scores.push(OptionScore {
            log_probability: -of.sum_nll,
            bytes: option.bytes.unwrap_or(of.bytes).max(1) as f64,
            tokens: of.scored as f64,
        });
    }
    Ok(ItemScore::new(&scores))
}
