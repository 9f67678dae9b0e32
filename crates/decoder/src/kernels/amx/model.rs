//! The tiles in plain code, exact and slow.

use super::super::shape::{SIDE, TILE_WORDS};
use super::super::small::Ahead;
use super::steps;
use crate::lanes::vectorised;

/// What is done in a step, and how many bytes of the panels it takes.
struct Steps {
    of_a: usize,
    of_b: usize,
    operations: &'static [Operation],
}

enum Operation {
    /// A register, whether from the activations, and from where.
    Load(usize, bool, usize),
    /// Sums, activations, weights: their registers.
    Dot(usize, usize, usize),
    /// Nothing that could be seen.
    Fetch,
}

macro_rules! operation {
    ((load $register:literal a $at:literal)) => {
        Operation::Load($register, true, $at)
    };
    ((load $register:literal b $at:literal)) => {
        Operation::Load($register, false, $at)
    };
    ((dot $sums:literal $a:literal $b:literal)) => {
        Operation::Dot($sums, $a, $b)
    };
    ((fetch $at:literal)) => {
        Operation::Fetch
    };
    ((ahead)) => {
        Operation::Fetch
    };
}

macro_rules! list {
    ([$of_a:literal $of_b:literal $ahead:literal] $($operation:tt)*) => {
        Steps { of_a: $of_a, of_b: $of_b, operations: &[$(operation!($operation)),*] }
    };
}

/// The eight registers.
struct Tiles([[u32; TILE_WORDS]; 8]);

/// A number as the instruction takes it: what is below the smallest normal one is 0.
#[inline(always)]
fn flushed(value: f32) -> f32 {
    if value.abs() < f32::MIN_POSITIVE { 0.0_f32.copysign(value) } else { value }
}

/// Both numbers of a pair of bf16.
#[inline(always)]
fn pair(word: u32) -> [f32; 2] {
    [f32::from_bits(word << 16), f32::from_bits(word & 0xffff_0000)].map(flushed)
}

impl Tiles {
    /// `TDPBF16PS`: for each sum, the products of first numbers and those of second ones are summed
    /// apart, in order, rounding each time; then both together, and that into the sum.
    fn dot(&mut self, sums: usize, a: usize, b: usize) {
        let (a, b) = (self.0[a], self.0[b]);
        let sums = &mut self.0[sums];
        vectorised(
            #[inline(always)]
            || {
                for row in 0..SIDE {
                    let (mut first, mut second) = ([0.0_f32; SIDE], [0.0_f32; SIDE]);
                    for word in 0..SIDE {
                        let [x, x2] = pair(a[row * SIDE + word]);
                        for column in 0..SIDE {
                            let [y, y2] = pair(b[word * SIDE + column]);
                            // A product of two bf16 is an f32, so that one rounding is left.
                            first[column] = flushed(x.mul_add(y, first[column]));
                            second[column] = flushed(x2.mul_add(y2, second[column]));
                        }
                    }
                    for column in 0..SIDE {
                        let sum = &mut sums[row * SIDE + column];
                        let both = flushed(first[column] + second[column]);
                        *sum = flushed(flushed(f32::from_bits(*sum)) + both).to_bits();
                    }
                }
            },
        );
    }
}

/// A small product for the first `quarters` of 32 x 32 sums.
///
/// # Safety
/// As [`Multiply`](super::super::small::Multiply).
unsafe fn product(
    steps: &Steps,
    quarters: usize,
    words: usize,
    [mut a, mut b]: [*const u32; 2],
    c: *mut f32,
    stride: usize,
    resume: bool,
) {
    let mut tiles = Tiles([[0; TILE_WORDS]; 8]);
    let place =
        |quarter: usize, line: usize| (quarter / 2 * SIDE + line) * stride + quarter % 2 * SIDE;
    // SAFETY: panels and sums are as large as the caller promises, and a step takes what its lists
    // say of them.
    unsafe {
        for (quarter, line) in (0..quarters).flat_map(|q| (0..SIDE).map(move |line| (q, line))) {
            let sums = c.add(place(quarter, line)).cast::<u32>();
            let register = &mut tiles.0[quarter][line * SIDE..][..SIDE];
            if resume {
                sums.copy_to_nonoverlapping(register.as_mut_ptr(), SIDE);
            }
        }
        for _ in 0..words / SIDE {
            for operation in steps.operations {
                match *operation {
                    Operation::Load(register, of_a, at) => {
                        let from = if of_a { a } else { b }.byte_add(at);
                        from.copy_to_nonoverlapping(tiles.0[register].as_mut_ptr(), TILE_WORDS);
                    }
                    Operation::Dot(sums, a, b) => tiles.dot(sums, a, b),
                    Operation::Fetch => {}
                }
            }
            (a, b) = (a.byte_add(steps.of_a), b.byte_add(steps.of_b));
        }
        for (quarter, line) in (0..quarters).flat_map(|q| (0..SIDE).map(move |line| (q, line))) {
            let sums = c.add(place(quarter, line)).cast::<u32>();
            tiles.0[quarter][line * SIDE..].as_ptr().copy_to_nonoverlapping(sums, SIDE);
        }
    }
}

macro_rules! product {
    ($name:ident, $quarters:literal) => {
        /// # Safety
        /// As [`Multiply`](super::super::small::Multiply).
        pub(super) unsafe fn $name(
            words: usize,
            a: *const u32,
            b: *const u32,
            c: *mut f32,
            stride: usize,
            resume: bool,
            _: Ahead,
        ) {
            const STEPS: Steps = steps::$name!(list);
            // SAFETY: the caller's promise.
            unsafe { product(&STEPS, $quarters, words, [a, b], c, stride, resume) }
        }
    };
}

product!(by_bf16, 4);
product!(by_bf16_low, 2);
product!(by_f32, 4);
product!(by_f32_low, 2);
