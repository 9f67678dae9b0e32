//! Trains one size of the shipped family into a temporary folder for a few steps and prints its losses.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example")]

use relscale_corpus::loaders::crates::{CrateSources, Distribution, Split};
use relscale_sweep::recipes::Recipe;
use relscale_sweep::train::family::{Event, train};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let out = args.next().ok_or("out")?;
    let mut recipe = Recipe::named("small")?;
    let names: Vec<String> =
        args.next().map(|s| s.split(',').map(str::to_owned).collect()).unwrap_or_default();
    if let Some(steps) = args.next() {
        recipe.steps = steps.parse()?;
    }
    let sources = CrateSources::find(None)?;
    let mut documents = Vec::new();
    for kind in [Distribution::Code, Distribution::Docs, Distribution::Markdown] {
        documents.extend(sources.documents(kind, Split::Train)?);
    }
    let texts: Vec<&str> = documents.iter().map(|d| d.text.as_str()).collect();
    let sizes: Vec<_> =
        recipe.sizes.iter().filter(|s| names.is_empty() || names.iter().any(|n| n == s.name)).collect();
    let start = Instant::now();
    let command = "relscale sweep train small --out assets/family";
    train(&recipe, &sizes, &texts, out.as_ref(), command, |event| {
        match event {
            Event::Step { size, step, loss } if step % 50 == 0 || step < 4 => {
                println!("{} {step} {loss:.4} {:.0} s", size.name, start.elapsed().as_secs_f64());
            }
            Event::Step { .. } => {}
            other => println!("{other:?} {:.0} s", start.elapsed().as_secs_f64()),
        }
        true
    })?;
    Ok(())
}
