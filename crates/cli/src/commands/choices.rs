//! `relscale choices`: which options of questions models prefer.

use std::path::PathBuf;

use relscale_laws::ChoicesFit;
use relscale_laws::choices::{
    ChoicesOptions, ChoicesSource, fit_choices, options_of_items, save_means, save_options,
};
use relscale_records::Study;
use relscale_report::shown::{self, At, Questions};

use super::json::{self, Json};
use super::measured::{documents, tag, tags};
use super::table::condition;
use crate::spare::{Input, spare};
use crate::terminal;

/// Judge questions with options (MMLU, behaviours): accuracy, loss and probability of the right
/// option, by subject and domain.
///
/// Each option was scored as a document with its prompt as context (`relscale measure` with
/// kind=mmlu or kind=anthropic, or documents of one's own with the tags item, option, gold). An
/// option is preferred by its log-probability, that per byte, or that per token. Losses are means
/// over groups of means over questions, accuracies shares of all questions; intervals come from
/// questions drawn again inside their groups. Of a question about behaviour the answer that matches
/// it is gold, so p is the probability of the behaviour.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The study folder that `relscale measure` made
    study: PathBuf,

    /// This family only
    #[arg(long)]
    family: Option<String>,

    /// This corpus only
    #[arg(long)]
    corpus: Option<String>,

    /// The tag whose values are the distributions, e.g. tag:variety
    /// [default: domain or cluster, else the corpus]
    #[arg(long, value_name = "TAG", value_parser = tag)]
    by: Option<String>,

    /// Condition on a tag of the documents; may be given again
    #[arg(long = "where", value_name = "TAG=VALUE", value_parser = condition)]
    only: Vec<(String, String)>,

    /// Show groups (subjects, behaviours) as well
    #[arg(long)]
    groups: bool,

    /// Show what is beyond the same with the gold shuffled over the questions of each group:
    /// knowledge, not copying or a taste for letters
    #[arg(long)]
    beyond_shuffled: bool,

    /// How often questions are drawn again behind each interval
    #[arg(long, value_name = "N", default_value_t = ChoicesOptions::default().resamples)]
    resamples: u32,

    /// Seed of the drawing
    #[arg(long, value_name = "N", default_value_t = ChoicesOptions::default().seed)]
    seed: u64,

    /// Write every option of every question as CSV: nll, bytes, tokens, whether it is gold, whether
    /// it is preferred
    #[arg(long, value_name = "FILE")]
    options: Option<PathBuf>,

    /// Write the means as CSV, for relative --table and stages --table [default: STUDY/choices.csv]
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Write the result as JSON to a file, or to standard output (-) [default: STUDY/choices.json]
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

const EXAMPLES: &str = "\
Examples:
  relscale measure --model family --corpus 'mmlu=data?kind=mmlu&format=modified' --out study
  relscale choices study --beyond-shuffled
  relscale relative study --error gold-bpb --by tag:domain --baseline stem
  relscale relative study --error choice-nll --by tag:cluster --baseline self-improvement
  relscale stages --table study/choices.csv --where level=distribution --where distribution=stem --x params --loss gold_bpb --accuracy accuracy";

/// Carries the command out.
///
/// # Errors
/// A study that cannot be read, or has no questions; files that cannot be written.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let outputs = [
        Json::file(arguments.json.as_ref()),
        arguments.csv.as_deref(),
        arguments.options.as_deref(),
    ];
    spare(&outputs, &[Input::Study(arguments.study.clone())])?;
    let study = Study::open(&arguments.study)?;
    let (runs, documents) = (study.tallies()?, documents(&study)?);
    let source = ChoicesSource {
        runs: &runs,
        documents: &documents,
        family: arguments.family.as_deref(),
        corpus: arguments.corpus.as_deref(),
        by: arguments.by.as_deref(),
        only: &tags(&arguments.only),
    };
    let options = ChoicesOptions {
        resamples: arguments.resamples,
        seed: arguments.seed,
        ..ChoicesOptions::default()
    };
    let fit = fit_choices(&source, &options)?;
    let default = Json::Own(arguments.study.join("choices.json"));
    json::deliver(&fit, Some(arguments.json.as_ref().unwrap_or(&default)), || {
        let how =
            Questions { groups: arguments.groups, beyond_shuffled: arguments.beyond_shuffled };
        terminal::print_result(&shown::choices(&At::file("choices.json", &fit), how))
    })?;
    let csv = arguments.csv.clone().unwrap_or_else(|| arguments.study.join("choices.csv"));
    if arguments.csv.is_none() {
        relscale_records::atomic::refuse_link(&csv)?;
    }
    save_means(&fit, &csv)?;
    terminal::message(&format!("wrote {}", csv.display()));
    if let Some(path) = &arguments.options {
        save_options(&options_of_items(&source)?, path)?;
        terminal::message(&format!("wrote {}", path.display()));
    }
    next(&fit, source.tag(), arguments);
    Ok(())
}

/// What can be done with several models and distributions.
fn next(fit: &ChoicesFit, tag: Option<&str>, arguments: &Arguments) {
    let Some(group) = fit.groups.iter().find(|group| group.models.len() > 2) else { return };
    let mut distributions =
        group.models[0].means.iter().filter_map(|mean| mean.distribution.as_deref());
    let Some(first) = distributions.next() else { return };
    if distributions.all(|other| other == first) {
        return;
    }
    let mut options = vec![("error", "gold-bpb".to_owned())];
    options.extend(tag.map(|tag| ("by", format!("tag:{tag}"))));
    options.push(("baseline", first.to_owned()));
    options.extend(arguments.family.clone().map(|family| ("family", family)));
    options.extend(arguments.only.iter().map(|(tag, value)| ("where", format!("{tag}={value}"))));
    let option = |(name, value): &(&str, String)| {
        let between = if value.starts_with('-') { '=' } else { ' ' };
        format!("--{name}{between}{}", relscale_records::shell::word(value.as_ref()))
    };
    let words: Vec<String> = options.iter().map(option).collect();
    terminal::next(&format!("relative {} {}", terminal::quoted(&arguments.study), words.join(" ")));
}
