//! The four curves through a set of points, and what they say of one new model.
//!
//! Errors are propagated to first order. For a new model at x, with `σ` the scatter about a curve
//! and `s` the standard error of the curve there:
//!
//! ```text
//! both stages      variance = (dacc/dloss · loss)² (σ_1² + s_1²) + s_2² + σ_2²      (stage 1 is of ln loss)
//! one sigmoid      variance = s² + σ²
//! ```
//!
//! with the t quantile of the fewer degrees of freedom. The direct power law has its Student t
//! interval, turned into an accuracy. These take the form of the curve for true; what is quoted of
//! the two direct forms is wider, see `forms`.

use relscale_stats::forms::power::{self, Power};
use relscale_stats::forms::power_floor::PowerFloor;
use relscale_stats::forms::sigmoid::{self, Sigmoid};
use relscale_stats::forms::{self, Curve};
use relscale_stats::interval::profile::{self, ProfileInterval};
use relscale_stats::interval::student::{self, StudentInterval};
use relscale_stats::outcome::Caution;

use super::forms as open_forms;
use crate::intervals::{student_t, traced};
use crate::result::{
    Estimate, Flag, FlagCode, Interval, Outcome, Parameter, Route, RouteTrace, RouteValue,
    StageCurve, StageCurves, StageFormTest, StageTraces, StagesPoint, trace,
};
use crate::rivals;

/// The curves, or why they are not there.
pub(super) struct Chain {
    loss: Result<Curve, String>,
    accuracy: Result<Sigmoid, String>,
    power: Result<Power, String>,
    /// The same for accuracies that scatter by the same share everywhere.
    even_shares: Option<Power>,
    /// Whether the direct power law's points bend.
    form_test: Option<StageFormTest>,
    sigmoid: Result<Sigmoid, String>,
    /// Models whose `-ln accuracy` is 0 or infinite, so that they have no place in the direct power
    /// law.
    without_logarithm: Vec<String>,
}

impl Chain {
    /// Fits all four.
    pub(super) fn fit(points: &[&StagesPoint], chance: Option<f64>) -> Self {
        let of = |value: fn(&StagesPoint) -> f64| -> Vec<f64> {
            points.iter().map(|point| value(point)).collect()
        };
        let (x, loss, accuracy) =
            (of(|point| point.x), of(|point| point.loss), of(|point| point.accuracy));
        let has_logarithm = |point: &StagesPoint| point.accuracy > 0.0 && point.accuracy < 1.0;
        let usable: Vec<&&StagesPoint> =
            points.iter().filter(|point| has_logarithm(point)).collect();
        let power_x: Vec<f64> = usable.iter().map(|point| point.x).collect();
        let transformed: Vec<f64> = usable.iter().map(|point| -point.accuracy.ln()).collect();
        let falling: Vec<f64> = x.iter().map(|x| -x.ln()).collect();
        let power = power::fit(&power_x, &transformed);
        Self {
            even_shares: power
                .as_ref()
                .ok()
                .and_then(|fit| open_forms::even_shares(fit, &power_x, &transformed)),
            form_test: power
                .as_ref()
                .ok()
                .and_then(|fit| open_forms::test(fit, &power_x, &transformed)),
            loss: forms::fit(&PowerFloor, &x, &loss).map_err(|error| error.to_string()),
            accuracy: sigmoid::fit(&loss, &accuracy, chance).map_err(|error| error.to_string()),
            power: power.map_err(|error| error.to_string()),
            sigmoid: sigmoid::fit(&falling, &accuracy, chance).map_err(|error| error.to_string()),
            without_logarithm: points
                .iter()
                .filter(|point| !has_logarithm(point))
                .map(|point| point.label.clone())
                .collect(),
        }
    }

    /// The loss of one new model at x, by the first stage.
    pub(super) fn loss_at(&self, x: f64, level: f64) -> Option<Estimate> {
        let curve = self.loss.as_ref().ok()?;
        let value = curve.shape.at(x)?;
        let interval = profile::prediction(curve, x, level).map(|found| ProfileInterval {
            low: found.low.map(f64::exp),
            high: found.high.map(f64::exp),
            ..found
        });
        Some(Estimate {
            value,
            unit: "as given".to_owned(),
            standard_error: relative_error(curve, x)
                .map(|error| error * value)
                .filter(|error| error.is_finite()),
            interval: traced(interval),
        })
    }

    /// The accuracy of one new model by a route, with the interval that is quoted; `loss` is its
    /// own, for the second stage alone.
    pub(super) fn value_at(
        &self,
        route: Route,
        x: f64,
        loss: Option<f64>,
        level: f64,
    ) -> Option<RouteValue> {
        let own = self.accuracy_at(route, x, loss, level)?;
        let other = open_forms::other(route);
        let other = other.and_then(|route| self.accuracy_at(route, x, loss, level));
        Some(open_forms::open(route, own, other.as_ref(), self.even_shares(), x, level))
    }

