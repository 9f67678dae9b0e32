//! Loss and gradient of a few sequences on one thread, written out op by op in the order of the
//! model.
//!
//! Shapes, with `N` rows of all sequences together (`B` sequences of `T` tokens): residual stream
//! `[N, C]`, queries, keys and values `[N, 3 C]`, MLP `[N, 2 F]` and `[N, F]`. What the backward
//! pass needs of each block is kept (`Kept`); attention probabilities and logits are not, they are
//! computed again.

use super::cross_entropy;
use super::heads::Heads;
use super::tensors::{gain, gain_mut};
use crate::error::{Error, Result};
use relscale_decoder::matrix::Matrix;
use relscale_decoder::ops::{activation, attention, linear, norm};
use relscale_decoder::spec::{
    Activation, Biases, Gain, Mixer, NormKind, NormPlacement, NormSpan, Positions, Residual,
    Rotary, Spec,
};
use relscale_decoder::weights::{Block, NormWeights, Weights};

/// Everything one thread needs beside weights and gradient; kept from step to step.
#[derive(Debug)]
pub struct Workspace {
    heads: Heads,
    kept: Vec<Kept>,
    stream: Vec<f32>,
    slope: Vec<f32>,
    last: Vec<f32>,
    normed: Vec<f32>,
    wide: Vec<f32>,
    wider: Vec<f32>,
    scores: Vec<f32>,
    pair: [Vec<f32>; 2],
    logits: cross_entropy::Scratch,
    z_loss: f32,
    targets: Vec<u32>,
}

/// What one block's backward pass needs.
#[derive(Debug, Default, Clone)]
struct Kept {
    input: Vec<f32>,
    normed: Vec<f32>,
    qkv: Vec<f32>,
    /// Queries and keys before their norms, where they have some.
    plain: Vec<f32>,
    attended: Vec<f32>,
    middle: Vec<f32>,
    normed_middle: Vec<f32>,
    gate_up: Vec<f32>,
    activated: Vec<f32>,
}

/// Refuses what this pass does not compute: anything but Llama's blocks, or Qwen3's.
///
/// # Errors
/// [`Error::Untrainable`], naming the field; [`Error::Decoder`] for sizes at odds.
pub fn check(spec: &Spec) -> Result<()> {
    let llama = [
        (spec.mixer == Mixer::Attention, "its tokens are mixed by a recurrence, not by attention"),
        (
            spec.query_key_norm != Some(NormSpan::Width),
            "queries and keys are normalised over all heads, not each head by itself",
        ),
        (rotary(spec).is_some(), "positions are not rotary, the same in all blocks"),
        (
            spec.norm == NormKind::Rms && spec.norm_gain == Gain::Plain,
            "norms are not RMSNorm with a gain",
        ),
        (
            spec.norm_placement == NormPlacement::Before && spec.final_norm && !spec.embedding_norm,
            "norms are not before each part and the head",
        ),
        (spec.residual == Residual::Sequential, "attention and MLP are parallel"),
        (spec.activation == Activation::Silu && spec.gated, "the MLP is not SwiGLU"),
        (spec.biases == Biases::NONE && !spec.head_bias, "linear maps have biases"),
        (
            spec.projected.is_none() && spec.embedding_scale == 1.0,
            "the embedding is projected or scaled",
        ),
        (
            spec.residual_scale == 1.0 && spec.logit_scale == 1.0,
            "the residual stream or the logits are scaled",
        ),
        (spec.clip.is_none(), "queries, keys and values are bounded"),
        (spec.attention_cap.is_none() && spec.logit_cap.is_none(), "scores or logits are capped"),
    ];
    match llama.iter().find(|(holds, _)| !holds) {
        Some((_, reason)) => {
            Err(Error::Untrainable { family: spec.family.clone(), reason: (*reason).to_owned() })
        }
        None => Ok(spec.check()?),
    }
}

/// The rotation of all blocks, where it is one.
fn rotary(spec: &Spec) -> Option<&Rotary> {
    let rotary = spec.layers.first()?.rotary.as_ref()?;
    let same = spec.layers.iter().all(|layer| layer.rotary.as_ref() == Some(rotary));
    (same && spec.positions == Positions::Unadded).then_some(rotary)
}

