//! Size against tokens: what moves an error, and a gap, the size of the model or the tokens it has seen?
//!
//! ```text
//! at fixed D   ln E = c_D + a_D ln N          at fixed N   ln E = c_N + b_N ln D          and so for ln G = ln E / E_baseline
//! ```
//!
//! The checkpoints of a run are points of their own, but not independent ones: what a run has, all of its checkpoints have. So the error of a mean
//! slope is that of leaving out whole sizes (the jackknife), never that of as many independent checkpoints.
//!
//! | file | what |
//! |---|---|
//! | [`SizeTokensTable`] | which columns of a table are meant |
//! | `read` | rows as checkpoints |
//! | `split` | slopes in both directions, with intervals |
//! | `words` | sentences with their numbers |
//!
//! Invariants: a gap is of two errors of the same checkpoint. Sizes are told apart by their number of parameters.

mod read;
mod split;
mod words;

use std::path::Path;

use crate::error::LawsError;
use crate::result::{Flag, FlagCode, SIZE_TOKENS_FORMAT, SizeTokens, SizeTokensFit};
use crate::user_table::Kind;
use read::Checkpoint;
use split::Point;

/// Which columns of a table make checkpoints.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeTokensTable {
    /// The column of sizes.
    pub params: String,
    /// The column of tokens seen.
    pub tokens: String,
    /// Columns of errors: one with [`distribution`](Self::distribution); else each is a distribution of its own.
    pub errors: Vec<String>,
    /// What the errors are: one for all columns, or one for each; empty = what the columns' names say.
    pub kinds: Vec<Kind>,
    /// The column that names a row's distribution.
    pub distribution: Option<String>,
    /// The distribution that all others are compared with.
    pub baseline: String,
    /// The column that names a run; `model`, `name` or `run` where not given and there. Tells runs of one size and as many tokens apart.
    pub label: Option<String>,
    /// Column and value: only rows that have it take part.
    pub only: Vec<(String, String)>,
    /// Nominal coverage of every interval.
    pub level: f64,
}

/// Fits both directions to each distribution of a table (.csv, .tsv, .jsonl, .parquet).
///
/// # Errors
/// [`LawsError::Table`]: a file that cannot be read, a column that is not there, a number that is missing or impossible, with file and line, a
/// checkpoint that is there twice. [`LawsError::NoDistribution`]: no such baseline. [`LawsError::Option`]: a level that is no probability. Too few
/// checkpoints are no error: the direction has no slices.
pub fn fit_size_tokens(path: &Path, options: &SizeTokensTable) -> Result<SizeTokensFit, LawsError> {
    if !(options.level > 0.0 && options.level < 1.0) {
        let value = options.level.to_string();
        return Err(LawsError::Option { option: "level", value, expected: "above 0 and below 1" });
    }
    let read = read::checkpoints(path, options)?;
    let mut names: Vec<&str> =
        read.checkpoints.iter().flat_map(|point| point.errors.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    let baseline = options.baseline.as_str();
    if !names.contains(&baseline) {
        let there = names.into_iter().map(str::to_owned).collect();
        return Err(LawsError::NoDistribution { wanted: options.baseline.clone(), there });
    }
    names.sort_by_key(|name| *name != baseline);
    let range = |of: fn(&Checkpoint) -> f64| {
        let values = || read.checkpoints.iter().map(of);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    };
    let mut sizes: Vec<f64> = read.checkpoints.iter().map(|point| point.params).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let ranges = (range(|point| point.params), range(|point| point.tokens));
    let distributions = names.into_iter().map(|name| distribution(name, &read, options, ranges)).collect();
    Ok(SizeTokensFit {
        format: SIZE_TOKENS_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        file: path.display().to_string(),
        params: options.params.clone(),
        tokens: options.tokens.clone(),
        error: read.error.clone(),
        baseline: options.baseline.clone(),
        level: options.level,
        params_range: ranges.0,
        tokens_range: ranges.1,
        sizes: sizes.len() as u32,
        distributions,
    })
}

type Ranges = ((f64, f64), (f64, f64));

fn distribution(name: &str, read: &read::Read, options: &SizeTokensTable, ranges: Ranges) -> SizeTokens {
    let points = |value: &dyn Fn(&Checkpoint) -> Option<f64>| -> Vec<Point> {
        let of = |point: &Checkpoint| {
            Some(Point { size: point.params, tokens: point.tokens, log_value: value(point)? })
        };
        read.checkpoints.iter().filter_map(of).collect()
    };
    let own = points(&|point| Some(point.errors.get(name)?.ln()));
    let pairs =
        points(&|point| Some(point.errors.get(name)?.ln() - point.errors.get(&options.baseline)?.ln()));
    let mut flags: Vec<Flag> = read
        .left_out
        .iter()
        .filter(|(distribution, _)| distribution == name)
        .map(|(_, reason)| Flag::new(FlagCode::PointsLeftOut, reason.clone()))
        .collect();
    let is_baseline = name == options.baseline;
    if pairs.len() < own.len() {
        let message = format!("{} checkpoints have no error on the baseline", own.len() - pairs.len());
        flags.push(Flag::new(FlagCode::PointsLeftOut, message));
    }
    let mut found = SizeTokens {
        name: name.to_owned(),
        points: own.len() as u32,
        absolute: split::both(&own, ranges, options.level),
        gap: (!is_baseline).then(|| split::both(&pairs, ranges, options.level)),
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
    found.verdict = words::of_distribution(&found, &options.baseline);
    found
}
