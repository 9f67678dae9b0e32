//! The table of `record/2026-11-28-appendix-b.md`: the paper's closed forms beside the sums that
//! they stand for.
//!
//! `cargo run -p relscale-laws --example appendix_b`

#![allow(clippy::print_stdout)]

use relscale_laws::LawsError;
use relscale_laws::rank_distribution::appendix_b::{closed_form, endless_sum, sum};

/// |V| of GPT-2.
const VOCABULARY: u32 = 50_257;

fn main() -> Result<(), LawsError> {
    println!("| mu | sigma | (16) | sum | error | endless | (21) | sum | error | endless |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let grid = [-20.0, -8.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0]
        .map(|mu| [1.0, 2.0, 3.0, 5.0].map(|s| (mu, s)));
    for (mu, sigma) in grid.into_iter().flatten().chain([(-65.192, 12.892)]) {
        let (closed, cut) = (closed_form(mu, sigma)?, sum(mu, sigma, VOCABULARY)?);
        let endless = endless_sum(mu, sigma)?;
        println!(
            "| {mu} | {sigma} | {:.4} | {:.4} | {:+.4} | {:+.4} | {:.4} | {:.4} | {:+.4} | {:+.4} |",
            closed.minus_ln_p1,
            cut.minus_ln_p1,
            closed.minus_ln_p1 - cut.minus_ln_p1,
            closed.minus_ln_p1 - endless.minus_ln_p1,
            closed.entropy,
            cut.entropy,
            closed.entropy - cut.entropy,
            closed.entropy - endless.entropy,
        );
    }
    Ok(())
}
