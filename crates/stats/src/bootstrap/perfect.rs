//! What a perfect straight line looks like under known noise.
//!
//! `y = slope x + noise` is drawn again and again and fitted as data would be. The residuals of
//! such a fit depend on the noise alone, not on the slope, so their size tests whether noise
//! explains a scatter. R² depends on both: noise of one size leaves a steep line a good R² and a
//! flat one none, which is why it is told for a slope.

use super::noise::Noise;
use crate::error::StatsError;

/// The fit to one draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerfectFit {
    /// Fitted slope.
    pub slope: f64,
    /// Its standard error from the scatter about the line, as for data.
    pub slope_standard_error: f64,
    /// `Σ e²`, the same whatever the slope of the law.
    pub residual_sum_of_squares: f64,
    /// `1 - Σ e² / Σ (y - ȳ)²`; 1 for a draw without any variation.
    pub r_squared: f64,
}

/// Fits `draws` lines of `slope` at `x` with drawn noise; the same seed and stream give the same
/// noise for any slope.
///
/// # Errors
/// Fewer than three points (two leave no scatter); x that does not pair with the noise, is not
/// finite, or all equal.
pub fn perfect_lines(
    x: &[f64],
    slope: f64,
    noise: &Noise,
    draws: u32,
    seed: u64,
    stream: u64,
) -> Result<Vec<PerfectFit>, StatsError> {
    let points = x.len();
    if noise.size() != points {
        return Err(StatsError::Lengths {
            left: "x",
            left_length: points,
            right: "noise",
            right_length: noise.size(),
        });
    }
    if points < 3 {
        return Err(StatsError::NoDegreesOfFreedom);
    }
    if let Some(index) = x.iter().position(|value| !value.is_finite()) {
        return Err(StatsError::NonFinite { what: "x", index, value: x[index] });
    }
    let centre = x.iter().sum::<f64>() / points as f64;
    let dx: Vec<f64> = x.iter().map(|x| x - centre).collect();
    let sxx: f64 = dx.iter().map(|dx| dx * dx).sum();
    if x.iter().all(|value| *value == x[0]) {
        return Err(StatsError::NoSpread { points, x: x[0] });
    }
    let mut fits = Vec::with_capacity(draws as usize);
    noise.for_each(draws, seed, stream, |noise| {
        let mean = noise.iter().sum::<f64>() / points as f64;
        let tilt = dx.iter().zip(noise).map(|(dx, e)| dx * (e - mean)).sum::<f64>() / sxx;
        let rss: f64 = dx.iter().zip(noise).map(|(dx, e)| (e - mean - tilt * dx).powi(2)).sum();
        let fitted = slope + tilt;
        let explained = fitted * fitted * sxx;
        let total = explained + rss;
        fits.push(PerfectFit {
            slope: fitted,
            slope_standard_error: (rss / (points - 2) as f64 / sxx).sqrt(),
            residual_sum_of_squares: rss,
            r_squared: if total > 0.0 { explained / total } else { 1.0 },
        });
    });
    Ok(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimise::least_squares::line;

    #[test]
    fn each_fit_is_that_of_least_squares() {
        let x = [1.0, 2.5, 3.0, 7.0];
        let covariance: Vec<f64> =
            (0..16).map(|at| if at / 4 == at % 4 { 0.04 } else { 0.01 }).collect();
        let noise = Noise::known(&covariance, 4).unwrap();
        let fits = perfect_lines(&x, -0.3, &noise, 5, 11, 2).unwrap();
        let mut at = fits.iter();
        noise.for_each(5, 11, 2, |draw| {
            let y: Vec<f64> = x.iter().zip(draw).map(|(x, e)| 40.0 - 0.3 * x + e).collect();
            let (direct, fit) = (line(&x, &y).unwrap(), at.next().unwrap());
            assert!((direct.slope - fit.slope).abs() < 1e-12);
            assert!((direct.residual_sum_of_squares - fit.residual_sum_of_squares).abs() < 1e-12);
            assert!((direct.r_squared.unwrap() - fit.r_squared).abs() < 1e-10);
            assert!(
                (direct.slope_standard_error().unwrap() - fit.slope_standard_error).abs() < 1e-12
            );
        });
    }

    #[test]
    fn noise_common_to_all_points_costs_no_r_squared() {
        let x = [0.0, 1.0, 2.0, 3.0];
        let common = Noise::known(&[25.0; 16], 4).unwrap();
        let fits = perfect_lines(&x, -0.1, &common, 100, 1, 0).unwrap();
        assert!(fits.iter().all(|fit| 1.0 - fit.r_squared < 1e-12));
    }

    #[test]
    fn scatter_does_not_depend_on_the_slope_and_r_squared_does() {
        let x = [0.0, 1.0, 2.0, 3.0, 4.0];
        let covariance: Vec<f64> =
            (0..25).map(|at| if at / 5 == at % 5 { 1.0 } else { 0.0 }).collect();
        let noise = Noise::known(&covariance, 5).unwrap();
        let flat = perfect_lines(&x, 0.0, &noise, 200, 1, 0).unwrap();
        let steep = perfect_lines(&x, 50.0, &noise, 200, 1, 0).unwrap();
        for (flat, steep) in flat.iter().zip(&steep) {
            assert_eq!(flat.residual_sum_of_squares, steep.residual_sum_of_squares);
            assert!(steep.r_squared > 0.99);
        }
        assert!(flat.iter().any(|fit| fit.r_squared < 0.2));
    }

    #[test]
    fn what_has_no_scatter_is_refused() {
        let noise = |size| Noise::known(&vec![0.0; size * size], size).unwrap();
        assert!(perfect_lines(&[1.0, 2.0], 0.1, &noise(2), 5, 1, 0).is_err());
        assert!(perfect_lines(&[1.0, 1.0, 1.0], 0.1, &noise(3), 5, 1, 0).is_err());
        assert!(perfect_lines(&[1.0, 2.0, f64::NAN], 0.1, &noise(3), 5, 1, 0).is_err());
        assert!(perfect_lines(&[1.0, 2.0, 3.0], 0.1, &noise(2), 5, 1, 0).is_err());
        // Without noise R² is that of an exact line.
        let exact = perfect_lines(&[1.0, 2.0, 3.0], 0.0, &noise(3), 2, 1, 0).unwrap();
        assert_eq!(exact[0].r_squared, 1.0);
    }
}
