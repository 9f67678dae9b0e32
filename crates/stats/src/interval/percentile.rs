//! Quantiles of a sample and the interval between two of them.

use crate::check;
use crate::error::StatsError;

/// The `probability` quantile of an ascending sample, by linear interpolation between order
/// statistics: definition 7 of Hyndman and Fan (1996), the default of NumPy and R.
///
/// # Errors
/// An empty sample; a probability outside `[0, 1]`.
pub fn quantile(ascending: &[f64], probability: f64) -> Result<f64, StatsError> {
    if ascending.is_empty() {
        return Err(StatsError::TooFewReplicates { replicates: 0 });
    }
    if !(0.0..=1.0).contains(&probability) {
        return Err(StatsError::Level { level: probability });
    }
    let position = probability * (ascending.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(ascending.len() - 1);
    let share = position - below as f64;
    Ok(ascending[below] + share * (ascending[above] - ascending[below]))
}

/// The central interval that holds the share `level` of an ascending sample.
///
/// # Errors
/// Fewer than two values; a level that is no probability.
pub fn central(ascending: &[f64], level: f64) -> Result<(f64, f64), StatsError> {
    check::level(level)?;
    if ascending.len() < 2 {
        return Err(StatsError::TooFewReplicates { replicates: ascending.len() });
    }
    let tail = (1.0 - level) / 2.0;
    Ok((quantile(ascending, tail)?, quantile(ascending, 1.0 - tail)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_hand() {
        let sample = [1.0, 2.0, 4.0, 8.0];
        for (probability, expected) in [(0.0, 1.0), (0.5, 3.0), (0.25, 1.75), (1.0, 8.0)] {
            assert_eq!(quantile(&sample, probability).unwrap(), expected);
        }
        assert_eq!(quantile(&[5.0], 0.3).unwrap(), 5.0);
    }

    #[test]
    fn what_has_no_spread_is_refused() {
        assert!(quantile(&[], 0.5).is_err());
        assert!(quantile(&[1.0], 1.5).is_err());
        assert!(central(&[1.0], 0.95).is_err());
        assert!(central(&[1.0, 2.0], 1.0).is_err());
        let (low, high) = central(&[0.0, 100.0], 0.9).unwrap();
        assert!((low - 5.0).abs() < 1e-12 && (high - 95.0).abs() < 1e-12);
    }
}
