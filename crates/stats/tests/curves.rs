//! The rival forms: derivatives, known truth, units, and SciPy's answers
//! (`testdata/fits/curves.toml`, written by `tools/goldens/curves.py`).

use std::path::Path;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use relscale_stats::StatsError;
use relscale_stats::forms::{self, Form, Span};
use relscale_stats::interval::profile;
use relscale_stats::outcome::Caution;
use relscale_stats::select::aicc;
use serde::Deserialize;

#[derive(Deserialize)]
struct Curves {
    curve: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    form: String,
    x: Vec<f64>,
    y: Vec<f64>,
    parameters: Vec<f64>,
    residual_sum_of_squares: f64,
    aicc: f64,
}

fn cases() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fits/curves.toml");
    toml::from_str::<Curves>(&std::fs::read_to_string(path).unwrap()).unwrap().curve
}

fn form(name: &str) -> &'static dyn Form {
    forms::ALL.into_iter().find(|form| form.name() == name).unwrap()
}

fn uniform(random: &mut ChaCha8Rng) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()) + 1e-300
}

#[test]
fn scipy_finds_the_same_optimum() {
    for case in cases() {
        let fit = forms::fit(form(&case.form), &case.x, &case.y).unwrap();
        let label = format!("{} of {}", case.form, case.name);
        // The sum to nine digits; parameters of a flat valley to the square root of that.
        assert!(close(fit.residual_sum_of_squares, case.residual_sum_of_squares, 1e-9), "{label}");
        assert!(close(aicc(&fit).unwrap(), case.aicc, 1e-9), "{label}");
        for (found, expected) in fit.shape.values().iter().zip(&case.parameters) {
            assert!(
                (found - expected).abs() <= 2e-5 * expected.abs() + 1e-9,
                "{label}: {found} {expected}"
            );
        }
        assert!(!fit.cautions.contains(&Caution::Unconfirmed), "{label}");
    }
}

