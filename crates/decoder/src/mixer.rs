//! What mixes the tokens of a block, as data: attention, whose settings stand in
//! [`Spec`](crate::spec::Spec) itself, or a recurrence, whose settings stand here.
//!
//! A recurrence has a state of fixed size that it carries from token to token, so that sequences of
//! any length can be read. Letters beyond those of [`crate::spec`]:
//!
//! | letter | meaning |
//! |---|---|
//! | `I` | inner channels: [`StateSpace::inner`], [`TimeMix::inner`] |
//! | `S` | numbers of state that a channel has: [`StateSpace::state`] |
//! | `K` | tokens that the convolution sees: [`StateSpace::taps`] |
//! | `R` | rank of the map that gives the time steps |

use crate::error::{Error, Result};

/// What mixes the tokens of a block; the same in all blocks of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Mixer {
    /// Attention, with an MLP beside or behind it.
    #[default]
    Attention,
    /// A selective state space, alone in its block (Mamba, Falcon Mamba, Mamba 2).
    StateSpace(StateSpace),
    /// Time mixing, with channel mixing behind it (RWKV-4).
    TimeMix(TimeMix),
}

/// A selective state space (Gu & Dao 2023; Dao & Gu 2024) behind a causal convolution of each
/// channel: `h = e^(step rate) h + step B x`, `y = C h + skip x`, times the SiLU of a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct StateSpace {
    /// `I`.
    pub inner: usize,
    /// `S`.
    pub state: usize,
    /// `K`: tokens that the convolution sees, the present one included.
    pub taps: usize,
    /// Where time steps, `B` and `C` come from.
    pub selection: Selection,
    /// Whether the first and the last map carry a bias.
    pub biases: bool,
    /// Whether the convolution does.
    pub convolution_bias: bool,
}

/// Where time steps, `B` and `C` of a state space come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Selection {
    /// From the convolution's output, by a map to `R + 2 S` numbers; each channel has its time
    /// step, by a second map from `R`, and `S` rates (Mamba).
    Channels {
        /// `R`.
        rank: usize,
        /// Epsilon of the RMSNorm without gain of the first map's three parts (Falcon Mamba).
        norm_epsilon: Option<f32>,
    },
    /// From the first map itself: `B` and `C` pass the convolution beside the channels; all
    /// channels of a head share time step, rate and skip. The gated output is normed, with a gain
    /// of `I` numbers (Mamba 2).
    Heads {
        /// Heads, of as many channels each.
        heads: usize,
        /// Groups of heads, each with a `B` and a `C` of its own.
        groups: usize,
        /// Bounds of the time steps after softplus.
        limits: [f32; 2],
    },
}

/// Time mixing (RWKV-4, Peng et al. 2023): of each channel the values so far, weighted by `e^k` and
/// less by its decay with every token, times the sigmoid of a receptance. Channel mixing, of
/// [`Spec::hidden`](crate::spec::Spec::hidden) inner channels, follows with a norm of its own. Both
/// read each token blended with the one before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeMix {
    /// `I`: channels of keys, values and receptances.
    pub inner: usize,
    /// Blocks after which transformers halves the stream, and all that is added to it from there
    /// on, in evaluation; `None`: never. Norms do not see it but by their epsilon:
    /// [`Spec::epsilon`](crate::spec::Spec::epsilon).
    pub rescale_every: Option<usize>,
    /// Epsilon of the norm before the head, which has its own.
    pub final_epsilon: f32,
}

impl TimeMix {
    /// Refuses settings that no model has.
    ///
    /// # Errors
    /// [`Error::Spec`] naming them.
    pub fn check(&self) -> Result<()> {
        if !(1..=MOST).contains(&self.inner) {
            let inner = self.inner;
            return Err(Error::Spec(format!(
                "channels of time mixing are {inner}, not from 1 to {MOST}"
            )));
        }
        if self.rescale_every == Some(0) {
            return Err(Error::Spec("a stream halved every 0 blocks is none".to_owned()));
        }
        Ok(())
    }
}

impl StateSpace {
    /// Channels that pass the convolution.
    pub fn convolved(&self) -> usize {
        match self.selection {
            Selection::Channels { .. } => self.inner,
            Selection::Heads { groups, .. } => self.inner + 2 * groups * self.state,
        }
    }

    /// How many `B` a token has, and how many `C`.
    pub fn groups(&self) -> usize {
        match self.selection {
            Selection::Channels { .. } => 1,
            Selection::Heads { groups, .. } => groups,
        }
    }

    /// Outputs of the first map, by kind, in the order in which they lie: what is convolved and its
    /// gate, or gate, what is convolved, time steps.
    pub fn input_widths(&self) -> Vec<usize> {
        match self.selection {
            Selection::Channels { .. } => vec![self.inner, self.inner],
            Selection::Heads { heads, .. } => vec![self.inner, self.convolved(), heads],
        }
    }

    /// Refuses settings that contradict each other.
    ///
    /// # Errors
    /// [`Error::Spec`] naming them.
    pub fn check(&self) -> Result<()> {
        let refuse = |reason: String| Err(Error::Spec(reason));
        let mut sizes = vec![
            ("inner", self.inner),
            ("state", self.state),
            ("taps of the convolution", self.taps),
        ];
        match self.selection {
            Selection::Channels { rank, .. } => sizes.push(("time_step_rank", rank)),
            Selection::Heads { heads, groups, .. } => sizes.extend([
                ("heads", heads),
                ("groups", groups),
                ("numbers of B", groups.saturating_mul(self.state)),
            ]),
        }
        if let Some((name, size)) = sizes.iter().find(|(_, size)| !(1..=MOST).contains(size)) {
            return refuse(format!("{name} of a state space is {size}, not from 1 to {MOST}"));
        }
        if let Selection::Heads { heads, groups, limits: [low, high] } = self.selection {
            if !self.inner.is_multiple_of(heads) || !heads.is_multiple_of(groups) {
                return refuse(format!(
                    "{} channels, {heads} heads and {groups} groups of a state space do not divide evenly",
                    self.inner
                ));
            }
            if !(0.0 <= low && low <= high) {
                return refuse(format!("time steps from {low} to {high} are no range"));
            }
        }
        Ok(())
    }
}

/// Larger counts are in no model, and small enough that no product of ours overflows.
const MOST: usize = 1 << 24;
