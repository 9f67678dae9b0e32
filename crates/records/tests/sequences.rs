//! Sequences: against a count by brute force, exact under every way of splitting, and broken by
//! every gap.

use proptest::prelude::*;
use relscale_records::provenance::TieRule;
use relscale_records::sequences::{PairCounts, RunCount, SequenceCounter, SequenceGrid};
use relscale_records::{Provenance, RunTally, Score, ScoredToken, SequenceTally};

fn row(document: u32, position: u32, rank: Option<u32>) -> ScoredToken {
    let score = rank.map(|rank| Score {
        rank,
        ties: Some(0),
        nll: 1.0,
        entropy: Some(1.0),
        argmax: Some(0),
    });
    ScoredToken { document, position, token: 0, bytes: 1, context: position, score }
}

fn grid() -> SequenceGrid {
    SequenceGrid { k: vec![1, 3], lengths: vec![1, 2, 5, 70], lags: vec![1, 2, 7, 63, 64] }
}

fn count<'a>(rows: impl IntoIterator<Item = &'a ScoredToken>) -> SequenceTally {
    let mut counter = SequenceCounter::new(grid(), TieRule::AtLeast).unwrap();
    rows.into_iter().for_each(|row| counter.add(row));
    counter.finish()
}

/// Documents of up to 200 rows: steps between positions mostly 1, ranks 1 to 5 that like to repeat,
/// here and there a non-finite row.
fn corpus() -> impl Strategy<Value = Vec<Vec<ScoredToken>>> {
    let rank = prop_oneof![12 => (1_u32..=5).prop_map(Some), 1 => Just(None)];
    let stretch = (rank, 1_usize..40, prop_oneof![6 => Just(1_u32), 1 => Just(2)]);
    prop::collection::vec(prop::collection::vec(stretch, 1..8), 1..8).prop_map(|documents| {
        let document = |(ordinal, stretches): (usize, Vec<(Option<u32>, usize, u32)>)| {
            let mut position = 0;
            let mut rows = Vec::new();
            for (rank, repeats, step) in stretches {
                position += step - 1;
                for _ in 0..repeats {
                    position += 1;
                    rows.push(row(3 * ordinal as u32, position, rank));
                }
            }
            rows
        };
        documents.into_iter().enumerate().map(document).collect()
    })
}

/// The outcomes of each segment, found by looking at every pair of neighbours.
fn segments(rows: &[ScoredToken], k: u32) -> Vec<Vec<bool>> {
    let mut segments: Vec<Vec<bool>> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let Some(score) = row.score else { continue };
        let follows =
            at > 0 && rows[at - 1].score.is_some() && rows[at - 1].position + 1 == row.position;
        if !follows {
            segments.push(Vec::new());
        }
        segments.last_mut().unwrap().push(score.rank <= k);
    }
    segments
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn counts_equal_a_count_by_brute_force(documents in corpus()) {
        let tally = count(documents.iter().flatten());
        let grid = &tally.grid;
        prop_assert_eq!(tally.documents.len(), documents.len());
        for (at, &k) in grid.k.iter().enumerate() {
            let mut runs: Vec<RunCount> = Vec::new();
            for (sums, rows) in tally.documents.iter().zip(&documents) {
                let segments = segments(rows, k);
                let counts = &sums.by_k[at];
                let outcomes = || segments.iter().flatten();
                prop_assert_eq!(sums.scored as usize, outcomes().count());
                prop_assert_eq!(counts.hits as usize, outcomes().filter(|hit| **hit).count());
                for (i, &n) in grid.lengths.iter().enumerate() {
                    let windows: Vec<&[bool]> = segments.iter().flat_map(|s| s.windows(n as usize)).collect();
                    prop_assert_eq!(sums.windows[i] as usize, windows.len());
                    let successes = windows.iter().filter(|window| window.iter().all(|hit| *hit)).count();
                    prop_assert_eq!(counts.successes[i] as usize, successes);
                }
                for (i, &lag) in grid.lags.iter().enumerate() {
                    let lag = lag as usize;
                    let pairs: Vec<(bool, bool)> =
                        segments.iter().flat_map(|s| s.windows(lag + 1).map(|w| (w[0], w[lag]))).collect();
                    let of = |what: fn(&(bool, bool)) -> bool| pairs.iter().filter(|pair| what(pair)).count() as u32;
                    prop_assert_eq!(sums.pairs[i] as usize, pairs.len());
                    let expected =
                        PairCounts { earlier: of(|p| p.0), later: of(|p| p.1), both: of(|p| p.0 && p.1) };
                    prop_assert_eq!(counts.pairs[i], expected, "lag {}", lag);
                }
                for segment in &segments {
                    let ends: Vec<&[bool]> = segment.split(|hit| !hit).collect();
                    for (i, run) in ends.iter().enumerate().filter(|(_, run)| !run.is_empty()) {
                        let cut = u64::from(i + 1 == ends.len());
                        runs.push(RunCount { length: run.len() as u32, ended: 1 - cut, cut });
                    }
                }
            }
            for found in &tally.runs[at] {
                let all = runs.iter().filter(|run| run.length == found.length);
                let (ended, cut) = all.fold((0, 0), |sum, run| (sum.0 + run.ended, sum.1 + run.cut));
                prop_assert_eq!((found.ended, found.cut), (ended, cut));
            }
            let total: u64 = tally.runs[at].iter().map(|run| run.ended + run.cut).sum();
            prop_assert_eq!(total as usize, runs.len());
            prop_assert!(tally.runs[at].is_sorted_by(|a, b| a.length < b.length));
        }
    }

    #[test]
    fn any_split_and_any_order_merge_to_the_same(
        documents in corpus(),
        owner in prop::collection::vec(0_usize..3, 8),
    ) {
        let whole = count(documents.iter().flatten());
        let share = |who: usize| {
            count(documents.iter().zip(&owner).filter(|&(_, &o)| o == who).flat_map(|(rows, _)| rows))
        };
        let (a, b, c) = (share(0), share(1), share(2));
        let left = a.clone().merge(b.clone()).unwrap().merge(c.clone()).unwrap();
        prop_assert_eq!(&left, &whole);
        prop_assert_eq!(&c.merge(a.merge(b).unwrap()).unwrap(), &whole);
    }
}

