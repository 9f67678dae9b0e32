//! All models of a family on a corpus: who wins, mu/sigma against size, the simulation.

use rayon::prelude::*;
use relscale_records::RunTally;
use relscale_stats::discrete::Kind;

use super::simulation::{self, Setting};
use super::{LOGNORMALS, model, ratio, title};
use crate::options::FitOptions;
use crate::result::{
    Flag, FlagCode, Law, LeftOut, ModelRanks, RankDistribution, RankFit, RatioLaw, RatioPoint,
    Simulation,
};
use crate::table::Group;

/// The rank distributions of a group; `None` when no run of it counted its ranks.
///
/// `measured` are the laws that the simulation is set beside.
pub(crate) fn fit_group(
    group: &Group<'_>,
    measured: &[&Law],
    options: &FitOptions,
) -> Option<RankDistribution> {
    let runs: Vec<&RunTally> = group.runs.iter().map(|run| run.tally).collect();
    if runs.iter().all(|run| run.ranks.is_none()) {
        return None;
    }
    let mut models = Vec::new();
    let mut left_out = Vec::new();
    let found: Vec<_> = runs.par_iter().map(|run| model::fit_ranks(run, options.level)).collect();
    for (run, found) in runs.iter().zip(found) {
        match found {
            Ok(ranks) => models.push(ranks),
            Err(reason) => {
                left_out.push(LeftOut::new(&run.model, reason).at(run.non_embedding as f64));
            }
        }
    }
    let ratio_laws: Vec<RatioLaw> = LOGNORMALS
        .into_iter()
        .map(|kind| {
            let (points, left_out) = ratio_points(&models, kind);
            ratio::law(kind, points, left_out, options.level)
        })
        .collect();
    let mut flags = Vec::new();
    let mut simulations = Vec::new();
    for (kind, ratio) in LOGNORMALS.into_iter().zip(&ratio_laws) {
        let vocabularies: Vec<u32> = ratio
            .points
            .iter()
            .filter_map(|point| models.iter().find(|model| model.model == point.model))
            .map(|model| model.vocabulary)
            .collect();
        let setting = Setting {
            kind,
            ratio,
            vocabularies: &vocabularies,
            measured,
            level: options.level,
            seed: options.seed,
        };
        match simulation::simulate(&setting) {
            Ok(simulation) => simulations.extend(simulation),
            Err(refusal) => flags.push(Flag::new(
                FlagCode::PointsLeftOut,
                format!("no simulation of the {}: {refusal}", kind.name()),
            )),
        }
    }
    let verdict = words(&models, &ratio_laws, &simulations);
    Some(RankDistribution { models, left_out, ratio_laws, simulations, flags, verdict })
}

/// Standard error from which on mu/sigma counts as unknown. It is a quantile of the normal
/// distribution: between 0 and 1 lie the shares 1/2 and 5/6.
const UNKNOWN: f64 = 1.0;

/// mu/sigma of each model; left out are those whose fit ran into a limit of the form, where it has
/// no meaning, and those where it is known too badly.
fn ratio_points(models: &[ModelRanks], kind: Kind) -> (Vec<RatioPoint>, Vec<LeftOut>) {
    let mut points = Vec::new();
    let mut left_out = Vec::new();
    for model in models {
        let Some(fit) = model.fit(kind.name()) else { continue };
        if let Some(flag) = fit.flags.iter().find(|flag| flag.code == FlagCode::AtBound) {
            left_out.push(LeftOut::new(&model.model, &flag.message).at(model.parameters as f64));
        } else if let Some(point) = ratio_point(model, fit) {
            match point.standard_error {
                Some(error) if error > UNKNOWN => {
                    let reason = format!(
                        "mu/sigma is {:.1} ± {error:.1} over documents: unknown",
                        point.ratio
                    );
                    left_out.push(LeftOut::new(&model.model, reason).at(model.parameters as f64));
                }
                _ => points.push(point),
            }
        }
    }
    (points, left_out)
}

fn ratio_point(model: &ModelRanks, fit: &RankFit) -> Option<RatioPoint> {
    let error = |name: &str| {
        fit.parameters.iter().find(|p| p.name == name).and_then(|p| p.estimate.standard_error)
    };
    let (mu, sigma) = (fit.parameter("mu")?, fit.parameter("sigma")?);
    let ratio = mu / sigma;
    // d(mu/sigma) = (dmu - ratio dsigma)/sigma.
    let standard_error =
        error("mu").zip(error("sigma")).zip(fit.document_correlation).map(|((a, b), r)| {
            let variance = a * a + ratio * ratio * b * b - 2.0 * ratio * r * a * b;
            variance.max(0.0).sqrt() / sigma
        });
    let ModelRanks { model, parameters, .. } = model;
    Some(RatioPoint {
        model: model.clone(),
        parameters: *parameters,
        mu,
        sigma,
        ratio,
        standard_error,
    })
}

fn words(models: &[ModelRanks], ratio_laws: &[RatioLaw], simulations: &[Simulation]) -> String {
    let mut sentences = Vec::new();
    let mut winners: Vec<(&str, usize)> = Vec::new();
    for best in models.iter().filter_map(|model| model.fits.first()) {
        match winners.iter_mut().find(|(form, _)| *form == best.form) {
            Some((_, count)) => *count += 1,
            None => winners.push((&best.form, 1)),
        }
    }
    winners.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let fitted = models.iter().filter(|model| !model.fits.is_empty()).count();
    if !winners.is_empty() {
        let list: Vec<String> = winners
            .iter()
            .map(|(form, count)| format!("{} for {count} of {fitted}", title(form)))
            .collect();
        let paper =
            winners.iter().any(|(form, _)| LOGNORMALS.iter().any(|kind| kind.name() == *form));
        sentences.push(format!(
            "Closest to the ranks by AIC: {}{}.",
            list.join(", "),
            if paper { "" } else { "; no lognormal" }
        ));
    }
    let differences: Vec<f64> = models.iter().map(|model| model.calibration.difference).collect();
    if let (Some(least), Some(most)) = (
        differences.iter().copied().min_by(f64::total_cmp),
        differences.iter().copied().max_by(f64::total_cmp),
    ) {
        sentences.push(format!(
            "The entropy of the ranks alone differs from the cross entropy by {least:+.3} to {most:+.3} nats."
        ));
    }
    // A form that has no mu/sigma for some of the models is told in one clause; its own verdict has
    // the figures.
    for law in ratio_laws {
        let Some(missing) = Some(law.left_out.len()).filter(|missing| *missing > 0) else {
            sentences.push(law.verdict.clone());
            let of_form = simulations.iter().filter(|simulation| simulation.form == law.form);
            sentences.extend(of_form.map(|simulation| simulation.verdict.clone()));
            continue;
        };
        sentences.push(format!(
            "No mu/sigma of the {} for {missing} of {fitted} models.",
            title(&law.form)
        ));
    }
    sentences.join(" ")
}
