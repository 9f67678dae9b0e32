//! A user's own table: published figures, the same law from every format, refusals with file and
//! line.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use relscale_laws::tables::{Kind, Select};
use relscale_laws::user_table::{HarnessOptions, TableOptions, fit_harness, fit_table};
use relscale_laws::{FlagCode, Law, TableFit};
use relscale_records::Provenance;
use relscale_records::parquet::{DocumentRow, write_documents};
use relscale_testkit::data::published;

/// GPT-2 on Wikipedia, read off the paper's plots: `-ln RBP_1`.
const GPT2: [(f64, f64); 4] = [
    (85_056_000.0, 0.877),
    (302_311_424.0, 0.803),
    (708_390_400.0, 0.7695),
    (1_475_561_600.0, 0.748),
];

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

fn y(columns: &[&str]) -> TableOptions {
    TableOptions {
        select: Select {
            y: columns.iter().map(ToString::to_string).collect(),
            ..TableOptions::default().select
        },
        ..TableOptions::default()
    }
}

fn only_law(fit: &TableFit) -> &Law {
    assert_eq!((fit.groups.len(), fit.groups[0].laws.len()), (1, 1));
    &fit.groups[0].laws[0]
}

fn refusal(path: &Path, options: &TableOptions) -> String {
    let text = fit_table(path, options).unwrap_err().to_string();
    assert!(text.contains(&*path.file_name().unwrap().to_string_lossy()), "no file in: {text}");
    text
}

/// The table of GPT-2 with x in units of `unit`.
fn gpt2(unit: f64) -> String {
    GPT2.iter().fold("S,rbp1\n".to_owned(), |mut text, (size, value)| {
        writeln!(text, "{},{}", size / unit, (-value).exp()).unwrap();
        text
    })
}

#[test]
fn gpt2_of_the_paper_in_any_unit() {
    let place = Place::new();
    let of = |unit: f64| {
        let path = place.file("gpt2.csv", &gpt2(unit));
        only_law(&fit_table(&path, &y(&["rbp1"])).unwrap()).clone()
    };
    let raw = of(1.0);
    let fit = raw.fit().unwrap();
    assert!((fit.exponent.value - 0.056).abs() < 5e-4, "{}", fit.exponent.value);
    assert!((fit.r_squared.unwrap() - 0.983).abs() < 1.5e-3);
    assert_eq!((fit.points, fit.leave_one_out.len(), fit.audit.len()), (4, 4, 1));
    for unit in [1e3, 1e9, 1e-3] {
        let scaled = of(unit);
        let other = scaled.fit().unwrap();
        assert!((other.exponent.value / fit.exponent.value - 1.0).abs() < 1e-10, "unit {unit}");
        assert!((other.r_squared.unwrap() - fit.r_squared.unwrap()).abs() < 1e-10);
        for (a, b) in fit.leave_one_out.iter().zip(&other.leave_one_out) {
            assert!((a.relative_error - b.relative_error).abs() < 1e-10);
        }
        let (rivals, others) = (raw.rivals.as_ref().unwrap(), scaled.rivals.as_ref().unwrap());
        assert_eq!(rivals.best_by_held_out, others.best_by_held_out);
        for (a, b) in rivals.forms.iter().zip(&others.forms) {
            let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-6,
                (a, b) => a == b,
            };
            assert!(
                close(a.fit().and_then(|fit| fit.r_squared), b.fit().and_then(|fit| fit.r_squared)),
                "{}",
                a.form
            );
            assert!(
                close(a.error(1), b.error(1)),
                "{}: {:?}, {:?}",
                a.form,
                a.error(1),
                b.error(1)
            );
        }
        assert!((other.at(1e10 / unit) / fit.at(1e10) - 1.0).abs() < 1e-10);
    }
}

