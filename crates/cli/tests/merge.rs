//! `relscale merge`, and the worked examples of clusters: run here with several processes.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Place, files};
use relscale_testkit::TinyModel;

/// The examples.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cluster").join(name)
}

/// The script behind a line that ends in `|`, without its indentation.
fn block(yaml: &str, head: &str) -> String {
    let mut lines = yaml.lines().skip_while(|line| line.trim() != head).skip(1).peekable();
    let margin = |line: &str| line.len() - line.trim_start().len();
    let indent = lines.peek().map_or(0, |line| margin(line));
    let inside = lines.take_while(|line| line.trim().is_empty() || margin(line) >= indent);
    let script: Vec<&str> = inside.map(|line| line.get(indent..).unwrap_or_default()).collect();
    assert!(!script.is_empty(), "nothing behind `{head}`");
    script.join("\n")
}

/// Two models and a text, and the study of one process.
fn place() -> Place {
    let place = Place::new();
    place.model("tiny-a", &TinyModel::default());
    place.model("tiny-b", &TinyModel { width: 32, hidden: 48, seed: 2, ..TinyModel::default() });
    let lines: Vec<String> =
        (0..40).map(|i| format!("line {i} of a text that is cut among processes")).collect();
    fs::write(place.path("text.txt"), lines.join("\n")).unwrap();
    let whole = place.run(&[
        "measure",
        "--model",
        "models",
        "--corpus",
        "text.txt?split=lines",
        "--out",
        "whole",
    ]);
    assert_eq!(whole.code, Some(0), "{}", whole.screen());
    place
}

/// Runs a script once a process, all at once, each with its own variables.
fn all_at_once(
    place: &Place,
    script: &str,
    parts: u32,
    variables: impl Fn(u32) -> Vec<(&'static str, String)>,
) {
    let started: Vec<_> = (1..=parts)
        .map(|part| {
            Command::new("bash")
                .args(["-c", script])
                .current_dir(place.path("."))
                .env("RELSCALE", env!("CARGO_BIN_EXE_relscale"))
                .env("MODELS", "models/tiny-a models/tiny-b")
                .env("CORPUS", "text.txt?split=lines")
                .env("OUT", "out")
                .envs(variables(part))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for process in started {
        let output = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("`relscale merge` makes one study"), "{said}");
    }
}

/// The files of a study's runs, by their places in it.
fn runs(place: &Place, study: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = place.path(study).join("runs");
    let inside = |path: PathBuf| path.strip_prefix(&folder).unwrap().to_path_buf();
    files(&folder).into_iter().map(|(path, bytes)| (inside(path), bytes)).collect()
}

/// Merges `out/part-*` and compares with the study of one process.
fn same_as_whole(place: &Place, parts: u32) {
    let mut arguments = vec!["merge".to_owned()];
    // Not in their order.
    arguments.extend((1..=parts).rev().map(|part| format!("out/part-{part}")));
    arguments.extend(["--out".to_owned(), "merged".to_owned()]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let merged = place.run(&arguments);
    assert_eq!(merged.code, Some(0), "{}", merged.screen());
    assert!(merged.out.contains(&format!("{parts} parts")), "{}", merged.screen());
    assert!(runs(place, "whole") == runs(place, "merged"), "other bytes than those of one process");
    fs::remove_dir_all(place.path("out")).unwrap();
    fs::remove_dir_all(place.path("merged")).unwrap();
}

#[cfg(unix)]
#[test]
fn the_examples_of_clusters_give_the_study_of_one_process() {
    let place = place();
    let slurm = fs::read_to_string(example("slurm.sh")).unwrap();
    all_at_once(&place, &slurm, 3, |part| {
        vec![("SLURM_ARRAY_TASK_ID", part.to_string()), ("SLURM_ARRAY_TASK_COUNT", "3".to_owned())]
    });
    same_as_whole(&place, 3);
    let kubernetes = block(&fs::read_to_string(example("kubernetes.yaml")).unwrap(), "- |");
    all_at_once(&place, &kubernetes, 2, |part| {
        vec![("JOB_COMPLETION_INDEX", (part - 1).to_string()), ("PARTS", "2".to_owned())]
    });
    same_as_whole(&place, 2);
    let skypilot = block(&fs::read_to_string(example("skypilot.yaml")).unwrap(), "run: |");
    all_at_once(&place, &skypilot, 4, |part| {
        vec![("SKYPILOT_NODE_RANK", (part - 1).to_string()), ("SKYPILOT_NUM_NODES", "4".to_owned())]
    });
    same_as_whole(&place, 4);
}

#[cfg(unix)]
#[test]
fn the_example_of_one_machine_measures_and_merges() {
    let place = place();
    let script = example("gpus.sh");
    let run = || {
        let mut command = Command::new("bash");
        command.arg(&script).current_dir(place.path(".")).env("GPUS", "3");
        command.env("RELSCALE", env!("CARGO_BIN_EXE_relscale"));
        command.env("MODELS", "models/tiny-a models/tiny-b");
        command.env("CORPUS", "text.txt?split=lines").env("OUT", "out");
        command.output().unwrap()
    };
    let done = run();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(
        runs(&place, "whole") == runs(&place, "out/study"),
        "other bytes than those of one process"
    );
    // A text that is not there fails each process, and nothing is merged.
    fs::remove_file(place.path("text.txt")).unwrap();
    let failed = run();
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(!failed.status.success() && said.contains("a part is missing"), "{said}");
}

#[test]
fn what_cannot_be_merged_is_said() {
    let place = place();
    let measure = |part: &str, out: &str| {
        let outcome = place.run(&[
            "measure",
            "--model",
            "models",
            "--corpus",
            "text.txt?split=lines",
            "--part",
            part,
            "--out",
            out,
        ]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    };
    measure("1/3", "one");
    measure("3/3", "three");
    let few = place.run(&["merge", "one", "three", "--out", "few"]);
    assert_ne!(few.code, Some(0));
    assert!(few.err.contains("tiny-a x text lacks 2/3"), "{}", few.screen());
    assert!(few.err.contains("tiny-b x text lacks 2/3"), "{}", few.screen());

    // A part by itself is no study to fit, and says so.
    let fit = place.run(&["fit", "one"]);
    assert_ne!(fit.code, Some(0));
    assert!(fit.err.contains("merge"), "{}", fit.screen());

    measure("2/3", "two");
    measure("2/3", "again");
    let twice = place.run(&["merge", "one", "two", "again", "three", "--out", "all"]);
    assert_eq!(twice.code, Some(0), "{}", twice.screen());
    assert!(twice.err.contains("the same again, passed over"), "{}", twice.screen());
    let unreadable = place.run(&["merge", "nowhere", "--out", "all"]);
    assert_ne!(unreadable.code, Some(0));
    let bad = place.run(&[
        "measure", "--model", "models", "--corpus", "text.txt", "--part", "4/3", "--out", "x",
    ]);
    assert!(bad.err.contains("1 <= I <= N"), "{}", bad.screen());
}
