//! `relscale run` and `relscale check`: a study from its file, and what it was expected to give.

mod common;

use std::fs;

use common::Place;
use relscale_testkit::TinyModel;
use serde_json::Value;

/// Three models, two texts and a study of them in a folder of its own.
fn declared(more: &str) -> Place {
    let place = Place::new();
    for (seed, width) in [(1, 8), (2, 16), (3, 24)] {
        place.model(&format!("w{width}"), &TinyModel { width, seed, ..TinyModel::default() });
    }
    place.prose();
    place.text(
        "code.txt",
        "fn rank(row: &[f32]) -> usize {\n    row.len()\n}\n\nlet k = 10;\n\nlet s = 3;\n",
    );
    fs::create_dir(place.path("studies")).unwrap();
    let text = format!(
        "name = \"tiny\"\nquestion = \"Does it go through?\"\n\
         [measure]\ncorpus = [\"prose=../prose.txt?split=paragraphs\", \"../code.txt?split=paragraphs\"]\n\
         [[models]]\nfamily = \"tiny\"\nmodel = \"../models\"\n\
         [fit]\nresamples = 50\n\
         [[relative]]\nbaseline = \"prose\"\nresamples = 50\n\
         [[relative]]\nname = \"ranks\"\nbaseline = \"prose\"\nerror = \"rbp10\"\nresamples = 50\n\
         [report]\n{more}"
    );
    place.text("studies/tiny.toml", &text);
    place
}

const EXPECTED: &str = "\
[[expect]]
what = \"models of the law\"
at = \"groups[corpus=prose].cross_entropy_law.outcome.points\"
value = 3
within = 0
source = \"the file\"
";

#[test]
fn a_study_is_done_from_its_file_and_checked() {
    let place = declared(EXPECTED);
    let outcome = place.run(&["run", "studies/tiny.toml", "--out", "study"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    assert!(outcome.err.contains("step 5 of 5:"), "{}", outcome.err);
    // The commands that it leads do not say what comes next, it does.
    let next: Vec<&str> = outcome.err.lines().filter(|line| line.starts_with("next: ")).collect();
    assert_eq!(next, ["next: relscale check [DIR]/study"], "{}", outcome.err);
    for file in ["laws.json", "relative.json", "relative-ranks.json", "report.html", "study.toml"] {
        assert!(place.path("study").join(file).is_file(), "{file}");
    }
    let check = place.run(&["check", "study"]);
    assert_eq!(check.code, Some(0), "{}", check.screen());
    check.shows("check");

    // The same as by hand.
    let study = place.path("study");
    let laws = fs::read(study.join("laws.json")).unwrap();
    let measure = "measure --model models --family tiny --corpus prose=prose.txt?split=paragraphs \
                   code.txt?split=paragraphs --out hand";
    for line in [measure, "fit hand --resamples 50"] {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(place.run(&words).code, Some(0), "{line}");
    }
    assert!(fs::read(place.path("hand/laws.json")).unwrap() == laws);

    // Again: nothing is measured anew, and the page says how it was made.
    let parts = common::files(&study.join("runs"));
    let again = place.run(&["run", "studies/tiny.toml", "--out", "study", "--json", "-"]);
    assert_eq!(again.code, Some(0), "{}", again.screen());
    let document: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(document["steps"].as_array().unwrap().len(), 5, "{document}");
    assert!(common::files(&study.join("runs")) == parts);
    let page = fs::read_to_string(study.join("report.html")).unwrap();
    assert!(page.replace("&#x2f;", "/").contains("run studies/tiny.toml --out study"));
}

#[test]
fn what_is_not_as_expected_fails() {
    let other = EXPECTED.replace("value = 3", "value = 4");
    let absent = EXPECTED.replace("corpus=prose", "corpus=wiki");
    let place = declared(&format!("{EXPECTED}{other}{absent}"));
    let outcome = place.run(&["run", "studies/tiny.toml", "--out", "study"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    let check = place.run(&["check", "study"]);
    assert_eq!(check.code, Some(1), "{}", check.screen());
    check.shows("check-differs");
}

#[test]
fn the_commands_are_printed_and_nothing_is_done() {
    let place = declared("");
    let outcome = place.run(&["run", "studies/tiny.toml", "--out", "study", "--print"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("run-print");
    assert!(!place.path("study").exists());
}

#[test]
fn a_step_that_fails_stops_no_other() {
    let place = declared("[[choices]]\n");
    let outcome = place.run(&["run", "studies/tiny.toml", "--out", "study"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.screen());
    assert!(outcome.err.contains("warning: [[choices]]: "), "{}", outcome.err);
    assert!(outcome.err.contains("1 of 6 steps failed"), "{}", outcome.err);
    assert!(place.path("study/report.html").is_file());
}

#[test]
fn files_that_make_no_sense_are_refused_before_any_work() {
    for (more, words) in [
        ("[reprot]\n", &["line 19", "unknown field `reprot`"][..]),
        (
            "[[choices]]\ngold = 1\n",
            &["[[choices]]", "`gold` is no option of choices", "beyond-shuffled"],
        ),
        ("[[choices]]\nresamples = \"many\"\n", &["[[choices]]", "'many'", "--resamples"]),
        ("[[choices]]\njson = \"x\"\n", &["json is said when the file is run"]),
        ("[[choices]]\nname = \"a/b\"\n", &["names no file"]),
        ("[[choices]]\nby = [[\"a\"]]\n", &["by: a list holds words and numbers"]),
        ("[[choices]]\nby = {a = 1}\n", &["by: expected words"]),
        ("[[relative]]\n", &["[[relative]] number 3", "--baseline"]),
        (
            "[[expect]]\nwhat = \"x\"\nat = \"groups[\"\nvalue = 1\nsource = \"y\"\n",
            &["[[expect]] number 1 (x)", "without a ]"],
        ),
        ("[cost]\ngpu_hours = -1\nbytes = 0\nhow = \"x\"\n", &["not below zero"]),
        ("x", &["line 19"]),
    ] {
        let place = declared(more);
        let outcome = place.run(&["run", "studies/tiny.toml", "--out", "study"]);
        outcome.refuses(3, &[&["studies/tiny.toml"], words].concat());
        assert!(!place.path("study").exists(), "{more}");
    }
    let place = declared("");
    place.run(&["run", "nowhere.toml"]).refuses(3, &["nowhere.toml: cannot be read"]);
    place.run(&["check", "nowhere"]).refuses(3, &["was not made by `relscale run`", "--file"]);
    place
        .run(&["check", "nowhere", "--file", "studies/tiny.toml"])
        .refuses(3, &["expects nothing"]);
}

#[test]
fn a_folder_of_another_study_is_left_alone() {
    let place = declared("");
    fs::create_dir(place.path("study")).unwrap();
    let other = fs::read_to_string(place.path("studies/tiny.toml")).unwrap();
    place.text("study/study.toml", &other.replace("\"tiny\"\nquestion", "\"other\"\nquestion"));
    let before = common::files(&place.path("study"));
    place
        .run(&["run", "studies/tiny.toml", "--out", "study"])
        .refuses(3, &["holds the study other, not tiny", "--out"]);
    assert!(common::files(&place.path("study")) == before);
}
