//! The wild bootstrap for curves, with a t quantile in place of percentiles.
//!
//! ```text
//! y*_i = fitted_i + w_i e_i / sqrt(1 - h_i),   w_i = ±1 with equal chance
//! ```
//!
//! The curve is fitted again to each such set; the standard deviation of a statistic over the
//! refits, times the Student t quantile of `n - p` degrees of freedom, is half the interval. Signs
//! are drawn for each point by itself, so points may scatter unequally (Liu 1988; Davidson and
//! Flachaire 2008 for the signs, and for dividing by `sqrt(1 - h)`, which makes up for residuals
//! being smaller than errors). Percentiles of the same refits promise far too much for 4 to 8
//! points.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::Sample;
use crate::error::StatsError;
use crate::forms::{Curve, Shape};
use crate::optimise::student;

/// An interval from refits, and what it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WildInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Standard deviation over the refits.
    pub standard_error: f64,
    /// Nominal coverage.
    pub level: f64,
    /// Points less parameters.
    pub degrees_of_freedom: usize,
    /// Refits with a finite value of the statistic.
    pub resamples: usize,
}

/// Point weight from which on a residual says nothing about the point's error.
const DECISIVE: f64 = 1e-6;

/// Refits of a curve to wild resamples of its residuals: one set serves every statistic.
#[derive(Debug, Clone, PartialEq)]
pub struct Refits {
    shapes: Vec<Shape>,
    degrees_of_freedom: usize,
}

/// Draws `resamples` sets of signs from `seed` and fits the curve again to each.
///
/// # Errors
/// Fewer than two resamples.
pub fn refits(curve: &Curve, resamples: u32, seed: u64) -> Result<Refits, StatsError> {
    if resamples < 2 {
        return Err(StatsError::TooFewReplicates { replicates: resamples as usize });
    }
    let scaled: Vec<f64> = curve
        .residuals
        .iter()
        .zip(&curve.leverage)
        .map(|(residual, leverage)| residual / (1.0 - leverage).max(DECISIVE).sqrt())
        .collect();
    let shapes = (0..u64::from(resamples))
        .filter_map(|resample| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(resample);
            let again: Vec<f64> = (0..curve.points())
                .map(|at| {
                    let fitted = curve.points.v[at] - curve.residuals[at];
                    fitted + if random.next_u32() & 1 == 0 { scaled[at] } else { -scaled[at] }
                })
                .collect();
            curve.refit(&again)
        })
        .collect();
    Ok(Refits { shapes, degrees_of_freedom: curve.degrees_of_freedom() })
}

impl Refits {
    /// Interval of a statistic about its value `estimate` for the curve itself.
    ///
    /// # Errors
    /// A level that is no probability; fewer than two refits with a finite value.
    pub fn interval(
        &self,
        estimate: f64,
        statistic: impl Fn(&Shape) -> f64,
        level: f64,
    ) -> Result<WildInterval, StatsError> {
        let t = student::two_sided_quantile(level, self.degrees_of_freedom)?;
        let sample = Sample::new(self.shapes.iter().map(statistic));
        let standard_error = sample.standard_error()?;
        Ok(WildInterval {
            low: estimate - t * standard_error,
            high: estimate + t * standard_error,
            standard_error,
            level,
            degrees_of_freedom: self.degrees_of_freedom,
            resamples: sample.replicates(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::{
        self,
        power::{self, PowerForm},
    };

    const X: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    const Y: [f64; 7] = [9.0, 7.3, 5.6, 4.9, 3.8, 3.1, 2.4];

    #[test]
    fn of_a_straight_line_it_is_nearly_student_t() {
        let curve = forms::fit(&PowerForm, &X, &Y).unwrap();
        let refits = refits(&curve, 4000, 1).unwrap();
        let slope = curve.shape.values()[1];
        let wild = refits.interval(slope, |shape| shape.values()[1], 0.95).unwrap();
        // The variance the signs have in expectation: Σ (u / Suu)² e² / (1 - h).
        let line = power::fit(&X, &Y).unwrap().line;
        let suu: f64 = curve.points.u.iter().map(|u| u * u).sum();
        let expected: f64 = (0..7)
            .map(|at| {
                (curve.points.u[at] / suu).powi(2) * line.residuals[at].powi(2)
                    / (1.0 - line.leverage[at])
            })
            .sum();
        // 4000 refits know a standard deviation to 1.1 %.
        assert!((wild.standard_error / expected.sqrt() - 1.0).abs() < 0.04, "{wild:?}");
        assert!(((wild.low + wild.high) / 2.0 - slope).abs() < 1e-14);
        assert_eq!((wild.degrees_of_freedom, wild.resamples), (5, 4000));
    }

    #[test]
    fn the_seed_decides_and_too_little_is_refused() {
        let curve = forms::fit(&PowerForm, &X, &Y).unwrap();
        assert_eq!(refits(&curve, 20, 5).unwrap(), refits(&curve, 20, 5).unwrap());
        assert_ne!(refits(&curve, 20, 5).unwrap(), refits(&curve, 20, 6).unwrap());
        assert!(refits(&curve, 1, 5).is_err());
        assert!(refits(&curve, 20, 5).unwrap().interval(0.0, |_| f64::NAN, 0.95).is_err());
    }
}