    /// The direct power law for accuracies that scatter by the same share everywhere; `None` where
    /// the law is the wrong form, so that its scatter is no scatter.
    pub(super) fn even_shares(&self) -> Option<&Power> {
        self.even_shares.as_ref().filter(|_| !self.form_test.is_some_and(|test| test.rejected))
    }

    /// As [`value_at`](Self::value_at), with the interval that takes the route's form for true.
    pub(super) fn accuracy_at(
        &self,
        route: Route,
        x: f64,
        loss: Option<f64>,
        level: f64,
    ) -> Option<Estimate> {
        match route {
            Route::SecondStage => Some(one_sigmoid(self.accuracy.as_ref().ok()?, loss?, level)),
            Route::DirectSigmoid => Some(one_sigmoid(self.sigmoid.as_ref().ok()?, -x.ln(), level)),
            Route::Chain => {
                let (first, second) = (self.loss.as_ref().ok()?, self.accuracy.as_ref().ok()?);
                let loss = first.shape.at(x).filter(|loss| loss.is_finite())?;
                let passed_on =
                    relative_error(first, x).map(|error| second.slope(loss) * loss * error);
                let error =
                    passed_on.zip(own_error(second, loss)).map(|(first, own)| first.hypot(own));
                let freedom = first.degrees_of_freedom().min(second.degrees_of_freedom());
                Some(share(second.at(loss), error, freedom, level))
            }
            Route::DirectPower => {
                let power = self.power.as_ref().ok()?;
                let value = (-power.at(x)).exp();
                let interval = power.prediction_interval(x, level).map(|found| StudentInterval {
                    low: (-found.high).exp(),
                    high: (-found.low).exp(),
                    ..found
                });
                let error = power.line.prediction_standard_error(x.ln(), 1.0);
                Some(Estimate {
                    value,
                    unit: UNIT.to_owned(),
                    // Nothing times infinity, where the accuracy is 1 for all that numbers tell.
                    standard_error: error
                        .map(|error| value * power.at(x) * error)
                        .filter(|error| error.is_finite()),
                    interval: student_t(interval),
                })
            }
        }
    }

    /// As it is stored; traced over `x` and `loss`, each from smallest to largest.
    pub(super) fn describe(&self, x: (f64, f64), loss: (f64, f64), level: f64) -> StageCurves {
        StageCurves {
            traces: self.traces(x, loss, level),
            loss: outcome(&self.loss, |curve| first_stage(curve, level)),
            accuracy: outcome(&self.accuracy, |fit| {
                sigmoid_curve(fit, "1 / unit of the loss", "as given", level)
            }),
            direct_power: outcome(&self.power, |fit| self.power_curve(fit, level)),
            direct_sigmoid: outcome(&self.sigmoid, |fit| sigmoid_curve(fit, "1", "-ln x", level)),
        }
    }

    fn traces(&self, x: (f64, f64), loss: (f64, f64), level: f64) -> StageTraces {
        let of = |found: Estimate| (found.value, found.bounds());
        let first = self.loss.as_ref().ok();
        let second = self.accuracy.as_ref().ok();
        let over_x = |route| {
            trace(x.0, x.1, PLACES, |x| {
                self.value_at(route, x, None, level).map(|found| of(found.accuracy))
            })
        };
        StageTraces {
            loss: trace(x.0, x.1, PLACES, |x| Some((first?.shape.at(x)?, None))),
            accuracy: trace(loss.0, loss.1, PLACES, |loss| {
                Some(of(one_sigmoid(second?, loss, level)))
            }),
            routes: FROM_X
                .into_iter()
                .map(|route| RouteTrace { route, accuracy: over_x(route) })
                .filter(|traced| !traced.accuracy.is_empty())
                .collect(),
        }
    }

    fn power_curve(&self, fit: &Power, level: f64) -> StageCurve {
        let mut flags = Vec::new();
        if !self.without_logarithm.is_empty() {
            flags.push(Flag::new(
                FlagCode::PointsLeftOut,
                format!(
                    "left out of the direct power law, as an accuracy of 0 or 1 has no ln(-ln accuracy): {}",
                    self.without_logarithm.join(", ")
                ),
            ));
        }
        flags.extend(open_forms::flags(self.form_test.as_ref(), self.sigmoid.is_ok()));
        let exponent = Estimate {
            value: fit.exponent(),
            unit: "1".to_owned(),
            standard_error: fit.line.slope_standard_error().filter(|error| error.is_finite()),
            interval: student_t(fit.exponent_interval(level)),
        };
        StageCurve {
            parameters: vec![Parameter::new("alpha", exponent)],
            r_squared: fit.line.r_squared,
            residual_standard_deviation: fit.line.residual_variance().unwrap_or(0.0).sqrt(),
            points: fit.line.points() as u32,
            form_test: self.form_test,
            flags,
        }
    }
}

