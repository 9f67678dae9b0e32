//! Noise of several series that err together, drawn from their covariance: the parametric
//! bootstrap's raw material.
//!
//! With the covariance V known, the noise is `L z`, `L Lᵀ = V`, z standard normal. When V was
//! itself estimated from u units, a normal would be too sure of it: the noise is then multivariate
//! t, a normal over the root of a scaled chi-squared,
//!
//! ```text
//! L z · sqrt((u - 1) / chi²),   chi² with u - d degrees of freedom
//! ```
//!
//! whose quadratic form in d dimensions is Hotelling's T² exactly, so that a simulated tail and
//! [`hotelling_tail`](crate::goodness::hotelling_tail) tell the same story (Gelman et al.,
//! *Bayesian Data Analysis*, 3rd ed., 3.6).

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use crate::error::StatsError;

/// Correlated noise, ready to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Lower triangular, row-major, `size × size`.
    factor: Vec<f64>,
    size: usize,
    spread: Spread,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Spread {
    Known,
    /// `u - 1`, `u - d`.
    Estimated {
        numerator: f64,
        freedom: f64,
    },
}

impl Noise {
    /// Normal noise of a known covariance: `size × size`, row-major, symmetric. A series without
    /// error, or one that errs exactly as others do, is allowed.
    ///
    /// # Errors
    /// A covariance of another length, one with an entry that is not finite, one that no noise can
    /// have.
    pub fn known(covariance: &[f64], size: usize) -> Result<Self, StatsError> {
        Ok(Self { factor: semi_cholesky(covariance, size)?, size, spread: Spread::Known })
    }

    /// Noise whose covariance was estimated from `units` sampling units, for use in `dimensions` of
    /// its dimensions (a residual about a line through n points has n - 2).
    ///
    /// # Errors
    /// As [`known`](Self::known); units that are no more than the dimensions.
    pub fn estimated(
        covariance: &[f64],
        size: usize,
        units: usize,
        dimensions: usize,
    ) -> Result<Self, StatsError> {
        if units <= dimensions.max(1) {
            return Err(StatsError::TooFewUnits { units });
        }
        let spread = Spread::Estimated {
            numerator: (units - 1) as f64,
            freedom: (units - dimensions) as f64,
        };
        Ok(Self { factor: semi_cholesky(covariance, size)?, size, spread })
    }

    /// Number of series.
    pub fn size(&self) -> usize {
        self.size
    }

    /// One draw, an entry a series.
    fn draw(&self, random: &mut Random, normal: &mut [f64], out: &mut [f64]) {
        normal.iter_mut().for_each(|value| *value = random.normal());
        let scale = match self.spread {
            Spread::Known => 1.0,
            Spread::Estimated { numerator, freedom } => {
                (numerator / random.chi_squared(freedom)).sqrt()
            }
        };
        for (row, value) in out.iter_mut().enumerate() {
            let weights = &self.factor[row * self.size..][..=row];
            *value = scale * weights.iter().zip(normal.iter()).map(|(l, z)| l * z).sum::<f64>();
        }
    }

    /// Hands `draws` draws to `each`, the same for the same seed and stream.
    pub fn for_each(&self, draws: u32, seed: u64, stream: u64, mut each: impl FnMut(&[f64])) {
        let mut random = Random::new(seed, stream);
        let (mut normal, mut out) = (vec![0.0; self.size], vec![0.0; self.size]);
        for _ in 0..draws {
            self.draw(&mut random, &mut normal, &mut out);
            each(&out);
        }
    }
}

/// L with `L Lᵀ = matrix`; a pivot that is zero to rounding makes a column of zeros, where
/// [`crate::optimise::correlated`] would refuse, since drawing needs no inverse.
fn semi_cholesky(matrix: &[f64], size: usize) -> Result<Vec<f64>, StatsError> {
    if matrix.len() != size * size {
        return Err(StatsError::Lengths {
            left: "covariance",
            left_length: matrix.len(),
            right: "its rows times columns",
            right_length: size * size,
        });
    }
    if let Some(index) = matrix.iter().position(|value| !value.is_finite()) {
        return Err(StatsError::NonFinite { what: "covariance", index, value: matrix[index] });
    }
    let mut factor = vec![0.0; size * size];
    for row in 0..size {
        let diagonal = matrix[row * size + row];
        let rounding = 16.0 * size as f64 * f64::EPSILON * diagonal.abs();
        for column in 0..=row {
            let above = &factor[row * size..][..column];
            let left = &factor[column * size..][..column];
            let rest = matrix[row * size + column]
                - above.iter().zip(left).map(|(a, l)| a * l).sum::<f64>();
            factor[row * size + column] = if row == column {
                if rest < -rounding {
                    return Err(StatsError::NotPositiveDefinite { row });
                }
                if rest > rounding { rest.sqrt() } else { 0.0 }
            } else if factor[column * size + column] > 0.0 {
                rest / factor[column * size + column]
            } else {
                0.0
            };
        }
    }
    Ok(factor)
}