#[test]
fn pythia_on_lambada_to_the_digits_that_are_known() {
    let data = published("pythia/evaluations.tsv");
    let place = Place::new();
    // Non-embedding counts, the 1b row being that of its bf16 run.
    let sizes = place.file(
        "sizes.csv",
        "model,S\npythia-70m,18915328\nEleutherAI/pythia-160m,85056000\npythia-410m,302311424\n\
         pythia-1b-bf16,805736448\npythia-1.4b,1208602624\npythia-2.8b,2517652480\npythia-6.9b,6444163072\n\
         pythia-12b,11327027200\n",
    );
    for (metric, kind, exponent, r_squared) in
        [("acc", Kind::Accuracy, 0.2467, 0.9635), ("ppl", Kind::Perplexity, 0.2060, 0.9704)]
    {
        let condition = |column: &str, value: &str| (column.to_owned(), value.to_owned());
        let options = TableOptions {
            select: Select {
                kinds: vec![kind],
                sizes: Some(sizes.clone()),
                only: vec![
                    condition("task", "lambada_openai"),
                    condition("step", "143000"),
                    condition("shots", "zero-shot"),
                    condition("metric", metric),
                ],
                ..y(&["value"]).select
            },
            ..y(&["value"])
        };
        let found = fit_table(&data, &options).unwrap();
        let law = only_law(&found);
        let fit = law.fit().unwrap();
        assert_eq!((fit.points, law.points[0].label.as_str()), (8, "pythia-70m"));
        assert!((fit.exponent.value - exponent).abs() < 5e-5, "{metric}: {}", fit.exponent.value);
        assert!((fit.r_squared.unwrap() - r_squared).abs() < 5e-5, "{metric}: {:?}", fit.r_squared);
    }
}

