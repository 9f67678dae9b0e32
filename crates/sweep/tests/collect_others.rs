//! Logs as they lie on other people's disks: crashed runs, restarted ones, damaged files, folders
//! of one name, tables sorted by hand. What was given is a run of the table, or is passed over by
//! name.

use std::fs;
use std::path::{Path, PathBuf};

use relscale_sweep::collect::{CollectOptions, Collected, CollectedRun, collect, write};
use relscale_sweep::train::sweep::Status;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
}

fn collect_one(path: &Path) -> Result<Collected, String> {
    let sources = vec![(None, path.to_owned())];
    collect(&CollectOptions { sources, ..CollectOptions::default() })
        .map_err(|error| error.to_string())
}

fn names(found: &Collected) -> Vec<&str> {
    found.runs.iter().map(|run| run.run.as_str()).collect()
}

fn run<'a>(found: &'a Collected, name: &str) -> &'a CollectedRun {
    found
        .runs
        .iter()
        .find(|run| run.run == name)
        .unwrap_or_else(|| panic!("{name} in {:?}", names(found)))
}

fn noted(run: &CollectedRun, words: &str) {
    assert!(run.notes.iter().any(|note| note.contains(words)), "no `{words}` in {:?}", run.notes);
}

/// A file of events that TensorBoard's own writer made: eval/loss 4.5 - step / 4 at steps 5 to 10.
fn events() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/collect/tensorboard/restarted/events.out.tfevents.2.host.2.0");
    fs::read(path).unwrap()
}

#[test]
fn how_a_run_ended_is_read_under_every_name_and_in_every_format() {
    let place = Place::new();
    for (column, finished, crashed) in [
        ("state", "finished", "crashed"),
        ("State", "FINISHED", "Killed"),
        ("run_state", "completed", "preempted"),
        ("run.state", "success", "pending"),
        ("_state", "COMPLETE", "RUNNING"),
        ("STATUS", "done", "OUT_OF_MEMORY"),
    ] {
        let csv = place
            .file("a.csv", format!("name,{column},eval/loss\na,{finished},3\nb,{crashed},4\n"));
        let jsonl = place.file(
            "a.jsonl",
            format!(
                "{{\"name\": \"a\", \"{column}\": \"{finished}\", \"eval/loss\": 3}}\n{{\"name\": \"b\", \"{column}\": \"{crashed}\", \"eval/loss\": 4}}\n"
            ),
        );
        for path in [csv, jsonl] {
            let found = collect_one(&path).unwrap();
            let status = |name| run(&found, name).status;
            assert_eq!(
                (status("a"), status("b")),
                (Some(Status::Finished), Some(Status::Unfinished)),
                "{column}"
            );
            assert_eq!((run(&found, "a").loss, run(&found, "b").loss), (Some(3.0), Some(4.0)));
        }
    }
    let unknown = collect_one(&place.file("u.csv", "name,state,eval/loss\na,weird,3\n")).unwrap();
    assert_eq!(unknown.runs[0].status, None);
    noted(&unknown.runs[0], "state is `weird`");
    // As the API of Weights & Biases hands runs out.
    let api = "{\"name\": \"a\", \"state\": \"crashed\", \"config\": {\"batch_size\": 8}, \"summary\": {\"eval/loss\": 3.5, \"_step\": 7}}\n";
    let found = collect_one(&place.file("api.jsonl", api)).unwrap();
    let a = run(&found, "a");
    assert_eq!(
        (a.status, a.loss, a.batch, a.steps),
        (Some(Status::Unfinished), Some(3.5), Some(8.0), Some(7.0))
    );
}

#[test]
fn a_table_of_ours_is_read_back_from_every_format() {
    let place = Place::new();
    let csv = "run,group,budget,flops_convention,params,params_convention,tokens,loss,status,note\n\
               a,,1e18,train,25.5M,total,6.54B,3.65,finished,\nb,,1e18,train,\"51,000,000\",total,3.2e9,,unfinished,killed\n";
    let first = collect_one(&place.file("in.csv", csv)).unwrap();
    assert_eq!(
        (first.runs[0].params, first.runs[0].tokens, first.runs[1].params),
        (Some(25.5e6), Some(6.54e9), Some(5.1e7))
    );
    for name in ["out.csv", "out.jsonl", "out.parquet"] {
        let path = place.path().join(name);
        write(&path, &first.runs).unwrap();
        let again = collect_one(&path).unwrap();
        let told = |found: &Collected| -> Vec<_> {
            found
                .runs
                .iter()
                .map(|run| (run.run.clone(), run.budget, run.params, run.loss, run.status))
                .collect()
        };
        assert_eq!(told(&again), told(&first), "{name}");
        noted(run(&again, "b"), "killed");
    }
}

