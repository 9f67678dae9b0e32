//! One decoder-only transformer, as data.
//!
//! A family (GPT-2, OPT, GPT-NeoX, Qwen2, Llama) is a point in the space that [`Spec`] spans; the mapping of its
//! `config.json` onto a spec is the whole of what is peculiar to it. The forward pass reads only the spec.
//!
//! Letters, fixed once for all of this crate:
//!
//! | letter | meaning |
//! |---|---|
//! | `N` | rows: token positions of all sequences of a batch, one after another, no padding |
//! | `T` | tokens of one sequence |
//! | `C` | channels: [`Spec::width`] |
//! | `H`, `G` | query heads, key/value heads ([`Spec::heads`], [`Spec::kv_heads`]) |
//! | `D` | channels of one head: [`Spec::head_width`] |
//! | `F` | inner channels of the MLP: [`Spec::hidden`] |
//! | `E` | channels of the embedding and the head: [`Spec::embedding_width`] |
//! | `V` | rows of the head: [`Spec::vocabulary`] |

use crate::error::{Error, Result};

/// A decoder-only transformer. Every field says which family needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Name of the family this came from, e.g. `gpt2`. For people; the forward pass does not look at it.
    pub family: String,
    /// `V`: rows of the token embedding and of the head, padding rows included.
    pub vocabulary: usize,
    /// `C`: channels of the residual stream.
    pub width: usize,
    /// Number of blocks.
    pub layers: usize,
    /// `H`: query heads.
    pub heads: usize,
    /// `G`: key/value heads; equal to `heads` without grouped-query attention (Qwen2 and Llama 3 have fewer).
    pub kv_heads: usize,
    /// `D`: channels of one head. `width / heads` in every family but Llama-like ones that say `head_dim`.
    pub head_width: usize,
    /// `F`: inner channels of the MLP.
    pub hidden: usize,
    /// Longest sequence the model was made for, in tokens.
    pub context: usize,
    /// How positions enter.
    pub positions: Positions,
    /// Kind of norm: LayerNorm (GPT-2, OPT, GPT-NeoX) or RMSNorm (Qwen2, Llama).
    pub norm: NormKind,
    /// Added to the variance (or mean square) before the root.
    pub norm_epsilon: f32,
    /// Pre-norm (all) or post-norm (OPT-350m).
    pub norm_placement: NormPlacement,
    /// Whether norms carry a gain (and, for LayerNorm, a bias); OPT can switch both off.
    pub norm_affine: bool,
    /// Whether a norm stands before the head; OPT-350m has none.
    pub final_norm: bool,
    /// Attention and MLP one after the other (most) or side by side on the same input (GPT-NeoX).
    pub residual: Residual,
    /// What stands between the two products of the MLP.
    pub activation: Activation,
    /// Which linear maps carry a bias.
    pub biases: Biases,
    /// What attention scores are multiplied with before the softmax.
    pub attention_scale: AttentionScale,
    /// Tokens that a query sees at most, itself included, block by block; `None`: all before it. Empty: all, in every block.
    /// Mistral 0.1 has one in all blocks, Qwen2 can have one in its later ones.
    pub windows: Vec<Option<usize>>,
    /// `E`: equal to `width`, except in OPT-350m, which projects 512 to 1024 and back (`project_in`, `project_out`).
    pub embedding_width: usize,
    /// Whether the head is the token embedding.
    pub tied: bool,
}

/// How positions enter.
#[derive(Debug, Clone, PartialEq)]
pub enum Positions {
    /// A table added to the embedding: GPT-2 (offset 0) and OPT (offset 2).
    Learned {
        /// Row of the table that position 0 uses.
        offset: usize,
        /// Rows of the table, offset included.
        rows: usize,
    },
    /// Rotation of queries and keys in the half-split layout: GPT-NeoX, Qwen2, Llama.
    Rotary(Rotary),
}

/// Rotary positions (RoPE): channel pair `(i, i + width/2)` of each head turns by `position * base^(-2i/width)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Rotary {
    /// Rotated channels of each head, even; `D`, or a fraction of it in GPT-NeoX (`rotary_pct`).
    pub width: usize,
    /// `rope_theta`.
    pub base: f64,
    /// Change of the frequencies for longer contexts.
    pub scaling: Option<RotaryScaling>,
}

/// Changes of rotary frequencies.
#[derive(Debug, Clone, PartialEq)]
pub enum RotaryScaling {
    /// All angles divided by `factor`.
    Linear {
        /// The divisor.
        factor: f64,
    },
    /// Llama 3.1: low frequencies are divided by `factor`, high ones kept, those between blended.
    Llama3 {
        /// The divisor of the low frequencies.
        factor: f64,
        /// `original / low_frequency_factor` is the wavelength above which a frequency is low.
        low_frequency_factor: f64,
        /// `original / high_frequency_factor` is the wavelength below which a frequency is high.
        high_frequency_factor: f64,
        /// Context of the original training, tokens.
        original_context: usize,
    },
}

