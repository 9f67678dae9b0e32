//! A study's runs to the results of its questions.

use std::collections::BTreeMap;

use relscale_records::RunTally;
use relscale_records::parquet::DocumentRow;

use super::items::{self, Grouping};
use super::mean::{Draw, Means};
use super::panel::Panel;
use super::verdicts;
use crate::choice_measure::ChoiceMeasure;
use crate::error::LawsError;
use crate::options::FitOptions;
use crate::result::{
    ChoiceMean, ChoiceOption, ChoiceValue, ChoicesFit, ChoicesGroup, ChoicesModel, Estimate, Flag,
    FlagCode, Interval, LeftOut, RESULT_FORMAT, ShuffledGold,
};

/// What of a study is looked at.
#[derive(Debug, Clone, Copy)]
pub struct ChoicesSource<'a> {
    /// The tallies of its runs.
    pub runs: &'a [RunTally],
    /// The documents of each text, by [`RunTally::documents_key`]: their tags.
    pub documents: &'a BTreeMap<String, Vec<DocumentRow>>,
    /// Only this family.
    pub family: Option<&'a str>,
    /// Only this corpus.
    pub corpus: Option<&'a str>,
    /// The tag that names distributions; without one `domain` or `cluster`, else the corpus is one.
    pub by: Option<&'a str>,
    /// Tag and value: only documents that have it take part.
    pub only: &'a [(String, String)],
}

/// How means are judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChoicesOptions {
    /// Nominal coverage of every interval.
    pub level: f64,
    /// How often items are drawn again, at least 2.
    pub resamples: u32,
    /// Seed of the drawing.
    pub seed: u64,
}

impl Default for ChoicesOptions {
    fn default() -> Self {
        let FitOptions { level, seed, .. } = FitOptions::default();
        Self { level, resamples: 1000, seed }
    }
}

/// Fewer items in a group than this, and drawing them again says little.
const FEW_ITEMS: usize = 20;

impl<'a> ChoicesSource<'a> {
    /// The tag whose values are the distributions; none where each corpus is one.
    pub fn tag(&self) -> Option<&'a str> {
        let has = |key: &&str| {
            self.documents.values().flatten().any(|document| document.tags.contains_key(*key))
        };
        self.by.or_else(|| items::DISTRIBUTION_TAGS.into_iter().find(has))
    }

    fn panels(&self) -> Result<Vec<Panel<'a>>, LawsError> {
        let grouping = Grouping { by: self.by, whole_corpus: false, only: self.only };
        let wanted = |run: &RunTally| {
            self.family.is_none_or(|family| family == run.family)
                && self.corpus.is_none_or(|corpus| corpus == run.corpus)
        };
        if !self.runs.iter().any(wanted) && !self.runs.is_empty() {
            let names = [("family", self.family), ("corpus", self.corpus)];
            let there = self
                .runs
                .iter()
                .map(|run| format!("family {} on corpus {}", run.family, run.corpus));
            let mut there: Vec<String> = there.collect();
            there.sort();
            there.dedup();
            return Err(LawsError::NoGroup {
                wanted: names
                    .iter()
                    .filter_map(|(what, name)| Some(format!("{what} {}", (*name)?)))
                    .collect(),
                there,
            });
        }
        Panel::all(self.runs, self.documents, grouping, wanted)
    }
}

/// Accuracies and losses of every model on the questions of a study.
///
/// # Errors
/// Options that cannot be used; runs that may not be compared; [`LawsError::Item`],
/// [`LawsError::NoItems`], [`LawsError::NoGroup`].
pub fn fit_choices(
    source: &ChoicesSource<'_>,
    options: &ChoicesOptions,
) -> Result<ChoicesFit, LawsError> {
    FitOptions { level: options.level, resamples: options.resamples, ..FitOptions::default() }
        .validate()?;
    let groups = source.panels()?.iter().map(|panel| group(panel, options)).collect();
    Ok(ChoicesFit {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        level: options.level,
        resamples: options.resamples,
        seed: options.seed,
        groups,
    })
}

/// Every option of every item under every model, in the order of models, items, options.
///
/// # Errors
/// As [`fit_choices`].
pub fn options_of_items(source: &ChoicesSource<'_>) -> Result<Vec<ChoiceOption>, LawsError> {
    let mut rows = Vec::new();
    for panel in source.panels()? {
        for model in &panel.models {
            for (item, score) in panel.items.iter().zip(&model.scores) {
                for (at, (option, scored)) in item.options.iter().zip(score.options()).enumerate() {
                    let [chosen, chosen_bytes, chosen_tokens] = scored.credit;
                    rows.push(ChoiceOption {
                        model: model.tally.model.clone(),
                        corpus: panel.corpus.to_owned(),
                        format: item.format.clone(),
                        distribution: item.distribution.clone(),
                        group: item.group.clone(),
                        item: item.name.clone(),
                        option: option.name.clone(),
                        gold: item.gold.contains(&at),
                        nll: -scored.score.log_probability,
                        bytes: scored.score.bytes,
                        tokens: scored.score.tokens,
                        chosen,
                        chosen_bytes,
                        chosen_tokens,
                    });
                }
            }
        }
    }
    Ok(rows)
}

