//! IsoFLOP sweeps: figures that others published of the same runs.

mod support;

use std::fs;

use relscale_laws::isoflop::{IsoflopOptions, Residual};
use relscale_laws::tables::Select;
use relscale_laws::{Along, Curve, FlagCode, SurfaceMethod};
use relscale_records::units::FlopsConvention;
use relscale_stats::surface::Surface;
use relscale_testkit::data::published;
use support::isoflop::{close, fitted, options, surface};

/// The figures of ml-scalefit on Chinchilla's points: below 1e21 FLOPs and without the 5 largest
/// losses, N in millions, D in billions.
#[test]
fn chinchilla_as_refitted_by_ml_scalefit() {
    let path = published("chinchilla/points.csv");
    let mut table = "params,tokens,loss\n".to_owned();
    for line in fs::read_to_string(path).unwrap().lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        if cells[2] < 1e21 {
            table += &format!("{},{},{}\n", cells[0] / 1e6, cells[1] / 1e9, cells[3]);
        }
    }
    let wanted = |huber_delta, huber_residual| IsoflopOptions {
        leave_out_highest: 5,
        huber_delta,
        huber_residual,
        ..options()
    };
    // Their mean of squared errors of the loss: to all digits published, and Huber's loss far from
    // its threshold is half of it.
    let squares = fitted(&table, &wanted(1e3, Residual::Loss)).unwrap();
    let group = &squares.groups[0];
    assert_eq!(group.runs, 217);
    let values = |law: &relscale_laws::SurfaceLaw| {
        [law.e.value, law.a.value, law.b.value, law.alpha.value, law.beta.value]
    };
    let projected = surface(group, SurfaceMethod::VariableProjection);
    for (ours, theirs) in
        values(projected).iter().zip([1.90509, 4.00053, 1.05095, 0.35106, 0.45874])
    {
        assert!((ours - theirs).abs() < 5.1e-6, "{ours} {theirs}");
    }
    let by_huber = surface(group, SurfaceMethod::Huber);
    close(2.0 * by_huber.objective, projected.objective, 1e-9);
    // Their Huber fit is of the loss itself; its threshold is not published. At 1e-3, the usual
    // one, the published digits give an objective 0.026 % above the optimum here, in a flat valley,
    // and lie within 0.6 % of it.
    let robust = fitted(&table, &wanted(1e-3, Residual::Loss)).unwrap();
    let robust = surface(&robust.groups[0], SurfaceMethod::Huber);
    let published = [1.8267, 3.7066, 1.0386, 0.3240, 0.4080];
    for (ours, theirs) in values(robust).iter().zip(published) {
        close(*ours, theirs, 6e-3);
    }
    assert!(robust.confirmed && robust.objective <= 0.002_396_23, "{}", robust.objective);
    let there = Surface::from_formula(published, 1.0, 1.0);
    let kept: Vec<[f64; 3]> = {
        let rows = table.lines().skip(1).map(|line| {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            [cells[0], cells[1], cells[2]]
        });
        let mut rows: Vec<[f64; 3]> = rows.collect();
        rows.sort_by(|a, b| b[2].total_cmp(&a[2]));
        rows.split_off(5)
    };
    let huber = |residual: f64| match residual.abs() {
        small if small <= 1e-3 => 0.5 * small * small,
        large => 1e-3 * (large - 0.5e-3),
    };
    let at_published: f64 = kept.iter().map(|[n, d, loss]| huber(there.at(*n, *d) - loss)).sum();
    close(at_published / robust.objective, 1.000_258, 1e-5);
}

