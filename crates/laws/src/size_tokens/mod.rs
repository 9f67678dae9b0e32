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
//! | `measured` | the models of a study as checkpoints |
//! | `split` | slopes in both directions, with intervals |
//! | `words` | sentences with their numbers |
//!
//! Invariants: a gap is of two errors of the same checkpoint. Sizes are told apart by their number of parameters.

mod measured;
mod read;
mod split;
mod words;

use std::path::{Path, PathBuf};

use crate::error::LawsError;
use crate::result::{Flag, FlagCode, RESULT_FORMAT, SizeTokens, SizeTokensFit};
use crate::user_table::Kind;
pub use measured::split_measured;
use read::{Checkpoint, Read};
use split::Point;

/// Which columns of a table make checkpoints.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeTokensTable {
    /// The column of sizes, or a product of columns and numbers.
    pub params: String,
    /// The column of tokens seen, or a product, as `2097152*step`.
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
    /// A manifest, for sizes or tokens that the table lacks; see [`Manifest`](crate::manifest::Manifest).
    pub models: Option<PathBuf>,
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
    check_level(options.level)?;
    let read = read::checkpoints(path, options)?;
    describe(&read, &options.baseline, options.level, path.display().to_string())
}

fn check_level(level: f64) -> Result<(), LawsError> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    Err(LawsError::Option { option: "level", value: level.to_string(), expected: "above 0 and below 1" })
}

/// Both directions of every distribution.
fn describe(read: &Read, baseline: &str, level: f64, file: String) -> Result<SizeTokensFit, LawsError> {
    let mut names: Vec<&str> =
        read.checkpoints.iter().flat_map(|point| point.errors.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    if !names.contains(&baseline) {
        let there = names.into_iter().map(str::to_owned).collect();
        return Err(LawsError::NoDistribution { wanted: baseline.to_owned(), there });
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
    let distributions =
        names.into_iter().map(|name| distribution(name, read, baseline, level, ranges)).collect();
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

type Ranges = ((f64, f64), (f64, f64));

fn distribution(name: &str, read: &Read, baseline: &str, level: f64, ranges: Ranges) -> SizeTokens {
    let points = |value: &dyn Fn(&Checkpoint) -> Option<f64>| -> Vec<Point> {
        let of = |point: &Checkpoint| {
            Some(Point { size: point.params, tokens: point.tokens, log_value: value(point)? })
        };
        read.checkpoints.iter().filter_map(of).collect()
    };
    let own = points(&|point| Some(point.errors.get(name)?.ln()));
    let pairs = points(&|point| Some(point.errors.get(name)?.ln() - point.errors.get(baseline)?.ln()));
    let mut flags: Vec<Flag> = read
        .left_out
        .iter()
        .filter(|(distribution, _)| distribution == name)
        .map(|(_, reason)| Flag::new(FlagCode::PointsLeftOut, reason.clone()))
        .collect();
    let is_baseline = name == baseline;
    if pairs.len() < own.len() {
        let message = format!("{} checkpoints have no error on the baseline", own.len() - pairs.len());
        flags.push(Flag::new(FlagCode::PointsLeftOut, message));
    }
    let mut found = SizeTokens {
        name: name.to_owned(),
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
    found.verdict = words::of_distribution(&found, baseline);
    found
}
