//! One form against another: Vuong's test, over tokens and over documents.
//!
//! Vuong (1989): the mean of `d = ln P_1(R) - ln P_2(R)` over its standard error is standard normal when both forms are
//! equally far from the truth. The textbook error takes tokens as independent. Tokens of one document are not, and the z that it gives
//! is too large; so the error is computed over documents as well. A tally holds a document's counts in the cells between
//! neighbouring k of its grid, not by exact rank, so the variance of the sum is
//!
//! ```text
//! D/(D - 1) sum over documents of (sum over cells of n_dc (m_c - m))²  +  sum over ranks of n_r (d_r - m_c(r))²
//! ```
//!
//! with `m_c` the mean of d in cell c: between cells documents are what varies, inside a cell tokens are.

use relscale_records::{DocumentTally, RunTally};
use relscale_stats::discrete::Kind;
use relscale_stats::normal::upper_tail;

/// Vuong's z by documents, and its two-sided p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ByDocuments {
    pub(super) statistic: f64,
    pub(super) p_value: f64,
}

/// z over documents, from `d` of each occurring rank: `(rank, tokens, difference)`, ascending.
///
/// `None` with fewer than two documents, or when the difference does not vary.
pub(super) fn by_documents(run: &RunTally, differences: &[(u32, u64, f64)]) -> Option<ByDocuments> {
    let documents: Vec<&DocumentTally> = run.documents.iter().filter(|d| d.scored > 0).collect();
    if documents.len() < 2 {
        return None;
    }
    let cells = run.k_grid.len() + 1;
    let cell = |rank: u32| run.k_grid.partition_point(|&k| k < rank);
    let mut counts = vec![0.0; cells];
    let mut sums = vec![0.0; cells];
    for &(rank, tokens, difference) in differences {
        counts[cell(rank)] += tokens as f64;
        sums[cell(rank)] += tokens as f64 * difference;
    }
    let tokens: f64 = counts.iter().sum();
    let mean = sums.iter().sum::<f64>() / tokens;
    let means: Vec<f64> =
        sums.iter().zip(&counts).map(|(sum, count)| if *count > 0.0 { sum / count } else { mean }).collect();
    let inside: f64 = differences
        .iter()
        .map(|&(rank, tokens, difference)| tokens as f64 * (difference - means[cell(rank)]).powi(2))
        .sum();
    let between: f64 = documents
        .iter()
        .map(|document| {
            let mut below = 0;
            let ends = document.hits.iter().copied().chain([document.scored]);
            let sum: f64 = ends
                .zip(&means)
                .map(|(hits, cell_mean)| {
                    let inside = hits - below;
                    below = hits;
                    inside as f64 * (cell_mean - mean)
                })
                .sum();
            sum * sum
        })
        .sum();
    let count = documents.len() as f64;
    let deviation = (between * count / (count - 1.0) + inside).sqrt();
    let statistic = tokens * mean / deviation;
    (deviation > 0.0 && statistic.is_finite())
        .then(|| ByDocuments { statistic, p_value: (2.0 * upper_tail(statistic.abs())).min(1.0) })
}

/// Which form is closer, in words.
pub(super) fn words(first: Kind, second: Kind, mean: f64, p_value: f64, level: f64) -> String {
    let (first, second) = (first.title(), second.title());
    if p_value > 1.0 - level {
        return format!(
            "{first} and {second} cannot be told apart ({mean:+.5} nats a token, {})",
            chance(p_value)
        );
    }
    let (closer, other) = if mean > 0.0 { (first, second) } else { (second, first) };
    format!("{closer} is closer than {other} by {:.5} nats a token ({})", mean.abs(), chance(p_value))
}

