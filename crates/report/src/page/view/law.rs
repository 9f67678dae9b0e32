//! One law in a table, and the largest model as the smaller ones predict it.

use relscale_laws::{Finding, HeldOut, Law, Outcome, Quantity, Regime};
use serde::Serialize;

use crate::format;
use crate::page::source::{Html, Place};

/// One law.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// `−ln RBP₁₀`, `CE`.
    quantity: String,
    /// For rank laws.
    k: Option<u32>,
    regime: &'static str,
    exponent: Html,
    /// What of its variance is the models' and what the text's, as a bar; empty where the text's part is not known.
    parts: Html,
    /// How the interval was found, or why there is none, or why there is no fit.
    method: String,
    r_squared: Html,
    /// Standard error of the exponent from the text sample alone.
    sampling_error: Html,
    models: Html,
    fewest_misses: Html,
    chi_squared: Html,
    /// What was found of the law at this k, in a few words.
    finding: &'static str,
    claimed: bool,
    fitted: bool,
    verdict: Html,
}

/// The largest model as the smallest ones predict it.
#[derive(Debug, Serialize)]
pub(crate) struct Prediction {
    quantity: String,
    fitted_models: Html,
    model: String,
    observed: Html,
    predicted: Html,
    error: Html,
    covered: &'static str,
}

fn none() -> Html {
    Html::text("–")
}

impl Row {
    /// The law that stands at `place`.
    pub(super) fn of(law: &Law, place: &Place) -> Self {
        let outcome = place.at("outcome");
        let fit = law.fit();
        let (exponent, method) = match &law.outcome {
            Outcome::Refused { reason } => (Html::text("no fit"), reason.clone()),
            Outcome::Fitted(fit) => (
                outcome.at("exponent").estimate(&fit.exponent),
                format::interval_method(&fit.exponent.interval),
            ),
        };
        let misses = law.points.iter().enumerate().filter_map(|(at, point)| Some((point.misses?, at))).min();
        let interval = outcome.at("exponent").at("interval");
        let text_share = fit.and_then(|fit| fit.exponent.interval.text_share());
        Self {
            parts: text_share.map_or_else(|| Html::text(""), |share| interval.at("text_share").parts(share)),
            quantity: symbol(&law.quantity),
            k: law.k(),
            regime: law.k().map_or("", |k| match Regime::of(k) {
                Regime::Greedy => "greedy",
                Regime::TopK => "top-k",
                Regime::Large => "large k",
            }),
            exponent,
            method,
            r_squared: fit.map_or_else(none, |fit| match fit.r_squared {
                _ if fit.points <= 2 => Html::text("two points"),
                None => Html::text(&format::r_squared(None)),
                Some(r) => outcome.at("r_squared").number(r, &format::r_squared(Some(r))),
            }),
            sampling_error: fit.and_then(|fit| fit.exponent_sampling.as_ref()?.standard_error).map_or_else(
                none,
                |error| {
                    let place = outcome.at("exponent_sampling").at("standard_error");
                    place.number(error, &format::small_error(error))
                },
            ),
            models: place.at("points").count(law.points.len() as u64),
            fewest_misses: misses
                .map_or_else(none, |(misses, at)| place.at("points").at(at).at("misses").count(misses)),
            chi_squared: fit.and_then(|fit| fit.chi_squared).map_or_else(none, |chi| {
                let at = outcome.at("chi_squared");
                let value = at.at("value").number(chi.value, &format::fixed(chi.value, 1));
                let freedom = at.at("degrees_of_freedom").count(u64::from(chi.degrees_of_freedom));
                let p = at.at("p_value").number(chi.p_value, &p_value(chi.p_value));
                Html::join([value, freedom], " / ").then(", p ").with(&p)
            }),
            finding: law.breakdown.as_ref().map_or("", |breakdown| finding(breakdown.finding)),
            claimed: fit.is_some_and(|fit| fit.claimed),
            fitted: fit.is_some(),
            verdict: place.at("verdict").said(&law.verdict),
        }
    }
}

/// The quantity of a law, for headings.
fn symbol(quantity: &Quantity) -> String {
    match quantity {
        Quantity::Rank { k } => format::rank_symbol(*k),
        Quantity::CrossEntropy => "CE".to_owned(),
        other => other.symbol(),
    }
}

/// What was found of a law, in a few words.
fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::Holds => "holds",
        Finding::Bends => "bends",
        Finding::Departure => "departs from a line",
        Finding::SamplingNoise => "hidden by sampling noise",
        Finding::SlopeLost => "slope lost",
        Finding::TooFew => "too few misses or hits",
        Finding::Undecided => "undecided",
        // A finding that is newer than this page: the verdict says it.
        _ => "see its verdict",
    }
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// The extrapolation audit of one law: each fit to the smallest m models, and the largest model by it.
pub(super) fn predictions(law: &Law, place: &Place) -> Vec<Prediction> {
    let Some(fit) = law.fit() else { return Vec::new() };
    let audit = place.at("outcome").at("audit");
    fit.audit
        .iter()
        .enumerate()
        .filter_map(|(at, step)| {
            let last = step.predictions.len().checked_sub(1)?;
            let step_at = audit.at(at);
            let fitted = step_at.at("fitted_points").count(u64::from(step.fitted_points));
            Some(Prediction::of(law, fitted, &step.predictions[last], &step_at.at("predictions").at(last)))
        })
        .collect()
}

impl Prediction {
    fn of(law: &Law, fitted_models: Html, held: &HeldOut, place: &Place) -> Self {
        let per_cent = format!("{} %", format::fixed(100.0 * held.relative_error, 2));
        Self {
            quantity: symbol(&law.quantity),
            fitted_models,
            model: held.label.clone(),
            observed: place.at("observed").number(held.observed, &format::significant(held.observed)),
            predicted: place.at("predicted").estimate(&held.predicted),
            error: place.at("relative_error").number(held.relative_error, &per_cent),
            covered: match held.covered {
                Some(true) => "yes",
                Some(false) => "no",
                None => "no interval",
            },
        }
    }
}
