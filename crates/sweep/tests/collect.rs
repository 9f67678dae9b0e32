//! Runs read back from logs of every kind: numbers where they are logged, empty cells and notes
//! where they are not.

use std::fs;
use std::path::{Path, PathBuf};

use relscale_records::parquet::{Cell, read_cells};
use relscale_records::units::{FlopsConvention, ParameterConvention};
use relscale_sweep::Error;
use relscale_sweep::collect::table::COLUMNS;
use relscale_sweep::collect::{CollectOptions, CollectedRun, collect, write};
use relscale_sweep::plan;
use relscale_sweep::train::sweep::{RunRecord, Status};
use relscale_testkit::data::published;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
}

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/collect").join(name)
}

fn all(path: &Path, options: CollectOptions) -> Vec<CollectedRun> {
    collect(&CollectOptions { sources: vec![(None, path.to_owned())], ..options }).unwrap().runs
}

fn one(path: &Path, options: CollectOptions) -> CollectedRun {
    let runs = all(path, options);
    let [run] = runs.as_slice() else { panic!("{runs:?}") };
    run.clone()
}

fn noted(run: &CollectedRun, words: &str) {
    assert!(run.notes.iter().any(|note| note.contains(words)), "no `{words}` in {:?}", run.notes);
}

fn refused(path: &Path, words: &[&str]) {
    let options =
        CollectOptions { sources: vec![(None, path.to_owned())], ..CollectOptions::default() };
    let said = collect(&options).unwrap_err().to_string();
    assert!(words.iter().all(|word| said.contains(word)), "{words:?} in: {said}");
}

#[test]
fn a_run_of_the_hugging_face_trainer() {
    let run = one(&testdata("huggingface"), CollectOptions::default());
    assert_eq!(
        (run.run.as_str(), run.status, run.steps),
        ("tiny", Some(Status::Finished), Some(6.0))
    );
    // 6 steps of 4 sequences of 16 tokens, twice accumulated; the loss is the last eval_loss, not
    // the training loss.
    assert_eq!((run.tokens, run.loss), (Some(768.0), Some(3.260_136_365_890_503)));
    assert_eq!((run.width, run.layers, run.learning_rate), (Some(16.0), Some(2.0), Some(0.003)));
    // 2 (4 16² + 3 16 24 + 2 16) + 16 = 4432 that are no embeddings, 40 * 16 in each table.
    let counted = |params| {
        one(&testdata("huggingface"), CollectOptions { params, ..CollectOptions::default() }).params
    };
    assert_eq!(counted(ParameterConvention::NonEmbedding), Some(4432.0));
    assert_eq!(counted(ParameterConvention::NonEmbeddingAndHead), Some(5072.0));
    assert_eq!(counted(ParameterConvention::Total), Some(5712.0));
    // The trainer's own FLOPs: 6 N D, its N being all but the embedding.
    assert_eq!(
        (run.budget, run.flops_convention),
        (Some(6.0 * 5072.0 * 768.0), Some(FlopsConvention::Train))
    );
    // `train_batch_size` is that of a device: 8 sequences a step are logged nowhere.
    assert_eq!(run.batch, None);
    noted(&run, "not logged: batch");
}

