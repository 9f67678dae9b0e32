//! The forward pass as one would explain it: f64, one sequence, one row at a time, no blocking, no
//! batching.
//!
//! It judges the mapping of checkpoints apart from the rounding of the fast pass: with the right
//! weights in the right places it agrees with the goldens to about 1e-11, with any mistake it does
//! not at all.

use relscale_decoder::matrix::Matrix;
use relscale_decoder::spec::{
    Activation, Mixer, NormKind, NormPlacement, NormSpan, Positions, Residual, Rotary,
    RotaryScaling, Selection, Spec, StateSpace, TimeMix,
};
use relscale_decoder::weights::{
    Block, Linear, NormWeights, StateSpaceBlock, TimeMixBlock, Weights,
};

type Row = Vec<f64>;

/// Logits `[T][V]` of one sequence.
pub fn logits(spec: &Spec, weights: &Weights, ids: &[u32]) -> Vec<Row> {
    let embedding = |&id: &u32| {
        let scale = f64::from(spec.embedding_scale);
        weights.token_embedding.row(id as usize).iter().map(|&x| scale * f64::from(x)).collect()
    };
    let mut rows: Vec<Row> = ids.iter().map(embedding).collect();
    if let Some(project) = &weights.project_in {
        rows = rows.iter().map(|row| linear(project, row)).collect();
    }
    if let (Positions::Learned { offset, .. }, Some(table)) =
        (&spec.positions, &weights.position_embedding)
    {
        for (t, row) in rows.iter_mut().enumerate() {
            add(row, &to_f64(table.row(t + offset)));
        }
    }
    if let Some(norm) = &weights.embedding_norm {
        rows = normed(spec, norm, &rows);
    }
    for (layer, block) in weights.blocks.iter().enumerate() {
        let maybe = |norm: &Option<NormWeights>, rows: Vec<Row>| match norm {
            Some(norm) => normed(spec, norm, &rows),
            None => rows,
        };
        let attention = |rows: &[Row]| {
            let mixed = attend(spec, layer, block, rows);
            let out = mixed.iter().map(|row| linear(&block.attention_output, row)).collect();
            scaled_by(spec.residual_scale, maybe(&block.attention_branch_norm, out))
        };
        let mlp = |rows: &[Row]| {
            let one = |row: &Row| linear(&block.down, &activate(spec, &linear(&block.up, row)));
            let out = maybe(&block.mlp_branch_norm, rows.iter().map(one).collect());
            scaled_by(spec.residual_scale, out)
        };
        let norm1 = |rows: &[Row]| maybe(&block.attention_norm, rows.to_vec());
        let norm2 = |rows: &[Row]| maybe(&block.mlp_norm, rows.to_vec());
        rows = match (spec.norm_placement, spec.residual) {
            (NormPlacement::AfterResidual, _) => {
                let middle = norm1(&sum(&rows, &attention(&rows)));
                norm2(&sum(&middle, &mlp(&middle)))
            }
            (_, Residual::Sequential) => {
                let middle = sum(&rows, &attention(&norm1(&rows)));
                sum(&middle, &mlp(&norm2(&middle)))
            }
            (_, Residual::Parallel) => {
                sum(&sum(&rows, &attention(&norm1(&rows))), &mlp(&norm2(&rows)))
            }
            (_, Residual::ParallelOneNorm) => {
                sum(&sum(&rows, &attention(&norm1(&rows))), &mlp(&norm1(&rows)))
            }
        };
    }
    if let Mixer::StateSpace(mixer) = &spec.mixer {
        for block in &weights.state_spaces {
            let norm = block.norm.as_ref().expect("a norm before each state space");
            rows = sum(&rows, &state_space(spec, mixer, block, &normed(spec, norm, &rows)));
        }
    }
    let mut last = spec.clone();
    if let Mixer::TimeMix(mixer) = &spec.mixer {
        rows = time_mixes(spec, mixer, &weights.time_mixes, rows);
        last.norm_epsilon = mixer.final_epsilon;
    }
    if let Some(norm) = &weights.final_norm {
        rows = normed(&last, norm, &rows);
    }
    if let Some(project) = &weights.project_out {
        rows = rows.iter().map(|row| linear(project, row)).collect();
    }
    let logits = |row: &Row| {
        let mut logits = product(weights.head(), row);
        if let Some(bias) = &weights.head_bias {
            add(&mut logits, &to_f64(bias));
        }
        let scaled = |z: f64| capped(spec.logit_cap, f64::from(spec.logit_scale) * z);
        logits.into_iter().map(scaled).collect()
    };
    rows.iter().map(logits).collect()
}

