//! Measurements from a user's table, long (a row a model and distribution) or wide (a column a distribution).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::means::{Means, Pool};
use super::series::{Measurements, ModelFamily, Series, SeriesPoint};
use crate::error::LawsError;
use crate::manifest::{ModelNumbers, numbers_beside};
use crate::result::{Flag, FlagCode, LeftOut};
use crate::user_table::{Endings, Kind, Once, Product, Row, Rows, TableError, Value, kinds_of, meets, small};

/// Columns that name a model where none is given.
const LABELS: [&str; 3] = ["model", "name", "run"];

/// What parts rows of one name.
const APART: &str = "--family";

/// Which columns of a table make series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelativeTable {
    /// The column of x, or a product of columns and numbers, e.g. `6*params*tokens`.
    pub x: String,
    /// Columns of errors: one with [`distribution`](Self::distribution); else each is a distribution of its own.
    pub errors: Vec<String>,
    /// What the errors are: one for all columns, or one for each; empty = what the columns' names say.
    pub kinds: Vec<Kind>,
    /// The column that names a row's distribution.
    pub distribution: Option<String>,
    /// The column that names a model's family.
    pub family: Option<String>,
    /// The column that names a model; `model`, `name` or `run` where not given and there. Without one, rows of equal x are one model.
    pub label: Option<String>,
    /// Column and value: only rows that have it take part.
    pub only: Vec<(String, String)>,
    /// A manifest, for columns of x that the table lacks, and for families; see [`Manifest`](crate::manifest::Manifest).
    pub models: Option<PathBuf>,
    /// The column of sizes (or tokens) along which a budget has its optimum, for [`Measurements::at_optimum`].
    pub optimum: Option<String>,
    /// How rows are averaged into distributions, whose members [`distribution`](Self::distribution) names.
    pub means: Option<Means>,
}

/// Reads a table (.csv, .tsv, .jsonl, .parquet) as measurements.
///
/// # Errors
/// [`LawsError::Table`]: a file that cannot be read, a column that is not there, a number that is missing or impossible, with file
/// and line; several columns of errors beside a column of distributions; no row.
pub fn of_table(path: &Path, options: &RelativeTable) -> Result<Measurements, LawsError> {
    let kinds = kinds_of(&options.errors, &options.kinds)?;
    if options.distribution.is_some() && options.errors.len() > 1 {
        return Err(LawsError::Option {
            option: "error",
            value: options.errors.join(", "),
            expected: "one column, where another names the distribution",
        });
    }
    if options.means.is_some() && options.distribution.is_none() {
        let value = "without a column of distributions".to_owned();
        return Err(LawsError::Option { option: "means", value, expected: "one, which names the members" });
    }
    let x = Product::parse(&options.x);
    let RelativeTable { distribution, family, label, only, .. } = options;
    let rows = Rows::read(path, |name| {
        let named = [distribution, family, label, &options.optimum];
        x.needs(name)
            || options.errors.iter().any(|error| error == name)
            || named.into_iter().flatten().any(|wanted| wanted == name)
            || only.iter().any(|(column, _)| column == name)
            || LABELS.contains(&name)
    })?;
    x.check(&rows, options.models.is_some())?;
    let mut columns = Columns::of(&rows, options, kinds, &x)?;
    let mut families: Vec<ModelFamily> = Vec::new();
    let conditions: Vec<(usize, &str)> = only
        .iter()
        .map(|(column, value)| Ok((rows.column(column)?, value.as_str())))
        .collect::<Result<_, TableError>>()?;
    let used: Vec<&Row> =
        rows.rows.iter().filter(|row| conditions.iter().all(|(at, value)| meets(row, *at, value))).collect();
    if let Some(manifest) = &options.models {
        let used = used.iter().copied();
        columns.models = Some(numbers_beside(manifest, &rows, columns.label, used, x.columns())?);
    }
    let mut pool =
        options.means.as_ref().zip(columns.kinds.first()).map(|(means, &kind)| Pool::new(means, kind));
    let mut places: BTreeMap<(String, String), f64> = BTreeMap::new();
    let named = [distribution, family, label, &options.optimum].into_iter().flatten().chain(&options.errors);
    let endings =
        Endings::of(&rows, named.chain(only.iter().map(|(name, _)| name)).map(String::as_str), false);
    let mut unfinished: Vec<(String, String)> = Vec::new();
    let mut beside = Beside {
        of_series: Once::new(&rows, APART),
        of_models: Once::new(&rows, APART),
        without: BTreeMap::new(),
    };
    for row in &used {
        if let Some(reason) = endings.reason(&rows, row) {
            unfinished.push(columns.unfinished(&rows, row, options, &mut families, reason));
            continue;
        }
        let model = columns.add(&rows, row, options, &mut families, pool.as_mut(), &mut beside)?;
        if let Some(place) = columns.place(&rows, row)? {
            places.insert(model, place);
        }
    }
    if used.is_empty() {
        let conditions: Vec<String> =
            only.iter().map(|(column, value)| format!("{column} = {value}")).collect();
        return Err(TableError::NoRows { path: path.to_owned(), wanted: conditions.join(", ") }.into());
    }
    beside.of_series.check()?;
    beside.of_models.check_sizes()?;
    for family in &mut families {
        let of_family = unfinished.iter().filter(|(of, _)| *of == family.name);
        let told: Vec<&str> = of_family.map(|(_, told)| told.as_str()).collect();
        if !told.is_empty() {
            let message = format!("runs that did not finish, so left out: {}", told.join("; "));
            family.flags.push(Flag::new(FlagCode::PointsLeftOut, message));
        }
        if let Some(values) = beside.without.remove(&family.name) {
            let message = format!("without a logarithm, so left out: {}", values.join("; "));
            family.flags.push(Flag::new(FlagCode::PointsLeftOut, message));
        }
    }
    if let Some(pool) = pool {
        pool.finish(&mut families)?;
    }
    for family in &mut families {
        let of_family = places.iter().filter(|((name, _), _)| *name == family.name);
        family.places = of_family.map(|((_, model), place)| (model.clone(), *place)).collect();
    }
    let one_kind = columns.kinds.windows(2).all(|pair| pair[0] == pair[1]);
    if !one_kind {
        let kinds: Vec<String> = options
            .errors
            .iter()
            .zip(&columns.kinds)
            .map(|(column, kind)| format!("{column} {kind}"))
            .collect();
        let message = format!(
            "errors of different kinds ({}): the height of G means nothing, its slope does",
            kinds.join(", ")
        );
        families.iter_mut().for_each(|family| {
            family.flags.push(Flag::new(FlagCode::MixedErrors, message.clone()));
        });
    }
    let error = match (options.errors.as_slice(), columns.kinds.first()) {
        ([only], Some(kind)) => {
            let symbol = kind.symbol(only);
            options.means.as_ref().map_or_else(|| symbol.clone(), |means| means.in_words(&symbol, *kind))
        }
        (_, Some(kind)) if one_kind => format!("{kind} (a column a distribution)"),
        _ => "the column of each distribution".to_owned(),
    };
    let unit = columns.kinds.first().filter(|_| one_kind).map_or("as given", |kind| kind.unit());
    let models = columns.models.as_ref();
    for family in &mut families {
        let sizes = family.series.iter().flat_map(|series| &series.points).map(|point| point.x);
        family.flags.extend(small(&options.x, sizes));
        family.flags.extend(models.into_iter().flat_map(ModelNumbers::flags).cloned());
    }
    let file = path.display().to_string();
    Ok(Measurements {
        x: models.map_or_else(|| options.x.clone(), |models| models.in_words(&options.x)),
        distributions: match (&options.means, &options.distribution) {
            (Some(means), _) => means.groups().to_owned(),
            (None, column) => column.clone().unwrap_or_default(),
        },
        error,
        unit: unit.to_owned(),
        files: [file].into_iter().chain(models.map(ModelNumbers::file)).collect(),
        families,
    })
}

