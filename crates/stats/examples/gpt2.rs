//! The rank law of GPT-2 from four published points: does it hold, how surely, and what does it
//! predict?
//!
//! `cargo run -p relscale-stats --example gpt2`

#![allow(clippy::print_stdout)]

use relscale_stats::{StatsError, forms::power};

fn main() -> Result<(), StatsError> {
    // Non-embedding parameters and -ln RBP_1 in nats, read off a figure of arXiv 2510.20387
    // (Wikipedia).
    let parameters = [85_056_000.0, 302_311_424.0, 708_390_400.0, 1_475_561_600.0];
    let values = [0.877, 0.803, 0.7695, 0.748];

    let law = power::fit(&parameters, &values)?;
    let interval = law.exponent_interval(0.95)?;
    println!(
        "alpha = {:.4} [{:.4}, {:.4}]  R² = {:.4}",
        law.exponent(),
        interval.low,
        interval.high,
        law.line.r_squared.unwrap_or(f64::NAN)
    );

    // The largest model from the three smaller ones: the paper gives no interval, three points give
    // a wide one.
    let smaller = power::fit(&parameters[..3], &values[..3])?;
    let predicted = smaller.prediction_interval(parameters[3], 0.95)?;
    println!(
        "gpt2-xl from the others: {:.4} [{:.4}, {:.4}], measured {}",
        smaller.at(parameters[3]),
        predicted.low,
        predicted.high,
        values[3]
    );

    // Two points have a slope; asked for an interval, the answer is the reason for none.
    let two = power::fit(&parameters[..2], &values[..2])?;
    if let Err(reason) = two.exponent_interval(0.95) {
        println!("two models: alpha = {:.4}, {reason}", two.exponent());
    }
    Ok(())
}
