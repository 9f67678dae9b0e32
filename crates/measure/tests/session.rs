//! Sessions: what is scored, what is warned of, what is refused.

mod common;

use common::{WORDS, corpus, documents, mock, model, session, settings, text, tokenizer};
use relscale_corpus::Document;
use relscale_measure::engines::MockEngine;
use relscale_measure::engines::mock::NonFinite;
use relscale_measure::{Draw, Error, Event, Prefix, Settings, Warning, measure};
use relscale_records::classes::DocumentClasses;
use relscale_records::provenance::{TieRule, VocabularyRule};
use relscale_records::vocabulary::TokenKind;
use relscale_records::{ScoredToken, Study};

fn rows(folder: &std::path::Path) -> Vec<ScoredToken> {
    let study = Study::open(folder).unwrap();
    let run = study.current().unwrap().remove(0);
    run.rows().unwrap().collect::<Result<Vec<_>, _>>().unwrap().concat()
}

fn warnings(events: &[Event]) -> Vec<&Warning> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Warning(warning) => Some(warning),
            _ => None,
        })
        .collect()
}

#[test]
fn every_token_but_the_first_of_each_document_once_with_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (result, events) =
        session(folder.path(), &[model(|| mock("m"))], &[corpus("a", documents())], &settings());
    let done = result.unwrap().remove(0).done;

    let tokenizer = tokenizer();
    let rows = rows(folder.path());
    let mut at = rows.iter();
    for (ordinal, document) in (0u32..).zip(documents()) {
        let encoded = tokenizer.encode(&document.text).unwrap();
        for position in 1..encoded.ids.len() {
            let row = at.next().unwrap();
            assert_eq!((row.document, row.position as usize), (ordinal, position));
            assert_eq!((row.token, row.bytes), (encoded.ids[position], encoded.bytes[position]));
            // Windows of 32 that move by 16: at least 16 tokens of context where there are that
            // many.
            assert!(row.context as usize >= position.min(16) && row.context < 32, "{row:?}");
        }
    }
    assert!(at.next().is_none());
    assert_eq!(done.totals.scored, rows.len() as u64);
    assert_eq!(done.totals.documents, 15);
    assert_eq!(done.totals.unscored_documents, 3);
    let unscored = Warning::UnscoredDocuments { corpus: "a".into(), documents: 3, of: 15 };
    assert!(warnings(&events).contains(&&unscored));

    // The table of documents agrees.
    let study = Study::open(folder.path()).unwrap();
    let table = study.current().unwrap()[0].documents().unwrap();
    assert_eq!(table.iter().map(|row| row.scored).sum::<u64>(), rows.len() as u64);
    assert_eq!(table[3].id, "doc-3");
    assert_eq!(table[3].tags["kind"], "1");
    assert_eq!(table[3].bytes, documents()[3].text.len() as u64);
}

#[test]
fn progress_ends_at_the_total() {
    let folder = tempfile::tempdir().unwrap();
    let (result, events) =
        session(folder.path(), &[model(|| mock("m"))], &[corpus("a", documents())], &settings());
    let total = result.unwrap()[0].done.totals.scored;
    let steps: Vec<(u64, u64)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Progress { scored, of, .. } => Some((*scored, *of)),
            _ => None,
        })
        .collect();
    assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert_eq!(steps.last(), Some(&(total, total)));
}

#[test]
fn a_prefix_gives_the_first_token_a_score() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { prefix: Prefix::Id(WORDS), ..settings() };
    session(folder.path(), &[model(|| mock("m"))], &[corpus("a", documents())], &settings)
        .0
        .unwrap();
    let rows = rows(folder.path());
    let firsts: Vec<_> = rows.iter().filter(|row| row.position == 0).collect();
    // All but the empty document.
    assert_eq!(firsts.len(), 14);
    assert!(firsts.iter().all(|row| row.context == 1));
    let study = Study::open(folder.path()).unwrap();
    let run = study.current().unwrap().remove(0);
    let prefix = run.record().provenance.protocol.prefix.clone().unwrap();
    assert_eq!((prefix.id, prefix.reason.as_str()), (WORDS, "asked for"));
}

