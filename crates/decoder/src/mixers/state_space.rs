//! A block whose tokens are mixed by a selective state space: `x += output(y silu(gate))`, where
//! `y` is what the state gives (`kernels::scan`) of what was convolved of `input(norm(x))`.
//!
//! Products leave their outputs in pieces ([`super`]); bias and softplus of the time steps are
//! applied to tiles in the cache. A piece goes over `TOKENS` tokens at a time, so that what it
//! reads of them is read once, whatever the number of its states.

#![allow(
    clippy::needless_range_loop,
    reason = "see `lanes`: with indices the loops over lanes become vectors"
)]

use super::convolution::{self, Taps};
pub use super::layout::Buffers;
use super::layout::Layout;
use super::layout::Sequences;
use super::pieces::{Piece, gather, pieces};
use super::select::{by_channel, by_head};
use crate::kernels::scan::{self, Block, LANES, STATES, Tokens};
use crate::kernels::{Format, Input, Packed};
use crate::lanes::{exp, sigmoid, vectorised};
use crate::ops::{linear, norm};
use crate::spec::{Selection, Spec, StateSpace};
use crate::weights::StateSpaceBlock;
use rayon::prelude::*;

/// Tokens of a piece that are taken together: what they bring along fits the first-level cache.
const TOKENS: usize = 64;

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
    let layout = Layout::new(mixer);
    let stream = &*x;
    input.fill(count, c, |row, out| {
        let x = &stream[row * c..(row + 1) * c];
        match &block.norm {
            Some(weights) => norm::forward(spec.norm, spec.norm_epsilon, weights, x, out, c),
            None => out.copy_from_slice(x),
        }
    });
    buffers.input.resize(count * layout.width);
    linear::write_heads(&block.input, input, lengths, layout.d, &mut buffers.input);
    convolve(mixer, block, lengths, layout, &mut buffers.input);
    match mixer.selection {
        Selection::Channels { .. } => by_channel(mixer, block, sequences, layout, input, buffers),
        Selection::Heads { .. } => by_head(mixer, block, lengths, layout, buffers),
    }
    scan(mixer, block, lengths, layout, buffers);
    let scanned = &buffers.input;
    input.fill(count, i, |row, out| {
        let (first, length) = places[row];
        let start = first * layout.width + layout.hidden * length;
        gather(&scanned[start..], length, row - first, layout.d, out);
        if let Some(gain) = block.output_norm.as_ref().and_then(|norm| norm.gain.as_ref()) {
            norm::in_groups(spec.norm_epsilon, gain, out, i / mixer.groups());
        }
    });
    linear::add(&block.output, input, 1.0, x);
}

/// Convolves in place.
fn convolve(
    mixer: &StateSpace,
    block: &StateSpaceBlock<Packed>,
    lengths: &[usize],
    Layout { d, width, hidden, .. }: Layout,
    data: &mut [f32],
) {
    let convolved = hidden / d..(hidden + mixer.convolved()) / d;
    pieces(lengths, data, width, d)
        .into_par_iter()
        .filter(|piece| convolved.contains(&piece.number))
        .for_each(|piece| {
            let first = piece.number * d - hidden;
            let taps = &block.taps[first * mixer.taps..(first + d) * mixer.taps];
            let bias = block.taps_bias.as_ref().map(|bias| &bias[first..first + d]);
            convolution::in_place(Taps { taps, bias }, piece.rows, d);
        });
}

/// Goes over all tokens with the state; leaves `y silu(gate)` where what was convolved stood.
fn scan(
    mixer: &StateSpace,
    block: &StateSpaceBlock<Packed>,
    lengths: &[usize],
    Layout { d, width, hidden, gate }: Layout,
    buffers: &mut Buffers,
) {
    let (i, s) = (mixer.inner, mixer.state);
    let (blocks, groups) = (s.div_ceil(STATES), mixer.groups());
    let Buffers { input, steps, shared, .. } = buffers;
    let (steps, shared) = (&*steps, &*shared);
    let format = block.input.weight.format();
    // What was convolved, and its gate, piece by piece.
    let mut tasks = Vec::with_capacity(lengths.len() * i / d);
    for whole in pieces(lengths, input, width, width) {
        let Piece { first, length, rows, .. } = whole;
        let (before, after) = rows.split_at_mut(hidden.max(gate) * length);
        let (x, gates) = if hidden < gate { (before, &*after) } else { (after, &*before) };
        let x = x[hidden.min(gate) * length..].chunks_exact_mut(length * d).take(i / d);
        tasks.extend(
            x.zip(gates.chunks_exact(length * d))
                .enumerate()
                .map(|(number, (rows, gate))| (Piece { first, length, number, rows }, gate)),
        );
    }
    tasks.into_par_iter().for_each_init(Scratch::default, |scratch, (piece, gate)| {
        let (first, length) = (piece.first, piece.length);
        let channel = piece.number * d;
        let (group, skip, own_steps);
        match mixer.selection {
            Selection::Channels { .. } => {
                group = 0;
                skip = Skip::Each(&block.skip[channel..channel + d]);
                let own = first * i + channel * length;
                own_steps = Steps::Each(&steps[own..own + length * d]);
                scratch.begin(&block.rate[channel * s..(channel + d) * s], s);
            }
            Selection::Heads { heads, groups, .. } => {
                let head = channel / (i / heads);
                group = head / (heads / groups);
                skip = Skip::All(block.skip[head]);
                let own = 2 * (first * heads + head * length);
                let (of_head, rest) = steps[own..].split_at(length);
                own_steps = Steps::All([of_head, &rest[..length]]);
                scratch.begin(&[], s);
            }
        }
        let piece_size = length * STATES;
        let of = |which: usize| {
            let start = first * 2 * groups * blocks * STATES;
            let start = start + (which * groups + group) * blocks * piece_size;
            shared[start..start + blocks * piece_size].as_chunks::<STATES>().0
        };
        Own { format, channels: d, steps: own_steps, gate, b: of(0), c: of(1), skip }
            .scan(piece.rows, scratch);
    });
}