fn group(panel: &Panel<'_>, options: &ChoicesOptions) -> ChoicesGroup {
    let draw = Draw { resamples: options.resamples, seed: options.seed };
    let means = Means::from_panel(panel, &ChoiceMeasure::ALL, draw, true);
    let models: Vec<ChoicesModel> = panel
        .models
        .iter()
        .enumerate()
        .map(|(at, model)| ChoicesModel {
            model: model.tally.model.clone(),
            non_embedding: model.tally.non_embedding,
            ties: model.scores.iter().filter(|score| score.is_tied()).count() as u64,
            means: means.iter().map(|means| mean(means, at, options.level)).collect(),
        })
        .collect();
    let numbers = panel.items.iter().map(|item| item.options.len() as u32);
    let mut group = ChoicesGroup {
        family: panel.family.to_owned(),
        corpus: panel.corpus.to_owned(),
        items: panel.items.len() as u64,
        options: (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0)),
        left_out: panel.left_out.iter().map(|(item, reason)| LeftOut::new(item, reason)).collect(),
        flags: flags(panel, &means, &models),
        models,
        verdict: String::new(),
    };
    group.verdict = verdicts::group(&group);
    group
}

fn mean(means: &Means, model: usize, level: f64) -> ChoiceMean {
    let measures = ChoiceMeasure::ALL;
    let values = measures.iter().enumerate().map(|(number, &measure)| {
        let column = model * measures.len() + number;
        let shuffled = means.shuffled[column];
        ChoiceValue {
            measure,
            mean: estimate(means, column, measure.unit(), level),
            shuffled: ShuffledGold {
                mean: shuffled.expected,
                standard_deviation: shuffled.variance.max(0.0).sqrt(),
            },
        }
    });
    ChoiceMean {
        format: means.format.clone(),
        distribution: means.distribution.clone(),
        group: means.group.clone(),
        items: means.items as u64,
        chance: means.chance,
        values: values.collect(),
    }
}

fn estimate(means: &Means, column: usize, unit: &str, level: f64) -> Estimate {
    let sample =
        means.replicates.as_ref().map(|replicates| replicates.sample(column)).map_err(Clone::clone);
    let interval = sample.as_ref().map_err(Clone::clone).and_then(|sample| {
        // Zero width would say that the mean is known exactly.
        if sample.ascending().first() == sample.ascending().last() {
            return Err("all items come out alike, so drawn again they show no error".to_owned());
        }
        let (low, high) = sample.interval(level).map_err(|refusal| refusal.to_string())?;
        Ok(Interval::ItemBootstrap { low, high, level, resamples: sample.replicates() as u32 })
    });
    Estimate {
        value: means.values[column],
        unit: unit.to_owned(),
        standard_error: match interval {
            Ok(_) => sample.ok().and_then(|sample| sample.standard_error().ok()),
            Err(_) => None,
        },
        interval: interval.unwrap_or_else(|reason| Interval::None { reason }),
    }
}

fn flags(panel: &Panel<'_>, means: &[Means], models: &[ChoicesModel]) -> Vec<Flag> {
    let mut flags = Vec::new();
    if let Some((item, reason)) = panel.left_out.first() {
        flags.push(Flag::new(
            FlagCode::PointsLeftOut,
            format!(
                "items left out for all models: {}, e.g. {item}: {reason}",
                panel.left_out.len()
            ),
        ));
    }
    let few: Vec<&str> = means
        .iter()
        .filter(|means| means.items < FEW_ITEMS)
        .filter_map(|means| means.group.as_deref())
        .collect();
    if let Some(first) = few.first() {
        flags.push(Flag::new(
            FlagCode::FewDocuments,
            format!(
                "{} fewer than {FEW_ITEMS} items, e.g. {first}: the spread of so few says little",
                if few.len() == 1 {
                    "1 group has".to_owned()
                } else {
                    format!("{} groups have", few.len())
                }
            ),
        ));
    }
    let tied = models.iter().max_by_key(|model| model.ties).filter(|model| model.ties > 0);
    if let Some(model) = tied {
        flags.push(Flag::new(
            FlagCode::TiedOptions,
            format!(
                "options tie for the largest sum in up to {} of {} items ({}); they share the credit",
                model.ties,
                panel.items.len(),
                model.model
            ),
        ));
    }
    flags
}