/// Name of a form, its parameters (NaN where it has fewer), and their law.
type Known = (&'static str, [f64; 4], fn(f64) -> f64);

fn truths() -> [Known; 5] {
    [
        ("power law", [40.0, 0.21, f64::NAN, f64::NAN], |x| 40.0 * x.powf(-0.21)),
        ("power law with floor", [40.0, 0.3, 0.25, f64::NAN], |x| 40.0 * x.powf(-0.3) + 0.25),
        ("exponential", [2.5, 3e-9, f64::NAN, f64::NAN], |x| 2.5 * (-3e-9 * x).exp()),
        ("log-linear", [3.0, 0.12, f64::NAN, f64::NAN], |x| 3.0 - 0.12 * x.ln()),
        ("broken power law", [0.8, 0.1, 0.25, 5e7], |x| {
            0.8 * (x / 5e7).powf(if x <= 5e7 { -0.1 } else { -0.25 })
        }),
    ]
}

const X: [f64; 8] = [1e6, 4e6, 1.5e7, 3e7, 9e7, 2.5e8, 6e8, 1.2e9];

#[test]
fn known_truth_comes_back() {
    for (name, expected, value) in truths() {
        let y = X.map(value);
        let fit = forms::fit(form(name), &X, &y).unwrap();
        for (found, expected) in fit.shape.values().iter().zip(expected) {
            assert!(close(*found, expected, 1e-7), "{name}: {found} {expected}");
        }
        assert!(close(fit.shape.at(3e9).unwrap(), value(3e9), 1e-7), "{name}");
        assert!(fit.cautions.contains(&Caution::Exact), "{name} {:?}", fit.cautions);
        assert!(!fit.cautions.contains(&Caution::Unconfirmed), "{name}");
    }
}

/// Derivatives of every form against differences of its values.
#[test]
fn derivatives_are_those_of_the_values() {
    let span = Span { low: -3.0, high: 4.0 };
    for (name, theta, beta) in [
        ("power law with floor", &[0.4, 0.3][..], &[0.2][..]),
        ("power law with floor", &[0.7, 0.0], &[-1.0]),
        ("log-linear", &[0.13], &[0.1]),
        ("log-linear", &[-0.2], &[0.1]),
        ("broken power law", &[0.7], &[0.1, 0.3, -0.2]),
    ] {
        let form = form(name);
        for u in [-3.0, -1.1, 0.0, 0.65, 2.0, 4.0] {
            let row = form.row(u, span, theta).unwrap();
            for axis in 0..theta.len() {
                let moved = |by: f64| {
                    let mut theta = theta.to_vec();
                    theta[axis] += by;
                    form.row(u, span, &theta).unwrap().value(beta)
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                let slope = row.slope(beta, axis);
                assert!(
                    (difference - slope).abs() < 1e-7 * (1.0 + slope.abs()),
                    "{name} {u} {axis}"
                );
            }
        }
    }
}

/// Another unit of x or y, another order of the points: the same fit.
#[test]
fn units_and_order_change_nothing_but_names() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for (name, _, value) in truths() {
        let y = X.map(|x| value(x) * (0.04 * (uniform(&mut random) - 0.5)).exp());
        let form = form(name);
        let fit = forms::fit(form, &X, &y).unwrap();
        let at = 4e9;
        for (unit_x, unit_y) in [(0.1, 1.0), (1e3, 1e-6), (1e-9, 1.0), (1.0, 1e80), (7.3e-4, 0.11)]
        {
            let mut pairs: Vec<(f64, f64)> =
                X.iter().zip(&y).map(|(x, y)| (x * unit_x, y * unit_y)).collect();
            pairs.reverse();
            pairs.swap(1, 5);
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let again = forms::fit(form, &x, &y).unwrap();
            let (a, b) = (fit.residual_sum_of_squares, again.residual_sum_of_squares);
            assert!(close(a, b, 1e-8), "{name} {unit_x} {unit_y}: {a} {b}");
            match (fit.shape.at(at), again.shape.at(at * unit_x)) {
                (Some(a), Some(b)) => {
                    assert!(close(a * unit_y, b, 1e-6), "{name} {unit_x} {unit_y}: {a} {b}")
                }
                (a, b) => assert_eq!(a.is_none(), b.is_none(), "{name}"),
            }
            assert_eq!(fit.cautions.len(), again.cautions.len(), "{name}");
            let (p, q) = (fit.parameters(), again.parameters());
            if name == "power law with floor" {
                assert!(
                    close(p[1].value, q[1].value, 1e-5)
                        && close(p[2].value * unit_y, q[2].value, 1e-5)
                );
                let error = |p: &[forms::Parameter]| p[1].standard_error.unwrap();
                assert!(close(error(&p), error(&q), 1e-3), "{} {}", error(&p), error(&q));
                let ends = |fit: &forms::Curve| {
                    profile::parameter(fit, 1, 0.95).unwrap().bounds().unwrap()
                };
                let ((a, b), (c, d)) = (ends(&fit), ends(&again));
                assert!(close(a, c, 1e-4) && close(b, d, 1e-4), "{a} {c}, {b} {d}");
            }
        }
    }
}

/// No point of a dense search lies below the optimum, and the second optimiser agrees, on points of
/// any shape.
#[test]
fn nothing_lower_is_found_by_brute_force() {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let floor = form("power law with floor");
    let mut unconfirmed = 0;
    for _ in 0..150 {
        let (bend, scatter) = (2.0 * uniform(&mut random) - 1.0, 0.2 * uniform(&mut random));
        let y = X.map(|x| {
            let u = (x / 3e7).ln();
            (-0.2 * u + 0.03 * bend * u * u + scatter * (uniform(&mut random) - 0.5)).exp()
        });
        for form in forms::ALL {
            let fit = forms::fit(form, &X, &y).unwrap();
            unconfirmed += usize::from(fit.cautions.contains(&Caution::Unconfirmed));
        }
        let fit = forms::fit(floor, &X, &y).unwrap();
        let span = fit.shape.frame.span;
        let mut least = f64::INFINITY;
        for a in 0..120 {
            let alpha = 1e-3 * 6e4_f64.powf(f64::from(a) / 119.0) / (span.high - span.low);
            for s in 0..=120 {
                let share = f64::from(s) / 120.0;
                let rest: Vec<f64> = X
                    .iter()
                    .zip(&y)
                    .filter_map(|(x, y)| {
                        let row =
                            floor.row(x.ln() - fit.shape.frame.log_x, span, &[alpha, share])?;
                        Some(y.ln() - row.offset)
                    })
                    .collect();
                let mean = rest.iter().sum::<f64>() / rest.len() as f64;
                let sum: f64 = rest.iter().map(|r| (r - mean).powi(2)).sum();
                if rest.len() == X.len() {
                    least = least.min(sum);
                }
            }
        }
        assert!(
            fit.residual_sum_of_squares <= least * (1.0 + 1e-9),
            "{} {least}",
            fit.residual_sum_of_squares
        );
    }
    // 750 fits, each by two methods that start apart.
    assert!(unconfirmed <= 2, "{unconfirmed}");
}

#[test]
fn a_constant_a_rise_and_a_pair_of_sizes_are_no_accident() {
    for form in forms::ALL {
        let flat = forms::fit(form, &X, &[2.5; 8]).unwrap();
        assert!(
            flat.cautions.contains(&Caution::Constant) && flat.r_squared.is_none(),
            "{}",
            form.name()
        );
        assert!(close(flat.shape.at(1e9).unwrap(), 2.5, 1e-9), "{}", form.name());
        // Rising data: every form gives some fit, finite everywhere on the data, that is no better
        // than exact.
        let rise = forms::fit(form, &X, &X.map(|x| x.powf(0.1))).unwrap();
        assert!(X.iter().all(|x| rise.shape.at(*x).is_some()), "{}", form.name());
    }
    let rise = forms::fit(form("power law with floor"), &X, &X.map(|x| x.powf(0.1))).unwrap();
    assert!(rise.cautions.iter().any(|caution| matches!(caution, Caution::AtBound { .. })));
    // Two sizes, many models: a line, but neither a floor nor a break can be told.
    let twice = [1e6, 1e6, 1e6, 1e9, 1e9, 1e9];
    let y = [3.0, 3.1, 2.9, 1.0, 1.1, 0.95];
    assert!(forms::fit(form("power law"), &twice, &y).is_ok());
    let broken = forms::fit(form("broken power law"), &twice, &y);
    assert!(matches!(broken, Err(StatsError::NoStart { .. })));
    let floor = forms::fit(form("power law with floor"), &twice, &y).unwrap();
    assert!(
        floor
            .cautions
            .iter()
            .any(|c| matches!(c, Caution::IllConditioned { .. } | Caution::AtBound { .. }))
    );
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let floor = form("power law with floor");
    let fit = |x: &[f64], y: &[f64]| forms::fit(floor, x, y).unwrap_err();
    assert!(matches!(
        fit(&X[..3], &[1.0; 3]),
        StatsError::TooFewForForm { needed: 4, given: 3, .. }
    ));
    assert!(matches!(fit(&X, &[1.0; 7]), StatsError::Lengths { .. }));
    assert!(matches!(fit(&[1.0; 8], &[1.0; 8]), StatsError::NoSpread { .. }));
    let mut y = [1.0; 8];
    y[3] = 0.0;
    assert!(matches!(fit(&X, &y), StatsError::NotPositive { what: "y", index: 3, .. }));
    y[3] = f64::INFINITY;
    assert!(matches!(fit(&X, &y), StatsError::NonFinite { what: "y", index: 3, .. }));
}

/// Residuals that bend are told, for about one straight family in a hundred too many.
#[test]
fn lack_of_fit_is_seldom_a_false_alarm() {
    let mut random = ChaCha8Rng::seed_from_u64(99);
    let mut alarms = 0;
    for _ in 0..2000 {
        // The sum of twelve uniforms: normal enough.
        let y = X.map(|x| {
            let normal: f64 = (0..12).map(|_| uniform(&mut random)).sum::<f64>() - 6.0;
            3.0 * x.powf(-0.12) * (0.02 * normal).exp()
        });
        let fit = forms::fit(form("power law"), &X, &y).unwrap();
        alarms += usize::from(fit.cautions.iter().any(|c| matches!(c, Caution::LackOfFit { .. })));
    }
    // Three standard errors of 1 % over 2000 are 13.
    assert!((7..=33).contains(&alarms), "{alarms}");
    let bent = forms::fit(form("power law"), &X, &X.map(|x| 9.0 * x.powf(-0.3) + 0.3)).unwrap();
    assert!(
        bent.cautions
            .iter()
            .any(|c| matches!(c, Caution::LackOfFit { p_value } if *p_value < 1e-3))
    );
}
