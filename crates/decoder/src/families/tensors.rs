//! Tensors by name and shape, with a record of what was used: what remains is listed or refused.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::ops::Range;

use super::LoadOptions;
use crate::checkpoint::{Checkpoint, Rows};
use crate::error::{Error, Result};
use crate::kernels::Format;
use crate::spec::{NormKind, Spec};
use crate::weights::{Keep, Linear, Matrix, NormWeights, Role, embedding_role};

/// The tensors of one folder while a family picks from them, each matrix kept as `M` as it is read.
pub(super) struct Tensors<'a, M> {
    checkpoint: &'a Checkpoint,
    options: LoadOptions,
    format: Format,
    kept: PhantomData<M>,
    /// Stands before every name; `""` until [`Tensors::find_prefix`].
    prefix: &'static str,
    /// What the names of blocks begin with, after the prefix, e.g. `layers.`.
    block: &'static str,
    /// Endings of stored buffers that hold no parameters.
    buffers: &'static [&'static str],
    used: BTreeSet<String>,
}

/// How a family names its tensors.
pub(super) struct Naming {
    /// What may stand before all names of the body, in the order tried.
    pub(super) prefixes: &'static [&'static str],
    /// A tensor that every model of the family has; finds the prefix.
    pub(super) signature: &'static str,
    /// Beginning of the names of blocks, after the prefix.
    pub(super) block: &'static str,
    /// Endings of stored buffers that hold no parameters: causal masks, rotary frequencies.
    pub(super) buffers: &'static [&'static str],
}

/// The token embedding and, unless tied, the head.
pub(super) type Embeddings<M> = (M, Option<M>);

impl<'a, M: Keep> Tensors<'a, M> {
    pub(super) fn new(checkpoint: &'a Checkpoint, options: LoadOptions, format: Format) -> Self {
        let (prefix, block, buffers) = ("", "", &[][..]);
        Self { checkpoint, options, format, kept: PhantomData, prefix, block, buffers, used: BTreeSet::new() }
    }

    fn keep(&self, rows: &Rows<'_>, role: Role) -> Result<M> {
        M::keep(rows, role, self.format)
    }

    /// Settles on the prefix under which the family's signature tensor is found.
    pub(super) fn find_prefix(&mut self, naming: &Naming) -> Result<()> {
        self.block = naming.block;
        self.buffers = naming.buffers;
        let there = |p: &&&str| self.checkpoint.shape(&format!("{p}{}", naming.signature)).is_some();
        match naming.prefixes.iter().find(there) {
            Some(prefix) => {
                self.prefix = prefix;
                Ok(())
            }
            None => Err(Error::MissingTensor {
                path: self.checkpoint.folder().to_path_buf(),
                tensor: format!("{}{}", naming.prefixes[0], naming.signature),
                hint: format!(
                    "nor is it there with any of the prefixes {:?}. Are these the weights that config.json describes?",
                    naming.prefixes
                ),
            }),
        }
    }

    /// A tensor of the body, by its full name, if it is there in this shape. It counts as used.
    fn take(&mut self, name: &str, shape: &[usize]) -> Result<String> {
        self.take_full(format!("{}{name}", self.prefix), shape)
    }

    fn take_full(&mut self, name: String, shape: &[usize]) -> Result<String> {
        self.expect(&name, shape)?;
        self.used.insert(name.clone());
        Ok(name)
    }

    /// Checks that a tensor, by its full name, is there in this shape. Until then a size is only a claim of
    /// `config.json`, and nothing may be allocated for it.
    fn expect(&self, name: &str, shape: &[usize]) -> Result<()> {
        let Some(found) = self.checkpoint.shape(name) else {
            return Err(Error::MissingTensor {
                path: self.checkpoint.folder().to_path_buf(),
                tensor: name.to_string(),
                hint: "config.json asks for it, and it cannot be derived. Fetch the folder again".to_string(),
            });
        };
        if found != shape {
            return Err(Error::Shape {
                path: self.checkpoint.folder().to_path_buf(),
                tensor: name.to_string(),
                found: found.to_vec(),
                expected: shape.to_vec(),
            });
        }
        Ok(())
    }

    /// A vector of the body.
    pub(super) fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>> {
        let name = self.take(name, &[length])?;
        let mut data = Vec::new();
        self.checkpoint.read_into(&name, &mut data)?;
        Ok(data)
    }

    /// A matrix of the body, stored `[rows, columns]`, whatever the others are kept as.
    pub(super) fn matrix(&mut self, name: &str, rows: usize, columns: usize) -> Result<Matrix> {
        let name = self.take(name, &[rows, columns])?;
        Matrix::keep(&self.checkpoint.rows(&name)?, Role::Table, self.format)
    }

    /// A linear map `NAME.weight` `[outputs, inputs]`, with `NAME.bias` when asked for.
    pub(super) fn linear(
        &mut self,
        name: &str,
        outputs: usize,
        inputs: usize,
        bias: bool,
    ) -> Result<Linear<M>> {
        self.stacked(&[(name, outputs)], inputs, bias, Role::Linear)
    }

    /// Several linear maps of one input as one, their outputs one after another.
    pub(super) fn stacked(
        &mut self,
        parts: &[(&str, usize)],
        inputs: usize,
        bias: bool,
        role: Role,
    ) -> Result<Linear<M>> {
        let mut rows: Option<Rows<'_>> = None;
        let mut biases = bias.then(Vec::new);
        for (name, outputs) in parts {
            let weight = self.take(&format!("{name}.weight"), &[*outputs, inputs])?;
            let below = self.checkpoint.rows(&weight)?;
            rows = Some(match rows {
                Some(rows) => rows.above(below),
                None => below,
            });
            if let Some(biases) = &mut biases {
                let bias = self.take(&format!("{name}.bias"), &[*outputs])?;
                self.checkpoint.read_into(&bias, biases)?;
            }
        }
        let rows = rows.ok_or_else(|| Error::Spec("a linear map of no tensor".to_string()))?;
        Ok(Linear { weight: self.keep(&rows, role)?, bias: biases })
    }

