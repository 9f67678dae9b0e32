//! What a user chooses of a table, in the same words for every law.

use std::path::{Path, PathBuf};

use relscale_records::written::number::{self, Comma};

use super::rows::{Row, Rows};
use crate::error::{LawsError, TableError};
use crate::kind::Kind;

/// Which columns and rows of a table take part.
///
/// ```
/// use relscale_laws::tables::{Kind, Select};
/// let select = Select { kinds: vec![Kind::Loss], ..Select::new(&["6*params*tokens"], &["final"]) };
/// assert_eq!(select.label, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Select {
    /// What models grow in: a column each, or a product of columns and numbers as
    /// `6*params*tokens`. How many there are, and in which order, is up to the law.
    pub x: Vec<String>,
    /// The columns of values.
    pub y: Vec<String>,
    /// What the values are: one for all columns, or one for each; empty = what the law takes them
    /// for, or what the columns' names say.
    pub kinds: Vec<Kind>,
    /// The column that names a row's distribution, for laws that compare some; without it each
    /// column of values is one.
    pub distribution: Option<String>,
    /// Columns to group by; rows that agree in all of them share a law. May be columns of
    /// [`models`](Self::models) or [`sizes`](Self::sizes).
    pub group: Vec<String>,
    /// The column that names a row (a model, a run); `model`, `name` or `run` where not given and
    /// there.
    pub label: Option<String>,
    /// Column and value: only rows that have it take part.
    pub only: Vec<(String, String)>,
    /// A manifest, for columns of x that the table lacks; see
    /// [`Manifest`](crate::tables::manifest::Manifest).
    pub models: Option<PathBuf>,
    /// A table with the size of each model, in place of x.
    pub sizes: Option<PathBuf>,
    /// Leave rows out whose value is NaN or infinite, by name, instead of refusing them.
    pub leave_out_nan: bool,
}

impl Select {
    /// These columns of all rows.
    pub fn new(x: &[&str], y: &[&str]) -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self { x: owned(x), y: owned(y), ..Self::default() }
    }

    /// One kind for each column of values; `usual` where none is given.
    pub(crate) fn kinds(&self, usual: &[Kind]) -> Result<Vec<Kind>, TableError> {
        let columns = self.y.as_slice();
        // Twice in one law, every point would count twice.
        let again = columns.iter().enumerate().find(|(at, column)| columns[..*at].contains(column));
        if let Some((_, column)) = again {
            return Err(TableError::NamedTwice { column: column.clone() });
        }
        let by_name = |name: &String| {
            Kind::from_column(name).ok_or_else(|| TableError::UnknownKind { column: name.clone() })
        };
        match (self.kinds.as_slice(), columns) {
            (_, []) => Err(TableError::NoValues),
            ([], names) if names.len() == usual.len() => Ok(usual.to_vec()),
            ([], names) => names.iter().map(by_name).collect(),
            ([one], names) => Ok(vec![*one; names.len()]),
            (each, names) if each.len() == names.len() => Ok(each.to_vec()),
            (each, names) => Err(TableError::KindCount { kinds: each.len(), columns: names.len() }),
        }
    }

    /// Refuses several columns of values beside one that names the distributions.
    ///
    /// # Errors
    /// [`LawsError::Option`].
    pub(crate) fn one_of_a_distribution(&self) -> Result<(), LawsError> {
        if self.distribution.is_none() || self.y.len() < 2 {
            return Ok(());
        }
        let expected = "one column, where another names the distribution";
        Err(LawsError::Option { option: "y", value: self.y.join(", "), expected })
    }

    /// The rows that have every value asked for.
    ///
    /// # Errors
    /// [`TableError::Column`].
    pub(crate) fn rows<'a>(&self, rows: &'a Rows) -> Result<Vec<&'a Row>, TableError> {
        let conditions: Vec<(usize, &str)> = self
            .only
            .iter()
            .map(|(column, value)| Ok((rows.column(column)?, value.as_str())))
            .collect::<Result<_, TableError>>()?;
        let all = |row: &&Row| conditions.iter().all(|(at, value)| meets(rows, row, *at, value));
        Ok(rows.rows.iter().filter(all).collect())
    }

    /// The refusal of a table that has no such row.
    pub(crate) fn no_rows(&self, path: &Path) -> TableError {
        let wanted: Vec<String> =
            self.only.iter().map(|(column, value)| format!("{column} = {value}")).collect();
        TableError::NoRows { path: path.to_owned(), wanted: wanted.join(" and ") }
    }

    /// The columns that the user names.
    pub(crate) fn named(&self) -> impl Iterator<Item = &str> {
        let own = self.y.iter().chain(&self.group).chain(&self.distribution).chain(&self.label);
        let own = own.chain(&self.x).chain(self.only.iter().map(|(column, _)| column));
        own.map(String::as_str)
    }
}

/// The columns of a law that has a place for each.
///
/// # Errors
/// [`LawsError::Option`]: another number of columns.
pub(crate) fn each<'a, const N: usize>(
    columns: &'a [String],
    option: &'static str,
    expected: &'static str,
) -> Result<[&'a str; N], LawsError> {
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let value = || if names.is_empty() { "not given".to_owned() } else { names.join(", ") };
    <[&str; N]>::try_from(names.as_slice()).map_err(|_| LawsError::Option {
        option,
        value: value(),
        expected,
    })
}

/// Whether a cell has a value: the same text, or the same number however it is written.
pub(super) fn meets(rows: &Rows, row: &Row, at: usize, value: &str) -> bool {
    let wanted = [Comma::Unknown, rows.comma]
        .into_iter()
        .find_map(|comma| number::read(value, comma).number());
    rows.text(row, at) == value || wanted.is_some_and(|n| rows.reading(row, at).number() == Some(n))
}
