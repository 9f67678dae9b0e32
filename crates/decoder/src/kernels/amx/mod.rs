//! Small products by Intel's AMX: eight registers that hold a tile of 16 lines of 64 bytes each,
//! and an instruction that multiplies two tiles of bf16 into one of f32 (`TDPBF16PS`).
//!
//! **bf16.** A step of 16 words (32 numbers) along the inner dimension loads two tiles of
//! activations and two of weights for four products, into sums of 32 x 32.
//!
//! **f32.** A number is the sum of three of bf16, exactly, and of the nine products of two such
//! numbers the six largest have the accuracy of f32: what is left out is 2^-24 of the whole. The
//! sums are f32 as ever; products are added up 16 and 16 before they meet the sum, so that it is
//! rounded less often than in a chain of multiply-adds. Twelve tiles, loaded twenty times, serve 24
//! products a step: the rate is that of the products, a sixth of bf16's, which is more than twice
//! what the same cores do by AVX-512. A weight takes six bytes in place of four.
//!
//! **Steps are written once**, in [`steps`], as lists of loads and products, and run by two
//! machines: `assembly` makes instructions of them, `model` carries them out in plain code with the
//! arithmetic of the instruction (Intel's Software Developer's Manual, volume 2). All that is
//! around them - layouts, blocks, sums taken up again, the head - is tested on every processor
//! through the model; the assembly is compared to the model bit for bit where the processor has
//! tiles.
//!
//! Numbers below the smallest normal one (1e-38) count as 0, as they do for the instruction.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod assembly;
mod model;
mod steps;

use super::small::{Chains, Multiply};
use super::{Dtype, Format};

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) use assembly::{Tiles, permitted};

/// Whether the processor has tiles, and the system lets this process use them.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(super) fn permitted() -> bool {
    false
}

/// Tiles that are set up for this thread; nothing where there are none.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(super) struct Tiles;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
impl Tiles {
    /// Nothing to set up.
    pub(super) fn for_format(_: Format) -> Self {
        Self
    }
}

/// The small product of a format by tiles with a panel of which `rows` are filled.
pub(super) fn multiply(format: Format, rows: usize) -> Multiply {
    let low = rows <= super::shape::SIDE;
    match (format.kernels(), format.dtype(), low) {
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        (super::Kernels::Amx, Dtype::Bf16, false) => assembly::by_bf16,
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        (super::Kernels::Amx, Dtype::Bf16, true) => assembly::by_bf16_low,
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        (super::Kernels::Amx, Dtype::F32, false) => assembly::by_f32,
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        (super::Kernels::Amx, Dtype::F32, true) => assembly::by_f32_low,
        (_, Dtype::Bf16, false) => model::by_bf16,
        (_, Dtype::Bf16, true) => model::by_bf16_low,
        (_, Dtype::F32, false) => model::by_f32,
        (_, Dtype::F32, true) => model::by_f32_low,
    }
}

/// Products of tiles without memory.
pub(super) fn chains(format: Format) -> Option<Chains> {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    if format.kernels() == super::Kernels::Amx {
        return Some(assembly::chains(format.dtype()));
    }
    let _ = format;
    None
}
