//! Special functions in the form that masses of ranks need: logarithms, and differences that keep
//! their digits.

use std::f64::consts::LN_2;

use crate::normal::{ln_density, ln_mills_ratio, upper_tail};

/// `ln(exp(x) - 1)` for `x > 0`, and `ln(1 - exp(-x))` are both needed; this is the second, for
/// `x >= 0`.
///
/// Mächler 2012, "Accurately computing log(1 - exp(-|a|))": which of the two functions keeps the
/// digits depends on x.
pub(super) fn ln_one_minus_exp(x: f64) -> f64 {
    if x < LN_2 { (-(-x).exp_m1()).ln() } else { (-(-x).exp()).ln_1p() }
}

/// `ln(1 + exp(x))` without overflow.
pub(super) fn ln_one_plus_exp(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// `ln P(Z > z)` of the standard normal, at any z.
fn ln_normal_tail(z: f64) -> f64 {
    // Near one the logarithm is that of one minus the other tail.
    if z < -1.0 { (-upper_tail(-z)).ln_1p() } else { ln_density(z) + ln_mills_ratio(z) }
}

/// `ln P(Z <= z)` of the standard normal, at any z.
pub(super) fn ln_normal_up_to(z: f64) -> f64 {
    ln_normal_tail(-z)
}

/// `ln P(z - width < Z <= z)` of the standard normal for `width > 0`.
///
/// A narrow piece is its density at the middle with Taylor's corrections (Hermite polynomials of
/// the middle), since the difference of two tails would lose digits; a wide one is a difference of
/// the two smaller tails, in logarithms. The width's logarithm is given beside it.
pub(super) fn ln_normal_piece(z: f64, width: f64, ln_width: f64) -> f64 {
    let middle = z - 0.5 * width;
    if width * middle.abs().max(1.0) < 0.03 {
        let (m, w) = (middle * middle, width * width);
        let corrections = w * ((m - 1.0) / 24.0 + w * (m * (m - 6.0) + 3.0) / 1920.0);
        // Below 4e-5, so that this is its `ln_1p` to the last digit.
        let c = corrections;
        let logarithm = c * (1.0 - c * (0.5 - c * (1.0 / 3.0 - 0.25 * c)));
        return ln_density(middle) + ln_width + logarithm;
    }
    let low = z - width;
    // The piece seen from the side where the tails are small.
    let (near, far) = if middle > 0.0 { (low, z) } else { (-z, -low) };
    if near < 0.0 {
        // It holds zero: one minus both tails.
        return (-(upper_tail(-near) + upper_tail(far))).ln_1p();
    }
    let (near, far) = (ln_normal_tail(near), ln_normal_tail(far));
    near + ln_one_minus_exp(near - far)
}

/// `ln Γ(x + a) - ln Γ(x)` for `x > 0` and `x + a > 0`.
///
/// The two logarithms are large and close; their difference by Stirling's series keeps the digits
/// that subtracting them would lose: at `x = 150 000` each is about 1.6e6 and known to 2e-10 only.
/// Small arguments are raised first by `Γ(x + 1) = x Γ(x)`.
pub(super) fn ln_gamma_ratio(x: f64, a: f64) -> f64 {
    const LARGE: f64 = 16.0;
    let (mut x, mut raised) = (x, 0.0);
    if a >= 0.0 {
        // The product of all `1 + a / x`, less 1 so that it keeps its digits.
        let mut product = 0.0;
        while x < LARGE {
            product += a / x * (1.0 + product);
            x += 1.0;
        }
        raised = -product.ln_1p();
    }
    while x + a < LARGE {
        raised -= (a / x).ln_1p();
        x += 1.0;
    }
    let y = x + a;
    raised + (x - 0.5) * (a / x).ln_1p() + a * (y.ln() - 1.0) + stirling_step(x, a)
}

/// `w(x + a) - w(x)`, w what Stirling's `(z - 1/2) ln z - z + ln(2π)/2` leaves of `ln Γ(z)`:
/// `1/(12 z) - 1/(360 z³) + 1/(1260 z⁵) - ...`, of which less than 1e-14 is left out from `z = 16`.
fn stirling_step(x: f64, a: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0];
    // v^n - u^n = (v - u)(v^(n-1) + v^(n-2) u + ... + u^(n-1)): no difference of close powers.
    let (u, v) = (1.0 / x, 1.0 / (x + a));
    let (mut powers, mut u_power, mut sum) = (1.0, 1.0, 0.0);
    for coefficient in COEFFICIENTS {
        sum += coefficient * powers;
        for _ in 0..2 {
            u_power *= u;
            powers = v * powers + u_power;
        }
    }
    -a * u * v * sum
}

