//! Rows to observations: which take part, what each says, and what is refused.

use std::path::Path;

use relscale_records::written::number::Reading;

use super::beside::Beside;
use super::endings::Endings;
use super::observation::{Given, Observation, Observations};
use super::once::Once;
use super::product::Product;
use super::rows::{Row, Rows};
use super::select::{Select, meets};
use super::{conventions, formats};
use crate::error::TableError;
use crate::kind::Kind;

/// Columns that name a model where none is given.
const LABELS: [&str; 3] = ["model", "name", "run"];

/// Columns that name a run where none is given and rows are runs.
const LABELS_OF_RUNS: [&str; 3] = ["run", "model", "name"];

/// Columns that say what others count.
const CONVENTIONS: [&str; 2] = ["params_convention", "flops_convention"];

/// What a law needs of a table beside what a user chooses.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted<'a> {
    /// What a row is.
    pub(crate) row: RowIs,
    /// What the values are where nobody says it; empty where the columns' names must.
    pub(crate) kinds: &'a [Kind],
    /// Column and value that mark some of the rows.
    pub(crate) mark: Option<(&'a str, &'a str)>,
    /// A column that says where a model lies along its budget.
    pub(crate) along: Option<&'a str>,
    /// Whether the families of a manifest are groups.
    pub(crate) families: bool,
    /// The group of a row whose cell for it is empty; such a row is refused without it.
    pub(crate) ungrouped: Option<&'a str>,
}

/// What a row is, hence what tells it from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RowIs {
    /// A model: its name; rows without names are of different models as long as they differ.
    #[default]
    Model,
    /// A model on a distribution: its name; without names, its x.
    ModelOnDistribution,
    /// A model after so many tokens: run, parameters and tokens.
    Checkpoint,
    /// A run: nothing, as several of one size are its seeds. It may have no name.
    Run,
}