#[test]
fn a_gap_and_a_broken_row_end_a_segment() {
    let ranks = |rows: &[(u32, Option<u32>)]| -> Vec<ScoredToken> {
        rows.iter().map(|&(position, rank)| row(0, position, rank)).collect()
    };
    let whole =
        count(&ranks(&[(1, Some(1)), (2, Some(1)), (3, Some(1)), (4, Some(1)), (5, Some(1))]));
    assert_eq!((whole.documents[0].windows[2], whole.documents[0].by_k[0].successes[2]), (1, 1));
    assert_eq!(whole.runs[0], [RunCount { length: 5, ended: 0, cut: 1 }]);
    for rows in [
        ranks(&[(1, Some(1)), (2, Some(1)), (4, Some(1)), (5, Some(1)), (6, Some(1))]),
        ranks(&[(1, Some(1)), (2, Some(1)), (3, None), (4, Some(1)), (5, Some(1)), (6, Some(1))]),
    ] {
        let broken = count(&rows);
        assert_eq!((broken.documents[0].scored, broken.documents[0].windows[2]), (5, 0));
        assert_eq!(broken.documents[0].by_k[0].successes, [5, 3, 0, 0]);
        let cut = |length| RunCount { length, ended: 0, cut: 1 };
        assert_eq!(broken.runs[0], [cut(2), cut(3)]);
    }
}

#[test]
fn windows_do_not_reach_into_the_next_document() {
    // Positions go on as if the second document continued the first.
    let rows = [row(0, 1, Some(1)), row(0, 2, Some(1)), row(1, 3, Some(1)), row(1, 4, Some(1))];
    let tally = count(&rows);
    let pairs: Vec<u32> =
        tally.documents.iter().map(|document| document.by_k[0].successes[1]).collect();
    assert_eq!(pairs, [1, 1]);
}

#[test]
fn the_tie_rule_decides_which_rank_is_compared() {
    let score = Score { rank: 4, ties: Some(3), nll: 1.0, entropy: Some(1.0), argmax: Some(0) };
    let row = ScoredToken { score: Some(score), ..row(0, 1, None) };
    for (rule, hits) in [(TieRule::AtLeast, 0), (TieRule::Greater, 1)] {
        let mut counter = SequenceCounter::new(grid(), rule).unwrap();
        counter.add(&row);
        assert_eq!(counter.finish().documents[0].by_k[0].hits, hits, "{rule:?}");
    }
}

#[test]
fn grids_that_cannot_be_counted_are_refused() {
    let refused =
        |grid: SequenceGrid| SequenceCounter::new(grid, TieRule::AtLeast).unwrap_err().to_string();
    assert!(
        refused(SequenceGrid { k: vec![0, 1], ..grid() }).starts_with("k of sequences are [0, 1]")
    );
    assert!(
        refused(SequenceGrid { lengths: vec![], ..grid() }).starts_with("N of sequences are []")
    );
    assert!(refused(SequenceGrid { lengths: vec![5, 5], ..grid() }).contains("each once"));
    assert!(refused(SequenceGrid { lags: vec![1, 65], ..grid() }).contains("at most 64"));
    assert!(refused(SequenceGrid { lags: vec![2], ..grid() }).contains("1 first"));
    assert!(SequenceGrid::default().validate().is_ok());
}

#[test]
fn what_counted_other_sequences_does_not_merge() {
    let other = SequenceGrid { k: vec![1], ..grid() };
    let reason = count(&[]).merge(SequenceTally::empty(other)).unwrap_err().to_string();
    assert!(reason.contains("sequence grid differs"), "{reason}");
    let rows = [row(7, 1, Some(1))];
    let reason = count(&rows).merge(count(&rows)).unwrap_err().to_string();
    assert!(reason.contains("document 7"), "{reason}");

    let with = |sequences| RunTally { sequences, ..RunTally::new(&Provenance::example()) };
    let reason = with(Some(count(&[]))).merge(with(None)).unwrap_err().to_string();
    assert!(reason.contains("only one of them counted sequences"), "{reason}");
    assert!(with(Some(count(&[]))).merge(with(Some(count(&[])))).is_ok());
}
