//! A table's rows to runs.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;

use relscale_records::units::{FlopsConvention, ParameterConvention};

use super::computed;
use super::options::IsoflopOptions;
use crate::error::LawsError;
use crate::result::LeftOut;
use crate::user_table::{Endings, Row, Rows, TableError, meets};

/// One run with its budget, where it has one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    pub(super) name: String,
    pub(super) budget: Option<f64>,
    pub(super) params: f64,
    pub(super) tokens: f64,
    pub(super) loss: f64,
}

impl Run {
    /// An order of runs that does not depend on that of the rows.
    pub(super) fn in_order(&self, other: &Self) -> Ordering {
        let budget = |run: &Self| run.budget.unwrap_or(f64::INFINITY);
        let numbers = [
            self.params.total_cmp(&other.params),
            self.tokens.total_cmp(&other.tokens),
            self.loss.total_cmp(&other.loss),
            budget(self).total_cmp(&budget(other)),
        ];
        numbers.into_iter().fold(Ordering::Equal, Ordering::then).then_with(|| self.name.cmp(&other.name))
    }
}

/// The runs of one group.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) runs: Vec<Run>,
    pub(super) left_out: Vec<LeftOut>,
}

/// What a table holds.
pub(super) struct Read {
    pub(super) groups: BTreeMap<String, Runs>,
    /// What budgets and sizes count, in words.
    pub(super) flops: Option<FlopsConvention>,
    pub(super) params: Option<ParameterConvention>,
}

/// Columns that name a group, where none was named.
const GROUPS: [&str; 2] = ["group", "dataset"];

/// Columns that name a run.
const LABELS: [&str; 3] = ["run", "model", "name"];

/// Reads the runs.
///
/// # Errors
/// [`LawsError::Table`]: a column that is not there (a table without a column of budgets gives the surface alone), a number that is not above
/// zero, rows of two conventions, a convention that contradicts the one given. [`LawsError::NoBudgets`]: budgets were to be computed, and runs do not
/// gather into any.
pub(super) fn runs(path: &Path, options: &IsoflopOptions) -> Result<Read, LawsError> {
    let rows = Rows::read(path, |_| true)?;
    let columns = &options.columns;
    let optional = |name: &str| rows.has(name).then(|| rows.column(name)).transpose();
    let group = match &columns.group {
        Some(name) => Some(rows.column(name)?),
        None => GROUPS.into_iter().find(|name| rows.has(name)).map(|name| rows.column(name)).transpose()?,
    };
    let label = LABELS.into_iter().find(|name| rows.has(name));
    let label = label.map(|name| rows.column(name)).transpose()?;
    let (params, tokens, loss) =
        (rows.column(&columns.params)?, rows.column(&columns.tokens)?, rows.column(&columns.loss)?);
    // A budget that was named must be there; the name by default may be missing.
    let budget = match (options.budget_from, columns.budget == super::IsoflopColumns::default().budget) {
        (Some(_), _) => None,
        (None, true) => optional(&columns.budget)?,
        (None, false) => Some(rows.column(&columns.budget)?),
    };
    let endings = {
        let named = options.only.iter().map(|(name, _)| name.as_str()).chain(columns.group.as_deref());
        Endings::of(&rows, named, true)
    };
    let conditions: Vec<(usize, &str)> = options
        .only
        .iter()
        .map(|(column, value)| Ok((rows.column(column)?, value.as_str())))
        .collect::<Result<_, TableError>>()?;
    let mut groups: BTreeMap<String, Runs> = BTreeMap::new();
    let named = group.is_some_and(|at| rows.rows.iter().any(|row| !rows.is_empty(row, at)));
    let ungrouped = if named { "no group" } else { "all" }.to_owned();
    let taken: Vec<&Row> =
        rows.rows.iter().filter(|row| conditions.iter().all(|(at, value)| meets(row, *at, value))).collect();
    for row in &taken {
        let name = label.filter(|at| !rows.is_empty(row, *at)).map(|at| rows.name(row, at)).transpose()?;
        let of = match group {
            None => "all".to_owned(),
            // A table that `collect` wrote has the column, and no names in it where no group was given.
            Some(at) if columns.group.is_none() && rows.is_empty(row, at) => ungrouped.clone(),
            Some(at) => rows.name(row, at)?,
        };
        let runs = groups.entry(of).or_default();
        let left_out =
            |reason: String| LeftOut::new(name.clone().unwrap_or_else(|| row.place.clone()), reason);
        if let Some(reason) = endings.reason(&rows, row) {
            runs.left_out.push(left_out(reason));
            continue;
        }
        // Others' tables have gaps; what lacks a number is listed, what is no number is refused.
        let needed = [(params, "size"), (tokens, "tokens"), (loss, "loss")];
        let missing = needed.iter().copied().chain(budget.map(|at| (at, "budget")));
        if let Some((_, what)) = missing.into_iter().find(|(at, _)| rows.lacks_number(row, *at)) {
            runs.left_out.push(left_out(format!("its {what} is not given")));
            continue;
        }
        if let Some(end) = rows.reading(row, loss).number().filter(|end| !end.is_finite()) {
            runs.left_out.push(left_out(format!("diverged: its loss is {end}")));
            continue;
        }
        let number = |at: usize| -> Result<f64, TableError> {
            let number = rows.number(row, at)?;
            if number > 0.0 { Ok(number) } else { Err(rows.refuse(row, at, "a number above 0")) }
        };
        let (params, tokens, loss) = (number(params)?, number(tokens)?, number(loss)?);
        runs.runs.push(Run {
            // Not by its row: what is found is the same whatever the order of the rows.
            name: name.unwrap_or_else(|| format!("N {params:.4e}, D {tokens:.4e}, loss {loss}")),
            budget: budget.map(|at| Ok::<_, TableError>(number(at)? * options.budget_unit)).transpose()?,
            params,
            tokens,
            loss,
        });
    }
    if groups.values().all(|group| group.runs.is_empty()) {
        let mut left_out = groups.into_values().flat_map(|group| group.left_out);
        if let Some(LeftOut { label: first, reason, .. }) = left_out.next() {
            let count = 1 + left_out.count();
            return Err(TableError::NoneLeft { path: path.to_owned(), count, first, reason }.into());
        }
        let wanted: Vec<String> =
            options.only.iter().map(|(column, value)| format!("{column} = {value}")).collect();
        return Err(TableError::NoRows { path: path.to_owned(), wanted: wanted.join(" and ") }.into());
    }
    for (name, group) in &mut groups {
        group.runs.sort_by(Run::in_order);
        repeated(group, label.is_some());
        leave_out(group, options.leave_out_highest);
        if let Some(counted) = options.budget_from {
            computed::assign(name, &mut group.runs, counted, options.tolerance())?;
            group.runs.sort_by(Run::in_order);
        }
        group.left_out.sort_by(|a, b| (&a.label, &a.reason).cmp(&(&b.label, &b.reason)));
    }
    // What a column says of other FLOPs does not matter to computed ones.
    let flops = match options.budget_from {
        Some(counted) => Some(counted),
        None => convention(&rows, &taken, "flops_convention", options.flops, FlopsConvention::named)?,
    };
    let params = convention(&rows, &taken, "params_convention", options.params, ParameterConvention::named)?;
    Ok(Read { groups, flops, params })
}

