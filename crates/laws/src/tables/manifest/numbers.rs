//! Numbers of the models of one fit, each column in one convention.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use relscale_records::units::{Flops, FlopsConvention, ParameterConvention};

use super::model::{FLOPS, PARAMS, TOKENS};
use super::{Compute, Manifest, ManifestModel, Params, listed, refuse};
use crate::error::TableError;
use crate::result::{Flag, FlagCode};

/// How far, as a share, a number that was written for people may lie from the count of the weights.
const ROUNDED: f64 = 0.01;

/// What a study counts.
const NON_EMBEDDING: Option<ParameterConvention> = Some(ParameterConvention::NonEmbedding);

/// A model that numbers are wanted of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// S, where a study has counted it from the weights.
    pub(crate) counted: Option<u64>,
}

/// Numbers by column and model, and what is to be said of them.
#[derive(Debug, Clone, Default)]
pub struct ModelNumbers {
    path: PathBuf,
    values: BTreeMap<String, BTreeMap<String, f64>>,
    /// What a column counts, in a word: `train`, `non-embedding`.
    conventions: BTreeMap<String, String>,
    families: BTreeMap<String, String>,
    flags: Vec<Flag>,
}

impl ModelNumbers {
    /// A number of a model.
    ///
    /// # Errors
    /// [`TableError::NoNumber`]: it was not asked for.
    pub(crate) fn of(&self, model: &str, column: &str) -> Result<f64, TableError> {
        let found = self.values.get(column).and_then(|values| values.get(model));
        found.copied().ok_or_else(|| TableError::NoNumber {
            path: self.path.clone(),
            model: model.to_owned(),
            what: column.to_owned(),
        })
    }

    /// The family that the manifest gives a model.
    pub(crate) fn family(&self, model: &str) -> Option<&str> {
        self.families.get(model).map(String::as_str)
    }

    /// The file.
    pub(crate) fn file(&self) -> String {
        self.path.display().to_string()
    }

    /// An x in words: with the conventions of its columns, `flops (train)`,
    /// `6*params*tokens (params non-embedding)`.
    pub(crate) fn in_words(&self, x: &str) -> String {
        let words = self.conventions.iter().map(|(column, convention)| match column == x {
            true => convention.clone(),
            false => format!("{column} {convention}"),
        });
        match words.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => x.to_owned(),
            words => format!("{x} ({words})"),
        }
    }

    /// What was computed, converted or not said, and whether models are checkpoints of one run.
    pub(crate) fn flags(&self) -> &[Flag] {
        &self.flags
    }
}

/// Parameters with the model they are of.
struct Found<'a> {
    asked: Asked<'a>,
    model: &'a ManifestModel,
    params: Params,
}

impl Manifest {
    /// Numbers of these models. `params`, `tokens` and `flops` are known by what they mean, any
    /// other column by its name.
    ///
    /// # Errors
    /// A model that the manifest lacks; a number that it lacks, with the line; parameters in two
    /// conventions, or FLOPs of which only some say theirs; a non-embedding count that is not that
    /// of the weights.
    pub(crate) fn numbers(
        &self,
        columns: &BTreeSet<&str>,
        asked: &[Asked<'_>],
    ) -> Result<ModelNumbers, TableError> {
        let mut numbers = ModelNumbers { path: self.rows.path.clone(), ..ModelNumbers::default() };
        let known: Vec<(Asked<'_>, &ManifestModel)> = asked
            .iter()
            .map(|&asked| {
                Ok((asked, self.model(asked.name).ok_or_else(|| self.unknown(asked.name))?))
            })
            .collect::<Result<_, TableError>>()?;
        for &column in columns {
            let mut convention = None;
            let values = if PARAMS.iter().any(|(name, _)| *name == column) {
                let found = self.params(&known)?;
                let (values, said) = self.one_convention(found)?;
                numbers.say_unstated(
                    said.is_none(),
                    "params",
                    "non-embedding, non-embedding-and-head or total",
                );
                convention = said.map(|said| said.to_string());
                values
            } else if TOKENS.contains(&column) {
                self.each(&known, "tokens", |model| model.tokens)?
            } else if column == FLOPS {
                let (values, said) = self.flops(&known, &mut numbers)?;
                convention = said.map(|said| said.to_string());
                values
            } else {
                self.other(&known, column)?
            };
            numbers
                .conventions
                .extend(convention.map(|convention| (column.to_owned(), convention)));
            numbers.values.insert(column.to_owned(), values);
        }
        for (asked, model) in &known {
            let family = model.family.as_ref();
            numbers.families.extend(family.map(|family| (asked.name.to_owned(), family.clone())));
        }
        numbers.flags.extend(shared_runs(&known));
        Ok(numbers)
    }

    /// Parameters: what a study has counted, unless the manifest counts something else.
    fn params<'a>(
        &self,
        known: &[(Asked<'a>, &'a ManifestModel)],
    ) -> Result<Vec<Found<'a>>, TableError> {
        let mut all = Vec::new();
        for &(asked, model) in known {
            let counted = asked.counted.map(|counted| counted as f64);
            let params = match (model.params, counted) {
                (None, None) => return Err(self.lacks(model, "params")),
                (None, Some(counted)) => Params { value: counted, convention: NON_EMBEDDING },
                (Some(stated), None) => stated,
                (Some(stated), Some(counted)) => match stated.convention {
                    None | NON_EMBEDDING => {
                        if (stated.value / counted - 1.0).abs() > ROUNDED {
                            let reason = format!(
                                "`{}` has {} params, but its weights have {counted} that are no embeddings; give that number, or say \
                                 params_convention total or non-embedding-and-head, if that is meant",
                                model.name, stated.value
                            );
                            return Err(refuse(&self.rows.path, &model.place, reason));
                        }
                        Params { value: counted, convention: NON_EMBEDDING }
                    }
                    Some(_) => stated,
                },
            };
            all.push(Found { asked, model, params });
        }
        Ok(all)
    }

