//! Every "next:" line that the program prints, pasted into a shell as it stands: it works.

mod common;

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::Place;
use relscale_testkit::TinyModel;

/// A folder that has to be quoted.
const STUDY: &str = "it's a study";

/// Runs the program and pastes what it says comes next; the lines.
fn followed(place: &Place, arguments: &[&str]) -> Vec<String> {
    let output = place.command(arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {said}");
    let next: Vec<String> =
        said.lines().filter_map(|line| line.strip_prefix("next: ")).map(str::to_owned).collect();
    for line in &next {
        pasted(place, line);
    }
    next
}

/// A line in bash, where `relscale` is this program.
fn pasted(place: &Place, line: &str) {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_relscale"));
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    // In place of the shell, so that it is the program that is killed.
    shell.args(["-c", &format!("exec {line}")]).env("PATH", path).current_dir(place.path(""));
    shell.env("HF_HUB_OFFLINE", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
    // No browser is opened: there is none behind these names.
    shell.env_remove("BROWSER").env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let mut child = shell.spawn().unwrap();
    if line.starts_with("relscale view ") {
        // The page is served, as nothing can open it, until somebody stops that.
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "`{line}`: {url}");
        child.kill().unwrap();
        child.wait().unwrap();
        return;
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "`{line}`: {said}");
}

fn measured(place: &Place, models: &[&str]) -> Vec<String> {
    let words = [&["measure", "--model"], models, &["--corpus", "prose.txt", "--out", STUDY]];
    followed(place, &words.concat())
}

#[test]
fn a_study_from_the_first_model_to_the_page() {
    let place = Place::new();
    place.prose();
    for (seed, width) in [(1, 8), (2, 16), (3, 24)] {
        let model = TinyModel { width, seed, ..TinyModel::default() };
        place.model(&format!("w{width}"), &model);
    }
    // Two sizes have no law, so that no fit is offered.
    assert_eq!(measured(&place, &["models/w8", "models/w16"]), Vec::<String>::new());
    assert_eq!(measured(&place, &["models/w24"]), [r"relscale fit 'it'\''s a study'"]);
    assert_eq!(followed(&place, &["fit", STUDY]), [r"relscale report 'it'\''s a study'"]);
    assert_eq!(followed(&place, &["report", STUDY]), [r"relscale view 'it'\''s a study'"]);
    assert_eq!(
        followed(&place, &["merge", STUDY, "--out", "merged -one-"]),
        ["relscale fit 'merged -one-'"]
    );
}

#[test]
fn questions_and_the_gap_between_their_distributions() {
    let place = Place::new();
    common::quiz(&place);
    let corpus = "quiz?kind=mmlu&shots=0";
    let words = ["measure", "--model", "models", "--corpus", corpus, "--out", STUDY];
    assert_eq!(followed(&place, &words), [r"relscale choices 'it'\''s a study'"]);
    for (more, by) in [(&[][..], "tag:domain"), (&["--by", "group"], "tag:group")] {
        let next = followed(&place, &[&["choices", STUDY], more].concat());
        assert_eq!(next.len(), 1, "{next:?}");
        assert!(next[0].contains(&format!(" --by {by} ")), "{next:?}");
    }
}

#[test]
fn trained_families_and_planned_sweeps() {
    let place = Place::new();
    let line = "the rank of the right token is what a model of any scale knows of it\n\n";
    place.text("train.txt", &line.repeat(200));
    place.text("test.txt", &line.repeat(20));
    let plan = "sweep plan --preset small --budgets 1e8,2e8,4e8 --widths 8,16,24 --vocabulary 280 \
                --sequence 16 --out plan.json";
    assert_eq!(place.run(&plan.split_whitespace().collect::<Vec<_>>()).code, Some(0));
    let train = ["sweep", "train", "plan.json", "--corpus", "train.txt", "--held-out", "test.txt"];
    let next = followed(&place, &[&train[..], &["--out", "my sweep"]].concat());
    assert_eq!(next, ["relscale sweep fit 'my sweep'"]);
}

#[test]
#[ignore = "makes a vocabulary of 45 MB of text and scores a million tokens: minutes"]
fn a_family_that_is_trained_anew() {
    let place = Place::new();
    let train = ["sweep", "train", "small", "--size", "3k", "9k", "--steps", "1", "--out", "own"];
    let next = followed(&place, &train);
    assert_eq!(next.len(), 1, "{next:?}");
    assert!(next[0].starts_with("relscale measure --model own "), "{next:?}");
}

/// So that none is forgotten above: the commands in whose source the words stand.
#[test]
fn the_lines_are_those_that_the_program_has() {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let lines = std::fs::read_to_string(&path).unwrap().matches("terminal::next(").count();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            files.extend(std::iter::repeat_n(name, lines));
        }
    }
    files.sort();
    assert_eq!(files, ["choices", "fit", "measure", "merge", "report", "run", "train", "train"]);
}
