//! Tokens in a row: against chains whose truth is known, against brute force, and against closed
//! forms.

mod support;

use proptest::prelude::*;
use relscale_laws::{
    Emergence, EmergenceAtK, FitOptions, FlagCode, Interval, LawsError, SequencePoint, StudyFit,
    fit_study,
};
use relscale_records::RunTally;
use relscale_records::sequences::{
    DocumentSequences, HitCounts, PairCounts, RunCount, SequenceGrid, SequenceTally,
};
use support::rows::{Uniform, chain, with_outcomes};
use support::{SIZES, document, run};

const LENGTHS: [u32; 5] = [1, 2, 5, 10, 20];
const LAGS: [u32; 4] = [1, 2, 3, 10];

fn emergence(runs: &[RunTally]) -> Emergence {
    let options = FitOptions { resamples: 400, ..FitOptions::default() };
    fit_study(runs, &options).unwrap().groups.remove(0).emergence.unwrap()
}

/// Four models that hit ever more often, each with 150 documents of 250 tokens of a chain.
fn family(excess: f64) -> Vec<RunTally> {
    [0.55, 0.65, 0.72, 0.78]
        .into_iter()
        .zip(SIZES)
        .map(|(p, size)| {
            let mut random = Uniform(size);
            let documents: Vec<Vec<bool>> =
                (0..150).map(|_| chain(p, p + excess, 250, &mut random)).collect();
            with_outcomes(&format!("m{size}"), size, &documents, &LENGTHS, &LAGS)
        })
        .collect()
}

fn at(found: &EmergenceAtK, length: u32, model: usize) -> &SequencePoint {
    &found.lengths.iter().find(|entry| entry.length == length).unwrap().points[model]
}

/// Within `errors` standard errors of the truth.
#[track_caller]
fn near(estimate: Option<&relscale_laws::Estimate>, truth: f64, errors: f64) {
    let estimate = estimate.unwrap();
    let error = estimate.standard_error.unwrap();
    assert!((estimate.value - truth).abs() < errors * error, "{estimate:?} for {truth}");
}

#[test]
fn independent_tokens_are_found_independent() {
    let found = emergence(&family(0.0));
    let found = found.at(1).unwrap();
    for (model, (order, p)) in found.models.iter().zip([0.55, 0.65, 0.72, 0.78]).enumerate() {
        near(order.rbp.as_ref(), p, 4.0);
        near(order.after_hit_excess.as_ref(), 0.0, 4.0);
        for lag in &order.autocorrelation {
            near(lag.value.as_ref(), 0.0, 4.0);
        }
        near(order.length_exponent.value.as_ref(), 1.0, 4.0);
        let runs = &order.runs;
        assert!((runs.mean_length.unwrap() * (1.0 - p) - 1.0).abs() < 0.05);
        assert!(runs.largest_distance.unwrap().distance < 0.03, "{runs:?}");
        for length in [2, 5, 10] {
            let point = at(found, length, model);
            near(point.over_independent.as_ref(), 1.0, 4.0);
            near(point.over_shuffled.as_ref(), 1.0, 4.0);
            near(point.effective_length.as_ref(), f64::from(length), 4.0);
        }
    }
    assert!(found.verdict.contains("independence is not contradicted"), "{}", found.verdict);
}

#[test]
fn a_markov_chain_is_told_from_independence_and_explained_by_itself() {
    let found = emergence(&family(0.1));
    let found = found.at(1).unwrap();
    for (model, (order, p)) in found.models.iter().zip([0.55, 0.65, 0.72, 0.78_f64]).enumerate() {
        let q = p + 0.1;
        near(order.after_hit.as_ref(), q, 4.0);
        // The chain forgets at the rate of its second eigenvalue, q less the chance of a hit after
        // a miss.
        let eigenvalue: f64 = q - p * (1.0 - q) / (1.0 - p);
        for lag in &order.autocorrelation {
            near(lag.value.as_ref(), eigenvalue.powi(lag.lag as i32), 4.5);
        }
        for length in [2, 5, 10] {
            let point = at(found, length, model);
            let n = f64::from(length);
            near(point.probability.as_ref(), p * q.powf(n - 1.0), 4.0);
            near(point.over_markov.as_ref(), 1.0, 4.0);
            near(point.effective_length.as_ref(), 1.0 + (n - 1.0) * q.ln() / p.ln(), 4.0);
            assert!(point.over_independent.as_ref().unwrap().bounds().unwrap().0 > 1.0);
            assert!(point.over_shuffled.as_ref().unwrap().bounds().unwrap().0 > 1.0);
        }
        let exponent = &order.length_exponent;
        assert!(exponent.value.as_ref().unwrap().bounds().unwrap().1 < 1.0);
        near(exponent.value.as_ref(), exponent.markov.unwrap(), 4.0);
        // Runs of a chain are geometric with q: 1/(1-q) tokens, and q^(r-1) of them reach r.
        assert!((order.runs.mean_length.unwrap() * (1.0 - q) - 1.0).abs() < 0.08);
        for reached in &order.runs.survival {
            assert!((reached.observed - reached.markov).abs() < 0.03, "{reached:?}");
        }
        assert!(order.runs.largest_distance.unwrap().distance > 0.08);
    }
    assert!(found.verdict.contains("hits cluster"), "{}", found.verdict);
    assert!(found.verdict.contains("-ln p grows as N^0."), "{}", found.verdict);
}