#[test]
fn a_limit_takes_the_first_positions_of_all() {
    let whole = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    session(whole.path(), &[model(|| mock("m"))], &corpora, &settings()).0.unwrap();
    let all = rows(whole.path());
    for tokens in [1, 29, 30, 31, 500, 900] {
        let folder = tempfile::tempdir().unwrap();
        let limited = Settings { tokens: Some(tokens), draw: Draw::First, ..settings() };
        session(folder.path(), &[model(|| mock("m"))], &corpora, &limited).0.unwrap();
        // Same positions and same scores as without the limit.
        assert_eq!(rows(folder.path()), all[..tokens as usize]);
    }
    let folder = tempfile::tempdir().unwrap();
    let limited = Settings { tokens: Some(1_000_000), ..settings() };
    let (result, events) = session(folder.path(), &[model(|| mock("m"))], &corpora, &limited);
    result.unwrap();
    let scored = all.len() as u64;
    let short = Warning::ShortCorpus { corpus: "a".into(), scored, wanted: 1_000_000 };
    assert!(warnings(&events).contains(&&short));
}

#[test]
fn models_that_share_a_tokenizer_see_the_same_positions() {
    let folder = tempfile::tempdir().unwrap();
    // Contexts differ, so windows do; the positions must not.
    let model = |name: &'static str, context| {
        model(move || {
            let mut engine = mock(name);
            engine.context = Some(context);
            engine
        })
    };
    let models = [model("short", 16), model("long", 200)];
    let limited = Settings { tokens: Some(333), ..settings() };
    session(folder.path(), &models, &[corpus("a", documents())], &limited).0.unwrap();
    let study = Study::open(folder.path()).unwrap();
    let places: Vec<Vec<(u32, u32)>> = study
        .current()
        .unwrap()
        .iter()
        .map(|run| {
            let rows = run.rows().unwrap().collect::<Result<Vec<_>, _>>().unwrap().concat();
            rows.iter().map(|row| (row.document, row.position)).collect()
        })
        .collect();
    assert_eq!(places.len(), 2);
    assert_eq!(places[0].len(), 333);
    assert_eq!(places[0], places[1]);
}

#[test]
fn rows_that_are_not_finite_are_kept_counted_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let shaky = model(|| {
        let mut engine = mock("shaky");
        engine.non_finite = NonFinite::OneIn(5);
        engine
    });
    let (result, events) =
        session(folder.path(), &[shaky], &[corpus("a", documents())], &settings());
    let totals = result.unwrap()[0].done.totals;
    let rows = rows(folder.path());
    let nulls = rows.iter().filter(|row| row.score.is_none()).count() as u64;
    assert!(nulls > 100);
    assert_eq!((totals.nonfinite, totals.scored), (nulls, rows.len() as u64 - nulls));
    assert!(
        warnings(&events).iter().any(|warning| {
            matches!(warning, Warning::NonFinite { rows, .. } if *rows == nulls)
        })
    );
    let tally = Study::open(folder.path()).unwrap().tallies().unwrap().remove(0);
    assert_eq!(tally.totals().nonfinite, nulls);
    assert_eq!(tally.totals().hits.last(), Some(&totals.scored));
}

#[test]
fn a_model_that_gives_nothing_finite_is_an_error_and_never_a_rank() {
    let folder = tempfile::tempdir().unwrap();
    let broken = || {
        model(|| {
            let mut engine = mock("broken");
            engine.non_finite = NonFinite::Always;
            engine
        })
    };
    let corpora = [corpus("a", documents())];
    for _ in 0..2 {
        // The second time the first part is there already; the answer is the same.
        let error = session(folder.path(), &[broken()], &corpora, &settings()).0.unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::AllNonFinite { .. }));
        assert!(message.contains("`broken`") && message.contains("NaN"), "{message}");
    }
    let study = Study::open(folder.path()).unwrap();
    assert!(study.tallies().unwrap().is_empty());
    // It stops after the first part, not after hours.
    let parts = common::files(folder.path());
    assert_eq!(parts.keys().filter(|name| name.contains("part-")).count(), 1);
}

