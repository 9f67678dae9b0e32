//! `relscale sweep train`: the sizes of a family, one after another.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use relscale_corpus::loaders::crates::{Distribution, Split};
use relscale_sweep::recipes::{Recipe, Size};
use relscale_sweep::train::family;

use crate::commands::Threads;
use crate::inputs;
use crate::progress::training::Training;
use crate::terminal;

/// Train the sizes of a recipe on the training part of the crate sources
///
/// Each size becomes a Hugging Face folder OUT/RECIPE-SIZE with its loss curve in training.json. Sizes that are there are kept,
/// so a stopped command goes on at the size where it was.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Name of the recipe
    recipe: String,

    /// Sizes to train [default: all]
    #[arg(long = "size", value_name = "NAME", num_args = 1..)]
    sizes: Vec<String>,

    /// Folder for the models
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,

    /// Steps instead of the recipe's, for a trial
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,

    #[command(flatten)]
    threads: Threads,
}

/// Carries the command out.
///
/// # Errors
/// Unknown names, missing sources, and all that can stop training.
pub(super) fn run(arguments: &Arguments, cancel: &AtomicBool) -> anyhow::Result<()> {
    arguments.threads.set()?;
    let mut recipe = Recipe::named(&arguments.recipe)?;
    if let Some(steps) = arguments.steps {
        recipe.steps = steps;
    }
    let sizes: Vec<&Size> = match arguments.sizes.as_slice() {
        [] => recipe.sizes.iter().collect(),
        names => names.iter().map(|name| recipe.size(name)).collect::<Result<_, _>>()?,
    };
    terminal::message("reading the crate sources and training the vocabulary");
    let sources = inputs::crate_sources()?;
    let mut documents = Vec::new();
    for distribution in Distribution::ALL {
        documents.extend(sources.documents(distribution, Split::Train)?);
    }
    let texts: Vec<&str> = documents.iter().map(|document| document.text.as_str()).collect();

    let mut progress = Training::new(&recipe, &sizes);
    let watch = |event: family::Event<'_>| {
        progress.hear(&event);
        !cancel.load(Ordering::Relaxed)
    };
    family::train(&recipe, &sizes, &texts, &arguments.out, &command(arguments), watch)?;
    terminal::message(&format!(
        "next: relscale measure --model {} --corpus SPEC --out study",
        arguments.out.display()
    ));
    Ok(())
}

/// The command that makes these models again, as it is recorded beside them.
fn command(arguments: &Arguments) -> String {
    let mut words = vec!["relscale sweep train".to_owned(), arguments.recipe.clone()];
    if !arguments.sizes.is_empty() {
        words.push(format!("--size {}", arguments.sizes.join(" ")));
    }
    words.push(format!("--out {}", arguments.out.display()));
    words.extend(arguments.steps.map(|steps| format!("--steps {steps}")));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_command_is_the_one_that_was_given() {
        let mut arguments = Arguments {
            recipe: "small".into(),
            sizes: Vec::new(),
            out: "assets/family".into(),
            steps: None,
            threads: Threads { threads: Some(2) },
        };
        assert_eq!(command(&arguments), "relscale sweep train small --out assets/family");
        arguments.sizes = vec!["3k".into(), "9k".into()];
        arguments.steps = Some(10);
        assert_eq!(
            command(&arguments),
            "relscale sweep train small --size 3k 9k --out assets/family --steps 10"
        );
    }
}
