//! The forward pass: token ids of several sequences to the rows that stand before the head.
//!
//! Sequences lie one after another, without padding: `N` rows in all, and attention keeps to its
//! sequence. Work is split over threads tile by tile and head by head; a row's bits depend on its
//! own sequence alone, not on what shares its batch, nor on the number of threads (see
//! [`crate::kernels`]).
//!
//! **What goes through memory**: the residual stream, queries with keys and values, and what
//! attention leaves, once each. Norms write straight into the layout that the next product reads,
//! activations are applied to tiles in the cache, and residuals are added there.

use crate::kernels::{Format, Input, Numbers, Packed};
use crate::lanes::dot;
use crate::mixers::layout::Sequences;
use crate::mixers::{state_space, time_mix};
use crate::ops::positions::Tables;
use crate::ops::{activation, attention, linear, norm, rows};
use crate::spec::{Mixer, NormPlacement, NormSpan, Positions, Residual, Rotary, Spec};
use crate::weights::{Block, Linear, NormWeights, Weights};
use rayon::prelude::*;

/// What a pass works in, for any number of passes one after another: memory is asked for once, and
/// grows to the largest batch.
#[derive(Debug)]
pub struct Buffers {
    /// The residual stream `[N, C]`.
    x: Numbers,
    /// Queries, keys and values: sequence by sequence, head by head, `[T, D]` each.
    qkv: Numbers,
    /// What attention leaves: sequence by sequence, head by head, `[T, D]` each.
    attended: Numbers,
    /// What the next product reads.
    input: Input,
    /// What the MLP reads where it is not the same, and what its second product reads.
    second: Input,
    /// `[N, C]`: what a part yields, where a norm stands on it.
    branch: Numbers,
    /// `[N, H]`: mean squares of heads, where a norm is taken over all of them.
    squares: Numbers,
    /// Of blocks whose tokens are mixed by a state space.
    state_space: state_space::Buffers,
    /// Of blocks of time and channel mixing.
    time_mix: time_mix::Buffers,
}

impl Buffers {
    /// For models in `format`.
    pub fn new(format: Format) -> Self {
        let (x, qkv, attended, branch, squares, state_space, time_mix) = Default::default();
        Self {
            x,
            qkv,
            attended,
            input: Input::new(format),
            second: Input::new(format),
            branch,
            squares,
            state_space,
            time_mix,
        }
    }

    /// The residual stream of the last pass, `[N, C]`.
    pub fn hidden(&self) -> &[f32] {
        &self.x
    }
}

/// Runs the blocks: leaves the hidden rows `[N, C]` after the last one, before the final norm, in
/// [`Buffers::hidden`]; then [`before_head`] takes those that are scored.
///
/// `sequences` must hold known ids and be no longer than the context; `crate::model` checks that.
pub fn hidden(spec: &Spec, weights: &Weights<Packed>, sequences: &[&[u32]], buffers: &mut Buffers) {
    let mut pass = Pass::new(spec, weights, sequences, buffers);
    for (layer, block) in weights.blocks.iter().enumerate() {
        pass.block(layer, block);
    }
    let Pass { lengths, places, buffers, .. } = pass;
    let sequences = Sequences { lengths: &lengths, places: &places };
    match &spec.mixer {
        Mixer::Attention => {}
        Mixer::StateSpace(mixer) => {
            let Buffers { x, input, state_space: own, .. } = buffers;
            for block in &weights.state_spaces {
                state_space::block((spec, mixer), block, sequences, x, input, own);
            }
        }
        Mixer::TimeMix(mixer) => {
            let Buffers { x, input, second, time_mix: own, .. } = buffers;
            for (layer, block) in weights.time_mixes.iter().enumerate() {
                let inputs = [&mut *input, &mut *second];
                time_mix::block((spec, mixer, layer), block, sequences, x, inputs, own);
            }
        }
    }
}

/// Final norm and output projection of the hidden rows that are asked for: what the head
/// multiplies, `[M, E]`.
pub fn before_head<'b>(
    spec: &Spec,
    weights: &Weights<Packed>,
    asked: &[usize],
    buffers: &'b mut Buffers,
) -> &'b Input {
    let Buffers { x, input, second, .. } = buffers;
    let (c, epsilon) = (spec.width, spec.epsilon(spec.layers.len()));
    input.fill(asked.len(), c, |i, out| {
        out.copy_from_slice(&x[asked[i] * c..(asked[i] + 1) * c]);
        if let Some(last) = &weights.final_norm {
            norm::in_place(spec.norm, epsilon, last, out, c);
        }
        if spec.logit_scale != 1.0 {
            out.iter_mut().for_each(|x| *x *= spec.logit_scale);
        }
    });
    let Some(project) = &weights.project_out else { return input };
    project.weight.multiply_into(input, second, |first, sums| {
        if let Some(bias) = &project.bias {
            sums.iter_mut().zip(&bias[first..]).for_each(|(s, b)| *s += b);
        }
    });
    second
}

