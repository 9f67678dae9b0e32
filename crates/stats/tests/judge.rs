//! How often the tests of a line reject a true one, and how often they see what is there, by
//! simulation.

#![allow(clippy::print_stdout)] // The long simulation prints its table.

use std::fmt;

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use relscale_stats::judge::{self, Judgement};
use serde::Deserialize;

/// Normal and heavy-tailed numbers by other ways than the tests' own.
struct Random(ChaCha8Rng);

impl Random {
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).sin()
    }

    fn student_3(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / squares.sqrt()
    }
}

/// What the points are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Truth {
    Line,
    Falling,
    Rising,
    Heavy,
    /// A point somewhere, so many standard deviations off.
    Outlier(f64),
    /// A power law with a floor: exponent, share of the smallest model's value, scatter.
    Floor(f64, f64, f64),
    /// An exponent of 0.12 up to the middle, this one beyond.
    Bend(f64),
    /// Models of two families by turns, exponents 0.12 and this one.
    ByTurns(f64),
    /// The same, the families in any order.
    Mixed(f64),
}

/// Sizes over three decades, in logarithms, and log values of exponent 0.12 with a scatter of 2 %.
fn points(truth: Truth, models: usize, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    let place = |at: usize| at as f64 / (models - 1) as f64;
    let x: Vec<f64> = (0..models).map(|at| 13.8 + 6.908 * place(at)).collect();
    let mut second: Vec<bool> = (0..models).map(|at| at % 2 == 1).collect();
    if matches!(truth, Truth::Mixed(_)) {
        for at in (1..models).rev() {
            second.swap(at, (random.uniform() * (at + 1) as f64) as usize);
        }
    }
    let off = (random.uniform() * models as f64) as usize;
    let y = (0..models).map(|at| {
        let u = x[at] - x[0];
        let middle = 0.5 * (x[models - 1] - x[0]);
        let value = match truth {
            Truth::Floor(alpha, floor, _) => ((1.0 - floor) * (-alpha * u).exp() + floor).ln(),
            Truth::Bend(beyond) => -0.12 * u.min(middle) - beyond * (u - middle).max(0.0),
            Truth::ByTurns(other) | Truth::Mixed(other) if second[at] => -other * u,
            _ => -0.12 * u,
        };
        let scatter = match truth {
            Truth::Falling => 0.02 * (4.0 - 3.0 * place(at)) * random.normal(),
            Truth::Rising => 0.02 * (1.0 + 3.0 * place(at)) * random.normal(),
            Truth::Heavy => 0.02 * random.student_3(),
            Truth::Floor(_, _, scatter) => scatter * random.normal(),
            Truth::Outlier(deviations) if at == off => 0.02 * (random.normal() + deviations),
            _ => 0.02 * random.normal(),
        };
        value + scatter
    });
    let y = y.collect();
    (x, y)
}

/// Shares of repetitions in which each test rejects.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rates {
    bend: f64,
    outlier: f64,
    lumped: f64,
}

impl fmt::Display for Rates {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bend, outlier, lumped] =
            [self.bend, self.outlier, self.lumped].map(|rate| 100.0 * rate);
        write!(out, "bend {bend:5.1}, outlier {outlier:5.1}, lumped {lumped:5.1} %")
    }
}

fn rates(truth: Truth, models: usize, repetitions: u32) -> Rates {
    let mut random = Random(ChaCha8Rng::seed_from_u64(1_000 + models as u64));
    let mut rates = Rates { bend: 0.0, outlier: 0.0, lumped: 0.0 };
    for _ in 0..repetitions {
        let (x, y) = points(truth, models, &mut random);
        let found = judge::line(&x, &y).unwrap();
        rates.bend += f64::from(found.bend.is_some_and(|bend| bend.rejects()));
        rates.outlier += f64::from(!found.outliers.is_empty());
        rates.lumped += f64::from(found.lumped.is_some_and(|lumped| lumped.rejects()));
    }
    let share = |count: f64| count / f64::from(repetitions);
    Rates { bend: share(rates.bend), outlier: share(rates.outlier), lumped: share(rates.lumped) }
}

