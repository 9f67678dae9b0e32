//! Laws that others published, refitted from their points.

mod support;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use relscale_laws::{FitOptions, GroupFit, fit_study};
use relscale_records::RunTally;
use relscale_testkit::data::published as published_table;
use serde::Deserialize;

#[derive(Deserialize)]
struct Published {
    gpt2_wikipedia: Gpt2,
    pythia_lambada: Pythia,
}

#[derive(Deserialize)]
struct Gpt2 {
    parameters: Vec<u64>,
    values: Vec<f64>,
    alpha: f64,
    r_squared: f64,
    scipy_alpha: f64,
    scipy_r_squared: f64,
    scipy_alpha_interval: [f64; 2],
}

#[derive(Deserialize)]
struct Pythia {
    models: Vec<String>,
    parameters: Vec<u64>,
    alpha: f64,
    alpha_r_squared: f64,
    beta: f64,
    beta_r_squared: f64,
}

fn published() -> Published {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fits/published.toml");
    toml::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn fit(runs: &[RunTally]) -> GroupFit {
    fit_study(runs, &FitOptions::default()).unwrap().groups.remove(0)
}

#[test]
fn gpt2_on_wikipedia() {
    let gpt2 = published().gpt2_wikipedia;
    let runs: Vec<RunTally> = gpt2
        .parameters
        .iter()
        .zip(&gpt2.values)
        .map(|(&size, &value)| support::exact(&format!("gpt2-{size}"), size, &[1], &[value], 3.0))
        .collect();
    let group = fit(&runs);
    let law = group.rank_law(1).unwrap().fit().unwrap();
    // To the digits of the paper's figure, then to SciPy's.
    assert!((law.exponent.value - gpt2.alpha).abs() < 5e-4);
    assert!((law.r_squared.unwrap() - gpt2.r_squared).abs() < 1e-3);
    assert!((law.exponent.value / gpt2.scipy_alpha - 1.0).abs() < 1e-10);
    assert!((law.r_squared.unwrap() / gpt2.scipy_r_squared - 1.0).abs() < 1e-10);
    let (low, high) = law.exponent.bounds().unwrap();
    assert!((low / gpt2.scipy_alpha_interval[0] - 1.0).abs() < 1e-8);
    assert!((high / gpt2.scipy_alpha_interval[1] - 1.0).abs() < 1e-8);
    assert!(group.verdict.starts_with("-ln RBP_1 falls as S^-0.0562"), "{}", group.verdict);
    // The published points carry no documents, so the text sample's noise is unknown, and that is
    // said.
    let sampling = law.exponent_sampling.as_ref().unwrap();
    assert_eq!(sampling.standard_error, None);
    assert!(sampling.interval.reason().unwrap().contains("fewer than three documents"));
}

#[test]
fn pythia_on_lambada() {
    let text = fs::read_to_string(published_table("pythia/evaluations.tsv")).unwrap();
    let mut metrics: HashMap<(&str, &str), f64> = HashMap::new();
    for line in text.lines() {
        if let [model, _, "143000", "lambada_openai", metric, value] =
            line.split('\t').collect::<Vec<&str>>()[..]
        {
            metrics.insert((model, metric), value.parse().unwrap());
        }
    }
    let pythia = published().pythia_lambada;
    let runs: Vec<RunTally> = pythia
        .models
        .iter()
        .zip(&pythia.parameters)
        .map(|(model, &size)| {
            let metric = |name| metrics[&(model.as_str(), name)];
            let value = -f64::ln(metric("acc"));
            support::exact(model, size, &[1], &[value], f64::ln(metric("ppl")))
        })
        .collect();
    let group = fit(&runs);
    for (law, exponent, r_squared) in [
        (group.rank_law(1).unwrap(), pythia.alpha, pythia.alpha_r_squared),
        (&group.cross_entropy_law, pythia.beta, pythia.beta_r_squared),
    ] {
        let law = law.fit().unwrap();
        assert!((law.exponent.value - exponent).abs() < 5e-5, "{}", law.exponent.value);
        assert!((law.r_squared.unwrap() - r_squared).abs() < 5e-5);
    }
    // Other shapes, by SciPy 1.17.1 on the same table: alpha 0.43497, c 0.26408, AICc -28.0753
    // against -25.2965.
    let rivals = group.rank_law(1).unwrap().rivals.as_ref().unwrap();
    assert_eq!(rivals.best_by_aicc.as_deref(), Some("power law with floor"));
    assert_eq!(rivals.best_by_held_out, rivals.best_by_aicc);
    let floor = rivals.form("power law with floor").unwrap();
    let fit = floor.fit().unwrap();
    assert!((fit.parameter("alpha").unwrap().value - 0.43497).abs() < 1e-5);
    assert!((fit.parameter("c").unwrap().value - 0.26408).abs() < 1e-5);
    assert!((fit.aicc.unwrap() + 28.0753).abs() < 1e-4);
    let power = rivals.form("power law").unwrap();
    assert!((power.fit().unwrap().aicc_difference.unwrap() - 2.7789).abs() < 1e-4);
    assert!(floor.error(2).unwrap() < 0.08 && power.error(2).unwrap() > 0.25);
    // The difference of two lines over the same sizes is the line of the ratio.
    let difference = group.greedy_minus_cross_entropy.unwrap();
    assert!((difference.value - (pythia.alpha - pythia.beta)).abs() < 1e-4);
}