#[test]
fn one_set_of_weights_under_two_names_is_pointed_out() {
    let folder = tempfile::tempdir().unwrap();
    let copy = || {
        model(|| {
            let mut engine = mock("copy");
            engine.model_mut().weights_sha256 = "same".into();
            engine
        })
    };
    let original = model(|| {
        let mut engine = mock("original");
        engine.model_mut().weights_sha256 = "same".into();
        engine
    });
    let corpora = [corpus("a", documents())];
    let same = Warning::SameWeights { model: "copy".into(), other: "original".into() };
    let (_, events) = session(folder.path(), &[original, copy()], &corpora, &settings());
    assert!(warnings(&events).contains(&&same));
    // Also when the other one was measured in an earlier session.
    let (_, events) = session(folder.path(), &[copy()], &corpora, &settings());
    assert!(warnings(&events).iter().any(|w| matches!(w, Warning::SameWeights { .. })));
}

#[test]
fn a_study_of_runs_that_were_not_measured_alike_is_pointed_out() {
    let folder = tempfile::tempdir().unwrap();
    let mixed = |events: &[Event]| {
        warnings(events).into_iter().find(|w| matches!(w, Warning::Mixed { .. })).cloned()
    };
    let corpora = [corpus("a", documents())];
    let (_, events) = session(folder.path(), &[model(|| mock("early"))], &corpora, &settings());
    assert_eq!(mixed(&events), None);
    let limited = Settings { tokens: Some(300), ..settings() };
    let mut other = documents();
    other[0].text.push_str(" w3");
    let (_, events) =
        session(folder.path(), &[model(|| mock("late"))], &[corpus("a", other)], &limited);
    let expected = Warning::Mixed {
        corpus: "a".into(),
        differs: vec!["limit", "text"],
        models: vec!["early".into()],
    };
    assert_eq!(mixed(&events), Some(expected));
    // Measured alike again, and another corpus never was in question.
    let models = [model(|| mock("early")), model(|| mock("late"))];
    let (_, events) = session(folder.path(), &models, &corpora, &settings());
    assert_eq!(mixed(&events), None);
}

/// Published folders have tokens beyond the rows of the head that no text uses.
#[test]
fn tokens_beyond_the_rows_are_told_and_refused_where_a_text_has_one() {
    let narrow = || model(|| MockEngine::new("narrow", 1_000, 40).with_context(32));
    let low = Document::new("low", (1..39).map(|i| format!("w{i}")).collect::<Vec<_>>().join(" "));
    for vocabulary in [VocabularyRule::Tokens, VocabularyRule::Rows] {
        let settings = Settings { vocabulary: Some(vocabulary), ..settings() };
        let folder = tempfile::tempdir().unwrap();
        let (result, events) =
            session(folder.path(), &[narrow()], &[corpus("low", vec![low.clone()])], &settings);
        assert_eq!(result.unwrap()[0].done.totals.scored, 37);
        let told = Warning::TokensBeyond { model: "narrow".into(), ids: 11, largest: 50, rows: 40 };
        assert!(warnings(&events).contains(&&told));
        assert!(told.to_string().contains("output head of 40"), "{told}");

        let error = session(folder.path(), &[narrow()], &[corpus("a", documents())], &settings)
            .0
            .unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::TokenizerTooLarge { .. }), "{message}");
        assert!(message.contains("51 entries") && message.contains("40 rows"), "{message}");
        assert!(message.contains("`a`") && message.contains("`doc-0`"), "{message}");

        let prefixed = Settings { prefix: Prefix::Id(50), ..settings };
        let error =
            session(folder.path(), &[narrow()], &[corpus("low", vec![low.clone()])], &prefixed).0;
        let message = error.unwrap_err().to_string();
        assert!(
            message.contains("has id 50 (asked for)") && message.contains("--bos"),
            "{message}"
        );
    }
}