#[test]
fn checkpoints_without_a_state_beside_them_and_diverged_losses() {
    let place = Place::new();
    let state = |step: u32, loss: &str| {
        format!(
            "{{\"global_step\": {step}, \"max_steps\": 100, \"num_input_tokens_seen\": 0, \"log_history\": \
             [{{\"step\": {step}, \"loss\": {loss}}}, {{\"step\": {step}, \"eval_loss\": 2.5}}]}}"
        )
    };
    place.file("run/checkpoint-9/trainer_state.json", &state(9, "3.0"));
    place.file("run/checkpoint-10/trainer_state.json", &state(10, "3.0"));
    let run = one(&place.0.path().join("run"), CollectOptions::default());
    assert_eq!(
        (run.status, run.steps, run.loss),
        (Some(Status::Unfinished), Some(10.0), Some(2.5))
    );
    noted(&run, "step 10 of 100");
    // 0 tokens means that the trainer was not asked to count.
    assert_eq!((run.tokens, run.params, run.params_convention), (None, None, None));
    noted(&run, "not logged: FLOPs, params, tokens, batch");
    place.file("run/checkpoint-10/trainer_state.json", &state(10, "NaN"));
    let run = one(&place.0.path().join("run"), CollectOptions::default());
    assert_eq!(run.status, Some(Status::Diverged));
    noted(&run, "loss is NaN at step 10");
    place.file("run/config.json", "{\"model_type\": \"xlstm\", \"hidden_size\": 7}");
    let run = one(&place.0.path().join("run"), CollectOptions::default());
    assert_eq!((run.params, run.width), (None, None));
    noted(&run, "config.json does not tell the parameters");
}

#[test]
fn event_files_of_tensorboard() {
    let run = one(&testdata("tensorboard"), CollectOptions::default());
    // Killed after step 7, started again from 5: the second file's numbers, which are doubles in
    // tensors.
    assert_eq!(
        (run.run.as_str(), run.loss, run.learning_rate),
        ("restarted", Some(4.5 - 0.25 * 10.0), Some(0.5))
    );
    assert_eq!((run.status, run.steps), (None, Some(10.0)));
    noted(&run, "whether it finished");
    let training =
        CollectOptions { loss: Some("train/loss".to_owned()), ..CollectOptions::default() };
    assert_eq!(one(&testdata("tensorboard"), training).loss, Some(4.125 - 0.25 * 10.0));

    // The second file alone, cut anywhere inside its last record: read up to there, which is said.
    let place = Place::new();
    let bytes = fs::read(testdata("tensorboard/restarted/events.out.tfevents.2.host.2.0")).unwrap();
    let path = place.0.path().join("events.out.tfevents.3");
    fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    let run = one(&path, CollectOptions::default());
    assert_eq!(run.loss, Some(2.0));
    noted(&run, "events.out.tfevents.3 ends inside a record");
    let mut spoilt = bytes.clone();
    spoilt[40] ^= 1;
    fs::write(&path, &spoilt).unwrap();
    refused(&path, &["events.out.tfevents.3, byte ", "checksum", "damaged"]);
}

#[test]
fn a_run_of_levanter() {
    let place = Place::new();
    // The run of 1e18 forward FLOPs with 512 channels of the published sweep; its summary counts
    // training FLOPs, which are three times that.
    let record = r#"{"config": {"trainer": {"train_batch_size": 32, "num_train_steps": 32844}, "train_seq_len": 4096,
        "optimizer": {"learning_rate": 0.003646, "beta2": 0.995}, "model": {"type": "qwen3", "hidden_dim": 512, "num_layers": 6}},
        "summary": {"parameter_count": 156508160, "throughput/total_tokens": 4304928768, "throughput/total_gflops": 3000012345.0,
        "eval/paloma/macro_loss": 4.1, "eval/paloma/c4_en/bpb": 1.2, "train/loss": 3.9, "_step": 32843}}"#
        .replace('\n', "");
    let path = place.file("isoflop-1e+18-d512-L6-B32-comma/tracker_metrics.jsonl", &record);
    let budgets = vec![3e18, 9e18];
    let run = one(place.0.path(), CollectOptions { budgets, ..CollectOptions::default() });
    assert_eq!((run.run.as_str(), run.budget), ("isoflop-1e+18-d512-L6-B32-comma", Some(3e18)));
    assert_eq!(run.flops_convention, Some(FlopsConvention::Train));
    assert_eq!(
        (run.params, run.params_convention),
        (Some(156_508_160.0), Some(ParameterConvention::Total))
    );
    assert_eq!(
        (run.tokens, run.batch, run.steps),
        (Some(4_304_928_768.0), Some(32.0), Some(32_844.0))
    );
    assert_eq!(
        (run.learning_rate, run.width, run.layers),
        (Some(0.003_646), Some(512.0), Some(6.0))
    );
    assert_eq!(
        (run.loss, run.status, run.notes.as_slice()),
        (Some(4.1), Some(Status::Finished), &[][..])
    );
    let bpb = CollectOptions {
        loss: Some("eval/paloma/c4_en/bpb".to_owned()),
        ..CollectOptions::default()
    };
    assert_eq!(one(place.0.path(), bpb).loss, Some(1.2));
    let far =
        one(place.0.path(), CollectOptions { budgets: vec![1e18], ..CollectOptions::default() });
    assert_eq!(far.budget, None);
    noted(&far, "3.000e18 FLOPs, near none of the budgets");
    fs::write(&path, "").unwrap();
    refused(&path, &["tracker_metrics.jsonl, line 1", "no record"]);
    fs::write(&path, "{\"config\": {}}\n").unwrap();
    refused(&path, &["line 1", "no member `summary`"]);
}

