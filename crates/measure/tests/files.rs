//! What the files of a text have to say reaches the caller and the record, and what is wrong with
//! them stops before any work.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{corpus, documents, mock, model, session, settings, text};
use relscale_corpus::Document;
use relscale_corpus::loaders::reading::Reading;
use relscale_measure::{CorpusSource, Error, Event, Warning};
use relscale_records::Study;

fn spec(path: &Path, options: &str) -> CorpusSource<'static> {
    let spec = format!("c={}?{options}", path.display()).parse().unwrap();
    CorpusSource::from_spec(spec)
}

fn of_files(events: &[Event]) -> Vec<String> {
    let notice = |event: &Event| match event {
        Event::Warning(warning @ Warning::OfFiles { .. }) => Some(warning.to_string()),
        _ => None,
    };
    events.iter().filter_map(notice).collect()
}

#[test]
fn what_is_left_out_is_told_each_time_and_recorded() {
    let root = tempfile::tempdir().unwrap();
    let texts = root.path().join("texts");
    std::fs::create_dir(&texts).unwrap();
    std::fs::write(texts.join("a.txt"), text(60, 1)).unwrap();
    std::fs::write(texts.join("b.rs"), "fn").unwrap();
    let study = root.path().join("study");
    let said = ["c: 1 files of text are read, 1 others left out (1 .rs)"];
    for _ in 0..2 {
        let (result, events) =
            session(&study, &[model(|| mock("m"))], &[spec(&texts, "")], &settings());
        result.unwrap();
        assert_eq!(of_files(&events), said);
    }
    let run = Study::open(&study).unwrap().current().unwrap().remove(0);
    let description = &run.record().provenance.corpus.description;
    assert!(description.starts_with("text texts; 1 files of text are read"), "{description}");
}

#[test]
fn what_any_text_has_wrong_is_said_before_the_first_is_measured() {
    let root = tempfile::tempdir().unwrap();
    let bad = root.path().join("bad.jsonl");
    let option = |gold: &str, option: &str| {
        format!(
            "{{\"text\": \"w1 w2\", \"item\": \"q\", \"option\": \"{option}\", \"gold\": {gold}}}\n"
        )
    };
    let tags = "tag=item&tag=option&tag=gold";
    let cases = [
        (option("\"yes\"", "A"), "gold = `yes` of option `A`"),
        (option("true", "A"), "one option"),
        ([option("false", "A"), option("\"False\"", "B")].concat(), "none of its 2 options"),
        (
            [option("true", "A"), "{\"text\": null}\n".to_owned()].concat(),
            "row 2: field `text` is null",
        ),
        ([option("true", "A"), "{\"text\"".to_owned()].concat(), "row 2"),
    ];
    for (rows, reason) in cases {
        std::fs::write(&bad, rows).unwrap();
        let study = root.path().join("study");
        let corpora = [corpus("good", documents()), spec(&bad, tags)];
        let (result, events) = session(&study, &[model(|| mock("m"))], &corpora, &settings());
        let error = result.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        let scored =
            |event: &&Event| matches!(event, Event::RunStarted { .. } | Event::Progress { .. });
        assert_eq!(events.iter().filter(scored).count(), 0, "{reason}");
    }
    // As Python writes truth values, and as JSON does.
    std::fs::write(&bad, [option("\"True\"", "A"), option("false", "B")].concat()).unwrap();
    let (result, _) = session(
        &root.path().join("good"),
        &[model(|| mock("m"))],
        &[spec(&bad, tags)],
        &settings(),
    );
    result.unwrap();
    // Groups of documents that are no questions to be judged.
    let grouped = vec![Document::new("d", "w1 w2 w3").with_tag("item", "x")];
    let (result, _) = session(
        &root.path().join("groups"),
        &[model(|| mock("m"))],
        &[corpus("g", grouped)],
        &settings(),
    );
    result.unwrap();
}

#[test]
fn a_reading_that_is_stopped_is_work_that_was_stopped() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.txt");
    std::fs::write(&path, text(60, 1)).unwrap();
    let stop = Arc::new(AtomicBool::new(true));
    let source = CorpusSource::from_spec_with(
        path.display().to_string().parse().unwrap(),
        Reading::until(Arc::clone(&stop)),
    );
    let study = root.path().join("study");
    let (result, _) =
        session(&study, &[model(|| mock("m"))], std::slice::from_ref(&source), &settings());
    assert!(matches!(result, Err(Error::Cancelled)));
    stop.store(false, Ordering::Relaxed);
    let (result, _) = session(&study, &[model(|| mock("m"))], &[source], &settings());
    result.unwrap();
}
