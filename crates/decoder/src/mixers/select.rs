//! Time steps, `B` and `C` of the tokens of a state space: from what was convolved, or from the
//! first map.

use super::layout::{Buffers, Layout, Sequences};
use super::pieces::{gather, pieces, place};
use crate::kernels::scan::STATES;
use crate::kernels::{Input, Packed};
use crate::lanes::{dot, exp, exp2, softplus, vectorised};
use crate::ops::rows;
use crate::spec::{Selection, StateSpace};
use crate::weights::StateSpaceBlock;
use rayon::prelude::*;

/// By two maps of what was convolved; each channel has its time step.
pub(super) fn by_channel(
    mixer: &StateSpace,
    block: &StateSpaceBlock<Packed>,
    Sequences { lengths, places }: Sequences<'_>,
    Layout { d, width, .. }: Layout,
    input: &mut Input,
    buffers: &mut Buffers,
) {
    let Selection::Channels { rank, norm_epsilon } = mixer.selection else { return };
    let (Some(selection), Some(step)) = (&block.selection, &block.step) else { return };
    let (i, s, count) = (mixer.inner, mixer.state, places.len());
    let Buffers { input: convolved, steps, selected, shared } = buffers;
    let convolved = &*convolved;
    input.fill(count, i, |row, out| {
        let (first, length) = places[row];
        gather(&convolved[first * width..], length, row - first, d, out);
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
    pieces(lengths, shared, 2 * blocks * STATES, STATES).into_par_iter().for_each(|piece| {
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

/// From the first map itself; a head has its time step, from which its decay follows.
pub(super) fn by_head(
    mixer: &StateSpace,
    block: &StateSpaceBlock<Packed>,
    lengths: &[usize],
    Layout { d, width, hidden, .. }: Layout,
    buffers: &mut Buffers,
) {
    let Selection::Heads { heads, groups, limits: [low, high] } = mixer.selection else { return };
    let (i, s, count) = (mixer.inner, mixer.state, lengths.iter().sum::<usize>());
    let Buffers { input, steps, shared, .. } = buffers;
    let input = &*input;
    let blocks = s.div_ceil(STATES);
    let each = 2 * groups * blocks * STATES;
    shared.resize(count * each);
    pieces(lengths, shared, each, STATES).into_par_iter().for_each(|piece| {
        let from = piece.number % blocks * STATES;
        let channel = hidden + i + piece.number / blocks * s + from;
        let taken = STATES.min(s - from);
        let (own, length) = (&input[piece.first * width..], piece.length);
        for (t, out) in piece.rows.as_chunks_mut::<STATES>().0.iter_mut().enumerate() {
            // Whole runs of the pieces in which they lie.
            let mut done = 0;
            while done < taken {
                let run = (d - (channel + done) % d).min(taken - done);
                let at = place(width, length, t, channel + done, d);
                out[done..done + run].copy_from_slice(&own[at..at + run]);
                done += run;
            }
            out[taken..].fill(0.0);
        }
    });
    steps.resize(count * 2 * heads);
    pieces(lengths, steps, 2 * heads, 2).into_par_iter().for_each(|piece| {
        let (head, length) = (piece.number, piece.length);
        let own = &input[piece.first * width..];
        let (steps, decays) = piece.rows.split_at_mut(length);
        for (t, step) in steps.iter_mut().enumerate() {
            *step = own[place(width, length, t, width - heads + head, d)];
        }
        let (bias, rate) = (block.step_bias[head], block.rate[head]);
        vectorised(
            #[inline(always)]
            || {
                let rate = -std::f32::consts::LOG2_E * exp(rate);
                steps.iter_mut().zip(decays).for_each(
                    #[inline(always)]
                    |(step, decay)| {
                        let x = softplus(*step + bias);
                        // Written so that a NaN stays one.
                        let x = if x < low { low } else { x };
                        *step = if x > high { high } else { x };
                        *decay = exp2(*step * rate);
                    },
                );
            },
        );
    });
}
