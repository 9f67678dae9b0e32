//! Tables and results as others write them: every encoding, delimiter and spelling of a number,
//! runs that crashed, columns in other units, results of the harness that were not had alike.
//! `testdata/tables` is by pandas, expected exponents by SciPy.

use std::fs;
use std::path::{Path, PathBuf};

use relscale_laws::isoflop::{IsoflopOptions, fit_isoflop};
use relscale_laws::relative::{RelativeOptions, RelativeTable, fit_relative, read_table};
use relscale_laws::size_tokens::{SizeTokensTable, fit_size_tokens};
use relscale_laws::tables::Select;
use relscale_laws::two_stage::{StagesOptions, fit_stages};
use relscale_laws::user_table::{HarnessOptions, TableOptions, fit_harness, fit_table};
use relscale_laws::{Flag, FlagCode, IsoflopFit, TableFit};
use relscale_records::parquet::{TableColumn, write_table};

/// By `scipy.stats.linregress` of ln loss on ln S, four models of GPT-2 on Wikipedia.
const EXPONENT: f64 = 0.056_188_088_747_606_24;

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

    /// The same rows as CSV, JSONL and Parquet.
    fn every_format(&self, columns: &[&str], rows: &[&[&str]]) -> Vec<PathBuf> {
        let csv = [
            columns.join(","),
            rows.iter().map(|row| row.join(",")).collect::<Vec<_>>().join("\n"),
        ];
        let number = |text: &str| text.parse::<f64>().ok();
        let line = |row: &&[&str]| {
            let members = columns.iter().zip(*row).map(|(name, text)| match number(text) {
                Some(number) if number.is_finite() => format!("\"{name}\": {number}"),
                _ => format!("\"{name}\": \"{text}\""),
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        };
        let jsonl: Vec<String> = rows.iter().map(line).collect();
        let parquet = self.0.path().join("t.parquet");
        let column = |at: usize| {
            let cells = || rows.iter().map(|row| row[at]);
            match cells().map(number).collect::<Option<Vec<f64>>>() {
                Some(numbers) => TableColumn::Numbers(numbers.into_iter().map(Some).collect()),
                None => TableColumn::Text(cells().map(|text| Some(text.to_owned())).collect()),
            }
        };
        let named: Vec<(&str, TableColumn)> =
            columns.iter().enumerate().map(|(at, name)| (*name, column(at))).collect();
        write_table(&parquet, "runs", &named).unwrap();
        vec![self.file("t.csv", &csv.join("\n")), self.file("t.jsonl", &jsonl.join("\n")), parquet]
    }
}

fn options(y: &str) -> TableOptions {
    TableOptions {
        select: Select { y: vec![y.to_owned()], ..TableOptions::default().select },
        ..TableOptions::default()
    }
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tables")
}

#[track_caller]
fn exponent(fit: &TableFit) -> f64 {
    fit.groups[0].laws[0].fit().unwrap().exponent.value
}

fn has(flags: &[Flag], code: FlagCode, words: &str) -> bool {
    flags.iter().any(|flag| flag.code == code && flag.message.contains(words))
}

#[test]
fn a_table_reads_alike_however_it_is_written() {
    let mut count = 0;
    for entry in fs::read_dir(testdata()).unwrap() {
        let path = entry.unwrap().path();
        let fit = fit_table(&path, &options("loss")).unwrap_or_else(|error| panic!("{error}"));
        let found = exponent(&fit);
        assert!((found - EXPONENT).abs() < 1e-7 * EXPONENT, "{}: {found}", path.display());
        count += 1;
    }
    assert_eq!(count, 10);
}

#[test]
fn what_can_be_read_in_two_ways_is_refused_with_its_place() {
    let place = Place::new();
    let refusal = |text: &str| {
        fit_table(&place.file("t.csv", text), &options("loss")).unwrap_err().to_string()
    };
    let text = refusal("S,loss\n\"1,400\",3\n\"2,800\",2\n");
    assert!(
        text.contains(
            "line 2: column `S` is `1,400`, expected a number that can be read in one way"
        ),
        "{text}"
    );
    let text = refusal("S,loss\n1e7,3,65\n");
    assert!(
        text.contains("line 2: 3 values, but the header has 2; a value with a comma inside"),
        "{text}"
    );
    let text = refusal("S,loss\n70 million,3\n");
    assert!(text.contains("column `S` is `70 million`, expected a number"), "{text}");
    assert!(refusal("S,loss\n1e7,3\n2e7").contains("line 3: the file ends inside this line"));
    let twice = TableOptions {
        select: Select { y: vec!["loss".to_owned(); 2], ..TableOptions::default().select },
        ..TableOptions::default()
    };
    let text = fit_table(&place.file("t.csv", "S,loss\n1,2\n"), &twice).unwrap_err().to_string();
    assert!(text.contains("`loss` is named twice"), "{text}");
}

#[test]
fn a_run_that_did_not_finish_is_left_out_by_every_reader_of_every_format() {
    let place = Place::new();
    for (column, finished, word) in [
        ("state", "finished", "crashed"),
        ("State", "Finished", "Failed"),
        ("run_state", "finished", "running"),
        ("run.state", "COMPLETED", "KILLED"),
        ("status", "success", "pending"),
        ("_state", "complete", "PREEMPTED"),
    ] {
        let columns = ["name", "S", "tokens", "loss", "acc", column];
        let rows: &[&[&str]] = &[
            &["a", "85056000", "1e9", "0.877", "0.4", finished],
            &["b", "302311424", "1e9", "0.803", "0.5", finished],
            &["c", "708390400", "1e9", "0.7695", "0.6", finished],
            &["d", "1475561600", "1e9", "0.748", "0.7", finished],
            &["e", "3000000000", "1e9", "2.5", "0.1", word],
        ];
        for path in place.every_format(&columns, rows) {
            let what = format!("{column} {word} {}", path.display());
            let fit = fit_table(&path, &options("loss")).unwrap();
            let law = &fit.groups[0].laws[0];
            assert!((exponent(&fit) - EXPONENT).abs() < 1e-9, "{what}");
            let [left] = law.left_out.as_slice() else { panic!("{what}: {:?}", law.left_out) };
            assert_eq!(
                (left.label.as_str(), left.reason.as_str(), left.given),
                ("e", word, Some(2.5)),
                "{what}"
            );

            let table = RelativeTable {
                select: Select::new(&["S"], &["loss", "acc"]),
                ..RelativeTable::default()
            };
            let read = read_table(&path, &table).unwrap();
            let family = &read.families[0];
            assert!(
                family
                    .series
                    .iter()
                    .all(|series| series.points.len() == 4 && series.left_out.len() == 1)
            );
            assert!(
                has(&family.flags, FlagCode::PointsLeftOut, "e ("),
                "{what}: {:?}",
                family.flags
            );
            let relative = fit_relative(&read, &RelativeOptions::new("loss"), None).unwrap();
            assert!(serde_json::to_string(&relative).unwrap().contains(word), "{what}");

            let table = SizeTokensTable {
                select: Select::new(&["S", "tokens"], &["loss"]),
                baseline: "loss".to_owned(),
                level: 0.95,
            };
            let fit = fit_size_tokens(&path, &table).unwrap();
            assert_eq!(fit.distributions[0].points, 4, "{what}");
            assert!(has(&fit.distributions[0].flags, FlagCode::PointsLeftOut, word), "{what}");

            let fit = fit_stages(&path, &StagesOptions::new("S", "loss", "acc")).unwrap();
            assert_eq!(fit.groups[0].points.len(), 4, "{what}");
            assert!(has(&fit.groups[0].flags, FlagCode::PointsLeftOut, "e ("), "{what}");
        }
    }
    // Asked for by name, such runs are what is wanted; a column of other states says nothing.
    let path = place.file("u.csv", "name,S,loss,state\na,1e7,3,CA\nb,2e7,2.5,NY\nc,4e7,2,CA\n");
    assert_eq!(fit_table(&path, &options("loss")).unwrap().groups[0].laws[0].points.len(), 3);
    let path = place
        .file("v.csv", "name,S,loss,state\na,1e7,3,crashed\nb,2e7,2.5,crashed\nc,4e7,2,finished\n");
    let only = vec![("state".to_owned(), "crashed".to_owned())];
    let fit = fit_table(
        &path,
        &TableOptions { select: Select { only, ..options("loss").select }, ..options("loss") },
    )
    .unwrap();
    assert_eq!(fit.groups[0].laws[0].points.len(), 2);
}

/// Runs of two budgets whose optimum lies between their sizes; `edit` changes a row.
fn runs(edit: impl Fn(usize, &mut Vec<String>)) -> String {
    let mut lines = vec!["run,group,state,budget,params,tokens,loss".to_owned()];
    let mut number = 0;
    for (budget, best) in [(1e18_f64, 8e7_f64), (1e19, 2.4e8), (1e20, 7.2e8)] {
        for step in -2..=2 {
            let n = best * 2_f64.powi(step);
            let loss = 3.0 + 0.2 * f64::from(step * step) * 0.25 - (budget / 1e18).log10() * 0.3;
            let mut row = vec![
                format!("r{number}"),
                String::new(),
                "finished".to_owned(),
                format!("{budget:e}"),
                format!("{n}"),
                format!("{}", budget / 6.0 / n),
                format!("{loss}"),
            ];
            edit(number, &mut row);
            lines.push(row.join(","));
            number += 1;
        }
    }
    lines.join("\n") + "\n"
}

fn isoflop(place: &Place, table: &str) -> IsoflopFit {
    let options = IsoflopOptions { resamples: 50, ..IsoflopOptions::default() };
    fit_isoflop(&place.file("runs.csv", table), &options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_table_without_names_of_groups_is_one_group() {
    let place = Place::new();
    let fit = isoflop(&place, &runs(|_, _| {}));
    assert_eq!((fit.groups.len(), fit.groups[0].name.as_str(), fit.groups[0].runs), (1, "all", 15));
    let some = isoflop(
        &place,
        &runs(|number, row| {
            if number > 4 {
                row[1] = "code".to_owned()
            }
        }),
    );
    let groups: Vec<(&str, u32)> =
        some.groups.iter().map(|group| (group.name.as_str(), group.runs)).collect();
    assert_eq!(groups, [("code", 10), ("no group", 5)]);
}

#[test]
fn runs_that_crashed_or_diverged_are_no_runs_of_a_sweep() {
    let place = Place::new();
    let whole = isoflop(&place, &runs(|_, _| {}));
    let size = |fit: &IsoflopFit| fit.groups[0].paths[0].params.fit().unwrap().exponent.value;
    // By the construction: N* goes from 8e7 to 7.2e8 over two decades, so that a = ln 9 / ln 100.
    let expected = 9_f64.ln() / 100_f64.ln();
    assert!((size(&whole) - expected).abs() < 1e-6, "{}", size(&whole));
    for (column, text, reason) in [
        (2, "crashed", "crashed"),
        (2, "Running", "Running"),
        (2, "weird", "its state is `weird`, which is not known as finished"),
        (6, "NaN", "diverged: its loss is NaN"),
        (6, "-nan", "diverged: its loss is NaN"),
        (6, "+Inf", "diverged: its loss is inf"),
        (6, "1.#INF", "diverged: its loss is inf"),
        (6, "NA", "its loss is not given"),
    ] {
        // A run with a loss that would bend the curve of its budget.
        let table = runs(|_, _| {})
            + &{
                let mut row =
                    ["bad", "", "finished", "1e18", "6e7", "2.8e9", "9.9"].map(str::to_owned);
                row[column] = text.to_owned();
                row.join(",")
            };
        let fit = isoflop(&place, &table);
        let [left] = fit.groups[0].left_out.as_slice() else {
            panic!("{text}: {:?}", fit.groups[0].left_out)
        };
        assert_eq!((left.label.as_str(), left.reason.as_str()), ("bad", reason));
        assert_eq!(size(&fit), size(&whole), "{text}");
    }
    let options = IsoflopOptions { resamples: 50, ..IsoflopOptions::default() };
    let none = place.file("none.csv", &runs(|_, row| row[2] = "killed".to_owned()));
    let text = fit_isoflop(&none, &options).unwrap_err().to_string();
    assert!(text.contains("no row is left of 15, e.g. r0 (line 2): killed"), "{text}");
}

#[test]
fn columns_in_another_unit_are_told_with_the_likely_one() {
    let place = Place::new();
    let none = isoflop(&place, &runs(|_, _| {}));
    assert!(
        none.groups[0].flags.iter().all(|flag| flag.code != FlagCode::UnlikelyUnit),
        "{:?}",
        none.groups[0].flags
    );
    let scaled = |by: [f64; 3]| {
        runs(|_, row| {
            for (at, by) in [3, 4, 5].into_iter().zip(by) {
                row[at] = format!("{}", row[at].parse::<f64>().unwrap() / by);
            }
        })
    };
    for (by, words) in [
        ([1.0, 1e6, 1e9], "params in millions, tokens in billions"),
        ([1.0, 1e6, 1.0], "params in millions"),
        ([1.0, 1.0, 1e9], "tokens in billions"),
        ([1e9, 1.0, 1.0], "budgets in billions"),
    ] {
        let fit = isoflop(&place, &scaled(by));
        assert!(
            has(&fit.groups[0].flags, FlagCode::UnlikelyUnit, words),
            "{by:?}: {:?}",
            fit.groups[0].flags
        );
    }
    for (base, name) in [(10.0_f64, "10"), (2.0, "2"), (std::f64::consts::E, "e")] {
        let table = runs(|_, row| {
            for cell in &mut row[3..6] {
                *cell = format!("{}", cell.parse::<f64>().unwrap().ln() / base.ln());
            }
        });
        let words = format!("logarithms to base {name}");
        // With an even number of runs the middle of each column is another run's.
        let even = table.lines().take(11).collect::<Vec<_>>().join("\n");
        for table in [&table, &even] {
            let fit = isoflop(&place, table);
            assert!(
                has(&fit.groups[0].flags, FlagCode::UnlikelyUnit, &words),
                "{:?}",
                fit.groups[0].flags
            );
        }
    }
    // Without budgets sizes alone tell it, and so they do in a table of models.
    let bare: String = runs(|_, _| {})
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            match cells[4].parse::<f64>() {
                Ok(n) => format!("{},{},{}\n", n / 1e6, cells[5], cells[6]),
                Err(_) => "params,tokens,loss\n".to_owned(),
            }
        })
        .collect();
    assert!(has(
        &isoflop(&place, &bare).groups[0].flags,
        FlagCode::UnlikelyUnit,
        "params in millions"
    ));
    let small = |sizes: [&str; 3]| {
        let rows: Vec<String> = sizes
            .iter()
            .zip([3.0, 2.5, 2.2])
            .map(|(size, loss)| format!("{size},{loss}"))
            .collect();
        fit_table(&place.file("s.csv", &format!("S,loss\n{}\n", rows.join("\n"))), &options("loss"))
            .unwrap()
    };
    let flags = |fit: &TableFit| fit.groups[0].laws[0].flags.clone();
    assert!(has(
        &flags(&small(["70", "160", "410"])),
        FlagCode::UnlikelyUnit,
        "in millions or billions"
    ));
    assert!(has(&flags(&small(["7.1", "7.9", "8.6"])), FlagCode::UnlikelyUnit, "logarithms"));
    assert!(!has(&flags(&small(["70M", "160M", "410M"])), FlagCode::UnlikelyUnit, ""));
}

/// A result file of lm-evaluation-harness in the shape of its 0.4 line.
fn result(place: &Place, model: &str, metrics: &str, edit: impl Fn(String) -> String) {
    let text = format!(
        r#"{{"results": {{"lambada_openai": {{"alias": "lambada_openai", {metrics}}}}},
        "configs": {{"lambada_openai": {{"task": "lambada_openai", "output_type": "loglikelihood", "num_fewshot": 0, "doc_to_text": "T"}}}},
        "versions": {{"lambada_openai": 1.0}}, "n-shot": {{"lambada_openai": 0}},
        "n-samples": {{"lambada_openai": {{"original": 5153, "effective": 5153}}}},
        "config": {{"model": "hf", "model_num_parameters": 1, "limit": null}}, "model_name": "{model}"}}"#
    );
    place.file(&format!("r/{model}/results_1.json"), &edit(text));
}

