//! No result may write what its reader refuses: extreme and degenerate tables through every fit, to
//! disk and back.

mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use relscale_laws::isoflop::{IsoflopOptions, fit_isoflop};
use relscale_laws::predict::{Question, Size, predict};
use relscale_laws::relative::{RelativeOptions, RelativeTable, fit_relative, read_table};
use relscale_laws::size_tokens::{SizeTokensTable, fit_size_tokens};
use relscale_laws::tables::Select;
use relscale_laws::two_stage::{StagesOptions, fit_stages};
use relscale_laws::user_table::{TableOptions, fit_table};
use relscale_laws::{FitOptions, LawsError, Saved, fit_study};
use support::exact;

/// A result is written and read back as it is, or refused for what the table is: never for a number
/// that it holds.
fn goes_round<R: Saved + PartialEq + std::fmt::Debug>(
    result: Result<R, LawsError>,
    folder: &Path,
    table: &str,
) {
    let Ok(result) = result else { return };
    let path = folder.join("result.json");
    result.save(&path).unwrap_or_else(|error| panic!("{error}\n{table}"));
    let again = R::load(&path).unwrap_or_else(|error| panic!("{error}\n{table}"));
    // A double is written with all its digits.
    assert_eq!(again, result, "{table}");
}

/// Every fit of a table with these rows: x, tokens, loss, accuracy, group.
fn all(rows: &[(f64, f64, f64, f64, u8)]) {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "params,tokens,loss,acc,budget,other,kind\n".to_owned();
    for (n, d, loss, acc, kind) in rows {
        writeln!(text, "{n:e},{d:e},{loss:e},{acc},{:e},{:e},g{kind}", 6.0 * n * d, loss * 1.5)
            .unwrap();
    }
    let path = folder.path().join("t.csv");
    fs::write(&path, &text).unwrap();
    let (out, text) = (folder.path(), text.as_str());
    let names =
        |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let options = TableOptions {
        select: Select {
            x: vec!["params".to_owned()],
            y: names(&["loss", "acc"]),
            group: names(&["kind"]),
            ..TableOptions::default().select
        },
        ..TableOptions::default()
    };
    goes_round(fit_table(&path, &options), out, text);
    let options =
        IsoflopOptions { resamples: 20, at: vec![1e-60, 1e25, 1e60], ..IsoflopOptions::default() };
    goes_round(fit_isoflop(&path, &options), out, text);
    let held = IsoflopOptions { size_exponent: Some(0.5), ..options };
    goes_round(fit_isoflop(&path, &held), out, text);
    let table = RelativeTable {
        select: Select {
            x: vec!["params".to_owned()],
            y: names(&["loss", "other", "acc"]),
            ..Select::default()
        },
        ..RelativeTable::default()
    };
    let options = RelativeOptions {
        at: vec![1e-60, 1e60],
        reaches: vec![1.0, 1e-9, 1e9],
        ..RelativeOptions::new("loss")
    };
    goes_round(
        read_table(&path, &table).and_then(|read| fit_relative(&read, &options, None)),
        out,
        text,
    );
    let table = SizeTokensTable {
        select: Select {
            x: vec!["params".to_owned(), "tokens".to_owned()],
            y: names(&["loss", "acc"]),
            ..Select::default()
        },
        baseline: "loss".to_owned(),
        level: 0.95,
    };
    goes_round(fit_size_tokens(&path, &table), out, text);
    let options =
        StagesOptions { at: vec![1e-60, 1e60], ..StagesOptions::new("params", "loss", "acc") };
    goes_round(fit_stages(&path, &options), out, text);
}

/// A study with these sizes, `-ln RBP_1` and cross entropies.
fn study(models: &[(u64, f64, f64)]) {
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<_> = models
        .iter()
        .enumerate()
        .map(|(at, (size, value, nll))| exact(&format!("m{at}"), *size, &[1], &[*value], *nll))
        .collect();
    let fit = fit_study(&runs, &FitOptions { resamples: 20, ..FitOptions::default() });
    let text = format!("{models:?}");
    if let Ok(laws) = &fit {
        let question = Question {
            at: [1.0, 1e30].map(Size::Parameters).to_vec(),
            targets: ["rbp1=0.999999", "rbp1=1e-9", "ce=1e-9"]
                .iter()
                .filter_map(|text| text.parse().ok())
                .collect(),
            ..Question::default()
        };
        goes_round(predict(laws, &question), folder.path(), &text);
    }
    goes_round(fit, folder.path(), &text);
}

