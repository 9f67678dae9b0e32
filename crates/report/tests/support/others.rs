//! Made-up results of the other kinds, saved into a folder as the commands save them.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use relscale_laws::isoflop::{IsoflopOptions, fit_isoflop};
use relscale_laws::relative::{
    Counted, Covariates, Measurements, ModelFamily, RelativeOptions, Series, SeriesPoint, Units,
    fit_relative,
};
use relscale_laws::size_tokens::{SizeTokensTable, fit_size_tokens};
use relscale_laws::tables::Select;
use relscale_laws::two_stage::{HeldOut, StagesOptions, fit_stages};
use relscale_laws::{ChoicesFit, RelativeFit, Saved as _};
use serde_json::json;

use super::SIZES;

/// A repeatable number in [-1, 1) for any two numbers.
fn noise(one: usize, other: usize) -> f64 {
    let mut state =
        (one as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ ((other as u64 + 7) << 32);
    for _ in 0..3 {
        state = (state ^ (state >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Varieties with prefactor, exponent, how far their own points scatter, and what their slopes are
/// to be correlated with.
const VARIETIES: [(&str, f64, f64, f64, f64); 5] = [
    ("usa", 2.0, 0.080, 0.0, 90.0),
    // Closes, widens, runs alike, scatters too much to tell.
    ("gbr", 2.2, 0.095, 0.002, 60.0),
    ("ind", 3.0, 0.060, 0.002, 2.0),
    ("irl", 2.1, 0.0801, 0.000_3, 40.0),
    ("sgp", 2.6, 0.083, 0.1, 30.0),
];

/// Errors of seven models on the varieties, `steeper` added to the exponents of all but the
/// baseline.
fn measured(error: &str, steeper: f64) -> Measurements {
    let series = VARIETIES.iter().enumerate().map(|(number, (name, prefactor, beta, own, _))| {
        let beta = if number == 0 { *beta } else { beta + steeper };
        let point = |(at, size): (usize, &u64)| {
            let common = 0.02 * noise(at, 99);
            let error =
                prefactor * (*size as f64).powf(-beta) * (common + own * noise(at, number)).exp();
            // Resampled documents move all of them by a per cent or so, and each by a little of its
            // own.
            let moved =
                |draw| 1.0 + 0.01 * noise(draw, number) + 0.002 * noise(draw + 100 * at, number);
            let replicates = (0..40).map(|draw| error * moved(draw)).collect();
            SeriesPoint {
                model: format!("m{size}"),
                x: *size as f64,
                error,
                replicates: Ok(replicates),
                counted: None,
            }
        };
        let points = SIZES.iter().enumerate().map(point).collect();
        // Forty documents of equal length, whose draws are above.
        let units =
            Units { key: (*name).to_owned(), sizes: vec![1.0; 40], left_out: BTreeMap::new() };
        Series {
            distribution: (*name).to_owned(),
            points,
            left_out: Vec::new(),
            units: Some(units),
        }
    });
    Measurements {
        x: "S, non-embedding parameters".to_owned(),
        distributions: "variety".to_owned(),
        error: error.to_owned(),
        unit: "bits per byte".to_owned(),
        files: Vec::new(),
        families: vec![ModelFamily {
            name: "ants".to_owned(),
            series: series.collect(),
            places: BTreeMap::new(),
            flags: Vec::new(),
        }],
    }
}

/// Five varieties of English, with a covariate and the ranks at three k.
pub(crate) fn relative(folder: &Path) -> RelativeFit {
    let table = folder.join("users.csv");
    let mut text = "variety,users_1995\n".to_owned();
    for (name, .., users) in VARIETIES {
        writeln!(text, "{name},{users}").unwrap();
    }
    fs::write(&table, text).unwrap();
    let covariates = Covariates::read(&table, "variety", "users_1995").unwrap();
    let options = RelativeOptions::new("usa");
    let mut fit =
        fit_relative(&measured("bits per byte", 0.0), &options, Some(&covariates)).unwrap();
    let ranks = [(1, 0.0), (10, 0.02), (100, 0.05)];
    let mut ranks: Vec<(u32, Measurements)> = ranks
        .iter()
        .map(|(k, steeper)| (*k, measured(&format!("-ln RBP_{k}"), *steeper)))
        .collect();
    // The largest model misses 30 of 10 000 tokens of gbr at k = 100.
    let largest = ranks[2].1.families[0].series[1].points.last_mut().unwrap();
    largest.counted = Some(Counted { hits: 9_970, tokens: 10_000 });
    fit.add_ranks(&ranks).unwrap();
    // As if it were of the study: no table was read.
    fit.files.clear();
    fit
}

/// The same with forty treatments more, which are more than can have a colour.
pub(crate) fn many_treatments() -> RelativeFit {
    let mut found = measured("bits per byte", 0.0);
    let series = &mut found.families[0].series;
    for number in 0..40_usize {
        let mut more = series[1 + number % 4].clone();
        more.distribution = format!("subject {number:02}");
        for point in &mut more.points {
            point.error *= (0.002 * number as f64).exp();
        }
        series.push(more);
    }
    fit_relative(&found, &RelativeOptions::new("usa"), None).unwrap()
}

/// Writes a result of every kind but the laws: `relative.json`, `relative-steep.json`,
/// `choices.json`, `stages.json`, `size-tokens.json`, `isoflop.json`.
pub(crate) fn save_all(folder: &Path) {
    let fit = relative(folder);
    fit.save(&folder.join("relative.json")).unwrap();
    let steep =
        fit_relative(&measured("bits per byte", 0.03), &RelativeOptions::new("ind"), None).unwrap();
    steep.save(&folder.join("relative-steep.json")).unwrap();
    choices().save(&folder.join("choices.json")).unwrap();
    stages(folder);
    size_tokens(folder);
    isoflop(folder);
}

/// Two formats of two domains under three models.
fn choices() -> ChoicesFit {
    let value = |measure: &str, mean: f64, unit: &str| {
        json!({
            "measure": measure,
            "mean": {"value": mean, "unit": unit, "standard_error": 0.01,
                "interval": {"method": "item_bootstrap", "low": mean - 0.02, "high": mean + 0.02, "level": 0.95, "resamples": 1000, "items": 100}},
            "shuffled": {"mean": 0.9 * mean, "standard_deviation": 0.01},
        })
    };
    let mean = |format: &str, distribution: &str, at: f64| {
        json!({
            "format": format, "distribution": distribution, "group": null, "items": 100, "chance": 0.25,
            "values": [value("accuracy", 0.25 + 0.05 * at, "1"), value("gold_bpb", 4.0 - 0.5 * at, "bits per byte")],
        })
    };
    let model = |(at, size): (usize, &u64)| {
        let at = at as f64;
        let formats = [("standard", 0.2), ("modified", 1.0)];
        let means = formats.iter().flat_map(|(format, share)| {
            [("stem", 0.0), ("other", 0.5)]
                .map(|(domain, more)| mean(format, domain, share * (at + more)))
        });
        json!({"model": format!("m{size}"), "non_embedding": size, "ties": 0, "means": means.collect::<Vec<_>>()})
    };
    let models: Vec<_> = SIZES[..3].iter().enumerate().map(model).collect();
    let group = json!({
        "family": "ants", "corpus": "mmlu", "items": 200, "options": [4, 4], "left_out": [], "models": models, "flags": [],
        "verdict": "200 items of 4 options, 3 models.",
    });
    let whole = json!({"format": 1, "tool": "a test", "level": 0.95, "resamples": 1000, "seed": 1, "groups": [group]});
    serde_json::from_value(whole).unwrap()
}

fn stages(folder: &Path) {
    let mut text = "model,flops,format,bpb,acc\n".to_owned();
    for (number, format) in ["modified", "standard"].into_iter().enumerate() {
        for at in 0..10_usize {
            let flops = 1e18 * 3_f64.powi(at as i32);
            // The loss of the standard format says less of compute.
            let scatter = if number == 0 { 0.01 } else { 0.15 };
            let bpb = (0.5 + 2.0 * (flops / 1e18).powf(-0.2)) * (scatter * noise(at, number)).exp();
            let accuracy = 0.25 + 0.6 / (1.0 + (4.0 * (bpb - 1.2)).exp());
            writeln!(text, "m{at},{flops:e},{format},{bpb},{accuracy}").unwrap();
        }
    }
    let table = folder.join("points.csv");
    fs::write(&table, text).unwrap();
    let options = StagesOptions {
        select: Select {
            group: vec!["format".to_owned()],
            ..StagesOptions::new("flops", "bpb", "acc").select
        },
        held_out: HeldOut::Largest(2),
        chance: Some(0.25),
        at: vec![1e23],
        ..StagesOptions::new("flops", "bpb", "acc")
    };
    fit_stages(&table, &options).unwrap().save(&folder.join("stages.json")).unwrap();
}

fn size_tokens(folder: &Path) {
    let mut text = "params,tokens,distribution,loss\n".to_owned();
    for (number, (name, level, size, token)) in
        [("web", 9.0, 0.06, 0.05), ("code", 8.0, 0.09, 0.05), ("law", 7.0, 0.06, 0.052)]
            .into_iter()
            .enumerate()
    {
        for (at, params) in [1e6, 4e6, 1.6e7, 6.4e7].into_iter().enumerate() {
            for (step, tokens) in [1e9, 2e9, 4e9].into_iter().enumerate() {
                let own = 0.002 * noise(at + 10 * step, number);
                let loss = level * f64::powf(params, -size) * f64::powf(tokens, -token) * own.exp();
                writeln!(text, "{params:e},{tokens:e},{name},{loss}").unwrap();
            }
        }
    }
    let table = folder.join("checkpoints.csv");
    fs::write(&table, text).unwrap();
    let options = SizeTokensTable {
        select: Select {
            distribution: Some("distribution".to_owned()),
            ..Select::new(&["params", "tokens"], &["loss"])
        },
        baseline: "web".to_owned(),
        level: 0.95,
    };
    fit_size_tokens(&table, &options).unwrap().save(&folder.join("size-tokens.json")).unwrap();
}

fn isoflop(folder: &Path) {
    let mut text = "run,budget,params,tokens,loss,flops_convention,params_convention\n".to_owned();
    for (number, budget) in [1e17, 1e18, 1e19].into_iter().enumerate() {
        let best = f64::sqrt(budget / 6.0 / 20.0);
        for at in 0..7_usize {
            let params = best * 10_f64.powf(1.6 * (at as f64 / 6.0 - 0.5));
            let tokens = budget / 6.0 / params;
            let loss = 1.7 + 400.0 * f64::powf(params, -0.34) + 410.0 * f64::powf(tokens, -0.28);
            let loss = loss * (1.0 + 0.002 * noise(at, number));
            writeln!(
                text,
                "b{number}-{at},{budget:e},{params:e},{tokens:e},{loss},train,non-embedding"
            )
            .unwrap();
        }
    }
    let table = folder.join("runs.csv");
    fs::write(&table, text).unwrap();
    let points = vec!["N=3e8,D=3e11".parse().unwrap()];
    let options =
        IsoflopOptions { resamples: 30, at: vec![1e20], points, ..IsoflopOptions::default() };
    let mut fit = fit_isoflop(&table, &options).unwrap();
    fit.file = "runs.csv".to_owned();
    fit.save(&folder.join("isoflop.json")).unwrap();
}
