//! How long a fit takes from sufficient statistics; figures in `record/2026-11-28-breakdown.md`.

#![allow(clippy::print_stdout)] // The benches print what they find.

mod support;

use std::time::Instant;

use relscale_laws::{FitOptions, fit_study};
use relscale_records::RunTally;
use relscale_records::classes::{ClassBasis, ClassTally, DocumentClasses};
use relscale_records::tally::k_grid;
use relscale_records::words::{SPAN_WORDS, TextTally, WordTally};
use support::{document, random::Random, run};

/// `models` models on `corpora` corpora of 1000 documents of 500 tokens, on the whole grid of k,
/// with classes of tokens.
fn study(models: u32, corpora: u32) -> Vec<RunTally> {
    let grid = k_grid(50_257);
    let mut random = Random(1);
    let mut runs = Vec::new();
    for corpus in 0..corpora {
        for model in 0..models {
            let size = (1e6 * 10_f64.powf(3.0 * f64::from(model) / f64::from(models - 1))) as u64;
            let mut run = run(&format!("m{model}"), size, &grid);
            run.corpus = format!("c{corpus}");
            let mut classes = Vec::new();
            for ordinal in 0..1000 {
                let ease = (0.4 * random.normal()).exp();
                let hits = |k: u32| {
                    let value = 0.9 / f64::from(k).sqrt() * (size as f64 / 1e6).powf(-0.06) * ease;
                    (500.0 * (-value).exp()).round() as u64
                };
                let mut hits: Vec<u64> = grid.iter().map(|&k| hits(k)).collect();
                hits.iter_mut().last().into_iter().for_each(|all| *all = 500);
                let misses = hits.iter().map(|hits| [0, 0, 0, 0, (500 - hits) as u32, 0, 0, 0]);
                classes.push(DocumentClasses {
                    document: ordinal,
                    tokens: [0, 0, 0, 200, 300, 0, 0, 0],
                    misses: misses.collect(),
                });
                run.documents.push(document(ordinal, 500, &hits, 3.0 * ease));
            }
            let basis = ClassBasis { tokens: 500_000, distinct: 9_000, vocabulary: true };
            run.classes = Some(ClassTally { k: grid.clone(), basis, documents: classes });
            runs.push(run);
        }
    }
    runs
}

/// `cargo test -p relscale-laws --test speed -- --ignored --nocapture`
#[test]
#[ignore = "a bench: prints times"]
fn a_thousand_resamples_of_a_whole_study() {
    for (models, corpora, resamples) in
        [(8, 4, 1000), (8, 1, 1000), (16, 1, 1000), (32, 1, 1000), (8, 1, 2000)]
    {
        let runs = study(models, corpora);
        let start = Instant::now();
        let fit = fit_study(&runs, &FitOptions { resamples, ..FitOptions::default() }).unwrap();
        let elapsed = start.elapsed().as_secs_f64();
        assert_eq!(fit.groups.len() as u32, corpora);
        println!("{models} models x {corpora} corpora, {resamples} resamples: {elapsed:.2} s");
    }
}

/// What laws in bytes, words and spans add to those of ranks; figures in
/// `record/2026-11-29-words.md`.
///
/// `cargo test -p relscale-laws --test speed -- --ignored --nocapture beside`
#[test]
#[ignore = "a bench: prints times"]
fn words_and_bytes_beside_ranks() {
    let bare = study(8, 1);
    let mut counted = bare.clone();
    for document in counted.iter_mut().flat_map(|run| &mut run.documents) {
        let spans = SPAN_WORDS.map(|n| 501 - n);
        let hits = [1, 2, 3].map(|k| spans.map(|spans| spans * k / (2 + k)));
        let words = WordTally {
            words: document.scored,
            left_out: 1,
            hits: document.hits.clone(),
            spans,
            span_hits: hits,
        };
        document.text = Some(TextTally {
            nonfinite_bytes: 0,
            byte_hits: document.hits.iter().map(|hits| 4 * hits).collect(),
            words: Some(words),
        });
    }
    for (what, runs) in [("ranks and bits per byte", bare), ("with words", counted)] {
        let start = Instant::now();
        fit_study(&runs, &FitOptions { resamples: 2000, ..FitOptions::default() }).unwrap();
        println!("{what}: {:.2} s", start.elapsed().as_secs_f64());
    }
}
