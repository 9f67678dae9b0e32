//! How a family names its tensors: a table, for reading a folder and for writing one.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::parts::{BlockPart, Part, Source, StateSpacePart, TimeMixPart, Vector, build};
use crate::spec::{Gain, Residual, Spec};
use crate::weights::{Role, Weights};

/// Names of all parts, without `.weight` and `.bias`. `""`: the family has none. `{}` stands for
/// the number of a head, each of which has a tensor.
pub(super) struct Names {
    /// What may stand before all names of the body, in the order tried.
    pub(super) prefixes: &'static [&'static str],
    /// Beginning of the names of blocks, after the prefix.
    pub(super) block: &'static str,
    /// Endings of stored buffers that hold no parameters: causal masks, rotary frequencies.
    pub(super) buffers: &'static [&'static str],
    /// Beginnings of the names of another part of the model, which no text reads: a vision tower's.
    pub(super) elsewhere: &'static [&'static str],
    /// Whether the linear maps of blocks are stored `[inputs, outputs]`, as GPT-2's `Conv1D` does.
    pub(super) transposed: bool,
    /// Whether the channels of queries and keys that rotate together lie side by side, as Meta's
    /// and llama.cpp's files have it; else half a head apart.
    pub(super) paired: bool,
    /// Every model has it; it finds the prefix.
    pub(super) token_embedding: &'static str,
    /// Its name in older files.
    pub(super) token_embedding_once: &'static str,
    pub(super) position_embedding: &'static str,
    pub(super) project_in: &'static str,
    pub(super) embedding_norm: &'static str,
    pub(super) final_norm: &'static str,
    pub(super) project_out: &'static str,
    /// The head is not in the body, but beside it: see [`Names::head`].
    pub(super) head: &'static str,
    /// The key of the configuration that says whether the head is the embedding.
    pub(super) tie: &'static str,
    pub(super) attention_norm: &'static str,
    pub(super) query_key_value: Stored,
    pub(super) query_norm: &'static str,
    pub(super) key_norm: &'static str,
    pub(super) attention_output: &'static str,
    pub(super) attention_branch_norm: &'static str,
    pub(super) mlp_norm: &'static str,
    pub(super) up: Stored,
    pub(super) down: &'static str,
    pub(super) mlp_branch_norm: &'static str,
    /// The table of blocks with two norms side by side, where that is another (Falcon).
    pub(super) parallel: Option<&'static Self>,
    /// The parts of blocks whose tokens are mixed by a state space.
    pub(super) state_space: fn(StateSpacePart) -> &'static str,
    /// The parts of blocks of time and channel mixing.
    pub(super) time_mix: fn(TimeMixPart) -> &'static str,
}

/// Where the outputs of a map of several kinds are.
#[derive(Clone, Copy)]
pub(super) enum Stored {
    /// In one tensor, in our order.
    Whole(&'static str),
    /// In a tensor a kind.
    Apart(&'static [&'static str]),
    /// In one tensor, in another order.
    Ordered(&'static str, Order),
}

/// The ranges of a tensor's outputs that are in our order one after another.
pub(super) type Order = fn(&Spec) -> Vec<Range<usize>>;

/// Tensors by their full names without an ending, each with its outputs.
type Tensors = Vec<(String, usize)>;

impl Names {
    /// Nothing but the usual head.
    pub(super) const NONE: Self = Self {
        prefixes: &[""],
        block: "",
        buffers: &[],
        elsewhere: &[],
        transposed: false,
        paired: false,
        token_embedding: "",
        token_embedding_once: "",
        position_embedding: "",
        project_in: "",
        embedding_norm: "",
        final_norm: "",
        project_out: "",
        head: "lm_head",
        tie: "tie_word_embeddings",
        attention_norm: "",
        query_key_value: Stored::Whole(""),
        query_norm: "",
        key_norm: "",
        attention_output: "",
        attention_branch_norm: "",
        mlp_norm: "",
        up: Stored::Whole(""),
        down: "",
        mlp_branch_norm: "",
        parallel: None,
        state_space: |_| "",
        time_mix: |_| "",
    };

    /// The full name of the head: outside the body, and so beside the `model` of a prefix
    /// `PART.model.`.
    pub(super) fn head(&self, prefix: &str) -> String {
        match prefix.strip_suffix(".model.") {
            Some(part) => format!("{part}.{}", self.head),
            None => self.head.to_owned(),
        }
    }

