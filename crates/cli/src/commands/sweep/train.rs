//! `relscale sweep train`: the sizes of a family, or the runs of a plan.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use relscale_corpus::CorpusSpec;
use relscale_corpus::loaders::crates::{CrateSources, Distribution, Split};
use relscale_corpus::loaders::reading::Reading;
use relscale_sweep::plan::Plan;
use relscale_sweep::recipes::{Recipe, Size};
use relscale_sweep::train::family::{self, Made};
use relscale_sweep::train::sweep::{self, Options, RunRecord, Status, SweepText};

use crate::commands::Threads;
use crate::commands::json::{self, AsJson, Json};
use crate::commas;
use crate::exit::Refusal;
use crate::inputs;
use crate::interrupt;
use crate::progress::training::{self, Training};
use crate::spare::{Input, spare};
use crate::terminal::{self, Style, count, quoted, size};
use relscale_records::digits;

/// Train the sizes of a family's recipe, or the runs of a plan
///
/// A plan (the file of `relscale sweep plan`) becomes a folder OUT/RUN for each run: a Hugging Face
/// model, run.json, and its loss curve as Parquet; OUT/runs.csv has a row a run. Runs are trained
/// one after another: AdamW or cautious Adam with decoupled decay, gradients clipped, learning rate
/// up in a line, level, down in a line to 0, evaluated on held-out text. A run whose loss becomes
/// no number, or stays 1.5 nats above its lowest mean over 20 steps, is given up as diverged, and
/// the others go on.
///
/// A stopped or killed command goes on where it was when it is given again, and ends with the same
/// bytes as one that was left alone; runs that ended are kept.
///
/// A recipe (`relscale sweep list`) becomes OUT/RECIPE-SIZE for each size, with the loss curve in
/// training.json; a stopped command goes on at the size where it was.
///
/// The text is the training part of the crate sources, evaluated on held-out crates, unless
/// --corpus and --held-out say otherwise.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A plan's file, or the name of a recipe
    #[arg(value_name = "PLAN|RECIPE")]
    what: String,

    /// Folder for the models
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,

    /// Keep N models of each run on the way: after its last step, half of its steps, a quarter,
    /// ...; OUT/checkpoints has them, and a manifest of them, models.toml
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    keep: u32,

    #[command(flatten)]
    of_plan: OfPlan,

    #[command(flatten)]
    of_recipe: OfRecipe,

    #[command(flatten)]
    json: AsJson,

    #[command(flatten)]
    threads: Threads,
}

/// What of a plan.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Of a plan")]
struct OfPlan {
    /// Texts to train on, as in `relscale measure --help`
    /// [default: the training part of the crate sources]
    #[arg(long = "corpus", value_name = "SPEC", num_args = 1.., requires = "held_out")]
    corpora: Vec<String>,

    /// Texts to evaluate on [default: held-out crates]
    #[arg(long, value_name = "SPEC", num_args = 1.., requires = "corpora")]
    held_out: Vec<String>,

    /// Evaluations over a run, evenly, the last after its last step [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    evaluations: Option<u32>,

    /// Held-out tokens that each evaluation scores, in whole sequences, evenly from the text
    /// [default: 65536]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    held_out_tokens: Option<u64>,

    /// Seconds between two checkpoints of a run; what comes out does not depend on it [default: 30]
    #[arg(long, value_name = "SECONDS")]
    checkpoint_every: Option<u64>,
}

impl OfPlan {
    /// Whether any of it was given.
    fn given(&self) -> bool {
        !self.corpora.is_empty()
            || self.evaluations.is_some()
            || self.held_out_tokens.is_some()
            || self.checkpoint_every.is_some()
    }

    fn options(&self, keep: u32) -> Options {
        let usual = Options::default();
        let tokens =
            self.held_out_tokens.map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
        Options {
            evaluations: self.evaluations.unwrap_or(usual.evaluations),
            held_out_tokens: tokens.unwrap_or(usual.held_out_tokens),
            checkpoint_every: self
                .checkpoint_every
                .map_or(usual.checkpoint_every, Duration::from_secs),
            keep,
        }
    }
}

/// What of a recipe.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Of a recipe")]
struct OfRecipe {
    /// Sizes to train [default: all]
    #[arg(long = "size", value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    sizes: Vec<String>,

    /// Steps instead of the recipe's, for a trial
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,

