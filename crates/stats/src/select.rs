//! Choosing between forms fitted to the same points.
//!
//! ```text
//! AICc = n ln(Σ residual² / n) + 2 K + 2 K (K + 1) / (n - K - 1),   K = parameters + 1
//! ```
//!
//! The one more is the variance of the scatter (Hurvich and Tsai 1989, *Biometrika* 76, 297;
//! Burnham and Anderson 2002, ch. 2). The correction needs `n > K + 1`: a form of p parameters has
//! an AICc from `p + 3` points on. Values compare only when made from residuals of the same
//! quantity, as all of [`forms`](crate::forms) are: of `ln y`.

use crate::error::StatsError;
use crate::forms::Curve;

/// Residual variance of `ln y` below which there is only rounding, so that the logarithm stays
/// finite.
const ROUNDING: f64 = 1e-28;

/// AICc of a fitted curve; lower is better, differences alone mean something.
///
/// # Errors
/// [`StatsError::TooFewForForm`] below `p + 3` points.
pub fn aicc(curve: &Curve) -> Result<f64, StatsError> {
    let form = curve.shape.form;
    let parameters = form.parameters().len();
    let points = curve.points();
    aicc_of(points, parameters, curve.residual_sum_of_squares).ok_or_else(|| {
        StatsError::TooFewForAicc {
            form: form.name(),
            parameters,
            given: points,
            needed: parameters + 3,
        }
    })
}

/// AICc of anything fitted by least squares, by its sum of squares; `None` below `p + 3` points.
pub fn aicc_of(points: usize, parameters: usize, squares: f64) -> Option<f64> {
    let k = parameters + 1;
    if points <= k + 1 {
        return None;
    }
    let (n, k) = (points as f64, k as f64);
    let variance = (squares / n).max(ROUNDING);
    Some(n * variance.ln() + 2.0 * k + 2.0 * k * (k + 1.0) / (n - k - 1.0))
}

/// Akaike's weights, `exp(-Δ/2)` normalised to sum to 1: how the evidence is shared among the
/// candidates, if the truth is like one of them.
pub fn weights(criteria: &[f64]) -> Vec<f64> {
    let least = criteria.iter().fold(f64::INFINITY, |a, &b| a.min(b));
    let raw: Vec<f64> = criteria.iter().map(|value| (-(value - least) / 2.0).exp()).collect();
    let sum: f64 = raw.iter().sum();
    raw.into_iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::{self, exponential::Exponential, power::PowerForm};

    const X: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];

    #[test]
    fn by_hand() {
        // ln y = 0, -1, -1, -2, -3 at u = -2..2 (in units of ln 2): slope -0.7, residuals 0, 0.3,
        // -0.4, 0.3, -0.2... of mean -1.4: fitted 0, -0.7, -1.4, -2.1, -2.8; residuals 0, -0.3,
        // 0.4, 0.1, -0.2; sum of squares 0.30.
        let y = [0.0_f64, -1.0, -1.0, -2.0, -3.0].map(f64::exp);
        let fit = forms::fit(&PowerForm, &X, &y).unwrap();
        assert!((fit.residual_sum_of_squares - 0.30).abs() < 1e-14);
        // K = 3: 5 ln 0.06 + 6 + 24 / 1.
        assert!((aicc(&fit).unwrap() - (5.0 * 0.06_f64.ln() + 30.0)).abs() < 1e-12);
    }

    #[test]
    fn too_few_points_are_refused_by_number() {
        let fit = forms::fit(&PowerForm, &X[..4], &[5.0, 4.0, 3.5, 3.3]).unwrap();
        let refusal = aicc(&fit).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "AICc of the power law (2 parameters and a variance) needs at least 5 points, not 4"
        );
    }

    #[test]
    fn an_exact_fit_wins_without_infinities() {
        let y = X.map(|x: f64| 3.0 * (-0.1 * x).exp());
        let exact = aicc(&forms::fit(&Exponential, &X, &y).unwrap()).unwrap();
        let other = aicc(&forms::fit(&PowerForm, &X, &y).unwrap()).unwrap();
        assert!(exact.is_finite() && exact < other - 100.0);
        let shares = weights(&[exact, other]);
        assert!(shares[0] > 0.999 && (shares[0] + shares[1] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn weights_by_hand() {
        let shares = weights(&[10.0, 12.0]);
        assert!((shares[0] - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-15);
    }
}
