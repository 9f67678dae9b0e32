//! A statistic over all resamples: its spread.

use crate::error::StatsError;
use crate::interval::percentile;

/// The finite values of a statistic over resamples, ascending.
///
/// A resample may have no value, for instance `ln(-ln p)` when no miss was drawn; such replicates
/// are [`dropped`](Self::dropped), counted, and in no average.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    ascending: Vec<f64>,
    dropped: usize,
}

impl Sample {
    /// Sorts the replicates and sets aside those that are not finite.
    pub fn new(replicates: impl IntoIterator<Item = f64>) -> Self {
        let mut dropped = 0;
        let mut ascending: Vec<f64> = replicates
            .into_iter()
            .filter(|value| {
                dropped += usize::from(!value.is_finite());
                value.is_finite()
            })
            .collect();
        ascending.sort_unstable_by(f64::total_cmp);
        Self { ascending, dropped }
    }

    /// Number of finite replicates.
    pub fn replicates(&self) -> usize {
        self.ascending.len()
    }

    /// The finite replicates, ascending.
    pub fn ascending(&self) -> &[f64] {
        &self.ascending
    }

    /// Number of replicates without a finite value.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Standard deviation of the replicates (`n - 1` in the denominator): the standard error of the
    /// statistic.
    ///
    /// # Errors
    /// Fewer than two finite replicates.
    pub fn standard_error(&self) -> Result<f64, StatsError> {
        let replicates = self.replicates();
        if replicates < 2 {
            return Err(StatsError::TooFewReplicates { replicates });
        }
        let mean = self.ascending.iter().sum::<f64>() / replicates as f64;
        let squares: f64 = self.ascending.iter().map(|value| (value - mean).powi(2)).sum();
        Ok((squares / (replicates - 1) as f64).sqrt())
    }

    /// The central interval that holds the share `level` of the replicates.
    ///
    /// # Errors
    /// Fewer than two finite replicates; a level that is no probability.
    pub fn interval(&self, level: f64) -> Result<(f64, f64), StatsError> {
        percentile::central(&self.ascending, level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicates_without_value_are_counted_and_left_out() {
        let sample = Sample::new([3.0, f64::NAN, 1.0, f64::NEG_INFINITY, 2.0]);
        assert_eq!((sample.replicates(), sample.dropped()), (3, 2));
        assert_eq!(sample.standard_error().unwrap(), 1.0);
        assert_eq!(sample.interval(0.5).unwrap(), (1.5, 2.5));
    }

    #[test]
    fn one_replicate_has_no_spread() {
        assert!(Sample::new([1.0]).standard_error().is_err());
        assert!(Sample::new([1.0]).interval(0.9).is_err());
    }
}
