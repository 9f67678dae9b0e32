//! How often the intervals of an IsoFLOP sweep hold the truth, and how far each method's numbers scatter.

mod support;

use relscale_laws::isoflop::IsoflopOptions;
use relscale_laws::{Estimate, IsoflopGroup};
use relscale_stats::surface::Surface;
use support::isoflop::{BUDGETS, chinchilla, fitted, sweep};
use support::random::Random;

/// Sweeps that are drawn.
const SWEEPS: usize = 200;

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
fn asked<'a>(group: &'a IsoflopGroup, truth: &Surface) -> Vec<(String, f64, &'a Estimate)> {
    let mut rows: Vec<(String, f64, &Estimate)> = Vec::new();
    let (a, b) = (truth.size_exponent(), truth.tokens_exponent());
    for path in &group.paths {
        let name = path.curve.name();
        if let Some(law) = path.params.law() {
            rows.push((format!("a of N*, {name}, Student t"), a, &law.exponent));
            rows.push((format!("a of N*, {name}, runs turned"), a, &law.exponent_by_runs));
            rows.push((format!("A of N*, {name}, Student t"), truth.optimum(1.0 / 6.0).0, &law.prefactor));
        }
        if let Some(law) = path.tokens.law() {
            rows.push((format!("a of D*, {name}, Student t"), b, &law.exponent));
            rows.push((format!("a of D*, {name}, runs turned"), b, &law.exponent_by_runs));
        }
        if let Some(law) = path.loss_with_floor.law() {
            rows.push((format!("floor of the least loss, {name}"), truth.e, &law.floor));
        }
    }
    for surface in &group.surfaces {
        let name = surface.method.name();
        if let Some(law) = surface.law() {
            rows.push((format!("a of N*, {name}"), a, &law.size_exponent));
            rows.push((format!("a of D*, {name}"), b, &law.tokens_exponent));
            rows.push((format!("E, {name}"), truth.e, &law.e));
        }
    }
    for ahead in &group.ahead {
        let (n, d) = truth.optimum(ahead.budget / 6.0);
        let where_ = if ahead.decades_beyond > 0.0 { "ten times beyond" } else { "largest budget" };
        for method in &ahead.methods {
            rows.push((format!("N* {where_}, {}", method.method), n, &method.params));
            rows.push((
                format!("loss {where_}, {} ({})", method.method, method.loss_form.formula()),
                truth.at(n, d),
                &method.loss,
            ));
            if let Some(pure) = &method.loss_without_floor {
                rows.push((format!("loss {where_}, {}, power law", method.method), truth.at(n, d), pure));
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
        let options = IsoflopOptions { resamples: 200, at: vec![BEYOND], ..IsoflopOptions::default() };
        let found = fitted(&table, &options).unwrap();
        for (name, truth, estimate) in asked(&found.groups[0], &truth) {
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
    println!("| quantity and method | holds the truth | bias | scatter |\n|---|---|---|---|");
    for row in rows {
        let count = row.errors.len() as f64;
        let bias = row.errors.iter().sum::<f64>() / count;
        let scatter = (row.errors.iter().map(|e| (e - bias).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
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
