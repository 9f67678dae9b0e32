//! Logs of other programs, and the files of our own sweeps.

use std::fs;
use std::path::Path;

use relscale_decoder::families;
use relscale_decoder::weights::Weights;
use relscale_records::units::ParameterConvention;
use relscale_sweep::collect::{CollectOptions, collect, write};
use relscale_sweep::plan::{self, Plan};
use relscale_sweep::train::course::Progress;
use relscale_sweep::train::sweep::RunRecord;
use relscale_sweep::train::sweep::checkpoint;

use crate::input::{choice, files, join};
use crate::place::{Place, check_refusal};
use crate::seeds::{self, Seeds};

/// Collects what is in the place; the table of it can be written. A refusal names `file`.
fn collected(place: &Place, source: &Path, file: &Path) {
    let options = CollectOptions {
        sources: vec![(None, source.to_owned())],
        params: ParameterConvention::NonEmbedding,
        budgets: vec![1e18],
        ..CollectOptions::default()
    };
    match collect(&options) {
        Ok(found) => {
            let runs = found.runs;
            for run in &runs {
                let numbers =
                    [run.budget, run.params, run.tokens, run.batch, run.steps, run.learning_rate, run.loss];
                assert!(
                    numbers.into_iter().flatten().all(|number| number.is_finite() && number >= 0.0),
                    "{run:?}"
                );
            }
            for table in ["runs.csv", "runs.jsonl", "runs.parquet"] {
                write(&place.path().join("out").join(table), &runs).unwrap_or_else(|error| panic!("{error}"));
            }
        }
        Err(error) => check_refusal(&error, file),
    }
}

fn place_of(target: &str) -> Place {
    let place = Place::of(target);
    fs::create_dir(place.path().join("out")).expect("a folder in memory");
    place
}

/// Event files of TensorBoard: framing, checksums, protocol buffers.
///
/// # Panics
/// A number of a run is none, or a refusal does not name the file.
pub fn tensorboard(data: &[u8]) {
    let place = place_of("tensorboard");
    let path = place.put("run/events.out.tfevents.1.host.1.0", data);
    collected(&place, &path, &path);
}

/// Event files that TensorBoard wrote, with both kinds of scalars.
pub fn tensorboard_seeds() -> Vec<Vec<u8>> {
    Seeds::new().files(b"", "testdata/collect/tensorboard", &[".0"]).all()
}

/// The inside of an event, with the checksums made right: an engine does not find them.
///
/// # Panics
/// As [`tensorboard`].
pub fn tensorboard_message(data: &[u8]) {
    let place = place_of("tensorboard_message");
    let length = (data.len() as u64).to_le_bytes();
    let file = [&length, &masked_crc(&length)[..], data, &masked_crc(data)].concat();
    let path = place.put("run/events.out.tfevents.1.host.1.0", &file);
    collected(&place, &path, &path);
}

/// The messages of the event files.
pub fn tensorboard_message_seeds() -> Vec<Vec<u8>> {
    let mut found = Seeds::new();
    for mut rest in tensorboard_seeds() {
        while let Some(length) = rest.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes) as usize) {
            found = found.bytes(&rest[12..12 + length]);
            rest.drain(..16 + length);
        }
    }
    // Hundreds of alike messages would only be alike.
    let mut all = found.all();
    all.dedup_by_key(|message| message.len());
    all
}

/// The checksum of TFRecord: CRC-32C, turned by 15 bits, plus a constant.
fn masked_crc(bytes: &[u8]) -> [u8; 4] {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82F6_3B78 & 0_u32.wrapping_sub(crc & 1));
        }
    }
    (!crc).rotate_right(15).wrapping_add(0xA282_EAD8).to_le_bytes()
}

/// `trainer_state.json` of the Hugging Face trainer, beside a `config.json`.
///
/// # Panics
/// As [`tensorboard`].
pub fn trainer_state(data: &[u8]) {
    let [state, config] = files(data);
    let place = place_of("trainer_state");
    place.put("run/config.json", config);
    let path = place.put("run/trainer_state.json", state);
    collected(&place, &place.path().join("run"), &path);
}

/// A run of the trainer.
pub fn trainer_state_seeds() -> Vec<Vec<u8>> {
    let file = |name: &str| seeds::read(&format!("testdata/collect/huggingface/tiny/{name}"));
    Seeds::new().bytes(join(&[&file("trainer_state.json"), &file("config.json")])).all()
}

/// A run of Levanter.
///
/// # Panics
/// As [`tensorboard`].
pub fn levanter(data: &[u8]) {
    let place = place_of("levanter");
    let path = place.put("run/tracker_metrics.jsonl", data);
    collected(&place, &path, &path);
}

/// The record of a published run.
pub fn levanter_seeds() -> Vec<Vec<u8>> {
    let record = r#"{"config": {"trainer": {"train_batch_size": 32, "num_train_steps": 32844}, "train_seq_len": 4096, "optimizer": {"learning_rate": 0.003646},
        "model": {"type": "qwen3", "hidden_dim": 512, "num_layers": 6}}, "summary": {"parameter_count": 156508160, "throughput/total_tokens": 4304928768,
        "throughput/total_gflops": 3000012345.0, "eval/paloma/macro_loss": 4.1, "train/loss": NaN, "_step": 32843}}"#;
    Seeds::new().bytes(record.replace('\n', "")).all()
}

/// Metrics a line a step in JSONL, and tables of all kinds in CSV.
///
/// # Panics
/// As [`tensorboard`].
pub fn metrics(data: &[u8]) {
    let Some((kind, data)) = choice(data, 2) else { return };
    let place = place_of("metrics");
    let path = place.put(["run/metrics.jsonl", "run/export.csv"][kind], data);
    collected(&place, &path, &path);
}

