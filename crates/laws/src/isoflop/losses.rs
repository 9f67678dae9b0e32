//! The loss at points that were asked for: by every form of the surface and both ways to fit it,
//! with what speaks for it and how far it is from the runs.

use std::collections::BTreeMap;

use relscale_records::digits;

use super::held_out;
use super::options::IsoflopOptions;
use super::over_training::{self, ByMethod};
use super::run::SweepRun;
use super::spread::Scale;
use super::surface::{self, Drawn};
use crate::error::LawsError;
use crate::result::{
    Flag, FlagCode, HeldOutBy, HeldOutRuns, LossPredictions, LossThere, PointDistance, PointLoss,
    PointPrediction, SurfaceForm, SurfaceMethod,
};

/// What points are judged by.
pub(super) struct Known<'a> {
    pub(super) group: &'a str,
    pub(super) runs: &'a [SweepRun],
    /// The surface with two exponents.
    pub(super) chinchilla: &'a ByMethod,
    /// FLOPs of a run by its N D, where something tells it.
    pub(super) per_product: Option<f64>,
    pub(super) options: &'a IsoflopOptions,
}

impl Known<'_> {
    /// What is known of the points; nothing where none was asked for.
    ///
    /// # Errors
    /// [`LawsError::PointFlops`]: C of a point is given, and nothing tells what it counts.
    pub(super) fn losses(&self) -> Result<Option<LossPredictions>, LawsError> {
        if self.options.points.is_empty() {
            return Ok(None);
        }
        let mut places = Vec::new();
        for point in &self.options.points {
            let place = point.place(self.per_product).ok_or_else(|| LawsError::PointFlops {
                group: self.group.to_owned(),
                point: point.to_string(),
            })?;
            places.push(place);
        }
        let over_training: Vec<(SurfaceMethod, Result<Drawn, String>)> = SurfaceMethod::ALL
            .into_iter()
            .map(|method| {
                let form = SurfaceForm::OverTraining;
                (method, surface::draw(form, method, self.runs, self.options))
            })
            .collect();
        let forms = [
            (SurfaceForm::Chinchilla, self.chinchilla),
            (SurfaceForm::OverTraining, over_training.as_slice()),
        ];
        let points = places.into_iter().map(|place| self.point(place, forms)).collect();
        Ok(Some(LossPredictions {
            over_training: over_training::describe(&over_training, self.per_product, self.options),
            points,
            forms: over_training::compare(self.chinchilla, &over_training, self.options),
            held_out: held_out::checks(self.runs, self.options),
        }))
    }

    fn point(&self, (n, d): (f64, f64), forms: [(SurfaceForm, &ByMethod); 2]) -> PointPrediction {
        let losses = forms.into_iter().flat_map(|(form, drawn)| {
            drawn.iter().map(move |(method, drawn)| {
                let found = drawn.as_ref().map_err(Clone::clone);
                let outcome = found.and_then(|drawn| there(drawn, n, d, self.options.level));
                PointLoss { form, method: *method, outcome: outcome.into() }
            })
        });
        PointPrediction {
            params: n,
            tokens: d,
            flops: self.per_product.map(|k| k * n * d),
            multiplier: d / n,
            distances: self.distances(n, d),
            losses: losses.collect(),
        }
    }

    fn distances(&self, n: f64, d: f64) -> Vec<PointDistance> {
        let k = self.per_product.unwrap_or(1.0);
        let product = if self.per_product.is_some() { "C" } else { "N D" };
        let of = |quantity: &str, of: &dyn Fn(f64, f64) -> f64| {
            let all = || self.runs.iter().map(|run| of(run.params, run.tokens));
            let (at, low) = (of(n, d), all().fold(f64::INFINITY, f64::min));
            let high = all().fold(0.0, f64::max);
            let outside = if at > high { at / high } else { at / low };
            // What is as far as a run but for rounding is inside.
            let inside = (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&at);
            let ratio = if inside { 1.0 } else { outside };
            PointDistance { quantity: quantity.to_owned(), at, low, high, ratio }
        };
        // Without runs there is nothing to be far from.
        if self.runs.is_empty() {
            return Vec::new();
        }
        vec![
            of("N", &|n, _| n),
            of("D", &|_, d| d),
            of(product, &|n, d| k * n * d),
            of("M", &|n, d| d / n),
        ]
    }
}