#[test]
fn one_table_in_every_format_gives_one_law() {
    let place = Place::new();
    let rows = [
        (1e6, 2.0, "a", "a1"),
        (1e7, 1.5, "a", "a2"),
        (1e8, 1.2, "a", "a3"),
        (1e9, 1.0, "a", "a4"),
        (1e6, 3.0, "b", "b1"),
        (1e8, 2.0, "b", "b2"),
    ];
    let text = |between: &str, start: &str| {
        rows.iter().rev().fold(start.replace('|', between), |mut text, (x, loss, family, model)| {
            writeln!(text, "{x}{between}{loss}{between}{family}{between}{model}").unwrap();
            text
        })
    };
    let jsonl = rows.iter().fold("\n".to_owned(), |mut text, (x, loss, family, model)| {
        writeln!(
            text,
            r#"{{"loss": {loss}, "family": "{family}", "model": "{model}", "S": {x}, "more": [1]}}"#
        )
        .unwrap();
        text
    });
    let paths = [
        place.file("t.csv", &text(",", "S|loss|family|model\n")),
        place.file("excel.csv", &text(";", "\u{feff}S|loss|family|model\r\n")),
        place.file("t.tsv", &text("\t", "S|loss|family|model\n")),
        place.file("t.jsonl", &jsonl),
    ];
    let options = TableOptions {
        select: Select { group: vec!["family".to_owned()], ..y(&["loss"]).select },
        ..y(&["loss"])
    };
    let fits: Vec<TableFit> = paths.iter().map(|path| fit_table(path, &options).unwrap()).collect();
    assert_eq!(fits[0].groups.iter().map(|g| g.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let law = &fits[0].groups[0].laws[0];
    // ln 2, ln 1.5, ln 1.2, ln 1 over decades: slope by hand.
    let ln = |value: f64| value.ln();
    let slope = (3.0 * (ln(1.0) - ln(2.0)) + ln(1.2) - ln(1.5)) / (10.0 * std::f64::consts::LN_10);
    assert!((law.fit().unwrap().exponent.value + slope).abs() < 1e-14);
    // Two points have a slope and no interval.
    let two = &fits[0].groups[1].laws[0];
    assert!(two.fit().unwrap().exponent.interval.reason().unwrap().contains("two points"));
    assert_eq!(two.flags[0].code, FlagCode::NoInterval);
    for fit in &fits[1..] {
        for (one, other) in fits[0].groups.iter().zip(&fit.groups) {
            assert_eq!(one.laws[0].outcome, other.laws[0].outcome, "{:?}", fit.files);
            assert_eq!(one.laws[0].verdict, other.laws[0].verdict);
        }
    }
}

/// The records write a Parquet table with columns of numbers and of text; it is a table as any
/// other.
#[test]
fn a_parquet_table() {
    let place = Place::new();
    let path = place.0.path().join("t.parquet");
    let row = |ordinal: u32, tokens: u64, scored: u64| DocumentRow {
        ordinal,
        id: format!("m{ordinal}"),
        tags: Default::default(),
        tokens,
        bytes: 1,
        words: None,
        scored,
    };
    write_documents(
        &path,
        &Provenance::example(),
        &[row(0, 1_000_000, 8), row(1, 4_000_000, 4), row(2, 16_000_000, 2)],
    )
    .unwrap();
    let options = TableOptions {
        select: Select {
            x: vec!["tokens".to_owned()],
            label: Some("id".to_owned()),
            kinds: vec![Kind::Loss],
            ..y(&["scored"]).select
        },
        ..y(&["scored"])
    };
    let fit = fit_table(&path, &options).unwrap();
    let law = only_law(&fit);
    assert!((law.fit().unwrap().exponent.value - 0.5).abs() < 1e-14);
    assert_eq!(
        (law.points[0].label.as_str(), law.points[0].place.as_deref()),
        ("m0", Some("row 1"))
    );
    let missing = TableOptions {
        select: Select { x: vec!["token".to_owned()], ..options.clone().select },
        ..options.clone()
    };
    let text = refusal(&path, &missing);
    assert!(text.contains("no column `token`"), "{text}");
    let text = refusal(
        &path,
        &TableOptions { select: Select { x: vec!["id".to_owned()], ..options.select }, ..options },
    );
    assert!(text.contains("row 1: column `id` is `m0`, expected a number"), "{text}");
}

#[test]
fn values_at_the_boundary_are_left_out_and_said() {
    let place = Place::new();
    let path = place.file(
        "t.csv",
        "model,S,acc\nnone,1e5,0\nsmall,1e6,0.1\nmiddle,1e7,0.4\nlarge,1e8,0.8\nall,1e9,1\n",
    );
    let fit = fit_table(&path, &y(&["acc"])).unwrap();
    let law = only_law(&fit);
    assert_eq!((law.points.len(), law.left_out.len()), (3, 2));
    assert!(
        law.left_out[0].reason.contains("infinite")
            && law.left_out[1].reason.contains("no logarithm")
    );
    let flag = law.flags.iter().find(|flag| flag.code == FlagCode::PointsLeftOut).unwrap();
    assert!(
        flag.message.starts_with("2 of 5 rows") && flag.message.contains("none (line 2"),
        "{}",
        flag.message
    );
}

#[test]
fn a_bad_number_is_refused_with_its_line() {
    let place = Place::new();
    for (row, words) in [
        ("1e7,abc", "line 3: column `acc` is `abc`, expected a number"),
        ("1e7,NaN", "line 3: column `acc` is `NaN`, expected a number"),
        ("0,0.5", "line 3: column `S` is `0`, expected a number above 0"),
        // Numbers whose products leave the range of doubles.
        (
            "1e-320,0.5",
            "line 3: column `S` is `1e-320`, expected 0, or a number between 1e-60 and 1e60",
        ),
        ("1e300,0.5", "line 3: column `S` is `1e300`, expected 0, or a number between"),
        ("1e7,61.6", "line 3: column `acc` is `61.6`, expected a share from 0 to 1"),
        ("1e7,-0.1", "line 3: column `acc` is `-0.1`, expected a share from 0 to 1"),
        ("1e7,0.5,1", "line 3: 3 values, but the header has 2"),
    ] {
        let path = place.file("t.csv", &format!("S,acc\n1e6,0.2\n{row}\n1e8,0.6\n"));
        let text = refusal(&path, &y(&["acc"]));
        assert!(text.contains(words), "{text}");
    }
    for (line, words) in [
        (
            "{\"S\": 1e7, \"ppl\": 0.5}",
            "line 2: column `ppl` is `0.5`, expected a perplexity of at least 1",
        ),
        ("{\"S\": 1e7, \"ppl\": true}", "line 2: column `ppl` is `true`, expected a number"),
        ("{\"S\": 1e7, ", "line 2: no JSON object"),
        ("[1, 2]", "line 2: no JSON object"),
    ] {
        let path = place.file("t.jsonl", &format!("{{\"S\": 1e6, \"ppl\": 20}}\n{line}\n"));
        let text = refusal(&path, &y(&["ppl"]));
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn what_the_columns_are_must_be_clear() {
    let place = Place::new();
    let path = place.file("t.csv", "S,value,acc,acc\n1e6,0.2,1,1\n1e7,0.3,1,1\n");
    let text = fit_table(&path, &y(&["value"])).unwrap_err().to_string();
    assert!(text.contains("does not say what its values are; give --as"), "{text}");
    assert!(refusal(&path, &y(&["acc"])).contains("more than one column `acc`"));
    assert!(
        refusal(&path, &y(&["rbp1"]))
            .contains("no column `rbp1`; its columns are: S, value, acc, acc")
    );
    assert!(fit_table(&path, &y(&[])).unwrap_err().to_string().contains("--y"));
    let kinds = TableOptions {
        select: Select { kinds: vec![Kind::Ce; 2], ..y(&["value"]).select },
        ..y(&["value"])
    };
    assert!(fit_table(&path, &kinds).unwrap_err().to_string().contains("2 kinds for 1 columns"));
    let none = TableOptions {
        select: Select { only: vec![("S".to_owned(), "7".to_owned())], ..y(&["value"]).select },
        ..y(&["value"])
    };
    let none = TableOptions { select: Select { kinds: vec![Kind::Loss], ..none.select }, ..none };
    assert!(refusal(&path, &none).contains("no row with S = 7"));
    let one = TableOptions {
        select: Select { only: vec![("S".to_owned(), "1000000".to_owned())], ..none.select },
        ..none
    };
    let fit = fit_table(&path, &one).unwrap();
    assert!(
        only_law(&fit).verdict.contains("no law, one point (line 2)"),
        "{}",
        only_law(&fit).verdict
    );
    let path = place.file("t.xlsx", "");
    assert!(
        refusal(&path, &y(&["rbp1"])).contains("give a .csv, .tsv, .jsonl, .parquet or .toml file")
    );
}

fn harness(place: &Place, name: &str, model: &str, acc: f64, ppl: f64, total: u64) -> PathBuf {
    place.file(
        name,
        &format!(
            r#"{{"results": {{"lambada_openai": {{"alias": "lambada_openai", "perplexity,none": {ppl},
                "perplexity_stderr,none": 0.1, "acc,none": {acc}, "acc_stderr,none": "N/A"}},
              "arc_easy": {{"acc,none": {acc}, "acc_norm,none": {acc}}}}},
              "configs": {{"lambada_openai": {{"output_type": "loglikelihood"}}, "arc_easy": {{"output_type": "multiple_choice"}}}},
              "n-shot": {{"lambada_openai": 0, "arc_easy": 5}},
              "config": {{"model": "hf", "model_args": "pretrained={model},dtype=float32", "model_num_parameters": {total}}}}}"#
        ),
    )
}

