//! A finished study is recognised: neither model nor text is read again, and nothing stale is ever
//! taken for new.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{WORDS, files, session, settings, text, tiny, tokenizer_json};
use relscale_decoder::checkpoint::Checkpoint;
use relscale_measure::engines::{EngineOptions, local};
use relscale_measure::known::FILE;
use relscale_measure::{CorpusSource, Event, ModelRequest, ModelSource, Settings};
use relscale_records::Study;

/// A tiny model and a text on disk, and how often each was really read.
struct Place {
    root: tempfile::TempDir,
    loads: Arc<AtomicUsize>,
    /// Loads that hashed the weights.
    hashed: Arc<AtomicUsize>,
    reads: Arc<AtomicUsize>,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        tiny::llama(&root.path().join("tiny"), WORDS as usize + 9, 1, 64);
        fs::write(root.path().join("tiny/tokenizer.json"), tokenizer_json("null")).unwrap();
        let lines: Vec<String> = [40, 1, 90, 7].iter().map(|&n| text(n, n)).collect();
        fs::write(root.path().join("lines.txt"), lines.join("\n")).unwrap();
        Self { root, loads: Arc::default(), hashed: Arc::default(), reads: Arc::default() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Files are believed as soon as the clock of the file system has ticked, not after two
    /// seconds.
    fn model(&self) -> ModelSource<'static> {
        let request = ModelRequest::parse(&self.at("tiny").to_string_lossy()).unwrap();
        let mut source = local::source(&request, &EngineOptions::default()).unwrap();
        let (load, loads, hashed) =
            (source.load, Arc::clone(&self.loads), Arc::clone(&self.hashed));
        source.load = Box::new(move |known| {
            loads.fetch_add(1, Ordering::Relaxed);
            hashed.fetch_add(usize::from(known.is_none()), Ordering::Relaxed);
            load(known)
        });
        if let Some(recognition) = &mut source.recognise {
            recognition.files.settle_after(Duration::ZERO);
        }
        source
    }

    fn corpus(&self) -> CorpusSource<'static> {
        let spec = format!("{}?split=lines", self.at("lines.txt").display());
        let mut source = CorpusSource::from_spec(spec.parse().unwrap());
        let (documents, reads) = (source.documents, Arc::clone(&self.reads));
        source.documents = Box::new(move || {
            reads.fetch_add(1, Ordering::Relaxed);
            documents()
        });
        if let Some(files) = &mut source.files {
            files.settle_after(Duration::ZERO);
        }
        source
    }

    /// One session; how often it loaded the model, how often it read the text, whether the run was
    /// measured before, all it said.
    fn measure_with(&self, settings: &Settings) -> (usize, usize, bool, Vec<Event>) {
        // Over the next tick of the clock; the program waits for SETTLING.
        std::thread::sleep(Duration::from_millis(30));
        let before = (self.loads.load(Ordering::Relaxed), self.reads.load(Ordering::Relaxed));
        let (result, events) =
            session(&self.at("study"), &[self.model()], &[self.corpus()], settings);
        let measured = result.unwrap();
        assert!(measured[0].summary.cross_entropy.is_some());
        let reused =
            events.iter().any(|event| matches!(event, Event::RunFinished { reused: true, .. }));
        let loads = self.loads.load(Ordering::Relaxed) - before.0;
        (loads, self.reads.load(Ordering::Relaxed) - before.1, reused, events)
    }

    fn measure(&self) -> (usize, usize, bool) {
        let (loads, reads, reused, _) = self.measure_with(&settings());
        (loads, reads, reused)
    }
}

/// Changes one byte of a file, and gives it back the time that it had.
fn touch_up(path: &Path, at: usize) {
    let written = fs::metadata(path).unwrap().modified().unwrap();
    let mut bytes = fs::read(path).unwrap();
    let digit = bytes[at];
    bytes[at] = if digit == b'1' { b'2' } else { b'1' };
    fs::write(path, bytes).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
}

