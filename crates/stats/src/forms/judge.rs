//! What must be said about a fitted curve: bounds, conditioning, lack of fit.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::curve::Curve;
use crate::optimise::Symmetric;
use crate::outcome::Caution;

/// Condition number of the scaled derivatives from which on two parameters stand in for one another: errors in the data are
/// magnified up to so many times in some combination of them. (Belsley, Kuh and Welsch 1980 call 30 to 100 strong.)
pub(super) const ILL: f64 = 300.0;

/// Share of the variation of `ln y` below which residuals are rounding, not scatter.
pub(super) const EXACT: f64 = 1e-24;

/// Chance below which a bend in the residuals is told.
const BENT: f64 = 0.01;

/// Fills in leverage, condition and cautions.
pub(super) fn judge(curve: &mut Curve, confirmed: bool, constant: bool) {
    let free = curve.free();
    let columns = curve.columns(&curve.shape, &free);
    let orthonormal = orthonormal(&columns);
    curve.leverage = (0..curve.points())
        .map(|point| orthonormal.iter().map(|column| column[point] * column[point]).sum::<f64>().min(1.0))
        .collect();
    curve.condition = Symmetric::of(&columns).condition();

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

/// Chance that independent scatter bends the residuals this much: Student's t of the coefficient of `u²` when that
/// is added to the derivatives of the form (as Ramsey's RESET test 1969, at the optimum). Needs a degree of freedom
/// besides.
fn bend(curve: &Curve, orthonormal: &[Vec<f64>]) -> Option<f64> {
    let freedom = curve.points().checked_sub(orthonormal.len() + 1).filter(|freedom| *freedom > 0)?;
    let square: Vec<f64> = curve.points.u.iter().map(|u| u * u).collect();
    let length = dot(&square, &square).sqrt();
    let mut rest = square;
    for _ in 0..2 {
        for known in orthonormal {
            let share = dot(known, &rest);
            rest.iter_mut().zip(known).for_each(|(value, known)| *value -= share * known);
        }
    }
    let left = dot(&rest, &rest).sqrt();
    if left <= 1e-8 * length {
        return None;
    }
    let explained = dot(&rest, &curve.residuals) / left;
    let unexplained = (curve.residual_sum_of_squares - explained * explained).max(0.0) / freedom as f64;
    let t = explained.abs() / unexplained.sqrt();
    let student = StudentsT::new(0.0, 1.0, freedom as f64).ok()?;
    Some(2.0 * student.sf(t)).filter(|p_value| p_value.is_finite())
}

/// An orthonormal basis of the columns' span; columns that add nothing are left out.
pub(super) fn orthonormal(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let length = dot(column, column).sqrt();
        let mut rest = column.clone();
        for _ in 0..2 {
            for known in &basis {
                let share = dot(known, &rest);
                rest.iter_mut().zip(known).for_each(|(value, known)| *value -= share * known);
            }
        }
        let left = dot(&rest, &rest).sqrt();
        if left > 1e-10 * length {
            rest.iter_mut().for_each(|value| *value /= left);
            basis.push(rest);
        }
    }
    basis
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(l, r)| l * r).sum()
}
