//! What a corpus amounts to under a tokenizer and a protocol: documents, bytes, tokens, windows,
//! scored positions.
//!
//! `cargo run -p relscale-corpus --example windows -- TOKENIZER_FOLDER CORPUS [PROTOCOL [LENGTH]]`,
//! for example with the folder of any model that ships under `assets/` and the corpus
//! `crates:markdown`.

#![allow(clippy::print_stdout)]

use std::path::Path;

use relscale_corpus::protocols::{self, Settings};
use relscale_corpus::{CorpusError, CorpusSpec, Fingerprint, TokenText, Tokenizer};

fn main() -> Result<(), CorpusError> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(corpus)) = (arguments.next(), arguments.next()) else {
        println!(
            "arguments: TOKENIZER_FOLDER CORPUS [PROTOCOL [LENGTH]]\n\n{}",
            relscale_corpus::spec::help()
        );
        return Ok(());
    };
    let name = arguments.next().unwrap_or_else(|| "document".into());
    let length = arguments.next().and_then(|length| length.parse().ok()).unwrap_or(1024);

    let tokenizer = Tokenizer::from_folder(Path::new(&folder))?;
    let named = tokenizer.named_specials();
    let prefix = if name == "rolling" { named.bos.or(named.eos).or(Some(0)) } else { None };
    let settings = Settings {
        length: None,
        stride: None,
        prefix,
        usual_length: length,
        model_maximum: length,
    };
    let protocol = protocols::named(&name, settings)?;
    println!(
        "tokenizer: {} ({:?}), sha256 {}",
        tokenizer.source(),
        tokenizer.sizes(),
        tokenizer.sha256()
    );
    println!("protocol:  {} {:?}, prefix {prefix:?}", protocol.name(), protocol.parameters());

    let spec: CorpusSpec = corpus.parse()?;
    let mut fingerprint = Fingerprint::default();
    let (mut tokens, mut windows, mut scored, mut specials) = (0, 0, 0, 0);
    for document in spec.open()? {
        let document = document?;
        fingerprint.add(&document);
        let encoded = tokenizer.encode_document(&document)?;
        let text = TokenText::of_document(&document, &encoded, tokenizer.special_ids());
        let cut = protocol.windows(&text)?;
        tokens += encoded.ids.len();
        specials += encoded.specials;
        windows += cut.len();
        scored += cut.iter().map(|window| window.scored.len()).sum::<usize>();
    }
    let summary = fingerprint.finish();
    println!(
        "corpus:    {}, {} documents, {} bytes",
        spec.description(),
        summary.documents,
        summary.bytes
    );
    println!("           sha256 {}", summary.sha256);
    println!("tokens:    {tokens}, of them spelled-out specials {specials}");
    println!("windows:   {windows}, scored positions {scored}");
    Ok(())
}
