//! A block of time and channel mixing (RWKV-4): `x += output(receptance wkv)`, then
//! `x += gate down(relu(up)²)`, each of what a norm makes of the stream, blended token by token
//! with the one before.
//!
//! Keys, values and receptances lie in pieces of channels ([`super`]), over which `wkv` goes;
//! sigmoids and squares are taken of tiles in the cache.

use super::layout::Sequences;
use super::pieces::{gather, pieces, width};
use super::wkv::{self, Channels, Tokens};
use crate::kernels::{Input, Numbers, Packed};
use crate::lanes::{sigmoid, vectorised};
use crate::ops::{norm, rows};
use crate::spec::{Spec, TimeMix};
use crate::weights::{NormWeights, TimeMixBlock};
use rayon::prelude::*;

/// What the blocks work in.
#[derive(Debug, Default)]
pub struct Buffers {
    /// `[N, C]`: the stream, normed.
    normed: Numbers,
    /// Pieces.
    keys: Numbers,
    /// Pieces.
    values: Numbers,
    /// Pieces; then, of channel mixing, `[N, C]`.
    gates: Numbers,
}

/// Block `layer`: adds to the stream `x` `[N, C]`; `inputs` are buffers of the pass.
pub fn block(
    (spec, mixer, layer): (&Spec, &TimeMix, usize),
    block: &TimeMixBlock<Packed>,
    Sequences { lengths, places }: Sequences<'_>,
    x: &mut [f32],
    [input, second]: [&mut Input; 2],
    Buffers { normed, keys, values, gates }: &mut Buffers,
) {
    let (c, i, count, epsilon) = (spec.width, mixer.inner, places.len(), spec.epsilon(layer));
    let d = width(&[i]);
    norm_into(spec, epsilon, block.norm.as_ref(), x, normed);
    for buffer in [&mut *keys, &mut *values, &mut *gates] {
        buffer.resize(count * i);
    }
    blend(input, normed, places, &block.key_blend);
    block.key.multiply_heads(input, lengths, d, keys, |_, _| {});
    blend(input, normed, places, &block.value_blend);
    block.value.multiply_heads(input, lengths, d, values, |_, _| {});
    blend(input, normed, places, &block.receptance_blend);
    block.receptance.multiply_heads(input, lengths, d, gates, |_, sums| sigmoids(sums));
    let (own_keys, own_gates) = (&**keys, &**gates);
    pieces(lengths, values, i, d).into_par_iter().for_each(|piece| {
        let (channel, start) = (piece.number * d, piece.first * i);
        let own = start + channel * piece.length..start + (channel + d) * piece.length;
        let channels = Channels {
            decay: &block.decay[channel..channel + d],
            first: &block.first[channel..channel + d],
        };
        let tokens = Tokens { keys: &own_keys[own.clone()], gates: &own_gates[own] };
        wkv::in_place(channels, tokens, piece.rows, d);
    });
    let mixed = &*values;
    input.fill(count, i, |row, out| {
        let (first, length) = places[row];
        gather(&mixed[first * i..], length, row - first, d, out);
    });
    block.output.multiply(input, x, |_, sums, x| add(sums, x));

    norm_into(spec, epsilon, block.channel_norm.as_ref(), x, normed);
    gates.resize(count * c);
    blend(input, normed, places, &block.gate_blend);
    block.gate.multiply(input, gates, |_, sums, out| {
        out.copy_from_slice(sums);
        sigmoids(out);
    });
    blend(input, normed, places, &block.channel_blend);
    block.up.multiply_into(input, second, |_, sums| squares(sums));
    block.down.multiply(second, gates, |_, sums, gates| {
        gates.iter_mut().zip(&*sums).for_each(|(gate, sum)| *gate *= sum);
    });
    let gated = &**gates;
    rows(x, c, |first, x| add(&gated[first * c..], x));
}

/// `normed = norm(x)`.
fn norm_into(
    spec: &Spec,
    epsilon: f32,
    weights: Option<&NormWeights>,
    x: &[f32],
    normed: &mut Numbers,
) {
    let c = spec.width;
    normed.resize(x.len());
    rows(normed, c, |first, out| {
        let x = &x[first * c..first * c + out.len()];
        match weights {
            Some(weights) => norm::forward(spec.norm, epsilon, weights, x, out, c),
            None => out.copy_from_slice(x),
        }
    });
}

/// `input = normed blend + before (1 - blend)`, `before` the row before in the same sequence, or
/// zeros.
fn blend(input: &mut Input, normed: &[f32], places: &[(usize, usize)], blend: &[f32]) {
    let c = blend.len();
    input.fill(places.len(), c, |row, out| {
        let own = &normed[row * c..(row + 1) * c];
        let before = (row > places[row].0).then(|| &normed[(row - 1) * c..row * c]);
        vectorised(
            #[inline(always)]
            || match before {
                None => {
                    out.iter_mut().zip(own).zip(blend).for_each(|((out, own), part)| {
                        *out = own * part;
                    });
                }
                Some(before) => {
                    let both = own.iter().zip(before).zip(blend);
                    out.iter_mut().zip(both).for_each(|(out, ((own, before), part))| {
                        *out = own * part + before * (1.0 - part);
                    });
                }
            },
        );
    });
}

fn add(sums: &[f32], x: &mut [f32]) {
    x.iter_mut().zip(sums).for_each(|(x, sum)| *x += sum);
}

fn sigmoids(x: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            x.iter_mut().for_each(
                #[inline(always)]
                |x| *x = sigmoid(*x),
            );
        },
    );
}

/// `max(x, 0)²`; a NaN stays one.
fn squares(x: &mut [f32]) {
    x.iter_mut().for_each(|x| *x *= if *x < 0.0 { 0.0 } else { *x });
}
