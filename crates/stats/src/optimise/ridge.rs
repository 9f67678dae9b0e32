//! Ridge regression: linear least squares with more columns than points will bear (Hoerl and
//! Kennard 1970).
//!
//! ```text
//! minimise   Σ (y - b0 - Z b)²  +  penalty Σ b²          Z: columns less their mean, over their standard deviation
//! ```
//!
//! The constant is not penalised. Columns are standardised by the points they are fitted to
//! (divided by n), so a penalty means the same whatever their units. With points left out one by
//! one, errors are those of the fit with the columns as all points standardise them:
//! `residual / (1 - leverage)`, the leverage that of the penalised fit with its constant.

use super::dense::{dot, solve};
use crate::check;
use crate::error::StatsError;

/// A column whose standard deviation is below this part of its size is constant.
const CONSTANT: f64 = 1e-12;

/// A fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Ridge {
    /// The value where every column has its mean.
    pub constant: f64,
    /// One a column, for the column standardised; 0 for a column that does not vary.
    pub coefficients: Vec<f64>,
    /// Mean and standard deviation of each column.
    pub scales: Vec<(f64, f64)>,
    /// The penalty.
    pub penalty: f64,
    /// `y` less the prediction of each point by all others, columns standardised by all.
    pub left_out_errors: Vec<f64>,
}

impl Ridge {
    /// The value at a row, an entry a column.
    pub fn at(&self, row: &[f64]) -> f64 {
        self.constant + dot(&self.coefficients, &standardised(row, &self.scales))
    }
}

fn standardised(row: &[f64], scales: &[(f64, f64)]) -> Vec<f64> {
    row.iter().zip(scales).map(|(value, (mean, width))| (value - mean) / width).collect()
}

/// Fits `y` on rows of columns with a penalty.
///
/// ```
/// use relscale_stats::optimise::ridge;
/// // One standardised column, (-1, 1): b = Σ z y / (Σ z² + penalty) = 2/(2 + 2).
/// let fit = ridge::fit(&[0.0, 2.0], &[vec![5.0], vec![7.0]], 2.0).unwrap();
/// assert!((fit.coefficients[0] - 0.5).abs() < 1e-15 && (fit.at(&[8.0]) - 2.0).abs() < 1e-15);
/// ```
///
/// # Errors
/// Fewer than two points; rows of different length; a number that is not finite; a penalty that is
/// not above zero.
pub fn fit(y: &[f64], rows: &[Vec<f64>], penalty: f64) -> Result<Ridge, StatsError> {
    if y.len() < 2 {
        return Err(StatsError::TooFewPoints { given: y.len(), needed: 2 });
    }
    check::finite(&[("y", y)])?;
    let lengths = |left_length, right_length| StatsError::Lengths {
        left: "y",
        left_length,
        right: "rows",
        right_length,
    };
    if rows.len() != y.len() {
        return Err(lengths(y.len(), rows.len()));
    }
    let width = rows[0].len();
    for row in rows {
        if row.len() != width {
            return Err(lengths(width, row.len()));
        }
        check::finite(&[("row", row)])?;
    }
    if !(penalty > 0.0 && penalty.is_finite()) {
        return Err(StatsError::Parameter { name: "penalty", value: penalty, domain: "above 0" });
    }
    let count = y.len() as f64;
    let scales: Vec<(f64, f64)> = (0..width)
        .map(|column| {
            let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
            let squares: f64 = rows.iter().map(|row| (row[column] - mean).powi(2)).sum();
            let width = (squares / count).sqrt();
            // A column that does not vary tells nothing, here or elsewhere.
            (mean, if width > CONSTANT * mean.abs() { width } else { f64::INFINITY })
        })
        .collect();
    let z: Vec<Vec<f64>> = rows.iter().map(|row| standardised(row, &scales)).collect();
    let constant = y.iter().sum::<f64>() / count;
    // By the points' products, which are few where columns are many:
    // b = Zᵀ (Z Zᵀ + penalty)^-1 (y - mean).
    let products: Vec<f64> =
        z.iter().flat_map(|left| z.iter().map(move |right| dot(left, right))).collect();
    let against = |right: &[f64]| solve(&products, right, penalty).ok_or(StatsError::Undetermined);
    let centred: Vec<f64> = y.iter().map(|y| y - constant).collect();
    let weights = against(&centred)?;
    let coefficients: Vec<f64> = (0..width)
        .map(|column| z.iter().zip(&weights).map(|(row, weight)| weight * row[column]).sum())
        .collect();
    let mut left_out_errors = Vec::with_capacity(y.len());
    for at in 0..y.len() {
        // Leverage: 1/n of the constant, and of the columns [K (K + penalty)^-1]_ii.
        let mut unit = vec![0.0; y.len()];
        unit[at] = 1.0;
        let leverage = 1.0 / count + 1.0 - penalty * against(&unit)?[at];
        let residual = centred[at] - dot(&coefficients, &z[at]);
        left_out_errors.push(residual / (1.0 - leverage));
    }
    Ok(Ridge { constant, coefficients, scales, penalty, left_out_errors })
}

