//! The family that the repository ships: seven sizes over three decades, 20 M tokens each, about an hour on two cores.

use super::{Recipe, Size};

/// Widths grow by about 1.45 and non-embedding parameters by about 3 from size to size.
pub(super) fn recipe() -> Recipe {
    let size = |name, width, layers, heads, hidden| Size { name, width, layers, heads, hidden };
    Recipe {
        name: "small",
        vocabulary: 4096,
        context: 512,
        batch: 16,
        steps: 2450,
        warm_up: 0.04,
        decay: 0.4,
        learning_rate: 4e-3,
        learning_rate_exponent: 0.6,
        betas: [0.9, 0.95],
        epsilon: 1e-8,
        weight_decay: 0.1,
        clip: 1.0,
        seed: 20_510,
        sizes: vec![
            size("3k", 16, 1, 1, 40),
            size("9k", 24, 1, 1, 88),
            size("28k", 32, 2, 2, 104),
            size("83k", 48, 3, 2, 128),
            size("260k", 80, 3, 4, 256),
            size("790k", 128, 4, 4, 344),
            size("2.2m", 192, 5, 6, 512),
        ],
    }
}
