//! Rows averaged into distributions: subjects into domains.
//!
//! The mean is of the column's values as they are given, before a law's number is made of them: the
//! accuracy of a domain is the share of its questions, and the law is about -ln of that share, not
//! about the mean of -ln of its subjects' shares.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::series::{ModelFamily, Series, SeriesPoint};
use crate::error::LawsError;
use crate::result::{Flag, FlagCode, LeftOut};
use crate::tables::{Given, Kind, Observation, TableError, rows_of};

/// Which distributions of a table are averaged, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Means {
    /// What the map is called.
    name: String,
    /// What a group is called, e.g. `domain`.
    groups: String,
    /// Member -> its group, and how much it weighs.
    members: BTreeMap<String, (String, f64)>,
    /// What the names of members may have before them in a table.
    prefix: String,
    weighting: Weighting,
}

/// When weights count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighting {
    /// Never: every member counts alike.
    Even,
    /// Always.
    Weighted,
    /// For shares (accuracy), so that the mean is the share of all questions; losses count alike:
    /// what lm-evaluation-harness does.
    Shares,
}

impl Means {
    /// A map of members with their groups and weights; `prefix` may stand before a member's name in
    /// a table.
    ///
    /// # Errors
    /// [`LawsError::Option`]: a weight that is not above zero.
    pub fn new(
        name: &str,
        prefix: &str,
        members: impl IntoIterator<Item = (String, String, f64)>,
        weighting: Weighting,
    ) -> Result<Self, LawsError> {
        let members: BTreeMap<String, (String, f64)> =
            members.into_iter().map(|(member, group, weight)| (member, (group, weight))).collect();
        if let Some((member, (_, weight))) =
            members.iter().find(|(_, (_, weight))| !(*weight > 0.0 && weight.is_finite()))
        {
            let value = format!("{weight} for {member}");
            return Err(LawsError::Option { option: "weight", value, expected: "above 0" });
        }
        let groups = "group".to_owned();
        Ok(Self { name: name.to_owned(), groups, members, prefix: prefix.to_owned(), weighting })
    }

    /// The same map, of groups that are called so.
    #[must_use]
    pub fn of_groups(self, groups: &str) -> Self {
        Self { groups: groups.to_owned(), ..self }
    }

    /// A table with a header (.csv, .tsv, .jsonl, .parquet): its first column names members, its
    /// second their groups, and `weight`, where it is given, the column of their weights.
    ///
    /// # Errors
    /// [`LawsError::Table`] with file and line: a file that cannot be read or has one column, a
    /// member that is there twice, a weight that is no number above zero.
    pub fn read(path: &Path, weight: Option<&str>) -> Result<Self, LawsError> {
        let rows = rows_of(path, |_| true)?;
        let weight = weight.map(|name| rows.column(name)).transpose()?;
        if rows.columns.len() < 2 {
            let place = rows.rows.first().map_or("line 1", |row| row.place.as_str()).to_owned();
            let reason = "one column; give two, members and the groups they belong to".to_owned();
            return Err(TableError::Manifest { path: path.to_owned(), place, reason }.into());
        }
        let mut members = BTreeMap::new();
        for row in &rows.rows {
            let weight = match weight {
                None => 1.0,
                Some(at) => match rows.number(row, at)? {
                    number if number > 0.0 => number,
                    _ => return Err(rows.refuse(row, at, "a weight above 0").into()),
                },
            };
            let (member, group) = (rows.name(row, 0)?, rows.name(row, 1)?);
            if members.insert(member, (group, weight)).is_some() {
                return Err(rows.refuse(row, 0, "a member that no earlier row has").into());
            }
        }
        let weighting = if weight.is_some() { Weighting::Weighted } else { Weighting::Even };
        let (name, groups) = (path.display().to_string(), rows.columns[1].clone());
        Ok(Self { name, groups, members, prefix: String::new(), weighting })
    }

    /// What a group is called.
    pub(super) fn groups(&self) -> &str {
        &self.groups
    }

    /// The mean in words, for the result.
    pub(super) fn in_words(&self, symbol: &str, kind: Kind) -> String {
        let weights = if self.weighs(kind) { "weighted means" } else { "unweighted means" };
        format!("{symbol}, {weights} by {}", self.name)
    }

    fn weighs(&self, kind: Kind) -> bool {
        match self.weighting {
            Weighting::Even => false,
            Weighting::Weighted => true,
            Weighting::Shares => kind.is_share(),
        }
    }

    fn find(&self, name: &str) -> Option<(&str, &str, f64)> {
        let bare = name.strip_prefix(&self.prefix).unwrap_or(name);
        let (member, (group, weight)) =
            self.members.get_key_value(name).or_else(|| self.members.get_key_value(bare))?;
        Some((member, group, *weight))
    }
}

/// One model's values in one group.
struct GroupValues {
    x: f64,
    /// By member: value and weight.
    values: BTreeMap<String, (f64, f64)>,
}