    /// Seed of the weights and of the order of the text, instead of the recipe's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  relscale sweep train plan.json --out sweep
  relscale sweep train plan.json --corpus books=books/ --held-out test=test.txt --out sweep
  relscale sweep train small --out assets/family";

/// Carries the command out.
///
/// # Errors
/// Unknown names, missing sources, and all that can stop training.
pub(super) fn run(arguments: &Arguments, cancel: &AtomicBool) -> anyhow::Result<()> {
    arguments.threads.set()?;
    let is_recipe = Recipe::NAMES.contains(&arguments.what.as_str());
    if !is_recipe && Path::new(&arguments.what).exists() {
        return plan(arguments, cancel);
    }
    if !is_recipe && arguments.what.contains(['.', '/', '\\']) {
        let what = format!("there is no plan {}", arguments.what);
        return Err(Refusal::new(
            what,
            "write one by `relscale sweep plan --preset small --out FILE.json`",
        )
        .into());
    }
    family(arguments, cancel)
}

fn family(arguments: &Arguments, cancel: &AtomicBool) -> anyhow::Result<()> {
    let mut recipe = Recipe::named(&arguments.what)?;
    if arguments.of_plan.given() {
        let what = format!("{} is the recipe of a family, which has its own text", recipe.name);
        return Err(Refusal::new(what, "give the options under \"Of a plan\" with a plan").into());
    }
    recipe.steps = arguments.of_recipe.steps.unwrap_or(recipe.steps);
    recipe.seed = arguments.of_recipe.seed.unwrap_or(recipe.seed);
    let sizes: Vec<&Size> = match arguments.of_recipe.sizes.as_slice() {
        [] => recipe.sizes.iter().collect(),
        names => names.iter().map(|name| recipe.size(name)).collect::<Result<_, _>>()?,
    };
    spare(&[Json::file(arguments.json.destination())], &[Input::Study(arguments.out.clone())])?;
    terminal::message("reading the crate sources and training the vocabulary");
    let documents = crate_documents(Split::Train)?;
    let texts: Vec<&str> = documents.iter().map(String::as_str).collect();
    let mut progress = Training::for_family(&recipe, &sizes);
    let watch = |event: family::Event<'_>| {
        progress.hear_family(&recipe, &event);
        !cancel.load(Ordering::Relaxed)
    };
    let command = command(arguments);
    let made = Made { command: &command, keep: arguments.keep };
    family::train(&recipe, &sizes, &texts, &arguments.out, &made, watch)?;
    let models: Vec<Trained> = sizes
        .iter()
        .map(|size| format!("{}-{}", recipe.name, size.name))
        .map(|name| Trained { folder: json::text(&arguments.out.join(&name)), model: name })
        .collect();
    // On a screen the progress has told it all.
    json::hand_over(&models, arguments.json.destination(), || Ok(()))?;
    terminal::next(&format!(
        "measure --model {} --corpus crates:code --tokens 500000 --out study",
        quoted(&arguments.out)
    ));
    Ok(())
}

/// A model of a family, for machines.
#[derive(serde::Serialize)]
struct Trained {
    model: String,
    folder: String,
}

/// All three kinds of text of one side of the crate sources.
fn crate_documents(split: Split) -> anyhow::Result<Vec<String>> {
    let sources = CrateSources::shipped(split)?;
    inputs::warn(&sources.notices());
    let mut texts = Vec::new();
    for distribution in Distribution::ALL {
        texts.extend(sources.documents(distribution)?.into_iter().map(|document| document.text));
    }
    Ok(texts)
}

fn plan(arguments: &Arguments, cancel: &AtomicBool) -> anyhow::Result<()> {
    let path = Path::new(&arguments.what);
    let path = if path.is_dir() { path.join("plan.json") } else { path.to_owned() };
    let mut inputs = vec![Input::Path(path.clone()), Input::Study(arguments.out.clone())];
    inputs.extend(Input::corpora(&commas::corpora(&arguments.of_plan.corpora)));
    inputs.extend(Input::corpora(&commas::corpora(&arguments.of_plan.held_out)));
    spare(&[Json::file(arguments.json.destination())], &inputs)?;
    let plan = Plan::read(&path)?;
    let OfRecipe { sizes, steps, seed } = &arguments.of_recipe;
    if !sizes.is_empty() || steps.is_some() || seed.is_some() {
        let what =
            format!("{} is a plan, which says its sizes, steps and seeds itself", path.display());
        return Err(Refusal::new(what, "change the plan instead").into());
    }
    terminal::message("reading the text and training the vocabulary");
    let of_plan = &arguments.of_plan;
    let (name, documents, held_out) = match commas::corpora(&of_plan.corpora).as_slice() {
        [] => {
            ("crates".to_owned(), crate_documents(Split::Train)?, crate_documents(Split::HeldOut)?)
        }
        corpora => {
            let (name, documents) = corpus_documents(corpora)?;
            (name, documents, corpus_documents(&commas::corpora(&of_plan.held_out))?.1)
        }
    };
    let texts: Vec<&str> = documents.iter().map(String::as_str).collect();
    let unseen: Vec<&str> = held_out.iter().map(String::as_str).collect();
    let text = SweepText::new(plan.recipe.vocabulary, &name, &texts, &unseen)?;
    training::text(texts.len(), texts.iter().map(|text| text.len()).sum(), text.stream.len());
    let mut progress = Training::for_plan(&plan);
    let watch = |event: sweep::Event<'_>| {
        progress.hear_sweep(&event);
        !cancel.load(Ordering::Relaxed)
    };
    let records =
        sweep::train(&plan, &text, &arguments.out, &of_plan.options(arguments.keep), watch)?;
    drop(progress);
    json::hand_over(&records, arguments.json.destination(), || show(&plan, &records))?;
    let out = arguments.out.display();
    terminal::message(&format!("wrote {out}/runs.csv"));
    terminal::next(&format!("sweep fit {}", quoted(&arguments.out)));
    Ok(())
}

