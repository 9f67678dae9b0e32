//! What can go wrong while a family is made.

use std::path::PathBuf;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of planning, training or writing a family.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No recipe of that name.
    #[error("there is no recipe {name:?}. There are: {known}")]
    UnknownRecipe {
        /// As given.
        name: String,
        /// The names there are, comma-separated.
        known: String,
    },
    /// A recipe has no size of that name.
    #[error("recipe {recipe} has no size {name:?}. It has: {known}")]
    UnknownSize {
        /// The recipe.
        recipe: String,
        /// As given.
        name: String,
        /// The sizes there are, comma-separated.
        known: String,
    },
    /// Settings from which nothing can be planned.
    #[error("{what}; {hint}")]
    PlanRequest {
        /// What was asked.
        what: String,
        /// What to ask instead.
        hint: String,
    },
    /// A file that is no plan.
    #[error("{}: not a plan: {reason}; `relscale sweep plan --preset NAME --out FILE` writes one", path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A model of a plan that an engine does not have.
    #[error("{engine} cannot train run {run} as planned: {reason}")]
    Unexportable {
        /// The engine.
        engine: &'static str,
        /// The run.
        run: String,
        /// What it lacks, and what to plan instead.
        reason: String,
    },
    /// The tokenizer could not be trained or used.
    #[error("tokenizer: {0}")]
    Tokenizer(String),
    /// There is not enough text to train on.
    #[error(
        "the training text has {tokens} tokens, fewer than one batch of {batch}. Give more text"
    )]
    TooLittleText {
        /// Tokens there are.
        tokens: usize,
        /// Tokens of one step.
        batch: usize,
    },
    /// The trainer knows Llama-like models only.
    #[error("this trainer cannot train {family}: {reason}")]
    Untrainable {
        /// Family of the spec.
        family: String,
        /// Which field is not Llama-like.
        reason: String,
    },
    /// The loss is no number any more.
    #[error(
        "{model}: the loss became {loss} at step {step}. Lower the learning rate or raise the warm-up"
    )]
    Diverged {
        /// The size being trained.
        model: String,
        /// The step, from 1.
        step: u32,
        /// The loss.
        loss: f64,
    },
    /// The run was asked to stop.
    #[error(
        "stopped at step {step} of {model}. What was finished before is kept; run the same command to go on"
    )]
    Cancelled {
        /// The size being trained.
        model: String,
        /// The step, from 1.
        step: u32,
    },
    /// The user stopped what was going on before anything was made.
    #[error("stopped; nothing was written")]
    Stopped,
    /// A file could not be written.
    #[error("cannot write {}: {source}. What was finished before is kept", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A folder holds something else than this run would put there.
    #[error("{} exists and was made otherwise ({differs}). Remove it or choose another folder", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// What differs.
        differs: String,
    },
    /// A text of few words does not fill a vocabulary.
    #[error(
        "the text gives a vocabulary of {entries} entries, and {wanted} are planned; plan with --vocabulary {entries} or less, or give more text"
    )]
    FewEntries {
        /// Entries that the text gives.
        entries: usize,
        /// Entries of the plan.
        wanted: usize,
    },
    /// There is no held-out text to evaluate on.
    #[error(
        "the held-out text has {tokens} tokens, too few for one sequence of {length}. Give more text"
    )]
    TooLittleHeldOut {
        /// Tokens there are.
        tokens: usize,
        /// Targets of a sequence.
        length: usize,
    },
    /// A file of a sweep that is damaged.
    #[error("{}: cannot be used: {reason}; remove it and run the same command again", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file could not be read.
    #[error("cannot read {}: {source}; check the path", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A log that does not follow its format.
    #[error("{}, {place}: {reason}; mend the file or leave it out", path.display())]
    Metrics {
        /// The file.
        path: PathBuf,
        /// The line, row or byte.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// Nothing that is known as a run.
    #[error(
        "{}: no run in it; give a sweep's folder, Hugging Face folders (trainer_state.json), tracker_metrics.jsonl, metrics as .jsonl or \
         .csv, tables of Weights & Biases, or event files of TensorBoard",
        path.display()
    )]
    NoRuns {
        /// The folder or file.
        path: PathBuf,
    },
    /// Two runs that could not be told apart.
    #[error("{}: run `{run}` is there already; give the folders groups, as GROUP=FOLDER", path.display())]
    SameRun {
        /// Where the second one lies.
        path: PathBuf,
        /// Its name.
        run: String,
    },
    /// A table of a kind that is not written.
    #[error("{}: no kind of table that is written; give a name that ends in .csv, .jsonl or .parquet", path.display())]
    TableEnding {
        /// The file.
        path: PathBuf,
    },
    /// Records could not be read or written.
    #[error(transparent)]
    Records(#[from] relscale_records::Error),
    /// The corpus could not be read.
    #[error(transparent)]
    Corpus(#[from] relscale_corpus::error::CorpusError),
    /// The decoder refused a spec.
    #[error(transparent)]
    Decoder(#[from] relscale_decoder::Error),
}
