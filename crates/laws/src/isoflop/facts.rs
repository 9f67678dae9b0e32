//! What the flags of a group are drawn from.

use relscale_records::units::FlopsConvention;

use super::options::IsoflopOptions;
use super::run::Runs;
use crate::result::{IsoflopBudget, OptimumPrediction};

/// What flags are raised by.
pub(super) struct Facts<'a> {
    pub(super) runs: &'a Runs,
    pub(super) budgets: &'a [IsoflopBudget],
    pub(super) ahead: &'a [OptimumPrediction],
    /// FLOPs of a run by its N D: median, smallest, largest.
    pub(super) per_product: Option<(f64, f64, f64)>,
    /// Exponents of N* and D* by the cubic, where none is held.
    pub(super) exponents: Option<(f64, f64)>,
    /// What FLOPs count, where it is said.
    pub(super) flops: Option<FlopsConvention>,
    /// Whether it is said what sizes count.
    pub(super) params_stated: bool,
    pub(super) options: &'a IsoflopOptions,
}