#[test]
fn easy_and_hard_documents_alone_make_long_successes_frequent_and_shuffling_explains_it() {
    let runs: Vec<RunTally> = SIZES[..3]
        .iter()
        .zip([0.5, 0.55, 0.6])
        .map(|(&size, p)| {
            let mut random = Uniform(size);
            let documents: Vec<Vec<bool>> = (0..200)
                .map(|document| {
                    let p = if document % 2 == 0 { p - 0.25 } else { p + 0.25 };
                    chain(p, p, 200, &mut random)
                })
                .collect();
            with_outcomes(&format!("m{size}"), size, &documents, &LENGTHS, &LAGS)
        })
        .collect();
    let found = emergence(&runs);
    let found = found.at(1).unwrap();
    for model in 0..3 {
        let point = at(found, 10, model);
        assert!(point.over_independent.as_ref().unwrap().bounds().unwrap().0 > 3.0, "{point:?}");
        near(point.over_shuffled.as_ref(), 1.0, 4.0);
        // Correlation does not die out: var(p over documents) / (RBP (1 - RBP)) = 0.0625 / 0.25 at
        // any lag.
        let far = found.models[model].autocorrelation.last().unwrap();
        let p = found.models[model].rbp.as_ref().unwrap().value;
        near(far.value.as_ref(), 0.0625 / (p * (1.0 - p)), 4.0);
    }
}

/// `-ln p = N 8 S^-0.25` exactly, as counts of a thousand million windows.
fn exact(sizes: &[u64], lengths: &[u32]) -> Vec<RunTally> {
    const WINDOWS: u32 = 2_000_000_000;
    let counts = |size: u64| {
        let rbp = (-8.0 * (size as f64).powf(-0.25)).exp();
        let share = |p: f64| (f64::from(WINDOWS) * p).round() as u32;
        let pairs = PairCounts { earlier: share(rbp), later: share(rbp), both: share(rbp * rbp) };
        DocumentSequences {
            document: 0,
            scored: WINDOWS,
            windows: vec![WINDOWS; lengths.len()],
            pairs: vec![WINDOWS],
            by_k: vec![HitCounts {
                hits: share(rbp),
                successes: lengths.iter().map(|&n| share(rbp.powf(f64::from(n)))).collect(),
                pairs: vec![pairs],
            }],
        }
    };
    let with = |size: u64| {
        let counts = counts(size);
        let mut tally = run(&format!("m{size}"), size, &[1]);
        tally.documents =
            vec![document(0, u64::from(WINDOWS), &[u64::from(counts.by_k[0].hits)], 3.0)];
        tally.sequences = Some(SequenceTally {
            grid: SequenceGrid { k: vec![1], lengths: lengths.to_vec(), lags: vec![1] },
            documents: vec![counts],
            runs: vec![vec![RunCount { length: 1000, ended: 100, cut: 0 }]],
        });
        tally
    };
    sizes.iter().map(|&size| with(size)).collect()
}

