//! Every path against the definition, and the invariants that the forward pass and the head stand
//! on.

use relscale_decoder::kernels::{
    Dtype, Format, Input, Kernels, Left, Numbers, Order, Packed, Right, Softmax, TILE, WIDTH,
};
use relscale_decoder::weights::Matrix;
use relscale_testkit::data::{MACHINE, skipped};

fn rounded(v: f32) -> f32 {
    half::bf16::from_f32(v).to_f32()
}

fn numbers(len: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as f32 / u32::MAX as f32 - 0.5
    })
    .take(len)
    .collect()
}

/// The formats that this processor has; says which it has not.
fn formats() -> Vec<Format> {
    let mut formats = Vec::new();
    for (dtype, kernels) in
        [Dtype::F32, Dtype::Bf16].into_iter().flat_map(|d| Kernels::ALL.map(|k| (d, k)))
    {
        match Format::by(dtype, kernels) {
            Some(format) => formats.push(format),
            None if (dtype, kernels) == (Dtype::F32, Kernels::Avx512Bf16) => {}
            None => skipped(MACHINE, &format!("no {} on this processor", kernels.name())),
        }
    }
    formats
}

fn matrix(rows: usize, columns: usize, seed: u32) -> Matrix {
    Matrix { rows, columns, data: numbers(rows * columns, seed) }
}

fn input(format: Format, x: &[f32], columns: usize) -> Input {
    let mut input = Input::new(format);
    input.fill(x.len() / columns, columns, |i, out| {
        out.copy_from_slice(&x[i * columns..(i + 1) * columns])
    });
    input
}

/// The definition in f64, of the numbers that the format keeps.
fn naive(format: Format, x: &[f32], matrix: &Matrix) -> Vec<f64> {
    let kept = |v: f32| f64::from(if format.dtype() == Dtype::Bf16 { rounded(v) } else { v });
    x.chunks_exact(matrix.columns)
        .flat_map(|x| {
            (0..matrix.rows)
                .map(move |o| x.iter().zip(matrix.row(o)).map(|(a, b)| kept(*a) * kept(*b)).sum())
        })
        .collect()
}

/// Sizes that are no multiple of anything, one of each, and more than one block of the inner
/// dimension.
const SHAPES: [(usize, usize, usize); 9] = [
    (1, 1, 1),
    (3, 5, 7),
    (14, 32, 16),
    (15, 33, 17),
    (113, 193, 31),
    (200, 400, 96),
    (29, 210, 1501),
    (130, 64, 3072),
    (57, 1000, 48),
];

#[test]
fn products_agree_with_the_definition() {
    for format in formats() {
        for (n, o, i) in SHAPES {
            let (x, w) = (numbers(n * i, 1), matrix(o, i, 2));
            let packed = Packed::new(&w, format, Order::Plain);
            let x_packed = input(format, &x, i);
            let mut out = vec![1.0; n * o];
            packed.multiply(&x_packed, &mut out, |_, sums, out| {
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out += *sum);
            });
            let want = naive(format, &x, &w);
            for (at, (got, want)) in out.iter().zip(&want).enumerate() {
                let error = (f64::from(*got) - 1.0 - want).abs();
                // Rounding of a chain of `i` sums grows with its root.
                assert!(
                    error < 3e-6 * (i as f64).sqrt().max(1.0),
                    "{format:?} {n} x {o} x {i}, at {at}: {got} {want}"
                );
            }
            let mut row = vec![0.0; i];
            for o in [0, o / 2, o - 1] {
                packed.row_into(o, &mut row);
                let kept = |v: &f32| if format.dtype() == Dtype::Bf16 { rounded(*v) } else { *v };
                assert_eq!(row, w.row(o).iter().map(kept).collect::<Vec<_>>(), "{format:?}");
            }
        }
    }
}

