//! `relscale report`: the page of a study.

use std::path::PathBuf;

use relscale_report::{Options, Results};

use crate::terminal;

/// Write the page of a study: report.html and its figures.
///
/// Shows what STUDY holds: laws.json of `relscale fit`, relative.json of `relative`, choices.json, isoflop.json of a sweep, stages.json,
/// size-tokens.json, and further ones such as relative-mmlu.json. The page needs no network and can be sent as it is.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:\n  relscale report study")]
pub(crate) struct Arguments {
    /// The study folder
    study: PathBuf,
}

/// Carries the command out.
///
/// # Errors
/// There are no results yet, one is of another study, or the page cannot be written.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let results = Results::read(&arguments.study)?;
    let report = relscale_report::render(&results, &arguments.study, &Options::default())?;
    terminal::message(&format!(
        "{} figures, as SVG and as numbers, and the page with all of them:",
        report.figures.len()
    ));
    terminal::print(&report.page.display().to_string())
}
