//! The types of numbers that the format knows, by their ids.

use super::super::blocks::Quantised;
use super::super::tensor::StoredType;

/// A type of the format.
pub(super) struct Type {
    /// How its numbers are read, or what they are called.
    pub(super) stored: StoredType,
    /// Numbers of a block, and its bytes.
    pub(super) block: (u64, u64),
}

/// The type of an id; `None` for one that there was not when this was written.
pub(super) fn by_id(id: u32) -> Option<Type> {
    use Quantised::{Q2K, Q3K, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0};
    let quantised = match id {
        2 => Some(Q4_0),
        3 => Some(Q4_1),
        6 => Some(Q5_0),
        7 => Some(Q5_1),
        8 => Some(Q8_0),
        10 => Some(Q2K),
        11 => Some(Q3K),
        12 => Some(Q4K),
        13 => Some(Q5K),
        14 => Some(Q6K),
        _ => None,
    };
    if let Some(quantised) = quantised {
        let (numbers, bytes) = quantised.block();
        let block = (numbers as u64, bytes as u64);
        return Some(Type { stored: StoredType::Quantised(quantised), block });
    }
    let plain = |stored, bytes| (stored, (1, bytes));
    let other = |name, numbers, bytes| (StoredType::Other(name, 0), (numbers, bytes));
    let (stored, block) = match id {
        0 => plain(StoredType::F32, 4),
        1 => plain(StoredType::F16, 2),
        30 => plain(StoredType::Bf16, 2),
        9 => other("Q8_1", 32, 40),
        15 => other("Q8_K", 256, 292),
        16 => other("IQ2_XXS", 256, 66),
        17 => other("IQ2_XS", 256, 74),
        18 => other("IQ3_XXS", 256, 98),
        19 => other("IQ1_S", 256, 50),
        20 => other("IQ4_NL", 32, 18),
        21 => other("IQ3_S", 256, 110),
        22 => other("IQ2_S", 256, 82),
        23 => other("IQ4_XS", 256, 136),
        24 => other("I8", 1, 1),
        25 => other("I16", 1, 2),
        26 => other("I32", 1, 4),
        27 => other("I64", 1, 8),
        28 => other("F64", 1, 8),
        29 => other("IQ1_M", 256, 56),
        34 => other("TQ1_0", 256, 54),
        35 => other("TQ2_0", 256, 66),
        39 => other("MXFP4", 32, 17),
        40 => other("NVFP4", 64, 36),
        41 => other("Q1_0", 128, 18),
        _ => return None,
    };
    Some(Type { stored, block })
}

/// Names of the types that are read.
pub(super) fn readable() -> Vec<&'static str> {
    let types = (0..64).filter_map(by_id).map(|known| known.stored);
    types.filter(|stored| stored.readable()).map(StoredType::name).collect()
}