/// What a thread needs beside what it reads.
#[derive(Default)]
struct Scratch {
    /// Rates as exponents of 2, block by block of the state; of no use with heads.
    rates: Vec<Block>,
    state: Vec<Block>,
    /// `[TOKENS][LANES]`.
    y: Vec<[f32; LANES]>,
}

impl Scratch {
    /// Other channels, by the logarithms of their rates `[d, S]` where each has its own, and a
    /// state of zeros.
    fn begin(&mut self, rates: &[f32], state: usize) {
        let blocks = state.div_ceil(STATES);
        self.state.clear();
        self.state.resize(blocks, [[0.0; LANES]; STATES]);
        if rates.is_empty() {
            return;
        }
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

/// Time steps of a piece.
#[derive(Clone, Copy)]
enum Steps<'a> {
    /// `[T, d]`.
    Each(&'a [f32]),
    /// `[T]`, and the decays.
    All([&'a [f32]; 2]),
}

/// What passes beside the state.
#[derive(Clone, Copy)]
enum Skip<'a> {
    Each(&'a [f32]),
    All(f32),
}

/// What one piece of one sequence reads.
struct Own<'a> {
    format: Format,
    channels: usize,
    steps: Steps<'a>,
    gate: &'a [f32],
    /// Block by block of the state, `[T][STATES]` each.
    b: &'a [[f32; STATES]],
    c: &'a [[f32; STATES]],
    skip: Skip<'a>,
}

impl Own<'_> {
    /// Goes over the piece `x` `[T, d]`, and leaves the outputs in it.
    fn scan(&self, x: &mut [f32], scratch: &mut Scratch) {
        let d = self.channels;
        let length = x.len() / d;
        for first in (0..length).step_by(TOKENS) {
            let last = (first + TOKENS).min(length);
            let here = first * d..last * d;
            let x = &mut x[here.clone()];
            let y = &mut scratch.y;
            y.resize(last - first, [0.0; LANES]);
            for (y, x) in y.iter_mut().zip(x.chunks_exact(d)) {
                for i in 0..d {
                    let skip = match self.skip {
                        Skip::Each(skip) => skip[i],
                        Skip::All(skip) => skip,
                    };
                    y[i] = skip * x[i];
                }
            }
            for (number, state) in scratch.state.iter_mut().enumerate() {
                let own = number * length + first..number * length + last;
                let tokens = Tokens { channels: d, x, b: &self.b[own.clone()], c: &self.c[own] };
                match self.steps {
                    Steps::Each(steps) => {
                        let (steps, rates) = (&steps[here.clone()], &scratch.rates[number]);
                        scan::by_channel(self.format, tokens, steps, rates, state, y);
                    }
                    Steps::All(both) => {
                        let both = both.map(|numbers| &numbers[first..last]);
                        scan::by_head(self.format, tokens, both, state, y);
                    }
                }
            }
            gated(d, y, &self.gate[here], x);
        }
    }
}

/// `x = y silu(gate)`.
fn gated(d: usize, y: &[[f32; LANES]], gate: &[f32], x: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || match d {
            16 => gated_of::<16>(y, gate, x),
            8 => gated_of::<8>(y, gate, x),
            4 => gated_of::<4>(y, gate, x),
            2 => gated_of::<2>(y, gate, x),
            _ => gated_of::<1>(y, gate, x),
        },
    );
}

#[inline(always)]
fn gated_of<const D: usize>(y: &[[f32; LANES]], gate: &[f32], x: &mut [f32]) {
    let (gate, x) = (gate.as_chunks::<D>().0, x.as_chunks_mut::<D>().0);
    for t in 0..y.len() {
        for i in 0..D {
            x[t][i] = y[t][i] * (gate[t][i] * sigmoid(gate[t][i]));
        }
    }
}
