//! `relscale fit --table` and `--harness`: the laws of numbers that others measured.

use std::path::{Path, PathBuf};

use relscale_laws::tables::Select;
use relscale_laws::user_table::{HarnessOptions, TableOptions, fit_harness, fit_table};
use relscale_laws::{Law, TableFit};
use relscale_report::shown::{self, At};

use super::json::{self, Json};
use super::table::TableArguments;
use crate::commas;
use crate::exit::Refusal;
use crate::spare::Input;
use crate::terminal;

/// The options of a [`Table`], none of which means anything for a study.
pub(super) const OPTIONS: [&str; 13] = [
    "table",
    "harness",
    "x",
    "y",
    "kinds",
    "group",
    "label",
    "only",
    "models",
    "sizes",
    "task",
    "metric",
    "leave_out_nan",
];

/// A table instead of a study, or results.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Results instead of a study")]
pub(super) struct Table {
    #[command(flatten)]
    of: TableArguments,

    /// Fit results of lm-evaluation-harness: results_*.json, or folders of them
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with_all = ["table", "y", "label", "only"])]
    harness: Vec<PathBuf>,

    /// Tasks of the results [default: all]
    #[arg(long, value_name = "TASK", value_delimiter = ',', requires = "harness")]
    task: Vec<String>,

    /// Metrics of the results, e.g. acc, perplexity [default: all that are known]
    #[arg(long, value_name = "METRIC", value_delimiter = ',', requires = "harness")]
    metric: Vec<String>,

    /// A table of sizes, of results or of the models of a table: columns model and S (or
    /// non_embedding), others to group by
    #[arg(long, value_name = "FILE", conflicts_with_all = ["x", "models"])]
    sizes: Option<PathBuf>,
}

impl Table {
    /// What is read.
    pub(super) fn inputs(&self) -> Vec<Input> {
        Input::paths(self.of.files().chain(&commas::paths(&self.harness)).chain(&self.sizes))
    }

    /// Fits the table, if one was given.
    ///
    /// # Errors
    /// What the table is refused for; no law could be fitted.
    pub(super) fn run(&self, json: Option<&Json>) -> Option<anyhow::Result<()>> {
        let fit = match &self.of.table {
            Some(table) => self.fit_table(table),
            None if self.harness.is_empty() => return None,
            None => self.fit_harness(),
        };
        Some(fit.and_then(|fit| show(&fit, json)))
    }

    fn fit_table(&self, table: &Path) -> anyhow::Result<TableFit> {
        let options = TableOptions { select: self.select(&[]), ..TableOptions::default() };
        Ok(fit_table(table, &options)?)
    }

    fn fit_harness(&self) -> anyhow::Result<TableFit> {
        let metrics: Vec<&str> = self.metric.iter().map(String::as_str).collect();
        let options = HarnessOptions {
            tasks: self.task.clone(),
            select: self.select(&metrics),
            ..HarnessOptions::default()
        };
        Ok(fit_harness(&commas::paths(&self.harness), &options)?)
    }

    fn select(&self, y: &[&str]) -> Select {
        Select { sizes: self.sizes.clone(), ..self.of.select(&["S"], y) }
    }
}

fn show(fit: &TableFit, json: Option<&Json>) -> anyhow::Result<()> {
    json::deliver(fit, json, || {
        terminal::print_result(&shown::table_fit(&At::file("laws.json", fit)))
    })?;
    refuse_if_empty(fit)
}

/// Refuses when there is not one law.
fn refuse_if_empty(fit: &TableFit) -> anyhow::Result<()> {
    let laws: Vec<&Law> = fit.groups.iter().flat_map(|group| &group.laws).collect();
    if laws.iter().any(|law| law.fit().is_some()) {
        return Ok(());
    }
    let reason = laws.first().map_or("", |law| law.verdict.trim_end_matches('.'));
    let hint = "give at least three rows of different sizes a group";
    Err(Refusal::new(format!("no law could be fitted: {reason}"), hint).into())
}
