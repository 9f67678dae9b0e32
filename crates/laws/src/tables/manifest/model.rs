//! One model, read from a row.

use std::collections::BTreeMap;

use relscale_records::units::{FlopsConvention, ParameterConvention};

use super::refuse;
use crate::error::TableError;
use crate::tables::rows::{Row, Rows};

/// Names that the column of models may have.
const MODEL: [&str; 2] = ["model", "name"];

/// Names that the column of parameters may have, with what the name says of the convention.
pub(crate) const PARAMS: [(&str, Option<ParameterConvention>); 3] = [
    ("params", None),
    ("S", Some(ParameterConvention::NonEmbedding)),
    ("non_embedding", Some(ParameterConvention::NonEmbedding)),
];

/// Names that the column of tokens may have.
pub(super) const TOKENS: [&str; 2] = ["tokens", "D"];

/// Name of the column of compute.
pub(crate) const FLOPS: &str = "flops";

/// What a manifest says of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestModel {
    /// Its name, as the study or table has it.
    pub name: String,
    /// The models that share laws with it.
    pub family: Option<String>,
    /// The training run of which it is a checkpoint.
    pub run: Option<String>,
    /// N.
    pub params: Option<Params>,
    /// D, tokens seen in training.
    pub tokens: Option<f64>,
    /// Training compute.
    pub compute: Compute,
    /// Where it stands, as a person finds it: `line 17`.
    pub place: String,
}

/// A number of parameters, as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// Above zero.
    pub value: f64,
    /// What is counted, where that is said.
    pub convention: Option<ParameterConvention>,
}

/// Training compute, as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Compute {
    /// A number of FLOPs.
    Given {
        /// Above zero.
        value: f64,
        /// What is counted, where that is said.
        convention: Option<FlopsConvention>,
    },
    /// None: to be taken as 2 N D or 6 N D.
    FromSizes(FlopsConvention),
}

/// Reads all rows and compares the checkpoints of each run.
///
/// # Errors
/// As [`Manifest::read`](super::Manifest::read), but for models that are there twice.
pub(super) fn read(rows: &Rows) -> Result<Vec<ManifestModel>, TableError> {
    let columns = Columns::from_rows(rows)?;
    let models: Vec<ManifestModel> =
        rows.rows.iter().map(|row| columns.model(rows, row)).collect::<Result<_, _>>()?;
    let mut runs: BTreeMap<&str, Vec<&ManifestModel>> = BTreeMap::new();
    for model in &models {
        let Some(run) = &model.run else { continue };
        let earlier = runs.entry(run).or_default();
        for other in earlier.iter() {
            let differ = |what: &str| {
                let reason = format!(
                    "`{}` and `{}` ({}) are checkpoints of run `{run}`, but {what}",
                    model.name, other.name, other.place
                );
                Err(refuse(&rows.path, &model.place, reason))
            };
            match (model.params, other.params) {
                (Some(a), Some(b)) if a != b => return differ("differ in params"),
                _ if model.family != other.family => return differ("differ in family"),
                _ if model.tokens.is_some() && model.tokens == other.tokens => {
                    return differ("have as many tokens");
                }
                _ => {}
            }
        }
        earlier.push(model);
    }
    Ok(models)
}

/// Where in a row everything stands.
struct Columns {
    model: usize,
    family: Option<usize>,
    run: Option<usize>,
    params: Option<(usize, Option<ParameterConvention>)>,
    params_convention: Option<usize>,
    tokens: Option<usize>,
    flops: Option<usize>,
    flops_convention: Option<usize>,
}

impl Columns {
    fn from_rows(rows: &Rows) -> Result<Self, TableError> {
        let first = |names: &[&'static str]| names.iter().find(|name| rows.has(name)).copied();
        let at = |names: &[&'static str]| first(names).map(|name| rows.column(name)).transpose();
        let params = PARAMS.iter().find(|(name, _)| rows.has(name));
        Ok(Self {
            model: rows.column(first(&MODEL).unwrap_or(MODEL[0]))?,
            family: at(&["family"])?,
            run: at(&["run"])?,
            params: params
                .map(|(name, said)| Ok::<_, TableError>((rows.column(name)?, *said)))
                .transpose()?,
            params_convention: at(&["params_convention"])?,
            tokens: at(&TOKENS)?,
            flops: at(&[FLOPS])?,
            flops_convention: at(&["flops_convention"])?,
        })
    }

    fn model(&self, rows: &Rows, row: &Row) -> Result<ManifestModel, TableError> {
        let filled = |at: Option<usize>| at.filter(|&at| !rows.is_empty(row, at));
        let name = |at| filled(at).map(|at| rows.name(row, at)).transpose();
        let number = |at| {
            let above_zero = |at| match rows.number(row, at)? {
                number if number > 0.0 => Ok(number),
                _ => Err(rows.refuse(row, at, "a number above 0")),
            };
            filled(at).map(above_zero).transpose()
        };
        let said =
            |at: Option<usize>| Ok::<_, TableError>((filled(at), name(at)?.unwrap_or_default()));
        let (at, text) = said(self.params_convention)?;
        let params_convention = match (at, ParameterConvention::named(&text)) {
            (Some(at), None) => {
                return Err(rows.refuse(row, at, "non-embedding, non-embedding-and-head or total"));
            }
            (_, found) => found.or(self.params.and_then(|(_, said)| said)),
        };
        let (at, text) = said(self.flops_convention)?;
        let flops_convention = match (at, FlopsConvention::named(&text)) {
            (Some(at), None) => return Err(rows.refuse(row, at, "fwd or train")),
            (_, found) => found,
        };
        Ok(ManifestModel {
            name: rows.name(row, self.model)?,
            family: name(self.family)?,
            run: name(self.run)?,
            params: number(self.params.map(|(at, _)| at))?
                .map(|value| Params { value, convention: params_convention }),
            tokens: number(self.tokens)?,
            compute: match number(self.flops)? {
                Some(value) => Compute::Given { value, convention: flops_convention },
                None => Compute::FromSizes(flops_convention.unwrap_or(FlopsConvention::Train)),
            },
            place: row.place.clone(),
        })
    }
}
