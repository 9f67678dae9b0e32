//! The surface with one exponent, as Gadre et al. 2024 write it, and whether the runs tell it from
//! the one with two.

use relscale_records::digits;
use relscale_records::units::FlopsConvention;
use relscale_stats::select;
use relscale_stats::surface::{OverTraining, Surface};

use super::options::IsoflopOptions;
use super::spread::Scale;
use super::surface::Drawn;
use crate::result::{
    Estimate, ExponentRatio, FormComparison, FormCriteria, OverTrainingLaw, OverTrainingSurface,
    SurfaceMethod,
};

/// A form by every method.
pub(super) type ByMethod = [(SurfaceMethod, Result<Drawn, String>)];

/// What leaves this crate. `per_product`: FLOPs of a run by its N D.
pub(super) fn describe(
    drawn: &ByMethod,
    per_product: Option<f64>,
    options: &IsoflopOptions,
) -> Vec<OverTrainingSurface> {
    let one = |(method, drawn): &(SurfaceMethod, Result<Drawn, String>)| {
        let found = drawn.as_ref().map_err(Clone::clone);
        let outcome = found.and_then(|drawn| law(drawn, per_product, options)).into();
        OverTrainingSurface { method: *method, outcome }
    };
    drawn.iter().map(one).collect()
}

fn law(
    drawn: &Drawn,
    per_product: Option<f64>,
    options: &IsoflopOptions,
) -> Result<OverTrainingLaw, String> {
    // Where nothing tells what FLOPs count, as the paper.
    let k = per_product.unwrap_or(FlopsConvention::Train.per_parameter_and_token());
    let of = |unit: &str, scale: Scale, quantity: fn(&OverTraining) -> f64| {
        let quantity = |surface: &Surface| quantity(&OverTraining::of(surface, k));
        drawn.estimate(unit, scale, options.level, quantity)
    };
    let law = OverTrainingLaw {
        e: of("loss", Scale::NotNegative, |told| told.e),
        a: of("loss", Scale::Logarithm, |told| told.a),
        b: of("loss", Scale::Logarithm, |told| told.b),
        eta: of("1", Scale::NotNegative, |told| told.eta),
        best_multiplier: of("tokens a parameter", Scale::Logarithm, OverTraining::multiplier),
        flops_per_parameter_and_token: k,
        objective: drawn.fit.objective,
        confirmed: drawn.fit.confirmed,
        failed_resamples: drawn.failed,
        residual_standard_deviation: drawn.residual_standard_deviation(),
        flags: drawn.flags(options),
    };
    let all = [&law.a, &law.b, &law.best_multiplier].map(|estimate| estimate.value);
    match all.into_iter().all(f64::is_finite) {
        true => Ok(law),
        false => Err(format!(
            "these runs do not tell it: the best has eta {:.3e}, and its coefficients lie beyond the range of numbers",
            law.eta.value
        )),
    }
}

/// Whether two exponents are told from one.
pub(super) fn compare(two: &ByMethod, one: &ByMethod, options: &IsoflopOptions) -> FormComparison {
    let ratios = two.iter().filter_map(|(method, drawn)| {
        let ratio = |surface: &Surface| surface.alpha / surface.beta;
        let ratio = drawn.as_ref().ok()?.estimate("1", Scale::Logarithm, options.level, ratio);
        ratio.value.is_finite().then_some(ExponentRatio { method: *method, ratio })
    });
    // What is held is no finding.
    let exponent_ratios: Vec<ExponentRatio> =
        ratios.filter(|_| options.size_exponent.is_none()).collect();
    let criterion = |drawn: &ByMethod| {
        let projected =
            drawn.iter().find(|(method, _)| *method == SurfaceMethod::VariableProjection)?;
        let found = projected.1.as_ref().ok()?;
        select::aicc_of(found.fit.residuals.len(), found.parameters, found.squares())
    };
    let aicc = criterion(two)
        .zip(criterion(one))
        .map(|(chinchilla, over_training)| FormCriteria { chinchilla, over_training });
    let leaves_one_out =
        |ratio: &Estimate| ratio.bounds().map(|(low, high)| !(low..=high).contains(&1.0));
    let intervals: Option<Vec<bool>> =
        exponent_ratios.iter().map(|one| leaves_one_out(&one.ratio)).collect();
    let judged = intervals.filter(|ratios| ratios.len() == SurfaceMethod::ALL.len()).zip(aicc);
    let told_apart = judged.map(|(ratios, aicc)| {
        aicc.chinchilla < aicc.over_training && ratios.into_iter().all(|apart| apart)
    });
    let verdict = verdict(&exponent_ratios, aicc, told_apart, options);
    FormComparison { exponent_ratios, aicc, told_apart, verdict }
}

fn verdict(
    ratios: &[ExponentRatio],
    aicc: Option<FormCriteria>,
    told_apart: Option<bool>,
    options: &IsoflopOptions,
) -> String {
    if let Some(a) = options.size_exponent {
        return format!("N* is held to C^{a}, so whether one exponent is enough is not judged");
    }
    let by = |one: &ExponentRatio| {
        let told = digits::estimate(one.ratio.value, one.ratio.bounds());
        format!("{told} by {}", one.method.name())
    };
    let ratios: Vec<String> = ratios.iter().map(by).collect();
    let ratios = format!("alpha / beta is {}", ratios.join(" and "));
    let criteria = aicc.map(|aicc| {
        let difference = aicc.over_training - aicc.chinchilla;
        let which = if difference < 0.0 { "one" } else { "two" };
        format!("the AICc is lower with {which}, by {:.1}", difference.abs())
    });
    match (told_apart, criteria) {
        (Some(true), Some(criteria)) => {
            format!("two exponents are told from one: {ratios}, and {criteria}")
        }
        (Some(false), Some(criteria)) => {
            format!("these runs do not tell two exponents from one: {ratios}, and {criteria}")
        }
        _ => "whether one exponent is enough cannot be judged: a form has no fit by a method, or \
              the runs are too few"
            .to_owned(),
    }
}
