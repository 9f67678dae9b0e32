//! A table's rows to runs.

use std::collections::BTreeMap;
use std::path::Path;

use relscale_records::units::{FlopsConvention, ParameterConvention};

use super::computed;
use super::options::IsoflopOptions;
use super::run::{Runs, SweepRun};
use crate::error::LawsError;
use crate::result::LeftOut;
use crate::tables::{
    Kind, RowIs, Wanted, each, flops_convention, observe, params_convention, rows_of,
};

/// What a table holds.
pub(super) struct Read {
    pub(super) groups: BTreeMap<String, Runs>,
    /// What budgets and sizes count, in words.
    pub(super) flops: Option<FlopsConvention>,
    pub(super) params: Option<ParameterConvention>,
}

/// Columns that name a group, where none was named.
const GROUPS: [&str; 2] = ["group", "dataset"];

/// The column of budgets, where none was named; a table may lack it.
const BUDGET: &str = "budget";

/// Reads the runs.
///
/// # Errors
/// [`LawsError::Table`]: a column that is not there (a table without a column of budgets gives the
/// surface alone), a number that is not above zero, rows of two conventions, a convention that
/// contradicts the one given. [`LawsError::NoBudgets`]: budgets were to be computed, and runs do
/// not gather into any.
pub(super) fn runs(path: &Path, options: &IsoflopOptions) -> Result<Read, LawsError> {
    each::<2>(
        &options.select.x,
        "x",
        "two columns, or products of columns: parameters and tokens",
    )?;
    each::<1>(&options.select.y, "y", "one column of losses")?;
    let rows = rows_of(path, |_| true)?;
    let mut select = options.select.clone();
    // A budget that was named must be there; the name by default may be missing.
    let budget = options.budget.as_deref().or_else(|| rows.has(BUDGET).then_some(BUDGET));
    select.x.extend(budget.filter(|_| options.budget_from.is_none()).map(str::to_owned));
    let mut ungrouped = None;
    if let (true, Some(group)) =
        (select.group.is_empty(), GROUPS.into_iter().find(|name| rows.has(name)))
    {
        // A table that `collect` wrote has the column, and no names in it where no group was given.
        let at = rows.column(group)?;
        let named = rows.rows.iter().any(|row| !rows.is_empty(row, at));
        ungrouped = Some(if named { "no group" } else { "all" });
        select.group = vec![group.to_owned()];
    }
    let wanted = Wanted { row: RowIs::Run, kinds: &[Kind::Loss], ungrouped, ..Wanted::default() };
    let table = observe(&rows, &select, &wanted)?;
    let named = table.observations.iter().any(|run| run.label.is_some());
    let mut groups: BTreeMap<String, Runs> = BTreeMap::new();
    for observation in table.observations {
        let runs = groups.entry(observation.group.clone()).or_default();
        match (observation.value(), observation.x.as_slice()) {
            (Some(loss), &[params, tokens, ref budget @ ..]) => runs.runs.push(SweepRun {
                // Not by its row: what is found is the same whatever the order of the rows.
                name: observation
                    .label
                    .unwrap_or_else(|| format!("N {params:.4e}, D {tokens:.4e}, loss {loss}")),
                budget: budget.first().map(|budget| budget * options.budget_unit),
                params,
                tokens,
                loss,
            }),
            _ => runs
                .left_out
                .push(LeftOut::new(observation.name(), observation.left_out().unwrap_or_default())),
        }
    }
    for (name, group) in &mut groups {
        group.runs.sort_by(SweepRun::in_order);
        repeated(group, named);
        leave_out(group, options.leave_out_highest);
        if let Some(counted) = options.budget_from {
            computed::assign(name, &mut group.runs, counted, options.tolerance())?;
            group.runs.sort_by(SweepRun::in_order);
        }
        group.left_out.sort_by(|a, b| (&a.label, &a.reason).cmp(&(&b.label, &b.reason)));
    }
    let taken = select.rows(&rows)?;
    // What a column says of other FLOPs does not matter to computed ones.
    let flops = match options.budget_from {
        Some(counted) => Some(counted),
        None => flops_convention(&rows, &taken, options.flops)?,
    };
    let params = params_convention(&rows, &taken, options.params)?;
    Ok(Read { groups, flops, params })
}

/// Takes rows out that are another row again, name and numbers: seeds of one size differ in their
/// losses, so that a run listed twice is no second witness. Rows without names are no such
/// evidence, as their losses may be rounded.
fn repeated(group: &mut Runs, named: bool) {
    if !named {
        return;
    }
    let mut kept: Vec<SweepRun> = Vec::with_capacity(group.runs.len());
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
