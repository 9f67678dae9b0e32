//! A block whose tokens are mixed by a selective state space: `x += output(y silu(gate))`, where
//! `y` is what the state gives (`kernels::scan`) of the convolved first half of `input(norm(x))`.
//!
//! Products leave their outputs in pieces ([`super`]); bias and softplus of the time steps are
//! applied to tiles in the cache. A piece goes over [`TOKENS`] tokens at a time, so that what it
//! reads of them is read once, whatever the number of its states.

#![allow(
    clippy::needless_range_loop,
    reason = "see `lanes`: with indices the loops over lanes become vectors"
)]

use super::convolution::{self, Taps};
use super::pieces::{Piece, gather, pieces, width};
use crate::kernels::scan::{self, Block, LANES, STATES, Tokens};
use crate::kernels::{Format, Input, Numbers, Packed};
use crate::lanes::{dot, exp, sigmoid, softplus, vectorised};
use crate::ops::{linear, norm, rows};
use crate::spec::{Selection, Spec, StateSpace};
use crate::weights::StateSpaceBlock;
use rayon::prelude::*;

/// Tokens of a piece that are taken together: what they bring along fits the first-level cache.
const TOKENS: usize = 64;

/// What the blocks work in.
#[derive(Debug, Default)]
pub struct Buffers {
    /// What is convolved, then gate: pieces.
    input: Numbers,
    /// Time steps: pieces.
    steps: Numbers,
    /// `[N, R + 2 S]`.
    selected: Numbers,
    /// `B`, then `C`, of a sequence: pieces of [`STATES`] numbers, those beyond `S` 0.
    shared: Numbers,
}

/// The sequences of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Sequences<'a> {
    /// Tokens of each.
    pub lengths: &'a [usize],
    /// Of each row: the row at which its sequence begins, and that sequence's length.
    pub places: &'a [(usize, usize)],
}

/// One block: adds to the stream `x` `[N, C]`; `input` is a buffer of the pass.
pub fn block(
    (spec, mixer): (&Spec, &StateSpace),
    block: &StateSpaceBlock<Packed>,
    sequences: Sequences<'_>,
    x: &mut [f32],
    input: &mut Input,
    buffers: &mut Buffers,
) {
    let Sequences { lengths, places } = sequences;
    let (c, i, count) = (spec.width, mixer.inner, places.len());
    let d = width(&[i]);
    let stream = &*x;
    input.fill(count, c, |row, out| {
        let x = &stream[row * c..(row + 1) * c];
        match &block.norm {
            Some(weights) => norm::forward(spec.norm, spec.norm_epsilon, weights, x, out, c),
            None => out.copy_from_slice(x),
        }
    });
    buffers.input.resize(count * 2 * i);
    linear::write_heads(&block.input, input, lengths, d, &mut buffers.input);
    convolve(mixer, block, lengths, d, &mut buffers.input);
    select(mixer, block, sequences, d, input, buffers);
    scan(mixer, block, lengths, d, buffers);
    let scanned = &buffers.input;
    input.fill(count, i, |row, out| {
        let (first, length) = places[row];
        gather(&scanned[first * 2 * i..], length, row - first, d, out);
    });
    linear::add(&block.output, input, 1.0, x);
}

/// Convolves the first half of what the first map leaves, in place.
fn convolve(
    mixer: &StateSpace,
    block: &StateSpaceBlock<Packed>,
    lengths: &[usize],
    d: usize,
    data: &mut [f32],
) {
    let convolved = mixer.convolved() / d;
    pieces(lengths, data, 2 * mixer.inner / d, d)
        .into_par_iter()
        .filter(|piece| piece.number < convolved)
        .for_each(|piece| {
            let first = piece.number * d;
            let taps = &block.taps[first * mixer.taps..(first + d) * mixer.taps];
            let bias = block.taps_bias.as_ref().map(|bias| &bias[first..first + d]);
            convolution::in_place(Taps { taps, bias }, piece.rows, d);
        });
}

