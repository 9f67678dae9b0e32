//! From labelled points to a law: the one place where a power law is fitted, described and doubted,
//! whether its points come from a study, a table, or two distributions.
//!
//! The line of `ln value` on `ln x` is unweighted, as in the paper: models scatter about a law by
//! far more than the text sample's noise, so weights from that noise would be false precision (the
//! weighted exponent is given beside it, in [`ChiSquared`]). Where the noise of the text is known,
//! what is told first is for texts like this one and models like these, both random (`line`).

use relscale_stats::goodness::hotelling_tail;
use relscale_stats::optimise::correlated;
use relscale_stats::{StatsError, outcome::Caution};

use crate::audit::{self, Form};
use crate::judged;
use crate::line::Fit;
use crate::result::{ChiSquared, Coverage, Flag, FlagCode, Point, PowerLaw, Rivals, TextNoise};

/// What a description must know besides its points.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// Unit of the values.
    pub(crate) unit: &'a str,
    /// Name of x, for the unit of the prefactor.
    pub(crate) x: &'a str,
    /// Coverage of the intervals.
    pub(crate) level: f64,
    /// How the points move together on other texts.
    pub(crate) text: Option<&'a TextNoise>,
    /// Whether the parts of the exponent's uncertainty, models and text, are told by themselves
    /// too.
    pub(crate) parts: bool,
    /// By which form points are predicted that a fit has not seen; none where that is not asked.
    pub(crate) unseen: Option<Form>,
    /// Whether the counts behind the points allow to claim a slope.
    pub(crate) claimed: bool,
}

/// The words in which flags of a law are put.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    /// What the points are: `models`, `points`.
    pub(crate) points: &'a str,
    /// What stands before the name of one, e.g. `the gap of `.
    pub(crate) before: &'a str,
    /// Symbol of the quantity and what it falls with, where falling is expected.
    pub(crate) falls: Option<(&'a str, &'a str)>,
    /// What is said of points of one x, and whether that x is told; none where the caller tells it.
    pub(crate) twins: Option<(&'a str, bool)>,
    /// Where bends and two laws are not judged with the rival forms: what stands before a bend.
    pub(crate) bends: Option<&'a str>,
}

/// Fits the points, smallest x first, and tells each what the law says of it.
///
/// # Errors
/// As [`Fit::new`].
pub(crate) fn fit(points: &mut [Point], text: Option<&TextNoise>) -> Result<Fit, StatsError> {
    let (x, y) = numbers(points);
    let fit = Fit::new(&x, &y, text)?;
    for (at, point) in points.iter_mut().enumerate() {
        point.fitted = Some(fit.power.at(point.x)).filter(|value| value.is_finite());
        point.log_residual = Some(fit.power.line.residuals[at]);
        point.leverage = Some(fit.power.line.leverage[at]);
    }
    Ok(fit)
}

/// Why there is no law, in words: `nothing` of no point, `one` of a single one.
pub(crate) fn refused(
    points: &[Point],
    refusal: &StatsError,
    nothing: &str,
    (one, cannot): (&str, &str),
) -> String {
    match points {
        [] => nothing.to_owned(),
        [only] => format!("one {one} ({}) cannot show how {cannot}", only.label),
        _ => refusal.to_string(),
    }
}

/// The law as it is stored.
pub(crate) fn describe(fit: &Fit, points: &[Point], setting: Setting<'_>) -> PowerLaw {
    let Setting { unit, level, text, .. } = setting;
    let (x, _) = numbers(points);
    let line = &fit.power.line;
    let parts = |part: &dyn Fn() -> _| setting.parts.then(part);
    let audit =
        setting.unseen.map_or(Vec::new(), |form| audit::extrapolation(form, points, unit, level));
    PowerLaw {
        exponent: fit.exponent(level),
        exponent_of_this_text: parts(&|| fit.exponent_of_this_text(level)),
        exponent_sampling: parts(&|| fit.exponent_of_these_models(text, &x, UNKNOWN_TEXT, level)),
        correlation: fit.correlation(),
        prefactor: fit.prefactor(unit, setting.x, level),
        centre: fit.power.centre(),
        at_centre: fit.at_centre(unit, level),
        r_squared: line.r_squared,
        residual_standard_deviation: line.residual_variance().map(f64::sqrt),
        points: points.len() as u32,
        range: (x[0], x[x.len() - 1]),
        claimed: setting.claimed,
        chi_squared: text.filter(|_| setting.parts).and_then(|text| chi_squared(points, text)),
        leave_one_out: setting
            .unseen
            .map_or(Vec::new(), |form| audit::leave_one_out(form, points, unit, level)),
        coverage: Coverage::of_audit(&audit),
        audit,
    }
}

