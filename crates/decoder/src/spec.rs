//! One decoder-only transformer, as data.
//!
//! A family (GPT-2, OPT, GPT-NeoX, Llama, Gemma and others) is a point in the space that [`Spec`]
//! spans; the mapping of its `config.json` onto a spec is the whole of what is peculiar to it. The
//! forward pass, the weights, their count and the trainer read only the spec. Everything but sizes
//! has a default, so that a family says what is its own:
//! `Spec { norm: NormKind::Layer, ..Spec::default() }`.
//!
//! Models without attention (Mamba and its kin, RWKV) say so in [`Spec::mixer`]; they have no
//! heads, and but for RWKV no MLP, whose sizes are 0 then.
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
pub use crate::mixer::{Mixer, Selection, StateSpace, TimeMix};

/// More heads of a block with a tensor each are in no model, and a walk over them takes time.
const MOST_NORMED_HEADS: usize = 1 << 12;

/// A decoder-only transformer. Every field says which family needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Name of the family this came from, e.g. `gpt2`. For people; the forward pass does not look
    /// at it.
    pub family: String,
    /// `V`: rows of the token embedding and of the head, padding rows included.
    pub vocabulary: usize,
    /// `C`: channels of the residual stream.
    pub width: usize,
    /// What mixes the tokens of a block.
    pub mixer: Mixer,
    /// `H`: query heads.
    pub heads: usize,
    /// `G`: key/value heads; equal to `heads` without grouped-query attention (Qwen2 and Llama 3
    /// have fewer).
    pub kv_heads: usize,
    /// `D`: channels of one head. `width / heads` in every family but Llama-like ones that say
    /// `head_dim`.
    pub head_width: usize,
    /// `F`: inner channels of the MLP.
    pub hidden: usize,
    /// Longest sequence the model was made for, in tokens. Where tokens are mixed by a recurrence
    /// it is the length in training, and longer ones can be read ([`Spec::longest`]).
    pub context: usize,
    /// The blocks, first to last, by what may differ between them.
    pub layers: Vec<Layer>,
    /// What is known of positions beside the rotation that a [`Layer`] may have.
    pub positions: Positions,
    /// `E` where it is not `C`: OPT-350m projects 512 to 1024 and back (`project_in`,
    /// `project_out`).
    pub projected: Option<usize>,
    /// Factor of the token embedding: the root of `C` in Gemma, a number of its own in Granite, 1
    /// elsewhere.
    pub embedding_scale: f32,
    /// Whether a norm stands behind the embedding (BLOOM, RWKV).
    pub embedding_norm: bool,
    /// Kind of norm: LayerNorm (GPT-2, OPT, GPT-NeoX) or RMSNorm (Qwen2, Llama).
    pub norm: NormKind,
    /// Added to the variance (or mean square) before the root; see [`Spec::epsilon`].
    pub norm_epsilon: f32,
    /// Where a block's norms stand.
    pub norm_placement: NormPlacement,
    /// What norms carry.
    pub norm_gain: Gain,
    /// Norm of queries and keys before they are rotated (Qwen3, OLMo 2 and 3, Gemma 3, StableLM).
    pub query_key_norm: Option<NormSpan>,
    /// Whether a norm stands before the head; OPT-350m has none.
    pub final_norm: bool,
    /// How attention and MLP join.
    pub residual: Residual,
    /// Factor of what a part adds to the residual stream: Granite, 1 elsewhere.
    pub residual_scale: f32,
    /// What stands between the two products of the MLP.
    pub activation: Activation,
    /// Whether the activation is that of a gate, which multiplies a second projection (Llama and
    /// its kin, StableLM).
    pub gated: bool,
    /// Which linear maps carry a bias.
    pub biases: Biases,
    /// Whether the head carries one, be it tied or not (Phi).
    pub head_bias: bool,
    /// Bound of the size of each number of queries, keys and values, before they are normed and
    /// rotated (OLMo 1.7).
    pub clip: Option<f32>,
    /// `s` of a score `x`, which becomes `s tanh(x / s)` before the softmax (Gemma 2: 50).
    pub attention_cap: Option<f32>,
    /// Factor of the logits: Granite, 1 elsewhere. Moves no rank, but nll and entropy.
    pub logit_scale: f32,
    /// As of scores, of a logit behind its factor (Gemma 2: 30). Moves no rank either.
    pub logit_cap: Option<f32>,
    /// Whether the head is the token embedding.
    pub tied: bool,
}

