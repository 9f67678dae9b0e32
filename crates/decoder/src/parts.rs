//! Which tensors a model has, in which shapes: the one walk over a [`Spec`] from which weights are
//! read, made, counted and named.

use crate::matrix::Matrix;
use crate::spec::{
    Gain, Mixer, NormKind, NormSpan, Positions, Residual, Selection, Spec, StateSpace, TimeMix,
};
use crate::weights::{Block, Linear, NormWeights, Role, StateSpaceBlock, TimeMixBlock, Weights};
use std::convert::Infallible;

/// A linear map, a norm or a table of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `[V, E]`.
    TokenEmbedding,
    /// `[rows, C]` where positions are learned.
    PositionEmbedding,
    /// `[C, E]`.
    ProjectIn,
    /// Norm behind the embedding.
    EmbeddingNorm,
    /// A part of a block, by the block's number.
    Block(usize, BlockPart),
    /// A part of a block whose tokens are mixed by a state space, by the block's number.
    StateSpace(usize, StateSpacePart),
    /// A part of a block of time and channel mixing, by the block's number.
    TimeMix(usize, TimeMixPart),
    /// Norm before the head.
    FinalNorm,
    /// `[E, C]`.
    ProjectOut,
    /// `[V, E]`, and a bias where [`Spec::head_bias`] says so.
    Head,
}

/// A part of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockPart {
    /// Norm of the stream for attention.
    AttentionNorm,
    /// Queries, keys and values.
    QueryKeyValue,
    /// Norm of the queries.
    QueryNorm,
    /// Norm of the keys.
    KeyNorm,
    /// `[C, H D]`.
    AttentionOutput,
    /// Norm of what attention yields.
    AttentionBranchNorm,
    /// Norm of the stream for the MLP.
    MlpNorm,
    /// The first product of the MLP: its gate, if it has one, then up.
    Up,
    /// The second.
    Down,
    /// Norm of what the MLP yields.
    MlpBranchNorm,
}

/// A part of a block whose tokens are mixed by a state space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateSpacePart {
    /// Norm of the stream.
    Norm,
    /// The first map.
    Input,
    /// The convolution.
    Taps,
    /// The map to time steps, `B` and `C`.
    Selection,
    /// The second map of the time steps, and their bias.
    Step,
    /// The logarithm of the rate at which the state decays.
    Rate,
    /// What passes beside the state.
    Skip,
    /// Norm of the gated output.
    OutputNorm,
    /// `[C, I]`.
    Output,
}

/// A part of a block of time and channel mixing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeMixPart {
    /// Norm of the stream for time mixing.
    Norm,
    /// The logarithm of the rate at which a channel decays.
    Decay,
    /// What the present token's key has more than as a past one's.
    First,
    /// How much of a key is the present token's, not the one's before it.
    KeyBlend,
    /// Likewise of a value.
    ValueBlend,
    /// Likewise of a receptance.
    ReceptanceBlend,
    /// `[I, C]`.
    Key,
    /// `[I, C]`.
    Value,
    /// `[I, C]`.
    Receptance,
    /// `[C, I]`.
    Output,
    /// Norm of the stream for channel mixing.
    ChannelNorm,
    /// As of keys, of what channel mixing reads.
    ChannelBlend,
    /// As of keys, of its gate.
    GateBlend,
    /// `[F, C]`.
    Up,
    /// `[C, C]`: the receptance of channel mixing.
    Gate,
    /// `[C, F]`.
    Down,
}

/// The vectors of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vector {
    /// The gain of a norm, as it is multiplied with.
    Gain,
    /// The bias of a norm or a linear map.
    Bias,
    /// All that the part is, of any shape, and no matrix of a product.
    Whole,
}

/// Where the numbers come from, or what is done in their place. Asked for each tensor once, in the
/// order of [`Weights::tensors`].
pub trait Source {
    /// What a matrix becomes.
    type Matrix;
    /// What can go wrong.
    type Error;

    /// A matrix; its rows may be of several kinds, one below the other.
    ///
    /// # Errors
    /// The source's own.
    fn matrix(
        &mut self,
        part: Part,
        rows: &[usize],
        columns: usize,
        role: Role,
    ) -> Result<Self::Matrix, Self::Error>;

    /// A vector, likewise.
    ///
    /// # Errors
    /// The source's own.
    fn vector(
        &mut self,
        part: Part,
        which: Vector,
        lengths: &[usize],
    ) -> Result<Vec<f32>, Self::Error>;