#[test]
fn a_finished_study_reads_nothing_and_says_the_same() {
    let place = Place::new();
    // More than there is, so that there is something to warn of.
    let settings = Settings { tokens: Some(10_000), ..settings() };
    let (loads, reads, reused, first) = place.measure_with(&settings);
    assert_eq!((loads, reads, reused), (1, 1, false));
    let study = files(&place.at("study"));
    let (loads, reads, reused, again) = place.measure_with(&settings);
    assert_eq!((loads, reads, reused), (0, 0, true));
    assert!(study == files(&place.at("study")));
    let said = |events: &[Event]| -> Vec<Event> {
        let told = |event: &&Event| {
            matches!(
                event,
                Event::Warning(_) | Event::CorpusRead { .. } | Event::ModelLoaded { .. }
            )
        };
        events.iter().filter(told).cloned().collect()
    };
    assert_eq!(said(&first), said(&again));
    assert_eq!(said(&again).len(), 4, "{again:?}");
}

#[test]
fn a_changed_byte_is_a_new_run_though_size_and_time_are_the_old_ones() {
    let place = Place::new();
    place.measure();
    assert_eq!(place.measure(), (0, 0, true));
    let weights = place.at("tiny/model.safetensors");
    touch_up(&weights, fs::metadata(&weights).unwrap().len() as usize - 2);
    assert_eq!(place.measure(), (1, 1, false));
    // A digit of a word's number: another word.
    touch_up(&place.at("lines.txt"), 1);
    assert_eq!(place.measure(), (1, 1, false));
    let runs = Study::open(&place.at("study")).unwrap().runs().unwrap();
    assert_eq!((runs.len(), runs.iter().filter(|run| run.current).count()), (3, 1));
    assert_eq!(place.measure(), (0, 0, true));
}

#[test]
fn other_settings_or_a_lost_part_need_the_inputs_and_a_lost_memory_does_no_harm() {
    let place = Place::new();
    place.measure();
    let other = Settings { length: Some(16), ..settings() };
    assert!(!place.measure_with(&other).2);
    assert_eq!(place.measure(), (0, 0, true), "the first settings again");
    assert!(place.measure_with(&other).2);

    let runs = Study::open(&place.at("study")).unwrap().runs().unwrap();
    let first = runs.iter().find(|run| !run.current).unwrap();
    fs::remove_file(place.at("study/runs").join(&first.folder).join("part-00000.parquet")).unwrap();
    assert_eq!(place.measure(), (1, 1, false));

    fs::remove_file(place.at("study").join(FILE)).unwrap();
    assert_eq!(place.measure(), (1, 1, true), "found by its key");
    assert_eq!(place.measure(), (0, 0, true));
}

#[test]
fn known_weights_are_loaded_without_hashing_them() {
    let place = Place::new();
    let other = Settings { length: Some(16), ..settings() };
    let both = || {
        place.measure();
        place.measure_with(&other);
        (place.loads.swap(0, Ordering::Relaxed), place.hashed.swap(0, Ordering::Relaxed))
    };
    assert_eq!(both(), (2, 1));
    let with_memory = files(&place.at("study"));
    fs::rename(place.at("study"), place.at("before")).unwrap();
    place.measure();
    fs::remove_file(place.at("study").join(FILE)).unwrap();
    place.measure_with(&other);
    assert_eq!(place.hashed.swap(0, Ordering::Relaxed), 2);
    assert!(with_memory == files(&place.at("study")), "the hash is the same from memory");
}

#[test]
fn weights_that_change_while_they_are_loaded_are_hashed_after_all() {
    let place = Place::new();
    place.measure();
    let weights = place.at("tiny/model.safetensors");
    let mut model = place.model();
    let (load, changed) = (model.load, weights.clone());
    model.load = Box::new(move |known| {
        let loaded = load(known);
        if known.is_some() {
            touch_up(&changed, fs::metadata(&changed).unwrap().len() as usize - 2);
        }
        loaded
    });
    std::thread::sleep(Duration::from_millis(30));
    let other = Settings { length: Some(16), ..settings() };
    let (result, _) = session(&place.at("study"), &[model], &[place.corpus()], &other);
    assert_eq!(result.unwrap().len(), 1);
    assert_eq!((place.loads.load(Ordering::Relaxed), place.hashed.load(Ordering::Relaxed)), (3, 2));
    let runs = Study::open(&place.at("study")).unwrap().runs().unwrap();
    let hashes: Vec<_> =
        runs.iter().map(|run| &run.record.provenance.model.weights_sha256).collect();
    let now = Checkpoint::open(&place.at("tiny")).unwrap().sha256().unwrap();
    assert!(
        hashes.len() == 2 && hashes.iter().filter(|hash| ***hash == now).count() == 1,
        "{hashes:?}"
    );
}
