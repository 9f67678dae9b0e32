//! A table's rows as checkpoints.

use std::collections::BTreeMap;
use std::path::Path;

use super::SizeTokensTable;
use crate::error::LawsError;
use crate::user_table::{Kind, Row, Rows, TableError, Value, kinds_of, meets};

/// Columns that name a run where none is given.
const LABELS: [&str; 3] = ["model", "name", "run"];

/// One model after so many tokens.
pub(super) struct Checkpoint {
    pub(super) params: f64,
    pub(super) tokens: f64,
    /// By distribution; above zero.
    pub(super) errors: BTreeMap<String, f64>,
}

/// What a table holds.
pub(super) struct Read {
    pub(super) checkpoints: Vec<Checkpoint>,
    /// Distribution and reason.
    pub(super) left_out: Vec<(String, String)>,
    /// What the error is, in words.
    pub(super) error: String,
}

/// What tells a checkpoint from another: run, parameters, tokens.
type Key = (String, u64, u64);

/// Reads the checkpoints; their order is that of sizes, tokens, runs.
///
/// # Errors
/// As [`fit_size_tokens`](super::fit_size_tokens).
pub(super) fn checkpoints(path: &Path, options: &SizeTokensTable) -> Result<Read, LawsError> {
    let kinds = kinds_of(&options.errors, &options.kinds)?;
    if options.distribution.is_some() && options.errors.len() > 1 {
        return Err(LawsError::Option {
            option: "error",
            value: options.errors.join(", "),
            expected: "one column, where another names the distribution",
        });
    }
    let rows = Rows::read(path, |name| {
        let chosen = [&options.params, &options.tokens].into_iter().chain(&options.errors);
        chosen.chain(&options.distribution).chain(&options.label).any(|wanted| wanted == name)
            || options.only.iter().any(|(column, _)| column == name)
            || LABELS.contains(&name)
    })?;
    let columns = Columns::of(&rows, options, kinds)?;
    let conditions: Vec<(usize, &str)> = options
        .only
        .iter()
        .map(|(column, value)| Ok((rows.column(column)?, value.as_str())))
        .collect::<Result<_, TableError>>()?;
    let mut found: BTreeMap<Key, Checkpoint> = BTreeMap::new();
    let mut left_out = Vec::new();
    for row in rows.rows.iter().filter(|row| conditions.iter().all(|(at, value)| meets(row, *at, value))) {
        columns.add(&rows, row, options, &mut found, &mut left_out)?;
    }
    if found.is_empty() {
        let wanted: Vec<String> =
            options.only.iter().map(|(column, value)| format!("{column} = {value}")).collect();
        return Err(TableError::NoRows { path: path.to_owned(), wanted: wanted.join(" and ") }.into());
    }
    let error = match (options.errors.as_slice(), columns.kinds.first()) {
        ([only], Some(kind)) => kind.symbol(only),
        _ => "the column of each distribution".to_owned(),
    };
    // A distribution's points must come in an order that does not depend on that of the rows.
    let mut checkpoints: Vec<(Key, Checkpoint)> = found.into_iter().collect();
    checkpoints.sort_by(|(a_key, a), (b_key, b)| {
        a.params.total_cmp(&b.params).then(a.tokens.total_cmp(&b.tokens)).then_with(|| a_key.cmp(b_key))
    });
    let checkpoints = checkpoints.into_iter().map(|(_, checkpoint)| checkpoint).collect();
    Ok(Read { checkpoints, left_out, error })
}

/// Where in a row everything stands.
struct Columns {
    params: usize,
    tokens: usize,
    errors: Vec<usize>,
    kinds: Vec<Kind>,
    distribution: Option<usize>,
    label: Option<usize>,
}

impl Columns {
    fn of(rows: &Rows, options: &SizeTokensTable, kinds: Vec<Kind>) -> Result<Self, TableError> {
        let label = match &options.label {
            Some(label) => Some(label.as_str()),
            None => LABELS.into_iter().find(|name| rows.has(name)),
        };
        Ok(Self {
            params: rows.column(&options.params)?,
            tokens: rows.column(&options.tokens)?,
            errors: options.errors.iter().map(|name| rows.column(name)).collect::<Result<_, _>>()?,
            kinds,
            distribution: options.distribution.as_ref().map(|name| rows.column(name)).transpose()?,
            label: label.map(|name| rows.column(name)).transpose()?,
        })
    }

    fn add(
        &self,
        rows: &Rows,
        row: &Row,
        options: &SizeTokensTable,
        found: &mut BTreeMap<Key, Checkpoint>,
        left_out: &mut Vec<(String, String)>,
    ) -> Result<(), TableError> {
        let positive = |at: usize| match rows.number(row, at)? {
            number if number > 0.0 => Ok(number),
            _ => Err(rows.refuse(row, at, "a number above 0")),
        };
        let (params, tokens) = (positive(self.params)?, positive(self.tokens)?);
        let run = self.label.map_or(Ok(String::new()), |at| rows.name(row, at))?;
        let key = (run, params.to_bits(), tokens.to_bits());
        let checkpoint =
            found.entry(key).or_insert_with(|| Checkpoint { params, tokens, errors: BTreeMap::new() });
        for ((&at, kind), column) in self.errors.iter().zip(&self.kinds).zip(&options.errors) {
            let distribution = self.distribution.map_or(Ok(column.clone()), |at| rows.name(row, at))?;
            let given = match rows.number(row, at) {
                Ok(given) => given,
                // In a wide table a checkpoint need not have every distribution.
                Err(TableError::Missing { .. }) if self.distribution.is_none() => {
                    left_out.push((distribution, format!("{}: {column} is empty", row.place)));
                    continue;
                }
                Err(error) => return Err(error),
            };
            match kind.value(given) {
                Value::Of(error) => {
                    if checkpoint.errors.insert(distribution, error).is_some() {
                        let expected = "one row for each run, size, number of tokens and distribution";
                        return Err(rows.refuse(row, self.tokens, expected));
                    }
                }
                Value::Boundary(reason) => {
                    left_out.push((distribution, format!("{}: {column} is {given}: {reason}", row.place)));
                }
                Value::Impossible(expected) => return Err(rows.refuse(row, at, expected)),
            }
        }
        Ok(())
    }
}