const MODELS: [(&str, f64); 4] = [("m1", 0.2), ("m2", 0.33), ("m3", 0.5), ("m4", 0.6)];

/// The laws of four models, of which `m3`'s file is `edit`ed and has these metrics.
fn harness(
    metrics: &str,
    edit: impl Fn(String) -> String,
    leave_out_nan: bool,
) -> Result<TableFit, String> {
    let place = Place::new();
    for (model, acc) in MODELS {
        let usual = format!("\"acc,none\": {acc}, \"acc_stderr,none\": 0.01");
        match model {
            "m3" => result(&place, model, metrics, &edit),
            _ => result(&place, model, &usual, |text| text),
        }
    }
    let sizes = place.file("sizes.csv", "model,S\nm1,1e7\nm2,3e7\nm3,1e8\nm4,3e8\n");
    let options = HarnessOptions {
        select: Select { sizes: Some(sizes), leave_out_nan, ..HarnessOptions::default().select },
        ..HarnessOptions::default()
    };
    fit_harness(&[place.0.path().join("r")], &options).map_err(|error| error.to_string())
}

#[test]
fn a_model_without_a_result_is_named() {
    for metrics in [
        "\"perplexity,none\": 20.5",
        "\"acc_stderr,none\": 0.1",
        "\"acc,none\": \"N/A\"",
        "\"mystery,none\": 3",
    ] {
        let fit = harness(metrics, |text| text, false).unwrap();
        let law = fit.groups[0].laws.iter().find(|law| law.name.ends_with("acc")).unwrap();
        assert_eq!(law.points.len(), 3, "{metrics}");
        let [left] = law.left_out.as_slice() else { panic!("{metrics}: {:?}", law.left_out) };
        assert_eq!((left.label.as_str(), left.x, left.given), ("m3", Some(1e8), None), "{metrics}");
        assert!(has(&law.flags, FlagCode::PointsLeftOut, "m3"), "{metrics}");
    }
    // No result at all, and one of another number of shots.
    let none = |text: String| {
        text.replace("\"lambada_openai\": {\"alias\": \"lambada_openai\", \"a\": 0}", "")
    };
    let fit = harness("\"a\": 0", none, false).unwrap();
    assert!(
        fit.groups[0].laws[0].left_out[0].reason.contains("nothing of lambada_openai"),
        "{:?}",
        fit.groups[0]
    );
    let shots = |text: String| {
        text.replace("\"n-shot\": {\"lambada_openai\": 0}", "\"n-shot\": {\"lambada_openai\": 5}")
    };
    let fit = harness("\"acc,none\": 0.5", shots, false).unwrap();
    let law =
        fit.groups[0].laws.iter().find(|law| law.name == "lambada_openai, 0-shot acc").unwrap();
    assert!(law.left_out[0].reason.contains("has acc,none, 5-shot"), "{:?}", law.left_out);
}