/// Kinds of norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormKind {
    /// `(x - mean) / sqrt(variance + epsilon) * gain + bias`.
    Layer,
    /// `x / sqrt(mean(x²) + epsilon) * gain`.
    Rms,
}

/// Where a block's norms stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormPlacement {
    /// `x + f(norm(x))`.
    Pre,
    /// `norm(x + f(x))`.
    Post,
}

/// How attention and MLP join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residual {
    /// `x + a(x)`, then `+ m` of that.
    Sequential,
    /// `x + a(norm1(x)) + m(norm2(x))`.
    Parallel,
}

/// Activations of the MLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `x Phi(x)` with the error function (GPT-NeoX).
    Gelu,
    /// `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x³)))` (GPT-2).
    GeluTanh,
    /// `max(x, 0)` (OPT).
    Relu,
    /// `x sigmoid(x)` of the gate, times the up projection (Qwen2, Llama).
    SwiGlu,
}

impl Activation {
    /// Whether the MLP has a gate beside its up projection.
    pub fn gated(self) -> bool {
        matches!(self, Activation::SwiGlu)
    }
}

/// Which linear maps carry a bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Biases {
    /// Query, key and value projections (Qwen2 has these and no others).
    pub query_key_value: bool,
    /// The projection after attention.
    pub attention_output: bool,
    /// Both (or, gated, all three) projections of the MLP.
    pub mlp: bool,
}

/// Factor of the attention scores: `1`, over `sqrt(D)`, over `layer + 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttentionScale {
    /// Divide by `sqrt(D)`: all, unless GPT-2 says `scale_attn_weights: false`.
    pub by_head_width: bool,
    /// Divide by the number of the layer, from 1: GPT-2's `scale_attn_by_inverse_layer_idx`.
    pub by_layer: bool,
}

impl AttentionScale {
    /// The factor in block `layer` (from 0).
    pub fn factor(self, head_width: usize, layer: usize) -> f32 {
        let mut factor = 1.0;
        if self.by_head_width {
            factor /= (head_width as f64).sqrt();
        }
        if self.by_layer {
            factor /= (layer + 1) as f64;
        }
        factor as f32
    }
}

impl Spec {
    /// Tokens that a query of block `layer` (from 0) sees at most, itself included; `None`: all before it.
    pub fn window(&self, layer: usize) -> Option<usize> {
        self.windows.get(layer).copied().flatten()
    }

    /// Columns of the joint query/key/value product: `(H + 2 G) D`.
    pub fn qkv_width(&self) -> usize {
        (self.heads + 2 * self.kv_heads) * self.head_width
    }

    /// Channels that attention hands to its output projection: `H D`.
    pub fn attention_width(&self) -> usize {
        self.heads * self.head_width
    }

    /// Columns of the first product of the MLP: `F`, or `2 F` with a gate (gate first, then up).
    pub fn up_width(&self) -> usize {
        if self.activation.gated() { 2 * self.hidden } else { self.hidden }
    }

    /// Refuses a spec that contradicts itself.
    ///
    /// # Errors
    /// [`Error::Spec`] naming the fields at odds.
    pub fn check(&self) -> Result<()> {
        let sizes = [
            ("vocabulary", self.vocabulary),
            ("width", self.width),
            ("layers", self.layers),
            ("heads", self.heads),
            ("kv_heads", self.kv_heads),
            ("head_width", self.head_width),
            ("hidden", self.hidden),
            ("context", self.context),
            ("embedding_width", self.embedding_width),
        ];
        if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(Error::Spec(format!("{name} is 0")));
        }
        if !(self.windows.is_empty() || self.windows.len() == self.layers) || self.windows.contains(&Some(0))
        {
            return Err(Error::Spec(format!(
                "attention windows {:?} do not give each of {} blocks one of at least 1 token",
                self.windows, self.layers
            )));
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            return Err(Error::Spec(format!(
                "{} query heads cannot share {} key/value heads evenly",
                self.heads, self.kv_heads
            )));
        }
        if self.residual == Residual::Parallel && self.norm_placement == NormPlacement::Post {
            return Err(Error::Spec("parallel blocks with norms after their parts are not known".to_owned()));
        }
        match &self.positions {
            Positions::Learned { offset, rows } if *rows < offset + self.context => {
                Err(Error::Spec(format!(
                    "a position table of {rows} rows with offset {offset} is too short for a context of {}",
                    self.context
                )))
            }
            Positions::Rotary(rotary)
                if !rotary.width.is_multiple_of(2) || rotary.width > self.head_width =>
            {
                Err(Error::Spec(format!(
                    "{} rotated channels do not fit heads of {}",
                    rotary.width, self.head_width
                )))
            }
            _ => Ok(()),
        }
    }
}
