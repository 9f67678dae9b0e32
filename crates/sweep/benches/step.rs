//! Tokens a second of [`Trainer::step`] on a Llama-like model of 4 blocks, d = 128, vocabulary
//! 4096, sequences of 256, 16 of them a step: forward, backward, clipping and AdamW. Beside it
//! stands `tools/peers/torch_train.py`, which does the same with PyTorch and can run both by turns.
//!
//!     cargo bench -p relscale-sweep --bench step -- [STEPS] [VOCABULARY] [qwen3]
//!
//! With `qwen3` the same sizes with norms of each head's queries and keys, then with a head of
//! their own, then by cautious Adam are timed by turns with it.
#![allow(clippy::print_stdout, reason = "a bench reports on the terminal")]

use relscale_decoder::spec::{NormSpan, Spec};
use relscale_sweep::plan::recipe::OptimiserKind;
use relscale_sweep::recipes::{Recipe, Size};
use relscale_sweep::train::schedule::Schedule;
use relscale_sweep::train::settings::Settings;
use relscale_sweep::train::trainer::Trainer;
use std::time::Instant;

const LENGTH: usize = 256;
const BATCH: usize = 16;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let steps: usize = args.first().map_or(Ok(5), |text| text.parse())?;
    let vocabulary: usize = args.get(1).map_or(Ok(4096), |text| text.parse())?;
    let mut recipe = Recipe::named("small")?;
    recipe.vocabulary = vocabulary;
    recipe.context = LENGTH;
    recipe.window = None;
    let size = Size { name: "bench", width: 128, layers: 4, heads: 4, hidden: 352 };
    let llama = recipe.spec(&size);
    let qwen3 = Spec { query_key_norm: Some(NormSpan::Head), tied: false, ..llama.clone() };
    let settings = |spec: Spec, optimiser: OptimiserKind| Settings {
        spec,
        schedule: Schedule { peak: 1e-3, steps: 1_000, warm_up: 0.1, decay: 0.2 },
        optimiser,
        betas: recipe.betas,
        epsilon: recipe.epsilon,
        weight_decay: recipe.weight_decay,
        clip: recipe.clip,
        z_loss: 0.0,
    };
    let mut all = vec![("", settings(llama.clone(), OptimiserKind::AdamW))];
    if args.get(2).is_some_and(|kind| kind == "qwen3") {
        let normed = Spec { tied: true, ..qwen3.clone() };
        all.push((", normed heads", settings(normed, OptimiserKind::AdamW)));
        all.push((", own head besides", settings(qwen3.clone(), OptimiserKind::AdamW)));
        all.push((", by cautious Adam", settings(qwen3, OptimiserKind::CautiousAdamC)));
    }
    let ids: Vec<u32> = (0..BATCH * (LENGTH + 1))
        .map(|i| (i as u64 * 2_654_435_761 % vocabulary as u64) as u32)
        .collect();
    let batch: Vec<&[u32]> = ids.chunks(LENGTH + 1).collect();
    let mut trainers = Vec::new();
    for (name, settings) in all {
        let mut trainer = Trainer::new(settings, LENGTH, 1)?;
        // The first step fills the workspaces and is not timed.
        trainer.step(&batch);
        trainers.push((name, trainer, Vec::new()));
    }
    for _ in 0..steps {
        for (_, trainer, rates) in &mut trainers {
            let start = Instant::now();
            trainer.step(&batch);
            rates.push((BATCH * LENGTH) as f64 / start.elapsed().as_secs_f64());
        }
    }
    for (name, _, rates) in &mut trainers {
        rates.sort_by(f64::total_cmp);
        println!(
            "{BATCH} x {LENGTH}, {} threads: median {:.0} tokens/s ({:.0} to {:.0}) of {steps}, {}{name}",
            rayon::current_num_threads(),
            rates[steps / 2],
            rates[0],
            rates[steps - 1],
            peak_memory()
        );
    }
    Ok(())
}

/// The most memory that the process has held, as Linux tells it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: Option<u64> =
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.map_or_else(
        || "memory unknown".to_owned(),
        |kb| format!("at most {} MB", kb * 1024 / 1_000_000),
    )
}
