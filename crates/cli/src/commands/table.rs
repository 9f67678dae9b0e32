//! The options of a table, in the same words for every command that reads one.

use std::path::PathBuf;

use relscale_laws::tables::{Kind, NoKind, Select};

/// Columns and rows of a table. A command says by `mut_arg` which of them it needs, and what they
/// are to it.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A table")]
pub(crate) struct TableArguments {
    /// The table (.csv, .tsv, .jsonl, .parquet, .toml): one row a model
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,

    /// What models grow in: a column, or a product of columns and numbers as "6*params*tokens";
    /// what the table lacks is looked up in --models
    #[arg(long, value_name = "X")]
    pub(crate) x: Vec<String>,

    /// Columns of values, separated by commas or given again
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) y: Vec<String>,

    /// What the values are, one for all or one each: rbp or accuracy (the law is about -ln of it),
    /// wrong (1 - accuracy), perplexity (ln), ce, bpb or loss (as given) [default: what the
    /// columns' names say]
    #[arg(long = "as", value_name = "KIND", value_delimiter = ',', value_parser = kind)]
    pub(crate) kinds: Vec<Kind>,

    /// Columns to group by, of the table or of --models: rows that agree in them share a law
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) group: Vec<String>,

    /// Column that names a row [default: model, name or run, where there is one]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,

    /// Take the rows that have this value only; may be given again
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = condition)]
    pub(crate) only: Vec<(String, String)>,

    /// A manifest of the models (.toml, .csv, .tsv, .jsonl, .parquet): model, params, tokens, flops
    /// with their conventions, family, run; flops that are not there are 6 N D
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,

    /// Leave rows out whose value is NaN or infinite, by name, and fit the others; they are refused
    /// otherwise
    #[arg(long)]
    pub(crate) leave_out_nan: bool,
}

/// The options that mean nothing without a table.
pub(crate) const OF_A_TABLE: [&str; 6] = ["table", "y", "kinds", "group", "label", "leave_out_nan"];

impl TableArguments {
    /// What is chosen; `x` and `y` where none was named.
    pub(crate) fn select(&self, x: &[&str], y: &[&str]) -> Select {
        let or = |named: &[String], usual: &[&str]| match named {
            [] => usual.iter().map(|name| (*name).to_owned()).collect(),
            named => named.to_vec(),
        };
        Select {
            x: or(&self.x, x),
            y: or(&self.y, y),
            kinds: self.kinds.clone(),
            group: self.group.clone(),
            label: self.label.clone(),
            only: self.only.clone(),
            models: self.models.clone(),
            leave_out_nan: self.leave_out_nan,
            ..Select::default()
        }
    }

    /// The files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.table.iter().chain(&self.models)
    }
}

fn kind(text: &str) -> Result<Kind, NoKind> {
    text.parse()
}

/// `COLUMN=VALUE`; of a study `TAG=VALUE`.
pub(crate) fn condition(text: &str) -> Result<(String, String), String> {
    let (column, value) = text.split_once('=').ok_or("expected COLUMN=VALUE")?;
    Ok((column.trim().to_owned(), value.trim().to_owned()))
}