#[test]
fn models_that_were_not_evaluated_alike_are_told() {
    let usual = "\"acc,none\": 0.5";
    let alike = harness(usual, |text| text, false).unwrap();
    let law = &alike.groups[0].laws[0];
    assert!(!has(&law.flags, FlagCode::UnlikeEvaluations, ""), "{:?}", law.flags);
    assert!(law.points.iter().all(|point| point.samples == Some(5153)));
    for (from, to, words) in [
        ("\"limit\": null", "\"limit\": 20.0", "`limit` is 20.0 (m3), not set (3 others)"),
        ("\"effective\": 5153", "\"effective\": 20", "m3 20 of 5153"),
        (
            "{\"lambada_openai\": 1.0}",
            "{\"lambada_openai\": 0.0}",
            "`version` is 0.0 (m3), 1.0 (3 others)",
        ),
        ("\"doc_to_text\": \"T\"", "\"doc_to_text\": \"U\"", "`doc_to_text` is"),
        (
            "\"limit\": null",
            "\"limit\": null, \"gen_kwargs\": {\"temperature\": 1}",
            "`gen_kwargs` is",
        ),
        (
            "\"model_name\"",
            "\"chat_template\": \"x\", \"model_name\"",
            "`chat template` is true (m3)",
        ),
    ] {
        let fit = harness(usual, |text| text.replace(from, to), false).unwrap();
        let law = &fit.groups[0].laws[0];
        assert!(has(&law.flags, FlagCode::UnlikeEvaluations, words), "{words}: {:?}", law.flags);
    }
}

