//! Sufficient statistics: against a naive count, and exact under every way of splitting and
//! joining.

use proptest::prelude::*;
use relscale_records::provenance::TieRule;
use relscale_records::tally::k_grid;
use relscale_records::{Provenance, RunTally, Score, ScoredToken};

fn row() -> impl Strategy<Value = Option<Score>> {
    let score = (1u32..=100, 0.0f32..20.0, 0.0f32..5.0, any::<bool>()).prop_map(
        |(rank, nll, entropy, tied)| Score {
            rank,
            ties: Some(u32::from(tied && rank > 1)),
            nll,
            entropy: Some(entropy),
            argmax: Some(0),
        },
    );
    prop_oneof![9 => score.prop_map(Some), 1 => Just(None)]
}

/// Documents of 1 to 20 rows, ordinals with gaps.
fn corpus() -> impl Strategy<Value = Vec<Vec<ScoredToken>>> {
    prop::collection::vec(prop::collection::vec((row(), 0u32..6), 1..20), 1..12).prop_map(
        |documents| {
            documents
                .into_iter()
                .enumerate()
                .map(|(d, rows)| {
                    let rows = rows.into_iter().enumerate();
                    rows.map(|(i, (score, bytes))| ScoredToken {
                        document: 3 * d as u32,
                        position: i as u32 + 1,
                        token: 0,
                        bytes,
                        context: i as u32 + 1,
                        score,
                    })
                    .collect()
                })
                .collect()
        },
    )
}

fn tally<'a>(rows: impl IntoIterator<Item = &'a ScoredToken>) -> RunTally {
    let mut tally = RunTally::new(&Provenance::example());
    rows.into_iter().for_each(|row| tally.add(row));
    tally
}

proptest! {
    #[test]
    fn counts_equal_a_naive_count(documents in corpus()) {
        let whole = tally(documents.iter().flatten());
        prop_assert_eq!(whole.documents.len(), documents.len());
        for (sums, rows) in whole.documents.iter().zip(&documents) {
            let scores: Vec<Score> = rows.iter().filter_map(|row| row.score).collect();
            prop_assert_eq!(sums.scored as usize, scores.len());
            prop_assert_eq!(sums.nonfinite as usize, rows.len() - scores.len());
            for (&k, &hits) in whole.k_grid.iter().zip(&sums.hits) {
                prop_assert_eq!(hits as usize, scores.iter().filter(|s| s.rank <= k).count());
            }
            let nll: f64 = scores.iter().map(|s| f64::from(s.nll)).sum();
            prop_assert_eq!(sums.sum_nll.to_bits(), (0.0 + nll).to_bits());
        }
        // The last k is |V|: every finite position is a hit there.
        let total = whole.totals();
        prop_assert_eq!(total.hits.last().copied(), Some(total.scored));
    }

    #[test]
    fn any_split_and_any_order_merge_to_the_same_bits(
        documents in corpus(),
        owner in prop::collection::vec(0usize..3, 12),
    ) {
        let whole = tally(documents.iter().flatten());
        let share = |who: usize| {
            let mine = documents.iter().zip(&owner).filter(|&(_, &o)| o == who);
            tally(mine.flat_map(|(rows, _)| rows))
        };
        let (a, b, c) = (share(0), share(1), share(2));
        let left = a.clone().merge(b.clone()).unwrap().merge(c.clone()).unwrap();
        let right = a.clone().merge(b.clone().merge(c.clone()).unwrap()).unwrap();
        let reversed = c.merge(b).unwrap().merge(a).unwrap();
        for merged in [left, right, reversed] {
            prop_assert_eq!(&merged, &whole);
            prop_assert_eq!(merged.totals().sum_nll.to_bits(), whole.totals().sum_nll.to_bits());
        }
    }
}

#[test]
fn the_tie_rule_decides_which_rank_is_compared() {
    let score = Score { rank: 37, ties: Some(36), nll: 3.6, entropy: Some(3.6), argmax: Some(0) };
    let row = ScoredToken {
        document: 0,
        position: 1,
        token: 5,
        bytes: 1,
        context: 1,
        score: Some(score),
    };
    let mut provenance = Provenance::example();
    // An all-equal row of 37 logits: worst rank by `>=`, rank 1 by `>`.
    for (rule, hit) in [(TieRule::AtLeast, 0), (TieRule::Greater, 1)] {
        provenance.scoring.tie_rule = rule;
        let mut tally = RunTally::new(&provenance);
        tally.add(&row);
        assert_eq!(tally.totals().hits[0], hit, "{rule:?}");
        assert_eq!(tally.totals().tied, Some(1));
    }
}

#[test]
fn averages_by_hand() {
    let score = |rank, nll| Score { rank, ties: Some(0), nll, entropy: Some(0.0), argmax: Some(0) };
    let row = |position, bytes, score| ScoredToken {
        document: 0,
        position,
        token: 0,
        bytes,
        context: position,
        score,
    };
    let run = tally(&[
        row(1, 3, Some(score(1, std::f32::consts::LN_2))),
        row(2, 1, Some(score(7, 3.0 * std::f32::consts::LN_2))),
        // Not finite: neither its bytes nor anything else of it counts.
        row(3, 100, None),
    ]);
    assert_eq!(run.rbp().unwrap()[0], 0.5);
    assert!((run.bits_per_byte().unwrap() - 1.0).abs() < 1e-7);
    assert!((run.cross_entropy().unwrap() / std::f64::consts::LN_2 - 2.0).abs() < 1e-7);
    assert_eq!(run.totals().nonfinite, 1);
    assert_eq!(
        tally(&[row(1, 1, None)]).rbp(),
        None,
        "no finite row is no number, not rank 0 or 1"
    );
}

#[test]
fn what_does_not_belong_together_does_not_merge() {
    let row = |document| ScoredToken {
        document,
        position: 1,
        token: 0,
        bytes: 1,
        context: 1,
        score: None,
    };
    let mut other = Provenance::example();
    other.scoring.engine_revision += 1;
    let reason = tally(&[row(0)]).merge(RunTally::new(&other)).unwrap_err().to_string();
    assert!(reason.contains("run key differs"), "{reason}");

    let reason = tally(&[row(0)]).merge(tally(&[row(0)])).unwrap_err().to_string();
    assert!(reason.contains("document 0 of corpus `prose` is in both"), "{reason}");

    let fine = RunTally::with_grid(&Provenance::example(), vec![1, 100]);
    assert!(tally(&[row(0)]).merge(fine).is_err());
}

#[test]
fn the_grid_ends_at_the_vocabulary() {
    assert_eq!(k_grid(50_257).last(), Some(&50_257));
    assert_eq!(k_grid(50_257).len(), 16);
    assert_eq!(k_grid(30_000).iter().filter(|&&k| k == 30_000).count(), 1);
    assert_eq!(k_grid(3), [1, 2, 3]);
}