#[test]
fn results_of_the_evaluation_harness() {
    let place = Place::new();
    for (model, acc, ppl, total) in [
        ("EleutherAI/pythia-70m", 0.184553, 142.429, 70_426_624),
        ("EleutherAI/pythia-160m", 0.328352, 38.0649, 162_322_944),
        ("EleutherAI/pythia-410m", 0.516204, 10.8282, 405_334_016),
    ] {
        let name = format!("runs/{}/results_2026.json", model.replace('/', "__"));
        harness(&place, &name, model, acc, ppl, total);
    }
    let folder = [place.0.path().join("runs")];
    let sizes = place.file(
        "sizes.csv",
        "family,model,S\np,pythia-70m,18915328\np,pythia-160m,85056000\np,pythia-410m,302311424\n",
    );
    let options = HarnessOptions {
        select: Select {
            sizes: Some(sizes),
            group: vec!["family".to_owned()],
            ..HarnessOptions::default().select
        },
        tasks: vec!["lambada_openai".to_owned()],
        ..HarnessOptions::default()
    };
    let fit = fit_harness(&folder, &options).unwrap();
    assert_eq!((fit.groups.len(), fit.groups[0].name.as_str(), fit.files.len()), (1, "p", 4));
    let laws = &fit.groups[0].laws;
    let names: Vec<String> = laws.iter().map(|law| law.quantity.symbol()).collect();
    assert_eq!(names, ["ln lambada_openai, 0-shot perplexity", "-ln lambada_openai, 0-shot acc"]);
    // The same as from a table with these numbers.
    let table = place.file(
        "t.csv",
        "S,acc,ppl\n18915328,0.184553,142.429\n85056000,0.328352,38.0649\n302311424,0.516204,10.8282\n",
    );
    let from_table = fit_table(&table, &y(&["ppl", "acc"])).unwrap();
    for (law, other) in laws.iter().zip(&from_table.groups[0].laws) {
        assert_eq!(law.fit().unwrap().exponent, other.fit().unwrap().exponent);
        assert!(law.flags.iter().all(|flag| flag.code != FlagCode::TotalParameters));
    }

    // Without sizes: those of the files, with a caution. All tasks: choices get theirs.
    let fit = fit_harness(&folder, &HarnessOptions::default()).unwrap();
    assert_eq!(fit.groups[0].laws.len(), 4);
    for law in &fit.groups[0].laws {
        let has = |code| law.flags.iter().any(|flag| flag.code == code);
        assert!(has(FlagCode::TotalParameters));
        assert_eq!(has(FlagCode::ChosenAnswers), law.name.starts_with("arc_easy"), "{}", law.name);
    }
    assert_eq!(fit.groups[0].laws[0].points[0].x, 70_426_624.0);
}

