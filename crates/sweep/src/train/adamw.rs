//! AdamW (Loshchilov & Hutter 2019): Adam with weight decay apart from the gradient.

use relscale_decoder::lanes::vectorised;

/// Settings of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamW {
    /// Learning rate of this step.
    pub learning_rate: f32,
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Added to the root of the second moment.
    pub epsilon: f32,
    /// Weight decay, multiplied by the learning rate.
    pub weight_decay: f32,
}

impl AdamW {
    /// One step over one tensor, with `g` the gradient times `scale` (clipping, in the same pass):
    /// `m = b1 m + (1 - b1) g`, `v = b2 v + (1 - b2) g²`,
    /// `p -= lr (m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps) + decay p)`. `step` counts from 1.
    pub fn step(
        &self,
        step: u32,
        scale: f32,
        p: &mut [f32],
        g: &[f32],
        m: &mut [f32],
        v: &mut [f32],
    ) {
        let unbias1 = 1.0 / (1.0 - f64::from(self.beta1).powf(f64::from(step))) as f32;
        let unbias2 = 1.0 / (1.0 - f64::from(self.beta2).powf(f64::from(step))) as f32;
        let Self { learning_rate, beta1, beta2, epsilon, weight_decay } = *self;
        vectorised(
            #[inline(always)]
            || {
                let moments = m.iter_mut().zip(v.iter_mut());
                for ((p, &g), (m, v)) in p.iter_mut().zip(g).zip(moments) {
                    let g = g * scale;
                    *m = beta1 * *m + (1.0 - beta1) * g;
                    *v = beta2 * *v + (1.0 - beta2) * g * g;
                    let update = *m * unbias1 / ((*v * unbias2).sqrt() + epsilon);
                    *p -= learning_rate * (update + weight_decay * *p);
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AdamW as its paper states it (decay first, as PyTorch does it), in f64, for p = [1, -2] and
    /// the gradients [0.5, -1], [0.1, 0.3], [-0.2, 0.4], the second halved.
    #[test]
    fn three_steps_agree_with_the_formula() {
        let adam = AdamW {
            learning_rate: 0.1,
            beta1: 0.9,
            beta2: 0.99,
            epsilon: 1e-8,
            weight_decay: 0.01,
        };
        let (mut p, mut m, mut v) = ([1.0_f32, -2.0], [0.0; 2], [0.0; 2]);
        let mut want = [(1.0_f64, 0.0, 0.0), (-2.0, 0.0, 0.0)];
        for (step, g) in [[0.5_f32, -1.0], [0.1, 0.3], [-0.2, 0.4]].iter().enumerate() {
            let scale = [1.0, 0.5, 1.0][step];
            adam.step(step as u32 + 1, scale, &mut p, g, &mut m, &mut v);
            for ((p, m, v), g) in want.iter_mut().zip(g) {
                let (g, t) = (f64::from(*g * scale), step as i32 + 1);
                *p *= 1.0 - 0.1 * 0.01;
                *m = 0.9 * *m + 0.1 * g;
                *v = 0.99 * *v + 0.01 * g * g;
                *p -= 0.1 * (*m / (1.0 - 0.9_f64.powi(t)))
                    / ((*v / (1.0 - 0.99_f64.powi(t))).sqrt() + 1e-8);
            }
        }
        for (got, (want, ..)) in p.iter().zip(want) {
            assert!((f64::from(*got) - want).abs() < 1e-6, "{got} {want}");
        }
    }
}
