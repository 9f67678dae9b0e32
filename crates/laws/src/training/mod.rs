//! The law over training: what the errors of checkpoints do along size at fixed tokens, along
//! tokens at fixed size, and over both; how early they tell the end; what seeds scatter.
//!
//! ```text
//! along     ln E = c_D + a_D ln S at each D;   ln E = c_S + b_S ln D at each S      (size_tokens::split)
//! plane     ln E = c + a ln S + b ln D
//! surface   E = E0 + A S^-alpha + B D^-beta                                        (stats::surface)
//! ```
//!
//! | file | what |
//! |---|---|
//! | `checkpoints` | errors of a study as checkpoints of runs |
//! | `shapes` | plane and surface through checkpoints, and how they miss others |
//! | `law` | all that is said of one quantity |
//! | `early` | what the checkpoints of a part of the training say of its end |
//! | `seeds` | scatter of seeds beside the noise of the text |
//! | `verdicts` | sentences with their numbers |
//!
//! Invariants: what is predicted was not seen by what predicts it. Checkpoints of a run are never
//! counted as independent: intervals leave out whole sizes, seeds are compared after as many
//! tokens.

mod checkpoints;
mod early;
mod law;
mod seeds;
mod shapes;
mod verdicts;

use std::collections::BTreeMap;

use crate::error::LawsError;
use crate::manifest::{Manifest, ModelAxis};
use crate::relative::Measurements;
use crate::result::{FlagCode, Quantity, RESULT_FORMAT, TrainingFit, TrainingGroup, TrainingLaw};
use checkpoints::Checkpoint;

/// What is fitted.
#[derive(Debug, Clone, Copy)]
pub struct TrainingSource<'a> {
    /// A quantity each, with the errors of all checkpoints and S as their x.
    pub errors: &'a [(Quantity, Measurements)],
    /// The tokens of the models.
    pub tokens: &'a ModelAxis,
    /// Which run a model is a checkpoint of.
    pub manifest: &'a Manifest,
    /// Nominal coverage of every interval.
    pub level: f64,
}

/// Fits the errors of checkpoints over size and tokens.
///
/// # Errors
/// [`LawsError::Point`]: a model without a number of tokens. [`LawsError::Option`]: a level that is
/// no probability. [`LawsError::NoRuns`]: no quantity has a checkpoint. Too few checkpoints are no
/// error: the parts that need more are absent or say why.
pub fn fit_training(source: &TrainingSource<'_>) -> Result<TrainingFit, LawsError> {
    crate::size_tokens::check_level(source.level)?;
    let mut groups: BTreeMap<(&str, &str), Vec<TrainingLaw>> = BTreeMap::new();
    for (quantity, measured) in source.errors {
        for family in &measured.families {
            for series in &family.series {
                let found = Checkpoint::of(series, source.tokens, source.manifest)?;
                let law = law::describe(quantity, &measured.unit, series, found, source.level);
                groups.entry((&family.name, &series.distribution)).or_default().push(law);
            }
        }
    }
    let Some((_, first)) = source.errors.first() else { return Err(LawsError::NoRuns) };
    if groups.values().flatten().all(|law| law.points.is_empty()) {
        return Err(LawsError::NoRuns);
    }
    let mut flags = Vec::new();
    let of_families = source.errors.iter().flat_map(|(_, measured)| &measured.families);
    let of_families = of_families.flat_map(|family| &family.flags);
    // Checkpoints of one run are what this is about.
    for flag in
        of_families.chain(source.tokens.flags()).filter(|flag| flag.code != FlagCode::SharedRun)
    {
        if !flags.contains(flag) {
            flags.push(flag.clone());
        }
    }
    Ok(TrainingFit {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        models: source.tokens.file().to_owned(),
        params: first.x.clone(),
        tokens: source.tokens.in_words().to_owned(),
        level: source.level,
        flags,
        groups: groups
            .into_iter()
            .map(|((family, distribution), laws)| group(family, distribution, laws))
            .collect(),
    })
}

fn group(family: &str, distribution: &str, laws: Vec<TrainingLaw>) -> TrainingGroup {
    let most = laws.iter().max_by_key(|law| law.points.len());
    let mut sizes: Vec<f64> =
        most.iter().flat_map(|law| &law.points).map(|point| point.parameters).collect();
    sizes.dedup();
    let levels = most.map_or_else(Vec::new, |law| {
        law.split.along_size.slices.iter().map(|slice| slice.fixed).collect()
    });
    TrainingGroup {
        family: family.to_owned(),
        distribution: distribution.to_owned(),
        sizes: sizes.len() as u32,
        levels,
        verdict: verdicts::group(&laws),
        laws,
    }
}
