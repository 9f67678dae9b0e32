//! The softmax of attention, block of keys by block of keys, on the scores that a product of a
//! [`Left`](super::Left) and a [`Right`] factor leaves: `[key][WIDTH]`, a column a query. Only for
//! formats with kernels by hand.
//!
//! Of each query the largest score so far is kept, and what was summed before is scaled down when a
//! block has a larger one (Milakov & Gimelshein 2018; Dao et al. 2022). A key that a query does not
//! see weighs exactly 0, so that nothing depends on it.

#![allow(
    clippy::needless_range_loop,
    reason = "see `avx512`: closures and iterators are not compiled for the processor of the function around them"
)]

use super::strips::{Right, WIDTH};

/// A strip of [`WIDTH`] queries on its way over the keys.
#[derive(Debug, Clone)]
pub struct Softmax {
    /// Position of the first query.
    first: usize,
    /// Keys that a query sees at most, itself included.
    window: usize,
    /// From a difference of scores to the exponent of 2.
    factor: f32,
    /// The largest score so far.
    top: [f32; WIDTH],
    /// The sum of the weights so far, as they count against `top`.
    total: [f32; WIDTH],
}

impl Softmax {
    /// For the queries from position `first` on, each of which sees `window` keys at most, itself
    /// the last; `scale` is the factor of the scores.
    pub fn new(first: usize, window: Option<usize>, scale: f32) -> Self {
        Self {
            first,
            window: window.unwrap_or(usize::MAX / 2),
            factor: scale * std::f32::consts::LOG2_E,
            top: [f32::MIN; WIDTH],
            total: [0.0; WIDTH],
        }
    }

    /// Turns the scores in `right` of the keys from `from` on into weights against the largest
    /// score so far, and makes them a factor of a product; `before`, the sums of earlier blocks,
    /// `[D][WIDTH]`, are made to count against that score too.
    pub fn weigh(&mut self, from: usize, right: &mut Right, before: Option<&mut [f32]>) {
        let dtype = right.dtype();
        let (scores, pairs) = right.scores_and_pairs();
        by_hand::weigh(self, from, scores, pairs, before, dtype);
    }

    /// Divides sums `[D][WIDTH]` by the sums of the weights.
    pub fn divide(&self, sums: &mut [f32]) {
        by_hand::scale(sums, &self.total.map(|total| 1.0 / total));
    }

    /// The queries that see the key at `key`, a bit each.
    #[inline(always)]
    fn sees(&self, key: usize) -> u32 {
        // No query before the key itself, and none from `key + window` on.
        let (from, to) =
            (key.saturating_sub(self.first), (key + self.window).saturating_sub(self.first));
        let below = |count: usize| if count < WIDTH { (1 << count) - 1 } else { u32::MAX };
        below(to) & !below(from)
    }
}

#[cfg(target_arch = "x86_64")]
mod by_hand {
    use super::super::{Dtype, avx512};
    use super::*;
    use crate::lanes::EXP2;
    use std::arch::x86_64::{
        __m512, _mm512_add_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mask_mov_ps,
        _mm512_maskz_mov_ps, _mm512_max_ps, _mm512_mul_ps, _mm512_roundscale_ps, _mm512_scalef_ps,
        _mm512_set1_ps, _mm512_storeu_ps, _mm512_sub_ps,
    };

    const LANES: usize = 16;
    const VECTORS: usize = WIDTH / LANES;

