//! When a run is given up.
//!
//! **The rule.** A run has diverged when a step's loss or the norm of its gradient is no finite
//! number, or when the mean loss of [`WINDOW`] steps in a row is more than [`RISE`] nats above the
//! lowest such mean before it. A short spike passes.

use crate::train::trainer::Taken;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Steps whose mean loss is looked at.
pub const WINDOW: usize = 20;

/// Nats above the lowest mean that are too much.
pub const RISE: f64 = 1.5;

/// What has been seen of a run's losses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    recent: VecDeque<f64>,
    lowest: Option<f64>,
}

impl Watch {
    /// Takes note of a step; a sentence when the run has diverged with it.
    pub fn note(&mut self, step: u32, taken: &Taken) -> Option<String> {
        if !taken.loss.is_finite() {
            return Some(format!("the loss became {} at step {step}", taken.loss));
        }
        if !taken.norm.is_finite() {
            return Some(format!("the gradient's norm became {} at step {step}", taken.norm));
        }
        if self.recent.len() == WINDOW {
            self.recent.pop_front();
        }
        self.recent.push_back(taken.loss);
        if self.recent.len() < WINDOW {
            return None;
        }
        let mean = self.recent.iter().sum::<f64>() / WINDOW as f64;
        let lowest = self.lowest.map_or(mean, |lowest| lowest.min(mean));
        self.lowest = Some(lowest);
        (mean > lowest + RISE).then(|| {
            format!("the loss rose to {mean:.3} nats over {WINDOW} steps, from {lowest:.3}, by step {step}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(loss: f64) -> Taken {
        Taken { loss, norm: 1.0, learning_rate: 0.1, moved: true }
    }

    fn first(losses: impl Iterator<Item = f64>) -> Option<(u32, String)> {
        let mut watch = Watch::default();
        (1..).zip(losses).find_map(|(at, loss)| Some((at, watch.note(at, &step(loss))?)))
    }

    #[test]
    fn a_falling_or_noisy_loss_and_a_spike_are_no_divergence() {
        assert_eq!(first((0..500).map(|i| 8.0 - 0.01 * f64::from(i))), None);
        assert_eq!(first((0..500).map(|i| 4.0 + 1.4 * f64::from(i % 2))), None);
        assert_eq!(first((0..500).map(|i| if i == 300 { 30.0 } else { 4.0 })), None);
    }

    #[test]
    fn a_loss_that_stays_up_is_divergence() {
        let (at, reason) = first((0..500).map(|i| if i < 300 { 4.0 } else { 7.0 })).unwrap();
        // 11 of 20 steps at 7 make a mean of 5.65.
        assert_eq!(at, 311);
        assert!(reason.contains("5.650 nats") && reason.contains("from 4.000"), "{reason}");
    }

    #[test]
    fn what_is_no_number_is_divergence_at_once() {
        let (at, reason) = first([5.0, f64::NAN].into_iter()).unwrap();
        assert_eq!((at, reason.as_str()), (2, "the loss became NaN at step 2"));
        let infinite = Taken { norm: f64::INFINITY, ..step(3.0) };
        assert!(Watch::default().note(1, &infinite).unwrap().contains("norm became inf"));
    }
}
