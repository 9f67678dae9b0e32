//! How much text the crate sources give, by distribution and split: those of the list, or those of
//! a workspace.
//!
//! `cargo run -p relscale-corpus --example crate_sources [-- MANIFEST|shipped [by-crate|list]]`;
//! `list` prints the crates of a workspace as `assets/crates.txt` has them.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::Path;

use relscale_corpus::loaders::crates::pinned::Pinned;
use relscale_corpus::{CorpusError, CrateSources, Distribution, Fingerprint, Split};

fn main() -> Result<(), CorpusError> {
    let mut arguments = std::env::args().skip(1);
    let manifest = arguments.next().unwrap_or_else(|| "shipped".to_owned());
    let (by_crate, list) = match arguments.next().as_deref() {
        Some("list") => (false, true),
        other => (other.is_some(), false),
    };
    let side = |split| match manifest.as_str() {
        "shipped" => CrateSources::shipped(split),
        manifest => CrateSources::locked(Path::new(manifest), split),
    };
    let all = side(Split::Train)?;
    if list {
        for one in Pinned::locked(Path::new(&manifest))? {
            let takes_part = all
                .crates()
                .iter()
                .any(|known| known.name == one.name && known.version == one.version);
            if takes_part {
                println!("{} {} {}", one.name, one.version, one.sha256.unwrap_or_default());
            }
        }
        return Ok(());
    }
    println!("{} crates, missing: {:?}", all.crates().len(), all.missing());
    println!("set aside: {}", all.set_aside().len());
    println!("on the held-out list but not here: {:?}\n", all.absent_held_out());

    println!(
        "{:<10} {:<9} {:>6} {:>9} {:>12}  sha256",
        "kind", "split", "crates", "documents", "bytes"
    );
    for distribution in Distribution::ALL {
        for split in [Split::Train, Split::HeldOut] {
            let documents = side(split)?.documents(distribution)?;
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
                Fingerprint::summarise(&documents).sha256
            );
            if by_crate {
                for (name, bytes) in of_crate {
                    println!(
                        "    {:<9} {:<9} {name:<28} {bytes:>10}",
                        distribution.name(),
                        split.name()
                    );
                }
            }
        }
    }
    Ok(())
}