/// Time steps, `B` and `C` of what was convolved.
fn select(
    mixer: &StateSpace,
    block: &StateSpaceBlock<Packed>,
    Sequences { lengths, places }: Sequences<'_>,
    d: usize,
    input: &mut Input,
    buffers: &mut Buffers,
) {
    let Selection::Channels { rank, norm_epsilon } = mixer.selection;
    let (Some(selection), Some(step)) = (&block.selection, &block.step) else { return };
    let (i, s, count) = (mixer.inner, mixer.state, places.len());
    let Buffers { input: convolved, steps, selected, shared } = buffers;
    let convolved = &*convolved;
    input.fill(count, i, |row, out| {
        let (first, length) = places[row];
        gather(&convolved[first * 2 * i..], length, row - first, d, out);
    });
    let wide = rank + 2 * s;
    selected.resize(count * wide);
    selection.multiply(input, selected, |_, sums, out| out.copy_from_slice(sums));
    if let Some(epsilon) = norm_epsilon {
        rows(selected, wide, |_, rows| {
            for row in rows.chunks_exact_mut(wide) {
                let (steps, rest) = row.split_at_mut(rank);
                let (b, c) = rest.split_at_mut(s);
                [steps, b, c].into_iter().for_each(|part| plain_norm(epsilon, part));
            }
        });
    }
    let selected = &*selected;
    let blocks = s.div_ceil(STATES);
    shared.resize(count * 2 * blocks * STATES);
    pieces(lengths, shared, 2 * blocks, STATES).into_par_iter().for_each(|piece| {
        let from = piece.number % blocks * STATES;
        let start = rank + piece.number / blocks * s + from;
        let taken = STATES.min(s - from);
        for (t, out) in piece.rows.as_chunks_mut::<STATES>().0.iter_mut().enumerate() {
            let row = &selected[(piece.first + t) * wide + start..][..taken];
            out[..taken].copy_from_slice(row);
            out[taken..].fill(0.0);
        }
    });
    input.fill(count, rank, |row, out| {
        out.copy_from_slice(&selected[row * wide..row * wide + rank]);
    });
    steps.resize(count * i);
    step.multiply_heads(input, lengths, d, steps, |first, sums| {
        let bias = &block.step_bias[first..];
        vectorised(
            #[inline(always)]
            || {
                sums.iter_mut().zip(bias).for_each(
                    #[inline(always)]
                    |(step, bias)| *step = softplus(*step + bias),
                );
            },
        );
    });
}

/// RMSNorm without gain.
fn plain_norm(epsilon: f32, x: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            let scale = 1.0 / (dot(x, x) / x.len() as f32 + epsilon).sqrt();
            x.iter_mut().for_each(|x| *x *= scale);
        },
    );
}

/// Goes over all tokens with the state; leaves `y silu(gate)` where what was convolved stood.
fn scan(
    mixer: &StateSpace,
    block: &StateSpaceBlock<Packed>,
    lengths: &[usize],
    d: usize,
    buffers: &mut Buffers,
) {
    let (i, blocks) = (mixer.inner, mixer.state.div_ceil(STATES));
    let Buffers { input, steps, shared, .. } = buffers;
    let (steps, shared) = (&*steps, &*shared);
    let format = block.input.weight.format();
    // What was convolved and its gate are two pieces of a sequence.
    let count = i / d;
    let mut halves = pieces(lengths, input, 2, i).into_iter();
    let mut tasks = Vec::with_capacity(lengths.len() * count);
    while let (Some(x), Some(gate)) = (halves.next(), halves.next()) {
        let (first, length) = (x.first, x.length);
        let (x, gate) = (x.rows.chunks_exact_mut(length * d), gate.rows.chunks_exact(length * d));
        tasks.extend(
            x.zip(gate)
                .enumerate()
                .map(|(number, (rows, gate))| (Piece { first, length, number, rows }, gate)),
        );
    }
    tasks.into_par_iter().for_each_init(Scratch::default, |scratch, (piece, gate)| {
        let (first, length) = (piece.first, piece.length);
        let start = first * i + piece.number * length * d;
        let own = Own {
            format,
            channels: d,
            steps: &steps[start..start + length * d],
            gate,
            shared: &shared[first * 2 * blocks * STATES..][..length * 2 * blocks * STATES],
            skip: &block.skip[piece.number * d..][..d],
        };
        let rates = &block.rate[piece.number * d * mixer.state..][..d * mixer.state];
        scratch.begin(rates, mixer.state);
        own.scan(piece.rows, scratch);
    });
}

