//! One point a budget: what each distribution's error is at the optimum of the baseline.
//!
//! `keep_best` takes the best model that was trained, which may lie beside the optimum by half the
//! spacing of the sizes. Here a cubic in the logarithm of size (or tokens) goes through each
//! distribution's models of a budget; the baseline's has its minimum at the optimum, and every
//! curve is read there.

use relscale_stats::optimise::polynomial::{self, Polynomial};

use super::series::{Measurements, ModelFamily, ONE_BUDGET, Series, SeriesPoint};
use crate::result::LeftOut;

/// Models of a budget without which a cubic says nothing.
const MODELS: usize = 4;

impl Measurements {
    /// Puts the errors at the baseline's optimum of each budget (x within 2 %) in place of the
    /// models'. A budget whose optimum no models bracket, or on which a distribution has fewer than
    /// four models or none on both sides, is listed as left out.
    pub fn at_optimum(&mut self, baseline: &str) {
        for family in &mut self.families {
            let Some(judge) = family.series.iter().find(|series| series.distribution == baseline)
            else {
                continue;
            };
            let optima: Vec<Budget> = budgets(judge)
                .into_iter()
                .map(|models| Budget::new(family, judge, models))
                .collect();
            for series in &mut family.series {
                let points = std::mem::take(&mut series.points);
                for budget in &optima {
                    let name = format!("optimum at {:.3e}", budget.x);
                    match budget.error(&points, &family.places) {
                        Ok(error) => series.points.push(SeriesPoint {
                            counted: None,
                            model: name,
                            x: budget.x,
                            error,
                            replicates: Err(
                                "a point between models has no documents to draw again".to_owned(),
                            ),
                        }),
                        Err(reason) => series.left_out.push(LeftOut::new(name, reason)),
                    }
                }
            }
        }
    }
}

/// The models of each budget, smallest budget first.
fn budgets(series: &Series) -> Vec<Vec<&SeriesPoint>> {
    let mut points: Vec<&SeriesPoint> = series.points.iter().collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then_with(|| a.model.cmp(&b.model)));
    points.chunk_by(|a, b| b.x <= a.x * ONE_BUDGET).map(<[_]>::to_vec).collect()
}

/// One budget with the baseline's optimum.
struct Budget {
    /// Geometric mean of its models' x.
    x: f64,
    models: Vec<String>,
    /// The optimum, in the logarithm of the place, or why there is none.
    optimum: Result<f64, String>,
}

impl Budget {
    fn new(family: &ModelFamily, judge: &Series, models: Vec<&SeriesPoint>) -> Self {
        let x = (models.iter().map(|point| point.x.ln()).sum::<f64>() / models.len() as f64).exp();
        let models: Vec<String> = models.into_iter().map(|point| point.model.clone()).collect();
        let optimum = curve(&judge.points, &models, &family.places).and_then(|(fit, low, high)| {
            fit.minimum(low, high)
                .ok_or_else(|| "its optimum on the baseline is not bracketed by models".to_owned())
        });
        Self { x, models, optimum }
    }

    /// The error of a distribution there.
    fn error(
        &self,
        points: &[SeriesPoint],
        places: &std::collections::BTreeMap<String, f64>,
    ) -> Result<f64, String> {
        let optimum = self.optimum.as_ref().map_err(Clone::clone)?;
        let (fit, low, high) = curve(points, &self.models, places)?;
        if !(low < *optimum && *optimum < high) {
            return Err("the optimum of the baseline lies outside its models".to_owned());
        }
        let error = fit.at(*optimum);
        if error > 0.0 { Ok(error) } else { Err(format!("its curve is {error} at the optimum")) }
    }
}

/// The cubic through some models' errors, with the smallest and largest logarithm of their places.
fn curve(
    points: &[SeriesPoint],
    models: &[String],
    places: &std::collections::BTreeMap<String, f64>,
) -> Result<(Polynomial, f64, f64), String> {
    let of = points.iter().filter(|point| models.contains(&point.model));
    let (x, y): (Vec<f64>, Vec<f64>) =
        of.filter_map(|point| Some((places.get(&point.model)?.ln(), point.error))).unzip();
    if x.len() < MODELS {
        return Err(format!(
            "{} models whose place is known, and an optimum needs {MODELS}",
            x.len()
        ));
    }
    let fit = polynomial::fit(&x, &y, 3, None).map_err(|refusal| refusal.to_string())?;
    let low = x.iter().copied().fold(f64::INFINITY, f64::min);
    let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Ok((fit, low, high))
}