#[test]
fn padding_rows_are_left_out_or_counted_by_name() {
    for (vocabulary, scored) in [(VocabularyRule::Tokens, 51), (VocabularyRule::Rows, 60)] {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { vocabulary: Some(vocabulary), ..settings() };
        let corpora = [corpus("a", documents())];
        session(folder.path(), &[model(|| mock("m"))], &corpora, &settings).0.unwrap();
        let tally = Study::open(folder.path()).unwrap().tallies().unwrap().remove(0);
        let sizes = tally.vocabulary;
        assert_eq!(
            (sizes.tokenizer, sizes.with_added, sizes.rows, sizes.scored),
            (50, 51, 60, scored)
        );
        assert_eq!(tally.k_grid.last(), Some(&scored));
    }
}

#[test]
fn corpora_without_anything_to_score_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |documents: Vec<Document>| {
        let corpora = [corpus("a", documents)];
        session(folder.path(), &[model(|| mock("m"))], &corpora, &settings()).0.unwrap_err()
    };
    assert!(matches!(refused(Vec::new()), Error::EmptyCorpus { .. }));
    let error = refused(vec![Document::new("x", "w1"), Document::new("y", "")]);
    assert!(matches!(error, Error::NothingToScore { documents: 2, .. }), "{error}");
    // A single document of one token beside others is counted and said (see above), no error.
}

#[test]
fn documents_too_short_for_a_protocol_are_counted_unless_all_are() {
    let half = Settings { protocol: "half-window".into(), ..settings() };
    let folder = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    let (result, events) = session(folder.path(), &[model(|| mock("m"))], &corpora, &half);
    let totals = result.unwrap()[0].done.totals;
    assert!(totals.scored > 0 && totals.unscored_documents > 3, "{totals:?}");
    let said = |w: &&Warning| matches!(w, Warning::UnscoredDocuments { documents, .. } if *documents == totals.unscored_documents);
    assert!(warnings(&events).iter().any(said));

    let short = vec![Document::new("x", text(5, 1)), Document::new("y", text(7, 1))];
    let error =
        session(folder.path(), &[model(|| mock("m"))], &[corpus("b", short)], &half).0.unwrap_err();
    assert!(error.to_string().contains("half-window"), "{error}");
}

#[test]
fn names_must_tell_things_apart() {
    let folder = tempfile::tempdir().unwrap();
    let corpora = || corpus("a", documents());
    let twice = [model(|| mock("m")), model(|| mock("m"))];
    let error = session(folder.path(), &twice, &[corpora()], &settings()).0.unwrap_err();
    assert!(matches!(error, Error::SameName { .. }));
    let one = [model(|| mock("m"))];
    let error = session(folder.path(), &one, &[corpora(), corpora()], &settings()).0.unwrap_err();
    assert!(matches!(error, Error::SameCorpusName { .. }));
}

#[test]
fn spans_restrict_what_is_scored() {
    let folder = tempfile::tempdir().unwrap();
    let text = text(60, 3);
    let from = text.len() / 2;
    let document = Document::new("d", text.clone()).with_span(from..text.len());
    session(folder.path(), &[model(|| mock("m"))], &[corpus("a", vec![document])], &settings())
        .0
        .unwrap();
    let rows = rows(folder.path());
    assert!(rows.len() > 20 && rows.len() < 40, "{}", rows.len());
    assert_eq!(rows.last().unwrap().position, 59);
}

#[test]
fn the_papers_preset_is_recorded_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let paper = Settings { part_tokens: 100, length: Some(32), ..Settings::for_protocol("paper") };
    session(folder.path(), &[model(|| mock("m"))], &[corpus("a", documents())], &paper).0.unwrap();
    let study = Study::open(folder.path()).unwrap();
    let run = study.current().unwrap().remove(0);
    let provenance = &run.record().provenance;
    assert_eq!(provenance.protocol.name, "paper");
    assert_eq!(provenance.scoring.tie_rule, TieRule::Greater);
    assert_eq!(provenance.scoring.vocabulary_rule, VocabularyRule::Rows);
    assert!(rows(folder.path()).iter().all(|row| row.position < 32));
}