const SOUND: [Truth; 4] = [Truth::Line, Truth::Falling, Truth::Rising, Truth::Heavy];

#[test]
fn no_test_rejects_a_true_line_more_often_than_its_level() {
    for models in [4, 5, 6, 8, 12] {
        for truth in SOUND {
            let found = rates(truth, models, 3000);
            // Three standard errors of 5 % over 3000 are 1.2 %.
            for rate in [found.bend, found.outlier, found.lumped] {
                assert!(rate <= judge::LEVEL + 0.012, "{truth:?}, {models} models: {found}");
            }
        }
    }
}

/// Figures of `record/2026-11-28-verdicts.md`.
#[test]
fn what_is_there_is_seen_as_often_as_the_record_says() {
    for (truth, models, bend, outlier, lumped) in [
        (Truth::Floor(0.3, 0.3, 0.01), 5, 0.99, 0.0, 0.0),
        (Truth::Floor(0.3, 0.3, 0.01), 6, 0.99, 0.0, 0.0),
        (Truth::Bend(0.06), 6, 0.62, 0.0, 0.0),
        (Truth::Bend(0.06), 8, 0.86, 0.0, 0.0),
        (Truth::Outlier(6.0), 6, 0.0, 0.17, 0.0),
        (Truth::Outlier(6.0), 12, 0.0, 0.26, 0.0),
        (Truth::Outlier(10.0), 8, 0.0, 0.70, 0.0),
        (Truth::ByTurns(0.10), 8, 0.0, 0.0, 0.78),
        (Truth::ByTurns(0.10), 12, 0.0, 0.0, 0.98),
        (Truth::Mixed(0.08), 12, 0.0, 0.0, 0.85),
    ] {
        let found = rates(truth, models, 1000);
        assert!(
            found.bend >= bend && found.outlier >= outlier && found.lumped >= lumped,
            "{truth:?}, {models} models: {found}"
        );
    }
}

#[test]
fn a_curve_is_not_called_two_lines_nor_is_a_single_point() {
    for models in [6, 8, 12] {
        assert!(rates(Truth::Floor(0.3, 0.3, 0.01), models, 500).lumped < 0.02);
        assert!(rates(Truth::Outlier(20.0), models, 500).lumped < 0.1);
    }
}

/// `cargo test --release -p relscale-stats --test judge -- --ignored --nocapture`
#[test]
#[ignore = "half a minute of simulation; its table stands in record/2026-11-28-verdicts.md"]
fn levels_and_power_in_full() {
    const REPETITIONS: u32 = 20_000;
    let seen = [
        Truth::Outlier(6.0),
        Truth::Outlier(10.0),
        Truth::Floor(0.3, 0.3, 0.01),
        Truth::Floor(0.15, 0.1, 0.02),
        Truth::Bend(0.06),
        Truth::ByTurns(0.10),
        Truth::ByTurns(0.08),
        Truth::Mixed(0.10),
        Truth::Mixed(0.08),
    ];
    for truth in SOUND.into_iter().chain(seen) {
        for models in [4, 5, 6, 7, 8, 10, 12, 20] {
            let found = rates(truth, models, REPETITIONS);
            println!("{:26} {models:2} models: {found}", format!("{truth:?}"));
            if SOUND.contains(&truth) {
                assert!(found.bend.max(found.outlier).max(found.lumped) < 0.06, "{found}");
            }
        }
    }
}

