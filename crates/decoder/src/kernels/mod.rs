//! Matrix products, and the softmax between two of them. The only unsafe code of the workspace
//! stands here, behind checked types.
//!
//! | room | what |
//! |---|---|
//! | [`dense`] | products of strided views, by the `gemm` crate: training, and every processor without AVX-512 |
//! | [`Packed`] | a weight matrix laid out once for many products; the only copy of it that is kept |
//! | [`Input`] | activations laid out for one product |
//! | [`Left`], [`Right`] | small products of activations by activations, for attention |
//! | [`Softmax`] | makes the scores of one such product into the weights of the next |
//! | `avx512` | the small products by hand, f32 and bf16 |
//! | [`Numbers`], `words` | buffers on cache lines |
//!
//! **Paths.** [`Format`] says in which numbers and by which kernels: by hand where the processor
//! has AVX-512 (bf16: also AVX-512-BF16), by `gemm` elsewhere (AVX2, NEON), where bf16 means that
//! both factors are rounded to bf16 and multiplied in f32. Which one is settled when a model is
//! loaded, and stays.
//!
//! **Invariants**, tested for every path (`tests/kernels.rs`):
//! * an element of a product is one chain of additions that depends on its row, its column and the
//!   inner size alone: not on neighbours, place, batch or threads;
//! * sums are f32, whatever the factors are.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod dense;
mod input;
mod multiply;
mod packed;
mod softmax;
mod strips;
mod words;

pub use dense::{MIN_ROWS, View, product};
pub use input::Input;
pub use packed::{Order, Packed, TILE};
pub use softmax::Softmax;
pub use strips::{Left, Right, TALL, WIDTH, fetch, turn};
pub use words::Numbers;

/// Numbers in which weights are kept and products are taken. Sums, norms, softmax and the residual
/// stream are f32 in both.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// 32 bits.
    #[default]
    F32,
    /// 16 bits: 8 of exponent, 7 of fraction. Half the memory, about twice the speed where the
    /// processor multiplies it; `docs/performance.md` says how many ranks move. Numbers below 1e-38
    /// count as 0.
    Bf16,
}

impl Dtype {
    /// `f32` or `bf16`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
        }
    }
}

/// Which kernels to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Choice {
    /// The best that the processor has.
    #[default]
    Best,
    /// Those that every processor has, for comparisons and tests.
    Portable,
}

/// In which numbers, and by which kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Format {
    dtype: Dtype,
    by_hand: bool,
}

impl Format {
    /// The format for `dtype` on this processor.
    pub fn new(dtype: Dtype, choice: Choice) -> Self {
        Self { dtype, by_hand: choice == Choice::Best && has_kernels(dtype) }
    }

    /// The numbers.
    pub fn dtype(self) -> Dtype {
        self.dtype
    }

    /// The kernels, in a word: `avx512`, `avx512-bf16` or `gemm`.
    pub fn kernels(self) -> &'static str {
        match (self.by_hand, self.dtype) {
            (true, Dtype::F32) => "avx512",
            (true, Dtype::Bf16) => "avx512-bf16",
            (false, _) => "gemm",
        }
    }

    /// Whether the kernels are those by hand.
    pub fn by_hand(self) -> bool {
        self.by_hand
    }

    /// Numbers in a word.
    fn per_word(self) -> usize {
        match self.dtype {
            Dtype::F32 => 1,
            Dtype::Bf16 => 2,
        }
    }

    /// Words of `columns` numbers.
    fn words(self, columns: usize) -> usize {
        columns.div_ceil(self.per_word())
    }
}

/// Whether the processor has what the kernels by hand need.
#[cfg(target_arch = "x86_64")]
fn has_kernels(dtype: Dtype) -> bool {
    is_x86_feature_detected!("avx512f")
        && (dtype == Dtype::F32 || is_x86_feature_detected!("avx512bf16"))
}

#[cfg(not(target_arch = "x86_64"))]
fn has_kernels(_: Dtype) -> bool {
    false
}

/// The processor's own limit, for benches: floating-point operations a second of all threads
/// together when nothing but multiply-adds of `format` is done for about `seconds`. `None` without
/// kernels by hand.
pub fn peak(format: Format, seconds: f64) -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    if format.by_hand {
        const STEPS: usize = 1 << 20;
        let one = || {
            let start = std::time::Instant::now();
            // SAFETY: the format says that the processor has the features.
            rayon::broadcast(|_| {
                std::hint::black_box(unsafe { avx512::chains(format.dtype, STEPS) })
            });
            start.elapsed().as_secs_f64()
        };
        one();
        let (start, mut least) = (std::time::Instant::now(), f64::INFINITY);
        while start.elapsed().as_secs_f64() < seconds {
            least = least.min(one());
        }
        let lanes = avx512::MR * avx512::NR * format.per_word();
        return Some((2 * lanes * STEPS * rayon::current_num_threads()) as f64 / least);
    }
    let _ = (format, seconds);
    None
}

/// `value` rounded to bf16, to the nearest, ties to even, as f32.
fn rounded(value: f32) -> f32 {
    half::bf16::from_f32(value).to_f32()
}
