//! Runs as the fits of a sweep take them.

use std::cmp::Ordering;

use crate::result::LeftOut;

/// One run with its budget, where it has one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SweepRun {
    pub(super) name: String,
    pub(super) budget: Option<f64>,
    pub(super) params: f64,
    pub(super) tokens: f64,
    pub(super) loss: f64,
}

impl SweepRun {
    /// An order of runs that does not depend on that of the rows.
    pub(super) fn in_order(&self, other: &Self) -> Ordering {
        let budget = |run: &Self| run.budget.unwrap_or(f64::INFINITY);
        let numbers = [
            self.params.total_cmp(&other.params),
            self.tokens.total_cmp(&other.tokens),
            self.loss.total_cmp(&other.loss),
            budget(self).total_cmp(&budget(other)),
        ];
        numbers
            .into_iter()
            .fold(Ordering::Equal, Ordering::then)
            .then_with(|| self.name.cmp(&other.name))
    }
}

/// The runs of one group.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) runs: Vec<SweepRun>,
    pub(super) left_out: Vec<LeftOut>,
}