/// What is watched while the rows are read.
struct Beside<'a> {
    /// A model is there once in each series,
    of_series: Once<'a>,
    /// and has one x in all of them.
    of_models: Once<'a>,
    /// By family: values that are possible and have no logarithm, with model, distribution and line.
    without: BTreeMap<String, Vec<String>>,
}

/// Where in a row everything stands.
struct Columns<'a> {
    x: &'a Product,
    errors: Vec<usize>,
    kinds: Vec<Kind>,
    distribution: Option<usize>,
    family: Option<usize>,
    label: Option<usize>,
    optimum: Option<usize>,
    models: Option<ModelNumbers>,
}

impl<'a> Columns<'a> {
    fn of(
        rows: &Rows,
        options: &RelativeTable,
        kinds: Vec<Kind>,
        x: &'a Product,
    ) -> Result<Self, TableError> {
        let at = |name: &Option<String>| name.as_ref().map(|name| rows.column(name)).transpose();
        let label = match &options.label {
            Some(label) => Some(rows.column(label)?),
            None => {
                LABELS.into_iter().find(|name| rows.has(name)).map(|name| rows.column(name)).transpose()?
            }
        };
        Ok(Self {
            x,
            errors: options.errors.iter().map(|name| rows.column(name)).collect::<Result<_, _>>()?,
            kinds,
            distribution: at(&options.distribution)?,
            family: at(&options.family)?,
            label,
            optimum: at(&options.optimum)?,
            models: None,
        })
    }

    /// Where a row's model lies along its budget; `None` where nothing says it.
    fn place(&self, rows: &Rows, row: &Row) -> Result<Option<f64>, TableError> {
        let Some(at) = self.optimum.filter(|at| !rows.is_empty(row, *at)) else { return Ok(None) };
        let place = rows.number(row, at)?;
        if place > 0.0 { Ok(Some(place)) } else { Err(rows.refuse(row, at, "a number above 0")) }
    }

