//! How statistics of the same resamples vary together.

use crate::error::StatsError;

/// Covariance (`n - 1` in the denominator) of paired replicates: `series × series`, row-major.
///
/// A resample in which any series has no finite value is left out for all, so that the pairs stay
/// pairs.
///
/// # Errors
/// Series of different length; fewer than two complete resamples.
pub fn covariance(series: &[Vec<f64>]) -> Result<Vec<f64>, StatsError> {
    let resamples = series.first().map_or(0, Vec::len);
    if let Some(other) = series.iter().find(|other| other.len() != resamples) {
        return Err(StatsError::Lengths {
            left: "first series",
            left_length: resamples,
            right: "another series",
            right_length: other.len(),
        });
    }
    let complete: Vec<usize> =
        (0..resamples).filter(|&at| series.iter().all(|values| values[at].is_finite())).collect();
    let count = complete.len();
    if count < 2 {
        return Err(StatsError::TooFewReplicates { replicates: count });
    }
    let centred: Vec<Vec<f64>> = series
        .iter()
        .map(|values| {
            let mean = complete.iter().map(|&at| values[at]).sum::<f64>() / count as f64;
            complete.iter().map(|&at| values[at] - mean).collect()
        })
        .collect();
    Ok(centred
        .iter()
        .flat_map(|left| {
            centred.iter().map(move |right| {
                left.iter().zip(right).map(|(l, r)| l * r).sum::<f64>() / (count - 1) as f64
            })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand_with_an_incomplete_pair() {
        let series = [vec![1.0, 2.0, f64::NAN, 3.0], vec![2.0, 4.0, 9.0, 6.0]];
        assert_eq!(covariance(&series).unwrap(), [1.0, 2.0, 2.0, 4.0]);
    }

    #[test]
    fn too_little_is_refused() {
        assert!(covariance(&[]).is_err());
        assert!(covariance(&[vec![1.0], vec![2.0]]).is_err());
        assert!(covariance(&[vec![1.0, 2.0], vec![2.0]]).is_err());
    }
}
