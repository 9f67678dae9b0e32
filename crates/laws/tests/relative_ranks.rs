//! The relative law of ranks: slopes of gaps of `-ln RBP_k`, k by k.

mod support;

use std::collections::BTreeMap;

use relscale_laws::relative::{
    ErrorMeasure, HitUnit, Measurements, RelativeOptions, StudySource, counted_ranks, fit_relative,
    read_study,
};
use relscale_laws::{FlagCode, RelativeFit, Trend};
use relscale_records::RunTally;
use relscale_records::provenance::sha256_bytes;
use support::{SIZES, exact};

const GRID: [u32; 4] = [1, 10, 100, 4096];

/// Two corpora: `-ln RBP_k` falls as S^-0.10 on prose at every k, on code as S^-(0.10 + slope of
/// k).
fn runs() -> Vec<RunTally> {
    let slopes = [0.0, 0.02, 0.05];
    let of = |corpus: &str, size: u64, more: [f64; 3]| {
        let value = |at: usize, c: f64| c * (size as f64).powf(-0.10 - more[at]);
        let errors = [value(0, 3.0), value(1, 1.5), value(2, 0.6), 0.0];
        let run = exact(&format!("m{size}"), size, &GRID, &errors, 2.0);
        RunTally { corpus: corpus.into(), text_sha256: sha256_bytes(corpus.as_bytes()), ..run }
    };
    let both = |&size: &u64| [of("prose", size, [0.0; 3]), of("code", size, slopes)];
    SIZES.iter().flat_map(both).collect()
}

fn measured(runs: &[RunTally], error: ErrorMeasure) -> Measurements {
    let documents = BTreeMap::new();
    let (x, family, by, only) = (None, None, None, &[][..]);
    read_study(&StudySource {
        runs,
        documents: &documents,
        error,
        x,
        family,
        by,
        only,
        resamples: 20,
        seed: 1,
    })
    .unwrap()
}

fn with_ranks(runs: &[RunTally], ranks: &[u32]) -> RelativeFit {
    let options = RelativeOptions::new("prose");
    let mut fit = fit_relative(&measured(runs, ErrorMeasure::BitsPerByte), &options, None).unwrap();
    let ranks: Vec<(u32, Measurements)> = ranks
        .iter()
        .map(|&k| (k, measured(runs, ErrorMeasure::Rbp { unit: HitUnit::Token, k })))
        .collect();
    fit.add_ranks(&ranks).unwrap();
    fit
}

#[test]
fn each_k_has_the_slope_that_made_it() {
    let runs = runs();
    // At |V| every token is a hit.
    assert_eq!(counted_ranks(&runs), [1, 10, 100]);
    let fit = with_ranks(&runs, &[1, 10, 100]);
    assert_eq!(fit.distributions, "corpus");
    let ranks = fit.families[0].ranks.as_ref().unwrap();
    let [code] = ranks.gaps.as_slice() else { panic!("{:?}", ranks.gaps) };
    assert_eq!((code.treatment.as_str(), code.left_out.len()), ("code", 0));
    for (at, (k, slope)) in code.at.iter().zip([(1, 0.0), (10, -0.02), (100, -0.05)]) {
        assert_eq!((at.k, at.models), (k, 7));
        assert!((at.delta_beta.value - slope).abs() < 1e-9, "k = {k}: {}", at.delta_beta.value);
        let (first, last) = (SIZES[0] as f64, SIZES[6] as f64);
        assert!((at.ends.1 / at.ends.0 - (last / first).powf(slope)).abs() < 1e-9);
    }
    assert_eq!(code.at[2].trend, Trend::Closes);
    assert!(
        ranks.verdict.contains("code from") && ranks.verdict.contains("k = 100"),
        "{}",
        ranks.verdict
    );
}