#[test]
fn tables_of_weights_and_biases_with_gaps() {
    let place = Place::new();
    let runs = "\"Name\",\"State\",\"parameter_count\",\"throughput/total_tokens\",\"eval/loss\",\"batch_size\"\n\
                \"big\",\"finished\",\"2000000\",\"4000000000\",\"2.5\",\"64\"\n\
                \"cut\",\"crashed\",\"1000000\",\"\",\"2.75\",\"\"\n\
                \"mad\",\"failed\",\"1000000\",\"4000000000\",\"NaN\",\"64\"\n";
    let found = all(&place.file("export.csv", runs), CollectOptions::default());
    let [big, cut, mad] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((big.params, big.tokens, big.loss), (Some(2e6), Some(4e9), Some(2.5)));
    assert_eq!(
        (big.status, cut.status, mad.status),
        (Some(Status::Finished), Some(Status::Unfinished), Some(Status::Diverged))
    );
    assert_eq!((cut.tokens, cut.batch, mad.loss), (None, None, None));
    noted(cut, "not logged: FLOPs, tokens, batch");
    noted(mad, "eval/loss is NaN");

    // A chart: runs share no steps, so every other cell is empty; the last step of one was not
    // sampled.
    let chart = "\"Step\",\"a-1 - eval/loss\",\"a-1 - eval/loss__MIN\",\"a-1 - eval/loss__MAX\",\"b - c - eval/loss\"\n\
                 0,5.0,5.0,5.0,\n10,,,,4.5\n20,3.0,3.0,3.0,\n30,,,,NaN\n";
    let found = all(&place.file("chart.csv", chart), CollectOptions::default());
    let [a, b] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((a.run.as_str(), a.loss, a.steps), ("a-1", Some(3.0), Some(20.0)));
    noted(a, "eval/loss: 2 of 4 exported rows are empty");
    assert_eq!((b.run.as_str(), b.loss, b.status), ("b - c", None, Some(Status::Diverged)));
    noted(b, "eval/loss is NaN at step 30");

    refused(
        &place.file("twice.csv", "run,loss\na,1\na,2\n"),
        &["twice.csv, row 2", "`a` is there twice"],
    );
    refused(&place.file("none.csv", "x,y\n1,2\n"), &["none.csv, line 1", "the columns are: x, y"]);
}

