//! `relscale report`: the page of a study.

use std::path::PathBuf;

use relscale_laws::StudyFit;

use super::fit::LAWS;
use crate::terminal;

/// Write the page of a study: report.html and its figures.
///
/// Reads STUDY/laws.json, which `relscale fit` makes; the page needs no network and can be sent as it is.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:\n  relscale report study")]
pub(crate) struct Arguments {
    /// The study folder
    study: PathBuf,
}

/// Carries the command out.
///
/// # Errors
/// There are no laws yet, or the page cannot be written.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let laws = StudyFit::load(&arguments.study.join(LAWS))?;
    let report = relscale_report::render(&laws, &arguments.study)?;
    terminal::message(&format!(
        "{} figures, as SVG and as numbers, and the page with all of them:",
        report.figures.len()
    ));
    terminal::print(&report.page.display().to_string())
}