/// Takes rows out that are another row again, name and numbers: seeds of one size differ in their losses, so that a run listed twice is no second witness.
/// Rows without names are no such evidence, as their losses may be rounded.
fn repeated(group: &mut Runs, named: bool) {
    if !named {
        return;
    }
    let mut kept: Vec<Run> = Vec::with_capacity(group.runs.len());
    for run in group.runs.drain(..) {
        if kept.last() == Some(&run) {
            group.left_out.push(LeftOut::new(run.name, REPEATED));
        } else {
            kept.push(run);
        }
    }
    group.runs = kept;
}

/// Why such a row takes no part.
const REPEATED: &str = "the same run again: another row has its name, size, tokens and loss";

/// Takes the runs with the highest losses out.
fn leave_out(group: &mut Runs, count: u32) {
    let mut by_loss: Vec<usize> = (0..group.runs.len()).collect();
    by_loss.sort_by(|a, b| group.runs[*b].loss.total_cmp(&group.runs[*a].loss));
    let mut gone: Vec<usize> = by_loss.into_iter().take(count as usize).collect();
    gone.sort_unstable();
    for at in gone.into_iter().rev() {
        let run = group.runs.remove(at);
        let reason = format!("one of the {count} highest losses ({})", run.loss);
        group.left_out.push(LeftOut::new(run.name, reason));
    }
}

/// The one convention of all rows.
fn convention<C: Copy + PartialEq>(
    rows: &Rows,
    taken: &[&Row],
    column: &str,
    given: Option<C>,
    named: impl Fn(&str) -> Option<C>,
) -> Result<Option<C>, TableError> {
    let mut found = given;
    if !rows.has(column) {
        return Ok(found);
    }
    let at = rows.column(column)?;
    for row in taken {
        if rows.is_empty(row, at) {
            continue;
        }
        let convention = named(&rows.name(row, at)?).ok_or_else(|| {
            rows.refuse(row, at, "fwd or train; non-embedding, non-embedding-and-head or total")
        })?;
        if found.is_some_and(|found| found != convention) {
            return Err(rows.refuse(row, at, "the convention of the other rows and of the command line"));
        }
        found = Some(convention);
    }
    Ok(found)
}
