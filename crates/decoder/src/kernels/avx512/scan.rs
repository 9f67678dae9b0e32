//! The recurrence of a state space with AVX-512: what `kernels::scan` does in plain code, bit for
//! bit.
//!
//! 16 vectors of state stay in registers, a channel a lane; rates, `B` and `C` come from the
//! first-level cache, the latter spread over the lanes as they are loaded. A vector of state takes
//! 16 instructions of arithmetic a token, 12 of them for the exponential.

use std::arch::x86_64::{
    __m512, _mm512_add_epi32, _mm512_add_ps, _mm512_castps_si512, _mm512_castsi512_ps,
    _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_maskz_loadu_ps, _mm512_max_ps, _mm512_mul_ps,
    _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_slli_epi32, _mm512_storeu_ps,
    _mm512_sub_ps,
};

use super::super::state::{Block, LANES, PARTS, STATES, Tokens};
use super::{below, unrolled};
use crate::lanes::{EXP2, LOWEST_EXP2};

/// As [`exp2`](crate::lanes::exp2).
#[inline]
#[target_feature(enable = "avx512f")]
fn exp2(x: __m512) -> __m512 {
    let round = _mm512_set1_ps(12_582_912.0);
    // Of a number and a NaN it gives the second.
    let x = _mm512_max_ps(_mm512_set1_ps(LOWEST_EXP2), x);
    let shifted = _mm512_add_ps(x, round);
    let r = _mm512_sub_ps(x, _mm512_sub_ps(shifted, round));
    let mut p = _mm512_set1_ps(EXP2[0]);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(EXP2[1]));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(EXP2[2]));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(EXP2[3]));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(EXP2[4]));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(EXP2[5]));
    let bits = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
    let power = _mm512_add_epi32(bits, _mm512_set1_epi32(127 << 23));
    _mm512_mul_ps(p, _mm512_castsi512_ps(power))
}

/// As [`by_channel`](super::super::scan::by_channel).
///
/// # Safety
/// The processor has the feature; `tokens.x` and `steps` hold `tokens.channels` numbers, at most
/// [`LANES`], for each of as many tokens as `y`, `tokens.b` and `tokens.c` have places.
#[target_feature(enable = "avx512f")]
pub(in super::super) unsafe fn by_channel(
    tokens: Tokens<'_>,
    steps: &[f32],
    rates: &Block,
    state: &mut Block,
    y: &mut [[f32; LANES]],
) {
    let width = tokens.channels;
    let lanes = below(width);
    // SAFETY: a row of a block is a vector.
    let mut h: [__m512; STATES] = unrolled!(n => unsafe { _mm512_loadu_ps(state[n].as_ptr()) });
    let zero = _mm512_setzero_ps();
    for (t, y) in y.iter_mut().enumerate() {
        // SAFETY: within what the caller promises; lanes beyond the channels are masked out.
        let (step, x) = unsafe {
            (
                _mm512_maskz_loadu_ps(lanes, steps.as_ptr().add(t * width)),
                _mm512_maskz_loadu_ps(lanes, tokens.x.as_ptr().add(t * width)),
            )
        };
        // SAFETY: there are as many as tokens.
        let (b, c) = unsafe { (tokens.b.get_unchecked(t), tokens.c.get_unchecked(t)) };
        let input = _mm512_mul_ps(step, x);
        let mut sums = [zero; PARTS];
        unrolled!(n => {
            // SAFETY: a row of a block is a vector.
            let rate = unsafe { _mm512_loadu_ps(rates[n].as_ptr()) };
            let decay = exp2(_mm512_mul_ps(step, rate));
            let new = _mm512_mul_ps(input, _mm512_set1_ps(b[n]));
            h[n] = _mm512_fmadd_ps(h[n], decay, new);
            sums[n % PARTS] = _mm512_fmadd_ps(h[n], _mm512_set1_ps(c[n]), sums[n % PARTS]);
        });
        let sum = _mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3]));
        // SAFETY: a place of `y` is a vector.
        unsafe {
            let y = y.as_mut_ptr();
            _mm512_storeu_ps(y, _mm512_add_ps(_mm512_loadu_ps(y), sum));
        }
    }
    unrolled!(n => {
        // SAFETY: a row of a block is a vector.
        unsafe { _mm512_storeu_ps(state[n].as_mut_ptr(), h[n]) }
    });
}

/// As [`by_head`](super::super::scan::by_head).
///
/// # Safety
/// The processor has the feature; `tokens.x` holds `tokens.channels` numbers, at most [`LANES`],
/// for each of as many tokens as `y`, `steps`, `decays`, `tokens.b` and `tokens.c` have places.
#[target_feature(enable = "avx512f")]
pub(in super::super) unsafe fn by_head(
    tokens: Tokens<'_>,
    [steps, decays]: [&[f32]; 2],
    state: &mut Block,
    y: &mut [[f32; LANES]],
) {
    let width = tokens.channels;
    let lanes = below(width);
    // SAFETY: a row of a block is a vector.
    let mut h: [__m512; STATES] = unrolled!(n => unsafe { _mm512_loadu_ps(state[n].as_ptr()) });
    let zero = _mm512_setzero_ps();
    for (t, y) in y.iter_mut().enumerate() {
        // SAFETY: within what the caller promises; lanes beyond the channels are masked out.
        let x = unsafe { _mm512_maskz_loadu_ps(lanes, tokens.x.as_ptr().add(t * width)) };
        // SAFETY: there are as many as tokens.
        let (b, c, step, decay) = unsafe {
            (
                tokens.b.get_unchecked(t),
                tokens.c.get_unchecked(t),
                *steps.get_unchecked(t),
                *decays.get_unchecked(t),
            )
        };
        let (input, decay) = (_mm512_mul_ps(_mm512_set1_ps(step), x), _mm512_set1_ps(decay));
        let mut sums = [zero; PARTS];
        unrolled!(n => {
            let new = _mm512_mul_ps(input, _mm512_set1_ps(b[n]));
            h[n] = _mm512_fmadd_ps(h[n], decay, new);
            sums[n % PARTS] = _mm512_fmadd_ps(h[n], _mm512_set1_ps(c[n]), sums[n % PARTS]);
        });
        let sum = _mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3]));
        // SAFETY: a place of `y` is a vector.
        unsafe {
            let y = y.as_mut_ptr();
            _mm512_storeu_ps(y, _mm512_add_ps(_mm512_loadu_ps(y), sum));
        }
    }
    unrolled!(n => {
        // SAFETY: a row of a block is a vector.
        unsafe { _mm512_storeu_ps(state[n].as_mut_ptr(), h[n]) }
    });
}
