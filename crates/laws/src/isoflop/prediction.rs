//! What each method says of the optimum of a budget.

use relscale_stats::surface::Surface;

use super::agree;
use super::floor;
use super::minima::Quantity;
use super::options::IsoflopOptions;
use super::path::through;
use super::spread::Scale;
use super::surface::Drawn;
use super::verdicts;
use crate::result::{
    Curve, Estimate, IsoflopBudget, LossForm, MethodOptimum, OptimumLoss, OptimumPrediction,
    SurfaceMethod,
};

/// Everything that can be asked about a budget.
pub(super) struct Methods<'a> {
    pub(super) budgets: &'a [IsoflopBudget],
    pub(super) surfaces: &'a [(SurfaceMethod, Result<Drawn, String>)],
    /// FLOPs of a run by its N D.
    pub(super) flops_per_product: Option<f64>,
    pub(super) options: &'a IsoflopOptions,
}

impl Methods<'_> {
    /// What each says.
    pub(super) fn at(&self, budget: f64) -> OptimumPrediction {
        let mut methods: Vec<MethodOptimum> =
            Curve::ALL.iter().filter_map(|curve| self.curve(*curve, budget)).collect();
        let surfaces =
            self.surfaces.iter().filter_map(|(method, drawn)| Some((method, drawn.as_ref().ok()?)));
        methods.extend(surfaces.filter_map(|(method, drawn)| self.surface(*method, drawn, budget)));
        let all = |method: &MethodOptimum| {
            let pure = method.loss_without_floor.as_ref();
            let found = [&method.params, &method.tokens, &method.loss].into_iter().chain(pure);
            found.into_iter().all(|estimate| estimate.value.is_finite())
        };
        let (methods, beyond): (Vec<_>, Vec<_>) = methods.into_iter().partition(all);
        let decades_beyond = self.measured().map_or(0.0, |(low, high)| {
            if budget > high {
                (budget / high).log10()
            } else if budget < low {
                -(low / budget).log10()
            } else {
                0.0
            }
        });
        let agreement = agree::optima(&methods, decades_beyond != 0.0);
        OptimumPrediction {
            budget,
            decades_beyond,
            loss: expected(&methods, decades_beyond > 0.0),
            verdict: beyond.iter().fold(verdicts::agreement(&agreement), |words, method| {
                format!("{words}; what the {} says is beyond the range of numbers", method.method)
            }),
            agreement,
            methods,
        }
    }

    /// Smallest and largest budget with a minimum.
    pub(super) fn measured(&self) -> Option<(f64, f64)> {
        let with =
            |budget: &&IsoflopBudget| budget.minima.iter().any(|minimum| minimum.found().is_some());
        let mut found = self.budgets.iter().filter(with).map(|budget| budget.budget);
        let first = found.next()?;
        Some((first, found.next_back().unwrap_or(first)))
    }

    fn curve(&self, curve: Curve, budget: f64) -> Option<MethodOptimum> {
        let level = self.options.level;
        let of = |quantity: Quantity| -> Option<Estimate> {
            let line = through(curve, quantity, self.budgets, self.options).ok()?;
            Some(line.predicted(budget, quantity.unit(), level))
        };
        let pure = of(Quantity::Loss)?;
        let floor = floor::through(curve, self.budgets, level).ok().filter(|floor| floor.told);
        let with_floor = floor.and_then(|floor| floor.at(budget, level));
        Some(MethodOptimum {
            method: curve.name().to_owned(),
            params: of(Quantity::Params)?,
            tokens: of(Quantity::Tokens)?,
            loss_form: if with_floor.is_some() {
                LossForm::PowerWithFloor
            } else {
                LossForm::Power
            },
            loss: with_floor.unwrap_or_else(|| pure.clone()),
            loss_without_floor: Some(pure),
        })
    }

    fn surface(&self, method: SurfaceMethod, drawn: &Drawn, budget: f64) -> Option<MethodOptimum> {
        let product = budget / self.flops_per_product?;
        let of = |unit: &str, quantity: &dyn Fn(&Surface) -> f64| {
            drawn.estimate(unit, Scale::Logarithm, self.options.level, quantity)
        };
        let least = |surface: &Surface| {
            let (n, d) = surface.optimum(product);
            surface.at(n, d)
        };
        Some(MethodOptimum {
            method: method.name().to_owned(),
            params: of("parameters", &|surface| surface.optimum(product).0),
            tokens: of("tokens", &|surface| surface.optimum(product).1),
            loss: of("loss", &least),
            loss_form: if drawn.fit.floor_at_zero {
                LossForm::SurfaceWithoutFloor
            } else {
                LossForm::Surface
            },
            loss_without_floor: None,
        })
    }
}

/// Among the budgets the loss by the first method, whatever its form, for there it follows the
/// minima themselves; beyond them by the first that has a floor. Methods come in the order of
/// trust.
fn expected(methods: &[MethodOptimum], beyond: bool) -> Option<OptimumLoss> {
    let fits = |method: &&MethodOptimum| !beyond || method.loss_form.has_floor();
    let chosen = methods.iter().find(fits).or_else(|| methods.first())?;
    Some(OptimumLoss {
        method: chosen.method.clone(),
        form: chosen.loss_form,
        value: chosen.loss.clone(),
    })
}
