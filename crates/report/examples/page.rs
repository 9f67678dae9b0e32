//! A study of seven made-up models on three texts, reported: what the page looks like.
//!
//! `cargo run -p relscale-report --example page -- [folder]` writes the study of seven models into
//! `folder/realistic`, and studies that are too small for a law, or for an interval, beside it.

#![allow(clippy::print_stdout)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};

use relscale_laws::Saved as _;
use relscale_report::ReportError;
use support::{Runs, SIZES, TEXTS, Text, render};

fn main() -> Result<(), ReportError> {
    let home = std::env::args_os()
        .nth(1)
        .map_or_else(|| std::env::temp_dir().join("relscale-report-example"), PathBuf::from);

    report(&home.join("realistic"), &support::realistic(1_100))?;
    report(&home.join("one-model"), &support::family("crates", &SIZES[..1], &TEXTS, 60))?;
    report(&home.join("two-models"), &support::family("crates", &SIZES[..2], &TEXTS, 60))?;
    report(&home.join("one-corpus"), &support::family("crates", &SIZES, &TEXTS[..1], 60))?;

    let mut families = support::family("ants", &SIZES[..5], &TEXTS, 60);
    families.extend(support::family("bees", &SIZES[2..], &TEXTS[1..], 60));
    report(&home.join("two-families"), &families)?;

    // Little text, so that misses run out at large k; names that no layout likes.
    let texts = [
        "pull-request-descriptions-of-2024 (deduplicated)",
        "a<b & \"c\" $x$",
        "日本語",
        "s4",
        "s5",
        "s6",
    ];
    let mut level = 2.0;
    let texts = texts.map(|name| {
        level *= 1.2;
        Text { name, level, exponent: 0.1 }
    });
    report(&home.join("awkward"), &support::family("a/b/c", &SIZES[..5], &texts, 8))
}

/// Fits and reports as `relscale fit` and `relscale report` do.
fn report(folder: &Path, runs: &Runs) -> Result<(), ReportError> {
    // A study that is already there would keep the runs of an earlier version of this example.
    let _ = std::fs::remove_dir_all(folder);
    support::keep(folder, runs);
    let laws = support::laws(runs);
    if let Err(error) = laws.save(&folder.join("laws.json")) {
        println!("{error}");
    }
    let files = render(&laws, folder)?;
    println!("{}, {} figures", files.page.display(), files.figures.len());
    Ok(())
}