    /// The values, where all count alike.
    fn one_convention(
        &self,
        found: Vec<Found<'_>>,
    ) -> Result<(BTreeMap<String, f64>, Option<ParameterConvention>), TableError> {
        let name =
            |said: Option<ParameterConvention>| said.map_or("not said", ParameterConvention::name);
        let convention = found.first().and_then(|first| first.params.convention);
        if let Some(other) = found.iter().find(|other| other.params.convention != convention) {
            let first = &found[0];
            let reason = format!(
                "what params count is {} for `{}`, but {} for `{}` ({}); one fit needs one count, and one does not follow from another",
                name(other.params.convention),
                other.model.name,
                name(convention),
                first.model.name,
                first.model.place
            );
            return Err(refuse(&self.rows.path, &other.model.place, reason));
        }
        Ok((
            found
                .into_iter()
                .map(|found| (found.asked.name.to_owned(), found.params.value))
                .collect(),
            convention,
        ))
    }

    /// FLOPs: given, or from N and D; forward FLOPs become training FLOPs where some are such.
    fn flops(
        &self,
        known: &[(Asked<'_>, &ManifestModel)],
        numbers: &mut ModelNumbers,
    ) -> Result<(BTreeMap<String, f64>, Option<FlopsConvention>), TableError> {
        let mut stated: Vec<(&str, Flops)> = Vec::new();
        let mut unstated: Vec<(&str, f64, &ManifestModel)> = Vec::new();
        let mut computed: Vec<(Asked<'_>, &ManifestModel)> = Vec::new();
        for &(asked, model) in known {
            match model.compute {
                Compute::Given { value, convention: Some(convention) } => {
                    stated.push((asked.name, Flops { value, convention }));
                }
                Compute::Given { value, convention: None } => {
                    unstated.push((asked.name, value, model))
                }
                Compute::FromSizes(_) => computed.push((asked, model)),
            }
        }
        if let Some((_, _, model)) = unstated.first() {
            if stated.is_empty() && computed.is_empty() {
                numbers.say_unstated(true, "flops", "fwd or train");
                return Ok((
                    unstated.into_iter().map(|(name, value, _)| (name.to_owned(), value)).collect(),
                    None,
                ));
            }
            let reason = format!(
                "what the flops of `{}` count is not said, but for other models it is; give flops_convention fwd or train",
                model.name
            );
            return Err(refuse(&self.rows.path, &model.place, reason));
        }
        for work in [FlopsConvention::Forward, FlopsConvention::Train] {
            let of_work: Vec<_> = computed
                .iter()
                .copied()
                .filter(|(_, model)| model.compute == Compute::FromSizes(work))
                .collect();
            if of_work.is_empty() {
                continue;
            }
            if let Some((_, model)) = of_work.iter().find(|(asked, model)| {
                model.tokens.is_none() || (model.params.is_none() && asked.counted.is_none())
            }) {
                let reason = format!(
                    "`{}` has neither flops nor both params and tokens to compute them from; add one or the other",
                    model.name
                );
                return Err(refuse(&self.rows.path, &model.place, reason));
            }
            let (params, counts) = self.one_convention(self.params(&of_work)?)?;
            let tokens = self.each(&of_work, "tokens", |model| model.tokens)?;
            let factor = work.per_parameter_and_token();
            for (asked, _) in &of_work {
                let value = factor * params[asked.name] * tokens[asked.name];
                stated.push((asked.name, Flops { value, convention: work }));
            }
            let counts = counts
                .map_or("params as given".to_owned(), |counts| format!("the {counts} parameters"));
            let message = format!(
                "flops of {} models are not given; they are computed as {factor} N D ({work}), N being {counts}",
                of_work.len()
            );
            numbers.flags.push(Flag::new(FlagCode::FlopsComputed, message));
        }
        let forward: Vec<&str> = stated
            .iter()
            .filter(|(_, flops)| flops.convention == FlopsConvention::Forward)
            .map(|(name, _)| *name)
            .collect();
        let convention = match forward.len() == stated.len() {
            true => FlopsConvention::Forward,
            false => FlopsConvention::Train,
        };
        if convention == FlopsConvention::Train && !forward.is_empty() {
            let message = format!(
                "flops of {} models are of the forward pass and were multiplied by 3, to compare with training FLOPs: {}",
                forward.len(),
                listed(&forward)
            );
            numbers.flags.push(Flag::new(FlagCode::FlopsConverted, message));
        }
        let values =
            stated.iter().map(|(name, flops)| ((*name).to_owned(), flops.to(convention).value));
        Ok((values.collect(), Some(convention)))
    }

    fn each(
        &self,
        known: &[(Asked<'_>, &ManifestModel)],
        what: &str,
        value: impl Fn(&ManifestModel) -> Option<f64>,
    ) -> Result<BTreeMap<String, f64>, TableError> {
        let of = |(asked, model): &(Asked<'_>, &ManifestModel)| {
            Ok((asked.name.to_owned(), value(model).ok_or_else(|| self.lacks(model, what))?))
        };
        known.iter().map(of).collect()
    }

    /// A column that has no meaning here.
    fn other(
        &self,
        known: &[(Asked<'_>, &ManifestModel)],
        column: &str,
    ) -> Result<BTreeMap<String, f64>, TableError> {
        let at = self.rows.column(column)?;
        let of = |(asked, model): &(Asked<'_>, &ManifestModel)| {
            // A row a model, in one order; names are unique.
            let mut rows = self.rows.rows.iter().zip(&self.models);
            let row = rows.find_map(|(row, of)| (of.name == model.name).then_some(row));
            let row = row.ok_or_else(|| self.lacks(model, column))?;
            match self.rows.number(row, at)? {
                number if number > 0.0 => Ok((asked.name.to_owned(), number)),
                _ => Err(self.rows.refuse(row, at, "a number above 0")),
            }
        };
        known.iter().map(of).collect()
    }

    fn lacks(&self, model: &ManifestModel, what: &str) -> TableError {
        refuse(
            &self.rows.path,
            &model.place,
            format!("`{}` has no {what}; add the number", model.name),
        )
    }
}

impl ModelNumbers {
    fn say_unstated(&mut self, unstated: bool, what: &str, choices: &str) {
        if unstated {
            let file = self.path.display();
            let message = format!(
                "{file} does not say what {what} count; {what}_convention says it ({choices})"
            );
            self.flags.push(Flag::new(FlagCode::ConventionUnstated, message));
        }
    }
}

/// Says that models are checkpoints of one run.
fn shared_runs(known: &[(Asked<'_>, &ManifestModel)]) -> Option<Flag> {
    let mut runs: BTreeMap<&str, usize> = BTreeMap::new();
    for run in known.iter().filter_map(|(_, model)| model.run.as_deref()) {
        *runs.entry(run).or_default() += 1;
    }
    runs.retain(|_, models| *models > 1);
    let names: Vec<&str> = runs.keys().copied().collect();
    let message = || {
        format!(
            "{} models are checkpoints of {} training runs ({}): what a run has, all of its checkpoints have, so the intervals are too \
             narrow",
            runs.values().sum::<usize>(),
            names.len(),
            listed(&names)
        )
    };
    (!runs.is_empty()).then(|| Flag::new(FlagCode::SharedRun, message()))
}
