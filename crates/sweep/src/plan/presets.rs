//! Recipes of sweeps by name.

use super::architecture::Llama3Scaling;
use super::recipe::{
    BatchRule, Beta2Rule, Depth, Hidden, LearningRateRule, OptimiserKind, SweepRecipe, Widths,
};
use crate::error::{Error, Result};
use relscale_records::units::FlopsConvention;

/// Names of all presets, with what each is for.
pub const PRESETS: [(&str, &str); 3] = [
    ("marin", "the 85 runs a corpus of the sweep behind arXiv 2510.24626, 0.16 to 12 B parameters"),
    ("marin-small", "marin's blocks, optimiser and rules on models that a CPU trains in minutes"),
    ("small", "a sweep for a CPU, minutes on two cores"),
];

/// A preset by its name.
///
/// # Errors
/// [`Error::UnknownRecipe`], with the names there are.
pub fn preset(name: &str) -> Result<SweepRecipe> {
    match name {
        "marin" => Ok(marin()),
        "marin-small" => Ok(marin_small()),
        "small" => Ok(small()),
        _ => Err(Error::UnknownRecipe {
            name: name.to_owned(),
            known: PRESETS.map(|(name, _)| name).join(", "),
        }),
    }
}

/// The sweep of Marin (marin-community/marin, `exp2166`) that trained the models of arXiv
/// 2510.24626: Qwen3 blocks, Llama 3's vocabulary, cautious Adam. **Its budgets count forward
/// FLOPs.** Warm-up is the 10 % of its code; the paper says 5 %.
fn marin() -> SweepRecipe {
    SweepRecipe {
        name: "marin".to_owned(),
        budgets: vec![1e18, 3e18, 6e18, 1e19, 3e19, 6e19, 1e20],
        flops: FlopsConvention::Forward,
        vocabulary: 128_256,
        sequence: 4096,
        window: None,
        widths: Widths::Range {
            from: 512,
            to: 4096,
            step: 128,
            coarse_step: 256,
            coarse_above: 9e18,
        },
        // 64 + 4 log2 d - 9.
        depth: Depth { offset: 55.0, slope: 4.0 },
        head_width: 128,
        hidden: Hidden { ratio: 4.0, multiple: 1 },
        tied: false,
        qk_norm: true,
        rope_base: 500_000.0,
        rope_scaling: Some(Llama3Scaling {
            factor: 8.0,
            low_frequency_factor: 1.0,
            high_frequency_factor: 4.0,
            original_context: 8192,
        }),
        norm_epsilon: 1e-5,
        batch: BatchRule { steps: 65_536.0, least: 8 },
        learning_rate: LearningRateRule {
            coefficient: 0.33,
            batch_exponent: 0.5,
            width_exponent: 1.0,
            most: 0.01,
        },
        optimiser: OptimiserKind::CautiousAdamC,
        beta1: 0.95,
        beta2: Beta2Rule { base: 0.98, per_batch: Some(128.0) },
        epsilon: 1e-15,
        weight_decay: 0.1,
        clip: 1.0,
        z_loss: 0.0,
        warm_up: 0.1,
        decay: 0.2,
        tolerance: 0.01,
        seed: 0,
    }
}

/// Marin's sweep where two cores train it in minutes: the blocks, optimiser, schedule and formulas
/// of `marin` with the vocabulary, text length, budgets, widths and heads of `small`. A run has
/// some hundred steps in place of 65 thousand; the cap on the learning rate is that of `small`,
/// since marin's would hold models this narrow to one sequence a step. The coefficient is the
/// published one: at width 24 half of it came to the same loss, and twice as much to a worse.
fn marin_small() -> SweepRecipe {
    let (marin, small) = (marin(), small());
    SweepRecipe {
        name: "marin-small".to_owned(),
        budgets: small.budgets,
        flops: small.flops,
        vocabulary: small.vocabulary,
        sequence: small.sequence,
        widths: small.widths,
        head_width: small.head_width,
        batch: small.batch,
        learning_rate: LearningRateRule { most: small.learning_rate.most, ..marin.learning_rate },
        seed: small.seed,
        ..marin
    }
}

/// A sweep that two cores train in minutes: the vocabulary, text, blocks and attention window of
/// the shipped family, one and a half decades of budgets, seven widths around the best of each.
fn small() -> SweepRecipe {
    SweepRecipe {
        name: "small".to_owned(),
        budgets: vec![3e11, 9e11, 2.7e12, 8.1e12],
        flops: FlopsConvention::Train,
        vocabulary: 4096,
        sequence: 128,
        window: Some(16),
        widths: Widths::Around {
            widths: vec![8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256],
            // Where the minima were: widths of about 24, 34 and 48 at 3e11, 9e11 and 2.7e12
            // training FLOPs.
            centre: 24.0,
            at: 1e11,
            exponent: 0.32,
            each_side: 3,
        },
        depth: Depth { offset: 4.0, slope: 4.0 },
        head_width: 16,
        hidden: Hidden { ratio: 8.0 / 3.0, multiple: 8 },
        tied: true,
        qk_norm: false,
        rope_base: 10_000.0,
        rope_scaling: None,
        norm_epsilon: 1e-5,
        batch: BatchRule { steps: 1024.0, least: 1 },
        // Between 1.7 and 2.1 times 0.02 at the four sizes where 0.4, 1 and 2.5 times that were
        // tried.
        learning_rate: LearningRateRule {
            coefficient: 0.036,
            batch_exponent: 0.5,
            width_exponent: 0.5,
            most: 0.052,
        },
        optimiser: OptimiserKind::AdamW,
        beta1: 0.9,
        beta2: Beta2Rule { base: 0.98, per_batch: None },
        epsilon: 1e-8,
        weight_decay: 0.1,
        clip: 1.0,
        z_loss: 0.0,
        warm_up: 0.04,
        decay: 0.4,
        tolerance: 0.01,
        seed: 20_510,
    }
}