impl Workspace {
    /// A workspace for sequences of `length` tokens.
    ///
    /// # Errors
    /// What [`check`] refuses.
    pub fn new(spec: &Spec, length: usize) -> Result<Self> {
        check(spec)?;
        let Some(rotary) = rotary(spec) else { unreachable!("checked above") };
        Ok(Self {
            heads: Heads::new(rotary, length),
            kept: vec![Kept::default(); spec.layers.len()],
            stream: Vec::new(),
            slope: Vec::new(),
            last: Vec::new(),
            normed: Vec::new(),
            wide: Vec::new(),
            wider: Vec::new(),
            scores: Vec::new(),
            pair: Default::default(),
            logits: cross_entropy::Scratch::default(),
            z_loss: 0.0,
            targets: Vec::new(),
        })
    }

    /// The same workspace whose gradients are those of the loss plus `factor` times the z-loss; 0
    /// leaves it out.
    #[must_use]
    pub fn with_z_loss(mut self, factor: f32) -> Self {
        self.z_loss = factor;
        self
    }

    /// The same workspace whose logits come in tiles of so many rows by entries of the vocabulary,
    /// not in those that are chosen: for comparing.
    #[must_use]
    pub fn with_tiles(mut self, rows: usize, entries: usize) -> Self {
        self.logits = cross_entropy::Scratch::in_tiles(rows, entries);
        self
    }

    /// Sum of the losses of all `sequences` (each `T + 1` tokens: `T` inputs, each with the next as
    /// its target), nats. Adds `weight` times its gradient to `gradient`.
    pub fn forward_backward(
        &mut self,
        spec: &Spec,
        weights: &Weights,
        sequences: &[&[u32]],
        weight: f32,
        gradient: &mut Weights,
    ) -> f64 {
        let c = spec.width;
        let inputs = || sequences.iter().flat_map(|s| &s[..s.len() - 1]);
        let rows = inputs().count();
        // Taken out while the blocks work on the rest of the workspace, and put back: no buffer is
        // allocated after the first step.
        let (mut x, mut dx) = (std::mem::take(&mut self.stream), std::mem::take(&mut self.slope));
        x.resize(rows * c, 0.0);
        for (x, token) in x.chunks_exact_mut(c).zip(inputs()) {
            x.copy_from_slice(weights.token_embedding.row(*token as usize));
        }
        for (layer, block) in weights.blocks.iter().enumerate() {
            self.block_forward(spec, layer, block, &mut x, rows);
        }
        resize(&mut self.last, &x);
        resize(&mut self.normed, &x);
        let final_norm = there(&weights.final_norm);
        norm::forward(spec.norm, spec.norm_epsilon, final_norm, &self.last, &mut self.normed, c);

        self.targets.clear();
        self.targets.extend(sequences.iter().flat_map(|s| &s[1..]));
        // The stream is in `last`; its place takes the gradient of what the head reads.
        let dnormed = &mut x;
        let losses = cross_entropy::forward_backward(
            weights.head(),
            &self.normed,
            &self.targets,
            cross_entropy::Factors { weight, z_loss: self.z_loss },
            dnormed,
            gradient.head.as_mut().unwrap_or(&mut gradient.token_embedding),
            &mut self.logits,
        );
        dx.clear();
        dx.resize(rows * c, 0.0);
        let (last, dgain) = (gain(&weights.final_norm), gain_mut(&mut gradient.final_norm));
        norm::rms_backward(spec.norm_epsilon, last, &self.last, dnormed, &mut dx, dgain);
        for (layer, block) in weights.blocks.iter().enumerate().rev() {
            self.block_backward(spec, layer, block, &mut dx, &mut gradient.blocks[layer], rows);
        }
        for (dx, token) in dx.chunks_exact(c).zip(inputs()) {
            let row = *token as usize * c;
            let into = &mut gradient.token_embedding.data[row..row + c];
            into.iter_mut().zip(dx).for_each(|(g, d)| *g += d);
        }
        (self.stream, self.slope) = (x, dx);
        losses.nll
    }

