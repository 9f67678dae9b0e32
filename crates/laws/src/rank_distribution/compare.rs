//! One form against another: Vuong's test, over tokens and over documents.
//!
//! Vuong (1989): the mean of `d = ln P_1(R) - ln P_2(R)` over its standard error is standard normal
//! when both forms are equally far from the truth. The textbook error takes tokens as independent.
//! Tokens of one document are not, and the z that it gives is too large; so the error is computed
//! over [documents](super::documents) as well.

use relscale_records::RunTally;
use relscale_stats::discrete::Kind;
use relscale_stats::normal::upper_tail;

use super::documents::{AtRank, spread};

/// Vuong's z by documents, and its two-sided p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ByDocuments {
    pub(super) statistic: f64,
    pub(super) p_value: f64,
}

/// z over documents, from `d` of each rank that occurs, ascending.
///
/// `None` with fewer than two documents, or when the difference does not vary.
pub(super) fn by_documents(run: &RunTally, differences: &[AtRank<1>]) -> Option<ByDocuments> {
    let found = spread(run, differences)?;
    let deviation = found.covariance[0][0].sqrt();
    let statistic = found.tokens * found.mean[0] / deviation;
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
    format!(
        "{closer} is closer than {other} by {:.5} nats a token ({})",
        mean.abs(),
        chance(p_value)
    )
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
    fn run(documents: &[Vec<u32>]) -> (RunTally, Vec<AtRank<1>>) {
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
                    score: Some(relscale_records::Score {
                        rank,
                        ties: Some(0),
                        nll: 1.0,
                        entropy: Some(1.0),
                        argmax: Some(0),
                    }),
                });
            }
        }
        let difference = |rank: u32| (f64::from(rank) * 0.7).sin() + 0.2;
        let at = |(rank, tokens)| AtRank { rank, tokens, value: [difference(rank)] };
        (run, counts.into_iter().map(at).collect())
    }

    /// Vuong's z as for independent tokens, with n in the denominator.
    fn by_tokens(differences: &[AtRank<1>]) -> f64 {
        let n: f64 = differences.iter().map(|d| d.tokens as f64).sum();
        let mean = differences.iter().map(|d| d.tokens as f64 * d.value[0]).sum::<f64>() / n;
        let squares: f64 =
            differences.iter().map(|d| d.tokens as f64 * (d.value[0] - mean).powi(2)).sum();
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
        // Ranks 3 and 4 share a cell, those above 4 another: no document differs from another by
        // cells.
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
        assert_eq!(
            by_documents(&same, &[1, 2].map(|rank| AtRank { rank, tokens: 2, value: [0.0] })),
            None
        );
    }

    #[test]
    fn words_name_the_closer_form() {
        assert!(
            words(Kind::Zeta, Kind::Lognormal, -0.01, 1e-9, 0.95)
                .starts_with("lognormal is closer than zeta by 0.01")
        );
        assert!(
            words(Kind::Zeta, Kind::Lognormal, -0.01, 0.3, 0.95).contains("cannot be told apart")
        );
    }
}
