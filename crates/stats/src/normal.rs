//! Tails of the normal distribution to full precision, also where their area underflows.
//!
//! Written out here because a rank's probability is a difference of two tails: `statrs` 0.19
//! computes `erfc` to ten digits, of which such a difference far out keeps five.

/// From here on Laplace's continued fraction, below it the series.
const FRACTION_FROM: f64 = 2.0;

/// Terms of the fraction. Its error falls as `exp(-1.8 x sqrt(n))`: below 1e-16 where it is used
/// first.
const TERMS: u32 = 120;

/// `1 - Phi(x)`: the area above x.
///
/// Relative error below 2e-14 up to x = 12; beyond, below `1e-16 x²`, as that of any `exp(-x²/2)`.
/// 0 from x = 38.6.
///
/// ```
/// assert_eq!(relscale_stats::normal::upper_tail(0.0), 0.5);
/// ```
pub fn upper_tail(x: f64) -> f64 {
    if x >= FRACTION_FROM {
        ln_density(x).exp() * mills_fraction(x)
    } else if x > -FRACTION_FROM {
        0.5 - ln_density(x).exp() * series(x)
    } else {
        1.0 - upper_tail(-x)
    }
}

/// `ln` of the Mills ratio `(1 - Phi(x)) / phi(x)`: the area above x over the density at x.
///
/// Finite for every finite x: about `-ln x` far above 0, and `x²/2 + ln sqrt(2 pi)` far below.
/// Error below 2e-14, relative where the logarithm exceeds 1.
///
/// ```
/// // At 0 the area is 1/2 and the density 1/sqrt(2 pi).
/// let ratio = relscale_stats::normal::ln_mills_ratio(0.0).exp();
/// assert!((ratio - (std::f64::consts::PI / 2.0).sqrt()).abs() < 1e-15);
/// ```
pub fn ln_mills_ratio(x: f64) -> f64 {
    if x >= FRACTION_FROM { mills_fraction(x).ln() } else { upper_tail(x).ln() - ln_density(x) }
}

/// `ln phi(x) = -x²/2 - ln sqrt(2 pi)`: the log density.
pub fn ln_density(x: f64) -> f64 {
    -0.5 * (x * x + std::f64::consts::TAU.ln())
}

/// `1/(x + 1/(x + 2/(x + 3/...)))`, from its end (Abramowitz and Stegun, 26.2.14).
fn mills_fraction(x: f64) -> f64 {
    1.0 / (1..=TERMS).rev().fold(x, |below, term| x + f64::from(term) / below)
}

/// `(Phi(x) - 1/2) / phi(x) = x + x³/3 + x⁵/(3·5) + ...` (Abramowitz and Stegun, 26.2.11): all
/// terms of one sign.
fn series(x: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > 1e-17 * sum.abs() {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x, `ln` of the Mills ratio, `1 - Phi(x)`: by mpmath 1.3 with 40 digits, cut to 16.
    const REFERENCE: &[(f64, f64, f64)] = &[
        (-40.0, 800.9189385332047, 1.0),
        (-10.0, 50.918938533204674, 1.0),
        (-2.5, 4.037709507718812, 0.9937903346742238),
        (-2.0, 2.8959256238757094, 0.9772498680518208),
        (-1.25, 1.5885307047317476, 0.8943502263331448),
        (-0.03, 0.2498923955049678, 0.5119664734141126),
        (0.5, -0.13197322838894587, 0.3085375387259869),
        (1.0, -0.42208311180459074, 0.15865525393145705),
        (1.75, -0.7672094625956011, 0.04005915686381709),
        (2.25, -0.9541268479485988, 0.012224472655044703),
        (3.0, -1.1887876883056767, 0.0013498980316300946),
        (5.75, -1.777441559015783, 4.462172453901612e-09),
        (12.0, -2.491734468364123, 1.776482112077679e-33),
        (37.0, -3.6116470436859207, 5.725571222524577e-300),
    ];

    #[test]
    fn tails_and_ratios_agree_with_forty_digit_ones() {
        for &(x, ln_ratio, tail) in REFERENCE {
            let error = (ln_mills_ratio(x) - ln_ratio).abs() / ln_ratio.abs().max(1.0);
            assert!(error < 2e-14, "ratio at {x}: {error:e}");
            let error = (upper_tail(x) / tail - 1.0).abs();
            assert!(error < 1e-16 * (x * x).max(200.0), "tail at {x}: {error:e}");
        }
    }

    #[test]
    fn both_ways_meet_where_they_join() {
        let (below, above) = (upper_tail(FRACTION_FROM.next_down()), upper_tail(FRACTION_FROM));
        assert!((below / above - 1.0).abs() < 2e-14);
    }

    #[test]
    fn the_ratio_outlives_the_area() {
        assert_eq!(upper_tail(50.0), 0.0);
        assert!((ln_mills_ratio(1e9) + 1e9_f64.ln()).abs() < 1e-14);
    }
}
