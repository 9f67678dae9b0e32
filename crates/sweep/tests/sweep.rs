//! A plan trained for real, on text made up here: what it leaves, stopping and going on, a real
//! `kill -9`, divergence, refusals.

use relscale_decoder::families::LoadOptions;
use relscale_decoder::model::Model;
use relscale_records::parquet::read_curve;
use relscale_sweep::error::{Error, Result};
use relscale_sweep::plan::recipe::{BatchRule, OptimiserKind, Widths};
use relscale_sweep::plan::{self, Plan, SweepRecipe};
use relscale_sweep::train::sweep::carry_out::RunEvent;
use relscale_sweep::train::sweep::{Event, Options, RunRecord, Status, SweepText, train};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Three runs of about 60 steps, of Llama's kind.
fn tiny() -> Plan {
    let mut plan = tiny_of("small");
    assert_eq!(plan.runs.len(), 4, "{:?}", plan.dropped);
    plan.runs.truncate(3);
    plan
}

/// A preset, scaled down.
fn tiny_of(preset: &str) -> Plan {
    let recipe = SweepRecipe {
        budgets: vec![2e8, 4e8],
        vocabulary: 280,
        sequence: 16,
        window: Some(8),
        widths: Widths::Around {
            widths: vec![8, 16],
            centre: 8.0,
            at: 2e8 / 3.0,
            exponent: 0.0,
            each_side: 1,
        },
        batch: BatchRule { steps: 96.0, least: 1 },
        ..plan::preset(preset).unwrap()
    };
    plan::build(&recipe).unwrap()
}

/// Sentences from a few words, by a fixed generator.
fn documents(seed: u64, count: usize) -> Vec<String> {
    let words = [
        "rank", "token", "of", "the", "right", "model", "scale", "law", "is", "a", "gap", "closes",
    ];
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    (0..count)
        .map(|_| {
            (0..40).map(|_| words[next() % 3 + next() % 10]).collect::<Vec<_>>().join(" ") + ".\n"
        })
        .collect()
}

fn text() -> SweepText {
    let (training, held_out) = (documents(1, 60), documents(2, 10));
    let borrow = |texts: &'static [String]| texts.iter().map(String::as_str).collect::<Vec<_>>();
    let (training, held_out) = (borrow(training.leak()), borrow(held_out.leak()));
    SweepText::new(280, "made-up", &training, &held_out).unwrap()
}

fn options() -> Options {
    Options { evaluations: 3, held_out_tokens: 160, checkpoint_every: Duration::ZERO, keep: 2 }
}

fn whole(out: &Path, plan: &Plan) -> Vec<RunRecord> {
    train(plan, &text(), out, &options(), |_| true).unwrap()
}

/// All files below a folder, but the lock.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if !path.ends_with(".lock") {
                found.insert(
                    path.strip_prefix(folder).unwrap().to_owned(),
                    std::fs::read(&path).unwrap(),
                );
            }
        }
    }
    found
}

fn assert_same(one: &Path, two: &Path) {
    let (one, two) = (files(one), files(two));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    for (name, bytes) in one {
        assert!(two[&name] == bytes, "{} differs", name.display());
    }
}