    /// `x += attention(norm(x)); x += mlp(norm(x))`.
    fn block_forward(
        &mut self,
        spec: &Spec,
        layer: usize,
        block: &Block,
        x: &mut [f32],
        rows: usize,
    ) {
        let (c, w, f) = (spec.width, spec.qkv_width(), spec.hidden);
        let kept = &mut self.kept[layer];
        resize(&mut kept.input, x);
        resize(&mut kept.normed, x);
        norm::forward(
            spec.norm,
            spec.norm_epsilon,
            there(&block.attention_norm),
            x,
            &mut kept.normed,
            c,
        );
        kept.qkv.resize(rows * w, 0.0);
        linear::forward(&block.qkv, &kept.normed, &mut kept.qkv, rows);
        kept.attended.resize(rows * spec.attention_width(), 0.0);
        let shape = shape(spec, layer);
        let length = self.heads.length();
        let out = spec.attention_width();
        let plain = self.heads.kept(spec);
        kept.plain.resize(rows / length * plain, 0.0);
        for (number, (qkv, attended)) in kept
            .qkv
            .chunks_exact_mut(length * w)
            .zip(kept.attended.chunks_exact_mut(length * out))
            .enumerate()
        {
            let plain = &mut kept.plain[number * plain..(number + 1) * plain];
            self.heads.forward(spec, block, qkv, plain);
            for (queries, attended) in attended.chunks_mut(attention::QUERY_BLOCK * out).enumerate()
            {
                attention::forward(
                    shape,
                    qkv,
                    queries * attention::QUERY_BLOCK,
                    attended,
                    &mut self.scores,
                );
            }
        }
        self.normed.resize(rows * c, 0.0);
        linear::forward(&block.attention_output, &kept.attended, &mut self.normed, rows);
        add(x, &self.normed);

        resize(&mut kept.middle, x);
        resize(&mut kept.normed_middle, x);
        norm::forward(
            spec.norm,
            spec.norm_epsilon,
            there(&block.mlp_norm),
            x,
            &mut kept.normed_middle,
            c,
        );
        kept.gate_up.resize(rows * 2 * f, 0.0);
        linear::forward(&block.up, &kept.normed_middle, &mut kept.gate_up, rows);
        kept.activated.resize(rows * f, 0.0);
        activation::swiglu(&kept.gate_up, &mut kept.activated, f);
        linear::forward(&block.down, &kept.activated, &mut self.normed, rows);
        add(x, &self.normed);
    }

    /// Turns `dx`, the gradient of the block's output, into that of its input.
    fn block_backward(
        &mut self,
        spec: &Spec,
        layer: usize,
        block: &Block,
        dx: &mut [f32],
        gradient: &mut Block,
        rows: usize,
    ) {
        let (c, w, f, out) = (spec.width, spec.qkv_width(), spec.hidden, spec.attention_width());
        let kept = &self.kept[layer];
        let (narrow, wide, wider) = (&mut self.normed, &mut self.wide, &mut self.wider);
        let through =
            |weight: &Matrix, x: &[f32], dy: &[f32], dinput: &mut Vec<f32>, into: &mut Matrix| {
                dinput.resize(rows * weight.columns, 0.0);
                linear::backward(weight, x, dy, dinput, false, into, rows);
            };

        through(&block.down.weight, &kept.activated, dx, wide, &mut gradient.down.weight);
        wider.resize(rows * 2 * f, 0.0);
        activation::swiglu_backward(&kept.gate_up, wide, wider, f);
        through(&block.up.weight, &kept.normed_middle, wider, narrow, &mut gradient.up.weight);
        let dgain = gain_mut(&mut gradient.mlp_norm);
        norm::rms_backward(
            spec.norm_epsilon,
            gain(&block.mlp_norm),
            &kept.middle,
            narrow,
            dx,
            dgain,
        );

        let output = &mut gradient.attention_output.weight;
        through(&block.attention_output.weight, &kept.attended, dx, wide, output);
        wider.resize(rows * w, 0.0);
        let shape = shape(spec, layer);
        let (length, plain) = (self.heads.length(), self.heads.kept(spec));
        let sequences = kept.qkv.chunks_exact(length * w).zip(wide.chunks_exact(length * out));
        for (number, ((qkv, dout), dqkv)) in
            sequences.zip(wider.chunks_exact_mut(length * w)).enumerate()
        {
            attention::backward(shape, qkv, dout, dqkv, &mut self.pair);
            let plain = &kept.plain[number * plain..(number + 1) * plain];
            self.heads.backward(spec, block, plain, dqkv, gradient);
        }
        through(&block.qkv.weight, &kept.normed, wider, narrow, &mut gradient.qkv.weight);
        let dgain = gain_mut(&mut gradient.attention_norm);
        norm::rms_backward(
            spec.norm_epsilon,
            gain(&block.attention_norm),
            &kept.input,
            narrow,
            dx,
            dgain,
        );
        debug_assert_eq!(dx.len(), rows * c);
    }
}

