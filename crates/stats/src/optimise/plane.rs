//! The plane `y = c + a x_1 + b x_2` with the least sum of squared residuals.

use super::{Symmetric, solve};
use crate::error::StatsError;

/// Condition number of the centred columns from which on the two slopes cannot be told apart.
const COLLINEAR: f64 = 1e6;

/// A fitted plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// a and b.
    pub slopes: [f64; 2],
    /// Means of `x_1`, `x_2` and y, a point of the plane.
    pub centre: [f64; 3],
    /// `y - fitted`, in the order of the points.
    pub residuals: Vec<f64>,
    /// `1 - Σ residual² / Σ (y - mean)²`; absent when all y are equal.
    pub r_squared: Option<f64>,
}

/// Fits a plane to at least four points.
///
/// ```
/// use relscale_stats::optimise::plane;
/// let fit = plane::fit(&[0.0, 1.0, 0.0, 1.0], &[0.0, 0.0, 1.0, 1.0], &[5.0, 7.0, 4.0, 6.0]).unwrap(); // 5 + 2 x - y
/// assert!((fit.slopes[0] - 2.0).abs() < 1e-14 && (fit.slopes[1] + 1.0).abs() < 1e-14);
/// ```
///
/// # Errors
/// Slices of different length; fewer than four points; an entry that is not finite; points on one line, seen from above.
pub fn fit(x_1: &[f64], x_2: &[f64], y: &[f64]) -> Result<Plane, StatsError> {
    for (right, values) in [("x_2", x_2), ("y", y)] {
        if values.len() != x_1.len() {
            return Err(StatsError::Lengths {
                left: "x_1",
                left_length: x_1.len(),
                right,
                right_length: values.len(),
            });
        }
    }
    for (what, values) in [("x_1", x_1), ("x_2", x_2), ("y", y)] {
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(StatsError::NonFinite { what, index, value: values[index] });
        }
    }
    if y.len() < 4 {
        return Err(StatsError::TooFewForForm { form: "plane", parameters: 3, given: y.len(), needed: 4 });
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let centre = [mean(x_1), mean(x_2), mean(y)];
    let less = |values: &[f64], mean: f64| -> Vec<f64> { values.iter().map(|value| value - mean).collect() };
    let columns = [less(x_1, centre[0]), less(x_2, centre[1])];
    let v = less(y, centre[2]);
    for (column, centre) in columns.iter().zip(centre) {
        // What is left of equal numbers is the rounding of their mean.
        if column.iter().all(|entry| entry.abs() <= 1e-12 * centre.abs()) {
            return Err(StatsError::NoSpread { points: y.len(), x: centre });
        }
    }
    let normal = Symmetric::of(&columns);
    if normal.condition() >= COLLINEAR {
        return Err(StatsError::Collinear { points: y.len() });
    }
    let right: Vec<f64> = columns
        .iter()
        .zip(&normal.lengths)
        .map(|(column, length)| column.iter().zip(&v).map(|(entry, v)| entry * v).sum::<f64>() / length)
        .collect();
    let scaled = solve(&normal.values, &right, 0.0).ok_or(StatsError::Collinear { points: y.len() })?;
    let slopes = [scaled[0] / normal.lengths[0], scaled[1] / normal.lengths[1]];
    let residuals: Vec<f64> = (0..y.len())
        .map(|point| v[point] - slopes[0] * columns[0][point] - slopes[1] * columns[1][point])
        .collect();
    let squares = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
    let varies = y.iter().any(|value| *value != y[0]);
    let r_squared = varies.then(|| (1.0 - squares(&residuals) / squares(&v)).clamp(0.0, 1.0));
    Ok(Plane { slopes, centre, residuals, r_squared })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_are_orthogonal_to_the_plane_in_any_unit() {
        let x = [1.0, 2.0, 3.0, 4.5, 6.0];
        let y = [2.0, 1.0, 4.0, 3.0, 7.0];
        let z = [1.0, 0.4, 2.2, 1.1, 3.0];
        let one = fit(&x, &y, &z).unwrap();
        for column in [&[1.0; 5], &x, &y] {
            let product: f64 = column.iter().zip(&one.residuals).map(|(a, r)| a * r).sum();
            assert!(product.abs() < 1e-12, "{product}");
        }
        let scaled = fit(&x.map(|x| 1e-9 * x), &y.map(|y| 1e9 + y), &z).unwrap();
        assert!((scaled.slopes[0] * 1e-9 / one.slopes[0] - 1.0).abs() < 1e-9);
        assert!((scaled.slopes[1] / one.slopes[1] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn points_that_define_no_plane_are_refused() {
        let x = [1.0, 2.0, 3.0, 4.0];
        let said = fit(&x, &x.map(|x| 20.0 * x + 1.0), &x).unwrap_err();
        assert_eq!(said, StatsError::Collinear { points: 4 });
        assert!(matches!(fit(&x, &[0.1; 4], &x), Err(StatsError::NoSpread { .. })));
        assert!(fit(&x[..3], &x[..3], &x[..3]).is_err());
        assert!(fit(&x, &x[..3], &x).is_err());
    }
}
