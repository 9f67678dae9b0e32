//! Appendix B of the paper (arXiv 2510.20387): `-ln p_1` and cross entropy of lognormal point
//! masses, in closed form and exactly.
//!
//! The paper gives rank k the probability `p_k = psi(k)/c`, where psi is the density of a lognormal
//! with parameters mu and sigma, and `c = sum psi(k)` (eq. 10 and 11). With `a = -mu/sigma`, phi
//! and Phi of the standard normal, `P = Phi(mu/sigma)`:
//!
//! ```text
//! c        ~ phi(a)/(2 sigma) + P                                                                       (20)
//! -ln p_1  = ln c + ln(sqrt(2 pi) sigma) + mu²/(2 sigma²)                                               (16)
//! CE       ~ -ln p_1 + [P ((sigma² - mu²)/(2 sigma²) + mu) + phi(a) (sigma - mu/(2 sigma))] / c         (21)
//! ```
//!
//! As they stand these lose all digits for a fit like GPT-2's (mu = -65, sigma = 13: c is 4e-8, and
//! `mu²/(2 sigma²)` cancels `ln c`). Divided by phi(a), with the Mills ratio `M = P/phi(a)`,
//! nothing large is left:
//!
//! ```text
//! -ln p_1  ~ ln(1/2 + sigma M)
//! CE       ~ -ln p_1 + [((sigma² - mu²)/(2 sigma²) + mu) + (sigma - mu/(2 sigma))/M] / (1 + 1/(2 sigma M))
//! ```
//!
//! What the paper calls CE is the **entropy of the rank distribution**. It is a model's cross
//! entropy only if the model gives probability p_k to every token of rank k: the calibration in
//! [`RankDistribution`](crate::RankDistribution) measures that.

use relscale_stats::normal::{ln_density, ln_mills_ratio, upper_tail};

use crate::error::LawsError;

/// Ranks that are added one by one before an endless sum goes on as an integral.
const ADDED: u32 = 1 << 17;

/// What Appendix B derives from mu and sigma.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AppendixB {
    /// `-ln p_1`, nats: that of greedy decoding, `-ln RBP_1`.
    pub minus_ln_p1: f64,
    /// `-sum p_k ln p_k`, nats: the "CE" of the paper, the entropy of the rank distribution.
    pub entropy: f64,
}

/// The approximations (16) with (20), and (21).
///
/// ```
/// use relscale_laws::rank_distribution::appendix_b::{closed_form, sum};
/// // The paper's fit of GPT-2: what the closed forms say, and the sums over its 50 257 tokens.
/// let (mu, sigma) = (-65.192, 12.892);
/// let close = closed_form(mu, sigma).unwrap();
/// assert!((close.minus_ln_p1 - 1.0851).abs() < 5e-5 && (close.entropy - 3.8671).abs() < 5e-5);
/// let exact = sum(mu, sigma, 50_257).unwrap();
/// assert!((exact.minus_ln_p1 - 1.1129).abs() < 5e-5 && (exact.entropy - 3.6570).abs() < 5e-5);
/// ```
///
/// # Errors
/// [`LawsError::Lognormal`]: sigma that is not above zero, a parameter that is not finite, a result
/// out of range.
pub fn closed_form(mu: f64, sigma: f64) -> Result<AppendixB, LawsError> {
    check(mu, sigma)?;
    let ln_mills = ln_mills_ratio(-mu / sigma);
    // ln(1/2 + sigma M), from the larger of the two so that a huge ratio does not overflow.
    let ln_area = sigma.ln() + ln_mills;
    let ln_half = 0.5_f64.ln();
    let minus_ln_p1 = ln_area.max(ln_half) + (-(ln_area - ln_half).abs()).exp().ln_1p();
    let per_mills = (-ln_mills).exp();
    let ratio = mu / sigma;
    let bracket = 0.5 * (1.0 - ratio * ratio) + mu + (sigma - 0.5 * ratio) * per_mills;
    finite(mu, sigma, minus_ln_p1, minus_ln_p1 + bracket / (1.0 + per_mills / (2.0 * sigma)))
}

