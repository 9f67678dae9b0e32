//! Measurements to laws and gaps: the entrance.

use relscale_stats::multiple;

use super::covariate::{self, Covariates};
use super::series::{Measurements, ModelFamily, Series, SeriesPoint, log_error};
use super::{RelativeOptions, gap, verdicts};
use crate::error::LawsError;
use crate::result::{
    Flag, FlagCode, Gap, GapTests, Law, Outcome, Point, Quantity, RESULT_FORMAT, RelativeFamily,
    RelativeFit, Trend,
};
use crate::series::{self, Setting};

/// Fits the law of each distribution and the gap of each to the baseline.
///
/// The order of families, series and points does not change the result.
///
/// # Errors
/// Options that cannot be used; no family that has the baseline, or none that has anything else; a
/// model that is twice in a series, or has another x in another series; a number that is not above
/// zero. A gap that is merely too short is no error: it says why there is no law.
pub fn fit_relative(
    measurements: &Measurements,
    options: &RelativeOptions,
    covariates: Option<&Covariates>,
) -> Result<RelativeFit, LawsError> {
    options.validate()?;
    check(measurements, options)?;
    let mut families: Vec<&ModelFamily> = measurements.families.iter().collect();
    families.sort_by(|a, b| a.name.cmp(&b.name));
    let described =
        families.into_iter().map(|family| fit_family(family, measurements, options, covariates));
    Ok(RelativeFit {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        files: [measurements.files.clone(), covariates.map(Covariates::file).into_iter().collect()]
            .concat(),
        x: measurements.x.clone(),
        distributions: measurements.distributions.clone(),
        error: measurements.error.clone(),
        unit: measurements.unit.clone(),
        options: options.clone(),
        families: described.collect(),
    })
}

/// Refuses what cannot be compared, by name.
fn check(measurements: &Measurements, options: &RelativeOptions) -> Result<(), LawsError> {
    let mut there: Vec<String> = measurements
        .families
        .iter()
        .flat_map(|family| &family.series)
        .map(|series| series.distribution.clone())
        .collect();
    there.sort();
    there.dedup();
    if !there.contains(&options.baseline) {
        return Err(LawsError::NoDistribution { wanted: options.baseline.clone(), there });
    }
    if there.len() == 1 {
        return Err(LawsError::NothingToCompare { baseline: options.baseline.clone() });
    }
    let of = match measurements.files.as_slice() {
        [] => String::new(),
        files => format!(" in {}", files.join(", ")),
    };
    for family in &measurements.families {
        let mut models: Vec<(&str, f64)> = Vec::new();
        for series in &family.series {
            let mut seen: Vec<&str> = Vec::new();
            for point in &series.points {
                let refuse = |reason: String| {
                    Err(LawsError::Point {
                        model: point.model.clone(),
                        distribution: series.distribution.clone(),
                        reason,
                    })
                };
                for (what, value) in [("x", point.x), ("error", point.error)] {
                    if !(value > 0.0 && value.is_finite()) {
                        return refuse(format!("its {what} is {value}{of}, but must be above 0"));
                    }
                }
                if seen.contains(&point.model.as_str()) {
                    return refuse(format!(
                        "it is there twice{of}; give each model a name of its own"
                    ));
                }
                seen.push(&point.model);
                match models.iter().find(|(name, _)| *name == point.model) {
                    Some((_, x)) if *x != point.x => {
                        return refuse(format!("its x is {} here and {x} elsewhere{of}", point.x));
                    }
                    Some(_) => {}
                    None => models.push((&point.model, point.x)),
                }
            }
        }
    }
    Ok(())
}

fn fit_family(
    family: &ModelFamily,
    measurements: &Measurements,
    options: &RelativeOptions,
    covariates: Option<&Covariates>,
) -> RelativeFamily {
    let mut series: Vec<&Series> = family.series.iter().collect();
    series.sort_by(|a, b| {
        let order = |series: &Series| {
            (series.distribution != options.baseline, series.distribution.clone())
        };
        order(a).cmp(&order(b))
    });
    let absolute = series.iter().map(|series| law(series, measurements, options)).collect();
    let baseline = series.iter().find(|series| series.distribution == options.baseline);
    let treatments = series.iter().filter(|series| series.distribution != options.baseline);
    let mut gaps: Vec<Gap> = match baseline {
        Some(baseline) => {
            treatments.map(|treatment| gap::fit_gap(baseline, treatment, options)).collect()
        }
        None => Vec::new(),
    };
    // Between errors of different kinds the height of G means nothing, so neither does its going
    // through 1.
    let heights = family.flags.iter().all(|flag| flag.code != FlagCode::MixedErrors);
    claim(&mut gaps, options, heights);
    for gap in &mut gaps {
        gap.verdict = verdicts::gap(gap, options);
    }
    let mut flags = family.flags.clone();
    if baseline.is_none() {
        let message = format!("family {} has no {}, so no gaps", family.name, options.baseline);
        flags.push(Flag::new(FlagCode::PointsLeftOut, message));
    }
    RelativeFamily {
        name: family.name.clone(),
        verdict: verdicts::family(&gaps, options),
        covariate: covariates.map(|table| covariate::link(table, &gaps, options.level)),
        absolute,
        gaps,
        ranks: None,
        flags,
    }
}

