//! What a column of sizes or compute counts, where another column of the table says it.

use relscale_records::units::{FlopsConvention, ParameterConvention};

use super::manifest::{FLOPS, PARAMS};
use super::product::Product;
use super::rows::{Row, Rows};
use crate::error::TableError;

/// What the parameters of these rows count: what the column `params_convention` says, or what was
/// given.
///
/// # Errors
/// A convention that is none; one that another row, or what was given, contradicts.
pub(crate) fn params(
    rows: &Rows,
    used: &[&Row],
    given: Option<ParameterConvention>,
) -> Result<Option<ParameterConvention>, TableError> {
    let expected = "non-embedding, non-embedding-and-head or total";
    one(rows, used, "params_convention", expected, given, ParameterConvention::named)
}

/// The same of FLOPs, by the column `flops_convention`.
///
/// # Errors
/// As [`params`].
pub(crate) fn flops(
    rows: &Rows,
    used: &[&Row],
    given: Option<FlopsConvention>,
) -> Result<Option<FlopsConvention>, TableError> {
    one(rows, used, "flops_convention", "fwd or train", given, FlopsConvention::named)
}

/// Refuses sizes or compute of two conventions in one x, as far as the names of its columns tell
/// what they are.
pub(super) fn check(x: &Product, rows: &Rows, used: &[&Row]) -> Result<(), TableError> {
    let of_table = |name: &&str| rows.has(name);
    if x.columns().filter(of_table).any(|name| PARAMS.iter().any(|(known, _)| *known == name)) {
        params(rows, used, None)?;
    }
    if x.columns().filter(of_table).any(|name| name == FLOPS) {
        flops(rows, used, None)?;
    }
    Ok(())
}

fn one<C: Copy + PartialEq>(
    rows: &Rows,
    used: &[&Row],
    column: &str,
    expected: &'static str,
    given: Option<C>,
    named: impl Fn(&str) -> Option<C>,
) -> Result<Option<C>, TableError> {
    let mut found = given;
    if !rows.has(column) {
        return Ok(found);
    }
    let at = rows.column(column)?;
    for row in used.iter().filter(|row| !rows.is_empty(row, at)) {
        let said = named(&rows.name(row, at)?).ok_or_else(|| rows.refuse(row, at, expected))?;
        if found.is_some_and(|found| found != said) {
            return Err(rows.refuse(
                row,
                at,
                "the convention of the other rows and of the command line",
            ));
        }
        found = Some(said);
    }
    Ok(found)
}
