//! What of the minima is followed over budgets.

use super::options::IsoflopOptions;
use crate::result::{Along, Curve, IsoflopBudget};

/// Which quantity of the minima.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Params,
    Tokens,
    /// The least loss of the curve along tokens.
    Loss,
}

impl Quantity {
    pub(super) fn along(self) -> Along {
        match self {
            Self::Params => Along::Params,
            Self::Tokens | Self::Loss => Along::Tokens,
        }
    }

    pub(super) fn value(self, (at, loss): (f64, f64)) -> f64 {
        match self {
            Self::Params | Self::Tokens => at,
            Self::Loss => loss,
        }
    }

    /// Unit of the quantity.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Params => "parameters",
            Self::Tokens => "tokens",
            Self::Loss => "loss",
        }
    }

    /// The exponent that it is held to: N* that of the option, D* what is left of the budget.
    pub(super) fn held(self, options: &IsoflopOptions) -> Option<f64> {
        match self {
            Self::Params => options.size_exponent,
            Self::Tokens => options.size_exponent.map(|a| 1.0 - a),
            Self::Loss => None,
        }
    }
}

/// Budgets with a minimum, and the quantity there.
pub(super) fn minima(
    curve: Curve,
    quantity: Quantity,
    budgets: &[IsoflopBudget],
) -> (Vec<f64>, Vec<f64>) {
    let point = |budget: &IsoflopBudget| {
        let found = budget.minimum(curve, quantity.along())?.found()?;
        Some((budget.budget, quantity.value(found)))
    };
    budgets.iter().filter_map(point).unzip()
}