/// One batch on its way through the blocks.
struct Pass<'a> {
    spec: &'a Spec,
    /// Rows: tokens.
    count: usize,
    /// Length of each sequence.
    lengths: Vec<usize>,
    /// Row at which the sequence of each row begins, and that sequence's length.
    places: Vec<(usize, usize)>,
    /// Of each kind of rotation that a block has.
    tables: Vec<(&'a Rotary, Tables)>,
    /// Of each head, where scores fall with the distance.
    slopes: Option<Vec<f64>>,
    /// `0..T` of the longest sequence.
    positions: Vec<u32>,
    buffers: &'a mut Buffers,
}

impl<'a> Pass<'a> {
    fn new(
        spec: &'a Spec,
        weights: &Weights<Packed>,
        sequences: &[&[u32]],
        buffers: &'a mut Buffers,
    ) -> Self {
        let lengths: Vec<usize> = sequences.iter().map(|s| s.len()).collect();
        let count: usize = lengths.iter().sum();
        let mut places = Vec::with_capacity(count);
        for &length in &lengths {
            places.extend(std::iter::repeat_n((places.len(), length), length));
        }
        let longest = lengths.iter().copied().max().unwrap_or(0).max(1);
        let positions = (0..longest as u32).collect();
        let mut tables: Vec<(&Rotary, Tables)> = Vec::new();
        for rotary in spec.layers.iter().filter_map(|layer| layer.rotary.as_ref()) {
            if tables.iter().all(|(known, _)| *known != rotary) {
                tables.push((rotary, Tables::new(rotary, longest)));
            }
        }
        let ids: Vec<u32> = sequences.iter().copied().flatten().copied().collect();
        let Buffers { x, qkv, attended, input, .. } = &mut *buffers;
        x.resize(count * spec.width);
        qkv.resize(count * spec.qkv_width());
        attended.resize(count * spec.attention_width());
        let embedding = |i: usize, out: &mut [f32]| {
            weights.token_embedding.row_into(ids[i] as usize, out);
            if spec.embedding_scale != 1.0 {
                out.iter_mut().for_each(|x| *x *= spec.embedding_scale);
            }
        };
        match &weights.project_in {
            Some(project) => {
                input.fill(count, spec.embedding_width(), embedding);
                linear::write(project, input, x);
            }
            None => rows(x, spec.width, |first, x| {
                x.chunks_exact_mut(spec.width)
                    .enumerate()
                    .for_each(|(i, x)| embedding(first + i, x));
            }),
        }
        if let (Positions::Learned { offset, .. }, Some(table)) =
            (&spec.positions, &weights.position_embedding)
        {
            rows(x, spec.width, |first, x| {
                for (i, x) in x.chunks_exact_mut(spec.width).enumerate() {
                    let position = first + i - places[first + i].0;
                    x.iter_mut().zip(table.row(position + offset)).for_each(|(x, p)| *x += p);
                }
            });
        }
        if let Some(weights) = &weights.embedding_norm {
            norm_rows(spec, weights, x);
        }
        let slopes = spec.alibi_slopes();
        Self { spec, count, lengths, places, tables, slopes, positions, buffers }
    }

    /// One block, by where its norms stand and how its parts join.
    fn block(&mut self, layer: usize, block: &Block<Packed>) {
        let spec = self.spec;
        let (first, second) = (block.attention_norm.as_ref(), block.mlp_norm.as_ref());
        match spec.residual {
            Residual::Sequential => {
                // Norms of the stream stand before the parts, or behind their residuals.
                let after = spec.norm_placement == NormPlacement::AfterResidual;
                let before = |norm| if after { None } else { norm };
                fill(spec, &mut self.buffers.input, &self.buffers.x, before(first));
                self.attention(layer, block);
                if let Some(norm) = first.filter(|_| after) {
                    norm_rows(spec, norm, &mut self.buffers.x);
                }
                fill(spec, &mut self.buffers.second, &self.buffers.x, before(second));
                self.mlp(block);
                if let Some(norm) = second.filter(|_| after) {
                    norm_rows(spec, norm, &mut self.buffers.x);
                }
            }
            Residual::Parallel | Residual::ParallelOneNorm => {
                // `Spec::check` lets parallel blocks through only with their norms before the
                // parts. The MLP reads the stream as it was, so its norm is taken before attention
                // is added.
                fill(spec, &mut self.buffers.input, &self.buffers.x, first);
                fill(spec, &mut self.buffers.second, &self.buffers.x, second.or(first));
                self.attention(layer, block);
                self.mlp(block);
            }
        }
    }