    /// Numbers that stay plain whatever matrices become, of any shape.
    ///
    /// # Errors
    /// The source's own.
    fn plain(
        &mut self,
        part: Part,
        which: Vector,
        shape: &[usize],
    ) -> Result<Vec<f32>, Self::Error>;

    /// The table of positions, which stays plain whatever other matrices become.
    ///
    /// # Errors
    /// The source's own.
    fn positions(&mut self, rows: usize, columns: usize) -> Result<Matrix, Self::Error>;

    /// The head, `None` when it is the embedding.
    ///
    /// # Errors
    /// The source's own.
    fn head(&mut self, spec: &Spec) -> Result<Option<Self::Matrix>, Self::Error> {
        if spec.tied {
            return Ok(None);
        }
        self.matrix(Part::Head, &[spec.vocabulary], spec.embedding_width(), Role::Head).map(Some)
    }
}

/// All parts of a model, from `source`.
///
/// # Errors
/// The first of the source's.
pub fn build<S: Source>(spec: &Spec, source: &mut S) -> Result<Weights<S::Matrix>, S::Error> {
    let mut builder = Builder { spec, source };
    let (c, e) = (spec.width, spec.embedding_width());
    let table = if spec.tied { Role::Head } else { Role::Table };
    Ok(Weights {
        token_embedding: builder.source.matrix(
            Part::TokenEmbedding,
            &[spec.vocabulary],
            e,
            table,
        )?,
        position_embedding: match spec.positions {
            Positions::Learned { rows, .. } => Some(builder.source.positions(rows, c)?),
            _ => None,
        },
        project_in: builder.projection(Part::ProjectIn, c, e)?,
        embedding_norm: builder.norm(spec.embedding_norm, Part::EmbeddingNorm, &[c])?,
        blocks: match spec.mixer {
            Mixer::Attention => (0..spec.layers.len())
                .map(|layer| builder.block(layer))
                .collect::<Result<_, _>>()?,
            Mixer::StateSpace(_) | Mixer::TimeMix(_) => Vec::new(),
        },
        state_spaces: match &spec.mixer {
            Mixer::StateSpace(mixer) => (0..spec.layers.len())
                .map(|layer| builder.state_space(layer, mixer))
                .collect::<Result<_, _>>()?,
            Mixer::Attention | Mixer::TimeMix(_) => Vec::new(),
        },
        time_mixes: match &spec.mixer {
            Mixer::TimeMix(mixer) => (0..spec.layers.len())
                .map(|layer| builder.time_mix(layer, mixer))
                .collect::<Result<_, _>>()?,
            Mixer::Attention | Mixer::StateSpace(_) => Vec::new(),
        },
        final_norm: builder.norm(spec.final_norm, Part::FinalNorm, &[c])?,
        project_out: builder.projection(Part::ProjectOut, e, c)?,
        head: builder.source.head(spec)?,
        head_bias: spec
            .head_bias
            .then(|| builder.source.vector(Part::Head, Vector::Bias, &[spec.vocabulary]))
            .transpose()?,
    })
}

struct Builder<'a, S> {
    spec: &'a Spec,
    source: &'a mut S,
}

