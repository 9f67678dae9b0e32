//! How statistics move together when one unit is left out: their joint covariance over units,
//! corrected for few and uneven ones.
//!
//! ```text
//! V = (u - 1)/u Σ_i (θ_(i) - mean)(θ_(i) - mean)ᵀ,     θ_(i) all statistics without unit i
//! ```
//!
//! The jackknife of whole units (Tukey 1958). For a ratio of sums its terms are the residuals of
//! the units over `1 - leverage`, so that a unit which makes up much of the sum is not taken for a
//! quiet one, as it is by resampling, whose covariance is too small by about (u - 1)/u for even
//! units and by more for uneven ones (MacKinnon and White 1985 call it HC3).
//!
//! How well V is known does not follow from the number of units where some are much longer, or err
//! much more, than others:
//!
//! ```text
//! by their sizes      (Σ n)² / Σ n² - 1                              Kish 1965
//! by what they do     2 q² / (Σ r⁴ - q²/u),   r = w'z, q = Σ r²        Satterthwaite 1946
//! ```
//!
//! The smaller of the two counts. And the loudest unit counts twice: a sample of few units may lack
//! the like of it, and then the variance is far too small (a document that makes most of an
//! exponent's variance is absent from every third sample of 35). With 36 units that cost 12 % of
//! the width. `record/2026-11-28-models-and-text.md` says what each of these gains.

use crate::error::StatsError;
use crate::interval::mixed::Shared;

/// What leaving out units says of the noise that statistics share.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// Their covariance, and how well it is known.
    pub shared: Shared,
    /// The loudest unit's share of the variance along the first combination that was asked about,
    /// before it is counted twice; 0 where none was.
    pub loudest: f64,
}

/// Covariance of statistics over units from their values without each unit: a series a statistic,
/// in the order of the units, whose sizes are given beside them. `along` are the combinations of
/// the statistics whose variance is wanted: they decide the degrees of freedom, and the first of
/// them which unit is the loudest.
///
/// ```
/// use relscale_stats::bootstrap::left_out_covariance;
/// // The mean of 1, 2 and 6: without one of them 4, 3.5 and 1.5. Its variance is 7/3, of which the third makes 25/42.
/// let plain = left_out_covariance(&[vec![4.0, 3.5, 1.5]], &[1.0; 3], &[]).unwrap();
/// assert!((plain.shared.covariance()[0] - 7.0 / 3.0).abs() < 1e-14);
/// assert_eq!(plain.shared.degrees_of_freedom(), 2.0);
/// let told = left_out_covariance(&[vec![4.0, 3.5, 1.5]], &[1.0; 3], &[vec![1.0]]).unwrap();
/// assert!((told.shared.covariance()[0] - 7.0 / 3.0 * (1.0 + 9.0 / 14.0)).abs() < 1e-14);
/// ```
///
/// # Errors
/// Fewer than two units; a value that is not finite (a statistic that does not exist without some
/// unit); slices of different length.
pub fn left_out_covariance(
    series: &[Vec<f64>],
    sizes: &[f64],
    along: &[Vec<f64>],
) -> Result<LeftOut, StatsError> {
    let (points, units) = (series.len(), sizes.len());
    if units < 2 {
        return Err(StatsError::TooFewUnits { units });
    }
    for values in series {
        if values.len() != units {
            return Err(StatsError::Lengths {
                left: "units",
                left_length: units,
                right: "a series",
                right_length: values.len(),
            });
        }
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            let what = "statistic without a unit";
            return Err(StatsError::NonFinite { what, index, value: values[index] });
        }
    }
    let count = units as f64;
    let scale = ((count - 1.0) / count).sqrt();
    let moved: Vec<Vec<f64>> = series
        .iter()
        .map(|values| {
            let mean = values.iter().sum::<f64>() / count;
            values.iter().map(|value| scale * (value - mean)).collect()
        })
        .collect();
    let dot = |left: &[f64], right: &[f64]| left.iter().zip(right).map(|(l, r)| l * r).sum::<f64>();
    let loudest = along.first().and_then(|weights| loudest(&moved, weights, units));
    // The loudest unit once more.
    let again =
        |left: &[f64], right: &[f64]| loudest.map_or(0.0, |(unit, _)| left[unit] * right[unit]);
    let covariance: Vec<f64> = moved
        .iter()
        .flat_map(|left| moved.iter().map(move |right| dot(left, right) + again(left, right)))
        .collect();
    let total: f64 = sizes.iter().sum();
    let by_size = total * total / dot(sizes, sizes) - 1.0;
    let freedom = along
        .iter()
        .filter_map(|weights| by_deed(&moved, weights, units))
        .fold(by_size.min(count - 1.0), f64::min);
    let shared = Shared::new(covariance, points, freedom.max(1.0))?;
    Ok(LeftOut { shared, loudest: loudest.map_or(0.0, |(_, share)| share) })
}

