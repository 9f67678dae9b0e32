//! What the tests of this crate share: a corpus, a tokenizer, a session, a way to compare folders.
#![allow(dead_code, unreachable_pub)] // Each test file uses its part of this.

pub mod run;
pub mod tiny;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use relscale_corpus::{Document, Tokenizer};
use relscale_measure::engines::MockEngine;
use relscale_measure::known::Learned;
use relscale_measure::{
    CorpusSource, Engine, Error, Event, LoadedModel, Measured, ModelSource, Settings, measure,
};
use relscale_records::Study;

/// Words of the tokenizer, ids 0.., `<unk>` and `<s>` first.
pub const WORDS: u32 = 50;

/// A word-level tokenizer of `WORDS` entries, with one added special token.
pub fn tokenizer() -> Arc<Tokenizer> {
    Arc::new(Tokenizer::from_json(&tokenizer_json("null")).unwrap())
}

/// Its `tokenizer.json`, with a post-processor.
pub fn tokenizer_json(post_processor: &str) -> String {
    let words: Vec<String> = (1..WORDS).map(|i| format!("\"w{i}\":{i}")).collect();
    format!(
        r#"{{"version":"1.0","truncation":null,"padding":null,
        "added_tokens":[{{"id":{WORDS},"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,
        "normalized":false,"special":true}}],
        "normalizer":null,"pre_tokenizer":{{"type":"WhitespaceSplit"}},"post_processor":{post_processor},"decoder":null,
        "model":{{"type":"WordLevel","vocab":{{"<unk>":0,{}}},"unk_token":"<unk>"}}}}"#,
        words.join(",")
    )
}

/// A text of so many tokens.
pub fn text(tokens: u32, seed: u32) -> String {
    let word =
        |i: u32| format!("w{}", 1 + i.wrapping_mul(2_654_435_761).wrapping_add(seed) % (WORDS - 1));
    (0..tokens).map(word).collect::<Vec<_>>().join(" ")
}

/// Documents of every awkward length: none, one token, short, long, one longer than a part.
pub fn documents() -> Vec<Document> {
    let lengths = [30, 1, 0, 75, 12, 700, 2, 40, 33, 5, 64, 65, 1, 90, 128];
    (0u32..)
        .zip(lengths)
        .map(|(i, length)| {
            Document::new(format!("doc-{i}"), text(length, i))
                .with_tag("kind", format!("{}", i % 2))
        })
        .collect()
}

pub fn corpus(name: &str, documents: Vec<Document>) -> CorpusSource<'static> {
    CorpusSource {
        name: name.to_owned(),
        description: "made up".into(),
        origin: None,
        drawn: false,
        documents: Box::new(move || Ok(Box::new(documents.clone().into_iter().map(Ok)))),
        files: None,
        reading: Default::default(),
    }
}

pub fn model<'a>(make: impl Fn() -> MockEngine + 'a) -> ModelSource<'a> {
    let name = make().model().name.clone();
    let load = move |_: Option<&Learned>| {
        let engine: Box<dyn Engine> = Box::new(make());
        Ok(LoadedModel {
            engine,
            unused_tensors: Vec::new(),
            files_not_read: Vec::new(),
            bos: None,
            learned: None,
        })
    };
    ModelSource {
        name,
        folder: "nowhere".into(),
        tokenizer: Some(tokenizer()),
        load: Box::new(load),
        recognise: None,
    }
}

/// The usual mock: 60 rows for 51 tokens, windows of 32.
pub fn mock(name: &str) -> MockEngine {
    let mut engine = MockEngine::new(name, 10_000, 60);
    engine.context = Some(32);
    engine
}

/// Small parts and batches, so that there are many of both.
pub fn settings() -> Settings {
    Settings { part_tokens: 100, batch_tokens: Some(64), ..Settings::default() }
}

/// One session; the events are given back with the result.
pub fn session(
    folder: &Path,
    models: &[ModelSource<'_>],
    corpora: &[CorpusSource<'_>],
    settings: &Settings,
) -> (Result<Vec<Measured>, Error>, Vec<Event>) {
    let mut events = Vec::new();
    let result = Study::create_or_open(folder).map_err(Error::from).and_then(|mut study| {
        let mut sink = |event| events.push(event);
        measure(&mut study, models, corpora, settings, &mut sink, &AtomicBool::new(false))
    });
    (result, events)
}

/// All files under a folder with their bytes, but for what a study remembers of its inputs, which
/// is this machine's.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, found);
            } else if !path.ends_with(relscale_measure::known::FILE) {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

/// Asserts that two folders hold the same files with the same bytes, naming what differs.
pub fn assert_same(a: &Path, b: &Path) {
    let (a, b) = (files(a), files(b));
    let names: Vec<&String> = a.keys().collect();
    assert_eq!(names, b.keys().collect::<Vec<_>>());
    for (name, bytes) in &a {
        assert!(bytes == &b[name], "{name} differs");
    }
}
