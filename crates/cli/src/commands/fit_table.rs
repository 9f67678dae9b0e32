//! `relscale fit --table` and `--harness`: the laws of numbers that others measured.

use std::path::{Path, PathBuf};

use relscale_laws::user_table::{HarnessOptions, Kind, TableOptions, fit_harness, fit_table};
use relscale_laws::{Law, TableFit};
use relscale_report::shown::{self, At};

use super::json::{self, Json};
use crate::exit::Refusal;
use crate::spare::Input;
use crate::terminal;

/// The options of a [`Table`], none of which means anything for a study.
pub(super) const OPTIONS: [&str; 12] = [
    "table",
    "harness",
    "x",
    "y",
    "kinds",
    "group",
    "label",
    "only",
    "sizes",
    "task",
    "metric",
    "leave_out_nan",
];

/// A table instead of a study.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A table instead of a study")]
pub(super) struct Table {
    /// Fit the columns of a table (.csv, .tsv, .jsonl, .parquet): one row a model
    #[arg(long, value_name = "FILE", requires = "y", conflicts_with = "harness")]
    table: Option<PathBuf>,

    /// Fit results of lm-evaluation-harness: results_*.json, or folders of them
    #[arg(long, value_name = "PATH", num_args = 1..)]
    harness: Vec<PathBuf>,

    /// Column of sizes
    #[arg(long, value_name = "COLUMN", default_value = "S", conflicts_with = "sizes")]
    x: String,

    /// Columns of values, separated by commas or given again
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "table")]
    y: Vec<String>,

    /// What the values are, one for all or one each: rbp or accuracy (the law is about -ln of it), wrong (1 - accuracy), perplexity (ln), ce, bpb or
    /// loss (as given) [default: what the columns' names say]
    #[arg(long = "as", value_name = "KIND", value_delimiter = ',', value_parser = kind)]
    kinds: Vec<Kind>,

    /// Columns to group by: rows that agree in them share a law
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    group: Vec<String>,

    /// Column that names a row [default: model or name, where there is one]
    #[arg(long, value_name = "COLUMN", requires = "table")]
    label: Option<String>,

    /// Take the rows that have this value only; may be given again
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = condition, requires = "table")]
    only: Vec<(String, String)>,

    /// A table of sizes: columns model and S (or non_embedding), others to group by
    #[arg(long, value_name = "FILE")]
    sizes: Option<PathBuf>,

    /// Tasks of the results [default: all]
    #[arg(long, value_name = "TASK", value_delimiter = ',', requires = "harness")]
    task: Vec<String>,

    /// Metrics of the results, e.g. acc, perplexity [default: all that are known]
    #[arg(long, value_name = "METRIC", value_delimiter = ',', requires = "harness")]
    metric: Vec<String>,

    /// Leave rows and models out whose value is NaN or infinite, by name, and fit the others; they are refused otherwise
    #[arg(long)]
    leave_out_nan: bool,
}

fn kind(text: &str) -> Result<Kind, String> {
    text.parse().map_err(|error: relscale_laws::user_table::TableError| error.to_string())
}

fn condition(text: &str) -> Result<(String, String), String> {
    let (column, value) = text.split_once('=').ok_or("expected COLUMN=VALUE")?;
    Ok((column.trim().to_owned(), value.trim().to_owned()))
}

impl Table {
    /// What is read.
    pub(super) fn inputs(&self) -> Vec<Input> {
        Input::paths(self.table.iter().chain(&self.harness).chain(&self.sizes))
    }

    /// Fits the table, if one was given.
    ///
    /// # Errors
    /// What the table is refused for; no law could be fitted.
    pub(super) fn run(&self, json: Option<&Json>) -> Option<anyhow::Result<()>> {
        let fit = match &self.table {
            Some(table) => self.fit_table(table),
            None if self.harness.is_empty() => return None,
            None => self.fit_harness(),
        };
        Some(fit.and_then(|fit| show(&fit, json)))
    }

    fn fit_table(&self, table: &Path) -> anyhow::Result<TableFit> {
        let options = TableOptions {
            x: self.x.clone(),
            y: self.y.clone(),
            kinds: self.kinds.clone(),
            group: self.group.clone(),
            label: self.label.clone(),
            only: self.only.clone(),
            sizes: self.sizes.clone(),
            leave_out_nan: self.leave_out_nan,
            ..TableOptions::default()
        };
        Ok(fit_table(table, &options)?)
    }

    fn fit_harness(&self) -> anyhow::Result<TableFit> {
        let options = HarnessOptions {
            tasks: self.task.clone(),
            metrics: self.metric.clone(),
            kinds: self.kinds.clone(),
            sizes: self.sizes.clone(),
            group: self.group.clone(),
            leave_out_nan: self.leave_out_nan,
            ..HarnessOptions::default()
        };
        Ok(fit_harness(&self.harness, &options)?)
    }
}

fn show(fit: &TableFit, json: Option<&Json>) -> anyhow::Result<()> {
    json::deliver(fit, json, || {
        terminal::print(&terminal::shown(&shown::table_fit(&At::file("laws.json", fit))))
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
