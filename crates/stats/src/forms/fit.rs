//! Fitting a form to points, and what must be said about the fit: bounds, conditioning, lack of
//! fit.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::curve::{Curve, PARALLEL, Points, Shape};
use super::{Form, Frame, Span, power};
use crate::check;
use crate::error::StatsError;
use crate::optimise::varpro::{self, Solution};
use crate::optimise::{Symmetric, dot, orthonormal, remainder};
use crate::outcome::Caution;

/// Condition number of the scaled derivatives from which on two parameters stand in for one
/// another: errors in the data are magnified up to so many times in some combination of them.
/// (Belsley, Kuh and Welsch 1980 call 30 to 100 strong.)
pub(super) const ILL: f64 = 300.0;

/// Share of the variation of `ln y` below which residuals are rounding, not scatter.
pub(super) const EXACT: f64 = 1e-24;

/// Chance below which a bend in the residuals is told.
const BENT: f64 = 0.01;

/// Fits `form` to `y` at `x`, both above zero, in any order.
///
/// ```
/// use relscale_stats::forms::{self, power_floor::PowerFloor};
/// let x = [1e6, 1e7, 1e8, 1e9, 1e10];
/// let y = x.map(|x: f64| 40.0 * x.powf(-0.3) + 0.5);
/// let fit = forms::fit(&PowerFloor, &x, &y).unwrap();
/// let [a, alpha, c] = fit.shape.values()[..] else { unreachable!() };
/// assert!((a - 40.0).abs() < 1e-4 && (alpha - 0.3).abs() < 1e-7 && (c - 0.5).abs() < 1e-7);
/// ```
///
/// # Errors
/// No more points than parameters (nothing would be left to judge the fit by); an x or y that is
/// not above zero; slices of different length; all x equal; no parameters at which the form is
/// above zero at every point.
pub fn fit(form: &'static dyn Form, x: &[f64], y: &[f64]) -> Result<Curve, StatsError> {
    check::columns(&[("x", x), ("y", y)])?;
    let (log_x, log_y) = (power::logarithms("x", x)?, power::logarithms("y", y)?);
    let needed = form.parameters().len() + 1;
    if x.len() < needed {
        return Err(StatsError::TooFewForForm {
            form: form.name(),
            parameters: needed - 1,
            given: x.len(),
            needed,
        });
    }
    if x.iter().all(|value| *value == x[0]) {
        return Err(StatsError::NoSpread { points: x.len(), x: x[0] });
    }
    let (mean_x, u) = centred(&log_x);
    let (mean_y, v) = centred(&log_y);
    let (axes, span) = {
        let mut order: Vec<usize> = (0..u.len()).collect();
        order.sort_by(|&a, &b| u[a].total_cmp(&u[b]));
        let sorted = |values: &[f64]| -> Vec<f64> { order.iter().map(|&at| values[at]).collect() };
        let ascending = sorted(&u);
        let span = Span { low: ascending[0], high: ascending[ascending.len() - 1] };
        (form.axes(&ascending, &sorted(&v)), span)
    };
    let points = Points { form, span, u, v, axes };
    let found = varpro::fit(&points, &points.v).ok_or(StatsError::NoStart { form: form.name() })?;
    let frame = Frame { log_x: mean_x, log_y: mean_y, span };
    Ok(described(points, frame, found))
}

/// The curve that was found, with what there is to say about it.
fn described(points: Points, frame: Frame, found: Solution) -> Curve {
    let total: f64 = points.v.iter().map(|v| v * v).sum();
    let constant = points.v.iter().all(|v| *v == points.v[0]);
    let mut curve = Curve {
        shape: Shape { form: points.form, frame, theta: found.theta, beta: found.beta },
        residuals: found.residuals,
        leverage: Vec::new(),
        residual_sum_of_squares: found.sum,
        r_squared: (!constant && total > 0.0).then(|| (1.0 - found.sum / total).clamp(0.0, 1.0)),
        condition: 1.0,
        cautions: Vec::new(),
        points,
    };
    judge(&mut curve, found.confirmed, constant);
    curve
}

/// Fills in leverage, condition and cautions.
fn judge(curve: &mut Curve, confirmed: bool, constant: bool) {
    let free = curve.free();
    let columns = curve.columns(&curve.shape, &free);
    let orthonormal = orthonormal(columns.clone(), PARALLEL);
    curve.leverage = (0..curve.points())
        .map(|point| {
            orthonormal.iter().map(|column| column[point] * column[point]).sum::<f64>().min(1.0)
        })
        .collect();
    curve.condition = Symmetric::from_columns(&columns).condition();

    let total: f64 = curve.points.v.iter().map(|v| v * v).sum();
    let exact = curve.residual_sum_of_squares <= EXACT * total;
    let mut cautions = Vec::new();
    if constant {
        cautions.push(Caution::Constant);
    } else if exact {
        cautions.push(Caution::Exact);
    }
    for (axis, upper) in curve.at_bounds() {
        cautions.push(Caution::AtBound { meaning: curve.shape.form.limit(axis, upper) });
    }
    if curve.condition > ILL {
        cautions.push(Caution::IllConditioned { condition: curve.condition });
    }
    if !confirmed {
        cautions.push(Caution::Unconfirmed);
    }
    if !exact
        && !constant
        && let Some(p_value) = bend(curve, &orthonormal)
        && p_value < BENT
    {
        cautions.push(Caution::LackOfFit { p_value });
    }
    curve.cautions = cautions;
}

/// Chance that independent scatter bends the residuals this much: Student's t of the coefficient of
/// `u²` when that is added to the derivatives of the form (as Ramsey's RESET test 1969, at the
/// optimum). Needs a degree of freedom besides.
fn bend(curve: &Curve, orthonormal: &[Vec<f64>]) -> Option<f64> {
    let freedom =
        curve.points().checked_sub(orthonormal.len() + 1).filter(|freedom| *freedom > 0)?;
    let square: Vec<f64> = curve.points.u.iter().map(|u| u * u).collect();
    let (rest, left) = remainder(square, orthonormal, 1e-8)?;
    let explained = dot(&rest, &curve.residuals) / left;
    let unexplained =
        (curve.residual_sum_of_squares - explained * explained).max(0.0) / freedom as f64;
    let t = explained.abs() / unexplained.sqrt();
    let student = StudentsT::new(0.0, 1.0, freedom as f64).ok()?;
    Some(2.0 * student.sf(t)).filter(|p_value| p_value.is_finite())
}

/// The mean, and the values less it.
fn centred(values: &[f64]) -> (f64, Vec<f64>) {
    let count = values.len() as f64;
    let first = values[0];
    let mean = first + values.iter().map(|value| value - first).sum::<f64>() / count;
    (mean, values.iter().map(|value| value - mean).collect())
}
