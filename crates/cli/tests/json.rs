//! `--json -` of every command there is: one JSON document on standard output, everything else on
//! standard error.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use common::Place;
use relscale_testkit::{MadeUpFamily, TinyModel, made_up_study};
use serde_json::Value;

/// All commands that do something, by walking the help: a command that has commands does nothing
/// itself.
fn commands(place: &Place, above: &[&str], found: &mut Vec<String>) {
    let help = place.run(&[above, &["--help"]].concat());
    assert_eq!(help.code, Some(0), "{above:?}");
    let Some((_, listed)) = help.out.split_once("\nCommands:\n") else {
        found.push(above.join(" "));
        return;
    };
    let listed = listed.lines().take_while(|line| !line.is_empty());
    // A name stands two columns in, what it does further.
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    // What these print is for machines already.
    let others = ["help", "completions", "man"];
    for name in names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| !others.contains(name))
    {
        commands(place, &[above, &[name]].concat(), found);
    }
}

/// Two stages and a gap that closes, as tables.
fn tables(place: &Place) {
    let mut stages = "model,flops,bpb,acc\n".to_owned();
    let mut sizes = "params,tokens,domain,loss\n".to_owned();
    for at in 0..8 {
        let x = 1e18 * 3.0_f64.powi(at);
        let loss = 40.0 * x.powf(-0.1) + 0.4;
        let accuracy = 0.25 + 0.6 / (1.0 + (7.0 * (loss - 0.75)).exp());
        writeln!(stages, "m{at},{x:e},{loss:.5},{accuracy:.5}").unwrap();
        let (size, tokens) = (1e7 * 4.0_f64.powi(at % 4), 1e9 * 2.0_f64.powi(at / 4));
        let base = 30.0 * size.powf(-0.1) * tokens.powf(-0.05);
        writeln!(
            sizes,
            "{size},{tokens},web,{base}\n{size},{tokens},chat,{}",
            2.0 * base * size.powf(-0.02)
        )
        .unwrap();
    }
    place.text("stages.csv", &stages);
    place.text("sizes.csv", &sizes);
    let mut runs = "run,budget,params,tokens,loss\n".to_owned();
    for budget in [1e15, 4e15, 1.6e16] {
        for (at, factor) in [0.25, 0.45, 0.8, 1.4, 2.5, 4.5].into_iter().enumerate() {
            let n = 0.05 * f64::sqrt(budget) * factor;
            let d = budget / 6.0 / n;
            let loss = 1.2 + 60.0 * n.powf(-0.3) + 190.0 * d.powf(-0.3);
            writeln!(runs, "r{at},{budget:e},{n},{d:.0},{loss:.6}").unwrap();
        }
    }
    place.text("runs.csv", &runs);
    let sizes = MadeUpFamily::default().sizes;
    let rows: String = sizes.iter().map(|size| format!("made-up-{size},1e9\n")).collect();
    place.text("made-up.csv", &format!("model,tokens\n{rows}"));
    place.text(
        "declared.toml",
        "name = \"declared\"\nquestion = \"Does it answer?\"\n[measure]\ncorpus = \"test.txt?split=paragraphs\"\n\
         [[models]]\nmodel = \"models\"\n[fit]\nresamples = 50\n\
         [[expect]]\nwhat = \"models\"\nat = \"groups[0].cross_entropy_law.outcome.points\"\n\
         at_least = 3\nsource = \"this test\"\n",
    );
    place.text("metrics.jsonl", "{\"step\": 1, \"eval/loss\": 3.5, \"tokens\": 1000}\n");
    let line = "the rank of the right token is what a model of any scale knows of it\n\n";
    place.text("train.txt", &line.repeat(200));
    place.text("test.txt", &line.repeat(20));
}