#[test]
fn metrics_a_line_a_step() {
    let place = Place::new();
    let line = |step: u32, rest: &str| {
        format!("{{\"step\": {step}, \"train_loss\": 4.0, \"tokens_seen\": {step}000{rest}}}\n")
    };
    let text = [
        line(1, ", \"val_loss\": 3.5"),
        line(2, ""),
        line(3, ""),
        "{\"step\": 4, \"tok".to_owned(),
    ]
    .concat();
    let path = place.file("small/metrics.jsonl", &text);
    let run = one(&path, CollectOptions::default());
    assert_eq!((run.run.as_str(), run.tokens, run.loss), ("small", Some(3000.0), Some(3.5)));
    noted(&run, "the last line is torn");
    noted(&run, "the last val_loss is of step 1, the last step 3");
    // No held-out loss: none, and what there is is named.
    fs::write(&path, line(1, "")).unwrap();
    let run = one(&path, CollectOptions::default());
    assert_eq!(run.loss, None);
    noted(&run, "no held-out loss (there is train_loss: --loss train_loss takes it)");
    let asked = CollectOptions { loss: Some("train_loss".to_owned()), ..CollectOptions::default() };
    assert_eq!(one(&path, asked).loss, Some(4.0));
    refused(
        &place.file("bad.jsonl", "{\"step\": 1}\nnot json\n{\"step\": 2}\n"),
        &["bad.jsonl, line 2"],
    );
    fs::remove_file(place.0.path().join("bad.jsonl")).unwrap();

    // CSV with a configuration beside it: tokens follow from batch, steps and sequence where all
    // three are logged.
    let csv = "step,val/loss,lr,batch_size,seq_len\n1,3.0,0.1,8,128\n2,,0.01,8,128\n";
    place.file("table/log.csv", csv);
    fs::copy(testdata("huggingface/tiny/config.json"), place.0.path().join("table/config.json"))
        .unwrap();
    let run = one(&place.0.path().join("table"), CollectOptions::default());
    assert_eq!(
        (run.run.as_str(), run.tokens, run.learning_rate),
        ("table", Some(2048.0), Some(0.1))
    );
    noted(&run, "tokens are batch * steps * sequence, 8 * 2 * 128");
    assert_eq!((run.params, run.layers), (Some(5712.0), Some(2.0)));
}

#[test]
fn numbers_whose_products_are_none_are_not_logged() {
    let place = Place::new();
    let csv = "step,val/loss,lr,batch_size,seq_len,gflops\n2,3.0,1e-300,8,1e308,1e305\n";
    let run = one(&place.file("table/log.csv", csv), CollectOptions::default());
    assert_eq!((run.tokens, run.budget, run.learning_rate), (None, None, None));
    assert_eq!((run.batch, run.loss), (Some(8.0), Some(3.0)));
    noted(&run, "not logged: FLOPs, params, tokens, learning rate");
}

#[test]
fn conventions_that_a_log_does_not_say_stay_empty_until_told() {
    let place = Place::new();
    let path =
        place.file("runs.csv", "run,params,tokens,gflops,paloma_macro_loss\na,1000,2000,3e9,3.5\n");
    let run = one(&path, CollectOptions::default());
    assert_eq!((run.budget, run.flops_convention, run.params_convention), (Some(3e18), None, None));
    noted(&run, "what params count is not said");
    noted(&run, "fwd or train is not said");
    let told = CollectOptions {
        logged_flops: Some(FlopsConvention::Train),
        logged_params: Some(ParameterConvention::Total),
        ..CollectOptions::default()
    };
    let run = one(&path, told);
    assert_eq!(run.flops_convention, Some(FlopsConvention::Train));
    assert_eq!((run.params_convention, run.loss), (Some(ParameterConvention::Total), Some(3.5)));
}