fn scaled_by(scale: f32, mut rows: Vec<Row>) -> Vec<Row> {
    rows.iter_mut().flatten().for_each(|x| *x *= f64::from(scale));
    rows
}

/// `z` itself without a cap.
pub fn capped(cap: Option<f32>, x: f64) -> f64 {
    cap.map_or(x, |cap| f64::from(cap) * (x / f64::from(cap)).tanh())
}

fn to_f64(row: &[f32]) -> Row {
    row.iter().map(|&x| x.into()).collect()
}

fn add(row: &mut Row, other: &[f64]) {
    row.iter_mut().zip(other).for_each(|(a, b)| *a += b);
}

fn sum(a: &[Row], b: &[Row]) -> Vec<Row> {
    let mut a = a.to_vec();
    a.iter_mut().zip(b).for_each(|(a, b)| add(a, b));
    a
}

fn product(matrix: &Matrix, row: &[f64]) -> Row {
    let dot = |i: usize| matrix.row(i).iter().zip(row).map(|(&w, x)| f64::from(w) * x).sum();
    (0..matrix.rows).map(dot).collect()
}

fn linear(map: &Linear, row: &[f64]) -> Row {
    let mut out = product(&map.weight, row);
    if let Some(bias) = &map.bias {
        add(&mut out, &to_f64(bias));
    }
    out
}

fn normed(spec: &Spec, weights: &NormWeights, rows: &[Row]) -> Vec<Row> {
    let one = |row: &Row| -> Row {
        let n = row.len() as f64;
        let mean = match spec.norm {
            NormKind::Layer => row.iter().sum::<f64>() / n,
            NormKind::Rms => 0.0,
        };
        let square = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let root = (square + f64::from(spec.norm_epsilon)).sqrt();
        let gain = |i: usize| weights.gain.as_ref().map_or(1.0, |g| f64::from(g[i]));
        let bias = |i: usize| weights.bias.as_ref().map_or(0.0, |b| f64::from(b[i]));
        row.iter().enumerate().map(|(i, x)| (x - mean) / root * gain(i) + bias(i)).collect()
    };
    rows.iter().map(one).collect()
}

fn activate(spec: &Spec, row: &[f64]) -> Row {
    let tanh_gelu = |x: f64| {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        0.5 * x * (1.0 + inner.tanh())
    };
    let (first, second) = row.split_at(spec.hidden);
    let of = |x: f64| match spec.activation {
        Activation::Gelu => 0.5 * x * (1.0 + erf(x / 2_f64.sqrt())),
        Activation::GeluTanh => tanh_gelu(x),
        Activation::Relu => x.max(0.0),
        Activation::Silu => x / (1.0 + (-x).exp()),
    };
    let up = |i: usize| if spec.gated { second[i] } else { 1.0 };
    first.iter().enumerate().map(|(i, &x)| of(x) * up(i)).collect()
}

/// Error function by its Maclaurin series below 3 and the continued fraction above; both to about
/// 1e-15.
fn erf(x: f64) -> f64 {
    if x < 0.0 {
        return -erf(-x);
    }
    if x < 3.0 {
        let (mut term, mut total) = (x, x);
        for n in 1..200 {
            let n = f64::from(n);
            term *= -x * x / n;
            total += term / (2.0 * n + 1.0);
        }
        return total * 2.0 / std::f64::consts::PI.sqrt();
    }
    let fraction = (1..60).rev().fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    1.0 - (-x * x).exp() / std::f64::consts::PI.sqrt() / fraction
}