/// The fit of those penalties with the least sum of squared left-out errors; of equal ones the
/// largest penalty.
///
/// # Errors
/// As [`fit`]; no penalty is given.
pub fn chosen(y: &[f64], rows: &[Vec<f64>], penalties: &[f64]) -> Result<Ridge, StatsError> {
    let mut best: Option<(f64, Ridge)> = None;
    for &penalty in penalties {
        let found = fit(y, rows, penalty)?;
        let sum: f64 = found.left_out_errors.iter().map(|error| error * error).sum();
        let better = best
            .as_ref()
            .is_none_or(|(least, best)| sum < *least || (sum == *least && penalty > best.penalty));
        if better && sum.is_finite() {
            best = Some((sum, found));
        }
    }
    best.map(|(_, found)| found).ok_or(StatsError::Undetermined)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Penalty, constant, coefficients, the value at a new row, errors of points left out.
    type Found = (f64, f64, [f64; 4], f64, [f64; 6]);

    const BY_SCIKIT_LEARN: [Found; 3] = [
        (
            0.01,
            1.65,
            [-0.080_896_053_943_322, 0.341_253_611_528_570, 1.307_125_150_017_713, 0.0],
            6.357_861_054_933_887,
            [
                -0.584_010_535_128_535,
                0.405_536_974_516_380,
                -0.960_468_846_048_809,
                0.723_980_876_144_296,
                -0.862_315_015_417_817,
                1.252_372_888_731_23,
            ],
        ),
        (
            1.0,
            1.65,
            [0.451_615_165_908_506, -0.038_148_142_884_252, 0.416_492_292_543_637, 0.0],
            4.252_593_227_760_344,
            [
                -0.896_825_085_793_732,
                0.392_497_732_841_847,
                -0.566_875_765_457_575,
                0.594_074_402_558_521,
                -0.573_383_435_851_479,
                0.832_677_890_011_541,
            ],
        ),
        (
            100.0,
            1.65,
            [0.049_900_657_524_597, -0.034_417_972_166_536, 0.049_504_338_383_454, 0.0],
            1.947_319_103_810_568,
            [
                -1.533_164_145_224_798,
                -0.527_074_129_255_203,
                -0.813_904_608_093_300,
                0.663_891_478_415_646,
                0.293_578_976_240_323,
                2.004_634_399_682_558,
            ],
        ),
    ];

    const Y: [f64; 6] = [0.3, 1.1, 0.9, 2.2, 2.0, 3.4];

    fn rows() -> Vec<Vec<f64>> {
        (0..6)
            .map(|at| {
                let u = f64::from(at);
                vec![u, (0.9 * u).sin(), 100.0 + u * u, 7.0]
            })
            .collect()
    }

    /// By scikit-learn 1.9.1, `tools/goldens/forecast.py`: `StandardScaler`, then `Ridge`.
    #[test]
    fn scikit_learn_finds_the_same() {
        for (penalty, constant, coefficients, at_new, left_out) in BY_SCIKIT_LEARN {
            let fit = fit(&Y, &rows(), penalty).unwrap();
            assert!((fit.constant - constant).abs() < 1e-12);
            for (found, want) in fit.coefficients.iter().zip(coefficients) {
                assert!((found - want).abs() < 1e-12, "{penalty}: {found}, {want}");
            }
            assert!((fit.at(&[6.5, 0.2, 142.25, 7.0]) - at_new).abs() < 1e-12);
            for (found, want) in fit.left_out_errors.iter().zip(left_out) {
                assert!((found - want).abs() < 1e-12, "{penalty}: {found}, {want}");
            }
        }
        let best = chosen(&Y, &rows(), &[0.01, 1.0, 100.0]).unwrap();
        assert_eq!(best.penalty, 1.0);
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        assert!(fit(&[1.0], &[vec![1.0]], 1.0).is_err());
        assert!(fit(&[1.0, 2.0], &[vec![1.0]], 1.0).is_err());
        assert!(fit(&[1.0, 2.0], &[vec![1.0], vec![]], 1.0).is_err());
        assert!(fit(&[1.0, f64::NAN], &[vec![1.0], vec![2.0]], 1.0).is_err());
        assert!(fit(&[1.0, 2.0], &[vec![1.0], vec![2.0]], 0.0).is_err());
        assert!(chosen(&[1.0, 2.0], &[vec![1.0], vec![2.0]], &[]).is_err());
    }
}