#[test]
fn the_last_loss_is_that_of_the_last_step_of_the_last_life() {
    let place = Place::new();
    // Steps and losses as they stand in the file, and the loss that counts.
    for (rows, loss, steps, note) in [
        (&[(1, "7.9"), (500, "3.2"), (1000, "3.0")][..], Some(3.0), 1000.0, ""),
        (&[(1000, "3.0"), (500, "3.2"), (1, "7.9")], Some(3.0), 1000.0, "last step first"),
        (&[(1, "7.9"), (1000, "3.0"), (500, "3.2")], Some(3.0), 1000.0, "digits"),
        (
            &[(500, "3.2"), (1000, "3.0"), (1500, "9.9"), (1000, "3.1"), (1200, "2.9")],
            Some(2.9),
            1200.0,
            "started again from step 1000",
        ),
        (&[(500, "3.2"), (1000, "nan")], None, 1000.0, "eval/loss is NaN at step 1000"),
        (&[(500, "3.2"), (1000, "-nan")], None, 1000.0, "eval/loss is NaN"),
        (&[(500, "3.2"), (1000, "Inf")], None, 1000.0, "eval/loss is inf"),
        (&[(500, "3.2"), (1000, "+inf")], None, 1000.0, "eval/loss is inf"),
        (&[(500, "3.2"), (1000, "1.#INF")], None, 1000.0, "eval/loss is inf"),
        (
            &[(500, "3.2"), (1000, "overflow")],
            None,
            500.0,
            "is `overflow`, which is no number, so no loss is taken",
        ),
    ] {
        let csv: Vec<String> = rows.iter().map(|(step, loss)| format!("{step},{loss}")).collect();
        let csv = place.file("run/metrics.csv", format!("step,eval/loss\n{}\n", csv.join("\n")));
        let line = |(step, loss): &(u32, &str)| match loss.starts_with("over") {
            true => format!("{{\"step\": {step}, \"eval/loss\": \"{loss}\"}}"),
            false => format!("{{\"step\": {step}, \"eval/loss\": {loss}}}"),
        };
        let lines: Vec<String> = rows.iter().map(line).collect();
        let jsonl = place.file("run/log.jsonl", lines.join("\n") + "\n");
        for path in [csv, jsonl] {
            let found = collect_one(&path).unwrap();
            let run = &found.runs[0];
            let text = fs::read_to_string(&path).unwrap();
            if path.extension().unwrap() == "jsonl" && text.contains("overflow") {
                assert_eq!(run.loss, None, "{text}: {run:?}");
                continue;
            }
            assert_eq!(run.loss, loss, "{text}: {run:?}");
            assert!(run.steps == Some(steps) || note.contains("overflow"), "{text}: {run:?}");
            assert!(
                note.is_empty() || run.notes.iter().any(|told| told.contains(note)),
                "{note}: {:?}",
                run.notes
            );
            let diverged = note.contains("eval/loss is ");
            assert_eq!(run.status == Some(Status::Diverged), diverged, "{text}");
        }
    }
    // Runs and their steps in one table.
    let long = "run,step,eval/loss\na,1,5\na,2,3\nb,2,4\nb,1,6\n";
    let found = collect_one(&place.file("long.csv", long)).unwrap();
    assert_eq!((run(&found, "a").loss, run(&found, "b").loss), (Some(3.0), Some(4.0)));
    let long = "{\"run\": \"a\", \"step\": 1, \"eval/loss\": 5}\n{\"run\": \"b\", \"step\": 1, \"eval/loss\": 6}\n{\"run\": \"a\", \"step\": 2, \"eval/loss\": 3}\n";
    let found = collect_one(&place.file("long.jsonl", long)).unwrap();
    assert_eq!((run(&found, "a").loss, run(&found, "b").loss), (Some(3.0), Some(6.0)));
}