    /// Lists the run of a row that did not finish with each of its series. Says of which family it is, and which run.
    fn unfinished(
        &self,
        rows: &Rows,
        row: &Row,
        options: &RelativeTable,
        families: &mut Vec<ModelFamily>,
        reason: String,
    ) -> (String, String) {
        let text = |at: Option<usize>| at.map(|at| rows.text(row, at)).filter(|text| !text.is_empty());
        let model = text(self.label).unwrap_or_else(|| row.place.clone());
        let of_manifest = self.models.as_ref().and_then(|models| models.family(&model)).map(str::to_owned);
        let family = of_manifest.or_else(|| text(self.family)).unwrap_or_else(|| "all".to_owned());
        let reason = format!("{}: {reason}", row.place);
        let told = format!("{model} ({reason})");
        // Means have series of their own.
        for column in options.errors.iter().filter(|_| options.means.is_none()) {
            if let Some(name) = self.distribution.map_or(Some(column.clone()), |at| text(Some(at))) {
                let left_out = LeftOut::new(model.clone(), reason.clone());
                series(families, &family, name).left_out.push(left_out);
            }
        }
        (family, told)
    }

    /// Adds what a row holds: a point for each column of errors. Says whose they are: family and model.
    fn add(
        &self,
        rows: &Rows,
        row: &Row,
        options: &RelativeTable,
        families: &mut Vec<ModelFamily>,
        mut pool: Option<&mut Pool<'_>>,
        beside: &mut Beside<'_>,
    ) -> Result<(String, String), TableError> {
        let named = self.label.map(|at| rows.name(row, at)).transpose()?;
        let of_manifest = self.models.as_ref().zip(named.as_deref());
        let x = self.x.of(rows, row, of_manifest)?;
        let family = match of_manifest.and_then(|(models, model)| models.family(model)) {
            Some(family) => family.to_owned(),
            None => self.family.map_or(Ok("all".to_owned()), |at| rows.name(row, at))?,
        };
        let model = named.unwrap_or_else(|| format!("x = {x}"));
        // A row is one value of a series, or one of each.
        let part = match self.distribution.map(|at| rows.name(row, at)).transpose()? {
            Some(distribution) if family == "all" => distribution,
            Some(distribution) => format!("{family}, {distribution}"),
            None => family.clone(),
        };
        beside.of_series.add(&part, Some(&model), row, x);
        beside.of_models.add(&family, Some(&model), row, x);
        for ((&at, kind), column) in self.errors.iter().zip(&self.kinds).zip(&options.errors) {
            let distribution = self.distribution.map_or(Ok(column.clone()), |at| rows.name(row, at))?;
            if let Some(pool) = pool.as_deref_mut() {
                let given = rows.number(row, at)?;
                if let Value::Impossible(expected) = kind.value(given) {
                    return Err(rows.refuse(row, at, expected));
                }
                let names = [family.clone(), model.clone(), distribution];
                pool.add((rows, row, at), names, x, given)?;
                continue;
            }
            let series = series(families, &family, distribution);
            let left_out = |reason: String| LeftOut::new(model.clone(), reason);
            let given = match rows.number(row, at) {
                Ok(given) => given,
                // In a wide table a model need not have every distribution.
                Err(TableError::Missing { .. }) if self.distribution.is_none() => {
                    series.left_out.push(left_out(format!("{}: {column} is empty", row.place)));
                    continue;
                }
                Err(error) => return Err(error),
            };
            match kind.value(given) {
                Value::Of(error) => series.points.push(SeriesPoint {
                    counted: None,
                    model: model.clone(),
                    x,
                    error,
                    replicates: Err("a table holds no documents to draw again".to_owned()),
                }),
                Value::Boundary(reason) => {
                    let reason = format!("{}: {column} is {given}: {reason}", row.place);
                    let told = format!("{model} on {} ({reason})", series.distribution);
                    beside.without.entry(family.clone()).or_default().push(told);
                    series.left_out.push(left_out(reason));
                }
                Value::Impossible(expected) => return Err(rows.refuse(row, at, expected)),
            }
        }
        Ok((family, model))
    }
}

/// The series of a distribution in a family, made where it is not there.
pub(super) fn series<'a>(
    families: &'a mut Vec<ModelFamily>,
    family: &str,
    distribution: String,
) -> &'a mut Series {
    let at = families.iter().position(|there| there.name == family).unwrap_or_else(|| {
        families.push(ModelFamily {
            name: family.to_owned(),
            series: Vec::new(),
            places: BTreeMap::new(),
            flags: Vec::new(),
        });
        families.len() - 1
    });
    let all = &mut families[at].series;
    let at = all.iter().position(|there| there.distribution == distribution).unwrap_or_else(|| {
        all.push(Series { distribution, points: Vec::new(), left_out: Vec::new(), units: None });
        all.len() - 1
    });
    &mut all[at]
}
