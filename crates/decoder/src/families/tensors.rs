//! Tensors by name and shape, with a record of what was used: what remains is listed or refused.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use super::names::Names;
use crate::checkpoint::{Checkpoint, Rows};
use crate::error::{Error, Result};
use crate::kernels::Format;
use crate::matrix::Matrix;
use crate::parts::{BlockPart, Part, Source, Vector};
use crate::spec::{Gain, Spec};
use crate::weights::{Keep, Role};

/// The tensors of one folder while a model is built of them, each matrix kept as `M` as it is read.
pub(super) struct Tensors<'a, M> {
    checkpoint: &'a Checkpoint,
    spec: &'a Spec,
    names: &'static Names,
    format: Format,
    /// Whether a stored head is to be left alone.
    force_tied: bool,
    kept: PhantomData<M>,
    /// Stands before every name of the body.
    prefix: &'static str,
    /// Whether the token embedding has its older name.
    older: bool,
    used: BTreeSet<String>,
}

impl<'a, M: Keep> Tensors<'a, M> {
    /// Settles on the prefix under which the token embedding is found.
    ///
    /// # Errors
    /// [`Error::MissingTensor`] when it is under none.
    pub(super) fn new(
        checkpoint: &'a Checkpoint,
        spec: &'a Spec,
        names: &'static Names,
        format: Format,
        force_tied: bool,
    ) -> Result<Self> {
        let full = |prefix: &str| format!("{prefix}{}.weight", names.token_embedding);
        let there = |name: &String| checkpoint.shape(name).is_some();
        let once = |prefix: &str| match names.token_embedding_once {
            "" => None,
            once => Some(format!("{prefix}{once}.weight")).filter(there),
        };
        let found = |prefix: &&&str| there(&full(prefix)) || once(prefix).is_some();
        let Some(prefix) = names.prefixes.iter().find(found) else {
            return Err(Error::MissingTensor {
                path: checkpoint.folder().to_path_buf(),
                tensor: full(names.prefixes[0]),
                hint: format!(
                    "nor is it there with any of the prefixes {:?}. Are these the weights that the configuration describes?",
                    names.prefixes
                ),
            });
        };
        let (used, older, kept) = (BTreeSet::new(), !there(&full(prefix)), PhantomData);
        Ok(Self { checkpoint, spec, names, format, force_tied, kept, prefix, older, used })
    }

    /// A tensor, by its full name. It must be there in this shape, and counts as used. Until then a
    /// size is only a claim of `config.json`, and nothing may be allocated for it.
    fn take(&mut self, name: String, shape: &[usize]) -> Result<String> {
        let path = || self.checkpoint.folder().to_path_buf();
        match self.checkpoint.shape(&name) {
            None => Err(Error::MissingTensor {
                path: path(),
                tensor: name,
                hint:
                    "the configuration asks for it, and it cannot be derived. Fetch the model again"
                        .to_string(),
            }),
            Some(found) if found != shape => Err(Error::Shape {
                path: path(),
                tensor: name,
                found: found.to_vec(),
                expected: shape.to_vec(),
            }),
            Some(_) => {
                self.used.insert(name.clone());
                Ok(name)
            }
        }
    }

    /// The rows of a part while they are in their files: those of its tensors, one below the other.
    fn rows(&mut self, part: Part, rows: &[usize], columns: usize) -> Result<Rows<'a>> {
        let (tensors, order) = self.names.tensors(part, self.prefix, rows)?;
        let turned = self.names.transposed && matches!(part, Part::Block(..));
        let mut all: Option<Rows<'a>> = None;
        for (name, rows) in tensors {
            let name = match part {
                Part::TokenEmbedding if self.older => {
                    format!("{}{}.weight", self.prefix, self.names.token_embedding_once)
                }
                _ => format!("{name}.weight"),
            };
            let below = if turned {
                let name = self.take(name, &[columns, rows])?;
                self.checkpoint.columns(&name)?
            } else {
                let name = self.take(name, &[rows, columns])?;
                self.checkpoint.rows(&name)?
            };
            let below = match self.pairs(part, all.as_ref().map_or(0, Rows::rows), rows) {
                Some(order) => below.in_order(order.into_iter().map(|row| row..row + 1)),
                None => below,
            };
            all = Some(match all {
                Some(above) => above.above(below),
                None => below,
            });
        }
        let all = all.ok_or_else(|| Error::Spec(format!("{part:?} of no tensor")))?;
        Ok(match order {
            Some(order) => all.in_order(order(self.spec).into_iter()),
            None => all,
        })
    }

    /// The stored rows of a tensor in our order, where it holds the queries or the keys and the
    /// files have their rotary pairs side by side; `first` is where its outputs begin among those
    /// of the part.
    fn pairs(&self, part: Part, first: usize, rows: usize) -> Option<Vec<usize>> {
        let turned = matches!(part, Part::Block(_, BlockPart::QueryKeyValue));
        let values = self.spec.attention_width() + self.spec.kv_heads * self.spec.head_width;
        if !self.names.paired || !turned || first >= values {
            return None;
        }
        let (width, half) = (self.spec.head_width, self.spec.head_width / 2);
        let stored = |row: usize| row - row % width + 2 * (row % half) + row % width / half;
        Some((0..rows).map(stored).collect())
    }

    /// Names that were used, and names of no use; refuses leftovers inside blocks, since a block
    /// with a tensor that the configuration does not know of is another block than the one we would
    /// compute.
    pub(super) fn finish(self) -> Result<(BTreeSet<String>, Vec<String>)> {
        let left: Vec<String> = self
            .checkpoint
            .names()
            .filter(|name| !self.used.contains(*name))
            .filter(|name| !self.names.buffers.iter().any(|ending| name.ends_with(ending)))
            .filter(|name| !self.names.elsewhere.iter().any(|start| name.starts_with(start)))
            .map(str::to_string)
            .collect();
        let start = format!("{}{}", self.prefix, self.names.block);
        let in_block = left.iter().find_map(|name| {
            let number = name.strip_prefix(&start)?.split('.').next()?.parse::<usize>().ok()?;
            Some((name, number))
        });
        let Some((name, number)) = in_block else { return Ok((self.used, left)) };
        let blocks = self.spec.layers.len();
        let reason = if number >= blocks {
            format!(
                "tensor {name} belongs to block {number}, but the configuration says that there are {blocks} blocks"
            )
        } else {
            format!(
                "tensor {name} of block {number} has no place in the architecture that the configuration describes; \
                leaving it out would give wrong numbers"
            )
        };
        Err(Error::Checkpoint { path: self.checkpoint.folder().to_path_buf(), reason })
    }
}