/// Means that are being made.
pub(super) struct Pool<'a> {
    means: &'a Means,
    kind: Kind,
    /// By family, group, model.
    cells: BTreeMap<(String, String, String), GroupValues>,
    /// Names that are in no group.
    unknown: BTreeSet<String>,
}

impl<'a> Pool<'a> {
    pub(super) fn new(means: &'a Means, kind: Kind) -> Self {
        Self { means, kind, cells: BTreeMap::new(), unknown: BTreeSet::new() }
    }

    /// Adds a value of a model of the table `path`; one that is not there makes its mean another.
    ///
    /// # Errors
    /// [`TableError::Value`]: the model has a value of this member already.
    pub(super) fn add(
        &mut self,
        path: &Path,
        observation: &Observation,
        model: &str,
        x: f64,
    ) -> Result<(), TableError> {
        let Some((member, group, weight)) = self.means.find(&observation.series) else {
            self.unknown.insert(observation.series.clone());
            return Ok(());
        };
        let key = (observation.group.clone(), group.to_owned(), model.to_owned());
        let cell =
            self.cells.entry(key).or_insert_with(|| GroupValues { x, values: BTreeMap::new() });
        let Some(given) = observation.number() else { return Ok(()) };
        if cell.values.insert(member.to_owned(), (given, weight)).is_some() {
            let expected = "one row for each model and member of a group (see --where)";
            return Err(observation.refuse(path, given.to_string(), expected));
        }
        Ok(())
    }

    /// The means as series. A model that lacks a member which another has in the same group is left
    /// out there, by name: its mean would be of something else.
    ///
    /// # Errors
    /// [`LawsError::NoDistribution`]: no row is of any group.
    pub(super) fn finish(self, families: &mut Vec<ModelFamily>) -> Result<(), LawsError> {
        if self.cells.is_empty() {
            let wanted = format!("of {}", self.means.name);
            return Err(LawsError::NoDistribution {
                wanted,
                there: self.unknown.into_iter().collect(),
            });
        }
        let mut there: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
        for ((family, group, _), cell) in &self.cells {
            let all = there.entry((family.clone(), group.clone())).or_default();
            all.extend(cell.values.keys().map(String::as_str));
        }
        for ((family, group, model), cell) in &self.cells {
            let all = &there[&(family.clone(), group.clone())];
            let missing: Vec<&str> =
                all.iter().filter(|member| !cell.values.contains_key(**member)).copied().collect();
            let series = series(families, family, group.clone());
            let mut left_out = |reason: String| {
                series.left_out.push(LeftOut::new(model.clone(), reason));
            };
            if !missing.is_empty() {
                left_out(format!("no value of {}", missing.join(", ")));
                continue;
            }
            let weighs = self.means.weighs(self.kind);
            let weight = |weight: f64| if weighs { weight } else { 1.0 };
            let total: f64 = cell.values.values().map(|(_, w)| weight(*w)).sum();
            let mean =
                cell.values.values().map(|(value, w)| value * weight(*w)).sum::<f64>() / total;
            match Given::new(self.kind, mean) {
                Ok(Given::Value { value, .. }) => {
                    series.points.push(point(model.clone(), cell.x, value));
                }
                Ok(Given::Boundary { reason, .. }) | Err(reason) => {
                    left_out(format!("its mean is {mean}: {reason}"));
                }
                Ok(_) => {}
            }
        }
        for family in families {
            family.flags.extend(self.flags(&family.name, &there));
        }
        Ok(())
    }

    /// What was not averaged, and members of the map that no row has.
    fn flags(&self, family: &str, there: &BTreeMap<(String, String), BTreeSet<&str>>) -> Vec<Flag> {
        const LISTED: usize = 5;
        let listed = |names: &[&str]| {
            let first = names.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
            if names.len() > LISTED { format!("{first}, ...") } else { first }
        };
        let mut flags = Vec::new();
        let unknown: Vec<&str> = self.unknown.iter().map(String::as_str).collect();
        if !unknown.is_empty() {
            let message = format!(
                "rows of {} distributions are in no group of {} and take no part: {}",
                unknown.len(),
                self.means.name,
                listed(&unknown)
            );
            flags.push(Flag::new(FlagCode::PointsLeftOut, message));
        }
        let seen = |member: &str| {
            there.iter().any(|((of, _), members)| of == family && members.contains(member))
        };
        let absent: Vec<&str> =
            self.means.members.keys().map(String::as_str).filter(|member| !seen(member)).collect();
        if !absent.is_empty() {
            let message = format!(
                "{} of the {} members of {} have no row, so the means are of the others: {}",
                absent.len(),
                self.means.members.len(),
                self.means.name,
                listed(&absent)
            );
            flags.push(Flag::new(FlagCode::MembersMissing, message));
        }
        flags
    }
}

/// A point of a table.
pub(super) fn point(model: String, x: f64, error: f64) -> SeriesPoint {
    let replicates = Err("a table holds no documents to draw again".to_owned());
    SeriesPoint { counted: None, model, x, error, replicates }
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