    /// As [`Tensors::linear`], of a map whose outputs are not in our order: first those of the first range, and so on.
    pub(super) fn in_order(
        &mut self,
        name: &str,
        outputs: usize,
        inputs: usize,
        bias: bool,
        order: impl Iterator<Item = Range<usize>> + Clone,
    ) -> Result<Linear<M>> {
        let weight = self.take(&format!("{name}.weight"), &[outputs, inputs])?;
        let rows = self.checkpoint.rows(&weight)?.in_order(order.clone());
        let bias = bias.then(|| self.vector(&format!("{name}.bias"), outputs)).transpose()?;
        let bias = bias.map(|bias| order.flat_map(|range| &bias[range]).copied().collect());
        Ok(Linear { weight: self.keep(&rows, Role::Linear)?, bias })
    }

    /// A linear map stored `[inputs, outputs]`, as GPT-2's `Conv1D` does.
    pub(super) fn transposed_linear(
        &mut self,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<Linear<M>> {
        let weight = self.take(&format!("{name}.weight"), &[inputs, outputs])?;
        let bias = self.vector(&format!("{name}.bias"), outputs)?;
        let rows = self.checkpoint.columns(&weight)?;
        Ok(Linear { weight: self.keep(&rows, Role::Linear)?, bias: Some(bias) })
    }

    /// A norm of `C` channels, with what the spec says it carries.
    pub(super) fn norm(&mut self, name: &str, spec: &Spec) -> Result<NormWeights> {
        let gain = spec.norm_affine;
        let bias = gain && spec.norm == NormKind::Layer;
        Ok(NormWeights {
            gain: gain.then(|| self.vector(&format!("{name}.weight"), spec.width)).transpose()?,
            bias: bias.then(|| self.vector(&format!("{name}.bias"), spec.width)).transpose()?,
        })
    }

    /// The token embedding by its name in the body, and the head by its full name; no head when it is the embedding.
    pub(super) fn embeddings(&mut self, name: &str, head: &str, spec: &Spec) -> Result<Embeddings<M>> {
        let name = self.take(name, &[spec.vocabulary, spec.embedding_width])?;
        let embedding = self.checkpoint.rows(&name)?;
        let head = self.head(head, spec, &embedding)?;
        let embedding = self.keep(&embedding, embedding_role(spec))?;
        Ok((embedding, head.map(|head| self.keep(&head, Role::Head)).transpose()?))
    }

    /// The head, by its full name; `None` when tied.
    ///
    /// A tied model may store the embedding a second time as its head. Where the two differ, configuration and file
    /// contradict each other, and which of them holds is not ours to guess.
    fn head(&mut self, name: &str, spec: &Spec, embedding: &Rows<'a>) -> Result<Option<Rows<'a>>> {
        let stored = self.checkpoint.shape(name).map(<[usize]>::to_vec);
        let folder = self.checkpoint.folder().to_path_buf();
        match stored {
            _ if self.options.force_tied => Ok(None),
            None if spec.tied => Ok(None),
            None => Err(Error::MissingTensor {
                path: folder,
                tensor: name.to_string(),
                hint: "config.json says that the head is not tied to the embedding \
                    (tie_word_embeddings false), but no file has a head. If it is tied after all, take the embedding for \
                    it: --tie-head (LoadOptions::force_tied)"
                    .to_string(),
            }),
            Some(_) => {
                let name = self.take_full(name.to_string(), &[spec.vocabulary, spec.embedding_width])?;
                let head = self.checkpoint.rows(&name)?;
                if !spec.tied {
                    Ok(Some(head))
                } else if head.same(embedding)? {
                    Ok(None)
                } else {
                    Err(Error::Checkpoint {
                        path: folder,
                        reason: format!(
                            "config.json ties the head to the embedding (tie_word_embeddings true, or by default), but \
                            {name} differs from the embedding: transformers 4 uses the embedding, version 5 the stored head. For the \
                            embedding give --tie-head (LoadOptions::force_tied); for the stored head set tie_word_embeddings to \
                            false in a copy of config.json"
                        ),
                    })
                }
            }
        }
    }

    /// Names that were used, and names of no use; refuses leftovers inside blocks, since a block with a tensor that
    /// the configuration does not know of is another block than the one we would compute.
    pub(super) fn finish(self, spec: &Spec) -> Result<(BTreeSet<String>, Vec<String>)> {
        let left: Vec<String> = self
            .checkpoint
            .names()
            .filter(|name| !self.used.contains(*name))
            .filter(|name| !self.buffers.iter().any(|ending| name.ends_with(ending)))
            .map(str::to_string)
            .collect();
        let start = format!("{}{}", self.prefix, self.block);
        let in_block = left.iter().find_map(|name| {
            let number = name.strip_prefix(&start)?.split('.').next()?.parse::<usize>().ok()?;
            Some((name, number))
        });
        let Some((name, number)) = in_block else { return Ok((self.used, left)) };
        let reason = if number >= spec.layers {
            format!(
                "tensor {name} belongs to block {number}, but config.json says that there are {} blocks",
                spec.layers
            )
        } else {
            format!(
                "tensor {name} of block {number} has no place in the architecture that config.json describes; \
                leaving it out would give wrong numbers"
            )
        };
        Err(Error::Checkpoint { path: self.checkpoint.folder().to_path_buf(), reason })
    }
}