#[test]
fn a_family_of_mocks_obeys_the_law_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let documents = || (0..40).map(|i| Document::new(format!("{i}"), text(500, i))).collect();
    let models: Vec<_> = [3_000u64, 30_000, 300_000]
        .into_iter()
        .map(|size| {
            model(move || MockEngine::new(&format!("mock-{size}"), size, 60).with_context(64))
        })
        .collect();
    session(folder.path(), &models, &[corpus("a", documents())], &Settings::default()).0.unwrap();
    let tallies = Study::open(folder.path()).unwrap().tallies().unwrap();
    assert_eq!(tallies.len(), 3);
    for tally in tallies {
        let minus_log = -tally.rbp().unwrap()[0].ln();
        let law = 3.0 * (tally.non_embedding as f64).powf(-0.1);
        // About four standard errors of ln p at 20 000 positions.
        assert!((minus_log - law).abs() < 0.04, "{} {minus_log} {law}", tally.model);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_with_a_name_and_the_run_goes_on_later() {
    let folder = tempfile::tempdir().unwrap();
    let reference = tempfile::tempdir().unwrap();
    let corpora = [corpus("a", documents())];
    session(reference.path(), &[model(|| mock("m"))], &corpora, &settings()).0.unwrap();
    let run = Study::open(reference.path()).unwrap().current().unwrap().remove(0).name();

    // The kernel's full disk stands where the third part is about to be written. It is put there
    // from the callback, after the start has cleared leftovers.
    let aside = folder.path().join("runs").join(&run).join("part-00002.parquet");
    let mut full = None;
    let mut study = Study::create_or_open(folder.path()).unwrap();
    let mut events = |event| {
        if matches!(event, Event::RunStarted { .. }) {
            full = Some(relscale_records::atomic::faults::full(&aside));
        }
    };
    let error = measure(
        &mut study,
        &[model(|| mock("m"))],
        &corpora,
        &settings(),
        &mut events,
        &std::sync::atomic::AtomicBool::new(false),
    )
    .unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("part-00002.parquet") && message.contains("disk is full"),
        "{message}"
    );
    drop((study, full));

    session(folder.path(), &[model(|| mock("m"))], &corpora, &settings()).0.unwrap();
    common::assert_same(reference.path(), folder.path());
}

#[test]
fn the_vocabulary_is_kept_once_and_classes_come_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let models = [model(|| mock("m")), model(|| mock("n"))];
    session(folder.path(), &models, &[corpus("a", documents())], &settings()).0.unwrap();
    let kept = folder.path().join("vocabularies");
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 1);
    let study = Study::open(folder.path()).unwrap();
    let vocabulary = study.vocabulary(tokenizer().sha256()).unwrap().unwrap();
    assert_eq!(vocabulary.entries().len() as u32, WORDS + 1);
    let special = vocabulary.get(WORDS).unwrap();
    assert_eq!((special.text.as_str(), special.kind), ("<s>", TokenKind::Special));
    let classes = |study: &Study| study.tallies().unwrap().remove(0).classes.unwrap();
    assert!(classes(&study).basis.vocabulary);
    let count =
        |document: &DocumentClasses| document.tokens.iter().map(|&n| u64::from(n)).sum::<u64>();
    let tally = study.tallies().unwrap().remove(1);
    assert!(
        tally
            .classes
            .unwrap()
            .documents
            .iter()
            .map(count)
            .eq(tally.documents.iter().map(|d| d.scored))
    );

    // A study of an earlier version has none, nor sums; the same command adds it and measures
    // nothing again.
    std::fs::remove_dir_all(&kept).unwrap();
    study.current().unwrap().iter().for_each(|run| std::fs::remove_file(run.tally_path()).unwrap());
    assert!(!classes(&Study::open(folder.path()).unwrap()).basis.vocabulary);
    let (result, events) =
        session(folder.path(), &models, &[corpus("a", documents())], &settings());
    result.unwrap();
    assert!(!events.iter().any(|event| matches!(event, Event::Progress { .. })));
    assert!(classes(&Study::open(folder.path()).unwrap()).basis.vocabulary);
}
