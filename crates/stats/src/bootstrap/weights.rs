//! Random numbers a point: weights that all stay above 0, and normal scatter.
//!
//! Streams as in [`multiplicities`](super::multiplicities): number r of a seed is the r-th stream
//! of ChaCha8.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A uniform number above 0 and at most 1, of 53 bits.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 * (-53.0_f64).exp2()
}

/// An exponential weight of mean 1 and variance 1 for each entry: the points weighed at random
/// instead of drawn again (Rubin 1981; for M-estimators Jin, Ying and Wei 2001). No point is ever
/// lost, so no resample lacks what defines a fit.
pub fn exponentials(seed: u64, resample: u64, weights: &mut [f64]) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(resample);
    weights.iter_mut().for_each(|weight| *weight = -uniform(&mut random).ln());
}

/// A standard normal number for each entry (Box and Muller 1958).
pub fn normals(seed: u64, resample: u64, numbers: &mut [f64]) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(resample);
    for pair in numbers.chunks_mut(2) {
        let radius = (-2.0 * uniform(&mut random).ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * uniform(&mut random)).sin_cos();
        pair[0] = radius * cosine;
        if let Some(second) = pair.get_mut(1) {
            *second = radius * sine;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(draw: fn(u64, u64, &mut [f64])) -> (f64, f64) {
        let mut numbers = vec![0.0; 40_001];
        draw(3, 7, &mut numbers);
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        (mean, numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / numbers.len() as f64)
    }

    #[test]
    fn means_and_variances_are_as_said() {
        // Standard errors are 0.005 (means), 0.014 and 0.007 (variances).
        let (mean, variance) = moments(exponentials);
        assert!((mean - 1.0).abs() < 0.02 && (variance - 1.0).abs() < 0.06, "{mean} {variance}");
        let (mean, variance) = moments(normals);
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }

    #[test]
    fn a_stream_is_its_own_and_does_not_depend_on_the_length() {
        let (mut short, mut long, mut other) = ([0.0; 4], [0.0; 9], [0.0; 4]);
        normals(1, 2, &mut short);
        normals(1, 2, &mut long);
        normals(1, 3, &mut other);
        assert_eq!(short, long[..4]);
        assert_ne!(short, other);
    }
}