/// Causal attention of one block, heads one after another.
fn attend(spec: &Spec, layer: usize, block: &Block, rows: &[Row]) -> Vec<Row> {
    let d = spec.head_width;
    let (h, g) = (spec.heads, spec.kv_heads);
    let (scale, window) = (spec.scale(layer), spec.layers[layer].window);
    let slopes = spec.alibi_slopes();
    // Queries, keys and values of each row, the first two normed and turned.
    let ready = |(t, row): (usize, &Row)| -> [Row; 3] {
        let qkv = linear(&block.qkv, row);
        let qkv: Row = match spec.clip.map(f64::from) {
            Some(bound) => qkv.iter().map(|x| x.max(-bound).min(bound)).collect(),
            None => qkv,
        };
        let (q, rest) = qkv.split_at(h * d);
        let (k, v) = rest.split_at(g * d);
        let turned = |part: &[f64], norm: &Option<NormWeights>| -> Row {
            let part = match (norm, spec.query_key_norm) {
                (Some(norm), Some(NormSpan::Width)) => {
                    normed(spec, norm, &[part.to_vec()]).concat()
                }
                (Some(norm), Some(NormSpan::Head)) => {
                    let heads: Vec<Row> = part.chunks(d).map(<[f64]>::to_vec).collect();
                    normed(spec, norm, &heads).concat()
                }
                (Some(norm), Some(NormSpan::EachHead)) => part
                    .chunks(d)
                    .enumerate()
                    .flat_map(|(head, x)| normed(spec, &norm.of_head(head, d), &[x.to_vec()]))
                    .flatten()
                    .collect(),
                _ => part.to_vec(),
            };
            let mut heads: Vec<Row> = part.chunks(d).map(<[f64]>::to_vec).collect();
            if let Some(rotary) = &spec.layers[layer].rotary {
                heads.iter_mut().for_each(|head| rotate(rotary, head, t, rows.len()));
            }
            heads.concat()
        };
        [turned(q, &block.query_norm), turned(k, &block.key_norm), v.to_vec()]
    };
    let qkv: Vec<[Row; 3]> = rows.iter().enumerate().map(ready).collect();
    let mut out = vec![Vec::with_capacity(h * d); qkv.len()];
    for head in 0..h {
        let group = head / (h / g);
        for t in 0..qkv.len() {
            let query = &qkv[t][0][head * d..(head + 1) * d];
            let first = window.map_or(0, |window| (t + 1).saturating_sub(window));
            let scores: Vec<f64> = (first..=t)
                .map(|s| {
                    let key = &qkv[s][1][group * d..(group + 1) * d];
                    let score = scale * query.iter().zip(key).map(|(a, b)| a * b).sum::<f64>();
                    let lost = slopes.as_ref().map_or(0.0, |slopes| match spec.positions {
                        Positions::RoundedAlibi => {
                            let kept = |x: f64| half::bf16::from_f64(x).to_f64();
                            let at = |position: usize| kept(slopes[head] * kept(position as f64));
                            scale * (at(t) - at(s))
                        }
                        _ => slopes[head] * (t - s) as f64,
                    });
                    capped(spec.attention_cap, score) - lost
                })
                .collect();
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
            let total: f64 = weights.iter().sum();
            let mut mixed = vec![0.0; d];
            for (s, weight) in (first..).zip(&weights) {
                let value = &qkv[s][2][group * d..(group + 1) * d];
                mixed.iter_mut().zip(value).for_each(|(m, v)| *m += weight / total * v);
            }
            out[t].extend(mixed);
        }
    }
    out
}

fn silu(x: f64) -> f64 {
    x / (1.0 + (-x).exp())
}