    /// Bounds, norms and rotation of queries and keys, and bounds of values, where the block has
    /// them.
    fn ready(&mut self, layer: usize, block: &Block<Packed>) {
        let spec = self.spec;
        let (d, heads) = (spec.head_width, spec.heads + 2 * spec.kv_heads);
        if let Some(bound) = spec.clip {
            rows(&mut self.buffers.qkv, spec.qkv_width(), |_, x| {
                x.iter_mut().for_each(|x| *x = x.clamp(-bound, bound));
            });
        }
        if spec.query_key_norm == Some(NormSpan::Width) {
            self.norm_across_heads(block);
        }
        let rotary = spec.layers[layer].rotary.as_ref();
        let table =
            rotary.and_then(|rotary| self.tables.iter().find(|(known, _)| *known == rotary));
        let each_its_own = spec.query_key_norm == Some(NormSpan::EachHead);
        let by_head = each_its_own || spec.query_key_norm == Some(NormSpan::Head);
        if table.is_none() && !by_head {
            return;
        }
        let (positions, turned) = (&self.positions, spec.heads + spec.kv_heads);
        one_head_each(&self.lengths, &mut self.buffers.qkv, heads, d)
            .into_par_iter()
            .filter(|task| task.head < turned)
            .for_each(|task| {
                let (norm, head) = match task.head.checked_sub(spec.heads) {
                    None => (&block.query_norm, task.head),
                    Some(head) => (&block.key_norm, head),
                };
                if let Some(weights) = norm.as_ref().filter(|_| by_head) {
                    let own = each_its_own.then(|| weights.of_head(head, d));
                    let weights = own.as_ref().unwrap_or(weights);
                    norm::in_place(spec.norm, spec.norm_epsilon, weights, task.rows, d);
                }
                if let Some((_, table)) = table {
                    table.rotate(&positions[..task.length], task.rows, d, 1, d, false);
                }
            });
    }

    /// RMSNorm of queries over all their heads, and of keys over all theirs: the heads of a row lie
    /// apart.
    fn norm_across_heads(&mut self, block: &Block<Packed>) {
        let spec = self.spec;
        let (d, heads) = (spec.head_width, spec.heads + 2 * spec.kv_heads);
        let Buffers { qkv, squares, .. } = &mut *self.buffers;
        squares.resize(self.count * heads);
        let parts = one_head_each(&self.lengths, qkv, heads, d);
        let sums = one_head_each(&self.lengths, squares, heads, 1);
        parts.into_par_iter().zip(sums).for_each(|(part, sum)| {
            sum.rows
                .iter_mut()
                .zip(part.rows.chunks_exact(d))
                .for_each(|(sum, x)| *sum = dot(x, x));
        });
        let squares = &*squares;
        one_head_each(&self.lengths, qkv, heads, d).into_par_iter().for_each(|task| {
            let (of, norm, first) = match task.head {
                head if head < spec.heads => (0..spec.heads, &block.query_norm, 0),
                head if head < spec.heads + spec.kv_heads => {
                    (spec.heads..spec.heads + spec.kv_heads, &block.key_norm, spec.heads)
                }
                _ => return,
            };
            let gain = norm.as_ref().and_then(|norm| norm.gain.as_ref());
            let gain = gain.map(|gain| &gain[(task.head - first) * d..][..d]);
            let channels = (of.len() * d) as f32;
            for (t, row) in task.rows.chunks_exact_mut(d).enumerate() {
                let at = |head: usize| squares[task.first * heads + head * task.length + t];
                let mean = of.clone().map(at).sum::<f32>() / channels;
                let scale = 1.0 / (mean + spec.norm_epsilon).sqrt();
                row.iter_mut().for_each(|x| *x *= scale);
                for (x, gain) in row.iter_mut().zip(gain.into_iter().flatten()) {
                    *x *= gain;
                }
            }
        });
    }