/// Two products with nothing but the buffers of the kernels between them, gated and not, against
/// the same through memory.
#[test]
fn outputs_laid_out_for_the_next_product_are_those_that_went_through_memory() {
    for format in formats() {
        for (n, f, c) in [(1, 6, 8), (31, 97, 50), (120, 200, 33), (14, 96, 64), (70, 301, 128)] {
            for order in [Order::Plain, Order::Gated] {
                let gated = order == Order::Gated;
                let up = Packed::new(&matrix(if gated { 2 * f } else { f }, c, 3), format, order);
                let down = Packed::new(&matrix(c, f, 4), format, Order::Plain);
                let x = input(format, &numbers(n * c, 5), c);
                let join = |sums: &mut [f32]| {
                    if gated {
                        let (gate, up) = sums.split_at_mut(TILE_HALF);
                        gate.iter_mut().zip(up).for_each(|(g, u)| *g *= *u + 1.0);
                    } else {
                        sums.iter_mut().for_each(|s| *s = s.abs());
                    }
                };
                let mut through = vec![0.0; n * f];
                up.multiply(&x, &mut through, |_, sums, out| {
                    join(sums);
                    out.copy_from_slice(&sums[..out.len()]);
                });
                let mut next = Input::new(format);
                up.multiply_into(&x, &mut next, |_, sums| join(sums));
                let (mut direct, mut around) = (vec![0.0; n * c], vec![0.0; n * c]);
                let keep = |_: usize, sums: &mut [f32], out: &mut [f32]| out.copy_from_slice(sums);
                down.multiply(&next, &mut direct, keep);
                down.multiply(&input(format, &through, f), &mut around, keep);
                assert_eq!(direct, around, "{format:?} {order:?} {n} x {f} x {c}");
            }
        }
    }
}

const TILE_HALF: usize = TILE / 2;

/// Gate and up of one output meet in one segment, whatever its place.
#[test]
fn gate_and_up_meet() {
    for format in formats() {
        for f in [1, 95, 96, 97, 250] {
            let c = 4;
            // Gate rows are their number, up rows a thousand more.
            let data = (0..2 * f).flat_map(|o| {
                [if o < f { o as f32 } else { (o - f) as f32 + 1024.0 }, 0.0, 0.0, 0.0]
            });
            let w = Matrix { rows: 2 * f, columns: c, data: data.collect() };
            let packed = Packed::new(&w, format, Order::Gated);
            let x = input(format, &[1.0, 0.0, 0.0, 0.0], c);
            let mut out = vec![f32::NAN; f];
            packed.multiply(&x, &mut out, |first, sums, out| {
                let (gate, up) = sums.split_at(TILE_HALF);
                for (i, out) in out.iter_mut().enumerate() {
                    let exact = |v: usize| half::bf16::from_f32(v as f32).to_f32();
                    let (g, u) = (first + i, first + i + 1024);
                    let want = if format.dtype() == Dtype::Bf16 {
                        (exact(g), exact(u))
                    } else {
                        (g as f32, u as f32)
                    };
                    assert_eq!((gate[i], up[i]), want, "{format:?}");
                    *out = 0.0;
                }
            });
            assert!(out.iter().all(|v| *v == 0.0), "{format:?}: an output was not visited");
        }
    }
}

/// What the batch invariance of the forward pass and the rank head stand on.
#[test]
fn bits_depend_on_neither_neighbours_nor_place() {
    for format in formats() {
        for (o, i) in [(700, 96), (33, 768), (400, 1500), (20, 16)] {
            let w = Packed::new(&matrix(o, i, 6), format, Order::Plain);
            let x = numbers(300 * i, 5);
            let through = |x: &[f32], threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut out = vec![0.0; x.len() / i * o];
                pool.install(|| {
                    w.multiply(&input(format, x, i), &mut out, |_, sums, out| {
                        out.copy_from_slice(sums)
                    });
                });
                out
            };
            let whole = through(&x, 3);
            for (first, rows) in [(0, 1), (17, 14), (100, 113), (299, 1)] {
                let part = through(&x[first * i..(first + rows) * i], 1);
                let same =
                    part.iter().zip(&whole[first * o..]).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{format:?}: rows {first}.. of {rows}, {o} x {i}");
            }
        }
    }
}

