//! A family of seven made-up models, measured on 2000 documents: what a fit says, and how long it
//! takes.
//!
//! `cargo run -p relscale-laws --example family -- [documents [laws.json]]`

#![allow(clippy::print_stdout)]

use relscale_laws::Saved as _;
use std::time::Instant;

use relscale_laws::{FitOptions, LawsError, fit_study};
use relscale_records::provenance::Provenance;
use relscale_records::{DocumentTally, RunTally};

/// Sizes over three decades.
const SIZES: [u64; 7] = [3_100, 9_800, 31_000, 98_000, 310_000, 980_000, 3_100_000];

/// A run whose ranks follow `-ln RBP_k = 3 k^-0.4 S^-0.12`, off by a per cent or two a model, and
/// whose documents differ in ease.
fn measured(index: usize, parameters: u64, documents: u32) -> RunTally {
    let mut provenance = Provenance::example();
    provenance.model.name = format!("m{parameters}");
    provenance.model.weights_sha256 = format!("weights of m{parameters}");
    provenance.model.parameters.non_embedding = parameters;
    provenance.scoring.vocabulary.scored = 4096;
    let mut run = RunTally::new(&provenance);

    let off = [1.0, 0.985, 1.012, 0.995, 1.02, 0.99, 1.004][index];
    for document in 0..documents {
        let scored = 200 + u64::from(document * 37 % 400);
        let ease = off * (0.7 + 0.6 * f64::from(document * 61 % 97) / 96.0);
        let hits = |k: u32| {
            let law = 3.0 * f64::from(k).powf(-0.4) * (parameters as f64).powf(-0.12);
            (scored as f64 * (-law * ease).exp()).round() as u64
        };
        run.documents.push(DocumentTally {
            scored,
            bytes: 4 * scored,
            hits: run.k_grid.iter().map(|&k| if k == 4096 { scored } else { hits(k) }).collect(),
            sum_nll: 8.0 * (parameters as f64).powf(-0.1) * ease * scored as f64,
            sum_entropy: Some(7.5 * (parameters as f64).powf(-0.1) * ease * scored as f64),
            ..DocumentTally::new(document, run.k_grid.len())
        });
    }
    run
}

fn main() -> Result<(), LawsError> {
    let documents = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2000);
    let runs: Vec<RunTally> =
        SIZES.iter().enumerate().map(|(index, &size)| measured(index, size, documents)).collect();

    let started = Instant::now();
    let study = fit_study(&runs, &FitOptions::default())?;
    let seconds = started.elapsed().as_secs_f64();

    for group in &study.groups {
        println!("{} on {}: {}\n", group.family, group.corpus, group.verdict);
        for law in group.rank_laws.iter().chain([&group.cross_entropy_law]) {
            println!("{}", law.verdict);
            for flag in &law.flags {
                println!("    {:?}: {}", flag.code, flag.message);
            }
        }
        for flag in &group.flags {
            println!("{:?}: {}", flag.code, flag.message);
        }
        if let Some(difference) = &group.greedy_minus_cross_entropy {
            println!("alpha - beta = {:.4} {:?}", difference.value, difference.bounds());
        }
    }
    if let Some(path) = std::env::args_os().nth(2) {
        study.save(path.as_ref())?;
    }
    println!(
        "\n{} resamples of {documents} documents, {} models: {seconds:.2} s",
        study.options.resamples,
        runs.len()
    );
    Ok(())
}