#[test]
fn a_stray_file_of_events_hides_no_runs_below_it() {
    let place = Place::new();
    place.file("tb/events.out.tfevents.1.h", events());
    place.file("tb/runA/events.out.tfevents.1.h", events());
    place.file("tb/runB/sub/events.out.tfevents.1.h", events());
    let found = collect_one(&place.path().join("tb")).unwrap();
    assert_eq!(names(&found), ["tb", "runA", "sub"]);
    assert!(found.runs.iter().all(|run| run.loss == Some(2.0)), "{:?}", found.runs);
    // One that holds no scalar is passed over by name, and so is what lies beside event files.
    fs::write(place.path().join("tb/events.out.tfevents.1.h"), b"").unwrap();
    place.file("tb/runA/metrics.csv", "step,val_loss\n1,2\n");
    let found = collect_one(&place.path().join("tb")).unwrap();
    assert_eq!(names(&found), ["runA", "sub"]);
    let told: Vec<String> = found
        .passed_over
        .iter()
        .map(|passed| format!("{}: {}", passed.path.display(), passed.reason))
        .collect();
    assert!(
        told.iter().any(|told| told.contains("tb/events.out") && told.contains("no scalar")),
        "{told:?}"
    );
    assert!(told.iter().any(|told| told.contains("runA/metrics.csv")), "{told:?}");
}

#[test]
fn a_damaged_file_stops_nothing_and_its_run_is_named() {
    let place = Place::new();
    let whole = events();
    place.file("all/good/events.out.tfevents.1.h", &whole);
    let mut spoilt = whole.clone();
    // In the record of the training loss at step 9; eval/loss was logged at steps 6 and 8 before.
    let late = 800;
    spoilt[late] ^= 1;
    place.file("all/late/events.out.tfevents.1.h", &spoilt);
    let mut spoilt = whole.clone();
    spoilt[3] ^= 1;
    place.file("all/early/events.out.tfevents.1.h", &spoilt);
    place.file("all/state/trainer_state.json", "{\"log_history\": [{");
    place.file("all/levanter/tracker_metrics.jsonl", "");
    place.file("all/lines/metrics.jsonl", "{\"step\": 1}\nno json\n{\"step\": 2}\n");
    place.file("all/table/notes.csv", "x,y\n1,2\n");
    place.file("all/foreign/run.json", "{\"mine\": true}");
    place.file("all/plan/plan.json", "{\"what\": \"another program's\"}");
    place.file("all/plan/x/metrics.csv", "step,val_loss\n1,2\n");
    let found = collect_one(&place.path().join("all")).unwrap();
    assert_eq!(
        names(&found),
        ["early", "foreign", "good", "late", "levanter", "lines", "x", "state"]
    );
    assert_eq!((run(&found, "good").loss, run(&found, "good").status), (Some(2.0), None));
    // Read up to the damage, which may have been before the end.
    let late = run(&found, "late");
    assert_eq!((late.loss, late.status), (Some(2.5), Some(Status::Unfinished)));
    noted(late, "is read up to byte");
    for name in ["early", "state", "levanter", "lines", "foreign"] {
        let run = run(&found, name);
        assert_eq!((run.loss, run.status), (None, Some(Status::Unfinished)), "{run:?}");
        assert!(run.notes[0].contains(name), "{run:?}");
    }
    // A file that may be somebody else's work is not to be removed.
    assert!(found.runs.iter().flat_map(|run| &run.notes).all(|note| !note.contains("remove it")));
    let passed: Vec<String> =
        found.passed_over.iter().map(|passed| passed.path.display().to_string()).collect();
    assert!(passed.iter().any(|path| path.ends_with("notes.csv")), "{passed:?}");
    assert!(passed.iter().any(|path| path.ends_with("plan/plan.json")), "{passed:?}");
    // By itself it is refused: there is nothing else.
    assert!(collect_one(&place.path().join("all/early")).unwrap_err().contains("byte 0"));
    assert!(
        collect_one(&place.path().join("all/state")).unwrap_err().contains("trainer_state.json")
    );
}

