//! The recurrence of a state space over the tokens of a sequence, channels side by side in the
//! lanes of vectors: `h = e h + step B x`, `y += C h`.
//!
//! A [`Block`] of [`STATES`] numbers of state of [`LANES`] channels stays in registers over all
//! tokens of a call; with more numbers of state a channel is passed over several times, a block
//! each. Fewer channels, or numbers of state, take part in their first places: what is beyond has
//! a rate, `B` and `C` of 0, and changes no bit.
//!
//! By hand for AVX-512 (`avx512/scan`), where the exponential of [`lanes`](crate::lanes) is taken
//! for 16 channels at once; elsewhere plain code with the same operations in the same order, and so
//! with the same bits.

#![allow(
    clippy::needless_range_loop,
    reason = "see `lanes`: with indices the loops over lanes become vectors"
)]

use super::Format;
#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::state::PARTS;
pub use super::state::{Block, LANES, STATES, Tokens};
use crate::lanes::{exp2, vectorised};

/// Goes over tokens of which each channel has a time step of its own, `steps` `[T, channels]`; its
/// state decays by `2^(step rate)`. Adds to `y` `[T][LANES]`, whose places beyond the channels are
/// left open.
///
/// # Panics
/// When lengths differ.
pub fn by_channel(
    format: Format,
    tokens: Tokens<'_>,
    steps: &[f32],
    rates: &Block,
    state: &mut Block,
    y: &mut [[f32; LANES]],
) {
    tokens.check(y.len(), steps.len());
    #[cfg(target_arch = "x86_64")]
    if format.streams() {
        // SAFETY: the format says that the processor has AVX-512; lengths were just checked.
        return unsafe { avx512::scan::by_channel(tokens, steps, rates, state, y) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = format;
    vectorised(
        #[inline(always)]
        || match tokens.channels {
            16 => by_channel_plain::<16>(tokens, steps, rates, state, y),
            8 => by_channel_plain::<8>(tokens, steps, rates, state, y),
            4 => by_channel_plain::<4>(tokens, steps, rates, state, y),
            2 => by_channel_plain::<2>(tokens, steps, rates, state, y),
            1 => by_channel_plain::<1>(tokens, steps, rates, state, y),
            _ => unreachable!("checked above"),
        },
    );
}

/// As [`by_channel`], over tokens of which all channels share a time step, one of `steps` `[T]`,
/// and a decay, one of `decays`.
///
/// # Panics
/// When lengths differ.
pub fn by_head(
    format: Format,
    tokens: Tokens<'_>,
    [steps, decays]: [&[f32]; 2],
    state: &mut Block,
    y: &mut [[f32; LANES]],
) {
    tokens.check(y.len(), steps.len() * tokens.channels);
    assert_eq!(steps.len(), decays.len(), "steps and decays");
    #[cfg(target_arch = "x86_64")]
    if format.streams() {
        // SAFETY: the format says that the processor has AVX-512; lengths were just checked.
        return unsafe { avx512::scan::by_head(tokens, [steps, decays], state, y) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = format;
    vectorised(
        #[inline(always)]
        || match tokens.channels {
            16 => by_head_plain::<16>(tokens, steps, decays, state, y),
            8 => by_head_plain::<8>(tokens, steps, decays, state, y),
            4 => by_head_plain::<4>(tokens, steps, decays, state, y),
            2 => by_head_plain::<2>(tokens, steps, decays, state, y),
            1 => by_head_plain::<1>(tokens, steps, decays, state, y),
            _ => unreachable!("checked above"),
        },
    );
}

#[inline(always)]
fn by_head_plain<const D: usize>(
    tokens: Tokens<'_>,
    steps: &[f32],
    decays: &[f32],
    state: &mut Block,
    y: &mut [[f32; LANES]],
) {
    let x = tokens.x.as_chunks::<D>().0;
    for t in 0..y.len() {
        let mut input = [0.0; D];
        for i in 0..D {
            input[i] = steps[t] * x[t][i];
        }
        let mut sums = [[0.0; D]; PARTS];
        for n in 0..STATES {
            let (b, c) = (tokens.b[t][n], tokens.c[t][n]);
            for i in 0..D {
                state[n][i] = state[n][i].mul_add(decays[t], input[i] * b);
                sums[n % PARTS][i] = state[n][i].mul_add(c, sums[n % PARTS][i]);
            }
        }
        for i in 0..D {
            y[t][i] += (sums[0][i] + sums[1][i]) + (sums[2][i] + sums[3][i]);
        }
    }
}

#[inline(always)]
fn by_channel_plain<const D: usize>(
    tokens: Tokens<'_>,
    steps: &[f32],
    rates: &Block,
    state: &mut Block,
    y: &mut [[f32; LANES]],
) {
    let (x, steps) = (tokens.x.as_chunks::<D>().0, steps.as_chunks::<D>().0);
    for t in 0..y.len() {
        let mut input = [0.0; D];
        for i in 0..D {
            input[i] = steps[t][i] * x[t][i];
        }
        let mut sums = [[0.0; D]; PARTS];
        for n in 0..STATES {
            let (b, c) = (tokens.b[t][n], tokens.c[t][n]);
            for i in 0..D {
                let decay = exp2(steps[t][i] * rates[n][i]);
                state[n][i] = state[n][i].mul_add(decay, input[i] * b);
                sums[n % PARTS][i] = state[n][i].mul_add(c, sums[n % PARTS][i]);
            }
        }
        for i in 0..D {
            y[t][i] += (sums[0][i] + sums[1][i]) + (sums[2][i] + sums[3][i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dtype, Kernels};
    use super::*;
    use relscale_testkit::data::{MACHINE, skipped};
    use relscale_testkit::numbers::numbers;

    /// Output and state after `tokens`, of numbers that are the same for every call.
    fn run(
        format: Format,
        by_heads: bool,
        channels: usize,
        tokens: usize,
    ) -> (Vec<[f32; LANES]>, Block) {
        let x = numbers(tokens * channels, 1);
        let steps: Vec<f32> =
            numbers(tokens * channels, 2).iter().map(|x| 8.0 * x.abs().powi(4)).collect();
        let shared = |seed| numbers(tokens * STATES, seed).as_chunks::<STATES>().0.to_vec();
        let (b, c) = (shared(3), shared(4));
        let mut rates: Block = [[0.0; LANES]; STATES];
        let numbers = numbers(LANES * STATES, 5);
        let places = rates.as_flattened_mut().iter_mut().zip(&numbers);
        places.for_each(|(rate, x)| *rate = -(4.0 * x).exp());
        let mut state = [[0.0; LANES]; STATES];
        let mut y = vec![[0.5; LANES]; tokens];
        // Of a head, by the first channel's.
        let of_head: Vec<f32> = steps.iter().step_by(channels).copied().collect();
        let decays: Vec<f32> = of_head.iter().map(|step| exp2(step * rates[0][0])).collect();
        // In two goes, which change nothing.
        let first = tokens / 3;
        for range in [0..first, first..tokens] {
            let own = range.start * channels..range.end * channels;
            let some =
                Tokens { channels, x: &x[own.clone()], b: &b[range.clone()], c: &c[range.clone()] };
            if by_heads {
                let both = [&of_head[range.clone()], &decays[range.clone()]];
                by_head(format, some, both, &mut state, &mut y[range]);
            } else {
                by_channel(format, some, &steps[own], &rates, &mut state, &mut y[range]);
            }
        }
        // The definition, in f64.
        for lane in 0..channels {
            let mut h = [0.0_f64; STATES];
            for t in 0..tokens {
                let at = if by_heads { t * channels } else { t * channels + lane };
                let step = f64::from(steps[at]);
                let mut want = 0.5;
                for n in 0..STATES {
                    let input = step * f64::from(x[t * channels + lane]) * f64::from(b[t][n]);
                    let rate = if by_heads { rates[0][0] } else { rates[n][lane] };
                    h[n] = h[n] * (step * f64::from(rate)).exp2() + input;
                    want += h[n] * f64::from(c[t][n]);
                }
                let got = f64::from(y[t][lane]);
                assert!(
                    (got - want).abs() < 1e-5 * want.abs().max(1.0),
                    "{lane}, {t}: {got} {want}"
                );
            }
        }
        (y, state)
    }

    #[test]
    fn every_kernel_gives_the_definition_and_the_same_bits() {
        let plain = Format::by(Dtype::F32, Kernels::Gemm).unwrap();
        let Some(by_hand) = Format::by(Dtype::F32, Kernels::Avx512) else {
            run(plain, false, 16, 50);
            run(plain, true, 16, 50);
            skipped(MACHINE, "no avx512 on this processor");
            return;
        };
        let sizes = [(16, 130), (8, 7), (4, 31), (2, 3), (1, 64)];
        for (by_heads, (channels, tokens)) in
            [false, true].into_iter().flat_map(|by_heads| sizes.map(|size| (by_heads, size)))
        {
            let [a, b] = [plain, by_hand].map(|format| run(format, by_heads, channels, tokens));
            for (a, b) in a.0.iter().zip(&b.0).chain(a.1.iter().zip(&b.1)) {
                assert_eq!(
                    a[..channels].iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
                    b[..channels].iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
                    "{channels} channels"
                );
            }
        }
    }

    #[test]
    fn a_nan_stays_one() {
        for kernels in Kernels::ALL {
            let Some(format) = Format::by(Dtype::F32, kernels) else { continue };
            let (b, rates) = ([[1.0; STATES]], [[-1.0; LANES]; STATES]);
            for (x, step) in [(f32::NAN, 1.0), (1.0, f32::NAN)] {
                let (mut state, mut y) = ([[0.0; LANES]; STATES], [[0.0; LANES]]);
                let tokens = Tokens { channels: 1, x: &[x], b: &b, c: &b };
                by_channel(format, tokens, &[step], &rates, &mut state, &mut y);
                assert!(y[0][0].is_nan(), "{kernels:?}");
            }
        }
    }
}
