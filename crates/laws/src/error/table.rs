//! Why a table cannot be used: what, in which file, on which line, and what to do.

use std::io;
use std::path::PathBuf;

use crate::kind::Kind;

/// Errors of everything that reads a table, a manifest or results of others.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file cannot be read.
    #[error("{}: cannot read: {source}; check the path", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A Parquet file cannot be used.
    #[error(transparent)]
    Parquet(#[from] relscale_records::Error),
    /// The ending of the file's name is none of those known.
    #[error("{}: not a kind of table that is read; give a .csv, .tsv, .jsonl, .parquet or .toml file", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// A line that does not follow its format.
    #[error("{}, line {line}: {reason}; mend the line", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line of the file, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// A column that is not there, or there twice.
    #[error(
        "{}: {} `{column}`; its columns are: {}",
        path.display(),
        if there.iter().filter(|name| *name == column).count() > 1 { "more than one column" } else { "no column" },
        there.join(", ")
    )]
    Column {
        /// The file.
        path: PathBuf,
        /// The wanted column.
        column: String,
        /// The columns there are.
        there: Vec<String>,
    },
    /// A cell without a value.
    #[error("{}, {place}: column `{column}` is empty; give the value or take the row out", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The line or row.
        place: String,
        /// The column.
        column: String,
    },
    /// A cell that holds no number a law can use.
    #[error(
        "{}, {place}: column `{column}` is `{found}`, expected {expected}; mend the value or take the row out",
        path.display()
    )]
    Value {
        /// The file.
        path: PathBuf,
        /// The line or row.
        place: String,
        /// The column.
        column: String,
        /// What it holds.
        found: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// The name of a column does not say what its values are.
    #[error("the name `{column}` does not say what its values are; give --as {}", Kind::names("|"))]
    UnknownKind {
        /// The column.
        column: String,
    },
    /// Neither one kind for all columns nor one for each.
    #[error(
        "{kinds} kinds for {columns} columns of values; give one kind for all, or one for each column"
    )]
    KindCount {
        /// Kinds given.
        kinds: usize,
        /// Columns of values.
        columns: usize,
    },
    /// A column of values that is named twice.
    #[error("column `{column}` is named twice; name each column of values once")]
    NamedTwice {
        /// The column.
        column: String,
    },
    /// No column of values was named.
    #[error("no column of values is named; give one or more with --y")]
    NoValues,
    /// No row is left to make a point of.
    #[error("{}: no row{}; see that the table has the rows you mean", path.display(), if wanted.is_empty() { String::new() } else { format!(" with {wanted}") })]
    NoRows {
        /// The file.
        path: PathBuf,
        /// The conditions.
        wanted: String,
    },
    /// Each row has a reason not to take part.
    #[error(
        "{}: no row is left of {count}, e.g. {first}: {reason}; see what the table says of how its runs ended, and of their numbers",
        path.display()
    )]
    NoneLeft {
        /// The file.
        path: PathBuf,
        /// How many rows there are.
        count: usize,
        /// The first of them, with its line.
        first: String,
        /// Why it takes no part.
        reason: String,
    },
    /// A model whose size is not known.
    #[error("{}: the size of model `{model}` is not known ({reason}); give it in a table with --sizes", path.display())]
    NoSize {
        /// The file that names the model.
        path: PathBuf,
        /// The model.
        model: String,
        /// Where it was looked for.
        reason: String,
    },
    /// A model that has no row in a table of models.
    #[error("{}: no row has model `{model}`, so its {what} is not known; add the row", path.display())]
    NoNumber {
        /// The table of models.
        path: PathBuf,
        /// The model.
        model: String,
        /// What is wanted of it.
        what: String,
    },
    /// A model that a manifest does not list.
    #[error("{}: no row has model `{model}`; add it, or see that names are the same: it has {there}", path.display())]
    NoModel {
        /// The manifest.
        path: PathBuf,
        /// The model.
        model: String,
        /// The models that it has.
        there: String,
    },
    /// A line of a manifest that cannot be.
    #[error("{}, {place}: {reason}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The line or row.
        place: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// Factors whose product is no x.
    #[error("{}: the factors of x give {product}; a law needs an x above 0 and in the range of numbers", path.display())]
    Factors {
        /// The file with the factors.
        path: PathBuf,
        /// Their product.
        product: f64,
    },
    /// Two different sizes for one model.
    #[error("{}: two different sizes for model `{model}`; keep one of them", path.display())]
    TwoSizes {
        /// The table of sizes.
        path: PathBuf,
        /// The model.
        model: String,
    },
    /// A model that several rows name.
    #[error(
        "{}: model `{model}`{part} is there {count} times, in {places}; a row is a model: take out what was pasted twice, give \
         each row a name of its own (--label), or choose rows with --where or --group",
        path.display()
    )]
    ModelTwice {
        /// The table.
        path: PathBuf,
        /// The group of rows, where there are groups, with a space before it.
        part: String,
        /// The model.
        model: String,
        /// How many rows name it.
        count: usize,
        /// Their lines or rows, and how many more models are there several times.
        places: String,
    },
    /// A model that has another x in another row.
    #[error(
        "{}: model `{model}`{part} has more than one x: {each}; a model has one size: mend the value, give each row a name of its \
         own (--label), or choose rows with --where or --group",
        path.display()
    )]
    TwoXs {
        /// The table.
        path: PathBuf,
        /// The group of rows, where there are groups, with a space before it.
        part: String,
        /// The model.
        model: String,
        /// Each x with its line or row.
        each: String,
    },
    /// Two rows that nothing tells apart, in a table that names no models.
    #[error(
        "{}, {place}: the row is that of {first} again, to the last cell; take one out, or give each row a name of its own (a column \
         `model`)",
        path.display()
    )]
    SameRow {
        /// The table.
        path: PathBuf,
        /// The line or row.
        place: String,
        /// The line or row that it repeats.
        first: String,
    },
    /// A JSON file that lm-evaluation-harness did not write.
    #[error("{}: no result of lm-evaluation-harness: {reason}; give its results_*.json, or a folder of them", path.display())]
    NotHarness {
        /// The file or folder.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// The same model has two results for one task.
    #[error(
        "model `{model}` has two results for {column}, in {} and in {}; keep one of them",
        first.display(),
        second.display()
    )]
    Twice {
        /// The model.
        model: String,
        /// Task and metric.
        column: String,
        /// One file.
        first: PathBuf,
        /// The other file.
        second: PathBuf,
    },
    /// No result has the wanted task or metric.
    #[error("no result has {wanted}; there are: {}", there.join(", "))]
    NoResults {
        /// What was asked for.
        wanted: String,
        /// Tasks with their metrics.
        there: Vec<String>,
    },
}
