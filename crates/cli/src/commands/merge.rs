//! `relscale merge`: studies, and parts of studies, become one.

use std::path::PathBuf;

use relscale_records::Study;
use relscale_records::study::{MergedRun, merge};

use super::json::{self, AsJson, Json};
use crate::spare::{Input, spare};
use crate::terminal::{self, Style, count};

/// Make one study of several: of models or texts measured apart, and of the parts of
/// `relscale measure --part I/N`.
///
/// The order of the studies does not matter, and none of them is changed. What is given twice is
/// taken once; parts that are missing are named. A run joined from its parts has the very bytes
/// that one process would have written.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  relscale merge part-1 part-2 part-3 part-4 --out study
  relscale merge small large study-of-colleague --out study
")]
pub(crate) struct Arguments {
    /// The studies
    #[arg(value_name = "STUDY", num_args = 1.., required = true)]
    studies: Vec<PathBuf>,

    /// The study that they become: new, empty, or one that they are added to
    #[arg(long, value_name = "STUDY")]
    out: PathBuf,

    #[command(flatten)]
    json: AsJson,
}

/// Carries the command out.
///
/// # Errors
/// A folder that is no study; [`relscale_records::Error::MergeStudies`].
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let read = arguments.studies.iter().chain([&arguments.out]).cloned().map(Input::Study);
    spare(&[Json::file(arguments.json.destination())], &read.collect::<Vec<_>>())?;
    let mut studies = Vec::new();
    for path in &arguments.studies {
        let same = |other: &PathBuf| {
            other == path
                || other
                    .canonicalize()
                    .ok()
                    .is_some_and(|full| path.canonicalize().ok() == Some(full))
        };
        if same(&arguments.out) {
            // It is looked at anyway, and nothing of it is copied onto itself.
            continue;
        }
        studies.push(Study::open(path)?);
    }
    let mut into = Study::create_or_open(&arguments.out)?;
    let merged = merge(&mut into, &studies)?;
    super::remember(&arguments.out, false);
    anyhow::ensure!(
        !merged.is_empty(),
        "none of these studies has a finished run; finish them with the commands that began them"
    );
    for run in &merged {
        if !run.again.is_empty() {
            let message = format!(
                "{} x {}: the same again, passed over: {}",
                run.model,
                run.corpus,
                run.again.join(", ")
            );
            terminal::titled("note:", Style::Strong, &message);
        }
    }
    json::hand_over(&merged, arguments.json.destination(), || terminal::print(&table(&merged)))?;
    terminal::next(&format!("fit {}", terminal::quoted(&arguments.out)));
    Ok(())
}

/// A line a run.
fn table(merged: &[MergedRun]) -> String {
    let rows = merged.iter().map(|run| {
        let from = match run.slices {
            0 => "whole".to_owned(),
            slices => format!("{slices} parts"),
        };
        vec![run.model.clone(), run.corpus.clone(), count(run.scored), from]
    });
    terminal::table(&["model", "corpus", "tokens", "from"], 2, &[rows.collect()])
}