#[test]
fn a_k_is_what_a_relative_fit_of_it_says() {
    let runs = runs();
    let fit = with_ranks(&runs, &[10]);
    let alone = measured(&runs, ErrorMeasure::Rbp { unit: HitUnit::Token, k: 10 });
    let alone = fit_relative(&alone, &RelativeOptions::new("prose"), None).unwrap();
    let law = alone.families[0].gap("code").unwrap().fit().unwrap();
    // One k gives no picture along k.
    assert!(fit.families[0].ranks.is_none());
    let ranks = with_ranks(&runs, &[1, 10]).families.remove(0).ranks.unwrap();
    assert_eq!(ranks.gaps[0].at[1].delta_beta, law.delta_beta);
    assert_eq!(ranks.gaps[0].at[1].tests, law.tests);
}

#[test]
fn a_k_that_a_model_never_misses_is_left_out_and_says_who() {
    let mut runs = runs();
    for run in runs.iter_mut().filter(|run| run.model == "m3100000" && run.corpus == "code") {
        let document = &mut run.documents[0];
        document.hits[2] = document.scored;
    }
    let ranks = with_ranks(&runs, &[1, 10, 100]).families.remove(0).ranks.unwrap();
    assert_eq!(ranks.gaps[0].at.iter().map(|at| at.k).collect::<Vec<_>>(), [1, 10]);
    let [(100, reason)] = ranks.gaps[0].left_out.as_slice() else {
        panic!("{:?}", ranks.gaps[0].left_out)
    };
    assert!(reason.contains("m3100000") && reason.contains("no error on code"), "{reason}");
}

#[test]
fn a_k_with_few_misses_has_a_slope_that_is_not_claimed() {
    let before = with_ranks(&runs(), &[1, 10, 100]).families.remove(0).ranks.unwrap();
    assert!(
        before.gaps[0]
            .at
            .iter()
            .all(|at| at.claimed() && at.trend != Trend::Undecided || at.k == 1)
    );
    let mut runs = runs();
    // 49 misses at k = 100: one fewer than the rank law needs for a slope.
    for run in runs.iter_mut().filter(|run| run.model == "m3100000" && run.corpus == "code") {
        let document = &mut run.documents[0];
        document.hits[2] = document.scored - 49;
    }
    let ranks = with_ranks(&runs, &[1, 10, 100]).families.remove(0).ranks.unwrap();
    let [one, ten, hundred] = ranks.gaps[0].at.as_slice() else { panic!("{:?}", ranks.gaps[0].at) };
    assert_eq!(
        [one, ten].map(|at| (at.trend, at.tests)),
        [0, 1].map(|i| (before.gaps[0].at[i].trend, before.gaps[0].at[i].tests))
    );
    assert_eq!((hundred.claimed(), hundred.trend, hundred.tests), (false, Trend::Undecided, None));
    let [flag] = hundred.flags.as_slice() else { panic!("{:?}", hundred.flags) };
    assert_eq!(flag.code, FlagCode::FewMisses);
    assert!(
        flag.message.contains("fewer than 50 misses") && flag.message.contains("m3100000 49 of"),
        "{}",
        flag.message
    );
    assert!(flag.message.contains("on code"), "{}", flag.message);
    assert!(
        ranks.verdict.contains("at k = 10 (of 3 k")
            && ranks.verdict.contains("has too few misses or hits at 1"),
        "{}",
        ranks.verdict
    );

    // The same as the error of a relative law, and few hits in place of few misses.
    let of = |runs: &[RunTally], k| {
        let fit = fit_relative(
            &measured(runs, ErrorMeasure::Rbp { unit: HitUnit::Token, k }),
            &RelativeOptions::new("prose"),
            None,
        )
        .unwrap();
        fit.families[0].gap("code").unwrap().clone()
    };
    let gap = of(&runs, 100);
    assert!(!gap.claimed() && gap.verdict.contains("no slope is claimed"), "{}", gap.verdict);
    for run in runs.iter_mut().filter(|run| run.model == "m3100000" && run.corpus == "prose") {
        run.documents[0].hits[0] = 7;
    }
    assert_eq!(of(&runs, 1).flags.iter().filter(|flag| flag.code == FlagCode::FewHits).count(), 1);
    assert!(of(&runs, 10).claimed());
}
