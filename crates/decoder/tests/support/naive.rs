//! The forward pass as one would explain it: f64, one sequence, one row at a time, no blocking, no batching.
//!
//! It judges the mapping of checkpoints apart from the rounding of the fast pass: with the right weights in the right
//! places it agrees with the goldens to about 1e-11, with any mistake it does not at all.

use relscale_decoder::spec::{
    Activation, NormKind, NormPlacement, Positions, Residual, Rotary, RotaryScaling, Spec,
};
use relscale_decoder::weights::{Linear, Matrix, NormWeights, Weights};

type Row = Vec<f64>;

/// Logits `[T][V]` of one sequence.
pub fn logits(spec: &Spec, weights: &Weights, ids: &[u32]) -> Vec<Row> {
    let mut rows: Vec<Row> = ids.iter().map(|&id| to_f64(weights.token_embedding.row(id as usize))).collect();
    if let Some(project) = &weights.project_in {
        rows = rows.iter().map(|row| linear(project, row)).collect();
    }
    if let (Positions::Learned { offset, .. }, Some(table)) = (&spec.positions, &weights.position_embedding) {
        for (t, row) in rows.iter_mut().enumerate() {
            add(row, &to_f64(table.row(t + offset)));
        }
    }
    for (layer, block) in weights.blocks.iter().enumerate() {
        let attention = |rows: &[Row]| {
            let scale = f64::from(spec.attention_scale.by_head_width as u8);
            let scale = if scale == 1.0 { 1.0 / (spec.head_width as f64).sqrt() } else { 1.0 };
            let by_layer = if spec.attention_scale.by_layer { (layer + 1) as f64 } else { 1.0 };
            let qkv: Vec<Row> = rows.iter().map(|row| linear(&block.qkv, row)).collect();
            let mixed = attend(spec, spec.window(layer), &qkv, scale / by_layer);
            mixed.iter().map(|row| linear(&block.attention_output, row)).collect::<Vec<_>>()
        };
        let mlp = |rows: &[Row]| {
            let one = |row: &Row| linear(&block.down, &activate(spec, &linear(&block.up, row)));
            rows.iter().map(one).collect::<Vec<_>>()
        };
        let norm1 = |rows: &[Row]| normed(spec, &block.attention_norm, rows);
        let norm2 = |rows: &[Row]| normed(spec, &block.mlp_norm, rows);
        rows = match (spec.norm_placement, spec.residual) {
            (NormPlacement::Pre, Residual::Sequential) => {
                let middle = sum(&rows, &attention(&norm1(&rows)));
                sum(&middle, &mlp(&norm2(&middle)))
            }
            (NormPlacement::Pre, Residual::Parallel) => {
                sum(&sum(&rows, &attention(&norm1(&rows))), &mlp(&norm2(&rows)))
            }
            (NormPlacement::Post, _) => {
                let middle = norm1(&sum(&rows, &attention(&rows)));
                norm2(&sum(&middle, &mlp(&middle)))
            }
        };
    }
    if let Some(norm) = &weights.final_norm {
        rows = normed(spec, norm, &rows);
    }
    if let Some(project) = &weights.project_out {
        rows = rows.iter().map(|row| linear(project, row)).collect();
    }
    rows.iter().map(|row| product(weights.head(), row)).collect()
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
    let (first, second) = row.split_at(row.len().min(spec.hidden));
    match spec.activation {
        Activation::Gelu => row.iter().map(|&x| 0.5 * x * (1.0 + erf(x / 2_f64.sqrt()))).collect(),
        Activation::GeluTanh => row.iter().map(|&x| tanh_gelu(x)).collect(),
        Activation::Relu => row.iter().map(|&x| x.max(0.0)).collect(),
        Activation::SwiGlu => first.iter().zip(second).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect(),
    }
}

/// Error function by its Maclaurin series below 3 and the continued fraction above; both to about 1e-15.
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

/// Causal attention over joint rows (all queries, all keys, all values), heads one after another.
fn attend(spec: &Spec, window: Option<usize>, qkv: &[Row], scale: f64) -> Vec<Row> {
    let d = spec.head_width;
    let (h, g) = (spec.heads, spec.kv_heads);
    let rotated = |row: &Row, t: usize, start: usize| -> Row {
        let mut part = row[start..start + d].to_vec();
        if let Positions::Rotary(rotary) = &spec.positions {
            rotate(rotary, &mut part, t);
        }
        part
    };
    let mut out = vec![Vec::with_capacity(h * d); qkv.len()];
    for head in 0..h {
        let group = head / (h / g);
        for t in 0..qkv.len() {
            let query = rotated(&qkv[t], t, head * d);
            let first = window.map_or(0, |window| (t + 1).saturating_sub(window));
            let scores: Vec<f64> = (first..=t)
                .map(|s| {
                    let key = rotated(&qkv[s], s, (h + group) * d);
                    scale * query.iter().zip(&key).map(|(a, b)| a * b).sum::<f64>()
                })
                .collect();
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
            let total: f64 = weights.iter().sum();
            let mut mixed = vec![0.0; d];
            for (s, weight) in (first..).zip(&weights) {
                let value = &qkv[s][(h + g + group) * d..(h + g + group + 1) * d];
                mixed.iter_mut().zip(value).for_each(|(m, v)| *m += weight / total * v);
            }
            out[t].extend(mixed);
        }
    }
    out
}

fn rotate(rotary: &Rotary, head: &mut [f64], t: usize) {
    let half = rotary.width / 2;
    for i in 0..half {
        let frequency = rotary.base.powf(-2.0 * i as f64 / rotary.width as f64);
        let (sin, cos) = (t as f64 * scaled(&rotary.scaling, frequency)).sin_cos();
        let (a, b) = (head[i], head[i + half]);
        head[i] = a * cos - b * sin;
        head[i + half] = b * cos + a * sin;
    }
}

fn scaled(scaling: &Option<RotaryScaling>, frequency: f64) -> f64 {
    match scaling {
        None => frequency,
        Some(RotaryScaling::Linear { factor }) => frequency / factor,
        Some(RotaryScaling::Llama3 {
            factor,
            low_frequency_factor: low,
            high_frequency_factor: high,
            original_context,
        }) => {
            let turns = *original_context as f64 * frequency / (2.0 * std::f64::consts::PI);
            let kept = ((turns - low) / (high - low)).clamp(0.0, 1.0);
            frequency * (kept + (1.0 - kept) / factor)
        }
    }
}
