//! Which columns and rows of a table make points.

use std::path::{Path, PathBuf};

use relscale_records::written::number::{self, Comma};

use super::endings::Endings;
use super::error::TableError;
use super::fit::{self, Given, Observation};
use super::kind::{Kind, Value};
use super::once::Once;
use super::rows::{self, Row, Rows};
use super::scale::small;
use super::sizes::Sizes;
use crate::error::LawsError;
use crate::result::{RESULT_FORMAT, TableFit};

/// Columns that name a row where none is given.
const LABELS: [&str; 2] = ["model", "name"];

/// What a user may choose about the fit of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableOptions {
    /// The column of sizes. Not used when [`sizes`](Self::sizes) is given.
    pub x: String,
    /// The columns of values, at least one.
    pub y: Vec<String>,
    /// What the values are: one for all columns, or one for each; empty = what the columns' names say.
    pub kinds: Vec<Kind>,
    /// Columns to group by; rows that agree in all of them share a law. May be columns of the table of sizes.
    pub group: Vec<String>,
    /// The column that names a row (a model); `model` or `name` where not given and there.
    pub label: Option<String>,
    /// Column and value: only rows that have it take part.
    pub only: Vec<(String, String)>,
    /// A table with the size of each model.
    pub sizes: Option<PathBuf>,
    /// Leave rows out whose value is NaN or infinite, by name, instead of refusing them.
    pub leave_out_nan: bool,
    /// Nominal coverage of every interval.
    pub level: f64,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            x: "S".to_owned(),
            y: Vec::new(),
            kinds: Vec::new(),
            group: Vec::new(),
            label: None,
            only: Vec::new(),
            sizes: None,
            leave_out_nan: false,
            level: 0.95,
        }
    }
}

/// Fits a power law to each column of values in each group of a table's rows.
///
/// The file is CSV (or with semicolons or tabs; a header line), JSONL or Parquet, by the ending of its name.
///
/// # Errors
/// [`LawsError::Table`]: a file that cannot be read, a column that is not there, a number that is missing or impossible, with
/// file and line; a column whose name does not say what it is, when [`TableOptions::kinds`] does not either.
/// [`LawsError::Option`] for a level that is no probability. A group too small for a law is no error: its law says why
/// there is none.
pub fn fit_table(path: &Path, options: &TableOptions) -> Result<TableFit, LawsError> {
    let level = super::check_level(options.level)?;
    let sizes = options.sizes.as_deref().map(Sizes::read).transpose()?;
    let kinds = kinds(&options.y, &options.kinds)?;
    let rows = Rows::read(path, |name| is_wanted(name, options))?;
    let observations = observations(&rows, options, &kinds, sizes.as_ref())?;
    let x = if sizes.is_some() { "S" } else { options.x.as_str() };
    let mut groups = fit::groups(observations, x, level);
    for law in groups.iter_mut().flat_map(|group| &mut group.laws) {
        law.flags.extend(small(x, law.points.iter().map(|point| point.x)));
    }
    Ok(TableFit {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        files: [Some(path), options.sizes.as_deref()]
            .into_iter()
            .flatten()
            .map(|path| path.display().to_string())
            .collect(),
        x: x.to_owned(),
        level,
        groups,
    })
}

/// One kind for each column of values.
pub(crate) fn kinds(columns: &[String], kinds: &[Kind]) -> Result<Vec<Kind>, TableError> {
    // Twice in one law, every point would count twice.
    if let Some((_, column)) = columns.iter().enumerate().find(|(at, column)| columns[..*at].contains(column))
    {
        return Err(TableError::NamedTwice { column: column.clone() });
    }
    match (kinds, columns) {
        (_, []) => Err(TableError::NoValues),
        ([], names) => names
            .iter()
            .map(|name| Kind::of_column(name).ok_or_else(|| TableError::UnknownKind { column: name.clone() }))
            .collect(),
        ([one], names) => Ok(vec![*one; names.len()]),
        (each, names) if each.len() == names.len() => Ok(each.to_vec()),
        (each, names) => Err(TableError::KindCount { kinds: each.len(), columns: names.len() }),
    }
}

fn is_wanted(name: &str, options: &TableOptions) -> bool {
    let TableOptions { x, y, group, label, only, .. } = options;
    name == x
        || y.iter().chain(group).chain(label).any(|wanted| wanted == name)
        || only.iter().any(|(column, _)| column == name)
        || LABELS.contains(&name)
}

