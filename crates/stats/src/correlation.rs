//! Do two quantities go together? Pearson's correlation for a straight relation, Spearman's for any
//! rising or falling one.
//!
//! ```text
//! r = Σ(x - x̄)(y - ȳ) / sqrt(Σ(x - x̄)² Σ(y - ȳ)²)       Spearman: the same of the ranks, equal values sharing theirs
//! interval: tanh(artanh r ± z sqrt(c/(n - 3)))             c = 1 (Fisher 1921); 1.06 for ranks (Fieller, Hartley, Pearson 1957)
//! p: Student t of r sqrt((n - 2)/(1 - r²)), n - 2 degrees of freedom; for ranks of up to 8 pairs all orders are tried
//! ```
//!
//! Pearson's interval supposes pairs of a bivariate normal distribution; with few pairs one far
//! point may decide it, which Spearman's shows.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::check;
use crate::error::StatsError;

/// Pairs up to which every order of the ranks is tried.
const ALL_ORDERS: usize = 8;

/// A correlation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// From -1 to 1.
    pub value: f64,
    /// Interval by Fisher's z; absent for three pairs and where the correlation is perfect.
    pub interval: Option<(f64, f64)>,
    /// Chance of a correlation at least this strong, of either sign, between quantities that have
    /// nothing to do with each other.
    pub p_value: f64,
    /// Number of pairs.
    pub pairs: usize,
}

/// Pearson's correlation, with an interval of coverage `level`.
///
/// ```
/// let found = relscale_stats::correlation::pearson(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0], 0.95).unwrap();
/// assert!((found.value - 0.5).abs() < 1e-15);
/// ```
///
/// # Errors
/// Slices of different length; fewer than three pairs; all x or all y equal; an entry that is not
/// finite; a level that is no probability.
pub fn pearson(x: &[f64], y: &[f64], level: f64) -> Result<Correlation, StatsError> {
    let value = coefficient(x, y, level)?;
    Ok(Correlation {
        value,
        interval: fisher(value, x.len(), 1.0, level),
        p_value: student(value, x.len())?,
        pairs: x.len(),
    })
}

/// Spearman's correlation of ranks, with an interval of coverage `level`.
///
/// ```
/// let found = relscale_stats::correlation::spearman(&[1.0, 2.0, 3.0], &[1.0, 10.0, 100.0], 0.95).unwrap();
/// // Of the six orders of three values two go all up or all down.
/// assert_eq!((found.value, found.p_value), (1.0, 2.0 / 6.0));
/// ```
///
/// # Errors
/// As [`pearson`].
pub fn spearman(x: &[f64], y: &[f64], level: f64) -> Result<Correlation, StatsError> {
    coefficient(x, y, level)?;
    let (x, y) = (ranks(x), ranks(y));
    let value = coefficient(&x, &y, level)?;
    let p_value =
        if x.len() <= ALL_ORDERS { by_all_orders(value, &x, &y) } else { student(value, x.len())? };
    Ok(Correlation {
        value,
        interval: fisher(value, x.len(), 1.06, level),
        p_value,
        pairs: x.len(),
    })
}

fn coefficient(x: &[f64], y: &[f64], level: f64) -> Result<f64, StatsError> {
    check::level(level)?;
    if x.len() != y.len() {
        return Err(StatsError::Lengths {
            left: "x",
            left_length: x.len(),
            right: "y",
            right_length: y.len(),
        });
    }
    if x.len() < 3 {
        return Err(StatsError::TooFewPairs { pairs: x.len() });
    }
    let (x, y) = (centred("x", x)?, centred("y", y)?);
    let value = product(&x, &y);
    // What is perfect but for rounding is perfect.
    Ok(if 1.0 - value.abs() < 1e-14 { value.signum() } else { value })
}

/// Deviations from the mean, of squares that sum to 1.
fn centred(what: &'static str, values: &[f64]) -> Result<Vec<f64>, StatsError> {
    if let Some(index) = values.iter().position(|value| !value.is_finite()) {
        return Err(StatsError::NonFinite { what, index, value: values[index] });
    }
    if values.iter().all(|value| *value == values[0]) {
        return Err(StatsError::NoSpread { points: values.len(), x: values[0] });
    }
    // Scaled first, as squares of large numbers leave the range.
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let mean = values.iter().map(|value| value / largest).sum::<f64>() / values.len() as f64;
    let deviations: Vec<f64> = values.iter().map(|value| value / largest - mean).collect();
    let norm = product(&deviations, &deviations).sqrt();
    Ok(deviations.into_iter().map(|deviation| deviation / norm).collect())
}

fn product(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Ranks from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count();
    let equal = |value: f64| values.iter().filter(|other| **other == value).count();
    values.iter().map(|&value| below(value) as f64 + (equal(value) as f64 + 1.0) / 2.0).collect()
}