    type Vectors = [__m512; VECTORS];

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(from: &[f32; WIDTH]) -> Vectors {
        let half = from.as_ptr();
        // SAFETY: both halves are inside the row.
        unsafe { [_mm512_loadu_ps(half), _mm512_loadu_ps(half.add(LANES))] }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(to: &mut [f32; WIDTH], [low, high]: Vectors) {
        let half = to.as_mut_ptr();
        // SAFETY: as in `load`.
        unsafe {
            _mm512_storeu_ps(half, low);
            _mm512_storeu_ps(half.add(LANES), high);
        }
    }

    /// `2^x` as [`crate::lanes::exp2`], exactly 0 below 2^-150.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn exp2(x: __m512) -> __m512 {
        // The larger of a number and a NaN is the second one: a NaN stays.
        let x = _mm512_max_ps(_mm512_set1_ps(-200.0), x);
        let n = _mm512_roundscale_ps::<0>(x);
        let r = _mm512_sub_ps(x, n);
        let mut p = _mm512_set1_ps(EXP2[0]);
        for i in 1..EXP2.len() {
            p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(EXP2[i]));
        }
        _mm512_scalef_ps(p, n)
    }

    pub(super) fn weigh(
        softmax: &mut Softmax,
        from: usize,
        scores: &mut [[f32; WIDTH]],
        pairs: &mut [[u32; WIDTH]],
        before: Option<&mut [f32]>,
        dtype: Dtype,
    ) {
        // SAFETY: a `Right` is made only for formats by hand, whose features the processor has.
        unsafe {
            let factors = weigh_f32(softmax, from, scores);
            if let Some(before) = before
                && factors.iter().any(|factor| *factor != 1.0)
            {
                scale_by(before, &factors);
            }
            if dtype == Dtype::Bf16 {
                for (out, rows) in pairs.iter_mut().zip(scores.as_chunks::<2>().0) {
                    avx512::interleave(&rows[0], &rows[1], out);
                }
            }
        }
    }

    pub(super) fn scale(sums: &mut [f32], factors: &[f32; WIDTH]) {
        assert!(is_x86_feature_detected!("avx512f"), "for processors with kernels by hand");
        // SAFETY: the processor has the feature.
        unsafe { scale_by(sums, factors) };
    }

    /// Leaves weights in place of scores; returns what earlier weights are to be multiplied by.
    #[target_feature(enable = "avx512f")]
    fn weigh_f32(softmax: &mut Softmax, from: usize, scores: &mut [[f32; WIDTH]]) -> [f32; WIDTH] {
        let old = load(&softmax.top);
        let (mut top, hidden, factor) =
            (old, _mm512_set1_ps(f32::MIN), _mm512_set1_ps(softmax.factor));
        for (key, scores) in scores.iter().enumerate() {
            let (sees, scores) = (softmax.sees(from + key), load(scores));
            for v in 0..VECTORS {
                // A NaN is passed over here, and makes its weight one.
                top[v] = _mm512_max_ps(
                    _mm512_mask_mov_ps(hidden, (sees >> (v * LANES)) as u16, scores[v]),
                    top[v],
                );
            }
        }
        let (mut factors, mut total) = (old, load(&softmax.total));
        for v in 0..VECTORS {
            factors[v] = exp2(_mm512_mul_ps(_mm512_sub_ps(old[v], top[v]), factor));
            total[v] = _mm512_mul_ps(total[v], factors[v]);
        }
        for (key, scores) in scores.iter_mut().enumerate() {
            let (sees, mut weights) = (softmax.sees(from + key), load(scores));
            for v in 0..VECTORS {
                let weight = exp2(_mm512_mul_ps(_mm512_sub_ps(weights[v], top[v]), factor));
                weights[v] = _mm512_maskz_mov_ps((sees >> (v * LANES)) as u16, weight);
                total[v] = _mm512_add_ps(total[v], weights[v]);
            }
            store(scores, weights);
        }
        store(&mut softmax.top, top);
        store(&mut softmax.total, total);
        let mut out = [0.0; WIDTH];
        store(&mut out, factors);
        out
    }

    #[target_feature(enable = "avx512f")]
    fn scale_by(rows: &mut [f32], factors: &[f32; WIDTH]) {
        let factors = load(factors);
        for row in rows.as_chunks_mut::<WIDTH>().0 {
            let mut sums = load(row);
            for v in 0..VECTORS {
                sums[v] = _mm512_mul_ps(sums[v], factors[v]);
            }
            store(row, sums);
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod by_hand {
    use super::super::Dtype;
    use super::*;

    pub(super) fn weigh(
        _: &mut Softmax,
        _: usize,
        _: &mut [[f32; WIDTH]],
        _: &mut [[u32; WIDTH]],
        _: Option<&mut [f32]>,
        _: Dtype,
    ) {
        unreachable!("there are scores only where there are kernels by hand");
    }

    pub(super) fn scale(_: &mut [f32], _: &[f32; WIDTH]) {
        unreachable!("there are sums only where there are kernels by hand");
    }
}
