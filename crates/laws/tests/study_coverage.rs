//! How often a study's intervals hold the exponent of all texts like its own, and how often two
//! corpora that were drawn from one set of documents are called different: through the whole of a
//! fit. A short version runs always; the long one prints a table of
//! `record/2026-11-28-models-and-text.md`.

// The figures are for a person to copy.
#![allow(clippy::print_stderr)]

mod support;

use std::collections::BTreeMap;

use relscale_laws::relative::{
    ErrorMeasure, HitUnit, RelativeOptions, StudySource, fit_relative, read_study,
};
use relscale_laws::{FitOptions, Trend, fit_study};
use relscale_records::RunTally;
use support::random::Random;
use support::texts::Text;
use support::{SIZES, document, run};

/// The exponent over very many documents.
fn truth() -> f64 {
    let mut normal = Random(1);
    let texts: Vec<Text> = (0..40_000).map(|_| Text::draw(&mut normal)).collect();
    let points: Vec<(f64, f64)> = SIZES
        .iter()
        .map(|&size| {
            let tokens: f64 = texts.iter().map(|text| text.tokens).sum();
            let misses: f64 = texts.iter().map(|text| text.tokens * text.miss(size as f64)).sum();
            ((size as f64).ln(), (-(1.0 - misses / tokens).ln()).ln())
        })
        .collect();
    let mean =
        |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    -points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread
}

/// Seven models on so many documents, measured as `corpus`.
fn measured(corpus: &str, documents: u32, normal: &mut Random) -> Vec<RunTally> {
    let texts: Vec<Text> = (0..documents).map(|_| Text::draw(normal)).collect();
    let tallies = SIZES.iter().map(|&size| {
        let mut tally = run(&format!("m{size}"), size, &[1]);
        tally.corpus = corpus.to_owned();
        tally.text_sha256 = relscale_records::provenance::sha256_bytes(corpus.as_bytes());
        for (ordinal, text) in texts.iter().enumerate() {
            let miss = text.miss(size as f64);
            let noise = (text.tokens * miss * (1.0 - miss)).sqrt() * normal.normal();
            let misses = (text.tokens * miss + noise).round().clamp(0.0, text.tokens);
            let hits = (text.tokens - misses) as u64;
            tally.documents.push(document(ordinal as u32, text.tokens as u64, &[hits], 4.0 * miss));
        }
        tally
    });
    tallies.collect()
}

/// Shares of repetitions in which the interval that is told, that of this text, and that of these
/// models hold the exponent.
fn held(documents: u32, repetitions: usize, seed: u64) -> [f64; 3] {
    let (truth, mut normal) = (truth(), Random(seed));
    let options = FitOptions { resamples: 2, ..FitOptions::default() };
    let mut held = [0.0; 3];
    for _ in 0..repetitions {
        let fit = fit_study(&measured("prose", documents, &mut normal), &options).unwrap();
        let law = fit.groups[0].rank_law(1).unwrap().fit().unwrap();
        let told = [
            law.exponent.bounds(),
            law.exponent_of_this_text.as_ref().unwrap().bounds(),
            law.exponent_sampling.as_ref().unwrap().bounds(),
        ];
        for (share, bounds) in held.iter_mut().zip(told) {
            let (low, high) = bounds.unwrap();
            *share += f64::from(u8::from(low <= truth && truth <= high)) / repetitions as f64;
        }
    }
    held
}

/// Shares of pairs of corpora from one source that are called closing or widening: by the interval
/// told, and by that of this text.
fn false_claims(documents: u32, repetitions: usize, seed: u64) -> [f64; 2] {
    let mut normal = Random(seed);
    let mut claims = [0.0; 2];
    for _ in 0..repetitions {
        let mut runs = measured("here", documents, &mut normal);
        runs.extend(measured("there", documents, &mut normal));
        let source = StudySource {
            runs: &runs,
            documents: &BTreeMap::new(),
            error: ErrorMeasure::Rbp { unit: HitUnit::Token, k: 1 },
            x: None,
            family: None,
            by: None,
            only: &[],
            resamples: 2,
            seed: 1,
        };
        let fit = fit_relative(&read_study(&source).unwrap(), &RelativeOptions::new("here"), None)
            .unwrap();
        let law = fit.families[0].gaps[0].fit().unwrap();
        let (low, high) = law.delta_beta_of_this_text.as_ref().unwrap().bounds().unwrap();
        let claimed =
            [!matches!(law.trend, Trend::Undecided | Trend::Parallel), low > 0.0 || high < 0.0];
        for (share, claimed) in claims.iter_mut().zip(claimed) {
            *share += f64::from(u8::from(claimed)) / repetitions as f64;
        }
    }
    claims
}

#[test]
fn a_study_holds_the_exponent_of_texts_like_its_own() {
    let [told, this_text, these_models] = held(36, 150, 2);
    // 150 repetitions: two and a half standard errors are 0.044.
    assert!(told > 0.905 && these_models > 0.905, "{told} {these_models}");
    assert!(this_text < 0.87, "the fault that this mends: {this_text}");
}

#[test]
fn two_corpora_of_one_source_are_seldom_called_different() {
    let [told, this_text] = false_claims(36, 150, 3);
    assert!(told < 0.1, "{told}");
    assert!(this_text > 0.3, "the fault that this mends: {this_text}");
}

#[test]
#[ignore = "a few minutes; prints a table of the record"]
fn studies_in_full() {
    eprintln!("| documents | told | this text | these models | false claims: told | this text |");
    eprintln!("|---|---|---|---|---|---|");
    for documents in [12, 36, 150] {
        let shares =
            held(documents, 1000, 4).map(|share| format!("{:.1}", 100.0 * share)).join(" | ");
        let claims = false_claims(documents, 1000, 5)
            .map(|share| format!("{:.1}", 100.0 * share))
            .join(" | ");
        eprintln!("| {documents} | {shares} | {claims} |");
    }
}