/// What each unit adds to the variance of `Σ weights statistic`.
fn squares(moved: &[Vec<f64>], weights: &[f64], units: usize) -> Vec<f64> {
    let of =
        |unit: usize| moved.iter().zip(weights).map(|(series, w)| w * series[unit]).sum::<f64>();
    (0..units).map(|unit| of(unit).powi(2)).collect()
}

/// The unit that adds most to it, and its share; `None` where nothing moves.
fn loudest(moved: &[Vec<f64>], weights: &[f64], units: usize) -> Option<(usize, f64)> {
    let squares = squares(moved, weights, units);
    let sum: f64 = squares.iter().sum();
    let (unit, most) = squares.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    (sum > 0.0).then(|| (unit, most / sum))
}

/// Degrees of freedom of the sum of squares of `Σ weights statistic` over units; `None` where it
/// does not move.
fn by_deed(moved: &[Vec<f64>], weights: &[f64], units: usize) -> Option<f64> {
    let squares = squares(moved, weights, units);
    let sum: f64 = squares.iter().sum();
    let fourth: f64 = squares.iter().map(|square| square * square).sum();
    let freedom = 2.0 * sum * sum / (fourth - sum * sum / units as f64);
    (sum > 0.0).then_some(if freedom.is_finite() && freedom > 0.0 {
        freedom
    } else {
        f64::INFINITY
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_is_most_of_it_leaves_few_degrees_of_freedom() {
        let even =
            left_out_covariance(&[vec![0.1, -0.2, 0.3, -0.2]], &[1.0; 4], &[vec![1.0]]).unwrap();
        let long =
            left_out_covariance(&[vec![0.1, -0.2, 0.3, -0.2]], &[1.0, 1.0, 9.0, 1.0], &[]).unwrap();
        assert!(even.shared.degrees_of_freedom() > 2.5 && even.shared.degrees_of_freedom() <= 3.0);
        assert!((even.loudest - 0.09 / 0.18).abs() < 1e-9 && long.loudest == 0.0);
        assert!(
            (long.shared.degrees_of_freedom() - (144.0 / 84.0 - 1.0_f64).max(1.0)).abs() < 1e-12
        );
        // One unit moves all, the others nothing.
        let loud: Vec<f64> = (0..40).map(|unit| f64::from(u8::from(unit == 7))).collect();
        let loud = left_out_covariance(&[loud], &[1.0; 40], &[vec![1.0]]).unwrap();
        assert!(loud.shared.degrees_of_freedom() < 2.5 && loud.loudest > 0.9, "{loud:?}");
    }

    #[test]
    fn statistics_that_move_together_have_a_covariance() {
        let a = vec![1.0, 2.0, 3.0, 6.0];
        let b: Vec<f64> = a.iter().map(|value| -2.0 * value).collect();
        let shared = left_out_covariance(&[a, b], &[1.0; 4], &[vec![1.0, 1.0]]).unwrap().shared;
        let v = shared.covariance();
        assert!(
            (v[1] + 2.0 * v[0]).abs() < 1e-12 && v[1] == v[2] && (v[3] - 4.0 * v[0]).abs() < 1e-12
        );
        assert!(shared.product(&[2.0, 1.0], &[2.0, 1.0]).abs() < 1e-12);
    }

    #[test]
    fn what_does_not_exist_without_a_unit_is_refused() {
        assert!(left_out_covariance(&[vec![1.0, f64::NEG_INFINITY]], &[1.0; 2], &[]).is_err());
        assert!(left_out_covariance(&[vec![1.0]], &[1.0], &[]).is_err());
        assert!(left_out_covariance(&[vec![1.0, 2.0, 3.0]], &[1.0; 2], &[]).is_err());
    }
}
