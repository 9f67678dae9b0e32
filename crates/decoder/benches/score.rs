//! Tokens a second of [`Model::score`] on a model folder: the whole way from ids to rank, nll and
//! entropy, every position but the first scored. Beside it stand the limit of the processor
//! (multiply-adds without memory, in the same run) and `tools/peers/bench_peers.py`, which runs
//! this and the same work in PyTorch by turns.
//!
//!     cargo bench -p relscale-decoder --bench score -- FOLDER [WINDOWS LENGTH REPEATS] [--dtype f32|bf16] [--kernels NAME]
//!
//! Work is counted as two operations a weight of every product and token, and attention's products
//! over the keys that are seen.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench reports on the terminal")]

use relscale_decoder::families::LoadOptions;
use relscale_decoder::head::Vocabulary;
use relscale_decoder::kernels::{Choice, Dtype, Kernels, peak};
use relscale_decoder::{Model, Sequence, processor};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = LoadOptions::default();
    let mut plain = Vec::new();
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--kernels" => {
                let name = args.next().unwrap_or_default();
                let kernels = Kernels::named(&name).ok_or(format!("no kernels `{name}`"))?;
                options.kernels = Choice::Only(kernels);
            }
            "--dtype" => {
                options.dtype = match args.next().as_deref() {
                    Some("f32") => Dtype::F32,
                    Some("bf16") => Dtype::Bf16,
                    other => return Err(format!("--dtype takes f32 or bf16, not {other:?}").into()),
                }
            }
            _ => plain.push(arg),
        }
    }
    let Some(folder) = plain.first() else {
        eprintln!("no folder given: nothing to time (see this file's head)");
        return Ok(());
    };
    let number = |at: usize, default: usize| plain.get(at).map_or(Ok(default), |text| text.parse());
    let (windows, length, repeats) = (number(1, 4)?, number(2, 512)?, number(3, 7)?);
    let start = Instant::now();
    let model = Model::load(folder.as_ref(), options)?;
    let (loaded, ready) = (start.elapsed().as_secs_f64(), megabytes("VmRSS:"));
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
    let format = model.format();
    println!("on {}", processor::name());
    println!(
        "{windows} x {length}, {} ({}), {} threads: median {:.0} tokens/s ({:.0} to {:.0}) of {repeats}",
        format.dtype().name(),
        format.kernels().name(),
        rayon::current_num_threads(),
        rates[repeats / 2],
        rates[0],
        rates[repeats - 1]
    );
    println!("loaded in {loaded:.2} s; {ready:.0} MB then, {:.0} MB at most", megabytes("VmHWM:"));
    if let Some(limit) = peak(format, 0.5) {
        let spec = model.spec();
        let products = model.parameters().non_embedding
            + model.parameters().head.max((spec.vocabulary * spec.embedding_width()) as u64);
        let attention = 2 * spec.layers.len() * spec.attention_width() * length;
        let work = (2 * products) as f64 + attention as f64;
        println!(
            "{:.0} GFLOP/s of {:.0}: {:.1} %",
            work * rates[repeats / 2] / 1e9,
            limit / 1e9,
            100.0 * work * rates[repeats / 2] / limit
        );
    }
    Ok(())
}

/// A line of what the kernel says of this process, in MB; NaN where it says nothing.
fn megabytes(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(f64::NAN)
        / 1e3
}