/// The sums over ranks 1 to `upper`, the vocabulary.
///
/// # Errors
/// As [`closed_form`]; an `upper` of 0.
pub fn sum(mu: f64, sigma: f64, upper: u32) -> Result<AppendixB, LawsError> {
    check(mu, sigma)?;
    let sums = Sums::up_to(mu, sigma, upper);
    finite(mu, sigma, sums.ln_total(), sums.entropy())
}

/// The sums over all ranks without end, as eq. 11 and 17 have them: the first 131 072 one by one,
/// the rest by the midpoint rule as an integral, whose error is far below the last digit there.
///
/// # Errors
/// As [`closed_form`].
pub fn endless_sum(mu: f64, sigma: f64) -> Result<AppendixB, LawsError> {
    check(mu, sigma)?;
    let mut sums = Sums::up_to(mu, sigma, ADDED);
    sums.add_tail(mu, sigma, f64::from(ADDED) + 0.5);
    finite(mu, sigma, sums.ln_total(), sums.entropy())
}

/// `ln(psi(k)/psi(1))` at `t = ln k`: 0 at k = 1, whatever mu.
fn exponent(mu: f64, sigma: f64, t: f64) -> f64 {
    t * (mu / (sigma * sigma) - 1.0 - 0.5 * t / (sigma * sigma))
}

/// Sums of `w = psi(k)/psi(1)` and `w ln w`, both over `exp(largest)`.
struct Sums {
    largest: f64,
    total: f64,
    weighted: f64,
}

impl Sums {
    fn up_to(mu: f64, sigma: f64, upper: u32) -> Self {
        // psi has one maximum, at ln k = mu - sigma².
        let peak = (mu - sigma * sigma).clamp(0.0, f64::from(upper.max(1)).ln());
        let largest = exponent(mu, sigma, peak);
        let (mut total, mut weighted) = (0.0, 0.0);
        // From the small terms to the large where the tail falls, which is nearly always.
        for k in (1..=upper).rev() {
            let ln_w = exponent(mu, sigma, f64::from(k).ln());
            let w = (ln_w - largest).exp();
            total += w;
            weighted += w * ln_w;
        }
        Self { largest, total, weighted }
    }

    /// Adds `integral from x of psi(y)/psi(1) dy`, and the same with
    /// `ln(psi/psi(1)) = t (mu/sigma² - 1) - t²/(2 sigma²)`: the truncated moments of t = ln y as
    /// in eq. 14 and 15, from `ln x` instead of 0.
    fn add_tail(&mut self, mu: f64, sigma: f64, x: f64) {
        let t = x.ln();
        let z = (t - mu) / sigma;
        // Over psi(1) = phi(mu/sigma)/sigma, and over exp(largest) as the other terms.
        let scale = |ln: f64| (ln - ln_density(mu / sigma) + sigma.ln() - self.largest).exp();
        let density = scale(ln_density(z));
        let area =
            if z > 0.0 { density * ln_mills_ratio(z).exp() } else { scale(upper_tail(z).ln()) };
        let first = mu * area + sigma * density;
        let second = (mu * mu + sigma * sigma) * area + sigma * (mu + t) * density;
        let variance = sigma * sigma;
        self.total += area;
        self.weighted += (mu / variance - 1.0) * first - 0.5 * second / variance;
    }

    /// `ln sum w = -ln p_1`.
    fn ln_total(&self) -> f64 {
        self.largest + self.total.ln()
    }

    /// `-sum p ln p` with `p = w / sum w`.
    fn entropy(&self) -> f64 {
        self.ln_total() - self.weighted / self.total
    }
}

fn check(mu: f64, sigma: f64) -> Result<(), LawsError> {
    let reason = if !(mu.is_finite() && sigma.is_finite()) {
        "both must be finite"
    } else if sigma <= 0.0 {
        "sigma must be above zero"
    } else {
        return Ok(());
    };
    Err(LawsError::Lognormal { mu, sigma, reason })
}