fn fisher(value: f64, pairs: usize, factor: f64, level: f64) -> Option<(f64, f64)> {
    let freedom = pairs.checked_sub(3).filter(|freedom| *freedom > 0)?;
    if value.abs() >= 1.0 {
        return None;
    }
    let quantile = Normal::standard().inverse_cdf(0.5 + level / 2.0);
    let half = quantile * (factor / freedom as f64).sqrt();
    Some(((value.atanh() - half).tanh(), (value.atanh() + half).tanh()))
}

fn student(value: f64, pairs: usize) -> Result<f64, StatsError> {
    let freedom = (pairs - 2) as f64;
    if value.abs() >= 1.0 {
        return Ok(0.0);
    }
    let t = StudentsT::new(0.0, 1.0, freedom).map_err(|_| StatsError::NoDegreesOfFreedom)?;
    Ok(2.0 * t.sf(value.abs() * (freedom / (1.0 - value * value)).sqrt()))
}

/// Share of the orders of y in which the ranks agree, or disagree, at least as well.
fn by_all_orders(value: f64, x: &[f64], y: &[f64]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let x: Vec<f64> = x.iter().map(|rank| rank - mean).collect();
    let mut y: Vec<f64> = y.iter().map(|rank| rank - mean).collect();
    let bound = value.abs() * (product(&x, &x) * product(&y, &y)).sqrt() * (1.0 - 1e-12);
    let (mut as_strong, mut all) = (0_u32, 0_u32);
    each_order(&mut y, 0, &mut |y| {
        all += 1;
        as_strong += u32::from(product(&x, y).abs() >= bound);
    });
    f64::from(as_strong) / f64::from(all)
}

fn each_order(values: &mut [f64], from: usize, visit: &mut impl FnMut(&[f64])) {
    if from == values.len() {
        return visit(values);
    }
    for at in from..values.len() {
        values.swap(from, at);
        each_order(values, from + 1, visit);
        values.swap(from, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: [f64; 8] = [1.2, 2.5, 3.1, 4.8, 5.0, 6.7, 7.7, 8.1];
    const Y: [f64; 8] = [2.1, 1.9, 3.3, 3.0, 4.8, 4.1, 4.0, 6.2];

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found} for {wanted}");
    }

    /// SciPy 1.17.1: `pearsonr(x, y)`, its `confidence_interval(0.95)`, and `spearmanr`.
    #[test]
    fn as_scipy_has_it() {
        let found = pearson(&X, &Y, 0.95).unwrap();
        near(found.value, 0.829_076_826_807_772_3);
        near(found.p_value, 0.010_938_079_038_569_292);
        let (low, high) = found.interval.unwrap();
        near(low, 0.299_211_820_442_291_66);
        near(high, 0.968_137_010_363_132_8);
        near(spearman(&X, &Y, 0.95).unwrap().value, 0.857_142_857_142_857_2);
    }

    /// SciPy 1.17.1, with equal values; the share of orders counted with `itertools.permutations`.
    #[test]
    fn equal_values_share_their_ranks() {
        let (x, y) = ([1.0, 2.0, 2.0, 4.0, 5.0, 5.0], [3.0, 1.0, 4.0, 4.0, 6.0, 9.0]);
        let found = spearman(&x, &y, 0.9).unwrap();
        near(found.value, 0.850_841_043_487_808_2);
        near(found.p_value, 0.044_444_444_444_444_446);
        let (low, high) = pearson(&x, &y, 0.9).unwrap().interval.unwrap();
        near(low, 0.106_638_565_813_060_72);
        near(high, 0.964_474_101_057_014_4);
    }

    #[test]
    fn units_do_not_matter_and_a_mirror_turns_the_sign() {
        let scaled: Vec<f64> = X.iter().map(|x| 1e200 * x).collect();
        let mirrored: Vec<f64> = Y.iter().map(|y| -1e-200 * y).collect();
        let (one, other) =
            (pearson(&X, &Y, 0.95).unwrap(), pearson(&scaled, &mirrored, 0.95).unwrap());
        near(other.value, -one.value);
        near(other.p_value, one.p_value);
        near(other.interval.unwrap().0, -one.interval.unwrap().1);
    }

    #[test]
    fn three_pairs_have_no_interval_and_two_no_correlation() {
        let three = pearson(&X[..3], &Y[..3], 0.95).unwrap();
        assert_eq!(three.interval, None);
        assert_eq!(pearson(&X[..2], &Y[..2], 0.95), Err(StatsError::TooFewPairs { pairs: 2 }));
        assert!(matches!(pearson(&[1.0; 4], &Y[..4], 0.95), Err(StatsError::NoSpread { .. })));
        assert!(pearson(&X, &Y[..7], 0.95).is_err() && pearson(&X, &Y, 1.0).is_err());
        assert!(spearman(&[1.0, f64::NAN, 2.0], &Y[..3], 0.95).is_err());
        let perfect = pearson(&[1.0, 2.0, 4.0], &[2.0, 4.0, 8.0], 0.95).unwrap();
        assert_eq!((perfect.value, perfect.interval, perfect.p_value), (1.0, None, 0.0));
    }
}