const UNIT: &str = "share";

/// Places at which a curve is traced: enough for the bends of a sigmoid.
const PLACES: u32 = 41;

/// The ways that need no loss of the model itself.
pub(super) const FROM_X: [Route; 3] = [Route::Chain, Route::DirectPower, Route::DirectSigmoid];

fn outcome<T>(fit: &Result<T, String>, describe: impl Fn(&T) -> StageCurve) -> Outcome<StageCurve> {
    fit.as_ref().map(describe).into()
}

/// Standard error of ln loss of one new model at x.
fn relative_error(curve: &Curve, x: f64) -> Option<f64> {
    let of_curve = curve.standard_error(|shape| shape.log_at(x).unwrap_or(f64::NAN))?;
    Some(of_curve.hypot(curve.residual_variance().sqrt())).filter(|error| error.is_finite())
}

/// Standard error of one new share at a loss that is known.
fn own_error(fit: &Sigmoid, loss: f64) -> Option<f64> {
    Some(fit.mean_standard_error(loss)?.hypot(fit.residual_variance().sqrt()))
}

fn one_sigmoid(fit: &Sigmoid, loss: f64, level: f64) -> Estimate {
    share(fit.at(loss), own_error(fit, loss), fit.degrees_of_freedom(), level)
}

/// A share with its interval, which cannot leave 0 to 1.
fn share(
    value: f64,
    standard_error: Option<f64>,
    degrees_of_freedom: usize,
    level: f64,
) -> Estimate {
    // Far beyond the points a slope may leave the range of numbers, or be nothing times infinity.
    let standard_error = standard_error.filter(|error| error.is_finite());
    let interval = match (standard_error, student::two_sided_quantile(level, degrees_of_freedom)) {
        (Some(error), Ok(t)) => student_t(Ok(StudentInterval {
            low: (value - t * error).max(0.0),
            high: (value + t * error).min(1.0),
            level,
            degrees_of_freedom,
        })),
        (_, Err(refusal)) => Interval::None { reason: refusal.to_string() },
        (None, _) => {
            Interval::None { reason: "the points do not determine the curve there".to_owned() }
        }
    };
    Estimate { value, unit: UNIT.to_owned(), standard_error, interval }
}

fn first_stage(curve: &Curve, level: f64) -> StageCurve {
    let parameters = curve
        .parameters()
        .into_iter()
        .enumerate()
        .filter(|(_, parameter)| parameter.value.is_finite())
        .map(|(at, parameter)| {
            let unit = match parameter.name {
                "alpha" => "1",
                "a" => "unit of the loss at x = 1",
                _ => "unit of the loss",
            };
            let estimate = Estimate {
                value: parameter.value,
                unit: unit.to_owned(),
                standard_error: parameter.standard_error.filter(|error| error.is_finite()),
                interval: traced(profile::parameter(curve, at, level)),
            };
            Parameter::new(parameter.name, estimate)
        })
        .collect();
    StageCurve {
        parameters,
        r_squared: curve.r_squared,
        residual_standard_deviation: curve.residual_variance().sqrt(),
        points: curve.points() as u32,
        form_test: None,
        flags: flags(&curve.cautions),
    }
}

fn sigmoid_curve(fit: &Sigmoid, rate_unit: &str, midpoint_unit: &str, level: f64) -> StageCurve {
    let values = [
        ("rate", fit.rate, rate_unit),
        ("midpoint", fit.midpoint, midpoint_unit),
        ("upper", fit.upper, UNIT),
        ("lower", fit.lower, UNIT),
    ];
    let parameters = values
        .into_iter()
        .zip(fit.standard_errors)
        .map(|((name, value, unit), standard_error)| {
            let standard_error = standard_error.filter(|error| error.is_finite());
            let interval = match (
                standard_error,
                student::two_sided_quantile(level, fit.degrees_of_freedom()),
            ) {
                (Some(error), Ok(t)) => student_t(Ok(StudentInterval {
                    low: value - t * error,
                    high: value + t * error,
                    level,
                    degrees_of_freedom: fit.degrees_of_freedom(),
                })),
                _ if name == "lower" && fit.lower_is_given => {
                    Interval::None { reason: "given".to_owned() }
                }
                _ => Interval::None {
                    reason: "at its limit, or not determined by the points".to_owned(),
                },
            };
            let estimate = Estimate { value, unit: unit.to_owned(), standard_error, interval };
            Parameter::new(name, estimate)
        })
        .collect();
    StageCurve {
        parameters,
        r_squared: fit.r_squared,
        residual_standard_deviation: fit.residual_variance().sqrt(),
        points: fit.residuals.len() as u32,
        form_test: None,
        flags: flags(&fit.cautions),
    }
}

fn flags(cautions: &[Caution]) -> Vec<Flag> {
    cautions.iter().filter_map(rivals::flag).collect()
}