/// What a thread needs beside what it reads.
#[derive(Default)]
struct Scratch {
    /// Rates as exponents of 2, block by block of the state.
    rates: Vec<Block>,
    state: Vec<Block>,
    /// `[TOKENS][LANES]`.
    y: Vec<[f32; LANES]>,
}

impl Scratch {
    /// Other channels, by the logarithms of their rates `[d, S]`, and a state of zeros.
    fn begin(&mut self, rates: &[f32], state: usize) {
        let blocks = state.div_ceil(STATES);
        self.state.clear();
        self.state.resize(blocks, [[0.0; LANES]; STATES]);
        self.rates.clear();
        // The exponential of what is not there is next to nothing.
        self.rates.resize(blocks, [[f32::NEG_INFINITY; LANES]; STATES]);
        for (lane, rates) in rates.chunks_exact(state).enumerate() {
            for (n, rate) in rates.iter().enumerate() {
                self.rates[n / STATES][n % STATES][lane] = *rate;
            }
        }
        vectorised(
            #[inline(always)]
            || {
                self.rates.as_flattened_mut().as_flattened_mut().iter_mut().for_each(
                    #[inline(always)]
                    |rate| *rate = -std::f32::consts::LOG2_E * exp(*rate),
                );
            },
        );
    }
}

/// What one piece of one sequence reads.
struct Own<'a> {
    format: Format,
    channels: usize,
    steps: &'a [f32],
    gate: &'a [f32],
    /// `B`, then `C`, block by block of the state.
    shared: &'a [f32],
    skip: &'a [f32],
}

impl Own<'_> {
    /// Goes over the piece `x` `[T, d]`, and leaves the outputs in it.
    fn scan(&self, x: &mut [f32], scratch: &mut Scratch) {
        let d = self.channels;
        let length = x.len() / d;
        let shared = self.shared.as_chunks::<STATES>().0;
        let blocks = scratch.rates.len();
        for first in (0..length).step_by(TOKENS) {
            let last = (first + TOKENS).min(length);
            let here = first * d..last * d;
            let x = &mut x[here.clone()];
            let y = &mut scratch.y;
            y.resize(last - first, [0.0; LANES]);
            for (y, x) in y.iter_mut().zip(x.chunks_exact(d)) {
                for i in 0..d {
                    y[i] = self.skip[i] * x[i];
                }
            }
            for number in 0..blocks {
                let of = |start: usize| &shared[start * length + first..start * length + last];
                let tokens = Tokens { channels: d, x, b: of(number), c: of(blocks + number) };
                let (rates, state) = (&scratch.rates[number], &mut scratch.state[number]);
                scan::by_channel(self.format, tokens, &self.steps[here.clone()], rates, state, y);
            }
            gated(d, y, &self.gate[here], x);
        }
    }
}

/// `x = y silu(gate)`.
fn gated(d: usize, y: &[[f32; LANES]], gate: &[f32], x: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            let rows = y.iter().zip(gate.chunks_exact(d)).zip(x.chunks_exact_mut(d));
            rows.for_each(
                #[inline(always)]
                |((y, gate), x)| {
                    for i in 0..d {
                        x[i] = y[i] * (gate[i] * sigmoid(gate[i]));
                    }
                },
            );
        },
    );
}