/// The target's logit is the number that its tile yields, bit for bit: an equal entry must not fall
/// on the wrong side.
#[test]
fn the_aimed_sum_has_the_bits_of_the_walk() {
    for format in formats() {
        for (n, v, c) in
            [(1, 3, 4), (100, 1000, 64), (37, 193, 700), (215, 400, 31), (16, 250, 2050)]
        {
            let head = Packed::new(&matrix(v, c, 7), format, Order::Head);
            let x = input(format, &numbers(n * c, 8), c);
            let ids: Vec<u32> = (0..n).map(|i| (i * 7919 % v) as u32).collect();
            let aimed = head.aimed(&x, &ids);
            let mut seen = 0;
            for rows in head.shares(n, 64) {
                let mut sums = Numbers::default();
                head.walk(&x, rows.clone(), &mut sums, |first, row, sums| {
                    for (row, sums) in (row..).zip(sums.chunks_exact(TILE)) {
                        let Some(at) = (ids[row] as usize).checked_sub(first) else { continue };
                        if at < TILE {
                            assert_eq!(
                                sums[at].to_bits(),
                                aimed[row].to_bits(),
                                "{format:?} {n} x {v} x {c}"
                            );
                            seen += 1;
                        }
                    }
                });
            }
            assert_eq!(seen, n, "{format:?}");
        }
    }
}

#[test]
fn shares_cover_all_rows_once_and_begin_with_panels() {
    for format in formats() {
        let weights = Packed::new(&matrix(1, 1, 1), format, Order::Head);
        // One row more than a panel holds begins the second one.
        let panel = match format.kernels() {
            Kernels::Avx2 => 6,
            Kernels::Amx | Kernels::AmxModel => 32,
            _ => 14,
        };
        for rows in [0, 1, 13, 14, 15, 111, 1023, 5000] {
            for most in [14, 56, 280] {
                let shares = weights.shares(rows, most);
                let mut next = 0;
                for share in &shares {
                    assert_eq!(share.start, next);
                    assert!(share.start % panel == 0 && !share.is_empty(), "{format:?}");
                    assert!(share.len() <= most.max(panel), "{format:?}");
                    next = share.end;
                }
                assert_eq!(next, rows);
            }
        }
    }
}

/// NaN and infinity reach the result, on every path: the head must be able to see them.
#[test]
fn what_is_not_finite_stays_so() {
    for format in formats() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut w = matrix(40, 20, 9);
            w.data[7 * 20 + 3] = bad;
            let packed = Packed::new(&w, format, Order::Plain);
            let mut out = vec![0.0; 40];
            packed.multiply(&input(format, &numbers(20, 1), 20), &mut out, |_, sums, out| {
                out.copy_from_slice(sums)
            });
            assert!(
                out.iter().enumerate().all(|(o, v)| v.is_finite() == (o != 7)),
                "{format:?} {bad}"
            );
        }
    }
}

/// Head by head, and so many outputs that they are written past the caches: the same bits as in
/// rows, on lines or beside them.
#[test]
fn heads_hold_what_rows_would() {
    let columns = 6;
    for format in formats() {
        for (d, more, lengths) in
            [(64, 0, vec![5000, 700]), (20, 0, vec![3, 40, 1]), (64, 7, vec![3, 40, 1])]
        {
            let (rows, width) = (lengths.iter().sum::<usize>(), 3 * d + more);
            let weights = Packed::new(&matrix(width, columns, 5), format, Order::Plain);
            let x = input(format, &numbers(rows * columns, 6), columns);
            let mut plain = vec![f32::NAN; rows * width];
            weights.multiply(&x, &mut plain, |_, sums, out| out.copy_from_slice(sums));
            let mut heads = Numbers::default();
            heads.resize(rows * width);
            weights.multiply_heads(&x, &lengths, d, &mut heads, |_, _| ());
            let mut first = 0;
            for length in lengths {
                for (head, t, c) in (0..4)
                    .flat_map(|head| (0..length).map(move |t| (head, t)))
                    .flat_map(|(head, t)| (0..d).map(move |c| (head, t, c)))
                    .filter(|(head, _, c)| head * d + c < width)
                {
                    let d_here = if head < 3 { d } else { more };
                    let got = heads[first * width + head * length * d + t * d_here + c];
                    let want = plain[(first + t) * width + head * d + c];
                    assert_eq!(
                        got.to_bits(),
                        want.to_bits(),
                        "{format:?} D {d}: row {} of head {head}",
                        first + t
                    );
                }
                first += length;
            }
        }
    }
}