#[test]
fn results_that_cannot_be_used() {
    let place = Place::new();
    let refuse = |paths: &[PathBuf], options: &HarnessOptions| {
        fit_harness(paths, options).unwrap_err().to_string()
    };
    let one = harness(&place, "a/results_1.json", "m", 0.5, 9.0, 10);
    let again = harness(&place, "a/results_2.json", "m", 0.5, 9.0, 10);
    let text = refuse(&[place.0.path().join("a")], &HarnessOptions::default());
    assert!(
        text.contains("two results")
            && text.contains("results_1.json")
            && text.contains("results_2.json"),
        "{text}"
    );
    let other = HarnessOptions { tasks: vec!["mmlu".to_owned()], ..HarnessOptions::default() };
    let text = refuse(std::slice::from_ref(&one), &other);
    assert!(text.contains("no result has mmlu; there are: arc_easy acc"), "{text}");
    let sizes = place.file("sizes.csv", "model,S\nn,5\n");
    let sized = HarnessOptions {
        select: Select { sizes: Some(sizes), ..HarnessOptions::default().select },
        ..HarnessOptions::default()
    };
    let text = refuse(&[again], &sized);
    assert!(text.contains("size of model `m` is not known"), "{text}");
    let impossible = harness(&place, "b.json", "m", 1.5, 9.0, 10);
    let text = refuse(&[impossible], &HarnessOptions::default());
    assert!(
        text.contains(
            "b.json, results, lambada_openai, acc,none of model `m`: column `acc,none` is `1.5`"
        ),
        "{text}"
    );
    let empty = place.file("c/other.json", "{}");
    assert!(
        refuse(std::slice::from_ref(&empty), &HarnessOptions::default())
            .contains("no member `results`")
    );
    assert!(
        refuse(&[place.0.path().join("c")], &HarnessOptions::default())
            .contains("no results*.json")
    );
    let grouped = HarnessOptions {
        select: Select { group: vec!["family".to_owned()], ..HarnessOptions::default().select },
        ..HarnessOptions::default()
    };
    assert!(refuse(&[one], &grouped).contains("--sizes"));
    let conflict = place.file("two.csv", "model,S\nx/n,5\ny/n,6\n");
    let sized = HarnessOptions {
        select: Select { sizes: Some(conflict), ..HarnessOptions::default().select },
        ..HarnessOptions::default()
    };
    assert!(refuse(&[empty], &sized).contains("two different sizes for model `n`"));
}