/// Figures of the sweep behind the relative law that other analyses give: by its own label, which
/// counts forward FLOPs.
#[test]
fn losses_and_laws_by_the_sweeps_own_label() {
    let path = published("marin/isoflops.csv");
    let mut table = "dataset,C,params,tokens,loss\n".to_owned();
    for line in fs::read_to_string(&path).unwrap().lines().skip(1) {
        let (dataset, rest) = line.split_once(',').unwrap();
        let (budget, rest) = rest.split_once(',').unwrap();
        table += &format!("{dataset},{:e},{rest}\n", budget.parse::<f64>().unwrap() / 3.0);
    }
    let select = Select { group: vec!["dataset".into()], ..options().select };
    let budget = Some("C".into());
    let wanted =
        IsoflopOptions { select, budget, flops: Some(FlopsConvention::Forward), ..options() };
    let found = fitted(&table, &wanted).unwrap();
    for (name, prefactor, losses, slope) in [
        ("comma", 0.0929, [3.916, 3.489, 3.114], -0.0490),
        ("dclm", 0.203, [3.759, 3.315, 2.952], -0.0524),
    ] {
        let group = found.groups.iter().find(|group| group.name == name).unwrap();
        let path = group.paths.iter().find(|path| path.curve == Curve::Parabola).unwrap();
        close(path.tokens.fit().unwrap().prefactor.value, prefactor, 2e-3);
        for (budget, theirs) in [1e18, 1e19, 1e20].into_iter().zip(losses) {
            let budget = group
                .budgets
                .iter()
                .find(|found| (found.budget / budget - 1.0).abs() < 0.02)
                .unwrap();
            let (_, loss) =
                budget.minimum(Curve::Parabola, Along::Tokens).unwrap().found().unwrap();
            // Two of the published figures round the other way at the fourth digit.
            assert!((loss - theirs).abs() < 0.0011, "{loss} {theirs}");
        }
        // Least squares over the seven budgets; -0.0485 and -0.0512 are published, of points that
        // are not said.
        assert!((path.loss.fit().unwrap().exponent.value - slope).abs() < 6e-5);
        // The smallest budget has five sizes over half a decade.
        let flag = group.flags.iter().find(|flag| flag.code == FlagCode::IllConditioned).unwrap();
        assert!(flag.message.contains("1.0e18"), "{}", flag.message);
    }
}

/// On the six best runs of each budget one parabola turns beyond its runs and moves the exponent of
/// D* from 0.57 to 0.72; here that minimum is refused.
#[test]
fn the_published_trap_of_six_runs_is_not_walked_into() {
    let path = published("marin/isoflops.csv");
    let mut budgets: std::collections::BTreeMap<String, Vec<(f64, String)>> = Default::default();
    for line in fs::read_to_string(&path).unwrap().lines().filter(|line| line.starts_with("comma,"))
    {
        let cells: Vec<&str> = line.split(',').collect();
        budgets
            .entry(cells[1].to_owned())
            .or_default()
            .push((cells[4].parse().unwrap(), line.to_owned()));
    }
    let mut table = "dataset,budget,params,tokens,loss\n".to_owned();
    for runs in budgets.values_mut() {
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        runs.iter().take(6).for_each(|(_, line)| table += &format!("{line}\n"));
    }
    let found = fitted(&table, &options()).unwrap();
    let group = &found.groups[0];
    let budget =
        group.budgets.iter().find(|budget| (budget.budget / 9e19 - 1.0).abs() < 0.02).unwrap();
    let outcome = &budget.minimum(Curve::Parabola, Along::Tokens).unwrap().outcome;
    assert!(outcome.refused().is_some(), "{outcome:?}");
    let path = group.paths.iter().find(|path| path.curve == Curve::Parabola).unwrap();
    let law = path.tokens.fit().unwrap();
    assert_eq!(law.budgets, 6);
    assert!((0.5..0.65).contains(&law.exponent.value), "{}", law.exponent.value);
}

/// What N counts moves the exponents: published for the sweep's third corpus, N* from 0.40 to 0.59
/// where both vocabulary tables are left out.
#[test]
fn what_sizes_count_moves_the_exponents() {
    let path = published("marin/runs-dclm.csv");
    let text = fs::read_to_string(path).unwrap();
    let mut total = "params,tokens,loss\n".to_owned();
    let mut without = total.clone();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().ok();
        let (Some(n), Some(d), Some(loss), Some(width)) =
            (number(1), number(2), number(4), number(8))
        else {
            continue;
        };
        total += &format!("{n},{d},{loss}\n");
        without += &format!("{},{d},{loss}\n", n - 2.0 * 128_256.0 * width);
    }
    let law = |table: &str| {
        let found = fitted(table, &options()).unwrap();
        let law = surface(&found.groups[0], SurfaceMethod::VariableProjection).clone();
        (law.alpha.value, law.size_exponent.value, law.residual_standard_deviation.unwrap())
    };
    let (whole, bare) = (law(&total), law(&without));
    assert!(
        (0.65..0.80).contains(&whole.0) && (0.25..0.42).contains(&bare.0),
        "{whole:?} {bare:?}"
    );
    assert!(
        (0.37..0.46).contains(&whole.1) && (0.53..0.65).contains(&bare.1),
        "{whole:?} {bare:?}"
    );
}