/// A p-value as people read it.
fn chance(p: f64) -> String {
    match p {
        _ if p < 1e-15 => "p < 1e-15".to_owned(),
        _ if p < 1e-4 => format!("p = {p:.0e}"),
        _ => format!("p = {p:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use relscale_records::{Provenance, ScoredToken};

    use super::*;

    /// A run whose documents are these ranks; hits are counted at k = 1, 2, 4.
    fn run(documents: &[Vec<u32>]) -> (RunTally, Vec<(u32, u64, f64)>) {
        let mut run = RunTally::with_grid(&Provenance::example(), vec![1, 2, 4]);
        let mut counts = BTreeMap::new();
        for (ordinal, ranks) in documents.iter().enumerate() {
            for (position, &rank) in ranks.iter().enumerate() {
                *counts.entry(rank).or_insert(0) += 1;
                run.add(&ScoredToken {
                    document: ordinal as u32,
                    position: position as u32,
                    token: 0,
                    bytes: 1,
                    context: 0,
                    score: Some(relscale_records::Score { rank, ties: 0, nll: 1.0, entropy: 1.0, argmax: 0 }),
                });
            }
        }
        let difference = |rank: u32| (f64::from(rank) * 0.7).sin() + 0.2;
        (run, counts.into_iter().map(|(rank, tokens)| (rank, tokens, difference(rank))).collect())
    }

    /// Vuong's z as for independent tokens, with n in the denominator.
    fn by_tokens(differences: &[(u32, u64, f64)]) -> f64 {
        let n: f64 = differences.iter().map(|d| d.1 as f64).sum();
        let mean = differences.iter().map(|d| d.1 as f64 * d.2).sum::<f64>() / n;
        let squares: f64 = differences.iter().map(|d| d.1 as f64 * (d.2 - mean).powi(2)).sum();
        n * mean / squares.sqrt()
    }

    #[test]
    fn documents_of_one_token_are_tokens() {
        // Every rank is a cell of its own, so that nothing is averaged.
        let documents: Vec<Vec<u32>> = (0..300).map(|i| vec![[1, 1, 2, 1, 2][i % 5]]).collect();
        let (run, differences) = run(&documents);
        let found = by_documents(&run, &differences).unwrap().statistic;
        let expected = by_tokens(&differences) * (299.0_f64 / 300.0).sqrt();
        assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    }

    #[test]
    fn repeating_a_token_adds_no_evidence() {
        let single: Vec<Vec<u32>> = (0..60).map(|i| vec![[1, 2, 1, 1, 2, 2, 1][i % 7]]).collect();
        let repeated: Vec<Vec<u32>> = single.iter().map(|document| document.repeat(25)).collect();
        let (once, differences) = run(&single);
        let (often, more) = run(&repeated);
        let z = by_documents(&once, &differences).unwrap().statistic;
        let of_copies = by_documents(&often, &more).unwrap().statistic;
        assert!((z - of_copies).abs() < 1e-10, "{z} {of_copies}");
        assert!(
            (by_tokens(&more) / by_tokens(&differences) - 5.0).abs() < 1e-10,
            "the textbook z grows fivefold"
        );
    }

    #[test]
    fn inside_a_cell_tokens_vary() {
        // Ranks 3 and 4 share a cell, those above 4 another: no document differs from another by cells.
        let documents: Vec<Vec<u32>> = (0..50).map(|i| vec![3 + i % 2, 5 + i % 3]).collect();
        let (run, differences) = run(&documents);
        let found = by_documents(&run, &differences).unwrap().statistic;
        assert!(found.is_finite() && found.abs() > 0.0);
    }

    #[test]
    fn one_document_or_no_difference_has_no_test() {
        let (alone, differences) = run(&[vec![1, 2, 1]]);
        assert_eq!(by_documents(&alone, &differences), None);
        let (same, _) = run(&[vec![1, 2], vec![2, 1]]);
        assert_eq!(by_documents(&same, &[(1, 2, 0.0), (2, 2, 0.0)]), None);
    }

    #[test]
    fn words_name_the_closer_form() {
        assert!(
            words(Kind::Zeta, Kind::Lognormal, -0.01, 1e-9, 0.95)
                .starts_with("lognormal is closer than zeta by 0.01")
        );
        assert!(words(Kind::Zeta, Kind::Lognormal, -0.01, 0.3, 0.95).contains("cannot be told apart"));
    }
}
