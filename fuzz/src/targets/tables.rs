//! Tables that users bring, in four formats, and result files of lm-evaluation-harness: points to
//! fit.
//!
//! Beside the reading, this is what the fits make of numbers that nobody foresaw: a result is saved
//! and read back, which it is not with a NaN in it.

use std::path::Path;

use relscale_laws::isoflop::{IsoflopOptions, fit_isoflop};
use relscale_laws::manifest::Manifest;
use relscale_laws::relative::{Covariates, Means, RelativeOptions, RelativeTable, fit_relative, read_table};
use relscale_laws::size_tokens::{SizeTokensTable, fit_size_tokens};
use relscale_laws::tables::{Kind, Select};
use relscale_laws::two_stage::{StagesOptions, fit_stages};
use relscale_laws::user_table::{HarnessOptions, TableOptions, fit_harness, fit_table};
use relscale_laws::{LawsError, Saved};
use relscale_records::parquet::{TableColumn, write_table};

use crate::input::{choice, files, join};
use crate::place::{Place, check_refusal};
use crate::seeds::Seeds;

/// Endings of tables; each is a reader of its own.
const ENDINGS: [&str; 5] = ["csv", "tsv", "jsonl", "toml", "parquet"];

/// Puts a table of the kind that the first byte says.
fn table(place: &Place, data: &[u8]) -> Option<std::path::PathBuf> {
    let (ending, data) = choice(data, ENDINGS.len())?;
    Some(place.put(&format!("points.{}", ENDINGS[ending]), data))
}

/// What was fitted is written and read back, or the refusal names the file or what of the options
/// it does not have.
fn check<T: Saved + PartialEq + std::fmt::Debug>(place: &Place, path: &Path, fit: Result<T, LawsError>) {
    match fit {
        Ok(fit) => {
            let saved = place.path().join("result.json");
            fit.save(&saved).unwrap_or_else(|error| panic!("{error}"));
            let read =
                T::load(&saved).unwrap_or_else(|error| panic!("a result that cannot be read back: {error}"));
            assert_eq!(read, fit);
        }
        Err(error) => check_error(&error, path),
    }
}

fn check_error(error: &LawsError, path: &Path) {
    // What the table lacks of what was asked for is said with what it has.
    if !matches!(
        error,
        LawsError::NoDistribution { .. } | LawsError::Option { .. } | LawsError::NothingToCompare { .. }
    ) {
        check_refusal(error, path);
    }
}

/// `fit --table`, with a column of groups.
///
/// # Panics
/// A result does not read back, or a refusal does not name the file.
pub fn user_table(data: &[u8]) {
    let place = Place::of("user_table");
    let Some(path) = table(&place, data) else { return };
    let options = TableOptions {
        select: Select {
            kinds: vec![Kind::Loss],
            group: vec!["group".to_owned()],
            ..Select::new(&["params"], &["loss"])
        },
        ..TableOptions::default()
    };
    check(&place, &path, fit_table(&path, &options));
}

/// `fit --table --sizes`: two tables, and a column whose name says that it holds shares.
///
/// # Panics
/// As [`user_table`].
pub fn sizes_table(data: &[u8]) {
    let [points, sizes] = files(data);
    let place = Place::of("sizes_table");
    let path = place.put("points.csv", points);
    let sizes = place.put("sizes.csv", sizes);
    let options = TableOptions {
        select: Select {
            y: vec!["acc".to_owned()],
            group: vec!["family".to_owned()],
            sizes: Some(sizes),
            ..TableOptions::default().select
        },
        ..TableOptions::default()
    };
    match fit_table(&path, &options) {
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains("points.csv") || said.contains("sizes.csv"), "{said}");
        }
        fit => check(&place, &path, fit),
    }
}

/// Points and sizes of six models.
pub fn sizes_table_seeds() -> Vec<Vec<u8>> {
    let points = "model,acc\na/m1,0.1\nm2,0.2\nm3,0.35\nm4,0.4\nm5,0.55\nm6,0.5\n";
    let sizes = "model,S,family\na/m1,1e6,x\nm2,4e6,x\nm3,1.6e7,x\nm4,6.4e7,x\nm5,2.5e8,x\nm6,1e9,x\n";
    Seeds::new()
        .bytes(join(&[points.as_bytes(), sizes.as_bytes()]))
        .bytes(join(&[points.replace(',', ";").as_bytes(), sizes.replace(',', "\t").as_bytes()]))
        .all()
}

/// `fit --harness`.
///
/// # Panics
/// As [`user_table`].
pub fn harness(data: &[u8]) {
    let [first, second] = files(data);
    let place = Place::of("harness");
    place.put("a/results_1.json", first);
    place.put("b/results_2.json", second);
    match fit_harness(&[place.path().to_owned()], &HarnessOptions::default()) {
        Err(error) => {
            let said = error.to_string();
            let named = ["results_1.json", "results_2.json", "no result", "what"];
            assert!(named.iter().any(|name| said.contains(name)), "{said}");
        }
        fit => check(&place, place.path(), fit),
    }
}

