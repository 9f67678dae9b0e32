//! A study made by hand: two documents, four scored positions, one part. Shows the files and what
//! is read back from them.
//!
//! `cargo run -p relscale-records --example by_hand`

#![allow(clippy::print_stdout)] // An example may speak.

use relscale_records::parquet::{DocumentRow, PartRange};
use relscale_records::study::{RunPlan, RunRecord};
use relscale_records::{Provenance, Score, ScoredToken, Study};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("relscale-by-hand-{}", std::process::id()));
    let mut study = Study::create_or_open(&folder)?;

    let plan = RunPlan { documents: 2, scored: 4, part_tokens: 65_536, parts: 1 };
    let run = study.start(&RunRecord::new(Provenance::example(), plan))?;
    let row = |document, position, rank: u32, nll| ScoredToken {
        document,
        position,
        token: 42,
        bytes: 5,
        context: position,
        score: Some(Score { rank, ties: Some(0), nll, entropy: Some(2.5), argmax: Some(42) }),
    };
    let mut part = run.part_writer(0)?;
    // The last position had a NaN among its logits: a row with nulls, in no average.
    let broken = ScoredToken { score: None, ..row(1, 2, 1, 0.0) };
    part.write(&[row(0, 1, 1, 0.5), row(0, 2, 7, 3.0), row(1, 1, 1, 1.0), broken])?;
    let meta = part.finish(PartRange { index: 0, first_document: 0, end_document: 2 })?;
    let document = |ordinal, id: &str| DocumentRow {
        ordinal,
        id: id.into(),
        tags: [("kind".into(), "prose".into())].into(),
        tokens: 3,
        bytes: 15,
        words: None,
        scored: 2,
    };
    run.write_documents(&[document(0, "first"), document(1, "second")])?;
    let done = run.finish(vec![meta], 0)?;
    study.set_current(&run)?;
    println!("{}: {:?}", run.name(), done.totals);

    for tally in study.tallies()? {
        // Two of three finite positions had rank 1; (0.5 + 3.0 + 1.0) / 3 = 1.5 nats.
        println!("k       {:?}", tally.k_grid);
        println!("RBP_k   {:.3?}", tally.rbp().unwrap_or_default());
        println!("CE      {:?} nats a token", tally.cross_entropy());
        println!("        {:?} bits a byte", tally.bits_per_byte());
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