#[test]
fn the_published_runs_of_marin() {
    // Training FLOPs, three times those by which the sweep's budgets are named.
    let options = CollectOptions {
        sources: ["comma", "dclm"]
            .map(|name| (Some(name.to_owned()), published(&format!("marin/runs-{name}.csv"))))
            .to_vec(),
        logged_flops: Some(FlopsConvention::Train),
        logged_params: Some(ParameterConvention::Total),
        budgets: [1e18, 3e18, 6e18, 1e19, 3e19, 6e19, 1e20].map(|budget| 3.0 * budget).to_vec(),
        ..CollectOptions::default()
    };
    let runs = collect(&options).unwrap().runs;
    for group in ["comma", "dclm"] {
        let of = |budget: f64| {
            let of = |run: &&CollectedRun| {
                run.group.as_deref() == Some(group) && run.budget == Some(3.0 * budget)
            };
            runs.iter().filter(of).count()
        };
        // The grid has 5 + 10 + 15 + 10 + 15 + 15 + 15 runs.
        assert!(of(1e18) >= 5 && of(1e19) >= 10 && of(1e20) >= 15, "{group}");
    }
    for run in &runs {
        assert!(
            run.params.is_some()
                && run.tokens.is_some()
                && run.loss.is_some()
                && run.width.is_some(),
            "{run:?}"
        );
        assert!(
            run.batch.is_some() && run.steps.is_some() && run.learning_rate.is_some(),
            "{run:?}"
        );
    }
}

#[test]
fn a_sweep_of_ours_that_is_on_its_way() {
    let place = Place::new();
    let plan = plan::build(&plan::preset("small").unwrap()).unwrap();
    place.file("sweep/plan.json", &plan.to_json().unwrap());
    let record = |at: usize, status: &str, note: &str, loss: &str| {
        let run = &plan.runs[at];
        let text = format!(
            r#"{{"format": 1, "status": "{status}", "note": {note}, "key": "k", "run": {}, "flops_convention": "train",
            "flops_formula": "f", "text": {{"corpora": "code", "tokens": 1, "sha256": "s", "held_out_tokens": 1, "held_out_sha256": "h"}},
            "evaluations": 1, "held_out_tokens": 1, "steps_taken": {}, "passes": 0.5, "train_loss": {loss}, "held_out_loss": {loss}}}"#,
            serde_json::to_string(run).unwrap(),
            if status == "finished" { run.steps } else { run.steps / 2 }
        );
        place.file(&format!("sweep/{}/run.json", run.name), &text);
    };
    record(0, "finished", "null", "4.5");
    record(1, "diverged", "\"the loss rose\"", "null");
    assert!(
        RunRecord::read(&place.0.path().join("sweep").join(&plan.runs[0].name)).unwrap().is_some()
    );
    let runs = all(&place.0.path().join("sweep"), CollectOptions::default());
    assert_eq!(runs.len(), plan.runs.len());
    let (first, planned) = (&runs[0], &plan.runs[0]);
    assert_eq!(
        (first.status, first.loss, first.notes.len()),
        (Some(Status::Finished), Some(4.5), 0)
    );
    assert_eq!(
        (first.params, first.tokens),
        (Some(planned.parameters.total as f64), Some(planned.tokens as f64))
    );
    assert_eq!(
        (first.budget, first.flops_convention),
        (Some(planned.budget), Some(FlopsConvention::Train))
    );
    assert_eq!((runs[1].status, runs[1].loss), (Some(Status::Diverged), None));
    assert_eq!(runs[1].steps, Some(f64::from(plan.runs[1].steps / 2)));
    noted(&runs[1], "the loss rose");
    // What was planned and not done has no tokens, and the group of the others.
    let last = &runs[2];
    assert_eq!(
        (last.status, last.tokens, last.group.as_deref()),
        (Some(Status::Unfinished), None, Some("code"))
    );
    noted(last, "not ended");
    // A record that is damaged takes away no other run.
    let path = place.0.path().join("sweep").join(&plan.runs[1].name).join("run.json");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let damaged = all(&place.0.path().join("sweep"), CollectOptions::default());
    assert_eq!((damaged.len(), &damaged[0]), (runs.len(), &runs[0]));
    assert_eq!((damaged[1].status, damaged[1].loss), (Some(Status::Unfinished), None));
    noted(&damaged[1], "run.json, the file: no record of `relscale sweep train`");
    fs::write(&path, &whole).unwrap();
    // A run's folder by itself.
    let alone = one(&place.0.path().join("sweep").join(&planned.name), CollectOptions::default());
    assert_eq!(&alone, first);
}

