//! `relscale run`: a whole study from one file.

mod file;
mod steps;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use relscale_records::{digits, shell};
use serde::Serialize;

pub(super) use file::StudyFile;
use steps::{Here, Step, steps};

use super::Threads;
use super::json::{self, Json};
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::terminal::{self, Loudness, Style, quoted};

/// Do a whole study that a file declares: measure, fit, compare, report.
///
/// The file's tables are the commands of this program (measure with its models, fit, choices,
/// relative, size-tokens, training, stages, forecast, sweep-fit, report), their keys the flags;
/// docs/formats.md has it all. Paths in it begin at its own folder. The same command goes on where
/// it was stopped: what is measured is not measured again. `relscale check` then compares what came
/// out with what the file expects.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  relscale run studies/shipped.toml
  relscale run studies/rank-law.toml --tokens 2000 --out rehearsal
  relscale run studies/rank-law.toml --print")]
pub(crate) struct Arguments {
    /// The study file (.toml)
    file: PathBuf,

    /// Study folder to write [default: the study's name]
    #[arg(long, value_name = "STUDY")]
    out: Option<PathBuf>,

    /// Score fewer tokens of each corpus than the file says: a rehearsal
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    tokens: Option<u64>,

    /// Fetch nothing: what is not on this machine is refused
    #[arg(long)]
    offline: bool,

    /// Print the commands, and do nothing
    #[arg(long)]
    print: bool,

    /// Write the commands and how they ended as JSON to a file, or to standard output (-) and
    /// nothing else there
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,

    #[command(flatten)]
    threads: Threads,
}

/// What was done, for machines.
#[derive(Serialize)]
struct Done {
    study: String,
    steps: Vec<DoneStep>,
}

/// A command, and why it failed if it did.
#[derive(Serialize)]
struct DoneStep {
    command: String,
    failed: Option<String>,
}

/// Carries the command out.
///
/// # Errors
/// A file that cannot be read or says what no command takes; all that stops a measurement. What
/// else fails is told, and the rest is done all the same.
pub(super) fn run(arguments: &Arguments, cancel: &AtomicBool) -> anyhow::Result<()> {
    let file = StudyFile::read(&arguments.file)?;
    let study = absolute(arguments.out.as_deref().unwrap_or(Path::new(&file.name)))?;
    let word = study.to_str().ok_or_else(|| {
        let what = format!("{}: a path that is not UTF-8", study.display());
        Refusal::new(what, "give another folder with --out")
    })?;
    let here = Here { tokens: arguments.tokens, offline: arguments.offline, study: word };
    let steps = steps(&file, &arguments.file, here)?;
    let folder = folder_of(&arguments.file);
    introduce(&file);
    if arguments.print {
        return print(&steps, &folder, arguments.json.as_ref(), word);
    }
    let read = [Input::Path(arguments.file.clone()), Input::Study(study.clone())];
    spare(&[Json::file(arguments.json.as_ref())], &read)?;
    let json = match &arguments.json {
        Some(Json::File(path)) => Some(Json::File(absolute(path)?)),
        other => other.clone(),
    };
    refuse_another(&study, &file)?;
    let text = fs::read(&arguments.file)?;
    arguments.threads.set()?;
    std::env::set_current_dir(&folder)?;
    if json == Some(Json::Screen) {
        terminal::set_loudness(Loudness::Quiet);
    }
    terminal::lead(true);
    let done = carry_out(&steps, &study, &text, cancel);
    terminal::lead(false);
    let done = done?;
    let failed = done.iter().filter(|step| step.failed.is_some()).count();
    let document = Done { study: json::text(&study), steps: done };
    json::hand_over(&document, json.as_ref(), || Ok(()))?;
    if failed > 0 {
        let what = format!("{failed} of {} steps failed, as told above", steps.len());
        let hint = "what was measured and written is kept; give the same command again once that is mended";
        return Err(Refusal::new(what, hint).into());
    }
    terminal::next(&match file.expect.is_empty() {
        true if file.report.is_some() => format!("view {}", quoted(&study)),
        true => format!("report {}", quoted(&study)),
        false => format!("check {}", quoted(&study)),
    });
    Ok(())
}

/// What a reader should know of a study before it begins.
fn introduce(file: &StudyFile) {
    let line = |head: &str, text: &str| {
        terminal::message(&terminal::paragraph(&format!("{head}: "), text));
    };
    line(&file.name, &file.question);
    file.sources.iter().for_each(|source| line("from", source));
    file.needs.iter().for_each(|need| line("bring", need));
    if let Some(cost) = &file.cost {
        let hours = digits::number(cost.gpu_hours);
        let bytes = terminal::bytes(cost.bytes as u64);
        line("on paper", &format!("{hours} GPU hours, {bytes} to fetch: {}", cost.how));
    }
}

/// The folder at which a file's paths begin.
fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    Ok(std::path::absolute(path)?)
}

/// A folder that holds another study is left alone.
fn refuse_another(study: &Path, file: &StudyFile) -> anyhow::Result<()> {
    let kept = StudyFile::of(study);
    if !kept.exists() {
        return Ok(());
    }
    let there = StudyFile::read(&kept)?;
    if there.name == file.name {
        return Ok(());
    }
    let what = format!("{} holds the study {}, not {}", study.display(), there.name, file.name);
    Err(Refusal::new(what, "give another folder with --out").into())
}

/// The steps one after the other.
fn carry_out(
    steps: &[Step],
    study: &Path,
    text: &[u8],
    cancel: &AtomicBool,
) -> anyhow::Result<Vec<DoneStep>> {
    let mut done = Vec::with_capacity(steps.len());
    let mut is_kept = false;
    for (number, step) in steps.iter().enumerate() {
        if !step.is_needed && !is_kept {
            keep(study, text)?;
            is_kept = true;
        }
        let command = step.command();
        terminal::titled(
            &format!("step {} of {}:", number + 1, steps.len()),
            Style::Strong,
            &command,
        );
        let program = std::iter::once("relscale").chain(step.words.iter().map(String::as_str));
        let parsed = crate::lists::parse(program.map(Into::into))?;
        let failed = match parsed.command.run(cancel) {
            Ok(()) => None,
            Err(error) if step.is_needed || cancel.load(Ordering::Relaxed) => return Err(error),
            Err(error) => {
                let what = format!("{}: {error:#}", step.table);
                terminal::titled("warning:", Style::Warning, &what);
                Some(what)
            }
        };
        done.push(DoneStep { command, failed });
    }
    if !is_kept {
        keep(study, text)?;
    }
    Ok(done)
}

/// Keeps the file in the study, for `check` and for readers.
fn keep(study: &Path, text: &[u8]) -> anyhow::Result<()> {
    relscale_records::atomic::folder(study)?;
    Ok(relscale_records::atomic::write_whole(&StudyFile::of(study), text)?)
}

impl Step {
    /// As it would be typed.
    fn command(&self) -> String {
        let words = self.words.iter().map(|word| shell::word(OsStr::new(word)));
        format!("relscale {}", words.collect::<Vec<_>>().join(" "))
    }
}

/// The commands, to be pasted.
fn print(steps: &[Step], folder: &Path, json: Option<&Json>, study: &str) -> anyhow::Result<()> {
    let done = Done {
        study: study.to_owned(),
        steps: steps
            .iter()
            .map(|step| DoneStep { command: step.command(), failed: None })
            .collect(),
    };
    json::hand_over(&done, json, || {
        if folder != Path::new(".") {
            terminal::print(&format!("cd {}", quoted(folder)))?;
        }
        done.steps.iter().try_for_each(|step| terminal::print(&step.command))
    })
}
