//! How fast each kind of numbers is on this processor, by a short timing: which of them is the
//! faster one depends on it. AVX-512-BF16 doubles the rate of f32 on some processors, and halves it
//! on others.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::{Choice, Dtype, Format, Input, Order, Packed};
use crate::matrix::Matrix;

/// Rows of activations of the product that is timed: enough that its weights come from the cache.
const ROWS: usize = 256;

/// Inputs and outputs of it: a layer of a small model.
const WIDTH: usize = 768;

/// Times each product is timed, at most.
const ROUNDS: usize = 12;

/// Nothing more is begun after this, but for [`LEAST`] rounds.
const ENOUGH: Duration = Duration::from_millis(40);

/// Rounds that are timed however long they take.
const LEAST: usize = 2;

/// How much faster bf16 must be, for its coarser numbers to be worth it.
const GAIN: f64 = 1.15;

/// Floating-point operations a second of all threads together, in each kind of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speeds {
    /// In f32.
    pub f32: f64,
    /// In bf16.
    pub bf16: f64,
}

impl Speeds {
    /// Those of this processor with the best kernels that it has: timed by the first call, in some
    /// ten milliseconds, and the same ever after in this process.
    pub fn here() -> Self {
        static HERE: OnceLock<Speeds> = OnceLock::new();
        *HERE.get_or_init(|| {
            let [f32, bf16] =
                rates([Dtype::F32, Dtype::Bf16].map(|dtype| Format::new(dtype, Choice::Best)));
            Self { f32, bf16 }
        })
    }

    /// bf16 where it is at least 15 % faster, else f32.
    ///
    /// ```
    /// use relscale_decoder::kernels::{Dtype, Speeds};
    /// assert_eq!(Speeds { f32: 400e9, bf16: 480e9 }.faster(), Dtype::Bf16);
    /// assert_eq!(Speeds { f32: 400e9, bf16: 440e9 }.faster(), Dtype::F32);
    /// ```
    pub fn faster(self) -> Dtype {
        if self.bf16 >= GAIN * self.f32 { Dtype::Bf16 } else { Dtype::F32 }
    }
}

/// The kind of numbers in which this processor is the faster one, by [`Speeds::here`].
pub fn faster() -> Dtype {
    Speeds::here().faster()
}

/// Floating-point operations a second of one format: the best of a few products of 256 rows by a
/// layer of 768 x 768, the laying out of the rows included.
pub fn rate(format: Format) -> f64 {
    let [rate] = rates([format]);
    rate
}

/// The same for several, by turns, so that what else the machine does meets all alike.
fn rates<const N: usize>(formats: [Format; N]) -> [f64; N] {
    // Neither zeros nor anything that rounds to one: some processors are quicker or slower then.
    let number = |at: usize| (at % 61) as f32 / 64.0 + 0.25;
    let row: Vec<f32> = (0..WIDTH).map(number).collect();
    let matrix = Matrix { rows: WIDTH, columns: WIDTH, data: row.repeat(WIDTH) };
    let mut out = vec![0.0; ROWS * WIDTH];
    let mut products = formats
        .map(|format| (Packed::new(&matrix, format, Order::Plain), Input::new(format), f64::MAX));
    let begun = Instant::now();
    for round in 0..=ROUNDS {
        if round > LEAST && begun.elapsed() > ENOUGH {
            break;
        }
        for (weights, input, least) in &mut products {
            let start = Instant::now();
            input.fill(ROWS, WIDTH, |_, line| line.copy_from_slice(&row));
            weights.multiply(input, &mut out, |_, sums, out| out.copy_from_slice(sums));
            std::hint::black_box(&mut out);
            // The first warms caches and threads up. A clock may be too coarse to see a product.
            let seconds = start.elapsed().as_secs_f64().max(1e-9);
            *least = if round == 0 { f64::MAX } else { least.min(seconds) };
        }
    }
    products.map(|(_, _, least)| (2 * ROWS * WIDTH * WIDTH) as f64 / least)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On every path; no processor does as many.
    #[test]
    fn every_format_has_a_rate() {
        for choice in [Choice::Best, Choice::Portable] {
            for dtype in [Dtype::F32, Dtype::Bf16] {
                let rate = rate(Format::new(dtype, choice));
                assert!((1e6..1e16).contains(&rate), "{choice:?} {dtype:?}: {rate}");
            }
        }
    }

    #[test]
    fn what_was_timed_stays() {
        let first = Speeds::here();
        assert_eq!((Speeds::here(), faster()), (first, first.faster()));
    }
}
