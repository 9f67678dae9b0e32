//! A table's rows as points of two stages.

use std::collections::BTreeMap;
use std::path::Path;

use super::{HeldOut, StagesOptions};
use crate::error::LawsError;
use crate::result::{Flag, FlagCode, StagesPoint};
use crate::tables::manifest::ModelNumbers;
use crate::tables::{Given, Kind, Observation, Wanted, each, listed, read, small};

/// What a table holds.
pub(super) struct Read {
    /// The points of each group, by name; in each group smallest x first.
    pub(super) groups: BTreeMap<String, Vec<StagesPoint>>,
    /// What is to be said of the rows of each group.
    pub(super) flags: BTreeMap<String, Vec<Flag>>,
    /// What a manifest has told of the models.
    pub(super) models: Option<ModelNumbers>,
    /// The columns.
    pub(super) loss: String,
    pub(super) accuracy: String,
}

/// Reads the points.
///
/// # Errors
/// As [`fit_stages`](super::fit_stages) for tables.
pub(super) fn groups(path: &Path, options: &StagesOptions) -> Result<Read, LawsError> {
    let select = &options.select;
    let [x] = each(&select.x, "x", "one column, or a product of columns and numbers")?;
    let [loss, accuracy] = each(&select.y, "y", "two columns, a loss and an accuracy")?;
    let mark = match &options.held_out {
        HeldOut::Largest(_) => None,
        HeldOut::Where(column, value) => Some((column.as_str(), value.as_str())),
    };
    let wanted = Wanted { kinds: &[Kind::Loss, Kind::Accuracy], mark, ..Wanted::default() };
    if let Some(kind) = select.kinds(wanted.kinds)?.get(1).filter(|kind| !kind.is_share()) {
        let expected = "a kind for the loss, and accuracy, rbp or wrong for the accuracy";
        return Err(LawsError::Option { option: "as", value: kind.to_string(), expected });
    }
    let table = read(path, select, &wanted)?;
    let mut groups: BTreeMap<String, Vec<StagesPoint>> = BTreeMap::new();
    let mut left_out: BTreeMap<&str, Vec<&Observation>> = BTreeMap::new();
    for row in table.observations.chunk_by(|a, b| a.row == b.row) {
        let [loss, accuracy] = row else { continue };
        // An accuracy of 0 or 1 has no logarithm, and needs none.
        match (loss.value(), accuracy.number(), loss.x.first()) {
            (Some(value), Some(share), Some(&x)) => {
                groups.entry(loss.group.clone()).or_default().push(StagesPoint {
                    x,
                    label: loss.name().to_owned(),
                    place: loss.place.clone(),
                    loss: value,
                    accuracy: share,
                    held_out: loss.marked,
                });
            }
            (None, ..) => left_out.entry(&loss.group).or_default().push(loss),
            _ => left_out.entry(&loss.group).or_default().push(accuracy),
        }
    }
    for points in groups.values_mut() {
        points.sort_by(|a, b| a.x.total_cmp(&b.x).then_with(|| a.label.cmp(&b.label)));
        if let HeldOut::Largest(count) = options.held_out {
            hold_out_largest(points, count as usize);
        }
    }
    let mut flags: BTreeMap<String, Vec<Flag>> = BTreeMap::new();
    for (group, rows) in left_out {
        // A group of nothing else is told with the first that there is.
        let there = groups.contains_key(group).then(|| group.to_owned());
        let Some(at) = there.or_else(|| groups.keys().next().cloned()) else { continue };
        let of = if at == group { String::new() } else { format!(" of {group}") };
        let ended = |row: &&&Observation| matches!(row.given, Given::Ended { .. });
        let told = [
            ("runs", "that did not finish", listed(rows.iter().filter(ended).copied())),
            ("rows", "without a number", listed(rows.iter().filter(|row| !ended(row)).copied())),
        ];
        flags.entry(at).or_default().extend(told.into_iter().filter_map(|(what, why, told)| {
            let message = format!("{what}{of} {why}, so left out: {}", told?);
            Some(Flag::new(FlagCode::PointsLeftOut, message))
        }));
    }
    for (group, points) in &groups {
        let flag = small(x, points.iter().map(|point| point.x));
        flags.entry(group.clone()).or_default().extend(flag);
    }
    if groups.is_empty() {
        return Err(table.none_left(path).into());
    }
    let (loss, accuracy) = (loss.to_owned(), accuracy.to_owned());
    Ok(Read { groups, flags, models: table.models, loss, accuracy })
}

/// Marks the points of the `count` largest x.
fn hold_out_largest(points: &mut [StagesPoint], count: usize) {
    let mut sizes: Vec<f64> = points.iter().map(|point| point.x).collect();
    sizes.dedup();
    if let Some(from) = sizes.iter().rev().take(count).next_back() {
        points.iter_mut().for_each(|point| point.held_out = point.x >= *from);
    }
}