#[test]
fn the_shipped_family_and_groups() {
    let family = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/family");
    let options = |loss: Option<&str>| CollectOptions {
        sources: vec![(Some("crates".to_owned()), family.clone())],
        loss: loss.map(str::to_owned),
        params: ParameterConvention::NonEmbedding,
        ..CollectOptions::default()
    };
    let runs = collect(&options(Some("final_loss"))).unwrap().runs;
    assert_eq!(runs.len(), 7);
    for run in &runs {
        assert_eq!((run.group.as_deref(), run.status), (Some("crates"), Some(Status::Finished)));
        assert!(
            run.loss.unwrap() > 1.0
                && run.params.unwrap() > 1000.0
                && run.tokens == Some(20_070_400.0)
        );
    }
    // What it was trained on is no held-out loss.
    let run = &collect(&options(None)).unwrap().runs[0];
    assert_eq!(run.loss, None);
    noted(run, "no held-out loss");

    // The same names in one group cannot be told apart; in two they can.
    let twice = |first: &str, second: &str| {
        let sources =
            [first, second].map(|group| (Some(group.to_owned()), family.clone())).to_vec();
        collect(&CollectOptions { sources, ..CollectOptions::default() })
    };
    assert!(matches!(twice("a", "a"), Err(Error::SameRun { .. })));
    assert_eq!(twice("a", "b").unwrap().runs.len(), 14);
    let empty = Place::new();
    refused(empty.0.path(), &["no run in it", "trainer_state.json", "TensorBoard"]);
    refused(&empty.0.path().join("nowhere"), &["nowhere", "cannot read"]);
}

#[test]
fn the_table_is_the_same_in_every_format() {
    let place = Place::new();
    let csv = place.file(
        "in.csv",
        "Name,State,params,tokens,flops,eval/loss\n\"a, b\",finished,1000,2e9,3e18,3.5\nc,,,,,\n",
    );
    let runs = all(
        &csv,
        CollectOptions {
            logged_flops: Some(FlopsConvention::Forward),
            ..CollectOptions::default()
        },
    );
    let out = |name: &str| {
        let path = place.0.path().join(name);
        write(&path, &runs).unwrap();
        path
    };
    let text = fs::read_to_string(out("runs.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), COLUMNS.join(","));
    assert!(
        lines.next().unwrap().starts_with("\"a, b\",,3e18,fwd,1000,,2000000000,,,,,,3.5,finished,"),
        "{text}"
    );
    assert!(lines.next().unwrap().starts_with("c,,,,,,,,,,,,,,"), "{text}");

    let text = fs::read_to_string(out("runs.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((first["run"].as_str(), first["budget"].as_f64()), (Some("a, b"), Some(3e18)));
    assert!(first.get("group").is_none());

    let rows: Vec<Vec<Cell>> =
        read_cells(&out("runs.parquet"), &COLUMNS).unwrap().map(|row| row.unwrap()).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0][0], &rows[0][1]), (&Cell::Text("a, b".to_owned()), &Cell::Missing));
    assert_eq!(
        (&rows[0][2], &rows[0][12], &rows[1][12]),
        (&Cell::Number(3e18), &Cell::Number(3.5), &Cell::Missing)
    );
    assert!(matches!(
        write(&place.0.path().join("runs.xlsx"), &runs),
        Err(Error::TableEnding { .. })
    ));

    // What was written is read back as it is: a table of runs.
    let again = all(&place.0.path().join("runs.csv"), CollectOptions::default());
    assert_eq!(
        (again[0].budget, again[0].flops_convention),
        (Some(3e18), Some(FlopsConvention::Forward))
    );
    assert_eq!((again[0].loss, again[0].status), (Some(3.5), Some(Status::Finished)));
}