/// Normal and chi-squared numbers from one stream of ChaCha8.
struct Random(ChaCha8Rng);

impl Random {
    fn new(seed: u64, stream: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        Self(random)
    }

    /// Uniform strictly between 0 and 1.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Chi-squared as twice a gamma of half the degrees of freedom (Marsaglia and Tsang 2000).
    fn chi_squared(&mut self, freedom: f64) -> f64 {
        let shape = freedom / 2.0;
        if shape < 1.0 {
            // Gamma(a) = Gamma(a + 1) U^(1/a).
            return self.chi_squared(freedom + 2.0) * self.uniform().powf(shape.recip());
        }
        let d = shape - 1.0 / 3.0;
        let c = (9.0 * d).sqrt().recip();
        loop {
            let z = self.normal();
            let v = (1.0 + c * z).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * z * z + d - d * v + d * v.ln() {
                return 2.0 * d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goodness::hotelling_tail;
    use crate::optimise::correlated;

    const COVARIANCE: [f64; 9] = [4.0, 1.0, -0.5, 1.0, 1.0, 0.2, -0.5, 0.2, 0.25];

    #[test]
    fn draws_have_the_covariance_asked_for() {
        let noise = Noise::known(&COVARIANCE, 3).unwrap();
        let mut sums = [0.0; 9];
        const DRAWS: u32 = 40_000;
        noise.for_each(DRAWS, 1, 0, |draw| {
            for (at, sum) in sums.iter_mut().enumerate() {
                *sum += draw[at / 3] * draw[at % 3];
            }
        });
        for (sum, wanted) in sums.iter().zip(COVARIANCE) {
            let found = sum / f64::from(DRAWS);
            // Standard errors are below 4 sqrt(2 / 40 000) = 0.028 for the largest.
            assert!((found - wanted).abs() < 0.09, "{found} for {wanted}");
        }
    }

    #[test]
    fn chi_squared_has_its_mean_and_variance_also_below_two_degrees() {
        for freedom in [0.7, 1.0, 3.0, 40.0, 900.0] {
            let mut random = Random::new(4, 2);
            let draws: Vec<f64> = (0..40_000).map(|_| random.chi_squared(freedom)).collect();
            let mean = draws.iter().sum::<f64>() / 4e4;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4e4;
            assert!(
                (mean / freedom - 1.0).abs() < 4.0 * (2.0 / freedom / 4e4).sqrt(),
                "{freedom}: {mean}"
            );
            assert!((variance / (2.0 * freedom) - 1.0).abs() < 0.1, "{freedom}: {variance}");
        }
    }

    /// The design of this file: residual chi-squared of drawn noise is Hotelling's T².
    #[test]
    fn an_estimated_covariance_gives_hotellings_tail() {
        let x = [1.0, 2.0, 4.0, 5.0, 9.0];
        let covariance: Vec<f64> = (0..25)
            .map(|at| if at / 5 == at % 5 { 1.0 + 0.3 * (at % 5) as f64 } else { 0.6 })
            .collect();
        let (units, draws) = (12, 20_000);
        let noise = Noise::estimated(&covariance, 5, units, 3).unwrap();
        let mut values = Vec::new();
        noise.for_each(draws, 7, 0, |draw| {
            values.push(correlated::line(&x, draw, &covariance).unwrap().chi_squared);
        });
        for value in [2.0, 6.0, 12.0, 25.0] {
            let tail = hotelling_tail(value, 3, units).unwrap();
            let share =
                values.iter().filter(|&&found| found >= value).count() as f64 / f64::from(draws);
            let error = (tail * (1.0 - tail) / f64::from(draws)).sqrt();
            assert!((share - tail).abs() < 4.0 * error, "{value}: {share} for {tail}");
        }
    }

    #[test]
    fn series_without_error_and_twins_are_drawn_as_such() {
        let covariance = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        Noise::known(&covariance, 3).unwrap().for_each(20, 3, 0, |draw| {
            assert!(draw[0] != 0.0 && (draw[0] - draw[1]).abs() < 1e-12 && draw[2] == 0.0);
        });
    }

    #[test]
    fn the_same_stream_gives_the_same_draws_and_another_others() {
        let noise = Noise::known(&COVARIANCE, 3).unwrap();
        let draws = |draws, stream| {
            let mut out = Vec::new();
            noise.for_each(draws, 9, stream, |draw| out.extend_from_slice(draw));
            out
        };
        assert_eq!(draws(7, 1)[..9], draws(3, 1));
        assert_ne!(draws(3, 1), draws(3, 2));
    }

    #[test]
    fn what_is_no_covariance_is_refused() {
        assert!(Noise::known(&[1.0; 3], 2).is_err());
        assert!(Noise::known(&[f64::NAN], 1).is_err());
        assert_eq!(
            Noise::known(&[1.0, 2.0, 2.0, 1.0], 2),
            Err(StatsError::NotPositiveDefinite { row: 1 })
        );
        assert!(Noise::estimated(&[1.0], 1, 3, 3).is_err());
    }
}