/// What may differ from block to block.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layer {
    /// Tokens that a query sees at most, itself included; `None`: all before it. Mistral 0.1 has a
    /// window in all blocks, Qwen2 can have one in its later ones, Gemma 2 in every other.
    pub window: Option<usize>,
    /// Rotation of queries and keys; `None` where positions enter otherwise, or not at all. Gemma 3
    /// has two bases, OLMo 3 scales those of full attention.
    pub rotary: Option<Rotary>,
    /// Factor of the attention scores; `None`: one over the root of `D`. GPT-2 may divide by the
    /// number of the layer besides, GPT-Neo has 1, Gemma 2 and Granite a number of their own.
    pub scale: Option<f64>,
}

impl Default for Spec {
    /// No sizes yet; norms before each part and the head, RMS with a gain; plain residuals; a gated
    /// MLP without biases; nothing capped or scaled; a head of its own.
    fn default() -> Self {
        Self {
            family: String::new(),
            vocabulary: 0,
            width: 0,
            mixer: Mixer::Attention,
            heads: 0,
            kv_heads: 0,
            head_width: 0,
            hidden: 0,
            context: 0,
            layers: Vec::new(),
            positions: Positions::Unadded,
            projected: None,
            embedding_scale: 1.0,
            embedding_norm: false,
            norm: NormKind::Rms,
            norm_epsilon: 1e-5,
            norm_placement: NormPlacement::Before,
            norm_gain: Gain::Plain,
            query_key_norm: None,
            final_norm: true,
            residual: Residual::Sequential,
            residual_scale: 1.0,
            activation: Activation::Silu,
            gated: true,
            biases: Biases::NONE,
            head_bias: false,
            clip: None,
            attention_cap: None,
            logit_scale: 1.0,
            logit_cap: None,
            tied: false,
        }
    }
}

/// What is known of positions beside the rotation that a [`Layer`] may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Positions {
    /// Nothing.
    Unadded,
    /// A table added to the embedding: GPT-2 (offset 0) and OPT (offset 2).
    Learned {
        /// Row of the table that position 0 uses.
        offset: usize,
        /// Rows of the table, offset included.
        rows: usize,
    },
    /// Scores fall with the distance in tokens, in each head at its own slope (ALiBi, Press et al.
    /// 2022: BLOOM).
    Alibi,
    /// The same in numbers of bfloat16, and with the factor that the scores have: Falcon adds the
    /// slope times the key's position, all three rounded, before it scales. What a key loses then
    /// depends on where it stands.
    RoundedAlibi,
}

/// Rotary positions (RoPE): channel pair `(i, i + width/2)` of each head turns by
/// `position * base^(-2i/width)`.
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
    /// The angle of each channel pair divided by a number of its own: what a scaling comes to,
    /// where a file has it worked out (GGUF).
    Divided {
        /// The divisors, `width / 2` of them.
        divisors: Vec<f64>,
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
    /// YaRN (Peng et al. 2023: OLMo 3 on full attention, Qwen beyond 32k): channel pairs that turn
    /// often within the original context are kept, those that hardly turn are divided by `factor`,
    /// those between blended by their number.
    Yarn {
        /// The divisor of the slow pairs.
        factor: f64,
        /// Turns within the original context down to which a pair is kept.
        beta_fast: f64,
        /// Turns up to which it is divided.
        beta_slow: f64,
        /// Whether the blend begins and ends at whole pairs.
        truncate: bool,
        /// Context of the original training, tokens.
        original_context: usize,
        /// Factor of cosines and sines, so that scores grow by its square.
        attention_factor: f64,
    },
    /// LongRoPE (Ding et al. 2024: Phi-3): each channel pair has a divisor of its own, and another
    /// one in sequences longer than the original context.
    Long {
        /// Divisors in sequences up to the original context, one a pair.
        short: Vec<f64>,
        /// Divisors of all positions of longer sequences.
        long: Vec<f64>,
        /// Context of the original training, tokens.
        original_context: usize,
        /// As of YaRN, whatever the length.
        attention_factor: f64,
    },
}

