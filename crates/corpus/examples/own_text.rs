//! Writes the text of this repository that `relscale demo` measures where the held-out crates are
//! not to be had.
//!
//! `cargo run -p relscale-corpus --example own_text -- assets/own-text`: code, docs and Markdown as
//! the crate sources have them, a JSON object a document. It is frozen: run it again only to make
//! another corpus of it.

use std::error::Error;
use std::path::Path;

use relscale_corpus::loaders::crates::find::{Found, SourceCrate};
use relscale_corpus::loaders::crates::held_out::HeldOut;
use relscale_corpus::{CrateSources, Distribution, Split};

/// Bytes of text of each kind: more than the demo's 60 000 tokens.
const ENOUGH: usize = 300_000;

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args().nth(1).ok_or("argument: FOLDER")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<_> =
        std::fs::read_dir(root.join("crates"))?.flatten().map(|entry| entry.path()).collect();
    folders.extend(["docs", "record"].map(|name| root.join(name)));
    folders.sort();
    let of_folder = |root: std::path::PathBuf| SourceCrate {
        name: root.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        licence: "MIT".to_owned(),
        root,
    };
    let crates: Vec<SourceCrate> = folders.into_iter().map(of_folder).collect();
    let names: Vec<String> = crates.iter().map(|one| format!("\"{}\"", one.name)).collect();
    let list = HeldOut::parse(&format!("[families]\nown = [{}]\n", names.join(", ")))?;
    let sources = CrateSources::new(Found { crates, missing: None }, list, Split::HeldOut)?;
    for distribution in Distribution::ALL {
        let (mut lines, mut bytes) = (String::new(), 0);
        for document in sources.documents(distribution)? {
            if bytes + document.text.len() <= ENOUGH {
                bytes += document.text.len();
                let row = serde_json::json!({"id": document.id, "crate": document.tags["crate"], "text": document.text});
                lines.push_str(&format!("{row}\n"));
            }
        }
        std::fs::write(Path::new(&out).join(format!("{distribution}.jsonl")), lines)?;
    }
    Ok(())
}