impl<M: Keep> Source for Tensors<'_, M> {
    type Matrix = M;
    type Error = Error;

    fn matrix(&mut self, part: Part, rows: &[usize], columns: usize, role: Role) -> Result<M> {
        M::keep(&self.rows(part, rows, columns)?, role, self.format)
    }

    fn vector(&mut self, part: Part, which: Vector, lengths: &[usize]) -> Result<Vec<f32>> {
        let (tensors, order) = self.names.tensors(part, self.prefix, lengths)?;
        let mut data = Vec::new();
        for (name, length) in tensors {
            let name = self.take(which.behind(&name), &[length])?;
            let first = data.len();
            self.checkpoint.read_into(&name, &mut data)?;
            if let Some(order) = self.pairs(part, first, length) {
                let stored = data.split_off(first);
                data.extend(order.into_iter().map(|row| stored[row]));
            }
        }
        if let Some(order) = order {
            data = order(self.spec).into_iter().flat_map(|range| &data[range]).copied().collect();
        }
        if which == Vector::Gain && self.spec.norm_gain == Gain::OnePlus {
            data.iter_mut().for_each(|gain| *gain += 1.0);
        }
        Ok(data)
    }

    fn plain(&mut self, part: Part, which: Vector, shape: &[usize]) -> Result<Vec<f32>> {
        let (tensors, _) = self.names.tensors(part, self.prefix, &[1])?;
        let mut data = Vec::new();
        for (name, _) in tensors {
            let name = self.take(which.behind(&name), shape)?;
            self.checkpoint.read_into(&name, &mut data)?;
        }
        Ok(data)
    }

    fn positions(&mut self, rows: usize, columns: usize) -> Result<Matrix> {
        Matrix::keep(
            &self.rows(Part::PositionEmbedding, &[rows], columns)?,
            Role::Table,
            self.format,
        )
    }

    /// A tied model may store the embedding a second time as its head. Where the two differ,
    /// configuration and file contradict each other, and which of them holds is not ours to guess.
    fn head(&mut self, spec: &Spec) -> Result<Option<M>> {
        let name = format!("{}.weight", self.names.head(self.prefix));
        let folder = || self.checkpoint.folder().to_path_buf();
        let there = self.checkpoint.shape(&name).is_some();
        match there {
            _ if self.force_tied => return Ok(None),
            false if spec.tied => return Ok(None),
            false => {
                return Err(Error::MissingTensor {
                    path: folder(),
                    tensor: name,
                    hint: format!(
                        "config.json says that the head is not tied to the embedding \
                        ({} false), but no file has a head. If it is tied after all, take the embedding for \
                        it: --tie-head (LoadOptions::force_tied)",
                        self.names.tie
                    ),
                });
            }
            true => {}
        }
        let (rows, columns) = ([spec.vocabulary], spec.embedding_width());
        let head = self.rows(Part::Head, &rows, columns)?;
        if !spec.tied {
            return M::keep(&head, Role::Head, self.format).map(Some);
        }
        if head.same(&self.rows(Part::TokenEmbedding, &rows, columns)?)? {
            return Ok(None);
        }
        Err(Error::Checkpoint {
            path: self.checkpoint.folder().to_path_buf(),
            reason: format!(
                "config.json ties the head to the embedding ({tie} true, or by default), but \
                {name} differs from the embedding: transformers 4 uses the embedding, version 5 the stored head. For the \
                embedding give --tie-head (LoadOptions::force_tied); for the stored head set {tie} to \
                false in a copy of config.json",
                tie = self.names.tie
            ),
        })
    }
}
