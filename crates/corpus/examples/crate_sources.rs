//! How much text the crates of this workspace give, by distribution and split.
//!
//! `cargo run -p relscale-corpus --example crate_sources [-- MANIFEST [by-crate]]`

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::Path;

use relscale_corpus::{CorpusError, CrateSources, Distribution, Fingerprint, Split};

fn main() -> Result<(), CorpusError> {
    let mut arguments = std::env::args().skip(1);
    let manifest = arguments.next().unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").to_owned());
    let by_crate = arguments.next().is_some();
    let sources = CrateSources::find(Some(Path::new(&manifest)))?;
    println!("found by {}: {} crates", sources.found_by(), sources.crates().len());
    println!("set aside: {}", sources.set_aside().len());
    println!("on the held-out list but not here: {:?}\n", sources.absent_held_out());

    println!("{:<10} {:<9} {:>6} {:>9} {:>12}  sha256", "kind", "split", "crates", "documents", "bytes");
    for distribution in Distribution::ALL {
        for split in [Split::Train, Split::HeldOut] {
            let documents = sources.documents(distribution, split)?;
            let bytes: usize = documents.iter().map(|d| d.text.len()).sum();
            let mut of_crate: BTreeMap<&str, usize> = BTreeMap::new();
            for document in &documents {
                *of_crate.entry(&document.tags["crate"]).or_default() += document.text.len();
            }
            println!(
                "{:<10} {:<9} {:>6} {:>9} {:>12}  {}",
                distribution.name(),
                split.name(),
                of_crate.len(),
                documents.len(),
                bytes,
                Fingerprint::of(&documents).sha256
            );
            if by_crate {
                for (name, bytes) in of_crate {
                    println!("    {:<9} {:<9} {name:<28} {bytes:>10}", distribution.name(), split.name());
                }
            }
        }
    }
    Ok(())
}
