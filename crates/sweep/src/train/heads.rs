//! Queries and keys between their product and attention: each head's norm, where the model has it
//! (Qwen3), and the rotation; forward and back.
//!
//! Shapes: rows `[T, (H + 2 G) D]` of one sequence, of which the first `(H + G) D` channels are
//! queries and keys; what the norm reads is kept beside them, `[T, (H + G) D]`.

use super::tensors::{gain, gain_mut};
use relscale_decoder::ops::norm;
use relscale_decoder::ops::positions::Tables;
use relscale_decoder::spec::{Rotary, Spec};
use relscale_decoder::weights::{Block, NormWeights};

/// What turning and norming needs beside the weights.
#[derive(Debug)]
pub(super) struct Heads {
    tables: Tables,
    positions: Vec<u32>,
    /// The gradient of one row of normed queries and keys.
    slope: Vec<f32>,
}

impl Heads {
    /// For sequences of `length` tokens.
    pub(super) fn new(rotary: &Rotary, length: usize) -> Self {
        Self {
            tables: Tables::new(rotary, length),
            positions: (0..length as u32).collect(),
            slope: Vec::new(),
        }
    }

    /// Tokens of a sequence.
    pub(super) fn length(&self) -> usize {
        self.positions.len()
    }

    /// Numbers that a sequence's norms keep; 0 without norms.
    pub(super) fn kept(&self, spec: &Spec) -> usize {
        let normed = if spec.query_key_norm.is_some() { width(spec) } else { 0 };
        self.length() * normed
    }

    /// Norms and turns the queries and keys of `qkv`; `kept` takes what the norms read.
    pub(super) fn forward(&self, spec: &Spec, block: &Block, qkv: &mut [f32], kept: &mut [f32]) {
        if let Some(norms) = norms(block) {
            let rows = qkv.chunks_exact_mut(spec.qkv_width());
            for (row, kept) in rows.zip(kept.chunks_exact_mut(width(spec))) {
                kept.copy_from_slice(&row[..kept.len()]);
                let parts = row[..kept.len()].split_at_mut(spec.attention_width());
                for (part, weights) in [parts.0, parts.1].into_iter().zip(norms) {
                    norm::in_place(spec.norm, spec.norm_epsilon, weights, part, spec.head_width);
                }
            }
        }
        self.turn(spec, qkv, false);
    }

    /// Turns `dqkv`, the gradient of what attention read, into that of the product; adds to the
    /// gradients of the gains.
    pub(super) fn backward(
        &mut self,
        spec: &Spec,
        block: &Block,
        kept: &[f32],
        dqkv: &mut [f32],
        gradient: &mut Block,
    ) {
        self.turn(spec, dqkv, true);
        if norms(block).is_none() {
            return;
        }
        let (queries, epsilon) = (spec.attention_width(), spec.norm_epsilon);
        let rows = dqkv.chunks_exact_mut(spec.qkv_width());
        for (dx, x) in rows.zip(kept.chunks_exact(width(spec))) {
            let dx = &mut dx[..x.len()];
            self.slope.clear();
            self.slope.extend_from_slice(dx);
            dx.fill(0.0);
            let ((x, keys), (dy, dkeys)) = (x.split_at(queries), self.slope.split_at(queries));
            let (dx, into) = dx.split_at_mut(queries);
            let dgain = gain_mut(&mut gradient.query_norm);
            norm::rms_backward(epsilon, gain(&block.query_norm), x, dy, dx, dgain);
            let dgain = gain_mut(&mut gradient.key_norm);
            norm::rms_backward(epsilon, gain(&block.key_norm), keys, dkeys, into, dgain);
        }
    }

    fn turn(&self, spec: &Spec, qkv: &mut [f32], back: bool) {
        let heads = spec.heads + spec.kv_heads;
        self.tables.rotate(&self.positions, qkv, spec.qkv_width(), heads, spec.head_width, back);
    }
}

/// Channels of queries and keys: `(H + G) D`.
fn width(spec: &Spec) -> usize {
    (spec.heads + spec.kv_heads) * spec.head_width
}

/// Norms of queries and of keys.
fn norms(block: &Block) -> Option<[&NormWeights; 2]> {
    Some([block.query_norm.as_ref()?, block.key_norm.as_ref()?])
}
