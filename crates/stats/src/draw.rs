//! Random draws from a table of probabilities.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use crate::error::StatsError;

/// How often each index comes up in `draws` independent draws, index i with probability
/// `masses[i] / sum`.
///
/// A draw is a uniform number with 53 bits, looked up in the running sums: the first whose share
/// exceeds it. The numbers are those of ChaCha8 under `seed`, so the same seed gives the same
/// counts.
///
/// ```
/// let counts = relscale_stats::draw::counts(&[3.0, 0.0, 1.0], 1000, 7).unwrap();
/// assert_eq!(counts.iter().sum::<u64>(), 1000);
/// assert!(counts[1] == 0 && counts[0] > counts[2]);
/// ```
///
/// # Errors
/// A mass that is negative or not finite; no mass above zero.
pub fn counts(masses: &[f64], draws: u64, seed: u64) -> Result<Vec<u64>, StatsError> {
    let mut sums = Vec::with_capacity(masses.len());
    let mut sum = 0.0;
    for (index, &value) in masses.iter().enumerate() {
        if !value.is_finite() {
            return Err(StatsError::NonFinite { what: "masses", index, value });
        }
        if value < 0.0 {
            return Err(StatsError::NotPositive { what: "masses", index, value });
        }
        sum += value;
        sums.push(sum);
    }
    if sum <= 0.0 {
        return Err(StatsError::NotPositive { what: "sum of masses", index: 0, value: sum });
    }
    let mut counts = vec![0; masses.len()];
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Rounding may put the product at the total itself, past the last index that has a mass.
    let last = masses.iter().rposition(|&mass| mass > 0.0).unwrap_or(0);
    for _ in 0..draws {
        let uniform = (random.next_u64() >> 11) as f64 * (-53.0_f64).exp2();
        let at = uniform * sum;
        counts[sums.partition_point(|&below| below <= at).min(last)] += 1;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_the_masses() {
        let masses = [0.5, 0.125, 0.0, 0.25, 0.125];
        let draws = 100_000;
        let counts = counts(&masses, draws, 3).unwrap();
        assert_eq!(counts[2], 0, "what has no mass never comes");
        let chi: f64 = masses
            .iter()
            .zip(&counts)
            .filter(|(mass, _)| **mass > 0.0)
            .map(|(mass, &count)| {
                (count as f64 - mass * draws as f64).powi(2) / (mass * draws as f64)
            })
            .sum();
        // Chi-squared with 3 degrees of freedom: 16.3 is exceeded once in a thousand.
        assert!(chi < 16.3, "{counts:?}");
    }

    #[test]
    fn only_the_ratio_of_masses_and_the_seed_matter() {
        let a = counts(&[1.0, 2.0, 3.0], 500, 9).unwrap();
        assert_eq!(a, counts(&[4.0, 8.0, 12.0], 500, 9).unwrap());
        assert_ne!(a, counts(&[1.0, 2.0, 3.0], 500, 10).unwrap());
    }

    #[test]
    fn what_is_no_table_of_probabilities_is_refused() {
        for masses in [&[][..], &[0.0], &[1.0, -1.0], &[f64::NAN], &[f64::INFINITY]] {
            assert!(counts(masses, 1, 0).is_err(), "{masses:?}");
        }
    }
}
