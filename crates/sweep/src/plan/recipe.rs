//! The rules of a sweep as data: from a budget to widths, from a width to a model, from both to
//! batch and learning rate.

use super::architecture::{Architecture, Llama3Scaling};
use relscale_records::units::FlopsConvention;
use serde::{Deserialize, Serialize};

/// Everything that decides a plan. Plain data: change a field, and the plan follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepRecipe {
    /// Its name.
    pub name: String,
    /// Budgets, FLOPs in [`Self::flops`].
    pub budgets: Vec<f64>,
    /// What the budgets count.
    pub flops: FlopsConvention,
    /// Entries of the vocabulary.
    pub vocabulary: usize,
    /// Tokens of one sequence.
    pub sequence: usize,
    /// Tokens that attention looks back at most; `None`: the whole sequence.
    pub window: Option<usize>,
    /// Which widths a budget is spread over.
    pub widths: Widths,
    /// How deep a width is.
    pub depth: Depth,
    /// Channels of a head: `heads = max(1, width / this)`, rounded down; as many key/value heads.
    pub head_width: usize,
    /// How wide the MLP is inside.
    pub hidden: Hidden,
    /// Whether the head is the token embedding.
    pub tied: bool,
    /// Whether queries and keys are normalised.
    pub qk_norm: bool,
    /// Base of the rotary frequencies.
    pub rope_base: f64,
    /// Llama 3's change of the low frequencies.
    pub rope_scaling: Option<Llama3Scaling>,
    /// Added to the mean square in norms.
    pub norm_epsilon: f64,
    /// How many sequences a step sees.
    pub batch: BatchRule,
    /// Peak learning rate.
    pub learning_rate: LearningRateRule,
    /// The optimiser.
    pub optimiser: OptimiserKind,
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: Beta2Rule,
    /// Added to the root of the second moment.
    pub epsilon: f64,
    /// Decoupled weight decay of the matrices but an embedding beside a head of its own.
    pub weight_decay: f64,
    /// Largest norm of a step's gradient.
    pub clip: f64,
    /// Factor of the z-loss, the squared logarithm of the softmax's normaliser; 0: none.
    #[serde(default)]
    pub z_loss: f64,
    /// Share of the steps over which the learning rate rises in a line from 0.
    pub warm_up: f64,
    /// Share of the steps over which it falls in a line to 0 at the end; between, it is constant.
    pub decay: f64,
    /// Share of the budget by which a run may miss it.
    pub tolerance: f64,
    /// Seed of the weights and of the order of the text.
    pub seed: u64,
}

/// Which widths a budget is spread over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Widths {
    /// Every `step` from `from` to `to`, both included; every `coarse_step` for budgets above
    /// `coarse_above` forward FLOPs.
    Range {
        /// Smallest width.
        from: usize,
        /// Largest width.
        to: usize,
        /// Distance between widths.
        step: usize,
        /// Distance for large budgets.
        coarse_step: usize,
        /// Forward FLOPs above which budgets are large.
        coarse_above: f64,
    },
    /// The same widths for every budget.
    Listed {
        /// The widths.
        widths: Vec<usize>,
    },
    /// A window of a list that moves with the budget: the entry nearest (in logarithm) to
    /// `centre (budget / at)^exponent`, and `each_side` entries below and above it.
    Around {
        /// Widths in ascending order.
        widths: Vec<usize>,
        /// Width in the middle at a budget of `at`.
        centre: f64,
        /// Forward FLOPs of that budget.
        at: f64,
        /// How the middle moves.
        exponent: f64,
        /// Entries on each side; fewer at the ends of the list.
        each_side: usize,
    },
}

impl Widths {
    /// The widths of a budget of `forward` FLOPs.
    pub fn of(&self, forward: f64) -> Vec<usize> {
        match self {
            Self::Range { from, to, step, coarse_step, coarse_above } => {
                let step = if forward > *coarse_above { *coarse_step } else { *step };
                (*from..=*to).step_by(step.max(1)).collect()
            }
            Self::Listed { widths } => widths.clone(),
            Self::Around { widths, centre, at, exponent, each_side } => {
                let middle = (centre * (forward / at).powf(*exponent)).ln();
                let far = |width: &usize| ((*width as f64).ln() - middle).abs();
                let nearest =
                    (0..widths.len()).min_by(|a, b| far(&widths[*a]).total_cmp(&far(&widths[*b])));
                let Some(nearest) = nearest else { return Vec::new() };
                let (first, last) = (nearest.saturating_sub(*each_side), nearest + each_side);
                widths[first..=last.min(widths.len() - 1)].to_vec()
            }
        }
    }
}

