//! Why records cannot be turned into laws.

mod table;

use std::io;
use std::path::PathBuf;

pub use table::TableError;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LawsError {
    /// An option has a value that no fit can use.
    #[error("option `{option}` is {value}; expected: {expected}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// The value given.
        value: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// A user's table cannot be used.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Budgets were to be computed, and runs do not gather into any.
    #[error(
        "the {runs} runs of `{group}` do not gather into budgets by {formula}: {gathered} lie in {budgets} with four sizes within {} % and a gap to the \
         next; give {}a column of budgets with --budget, or neither for the surface alone",
        100.0 * tolerance,
        helps.map_or(String::new(), |wider| format!("--budget-tolerance {wider}, or "))
    )]
    NoBudgets {
        /// The group.
        group: String,
        /// How FLOPs were computed.
        formula: &'static str,
        /// Runs of the group.
        runs: usize,
        /// Those that lie in a budget.
        gathered: usize,
        /// Budgets found.
        budgets: usize,
        /// How far apart, as a ratio less 1, runs of one budget may lie.
        tolerance: f64,
        /// A wider one by which they would gather, where there is one.
        helps: Option<f64>,
    },
    /// The loss was asked for at a point by C, and nothing says what C counts.
    #[error(
        "the point {point} of group `{group}` needs to know how many FLOPs a parameter and token cost, and neither a column of budgets nor an \
         option says it; add --flops train (C = 6 N D) or --flops fwd (C = 2 N D), or give the point by N and D"
    )]
    PointFlops {
        /// The group.
        group: String,
        /// The point.
        point: String,
    },
    /// Predictions were asked for a family or corpus that has no laws.
    #[error("no laws of {}; there are: {}", wanted.join(" and "), there.join(", "))]
    NoGroup {
        /// What was asked for.
        wanted: Vec<String>,
        /// Families and corpora that have laws.
        there: Vec<String>,
    },
    /// A baseline that was not measured.
    #[error("no distribution `{wanted}`; there are: {}", there.join(", "))]
    NoDistribution {
        /// The baseline.
        wanted: String,
        /// The distributions that have errors.
        there: Vec<String>,
    },
    /// There is the baseline and nothing else.
    #[error("`{baseline}` is the only distribution; a gap needs another one to compare with it")]
    NothingToCompare {
        /// The baseline.
        baseline: String,
    },
    /// A point of a relative law that cannot be.
    #[error("model `{model}` on `{distribution}`: {reason}")]
    Point {
        /// The model.
        model: String,
        /// The distribution.
        distribution: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No document has the tags asked for.
    #[error(
        "no scored document has the tags asked for ({tags}), e.g. none of corpus `{corpus}`; the tags are in documents.parquet of each run"
    )]
    NoTag {
        /// The tags and values.
        tags: String,
        /// One of the corpora.
        corpus: String,
    },
    /// Documents with tags of options that make no question.
    #[error(
        "corpus `{corpus}`, item `{item}`: {reason}; mend the tags of its documents (item, option, gold, span_bytes)"
    )]
    Item {
        /// The corpus.
        corpus: String,
        /// The item.
        item: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Questions asked in two ways under one name.
    #[error(
        "corpus `{corpus}` asks the questions of `{distribution}` in several formats, which have no common error; take one with the condition \
         format=NAME"
    )]
    SeveralFormats {
        /// The corpus.
        corpus: String,
        /// The distribution.
        distribution: String,
    },
    /// No corpus has options.
    #[error(
        "no document of a measured corpus is an option of a question (tags item, option, gold), e.g. none of corpus `{corpus}`; such are those \
         of kind=mmlu and kind=anthropic, or of one's own files with these tags"
    )]
    NoItems {
        /// One of the corpora.
        corpus: String,
    },
    /// There is nothing to fit.
    #[error(
        "there is no finished run to fit; `relscale measure` makes them, and `relscale merge` where they were measured in parts"
    )]
    NoRuns,
    /// A run's sums contradict themselves.
    #[error(
        "the sums of model `{model}` on corpus `{corpus}`, document {document}, contradict themselves: \
         {reason}; measure this run again"
    )]
    Corrupt {
        /// The model.
        model: String,
        /// The corpus.
        corpus: String,
        /// Ordinal of the document.
        document: u32,
        /// What is wrong with them.
        reason: String,
    },
    /// A model has no parameters to speak of, so its size has no logarithm.
    #[error("model `{model}` has 0 non-embedding parameters; a law in size needs at least 1")]
    NoParameters {
        /// The model.
        model: String,
    },
    /// A k was asked for that was not counted when the tally was made.
    #[error(
        "k = {k} was not tallied for model `{model}` on corpus `{corpus}`; tallied are {tallied:?}"
    )]
    UnknownK {
        /// The k asked for.
        k: u32,
        /// The model.
        model: String,
        /// The corpus.
        corpus: String,
        /// The k at hand.
        tallied: Vec<u32>,
    },
    /// Bytes, words or spans were asked for that were not counted when the tally was made.
    #[error("{what} were not counted for model `{model}` on corpus `{corpus}`: {reason}")]
    NotCounted {
        /// Bytes, words, spans.
        what: String,
        /// The model.
        model: String,
        /// The corpus.
        corpus: String,
        /// Why, and what to do.
        reason: String,
    },
    /// Sequences were asked for that were not counted when the tally was made.
    #[error(
        "sequences of {what} = {value} were not counted for model `{model}` on corpus `{corpus}`; counted are {tallied:?}"
    )]
    UnknownSequence {
        /// `k` or `N`.
        what: &'static str,
        /// The value asked for.
        value: u32,
        /// The model.
        model: String,
        /// The corpus.
        corpus: String,
        /// The values at hand.
        tallied: Vec<u32>,
    },
    /// Two runs of one family on one corpus have the same model name.
    #[error(
        "family `{family}` has two runs of model `{model}` on corpus `{corpus}`; keep one of them"
    )]
    SameName {
        /// The family.
        family: String,
        /// The corpus.
        corpus: String,
        /// The name.
        model: String,
    },
    /// Two models are copies of each other, so they would count twice.
    #[error(
        "models `{first}` and `{second}` of family `{family}` have the same weights (sha256 {sha256}); \
         leave one of them out"
    )]
    SameWeights {
        /// The family.
        family: String,
        /// One of the models.
        first: String,
        /// The other.
        second: String,
        /// The common hash.
        sha256: String,
    },
    /// Two runs of one family on one corpus were not measured alike.
    #[error(
        "family `{family}` on corpus `{corpus}` cannot be fitted: {difference}; measure both alike, or \
         name their families by `relscale measure --family NAME`"
    )]
    Unlike {
        /// The family.
        family: String,
        /// The corpus.
        corpus: String,
        /// What differs between which models.
        difference: Box<Difference>,
    },
    /// Parameters of a lognormal that give no distribution of ranks.
    #[error("mu = {mu} and sigma = {sigma} give no distribution of ranks: {reason}")]
    Lognormal {
        /// Mean of ln R.
        mu: f64,
        /// Standard deviation of ln R.
        sigma: f64,
        /// What is wrong with them.
        reason: &'static str,
    },
    /// The result cannot be written.
    #[error("cannot write {path}: {source}; check that the folder exists and has room")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A result with a number that JSON does not have.
    #[error(
        "{path}: not written, for a number of the result is none ({place}); this is a fault of the program: leave out what is far from the rest of the \
         table, and tell its authors"
    )]
    NoNumber {
        /// The file.
        path: PathBuf,
        /// Where in the result, and what it is.
        place: String,
    },
    /// The result is not to be written there.
    #[error(transparent)]
    Place(Box<relscale_records::Error>),
    /// A stored result cannot be read.
    #[error("cannot read {path}: {source}; `{command}` makes this file")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
        /// The command that makes such a file.
        command: &'static str,
    },
    /// A stored result is not what [`Saved::save`](crate::Saved::save) writes.
    #[error(
        "{path} is no result of `{command}`: {source}; run `{command}` again, or move the file elsewhere if it is something else"
    )]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why parsing stopped.
        source: serde_json::Error,
        /// The command that makes such a file.
        command: &'static str,
    },
    /// A stored result has another layout.
    #[error(
        "{path} has layout {found}, this program reads layout {expected}; run `{command}` again"
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Layout version in the file.
        found: u32,
        /// Layout version of this program.
        expected: u32,
        /// The command that makes such a file.
        command: &'static str,
    },
}

/// What two runs that should be alike do not share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} differs, `{first}` has {first_value}, `{second}` has {second_value}")]
pub struct Difference {
    /// What differs.
    pub what: &'static str,
    /// One of the models.
    pub first: String,
    /// What it has.
    pub first_value: String,
    /// The other model.
    pub second: String,
    /// What that has.
    pub second_value: String,
}
