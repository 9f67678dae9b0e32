//! Loss on held-out text.

use crate::error::{Error, Result};
use relscale_decoder::head::Vocabulary;
use relscale_decoder::model::{Model, Sequence};
use relscale_decoder::spec::Spec;
use relscale_decoder::weights::Weights;

/// Sequences scored together; the result does not depend on it.
const TOGETHER: usize = 16;

/// Sequences of one length from held-out text, the same for every run of that length.
#[derive(Debug, Clone, Copy)]
pub struct HeldOut<'a> {
    ids: &'a [u32],
    length: usize,
    sequences: usize,
    /// Sequences that the text holds; those scored lie evenly among them.
    there: usize,
}

impl<'a> HeldOut<'a> {
    /// As many sequences of `length` targets as make `tokens`, evenly from all of `ids`; all there
    /// are, if fewer.
    ///
    /// # Errors
    /// [`Error::TooLittleHeldOut`] when there is not one.
    pub fn new(ids: &'a [u32], length: usize, tokens: usize) -> Result<Self> {
        let there = ids.len().saturating_sub(1) / length;
        if there == 0 {
            return Err(Error::TooLittleHeldOut { tokens: ids.len(), length });
        }
        Ok(Self { ids, length, sequences: tokens.div_ceil(length).clamp(1, there), there })
    }

    /// Tokens that are scored.
    pub fn tokens(&self) -> usize {
        self.sequences * self.length
    }

    fn sequence(&self, number: usize) -> &'a [u32] {
        // In 128 bits the product cannot run over, however much text there is.
        let at = (number as u128 * self.there as u128 / self.sequences as u128) as usize;
        &self.ids[at * self.length..(at + 1) * self.length + 1]
    }

    /// Mean negative log-likelihood of all scored tokens, nats a token; `None` where one of them
    /// has none, because a logit was not finite.
    ///
    /// # Errors
    /// [`Error::Decoder`] should the model not take the sequences.
    pub fn loss(&self, spec: &Spec, weights: &Weights) -> Result<Option<f64>> {
        let model = Model::new(spec.clone(), weights.clone())?;
        let vocabulary = Vocabulary::all(spec.vocabulary);
        let scored: Vec<u32> = (1..=self.length as u32).collect();
        let numbers: Vec<usize> = (0..self.sequences).collect();
        let mut sum = 0.0;
        for some in numbers.chunks(TOGETHER) {
            let sequences: Vec<Sequence<'_>> = some
                .iter()
                .map(|number| Sequence { tokens: self.sequence(*number), scored: &scored })
                .collect();
            for score in model.score(&sequences, &vocabulary)?.into_iter().flatten() {
                match score {
                    Some(score) => sum += f64::from(score.nll),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(sum / self.tokens() as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::architecture::Architecture;
    use crate::train::initial::initial_weights;
    use crate::train::step::Workspace;

    fn spec() -> Spec {
        let architecture = Architecture {
            vocabulary: 40,
            sequence: 8,
            width: 8,
            layers: 2,
            heads: 2,
            kv_heads: 2,
            head_width: 4,
            hidden: 16,
            tied: true,
            qk_norm: false,
            window: Some(4),
            rope_base: 1e4,
            rope_scaling: None,
            norm_epsilon: 1e-5,
        };
        architecture.spec()
    }

    /// The decoder that measures and the step that trains are two programs; they agree on the loss.
    #[test]
    fn it_is_the_loss_that_the_trainer_would_see() {
        let spec = spec();
        let weights = initial_weights(&spec, 5);
        let ids: Vec<u32> = (0..81).map(|i| (i * i + 3 * i) % 40).collect();
        let held_out = HeldOut::new(&ids, 8, 80).unwrap();
        let sequences: Vec<&[u32]> =
            (0..10).map(|number| &ids[number * 8..number * 8 + 9]).collect();
        let mut workspace = Workspace::new(&spec, 8).unwrap();
        let sum = workspace.forward_backward(
            &spec,
            &weights,
            &sequences,
            0.0,
            &mut Weights::zeros(&spec),
        );
        let loss = held_out.loss(&spec, &weights).unwrap().unwrap();
        assert!((loss - sum / 80.0).abs() < 1e-5, "{loss} {}", sum / 80.0);
    }

    #[test]
    fn the_sequences_lie_evenly_in_the_text() {
        let ids: Vec<u32> = (0..101).collect();
        let held_out = HeldOut::new(&ids, 10, 30).unwrap();
        assert_eq!(held_out.tokens(), 30);
        let starts: Vec<u32> = (0..3).map(|number| held_out.sequence(number)[0]).collect();
        assert_eq!(starts, [0, 30, 60]);
        assert_eq!(held_out.sequence(2).len(), 11);
        assert_eq!(HeldOut::new(&ids, 10, 1_000_000).unwrap().tokens(), 100);
        let error = HeldOut::new(&ids[..10], 10, 30).unwrap_err().to_string();
        assert!(error.contains("10 tokens"), "{error}");
    }

    #[test]
    fn a_broken_model_has_no_loss() {
        let spec = spec();
        let mut weights = initial_weights(&spec, 5);
        weights.token_embedding.data[3] = f32::NAN;
        let ids = [0; 9];
        assert_eq!(HeldOut::new(&ids, 8, 8).unwrap().loss(&spec, &weights).unwrap(), None);
    }
}
