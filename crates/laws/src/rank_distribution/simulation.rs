//! Figure 8b of the paper: do a lognormal form and a moving mu/sigma alone give both scaling laws?
//!
//! Each size of the family gets one distribution of ranks: sigma is the same for all, mu/sigma lies
//! on its fitted line. Ranks are drawn from it, and `-ln RBP_k` and the cross entropy are taken
//! from them as from measured ones, where the cross entropy is the mean of `-ln p_R`: that of a
//! model that gives every rank its own probability. Both are fitted by the same power law as the
//! measured values, and set beside those.

use relscale_records::digits;
use relscale_stats::discrete::{Distribution, Kind};
use relscale_stats::forms::power::{self, Power};
use relscale_stats::{StatsError, draw};

use crate::intervals::student_t;
use crate::result::{Estimate, Law, Quantity, RatioLaw, SimulatedLaw, SimulatedPoint, Simulation};

/// Ranks drawn a model: `-ln RBP_1` is then known to half a per cent, far below the scatter of
/// models about a law.
pub(super) const DRAWS: u64 = 100_000;

/// The k simulated: greedy, and the two ends of top-k sampling.
const K: [u32; 3] = [1, 10, 100];

/// What a simulation is set beside.
pub(super) struct Setting<'a> {
    pub(super) kind: Kind,
    pub(super) ratio: &'a RatioLaw,
    /// |V| of each point of `ratio`.
    pub(super) vocabularies: &'a [u32],
    /// The measured laws, the cross entropy's among them.
    pub(super) measured: &'a [&'a Law],
    pub(super) level: f64,
    pub(super) seed: u64,
}

/// Simulates all sizes of a family.
///
/// `Ok(None)` when mu/sigma has no line to follow.
///
/// # Errors
/// Parameters on the line that give no distribution.
pub(super) fn simulate(setting: &Setting<'_>) -> Result<Option<Simulation>, StatsError> {
    let Some(line) = &setting.ratio.line else { return Ok(None) };
    let points = &setting.ratio.points;
    let sigma = points.iter().map(|point| point.sigma).sum::<f64>() / points.len() as f64;
    let mut models = Vec::with_capacity(points.len());
    for (index, (point, &upper)) in points.iter().zip(setting.vocabularies).enumerate() {
        let mu = sigma * line.at(point.parameters as f64);
        let on_line = Distribution::new(setting.kind, &[mu, sigma], upper)?;
        let masses: Vec<f64> = (1..=upper).map(|k| on_line.ln_mass(k).exp()).collect();
        let drawn = draw::counts(&masses, DRAWS, setting.seed.wrapping_add(index as u64))?;
        let own = Distribution::new(setting.kind, &[point.mu, point.sigma], upper)?;
        models.push((point, on_line, drawn, own));
    }
    let quantities = K.into_iter().map(|k| Quantity::Rank { k }).chain([Quantity::CrossEntropy]);
    let laws: Vec<SimulatedLaw> = quantities
        .map(|quantity| {
            let measured = setting.measured.iter().find(|law| law.quantity == quantity).copied();
            let points = models.iter().map(|(point, on_line, drawn, own)| SimulatedPoint {
                model: point.model.clone(),
                parameters: point.parameters,
                drawn: from_draws(&quantity, drawn, on_line),
                exact: exact(&quantity, on_line),
                own: exact(&quantity, own),
                measured: measured
                    .and_then(|law| law.point(&point.model))
                    .map(|measured| measured.value),
            });
            let points = points.collect();
            simulated_law(quantity, points, measured, setting.level)
        })
        .collect();
    Ok(Some(Simulation {
        form: setting.kind.name().to_owned(),
        sigma,
        draws: DRAWS,
        verdict: words(setting.kind, &laws),
        laws,
    }))
}

/// The quantity of drawn ranks, counted by rank.
fn from_draws(quantity: &Quantity, counts: &[u64], distribution: &Distribution) -> f64 {
    match quantity {
        Quantity::Rank { k } => {
            let misses: u64 = counts.iter().skip(*k as usize).sum();
            -(-(misses as f64) / DRAWS as f64).ln_1p()
        }
        _ => {
            let drawn = (1..).zip(counts).filter(|(_, count)| **count > 0);
            drawn.map(|(k, &count)| -(count as f64) * distribution.ln_mass(k)).sum::<f64>()
                / DRAWS as f64
        }
    }
}

/// The quantity of the distribution itself.
fn exact(quantity: &Quantity, distribution: &Distribution) -> f64 {
    match quantity {
        Quantity::Rank { k } => -(-distribution.survival(*k)).ln_1p(),
        _ => distribution.expectation(|_, ln_mass| -ln_mass),
    }
}