#[test]
fn a_plan_becomes_models_curves_and_a_table() {
    let (place, plan) = (tempfile::tempdir().unwrap(), tiny());
    let out = place.path();
    let records = whole(out, &plan);
    for (run, record) in plan.runs.iter().zip(&records) {
        assert_eq!((record.status, record.steps_taken), (Status::Finished, run.steps));
        let folder = out.join(&run.name);
        assert_eq!(RunRecord::read(&folder).unwrap().as_ref(), Some(record));
        let model = Model::load(&folder, LoadOptions::default()).unwrap();
        assert_eq!(model.parameters().total, run.parameters.total);
        assert_eq!(model.spec().layers[0].window, Some(8));
        let (name, curve) = read_curve(&folder.join("curve.parquet")).unwrap();
        assert_eq!(name, run.name);
        let evaluated: Vec<_> = curve.iter().filter_map(|point| point.held_out_loss).collect();
        assert_eq!(evaluated.len(), 3);
        assert_eq!(evaluated.last().copied(), record.held_out_loss);
        let (first, last) = (curve[0], curve[curve.len() - 1]);
        assert_eq!((first.step, last.step, last.tokens), (1, run.steps, run.tokens));
        // Twelve words are soon learnt: from ln 280 = 5.6 to well below.
        assert!(first.loss > 5.0 && last.loss < 4.0, "{first:?} {last:?}");
        assert!(record.held_out_loss.unwrap() < 4.0 && record.train_loss.unwrap() < 4.0);
    }
    let table = std::fs::read_to_string(out.join("runs.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(
        lines[0],
        "run,group,budget,flops_convention,params,params_convention,tokens,batch,steps,learning_rate,width,layers,loss,status,note"
    );
    let cells: Vec<&str> = lines[1].split(',').collect();
    assert_eq!(cells[..4], [plan.runs[0].name.as_str(), "made-up", "2e8", "train"]);
    assert_eq!(cells[12].parse::<f64>().ok(), records[0].held_out_loss);
    assert_eq!(cells[13], "finished");
    // Again: nothing is trained, nothing changes.
    let before = files(out);
    let mut kept = 0;
    train(&plan, &text(), out, &options(), |event| {
        assert!(matches!(event, Event::Kept(..)), "{event:?}");
        kept += 1;
        true
    })
    .unwrap();
    assert_eq!((kept, files(out) == before), (3, true));
}

#[test]
fn stopped_again_and_again_is_never_stopped_and_threads_do_not_matter() {
    let (reference, stopped, plan) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tiny());
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    one.install(|| whole(reference.path(), &plan));
    let (text, mut stops, mut resumed) = (text(), 0, 0);
    loop {
        let mut steps = 0;
        let end = train(&plan, &text, stopped.path(), &options(), |event| match event {
            Event::Run(_, RunEvent::Step(..)) => {
                steps += 1;
                steps < 17
            }
            Event::Run(_, RunEvent::Resumed(_)) => {
                resumed += 1;
                true
            }
            _ => true,
        });
        match end {
            Ok(_) => break,
            Err(Error::Cancelled { .. }) => stops += 1,
            Err(other) => panic!("{other}"),
        }
        assert!(stops < 100);
    }
    assert!(stops > 8 && resumed > 5, "{stops} stops, {resumed} resumptions");
    assert_same(reference.path(), stopped.path());
}

/// Marin's blocks and optimiser: what is written is a Qwen3, and going on is to the bit as well.
#[test]
fn a_plan_of_marins_kind_is_trained_stopped_and_read_back() {
    let (reference, stopped) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut plan = tiny_of("marin-small");
    plan.runs.truncate(1);
    let run = &plan.runs[0];
    assert_eq!(run.optimiser.kind, OptimiserKind::CautiousAdamC);
    let record = &whole(reference.path(), &plan)[0];
    assert_eq!(record.status, Status::Finished);
    let folder = reference.path().join(&run.name);
    let model = Model::load(&folder, LoadOptions::default()).unwrap();
    assert_eq!((model.spec().family.as_str(), model.spec().tied), ("qwen3", false));
    assert_eq!(model.spec(), &run.architecture.spec());
    assert_eq!(model.parameters().total, run.parameters.total);
    let (_, curve) = read_curve(&folder.join("curve.parquet")).unwrap();
    let (first, last) = (curve[0].loss, curve[curve.len() - 1].loss);
    assert!((first - 280_f64.ln()).abs() < 1.5 && last < 0.7 * first, "{first} -> {last}");
    let stop = |event: Event<'_>| !matches!(event, Event::Run(_, RunEvent::Step(17, _)));
    let end = train(&plan, &text(), stopped.path(), &options(), stop);
    assert!(matches!(end, Err(Error::Cancelled { step: 17, .. })));
    train(&plan, &text(), stopped.path(), &options(), |_| true).unwrap();
    assert_same(reference.path(), stopped.path());
}

/// Tells the child where to train.
const FOLDER: &str = "RELSCALE_TEST_SWEEP_FOLDER";

