//! The plane `y = c + a x_1 + b x_2` with the least sum of squared residuals.

use super::linear::Design;
use crate::check;
use crate::error::StatsError;

/// Sine of the angle between the centred columns up to which the two slopes cannot be told apart: a
/// condition number of 1e6.
const COLLINEAR: f64 = 2e-6;

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
/// Slices of different length; fewer than four points; an entry that is not finite; points on one
/// line, seen from above.
pub fn fit(x_1: &[f64], x_2: &[f64], y: &[f64]) -> Result<Plane, StatsError> {
    check::columns(&[("x_1", x_1), ("x_2", x_2), ("y", y)])?;
    if y.len() < 4 {
        return Err(StatsError::TooFewForForm {
            form: "plane",
            parameters: 3,
            given: y.len(),
            needed: 4,
        });
    }
    for x in [x_1, x_2] {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        // What is left of equal numbers is the rounding of their mean.
        if x.iter().all(|x| (x - mean).abs() <= 1e-12 * mean.abs()) {
            return Err(StatsError::NoSpread { points: y.len(), x: mean });
        }
    }
    let fit = Design::new(y, vec![x_1.to_vec(), x_2.to_vec()]).with_constant().fit(COLLINEAR);
    let fit = fit.ok_or(StatsError::Collinear { points: y.len() })?;
    Ok(Plane {
        slopes: [fit.coefficients[0], fit.coefficients[1]],
        centre: [fit.means[0], fit.means[1], fit.means[2]],
        r_squared: fit.r_squared,
        residuals: fit.residuals,
    })
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
