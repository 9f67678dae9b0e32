//! Tails of the normal distribution to full precision, also where their area underflows.
//!
//! Written out here because a rank's probability is a difference of two tails: `statrs` 0.19
//! computes `erfc` to ten digits, of which such a difference far out keeps five. The approximations
//! are Cody's, of rational functions to 18 digits (1969, *Math. Comp.* 23, 631; numbers of his
//! `CALERF`): of `erf` near 0, of `exp(y²) erfc(y)` elsewhere, so that nothing underflows.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// From here on, in `y = x / sqrt(2)`, the tail is computed, below it the area about 0.
const TAIL_FROM: f64 = 0.46875;

/// From here on the approximation is of `1/y²`.
const FAR_FROM: f64 = 4.0;

/// `1 - Phi(x)`: the area above x.
///
/// Relative error below 2e-14 up to x = 12; beyond, below `1e-16 x²`, as that of any `exp(-x²/2)`.
/// 0 from x = 38.6.
///
/// ```
/// assert_eq!(relscale_stats::normal::upper_tail(0.0), 0.5);
/// ```
pub fn upper_tail(x: f64) -> f64 {
    let y = x.abs() * FRAC_1_SQRT_2;
    if y < TAIL_FROM {
        0.5 - 0.5 * error_function(x * FRAC_1_SQRT_2)
    } else if x < 0.0 {
        1.0 - upper_tail(-x)
    } else {
        0.5 * (-0.5 * x * x).exp() * scaled_complement(y)
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
    let y = x * FRAC_1_SQRT_2;
    if y >= TAIL_FROM {
        ((0.5 * PI).sqrt() * scaled_complement(y)).ln()
    } else {
        upper_tail(x).ln() - ln_density(x)
    }
}

/// `ln phi(x) = -x²/2 - ln sqrt(2 pi)`: the log density.
pub fn ln_density(x: f64) -> f64 {
    -0.5 * (x * x + std::f64::consts::TAU.ln())
}

/// `erf(y)` for `|y|` up to [`TAIL_FROM`].
#[allow(clippy::excessive_precision, reason = "the digits that were published")]
fn error_function(y: f64) -> f64 {
    const ABOVE: [f64; 5] = [
        1.857_777_061_846_031_53e-1,
        3.161_123_743_870_565_60,
        1.138_641_541_510_501_56e2,
        3.774_852_376_853_020_21e2,
        3.209_377_589_138_469_47e3,
    ];
    const BELOW: [f64; 5] = [
        1.0,
        2.360_129_095_234_412_09e1,
        2.440_246_379_344_441_73e2,
        1.282_616_526_077_372_28e3,
        2.844_236_833_439_170_62e3,
    ];
    y * polynomial(&ABOVE, y * y) / polynomial(&BELOW, y * y)
}

/// `exp(y²) erfc(y)` for y from [`TAIL_FROM`] on.
#[allow(clippy::excessive_precision, reason = "the digits that were published")]
fn scaled_complement(y: f64) -> f64 {
    const ABOVE: [f64; 9] = [
        2.153_115_354_744_038_46e-8,
        5.641_884_969_886_700_89e-1,
        8.883_149_794_388_375_94,
        6.611_919_063_714_162_95e1,
        2.986_351_381_974_001_31e2,
        8.819_522_212_417_690_90e2,
        1.712_047_612_634_070_58e3,
        2.051_078_377_826_071_47e3,
        1.230_339_354_797_997_25e3,
    ];
    const BELOW: [f64; 9] = [
        1.0,
        1.574_492_611_070_983_47e1,
        1.176_939_508_913_124_99e2,
        5.371_811_018_620_098_58e2,
        1.621_389_574_566_690_19e3,
        3.290_799_235_733_459_63e3,
        4.362_619_090_143_247_16e3,
        3.439_367_674_143_721_64e3,
        1.230_339_354_803_749_42e3,
    ];
    const FAR_ABOVE: [f64; 6] = [
        1.631_538_713_730_209_78e-2,
        3.053_266_349_612_323_44e-1,
        3.603_448_999_498_044_39e-1,
        1.257_817_261_112_292_46e-1,
        1.608_378_514_874_227_66e-2,
        6.587_491_615_298_378_03e-4,
    ];
    const FAR_BELOW: [f64; 6] = [
        1.0,
        2.568_520_192_289_822_42,
        1.872_952_849_923_467_25,
        5.279_051_029_514_284_12e-1,
        6.051_834_131_244_131_91e-2,
        2.335_204_976_268_691_85e-3,
    ];
    if y < FAR_FROM {
        return polynomial(&ABOVE, y) / polynomial(&BELOW, y);
    }
    let square = (y * y).recip();
    let correction = square * polynomial(&FAR_ABOVE, square) / polynomial(&FAR_BELOW, square);
    (PI.sqrt().recip() - correction) / y
}

/// By Horner, the highest power first.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
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

    /// `1/(x + 1/(x + 2/(x + 3/...)))`, from its end (Abramowitz and Stegun, 26.2.14).
    fn mills_fraction(x: f64) -> f64 {
        1.0 / (1..=400).rev().fold(x, |below, term| x + f64::from(term) / below)
    }

    /// `(Phi(x) - 1/2) / phi(x) = x + x³/3 + x⁵/(3·5) + ...` (Abramowitz and Stegun, 26.2.11).
    fn series(x: f64) -> f64 {
        let (mut term, mut sum, mut odd) = (x, x, 1.0);
        while term.abs() > 1e-17 * sum.abs() {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        sum
    }

    #[test]
    fn everywhere_it_agrees_with_the_fraction_and_the_series() {
        for step in -400..=4000 {
            let x = f64::from(step) * 0.01;
            let (ratio, tolerance) = if x >= 2.0 {
                (mills_fraction(x), 1e-15)
            } else {
                // Half less the area from 0 to x.
                (0.5 * (-ln_density(x)).exp() - series(x), 2e-14)
            };
            let error = (ln_mills_ratio(x) - ratio.ln()).abs() / ratio.ln().abs().max(1.0);
            assert!(error < tolerance, "{x}: {error:e}");
        }
    }

    #[test]
    fn both_ways_meet_where_they_join() {
        for join in [TAIL_FROM, -TAIL_FROM, FAR_FROM].map(|y| y / FRAC_1_SQRT_2) {
            let (below, above) =
                (upper_tail(join * (1.0 - 1e-15)), upper_tail(join * (1.0 + 1e-15)));
            assert!((below / above - 1.0).abs() < 1e-13, "{join}");
        }
    }

    #[test]
    fn the_ratio_outlives_the_area() {
        assert_eq!(upper_tail(50.0), 0.0);
        assert!((ln_mills_ratio(1e9) + 1e9_f64.ln()).abs() < 1e-14);
    }
}