/// Tiles by the processor against the model of them, bit for bit: both types, panels that are full,
/// low and cut, several blocks of the inner dimension, numbers that are not finite, the sums that a
/// head asks for, and the factors of attention.
#[test]
fn the_assembly_has_the_bits_of_the_model() {
    let bits = |v: f32| if v.is_nan() { u32::MAX } else { v.to_bits() };
    for dtype in [Dtype::F32, Dtype::Bf16] {
        let Some(assembly) = Format::by(dtype, Kernels::Amx) else {
            skipped(MACHINE, "no tiles on this processor, whose assembly did not run");
            continue;
        };
        let both = [assembly, Format::by(dtype, Kernels::AmxModel).unwrap()];
        for (n, o, i) in [(1, 1, 1), (16, 32, 32), (17, 40, 70), (75, 200, 600), (33, 31, 257)] {
            let (mut x, w) = (numbers(n * i, 21), matrix(o, i, 22));
            if n > 20 {
                x[3] = f32::INFINITY;
                x[5 * i] = f32::NAN;
                x[7 * i] = f32::MAX;
            }
            let results = both.map(|format| {
                let packed = Packed::new(&w, format, Order::Head);
                let x = input(format, &x, i);
                let mut out = vec![0.0; n * o];
                packed.multiply(&x, &mut out, |_, sums, out| out.copy_from_slice(sums));
                let ids: Vec<u32> = (0..n).map(|row| (row * 7919 % o) as u32).collect();
                out.extend(packed.aimed(&x, &ids));
                out.into_iter().map(bits).collect::<Vec<_>>()
            });
            assert_eq!(results[0], results[1], "{dtype:?} {n} x {o} x {i}");
        }
        for (keys, d) in [(5, 8), (70, 64), (200, 40)] {
            let (k, v, q) = (numbers(keys * d, 23), numbers(keys * d, 24), numbers(20 * d, 25));
            let results = both.map(|format| {
                let (mut left, mut values) = (Left::tall(format), Left::low(format));
                let (mut right, mut scores) = (Right::new(format), Right::new(format));
                left.fill_rows(&k, keys, d);
                right.fill_rows(&q, 20, d);
                let rows = left.panels() * left.height();
                left.times(0..left.panels(), 0, &right, scores.numbers_mut(rows), false);
                Softmax::new(keys, None, 0.3).weigh(0, &mut scores, None);
                values.fill_columns(&v, keys, keys.next_multiple_of(left.height()), d);
                let mut sums = vec![1.0; values.panels() * values.height() * WIDTH];
                values.times(0..values.panels(), 0, &scores, &mut sums, true);
                sums[..d * WIDTH].iter().copied().map(bits).collect::<Vec<_>>()
            });
            assert_eq!(results[0], results[1], "{dtype:?}, {keys} keys of {d}");
        }
    }
}

/// The six of nine products that tiles take for f32, against sums in f64: nearer than one chain of
/// multiply-adds in f32, which is what the other kernels of this crate yield, bit for bit.
#[test]
fn six_products_are_as_good_as_f32() {
    for i in [768, 4096] {
        let (n, o) = (32, 96);
        let (x, w) = (numbers(n * i, 31), matrix(o, i, 32));
        let format = Format::by(Dtype::F32, Kernels::AmxModel).unwrap();
        let want = naive(format, &x, &w);
        let packed = Packed::new(&w, format, Order::Plain);
        let mut tiles = vec![0.0; n * o];
        packed
            .multiply(&input(format, &x, i), &mut tiles, |_, sums, out| out.copy_from_slice(sums));
        let chain: Vec<f32> = x
            .chunks_exact(i)
            .flat_map(|x| (0..o).map(|o| (x, w.row(o))).collect::<Vec<_>>())
            .map(|(x, w)| x.iter().zip(w).fold(0.0, |sum, (x, w)| x.mul_add(*w, sum)))
            .collect();
        // Of the root of the mean square of what is summed up.
        let size = (want.iter().map(|v| v * v).sum::<f64>() / want.len() as f64).sqrt();
        let error = |found: &[f32]| {
            let squares = found.iter().zip(&want).map(|(a, b)| (f64::from(*a) - b).powi(2));
            (squares.sum::<f64>() / want.len() as f64).sqrt() / size
        };
        let (tiles, chain) = (error(&tiles), error(&chain));
        assert!(tiles < 0.7 * chain, "K {i}: {tiles:e} by tiles, {chain:e} by a chain");
    }
}