fn judged(x: &[f64], y: &[f64]) -> Judgement {
    judge::line(x, y).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Units of x and y, a line added to y, and the order of the points change no p-value.
    #[test]
    fn only_the_shape_of_the_residuals_counts(
        noise in prop::collection::vec(-1.0..1.0_f64, 4..12),
        unit in -30.0..30.0_f64,
        slope in -1.0..1.0_f64,
        scale in 1e-6..1e6_f64,
        turn in 0_usize..12,
    ) {
        let x: Vec<f64> = (0..noise.len()).map(|at| at as f64 * 0.7 + 0.1 * (at % 3) as f64).collect();
        let first = judged(&x, &noise);
        let turn = turn % noise.len();
        let moved: Vec<f64> = x.iter().map(|x| x + unit).collect();
        let mut y: Vec<f64> = noise.iter().zip(&x).map(|(e, x)| scale * (e + slope * x + 3.0)).collect();
        let mut moved = moved;
        moved.rotate_left(turn);
        y.rotate_left(turn);
        let other = judged(&moved, &y);
        let close = |a: f64, b: f64| (a - b).abs() < 2e-3;
        if let (Some(a), Some(b)) = (first.bend, other.bend) {
            prop_assert!(close(a.p_value, b.p_value));
            prop_assert!((a.curvature * scale - b.curvature).abs() < 1e-8 * scale);
        }
        prop_assert_eq!(first.bend.is_some(), other.bend.is_some());
        if let (Some(a), Some(b)) = (first.lumped, other.lumped) {
            prop_assert!(close(a.p_value, b.p_value), "{a:?} {b:?}");
        }
        prop_assert_eq!(first.outliers.len(), other.outliers.len());
    }
}

/// The curvature and its error are those of a regression on 1, x and x², here by hand.
#[test]
fn the_curvature_is_the_coefficient_of_the_square() {
    // y = x²/2 + (1, -1, 0, -1, 1, ...) at -2..2: the square takes out what it can of the rest.
    let x = [-2.0, -1.0, 0.0, 1.0, 2.0];
    let y = [3.0, -0.5, 0.0, -0.5, 3.0];
    // The part of x² beside a line: 2, -1, -2, -1, 2, squares 14; along it y has 6 + 0.5 + 0 + 0.5
    // + 6 = 13.
    let bend = judged(&x, &y).bend.unwrap();
    assert!((bend.curvature - 13.0 / 14.0).abs() < 1e-12);
    // y less its mean 1 has squares 14.5, of which 169 / 14 are the bend's; two degrees of freedom
    // are left.
    let rest = (4.0 + 2.25 + 1.0 + 2.25 + 4.0 - 169.0 / 14.0) / 2.0;
    assert!((bend.standard_error - (rest / 14.0_f64).sqrt()).abs() < 1e-12);
    assert_eq!(bend.degrees_of_freedom, 2);
}

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    x: Vec<f64>,
    y: Vec<f64>,
    curvature: f64,
    standard_error: f64,
    bend_p: f64,
    point_p: f64,
    turns_p: f64,
}

/// Against a regression and 200 000 draws of NumPy and SciPy (`tools/goldens/judge.py`).
#[test]
fn curvature_and_chances_are_those_of_numpy() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/fits/judge.toml");
    let cases: Cases = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    // Four kinds of 4999 draws each: of a chance p the largest is known to some sqrt(p / 4999),
    // upwards if anything.
    let close = |a: f64, b: f64| (a - b).abs() < 1e-4 + 4.0 * (b.max(2e-4) / 5000.0).sqrt();
    for case in &cases.case {
        let found = judged(&case.x, &case.y);
        let bend = found.bend.unwrap();
        assert!((bend.curvature / case.curvature - 1.0).abs() < 1e-9, "{}", case.name);
        assert!((bend.standard_error / case.standard_error - 1.0).abs() < 1e-9, "{}", case.name);
        assert!(close(bend.p_value, case.bend_p), "{}: {}", case.name, bend.p_value);
        let point = found.outliers.iter().map(|point| point.p_value).fold(f64::INFINITY, f64::min);
        assert_eq!(point.is_finite(), case.point_p <= judge::LEVEL, "{}", case.name);
        assert!(!point.is_finite() || close(point, case.point_p), "{}: {point}", case.name);
        // Of the level 0.6 are for turns.
        if let Some(lumped) = found.lumped.filter(|lumped| lumped.by_turns) {
            assert!(close(0.6 * lumped.p_value, case.turns_p), "{}: {}", case.name, lumped.p_value);
        }
    }
    let by_name = |name: &str| {
        let case = cases.case.iter().find(|case| case.name == name).unwrap();
        judged(&case.x, &case.y)
    };
    assert!(by_name("ten, two lines").lumped.unwrap().rejects());
    assert_eq!(by_name("eight, a point off").outliers[0].point, 2);
}
