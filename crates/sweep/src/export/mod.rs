//! What leaves this crate: trained models as Hugging Face folders, plans as the configurations of
//! other trainers.
//!
//! * [`huggingface`]: a trained model.
//! * [`levanter`], [`torchtitan`], [`json`]: a plan, a file a run; [`plan`] chooses among them.
//!
//! Invariant of the plans: what an engine cannot do is a refusal where it would train another
//! model, and one of [`Exported::differences`], written into every file, where it changes no more
//! than how the model is trained.

pub mod huggingface;
pub mod json;
pub mod levanter;
pub mod torchtitan;

use crate::error::{Error, Result};
use crate::plan::{Plan, PlannedRun};
use relscale_records::units::FlopsConvention;
use std::path::PathBuf;

/// Configurations for one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// Files with their text, by path from the folder of the export.
    pub files: Vec<(PathBuf, String)>,
    /// What the engine does otherwise than the plan.
    pub differences: Vec<String>,
}

/// Names of the forms of a plan.
pub const FORMS: [&str; 3] = ["levanter", "torchtitan", "json"];

/// A plan in one of [`FORMS`].
///
/// # Errors
/// [`Error::PlanRequest`] for an unknown form; [`Error::Unexportable`] for a model that the engine
/// does not have.
pub fn plan(form: &str, plan: &Plan) -> Result<Exported> {
    match form {
        "levanter" => levanter::export(plan),
        "torchtitan" => torchtitan::export(plan),
        "json" => json::export(plan),
        _ => Err(Error::PlanRequest {
            what: format!("there is no form {form:?} of a plan"),
            hint: format!("choose among {}", FORMS.join(", ")),
        }),
    }
}

/// The lines that every configuration begins with: what the run is, what its FLOPs count, how the
/// engine differs.
fn head(plan: &Plan, run: &PlannedRun, differences: &[String]) -> String {
    let counted = match plan.recipe.flops {
        FlopsConvention::Forward => "forward",
        FlopsConvention::Train => "training",
    };
    let (p, f) = (&run.parameters, &run.flops);
    let mut text = format!(
        "# Run {} of the sweep {}, planned by relscale {}.\n\
         # Budget: {:e} {counted} FLOPs. This run: {:.6e} forward, {:.6e} training FLOPs (3 x forward), {:+.4} % off its budget.\n\
         # {}\n\
         # Parameters: {} not embeddings, {} with the head, {} in all. Tokens: {}.\n",
        run.name,
        plan.recipe.name,
        env!("CARGO_PKG_VERSION"),
        run.budget,
        f.forward,
        f.train,
        100.0 * f.off_budget,
        plan.flops_formula,
        p.non_embedding,
        p.non_embedding_and_head,
        p.total,
        run.tokens,
    );
    for difference in differences {
        text.push_str(&format!("# Differs from the plan: {difference}.\n"));
    }
    text
}

/// A number as YAML 1.1, TOML and Python all read it as a float: a point always, a sign in the
/// exponent.
fn float(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        None => text,
        Some((digits, exponent)) => {
            let digits =
                if digits.contains('.') { digits.to_owned() } else { format!("{digits}.0") };
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            format!("{digits}e{sign}{exponent}")
        }
    }
}

/// Refuses runs with an attention window, which the engines here would train without.
fn refuse_windows(engine: &'static str, plan: &Plan) -> Result<()> {
    let windowed = plan.runs.iter().find(|run| run.architecture.span() < run.architecture.sequence);
    match windowed {
        None => Ok(()),
        Some(run) => Err(Error::Unexportable {
            engine,
            run: run.name.clone(),
            reason: format!(
                "attention looks back {} tokens, which {engine} cannot be told; plan with --window none",
                run.architecture.span()
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::float;

    #[test]
    fn floats_are_floats_to_every_reader() {
        let told = [0.1, 1.0, 1e-15, 2.5e-7, 1e300, 0.003646019340493136].map(float);
        assert_eq!(told, ["0.1", "1.0", "1.0e-15", "2.5e-7", "1.0e+300", "0.003646019340493136"]);
        assert!(told.iter().all(|text| text.parse::<f64>().is_ok()));
    }
}