#[test]
fn a_result_that_is_no_number_is_told_with_its_model_and_passed_over_on_request() {
    for bare in ["NaN", "Infinity", "-Infinity", "nan"] {
        let metrics = format!("\"acc,none\": {bare}, \"acc_stderr,none\": NaN");
        let text = harness(&metrics, |text| text, false).unwrap_err();
        assert!(
            text.contains("m3")
                && text.contains("lambada_openai, acc,none")
                && text.contains("--leave-out-nan"),
            "{text}"
        );
        let fit = harness(&metrics, |text| text, true).unwrap();
        let law = &fit.groups[0].laws[0];
        assert_eq!((law.points.len(), law.left_out[0].label.as_str()), (3, "m3"), "{bare}");
        assert!(
            law.left_out[0].reason.contains("acc,none of lambada_openai is"),
            "{:?}",
            law.left_out
        );
    }
    // An error that is none matters to nobody.
    assert!(harness("\"acc,none\": 0.5, \"acc_stderr,none\": NaN", |text| text, false).is_ok());
    let place = Place::new();
    let table = place.file("t.csv", "model,S,loss\na,1e7,3\nb,2e7,nan\nc,4e7,2\n");
    assert!(
        fit_table(&table, &options("loss"))
            .unwrap_err()
            .to_string()
            .contains("line 3: column `loss` is `nan`")
    );
    let fit = fit_table(
        &table,
        &TableOptions {
            select: Select { leave_out_nan: true, ..options("loss").select },
            ..options("loss")
        },
    )
    .unwrap();
    assert_eq!((fit.groups[0].laws[0].points.len(), fit.groups[0].laws[0].left_out.len()), (2, 1));
}

