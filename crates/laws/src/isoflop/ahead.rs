//! What each method says of the optimum of a budget.

use relscale_stats::bootstrap::Sample;
use relscale_stats::interval::student;
use relscale_stats::optimise::least_squares::Line;
use relscale_stats::surface::Surface;

use super::options::IsoflopOptions;
use super::path::{Quantity, through};
use super::surface::{Drawn, estimate};
use super::words;
use crate::result::{Curve, Estimate, Interval, IsoflopBudget, MethodOptimum, OptimumAhead, SurfaceMethod};

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
    pub(super) fn at(&self, budget: f64) -> OptimumAhead {
        let mut methods: Vec<MethodOptimum> =
            Curve::ALL.iter().filter_map(|curve| self.curve(*curve, budget)).collect();
        let surfaces =
            self.surfaces.iter().filter_map(|(method, drawn)| Some((method, drawn.as_ref().ok()?)));
        methods.extend(surfaces.filter_map(|(method, drawn)| self.surface(*method, drawn, budget)));
        let measured = self.measured();
        let decades_beyond = measured.map_or(0.0, |(low, high)| {
            if budget > high {
                (budget / high).log10()
            } else if budget < low {
                -(low / budget).log10()
            } else {
                0.0
            }
        });
        OptimumAhead { budget, decades_beyond, verdict: words::of_methods(&methods), methods }
    }

    /// Smallest and largest budget with a minimum.
    pub(super) fn measured(&self) -> Option<(f64, f64)> {
        let with = |budget: &&IsoflopBudget| budget.minima.iter().any(|minimum| minimum.found().is_some());
        let mut found = self.budgets.iter().filter(with).map(|budget| budget.budget);
        let first = found.next()?;
        Some((first, found.next_back().unwrap_or(first)))
    }

    fn curve(&self, curve: Curve, budget: f64) -> Option<MethodOptimum> {
        let of = |quantity, unit: &str| -> Option<Estimate> {
            let line = through(curve, quantity, self.budgets).ok()?;
            Some(predicted(&line, budget, unit, self.options.level))
        };
        Some(MethodOptimum {
            method: curve.name().to_owned(),
            params: of(Quantity::Params, "parameters")?,
            tokens: of(Quantity::Tokens, "tokens")?,
            loss: of(Quantity::Loss, "loss")?,
        })
    }

    fn surface(&self, method: SurfaceMethod, drawn: &Drawn, budget: f64) -> Option<MethodOptimum> {
        let product = budget / self.flops_per_product?;
        let of = |unit: &str, quantity: &dyn Fn(&Surface) -> f64| {
            let sample = Sample::new(drawn.replicates.iter().map(quantity));
            estimate(quantity(&drawn.fit.surface), unit, &sample, self.options.level)
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
        })
    }
}

/// Where one new budget's minimum is expected, by a line in logarithms.
fn predicted(line: &Line, budget: f64, unit: &str, level: f64) -> Estimate {
    let x = budget.ln();
    let value = line.at(x).exp();
    let interval = student::prediction(line, x, level).map_or_else(
        |refusal| Interval::None { reason: refusal.to_string() },
        |t| Interval::StudentT {
            low: t.low.exp(),
            high: t.high.exp(),
            level: t.level,
            degrees_of_freedom: t.degrees_of_freedom as u32,
        },
    );
    let standard_error = line.prediction_standard_error(x, 1.0).map(|error| error * value);
    Estimate { value, unit: unit.to_owned(), standard_error, interval }
}
