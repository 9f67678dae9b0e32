//! Tokens a second of [`Model::score`] on a model folder: the whole way from ids to rank, nll and entropy, every position
//! but the first scored. The limit it is measured against is the machine's f32 peak, and beside it stands
//! `tools/peers/torch_speed.py`, which does the same with PyTorch.
//!
//!     cargo bench -p relscale-decoder --bench score -- FOLDER [WINDOWS LENGTH REPEATS]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench reports on the terminal")]

use relscale_decoder::families::LoadOptions;
use relscale_decoder::head::Vocabulary;
use relscale_decoder::{Model, Sequence};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let Some(folder) = args.first() else {
        eprintln!("no folder given: nothing to time (see this file's head)");
        return Ok(());
    };
    let number = |at: usize, default: usize| args.get(at).map_or(Ok(default), |text| text.parse());
    let (windows, length, repeats) = (number(1, 4)?, number(2, 512)?, number(3, 7)?);
    let model = Model::load(folder.as_ref(), LoadOptions::default())?;
    let rows = model.spec().vocabulary;
    let ids: Vec<u32> =
        (0..windows * length).map(|i| (i as u64 * 2_654_435_761 % rows as u64) as u32).collect();
    let scored: Vec<u32> = (1..length as u32).collect();
    let sequences: Vec<Sequence<'_>> =
        ids.chunks(length).map(|tokens| Sequence { tokens, scored: &scored }).collect();
    let all = Vocabulary::all(rows);
    let mut rates: Vec<f64> = (0..=repeats)
        .map(|_| {
            let start = Instant::now();
            let scores = model.score(&sequences, &all);
            scores.map(|_| (windows * length) as f64 / start.elapsed().as_secs_f64())
        })
        .collect::<Result<_, _>>()?;
    rates.remove(0);
    rates.sort_by(f64::total_cmp);
    println!(
        "{windows} x {length}, {} threads: median {:.0} tokens/s ({:.0} to {:.0}) of {repeats}",
        rayon::current_num_threads(),
        rates[repeats / 2],
        rates[0],
        rates[repeats - 1]
    );
    Ok(())
}