/// A selective state space, token by token.
fn state_space(spec: &Spec, mixer: &StateSpace, block: &StateSpaceBlock, rows: &[Row]) -> Vec<Row> {
    let (inner, states) = (mixer.inner, mixer.state);
    let projected: Vec<Row> = rows.iter().map(|row| linear(&block.input, row)).collect();
    let (hidden, gate) = match mixer.selection {
        Selection::Channels { .. } => (0, inner),
        Selection::Heads { .. } => (inner, 0),
    };
    let mut state = vec![vec![0.0; states]; inner];
    let mut out = Vec::new();
    for t in 0..rows.len() {
        let convolve = |i: usize| {
            let taps = &block.taps[i * mixer.taps..(i + 1) * mixer.taps];
            let bias = block.taps_bias.as_ref().map_or(0.0, |bias| f64::from(bias[i]));
            let seen = taps.iter().rev().zip(projected[..=t].iter().rev());
            silu(bias + seen.map(|(tap, row)| f64::from(*tap) * row[hidden + i]).sum::<f64>())
        };
        let x: Row = (0..mixer.convolved()).map(convolve).collect();
        // Time step and decay of channel and number of state, B, C, skip.
        let softplus = |x: f64| x.exp().ln_1p();
        let selected = block.selection.as_ref().map(|map| product(map, &x)).unwrap_or_default();
        let by_rank = match mixer.selection {
            Selection::Channels { rank, norm_epsilon } => {
                let norm = |part: &[f64]| -> Row {
                    let square = part.iter().map(|x| x * x).sum::<f64>() / part.len() as f64;
                    let root = norm_epsilon.map_or(1.0, |e| (square + f64::from(e)).sqrt());
                    part.iter().map(|x| x / root).collect()
                };
                let (step, rest) = selected.split_at(rank);
                let (b, c) = rest.split_at(states);
                Some((product(block.step.as_ref().unwrap(), &norm(step)), norm(b), norm(c)))
            }
            Selection::Heads { .. } => None,
        };
        let mut y: Row = (0..inner)
            .map(|i| {
                let (step, own, b, c) = match (&by_rank, &mixer.selection) {
                    (Some((step, b, c)), _) => {
                        (softplus(step[i] + f64::from(block.step_bias[i])), i, &b[..], &c[..])
                    }
                    (None, Selection::Heads { heads, groups, limits }) => {
                        let head = i / (inner / heads);
                        let group = head / (heads / groups);
                        let step = projected[t][hidden + mixer.convolved() + head];
                        let step = softplus(step + f64::from(block.step_bias[head]))
                            .clamp(limits[0].into(), limits[1].into());
                        let (b, c) = x[inner..].split_at(groups * states);
                        (step, head, &b[group * states..], &c[group * states..])
                    }
                    _ => unreachable!("channels have a rank"),
                };
                let mut y = f64::from(block.skip[own]) * x[i];
                for n in 0..states {
                    let rate = match by_rank {
                        Some(_) => block.rate[i * states + n],
                        None => block.rate[own],
                    };
                    let decay = (-step * f64::from(rate).exp()).exp();
                    state[i][n] = decay * state[i][n] + step * b[n] * x[i];
                    y += c[n] * state[i][n];
                }
                y * silu(projected[t][gate + i])
            })
            .collect();
        if let Some(norm) = &block.output_norm {
            // A group at a time.
            let (gain, width) = (norm.gain.as_ref().unwrap(), inner / mixer.groups());
            for (y, gain) in y.chunks_mut(width).zip(gain.chunks(width)) {
                let square = y.iter().map(|x| x * x).sum::<f64>() / width as f64;
                let root = (square + f64::from(spec.norm_epsilon)).sqrt();
                y.iter_mut().zip(gain).for_each(|(y, g)| *y *= f64::from(*g) / root);
            }
        }
        out.push(linear(&block.output, &y));
    }
    out
}

