//! What a user may choose.

use relscale_records::units::{FlopsConvention, ParameterConvention};

use crate::error::LawsError;
use crate::options::FitOptions;

/// Names of columns. Those of the table that `sweep collect` writes, unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsoflopColumns {
    /// FLOPs of a run's budget.
    pub budget: String,
    /// N.
    pub params: String,
    /// D.
    pub tokens: String,
    /// Loss.
    pub loss: String,
    /// The group, e.g. the dataset; without it, and without a column `group`, all runs are one.
    pub group: Option<String>,
}

impl Default for IsoflopColumns {
    fn default() -> Self {
        let name = str::to_owned;
        Self {
            budget: name("budget"),
            params: name("params"),
            tokens: name("tokens"),
            loss: name("loss"),
            group: None,
        }
    }
}

/// Options of [`fit_isoflop`](super::fit_isoflop).
#[derive(Debug, Clone, PartialEq)]
pub struct IsoflopOptions {
    /// Names of columns.
    pub columns: IsoflopColumns,
    /// What budgets count, where no column `flops_convention` says it.
    pub flops: Option<FlopsConvention>,
    /// What sizes count, where no column `params_convention` says it.
    pub params: Option<ParameterConvention>,
    /// Column and value: only rows that have it.
    pub only: Vec<(String, String)>,
    /// Runs with the highest losses that take no part, of each group.
    pub leave_out_highest: u32,
    /// Huber's threshold for the curves of a budget, in units of the loss; `None`: least squares.
    pub curve_huber: Option<f64>,
    /// Huber's threshold for the surface, in logarithms of the loss.
    pub huber_delta: f64,
    /// Budgets whose optimum is wanted.
    pub at: Vec<f64>,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// How often runs are drawn again.
    pub resamples: u32,
    /// Seed of that.
    pub seed: u64,
}

impl Default for IsoflopOptions {
    fn default() -> Self {
        let FitOptions { level, seed, .. } = FitOptions::default();
        Self {
            columns: IsoflopColumns::default(),
            flops: None,
            params: None,
            only: Vec::new(),
            leave_out_highest: 0,
            curve_huber: None,
            huber_delta: 1e-3,
            at: Vec::new(),
            level,
            resamples: 200,
            seed,
        }
    }
}

impl IsoflopOptions {
    /// Refuses options that no fit can use.
    ///
    /// # Errors
    /// [`LawsError::Option`].
    pub fn validate(&self) -> Result<(), LawsError> {
        FitOptions { level: self.level, resamples: self.resamples, ..FitOptions::default() }.validate()?;
        let positive = |option: &'static str, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => {
                Err(LawsError::Option { option, value: value.to_string(), expected: "a number above 0" })
            }
        };
        positive("huber-delta", self.huber_delta)?;
        self.curve_huber.map_or(Ok(()), |delta| positive("curve-huber", delta))?;
        self.at.iter().try_for_each(|&budget| positive("at", budget))
    }
}
