//! The parabola `y = a + b u + c u²` with the least sum of squared residuals, `u = x - mean x`.

use super::{Symmetric, solve};
use crate::error::StatsError;

/// A fitted parabola.
#[derive(Debug, Clone, PartialEq)]
pub struct Parabola {
    /// Mean of x, about which the coefficients are.
    pub centre: f64,
    /// a, b and c.
    pub coefficients: [f64; 3],
    /// `y - fitted`, in the order of the points.
    pub residuals: Vec<f64>,
    /// Each point's own weight in its fitted value; they sum to 3.
    pub leverage: Vec<f64>,
    /// `1 - Σ residual² / Σ (y - mean)²`; absent when all y are equal.
    pub r_squared: Option<f64>,
    /// The same for each point predicted from all others; absent when all y are equal or a point alone decides the fit. It falls below 0 when
    /// the mean of the others would predict better.
    pub left_out_r_squared: Option<f64>,
}

impl Parabola {
    /// The parabola's value.
    pub fn at(&self, x: f64) -> f64 {
        let u = x - self.centre;
        let [a, b, c] = self.coefficients;
        a + u * (b + u * c)
    }
}

/// Fits a parabola to at least four points of at least three different x.
///
/// ```
/// use relscale_stats::optimise::parabola;
/// let fit = parabola::fit(&[0.0, 1.0, 2.0, 3.0], &[1.0, 0.0, 1.0, 4.0]).unwrap(); // (x - 1)²
/// assert!((fit.at(5.0) - 16.0).abs() < 1e-12 && (fit.coefficients[2] - 1.0).abs() < 1e-14);
/// ```
///
/// # Errors
/// Slices of different length; fewer than four points; an entry that is not finite; fewer than three different x.
pub fn fit(x: &[f64], y: &[f64]) -> Result<Parabola, StatsError> {
    if x.len() != y.len() {
        return Err(StatsError::Lengths {
            left: "x",
            left_length: x.len(),
            right: "y",
            right_length: y.len(),
        });
    }
    for (what, values) in [("x", x), ("y", y)] {
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(StatsError::NonFinite { what, index, value: values[index] });
        }
    }
    if x.len() < 4 {
        return Err(StatsError::TooFewForForm { form: "parabola", parameters: 3, given: x.len(), needed: 4 });
    }
    let count = x.len() as f64;
    let (centre, mean) = (x.iter().sum::<f64>() / count, y.iter().sum::<f64>() / count);
    let u: Vec<f64> = x.iter().map(|x| x - centre).collect();
    let columns = [vec![1.0; u.len()], u.clone(), u.iter().map(|u| u * u).collect()];
    let normal = Symmetric::of(&columns);
    let no_spread = StatsError::NoSpread { points: x.len(), x: centre };
    if normal.condition() >= 1e7 {
        return Err(no_spread);
    }
    let unit: Vec<Vec<f64>> = columns
        .iter()
        .zip(&normal.lengths)
        .map(|(column, length)| column.iter().map(|entry| entry / length).collect())
        .collect();
    let right: Vec<f64> =
        unit.iter().map(|column| column.iter().zip(y).map(|(entry, y)| entry * (y - mean)).sum()).collect();
    let solution = solve(&normal.values, &right, 0.0).ok_or(no_spread)?;
    let mut coefficients = [0.0; 3];
    for ((coefficient, value), length) in coefficients.iter_mut().zip(&solution).zip(&normal.lengths) {
        *coefficient = value / length;
    }
    coefficients[0] += mean;
    let fitted = |u: f64| coefficients[0] + u * (coefficients[1] + u * coefficients[2]);
    let residuals: Vec<f64> = u.iter().zip(y).map(|(u, y)| y - fitted(*u)).collect();
    let leverage: Vec<f64> = (0..u.len())
        .map(|point| {
            let row: Vec<f64> = unit.iter().map(|column| column[point]).collect();
            let solved = solve(&normal.values, &row, 0.0).unwrap_or_default();
            row.iter().zip(&solved).map(|(a, b)| a * b).sum::<f64>().min(1.0)
        })
        .collect();
    let total: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    let varies = total > 0.0 && y.iter().any(|value| *value != y[0]);
    let sum: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let left_out: f64 = residuals
        .iter()
        .zip(&leverage)
        .map(|(residual, leverage)| (residual / (1.0 - leverage)).powi(2))
        .sum();
    Ok(Parabola {
        centre,
        coefficients,
        r_squared: varies.then(|| (1.0 - sum / total).clamp(0.0, 1.0)),
        left_out_r_squared: (varies && leverage.iter().all(|leverage| *leverage < 1.0 - 1e-9))
            .then(|| 1.0 - left_out / total),
        residuals,
        leverage,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_point_left_out_as_if_refitted() {
        let x = [1.0, 2.0, 3.5, 4.0, 6.0, 7.5];
        let y = [3.0, 2.2, 2.0, 1.4, 1.5, 1.1];
        let whole = fit(&x, &y).unwrap();
        let mean = y.iter().sum::<f64>() / 6.0;
        let mut press = 0.0;
        for out in 0..6 {
            let without = |values: &[f64]| -> Vec<f64> {
                values.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, value)| *value).collect()
            };
            press += (y[out] - fit(&without(&x), &without(&y)).unwrap().at(x[out])).powi(2);
        }
        let total: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
        assert!((whole.left_out_r_squared.unwrap() - (1.0 - press / total)).abs() < 1e-12);
        assert!((whole.leverage.iter().sum::<f64>() - 3.0).abs() < 1e-12);
        // Residuals of a least-squares fit are orthogonal to what is fitted.
        for power in 0..3 {
            let product: f64 = x.iter().zip(&whole.residuals).map(|(x, r)| x.powi(power) * r).sum();
            assert!(product.abs() < 1e-12);
        }
    }

    #[test]
    fn what_defines_no_parabola_is_refused() {
        assert!(fit(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]).is_err());
        assert!(fit(&[1.0, 1.0, 2.0, 2.0], &[1.0, 2.0, 3.0, 4.0]).is_err());
        assert!(fit(&[1.0, 2.0, 3.0, f64::NAN], &[1.0, 2.0, 3.0, 4.0]).is_err());
        let flat = fit(&[1.0, 2.0, 3.0, 4.0], &[0.3; 4]).unwrap();
        assert_eq!((flat.r_squared, flat.left_out_r_squared), (None, None));
    }
}