fn finite(mu: f64, sigma: f64, minus_ln_p1: f64, entropy: f64) -> Result<AppendixB, LawsError> {
    if minus_ln_p1.is_finite() && entropy.is_finite() {
        Ok(AppendixB { minus_ln_p1, entropy })
    } else {
        Err(LawsError::Lognormal { mu, sigma, reason: "the result exceeds the range of numbers" })
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    /// `(16)` and `(21)` as the paper prints them, for comparison with the form above.
    fn as_printed(mu: f64, sigma: f64) -> AppendixB {
        let density = ln_density(mu / sigma).exp();
        let area = upper_tail(-mu / sigma);
        let c = density / (2.0 * sigma) + area;
        let (variance, square) = (sigma * sigma, mu * mu);
        let minus_ln_p1 = c.ln() + (TAU.sqrt() * sigma).ln() + square / (2.0 * variance);
        let bracket = area * ((variance - square) / (2.0 * variance) + mu)
            + density * (sigma - mu / (2.0 * sigma));
        AppendixB { minus_ln_p1, entropy: minus_ln_p1 + bracket / c }
    }

    #[test]
    fn the_stable_form_is_the_printed_one_where_that_has_digits() {
        for mu in [-20.0, -6.0, -1.0, 0.0, 0.8, 3.0, 9.0] {
            for sigma in [0.7, 2.0, 4.0, 12.0] {
                let (stable, printed) = (closed_form(mu, sigma).unwrap(), as_printed(mu, sigma));
                let tolerance = 1e-13 * (1.0 + mu * mu / (sigma * sigma)).powi(2);
                if -mu / sigma < 8.0 {
                    assert!(
                        (stable.minus_ln_p1 - printed.minus_ln_p1).abs() < tolerance,
                        "{mu} {sigma}"
                    );
                    let scale = printed.entropy.abs().max(1.0);
                    assert!(
                        (stable.entropy - printed.entropy).abs() < 10.0 * tolerance * scale,
                        "{mu} {sigma}"
                    );
                }
            }
        }
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        for (mu, sigma) in [(-3.0, 2.5), (0.8, 2.0), (4.0, 1.0), (9.0, 0.5)] {
            let psi = |k: u32| {
                let t = f64::from(k).ln();
                (-(t - mu) * (t - mu) / (2.0 * sigma * sigma)).exp()
                    / (TAU.sqrt() * sigma * f64::from(k))
            };
            let c: f64 = (1..=1000).map(psi).sum();
            let entropy: f64 = (1..=1000).map(|k| psi(k) / c).map(|p| -p * p.ln()).sum();
            let found = sum(mu, sigma, 1000).unwrap();
            assert!((found.minus_ln_p1 - (c / psi(1)).ln()).abs() < 1e-11, "{mu} {sigma}");
            assert!((found.entropy - entropy).abs() < 1e-11, "{mu} {sigma}");
        }
    }

    #[test]
    fn the_endless_sum_does_not_depend_on_where_the_integral_takes_over() {
        for (mu, sigma) in [(-65.192, 12.892), (-3.0, 2.5), (2.0, 2.5), (12.5, 0.8)] {
            let mut early = Sums::up_to(mu, sigma, 1 << 15);
            early.add_tail(mu, sigma, f64::from(1 << 15) + 0.5);
            let late = endless_sum(mu, sigma).unwrap();
            assert!((early.ln_total() - late.minus_ln_p1).abs() < 1e-8, "{mu} {sigma}");
            assert!((early.entropy() - late.entropy).abs() < 1e-7, "{mu} {sigma}");
        }
    }

    #[test]
    fn extremes_have_numbers_and_nonsense_has_a_reason() {
        // c is exp(-4e5) here: no double holds it.
        let far = closed_form(-900.0, 1.0).unwrap();
        assert!((far.minus_ln_p1 - (0.5 + 1.0 / 900.0_f64).ln()).abs() < 1e-5);
        assert!(closed_form(900.0, 1.0).unwrap().minus_ln_p1 > 4e5);
        for (mu, sigma) in [(0.0, 0.0), (0.0, -1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(
                matches!(closed_form(mu, sigma), Err(LawsError::Lognormal { .. })),
                "{mu} {sigma}"
            );
        }
        assert!(sum(0.0, 1.0, 0).is_err());
    }
}