#[test]
fn runs_in_folders_of_one_name_are_told_apart() {
    let place = Place::new();
    let csv = "step,val_loss\n1,3\n2,2.5\n";
    for folder in
        ["lightning/expA/version_0", "lightning/expB/version_0", "lightning/expB/version_1"]
    {
        place.file(&format!("{folder}/metrics.csv"), csv);
    }
    let found = collect_one(&place.path().join("lightning")).unwrap();
    assert_eq!(names(&found), ["expA/version_0", "expB/version_0", "version_1"]);
    for folder in
        ["keras/runA/train", "keras/runA/validation", "keras/runB/train", "keras/runB/validation"]
    {
        place.file(&format!("{folder}/events.out.tfevents.1.h"), events());
    }
    let found = collect_one(&place.path().join("keras")).unwrap();
    assert_eq!(names(&found), ["runA/train", "runA/validation", "runB/train", "runB/validation"]);
    for folder in ["deep/a/x/run", "deep/b/x/run"] {
        place.file(
            &format!("{folder}/tracker_metrics.jsonl"),
            "{\"config\": {}, \"summary\": {\"eval/loss\": 2}}\n",
        );
    }
    assert_eq!(names(&collect_one(&place.path().join("deep")).unwrap()), ["a/x/run", "b/x/run"]);
    // In two sources as well; one folder twice is a mistake.
    let sources = |names: [&str; 2]| CollectOptions {
        sources: names.map(|name| (None, place.path().join(name))).to_vec(),
        ..CollectOptions::default()
    };
    let two = collect(&sources(["deep/a/x/run", "deep/b/x/run"])).unwrap();
    assert_eq!(names(&two), ["a/x/run", "b/x/run"]);
    assert!(
        collect(&sources(["deep/a", "deep/a"]))
            .unwrap_err()
            .to_string()
            .contains("is there already")
    );
}

#[test]
fn what_lies_below_a_run_is_a_run_or_is_named() {
    let place = Place::new();
    let state = "{\"global_step\": 5, \"max_steps\": 5, \"log_history\": [{\"step\": 5, \"eval_loss\": 2.5}]}";
    place.file("hf/trainer_state.json", state);
    place.file("hf/checkpoint-5/trainer_state.json", state);
    place.file("hf/runs/Nov1/events.out.tfevents.1.h", events());
    place.file("hf/other/trainer_state.json", state);
    place.file("hf/.cache/x.csv", "step,val_loss\n1,2\n");
    place.file("hf/packed.jsonl.gz", "x");
    let found = collect_one(&place.path().join("hf")).unwrap();
    assert_eq!(names(&found), ["hf", "other"]);
    let passed: Vec<String> =
        found.passed_over.iter().map(|passed| passed.path.display().to_string()).collect();
    for name in ["runs/Nov1/events.out.tfevents.1.h", ".cache", "packed.jsonl.gz"] {
        assert!(passed.iter().any(|path| path.ends_with(name)), "{name}: {passed:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_back_is_followed_once() {
    let place = Place::new();
    place.file("runs/a/metrics.csv", "step,val_loss\n1,2\n");
    std::os::unix::fs::symlink(place.path().join("runs"), place.path().join("runs/a/loop"))
        .unwrap();
    let found = collect_one(&place.path().join("runs")).unwrap();
    assert_eq!(names(&found), ["a"]);
    assert!(found.passed_over[0].reason.contains("a link"), "{:?}", found.passed_over);
}

#[test]
fn a_table_of_another_country_and_a_torn_one() {
    let place = Place::new();
    let german = "sep=;\r\nName;State;parameter_count;eval/loss;;\r\na;finished;25.480.034;3,65573;;\r\nb;finished;45.310.619;3,564;;\r\n;;;;;\r\n";
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(german.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    for path in [place.file("a.csv", german), place.file("b.csv", utf16)] {
        let found = collect_one(&path).unwrap();
        assert_eq!(names(&found), ["a", "b"]);
        assert_eq!(
            (run(&found, "a").params, run(&found, "a").loss),
            (Some(25_480_034.0), Some(3.65573))
        );
        assert_eq!(run(&found, "b").loss, Some(3.564));
    }
    let torn =
        collect_one(&place.file("run/metrics.csv", "step,val_loss\n1,3\n2,2.5\n3,")).unwrap();
    assert_eq!(torn.runs[0].loss, Some(2.5));
    let torn = collect_one(&place.file("run/metrics.csv", "step,val_loss\n1,3\n2,2.5\n3")).unwrap();
    assert_eq!(torn.runs[0].loss, Some(2.5));
    noted(&torn.runs[0], "the last line is torn");
    assert!(
        collect_one(&place.file("z.csv", b"PK\x03\x04"))
            .unwrap_err()
            .contains("save the sheet as CSV")
    );
}