#[test]
fn an_exact_law_gives_the_size_of_one_half_and_its_steepness() {
    let found = emergence(&exact(&SIZES, &[1, 5, 10]));
    for length in &found.at(1).unwrap().lengths {
        let n = f64::from(length.length);
        let fit = length.law.fit().unwrap();
        assert!((fit.exponent.value - 0.25).abs() < 1e-5 && fit.claimed);
        let half = length.half.fit().unwrap();
        let truth = (8.0 * n / std::f64::consts::LN_2).powi(4);
        assert!(
            (half.parameters.value / truth - 1.0).abs() < 1e-4,
            "{n}: {} {truth}",
            half.parameters.value
        );
        assert!((half.independent.unwrap() / truth - 1.0).abs() < 1e-4);
        let (low, high) = half.parameters.bounds().unwrap();
        assert!(low <= half.parameters.value && half.parameters.value <= high && high / low < 1.01);
        assert!(matches!(
            half.parameters.interval,
            Interval::Fieller { degrees_of_freedom: 5, .. }
        ));
        let wider = half.for_one_model.bounds().unwrap();
        assert!(wider.0 <= low && high <= wider.1);
        assert!((half.steepness.value - 0.25 * 0.5 * std::f64::consts::LN_2).abs() < 1e-5);
        // From p = 0.1 to 0.9 -ln p falls by a factor ln(10) / ln(10/9).
        let decades = (10.0_f64.ln() / (10.0_f64 / 9.0).ln()).log10() / 0.25;
        assert!((half.decades_from_a_tenth_to_nine - decades).abs() < 1e-3);
        let beyond = (truth / 3.1e6).log10().max(0.0);
        assert!((half.decades_beyond - beyond).abs() < 1e-3, "{n}");
        let told = half.flags.iter().any(|flag| flag.code == FlagCode::Extrapolation);
        assert_eq!(told, beyond > 0.0);
    }
    // N = 1: 1.8e4, among the sizes; N = 10: 1.8e8, beyond them.
    let ten = found.at(1).unwrap().lengths[2].half.fit().unwrap();
    assert!(
        ten.flags[0].message.contains("1.8 decades beyond the largest model"),
        "{:?}",
        ten.flags
    );
    assert!(found.verdict.contains("1.8 decades beyond the largest model"), "{}", found.verdict);
    assert!(found.at(1).unwrap().lengths[0].half.fit().unwrap().decades_beyond == 0.0);
}

#[test]
fn the_unit_of_size_moves_the_size_of_one_half_alone() {
    let sizes = [10_000_u64, 100_000, 1_000_000, 10_000_000];
    let runs = exact(&sizes, &[5]);
    let scaled: Vec<RunTally> = runs
        .iter()
        .map(|run| RunTally { non_embedding: 1000 * run.non_embedding, ..run.clone() })
        .collect();
    let half = |runs: &[RunTally]| {
        let found = emergence(runs);
        found.by_k[0].lengths[0].half.fit().unwrap().clone()
    };
    let (a, b) = (half(&runs), half(&scaled));
    assert!((b.parameters.value / a.parameters.value / 1000.0 - 1.0).abs() < 1e-9);
    assert!((b.steepness.value - a.steepness.value).abs() < 1e-12);
    assert!((b.decades_beyond - a.decades_beyond).abs() < 1e-9);
}

#[test]
fn a_share_that_does_not_grow_reaches_one_half_nowhere() {
    let mut runs = exact(&SIZES[..4], &[5]);
    let sizes: Vec<u64> = runs.iter().map(|run| run.non_embedding).collect();
    runs.reverse();
    for (run, size) in runs.iter_mut().zip(sizes) {
        run.non_embedding = size;
    }
    let found = emergence(&runs);
    let reason = found.by_k[0].lengths[0].half.refused().unwrap();
    assert!(reason.contains("does not fall with size"), "{reason}");
}

#[test]
fn none_or_all_successes_leave_the_point_out_with_the_reason() {
    let never = vec![[true, false].repeat(100); 40];
    let always = vec![vec![true; 200]; 40];
    let mut random = Uniform(5);
    let mixed: Vec<Vec<bool>> = (0..40).map(|_| chain(0.8, 0.8, 200, &mut random)).collect();
    let short: Vec<Vec<bool>> = vec![vec![true, false]; 40];
    let lengths = [1, 2, 201];
    let runs: Vec<RunTally> = [never, mixed.clone(), mixed, always]
        .iter()
        .zip(SIZES)
        .map(|(outcomes, size)| with_outcomes(&format!("m{size}"), size, outcomes, &lengths, &[1]))
        .collect();
    let found = emergence(&runs);
    let two = &found.by_k[0].lengths[1];
    assert_eq!(two.law.left_out.len(), 2);
    assert!(
        two.law.left_out[0].reason.contains("none of 7960 windows of 2 tokens succeeds: p = 0")
    );
    assert!(two.law.left_out[1].reason.contains("all 7960 windows of 2 tokens succeed: p = 1"));
    assert!(two.points[0].over_independent.is_none() && two.points[0].effective_length.is_none());
    assert!(!two.points[0].claimed && two.points[1].claimed && !two.points[3].claimed);
    // No document is long enough.
    let long = &found.by_k[0].lengths[2];
    assert!(long.law.left_out.iter().all(|left| left.reason == "no 201 scored tokens in a row"));
    assert!(long.points.iter().all(|point| point.probability.is_none() && point.windows == 0));
    assert!(long.half.refused().unwrap().contains("no model has a point"));

    // Documents of two tokens: nothing is long enough for a claim, and the words say so.
    let runs: Vec<RunTally> = SIZES[..3]
        .iter()
        .map(|&size| with_outcomes(&format!("m{size}"), size, &short, &[1, 5], &[1]))
        .collect();
    assert!(emergence(&runs).verdict.contains("nothing is claimed about tokens in a row"));
}

