//! What is measured of models without a question: losses, ranks, entropies.

use std::path::Path;

use relscale_records::{DocumentTally, RunTally};

use crate::error::LawsError;
use crate::kind::Kind;
use crate::result::{FeatureKind, Flag, FlagCode, ForecastFeature, ForecastModel};
use crate::table::check_alike;
use crate::tables::manifest::ModelNumbers;
use crate::tables::{Select, Wanted, listed, read};

/// Features of models, every model with all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// Where they come from.
    pub from: String,
    /// What models grow in.
    pub x: String,
    /// The features.
    pub features: Vec<ForecastFeature>,
    /// The models, smallest x first.
    pub models: Vec<ForecastModel>,
    /// Documents behind them; 0 where that is not known.
    pub documents: u64,
    /// Scored tokens of the model that scored fewest; 0 where that is not known.
    pub tokens: u64,
    /// What is to be said of them.
    pub flags: Vec<Flag>,
}

impl Features {
    /// From the runs of one family on one corpus: the cross entropy, `-ln RBP_k` at each k that all
    /// of them counted, the entropy where the engine told it; of the first `part` of their
    /// documents.
    ///
    /// # Errors
    /// No run; runs of several families or corpora ([`LawsError::Option`], naming them), or that
    /// were not measured alike; nothing scored.
    pub fn from_runs(runs: &[RunTally], part: f64) -> Result<Self, LawsError> {
        let first = runs.first().ok_or(LawsError::NoRuns)?;
        for (option, name) in [
            ("family", (|run| &run.family) as fn(&RunTally) -> &String),
            ("corpus", |run| &run.corpus),
        ] {
            let mut there: Vec<&str> = runs.iter().map(|run| name(run).as_str()).collect();
            there.sort_unstable();
            there.dedup();
            if there.len() > 1 {
                let expected = "one of them, as features of several do not compare";
                return Err(LawsError::Option { option, value: there.join(", "), expected });
            }
        }
        let mut runs: Vec<&RunTally> = runs.iter().collect();
        runs.sort_by(|a, b| (a.non_embedding, &a.model).cmp(&(b.non_embedding, &b.model)));
        check_alike(&first.family, &first.corpus, &runs)?;
        let sums: Vec<DocumentTally> = runs.iter().map(|run| sums(run, part)).collect();
        let tokens = sums.iter().map(|sums| sums.scored).min().unwrap_or_default();
        if tokens == 0 {
            return Err(LawsError::NoRuns);
        }
        // Each feature with its values, where every model has one that a curve can use.
        let mut columns: Vec<(ForecastFeature, Vec<f64>)> = Vec::new();
        let mut without = Vec::new();
        let mut add = |name: String, kind, values: Option<Vec<f64>>| match values
            .filter(|values| values.iter().all(|value| value.is_finite() && *value > 0.0))
        {
            Some(values) => columns.push((ForecastFeature { name, kind }, values)),
            None => without.push(name),
        };
        let mean = |sum: fn(&DocumentTally) -> Option<f64>| -> Option<Vec<f64>> {
            sums.iter().map(|sums| Some(sum(sums)? / sums.scored as f64)).collect()
        };
        add("CE".to_owned(), FeatureKind::Loss, mean(|sums| Some(sums.sum_nll)));
        for k in first.k_grid.iter().filter(|k| **k < first.vocabulary.scored) {
            let at = |run: &RunTally| run.k_grid.iter().position(|there| there == k);
            let value = |(run, sums): (&&RunTally, &DocumentTally)| {
                Some(-(sums.hits[at(run)?] as f64 / sums.scored as f64).ln())
            };
            let values = runs.iter().zip(&sums).map(value).collect();
            add(format!("-ln RBP_{k}"), FeatureKind::Rank, values);
        }
        add("entropy".to_owned(), FeatureKind::Entropy, mean(|sums| sums.sum_entropy));
        let models = runs.iter().enumerate().map(|(at, run)| ForecastModel {
            model: run.model.clone(),
            x: run.non_embedding as f64,
            group: None,
            values: columns.iter().map(|(_, values)| values[at]).collect(),
        });
        let flags = if without.is_empty() {
            Vec::new()
        } else {
            let message = format!(
                "features that some model has not, or of which it has all or nothing, so left out: {}",
                without.join(", ")
            );
            vec![Flag::new(FlagCode::PointsLeftOut, message)]
        };
        Ok(Self {
            from: first.corpus.clone(),
            x: "S".to_owned(),
            models: models.collect(),
            features: columns.into_iter().map(|(feature, _)| feature).collect(),
            documents: kept(first, part) as u64,
            tokens,
            flags,
        })
    }

    /// From a table of one row a model: `select.y` are the columns of features, each of the kind
    /// that `select.kinds` or its name says; `select.group` names training corpora.
    ///
    /// # Errors
    /// As for any table.
    pub fn from_table(path: &Path, select: &Select) -> Result<Self, LawsError> {
        let table = read(path, select, &Wanted::default())?;
        let x = select.x.first().map_or("size", String::as_str).to_owned();
        let named = select.y.iter().zip(&table.kinds);
        let features = named.map(|(column, kind)| ForecastFeature {
            name: kind.symbol(column),
            kind: match kind {
                Kind::Rbp | Kind::Accuracy | Kind::Wrong => FeatureKind::Rank,
                Kind::Ce | Kind::Perplexity | Kind::Bpb | Kind::Loss => FeatureKind::Loss,
            },
        });
        let features: Vec<ForecastFeature> = features.collect();
        let mut models = Vec::new();
        let mut left_out = Vec::new();
        for row in table.observations.chunk_by(|a, b| a.row == b.row) {
            let values: Option<Vec<f64>> = row.iter().map(|value| value.value()).collect();
            match (values, row[0].x.first()) {
                (Some(values), Some(&x)) => models.push(ForecastModel {
                    model: row[0].name().to_owned(),
                    x,
                    group: (!select.group.is_empty()).then(|| row[0].group.clone()),
                    values,
                }),
                _ => left_out.extend(row.iter().filter(|value| value.value().is_none())),
            }
        }
        let flag = listed(left_out.into_iter()).map(|told| {
            let message = format!("rows of features without a number, so left out: {told}");
            Flag::new(FlagCode::PointsLeftOut, message)
        });
        models.sort_by(|a, b| a.x.total_cmp(&b.x).then_with(|| a.model.cmp(&b.model)));
        let told = table.models.as_ref().map(ModelNumbers::flags).unwrap_or_default();
        Ok(Self {
            from: path.display().to_string(),
            x: table.models.as_ref().map_or_else(|| x.clone(), |models| models.in_words(&x)),
            features,
            models,
            documents: 0,
            tokens: 0,
            flags: flag.into_iter().chain(told.iter().cloned()).collect(),
        })
    }
}

/// Documents in a part of a run, at least one.
fn kept(run: &RunTally, part: f64) -> usize {
    let all = run.documents.len();
    ((part * all as f64).ceil() as usize).clamp(1, all.max(1))
}

/// The sums of the first part of a run's documents.
fn sums(run: &RunTally, part: f64) -> DocumentTally {
    let mut sums = DocumentTally::new(0, run.k_grid.len());
    run.documents.iter().take(kept(run, part)).for_each(|document| sums.absorb(document));
    sums
}
