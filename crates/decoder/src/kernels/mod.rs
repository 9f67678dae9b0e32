//! Matrix products, and the softmax between two of them. The only unsafe code of the workspace
//! stands here, behind checked types.
//!
//! | room | what |
//! |---|---|
//! | [`dense`] | products of strided views, by the `gemm` crate: training, and processors without kernels by hand |
//! | [`Packed`] | a weight matrix laid out once for many products; the only copy of it that is kept |
//! | [`Input`] | activations laid out for one product |
//! | `shape` | how panels of both are laid out, kernel by kernel |
//! | `small` | the small product that all others by hand are made of, from one description |
//! | `avx512`, `avx2`, `amx` | that product by each kind of processor; `pack` lays panels out in plain code |
//! | `choose` | which kernels the processor can run, and which are the best of them |
//! | [`Left`], [`Right`] | small products of activations by activations, for attention |
//! | [`scan`] | the recurrence of a state space over the tokens of a sequence |
//! | [`Softmax`] | makes the scores of one such product into the weights of the next |
//! | [`Numbers`], `words` | buffers on cache lines |
//! | [`Speeds`], [`faster`], [`rate`] | how fast each kind of numbers is here, by a short timing |
//!
//! **Paths.** [`Format`] says in which numbers and by which [`Kernels`]. Which ones is settled when
//! a model is loaded, and stays.
//!
//! **Invariants**, tested for every path (`tests/kernels.rs`):
//! * an element of a product is one chain of additions that depends on its row, its column and the
//!   inner size alone: not on neighbours, place, batch or threads;
//! * sums are f32, whatever the factors are.
#![allow(unsafe_code)]

mod amx;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod choose;
pub mod dense;
mod input;
mod multiply;
mod pack;
mod packed;
pub mod scan;
mod shape;
mod small;
mod softmax;
mod speed;
mod state;
mod strips;
mod words;

pub use dense::{MIN_ROWS, View, product};
pub use input::Input;
pub use packed::{Order, Packed, TILE};
pub use shape::WIDTH;
pub use softmax::Softmax;
pub use speed::{Speeds, faster, rate};
pub use strips::{Left, Right, fetch, turn};
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
    /// 16 bits: 8 of exponent, 7 of fraction. Half the memory; how fast depends on the processor
    /// ([`Speeds`]). `docs/performance.md` says how many ranks move. Numbers below 1e-38 may count
    /// as 0.
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
    /// These, or the portable ones where the processor cannot run them on the numbers in question;
    /// the format tells which ones it became.
    Only(Kernels),
}

/// What takes the products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kernels {
    /// The `gemm` crate, on every processor (AVX2, NEON and others, chosen by it). In bf16 both
    /// factors are rounded to it, kept and multiplied as f32.
    Gemm,
    /// AVX2 and FMA. In bf16 weights are kept as such and made f32 on the way into a register.
    Avx2,
    /// AVX-512. In bf16 as [`Kernels::Avx2`].
    Avx512,
    /// AVX-512-BF16, for bf16 alone: `VDPBF16PS`, which multiplies pairs.
    Avx512Bf16,
    /// The tiles of Intel's AMX. In f32 every number is three of bf16, and six of their nine
    /// products are taken (see `amx`).
    Amx,
    /// What [`Kernels::Amx`] computes, bit for bit, by a program that runs everywhere and takes a
    /// hundred times as long: for tests.
    AmxModel,
}

impl Kernels {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Gemm, Self::Avx2, Self::Avx512, Self::Avx512Bf16, Self::Amx, Self::AmxModel];

    /// In a word: `gemm`, `avx2`, `avx512`, `avx512-bf16`, `amx` or `amx-model`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gemm => "gemm",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Bf16 => "avx512-bf16",
            Self::Amx => "amx",
            Self::AmxModel => "amx-model",
        }
    }

    /// Those of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kernels| kernels.name() == name)
    }
}

/// In which numbers, and by which kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Format {
    dtype: Dtype,
    kernels: Kernels,
}

impl Format {
    /// The format for `dtype` on this processor.
    pub fn new(dtype: Dtype, choice: Choice) -> Self {
        let kernels = match choice {
            Choice::Best => Kernels::best(dtype),
            Choice::Only(kernels) if kernels.available(dtype) => kernels,
            Choice::Portable | Choice::Only(_) => Kernels::Gemm,
        };
        Self { dtype, kernels }
    }

    /// `dtype` by these kernels; `None` where the processor cannot run them, or where they are for
    /// other numbers.
    pub fn by(dtype: Dtype, kernels: Kernels) -> Option<Self> {
        kernels.available(dtype).then_some(Self { dtype, kernels })
    }

    /// Every format for `dtype` that this processor can run, and the software model of one that it
    /// may not ([`Kernels::AmxModel`]); for tests and benches.
    pub fn all(dtype: Dtype) -> impl Iterator<Item = Self> {
        Kernels::ALL.into_iter().filter_map(move |kernels| Self::by(dtype, kernels))
    }

    /// The numbers.
    pub fn dtype(self) -> Dtype {
        self.dtype
    }

    /// The kernels.
    pub fn kernels(self) -> Kernels {
        self.kernels
    }

    /// Whether the kernels are those of this crate, and not those of the `gemm` crate.
    pub fn by_hand(self) -> bool {
        self.kernels != Kernels::Gemm
    }

    /// In what the products of attention are taken, activations by activations: where weights in
    /// bf16 meet activations in f32, both in f32.
    pub fn of_attention(self) -> Self {
        if self.widens() { Self { dtype: Dtype::F32, ..self } } else { self }
    }

    /// Whether the processor has AVX-512 beside the kernels: for what is written past the caches.
    fn streams(self) -> bool {
        matches!(self.kernels, Kernels::Avx512 | Kernels::Avx512Bf16 | Kernels::Amx)
    }
}

/// The processor's own limit, for benches: floating-point operations a second of all threads
/// together when nothing but multiply-adds of `format` is done for about `seconds`; a product that
/// takes several multiply-adds of the processor for one of ours counts once. `None` where the
/// kernels are not those of this crate, or a model.
pub fn peak(format: Format, seconds: f64) -> Option<f64> {
    let chains = choose::chains(format)?;
    let one = || {
        let start = std::time::Instant::now();
        rayon::broadcast(|_| std::hint::black_box(chains.run()));
        start.elapsed().as_secs_f64()
    };
    one();
    let (start, mut least) = (std::time::Instant::now(), f64::INFINITY);
    while start.elapsed().as_secs_f64() < seconds {
        least = least.min(one());
    }
    Some(chains.work * rayon::current_num_threads() as f64 / least)
}

/// `value` rounded to bf16, to the nearest, ties to even, as f32.
fn rounded(value: f32) -> f32 {
    half::bf16::from_f32(value).to_f32()
}