impl Rotary {
    /// Factor of cosines and sines.
    pub fn attention_factor(&self) -> f64 {
        match self.scaling {
            Some(
                RotaryScaling::Yarn { attention_factor, .. }
                | RotaryScaling::Long { attention_factor, .. },
            ) => attention_factor,
            _ => 1.0,
        }
    }
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
    /// `x + f(norm(x))`: most.
    Before,
    /// `norm(x + f(x))`: OPT-350m.
    AfterResidual,
    /// `x + norm(f(x))`: OLMo 2.
    OnBranch,
    /// `x + norm(f(norm(x)))`: Gemma 2.
    Both,
}

impl NormPlacement {
    /// Whether a norm stands before each part, or behind its residual.
    pub fn on_stream(self) -> bool {
        self != Self::OnBranch
    }

    /// Whether a norm stands on what each part yields.
    pub fn on_branch(self) -> bool {
        matches!(self, Self::OnBranch | Self::Both)
    }
}

/// What norms carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gain {
    /// Nothing (OLMo 1, and OPT where it says so).
    None,
    /// A gain, and LayerNorm a bias: most.
    Plain,
    /// A gain alone, LayerNorm as well (OLMo's first files).
    NoBias,
    /// As a plain one, stored as its difference from 1 (Gemma).
    OnePlus,
}

/// Over which channels a norm of queries and keys is taken, and what it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormSpan {
    /// Those of each head; all heads share a gain of `D` numbers (Qwen3, Gemma 3, Phi).
    Head,
    /// Those of each head, each with a gain of its own, without bias (StableLM 2 12B).
    EachHead,
    /// Those of all heads together, with a gain of `H D` or `G D` numbers (OLMo 2).
    Width,
}

/// How attention and MLP join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residual {
    /// `x + a(x)`, then `+ m` of that: most.
    Sequential,
    /// `x + a(norm1(x)) + m(norm2(x))`: GPT-NeoX, Falcon 40B.
    Parallel,
    /// `x + a(norm(x)) + m(norm(x))`: Falcon, Phi.
    ParallelOneNorm,
}

/// Activations of the MLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `x Phi(x)` with the error function (GPT-NeoX).
    Gelu,
    /// `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x³)))` (GPT-2; gated: Gemma).
    GeluTanh,
    /// `max(x, 0)` (OPT).
    Relu,
    /// `x sigmoid(x)` (gated, as SwiGLU: Qwen2, Llama).
    Silu,
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

impl Biases {
    /// On none of them.
    pub const NONE: Self = Self { query_key_value: false, attention_output: false, mlp: false };
    /// On all of them.
    pub const ALL: Self = Self { query_key_value: true, attention_output: true, mlp: true };
}

impl Spec {
    /// Factor of the attention scores in block `layer` (from 0).
    ///
    /// # Panics
    /// When there is no such block.
    pub fn scale(&self, layer: usize) -> f64 {
        self.layers[layer].scale.unwrap_or_else(|| 1.0 / (self.head_width as f64).sqrt())
    }