/// # Errors
/// In words, where the surface has no finite loss there.
fn there(drawn: &Drawn, n: f64, d: f64, level: f64) -> Result<LossThere, String> {
    let (loss, of_surface) = drawn.run(n, d, level);
    let part = |scale, quantity: &dyn Fn(&relscale_stats::surface::Surface) -> f64| {
        drawn.estimate("loss", scale, level, quantity)
    };
    let there = LossThere {
        loss,
        of_surface,
        floor: part(Scale::NotNegative, &|surface| surface.e),
        size: part(Scale::Logarithm, &|surface| surface.size_part(n)),
        data: part(Scale::Logarithm, &|surface| surface.tokens_part(d)),
    };
    match there.loss.value.is_finite() {
        true => Ok(there),
        false => Err("the surface's loss there is beyond the range of numbers".to_owned()),
    }
}

/// The flags that points raise.
pub(super) fn flags(losses: &LossPredictions, runs: &[SweepRun]) -> Vec<Flag> {
    let reach = |by: HeldOutBy| {
        let check = losses.held_out.iter().find(|check| check.by == by)?.outcome.fit()?;
        Some(check.reach)
    };
    let reaches = (reach(HeldOutBy::Compute), reach(HeldOutBy::Multiplier));
    let points = losses.points.iter().filter_map(|point| beyond(point, reaches));
    let narrow = losses.held_out.iter().filter_map(narrow);
    points.chain(narrow).chain(checkpoints(runs)).collect()
}

/// Share of the runs left out that intervals should hold at least, for all that one fit may put
/// several of them on one side.
const HELD: f64 = 0.8;

/// Intervals that did not hold the runs left out.
fn narrow(runs: &HeldOutRuns) -> Option<Flag> {
    let check = runs.outcome.fit()?;
    let few = check.surfaces.iter().filter_map(|surface| {
        let coverage = surface.outcome.fit()?.coverage?;
        let few = f64::from(coverage.inside) < HELD * f64::from(coverage.judged);
        few.then(|| {
            let (form, method) = (surface.form.name(), surface.method.name());
            format!("{} of {} by {form} ({method})", coverage.inside, coverage.judged)
        })
    });
    let few: Vec<String> = few.collect();
    let message = format!(
        "of the runs of most {} left out, intervals held {}: beyond the runs along {0} they are likely too narrow, as they know the \
         scatter of runs and not how far the form is off",
        runs.by.symbol(),
        few.join(", ")
    );
    (!few.is_empty()).then(|| Flag::new(FlagCode::LackOfFit, message))
}

/// A point outside the runs.
fn beyond(point: &PointPrediction, reaches: (Option<f64>, Option<f64>)) -> Option<Flag> {
    let outside: Vec<&PointDistance> =
        point.distances.iter().filter(|distance| distance.ratio != 1.0).collect();
    let told = |distance: &&PointDistance| match distance.ratio > 1.0 {
        true => format!("{} {} times the largest", distance.quantity, times(distance.ratio)),
        false => format!(
            "{} {} times below the smallest",
            distance.quantity,
            times(1.0 / distance.ratio)
        ),
    };
    // C and M alone are what runs were left out by.
    let further = |distance: &&PointDistance| match distance.quantity.as_str() {
        "N" | "D" => false,
        "M" => reaches.1.is_none_or(|reach| distance.ratio > reach || distance.ratio < 1.0),
        _ => reaches.0.is_none_or(|reach| distance.ratio > reach),
    };
    let tested = match outside.iter().any(further) {
        true => {
            "; no run left out here was so far from the others, and an interval knows the scatter of the runs, not whether the form goes on"
        }
        false => "; the runs left out and predicted were as far from the others",
    };
    let words: Vec<String> = outside.iter().map(told).collect();
    let message = format!(
        "N = {}, D = {} is outside the runs: {}{tested}",
        digits::given(point.params),
        digits::given(point.tokens),
        words.join(", ")
    );
    (!outside.is_empty()).then(|| Flag::new(FlagCode::Extrapolation, message))
}

