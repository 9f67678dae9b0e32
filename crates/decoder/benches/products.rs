//! The products that a forward pass is made of, and the head's walk over the vocabulary, against
//! the machine's own limit (multiply-adds without memory) in the same run.
//!
//!     cargo bench -p relscale-decoder --bench products [-- [f32|bf16] [KERNELS]..]
//!
//! Without names of kernels, those that are the best on this processor.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench reports on the terminal")]

use relscale_decoder::kernels::{
    Choice, Dtype, Format, Input, Kernels, Numbers, Order, Packed, View, peak, product,
};
use relscale_decoder::weights::Matrix;
use std::time::Instant;

/// Rows, inputs, outputs: GPT-2 124M's four, its head, and Qwen2.5's head.
const SHAPES: [(&str, usize, usize, usize); 6] = [
    ("qkv", 1024, 768, 2304),
    ("attention output", 1024, 768, 768),
    ("up", 1024, 768, 3072),
    ("down", 1024, 3072, 768),
    ("head, V 50257", 1024, 768, 50_257),
    ("head, V 151936", 512, 896, 151_936),
];

/// Bytes of weights that no cache holds.
const COLD: usize = 128 << 20;

fn numbers(len: usize) -> Vec<f32> {
    (0..len as u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32 - 0.5)
        .collect()
}

/// Least and median of several runs, seconds.
fn timed(mut work: impl FnMut()) -> (f64, f64) {
    work();
    let mut times: Vec<f64> = (0..7)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[3])
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let named: Vec<Kernels> = asked.iter().filter_map(|name| Kernels::named(name)).collect();
    for dtype in [Dtype::F32, Dtype::Bf16] {
        let others = [Dtype::F32, Dtype::Bf16].into_iter().filter(|other| *other != dtype);
        if others.into_iter().any(|other| asked.iter().any(|arg| arg == other.name()))
            && !asked.iter().any(|arg| arg == dtype.name())
        {
            continue;
        }
        let formats: Vec<Format> = match named.as_slice() {
            [] => vec![Format::new(dtype, Choice::Best)],
            named => named.iter().filter_map(|kernels| Format::by(dtype, *kernels)).collect(),
        };
        formats.into_iter().for_each(of_format);
    }
}

/// All products in one format.
fn of_format(format: Format) {
    {
        let dtype = format.dtype();
        let limit = peak(format, 0.5);
        println!(
            "{} ({}), {} threads; limit {}",
            dtype.name(),
            format.kernels().name(),
            rayon::current_num_threads(),
            limit.map_or("not known".to_owned(), |limit| format!("{:.0} GFLOP/s", limit / 1e9))
        );
        for (name, n, i, o) in SHAPES {
            let x = numbers(n * i);
            let weights = Matrix { rows: o, columns: i, data: numbers(o * i) };
            let head = name.starts_with("head");
            let start = Instant::now();
            let packed =
                Packed::new(&weights, format, if head { Order::Head } else { Order::Plain });
            let packing = start.elapsed().as_secs_f64();
            let mut input = Input::new(format);
            let (filling, _) = timed(|| {
                input.fill(n, i, |row, out| out.copy_from_slice(&x[row * i..(row + 1) * i]))
            });
            let (least, median) = if head {
                timed(|| {
                    use rayon::prelude::*;
                    packed.shares(n, 280).into_par_iter().for_each_init(
                        Numbers::default,
                        |sums, rows| {
                            packed.walk(&input, rows, sums, |_, _, sums| {
                                std::hint::black_box(sums);
                            });
                        },
                    );
                })
            } else {
                // As in a forward pass: weights come from main memory, never from the cache of the
                // run before.
                let copies: Vec<Packed> =
                    (0..COLD.div_ceil(packed.bytes())).map(|_| packed.clone()).collect();
                let mut turn = 0;
                let mut out = vec![0.0; n * o];
                timed(|| {
                    turn += 1;
                    copies[turn % copies.len()]
                        .multiply(&input, &mut out, |_, sums, out| out.copy_from_slice(sums));
                })
            };
            let work = (2 * n * i * o) as f64;
            let share = |seconds: f64| {
                limit.map_or(String::new(), |limit| {
                    format!(" = {:.1} %", 100.0 * work / seconds / limit)
                })
            };
            println!(
                "  {name:<18} {n} x {i} x {o}: best {:.0} GFLOP/s{}, median {:.0}{}; input {:.1} %, packed at {:.1} GB/s",
                work / least / 1e9,
                share(least),
                work / median / 1e9,
                share(median),
                100.0 * filling / least,
                (4 * o * i) as f64 / packing / 1e9
            );
            if !head && dtype == Dtype::F32 {
                let mut out = vec![0.0; n * o];
                let (least, _) = timed(|| {
                    use rayon::prelude::*;
                    let share = n.div_ceil(rayon::current_num_threads());
                    out.par_chunks_mut(share * o).zip(x.par_chunks(share * i)).for_each(
                        |(out, x)| {
                            let w = View::dense(&weights.data, o, i).transposed();
                            product(out, o, View::dense(x, x.len() / i, i), w, false);
                        },
                    );
                });
                println!("  {:<18} by gemm: best {:.0} GFLOP/s", "", work / least / 1e9);
            }
        }
    }
}