/// Why the noise of a text is not known.
pub(crate) const UNKNOWN_TEXT: &str = "no error from the text: fewer than three documents, or one that holds all misses (or hits) of a model";

/// The residuals against the noise of the text sample, by a fit that knows how the models err
/// together.
fn chi_squared(points: &[Point], text: &TextNoise) -> Option<ChiSquared> {
    let (x, y) = numbers(points);
    let logarithms = |values: Vec<f64>| values.into_iter().map(f64::ln).collect::<Vec<f64>>();
    let fit = correlated::line(&logarithms(x), &logarithms(y), &text.covariance).ok()?;
    // As many even documents as know the noise as well.
    let units = (text.degrees_of_freedom + 1.0).floor() as usize;
    Some(ChiSquared {
        value: fit.chi_squared,
        degrees_of_freedom: fit.degrees_of_freedom as u32,
        weighted_exponent: 0.0 - fit.slope,
        p_value: hotelling_tail(fit.chi_squared, fit.degrees_of_freedom, units)?,
    })
}

/// Chance below which the scatter is said to exceed the sample's noise.
pub(crate) const BEYOND_NOISE: f64 = 0.01;

/// What must be said about a law that exists. `own` are flags of the caller about its height; they
/// stand between those of the slope and those of single points.
pub(crate) fn flags(
    fit: &Fit,
    law: &PowerLaw,
    points: &[Point],
    words: Words<'_>,
    own: impl IntoIterator<Item = Flag>,
) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut flag = |code, message: String| flags.push(Flag::new(code, message));
    let cautions = &fit.power.line.cautions;
    if cautions.contains(&Caution::NoScatter) {
        flag(FlagCode::NoInterval, format!("{}: a slope only", StatsError::NoDegreesOfFreedom));
    }
    if let Some((symbol, along)) = words.falls {
        let value = law.exponent.value;
        match law.exponent.bounds() {
            _ if value <= 0.0 => {
                flag(
                    FlagCode::NotFalling,
                    format!("{symbol} does not fall{along}: exponent {value:.4}"),
                );
            }
            Some((low, high)) if low <= 0.0 => flag(
                FlagCode::NotFalling,
                format!(
                    "{symbol} may not fall{along}: the exponent's interval [{low:.4}, {high:.4}] holds 0"
                ),
            ),
            _ => {}
        }
    }
    if let Some(chi) = law.chi_squared.filter(|chi| chi.p_value < BEYOND_NOISE) {
        flag(
            FlagCode::ScatterBeyondNoise,
            format!(
                "the models scatter about the line by more than the text sample's noise (chi² {:.1} on {} degree{} \
                 of freedom): more text alone will not mend it",
                chi.value,
                chi.degrees_of_freedom,
                if chi.degrees_of_freedom == 1 { "" } else { "s" },
            ),
        );
    }
    flags.extend(own);
    flags.extend(words.twins.and_then(|(message, with_x)| twins(points, message, with_x)));
    if cautions.contains(&Caution::Exact) {
        return flags;
    }
    let (x, y) = numbers(points);
    if let Some(before) = words.bends
        && let Some(bent) = judged::bends(&judged::form_test(&x, &y), "x")
    {
        flags.push(Flag::new(FlagCode::LackOfFit, format!("{before}{}", bent.message)));
    }
    let found = judged::judge(&x, &y);
    flags.extend(judged::outliers(&found).map(|(at, error)| {
        let Words { before, points: others, .. } = words;
        let (label, error) = (&points[at].label, 100.0 * error);
        let message =
            format!("{before}{label} lies {error:+.1} % from where the other {others} predict it");
        Flag::new(FlagCode::Outlier, message)
    }));
    if words.bends.is_none() {
        flags.extend(judged::lumped(&found, words.points));
    }
    flags
}

/// A flag when points have one x.
fn twins(points: &[Point], message: &str, with_x: bool) -> Option<Flag> {
    let twins: Vec<String> = points
        .windows(2)
        .filter(|pair| pair[0].x == pair[1].x)
        .map(|pair| {
            let x = if with_x { format!(" ({})", pair[0].x) } else { String::new() };
            format!("{} and {}{x}", pair[0].label, pair[1].label)
        })
        .collect();
    (!twins.is_empty())
        .then(|| Flag::new(FlagCode::SameSize, format!("{message}: {}", twins.join(", "))))
}

/// The power law's own lack of fit, as its test found it.
pub(crate) fn bend(rivals: &Rivals) -> Option<Flag> {
    judged::bends(rivals.test.as_ref()?, "S")
}

/// x and value of each point.
pub(crate) fn numbers(points: &[Point]) -> (Vec<f64>, Vec<f64>) {
    points.iter().map(|point| (point.x, point.value)).unzip()
}
