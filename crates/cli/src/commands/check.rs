//! `relscale check`: what came out of a study beside what its file expects.

use std::path::PathBuf;

use relscale_report::expected::{Verdict, compare};
use relscale_report::shown;

use super::json::{self, Json};
use super::run::StudyFile;
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal;

/// Compare what came out of a study with what its file expects: a row a value.
///
/// The file is the one that `relscale run` kept in the study, or another that --file names. A value
/// agrees where it is as near as the file asks, or where its interval holds what is expected; the
/// command fails where one differs or is not there.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  relscale check rank-law
  relscale check study --file studies/rank-law.toml")]
pub(crate) struct Arguments {
    /// The study folder
    study: PathBuf,

    /// The study file [default: STUDY/study.toml]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Write the rows as JSON to a file, or to standard output (-) and nothing else there
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

/// Carries the command out.
///
/// # Errors
/// There is no study file, or it expects nothing; a result cannot be read; a value is not as
/// expected.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let path = arguments.file.clone().unwrap_or_else(|| StudyFile::of(&arguments.study));
    let mut read = Input::results(&arguments.study);
    read.push(Input::Path(path.clone()));
    spare(&[Json::file(arguments.json.as_ref())], &read)?;
    if arguments.file.is_none() && !path.exists() {
        let what =
            format!("{}: this study was not made by `relscale run`", arguments.study.display());
        return Err(Refusal::new(what, "give the study file with --file").into());
    }
    let file = StudyFile::read(&path)?;
    if file.expect.is_empty() {
        let what = format!("{}: expects nothing", path.display());
        return Err(Refusal::new(what, "give it [[expect]] tables (docs/formats.md)").into());
    }
    let rows = compare(&arguments.study, &file.expect)?;
    json::hand_over(&rows, arguments.json.as_ref(), || {
        terminal::print_result(&shown::expected(&rows))
    })?;
    let others = rows.iter().filter(|row| row.verdict != Verdict::Agrees).count();
    if others > 0 {
        anyhow::bail!("{others} of {} values are not as expected", rows.len());
    }
    Ok(())
}
