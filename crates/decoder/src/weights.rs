//! The numbers of a model.
//!
//! Matrices are row-major and stored as Hugging Face stores linear layers, `[out, in]`, so that a row is one output.
//! Query, key and value are one matrix (all queries, then keys, then values, heads in order), and so are gate and up.
//!
//! What a matrix is kept as is a parameter: [`Matrix`], plain f32, for training and export; [`Packed`] for scoring, laid out
//! for its products as it is read, so that no second copy of a matrix is ever in memory ([`Keep`]).

use crate::checkpoint::Rows;
use crate::error::Result;
use crate::kernels::{Format, Order, Packed};
use crate::spec::Spec;

/// A matrix `[rows, columns]`, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Outputs.
    pub rows: usize,
    /// Inputs.
    pub columns: usize,
    /// `rows * columns` numbers.
    pub data: Vec<f32>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, data: vec![0.0; rows * columns] }
    }

    /// One row.
    ///
    /// # Panics
    /// When `row` is not below `rows`.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.data[row * self.columns..(row + 1) * self.columns]
    }
}

/// `y = W x + b`, `W` `[out, in]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear<M = Matrix> {
    /// `W`.
    pub weight: M,
    /// `b`, `out` numbers; `None` where the architecture has none.
    pub bias: Option<Vec<f32>>,
}

impl Linear {
    /// A map of zeros.
    pub fn zeros(outputs: usize, inputs: usize, bias: bool) -> Self {
        Self { weight: Matrix::zeros(outputs, inputs), bias: bias.then(|| vec![0.0; outputs]) }
    }
}

/// Gain and bias of a norm, `C` numbers each; both `None` in OPT models without `layer_norm_elementwise_affine`.
#[derive(Debug, Clone, PartialEq)]
pub struct NormWeights {
    /// The gain.
    pub gain: Option<Vec<f32>>,
    /// The bias; LayerNorm only.
    pub bias: Option<Vec<f32>>,
}

/// One block.
#[derive(Debug, Clone, PartialEq)]
pub struct Block<M = Matrix> {
    /// Norm of attention: before it, or, post-norm, after its residual.
    pub attention_norm: NormWeights,
    /// `[(H + 2 G) D, C]`: queries, keys, values.
    pub qkv: Linear<M>,
    /// `[C, H D]`.
    pub attention_output: Linear<M>,
    /// Norm of the MLP.
    pub mlp_norm: NormWeights,
    /// `[F, C]`, or `[2 F, C]` with a gate: gate rows, then up rows.
    pub up: Linear<M>,
    /// `[C, F]`.
    pub down: Linear<M>,
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
    /// The blocks, first to last.
    pub blocks: Vec<Block<M>>,
    /// Norm before the head.
    pub final_norm: Option<NormWeights>,
    /// `[E, C]`, OPT-350m.
    pub project_out: Option<Linear<M>>,
    /// `[V, E]`; `None` when tied to the token embedding.
    pub head: Option<M>,
}

/// The tensors of a model in order, shared or mutable: one list for both, and complete, since a new field breaks its patterns.
macro_rules! walk {
    ($weights:expr, $slice:ident, $each:ident) => {{
        let Weights {
            token_embedding,
            position_embedding,
            project_in,
            blocks,
            final_norm,
            project_out,
            head,
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
                let NormWeights { gain, bias } = $norm;
                all.extend(gain.$each().chain(bias.$each()).map(|part| part.$slice()));
            };
        }
        all.extend(position_embedding.$each().map(|table| table.data.$slice()));
        if let Some(project) = project_in {
            linear!(project);
        }
        for block in blocks {
            let Block { attention_norm, qkv, attention_output, mlp_norm, up, down } = block;
            norm!(attention_norm);
            linear!(qkv);
            linear!(attention_output);
            norm!(mlp_norm);
            linear!(up);
            linear!(down);
        }
        if let Some(last) = final_norm {
            norm!(last);
        }
        if let Some(project) = project_out {
            linear!(project);
        }
        all.extend(head.$each().map(|head| head.data.$slice()));
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
        Self::read(rows.rows(), rows.columns(), format, role.order(), |some, out| rows.read(some, out))
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

/// What the token embedding of a model is for.
pub fn embedding_role(spec: &Spec) -> Role {
    if spec.tied { Role::Head } else { Role::Table }
}

/// What the first matrix of a model's MLP is for.
pub fn up_role(spec: &Spec) -> Role {
    if spec.activation.gated() { Role::Gated } else { Role::Linear }
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
        Weights {
            token_embedding: pack(self.token_embedding, embedding_role(spec)),
            position_embedding: self.position_embedding,
            project_in: self.project_in.map(linear),
            blocks: self
                .blocks
                .into_iter()
                .map(|block| Block {
                    attention_norm: block.attention_norm,
                    qkv: linear(block.qkv),
                    attention_output: linear(block.attention_output),
                    mlp_norm: block.mlp_norm,
                    up: block.up.packed(up_role(spec), format),
                    down: linear(block.down),
                })
                .collect(),
            final_norm: self.final_norm,
            project_out: self.project_out.map(linear),
            head: self.head.map(|head| pack(head, Role::Head)),
        }
    }

    /// Zeros in the shapes that `spec` asks for; the start of a gradient, an optimiser state or a fresh model.
    pub fn zeros(spec: &Spec) -> Self {
        use crate::spec::{NormKind, Positions};
        let norm = || NormWeights {
            gain: spec.norm_affine.then(|| vec![0.0; spec.width]),
            bias: (spec.norm_affine && spec.norm == NormKind::Layer).then(|| vec![0.0; spec.width]),
        };
        let projected = spec.embedding_width != spec.width;
        let block = || Block {
            attention_norm: norm(),
            qkv: Linear::zeros(spec.qkv_width(), spec.width, spec.biases.query_key_value),
            attention_output: Linear::zeros(spec.width, spec.attention_width(), spec.biases.attention_output),
            mlp_norm: norm(),
            up: Linear::zeros(spec.up_width(), spec.width, spec.biases.mlp),
            down: Linear::zeros(spec.width, spec.hidden, spec.biases.mlp),
        };
        Self {
            token_embedding: Matrix::zeros(spec.vocabulary, spec.embedding_width),
            position_embedding: match spec.positions {
                Positions::Learned { rows, .. } => Some(Matrix::zeros(rows, spec.width)),
                Positions::Rotary(_) => None,
            },
            project_in: projected.then(|| Linear::zeros(spec.width, spec.embedding_width, false)),
            blocks: (0..spec.layers).map(|_| block()).collect(),
            final_norm: spec.final_norm.then(norm),
            project_out: projected.then(|| Linear::zeros(spec.embedding_width, spec.width, false)),
            head: (!spec.tied).then(|| Matrix::zeros(spec.vocabulary, spec.embedding_width)),
        }
    }

    /// Every tensor, in a fixed order, as slices; what an optimiser or a sum of gradients walks over.
    pub fn tensors(&self) -> Vec<&[f32]> {
        walk!(self, as_slice, iter)
    }

    /// As [`Weights::tensors`], to be changed.
    pub fn tensors_mut(&mut self) -> Vec<&mut [f32]> {
        walk!(self, as_mut_slice, iter_mut)
    }
}
