//! Measurements from a user's table, long (a row a model and distribution) or wide (a column a
//! distribution).

use std::collections::BTreeMap;
use std::path::Path;

use super::means::{Means, Pool, point, series};
use super::series::{Measurements, ModelFamily};
use crate::error::LawsError;
use crate::result::{Flag, FlagCode, LeftOut};
use crate::tables::manifest::ModelNumbers;
use crate::tables::{
    Given, Observation, Observations, RowIs, Select, Wanted, each, listed, read, small, x_text,
};

/// Which columns of a table make series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelativeTable {
    /// Columns and rows: one x; columns of errors, one with [`Select::distribution`], else each a
    /// distribution of its own; groups are families of models, those of a manifest before those of
    /// the table. Without names, rows of equal x are one model.
    pub select: Select,
    /// The column of sizes (or tokens) along which a budget has its optimum, for
    /// [`Measurements::at_optimum`].
    pub optimum: Option<String>,
    /// How rows are averaged into distributions, whose members [`Select::distribution`] names.
    pub means: Option<Means>,
}

/// Reads a table (.csv, .tsv, .jsonl, .parquet, .toml) as measurements.
///
/// # Errors
/// [`LawsError::Table`]: a file that cannot be read, a column that is not there, a number that is
/// impossible, with file and line; no row. [`LawsError::Option`]: several columns of errors beside
/// a column of distributions.
pub fn read_table(path: &Path, options: &RelativeTable) -> Result<Measurements, LawsError> {
    let RelativeTable { select, optimum, means } = options;
    let [x] = each(&select.x, "x", "one column, or a product of columns and numbers")?;
    select.one_of_a_distribution()?;
    if means.is_some() && select.distribution.is_none() {
        let value = "without a column of distributions".to_owned();
        return Err(LawsError::Option {
            option: "means",
            value,
            expected: "one, which names the members",
        });
    }
    let row = RowIs::ModelOnDistribution;
    let wanted = Wanted { row, along: optimum.as_deref(), families: true, ..Wanted::default() };
    let table = read(path, select, &wanted)?;
    let mut families: Vec<ModelFamily> = Vec::new();
    let mut pool =
        means.as_ref().zip(table.kinds.first()).map(|(means, &kind)| Pool::new(means, kind));
    let mut places: BTreeMap<(String, String), f64> = BTreeMap::new();
    for observation in &table.observations {
        let Observation { group, series: distribution, given, .. } = observation;
        let x = observation.x.first().copied();
        let name = || x.map_or_else(|| observation.place.clone(), x_text);
        let model = observation.label.clone().unwrap_or_else(name);
        if let Some(place) = observation.along {
            places.insert((group.clone(), model.clone()), place);
        }
        if let (Some(pool), false) = (pool.as_mut(), matches!(given, Given::Ended { .. })) {
            pool.add(path, observation, &model, x.unwrap_or_default())?;
            continue;
        }
        // Means have series of their own, and a run that ended early may not say of what it is.
        if pool.is_some() || distribution.is_empty() {
            continue;
        }
        let series = series(&mut families, group, distribution.clone());
        match (x, observation.value()) {
            (Some(x), Some(error)) => series.points.push(point(model, x, error)),
            _ => series.left_out.push(LeftOut::new(
                model,
                format!("{}: {}", observation.place, observation.left_out().unwrap_or_default()),
            )),
        }
    }
    let averaged = pool.is_some();
    if let Some(pool) = pool {
        pool.finish(&mut families)?;
    }
    say_left_out(&mut families, &table, select.distribution.is_some(), averaged);
    for family in &mut families {
        let of_family = places.iter().filter(|((name, _), _)| *name == family.name);
        family.places = of_family.map(|((_, model), place)| (model.clone(), *place)).collect();
    }
    let kinds = &table.kinds;
    let one_kind = kinds.windows(2).all(|pair| pair[0] == pair[1]);
    if !one_kind {
        let kinds = select.y.iter().zip(kinds).map(|(column, kind)| format!("{column} {kind}"));
        let message = format!(
            "errors of different kinds ({}): the height of G means nothing, its slope does",
            kinds.collect::<Vec<_>>().join(", ")
        );
        families.iter_mut().for_each(|family| {
            family.flags.push(Flag::new(FlagCode::MixedErrors, message.clone()));
        });
    }
    let error = match (select.y.as_slice(), kinds.first()) {
        ([only], Some(kind)) => {
            let symbol = kind.symbol(only);
            means.as_ref().map_or_else(|| symbol.clone(), |means| means.in_words(&symbol, *kind))
        }
        (_, Some(kind)) if one_kind => format!("{kind} (a column a distribution)"),
        _ => "the column of each distribution".to_owned(),
    };
    let unit = kinds.first().filter(|_| one_kind).map_or("as given", |kind| kind.unit());
    let models = table.models.as_ref();
    for family in &mut families {
        let sizes = family.series.iter().flat_map(|series| &series.points).map(|point| point.x);
        family.flags.extend(small(x, sizes));
        family.flags.extend(models.into_iter().flat_map(ModelNumbers::flags).cloned());
    }
    let file = path.display().to_string();
    Ok(Measurements {
        x: models.map_or_else(|| x.to_owned(), |models| models.in_words(x)),
        distributions: match (means, &select.distribution) {
            (Some(means), _) => means.groups().to_owned(),
            (None, column) => column.clone().unwrap_or_default(),
        },
        error,
        unit: unit.to_owned(),
        files: [file].into_iter().chain(models.map(ModelNumbers::file)).collect(),
        families,
    })
}

/// Says of each family which rows take no part, of the first also those of families without any
/// other. In a wide table a model need not have every distribution, so that empty cells are told
/// where a gap lacks them; values without a logarithm have a part in means.
fn say_left_out(families: &mut [ModelFamily], table: &Observations, long: bool, averaged: bool) {
    let names: Vec<String> = families.iter().map(|family| family.name.clone()).collect();
    for (at, family) in families.iter_mut().enumerate() {
        let of_family = |row: &&Observation| {
            row.group == family.name || (at == 0 && !names.contains(&row.group))
        };
        let rows = || table.observations.iter().filter(of_family);
        let ended = listed(rows().filter(|row| matches!(row.given, Given::Ended { .. })));
        let boundary: Vec<String> = rows()
            .filter(|row| !averaged && matches!(row.given, Given::Boundary { .. }))
            .map(|row| {
                let name = row.label.clone().or_else(|| row.x.first().copied().map(x_text));
                let reason = row.left_out().unwrap_or_default();
                format!("{} on {} ({}: {reason})", name.unwrap_or_default(), row.series, row.place)
            })
            .collect();
        let lacking = |row: &&Observation| {
            matches!(row.given, Given::Lacking { .. }) && (long || row.x.is_empty())
        };
        let told = [
            ("runs that did not finish, so left out", ended),
            (
                "without a logarithm, so left out",
                Some(boundary.join("; ")).filter(|all| !all.is_empty()),
            ),
            ("without a number, so left out", listed(rows().filter(lacking))),
        ];
        family.flags.extend(told.into_iter().filter_map(|(what, told)| {
            Some(Flag::new(FlagCode::PointsLeftOut, format!("{what}: {}", told?)))
        }));
    }
}