/// The texts of corpora, and their names in one.
fn corpus_documents(arguments: &[String]) -> anyhow::Result<(String, Vec<String>)> {
    let (mut names, mut texts) = (Vec::new(), Vec::new());
    for argument in arguments {
        let spec: CorpusSpec = argument.parse()?;
        names.push(spec.name().to_owned());
        let reading = Reading::until(interrupt::flag());
        for document in spec.open_with(&reading)? {
            let document = document?;
            if document.ids.is_some() {
                let what = format!("{argument} is token ids, and a vocabulary is to be trained");
                return Err(Refusal::new(what, "give text").into());
            }
            texts.push(document.text);
        }
        for notice in reading.take() {
            let warning = terminal::paint("warning:", Style::Warning);
            terminal::message(&format!("{warning} {}: {notice}", spec.name()));
        }
    }
    Ok((names.join("+"), texts))
}

/// The runs as they ended, budget by budget.
fn show(plan: &Plan, records: &[RunRecord]) -> anyhow::Result<()> {
    let loss = |loss: Option<f64>| loss.map_or_else(|| "-".to_owned(), digits::number);
    let row = |record: &RunRecord| {
        vec![
            record.run.name.clone(),
            size(record.run.parameters.non_embedding),
            size(record.run.parameters.total),
            size(record.run.tokens),
            count(record.steps_taken.into()),
            loss(record.train_loss),
            loss(record.held_out_loss),
            record.status.name().to_owned(),
        ]
    };
    let groups: Vec<Vec<Vec<String>>> = plan
        .recipe
        .budgets
        .iter()
        .map(|budget| {
            records.iter().filter(|record| record.run.budget == *budget).map(row).collect()
        })
        .filter(|group: &Vec<_>| !group.is_empty())
        .collect();
    let header = ["run", "S", "N", "tokens", "steps", "training loss", "held-out loss", "status"];
    terminal::print(&terminal::fitting(&header, 1, &groups, &["steps", "training loss", "S"]))?;
    let diverged = records.iter().filter(|record| record.status == Status::Diverged);
    for record in diverged {
        let note = record.note.as_deref().unwrap_or_default();
        terminal::print(&terminal::paragraph(
            "- ",
            &format!("{} diverged: {note}", record.run.name),
        ))?;
    }
    Ok(())
}

/// The command that makes these models again, as it is recorded beside them.
fn command(arguments: &Arguments) -> String {
    let OfRecipe { sizes, steps, seed } = &arguments.of_recipe;
    let mut words = vec!["relscale sweep train".to_owned(), arguments.what.clone()];
    if !sizes.is_empty() {
        words.push(format!("--size {}", sizes.join(" ")));
    }
    words.push(format!("--out {}", quoted(&arguments.out)));
    words.extend(steps.map(|steps| format!("--steps {steps}")));
    words.extend(seed.map(|seed| format!("--seed {seed}")));
    words.extend((arguments.keep > 0).then(|| format!("--keep {}", arguments.keep)));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_command_is_the_one_that_was_given() {
        let mut arguments = Arguments {
            what: "small".into(),
            out: "assets/family".into(),
            keep: 0,
            of_plan: OfPlan::default(),
            of_recipe: OfRecipe::default(),
            json: AsJson::default(),
            threads: Threads { threads: Some(2) },
        };
        assert_eq!(command(&arguments), "relscale sweep train small --out assets/family");
        arguments.of_recipe =
            OfRecipe { sizes: vec!["3k".into(), "9k".into()], steps: Some(10), seed: Some(2) };
        arguments.keep = 3;
        assert_eq!(
            command(&arguments),
            "relscale sweep train small --size 3k 9k --out assets/family --steps 10 --seed 2 --keep 3"
        );
    }
}