impl<'a> Wanted<'a> {
    /// The columns that are named, by the user or by the law.
    fn named(&self, select: &'a Select) -> Vec<&'a str> {
        let law = self.along.into_iter().chain(self.mark.map(|(column, _)| column));
        select.named().chain(law).collect()
    }
}

/// Reads what is chosen of a table.
///
/// # Errors
/// A file that cannot be read or does not follow its format; those of [`observe`].
pub(crate) fn read(
    path: &Path,
    select: &Select,
    wanted: &Wanted<'_>,
) -> Result<Observations, TableError> {
    // A word that is wrong is told before a file is opened.
    select.kinds(wanted.kinds)?;
    let named = wanted.named(select);
    let may_need = |name: &str| {
        named.contains(&name)
            || select.x.iter().any(|x| Product::parse(x).needs(name))
            || LABELS.contains(&name)
            || CONVENTIONS.contains(&name)
    };
    observe(&formats::read(path, may_need)?, select, wanted)
}

/// What the rows of a table say.
///
/// # Errors
/// [`TableError`], each with file and line: a column that is not there, a number that cannot be, a
/// row that has no group or distribution, a model that is there twice; no row that is left.
pub(crate) fn observe(
    rows: &Rows,
    select: &Select,
    wanted: &Wanted<'_>,
) -> Result<Observations, TableError> {
    let kinds = select.kinds(wanted.kinds)?;
    let used = select.rows(rows)?;
    let endings = Endings::from_rows(rows, &wanted.named(select));
    let reader = Reader::new(rows, select, wanted, &kinds, &endings, &used)?;
    if used.is_empty() {
        return Err(select.no_rows(&rows.path));
    }
    let mut observations = Vec::with_capacity(used.len() * kinds.len());
    let mut once = [Once::new(rows), Once::new(rows)];
    for (number, row) in used.iter().enumerate() {
        reader.row(number, row, &mut observations, &mut once)?;
    }
    let table = Observations { observations, kinds, models: reader.beside.numbers().cloned() };
    if !table.observations.iter().any(|observation| observation.given.is_number()) {
        return Err(table.none_left(&rows.path));
    }
    let [of_series, of_models] = once;
    of_series.check()?;
    of_models.check_sizes()?;
    Ok(table)
}

/// Where in a row everything stands.
struct Reader<'a> {
    rows: &'a Rows,
    select: &'a Select,
    wanted: &'a Wanted<'a>,
    endings: &'a Endings,
    x: Vec<Product>,
    /// Column, name, kind.
    y: Vec<(usize, &'a str, Kind)>,
    label: Option<usize>,
    /// Whether the column of names parts the rows, so that all rows of a group have it in common.
    parted: bool,
    distribution: Option<usize>,
    group: Vec<Grouping<'a>>,
    mark: Option<(usize, &'a str)>,
    along: Option<usize>,
    beside: Beside,
}

/// A column to group by: in the table, or of the models beside it.
enum Grouping<'a> {
    Here(usize),
    Beside(&'a str),
}

impl<'a> Reader<'a> {
    fn new(
        rows: &'a Rows,
        select: &'a Select,
        wanted: &'a Wanted<'a>,
        kinds: &[Kind],
        endings: &'a Endings,
        used: &[&Row],
    ) -> Result<Self, TableError> {
        let x: Vec<Product> = match select.sizes {
            Some(_) => Vec::new(),
            None => select.x.iter().map(|x| Product::in_table(x, rows)).collect(),
        };
        for x in &x {
            x.check(rows, select.models.is_some())?;
            conventions::check(x, rows, used)?;
        }
        let labels = if wanted.row == RowIs::Run { LABELS_OF_RUNS } else { LABELS };
        let label =
            select.label.as_deref().or_else(|| labels.into_iter().find(|name| rows.has(name)));
        // Without a column of models there is nothing to look a size up by.
        let looked_up = select.sizes.is_some() || select.models.is_some();
        let label = label.or(looked_up.then_some(LABELS[0]));
        let label = label.map(|name| rows.column(name)).transpose()?;
        let finished = used.iter().copied().filter(|row| endings.reason(rows, row).is_none());
        let models =
            label.filter(|_| looked_up).map(|at| finished.map(move |row| rows.name(row, at)));
        let models: Vec<String> = models.into_iter().flatten().collect::<Result<_, _>>()?;
        let lacking = x.iter().flat_map(Product::columns).filter(|column| !rows.has(column));
        let beside = Beside::read(select, models, lacking)?;
        let grouping = |name: &'a String| match !rows.has(name) && beside.has(name) {
            true => Ok(Grouping::Beside(name)),
            false => rows.column(name).map(Grouping::Here),
        };
        let group: Vec<Grouping<'a>> =
            select.group.iter().map(grouping).collect::<Result<_, _>>()?;
        let at = |name: &str| rows.column(name);
        let alike = matches!(wanted.row, RowIs::ModelOnDistribution | RowIs::Checkpoint);
        let y =
            select.y.iter().zip(kinds).map(|(name, kind)| Ok((at(name)?, name.as_str(), *kind)));
        Ok(Self {
            y: y.collect::<Result<_, TableError>>()?,
            parted: group.iter().any(|by| matches!(by, Grouping::Here(by) if Some(*by) == label)),
            distribution: select.distribution.as_deref().filter(|_| alike).map(at).transpose()?,
            mark: wanted.mark.map(|(name, value)| at(name).map(|at| (at, value))).transpose()?,
            along: wanted.along.map(at).transpose()?,
            rows,
            select,
            wanted,
            endings,
            x,
            label,
            group,
            beside,
        })
    }

    fn row(
        &self,
        number: usize,
        row: &Row,
        observations: &mut Vec<Observation>,
        [of_series, of_models]: &mut [Once<'_>; 2],
    ) -> Result<(), TableError> {
        let ended = self.endings.reason(self.rows, row);
        let label = self.label(row, ended.is_some())?;
        // What a run lacks that takes no part need not be there.
        let name = label.as_deref().unwrap_or_default();
        let (x, group, distribution, along) = match &ended {
            Some(_) => (
                self.x(row, name).unwrap_or_else(|error| Err(error.to_string())),
                self.group(row, name).unwrap_or_else(|_| "not given".to_owned()),
                self.distribution.map(|at| self.rows.text(row, at)),
                None,
            ),
            None => (
                self.x(row, name)?,
                self.group(row, name)?,
                self.distribution.map(|at| self.rows.name(row, at)).transpose()?,
                self.along(row)?,
            ),
        };
        let alike = matches!(self.wanted.row, RowIs::ModelOnDistribution | RowIs::Checkpoint);
        let label = label.filter(|_| !(self.parted && alike));
        if let (None, Ok(x)) = (&ended, &x) {
            let name = label.as_deref().filter(|_| !self.parted);
            self.watch(
                row,
                [&group, distribution.as_deref().unwrap_or_default()],
                name,
                x,
                [of_series, of_models],
            );
        }
        let marked = self.mark.is_some_and(|(at, value)| meets(self.rows, row, at, value));
        for &(at, column, kind) in &self.y {
            let there = || self.rows.reading(row, at).number().filter(|number| number.is_finite());
            let given = match (&ended, &x) {
                (Some(reason), _) => Given::Ended { reason: reason.clone(), number: there() },
                (None, Err(reason)) => Given::Lacking { reason: reason.clone(), number: there() },
                (None, Ok(_)) => self.given(row, at, column, kind)?,
            };
            observations.push(Observation {
                row: number,
                place: row.place.clone(),
                label: label.clone(),
                group: group.clone(),
                series: distribution.clone().unwrap_or_else(|| column.to_owned()),
                column: column.to_owned(),
                kind,
                x: x.clone().unwrap_or_default(),
                given,
                marked,
                along,
                samples: None,
                flags: Vec::new(),
            });
        }
        Ok(())
    }

    /// The name of a row; none where no column names rows.
    fn label(&self, row: &Row, ended: bool) -> Result<Option<String>, TableError> {
        let may_lack = ended || self.wanted.row == RowIs::Run;
        let at = self.label.filter(|at| !(may_lack && self.rows.is_empty(row, *at)));
        at.map(|at| self.rows.name(row, at)).transpose()
    }

    /// Every x, or the first that is not given.
    fn x(&self, row: &Row, label: &str) -> Result<Result<Vec<f64>, String>, TableError> {
        if let Some(size) = self.beside.size(&self.rows.path, label)? {
            return Ok(Ok(vec![size]));
        }
        let here = |name: &str| self.rows.has(name).then(|| self.rows.column(name)).transpose();
        let mut found = Vec::with_capacity(self.x.len());
        for x in &self.x {
            for name in x.columns() {
                if here(name)?.is_some_and(|at| self.rows.lacks_number(row, at)) {
                    return Ok(Err(format!("its {name} is not given")));
                }
            }
            found.push(x.value_in(self.rows, row, |name| self.beside.number(label, name))?);
        }
        Ok(Ok(found))
    }

    fn group(&self, row: &Row, label: &str) -> Result<String, TableError> {
        if let Some(family) = self.beside.family(label).filter(|_| self.wanted.families) {
            return Ok(family);
        }
        let value = |by: &Grouping<'_>| match (by, self.wanted.ungrouped) {
            (Grouping::Here(at), Some(none)) if self.rows.is_empty(row, *at) => Ok(none.to_owned()),
            (Grouping::Here(at), _) => self.rows.name(row, *at),
            (Grouping::Beside(column), _) => self.beside.text(&self.rows.path, label, column),
        };
        let values: Vec<String> = self.group.iter().map(value).collect::<Result<_, _>>()?;
        Ok(if values.is_empty() { "all".to_owned() } else { values.join(", ") })
    }

    fn along(&self, row: &Row) -> Result<Option<f64>, TableError> {
        let Some(at) = self.along.filter(|at| !self.rows.lacks_number(row, *at)) else {
            return Ok(None);
        };
        match self.rows.number(row, at)? {
            number if number > 0.0 => Ok(Some(number)),
            _ => Err(self.rows.refuse(row, at, "a number above 0")),
        }
    }

    fn given(&self, row: &Row, at: usize, column: &str, kind: Kind) -> Result<Given, TableError> {
        let lacking = |reason: String| Ok(Given::Lacking { reason, number: None });
        match self.rows.reading(row, at) {
            Reading::Nothing => lacking(format!("its {column} is not given")),
            Reading::Number(number) if !number.is_finite() => match self.wanted.row {
                RowIs::Run => lacking(format!("diverged: its {column} is {number}")),
                _ if self.select.leave_out_nan => lacking(format!("its {column} is {number}")),
                _ => Err(self.rows.refuse(
                    row,
                    at,
                    "a number (--leave-out-nan passes such rows over)",
                )),
            },
            _ => Given::new(kind, self.rows.number(row, at)?)
                .map_err(|expected| self.rows.refuse(row, at, expected)),
        }
    }

    /// Notes a row, that no model may be there twice in a series, and none with two sizes in a
    /// group.
    fn watch(
        &self,
        row: &Row,
        [group, distribution]: [&str; 2],
        label: Option<&str>,
        x: &[f64],
        [of_series, of_models]: [&mut Once<'_>; 2],
    ) {
        let part = match (group, distribution) {
            (group, "") => group.to_owned(),
            ("all", distribution) => distribution.to_owned(),
            (group, distribution) => format!("{group}, {distribution}"),
        };
        let Some(&size) = x.first() else { return };
        let model = match (self.wanted.row, label) {
            (RowIs::Run, _) => return,
            (RowIs::Model, label) => {
                of_series.add(&part, label, row, size);
                label.map(str::to_owned)
            }
            (RowIs::ModelOnDistribution, label) => {
                let name = label.map_or_else(|| x_text(size), str::to_owned);
                of_series.add(&part, Some(&name), row, size);
                Some(name)
            }
            (RowIs::Checkpoint, label) => {
                let tokens = x.get(1).copied().unwrap_or_default();
                let checkpoint = format!("{size} parameters, {tokens} tokens");
                let name =
                    label.map_or_else(|| checkpoint.clone(), |run| format!("{run}, {checkpoint}"));
                of_series.add(&part, Some(&name), row, size);
                label.map(str::to_owned)
            }
        };
        if let Some(model) = model {
            of_models.add(group, Some(&model), row, size);
        }
    }
}

/// The name of a model that has none, where rows of one x are one model.
pub(crate) fn x_text(x: f64) -> String {
    format!("x = {x}")
}
