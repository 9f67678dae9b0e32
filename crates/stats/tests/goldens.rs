//! Against exact rational arithmetic, NIST's certificate, SciPy and NumPy:
//! `testdata/fits/lines.toml` and `quantiles.toml`, written by `tools/goldens/stats.py`.

use std::path::Path;

use relscale_stats::goodness::chi_squared_tail;
use relscale_stats::interval::{percentile, student};
use relscale_stats::optimise::least_squares::{Line, weighted_line};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
struct Lines {
    line: Vec<Case>,
    norris_certified: Certificate,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    x: Vec<f64>,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
    slope: f64,
    intercept: f64,
    r_squared: f64,
    residual_sum_of_squares: f64,
    slope_standard_error: f64,
    intercept_standard_error: f64,
    covariance: f64,
    slope_interval: [f64; 2],
    at: f64,
    prediction: f64,
    prediction_interval: [f64; 2],
    leverage: Vec<f64>,
    left_out_errors: Vec<f64>,
}

impl Case {
    fn fit(&self) -> Line {
        let ones = vec![1.0; self.x.len()];
        weighted_line(&self.x, &self.y, self.weights.as_ref().unwrap_or(&ones)).unwrap()
    }
}

#[derive(Deserialize)]
struct Certificate {
    slope: f64,
    intercept: f64,
    slope_standard_error: f64,
    intercept_standard_error: f64,
    r_squared: f64,
    residual_sum_of_squares: f64,
}

#[derive(Deserialize)]
struct Quantiles {
    student: Vec<Student>,
    chi_squared: Vec<Tail>,
    sample: SampleQuantiles,
}

#[derive(Deserialize)]
struct Student {
    level: f64,
    degrees_of_freedom: usize,
    t: f64,
}

#[derive(Deserialize)]
struct Tail {
    value: f64,
    degrees_of_freedom: usize,
    tail: f64,
}

#[derive(Deserialize)]
struct SampleQuantiles {
    ascending: Vec<f64>,
    probabilities: Vec<f64>,
    quantiles: Vec<f64>,
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fits").join(name);
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[track_caller]
fn close(what: &str, ours: f64, exact: f64, relative: f64) {
    let error = (ours - exact).abs() / exact.abs().max(f64::MIN_POSITIVE);
    assert!(error <= relative, "{what}: {ours} against {exact}, relative error {error:e}");
}

#[test]
fn lines_equal_exact_arithmetic() {
    for case in read::<Lines>("lines.toml").line {
        let fit = case.fit();
        let name = &case.name;
        // What is computed about the centre keeps its digits whatever the offset.
        close(&format!("{name} slope"), fit.slope, case.slope, 1e-13);
        close(&format!("{name} R²"), fit.r_squared.unwrap(), case.r_squared, 1e-13);
        close(
            &format!("{name} rss"),
            fit.residual_sum_of_squares,
            case.residual_sum_of_squares,
            1e-10,
        );
        close(
            &format!("{name} slope error"),
            fit.slope_standard_error().unwrap(),
            case.slope_standard_error,
            1e-10,
        );
        close(&format!("{name} covariance"), fit.covariance().unwrap(), case.covariance, 1e-10);
        close(
            &format!("{name} intercept error"),
            fit.intercept_standard_error().unwrap(),
            case.intercept_standard_error,
            1e-10,
        );
        let interval = student::slope(&fit, 0.95).unwrap();
        for (ours, exact) in
            [(interval.low, case.slope_interval[0]), (interval.high, case.slope_interval[1])]
        {
            // An end may lie near zero, so the scale is the slope and its error.
            let scale = case.slope.abs() + case.slope_standard_error;
            assert!((ours - exact).abs() < 1e-9 * scale, "{name} slope interval {ours} {exact}");
        }
        // A value is a sum of numbers as large as the intercept and the data: the scale of its
        // rounding.
        let scale = case.y.iter().fold(case.intercept.abs(), |most, y| most.max(y.abs()));
        assert!((fit.intercept - case.intercept).abs() < 1e-13 * scale, "{name} intercept");
        assert!((fit.at(case.at) - case.prediction).abs() < 1e-13 * scale, "{name} prediction");
        let interval = student::prediction(&fit, case.at, 0.95).unwrap();
        for (ours, exact) in [
            (interval.low, case.prediction_interval[0]),
            (interval.high, case.prediction_interval[1]),
        ] {
            let width = case.prediction_interval[1] - case.prediction_interval[0];
            let tolerance = 1e-13 * scale + 1e-9 * width;
            assert!((ours - exact).abs() < tolerance, "{name} prediction {ours} {exact}");
        }
        for (ours, exact) in fit.leverage.iter().zip(&case.leverage) {
            close(&format!("{name} leverage"), *ours, *exact, 1e-12);
        }
        let largest = case.left_out_errors.iter().fold(0.0f64, |most, e| most.max(e.abs()));
        for (ours, exact) in fit.left_out_errors.iter().zip(&case.left_out_errors) {
            let ours = ours.unwrap();
            assert!((ours - exact).abs() < 1e-10 * largest, "{name} left out {ours} {exact}");
        }
    }
}

#[test]
fn norris_meets_its_certificate() {
    let lines: Lines = read("lines.toml");
    let fit = lines.line.iter().find(|case| case.name == "norris").unwrap().fit();
    let certified = lines.norris_certified;
    close("slope", fit.slope, certified.slope, 1e-14);
    close("intercept", fit.intercept, certified.intercept, 1e-12);
    close("R²", fit.r_squared.unwrap(), certified.r_squared, 1e-14);
    close("rss", fit.residual_sum_of_squares, certified.residual_sum_of_squares, 1e-12);
    let errors = (fit.slope_standard_error().unwrap(), fit.intercept_standard_error().unwrap());
    close("slope error", errors.0, certified.slope_standard_error, 1e-12);
    close("intercept error", errors.1, certified.intercept_standard_error, 1e-12);
}

#[test]
fn quantiles_and_tails_equal_those_of_scipy_and_numpy() {
    let quantiles: Quantiles = read("quantiles.toml");
    for case in quantiles.student {
        let t = student::two_sided_quantile(case.level, case.degrees_of_freedom).unwrap();
        close(&format!("t {} {}", case.level, case.degrees_of_freedom), t, case.t, 1e-9);
    }
    for case in quantiles.chi_squared {
        let tail = chi_squared_tail(case.value, case.degrees_of_freedom);
        close(&format!("chi² {} {}", case.value, case.degrees_of_freedom), tail, case.tail, 1e-9);
    }
    let sample = quantiles.sample;
    for (probability, expected) in sample.probabilities.iter().zip(sample.quantiles) {
        let ours = percentile::quantile(&sample.ascending, *probability).unwrap();
        assert!((ours - expected).abs() < 1e-14, "{probability}: {ours} {expected}");
    }
}
