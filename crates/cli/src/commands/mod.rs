//! The commands: a file each, whose doc comment is its help.

mod check;
mod choices;
mod completions;
mod demo;
mod fit;
mod fit_table;
mod forecast;
mod json;
mod man;
mod means;
mod measure;
mod measured;
mod merge;
mod next;
mod predict;
mod relative;
mod report;
mod run;
mod size_tokens;
mod stages;
mod sweep;
mod table;
mod training;
mod view;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use clap::Subcommand;

use crate::terminal;

/// What the program can be asked to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Arguments),
    Run(run::Arguments),
    Measure(Box<measure::Arguments>),
    Merge(merge::Arguments),
    Fit(fit::Arguments),
    Predict(predict::Arguments),
    Next(next::Arguments),
    Relative(Box<relative::Arguments>),
    Choices(choices::Arguments),
    Report(report::Arguments),
    Check(check::Arguments),
    View(view::Arguments),
    SizeTokens(size_tokens::Arguments),
    Training(training::Arguments),
    Stages(stages::Arguments),
    Forecast(Box<forecast::Arguments>),
    Sweep(Box<sweep::Arguments>),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

impl Command {
    /// Does it.
    ///
    /// # Errors
    /// Whatever stops the command; [`crate::exit`] knows the exit code.
    pub(crate) fn run(self, cancel: &AtomicBool) -> anyhow::Result<()> {
        match self {
            Self::Check(arguments) => check::run(&arguments),
            Self::Choices(arguments) => choices::run(&arguments),
            Self::Demo(arguments) => demo::run(&arguments, cancel),
            Self::Measure(arguments) => measure::run(&arguments, cancel),
            Self::Forecast(arguments) => forecast::run(&arguments),
            Self::Merge(arguments) => merge::run(&arguments),
            Self::Fit(arguments) => fit::run(&arguments),
            Self::Next(arguments) => next::run(&arguments),
            Self::Predict(arguments) => predict::run(&arguments),
            Self::Relative(arguments) => relative::run(&arguments),
            Self::Report(arguments) => report::run(&arguments),
            Self::Run(arguments) => run::run(&arguments, cancel),
            Self::View(arguments) => view::run(&arguments, cancel),
            Self::SizeTokens(arguments) => size_tokens::run(&arguments),
            Self::Training(arguments) => training::run(&arguments),
            Self::Stages(arguments) => stages::run(&arguments),
            Self::Sweep(arguments) => sweep::run(&arguments, cancel),
            Self::Completions(arguments) => completions::run(&arguments),
            Self::Man(arguments) => man::run(&arguments),
        }
    }
}

/// Keeps this command beside what it made in a study, for whoever does it again. That it cannot be
/// kept is told, and no reason to fail; `replaces` says that it makes a file of its own anew.
fn remember(study: &Path, replaces: bool) {
    remember_with(study, replaces, &[]);
}

/// As [`remember`], with options that were taken from the study and not given.
fn remember_with(study: &Path, replaces: bool, more: &[&str]) {
    if !study.join("study.json").is_file() {
        return;
    }
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    words.extend(more.iter().map(Into::into));
    // The address of a server is nobody's business who reads the study.
    for at in 0..words.len() {
        match words[at].to_str() {
            Some("--url") if at + 1 < words.len() => words[at + 1] = "URL".into(),
            Some(word) if word.starts_with("--url=") => words[at] = "--url=URL".into(),
            _ => {}
        }
    }
    if let Err(error) = relscale_records::study::remember(study, &words, replaces) {
        terminal::titled("warning:", terminal::Style::Warning, &error.to_string());
    }
}

/// How many threads work.
#[derive(Debug, clap::Args)]
pub(crate) struct Threads {
    /// Threads to use [default: one a core]; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Threads {
    /// Threads that will work: what was asked for, or one a core.
    fn number(&self) -> usize {
        self.threads.map_or_else(rayon::current_num_threads, usize::from)
    }

    /// Sets the number for the whole program; to be called once, before any work.
    ///
    /// # Errors
    /// The system gives no threads.
    fn set(&self) -> anyhow::Result<()> {
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
        }
        Ok(())
    }
}
