//! What planning gives: [`Plan`], its runs and its file.

use super::architecture::{Architecture, Parameters};
use super::recipe::{OptimiserKind, SweepRecipe};
use super::time::TimeBasis;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Version of the plan's file; rises when an older program would misread it.
pub const PLAN_FORMAT: u32 = 1;

/// Runs to train, and what decided them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_FORMAT`].
    pub format: u32,
    /// The rules, with what the user changed in them.
    pub recipe: SweepRecipe,
    /// How the FLOPs of a token are counted.
    pub flops_formula: String,
    /// How the times of the runs came about; `None`: nobody asked.
    pub time: Option<TimeBasis>,
    /// The runs, by budget and width.
    pub runs: Vec<PlannedRun>,
    /// Candidates that make no run.
    pub dropped: Vec<Dropped>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Budget, width, layers and batch, e.g. `1e18-d512-L6-B32`; no two are alike within a plan.
    pub name: String,
    /// Its budget, FLOPs in the recipe's convention.
    pub budget: f64,
    /// The model.
    pub architecture: Architecture,
    /// Its parameters.
    pub parameters: Parameters,
    /// Sequences of one step.
    pub batch: usize,
    /// Steps.
    pub steps: u32,
    /// Tokens seen: `batch * steps * sequence`.
    pub tokens: u64,
    /// How it is optimised.
    pub optimiser: Optimiser,
    /// What it costs.
    pub flops: RunFlops,
    /// Seed of the weights and of the order of the text.
    pub seed: u64,
    /// Seconds on this machine, by [`Plan::time`].
    pub seconds: Option<f64>,
}

/// Settings of a run's optimiser.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Optimiser {
    /// Which one.
    pub kind: OptimiserKind,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub epsilon: f64,
    /// Decoupled weight decay of the matrices.
    pub weight_decay: f64,
    /// Largest norm of a step's gradient.
    pub clip: f64,
    /// Factor of the z-loss, the squared logarithm of the softmax's normaliser; 0: none.
    #[serde(default)]
    pub z_loss: f64,
    /// Share of the steps over which the learning rate rises from 0.
    pub warm_up: f64,
    /// Share of the steps over which it falls to 0 at the end.
    pub decay: f64,
}

/// What a run costs, FLOPs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunFlops {
    /// Forward pass of one token.
    pub forward_per_token: f64,
    /// Forward passes of all tokens.
    pub forward: f64,
    /// Forward and backward: three times that.
    pub train: f64,
    /// By how much it misses its budget, as a share of it; below 0: it costs less.
    pub off_budget: f64,
}

/// A candidate that makes no run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// Its budget, FLOPs in the recipe's convention.
    pub budget: f64,
    /// Its width.
    pub width: usize,
    /// Why.
    pub reason: String,
}

impl Plan {
    /// Tokens of all runs.
    pub fn tokens(&self) -> u64 {
        self.runs.iter().map(|run| run.tokens).sum()
    }

    /// Training FLOPs of all runs.
    pub fn train_flops(&self) -> f64 {
        self.runs.iter().map(|run| run.flops.train).sum()
    }

    /// The plan as indented JSON with a line feed at its end; the same plan gives the same bytes.
    ///
    /// # Errors
    /// [`Error::Plan`] should a number not fit JSON.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        let text = text
            .map_err(|error| Error::Plan { path: "the plan".into(), reason: error.to_string() })?;
        Ok(text + "\n")
    }

    /// Reads a plan's file.
    ///
    /// # Errors
    /// [`Error::Plan`], naming the file, when it cannot be read, is no plan, is of a newer format,
    /// or holds a run that contradicts itself.
    pub fn read(path: &Path) -> Result<Self> {
        let refused = |reason: String| Error::Plan { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let head: Head = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
        if head.format > PLAN_FORMAT {
            return Err(refused(format!(
                "format {} is newer than {PLAN_FORMAT}, which this program knows",
                head.format
            )));
        }
        let plan: Self = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
        plan.check().map_err(refused)?;
        Ok(plan)
    }

    /// What a hand-edited plan may have made inconsistent.
    fn check(&self) -> Result<(), String> {
        for (number, run) in self.runs.iter().enumerate() {
            let say = |what: &str| Err(format!("run {}: {what}", run.name));
            let plain = run.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c));
            if run.name.is_empty() || run.name.starts_with('.') || !plain {
                return say(
                    "a name is made of letters, digits and - _ . +, since it becomes a folder",
                );
            }
            if self.runs[..number].iter().any(|other| other.name == run.name) {
                return say("two runs have this name");
            }
            let (model, recipe) = (&run.architecture, &self.recipe);
            if (model.vocabulary, model.sequence) != (recipe.vocabulary, recipe.sequence) {
                return say(
                    "its vocabulary or sequence is not the recipe's, so its loss would not compare",
                );
            }
            if run.architecture.parameters() != run.parameters {
                return say("its parameters are not those of its architecture");
            }
            let tokens = run.batch as u64 * u64::from(run.steps) * run.architecture.sequence as u64;
            if run.batch == 0 || run.steps == 0 || tokens != run.tokens {
                return say("its tokens are not batch * steps * sequence");
            }
            let o = &run.optimiser;
            let settings = [
                o.learning_rate,
                o.beta1,
                o.beta2,
                o.epsilon,
                o.weight_decay,
                o.clip,
                o.warm_up,
                o.decay,
                o.z_loss,
            ];
            if !settings.iter().all(|value| value.is_finite() && *value >= 0.0) {
                return say("a setting of its optimiser is below 0 or no number");
            }
        }
        Ok(())
    }
}