fn observations(
    rows: &Rows,
    options: &TableOptions,
    kinds: &[Kind],
    sizes: Option<&Sizes>,
) -> Result<Vec<Observation>, TableError> {
    let label = match &options.label {
        Some(column) => Some(rows.column(column)?),
        // Without a column of models there is nothing to look a size up by.
        None if sizes.is_some() => {
            Some(rows.column(LABELS.into_iter().find(|name| rows.has(name)).unwrap_or(LABELS[0]))?)
        }
        None => LABELS.into_iter().find(|name| rows.has(name)).map(|name| rows.column(name)).transpose()?,
    };
    let x = if sizes.is_some() { None } else { Some(rows.column(&options.x)?) };
    let y: Vec<usize> = options.y.iter().map(|name| rows.column(name)).collect::<Result<_, _>>()?;
    let groups: Vec<Grouping<'_>> =
        options.group.iter().map(|name| Grouping::of(name, rows, sizes)).collect::<Result<_, _>>()?;
    let only: Vec<(usize, &str)> = options
        .only
        .iter()
        .map(|(column, value)| Ok((rows.column(column)?, value.as_str())))
        .collect::<Result<_, TableError>>()?;

    // Rows that are parted by their name have it in common: it names no row.
    let parted =
        |at: usize| groups.iter().any(|grouping| matches!(grouping, Grouping::Here(by) if *by == at));
    let names = label.filter(|at| !parted(*at));
    let mut once = Once::new(rows, "--group");
    let named = [&options.x].into_iter().chain(&options.y).chain(&options.group).chain(&options.label);
    let endings =
        Endings::of(rows, named.chain(options.only.iter().map(|(name, _)| name)).map(String::as_str), false);
    let mut found = Vec::new();
    for row in rows.rows.iter().filter(|row| only.iter().all(|(at, value)| is(row, *at, value))) {
        let name = match label {
            Some(at) => rows.name(row, at)?,
            None => row.place.clone(),
        };
        let ended = endings.reason(rows, row);
        let size = match (x, sizes) {
            // What such a run lacks need not be there.
            (Some(at), _) if ended.is_some() => rows.number(row, at).ok().filter(|number| *number > 0.0),
            (Some(at), _) => match rows.number(row, at)? {
                number if number > 0.0 => Some(number),
                _ => return Err(rows.refuse(row, at, "a size above 0")),
            },
            (None, Some(sizes)) if ended.is_some() => sizes.of(&name),
            (None, Some(sizes)) => Some(sizes.of(&name).ok_or_else(|| sizes.unknown(&rows.path, &name))?),
            (None, None) => None,
        };
        let group = groups
            .iter()
            .map(|grouping| match grouping.value(rows, row, &name) {
                Err(TableError::Missing { .. }) if ended.is_some() => Ok("not given".to_owned()),
                value => value,
            })
            .collect::<Result<Vec<String>, TableError>>()?;
        let group = if group.is_empty() { "all".to_owned() } else { group.join(", ") };
        if let (None, Some(size)) = (&ended, size) {
            once.add(&group, names.map(|_| name.as_str()), row, size);
        }
        for ((&at, column), &kind) in y.iter().zip(&options.y).zip(kinds) {
            let given = match (&ended, rows.reading(row, at).number()) {
                (Some(reason), number) => Given::None { reason: reason.clone(), number },
                (None, Some(number)) if options.leave_out_nan && !number.is_finite() => {
                    Given::None { reason: format!("{column} is {number}"), number: None }
                }
                (None, _) => {
                    let number = rows.number(row, at)?;
                    if let Value::Impossible(expected) = kind.value(number) {
                        return Err(rows.refuse(row, at, expected));
                    }
                    Given::Value(number)
                }
            };
            found.push(Observation {
                group: group.clone(),
                column: column.clone(),
                kind,
                label: name.clone(),
                place: row.place.clone(),
                x: size,
                given,
                samples: None,
                doubts: Vec::new(),
            });
        }
    }
    if found.is_empty() {
        let wanted: Vec<String> =
            options.only.iter().map(|(column, value)| format!("{column} = {value}")).collect();
        return Err(TableError::NoRows { path: rows.path.clone(), wanted: wanted.join(" and ") });
    }
    once.check()?;
    Ok(found)
}

/// A column to group by, in the table or in that of the sizes.
enum Grouping<'a> {
    Here(usize),
    Sizes(&'a str, &'a Sizes),
}

impl<'a> Grouping<'a> {
    fn of(column: &'a str, rows: &Rows, sizes: Option<&'a Sizes>) -> Result<Self, TableError> {
        match sizes.filter(|sizes| !rows.has(column) && sizes.has(column)) {
            Some(sizes) => Ok(Self::Sizes(column, sizes)),
            None => rows.column(column).map(Self::Here),
        }
    }

    fn value(&self, rows: &Rows, row: &Row, label: &str) -> Result<String, TableError> {
        match self {
            Self::Here(at) => rows.name(row, *at),
            Self::Sizes(column, sizes) => sizes.name(label, column),
        }
    }
}

/// Whether a cell has a value: the same text, or the same number however it is written.
pub(crate) fn is(row: &Row, at: usize, value: &str) -> bool {
    let text = rows::text(&row.cells[at]);
    let number = |text: &str| number::read(text, Comma::Unknown).number();
    text == value || matches!((number(&text), number(value)), (Some(there), Some(wanted)) if there == wanted)
}
