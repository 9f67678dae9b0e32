//! How often the intervals of an IsoFLOP sweep hold the truth, and how far each method's numbers
//! scatter.

mod support;

use std::borrow::Cow;

use relscale_laws::isoflop::IsoflopOptions;
use relscale_laws::{Along, Estimate, Interval, IsoflopGroup, Minimum};
use relscale_stats::surface::Surface;
use support::isoflop::{BUDGETS, Design, chinchilla, fitted, seeded, sweep};
use support::random::Random;

/// Sweeps that are drawn.
const SWEEPS: usize = 120;

/// Beyond the largest budget by so much.
const BEYOND: f64 = 1e22;

/// One quantity by one method: its true value, and what the sweeps said.
struct Row {
    name: String,
    truth: f64,
    held: usize,
    told: usize,
    /// Relative errors.
    errors: Vec<f64>,
}

/// Everything that is asked of a group, with the truth.
fn asked<'a>(group: &'a IsoflopGroup, truth: &Surface) -> Vec<(String, f64, Cow<'a, Estimate>)> {
    let mut rows: Vec<(String, f64, Cow<'a, Estimate>)> = Vec::new();
    let (a, b) = (truth.size_exponent(), truth.tokens_exponent());
    for path in &group.paths {
        let name = path.curve.name();
        if let Some(law) = path.params.fit() {
            rows.push((format!("a of N*, {name}, Student t"), a, Cow::Borrowed(&law.exponent)));
            rows.push((
                format!("a of N*, {name}, runs turned"),
                a,
                Cow::Borrowed(&law.exponent_by_runs),
            ));
            rows.push((
                format!("A of N*, {name}, Student t"),
                truth.optimum(1.0 / 6.0).0,
                Cow::Borrowed(&law.prefactor),
            ));
        }
        if let Some(law) = path.tokens.fit() {
            rows.push((format!("a of D*, {name}, Student t"), b, Cow::Borrowed(&law.exponent)));
            rows.push((
                format!("a of D*, {name}, runs turned"),
                b,
                Cow::Borrowed(&law.exponent_by_runs),
            ));
        }
        if let Some(law) = path.loss_with_floor.fit() {
            rows.push((
                format!("floor of the least loss, {name}"),
                truth.e,
                Cow::Borrowed(&law.floor),
            ));
        }
    }
    for surface in &group.surfaces {
        let name = surface.method.name();
        if let Some(law) = surface.law() {
            rows.push((format!("a of N*, {name}"), a, Cow::Borrowed(&law.size_exponent)));
            rows.push((format!("a of D*, {name}"), b, Cow::Borrowed(&law.tokens_exponent)));
            rows.push((format!("E, {name}"), truth.e, Cow::Borrowed(&law.e)));
            rows.push((format!("alpha, {name}"), truth.alpha, Cow::Borrowed(&law.alpha)));
            rows.push((format!("beta, {name}"), truth.beta, Cow::Borrowed(&law.beta)));
        }
    }
    for budget in &group.budgets {
        let (n, _) = truth.optimum(budget.budget / 6.0);
        for minimum in budget.minima.iter().filter(|minimum| minimum.along == Along::Params) {
            if let Some(Minimum { at, place, .. }) = minimum.outcome.fit() {
                // A ratio to the truth, so that budgets count together.
                let ratio = |value: f64| value / n;
                let interval = match place.bounds() {
                    Some((low, high)) => Interval::RunBootstrap {
                        low: ratio(low),
                        high: ratio(high),
                        level: 0.95,
                        resamples: 0,
                    },
                    None => place.clone(),
                };
                let estimate = Estimate {
                    value: ratio(*at),
                    unit: "1".to_owned(),
                    standard_error: None,
                    interval,
                };
                rows.push((
                    format!("N* of a budget, {}", minimum.curve.name()),
                    1.0,
                    Cow::Owned(estimate),
                ));
            }
        }
    }
    for ahead in &group.ahead {
        let (n, d) = truth.optimum(ahead.budget / 6.0);
        let where_ = if ahead.decades_beyond > 0.0 { "ten times beyond" } else { "largest budget" };
        for method in &ahead.methods {
            rows.push((
                format!("N* {where_}, {}", method.method),
                n,
                Cow::Borrowed(&method.params),
            ));
            rows.push((
                format!("loss {where_}, {} ({})", method.method, method.loss_form.formula()),
                truth.at(n, d),
                Cow::Borrowed(&method.loss),
            ));
            if let Some(pure) = &method.loss_without_floor {
                rows.push((
                    format!("loss {where_}, {}, power law", method.method),
                    truth.at(n, d),
                    Cow::Borrowed(pure),
                ));
            }
        }
    }
    rows
}

/// Five budgets of nine runs over 1.4 decades, losses with 0.3 % of noise.
///
/// `cargo test --release -p relscale-laws --test isoflop_coverage -- --ignored --nocapture`
#[test]
#[ignore = "a simulation of minutes; its figures are in record/"]
#[allow(clippy::print_stdout, reason = "the figures are what it is for")]
fn coverage_of_a_sweep() {
    let truth = chinchilla();
    let mut random = Random(7);
    let mut rows: Vec<Row> = Vec::new();
    for _ in 0..SWEEPS {
        let table = sweep(&truth, &BUDGETS, 9, 1.4, 0.0, || 0.003 * random.normal());
        let options =
            IsoflopOptions { resamples: 200, at: vec![BEYOND], ..IsoflopOptions::default() };
        let found = fitted(&table, &options).unwrap();
        count(&mut rows, &found.groups[0], &truth);
    }
    print_rows(&rows);
}

/// Adds what one sweep says.
fn count(rows: &mut Vec<Row>, group: &IsoflopGroup, truth: &Surface) {
    for (name, truth, estimate) in asked(group, truth) {
        let at = rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            rows.push(Row { name, truth, held: 0, told: 0, errors: Vec::new() });
            rows.len() - 1
        });
        let row = &mut rows[at];
        row.errors.push(estimate.value / row.truth - 1.0);
        if let Some((low, high)) = estimate.bounds() {
            row.told += 1;
            row.held += usize::from((low..=high).contains(&truth));
        }
    }
}

