//! The recurrence of time mixing, each channel by itself: of the tokens so far the mean of the
//! values, weighted by `e^k`, and by `e^-rate` less with every token; the present one by
//! `e^(k + first)`.
//!
//! Sums are kept divided by the largest `e^k` in them, as transformers does, so that no key is too
//! large. Of two numbers brought under the same maximum one has a factor of 1: an exponential for
//! both.

#![allow(
    clippy::needless_range_loop,
    reason = "see `lanes`: with indices the loops over lanes become vectors"
)]

use crate::lanes::{exp, vectorised};

/// What a piece of channels has of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Channels<'a> {
    /// `[d]`: the logarithms of the rates.
    pub(super) decay: &'a [f32],
    /// `[d]`.
    pub(super) first: &'a [f32],
}

/// What the tokens of a piece bring along, `[T, d]` each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tokens<'a> {
    pub(super) keys: &'a [f32],
    /// Factors of the outputs.
    pub(super) gates: &'a [f32],
}

/// Goes over the values of a piece, which become the outputs, from a state of nothing; `d` is a
/// power of two up to 16.
pub(super) fn in_place(channels: Channels<'_>, tokens: Tokens<'_>, values: &mut [f32], d: usize) {
    vectorised(
        #[inline(always)]
        || match d {
            16 => of_width::<16>(channels, tokens, values),
            8 => of_width::<8>(channels, tokens, values),
            4 => of_width::<4>(channels, tokens, values),
            2 => of_width::<2>(channels, tokens, values),
            _ => of_width::<1>(channels, tokens, values),
        },
    );
}

/// The larger of two exponents, and the factors of what has them; a NaN becomes one of both.
#[inline(always)]
fn meet(a: f32, b: f32) -> (f32, f32, f32) {
    let factor = exp(-(a - b).abs());
    if b > a { (b, factor, 1.0) } else { (a, 1.0, factor) }
}

#[inline(always)]
fn of_width<const D: usize>(
    Channels { decay, first }: Channels<'_>,
    Tokens { keys, gates }: Tokens<'_>,
    values: &mut [f32],
) {
    let (mut rate, mut own) = ([0.0; D], [0.0; D]);
    for i in 0..D {
        rate[i] = exp(decay[i]);
        own[i] = first[i];
    }
    let (mut sum, mut weight, mut top) = ([0.0_f32; D], [0.0_f32; D], [-1e38_f32; D]);
    let (keys, gates) = (keys.as_chunks::<D>().0, gates.as_chunks::<D>().0);
    for (t, values) in values.as_chunks_mut::<D>().0.iter_mut().enumerate() {
        for i in 0..D {
            let (key, value) = (keys[t][i], values[i]);
            let (_, past, present) = meet(top[i], key + own[i]);
            let above = past.mul_add(sum[i], present * value);
            let below = past.mul_add(weight[i], present);
            values[i] = gates[t][i] * (above / below);
            let (larger, past, present) = meet(top[i] - rate[i], key);
            sum[i] = past.mul_add(sum[i], present * value);
            weight[i] = past.mul_add(weight[i], present);
            top[i] = larger;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use relscale_testkit::numbers::numbers;

    /// The sums themselves, of keys of which f64 needs no maximum; in f32 an exponent of 30 is
    /// rounded by 1e-6 with every token.
    #[test]
    fn agrees_with_the_definition_in_every_width() {
        let length = 40;
        for d in [1, 2, 4, 8, 16] {
            let keys: Vec<f32> = numbers(length * d, 1).iter().map(|x| 30.0 * x).collect();
            let (values, gates) = (numbers(length * d, 2), numbers(length * d, 3));
            let (decay, first) = (numbers(d, 4), numbers(d, 5));
            let mut found = values.clone();
            let channels = Channels { decay: &decay, first: &first };
            in_place(channels, Tokens { keys: &keys, gates: &gates }, &mut found, d);
            for t in 0..length {
                for i in 0..d {
                    let at = |s: usize| (f64::from(keys[s * d + i]), f64::from(values[s * d + i]));
                    let rate = f64::from(decay[i]).exp();
                    let (mut above, mut below) = (0.0, 0.0);
                    for s in 0..=t {
                        let (key, value) = at(s);
                        let more = match t - s {
                            0 => f64::from(first[i]),
                            past => -rate * (past - 1) as f64,
                        };
                        above += (key + more).exp() * value;
                        below += (key + more).exp();
                    }
                    let want = f64::from(gates[t * d + i]) * above / below;
                    let got = f64::from(found[t * d + i]);
                    assert!((got - want).abs() < 2e-5, "{d} {t} {i}: {got} for {want}");
                }
            }
        }
    }

    #[test]
    fn large_keys_are_no_trouble_and_a_nan_stays_one() {
        let channels = Channels { decay: &[0.5], first: &[0.0] };
        let run = |keys: &[f32], values: &[f32]| {
            let mut values = values.to_vec();
            let gates = vec![1.0; keys.len()];
            in_place(channels, Tokens { keys, gates: &gates }, &mut values, 1);
            values
        };
        assert_eq!(run(&[1e30, -1e30, 5e4, 1e30], &[1.0, 2.0, 3.0, 5.0]), [1.0, 1.0, 1.0, 3.0]);
        assert!(run(&[1.0, f32::NAN, 1.0], &[1.0; 3])[1..].iter().all(|x| x.is_nan()));
        assert!(run(&[1.0, 1.0], &[f32::NAN, 1.0])[1].is_nan());
    }
}
