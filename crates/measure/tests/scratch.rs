//! A text that is too long for memory goes to a file: nothing of a study depends on it, and nothing
//! of it stays.

mod common;

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use common::{assert_same, corpus, documents, files, mock, model, session, settings};
use relscale_corpus::Document;
use relscale_measure::{CorpusSource, Error, Prefix, Settings, measure};
use relscale_records::Study;

/// Questions with options: tags, spans, items that a limit must not cut.
fn questions() -> Vec<Document> {
    (0..40u32)
        .map(|i| {
            let text = common::text(10 + i % 7, i);
            let prompt = text.rfind(' ').unwrap();
            let end = text.len();
            Document::new(format!("q{i}"), text)
                .with_tag("item", (i / 4).to_string())
                .with_tag("kind", "question")
                .with_span(prompt..end)
        })
        .collect()
}

fn corpora() -> [CorpusSource<'static>; 2] {
    [corpus("texts", documents()), corpus("questions", questions())]
}

fn whole(folder: &Path, settings: &Settings) {
    let models = [model(|| mock("small")), model(|| mock("large"))];
    session(folder, &models, &corpora(), settings).0.unwrap();
}

#[test]
fn a_text_in_a_file_gives_the_bytes_of_one_in_memory() {
    let plain = settings();
    let variants = [
        plain.clone(),
        Settings { tokens: Some(300), ..plain.clone() },
        Settings { tokens: Some(13), prefix: Prefix::Id(common::WORDS), ..plain.clone() },
        Settings { length: Some(20), stride: Some(3), part_tokens: 1, ..plain.clone() },
        Settings { protocol: "half-window".into(), length: Some(16), ..plain },
    ];
    for settings in variants {
        let corpora_alike = settings.protocol != "half-window";
        let (memory, file) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (folder, text_memory) in [(&memory, 1 << 30), (&file, 0)] {
            let settings = Settings { text_memory, ..settings.clone() };
            if corpora_alike {
                whole(folder.path(), &settings);
            } else {
                // Second halves alone are no answers to questions.
                let models = [model(|| mock("small"))];
                session(folder.path(), &models, &[corpus("texts", documents())], &settings)
                    .0
                    .unwrap();
            }
        }
        assert!(files(memory.path()).keys().any(|name| name.ends_with("part-00000.parquet")));
        assert_same(memory.path(), file.path());
    }
}

/// A disk that is really full, as the kernel plays it: `/dev/full` stands where the file would be
/// made.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_loses_nothing_and_the_run_goes_on() {
    let reference = tempfile::tempdir().unwrap();
    whole(reference.path(), &settings());

    let folder = tempfile::tempdir().unwrap();
    let failing = model(|| {
        let mut engine = mock("small");
        engine.fail_at_window = Some(30);
        engine
    });
    session(folder.path(), &[failing], &corpora(), &settings()).0.unwrap_err();
    let before = files(folder.path());
    assert!(before.keys().any(|name| name.contains("part-00000")), "{:?}", before.keys());

    let mut study = Study::create_or_open(folder.path()).unwrap();
    let full = relscale_records::atomic::faults::full(&folder.path().join("text"));
    let models = [model(|| mock("small")), model(|| mock("large"))];
    let on_disk = Settings { text_memory: 0, ..settings() };
    let stop = AtomicBool::new(false);
    let error = measure(&mut study, &models, &corpora(), &on_disk, &mut |_| (), &stop).unwrap_err();
    assert!(matches!(&error, Error::Keep { .. }), "{error}");
    drop((study, full));

    // The next start goes on with the parts that were there.
    whole(folder.path(), &on_disk);
    let after = files(folder.path());
    assert!(
        before
            .iter()
            .filter(|(name, _)| name.contains("part-"))
            .all(|(name, part)| after[name] == *part)
    );
    assert_same(reference.path(), folder.path());
    assert!(
        fs::read_dir(folder.path())
            .unwrap()
            .all(|entry| { !entry.unwrap().file_name().to_string_lossy().contains("text") })
    );
}