/// `layers = max(1, round(width / (offset + slope log2 width)))`, halves to even.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Depth {
    /// Width per block at width 1.
    pub offset: f64,
    /// How much wider per block models become when the width doubles.
    pub slope: f64,
}

/// `hidden = ratio width`, rounded up to a multiple.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hidden {
    /// Inner channels of the MLP by width.
    pub ratio: f64,
    /// Divides the inner channels.
    pub multiple: usize,
}

/// The smallest power of two with which a run takes at most `steps` steps; 1 where even that would
/// be below one sequence. Halved while the learning rate is above its cap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BatchRule {
    /// Steps aimed at from below; a run takes more than half as many, unless the learning rate's
    /// cap halves its batch.
    pub steps: f64,
    /// Runs with fewer sequences a step are dropped.
    pub least: usize,
}

/// `coefficient batch^batch_exponent width^-width_exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LearningRateRule {
    /// The learning rate at one sequence a step and width 1.
    pub coefficient: f64,
    /// How it grows with the sequences of a step.
    pub batch_exponent: f64,
    /// How it falls with the width.
    pub width_exponent: f64,
    /// Largest learning rate: the batch is halved until it is kept.
    pub most: f64,
}

impl LearningRateRule {
    /// The learning rate at a batch of sequences and a width.
    pub fn at(&self, batch: usize, width: usize) -> f64 {
        let power = |base: f64, exponent: f64| {
            // The two exponents in use are computed exactly, so that published learning rates come
            // out to the last digit.
            if exponent == 0.5 {
                base.sqrt()
            } else if exponent == 1.0 {
                base
            } else {
                base.powf(exponent)
            }
        };
        self.coefficient * power(batch as f64, self.batch_exponent)
            / power(width as f64, self.width_exponent)
    }
}

/// `base^(batch / per_batch)`, or `base` where nothing is said of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Beta2Rule {
    /// Decay of the second moment at a batch of `per_batch` sequences.
    pub base: f64,
    /// Sequences of a step at which it is `base`.
    pub per_batch: Option<f64>,
}

impl Beta2Rule {
    /// The decay at a batch of sequences.
    pub fn at(&self, batch: usize) -> f64 {
        self.per_batch.map_or(self.base, |per| self.base.powf(batch as f64 / per))
    }
}

/// Optimisers that recipes ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimiserKind {
    /// AdamW (Loshchilov and Hutter 2019).
    #[serde(rename = "adamw")]
    AdamW,
    /// Adam whose updates are masked where they oppose the gradient (Liang et al. 2024), with the
    /// decay multiplied by the learning rate over its peak (Defazio 2025).
    #[serde(rename = "cautious-adamc")]
    CautiousAdamC,
}

impl SweepRecipe {
    /// The model of a width; `Err` with the reason why there is none.
    pub(crate) fn architecture(&self, width: usize) -> Result<Architecture, String> {
        if width == 0 {
            return Err("a width of 0 is no model".to_owned());
        }
        let wide = width as f64;
        let layers =
            (wide / (self.depth.offset + self.depth.slope * wide.log2())).round_ties_even();
        let heads = (width / self.head_width).max(1);
        if !width.is_multiple_of(heads) || !(width / heads).is_multiple_of(2) {
            return Err(format!(
                "{width} channels do not make {heads} heads of an even width; take a multiple of {}",
                self.head_width
            ));
        }
        let multiple = self.hidden.multiple.max(1);
        Ok(Architecture {
            vocabulary: self.vocabulary,
            sequence: self.sequence,
            width,
            layers: layers.max(1.0) as usize,
            heads,
            kv_heads: heads,
            head_width: width / heads,
            hidden: ((self.hidden.ratio * wide).round() as usize).next_multiple_of(multiple),
            tied: self.tied,
            qk_norm: self.qk_norm,
            window: self.window,
            rope_base: self.rope_base,
            rope_scaling: self.rope_scaling,
            norm_epsilon: self.norm_epsilon,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_widths_follows_the_budget_and_ends_with_the_list() {
        let around = Widths::Around {
            widths: vec![16, 24, 32, 48, 64, 96],
            centre: 32.0,
            at: 1e12,
            exponent: 0.25,
            each_side: 1,
        };
        assert_eq!(around.of(1e12), [24, 32, 48]);
        // 16 times the budget doubles the middle.
        assert_eq!(around.of(1.6e13), [48, 64, 96]);
        assert_eq!(around.of(1.0), [16, 24]);
    }

    #[test]
    fn a_range_is_coarse_above_its_threshold() {
        let range =
            Widths::Range { from: 512, to: 1024, step: 128, coarse_step: 256, coarse_above: 9e18 };
        assert_eq!(range.of(9e18), [512, 640, 768, 896, 1024]);
        assert_eq!(range.of(1e19), [512, 768, 1024]);
    }
}
