//! Families by name. A recipe is plain data: sizes, vocabulary, amount of text, settings of the
//! optimiser.

mod small;

use crate::error::{Error, Result};
use crate::plan::Architecture;
use crate::plan::recipe::OptimiserKind;
use crate::plan::run::Optimiser;
use relscale_decoder::spec::Spec;
use serde::Serialize;

/// A family to train: every size sees the same tokens in the same order.
#[derive(Debug, Clone, Serialize)]
pub struct Recipe {
    /// Its name.
    pub name: &'static str,
    /// Entries of the byte-pair vocabulary, the separator included.
    pub vocabulary: usize,
    /// Tokens of one training sequence, and the context of the models.
    pub context: usize,
    /// Tokens that attention looks back at most, the query's own included; `None`: the whole
    /// context.
    pub window: Option<usize>,
    /// Sequences of one step.
    pub batch: usize,
    /// Steps; `steps * batch * context` tokens are seen.
    pub steps: u32,
    /// Share of the steps over which the learning rate rises from 0.
    pub warm_up: f64,
    /// Share of the steps over which it falls to 0 at the end; between, it is constant.
    pub decay: f64,
    /// Learning rate at width [`Recipe::LEARNING_RATE_WIDTH`]; at width `d` it is this times
    /// `(that / d)^exponent`.
    pub learning_rate: f64,
    /// Exponent of the width in the learning rate.
    pub learning_rate_exponent: f64,
    /// AdamW's decay of the first and second moments.
    pub betas: [f32; 2],
    /// AdamW's epsilon.
    pub epsilon: f32,
    /// Weight decay of the matrices (not of gains).
    pub weight_decay: f32,
    /// Largest norm of a step's gradient.
    pub clip: f64,
    /// Seed of the weights and of the order of the sequences.
    pub seed: u64,
    /// The sizes, smallest first.
    pub sizes: Vec<Size>,
}

/// One member of a family.
#[derive(Debug, Clone, Serialize)]
pub struct Size {
    /// Its name, by its non-embedding parameters.
    pub name: &'static str,
    /// Channels.
    pub width: usize,
    /// Blocks.
    pub layers: usize,
    /// Heads.
    pub heads: usize,
    /// Inner channels of the MLP.
    pub hidden: usize,
}

impl Recipe {
    /// Width at which [`Recipe::learning_rate`] is meant.
    pub const LEARNING_RATE_WIDTH: f64 = 128.0;

    /// Names of all recipes.
    pub const NAMES: [&'static str; 1] = ["small"];

    /// A recipe by its name.
    ///
    /// # Errors
    /// [`Error::UnknownRecipe`], with the names there are.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "small" => Ok(small::recipe()),
            _ => Err(Error::UnknownRecipe { name: name.to_owned(), known: Self::NAMES.join(", ") }),
        }
    }

    /// A size by its name.
    ///
    /// # Errors
    /// [`Error::UnknownSize`], with the names there are.
    pub fn size(&self, name: &str) -> Result<&Size> {
        self.sizes.iter().find(|size| size.name == name).ok_or_else(|| Error::UnknownSize {
            recipe: self.name.to_owned(),
            name: name.to_owned(),
            known: self.sizes.iter().map(|size| size.name).collect::<Vec<_>>().join(", "),
        })
    }

    /// Tokens that every size sees.
    pub fn tokens(&self) -> usize {
        self.steps as usize * self.batch * self.context
    }

    /// Peak learning rate of a size.
    pub fn peak_learning_rate(&self, size: &Size) -> f64 {
        self.learning_rate
            * (Self::LEARNING_RATE_WIDTH / size.width as f64).powf(self.learning_rate_exponent)
    }

    /// A size as a plan would have it: Llama's, tied.
    pub fn architecture(&self, size: &Size) -> Architecture {
        Architecture {
            vocabulary: self.vocabulary,
            sequence: self.context,
            width: size.width,
            layers: size.layers,
            heads: size.heads,
            kv_heads: size.heads,
            head_width: size.width / size.heads,
            hidden: size.hidden,
            tied: true,
            qk_norm: false,
            window: self.window,
            rope_base: 10_000.0,
            rope_scaling: None,
            norm_epsilon: 1e-5,
        }
    }

    /// The architecture of a size as the decoder describes it.
    pub fn spec(&self, size: &Size) -> Spec {
        self.architecture(size).spec()
    }

    /// How a size is optimised.
    pub fn optimiser(&self, size: &Size) -> Optimiser {
        Optimiser {
            kind: OptimiserKind::AdamW,
            learning_rate: self.peak_learning_rate(size),
            beta1: self.betas[0].into(),
            beta2: self.betas[1].into(),
            epsilon: self.epsilon.into(),
            weight_decay: self.weight_decay.into(),
            clip: self.clip,
            z_loss: 0.0,
            warm_up: self.warm_up,
            decay: self.decay,
        }
    }
}
