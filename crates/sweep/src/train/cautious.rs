//! Cautious Adam (Liang et al., arXiv 2411.16085) whose decay follows the learning rate (AdamC:
//! Defazio, arXiv 2506.02285), as Levanter has both together: what the models of arXiv 2510.24626
//! were trained by.
//!
//! A step has two halves, since what a number moves by hangs on all numbers of its tensor.

use relscale_decoder::lanes::vectorised;

/// Settings of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CautiousAdamC {
    /// Learning rate of this step.
    pub learning_rate: f32,
    /// The highest of all steps.
    pub peak: f32,
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Added to the root of the second moment, and to the share of numbers that move.
    pub epsilon: f32,
    /// Weight decay, multiplied by the learning rate and by its share of the peak.
    pub weight_decay: f32,
}

impl CautiousAdamC {
    /// The first half over a piece of a tensor, with `g` the gradient times `scale`:
    /// `m = b1 m + (1 - b1) g`, `v = b2 v + (1 - b2) g²`. Returns how many numbers will move: those
    /// where `m` has the sign of `g`.
    pub fn moments(&self, scale: f32, g: &[f32], m: &mut [f32], v: &mut [f32]) -> usize {
        let Self { beta1, beta2, .. } = *self;
        let mut moving = 0;
        vectorised(
            #[inline(always)]
            || {
                for (&g, (m, v)) in g.iter().zip(m.iter_mut().zip(v.iter_mut())) {
                    let g = g * scale;
                    *m = beta1 * *m + (1.0 - beta1) * g;
                    *v = beta2 * *v + (1.0 - beta2) * g * g;
                    moving += usize::from(agree(*m, g));
                }
            },
        );
        moving
    }

    /// The second half, with `share` of the tensor's numbers moving: of these
    /// `u = m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)`, of the others 0, and of all
    /// `p -= lr (u / (share + eps) + decay (lr / peak) p)`. `step` is `t`, from 1.
    pub fn step(&self, step: u32, share: f64, p: &mut [f32], g: &[f32], [m, v]: [&[f32]; 2]) {
        let unbias1 = 1.0 / (1.0 - f64::from(self.beta1).powf(f64::from(step)));
        let unbias1 = (unbias1 / (share + f64::from(self.epsilon))) as f32;
        let unbias2 = 1.0 / (1.0 - f64::from(self.beta2).powf(f64::from(step))) as f32;
        let Self { learning_rate, peak, epsilon, .. } = *self;
        // Where all learning rates are 0, so is the decay.
        let decay = if peak > 0.0 { self.weight_decay * (learning_rate / peak) } else { 0.0 };
        vectorised(
            #[inline(always)]
            || {
                for ((p, &g), (&m, &v)) in p.iter_mut().zip(g).zip(m.iter().zip(v)) {
                    let update = m * unbias1 / ((v * unbias2).sqrt() + epsilon);
                    let update = if agree(m, g) { update } else { 0.0 };
                    *p -= learning_rate * (update + decay * *p);
                }
            },
        );
    }
}

/// Whether two numbers have the same sign, neither being 0.
#[inline(always)]
fn agree(a: f32, b: f32) -> bool {
    (a > 0.0 && b > 0.0) || (a < 0.0 && b < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both papers' formulas in f64, for two numbers of which one goes against its gradient in the
    /// second step and none in the others.
    #[test]
    fn three_steps_agree_with_the_formulas() {
        let (peak, decay) = (0.1, 0.01);
        let (mut p, mut m, mut v) = ([1.0_f32, -2.0], [0.0_f32; 2], [0.0_f32; 2]);
        let mut want = [(1.0_f64, 0.0_f64, 0.0_f64), (-2.0, 0.0, 0.0)];
        for (step, g) in [[0.5_f32, -1.0], [0.1, 0.3], [0.2, -0.4]].iter().enumerate() {
            let (t, scale) = (step as i32 + 1, [1.0, 0.5, 1.0][step]);
            let rate = peak / f64::from(t);
            let adam = CautiousAdamC {
                learning_rate: rate as f32,
                peak: peak as f32,
                beta1: 0.9,
                beta2: 0.99,
                epsilon: 1e-8,
                weight_decay: decay as f32,
            };
            let moving = adam.moments(scale, g, &mut m, &mut v);
            adam.step(step as u32 + 1, moving as f64 / 2.0, &mut p, g, [&m, &v]);
            let updates = [0, 1].map(|i| {
                let ((_, m, v), g) = (&mut want[i], f64::from(g[i] * scale));
                *m = 0.9 * *m + 0.1 * g;
                *v = 0.99 * *v + 0.01 * g * g;
                let hat = (*v / (1.0 - 0.99_f64.powi(t))).sqrt() + 1e-8;
                let update = *m / (1.0 - 0.9_f64.powi(t)) / hat;
                if update * g > 0.0 { Some(update) } else { None }
            });
            let share = updates.iter().flatten().count() as f64 / 2.0;
            assert_eq!(share, [1.0, 0.5, 1.0][step]);
            for ((p, ..), update) in want.iter_mut().zip(updates) {
                let update = update.unwrap_or(0.0) / (share + 1e-8);
                *p -= rate * (update + decay * rate / peak * *p);
            }
            for (got, (want, ..)) in p.iter().zip(want) {
                assert!((f64::from(*got) - want).abs() < 1e-6, "{got} {want}");
            }
        }
    }
}
