//! Scatter of runs that differ in their seed alone, beside the noise of the text.
//!
//! Runs of a size after as many tokens are read on the same text, whose noise moves them much
//! alike; what is left of it in their differences, `V_ii + V_jj - 2 V_ij`, is taken off their
//! variance. Only one number of tokens is looked at: checkpoints of a run tell of one seed.

use relscale_stats::interval::deviation;

use super::checkpoints::{Checkpoint, at, levels};
use crate::relative::Series;
use crate::result::SeedNoise;

/// The scatter after the last number of tokens that some size has two runs at.
pub(super) fn noise(
    series: &Series,
    checkpoints: &[Checkpoint<'_>],
    level: f64,
) -> Option<SeedNoise> {
    levels(checkpoints).into_iter().rev().find_map(|tokens| {
        let here: Vec<&Checkpoint<'_>> = checkpoints.iter().filter(|one| at(one, tokens)).collect();
        let cells: Vec<&[&Checkpoint<'_>]> =
            here.chunk_by(|a, b| a.size == b.size).filter(|cell| is_of_seeds(cell)).collect();
        (!cells.is_empty()).then(|| told(series, &cells, tokens, level))
    })
}

/// Whether these are several runs.
fn is_of_seeds(cell: &[&Checkpoint<'_>]) -> bool {
    cell.iter().any(|one| one.run != cell[0].run)
}

fn told(series: &Series, cells: &[&[&Checkpoint<'_>]], tokens: f64, level: f64) -> SeedNoise {
    let runs: usize = cells.iter().map(|cell| cell.len()).sum();
    let freedom = runs - cells.len();
    let squares: f64 = cells.iter().map(|cell| squares(cell)).sum();
    let variance = squares / freedom as f64;
    let all: Vec<_> = cells.iter().flat_map(|cell| cell.iter().map(|one| one.measured)).collect();
    let covariance = series.noise(&all).map(|text| text.covariance);
    let text = covariance.as_ref().map(|v| {
        let variances = (0..runs).map(|at| v[at * runs + at].max(0.0).sqrt());
        variances.sum::<f64>() / runs as f64
    });
    // Of the pairs inside the cells: half of the mean variance of their differences.
    let difference = covariance.as_ref().map(|v| {
        let (mut sum, mut pairs, mut from) = (0.0, 0.0, 0);
        for cell in cells {
            for i in from..from + cell.len() {
                for j in from..i {
                    sum += v[i * runs + i] + v[j * runs + j] - 2.0 * v[i * runs + j];
                    pairs += 1.0;
                }
            }
            from += cell.len();
        }
        0.5 * (sum / pairs).max(0.0)
    });
    // The text's part is known far better than that of a few runs.
    let less = |end: f64| (end * end - difference.unwrap_or(0.0)).max(0.0).sqrt();
    let ends = deviation::interval(variance.sqrt(), freedom, level).ok();
    SeedNoise {
        tokens,
        sizes: cells.len() as u32,
        runs: runs as u32,
        deviation: less(variance.sqrt()),
        ends: ends.map(|(low, high)| [less(low), less(high)]),
        degrees_of_freedom: freedom as u32,
        text,
        text_of_difference: difference.map(f64::sqrt),
    }
}

/// Squares of the logarithms about their mean.
fn squares(cell: &[&Checkpoint<'_>]) -> f64 {
    let logs: Vec<f64> = cell.iter().map(|one| one.error().ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    logs.iter().map(|log| (log - mean).powi(2)).sum()
}