/// Two models as lm-evaluation-harness writes them, and what it wrote for the tests.
pub fn harness_seeds() -> Vec<Vec<u8>> {
    let model = |name: &str, size: u64, accuracy: f64| {
        format!(
            r#"{{"results": {{"lambada": {{"alias": "lambada", "acc,none": {accuracy}, "acc_stderr,none": 0.01, "perplexity,none": 12.5}}}},
            "configs": {{"lambada": {{"output_type": "loglikelihood"}}}}, "n-shot": {{"lambada": 5}},
            "config": {{"model": "hf", "model_args": "pretrained={name},dtype=float32", "model_num_parameters": {size}}}}}"#
        )
    };
    let (small, large) = (model("a", 1_000_000, 0.2), model("b", 16_000_000, 0.4));
    Seeds::new()
        .bytes(join(&[small.as_bytes(), large.as_bytes()]))
        .files(b"", "crates/cli/tests/data/choices", &["harness.json"])
        .all()
}

/// A manifest of models.
///
/// # Panics
/// A model that was read is not found by its name, or a refusal does not name the file.
pub fn manifest(data: &[u8]) {
    let place = Place::of("manifest");
    let Some(path) = table(&place, data) else { return };
    match Manifest::read(&path) {
        Ok(manifest) => {
            assert!(manifest.models().iter().all(|model| manifest.model(&model.name).is_some()));
        }
        Err(error) => check_refusal(&error, &path),
    }
}

/// The manifest of the tests, and one as a table.
pub fn manifest_seeds() -> Vec<Vec<u8>> {
    Seeds::new()
        .files(b"3", "testdata/manifests", &[".toml"])
        .chosen(0, "model,params,params_convention,tokens,flops,flops_convention,family,run\na/b,1e6,total,2e9,1e16,fwd,x,r\na/c,1e6,total,4e9,2e16,fwd,x,r\n")
        .chosen(2, "{\"name\": \"m\", \"S\": 1000, \"D\": 5}\n{\"name\": \"n\", \"S\": 2000, \"D\": 6, \"family\": null}\n")
        .all()
}

/// `sweep fit` on a table of runs.
///
/// # Panics
/// As [`user_table`].
pub fn isoflop(data: &[u8]) {
    let place = Place::of("isoflop");
    let Some(path) = table(&place, data) else { return };
    let options = IsoflopOptions { resamples: 2, at: vec![1e21], ..IsoflopOptions::default() };
    check(&place, &path, fit_isoflop(&path, &options));
}

/// Three budgets of six runs, with and without a floor.
pub fn isoflop_seeds() -> Vec<Vec<u8>> {
    let mut text = "run,budget,params,tokens,loss,status,flops_convention,params_convention\n".to_owned();
    for (number, budget) in [1e17, 1e18, 1e19].into_iter().enumerate() {
        for at in 0..6_i32 {
            let params = f64::sqrt(budget / 120.0) * 10_f64.powf(0.3 * f64::from(at) - 0.8);
            let tokens = budget / 6.0 / params;
            let loss = 1.7 + 400.0 * params.powf(-0.34) + 410.0 * tokens.powf(-0.28);
            text += &format!(
                "b{number}-{at},{budget:e},{params:.0},{tokens:.0},{loss:.4},finished,train,non-embedding\n"
            );
        }
    }
    Seeds::new().chosen(1, text.replace(',', "\t")).chosen(0, text).all()
}

/// `relative --table`: distributions in a column, a baseline among them, averaged by a second
/// table, with a covariate in a third.
///
/// # Panics
/// As [`user_table`].
pub fn relative(data: &[u8]) {
    let [points, means, covariate] = files(data);
    let place = Place::of("relative");
    let path = place.put("points.csv", points);
    let second = place.put("means.csv", means);
    let third = place.put("users.csv", covariate);
    let means = match Means::read(&second, None) {
        Ok(means) => Some(means),
        Err(error) => {
            check_refusal(&error, &second);
            None
        }
    };
    let covariates = match Covariates::read(&third, "distribution", "users") {
        Ok(covariates) => Some(covariates),
        Err(error) => {
            check_refusal(&error, &third);
            None
        }
    };
    let options = RelativeTable {
        select: Select {
            kinds: vec![Kind::Loss],
            distribution: Some("distribution".to_owned()),
            ..Select::new(&["params"], &["loss"])
        },
        optimum: None,
        means,
    };
    let fit = read_table(&path, &options)
        .and_then(|measured| fit_relative(&measured, &RelativeOptions::new("web"), covariates.as_ref()));
    check(&place, &path, fit);
}