#[test]
fn a_surface_that_runs_away_is_refused_in_words() {
    // Eight runs over narrow sizes and budgets, whose A leaves the range of numbers.
    let runs = [
        (33624.0, 14720.0, 6.952142799967987),
        (50916.0, 9728.0, 6.983536850737437),
        (68912.0, 7168.0, 7.121952818517457),
        (105288.0, 4736.0, 7.305700590935885),
        (33624.0, 49152.0, 6.434746040515165),
        (50916.0, 32512.0, 6.515254819621987),
        (68912.0, 24064.0, 6.679920832440985),
        (105288.0, 15744.0, 6.818724584718439),
    ];
    all(&runs.map(|(n, d, loss)| (n, d, loss, 0.5, 0)));
}

#[test]
fn degenerate_tables_go_round() {
    let row = |n: f64, d: f64, loss: f64| (n, d, loss, 0.5, 0);
    for rows in [
        vec![row(1.0, 1.0, 1.0)],
        vec![row(1e7, 1e9, 3.0); 7],
        (0..7)
            .map(|at| row(1e7 * (1.0 + 1e-9 * f64::from(at)), 1e9, 3.0 - 1e-12 * f64::from(at)))
            .collect(),
        (0..9)
            .map(|at| row(10_f64.powi(at - 4), 10_f64.powi(4 - at), 10_f64.powi(40 - 10 * at)))
            .collect(),
        (0..8).map(|at| row(1e-60 * 10_f64.powi(at), 1e60, 1e-60)).collect(),
        (0..8).map(|at| row(1e60, 10_f64.powi(7 * at - 30), 1e60)).collect(),
        (0..12)
            .map(|at| row(1e7 * f64::from(1 + at % 4), 1e9 * f64::from(1 + at / 4), 1e-300))
            .collect(),
        (0..12)
            .map(|at| {
                row(
                    1e7 * f64::from(1 + at % 4),
                    1e9 / f64::from(1 + at % 4),
                    2.0 + f64::from((at % 4 - 1_i32).pow(2)),
                )
            })
            .collect(),
    ] {
        all(&rows);
    }
    study(&[(1, 1e-12, 1e-12), (2, 1e-12, 1e-12), (3, 20.0, 20.0)]);
    study(&[(1, 20.0, 1e-9), (1, 1e-9, 20.0), (u64::MAX, 1.0, 1.0), (u64::MAX - 1, 1.0, 1.0)]);
}

fn seed() -> RngSeed {
    let asked = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok());
    RngSeed::Fixed(asked.unwrap_or(15))
}

proptest! {
    // The same cases on every machine; PROPTEST_CASES and PROPTEST_RNG_SEED look further.
    #![proptest_config(ProptestConfig { cases: 24, rng_seed: seed(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_table_goes_round(
        scale in (-50.0_f64..50.0, -50.0_f64..50.0, -50.0_f64..50.0),
        spread in (0.0_f64..8.0, 0.0_f64..8.0, 0.0_f64..8.0),
        rows in proptest::collection::vec((-1.0_f64..1.0, -1.0_f64..1.0, -1.0_f64..1.0, 0.0_f64..=1.0, 0_u8..2), 1..14),
    ) {
        let at = |scale: f64, spread: f64, place: f64| 10_f64.powf((scale + spread * place).clamp(-59.0, 59.0));
        let rows: Vec<_> = rows
            .iter()
            .map(|(n, d, loss, acc, kind)| {
                (at(scale.0, spread.0, *n), at(scale.1, spread.1, *d), at(scale.2, spread.2, *loss), *acc, *kind)
            })
            .collect();
        all(&rows);
    }

    #[test]
    fn any_study_goes_round(
        models in proptest::collection::vec((1_u64..u64::MAX, 1e-9_f64..25.0, 1e-9_f64..25.0), 1..7),
    ) {
        study(&models);
    }
}