#[test]
fn a_gap_that_ends_further_below_one_than_it_began_above_is_told() {
    let place = Place::new();
    let table = RelativeTable {
        select: Select {
            kinds: vec![relscale_laws::tables::Kind::Loss],
            ..Select::new(&["params"], &["web", "code"])
        },
        ..RelativeTable::default()
    };
    let gap = |first: f64, ratio: f64| {
        let rows = (0..6).map(|at| {
            let n = 1e7 * 3_f64.powi(at);
            let scatter = 1.0 + 0.002 * f64::from(at % 2);
            format!(
                "m{at},{n},{},{}\n",
                3.0 - 0.1 * f64::from(at),
                (3.0 - 0.1 * f64::from(at)) * first * ratio.powi(at) * scatter
            )
        });
        let path =
            place.file("g.csv", &format!("model,params,web,code\n{}", rows.collect::<String>()));
        let read = read_table(&path, &table).unwrap();
        fit_relative(&read, &RelativeOptions::new("web"), None).unwrap().families[0].gaps[0]
            .flags
            .clone()
    };
    assert!(has(&gap(1.003, 0.93), FlagCode::GapBelowOne, "further below 1 than it began"));
    assert!(has(&gap(0.7, 1.08), FlagCode::GapBelowOne, "closer together at the largest"));
    assert!(has(&gap(0.9, 0.95), FlagCode::GapBelowOne, "below 1 throughout"));
    for (first, ratio) in [(1.5, 0.95), (1.1, 1.05), (1.2, 0.95)] {
        assert!(!has(&gap(first, ratio), FlagCode::GapBelowOne, ""), "{first} {ratio}");
    }
}

#[test]
fn refusals_speak_of_what_was_given() {
    let place = Place::new();
    let same = place.file("t.csv", "model,S,loss\na,1e7,3\nb,1e7,2.5\nc,1e7,2\n");
    let fit = fit_table(&same, &options("loss")).unwrap();
    let verdict = &fit.groups[0].laws[0].verdict;
    assert!(verdict.contains("same x (10000000)"), "{verdict}");
    let few = "params,tokens,loss\n1e7,1e9,3\n2e7,2e9,2.5\n4e7,3e9,2.4\n";
    let fit = isoflop(&place, few);
    let reasons = serde_json::to_string(&fit.groups[0].surfaces).unwrap();
    assert!(reasons.contains("3 runs, and a surface needs at least 6"), "{reasons}");
    assert!(!reasons.contains("straight line"), "{reasons}");
}
