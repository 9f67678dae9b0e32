//! Which sequences a step sees: the stream cut into sequences, shuffled by a seed, pass after pass.

use crate::error::{Error, Result};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// Sequences of `context + 1` tokens (the last only a target), in a seeded order.
#[derive(Debug)]
pub struct Batches<'a> {
    stream: &'a [u32],
    context: usize,
    batch: usize,
    seed: u64,
    pass: u64,
    order: Vec<u32>,
    next: usize,
    /// The sequences of the last step asked for; its memory goes from step to step.
    current: Vec<&'a [u32]>,
}

impl<'a> Batches<'a> {
    /// Batches of `batch` sequences over `stream`.
    ///
    /// # Errors
    /// [`Error::TooLittleText`] when the stream does not hold one batch.
    pub fn new(stream: &'a [u32], context: usize, batch: usize, seed: u64) -> Result<Self> {
        let sequences = stream.len().saturating_sub(1) / context;
        if sequences < batch || batch == 0 {
            return Err(Error::TooLittleText { tokens: stream.len(), batch: batch * context });
        }
        let mut batches = Self {
            stream,
            context,
            batch,
            seed,
            pass: 0,
            order: (0..sequences as u32).collect(),
            next: 0,
            current: Vec::with_capacity(batch),
        };
        batches.shuffle();
        Ok(batches)
    }

    /// Tokens of a step that are learnt from.
    pub fn tokens(&self) -> usize {
        self.batch * self.context
    }

    /// Passes over the text that `steps` steps make.
    pub fn passes(&self, steps: u32) -> f64 {
        f64::from(steps) * self.batch as f64 / self.order.len() as f64
    }

    /// The sequences of the next step. A pass that does not end on a whole batch is followed by the
    /// next in the same step.
    pub fn next_batch(&mut self) -> &[&'a [u32]] {
        self.current.clear();
        for _ in 0..self.batch {
            if self.next == self.order.len() {
                self.pass += 1;
                self.shuffle();
            }
            let start = self.order[self.next] as usize * self.context;
            self.next += 1;
            self.current.push(&self.stream[start..start + self.context + 1]);
        }
        &self.current
    }

    /// Goes on as if so many steps had been taken.
    pub fn skip(&mut self, steps: u32) {
        let seen = u64::from(steps) * self.batch as u64;
        let sequences = self.order.len() as u64;
        // As in `next_batch`, a pass begins when its first sequence is asked for.
        while self.pass < seen.saturating_sub(1) / sequences {
            self.pass += 1;
            self.shuffle();
        }
        self.next = (seen - self.pass * sequences) as usize;
    }

    /// Fisher-Yates over the order, from the seed and the number of the pass.
    fn shuffle(&mut self) {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed ^ (self.pass << 40));
        for i in (1..self.order.len()).rev() {
            // The bias of a 64-bit remainder over a few thousand sequences is below 1e-15.
            let j = (random.next_u64() % (i as u64 + 1)) as usize;
            self.order.swap(i, j);
        }
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_sees_every_sequence_once_and_the_next_in_another_order() {
        let stream: Vec<u32> = (0..101).collect();
        let mut batches = Batches::new(&stream, 10, 4, 7).unwrap();
        let starts: Vec<u32> =
            (0..5).flat_map(|_| batches.next_batch().to_vec()).map(|s| s[0]).collect();
        let (one, two) = starts.split_at(10);
        assert_ne!(one, two);
        for pass in [one, two] {
            let mut sorted = pass.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..10).map(|i| i * 10).collect::<Vec<_>>());
        }
        assert!((batches.passes(5) - 2.0).abs() < 1e-12);
        assert_eq!(batches.next_batch()[0].len(), 11);
    }

    #[test]
    fn skipping_is_as_good_as_stepping() {
        let stream: Vec<u32> = (0..101).collect();
        for taken in 0..12 {
            let (mut stepped, mut skipped) = (
                Batches::new(&stream, 10, 4, 7).unwrap(),
                Batches::new(&stream, 10, 4, 7).unwrap(),
            );
            (0..taken).for_each(|_| {
                stepped.next_batch();
            });
            skipped.skip(taken);
            for _ in 0..6 {
                assert_eq!(stepped.next_batch(), skipped.next_batch(), "after {taken}");
            }
        }
    }

    #[test]
    fn too_little_text_is_refused() {
        let error = Batches::new(&[1; 40], 10, 4, 0).unwrap_err();
        assert!(error.to_string().contains("40 tokens"), "{error}");
    }
}
