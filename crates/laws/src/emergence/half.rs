//! S*, the size at which N tokens in a row are right half of the time.
//!
//! The law `-ln p = c S^-alpha` reaches `ln 2` at `S* = (c / ln 2)^(1/alpha)`. It is a ratio of
//! estimates, so its interval is Fieller's (`relscale_stats::interval::crossing`). With an alpha of
//! 0.1 an error of one per cent in `-ln p` moves S* by ten: hence the interval, and the plain word
//! about how far beyond the data it lies.

use std::f64::consts::{LN_2, LN_10};

use relscale_stats::interval::crossing;

use super::At;
use crate::line::Fit;
use crate::result::{Estimate, HalfSize, Law, Outcome};
use crate::series;
use crate::sizes;

/// Where the law of N tokens in a row reaches one half.
pub(super) fn half_size(at: At<'_>, law: &Law, n: u32) -> Outcome<HalfSize> {
    let refuse = |reason: String| Outcome::Refused { reason };
    let (measured, values) = series::numbers(&law.points);
    let (Some(fitted), Ok(fit)) = (law.fit(), Fit::new(&measured, &values, law.text.as_ref()))
    else {
        return refuse(format!("no law of -ln p: {}", law.verdict.trim_end_matches('.')));
    };
    let exponent = fit.power.exponent();
    if exponent <= 0.0 {
        return refuse(format!(
            "-ln p does not fall with size (exponent {exponent:.4}), so no size is large enough"
        ));
    }
    let log_size = match crossing::at(&fit.power.line, LN_2.ln()) {
        Ok(log_size) => log_size,
        Err(refusal) => return refuse(refusal.to_string()),
    };
    let size = log_size.exp();
    if !(size.is_finite() && size > 0.0) {
        return refuse(format!(
            "the law gives 10^{:.0} parameters, beyond the range of numbers",
            log_size / LN_10
        ));
    }
    let level = at.options.level;
    let standard_error = fit
        .log_error(log_size)
        // First order, through the slope and then the exponential.
        .map(|error| error / exponent * size)
        .filter(|error| error.is_finite());
    let decades_beyond = sizes::decades_beyond(log_size, &measured);
    Outcome::fitted(HalfSize {
        parameters: Estimate {
            value: size,
            unit: "parameters".to_owned(),
            standard_error,
            interval: fit.reaches(LN_2.ln(), false, level),
        },
        for_one_model: fit.reaches(LN_2.ln(), true, level),
        decades_beyond,
        independent: independent(at, n),
        steepness: steepness(&fit, level),
        decades_from_a_tenth_to_nine: ((10.0_f64.ln() / (10.0_f64 / 9.0).ln()).ln())
            / exponent
            / LN_10,
        claimed: fitted.claimed,
        flags: sizes::extrapolation(
            &format!("p = 0.5 at {size:.2e} parameters"),
            decades_beyond,
            &measured,
        )
        .into_iter()
        .collect(),
    })
}

/// `dp / d ln S = alpha p (-ln p)`, with `p = 1/2`.
fn steepness(fit: &Fit, level: f64) -> Estimate {
    let factor = 0.5 * LN_2;
    let exponent = fit.exponent(level);
    Estimate {
        value: factor * exponent.value,
        unit: "per e-fold of S".to_owned(),
        standard_error: exponent.standard_error.map(|error| factor * error),
        interval: exponent.interval.scaled(factor),
    }
}

/// `(N C / ln 2)^(1/alpha)` by the law `-ln RBP = C S^-alpha` of the same tokens.
fn independent(at: At<'_>, n: u32) -> Option<f64> {
    let (sizes, values): (Vec<f64>, Vec<f64>) = (0..at.group.runs.len())
        .map(|model| (at.model(model).1 as f64, at.counts(model).minus_ln_rbp()))
        .filter(|(_, value)| value.is_finite() && *value > 0.0)
        .unzip();
    let fit = Fit::new(&sizes, &values, None).ok()?.power;
    let size = crossing::at(
        &Some(fit).filter(|fit| fit.exponent() > 0.0)?.line,
        (LN_2 / f64::from(n)).ln(),
    )
    .ok()?
    .exp();
    (size.is_finite() && size > 0.0).then_some(size)
}
