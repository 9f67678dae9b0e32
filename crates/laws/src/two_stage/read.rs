//! A table's rows as points of two stages.

use std::collections::BTreeMap;
use std::path::Path;

use super::{HeldOut, StagesOptions};
use crate::relative::Product;
use crate::result::StagesPoint;
use crate::user_table::{Row, Rows, TableError, meets};

/// Columns that name a model where none is given.
const LABELS: [&str; 3] = ["model", "name", "run"];

/// The points of each group, by name; in each group smallest x first.
///
/// # Errors
/// As [`fit_stages`](super::fit_stages) for tables.
pub(super) fn groups(
    path: &Path,
    options: &StagesOptions,
) -> Result<BTreeMap<String, Vec<StagesPoint>>, TableError> {
    let x = Product::parse(&options.x);
    let rows = Rows::read(path, |name| {
        let held_out = match &options.held_out {
            HeldOut::Largest(_) => None,
            HeldOut::Where(column, _) => Some(column),
        };
        let chosen = [&options.loss, &options.accuracy].into_iter().chain(&options.group);
        x.needs(name)
            || chosen.chain(&options.label).chain(held_out).any(|wanted| wanted == name)
            || options.only.iter().any(|(column, _)| column == name)
            || LABELS.contains(&name)
    })?;
    let columns = Columns::of(&rows, options)?;
    let conditions: Vec<(usize, &str)> = options
        .only
        .iter()
        .map(|(column, value)| Ok((rows.column(column)?, value.as_str())))
        .collect::<Result<_, TableError>>()?;
    let mut groups: BTreeMap<String, Vec<StagesPoint>> = BTreeMap::new();
    for row in rows.rows.iter().filter(|row| conditions.iter().all(|(at, value)| meets(row, *at, value))) {
        let (group, point) = columns.point(&rows, row, &x)?;
        groups.entry(group).or_default().push(point);
    }
    if groups.is_empty() {
        let wanted: Vec<String> =
            options.only.iter().map(|(column, value)| format!("{column} = {value}")).collect();
        return Err(TableError::NoRows { path: path.to_owned(), wanted: wanted.join(" and ") });
    }
    for points in groups.values_mut() {
        points.sort_by(|a, b| a.x.total_cmp(&b.x).then_with(|| a.label.cmp(&b.label)));
        if let HeldOut::Largest(count) = options.held_out {
            hold_out_largest(points, count as usize);
        }
    }
    Ok(groups)
}

/// Marks the points of the `count` largest x.
fn hold_out_largest(points: &mut [StagesPoint], count: usize) {
    let mut sizes: Vec<f64> = points.iter().map(|point| point.x).collect();
    sizes.dedup();
    if let Some(from) = sizes.iter().rev().take(count).next_back() {
        points.iter_mut().for_each(|point| point.held_out = point.x >= *from);
    }
}

/// Where in a row everything stands.
struct Columns<'a> {
    loss: usize,
    accuracy: usize,
    group: Vec<usize>,
    label: Option<usize>,
    held_out: Option<(usize, &'a str)>,
}

impl<'a> Columns<'a> {
    fn of(rows: &Rows, options: &'a StagesOptions) -> Result<Self, TableError> {
        let label = match &options.label {
            Some(label) => Some(label.as_str()),
            None => LABELS.into_iter().find(|name| rows.has(name)),
        };
        Ok(Self {
            loss: rows.column(&options.loss)?,
            accuracy: rows.column(&options.accuracy)?,
            group: options.group.iter().map(|name| rows.column(name)).collect::<Result<_, _>>()?,
            label: label.map(|name| rows.column(name)).transpose()?,
            held_out: match &options.held_out {
                HeldOut::Largest(_) => None,
                HeldOut::Where(column, value) => Some((rows.column(column)?, value)),
            },
        })
    }

    fn point(&self, rows: &Rows, row: &Row, x: &Product) -> Result<(String, StagesPoint), TableError> {
        let group: Vec<String> =
            self.group.iter().map(|&at| rows.name(row, at)).collect::<Result<_, TableError>>()?;
        let loss = rows.number(row, self.loss)?;
        if loss <= 0.0 {
            return Err(rows.refuse(row, self.loss, "a loss above 0"));
        }
        let accuracy = rows.number(row, self.accuracy)?;
        if !(0.0..=1.0).contains(&accuracy) {
            return Err(rows.refuse(row, self.accuracy, "a share from 0 to 1 (divide per cent by 100)"));
        }
        let point = StagesPoint {
            label: self.label.map_or_else(|| Ok(row.place.clone()), |at| rows.name(row, at))?,
            place: row.place.clone(),
            x: x.of(rows, row)?,
            loss,
            accuracy,
            held_out: self.held_out.is_some_and(|(at, value)| meets(row, at, value)),
        };
        Ok((if group.is_empty() { "all".to_owned() } else { group.join(", ") }, point))
    }
}
