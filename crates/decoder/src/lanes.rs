//! Element-wise arithmetic that the compiler turns into the widest vectors of the machine at hand.
//!
//! [`vectorised`] runs a closure compiled for AVX-512, AVX2 or NEON, chosen at run time (`pulp`).
//! What it calls must be `#[inline(always)]`, or it is compiled for the oldest machine. Sums keep
//! [`LANES`] partial sums, so that the order of additions, and with it every bit, is the same on
//! every machine.

#![allow(
    clippy::needless_range_loop,
    reason = "with indices the loops over lanes become vectors, with iterators some do not"
)]

/// Partial sums of a reduction.
pub const LANES: usize = 16;

/// Runs `work` with the machine's widest vectors.
#[inline(always)]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// `f` over `x` into [`LANES`] accumulators, then those folded by halves with `join`. `start` must
/// change nothing: `f(s, start) = s`.
#[inline(always)]
pub fn reduce(
    x: &[f32],
    start: f32,
    f: impl Fn(f32, f32) -> f32,
    join: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut lanes = [start; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] = f(lanes[i], chunk[i]);
        }
    }
    // A whole chunk again: lanes of another number would have to leave the registers.
    if !rest.is_empty() {
        let last = padded(rest, start);
        for i in 0..LANES {
            lanes[i] = f(lanes[i], last[i]);
        }
    }
    fold(lanes, join)
}

/// Fewer than [`LANES`] numbers as a whole chunk.
#[inline(always)]
fn padded(rest: &[f32], filler: f32) -> [f32; LANES] {
    let mut chunk = [filler; LANES];
    chunk[..rest.len()].copy_from_slice(rest);
    chunk
}

/// The lanes folded by halves.
#[inline(always)]
pub fn fold(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = join(lanes[i], lanes[i + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Sum of `x`.
#[inline(always)]
pub fn sum(x: &[f32]) -> f32 {
    reduce(x, 0.0, |s, v| s + v, |a, b| a + b)
}

/// Largest of `x`; negative infinity when empty. A NaN is passed over.
#[inline(always)]
pub fn max(x: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    reduce(x, f32::NEG_INFINITY, larger, larger)
}

/// `sum x y`.
#[inline(always)]
pub fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let n = x.len().min(y.len());
    let ((a, a_rest), (b, b_rest)) = (x[..n].as_chunks::<LANES>(), y[..n].as_chunks::<LANES>());
    for chunk in 0..a.len() {
        for i in 0..LANES {
            lanes[i] = a[chunk][i].mul_add(b[chunk][i], lanes[i]);
        }
    }
    if !a_rest.is_empty() {
        let (a, b) = (padded(a_rest, 0.0), padded(b_rest, 0.0));
        for i in 0..LANES {
            lanes[i] = a[i].mul_add(b[i], lanes[i]);
        }
    }
    fold(lanes, |a, b| a + b)
}

/// Below this, [`exp`] gives `e^LOWEST`, the smallest normal number, in place of 0: no infinity
/// ever meets a zero.
pub const LOWEST: f32 = -87.3;

/// `e^x`, relative error below 2e-7, for `x` in `[LOWEST, 88]` and clamped outside.
///
/// Cephes' `expf`: `x = n ln 2 + r` (with `ln 2` in two parts, the first, 355/512, exact times any
/// `n`), a polynomial in `r`, and `2^n` put together from its bits. `n` is rounded by adding
/// `1.5 * 2^23`, whose low bits then hold it: no conversion, no branch, so the loop around it
/// vectorises.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    // Written so that a NaN stays one.
    let x = if x < LOWEST { LOWEST } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-355.0 / 512.0, x);
    let r = n.mul_add(2.121_944_4e-4, r);
    let mut p = 1.987_569_1e-4_f32;
    for c in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = p.mul_add(r, c);
    }
    let p = (p * r).mul_add(r, r + 1.0);
    p * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// Below this, [`exp2`] gives `2^LOWEST_EXP2`, the smallest normal number, in place of 0.
pub const LOWEST_EXP2: f32 = -126.0;

/// Coefficients of [`exp2`], the highest power first.
#[allow(
    clippy::approx_constant,
    reason = "the coefficient beside ln 2 with which the largest error is least"
)]
pub const EXP2: [f32; 6] =
    [1.326_465_3e-3, 9.671_511e-3, 5.550_734e-2, 0.240_222_42, 0.693_147, 1.0];

/// `2^x`, relative error below 2e-7, for `x` in `[LOWEST_EXP2, 127]`; clamped below, not above. Two
/// thirds of the work of [`exp`], where the factor `log2 e` can be part of another.
///
/// `x = n + r`, and on `[-1/2, 1/2]` the polynomial of degree 5 with constant 1 whose largest
/// relative error is least, 9.1e-8 (by linear programming); `2^n` is put together from its bits,
/// and multiplied, which leaves a NaN one.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    // Written so that a NaN stays one.
    let x = if x < LOWEST_EXP2 { LOWEST_EXP2 } else { x };
    let shifted = x + ROUND;
    let r = x - (shifted - ROUND);
    let mut p = EXP2[0];
    for c in &EXP2[1..] {
        p = p.mul_add(r, *c);
    }
    p * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// `ln(1 + e^x)`, relative error below 4e-7 for `x` above -87.
