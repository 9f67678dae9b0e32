//! A family of three mock models over one made-up corpus: the whole way from text to RBP_1, in a
//! second and without a model.
//!
//! `cargo run -p relscale-measure --example mock_family`
//!
//! The mocks are built to obey `-ln RBP_1 = 3 S^-0.1`; the last column is what they were built for.

#![allow(clippy::print_stdout)] // An example may speak.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use relscale_corpus::{Document, Tokenizer};
use relscale_measure::engines::MockEngine;
use relscale_measure::{CorpusSource, Event, LoadedModel, ModelSource, Settings, measure};
use relscale_records::Study;

/// A tokenizer for which each of the ten digits is a token.
const TOKENIZER: &str = r#"{
    "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
    "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
    "model": {"type": "WordLevel", "unk_token": "0", "vocab":
        {"0": 0, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7, "8": 8, "9": 9}}
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("relscale-mock-family-{}", std::process::id()));
    let tokenizer = Arc::new(Tokenizer::from_json(TOKENIZER)?);

    // Sixty documents, each the digits of 3^n written ten times.
    let corpus = CorpusSource {
        name: "powers-of-three".into(),
        description: "digits of 3^n, ten times".into(),
        origin: None,
        drawn: false,
        documents: Box::new(|| Ok(Box::new((11..71).map(|n| Ok(digits(n)))))),
        files: None,
        reading: Default::default(),
    };
    let models: Vec<ModelSource<'_>> = [3_000u64, 100_000, 3_000_000]
        .into_iter()
        .map(|size| ModelSource {
            name: format!("mock-{size}"),
            folder: "nowhere".into(),
            tokenizer: Some(tokenizer.clone()),
            load: Box::new(move |_| {
                let engine = MockEngine::new(&format!("mock-{size}"), size, 10).with_context(64);
                Ok(LoadedModel {
                    engine: Box::new(engine),
                    unused_tensors: Vec::new(),
                    files_not_read: Vec::new(),
                    bos: None,
                    learned: None,
                })
            }),
            recognise: None,
        })
        .collect();

    let mut study = Study::create_or_open(&folder)?;
    let mut events = |event: Event| {
        if let Event::RunFinished { model, totals, .. } = event {
            println!("{model}: {} positions of {} documents", totals.scored, totals.documents);
        }
    };
    measure(
        &mut study,
        &models,
        &[corpus],
        &Settings::default(),
        &mut events,
        &AtomicBool::new(false),
    )?;

    for tally in study.tallies()? {
        let best = tally.rbp().and_then(|rbp| rbp.first().copied()).ok_or("nothing was scored")?;
        let law = 3.0 * (tally.non_embedding as f64).powf(-0.1);
        println!(
            "S = {:>9}   -ln RBP_1 = {:.3}   built for {law:.3}",
            tally.non_embedding,
            -best.ln()
        );
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn digits(n: u32) -> Document {
    let digits: Vec<String> = 3u128.pow(n).to_string().chars().map(String::from).collect();
    Document::new(format!("3^{n}"), vec![digits.join(" "); 10].join(" "))
}