/// Time and channel mixing, token by token; the stream is divided before each norm by what it would
/// have been halved to, and so it is left.
fn time_mixes(
    spec: &Spec,
    mixer: &TimeMix,
    blocks: &[TimeMixBlock],
    mut rows: Vec<Row>,
) -> Vec<Row> {
    let halved = |rows: &[Row], blocks: usize| {
        let often = mixer.rescale_every.map_or(0, |every| blocks / every);
        scaled_by(0.5_f32.powi(often as i32), rows.to_vec())
    };
    let sigmoid = |x: &f64| 1.0 / (1.0 + (-x).exp());
    for (number, block) in blocks.iter().enumerate() {
        let read = |norm: &Option<NormWeights>, rows: &[Row]| {
            let norm = norm.as_ref().expect("norms in each block");
            normed(spec, norm, &halved(rows, number))
        };
        // Row `t` blended with the one before it, or zeros, and mapped.
        let mapped = |map: &Matrix, blend: &[f32], rows: &[Row], t: usize| {
            let before = |i: usize| if t > 0 { rows[t - 1][i] } else { 0.0 };
            let own = to_f64(blend).into_iter().enumerate();
            let both = own.map(|(i, part)| part * rows[t][i] + (1.0 - part) * before(i));
            product(map, &both.collect::<Row>())
        };
        let seen = read(&block.norm, &rows);
        let (decay, first) = (to_f64(&block.decay), to_f64(&block.first));
        let all = |map, blend: &[f32]| -> Vec<Row> {
            (0..seen.len()).map(|t| mapped(map, blend, &seen, t)).collect()
        };
        let (keys, values) =
            (all(&block.key, &block.key_blend), all(&block.value, &block.value_blend));
        let receptances = all(&block.receptance, &block.receptance_blend);
        let mixed = |t: usize| {
            let one = |i: usize| {
                let weight = |s: usize| match t - s {
                    0 => (keys[t][i] + first[i]).exp(),
                    past => (keys[s][i] - decay[i].exp() * (past - 1) as f64).exp(),
                };
                let above: f64 = (0..=t).map(|s| weight(s) * values[s][i]).sum();
                sigmoid(&receptances[t][i]) * above / (0..=t).map(weight).sum::<f64>()
            };
            product(&block.output, &(0..mixer.inner).map(one).collect::<Row>())
        };
        rows = sum(&rows, &(0..seen.len()).map(mixed).collect::<Vec<Row>>());
        let seen = read(&block.channel_norm, &rows);
        let channels = |t: usize| -> Row {
            let up = mapped(&block.up, &block.channel_blend, &seen, t);
            let squares: Row = up.iter().map(|x| x.max(0.0).powi(2)).collect();
            let gate = mapped(&block.gate, &block.gate_blend, &seen, t);
            let down = product(&block.down, &squares);
            gate.iter().zip(down).map(|(gate, x)| sigmoid(gate) * x).collect()
        };
        rows = sum(&rows, &(0..seen.len()).map(channels).collect::<Vec<Row>>());
    }
    halved(&rows, blocks.len())
}

/// Position `t` of a sequence of `length`.
fn rotate(rotary: &Rotary, head: &mut [f64], t: usize, length: usize) {
    let half = rotary.width / 2;
    for i in 0..half {
        let (sin, cos) = (t as f64 * frequency(rotary, i, length)).sin_cos();
        let (a, b) = (head[i], head[i + half]);
        head[i] = rotary.attention_factor() * (a * cos - b * sin);
        head[i + half] = rotary.attention_factor() * (b * cos + a * sin);
    }
}

/// Of channel pair `i`.
fn frequency(rotary: &Rotary, i: usize, length: usize) -> f64 {
    let of = |i: f64| rotary.base.powf(-2.0 * i / rotary.width as f64);
    let frequency = of(i as f64);
    let turns = |original: usize, frequency: f64| {
        original as f64 * frequency / (2.0 * std::f64::consts::PI)
    };
    match &rotary.scaling {
        None => frequency,
        Some(RotaryScaling::Linear { factor }) => frequency / factor,
        Some(RotaryScaling::Divided { divisors }) => frequency / divisors[i],
        Some(RotaryScaling::Llama3 {
            factor,
            low_frequency_factor: low,
            high_frequency_factor: high,
            original_context,
        }) => {
            let kept = ((turns(*original_context, frequency) - low) / (high - low)).clamp(0.0, 1.0);
            frequency * (kept + (1.0 - kept) / factor)
        }
        Some(RotaryScaling::Yarn {
            factor,
            beta_fast,
            beta_slow,
            truncate,
            original_context,
            ..
        }) => {
            // The pair that turns this often, by halving: fast pairs come first.
            let pair = |wanted: f64| {
                let (mut low, mut high) = (-1e4, 1e4);
                for _ in 0..100 {
                    let middle: f64 = (low + high) / 2.0;
                    let fast = turns(*original_context, of(middle)) > wanted;
                    (low, high) = if fast { (middle, high) } else { (low, middle) };
                }
                low
            };
            let (mut first, mut last) = (pair(*beta_fast), pair(*beta_slow));
            if *truncate {
                (first, last) = (first.floor(), last.ceil());
            }
            (first, last) = (first.max(0.0), last.min(rotary.width as f64 - 1.0));
            if first == last {
                last += 0.001;
            }
            let divided = ((i as f64 - first) / (last - first)).clamp(0.0, 1.0);
            frequency * (1.0 - divided + divided / factor)
        }
        Some(RotaryScaling::Long { short, long, original_context, .. }) => {
            frequency / if length > *original_context { long[i] } else { short[i] }
        }
    }
}
