//! Size against tokens: what moves an error, and a gap, the size of the model or the tokens it has
//! seen?
//!
//! ```text
//! at fixed D   ln E = c_D + a_D ln N          at fixed N   ln E = c_N + b_N ln D          and so for ln G = ln E / E_baseline
//! ```
//!
//! The checkpoints of a run are points of their own, but not independent ones: what a run has, all
//! of its checkpoints have. So the error of a mean slope is that of leaving out whole sizes (the
//! jackknife), never that of as many independent checkpoints.
//!
//! | file | what |
//! |---|---|
//! | [`SizeTokensTable`] | which columns of a table are meant |
//! | `read` | rows as checkpoints |
//! | `measured` | the models of a study as checkpoints |
//! | `split` | slopes in both directions, with intervals |
//! | `verdicts` | sentences with their numbers |
//!
//! Invariants: a gap is of two errors of the same checkpoint. Sizes are told apart by their number
//! of parameters.

mod measured;
mod read;
pub(crate) mod split;
mod verdicts;

use std::path::Path;

use crate::error::LawsError;
use crate::result::{Flag, FlagCode, RESULT_FORMAT, SizeTokens, SizeTokensFit};
use crate::tables::Select;
pub use measured::split_measured;
use read::{Checkpoint, Read};
use split::Point;

/// Which columns of a table make checkpoints.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeTokensTable {
    /// Columns and rows: two x, parameters and tokens (as `2097152*step`); columns of errors, one
    /// with [`Select::distribution`], else each a distribution of its own. The name of a row is
    /// that of a run, and tells runs of one size and as many tokens apart.
    pub select: Select,
    /// The distribution that all others are compared with.
    pub baseline: String,
    /// Nominal coverage of every interval.
    pub level: f64,
}

/// Fits both directions to each distribution of a table (.csv, .tsv, .jsonl, .parquet).
///
/// # Errors
/// [`LawsError::Table`]: a file that cannot be read, a column that is not there, a number that is
/// missing or impossible, with file and line, a checkpoint that is there twice.
/// [`LawsError::NoDistribution`]: no such baseline. [`LawsError::Option`]: a level that is no
/// probability. Too few checkpoints are no error: the direction has no slices.
pub fn fit_size_tokens(path: &Path, options: &SizeTokensTable) -> Result<SizeTokensFit, LawsError> {
    check_level(options.level)?;
    let read = read::checkpoints(path, options)?;
    describe(&read, &options.baseline, options.level, path.display().to_string())
}

pub(crate) fn check_level(level: f64) -> Result<(), LawsError> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    Err(LawsError::Option {
        option: "level",
        value: level.to_string(),
        expected: "above 0 and below 1",
    })
}

/// Both directions of every distribution of each group.
fn describe(
    read: &Read,
    baseline: &str,
    level: f64,
    file: String,
) -> Result<SizeTokensFit, LawsError> {
    let names_of = |checkpoints: &[Checkpoint]| {
        let mut names: Vec<String> =
            checkpoints.iter().flat_map(|point| point.errors.keys().cloned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let all = || read.groups.values().flatten();
    if !all().any(|point| point.errors.contains_key(baseline)) {
        let mut there: Vec<String> =
            read.groups.values().flat_map(|group| names_of(group)).collect();
        there.sort_unstable();
        there.dedup();
        return Err(LawsError::NoDistribution { wanted: baseline.to_owned(), there });
    }
    let range = |of: fn(&Checkpoint) -> f64| {
        let values = || all().map(of);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    };
    let mut sizes: Vec<f64> = all().map(|point| point.params).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let ranges = (range(|point| point.params), range(|point| point.tokens));
    let mut distributions = Vec::new();
    for (group, checkpoints) in &read.groups {
        let mut names = names_of(checkpoints);
        names.sort_by_key(|name| name != baseline);
        let of = Group { name: group, checkpoints, left_out: &read.left_out };
        distributions
            .extend(names.iter().map(|name| distribution(name, &of, baseline, level, ranges)));
    }
    Ok(SizeTokensFit {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        file,
        models: read.models.clone(),
        params: read.params.clone(),
        tokens: read.tokens.clone(),
        error: read.error.clone(),
        baseline: baseline.to_owned(),
        level,
        params_range: ranges.0,
        tokens_range: ranges.1,
        sizes: sizes.len() as u32,
        flags: read.flags.clone(),
        distributions,
    })
}

pub(crate) type Ranges = ((f64, f64), (f64, f64));

/// The checkpoints that share slopes.
struct Group<'a> {
    name: &'a str,
    checkpoints: &'a [Checkpoint],
    /// Group, distribution and reason, of all groups.
    left_out: &'a [[String; 3]],
}

fn distribution(
    name: &str,
    group: &Group<'_>,
    baseline: &str,
    level: f64,
    ranges: Ranges,
) -> SizeTokens {
    let points = |value: &dyn Fn(&Checkpoint) -> Option<f64>| -> Vec<Point> {
        let of = |point: &Checkpoint| {
            Some(Point { size: point.params, tokens: point.tokens, log_value: value(point)? })
        };
        group.checkpoints.iter().filter_map(of).collect()
    };
    let own = points(&|point| Some(point.errors.get(name)?.ln()));
    let pairs =
        points(&|point| Some(point.errors.get(name)?.ln() - point.errors.get(baseline)?.ln()));
    let mut flags: Vec<Flag> = group
        .left_out
        .iter()
        .filter(|[of, distribution, _]| of == group.name && distribution == name)
        .map(|[.., reason]| Flag::new(FlagCode::PointsLeftOut, reason.clone()))
        .collect();
    let is_baseline = name == baseline;
    if pairs.len() < own.len() {
        let message =
            format!("{} checkpoints have no error on the baseline", own.len() - pairs.len());
        flags.push(Flag::new(FlagCode::PointsLeftOut, message));
    }
    let mut found = SizeTokens {
        name: if group.name == "all" { name.to_owned() } else { format!("{}: {name}", group.name) },
        points: own.len() as u32,
        absolute: split::both(&own, ranges, level),
        gap: (!is_baseline).then(|| split::both(&pairs, ranges, level)),
        flags,
        verdict: String::new(),
    };
    let judged = found.gap.as_ref().unwrap_or(&found.absolute);
    for (slices, what) in [
        (
            &judged.along_size.slices,
            "no three sizes have as many tokens (within 2 %), so nothing is known along size at fixed tokens",
        ),
        (
            &judged.along_tokens.slices,
            "no size has three numbers of tokens, so nothing is known along tokens at fixed size",
        ),
    ] {
        if slices.is_empty() {
            found.flags.push(Flag::new(FlagCode::TooFewPoints, what.to_owned()));
        }
    }
    found.verdict = verdicts::distribution(&found, baseline);
    found
}
