//! The forward pass: token ids of several sequences to the rows that stand before the head.
//!
//! Sequences lie one after another, without padding: `N` rows in all, and attention keeps to its sequence. Rows are split
//! over threads, products in whole blocks of rows, so that a row's bits depend on its own sequence alone, not on what
//! shares its batch, nor on the number of threads.

use crate::ops::linear::ROW_BLOCK;
use crate::ops::positions::Tables;
use crate::ops::{activation, attention, linear, norm, rows};
use crate::spec::{NormPlacement, Positions, Residual, Spec};
use crate::weights::{Block, Linear, NormWeights, Weights};
use rayon::prelude::*;

/// Hidden rows `[N, C]` after the last block, before the final norm; then what [`before_head`] does to those that are scored.
///
/// `sequences` must hold known ids and be no longer than the context; `crate::model` checks that.
pub fn hidden(spec: &Spec, weights: &Weights, sequences: &[&[u32]]) -> Vec<f32> {
    let mut pass = Pass::new(spec, weights, sequences);
    for (layer, block) in weights.blocks.iter().enumerate() {
        pass.block(layer, block);
    }
    pass.x.truncate(pass.count * spec.width);
    pass.x
}

/// Final norm and output projection of rows `[M, C]`: what the head multiplies, `[M, E]`.
pub fn before_head(spec: &Spec, weights: &Weights, mut x: Vec<f32>) -> Vec<f32> {
    if let Some(last) = &weights.final_norm {
        rows(&mut x, spec.width, |_, x| norm::in_place(spec.norm, spec.norm_epsilon, last, x, spec.width));
    }
    match &weights.project_out {
        Some(project) => project_rows(project, x),
        None => x,
    }
}

/// `x` through a linear map, rows padded to whole blocks on the way.
fn project_rows(linear: &Linear, mut x: Vec<f32>) -> Vec<f32> {
    let (inputs, outputs) = (linear.weight.columns, linear.weight.rows);
    let count = x.len() / inputs;
    let padded = count.next_multiple_of(ROW_BLOCK);
    x.resize(padded * inputs, 0.0);
    let mut y = vec![0.0; padded * outputs];
    linear::forward_parallel(linear, &x, &mut y, padded);
    y.truncate(count * outputs);
    y
}

/// One batch on its way through the blocks.
struct Pass<'a> {
    spec: &'a Spec,
    /// Rows that hold tokens.
    count: usize,
    /// Rows in all: `count` up to a whole block.
    padded: usize,
    /// Length of each sequence.
    lengths: Vec<usize>,
    /// Position of each row in its sequence; 0 for padding.
    positions: Vec<u32>,
    tables: Option<Tables>,
    /// The residual stream `[N, C]`.
    x: Vec<f32>,
    normed: Vec<f32>,
    qkv: Vec<f32>,
    attended: Vec<f32>,
    wide: Vec<f32>,
    gated: Vec<f32>,
    branch: Vec<f32>,
}

impl<'a> Pass<'a> {
    fn new(spec: &'a Spec, weights: &Weights, sequences: &[&[u32]]) -> Self {
        let lengths: Vec<usize> = sequences.iter().map(|s| s.len()).collect();
        let count: usize = lengths.iter().sum();
        let padded = count.next_multiple_of(ROW_BLOCK);
        let mut positions: Vec<u32> = lengths.iter().flat_map(|length| 0..*length as u32).collect();
        positions.resize(padded, 0);
        let tables = match &spec.positions {
            Positions::Rotary(rotary) => {
                Some(Tables::new(rotary, lengths.iter().copied().max().unwrap_or(0).max(1)))
            }
            Positions::Learned { .. } => None,
        };
        let mut embedded = vec![0.0; count * spec.embedding_width];
        for (row, id) in
            embedded.chunks_exact_mut(spec.embedding_width).zip(sequences.iter().copied().flatten())
        {
            row.copy_from_slice(weights.token_embedding.row(*id as usize));
        }
        let mut x = match &weights.project_in {
            Some(project) => project_rows(project, embedded),
            None => embedded,
        };
        if let (Positions::Learned { offset, .. }, Some(table)) =
            (&spec.positions, &weights.position_embedding)
        {
            for (row, position) in x.chunks_exact_mut(spec.width).zip(&positions) {
                let added = table.row(*position as usize + offset);
                row.iter_mut().zip(added).for_each(|(x, p)| *x += p);
            }
        }
        x.resize(padded * spec.width, 0.0);
        let buffer = |width: usize| vec![0.0; padded * width];
        Self {
            spec,
            count,
            padded,
            lengths,
            positions,
            tables,
            x,
            normed: buffer(spec.width),
            qkv: buffer(spec.qkv_width()),
            attended: buffer(spec.attention_width()),
            wide: buffer(spec.up_width()),
            gated: buffer(if spec.activation.gated() { spec.hidden } else { 0 }),
            branch: buffer(spec.width),
        }
    }

