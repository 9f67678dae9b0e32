//! Hypothesis 2 of the paper: as models grow, the form of the rank distribution stays and mu/sigma
//! moves with size.
//!
//! The paper says "approximately linear with model size" and draws a logarithmic axis, so two
//! readings are fitted: a line in ln S, and a power law of `|mu/sigma|`. Both by unweighted least
//! squares with Student t intervals from the scatter of the models, as every law here.

use relscale_records::digits;
use relscale_stats::StatsError;
use relscale_stats::discrete::Kind;
use relscale_stats::forms::power;
use relscale_stats::interval::student;
use relscale_stats::optimise::least_squares;

use crate::intervals::student_t;
use crate::result::{Estimate, LeftOut, RatioLaw, RatioLine, RatioPoint, RatioPower};

/// Fits mu/sigma of one form against the models' sizes.
pub(super) fn law(
    kind: Kind,
    points: Vec<RatioPoint>,
    left_out: Vec<LeftOut>,
    level: f64,
) -> RatioLaw {
    let line = line(&points, level);
    let power = power(&points, level);
    let mut reasons: Vec<String> = Vec::new();
    for reason in [line.as_ref().err(), power.as_ref().err()].into_iter().flatten() {
        if !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    let (line, power) = (line.ok(), power.ok());
    RatioLaw {
        verdict: words(kind, line.as_ref(), power.as_ref(), &reasons, left_out.len()),
        form: kind.name().to_owned(),
        points,
        left_out,
        line,
        power,
        reason: reasons.join("; "),
    }
}

fn line(points: &[RatioPoint], level: f64) -> Result<RatioLine, String> {
    let ln_sizes: Vec<f64> = points.iter().map(|point| (point.parameters as f64).ln()).collect();
    let ratios: Vec<f64> = points.iter().map(|point| point.ratio).collect();
    let line =
        least_squares::line(&ln_sizes, &ratios).map_err(|refusal| reason(points, &refusal))?;
    Ok(RatioLine {
        slope: Estimate {
            value: line.slope,
            unit: "1".to_owned(),
            standard_error: line.slope_standard_error(),
            interval: student_t(student::slope(&line, level)),
        },
        at_centre: line.centre_y,
        centre_parameters: line.centre_x.exp(),
        r_squared: line.r_squared,
    })
}

fn power(points: &[RatioPoint], level: f64) -> Result<RatioPower, String> {
    if points.iter().any(|point| point.ratio > 0.0) && points.iter().any(|point| point.ratio <= 0.0)
    {
        return Err("no power law: mu/sigma changes its sign over the models".to_owned());
    }
    let sizes: Vec<f64> = points.iter().map(|point| point.parameters as f64).collect();
    let ratios: Vec<f64> = points.iter().map(|point| point.ratio.abs()).collect();
    let fit = power::fit(&sizes, &ratios).map_err(|refusal| reason(points, &refusal))?;
    Ok(RatioPower {
        // Growing is positive here, where laws of falling quantities count the other way.
        exponent: Estimate {
            value: fit.line.slope,
            unit: "1".to_owned(),
            standard_error: fit.line.slope_standard_error(),
            interval: student_t(student::slope(&fit.line, level)),
        },
        r_squared: fit.line.r_squared,
    })
}

fn reason(points: &[RatioPoint], refusal: &StatsError) -> String {
    match points {
        [] => "no model has mu and sigma".to_owned(),
        [only] => format!("one model ({}) cannot show how mu/sigma changes with size", only.model),
        _ => refusal.to_string(),
    }
}

fn words(
    kind: Kind,
    line: Option<&RatioLine>,
    power: Option<&RatioPower>,
    reasons: &[String],
    left_out: usize,
) -> String {
    let r_squared = |r: Option<f64>| {
        r.map_or_else(|| "no R²".to_owned(), |r| format!("R² {}", digits::r_squared(r)))
    };
    let form = kind.title();
    let without = match left_out {
        0 => String::new(),
        1 => " (one model left out)".to_owned(),
        count => format!(" ({count} models left out)"),
    };
    let Some(line) = line else {
        return format!("mu/sigma of the {form}{without}: {}.", reasons.join("; "));
    };
    let direction = match line.slope.bounds() {
        Some((low, high)) if low <= 0.0 && high >= 0.0 => "may not move with size",
        _ if line.slope.value > 0.0 => "rises with size",
        _ => "falls with size",
    };
    let power = power.map_or_else(
        || reasons.join("; "),
        |power| {
            format!(
                "|mu/sigma| goes as S^{} ({})",
                digits::number(power.exponent.value),
                r_squared(power.r_squared)
            )
        },
    );
    format!(
        "mu/sigma of the {form}{without} {direction}: {:+.4} for each e-fold of S ({}); {power}.",
        line.slope.value,
        r_squared(line.r_squared)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(ratios: &[f64]) -> Vec<RatioPoint> {
        let sizes = [1_000_u64, 10_000, 100_000, 1_000_000];
        ratios
            .iter()
            .zip(sizes)
            .map(|(&ratio, parameters)| RatioPoint {
                model: format!("m{parameters}"),
                parameters,
                mu: 2.0 * ratio,
                sigma: 2.0,
                ratio,
                standard_error: None,
            })
            .collect()
    }

    #[test]
    fn a_line_in_ln_s_and_a_power_law_are_found() {
        let per_decade = 0.05 * std::f64::consts::LN_10;
        let ratios: Vec<f64> = (0..4).map(|i| -0.5 - per_decade * f64::from(i)).collect();
        let law = law(Kind::Lognormal, points(&ratios), vec![], 0.95);
        let line = law.line.unwrap();
        assert!((line.slope.value + 0.05).abs() < 1e-14 && line.r_squared == Some(1.0));
        assert!((line.at(1e8) - (-0.5 - 5.0 * per_decade)).abs() < 1e-13);
        assert!(law.verdict.contains("falls with size"), "{}", law.verdict);

        let law = super::law(Kind::Lognormal, points(&[0.3, 0.6, 1.2, 2.4]), vec![], 0.95);
        let exponent = law.power.unwrap().exponent.value;
        assert!(
            (exponent - 2.0_f64.log10()).abs() < 1e-14,
            "doubles a decade, positive as it grows"
        );
        assert_eq!(law.reason, "");
    }

    #[test]
    fn what_cannot_be_fitted_says_why() {
        let crossing = law(Kind::Lognormal, points(&[-0.1, 0.0, 0.1]), vec![], 0.95);
        assert!(crossing.line.is_some() && crossing.power.is_none());
        assert!(crossing.reason.contains("changes its sign"), "{}", crossing.reason);
        let alone = law(Kind::Lognormal, points(&[0.2]), vec![], 0.95);
        assert!(alone.line.is_none() && alone.reason.contains("m1000"), "{}", alone.reason);
        assert!(law(Kind::Lognormal, vec![], vec![], 0.95).verdict.contains("no model"));
    }
}