/// Not a test: what the killed process does. Without its variable it passes at once.
#[test]
#[ignore = "only run as a child of the test below"]
fn child() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let slow = |_: Event<'_>| {
            std::thread::sleep(Duration::from_millis(3));
            true
        };
        train(&tiny(), &text(), Path::new(&folder), &options(), slow).unwrap();
    }
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn killed_at_any_moment_is_never_killed() {
    let (reference, place, plan) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tiny());
    whole(reference.path(), &plan);
    // Lifetimes from a fixed generator, growing, so that the end is reached on a slow machine too.
    let (mut state, mut killed, began) = (99_u64, 0, Instant::now());
    for attempt in 1.. {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let life = Duration::from_millis(40 + (state >> 33) % 120 + 10 * attempt);
        let mut child = start(place.path());
        let alive = Instant::now();
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if alive.elapsed() > life {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        match ended {
            Some(status) => {
                assert!(status.success());
                break;
            }
            None => killed += 1,
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{killed} kills, and no end");
    }
    assert!(killed >= 2, "{killed} kills");
    // What a killed process left beside the files goes with the next.
    assert_same(reference.path(), place.path());
}

#[test]
fn a_run_that_diverges_is_told_and_the_others_go_on() {
    let (place, mut plan) = (tempfile::tempdir().unwrap(), tiny());
    plan.runs[1].optimiser.learning_rate = 1e3;
    let records = whole(place.path(), &plan);
    let statuses: Vec<Status> = records.iter().map(|record| record.status).collect();
    assert_eq!(statuses, [Status::Finished, Status::Diverged, Status::Finished]);
    let (record, folder) = (&records[1], place.path().join(&plan.runs[1].name));
    let note = record.note.as_deref().unwrap();
    assert!(note.contains(" at step ") || note.contains(" by step "), "{note}");
    assert!(record.held_out_loss.is_none() && record.steps_taken < plan.runs[1].steps);
    assert!(
        !folder.join("config.json").exists() && !folder.join("checkpoint.safetensors").exists()
    );
    let table = std::fs::read_to_string(place.path().join("runs.csv")).unwrap();
    assert!(table.lines().nth(2).unwrap().contains(",diverged,"), "{table}");
    // It is known the next time, and not tried again.
    train(&plan, &text(), place.path(), &options(), |event| {
        assert!(matches!(event, Event::Kept(..)), "{event:?}");
        true
    })
    .unwrap();
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let (place, plan) = (tempfile::tempdir().unwrap(), tiny());
    let out = place.path();
    let attempt = |plan: &Plan, text: &SweepText, options: Options| -> Result<_> {
        train(plan, text, out, &options, |event| {
            !matches!(event, Event::Run(_, RunEvent::Step(3, _)))
        })
    };
    assert!(matches!(attempt(&plan, &text(), options()), Err(Error::Cancelled { step: 3, .. })));
    // A checkpoint of another setting, plan or text.
    let refused = |end: Result<_>, word: &str| {
        let error: Error = Result::<Vec<RunRecord>>::err(end).unwrap();
        assert!(error.to_string().contains(word), "{error}");
    };
    refused(
        attempt(&plan, &text(), Options { evaluations: 4, ..options() }),
        "another plan, text or setting",
    );
    let mut other = plan.clone();
    other.runs[0].optimiser.beta2 = 0.9;
    refused(attempt(&other, &text(), options()), "another plan, text or setting");
    let one = documents(3, 60);
    let one: Vec<&str> = one.iter().map(String::as_str).collect();
    let text_of = |held_out: &[&str]| SweepText::new(280, "made-up", &one, held_out);
    refused(
        attempt(&plan, &text_of(&one[..5]).unwrap(), options()),
        "another plan, text or setting",
    );
    // Text that is too little, or too poor for the vocabulary.
    refused(attempt(&plan, &text_of(&["a"]).unwrap(), options()), "held-out text has");
    let poor = SweepText::new(280, "made-up", &["abc"], &["abc"]).unwrap_err();
    assert!(matches!(poor, Error::FewEntries { wanted: 280, .. }), "{poor}");
    // A damaged checkpoint is named.
    let path = out.join(&plan.runs[0].name).join("checkpoint.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    refused(attempt(&plan, &text(), options()), "checkpoint.safetensors: cannot be used");
    std::fs::write(&path, bytes).unwrap();
    // One process at a time.
    let lock = relscale_records::lock::Lock::take(out).unwrap();
    refused(attempt(&plan, &text(), options()), "is writing to this folder");
    drop(lock);
    // What cannot be trained on this text is refused before anything is made.
    let marin = plan::build(&plan::preset("marin").unwrap()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let untouched = place.path().join("new");
    let end = train(&marin, &text(), &untouched, &options(), |_| true).unwrap_err().to_string();
    assert!(end.contains("held-out"), "{end}");
    assert!(!untouched.exists());
}