/// `1.30`, `23`, `4.1e5`.
fn times(ratio: f64) -> String {
    match ratio {
        near if near < 10.0 => format!("{near:.2}"),
        far if far < 1e4 => format!("{far:.0}"),
        far => format!("{far:.1e}"),
    }
}

/// Rows of one name and size at several numbers of tokens.
fn checkpoints(runs: &[SweepRun]) -> Option<Flag> {
    let mut named: BTreeMap<&str, Vec<&SweepRun>> = BTreeMap::new();
    for run in runs {
        named.entry(&run.name).or_default().push(run);
    }
    named.retain(|_, rows| {
        let other = |row: &&SweepRun| row.params == rows[0].params && row.tokens != rows[0].tokens;
        rows.iter().any(other)
    });
    let rows: usize = named.values().map(Vec::len).sum();
    let message = format!(
        "{rows} rows are {} runs at several numbers of tokens: checkpoints of one run lie beside the surface together, so that intervals are too \
         narrow, AICc counts them as if they were independent, and a run left out has siblings among the fitted",
        named.len()
    );
    (rows > 0).then(|| Flag::new(FlagCode::SharedRun, message))
}

#[cfg(test)]
mod tests {
    use relscale_stats::bootstrap::normals;
    use relscale_stats::surface::Surface;

    use super::*;

    /// How often an interval of a further run holds one, and how often that of the surface alone
    /// holds the run: `(of a run, of the surface)`, in 100 sweeps of 25 runs with 0.3 % of noise.
    fn held(form: SurfaceForm, (n, d): (f64, f64)) -> (f64, f64) {
        let truth = Surface::from_formula([1.69, 406.4, 486.0, 0.31, 0.31], 1.0, 1.0);
        let options = IsoflopOptions { resamples: 60, ..IsoflopOptions::default() };
        let (sweeps, mut of_run, mut of_surface) = (100_u64, 0, 0);
        for sweep in 0..sweeps {
            let mut noise = vec![0.0; 26];
            normals(11, sweep, &mut noise);
            let mut noise = noise.into_iter().map(|noise| 1.0 + 0.003 * noise);
            let mut runs = Vec::new();
            for budget in [1e17, 1e18, 1e19, 1e20, 1e21] {
                let (best, _) = truth.optimum(budget / 6.0);
                for step in [-0.8, -0.4, 0.0, 0.4, 0.8] {
                    let params = best * 10_f64.powf(step);
                    let tokens = budget / 6.0 / params;
                    let loss = truth.at(params, tokens) * noise.next().unwrap();
                    let name = format!("{budget}-{step}");
                    runs.push(SweepRun { name, budget: Some(budget), params, tokens, loss });
                }
            }
            let drawn = surface::draw(form, SurfaceMethod::VariableProjection, &runs, &options);
            let (run, of_mean) = drawn.unwrap().run(n, d, 0.95);
            let new = truth.at(n, d) * noise.next().unwrap();
            let holds = |(low, high): (f64, f64)| usize::from((low..=high).contains(&new));
            of_run += holds(run.bounds().unwrap());
            of_surface += holds(of_mean.bounds().unwrap());
        }
        let share = |held: usize| held as f64 / sweeps as f64;
        (share(of_run), share(of_surface))
    }

    /// Among the runs, and thirty times beyond them with twenty times as many tokens a parameter.
    #[test]
    fn intervals_hold_a_further_run_as_often_as_they_say() {
        for form in SurfaceForm::ALL {
            for (place, place_of) in [((1e9, 2e10), "inside"), ((4e9, 1.3e12), "beyond")] {
                let (of_run, of_surface) = held(form, place);
                // Three standard errors of a share of 100 below 95 %.
                assert!(of_run >= 0.88, "{form:?} {place_of}: {of_run}");
                // Without the scatter of runs it would show: a surface is known better than a run.
                if place_of == "inside" {
                    assert!(of_surface < 0.8, "{form:?}: {of_surface}");
                }
            }
        }
    }
}