/// As a table.
#[allow(clippy::print_stdout, reason = "the figures are what it is for")]
fn print_rows(rows: &[Row]) {
    println!("| quantity and method | holds the truth | bias | scatter |\n|---|---|---|---|");
    for row in rows {
        let count = row.errors.len() as f64;
        let bias = row.errors.iter().sum::<f64>() / count;
        let scatter =
            (row.errors.iter().map(|e| (e - bias).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
        let share = 100.0 * row.held as f64 / row.told as f64;
        println!(
            "| {} | {} of {} ({share:.1} %) | {:+.2} % | {:.2} % |",
            row.name,
            row.held,
            row.told,
            100.0 * bias,
            100.0 * scatter
        );
    }
}

/// Student's t with three degrees of freedom, of variance 1.
fn heavy(random: &mut Random) -> f64 {
    let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
    random.normal() / squares.sqrt()
}

/// Sweeps with seeds, of few sizes, of few budgets, without a floor, with heavy tails.
///
/// `cargo test --release -p relscale-laws --test isoflop_coverage -- --ignored --nocapture small`
#[test]
#[ignore = "a simulation of minutes; its figures are in record/"]
#[allow(clippy::print_stdout, reason = "the figures are what it is for")]
fn coverage_of_small_and_seeded_sweeps() {
    let designs = [
        ("three seeds a size", Design { sizes: 7, seeds: 3, ..Design::PLAIN }),
        (
            "five seeds below the optimum, one above",
            Design { sizes: 8, seeds: 5, uneven: true, ..Design::PLAIN },
        ),
        ("four sizes", Design { sizes: 4, ..Design::PLAIN }),
        (
            "four budgets of five sizes over a decade",
            Design { budgets: 4, sizes: 5, width: 1.0, ..Design::PLAIN },
        ),
        ("three budgets", Design { budgets: 3, ..Design::PLAIN }),
        ("E = 0, 0.5 % of noise", Design::PLAIN),
        ("noise of Student's t, three degrees of freedom", Design::PLAIN),
        ("alpha 0.5, beta 0.25", Design::PLAIN),
    ];
    for (name, design) in designs {
        let formula = match name {
            "E = 0, 0.5 % of noise" => [0.0, 406.4, 410.7, 0.34, 0.28],
            "alpha 0.5, beta 0.25" => [1.69, 406.4, 410.7, 0.5, 0.25],
            _ => [1.69, 406.4, 410.7, 0.34, 0.28],
        };
        let truth = Surface::from_formula(formula, 1.0, 1.0);
        let noise = if formula[0] > 0.0 { 0.003 } else { 0.005 };
        let beyond = 10.0 * design.budgets()[design.budgets - 1];
        let mut random = Random(7);
        let mut rows: Vec<Row> = Vec::new();
        for _ in 0..SWEEPS {
            let table = seeded(&truth, design, || {
                noise * if name.starts_with("noise") { heavy(&mut random) } else { random.normal() }
            });
            let options =
                IsoflopOptions { resamples: 100, at: vec![beyond], ..IsoflopOptions::default() };
            count(&mut rows, &fitted(&table, &options).unwrap().groups[0], &truth);
        }
        println!("\n### {name}\n");
        print_rows(&rows);
    }
}
