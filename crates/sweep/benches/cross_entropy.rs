//! Time of the head's forward and backward in training, one thread, against that of its three
//! products by themselves.
//!
//!     cargo bench -p relscale-sweep --bench cross_entropy -- [ROWS] [V] [E] [REPEATS] [R T]
//!
//! `R T` are the rows and entries of a tile in place of those that are chosen.
#![allow(clippy::print_stdout, reason = "a bench reports on the terminal")]

use relscale_decoder::matrix::Matrix;
use relscale_sweep::train::cross_entropy::{Factors, Scratch, forward_backward};
use std::time::Instant;

fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    })
    .take(len)
    .collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let number = |at: usize, default: usize| args.get(at).map_or(Ok(default), |text| text.parse());
    let (rows, vocabulary, width, repeats) =
        (number(0, 1024)?, number(1, 4096)?, number(2, 128)?, number(3, 5)?);
    let head = Matrix { rows: vocabulary, columns: width, data: numbers(vocabulary * width, 1) };
    let x = numbers(rows * width, 2);
    let targets: Vec<u32> = (0..rows).map(|n| (n * 7919 % vocabulary) as u32).collect();
    let factors = Factors { weight: 1.0 / rows as f32, z_loss: 0.0 };
    let (mut dx, mut dhead) = (vec![0.0; x.len()], Matrix::zeros(vocabulary, width));
    let mut scratch = match args.get(4) {
        Some(_) => Scratch::in_tiles(number(4, 0)?, number(5, vocabulary)?),
        None => Scratch::default(),
    };
    let mut run = || {
        let start = Instant::now();
        forward_backward(&head, &x, &targets, factors, &mut dx, &mut dhead, &mut scratch);
        start.elapsed().as_secs_f64()
    };
    run();
    let mut times: Vec<f64> = (0..repeats).map(|_| run()).collect();
    times.sort_by(f64::total_cmp);
    let flops = 6.0 * (rows * vocabulary * width) as f64;
    println!(
        "{rows} x {vocabulary}, E = {width}: median {:.2} ms ({:.2} to {:.2}) of {repeats}, {:.1} GFLOP/s of three products",
        times[repeats / 2] * 1e3,
        times[0] * 1e3,
        times[repeats - 1] * 1e3,
        flops / times[repeats / 2] / 1e9
    );
    Ok(())
}