    /// The table for a model of this spec.
    pub(super) fn of(&'static self, spec: &Spec) -> &'static Self {
        self.parallel.filter(|_| spec.residual == Residual::Parallel).unwrap_or(self)
    }

    /// The tensors of a part, each by its full name without its ending and with the outputs of it,
    /// of which there are `rows` in kinds; and the order in which these are taken.
    ///
    /// # Errors
    /// [`Error::Spec`] when the family has no such part.
    pub(super) fn tensors(
        &self,
        part: Part,
        prefix: &str,
        rows: &[usize],
    ) -> Result<(Tensors, Option<Order>)> {
        let stored = match part {
            Part::TokenEmbedding => Stored::Whole(self.token_embedding),
            Part::PositionEmbedding => Stored::Whole(self.position_embedding),
            Part::ProjectIn => Stored::Whole(self.project_in),
            Part::EmbeddingNorm => Stored::Whole(self.embedding_norm),
            Part::FinalNorm => Stored::Whole(self.final_norm),
            Part::ProjectOut => Stored::Whole(self.project_out),
            Part::Head => Stored::Whole(self.head),
            Part::StateSpace(_, part) => Stored::Whole((self.state_space)(part)),
            Part::TimeMix(_, part) => Stored::Whole((self.time_mix)(part)),
            Part::Block(_, part) => match part {
                BlockPart::AttentionNorm => Stored::Whole(self.attention_norm),
                BlockPart::QueryKeyValue => self.query_key_value,
                BlockPart::QueryNorm => Stored::Whole(self.query_norm),
                BlockPart::KeyNorm => Stored::Whole(self.key_norm),
                BlockPart::AttentionOutput => Stored::Whole(self.attention_output),
                BlockPart::AttentionBranchNorm => Stored::Whole(self.attention_branch_norm),
                BlockPart::MlpNorm => Stored::Whole(self.mlp_norm),
                BlockPart::Up => self.up,
                BlockPart::Down => Stored::Whole(self.down),
                BlockPart::MlpBranchNorm => Stored::Whole(self.mlp_branch_norm),
            },
        };
        let (names, order) = match &stored {
            Stored::Whole(name) => (std::slice::from_ref(name), None),
            Stored::Apart(names) => (*names, None),
            Stored::Ordered(name, order) => (std::slice::from_ref(name), Some(*order)),
        };
        if let ([name], Part::Block(number, _)) = (names, part)
            && name.contains("{}")
        {
            let full = |(head, length): (usize, &usize)| {
                let name = name.replace("{}", &head.to_string());
                (format!("{prefix}{}{number}.{name}", self.block), *length)
            };
            return Ok((rows.iter().enumerate().map(full).collect(), order));
        }
        if names.contains(&"") || (names.len() > 1 && names.len() != rows.len()) {
            return Err(Error::Spec(format!("the family has no name for {part:?}")));
        }
        let whole = [rows.iter().sum()];
        let rows = if names.len() == 1 { &whole[..] } else { rows };
        let full = |name: &&str| match part {
            Part::Head => self.head(prefix),
            Part::Block(number, _) | Part::StateSpace(number, _) | Part::TimeMix(number, _) => {
                format!("{prefix}{}{number}.{name}", self.block)
            }
            _ => format!("{prefix}{name}"),
        };
        Ok((names.iter().map(full).zip(rows.iter().copied()).collect(), order))
    }
}

/// A tensor of a model, as a file stores it.
pub type Named<'a> = (String, Vec<usize>, &'a [f32]);

/// The tensors of `weights` by the names of `names`, with their shapes.
///
/// # Errors
/// [`Error::Spec`] for a model whose tensors the family stores otherwise than they lie in memory.
pub(super) fn named<'a>(
    names: &Names,
    spec: &Spec,
    weights: &'a Weights,
) -> Result<Vec<Named<'a>>> {
    let mut writer = Writer { names, rest: weights.tensors().into_iter(), named: Vec::new() };
    if spec.norm_gain == Gain::OnePlus || names.transposed || names.paired {
        return writer.refuse();
    }
    build(spec, &mut writer)?;
    Ok(writer.named)
}

/// Takes tensor by tensor from a model, as they come.
struct Writer<'a, 'n> {
    names: &'n Names,
    rest: std::vec::IntoIter<&'a [f32]>,
    named: Vec<Named<'a>>,
}

impl Writer<'_, '_> {
    fn refuse<T>(&self) -> Result<T> {
        Err(Error::Spec("the tensors of this model cannot be written as they lie".to_owned()))
    }

    fn push(&mut self, part: Part, which: Vector, rows: &[usize], inner: &[usize]) -> Result<()> {
        let (tensors, order) = self.names.tensors(part, self.names.prefixes[0], rows)?;
        let Some(mut rest) = self.rest.next() else { return self.refuse() };
        if order.is_some() {
            return self.refuse();
        }
        for (name, rows) in tensors {
            let shape: Vec<usize> = [rows].iter().chain(inner).copied().collect();
            let Some((numbers, after)) = rest.split_at_checked(shape.iter().product()) else {
                return self.refuse();
            };
            rest = after;
            self.named.push((which.behind(&name), shape, numbers));
        }
        Ok(())
    }
}

impl Source for Writer<'_, '_> {
    type Matrix = ();
    type Error = Error;

    fn matrix(&mut self, part: Part, rows: &[usize], columns: usize, _: Role) -> Result<()> {
        self.push(part, Vector::Gain, rows, &[columns])
    }

    fn vector(&mut self, part: Part, which: Vector, lengths: &[usize]) -> Result<Vec<f32>> {
        self.push(part, which, lengths, &[])?;
        Ok(Vec::new())
    }

    fn plain(&mut self, part: Part, which: Vector, shape: &[usize]) -> Result<Vec<f32>> {
        self.push(part, which, &shape[..1], &shape[1..])?;
        Ok(Vec::new())
    }

    fn positions(&mut self, rows: usize, columns: usize) -> Result<Matrix> {
        self.push(Part::PositionEmbedding, Vector::Gain, &[rows], &[columns])?;
        Ok(Matrix::zeros(0, 0))
    }
}

impl Vector {
    /// The name of a tensor, of a part of this name: matrices end as gains do.
    pub(super) fn behind(self, name: &str) -> String {
        match self {
            Self::Gain => format!("{name}.weight"),
            Self::Bias => format!("{name}.bias"),
            Self::Whole => name.to_owned(),
        }
    }
}