impl<S: Source> Builder<'_, S> {
    fn block(&mut self, layer: usize) -> Result<Block<S::Matrix>, S::Error> {
        let spec = self.spec;
        let (c, f, d) = (spec.width, spec.hidden, spec.head_width);
        let part = |part| Part::Block(layer, part);
        let (on_stream, on_branch) =
            (spec.norm_placement.on_stream(), spec.norm_placement.on_branch());
        let (of_queries, of_keys) = match spec.query_key_norm {
            Some(NormSpan::Width) => (vec![spec.attention_width()], vec![spec.kv_heads * d]),
            Some(NormSpan::EachHead) => (vec![d; spec.heads], vec![d; spec.kv_heads]),
            Some(NormSpan::Head) | None => (vec![d], vec![d]),
        };
        let normed = spec.query_key_norm.is_some();
        let (up, up_role) =
            if spec.gated { (&[f, f][..], Role::Gated) } else { (&[f][..], Role::Linear) };
        let biases = spec.biases;
        let widths = spec.qkv_widths();
        Ok(Block {
            attention_norm: self.norm(on_stream, part(BlockPart::AttentionNorm), &[c])?,
            qkv: self.linear(
                part(BlockPart::QueryKeyValue),
                &widths,
                c,
                biases.query_key_value,
                Role::Linear,
            )?,
            query_norm: self.norm(normed, part(BlockPart::QueryNorm), &of_queries)?,
            key_norm: self.norm(normed, part(BlockPart::KeyNorm), &of_keys)?,
            attention_output: self.linear(
                part(BlockPart::AttentionOutput),
                &[c],
                widths[0],
                biases.attention_output,
                Role::Linear,
            )?,
            attention_branch_norm: self.norm(
                on_branch,
                part(BlockPart::AttentionBranchNorm),
                &[c],
            )?,
            mlp_norm: self.norm(
                on_stream && spec.residual != Residual::ParallelOneNorm,
                part(BlockPart::MlpNorm),
                &[c],
            )?,
            up: self.linear(part(BlockPart::Up), up, c, biases.mlp, up_role)?,
            down: self.linear(part(BlockPart::Down), &[c], f, biases.mlp, Role::Linear)?,
            mlp_branch_norm: self.norm(on_branch, part(BlockPart::MlpBranchNorm), &[c])?,
        })
    }

    fn state_space(
        &mut self,
        layer: usize,
        mixer: &StateSpace,
    ) -> Result<StateSpaceBlock<S::Matrix>, S::Error> {
        use StateSpacePart::{
            Input, Norm, Output, OutputNorm, Rate, Selection as Select, Skip, Step, Taps,
        };
        let (c, i, s) = (self.spec.width, mixer.inner, mixer.state);
        let convolved = mixer.convolved();
        let part = |part| Part::StateSpace(layer, part);
        let norm = self.norm(true, part(Norm), &[c])?;
        let widths = mixer.input_widths();
        let input = self.linear(part(Input), &widths, c, mixer.biases, Role::Linear)?;
        let taps = self.source.plain(part(Taps), Vector::Gain, &[convolved, 1, mixer.taps])?;
        let taps_bias = mixer
            .convolution_bias
            .then(|| self.source.vector(part(Taps), Vector::Bias, &[convolved]))
            .transpose()?;
        let mut selection = None;
        let mut step = None;
        let (step_bias, rates) = match mixer.selection {
            Selection::Channels { rank, .. } => {
                let role = Role::Linear;
                selection = Some(self.source.matrix(part(Select), &[rank, s, s], i, role)?);
                step = Some(self.source.matrix(part(Step), &[i], rank, role)?);
                (self.source.vector(part(Step), Vector::Bias, &[i])?, vec![i, s])
            }
            Selection::Heads { heads, .. } => {
                (self.source.plain(part(Step), Vector::Whole, &[heads])?, vec![heads])
            }
        };
        Ok(StateSpaceBlock {
            norm,
            input,
            taps,
            taps_bias,
            selection,
            step,
            step_bias,
            rate: self.source.plain(part(Rate), Vector::Whole, &rates)?,
            skip: self.source.plain(part(Skip), Vector::Whole, &rates[..1])?,
            output_norm: self.norm(
                matches!(mixer.selection, Selection::Heads { .. }),
                part(OutputNorm),
                &[i],
            )?,
            output: self.linear(part(Output), &[c], i, mixer.biases, Role::Linear)?,
        })
    }

    fn time_mix(
        &mut self,
        layer: usize,
        mixer: &TimeMix,
    ) -> Result<TimeMixBlock<S::Matrix>, S::Error> {
        use TimeMixPart::*;
        let (c, i, f) = (self.spec.width, mixer.inner, self.spec.hidden);
        let part = |part| Part::TimeMix(layer, part);
        let norm = self.norm(true, part(Norm), &[c])?;
        let mut whole = |of, shape: &[usize]| self.source.plain(part(of), Vector::Whole, shape);
        let (decay, first) = (whole(Decay, &[i])?, whole(First, &[i])?);
        let key_blend = whole(KeyBlend, &[1, 1, c])?;
        let value_blend = whole(ValueBlend, &[1, 1, c])?;
        let receptance_blend = whole(ReceptanceBlend, &[1, 1, c])?;
        let mut map =
            |of, rows, columns| self.source.matrix(part(of), &[rows], columns, Role::Linear);
        let (key, value) = (map(Key, i, c)?, map(Value, i, c)?);
        let (receptance, output) = (map(Receptance, i, c)?, map(Output, c, i)?);
        let channel_norm = self.norm(true, part(ChannelNorm), &[c])?;
        let mut whole = |of, shape: &[usize]| self.source.plain(part(of), Vector::Whole, shape);
        let channel_blend = whole(ChannelBlend, &[1, 1, c])?;
        let gate_blend = whole(GateBlend, &[1, 1, c])?;
        let mut map =
            |of, rows, columns| self.source.matrix(part(of), &[rows], columns, Role::Linear);
        let (up, gate, down) = (map(Up, f, c)?, map(Gate, c, c)?, map(Down, c, f)?);
        Ok(TimeMixBlock {
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
        })
    }

    fn linear(
        &mut self,
        part: Part,
        outputs: &[usize],
        inputs: usize,
        bias: bool,
        role: Role,
    ) -> Result<Linear<S::Matrix>, S::Error> {
        let weight = self.source.matrix(part, outputs, inputs, role)?;
        let bias = bias.then(|| self.source.vector(part, Vector::Bias, outputs)).transpose()?;
        Ok(Linear { weight, bias })
    }

    fn projection(
        &mut self,
        part: Part,
        outputs: usize,
        inputs: usize,
    ) -> Result<Option<Linear<S::Matrix>>, S::Error> {
        let there = outputs != inputs;
        there.then(|| self.linear(part, &[outputs], inputs, false, Role::Linear)).transpose()
    }

    fn norm(
        &mut self,
        there: bool,
        part: Part,
        lengths: &[usize],
    ) -> Result<Option<NormWeights>, S::Error> {
        if !there {
            return Ok(None);
        }
        let gain = self.spec.norm_gain != Gain::None;
        let of_each_head = self.spec.query_key_norm == Some(NormSpan::EachHead)
            && matches!(part, Part::Block(_, BlockPart::QueryNorm | BlockPart::KeyNorm));
        let unbiased = of_each_head || self.spec.norm_gain == Gain::NoBias;
        let bias = gain && self.spec.norm == NormKind::Layer && !unbiased;
        let mut vector = |which| self.source.vector(part, which, lengths);
        Ok(Some(NormWeights {
            gain: gain.then(|| vector(Vector::Gain)).transpose()?,
            bias: bias.then(|| vector(Vector::Bias)).transpose()?,
        }))
    }
}

