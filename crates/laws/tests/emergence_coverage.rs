//! How often the intervals about tokens in a row hold the truth. Takes minutes, so it is run by
//! hand:
//!
//! `cargo test -p relscale-laws --test emergence_coverage -- --ignored --nocapture`
//!
//! Figures: `record/2026-11-28-tokens-in-a-row.md`.

mod support;

use relscale_laws::{Estimate, FitOptions, SequencePoint, fit_study};
use relscale_records::RunTally;
use support::rows::{Uniform, chain, with_outcomes};

const REPETITIONS: u64 = 1000;
const DOCUMENTS: usize = 100;
const LENGTH: u32 = 5;

/// Share of the repetitions whose interval holds the truth.
struct Covered(&'static str, u32);

impl Covered {
    fn count(&mut self, estimate: Option<&Estimate>, truth: f64) {
        let bounds = estimate.and_then(Estimate::bounds);
        self.1 += u32::from(bounds.is_some_and(|(low, high)| low <= truth && truth <= high));
    }

    #[allow(clippy::print_stdout, reason = "the figure is the result")]
    fn check(&self) {
        let share = f64::from(self.1) / REPETITIONS as f64;
        println!("{}: {:.1} %", self.0, 100.0 * share);
        assert!((0.92..=0.98).contains(&share), "{}: {share}", self.0);
    }
}

/// Models of these chances of a hit, and of a hit after a hit.
fn runs(chances: &[(f64, f64)], sizes: &[u64], seed: u64) -> Vec<RunTally> {
    let models = chances.iter().zip(sizes).enumerate();
    models
        .map(|(model, (&(p, q), &size))| {
            let mut random = Uniform(seed << 8 | model as u64);
            let documents: Vec<Vec<bool>> =
                (0..DOCUMENTS).map(|document| chain(p, q, 60 + document, &mut random)).collect();
            with_outcomes(&format!("m{size}"), size, &documents, &[1, LENGTH], &[1])
        })
        .collect()
}

fn options(seed: u64) -> FitOptions {
    FitOptions { resamples: 400, seed, ..FitOptions::default() }
}

#[test]
#[ignore = "minutes; its figures are in record/"]
fn document_bootstrap_of_windows_covers() {
    let (p, q) = (0.6_f64, 0.7_f64);
    let n = f64::from(LENGTH);
    let truth_p = p * q.powf(n - 1.0);
    let mut rbp = Covered("RBP", 0);
    let mut after = Covered("q", 0);
    let mut share = Covered("p of 5 in a row", 0);
    let mut ratio = Covered("p over RBP^5", 0);
    let mut markov = Covered("p over the chain", 0);
    let mut effective = Covered("effective length", 0);
    for seed in 0..REPETITIONS {
        let fit = fit_study(&runs(&[(p, q)], &[1_000], seed), &options(seed)).unwrap();
        let found = &fit.groups[0].emergence.as_ref().unwrap().by_k[0];
        let point: &SequencePoint = &found.lengths[1].points[0];
        rbp.count(found.models[0].rbp.as_ref(), p);
        after.count(found.models[0].after_hit.as_ref(), q);
        share.count(point.probability.as_ref(), truth_p);
        ratio.count(point.over_independent.as_ref(), truth_p / p.powf(n));
        markov.count(point.over_markov.as_ref(), 1.0);
        effective.count(point.effective_length.as_ref(), truth_p.ln() / p.ln());
    }
    [rbp, after, share, ratio, markov, effective].iter().for_each(Covered::check);
}

#[test]
#[ignore = "minutes; its figures are in record/"]
fn the_size_of_one_half_is_covered() {
    let sizes = [3_000_u64, 30_000, 300_000, 3_000_000];
    let law = |size: f64| 2.0 * size.powf(-0.12);
    let chances: Vec<(f64, f64)> = sizes
        .iter()
        .map(|&size| {
            let p = (-law(size as f64)).exp();
            (p, p)
        })
        .collect();
    let truth = (f64::from(LENGTH) * 2.0 / std::f64::consts::LN_2).powf(1.0 / 0.12);
    let mut half = Covered("S for p = 0.5", 0);
    for seed in 0..REPETITIONS {
        let fit = fit_study(&runs(&chances, &sizes, seed), &options(seed)).unwrap();
        let found = &fit.groups[0].emergence.as_ref().unwrap().by_k[0].lengths[1];
        half.count(found.half.fit().map(|found| &found.parameters), truth);
    }
    half.check();
}