    /// Whether a sequence's length changes what is made of its first tokens, as by LongRoPE.
    pub fn by_length(&self) -> bool {
        let mut rotations = self.layers.iter().filter_map(|layer| layer.rotary.as_ref());
        rotations.any(|rotary| matches!(rotary.scaling, Some(RotaryScaling::Long { .. })))
    }

    /// Columns of the query, key and value products: `H D`, `G D`, `G D`.
    pub fn qkv_widths(&self) -> [usize; 3] {
        [self.heads, self.kv_heads, self.kv_heads].map(|heads| heads * self.head_width)
    }

    /// Columns of the joint query/key/value product: `(H + 2 G) D`.
    pub fn qkv_width(&self) -> usize {
        (self.heads + 2 * self.kv_heads) * self.head_width
    }

    /// Channels that attention hands to its output projection: `H D`.
    pub fn attention_width(&self) -> usize {
        self.heads * self.head_width
    }

    /// The most tokens of a sequence that can be read; `None`: any number.
    pub fn longest(&self) -> Option<usize> {
        (self.mixer == Mixer::Attention).then_some(self.context)
    }

    /// What norms in block `layer` (from 0), or behind the last one, add to the variance of the
    /// stream. A stream halved `n` times, of which they see the variance divided by `4^n`, is the
    /// stream itself with an epsilon of `4^n` times as much.
    pub fn epsilon(&self, layer: usize) -> f32 {
        match self.mixer {
            Mixer::TimeMix(TimeMix { rescale_every, final_epsilon, .. }) => {
                let last = layer == self.layers.len();
                let epsilon = if last { final_epsilon } else { self.norm_epsilon };
                let halved = rescale_every.map_or(0, |every| layer / every).min(1 << 12);
                (f64::from(epsilon) * 4_f64.powi(halved as i32)) as f32
            }
            _ => self.norm_epsilon,
        }
    }

    /// `E`: channels of the embedding and the head.
    pub fn embedding_width(&self) -> usize {
        self.projected.unwrap_or(self.width)
    }

    /// What each head's scores lose for a token of distance, where positions are
    /// [`Positions::Alibi`]: `2^(-8 i / P)` for head `i` of the first `P`, the largest power of two
    /// that is no more than `H`; the rest take every other slope of `2 P` heads. Where they are
    /// [`Positions::RoundedAlibi`], the nearest numbers of bfloat16.
    pub fn alibi_slopes(&self) -> Option<Vec<f64>> {
        let rounded: fn(f64) -> f64 = match self.positions {
            Positions::Alibi => |slope| slope,
            Positions::RoundedAlibi => |slope| half::bf16::from_f64(slope).to_f64(),
            Positions::Unadded | Positions::Learned { .. } => return None,
        };
        let power = self.heads.checked_ilog2().map_or(1, |log| 1_usize << log);
        let slope = |i: usize, of: usize| rounded((-8.0 * i as f64 / of as f64).exp2());
        let first = (1..=power.min(self.heads)).map(|i| slope(i, power));
        Some(first.chain((0..self.heads - power).map(|i| slope(2 * i + 1, 2 * power))).collect())
    }

