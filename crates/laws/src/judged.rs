//! The tests of a power law, each with its level: whether it bends, which points lie off it,
//! whether two families are lumped.
//!
//! The tests are `relscale_stats::judge`, on `ln value` over `ln S`; here they become results and
//! doubts.

use relscale_stats::judge::{self, Judgement};

use crate::result::{Flag, FlagCode, FloorShown, FormFinding, FormTest};

/// The chance with which a floor is to be seen when a test is told what it could have seen.
const CHANCE: f64 = 0.8;

/// What the tests say of the power law through points whose coordinates are above zero; nothing
/// where there is no line.
pub(crate) fn judge(x: &[f64], y: &[f64]) -> Judgement {
    let logarithms = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
    judge::line(&logarithms(x), &logarithms(y)).unwrap_or_default()
}

/// The test of the form.
pub(crate) fn form_test(x: &[f64], y: &[f64]) -> FormTest {
    let found = judge(x, y);
    let points = x.len();
    let finding = match found.bend {
        Some(bend) if bend.rejects() => FormFinding::Bends,
        Some(_) => FormFinding::NotRejected,
        None if found.exact && points >= judge::FEWEST_FOR_BEND => FormFinding::NotRejected,
        None => FormFinding::Undecided,
    };
    let shown = match (finding, &found.bend) {
        (FormFinding::NotRejected, Some(_)) => floors_shown(x, y),
        _ => Vec::new(),
    };
    FormTest {
        finding,
        p_value: found.bend.map(|bend| bend.p_value),
        level: judge::LEVEL,
        points: points as u32,
        points_needed: judge::FEWEST_FOR_BEND as u32,
        curvature: found.bend.map(|bend| bend.curvature),
        standard_error: found.bend.map(|bend| bend.standard_error),
        degrees_of_freedom: found.bend.map(|bend| bend.degrees_of_freedom as u32),
        would_change: would_change(finding, points, &shown),
        shown,
        lumped_p_value: found.lumped.map(|lumped| lumped.p_value),
        lumped: found.lumped.is_some_and(|lumped| lumped.rejects()),
    }
}

/// The floors that the points would show, and twice as many over the same sizes.
fn floors_shown(x: &[f64], y: &[f64]) -> Vec<FloorShown> {
    let Ok(fit) = relscale_stats::forms::power::fit(x, y) else { return Vec::new() };
    let Some(scatter) = fit.line.residual_variance().map(f64::sqrt) else { return Vec::new() };
    let sizes: Vec<f64> = x.iter().map(|x| x.ln()).collect();
    let (low, high) =
        sizes.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &size| {
            (low.min(size), high.max(size))
        });
    let twice = 2 * sizes.len();
    let evenly: Vec<f64> =
        (0..twice).map(|at| low + (high - low) * at as f64 / (twice - 1) as f64).collect();
    [sizes, evenly]
        .iter()
        .map(|sizes| FloorShown {
            points: sizes.len() as u32,
            chance: CHANCE,
            share_of_largest: judge::floor_seen(sizes, fit.line.slope, scatter, CHANCE),
        })
        .collect()
}

fn would_change(finding: FormFinding, points: usize, shown: &[FloorShown]) -> String {
    match (finding, shown) {
        (FormFinding::Undecided, _) => {
            format!("{} models are needed, there are {points}", judge::FEWEST_FOR_BEND)
        }
        (FormFinding::Bends, _) => {
            "nothing but other models: the bend is beyond their scatter".to_owned()
        }
        (_, [now, twice]) => {
            let percent = |share: f64| format!("{:.0} %", 100.0 * share);
            let (few, many) = (now.points, twice.points);
            match (now.share_of_largest, twice.share_of_largest) {
                (Some(a), Some(b)) => format!(
                    "these {few} models would show a floor of {} of the largest one's value with chance {CHANCE}, {many} \
                     over the same sizes one of {}",
                    percent(a),
                    percent(b)
                ),
                (None, Some(b)) => format!(
                    "these {few} models would show no floor with chance {CHANCE}, {many} over the same sizes one of {} of \
                     the largest one's value",
                    percent(b)
                ),
                _ => format!(
                    "these models scatter so much that not even {many} over the same sizes would show a floor"
                ),
            }
        }
        _ => "the points lie on it to rounding".to_owned(),
    }
}

/// A flag when the test of the form rejects the power law.
pub(crate) fn bends(test: &FormTest, along: &str) -> Option<Flag> {
    let p_value = test.p_value.filter(|_| test.finding == FormFinding::Bends)?;
    Some(Flag::new(
        FlagCode::LackOfFit,
        format!(
            "the points bend along ln {along} ({}, told of at most {} % of true power laws): not a power law",
            chance(p_value),
            100.0 * test.level
        ),
    ))
}

/// Points that lie off the line through the others, with their distance from it as
/// `observed / predicted - 1`: in one sound family in twenty, at most, some point is named.
pub(crate) fn outliers(found: &Judgement) -> impl Iterator<Item = (usize, f64)> {
    found.outliers.iter().map(|outlier| (outlier.point, outlier.error.exp_m1()))
}

/// A flag when two laws explain the points of one, and nothing simpler does.
pub(crate) fn lumped(found: &Judgement, models: &str) -> Option<Flag> {
    let lumped = found.lumped.filter(judge::Lumped::rejects)?;
    let which = if lumped.by_turns { "every other of the " } else { "some " };
    Some(Flag::new(
        FlagCode::Lumped,
        format!(
            "{which}{models} may follow a law of their own ({}, told of at most {} % of true power laws): are these two \
             families?",
            chance(lumped.p_value),
            100.0 * judge::LEVEL
        ),
    ))
}

/// `p = 0.012`, `p < 0.001`.
pub(crate) fn chance(p_value: f64) -> String {
    if p_value < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p_value:.3}") }
}