    /// One block, by where its norms stand and how its parts join.
    fn block(&mut self, layer: usize, block: &Block) {
        match (self.spec.residual, self.spec.norm_placement) {
            (Residual::Sequential, NormPlacement::Pre) => {
                self.norm(&block.attention_norm);
                self.attention(layer, block);
                self.add();
                self.norm(&block.mlp_norm);
                self.mlp(block);
                self.add();
            }
            (Residual::Sequential, NormPlacement::Post) => {
                self.normed.copy_from_slice(&self.x);
                self.attention(layer, block);
                self.add();
                self.norm_stream(&block.attention_norm);
                self.normed.copy_from_slice(&self.x);
                self.mlp(block);
                self.add();
                self.norm_stream(&block.mlp_norm);
            }
            (Residual::Parallel, placement) => {
                // `Spec::check` lets parallel blocks through only with their norms before the parts.
                debug_assert_eq!(placement, NormPlacement::Pre);
                self.norm(&block.attention_norm);
                self.attention(layer, block);
                // The MLP reads the stream as it was, so its norm is taken before attention is added.
                self.norm(&block.mlp_norm);
                self.add();
                self.mlp(block);
                self.add();
            }
        }
    }

    /// `normed = norm(x)`.
    fn norm(&mut self, weights: &NormWeights) {
        let (spec, x) = (self.spec, &self.x);
        let c = spec.width;
        rows(&mut self.normed, c, |first, y| {
            norm::forward(spec.norm, spec.norm_epsilon, weights, &x[first * c..first * c + y.len()], y, c);
        });
    }

    /// `x = norm(x)`.
    fn norm_stream(&mut self, weights: &NormWeights) {
        let spec = self.spec;
        rows(&mut self.x, spec.width, |_, x| {
            norm::in_place(spec.norm, spec.norm_epsilon, weights, x, spec.width);
        });
    }

    /// `branch = attention(normed)`.
    fn attention(&mut self, layer: usize, block: &Block) {
        let spec = self.spec;
        let (w, out) = (spec.qkv_width(), spec.attention_width());
        linear::forward_parallel(&block.qkv, &self.normed, &mut self.qkv, self.padded);
        if let Some(tables) = &self.tables {
            let positions = &self.positions;
            rows(&mut self.qkv, w, |first, qkv| {
                let turned = spec.heads + spec.kv_heads;
                tables.rotate(&positions[first..], qkv, w, turned, spec.head_width, false);
            });
        }
        let shape = attention::Shape {
            heads: spec.heads,
            kv_heads: spec.kv_heads,
            head_width: spec.head_width,
            scale: spec.attention_scale.factor(spec.head_width, layer),
            window: spec.window(layer),
        };
        let qkv = &self.qkv;
        let tasks = attention_tasks(&self.lengths, &mut self.attended, w, out);
        tasks.into_par_iter().for_each_init(Vec::new, |scores, task| {
            let sequence = &qkv[task.sequence.clone()];
            attention::forward(shape, sequence, task.first, task.out, scores);
        });
        linear::forward_parallel(&block.attention_output, &self.attended, &mut self.branch, self.padded);
    }

    /// `branch = mlp(normed)`.
    fn mlp(&mut self, block: &Block) {
        let spec = self.spec;
        linear::forward_parallel(&block.up, &self.normed, &mut self.wide, self.padded);
        let activated = if spec.activation.gated() {
            let (wide, f) = (&self.wide, spec.hidden);
            rows(&mut self.gated, f, |first, y| {
                activation::swiglu(&wide[first * 2 * f..first * 2 * f + 2 * y.len()], y, f);
            });
            &self.gated
        } else {
            rows(&mut self.wide, spec.hidden, |_, x| activation::in_place(spec.activation, x));
            &self.wide
        };
        linear::forward_parallel(&block.down, activated, &mut self.branch, self.padded);
    }

    /// `x += branch`.
    fn add(&mut self) {
        let (branch, c) = (&self.branch, self.spec.width);
        rows(&mut self.x, c, |first, x| {
            x.iter_mut().zip(&branch[first * c..]).for_each(|(x, b)| *x += b);
        });
    }
}

/// One block of queries of one sequence.
struct Queries<'a> {
    /// The sequence's part of `qkv`.
    sequence: std::ops::Range<usize>,
    /// The first query's position.
    first: usize,
    /// The queries' rows of the result.
    out: &'a mut [f32],
}

/// Cuts the rows of `attended` `[N, out]` into blocks of queries that stay within a sequence.
fn attention_tasks<'a>(lengths: &[usize], attended: &'a mut [f32], w: usize, out: usize) -> Vec<Queries<'a>> {
    let mut tasks = Vec::new();
    let (mut rest, mut start) = (attended, 0);
    for &length in lengths {
        let (own, after) = std::mem::take(&mut rest).split_at_mut(length * out);
        rest = after;
        for (block, out) in own.chunks_mut(attention::QUERY_BLOCK * out).enumerate() {
            let sequence = start * w..(start + length) * w;
            tasks.push(Queries { sequence, first: block * attention::QUERY_BLOCK, out });
        }
        start += length;
    }
    tasks
}