///
/// `max(x, 0) + ln(1 + y)` with `y = e^-|x|`, and `ln(1 + y) = 2 artanh(y / (2 + y))`, of which a
/// polynomial in the square has a relative error of 2e-8 (least squares at Chebyshev's points).
#[inline(always)]
pub fn softplus(x: f32) -> f32 {
    let y = exp(-x.abs());
    let s = y / (2.0 + y);
    let w = s * s;
    let mut p = 0.134_337_77_f32;
    for c in [0.141_169_77, 0.200_038_36, 0.333_333_2, 1.0] {
        p = p.mul_add(w, c);
    }
    // Written so that a NaN stays one.
    let above = if x < 0.0 { 0.0 } else { x };
    (2.0 * s).mul_add(p, above)
}

/// `tanh x`, relative error below 4e-7: Cephes' `tanhf`, a polynomial near 0 and by the exponential
/// beyond.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let s = x * x;
    let mut p = -5.704_988_7e-3_f32;
    for c in [2.063_908_8e-2, -5.373_971_6e-2, 1.333_144_2e-1, -3.333_328e-1] {
        p = p.mul_add(s, c);
    }
    let near = (p * s).mul_add(x, x);
    let far = 1.0 - 2.0 / (exp(2.0 * x.abs()) + 1.0);
    if x.abs() < 0.625 { near } else { far.copysign(x) }
}

/// `c tanh(x / c)` of each number; a NaN stays one.
pub fn soft_cap(c: f32, x: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            x.iter_mut().for_each(
                #[inline(always)]
                |x| *x = c * tanh(*x / c),
            );
        },
    );
}

/// The error function, absolute error below 4e-7: Eigen's rational approximation on `[-4, 4]`, 1
/// beyond.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let x = if x < -4.0 { -4.0 } else { x };
    let x = if x > 4.0 { 4.0 } else { x };
    let s = x * x;
    let mut p = -2.726_142e-10_f32;
    for c in [
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_3e-5,
        -7.349_906_3e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ] {
        p = p.mul_add(s, c);
    }
    let mut q = -1.456_607_2e-5_f32;
    for c in [-2.133_740_6e-4, -1.682_827e-3, -7.373_329_2e-3, -1.426_473_9e-2] {
        q = q.mul_add(s, c);
    }
    x * p / q
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `erf` by its Taylor series in f64, the judge.
    fn erf_series(x: f64) -> f64 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn exp_is_within_its_stated_error() {
        for i in -87_000..88_000 {
            let x = i as f32 * 1e-3;
            let want = f64::from(x).exp();
            let error = (f64::from(exp(x)) / want - 1.0).abs();
            assert!(error < 2e-7, "e^{x}: relative error {error:e}");
        }
        assert!(exp(f32::NEG_INFINITY) > 0.0 && exp(f32::NEG_INFINITY) < 2e-38);
        assert!(exp(1e30).is_finite());
        assert!(exp(f32::NAN).is_nan() && erf(f32::NAN).is_nan(), "a NaN must not be hidden");
    }

    #[test]
    fn tanh_is_within_its_stated_error() {
        for i in -40_000..40_000 {
            let x = i as f32 * 5e-4;
            let (got, want) = (f64::from(tanh(x)), f64::from(x).tanh());
            assert!((got - want).abs() <= 4e-7 * want.abs(), "tanh {x}: {got} for {want}");
        }
        assert!(tanh(f32::NAN).is_nan() && tanh(f32::INFINITY) == 1.0 && tanh(-1e30) == -1.0);
        assert_eq!(tanh(1e-30), 1e-30);
    }

    #[test]
    fn softplus_is_within_its_stated_error() {
        for i in -86_000..90_000 {
            let x = i as f32 * 1e-3;
            let (got, want) = (f64::from(softplus(x)), f64::from(x).exp().ln_1p());
            assert!((got - want).abs() <= 4e-7 * want, "softplus {x}: {got} for {want}");
        }
        assert!(softplus(f32::NAN).is_nan() && softplus(f32::INFINITY) == f32::INFINITY);
        assert!(softplus(-1e30) < 2e-38);
    }

    #[test]
    fn exp2_is_within_its_stated_error() {
        for i in -125_999..127_000 {
            let x = i as f32 * 1e-3;
            let want = f64::from(x).exp2();
            let error = (f64::from(exp2(x)) / want - 1.0).abs();
            assert!(error < 2e-7, "2^{x}: relative error {error:e}");
        }
        assert_eq!(exp2(0.0), 1.0, "a factor that must change nothing");
        assert!(exp2(f32::NEG_INFINITY) > 0.0 && exp2(f32::NEG_INFINITY) < 2e-38);
        for nan in [f32::NAN, f32::from_bits(0x7fc0_0001), f32::from_bits(0xffff_ffff)] {
            assert!(exp2(nan).is_nan(), "a NaN must not be hidden");
        }
    }

    #[test]
    fn erf_is_within_its_stated_error() {
        let mut worst = 0.0_f64;
        for i in -5_000..=5_000 {
            let x = f64::from(i) * 1e-3;
            let want = if x.abs() > 4.5 { x.signum() } else { erf_series(x) };
            worst = worst.max((f64::from(erf(x as f32)) - want).abs());
        }
        assert!(worst < 4e-7, "worst absolute error {worst:e}");
    }

    #[test]
    fn reductions_agree_with_the_definition_for_every_remainder() {
        for n in 0..70 {
            let x: Vec<f32> = (0..n).map(|i| ((i * 37 % 19) as f32) - 9.0).collect();
            let y: Vec<f32> = x.iter().map(|v| v * 0.5 + 1.0).collect();
            assert_eq!(vectorised(|| sum(&x)), x.iter().sum::<f32>());
            assert_eq!(vectorised(|| max(&x)), x.iter().copied().fold(f32::NEG_INFINITY, f32::max));
            assert_eq!(
                vectorised(|| dot(&x, &y)),
                x.iter().zip(&y).map(|(a, b)| a * b).sum::<f32>()
            );
        }
    }
}