/// Three distributions under five models; one is the mean of two.
pub fn relative_seeds() -> Vec<Vec<u8>> {
    let mut points = "model,params,distribution,loss\n".to_owned();
    for (name, level, slope) in [("web", 9.0, 0.06), ("code", 8.0, 0.09), ("law", 7.0, 0.061)] {
        for size in [1e6, 4e6, 1.6e7, 6.4e7, 2.56e8] {
            points += &format!("m{size},{size:e},{name},{:.5}\n", level * f64::powf(size, -slope));
        }
    }
    let even = "member,group\nweb,web\ncode,rest\nlaw,rest\n";
    let users = "distribution,users\nweb,10\ncode,5\nlaw,2\n";
    Seeds::new()
        .bytes(join(&[points.as_bytes(), b"", users.as_bytes()]))
        .bytes(join(&[points.as_bytes(), even.as_bytes(), b""]))
        .all()
}

/// `stages` on a table with compute, loss and accuracy.
///
/// # Panics
/// As [`user_table`].
pub fn stages(data: &[u8]) {
    let place = Place::of("stages");
    let Some(path) = table(&place, data) else { return };
    let options = StagesOptions { at: vec![1e23], ..StagesOptions::new("flops", "bpb", "acc") };
    check(&place, &path, fit_stages(&path, &options));
}

/// Eight models on a curve and a sigmoid.
pub fn stages_seeds() -> Vec<Vec<u8>> {
    let mut text = "model,flops,bpb,acc\n".to_owned();
    for at in 0..8_i32 {
        let flops = 1e18 * 3_f64.powi(at);
        let bpb = 0.5 + 2.0 * (flops / 1e18).powf(-0.2) + 0.01 * f64::from(at % 3);
        let accuracy = 0.25 + 0.6 / (1.0 + (4.0 * (bpb - 1.2)).exp());
        text += &format!("m{at},{flops:e},{bpb:.4},{accuracy:.4}\n");
    }
    Seeds::new().chosen(0, &text).chosen(1, text.replace(',', "\t")).all()
}

/// `size-tokens` on a table of checkpoints.
///
/// # Panics
/// As [`user_table`].
pub fn size_tokens(data: &[u8]) {
    let place = Place::of("size_tokens");
    let Some(path) = table(&place, data) else { return };
    let options = SizeTokensTable {
        select: Select {
            kinds: vec![Kind::Loss],
            distribution: Some("distribution".to_owned()),
            ..Select::new(&["params", "2*tokens"], &["loss"])
        },
        baseline: "web".to_owned(),
        level: 0.95,
    };
    check(&place, &path, fit_size_tokens(&path, &options));
}

/// Two distributions, three sizes, three checkpoints.
pub fn size_tokens_seeds() -> Vec<Vec<u8>> {
    let mut text = "params,tokens,distribution,loss\n".to_owned();
    for (name, level, size) in [("web", 9.0, 0.06), ("code", 8.0, 0.09)] {
        for params in [1e6, 4e6, 1.6e7] {
            for tokens in [1e9, 2e9, 4e9] {
                let loss = level * f64::powf(params, -size) * f64::powf(tokens, -0.05);
                text += &format!("{params:e},{tokens:e},{name},{loss:.5}\n");
            }
        }
    }
    Seeds::new().chosen(0, text).all()
}

/// Points of two groups in every format.
pub fn user_table_seeds() -> Vec<Vec<u8>> {
    let rows = [
        ("a", 1e6, 4.0),
        ("a", 4e6, 3.6),
        ("a", 1.6e7, 3.3),
        ("a", 6.4e7, 3.0),
        ("b", 1e6, 2.0),
        ("b", 1e9, 1.0),
    ];
    let csv = rows.iter().map(|(group, x, y)| format!("{group},{x},{y}\n")).collect::<String>();
    let csv = format!("group,params,loss\n{csv}");
    let jsonl: String = rows
        .iter()
        .map(|(group, x, y)| format!("{{\"group\": \"{group}\", \"params\": {x}, \"loss\": {y}}}\n"))
        .collect();
    let toml: String = rows
        .iter()
        .map(|(group, x, y)| format!("[[model]]\ngroup = \"{group}\"\nparams = {x:e}\nloss = {y:?}\n"))
        .collect();
    let place = Place::of("written");
    let path = place.path().join("points.parquet");
    let columns = [
        ("group", TableColumn::Text(rows.iter().map(|row| Some(row.0.to_owned())).collect())),
        ("params", TableColumn::Numbers(rows.iter().map(|row| Some(row.1)).collect())),
        ("loss", TableColumn::Numbers(rows.iter().map(|row| Some(row.2)).collect())),
    ];
    write_table(&path, "points", &columns).expect("a folder in memory");
    Seeds::new()
        .chosen(0, &csv)
        .chosen(0, csv.replace(',', ";"))
        .chosen(1, csv.replace(',', "\t"))
        .chosen(2, jsonl)
        .chosen(3, toml)
        .chosen(4, std::fs::read(path).expect("a file that was just written"))
        .all()
}