fn shape(spec: &Spec, layer: usize) -> attention::Shape {
    attention::Shape {
        heads: spec.heads,
        kv_heads: spec.kv_heads,
        head_width: spec.head_width,
        scale: spec.scale(layer) as f32,
        window: spec.layers[layer].window,
        cap: None,
        slope: None,
    }
}

/// A norm that [`check`] has seen to be there.
fn there(norm: &Option<NormWeights>) -> &NormWeights {
    let Some(norm) = norm else { unreachable!("checked when the workspace was made") };
    norm
}

/// `to` becomes a copy of `from`.
fn resize(to: &mut Vec<f32>, from: &[f32]) {
    to.clear();
    to.extend_from_slice(from);
}

fn add(x: &mut [f32], y: &[f32]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::initial::initial_weights;
    use relscale_decoder::forward;
    use relscale_decoder::kernels::{Choice, Dtype, Format, Packed};
    use relscale_decoder::spec::{Layer, Selection, StateSpace, TimeMix};

    /// Grouped heads, several blocks of everything, two sequences.
    fn tiny() -> Spec {
        let recipe = crate::recipes::Recipe::named("small").unwrap();
        Spec {
            vocabulary: 23,
            width: 12,
            heads: 2,
            kv_heads: 1,
            head_width: 6,
            hidden: 10,
            context: 16,
            // Shorter than a sequence: what lies before it must get no gradient.
            layers: [Some(3), None]
                .map(|window| Layer {
                    window,
                    rotary: Some(Rotary { width: 6, base: 50.0, scaling: None }),
                    scale: None,
                })
                .to_vec(),
            ..recipe.spec(&recipe.sizes[0])
        }
    }

    /// The same with all that Qwen3 has besides: normed heads, of a width that is not their share,
    /// and a head of its own.
    fn tiny_qwen3() -> Spec {
        Spec { query_key_norm: Some(NormSpan::Head), tied: false, width: 10, ..tiny() }
    }

    #[test]
    fn gradient_of_every_tensor_agrees_with_finite_differences() {
        assert!(checked(&tiny()) > 150);
        assert!(checked(&tiny_qwen3()) > 180);
    }

    /// How many numbers of the gradient were checked.
    fn checked(spec: &Spec) -> usize {
        let mut weights = initial_weights(spec, 3);
        // Larger than a fresh model's, so that no part is nearly linear.
        weights.tensors_mut().iter_mut().for_each(|t| t.iter_mut().for_each(|w| *w *= 1.5));
        let ids: Vec<u32> = (0..18).map(|i| (i * i * 7 + i) % 23).collect();
        let sequences = [&ids[..9], &ids[9..]];
        let mut workspace = Workspace::new(spec, 8).unwrap();
        let mut gradient = Weights::zeros(spec);
        workspace.forward_backward(spec, &weights, &sequences, 1.0, &mut gradient);
        let gradient: Vec<Vec<f32>> = gradient.tensors().iter().map(|t| t.to_vec()).collect();
        let mut sink = Weights::zeros(spec);
        let mut checked = 0;
        for (number, gradient) in gradient.iter().enumerate() {
            for at in (0..gradient.len()).step_by(1 + gradient.len() / 13) {
                let mut moved = |step: f32| {
                    let mut weights = weights.clone();
                    weights.tensors_mut()[number][at] += step;
                    workspace.forward_backward(spec, &weights, &sequences, 1.0, &mut sink)
                };
                // Fourth order. Large steps err by curvature, small ones by rounding (the loss is
                // f32 inside); a wrong gradient agrees with none of them.
                let got = f64::from(gradient[at]);
                let wants = [8e-3_f32, 4e-3, 2e-3, 1e-3, 5e-4].map(|step| {
                    let near = moved(step) - moved(-step);
                    let far = moved(2.0 * step) - moved(-2.0 * step);
                    (8.0 * near - far) / f64::from(12.0 * step)
                });
                assert!(
                    wants.iter().any(|want| (got - want).abs() < 0.01 * want.abs().max(0.5)),
                    "tensor {number}, element {at}: {got} against {wants:?}"
                );
                checked += 1;
            }
        }
        checked
    }

    /// What the z-loss adds to the gradient of every tensor is its own gradient, and the loss that
    /// is told stays without it.
    #[test]
    fn z_loss_adds_its_gradient_and_is_not_told() {
        let spec = tiny();
        let mut weights = initial_weights(&spec, 3);
        weights.tensors_mut().iter_mut().for_each(|t| t.iter_mut().for_each(|w| *w *= 1.5));
        let ids: Vec<u32> = (0..9).map(|i| (i * i * 7 + i) % 23).collect();
        let step = |factor| {
            let mut gradient = Weights::zeros(&spec);
            let mut workspace = Workspace::new(&spec, 8).unwrap().with_z_loss(factor);
            let loss = workspace.forward_backward(&spec, &weights, &[&ids], 1.0, &mut gradient);
            (loss, gradient)
        };
        let ((plain, without), (told, with)) = (step(0.0), step(1.0));
        assert_eq!(plain, told);
        // By the decoder's own forward pass.
        let squares = |weights: &Weights| {
            let packed: Weights<Packed> =
                weights.clone().packed(&spec, Format::new(Dtype::F32, Choice::Best));
            let mut buffers = forward::Buffers::new(packed.head().format());
            forward::hidden(&spec, &packed, &[&ids[..8]], &mut buffers);
            let asked: Vec<usize> = (0..8).collect();
            let rows = forward::before_head(&spec, &packed, &asked, &mut buffers).numbers();
            let (mut dx, mut head) = (vec![0.0; rows.len()], Matrix::zeros(23, 12));
            let factors = cross_entropy::Factors { weight: 0.0, z_loss: 0.0 };
            let (head, scratch) =
                ((weights.head(), &mut head), &mut cross_entropy::Scratch::default());
            cross_entropy::forward_backward(
                head.0,
                &rows,
                &ids[1..],
                factors,
                &mut dx,
                head.1,
                scratch,
            )
            .squares
        };
        for (number, (with, without)) in with.tensors().iter().zip(without.tensors()).enumerate() {
            for at in (0..with.len()).step_by(1 + with.len() / 5) {
                let got = f64::from(with[at] - without[at]);
                let wants = [8e-3_f32, 2e-3].map(|step| {
                    let moved = |step: f32| {
                        let mut weights = weights.clone();
                        weights.tensors_mut()[number][at] += step;
                        squares(&weights)
                    };
                    (moved(step) - moved(-step)) / f64::from(2.0 * step)
                });
                assert!(
                    wants.iter().any(|want| (got - want).abs() < 0.02 * want.abs().max(1.0)),
                    "tensor {number}, element {at}: {got} against {wants:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_not_llama_like_is_refused() {
        let spec = Spec { residual: Residual::Parallel, ..tiny() };
        let error = Workspace::new(&spec, 4).unwrap_err().to_string();
        assert!(error.contains("parallel"), "{error}");
        let spec =
            Spec { family: "olmo2".to_owned(), query_key_norm: Some(NormSpan::Width), ..tiny() };
        let error = check(&spec).unwrap_err().to_string();
        assert!(error.contains("over all heads") && error.contains("olmo2"), "{error}");
        let selection = Selection::Channels { rank: 1, norm_epsilon: None };
        let mixer = StateSpace {
            inner: 8,
            state: 2,
            taps: 4,
            selection,
            biases: false,
            convolution_bias: true,
        };
        let mixer = Mixer::StateSpace(mixer);
        let error = check(&Spec { family: "mamba".to_owned(), mixer, ..tiny() }).unwrap_err();
        assert!(error.to_string().contains("recurrence"), "{error}");
        let mixer = Mixer::TimeMix(TimeMix { inner: 8, rescale_every: None, final_epsilon: 1e-5 });
        let error = check(&Spec { family: "rwkv".to_owned(), mixer, ..tiny() }).unwrap_err();
        assert!(error.to_string().contains("recurrence"), "{error}");
    }
}