    /// Refuses a spec that contradicts itself.
    ///
    /// # Errors
    /// [`Error::Spec`] naming the fields at odds.
    pub fn check(&self) -> Result<()> {
        let refuse = |reason: String| Err(Error::Spec(reason));
        let sizes = [
            ("vocabulary", self.vocabulary),
            ("width", self.width),
            ("layers", self.layers.len()),
            ("context", self.context),
            ("embedding_width", self.embedding_width()),
        ];
        let of_attention = [
            ("heads", self.heads),
            ("kv_heads", self.kv_heads),
            ("head_width", self.head_width),
            ("hidden", self.hidden),
        ];
        let own = match self.mixer {
            Mixer::Attention => &of_attention[..],
            Mixer::StateSpace(_) => &[],
            Mixer::TimeMix(_) => &of_attention[3..],
        };
        let mut sizes = sizes.iter().chain(own);
        if let Some((name, _)) = sizes.find(|(_, size)| *size == 0) {
            return refuse(format!("{name} is 0"));
        }
        match &self.mixer {
            Mixer::Attention => {}
            Mixer::StateSpace(mixer) => mixer.check()?,
            Mixer::TimeMix(mixer) => mixer.check()?,
        }
        if self.mixer != Mixer::Attention {
            if self.norm_placement != NormPlacement::Before {
                return refuse("recurrences are known with their norm before them only".to_owned());
            }
            return Ok(());
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            return refuse(format!(
                "{} query heads cannot share {} key/value heads evenly",
                self.heads, self.kv_heads
            ));
        }
        if self.residual != Residual::Sequential && self.norm_placement != NormPlacement::Before {
            return refuse("parallel blocks with norms after their parts are not known".to_owned());
        }
        if self.query_key_norm == Some(NormSpan::Width) && self.norm != NormKind::Rms {
            return refuse(
                "a LayerNorm of queries and keys over all heads is not known".to_owned(),
            );
        }
        if self.query_key_norm == Some(NormSpan::EachHead) && self.heads > MOST_NORMED_HEADS {
            return refuse(format!(
                "{} heads with a norm each are more than any model has",
                self.heads
            ));
        }
        if self.head_bias && self.logit_scale != 1.0 {
            return refuse("a bias of the head beside scaled logits is not known".to_owned());
        }
        let numbers = [self.embedding_scale, self.residual_scale, self.logit_scale];
        let caps = [self.clip, self.attention_cap, self.logit_cap].into_iter().flatten();
        let scales = (0..self.layers.len()).map(|layer| self.scale(layer) as f32).chain(caps);
        if let Some(number) =
            numbers.into_iter().chain(scales).find(|n| !(*n > 0.0 && n.is_finite()))
        {
            return refuse(format!("a cap or a scale of {number} is not positive"));
        }
        if let Positions::Learned { offset, rows } = self.positions
            && rows < offset + self.context
        {
            return refuse(format!(
                "a position table of {rows} rows with offset {offset} is too short for a context of {}",
                self.context
            ));
        }
        for (number, layer) in self.layers.iter().enumerate() {
            if layer.window == Some(0) {
                return refuse(format!(
                    "attention windows are of at least 1 token; block {number} has one of 0"
                ));
            }
            let Some(rotary) = &layer.rotary else { continue };
            if !rotary.width.is_multiple_of(2) || rotary.width > self.head_width {
                return refuse(format!(
                    "{} rotated channels do not fit heads of {}",
                    rotary.width, self.head_width
                ));
            }
            if let Some(RotaryScaling::Long { short, long, .. }) = &rotary.scaling
                && [short, long].iter().any(|divisors| divisors.len() != rotary.width / 2)
            {
                return refuse(format!(
                    "{} short and {} long factors of rotary frequencies are not one for each of {} channel pairs",
                    short.len(),
                    long.len(),
                    rotary.width / 2
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_of_any_number_of_heads() {
        // `build_alibi_tensor` of transformers 4.57 for 2 and for 5 heads.
        let slopes =
            |heads| Spec { heads, positions: Positions::Alibi, ..Spec::default() }.alibi_slopes();
        assert_eq!(slopes(2).unwrap(), [0.0625, 0.00390625]);
        assert_eq!(slopes(5).unwrap(), [0.25, 0.0625, 0.015625, 0.00390625, 0.5]);
        let rounded = Spec { heads: 3, positions: Positions::RoundedAlibi, ..Spec::default() };
        assert_eq!(rounded.alibi_slopes().unwrap(), [0.0625, 0.00390625, 0.25]);
        let rounded = Spec { heads: 16, ..rounded }.alibi_slopes().unwrap();
        assert_eq!(rounded[..3], [0.70703125, 0.5, 0.353515625]);
        assert_eq!(Spec::default().alibi_slopes(), None);
    }
}
