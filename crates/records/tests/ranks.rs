//! Positions by exact rank: against a naive count, and exact under every way of splitting and
//! joining.

use proptest::prelude::*;
use relscale_records::provenance::TieRule;
use relscale_records::{Provenance, RankHistogram, RunTally, Score, ScoredToken};

fn rows() -> impl Strategy<Value = Vec<(u32, f32)>> {
    // nll over nine decades, some below the unit of the sums.
    let nll = (-6.0_f32..2.5).prop_map(|exponent| 10.0_f32.powf(exponent));
    prop::collection::vec((1u32..40, nll), 0..80)
}

fn histogram(rows: &[(u32, f32)]) -> RankHistogram {
    let mut ranks = RankHistogram::default();
    rows.iter().for_each(|&(rank, nll)| ranks.add(rank, nll));
    ranks
}

proptest! {
    #[test]
    fn counts_and_sums_equal_naive_ones(rows in rows()) {
        let ranks = histogram(&rows);
        prop_assert_eq!(ranks.tokens() as usize, rows.len());
        prop_assert_eq!(ranks.largest(), rows.iter().map(|row| row.0).max());
        prop_assert!(ranks.iter().map(|bin| bin.rank).is_sorted_by(|a, b| a < b));
        prop_assert_eq!(ranks.distinct(), ranks.iter().count());
        for bin in ranks.iter() {
            let mine: Vec<f64> = rows.iter().filter(|r| r.0 == bin.rank).map(|r| f64::from(r.1)).collect();
            prop_assert_eq!(bin.tokens as usize, mine.len());
            let sum: f64 = mine.iter().sum();
            prop_assert!((bin.sum_nll - sum).abs() <= 5e-13 * mine.len() as f64 + 1e-15 * sum);
        }
    }

    #[test]
    fn any_split_and_any_order_merge_to_the_same_bits(rows in rows(), owner in prop::collection::vec(0u8..3, 80)) {
        let share = |who| {
            let mine: Vec<(u32, f32)> =
                rows.iter().zip(&owner).filter(|&(_, &o)| o == who).map(|(row, _)| *row).collect();
            histogram(&mine)
        };
        let backwards: Vec<(u32, f32)> = rows.iter().rev().copied().collect();
        let mut merged = share(2);
        merged.merge(&share(0));
        merged.merge(&share(1));
        prop_assert_eq!(&merged, &histogram(&rows));
        prop_assert_eq!(&merged, &histogram(&backwards));
    }
}

fn row(document: u32, score: Option<Score>) -> ScoredToken {
    ScoredToken { document, position: 1, token: 5, bytes: 1, context: 1, score }
}

#[test]
fn the_rank_goes_by_the_tie_rule_and_a_row_without_score_has_none() {
    let score = Score { rank: 37, ties: Some(36), nll: 3.6, entropy: Some(3.6), argmax: Some(0) };
    for (rule, rank) in [(TieRule::AtLeast, 37), (TieRule::Greater, 1)] {
        let mut ranks = RankHistogram::default();
        ranks.add_token(&row(0, Some(score)), rule);
        ranks.add_token(&row(0, None), rule);
        assert_eq!((ranks.tokens(), ranks.largest()), (1, Some(rank)), "{rule:?}");
    }
}

#[test]
fn it_travels_with_its_tally() {
    let counted = |document, rank| {
        let score = Score { rank, ties: Some(0), nll: 1.5, entropy: Some(1.0), argmax: Some(0) };
        let mut run = RunTally::new(&Provenance::example());
        run.add(&row(document, Some(score)));
        run.ranks = Some(histogram(&[(rank, 1.5)]));
        run
    };
    let merged = counted(0, 2).merge(counted(1, 9)).unwrap();
    assert_eq!(merged.ranks, Some(histogram(&[(9, 1.5), (2, 1.5)])));
    // The 128-bit sums come back from JSON whole.
    let text = serde_json::to_string(&merged).unwrap();
    assert_eq!(serde_json::from_str::<RunTally>(&text).unwrap(), merged);

    let mut uncounted = counted(1, 9);
    uncounted.ranks = None;
    let reason = counted(0, 2).merge(uncounted).unwrap_err().to_string();
    assert!(reason.contains("only one of them counted ranks"), "{reason}");
}