fn simulated_law(
    quantity: Quantity,
    points: Vec<SimulatedPoint>,
    measured: Option<&Law>,
    level: f64,
) -> SimulatedLaw {
    let sizes: Vec<f64> = points.iter().map(|point| point.parameters as f64).collect();
    let fit = |value: fn(&SimulatedPoint) -> f64| {
        let values: Vec<f64> = points.iter().map(value).collect();
        power::fit(&sizes, &values)
    };
    let estimate = |fit: &Power| Estimate {
        value: fit.exponent(),
        unit: "1".to_owned(),
        standard_error: fit.line.slope_standard_error(),
        interval: student_t(fit.exponent_interval(level)),
    };
    let drawn = fit(|point| point.drawn);
    let claimed = measured.and_then(Law::fit).is_some_and(|fit| fit.claimed);
    // A model without a measured value is no number, so there is no fit.
    let measured = fit(|point| point.measured.unwrap_or(f64::NAN)).ok().filter(|_| claimed);
    SimulatedLaw {
        quantity,
        exponent: drawn.as_ref().ok().map(estimate),
        r_squared: drawn.as_ref().ok().and_then(|fit| fit.line.r_squared),
        exact_exponent: fit(|point| point.exact).ok().map(|fit| fit.exponent()),
        own_exponent: fit(|point| point.own).ok().map(|fit| fit.exponent()),
        measured_exponent: measured.as_ref().map(estimate),
        reason: drawn.err().map_or_else(String::new, |refusal| refusal.to_string()),
        points,
    }
}

fn words(kind: Kind, laws: &[SimulatedLaw]) -> String {
    let told = laws
        .iter()
        .filter(|law| matches!(law.quantity, Quantity::CrossEntropy | Quantity::Rank { k: 1 }));
    let parts: Vec<String> = told
        .map(|law| {
            let symbol = law.quantity.symbol();
            let Some(exponent) = &law.exponent else {
                return format!("{symbol} has no power law ({})", law.reason);
            };
            let measured = law.measured_exponent.as_ref().map_or_else(
                || "none measured".to_owned(),
                |measured| {
                    let inside = measured
                        .bounds()
                        .is_none_or(|(low, high)| (low..=high).contains(&exponent.value));
                    let held = if inside { "" } else { ", whose interval does not hold it" };
                    format!("measured {}{held}", digits::number(measured.value))
                },
            );
            format!("{symbol} has exponent {} ({measured})", digits::number(exponent.value))
        })
        .collect();
    format!(
        "Ranks drawn from the {} with mu/sigma on its line and one sigma: {}.",
        kind.title(),
        parts.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank_distribution::ratio;
    use crate::result::RatioPoint;

    /// mu/sigma falls by `step` a decade from `first`.
    fn family(first: f64, step: f64, sigma: f64) -> RatioLaw {
        let points =
            [1_000_u64, 10_000, 100_000, 1_000_000].into_iter().zip(0..).map(|(parameters, i)| {
                let ratio = first + step * f64::from(i);
                let mu = sigma * ratio;
                RatioPoint {
                    model: format!("m{i}"),
                    parameters,
                    mu,
                    sigma,
                    ratio,
                    standard_error: None,
                }
            });
        ratio::law(Kind::Lognormal, points.collect(), vec![], 0.95)
    }

    fn run(kind: Kind, ratio: &RatioLaw) -> Simulation {
        let vocabularies = vec![4096; ratio.points.len()];
        let setting = Setting {
            kind,
            ratio,
            vocabularies: &vocabularies,
            measured: &[],
            level: 0.95,
            seed: 5,
        };
        simulate(&setting).unwrap().unwrap()
    }

    #[test]
    fn draws_agree_with_the_distribution_they_come_from() {
        for kind in [Kind::Lognormal, Kind::PointMass] {
            let simulation = run(kind, &family(0.5, -0.1, 2.5));
            for law in &simulation.laws {
                for point in &law.points {
                    // Four standard errors: RBP = p has sqrt((1 - p)/(p n)); -ln p_R has a
                    // deviation below 3 nats.
                    let bound = match law.quantity {
                        Quantity::Rank { .. } => 4.0 * (point.exact.exp_m1() / DRAWS as f64).sqrt(),
                        _ => 4.0 * 3.0 / (DRAWS as f64).sqrt(),
                    };
                    let off = (point.drawn - point.exact).abs();
                    assert!(off < bound, "{:?} {}: {off} {bound}", law.quantity, point.model);
                    // On its line with one sigma, each model is its own.
                    assert!((point.own - point.exact).abs() < 1e-9);
                }
                let exponent = law.exponent.as_ref().unwrap().value;
                assert!(
                    (exponent - law.exact_exponent.unwrap()).abs() < 0.01,
                    "{:?}",
                    law.quantity
                );
                assert!(exponent > 0.0, "both laws fall where mu falls");
            }
        }
    }

    #[test]
    fn greedy_of_the_interval_form_is_the_normal_itself() {
        // P(R = 1) = Phi(-mu/sigma) but for the ranks beyond |V|, of which there are none to speak
        // of.
        let simulation = run(Kind::Lognormal, &family(-0.5, -0.1, 1.0));
        let expected = -(1.0 - relscale_stats::normal::upper_tail(0.5)).ln();
        assert!((simulation.laws[0].points[0].exact - expected).abs() < 1e-12);
    }

    #[test]
    fn the_same_seed_gives_the_same_draws() {
        let family = family(0.5, -0.1, 2.5);
        assert_eq!(run(Kind::PointMass, &family), run(Kind::PointMass, &family));
    }
}
