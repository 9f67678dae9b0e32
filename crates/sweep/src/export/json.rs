//! A run a file, as it stands in the plan.

use super::Exported;
use crate::error::{Error, Result};
use crate::plan::Plan;

/// `NAME.json` for every run: the run's object of the plan, and `recipe` beside it, so that each
/// file is whole.
///
/// # Errors
/// [`Error::Plan`] should a number not fit JSON.
pub fn export(plan: &Plan) -> Result<Exported> {
    let problem = |error: serde_json::Error| Error::Plan {
        path: "the plan".into(),
        reason: error.to_string(),
    };
    let recipe = serde_json::to_value(&plan.recipe).map_err(problem)?;
    let file = |run| {
        let mut value = serde_json::to_value(run).map_err(problem)?;
        value["flops_formula"] = plan.flops_formula.clone().into();
        value["recipe"] = recipe.clone();
        serde_json::to_string_pretty(&value).map(|text| text + "\n").map_err(problem)
    };
    let files = plan.runs.iter().map(|run| Ok((format!("{}.json", run.name).into(), file(run)?)));
    Ok(Exported { files: files.collect::<Result<_>>()?, differences: Vec::new() })
}
