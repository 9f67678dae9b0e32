//! What a user may choose.

use relscale_records::units::{FlopsConvention, ParameterConvention};
use relscale_stats::surface::Residual;

use super::point::Point;
use crate::error::LawsError;
use crate::options::FitOptions;
use crate::tables::Select;

/// How FLOPs of a run follow from its size and tokens, as a formula.
pub(super) fn formula(counted: FlopsConvention) -> &'static str {
    match counted {
        FlopsConvention::Train => "6 N D",
        FlopsConvention::Forward => "2 N D",
    }
}

/// Draws behind an interval: its ends then move by 1.6 % of its half width from seed to seed.
const RESAMPLES: u32 = 2000;

/// How far apart, as a ratio less 1, two budgets of a table may lie and be one: steps are whole, so
/// compute misses its budget by a little.
const TOLERANCE: f64 = 0.02;

/// The same of budgets that are computed: N D is not all that a budget counts.
const COMPUTED_TOLERANCE: f64 = 0.05;

/// Options of [`fit_isoflop`](super::fit_isoflop).
#[derive(Debug, Clone, PartialEq)]
pub struct IsoflopOptions {
    /// Columns and rows: two x, parameters and tokens, and one column of losses; those of the table
    /// that `sweep collect` writes unless said otherwise. Without columns to group by, one of the
    /// name `group` or `dataset` groups.
    pub select: Select,
    /// The column of a run's FLOPs, or a product, as `1e9*gflops`; `budget` where not given and
    /// there.
    pub budget: Option<String>,
    /// FLOPs of one unit of the column of budgets, e.g. 1e9 where it counts GFLOPs.
    pub budget_unit: f64,
    /// Compute budgets, in place of any column: 6 N D for training FLOPs, 2 N D for those of the
    /// forward pass.
    pub budget_from: Option<FlopsConvention>,
    /// How far apart, as a ratio less 1, the FLOPs of runs of one budget may lie; `None`: 0.02, or
    /// 0.05 where they are computed.
    pub budget_tolerance: Option<f64>,
    /// What budgets count, where no column `flops_convention` says it.
    pub flops: Option<FlopsConvention>,
    /// What sizes count, where no column `params_convention` says it.
    pub params: Option<ParameterConvention>,
    /// Runs with the highest losses that take no part, of each group.
    pub leave_out_highest: u32,
    /// Huber's threshold for the curves of a budget, in units of the loss; `None`: least squares.
    pub curve_huber: Option<f64>,
    /// Refuse minima whose place the scatter of the runs leaves open on both sides, instead of
    /// listing them with that said.
    pub refuse_flat: bool,
    /// Huber's threshold for the surface, in the unit of [`huber_residual`](Self::huber_residual).
    pub huber_delta: f64,
    /// Of what Huber's loss of the surface is.
    pub huber_residual: Residual,
    /// The exponent a of `N* = A C^a` that every method is held to (that of D* is 1 - a); 0.5 is
    /// alpha = beta.
    pub size_exponent: Option<f64>,
    /// Budgets whose optimum is wanted.
    pub at: Vec<f64>,
    /// Runs that were not trained, whose loss is wanted.
    pub points: Vec<Point>,
    /// Nominal coverage of every interval.
    pub level: f64,
    /// How often scatter (or weights) of the runs are drawn again.
    pub resamples: u32,
    /// Seed of that.
    pub seed: u64,
}

impl Default for IsoflopOptions {
    fn default() -> Self {
        let FitOptions { level, seed, .. } = FitOptions::default();
        Self {
            select: Select::new(&["params", "tokens"], &["loss"]),
            budget: None,
            budget_unit: 1.0,
            budget_from: None,
            budget_tolerance: None,
            flops: None,
            params: None,
            leave_out_highest: 0,
            curve_huber: None,
            refuse_flat: false,
            huber_delta: 1e-3,
            huber_residual: Residual::Logarithm,
            size_exponent: None,
            at: Vec::new(),
            points: Vec::new(),
            level,
            resamples: RESAMPLES,
            seed,
        }
    }
}

impl IsoflopOptions {
    /// The tolerance that holds.
    pub fn tolerance(&self) -> f64 {
        let usual = if self.budget_from.is_some() { COMPUTED_TOLERANCE } else { TOLERANCE };
        self.budget_tolerance.unwrap_or(usual)
    }

    /// Refuses options that no fit can use.
    ///
    /// # Errors
    /// [`LawsError::Option`].
    pub fn validate(&self) -> Result<(), LawsError> {
        FitOptions { level: self.level, resamples: self.resamples, ..FitOptions::default() }
            .validate()?;
        let refuse = |option: &'static str, value: String, expected: &'static str| {
            Err(LawsError::Option { option, value, expected })
        };
        let positive = |option: &'static str, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => refuse(option, value.to_string(), "a number above 0"),
        };
        positive("huber-delta", self.huber_delta)?;
        positive("budget-unit", self.budget_unit)?;
        self.curve_huber.map_or(Ok(()), |delta| positive("curve-huber", delta))?;
        if let Some(tolerance) =
            self.budget_tolerance.filter(|tolerance| !(0.0..1.0).contains(tolerance))
        {
            return refuse(
                "budget-tolerance",
                tolerance.to_string(),
                "a share from 0 to below 1, e.g. 0.05",
            );
        }
        if let Some(a) = self.size_exponent.filter(|a| !(*a > 0.0 && *a < 1.0)) {
            return refuse(
                "size-exponent",
                a.to_string(),
                "a number above 0 and below 1; 0.5 is alpha = beta",
            );
        }
        if let (Some(counted), Some(flops)) = (self.budget_from, self.flops)
            && counted != flops
        {
            let expected = match counted {
                FlopsConvention::Train => "train, for 6 N D counts training FLOPs",
                FlopsConvention::Forward => "fwd, for 2 N D counts FLOPs of the forward pass",
            };
            return refuse("flops", flops.name().to_owned(), expected);
        }
        self.at.iter().try_for_each(|&budget| match (1e-60..=1e60).contains(&budget) {
            true => Ok(()),
            false => {
                refuse("at", budget.to_string(), "a number from 1e-60 to 1e60, as those of tables")
            }
        })
    }
}
