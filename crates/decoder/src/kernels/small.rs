//! The small product that all others by hand are made of: one panel of activations by one of
//! weights.
//!
//! [`small_product`] is its description for processors with vectors; `avx512` and `avx2` say what
//! a vector is, `amx` has its own, by tiles. An element is **one** chain of additions along the
//! inner dimension, ascending, whatever surrounds it; that it is taken up again from memory after a
//! block of the inner dimension changes no bit. All that the crate promises about results that do
//! not depend on batch or threads stands on it.

/// A small product, `c [rows, panel] (+)= a b^T`: words of the inner dimension, the panel of
/// activations, the panel of weights, the sums, how far their rows are apart, whether they are
/// added to, and what to fetch.
///
/// # Safety
/// The processor has what the kernels need, and whoever calls one of tiles has them configured.
/// There is at least one word, and of tiles there are whole ones.
/// `a` points to `Format::input_size(words)` numbers of 32 bits, `b` to
/// `Format::weight_size(words)` of them, and `c` to `Format::rows` rows of `Format::panel` numbers
/// that nobody else uses.
pub(super) type Multiply = unsafe fn(usize, *const u32, *const u32, *mut f32, usize, bool, Ahead);

/// Makes a panel: words `first..first + words` of rows; rows and words that are missing are 0.
///
/// # Safety
/// The processor has what the kernels need.
pub(super) type Pack = unsafe fn(rows: &[&[f32]], first: usize, words: usize, out: &mut [u32]);

/// What a small product fetches into the second-level cache on the way, for the products that come
/// later: from `from` on, `pace` numbers of 32 bits for every word. An address only: it may lie
/// anywhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead {
    pub(super) from: *const u32,
    pub(super) pace: usize,
}

impl Ahead {
    /// Nothing new: what is at hand anyway, since an address that there is not would be looked up
    /// in the table of pages each time.
    pub(super) fn nothing(at_hand: *const u32) -> Self {
        Self { from: at_hand, pace: 0 }
    }
}

/// Describes a small product of vectors.
///
/// `R` rows take part, of the `P` places that a panel of activations has, and `B` numbers of 32
/// bits lie from word to word of the weights. A word is taken in one go or in several: each makes
/// vectors of weights of the word, and meets the next `P` words of activations. So many words stand
/// side by side in the loop as `unrolled` says.
#[cfg(target_arch = "x86_64")]
macro_rules! small_product {
    (
        $(#[$doc:meta])*
        $name:ident, $features:literal, vectors of $lanes:expr, panels of $panel:expr,
        unrolled $unrolled:literal, ($zero:ident, $load:ident, $store:ident, $spread:ident),
        $step:ident, $([$go:ident])+
    ) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// As [`Multiply`](super::small::Multiply), with panels of `P` rows and words of `B`.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name<const R: usize, const P: usize, const B: usize>(
            words: usize,
            a: *const u32,
            b: *const u32,
            c: *mut f32,
            stride: usize,
            resume: bool,
            ahead: super::small::Ahead,
        ) {
            const VECTORS: usize = $panel / $lanes;
            // Numbers of a cache line.
            const LINE: usize = 16;
            let (mut a, mut b, mut next) = (a.cast::<f32>(), b.cast::<f32>(), ahead.from);
            let mut sums = [[$zero(); VECTORS]; R];
            // SAFETY: every address is within what the caller promises; a prefetch may point
            // anywhere.
            unsafe {
                if resume {
                    for i in 0..R {
                        for j in 0..VECTORS {
                            sums[i][j] = $load(c.add(i * stride + j * $lanes));
                        }
                    }
                }
                // Rounds of several words, and of one for the rest.
                let rounds = words / $unrolled;
                for (rounds, side_by_side) in
                    [(rounds, $unrolled), (words - rounds * $unrolled, 1)]
                {
                    for _ in 0..rounds {
                        for _ in 0..side_by_side {
                            // A few steps ahead: the next panel, at the end of this one.
                            for line in 0..$panel / LINE {
                                let at = b.wrapping_add(8 * B + line * LINE);
                                _mm_prefetch::<_MM_HINT_T0>(at.cast());
                            }
                            _mm_prefetch::<_MM_HINT_T1>(next.cast());
                            next = next.wrapping_add(ahead.pace);
                            $(
                                let mut weights = [$zero(); VECTORS];
                                for j in 0..VECTORS {
                                    weights[j] = $go($load(b.add(j * $lanes)));
                                }
                                for i in 0..R {
                                    let activation = $spread(*a.add(i));
                                    for j in 0..VECTORS {
                                        sums[i][j] = $step(activation, weights[j], sums[i][j]);
                                    }
                                }
                                a = a.add(P);
                            )+
                            b = b.wrapping_add(B);
                        }
                    }
                }
                for i in 0..R {
                    for j in 0..VECTORS {
                        $store(c.add(i * stride + j * $lanes), sums[i][j]);
                    }
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(super) use small_product;

/// Multiply-adds without memory, for the processor's own limit.
pub(super) struct Chains {
    /// One round.
    ///
    /// # Safety
    /// The processor has what the kernels need.
    round: unsafe fn(steps: usize) -> f32,
    steps: usize,
    /// Operations that a round of so many steps counts as, of our products.
    pub(super) work: f64,
}

impl Chains {
    /// # Safety
    /// The processor can run `round`.
    #[cfg(target_arch = "x86_64")]
    pub(super) unsafe fn new(
        round: unsafe fn(usize) -> f32,
        steps: usize,
        per_step: usize,
    ) -> Self {
        Self { round, steps, work: (2 * per_step * steps) as f64 }
    }

    /// Operations a second of this thread in a tenth of a millisecond.
    pub(super) fn rate(&self) -> f64 {
        const SHARE: usize = 64;
        let part = Self { steps: self.steps / SHARE, work: self.work / SHARE as f64, ..*self };
        let start = std::time::Instant::now();
        std::hint::black_box(part.run());
        part.work / start.elapsed().as_secs_f64().max(1e-9)
    }

    /// One round; what comes back keeps the compiler from leaving it out.
    pub(super) fn run(&self) -> f32 {
        // SAFETY: by the promise of `new`.
        unsafe { (self.round)(self.steps) }
    }
}

/// Fetches the two cache lines at `place` into the second-level cache. An address only: it may lie
/// anywhere.
#[cfg(target_arch = "x86_64")]
pub(super) fn fetch(place: *const f32) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: a prefetch reads nothing that the program could see, and every x86-64 processor has
    // it.
    unsafe {
        _mm_prefetch::<_MM_HINT_T1>(place.cast());
        _mm_prefetch::<_MM_HINT_T1>(place.wrapping_add(16).cast());
    }
}

/// Other processors find it by themselves.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn fetch(_: *const f32) {}
