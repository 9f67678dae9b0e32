//! Scatter that changes with size: how much wider an interval must be where it may have grown.
//!
//! Least squares gives one s for all points. Where models scatter more the larger they are, an
//! interval beyond the largest with that s is too narrow (83 to 91 % for 95 where the scatter grows
//! fourfold). How it changes cannot be known from a few points, but what they say of it can be
//! weighed:
//!
//! ```text
//! sd_i ∝ exp(γ p_i),  p_i the place of a point in the range of x, from -1/2 to 1/2;  γ ~ N(0, WIDTH²) beforehand
//! weight(γ) ∝ exp(-γ²/(2 WIDTH²)) Π sd_i⁻¹ R(γ)^(-f/2),   R(γ) = Σ z_i²/sd_i² f/n,  z_i = e_i/sqrt(1 - h_i)
//! ```
//!
//! The new point is then a mixture of Student t's, and the factor is the quantile of that mixture
//! over the one of equal scatter, and at least 1: scatter that seems to fall promises nothing. The
//! new point scatters as the nearest end of the range. With equal scatter the factor is 1.15 to 1.3
//! for 6 to 12 points. A Bayesian's answer (Gelman et al., *Bayesian Data Analysis*, 3rd ed.,
//! 14.7), judged by how often it covers: `tests/mixed_coverage.rs`.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::error::StatsError;

/// Standard deviation beforehand of the logarithm of the ratio of scatter at the two ends: a factor
/// of 3.5 is as usual as none.
const WIDTH: f64 = 1.25;

/// Places of γ: from -3 to 3, a factor of 20 either way.
const PLACES: i32 = 24;

/// The factor for a new point at `at`, from standardised residuals `z` of points at `x` (places in
/// any order) with `freedom` degrees of freedom.
///
/// # Errors
/// A level that is no probability; no degrees of freedom.
pub fn factor(
    x: &[f64],
    z: &[f64],
    freedom: usize,
    at: f64,
    level: f64,
) -> Result<f64, StatsError> {
    let t = super::student::two_sided_quantile(level, freedom)?;
    let student =
        StudentsT::new(0.0, 1.0, freedom as f64).map_err(|_| StatsError::NoDegreesOfFreedom)?;
    let low = x.iter().fold(f64::INFINITY, |a, &b| a.min(b));
    let high = x.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let range = high - low;
    let squares: f64 = z.iter().map(|z| z * z).sum();
    if !(range > 0.0 && squares > 0.0 && squares.is_finite()) {
        return Ok(1.0);
    }
    let count = x.len() as f64;
    let place = |x: f64| ((x - low) / range - 0.5).clamp(-0.5, 0.5);
    let centre = x.iter().sum::<f64>() / count;
    let spread: f64 = x.iter().map(|x| (x - centre).powi(2)).sum();
    // What each point weighs in the line's value there.
    let weights: Vec<f64> =
        x.iter().map(|x| 1.0 / count + (at - centre) * (x - centre) / spread).collect();
    let plain = squares / count * (1.0 + weights.iter().map(|w| w * w).sum::<f64>());
    let members: Vec<(f64, f64)> = (0..=PLACES)
        .map(|step| {
            let gamma = 6.0 * (f64::from(step) / f64::from(PLACES) - 0.5);
            let variance = |x: f64| (2.0 * gamma * place(x)).exp();
            let (mut sum, mut along, mut logs) = (0.0, 0.0, 0.0);
            for ((x, z), w) in x.iter().zip(z).zip(&weights) {
                let variance = variance(*x);
                sum += z * z / variance;
                along += w * w * variance;
                logs += gamma * place(*x);
            }
            let support = -logs - 0.5 * freedom as f64 * sum.ln() - 0.5 * (gamma / WIDTH).powi(2);
            (support, (sum / count * (variance(at) + along) / plain).sqrt())
        })
        .collect();
    let most = members.iter().fold(f64::NEG_INFINITY, |a, (support, _)| a.max(*support));
    let members: Vec<(f64, f64)> =
        members.into_iter().map(|(support, ratio)| ((support - most).exp(), ratio)).collect();
    let total: f64 = members.iter().map(|(weight, _)| weight).sum();
    let inside = |half: f64| {
        let of = |(weight, ratio): &(f64, f64)| weight * (1.0 - 2.0 * student.sf(half / ratio));
        members.iter().map(of).sum::<f64>() / total
    };
    if inside(t) >= level {
        return Ok(1.0);
    }
    let (mut short, mut long) = (t, 2.0 * t);
    while inside(long) < level && long < 1e6 * t {
        (short, long) = (long, 2.0 * long);
    }
    // Bisection: the mixture is smooth and rises.
    for _ in 0..24 {
        let middle = 0.5 * (short + long);
        if inside(middle) < level { short = middle } else { long = middle }
    }
    Ok(long / t)
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

    #[test]
    fn growing_scatter_widens_and_falling_scatter_does_not_narrow() {
        let even = [0.9, -1.1, 1.0, -0.9, 1.1, -1.0, 0.9, -1.0];
        let growing: Vec<f64> = even.iter().zip(X).map(|(z, x)| z * (0.4 * x).exp()).collect();
        let falling: Vec<f64> = growing.iter().rev().copied().collect();
        let of = |z: &[f64], at| factor(&X, z, 5, at, 0.95).unwrap();
        // By SciPy 1.17: the mixture written out, its quantile by brentq. Of the falling one it is
        // 0.639, which promises nothing.
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}")
        };
        near(of(&even, 10.0), 1.263_634_888);
        near(of(&growing, 10.0), 1.295_103_821);
        assert_eq!(of(&falling, 10.0), 1.0);
        // Below the smallest it is the other way round.
        near(of(&falling, -3.0), 1.295_103_821);
    }

    #[test]
    fn units_do_not_matter() {
        let z = [0.3, -0.2, 0.5, -1.1, 0.4, 1.0, -0.8, 1.9];
        let scaled = z.map(|z| 1e-5 * z);
        let x = X.map(|x| 100.0 + 2.5 * x);
        let plain = factor(&X, &z, 5, 9.0, 0.95).unwrap();
        assert!((factor(&x, &scaled, 5, 122.5, 0.95).unwrap() / plain - 1.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_to_weigh_changes_nothing() {
        assert_eq!(factor(&X, &[0.0; 8], 5, 9.0, 0.95).unwrap(), 1.0);
        assert!(factor(&X, &[1.0; 8], 0, 9.0, 0.95).is_err());
        assert!(factor(&X, &[1.0; 8], 5, 9.0, 95.0).is_err());
    }
}
