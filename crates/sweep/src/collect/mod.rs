//! Runs read back, ours or others', into one table.
//!
//! ```text
//! folders, files --> find (what is what) --> Logged (named numbers over steps) --> CollectedRun (the table's cells, notes) --> table (CSV, JSONL, Parquet)
//! ```
//!
//! | file | what |
//! |---|---|
//! | [`find`] | which runs lie in a folder or file |
//! | [`logged`] | what one run has logged, whatever the format: series of numbers by name |
//! | `lives` | steps in the order of time; what a life that was given up has logged |
//! | `own` | folders of `relscale sweep train` |
//! | `huggingface` | `trainer_state.json`, and what `config.json` says of the model |
//! | `levanter` | `tracker_metrics.jsonl` |
//! | `wandb` | tables of runs, as exported from Weights & Biases: a row a run, or a column a run and metric |
//! | `metrics` | JSONL, CSV and Parquet, a line a step |
//! | `apart` | names of runs that lie in folders of one name |
//! | `tensorboard/` | event files: `records` (framing), `message` (protocol buffers), and what scalars they hold |
//! | [`run`] | from what was logged to the cells of a run: names are known or given, nothing is guessed |
//! | [`table`] | the table's columns and files |
//!
//! Invariants: a cell is empty where the number is not logged, and the note says what is missing. A
//! number whose convention is not said has none. A training loss never stands for a held-out one
//! unless it is asked for by name. What was given and is no run is named with the reason.

mod apart;
pub mod find;
mod huggingface;
mod levanter;
mod lives;
pub mod logged;
mod metrics;
mod own;
pub mod run;
pub mod table;
mod tensorboard;
mod wandb;

use std::path::PathBuf;

pub use find::{Collected, PassedOver, collect};
pub use run::CollectedRun;
pub use table::write;

use relscale_records::units::{FlopsConvention, ParameterConvention};

/// What to collect.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectOptions {
    /// Folders and files, each with the group of its runs (a dataset), where that is given.
    pub sources: Vec<(Option<String>, PathBuf)>,
    /// The metric that is the loss; by default the first of [`run::HELD_OUT_LOSS`] that a run has.
    pub loss: Option<String>,
    /// The metric that counts tokens.
    pub tokens: Option<String>,
    /// What parameters count where the architecture is known.
    pub params: ParameterConvention,
    /// What logged numbers of parameters count where the log does not say it.
    pub logged_params: Option<ParameterConvention>,
    /// What logged FLOPs count where the log does not say it.
    pub logged_flops: Option<FlopsConvention>,
    /// Budgets in FLOPs: a run whose FLOPs lie within [`run::OFF_BUDGET`] of one belongs to it.
    /// Empty: each run's own FLOPs.
    pub budgets: Vec<f64>,
}

impl Default for CollectOptions {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            loss: None,
            tokens: None,
            params: ParameterConvention::Total,
            logged_params: None,
            logged_flops: None,
            budgets: Vec::new(),
        }
    }
}
