//! The numbers of a model.
//!
//! Matrices are row-major and stored as Hugging Face stores linear layers, `[out, in]`, so that a
//! row is one output. Query, key and value are one matrix (all queries, then keys, then values,
//! heads in order), and so are gate and up.
//!
//! What a matrix is kept as is a parameter: [`Matrix`], plain f32, for training and export;
//! [`Packed`] for scoring, laid out for its products as it is read, so that no second copy of a
//! matrix is ever in memory ([`Keep`]).

use crate::checkpoint::Rows;
use crate::error::Result;
use crate::kernels::{Format, Order, Packed};
pub use crate::matrix::Matrix;
use crate::spec::Spec;

/// `y = W x + b`, `W` `[out, in]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear<M = Matrix> {
    /// `W`.
    pub weight: M,
    /// `b`, `out` numbers; `None` where the architecture has none.
    pub bias: Option<Vec<f32>>,
}

/// Gain and bias of a norm; both `None` in OPT models without `layer_norm_elementwise_affine`.
#[derive(Debug, Clone, PartialEq)]
pub struct NormWeights {
    /// The gain, as it is multiplied with.
    pub gain: Option<Vec<f32>>,
    /// The bias; LayerNorm only.
    pub bias: Option<Vec<f32>>,
}

impl NormWeights {
    /// Those of one head, where each of `d` channels has its own.
    pub fn of_head(&self, head: usize, d: usize) -> Self {
        let own = |all: &Vec<f32>| all[head * d..(head + 1) * d].to_vec();
        Self { gain: self.gain.as_ref().map(own), bias: self.bias.as_ref().map(own) }
    }
}

/// One block. Which of its norms there are is said by the [`Spec`].
#[derive(Debug, Clone, PartialEq)]
pub struct Block<M = Matrix> {
    /// Norm of the stream for attention: before it, or behind its residual.
    pub attention_norm: Option<NormWeights>,
    /// `[(H + 2 G) D, C]`: queries, keys, values.
    pub qkv: Linear<M>,
    /// Norm of the queries, `D` or `H D` numbers, head by head.
    pub query_norm: Option<NormWeights>,
    /// Norm of the keys, `D` or `G D` numbers.
    pub key_norm: Option<NormWeights>,
    /// `[C, H D]`.
    pub attention_output: Linear<M>,
    /// Norm of what attention yields.
    pub attention_branch_norm: Option<NormWeights>,
    /// Norm of the stream for the MLP.
    pub mlp_norm: Option<NormWeights>,
    /// `[F, C]`, or `[2 F, C]` with a gate: gate rows, then up rows.
    pub up: Linear<M>,
    /// `[C, F]`.
    pub down: Linear<M>,
    /// Norm of what the MLP yields.
    pub mlp_branch_norm: Option<NormWeights>,
}

/// One block of a model whose tokens are mixed by a state space. Which of its parts there are is
/// said by [`StateSpace`](crate::spec::StateSpace).
#[derive(Debug, Clone, PartialEq)]
pub struct StateSpaceBlock<M = Matrix> {
    /// Norm of the stream before all.
    pub norm: Option<NormWeights>,
    /// The first map, from `C`: what is convolved and its gate, `I` each; or gate, what is
    /// convolved, a time step for each head.
    pub input: Linear<M>,
    /// `[convolved, K]`: of each channel, from the earliest token to the present one.
    pub taps: Vec<f32>,
    /// The convolution's bias.
    pub taps_bias: Option<Vec<f32>>,
    /// `[R + 2 S, I]`: time steps before their second map, `B`, `C`; `None` with heads.
    pub selection: Option<M>,
    /// `[I, R]`: time steps before bias and softplus; `None` with heads.
    pub step: Option<M>,
    /// The bias of the time steps, `I` numbers, or one a head.
    pub step_bias: Vec<f32>,
    /// `[I, S]`, or one a head: the logarithm of the rate at which the state decays.
    pub rate: Vec<f32>,
    /// `I` numbers, or one a head: how much of what was convolved passes beside the state.
    pub skip: Vec<f32>,
    /// Norm of the gated output, with heads.
    pub output_norm: Option<NormWeights>,
    /// `[C, I]`.
    pub output: Linear<M>,
}

/// One block of time and channel mixing (RWKV-4).
#[derive(Debug, Clone, PartialEq)]
pub struct TimeMixBlock<M = Matrix> {
    /// Norm of the stream for time mixing.
    pub norm: Option<NormWeights>,
    /// `I` numbers `w`: with every token the weights of those before fall by `e^(-e^w)`.
    pub decay: Vec<f32>,
    /// `I` numbers added to the present token's key.
    pub first: Vec<f32>,
    /// `C` numbers: how much of a key is the present token's; the rest is the one's before it.
    pub key_blend: Vec<f32>,
    /// Likewise of a value.
    pub value_blend: Vec<f32>,
    /// Likewise of a receptance.
    pub receptance_blend: Vec<f32>,
    /// `[I, C]`.
    pub key: M,
    /// `[I, C]`.
    pub value: M,
    /// `[I, C]`.
    pub receptance: M,
    /// `[C, I]`.
    pub output: M,
    /// Norm of the stream for channel mixing.
    pub channel_norm: Option<NormWeights>,
    /// As of keys, of what channel mixing reads.
    pub channel_blend: Vec<f32>,
    /// As of keys, of its gate.
    pub gate_blend: Vec<f32>,
    /// `[F, C]`, before the square of what is positive.
    pub up: M,
    /// `[C, C]`, before the sigmoid.
    pub gate: M,
    /// `[C, F]`.
    pub down: M,
}

