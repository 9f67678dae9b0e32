//! Loads a Hugging Face folder, says what it is, and scores token ids.
//!
//! ```text
//! cargo run --release -p relscale-decoder --example score                        # a tiny Llama of the test suite
//! cargo run --release -p relscale-decoder --example score -- FOLDER [IDS.json]   # yours, and a list of ids
//! ```

#![allow(clippy::print_stdout)] // An example prints.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use relscale_decoder::families::LoadOptions;
use relscale_decoder::head::Vocabulary;
use relscale_decoder::{Model, Sequence};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/llama-gqa");
    let folder = arguments.next().unwrap_or(tiny);
    let ids: Vec<u32> = match arguments.next() {
        Some(file) => serde_json::from_slice(&std::fs::read(file)?)?,
        None => vec![3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5],
    };

    let start = Instant::now();
    let model = Model::load(&folder, LoadOptions::default())?;
    let (spec, count) = (model.spec(), model.parameters());
    println!(
        "{}: {} blocks of {} channels, {} rows",
        spec.family,
        spec.layers.len(),
        spec.width,
        spec.vocabulary
    );
    println!("S = {} of {} parameters", count.non_embedding, count.total);
    if let Some(info) = model.info() {
        println!("read {:?}, stored as {:?}, unused {:?}", info.files, info.stored, info.unused);
        println!("weights {}, in {:.2?}", &info.weights_sha256[..12], start.elapsed());
    }

    // Windows of the model's context; every token of a window but its first is scored.
    let start = Instant::now();
    let scored: Vec<u32> = (1..spec.context as u32).collect();
    let windows: Vec<Sequence<'_>> = ids
        .chunks(spec.context)
        .map(|tokens| Sequence { tokens, scored: &scored[..tokens.len() - 1] })
        .collect();
    let scores = model.score(&windows, &Vocabulary::all(spec.vocabulary))?;
    let finite: Vec<_> = scores.iter().flatten().flatten().collect();
    let mean = |of: fn(&relscale_decoder::head::Scored) -> f64| {
        finite.iter().map(|score| of(score)).sum::<f64>() / finite.len() as f64
    };
    println!(
        "{} tokens scored: mean nll {:.6} nats, mean entropy {:.6} nats, mean rank {:.3}; {:.0} tokens/s",
        finite.len(),
        mean(|s| f64::from(s.nll)),
        mean(|s| f64::from(s.entropy)),
        mean(|s| f64::from(s.rank)),
        ids.len() as f64 / start.elapsed().as_secs_f64()
    );
    for (token, score) in ids.iter().skip(1).zip(&finite).take(10) {
        println!(
            "  token {token:5}  rank {:5}  nll {:7.4}  best {}",
            score.rank, score.nll, score.argmax
        );
    }
    Ok(())
}