/// Each command with arguments that make it do its work; those that need another's work stand
/// behind it.
fn arguments() -> BTreeMap<&'static str, String> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/choices");
    BTreeMap::from([
        ("demo", "--assets models --tokens 300 --out shown".to_owned()),
        ("measure", format!("--model {data}/model --corpus {data}/mmlu?kind=mmlu&shots=0 --out asked")),
        ("run", "declared.toml".to_owned()),
        ("check", "declared".to_owned()),
        ("choices", "asked".to_owned()),
        ("merge", "study --out merged".to_owned()),
        ("fit", "study --resamples 100".to_owned()),
        ("predict", "study".to_owned()),
        ("training", "study --models made-up.csv --k 1".to_owned()),
        ("next", "study --draws 20".to_owned()),
        ("relative", "study --baseline prose --resamples 100".to_owned()),
        ("report", "study".to_owned()),
        ("view", "study --print".to_owned()),
        ("stages", "--table stages.csv --x flops --loss bpb --accuracy acc".to_owned()),
        (
            "forecast",
            "--features stages.csv --x flops --feature bpb,acc --table stages.csv --y acc --chance 0.2"
                .to_owned(),
        ),
        ("size-tokens", "--table sizes.csv --error loss --distribution domain --baseline web".to_owned()),
        ("sweep list", String::new()),
        (
            "sweep plan",
            "--preset small --budgets 2e8 --widths 8,16 --vocabulary 280 --sequence 16 --out plan.json"
                .to_owned(),
        ),
        ("sweep train", "plan.json --corpus train.txt --held-out test.txt --out sweep".to_owned()),
        ("sweep collect", "metrics.jsonl --out collected.csv".to_owned()),
        ("sweep fit", "--table runs.csv".to_owned()),
    ])
}

/// In an order in which each finds what it needs.
const ORDER: [&str; 21] = [
    "demo",
    "run",
    "check",
    "measure",
    "choices",
    "merge",
    "fit",
    "predict",
    "training",
    "next",
    "relative",
    "report",
    "view",
    "stages",
    "forecast",
    "size-tokens",
    "sweep list",
    "sweep plan",
    "sweep train",
    "sweep collect",
    "sweep fit",
];

#[test]
fn every_command_answers_machines() {
    let place = Place::new();
    let mut found = Vec::new();
    commands(&place, &[], &mut found);
    let arguments = arguments();
    let unknown: Vec<&String> =
        found.iter().filter(|name| !arguments.contains_key(name.as_str())).collect();
    assert!(unknown.is_empty(), "commands that this test does not try: {unknown:?}");
    assert_eq!(found.len(), ORDER.len(), "{found:?}");

    for (number, width) in [8, 16, 24].into_iter().enumerate() {
        let model =
            TinyModel { width, hidden: 2 * width, seed: number as u64, ..TinyModel::default() };
        place.model(&format!("tiny-{width}"), &model);
    }
    for corpus in ["prose", "code"] {
        let family = MadeUpFamily { corpus: corpus.to_owned(), ..MadeUpFamily::default() };
        made_up_study(&place.path("study"), &family);
    }
    tables(&place);
    for name in ORDER {
        let words =
            name.split(' ').chain(arguments[name].split_whitespace()).chain(["--json", "-"]);
        let outcome = place.run(&words.collect::<Vec<_>>());
        assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.screen());
        let document: Value = serde_json::from_str(&outcome.out).unwrap_or_else(|error| {
            panic!("{name} does not answer in JSON: {error}\n{}", outcome.screen())
        });
        assert!(document.is_object() || document.is_array(), "{name}: {document}");
        assert!(!document.as_array().is_some_and(Vec::is_empty), "{name} says nothing");
    }
    // What others read is where the documents say.
    for file in ["study/laws.json", "study/report.html", "shown/report.html"] {
        assert!(place.path(file).is_file(), "{file}");
    }
}

#[test]
fn a_file_gets_the_same_and_the_screen_stays() {
    let place = Place::new();
    let shown = place.run(&["sweep", "list"]);
    let both = place.run(&["sweep", "list", "--json", "list.json"]);
    assert_eq!((both.code, &both.out), (Some(0), &shown.out));
    assert!(both.err.contains("wrote list.json"), "{}", both.screen());
    let only = place.run(&["sweep", "list", "--json", "-"]);
    assert_eq!(std::fs::read_to_string(place.path("list.json")).unwrap(), only.out);
    place
        .run(&["sweep", "list", "--json", "no/such/folder.json"])
        .refuses_after_showing(1, "no/such/folder.json");
}
