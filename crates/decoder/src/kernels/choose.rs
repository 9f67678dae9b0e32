//! Which kernels the processor can run, which of them are the best, and what they are made of.

use std::sync::OnceLock;

use super::shape::PARTS;
use super::small::{Chains, Multiply, Pack};
use super::{Dtype, Format, Kernels, amx, pack};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

impl Kernels {
    /// Whether this processor can run them on numbers of `dtype`.
    pub fn available(self, dtype: Dtype) -> bool {
        match self {
            Self::Gemm | Self::AmxModel => true,
            Self::Avx2 => processor::has_avx2(),
            Self::Avx512 => processor::has_avx512(),
            Self::Avx512Bf16 => dtype == Dtype::Bf16 && processor::has_avx512_bf16(),
            // Packing, turning and the writing past the caches are AVX-512 beside it.
            Self::Amx => processor::has_avx512() && amx::permitted(),
        }
    }

    /// The fastest of those that the processor can run on numbers of `dtype`.
    ///
    /// By what their multiply-adds alone can do, measured once a process for a few milliseconds:
    /// `VDPBF16PS` runs at twice the rate of f32 on AMD's Zen 5 and at half of it on Intel's
    /// Sapphire Rapids, and no flag of the processor tells. Known rates stand to each other as 1/2,
    /// 1, 2 and more; one that comes later in the list must have more than the root of 2, so that
    /// chance decides nothing. They are timed by turns, so that what else the machine does, and a
    /// clock that is still rising, meets all alike.
    pub fn best(dtype: Dtype) -> Self {
        static BEST: [OnceLock<Kernels>; 2] = [const { OnceLock::new() }; 2];
        const ROUNDS: usize = 12;
        *BEST[usize::from(dtype == Dtype::Bf16)].get_or_init(|| {
            let mut rated: Vec<(Self, Chains, f64)> =
                [Self::Avx512, Self::Avx2, Self::Avx512Bf16, Self::Amx]
                    .into_iter()
                    .filter_map(|kernels| {
                        Some((kernels, chains(Format::by(dtype, kernels)?)?, 0.0))
                    })
                    .collect();
            if rated.len() > 1 {
                for round in 0..=ROUNDS {
                    for (_, chains, best) in &mut rated {
                        let rate = chains.rate();
                        // The first wakes the units up that they run on.
                        *best = if round == 0 { 0.0 } else { best.max(rate) };
                    }
                }
            }
            let better = |best: (Self, f64), next: (Self, f64)| {
                if next.1 > std::f64::consts::SQRT_2 * best.1 { next } else { best }
            };
            let rates = rated.into_iter().map(|(kernels, _, rate)| (kernels, rate));
            rates.reduce(better).map_or(Self::Gemm, |(kernels, _)| kernels)
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

/// Those of a format; `None` for kernels of which there is no limit to speak.
pub(super) fn chains(format: Format) -> Option<Chains> {
    match format.kernels {
        #[cfg(target_arch = "x86_64")]
        Kernels::Avx512 | Kernels::Avx512Bf16 => Some(avx512::chains(format)),
        #[cfg(target_arch = "x86_64")]
        Kernels::Avx2 => Some(avx2::chains()),
        Kernels::Amx => amx::chains(format),
        _ => None,
    }
}

impl Format {
    /// The small product with a panel of which `rows` are filled.
    pub(super) fn multiply(self, rows: usize) -> Multiply {
        match (self.kernels, self.dtype) {
            #[cfg(target_arch = "x86_64")]
            (Kernels::Avx512 | Kernels::Avx512Bf16, _) => avx512::multiply(self, rows),
            #[cfg(target_arch = "x86_64")]
            (Kernels::Avx2, Dtype::F32) => avx2::by_f32::<6, 6, 16>,
            #[cfg(target_arch = "x86_64")]
            (Kernels::Avx2, Dtype::Bf16) => avx2::by_bf16::<6, 6, 16>,
            (Kernels::Amx | Kernels::AmxModel, _) => amx::multiply(self, rows),
            _ => unreachable!("small products are for formats by hand"),
        }
    }

    /// What makes panels of weights.
    pub(super) fn pack_weights(self) -> Pack {
        match (self.kernels, self.dtype) {
            #[cfg(target_arch = "x86_64")]
            (Kernels::Avx512 | Kernels::Avx512Bf16, _) => avx512::pack_weights(self),
            #[cfg(target_arch = "x86_64")]
            (Kernels::Amx, Dtype::F32) => avx512::tiles::weight_tiles::<{ PARTS }>,
            #[cfg(target_arch = "x86_64")]
            (Kernels::Amx, Dtype::Bf16) => avx512::tiles::weight_tiles::<1>,
            (Kernels::Avx2, Dtype::F32) => pack::numbers::<16>,
            (Kernels::Avx2, Dtype::Bf16) => pack::pairs::<16>,
            (_, Dtype::F32) => pack::weight_tiles::<{ PARTS }>,
            (_, Dtype::Bf16) => pack::weight_tiles::<1>,
        }
    }

    /// What makes panels of activations.
    pub(super) fn pack_input(self) -> Pack {
        match (self.kernels, self.dtype) {
            #[cfg(target_arch = "x86_64")]
            (Kernels::Avx512 | Kernels::Avx512Bf16, _) => avx512::pack_input(self),
            #[cfg(target_arch = "x86_64")]
            (Kernels::Amx, Dtype::F32) => avx512::tiles::input_tiles::<{ PARTS }>,
            #[cfg(target_arch = "x86_64")]
            (Kernels::Amx, Dtype::Bf16) => avx512::tiles::input_tiles::<1>,
            (Kernels::Avx2, Dtype::F32) => pack::numbers::<6>,
            (Kernels::Avx2, Dtype::Bf16) => pack::rounded_numbers::<6>,
            (_, Dtype::F32) => pack::input_tiles::<{ PARTS }>,
            (_, Dtype::Bf16) => pack::input_tiles::<1>,
        }
    }
}
