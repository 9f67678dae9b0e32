//! A table's rows as points of two stages.

use std::collections::BTreeMap;
use std::path::Path;

use super::{HeldOut, StagesOptions};
use crate::error::LawsError;
use crate::manifest::{ModelNumbers, numbers_beside};
use crate::result::{Flag, FlagCode, StagesPoint};
use crate::user_table::{Endings, Once, Product, Row, Rows, TableError, meets, small};

/// Columns that name a model where none is given.
const LABELS: [&str; 3] = ["model", "name", "run"];

/// What a table holds.
pub(super) struct Read {
    /// The points of each group, by name; in each group smallest x first.
    pub(super) groups: BTreeMap<String, Vec<StagesPoint>>,
    /// What is to be said of the rows of each group.
    pub(super) flags: BTreeMap<String, Vec<Flag>>,
    /// What a manifest has told of the models.
    pub(super) models: Option<ModelNumbers>,
}

/// Reads the points.
///
/// # Errors
/// As [`fit_stages`](super::fit_stages) for tables.
pub(super) fn groups(path: &Path, options: &StagesOptions) -> Result<Read, LawsError> {
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
    x.check(&rows, options.models.is_some())?;
    let mut columns = Columns::of(&rows, options)?;
    let conditions: Vec<(usize, &str)> = options
        .only
        .iter()
        .map(|(column, value)| Ok((rows.column(column)?, value.as_str())))
        .collect::<Result<_, TableError>>()?;
    let mut groups: BTreeMap<String, Vec<StagesPoint>> = BTreeMap::new();
    let used: Vec<&Row> =
        rows.rows.iter().filter(|row| conditions.iter().all(|(at, value)| meets(row, *at, value))).collect();
    if let Some(manifest) = &options.models {
        let used = used.iter().copied();
        columns.models = Some(numbers_beside(manifest, &rows, columns.label, used, x.columns())?);
    }
    let names = columns.label.filter(|at| !columns.group.contains(at));
    let mut once = Once::new(&rows, "--group");
    let named = [&options.loss, &options.accuracy].into_iter().chain(&options.group).chain(&options.label);
    let held_out = columns.held_out.map(|(at, _)| rows.columns[at].as_str());
    let named = named.chain(options.only.iter().map(|(name, _)| name)).map(String::as_str);
    let endings = Endings::of(&rows, named.chain(held_out), false);
    let mut unfinished: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in used {
        if let Some(reason) = endings.reason(&rows, row) {
            let name = columns.label.map(|at| rows.text(row, at)).filter(|name| !name.is_empty());
            let told = match name {
                Some(name) => format!("{name} ({}: {reason})", row.place),
                None => format!("{}: {reason}", row.place),
            };
            let group: Vec<String> = columns.group.iter().map(|&at| rows.text(row, at)).collect();
            let group = if group.is_empty() { "all".to_owned() } else { group.join(", ") };
            unfinished.entry(group).or_default().push(told);
            continue;
        }
        let (group, point) = columns.point(&rows, row, &x)?;
        once.add(&group, names.map(|_| point.label.as_str()), row, point.x);
        groups.entry(group).or_default().push(point);
    }
    if groups.is_empty() {
        let wanted: Vec<String> =
            options.only.iter().map(|(column, value)| format!("{column} = {value}")).collect();
        return Err(TableError::NoRows { path: path.to_owned(), wanted: wanted.join(" and ") }.into());
    }
    once.check()?;
    for points in groups.values_mut() {
        points.sort_by(|a, b| a.x.total_cmp(&b.x).then_with(|| a.label.cmp(&b.label)));
        if let HeldOut::Largest(count) = options.held_out {
            hold_out_largest(points, count as usize);
        }
    }
    let mut flags: BTreeMap<String, Vec<Flag>> = BTreeMap::new();
    for (group, told) in unfinished {
        // A group of nothing else is told with the first that there is.
        let there = groups.contains_key(&group).then(|| group.clone());
        let Some(at) = there.or_else(|| groups.keys().next().cloned()) else { continue };
        let of = if at == group { String::new() } else { format!(" of {group}") };
        let message = format!("runs{of} that did not finish, so left out: {}", told.join("; "));
        flags.entry(at).or_default().push(Flag::new(FlagCode::PointsLeftOut, message));
    }
    for (group, points) in &groups {
        let flag = small(&options.x, points.iter().map(|point| point.x));
        flags.entry(group.clone()).or_default().extend(flag);
    }
    Ok(Read { groups, flags, models: columns.models })
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
    models: Option<ModelNumbers>,
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
            models: None,
        })
    }

    fn point(&self, rows: &Rows, row: &Row, x: &Product) -> Result<(String, StagesPoint), TableError> {
        let group: Vec<String> =
            self.group.iter().map(|&at| rows.name(row, at)).collect::<Result<_, TableError>>()?;
        let loss = rows.number(row, self.loss)?;
        if loss <= 0.0 {
            return Err(rows.refuse(row, self.loss, "a loss above 0 (0 has no logarithm)"));
        }
        let accuracy = rows.number(row, self.accuracy)?;
        if !(0.0..=1.0).contains(&accuracy) {
            return Err(rows.refuse(row, self.accuracy, "a share from 0 to 1 (divide per cent by 100)"));
        }
        let label = self.label.map(|at| rows.name(row, at)).transpose()?;
        let point = StagesPoint {
            x: x.of(rows, row, self.models.as_ref().zip(label.as_deref()))?,
            label: label.unwrap_or_else(|| row.place.clone()),
            place: row.place.clone(),
            loss,
            accuracy,
            held_out: self.held_out.is_some_and(|(at, value)| meets(row, at, value)),
        };
        Ok((if group.is_empty() { "all".to_owned() } else { group.join(", ") }, point))
    }
}
