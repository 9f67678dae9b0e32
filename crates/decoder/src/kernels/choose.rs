//! Which kernels there are, which of them the processor can run, and which are the best of these.

use std::sync::OnceLock;

use super::{Dtype, Format, amx, small};

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

    /// Whether this processor can run them on numbers of `dtype`.
    pub fn run(self, dtype: Dtype) -> bool {
        match self {
            Self::Gemm | Self::AmxModel => true,
            Self::Avx2 => processor::has_avx2(),
            Self::Avx512 => processor::has_avx512(),
            Self::Avx512Bf16 => dtype == Dtype::Bf16 && processor::has_avx512_bf16(),
            // Attention and the writing past the caches are AVX-512 beside it.
            Self::Amx => processor::has_avx512() && amx::permitted(),
        }
    }

    /// The fastest of those that the processor can run on numbers of `dtype`.
    ///
    /// By what their multiply-adds alone can do, measured once a process for a few milliseconds:
    /// `VDPBF16PS` runs at twice the rate of f32 on AMD's Zen 5 and at half of it on Intel's
    /// Sapphire Rapids, and no flag of the processor tells. One that is later in the list must be
    /// faster by a tenth, so that chance does not decide between equals.
    pub fn best(dtype: Dtype) -> Self {
        static BEST: [OnceLock<Kernels>; 2] = [const { OnceLock::new() }; 2];
        *BEST[usize::from(dtype == Dtype::Bf16)].get_or_init(|| {
            let rated = [Self::Avx2, Self::Avx512, Self::Avx512Bf16, Self::Amx]
                .into_iter()
                .filter_map(|kernels| Some((kernels, small::rate(Format::by(dtype, kernels)?)?)));
            let better = |best: (Self, f64), next: (Self, f64)| {
                if next.1 > 1.1 * best.1 { next } else { best }
            };
            rated.reduce(better).map_or(Self::Gemm, |(kernels, _)| kernels)
        })
    }
}

#[cfg(target_arch = "x86_64")]
mod processor {
    pub(super) fn has_avx2() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
    }

    pub(super) fn has_avx512() -> bool {
        is_x86_feature_detected!("avx512f") && has_avx2()
    }

    pub(super) fn has_avx512_bf16() -> bool {
        has_avx512() && is_x86_feature_detected!("avx512bf16")
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod processor {
    pub(super) fn has_avx2() -> bool {
        false
    }

    pub(super) fn has_avx512() -> bool {
        false
    }

    pub(super) fn has_avx512_bf16() -> bool {
        false
    }
}