/// All weights of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights<M = Matrix> {
    /// `[V, E]`.
    pub token_embedding: M,
    /// `[rows, C]` where positions are learned.
    pub position_embedding: Option<Matrix>,
    /// `[C, E]`, OPT-350m.
    pub project_in: Option<Linear<M>>,
    /// Norm behind the embedding.
    pub embedding_norm: Option<NormWeights>,
    /// The blocks, first to last, where tokens are mixed by attention.
    pub blocks: Vec<Block<M>>,
    /// The blocks, first to last, where tokens are mixed by a state space.
    pub state_spaces: Vec<StateSpaceBlock<M>>,
    /// The blocks, first to last, of time and channel mixing.
    pub time_mixes: Vec<TimeMixBlock<M>>,
    /// Norm before the head.
    pub final_norm: Option<NormWeights>,
    /// `[E, C]`, OPT-350m.
    pub project_out: Option<Linear<M>>,
    /// `[V, E]`; `None` when tied to the token embedding.
    pub head: Option<M>,
    /// `V` numbers added to the logits.
    pub head_bias: Option<Vec<f32>>,
}

/// The tensors of a model in order, shared or mutable: one list for both, and complete, since a new
/// field breaks its patterns.
macro_rules! walk {
    ($weights:expr, $slice:ident, $each:ident) => {{
        let Weights {
            token_embedding,
            position_embedding,
            project_in,
            embedding_norm,
            blocks,
            state_spaces,
            time_mixes,
            final_norm,
            project_out,
            head,
            head_bias,
        } = $weights;
        let mut all = vec![token_embedding.data.$slice()];
        macro_rules! linear {
            ($linear:expr) => {
                let Linear { weight, bias } = $linear;
                all.push(weight.data.$slice());
                all.extend(bias.$each().map(|bias| bias.$slice()));
            };
        }
        macro_rules! norm {
            ($norm:expr) => {
                for NormWeights { gain, bias } in $norm.$each() {
                    all.extend(gain.$each().chain(bias.$each()).map(|part| part.$slice()));
                }
            };
        }
        all.extend(position_embedding.$each().map(|table| table.data.$slice()));
        if let Some(project) = project_in {
            linear!(project);
        }
        norm!(embedding_norm);
        for block in blocks {
            let Block {
                attention_norm,
                qkv,
                query_norm,
                key_norm,
                attention_output,
                attention_branch_norm,
                mlp_norm,
                up,
                down,
                mlp_branch_norm,
            } = block;
            norm!(attention_norm);
            linear!(qkv);
            norm!(query_norm);
            norm!(key_norm);
            linear!(attention_output);
            norm!(attention_branch_norm);
            norm!(mlp_norm);
            linear!(up);
            linear!(down);
            norm!(mlp_branch_norm);
        }
        for block in state_spaces {
            let StateSpaceBlock {
                norm,
                input,
                taps,
                taps_bias,
                selection,
                step,
                step_bias,
                rate,
                skip,
                output_norm,
                output,
            } = block;
            norm!(norm);
            linear!(input);
            all.push(taps.$slice());
            all.extend(taps_bias.$each().map(|bias| bias.$slice()));
            all.extend(selection.$each().map(|map| map.data.$slice()));
            all.extend(step.$each().map(|map| map.data.$slice()));
            all.extend([step_bias, rate, skip].map(|part| part.$slice()));
            norm!(output_norm);
            linear!(output);
        }
        for block in time_mixes {
            let TimeMixBlock {
                norm,
                decay,
                first,
                key_blend,
                value_blend,
                receptance_blend,
                key,
                value,
                receptance,
                output,
                channel_norm,
                channel_blend,
                gate_blend,
                up,
                gate,
                down,
            } = block;
            norm!(norm);
            let blends = [decay, first, key_blend, value_blend, receptance_blend];
            all.extend(blends.map(|part| part.$slice()));
            all.extend([key, value, receptance, output].map(|map| map.data.$slice()));
            norm!(channel_norm);
            all.extend([channel_blend, gate_blend].map(|part| part.$slice()));
            all.extend([up, gate, down].map(|map| map.data.$slice()));
        }
        norm!(final_norm);
        if let Some(project) = project_out {
            linear!(project);
        }
        all.extend(head.$each().map(|head| head.data.$slice()));
        all.extend(head_bias.$each().map(|bias| bias.$slice()));
        all
    }};
}