    /// `x += attention(input)`.
    fn attention(&mut self, layer: usize, block: &Block<Packed>) {
        let spec = self.spec;
        let (d, out_row) = (spec.head_width, spec.attention_width());
        linear::write_heads(
            &block.qkv,
            &self.buffers.input,
            &self.lengths,
            d,
            &mut self.buffers.qkv,
        );
        self.ready(layer, block);
        let (places, Buffers { x, qkv, attended, input, branch, .. }) =
            (&self.places, &mut *self.buffers);
        let heads = spec.heads + 2 * spec.kv_heads;
        let scale = spec.scale(layer) as f32;
        let shape = attention::Shape {
            heads: spec.heads,
            kv_heads: spec.kv_heads,
            head_width: d,
            scale,
            window: spec.layers[layer].window,
            cap: spec.attention_cap,
            slope: None,
        };
        let slopes = self.slopes.as_deref();
        let (qkv, format) = (&*qkv, block.qkv.weight.format());
        one_head_each(&self.lengths, attended, spec.heads, d).into_par_iter().for_each_init(
            || attention::Scratch::new(format),
            |scratch, task| {
                let parts = shape.parts(task.head).map(|part| {
                    let start = (task.first * heads + part * task.length) * d;
                    &qkv[start..start + task.length * d]
                });
                let slope = slopes.map(|slopes| match spec.positions {
                    Positions::RoundedAlibi => {
                        attention::Slope::Rounded { slope: slopes[task.head] as f32, factor: scale }
                    }
                    _ => attention::Slope::Even(slopes[task.head] as f32),
                });
                attention::one_head(attention::Shape { slope, ..shape }, parts, task.rows, scratch);
            },
        );
        input.fill(self.count, out_row, |row, out| {
            let (first, length) = places[row];
            let sequence = &attended[first * out_row..(first + length) * out_row];
            for (head, out) in out.chunks_exact_mut(d).enumerate() {
                out.copy_from_slice(&sequence[(head * length + row - first) * d..][..d]);
            }
        });
        join(spec, &block.attention_output, input, block.attention_branch_norm.as_ref(), x, branch);
    }

    /// `x += mlp(second)`.
    fn mlp(&mut self, block: &Block<Packed>) {
        let spec = self.spec;
        let Buffers { x, input, second, branch, .. } = &mut *self.buffers;
        let Linear { weight, bias } = &block.up;
        weight.multiply_into(second, input, |first, sums| {
            if spec.gated {
                let (gate, up) = sums.split_at_mut(sums.len() / 2);
                let biases =
                    bias.as_ref().map(|bias| (&bias[first..], &bias[spec.hidden + first..]));
                activation::gate(spec.activation, biases, gate, up);
            } else {
                activation::biased(spec.activation, bias.as_ref().map(|bias| &bias[first..]), sums);
            }
        });
        join(spec, &block.down, input, block.mlp_branch_norm.as_ref(), x, branch);
    }
}

/// `x = norm(x)`.
fn norm_rows(spec: &Spec, weights: &NormWeights, x: &mut [f32]) {
    rows(x, spec.width, |_, x| {
        norm::in_place(spec.norm, spec.norm_epsilon, weights, x, spec.width)
    });
}

/// `x += map(input)`, or `x += norm(map(input))`, times the residual scale.
fn join(
    spec: &Spec,
    map: &Linear<Packed>,
    input: &Input,
    norm: Option<&NormWeights>,
    x: &mut [f32],
    branch: &mut Numbers,
) {
    let Some(norm) = norm else { return linear::add(map, input, spec.residual_scale, x) };
    branch.resize(x.len());
    linear::write(map, input, branch);
    norm_rows(spec, norm, branch);
    let branch = &*branch;
    rows(x, spec.width, |first, x| {
        x.iter_mut()
            .zip(&branch[first * spec.width..])
            .for_each(|(x, y)| *x += spec.residual_scale * y);
    });
}

/// `input = norm(x)`, or `x` itself.
fn fill(spec: &Spec, input: &mut Input, x: &[f32], weights: Option<&NormWeights>) {
    let c = spec.width;
    input.fill(x.len() / c, c, |i, out| {
        let x = &x[i * c..(i + 1) * c];
        match weights {
            Some(weights) => norm::forward(spec.norm, spec.norm_epsilon, weights, x, out, c),
            None => out.copy_from_slice(x),
        }
    });
}

/// One head of one sequence.
struct OneHead<'a> {
    /// The sequence's first row, and its rows.
    first: usize,
    length: usize,
    head: usize,
    /// `[T, D]`.
    rows: &'a mut [f32],
}

/// Cuts a buffer into the heads of its sequences.
fn one_head_each<'a>(
    lengths: &[usize],
    data: &'a mut [f32],
    heads: usize,
    d: usize,
) -> Vec<OneHead<'a>> {
    let mut tasks = Vec::new();
    let (mut rest, mut first) = (data, 0);
    for &length in lengths.iter().filter(|length| **length > 0) {
        let (own, after) = std::mem::take(&mut rest).split_at_mut(length * heads * d);
        rest = after;
        let parts = own.chunks_exact_mut(length * d).enumerate();
        tasks.extend(parts.map(|(head, rows)| OneHead { first, length, head, rows }));
        first += length;
    }
    tasks
}