#[cfg(test)]
mod tests {
    use statrs::function::gamma::ln_gamma;

    use super::*;

    fn ln_normal_piece(z: f64, width: f64) -> f64 {
        super::ln_normal_piece(z, width, width.ln())
    }

    #[track_caller]
    fn close(ours: f64, exact: f64, relative: f64) {
        assert!((ours - exact).abs() <= relative * exact.abs(), "{ours} against {exact}");
    }

    /// `mpmath 1.3, 40 digits: log(ncdf(-z))`.
    #[test]
    fn normal_tails_keep_their_digits() {
        for (z, exact) in NORMAL_TAILS {
            close(ln_normal_tail(z), exact, 1e-13);
        }
    }

    /// `mpmath 1.3, 60 digits: log(ncdf(z) - ncdf(z - width))`.
    #[test]
    fn pieces_of_the_normal_keep_their_digits() {
        for (z, width, exact) in NORMAL_PIECES {
            close(ln_normal_piece(z, width), exact, 2e-13);
        }
    }

    #[test]
    fn neighbouring_pieces_make_their_union() {
        for (z, width) in [(0.4, 0.05), (3.0, 0.02), (-5.0, 0.1), (30.0, 0.002)] {
            let halves =
                [ln_normal_piece(z, width / 2.0), ln_normal_piece(z - width / 2.0, width / 2.0)];
            let union = halves[0] + ln_one_plus_exp(halves[1] - halves[0]);
            close(ln_normal_piece(z, width), union, 1e-12);
        }
    }

    /// `mpmath 1.3, 60 digits: loggamma(x + a) - loggamma(x)`.
    #[test]
    fn ratios_of_gamma_keep_their_digits() {
        for (x, a, exact) in GAMMA_RATIOS {
            let error = (ln_gamma_ratio(x, a) - exact).abs();
            assert!(error < 2e-14 * exact.abs() + 5e-16 * a.abs(), "{x} {a}: {error:e}");
        }
        for (x, a) in [(2.5, 3.25), (1.0, 7.0), (20.0, 0.5)] {
            close(ln_gamma_ratio(x, a), ln_gamma(x + a) - ln_gamma(x), 1e-13);
        }
    }

    #[test]
    fn logarithms_of_one_and_an_exponential() {
        close(ln_one_minus_exp(1e-20), (1e-20f64).ln(), 1e-15);
        close(ln_one_minus_exp(50.0), -(-50.0f64).exp(), 1e-15);
        close(ln_one_plus_exp(800.0), 800.0, 1e-15);
        close(ln_one_plus_exp(-40.0), (-40.0f64).exp(), 1e-15);
    }

    const NORMAL_TAILS: [(f64, f64); 8] = [
        (-8.0, -6.220960574271786e-16),
        (-2.5, -0.006229025485860002),
        (-0.5, -0.3689464152886564),
        (0.3, -0.9621028181688507),
        (4.0, -10.360101486527292),
        (20.0, -203.91715537109727),
        (27.0, -368.71614246865636),
        (300.0, -45006.62273211866),
    ];

    const NORMAL_PIECES: [(f64, f64, f64); 9] = [
        (0.0, 1e-06, -14.734449091169115),
        (0.5, 0.02, -4.951024203578266),
        (0.5, 0.2, -2.6097757044333902),
        (0.5, 4.0, -0.3692829024193495),
        (6.0, 1e-07, -35.03703388416298),
        (6.0, 0.5, -17.83272882488047),
        (-7.0, 0.5, -27.40955607079262),
        (31.0, 0.001, -488.31115393880043),
        (40.0, 1.5, -745.695270290411),
    ];

    const GAMMA_RATIOS: [(f64, f64, f64); 8] = [
        (1.0, 0.5, -0.12078223763524522),
        (1.0, 1e-08, -5.772156566768626e-09),
        (2.0, -0.999, -0.00057639359828337),
        (3.0, 40.0, 117.07873421918514),
        (17.0, 0.001, 0.002803543621482559),
        (1000.0, 0.4, 2.7629821075976557),
        (152064.0, 1.3, 15.51167507534742),
        (152064.0, 1e-07, 1.1932053475749705e-06),
    ];
}