/// What a matrix is for; it decides how it is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Only single rows of it are read.
    Table,
    /// A linear map.
    Linear,
    /// Gate and up of a gated MLP, one after the other.
    Gated,
    /// The head, whether or not it is the token embedding too.
    Head,
}

/// What a matrix becomes when it is read.
pub trait Keep: Sized {
    /// Reads a matrix and keeps it for what it is for.
    ///
    /// # Errors
    /// Those of [`Rows::read`].
    fn keep(rows: &Rows<'_>, role: Role, format: Format) -> Result<Self>;
}

impl Keep for Matrix {
    fn keep(rows: &Rows<'_>, _: Role, _: Format) -> Result<Self> {
        Ok(Self { rows: rows.rows(), columns: rows.columns(), data: rows.all()? })
    }
}

impl Keep for Packed {
    fn keep(rows: &Rows<'_>, role: Role, format: Format) -> Result<Self> {
        Self::read(rows.rows(), rows.columns(), format, role.order(), |some, out| {
            rows.read(some, out)
        })
    }
}

impl Role {
    /// How a matrix for it is laid out.
    fn order(self) -> Order {
        match self {
            Self::Table => Order::Table,
            Self::Linear => Order::Plain,
            Self::Gated => Order::Gated,
            Self::Head => Order::Head,
        }
    }
}

impl Linear {
    fn packed(self, role: Role, format: Format) -> Linear<Packed> {
        Linear { weight: Packed::new(&self.weight, format, role.order()), bias: self.bias }
    }
}

impl<M> Weights<M> {
    /// The matrix whose rows give the logits, `[V, E]`.
    pub fn head(&self) -> &M {
        self.head.as_ref().unwrap_or(&self.token_embedding)
    }
}

impl Weights {
    /// The same model, every matrix laid out for its products.
    pub fn packed(self, spec: &Spec, format: Format) -> Weights<Packed> {
        let pack = |matrix: Matrix, role: Role| Packed::new(&matrix, format, role.order());
        let linear = |map: Linear| map.packed(Role::Linear, format);
        let up = if spec.gated { Role::Gated } else { Role::Linear };
        let table = if spec.tied { Role::Head } else { Role::Table };
        let block = |block: Block| Block {
            attention_norm: block.attention_norm,
            qkv: linear(block.qkv),
            query_norm: block.query_norm,
            key_norm: block.key_norm,
            attention_output: linear(block.attention_output),
            attention_branch_norm: block.attention_branch_norm,
            mlp_norm: block.mlp_norm,
            up: block.up.packed(up, format),
            down: linear(block.down),
            mlp_branch_norm: block.mlp_branch_norm,
        };
        let state_space = |block: StateSpaceBlock| StateSpaceBlock {
            norm: block.norm,
            input: linear(block.input),
            taps: block.taps,
            taps_bias: block.taps_bias,
            selection: block.selection.map(|map| pack(map, Role::Linear)),
            step: block.step.map(|map| pack(map, Role::Linear)),
            step_bias: block.step_bias,
            rate: block.rate,
            skip: block.skip,
            output_norm: block.output_norm,
            output: linear(block.output),
        };
        let map = |matrix: Matrix| pack(matrix, Role::Linear);
        let time_mix = |block: TimeMixBlock| TimeMixBlock {
            norm: block.norm,
            decay: block.decay,
            first: block.first,
            key_blend: block.key_blend,
            value_blend: block.value_blend,
            receptance_blend: block.receptance_blend,
            key: map(block.key),
            value: map(block.value),
            receptance: map(block.receptance),
            output: map(block.output),
            channel_norm: block.channel_norm,
            channel_blend: block.channel_blend,
            gate_blend: block.gate_blend,
            up: map(block.up),
            gate: map(block.gate),
            down: map(block.down),
        };
        Weights {
            token_embedding: pack(self.token_embedding, table),
            position_embedding: self.position_embedding,
            project_in: self.project_in.map(linear),
            embedding_norm: self.embedding_norm,
            blocks: self.blocks.into_iter().map(block).collect(),
            state_spaces: self.state_spaces.into_iter().map(state_space).collect(),
            time_mixes: self.time_mixes.into_iter().map(time_mix).collect(),
            final_norm: self.final_norm,
            project_out: self.project_out.map(linear),
            head: self.head.map(|head| pack(head, Role::Head)),
            head_bias: self.head_bias,
        }
    }

    /// Every tensor, in a fixed order, as slices; what an optimiser or a sum of gradients walks
    /// over.
    pub fn tensors(&self) -> Vec<&[f32]> {
        walk!(self, as_slice, iter)
    }

    /// As [`Weights::tensors`], to be changed.
    pub fn tensors_mut(&mut self) -> Vec<&mut [f32]> {
        walk!(self, as_mut_slice, iter_mut)
    }
}