/// Adjusts the tests for their number, and draws from them what may be said; `heights` says whether
/// the height of G means something.
fn claim(gaps: &mut [Gap], options: &RelativeOptions, heights: bool) {
    // Tests take the residuals for what they are; of few misses these say nothing, and would only
    // weigh on the others' q.
    for gap in gaps.iter_mut().filter(|gap| !gap.claimed()) {
        if let Some(law) = gap.outcome.fit_mut() {
            law.tests = None;
        }
    }
    let mut laws: Vec<(Claimed, &mut GapTests, &mut Trend)> = gaps
        .iter_mut()
        .filter_map(|gap| {
            let law = gap.outcome.fit_mut()?;
            let crosses = heights && gap::crossing(&law.at_smallest, &law.at_largest) == Some(true);
            let claimed = Claimed { slope: law.delta_beta.value, crosses };
            Some((claimed, law.tests.as_mut()?, &mut law.trend))
        })
        .collect();
    let adjusted = |p: fn(&GapTests) -> f64, laws: &[(Claimed, &mut GapTests, &mut Trend)]| {
        let p: Vec<f64> = laws.iter().map(|(_, tests, _)| p(tests)).collect();
        // Refused only for what is no probability.
        multiple::adjusted(&p).unwrap_or(p)
    };
    let difference = adjusted(|tests| tests.difference_p, &laws);
    let equivalence = adjusted(|tests| tests.equivalence_p, &laws);
    for (at, (claimed, tests, trend)) in laws.iter_mut().enumerate() {
        (tests.difference_q, tests.equivalence_q) = (difference[at], equivalence[at]);
        // A slope that is surely not zero and surely below the margin is one that does not matter.
        **trend = if tests.equivalence_q <= options.false_discovery {
            Trend::Parallel
        } else if tests.difference_q > options.false_discovery {
            Trend::Undecided
        } else if claimed.crosses {
            Trend::Crossed
        } else if claimed.slope < 0.0 {
            Trend::Closes
        } else {
            Trend::Widens
        };
    }
}

/// What a gap shows once its slope is shown.
struct Claimed {
    slope: f64,
    /// G goes through 1 inside the range, beyond doubt.
    crosses: bool,
}

/// The law of one distribution by itself.
fn law(series: &Series, measurements: &Measurements, options: &RelativeOptions) -> Law {
    let mut errors: Vec<&SeriesPoint> = series.points.iter().collect();
    errors.sort_by(|a, b| a.x.total_cmp(&b.x).then_with(|| a.model.cmp(&b.model)));
    let text = series.noise(&errors);
    let mut points: Vec<Point> = errors
        .into_iter()
        .map(|error| Point {
            label: error.model.clone(),
            x: error.x,
            value: error.error,
            log_standard_error: log_error(&error.replicates),
            ..Point::default()
        })
        .collect();
    let mut left_out = series.left_out.clone();
    left_out.sort_by(|a, b| a.label.cmp(&b.label));
    let (unit, level) = (measurements.unit.as_str(), options.level);
    let outcome = match series::fit(&mut points, text.as_ref()) {
        Err(refusal) => {
            let one = ("model", "the error changes");
            Outcome::refuse(series::refused(&points, &refusal, "no model has a point", one))
        }
        Ok(fit) => {
            let text = text.as_ref();
            let setting =
                Setting { unit, x: "x", level, text, parts: false, unseen: None, claimed: true };
            let mut law = series::describe(&fit, &points, setting);
            law.r_squared = law.r_squared.filter(|_| points.len() > 2);
            Outcome::fitted(law)
        }
    };
    Law {
        name: series.distribution.clone(),
        quantity: Quantity::Error,
        unit: unit.to_owned(),
        points,
        left_out,
        outcome,
        rivals: None,
        text: None,
        flags: Vec::new(),
        breakdown: None,
        verdict: String::new(),
    }
}
