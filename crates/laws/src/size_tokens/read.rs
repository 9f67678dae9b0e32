//! A table's rows as checkpoints.

use std::collections::BTreeMap;
use std::path::Path;

use super::SizeTokensTable;
use crate::error::LawsError;
use crate::manifest::{ModelNumbers, numbers_beside};
use crate::result::{Flag, FlagCode};
use crate::user_table::{Endings, Kind, Once, Product, Row, Rows, TableError, Value, kinds_of, meets, small};

/// Columns that name a run where none is given.
const LABELS: [&str; 3] = ["model", "name", "run"];

/// What parts rows of one name.
const APART: &str = "--distribution";

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
    /// What sizes and tokens are, in words.
    pub(super) params: String,
    pub(super) tokens: String,
    /// The manifest, where there was one, and what it tells.
    pub(super) models: Option<String>,
    pub(super) flags: Vec<Flag>,
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
    let (params, tokens) = (Product::parse(&options.params), Product::parse(&options.tokens));
    let rows = Rows::read(path, |name| {
        let chosen = options.errors.iter();
        params.needs(name)
            || tokens.needs(name)
            || chosen.chain(&options.distribution).chain(&options.label).any(|wanted| wanted == name)
            || options.only.iter().any(|(column, _)| column == name)
            || LABELS.contains(&name)
    })?;
    for sizes in [&params, &tokens] {
        sizes.check(&rows, options.models.is_some())?;
    }
    let mut columns = Columns::of(&rows, options, kinds, [params, tokens])?;
    let conditions: Vec<(usize, &str)> = options
        .only
        .iter()
        .map(|(column, value)| Ok((rows.column(column)?, value.as_str())))
        .collect::<Result<_, TableError>>()?;
    let mut found: BTreeMap<Key, Checkpoint> = BTreeMap::new();
    let mut left_out = Vec::new();
    let used: Vec<&Row> =
        rows.rows.iter().filter(|row| conditions.iter().all(|(at, value)| meets(row, *at, value))).collect();
    if let Some(manifest) = &options.models {
        let wanted = columns.sizes.iter().flat_map(Product::columns);
        columns.models = Some(numbers_beside(manifest, &rows, columns.label, used.iter().copied(), wanted)?);
    }
    let mut once = [Once::new(&rows, APART), Once::new(&rows, APART)];
    let named = options.errors.iter().chain(&options.distribution).chain(&options.label);
    let endings =
        Endings::of(&rows, named.chain(options.only.iter().map(|(name, _)| name)).map(String::as_str), false);
    for row in used {
        if let Some(reason) = endings.reason(&rows, row) {
            let name = columns.label.map(|at| rows.text(row, at)).unwrap_or_default();
            let reason = format!("{}: {name} left out, {reason}", row.place);
            let named = columns.distribution.map(|at| rows.text(row, at));
            match named {
                Some(distribution) => left_out.push((distribution, reason)),
                None => left_out.extend(options.errors.iter().map(|column| (column.clone(), reason.clone()))),
            }
            continue;
        }
        columns.add(&rows, row, options, &mut found, &mut left_out, &mut once)?;
    }
    let [of_checkpoints, of_runs] = once;
    of_checkpoints.check()?;
    of_runs.check_sizes()?;
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
    let checkpoints: Vec<Checkpoint> = checkpoints.into_iter().map(|(_, checkpoint)| checkpoint).collect();
    let models = columns.models.as_ref();
    let words = |what: &String| models.map_or_else(|| what.clone(), |models| models.in_words(what));
    let flags = models.map(ModelNumbers::flags).unwrap_or_default().iter();
    let mut flags: Vec<Flag> = flags.filter(|flag| flag.code != FlagCode::SharedRun).cloned().collect();
    flags.extend(small(&options.params, checkpoints.iter().map(|point| point.params)));
    flags.extend(small(&options.tokens, checkpoints.iter().map(|point| point.tokens)));
    Ok(Read {
        checkpoints,
        left_out,
        error,
        params: words(&options.params),
        tokens: options.tokens.clone(),
        models: models.map(ModelNumbers::file),
        flags,
    })
}

/// Where in a row everything stands.
struct Columns {
    /// Of parameters, of tokens.
    sizes: [Product; 2],
    errors: Vec<usize>,
    kinds: Vec<Kind>,
    distribution: Option<usize>,
    label: Option<usize>,
    models: Option<ModelNumbers>,
}

impl Columns {
    fn of(
        rows: &Rows,
        options: &SizeTokensTable,
        kinds: Vec<Kind>,
        sizes: [Product; 2],
    ) -> Result<Self, TableError> {
        let label = match &options.label {
            Some(label) => Some(label.as_str()),
            None => LABELS.into_iter().find(|name| rows.has(name)),
        };
        Ok(Self {
            sizes,
            models: None,
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
        [of_checkpoints, of_runs]: &mut [Once<'_>; 2],
    ) -> Result<(), TableError> {
        let run = self.label.map_or(Ok(String::new()), |at| rows.name(row, at))?;
        let models = self.models.as_ref().map(|models| (models, run.as_str()));
        let [params, tokens] = &self.sizes;
        let (params, tokens) = (params.of(rows, row, models)?, tokens.of(rows, row, models)?);
        let part = self.distribution.map(|at| rows.name(row, at)).transpose()?.unwrap_or_default();
        let checkpoint = format!("{params} parameters, {tokens} tokens");
        let named = if run.is_empty() { checkpoint } else { format!("{run}, {checkpoint}") };
        of_checkpoints.add(&part, Some(&named), row, params);
        if self.label.is_some() {
            of_runs.add("", Some(&run), row, params);
        }
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
                    // One that is there already is refused with all its lines, once all rows are read.
                    checkpoint.errors.entry(distribution).or_insert(error);
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