impl Weights {
    /// Zeros in the shapes that `spec` asks for: the start of a gradient, an optimiser state or a
    /// fresh model.
    pub fn zeros(spec: &Spec) -> Self {
        let Ok(weights) = build(spec, &mut Zeros);
        weights
    }
}

struct Zeros;

impl Source for Zeros {
    type Matrix = Matrix;
    type Error = Infallible;

    fn matrix(
        &mut self,
        _: Part,
        rows: &[usize],
        columns: usize,
        _: Role,
    ) -> Result<Matrix, Infallible> {
        Ok(Matrix::zeros(rows.iter().sum(), columns))
    }

    fn vector(&mut self, _: Part, _: Vector, lengths: &[usize]) -> Result<Vec<f32>, Infallible> {
        Ok(vec![0.0; lengths.iter().sum()])
    }

    fn plain(&mut self, _: Part, _: Vector, shape: &[usize]) -> Result<Vec<f32>, Infallible> {
        Ok(vec![0.0; shape.iter().product()])
    }

    fn positions(&mut self, rows: usize, columns: usize) -> Result<Matrix, Infallible> {
        Ok(Matrix::zeros(rows, columns))
    }
}

/// How many numbers each tensor has, with its part, in the order of [`Weights::tensors`].
pub fn sizes(spec: &Spec) -> Vec<(Part, u64)> {
    let mut sizes = Sizes(Vec::new());
    let Ok(_) = build(spec, &mut sizes);
    sizes.0
}

struct Sizes(Vec<(Part, u64)>);

impl Sizes {
    fn push(&mut self, part: Part, rows: &[usize], columns: usize) {
        self.0.push((part, rows.iter().map(|rows| *rows as u64).sum::<u64>() * columns as u64));
    }
}

impl Source for Sizes {
    type Matrix = ();
    type Error = Infallible;

    fn matrix(
        &mut self,
        part: Part,
        rows: &[usize],
        columns: usize,
        _: Role,
    ) -> Result<(), Infallible> {
        self.push(part, rows, columns);
        Ok(())
    }

    fn vector(&mut self, part: Part, _: Vector, lengths: &[usize]) -> Result<Vec<f32>, Infallible> {
        self.push(part, lengths, 1);
        Ok(Vec::new())
    }

    fn plain(&mut self, part: Part, _: Vector, shape: &[usize]) -> Result<Vec<f32>, Infallible> {
        self.push(part, &[1], shape.iter().product());
        Ok(Vec::new())
    }

    fn positions(&mut self, rows: usize, columns: usize) -> Result<Matrix, Infallible> {
        self.push(Part::PositionEmbedding, &[rows], columns);
        Ok(Matrix::zeros(0, 0))
    }
}
