//! Seconds of a maximum-likelihood fit of each kind to a histogram in which every rank of GPT-2's
//! vocabulary occurs: 50 257 different values, two million observations. The limit it is measured
//! against is a summation over all values a hundred times, what a search without the histogram's
//! nodes would cost.
//!
//!     cargo bench -p relscale-stats --bench discrete
#![allow(clippy::print_stdout, reason = "a bench reports on the terminal")]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use relscale_stats::discrete::{Distribution, Histogram, Kind, fit, profile_interval};
use relscale_stats::draw;

const UPPER: u32 = 50_257;
const REPEATS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let truth = Distribution::new(Kind::Lognormal, &[0.8, 2.6], UPPER)?;
    let values: Vec<u32> = (1..=UPPER).collect();
    let masses: Vec<f64> = values.iter().map(|&k| truth.ln_mass(k).exp()).collect();
    let counts: Vec<u64> =
        draw::counts(&masses, 2_000_000, 1)?.iter().map(|count| count + 1).collect();
    let start = Instant::now();
    let data = Histogram::new(&values, &counts)?;
    println!(
        "{} values, {} observations, prepared in {:.1?}",
        data.distinct(),
        data.total(),
        start.elapsed()
    );
    println!("{:18} {:>12} {:>16}", "kind", "median s", "100 sums, s");
    for kind in Kind::ALL {
        let mut seconds = Vec::new();
        for _ in 0..REPEATS {
            let start = Instant::now();
            black_box(fit(kind, &data, UPPER)?);
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let distribution = fit(kind, &data, UPPER)?.distribution;
        let start = Instant::now();
        for _ in 0..10 {
            black_box(data.iter().map(|(k, n)| n as f64 * distribution.ln_mass(k)).sum::<f64>());
        }
        println!(
            "{:18} {:12.4} {:16.3}",
            kind.name(),
            seconds[REPEATS / 2],
            10.0 * start.elapsed().as_secs_f64()
        );
    }
    for kind in [Kind::Lognormal, Kind::PointMass] {
        let fitted = fit(kind, &data, UPPER)?;
        let start = Instant::now();
        black_box(profile_interval(&fitted, &data, 0, 0.95)?);
        println!("interval of mu by the profile of {}: {:.2?}", kind.name(), start.elapsed());
    }
    Ok(())
}