/// A torn history, tables exported from Weights & Biases: runs, and a chart.
pub fn metrics_seeds() -> Vec<Vec<u8>> {
    Seeds::new()
        .chosen(0, "{\"step\": 1, \"train_loss\": 4.0, \"tokens_seen\": 1000, \"val_loss\": 3.5}\n{\"step\": 2, \"train_loss\": NaN, \"lr\": 1e-3}\n{\"step\": 4, \"tok")
        .chosen(1, "step,val/loss,lr,batch_size,seq_len\n1,3.0,0.1,8,128\n2,,0.01,8,128\n")
        .chosen(1, "\"Name\",\"State\",\"parameter_count\",\"eval/loss\",\"batch_size\"\n\"big\",\"finished\",\"2000000\",\"2.5\",\"64\"\n\"mad\",\"failed\",\"\",\"NaN\",\"64\"\n")
        .chosen(1, "\"Step\",\"a-1 - eval/loss\",\"a-1 - eval/loss__MIN\",\"b - c - eval/loss\"\n0,5.0,5.0,\n10,,,4.5\n20,3.0,3.0,-Infinity\n")
        .files(b"1", "testdata/sweep", &[".csv"])
        .all()
}

/// A folder of a sweep of ours: its plan and the record of a run.
///
/// # Panics
/// As [`tensorboard`]; a plan that was read, written and read again is another.
pub fn sweep(data: &[u8]) {
    let [plan, record] = files(data);
    let place = place_of("sweep");
    let path = place.put("sweep/plan.json", plan);
    match Plan::read(&path) {
        Ok(plan) => {
            let again = place.put("again.json", plan.to_json().expect("a plan in JSON").as_bytes());
            assert_eq!(Plan::read(&again).expect("what was just written"), plan);
        }
        Err(error) => return check_refusal(&error, &path),
    }
    // The record goes where the plan of the seeds has a run.
    let run = place.put(&format!("sweep/{}/run.json", first_run()), record);
    if let Err(error) = RunRecord::read(run.parent().expect("a run's folder")) {
        check_refusal(&error, &run);
        return collected(&place, &place.path().join("sweep"), &run);
    }
    collected(&place, &place.path().join("sweep"), &path);
}

fn planned() -> Plan {
    let mut plan = plan::build(&plan::preset("small").expect("a preset")).expect("a plan");
    plan.runs.truncate(2);
    plan
}

fn first_run() -> String {
    planned().runs[0].name.clone()
}

/// Two runs of a plan; one ended.
pub fn sweep_seeds() -> Vec<Vec<u8>> {
    let plan = planned();
    let record = |status: &str, loss: &str| {
        format!(
            r#"{{"format": 1, "status": "{status}", "note": null, "key": "k", "run": {}, "flops_convention": "train", "flops_formula": "f",
            "text": {{"corpora": "code", "tokens": 1, "sha256": "s", "held_out_tokens": 1, "held_out_sha256": "h"}}, "evaluations": 1, "held_out_tokens": 1,
            "steps_taken": {}, "passes": 0.5, "train_loss": {loss}, "held_out_loss": {loss}}}"#,
            serde_json::to_string(&plan.runs[0]).expect("a run in JSON"),
            plan.runs[0].steps
        )
    };
    let plan = plan.to_json().expect("a plan in JSON");
    Seeds::new()
        .bytes(join(&[plan.as_bytes(), record("finished", "4.5").as_bytes()]))
        .bytes(join(&[plan.as_bytes(), record("diverged", "null").as_bytes()]))
        .all()
}

/// The record of a member of a family of ours.
///
/// # Panics
/// As [`tensorboard`].
pub fn training(data: &[u8]) {
    let place = place_of("training");
    let path = place.put("run/training.json", data);
    collected(&place, &place.path().join("run"), &path);
}

/// The records of the shipped family.
pub fn training_seeds() -> Vec<Vec<u8>> {
    Seeds::new().files(b"", "assets/family/small-3k", &["training.json"]).all()
}

/// A run in the making: what goes on, written again, goes on the same.
///
/// # Panics
/// It does not, or a refusal does not name the file.
pub fn training_checkpoint(data: &[u8]) {
    let place = Place::of("training_checkpoint");
    let path = place.put(checkpoint::FILE, data);
    let spec =
        families::spec_of_config(&seeds::root().join("testdata/training/mistral/gradient/config.json"))
            .expect("a golden");
    match checkpoint::read(place.path(), "key", &spec) {
        Ok(Some((state, progress))) => {
            let [first, second] = &state.moments;
            let sets = [&state.weights, first, second];
            checkpoint::write(place.path(), "key", sets, state.taken, &progress).expect("a folder in memory");
            let (again, read) =
                checkpoint::read(place.path(), "key", &spec).expect("what was just written").expect("it");
            assert_eq!((again.taken, format!("{read:?}")), (state.taken, format!("{progress:?}")));
        }
        Ok(None) => panic!("the file is there"),
        Err(relscale_sweep::Error::Occupied { .. }) => {}
        Err(error) => check_refusal(&error, &path),
    }
}

/// A run that has taken seven steps.
pub fn training_checkpoint_seeds() -> Vec<Vec<u8>> {
    let place = Place::of("written");
    let spec =
        families::spec_of_config(&seeds::root().join("testdata/training/mistral/gradient/config.json"))
            .expect("a golden");
    let weights = Weights::zeros(&spec);
    checkpoint::write(place.path(), "key", [&weights; 3], 7, &Progress::default())
        .expect("a folder in memory");
    Seeds::new().bytes(fs::read(place.path().join(checkpoint::FILE)).expect("what was just written")).all()
}
