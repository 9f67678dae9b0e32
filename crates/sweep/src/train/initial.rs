//! Fresh weights.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use relscale_decoder::spec::Spec;
use relscale_decoder::weights::Weights;

/// Fresh weights: gains 1, matrices normal with deviation `1 / sqrt(inputs)`, the last matrix of
/// each residual branch divided by `sqrt(2 layers)` besides, so that the stream's size does not
/// grow with depth. The embedding has `1 / sqrt(C)`, and so has a head of its own: fresh logits
/// then have deviation 1.
pub fn initial_weights(spec: &Spec, seed: u64) -> Weights {
    let mut weights = Weights::zeros(spec);
    let mut random = Normal { source: ChaCha8Rng::seed_from_u64(seed), spare: None };
    let mut fill = |data: &mut [f32], deviation: f64| {
        data.iter_mut().for_each(|w| *w = (random.next() * deviation) as f32);
    };
    let by_inputs = |inputs: usize| 1.0 / (inputs as f64).sqrt();
    let branch = 1.0 / (2.0 * spec.layers.len() as f64).sqrt();
    fill(&mut weights.token_embedding.data, by_inputs(spec.width));
    for block in &mut weights.blocks {
        fill(&mut block.qkv.weight.data, by_inputs(spec.width));
        fill(&mut block.attention_output.weight.data, by_inputs(spec.attention_width()) * branch);
        fill(&mut block.up.weight.data, by_inputs(spec.width));
        fill(&mut block.down.weight.data, by_inputs(spec.hidden) * branch);
        let norms = [
            &mut block.attention_norm,
            &mut block.query_norm,
            &mut block.key_norm,
            &mut block.mlp_norm,
        ];
        norms.into_iter().flatten().flat_map(|norm| &mut norm.gain).for_each(|gain| gain.fill(1.0));
    }
    weights.head.iter_mut().for_each(|head| fill(&mut head.data, by_inputs(spec.width)));
    weights.final_norm.iter_mut().flat_map(|norm| &mut norm.gain).for_each(|gain| gain.fill(1.0));
    weights
}

/// Standard normal numbers by Box and Muller.
struct Normal {
    source: ChaCha8Rng,
    spare: Option<f64>,
}

impl Normal {
    fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let mut uniform = || (self.source.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let radius = (-2.0 * (1.0 - uniform()).ln()).sqrt();
        let angle = 2.0 * std::f64::consts::PI * uniform();
        self.spare = Some(radius * angle.sin());
        radius * angle.cos()
    }
}