#[test]
fn one_long_run_is_one_success_however_many_windows_it_holds() {
    let mut random = Uniform(8);
    let runs: Vec<RunTally> = SIZES[..3]
        .iter()
        .map(|&size| {
            let mut documents: Vec<Vec<bool>> =
                (0..40).map(|_| chain(0.3, 0.3, 200, &mut random)).collect();
            documents[7] = vec![true; 200];
            with_outcomes(&format!("m{size}"), size, &documents, &[1, 20], &[1])
        })
        .collect();
    let found = emergence(&runs);
    let twenty = &found.by_k[0].lengths[1];
    assert_eq!((twenty.points[0].successes, twenty.points[0].disjoint_successes), (181, 10));
    assert!(!twenty.points[0].claimed && !twenty.law.fit().unwrap().claimed);
    let few = twenty.law.flags.iter().find(|flag| flag.code == FlagCode::FewHits).unwrap();
    assert!(
        few.message.contains("successes of 20 tokens that do not overlap: m3100 10"),
        "{few:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Shares, and the shuffled prediction against all orders of a short document.
    #[test]
    fn shares_equal_brute_force(
        documents in prop::collection::vec(prop::collection::vec(any::<bool>(), 1..9), 2..5),
    ) {
        let lengths = [1, 2, 3];
        let runs: Vec<RunTally> = SIZES[..2]
            .iter()
            .map(|&size| with_outcomes(&format!("m{size}"), size, &documents, &lengths, &[1]))
            .collect();
        let found = emergence(&runs);
        for (at, &n) in lengths.iter().enumerate() {
            let n = n as usize;
            let windows: Vec<&[bool]> = documents.iter().flat_map(|document| document.windows(n)).collect();
            let succeed = |windows: &[&[bool]]| windows.iter().filter(|w| w.iter().all(|hit| *hit)).count() as f64;
            let point = &found.by_k[0].lengths[at].points[0];
            prop_assert_eq!(point.windows as usize, windows.len());
            if windows.is_empty() {
                prop_assert!(point.probability.is_none() && point.shuffled.is_none());
                continue;
            }
            let p = point.probability.as_ref().unwrap().value;
            prop_assert!((p - succeed(&windows) / windows.len() as f64).abs() < 1e-12);
            // Every way to place a document's hits, each as likely.
            let expected: f64 = documents.iter().map(|document| {
                let (tokens, hits) = (document.len(), document.iter().filter(|hit| **hit).count());
                let orders: Vec<u32> = (0_u32..1 << tokens).filter(|order| order.count_ones() as usize == hits).collect();
                let total: f64 = orders.iter().map(|order| {
                    let outcomes: Vec<bool> = (0..tokens).map(|i| order >> i & 1 == 1).collect();
                    succeed(&outcomes.windows(n).collect::<Vec<_>>())
                }).sum();
                total / orders.len() as f64
            }).sum();
            prop_assert!((point.shuffled.unwrap() - expected / windows.len() as f64).abs() < 1e-12);
        }
    }

    /// JSON has no NaN and no infinity: a result that held one would not come back.
    #[test]
    fn any_outcomes_survive_the_file(
        models in prop::collection::vec(any::<u64>(), 1..5),
        lengths in prop::collection::vec(1_usize..60, 0..6),
    ) {
        let runs: Vec<RunTally> = models.iter().enumerate().map(|(model, &seed)| {
            let mut random = Uniform(seed);
            let p = [0.0, 0.02, 0.5, 0.98, 1.0][seed as usize % 5];
            let documents: Vec<Vec<bool>> = lengths.iter().map(|&length| chain(p, p, length, &mut random)).collect();
            with_outcomes(&format!("m{model}"), 1 + (seed >> 20), &documents, &[1, 2, 50], &[1, 20])
        }).collect();
        let options = FitOptions { resamples: 20, minimum_count: 1, ..FitOptions::default() };
        let study = fit_study(&runs, &options).unwrap();
        prop_assert!(study.groups[0].emergence.is_some());
        let text = serde_json::to_string(&study).unwrap();
        prop_assert!(!text.contains("NaN") && !text.contains("inf "));
        prop_assert_eq!(serde_json::from_str::<StudyFit>(&text).unwrap(), study);
    }
}

#[test]
fn a_choice_of_k_and_lengths_is_kept_and_what_was_not_counted_is_refused() {
    let runs = family(0.0);
    let fit = |k: &[u32], n: &[u32]| {
        let options = FitOptions {
            resamples: 50,
            emergence_k: k.to_vec(),
            emergence_n: n.to_vec(),
            ..FitOptions::default()
        };
        fit_study(&runs, &options)
    };
    let chosen = fit(&[1], &[5, 20]).unwrap().groups.remove(0).emergence.unwrap();
    let lengths: Vec<u32> = chosen.by_k[0].lengths.iter().map(|length| length.length).collect();
    assert_eq!(lengths, [5, 20]);
    let all = emergence(&runs);
    let p = |found: &Emergence, at: usize| {
        found.by_k[0].lengths[at].points[1].probability.clone().unwrap().value
    };
    assert_eq!((p(&chosen, 0), p(&chosen, 1)), (p(&all, 2), p(&all, 4)));
    let refused = fit(&[1, 7], &[]).unwrap_err();
    assert!(matches!(refused, LawsError::UnknownSequence { what: "k", value: 7, .. }), "{refused}");
    let refused = fit(&[], &[3]).unwrap_err().to_string();
    assert!(refused.contains("N = 3 were not counted for model `m3100`"), "{refused}");
    assert!(fit(&[], &[5, 2]).unwrap_err().to_string().contains("ascending"));
    assert!(fit(&[0], &[]).unwrap_err().to_string().contains("ranks count from 1"));
}

#[test]
fn runs_that_counted_other_things_or_contradict_themselves_are_refused() {
    let refused = |spoil: &dyn Fn(&mut RunTally)| {
        let mut runs = family(0.0);
        spoil(&mut runs[2]);
        fit_study(&runs, &FitOptions::default()).unwrap_err().to_string()
    };
    let missing = refused(&|run| run.sequences = None);
    assert!(
        missing.contains("the sequences that were counted differs") && missing.contains("none"),
        "{missing}"
    );
    let counts = |run: &mut RunTally| run.sequences.take().unwrap();
    let spoilt = refused(&|run| {
        let mut sequences = counts(run);
        sequences.documents[3].by_k[0].hits += 1;
        run.sequences = Some(sequences);
    });
    assert!(spoilt.contains("document 3") && spoilt.contains("hits at k = 1"), "{spoilt}");
    let spoilt = refused(&|run| {
        let mut sequences = counts(run);
        sequences.documents[4].by_k[0].successes[2] = 10_000;
        run.sequences = Some(sequences);
    });
    assert!(spoilt.contains("document 4") && spoilt.contains("no more than there are"), "{spoilt}");
    let spoilt = refused(&|run| {
        let mut sequences = counts(run);
        sequences.documents.pop();
        run.sequences = Some(sequences);
    });
    assert!(spoilt.contains("sequences of 149 documents"), "{spoilt}");
}

#[test]
fn at_one_token_the_law_is_the_rank_law() {
    let group = fit_study(&family(0.05), &FitOptions { resamples: 100, ..FitOptions::default() })
        .unwrap()
        .groups
        .remove(0);
    let (rank, one) =
        (group.rank_law(1).unwrap(), &group.emergence.as_ref().unwrap().by_k[0].lengths[0].law);
    assert_eq!(one.fit().unwrap().exponent, rank.fit().unwrap().exponent);
    let errors = |law: &relscale_laws::Law| {
        law.points.iter().map(|p| p.log_standard_error).collect::<Vec<_>>()
    };
    assert_eq!(errors(one), errors(rank), "one draw of documents serves all");
    assert_eq!(one.k(), None);
    assert_eq!(one.quantity.symbol(), "-ln p_{1,1}");
}
