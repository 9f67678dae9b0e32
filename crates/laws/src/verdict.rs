//! Sentences with their numbers: what a reader would be told who asks once and reads no table.

use crate::result::{
    Estimate, FlagCode, Interval, Law, Outcome, PowerLaw, Quantity, Regime, Rival, RivalFit, Rivals,
};

/// One sentence about a law.
pub(crate) fn of_law(law: &Law) -> String {
    let symbol = law.quantity.symbol();
    match &law.outcome {
        Outcome::Refused { reason } => format!("{symbol}: no law, {reason}."),
        Outcome::Fitted(fit) if !fit.claimed => {
            format!(
                "{symbol}: no slope is claimed, as some model has too few {} ({}).",
                if law.flags.iter().any(|flag| flag.code == FlagCode::FewMisses) { "misses" } else { "hits" },
                slope(fit)
            )
        }
        Outcome::Fitted(fit) => format!("{symbol} {} as {}.", direction(&fit.exponent), slope_over(fit)),
    }
}

/// Two AICc no further apart than this tell nothing from one another (Burnham and Anderson 2002, section 2.6).
const TOLD_APART: f64 = 2.0;

/// Errors on held-out models whose ratio is below this are about the same.
const ABOUT_THE_SAME: f64 = 1.25;

/// Which form, by which judge, and whether the two judges agree.
pub(crate) fn of_rivals(rivals: &Rivals, models: usize, claimed: bool) -> String {
    let mut described = by_aicc(rivals, models);
    if !claimed {
        described.insert_str(0, "Too few misses or hits to claim a law, so take no form from this: ");
    }
    let Some((name, left_out)) = rivals.best_by_held_out.as_deref().zip(rivals.held_out_models) else {
        return format!("{described} Too few models to hold the largest ones out.");
    };
    let whom = if left_out == 1 { "largest model".to_owned() } else { format!("{left_out} largest models") };
    let error = |name: &str| rivals.form(name).and_then(|rival| rival.error(left_out));
    let best = error(name).unwrap_or(0.0);
    let percent = |error: f64| match 100.0 * error.exp_m1() {
        error if error > 1000.0 => "more than tenfold".to_owned(),
        error => format!("{error:.1} %"),
    };
    let alike = |name: &str| error(name).is_some_and(|error| error <= ABOUT_THE_SAME * best + 1e-9);
    let Some(favourite) = rivals.best_by_aicc.as_deref() else {
        return format!(
            "{described} Fitted to the smaller models, the {name} predicts the {whom} best (error {}).",
            percent(best)
        );
    };
    if favourite == name {
        return format!(
            "{described} It also predicts the {whom} best from the smaller ones (error {}).",
            percent(best)
        );
    }
    match error(favourite) {
        Some(_) if alike(favourite) => format!(
            "{described} From the smaller models it predicts the {whom} about as well as any form (error {}).",
            percent(error(favourite).unwrap_or(0.0))
        ),
        // A rival that AICc does not tell apart contradicts nothing.
        Some(worse)
            if rivals
                .form(name)
                .and_then(|rival| rival.fit()?.aicc_difference)
                .is_some_and(|difference| difference < TOLD_APART) =>
        {
            format!(
                "{described} From the smaller models the {name} predicts the {whom} better (error {} against {} of \
                 the {favourite}), which speaks for it beyond these sizes.",
                percent(best),
                percent(worse)
            )
        }
        Some(worse) => format!(
            "{described} But from the smaller models the {name} predicts the {whom} better (error {} against {} of the \
             {favourite}): the two judges disagree, and the form beyond these sizes is open.",
            percent(best),
            percent(worse)
        ),
        None => format!(
            "{described} It cannot predict the {whom} from the smaller ones; of those that can, the {name} does \
             best (error {}).",
            percent(best)
        ),
    }
}

/// What AICc says, or why it says nothing.
fn by_aicc(rivals: &Rivals, models: usize) -> String {
    let mut ranked: Vec<(&Rival, &RivalFit, f64)> = rivals
        .forms
        .iter()
        .filter_map(|rival| {
            let fit = rival.fit()?;
            Some((rival, fit, fit.aicc_difference?))
        })
        .collect();
    ranked.sort_by(|a, b| a.2.total_cmp(&b.2));
    let [(best, fit, _), others @ ..] = &ranked[..] else {
        return format!("{models} models are too few to compare forms by AICc.");
    };
    let Some((next, _, behind)) = others.first() else {
        return format!("{models} models are too few to compare forms by AICc.");
    };
    let weight = fit.weight.unwrap_or(0.0);
    let level: Vec<&str> = others
        .iter()
        .take_while(|(_, _, difference)| *difference < TOLD_APART)
        .map(|(rival, _, _)| rival.form.as_str())
        .collect();
    if level.is_empty() {
        format!(
            "By AICc the {} describes the points best (weight {weight:.2}; next, the {}, {behind:.1} behind).",
            best.form, next.form
        )
    } else {
        format!(
            "By AICc the {} is ahead (weight {weight:.2}), but not told apart from the {}.",
            best.form,
            level.join(", the ")
        )
    }
}

/// A few sentences about a family on a corpus.
pub(crate) fn of_group(rank_laws: &[Law], cross_entropy: &Law) -> String {
    let mut sentences = Vec::new();
    // The smallest k that can be claimed; 1 wherever there is data.
    let head = rank_laws.iter().find_map(|law| law.fit().filter(|fit| fit.claimed).map(|fit| (law, fit)));
    match (head, cross_entropy.fit()) {
        (Some((law, fit)), Some(entropy)) => sentences.push(format!(
            "{} {} as {}; the cross entropy {} as {}.",
            law.quantity.symbol(),
            direction(&fit.exponent),
            slope_over(fit),
            direction(&entropy.exponent),
            slope(entropy)
        )),
        (Some((law, _)), None) => {
            sentences.push(law.verdict.clone());
            sentences.push(cross_entropy.verdict.clone());
        }
        (None, _) => {
            sentences.extend(rank_laws.first().map(|law| law.verdict.clone()));
            sentences.push(cross_entropy.verdict.clone());
        }
    }
    if let Some((law, fit)) = head {
        sentences.extend(top_k(rank_laws, law));
        sentences.extend(extrapolation(law.quantity, fit));
    }
    sentences.extend(unclaimed(rank_laws));
    sentences.join(" ")
}

/// The largest k up to 100 that can be claimed and was not told: the paper has the exponent grow towards it.
fn top_k(rank_laws: &[Law], told: &Law) -> Option<String> {
    rank_laws.iter().rev().find_map(|law| {
        let k =
            law.k().filter(|_| law.quantity != told.quantity).filter(|k| Regime::of(*k) == Regime::TopK)?;
        let fit = law.fit().filter(|fit| fit.claimed)?;
        Some(format!("At k = {k}, -ln RBP_{k} {} as {}.", direction(&fit.exponent), slope(fit)))
    })
}

/// How the fit to the smaller half of the models predicts the largest one.
fn extrapolation(quantity: Quantity, fit: &PowerLaw) -> Option<String> {
    let half = fit.models.div_ceil(2).max(3);
    let step = fit.audit.iter().find(|step| step.fitted_models == half)?;
    let largest = step.predictions.last()?;
    let within = match largest.covered {
        Some(true) => ", inside its interval",
        Some(false) => ", outside its interval",
        None => "",
    };
    Some(format!(
        "Fitted to the {half} smallest models alone, it predicts {} of the largest with an error of {:+.1} %{within}.",
        quantity.symbol(),
        100.0 * largest.relative_error
    ))
}

/// From which k on no slope can be claimed.
fn unclaimed(rank_laws: &[Law]) -> Option<String> {
    let silent = |law: &Law| law.fit().is_none_or(|fit| !fit.claimed);
    let list: Vec<String> =
        rank_laws.iter().filter(|law| silent(law)).filter_map(|law| law.k()).map(|k| k.to_string()).collect();
    (!list.is_empty() && list.len() < rank_laws.len())
        .then(|| format!("No slope is claimed for k = {}.", list.join(", ")))
}

/// What the interval of an exponent says about falling.
pub(crate) fn direction(exponent: &Estimate) -> &'static str {
    match exponent.bounds() {
        _ if exponent.value <= 0.0 => "does not fall: it goes",
        Some((low, _)) if low <= 0.0 => "may or may not fall: it goes",
        _ => "falls",
    }
}

fn slope(fit: &PowerLaw) -> String {
    slope_in("S", &fit.exponent, fit.r_squared)
}

/// `S^-0.120 (exponent in [0.104, 0.137] at 95 %), R² 0.991`, with the name of x for S.
pub(crate) fn slope_in(x: &str, exponent: &Estimate, r_squared: Option<f64>) -> String {
    let interval = match (exponent.bounds(), exponent.interval.level()) {
        (Some((low, high)), Some(level)) => {
            format!("exponent in [{low:.3}, {high:.3}] at {} %", 100.0 * level)
        }
        _ => "no interval".to_owned(),
    };
    let r_squared = r_squared.map_or(String::new(), |r| format!(", R² {}", r_squared_digits(r)));
    format!("{x}^{:.3} ({interval}){r_squared}", 0.0 - exponent.value)
}

fn slope_over(fit: &PowerLaw) -> String {
    let (smallest, largest) = fit.parameter_range;
    format!(
        "{} over {} models from {} to {} parameters",
        slope(fit),
        fit.models,
        scale(smallest),
        scale(largest)
    )
}

/// `in [0.412, 0.431] at 95 %`.
pub(crate) fn within(low: f64, high: f64, interval: &Interval) -> String {
    let level = interval.level().map_or(String::new(), |level| format!(" at {} %", 100.0 * level));
    format!("in [{low:.4}, {high:.4}]{level}")
}

/// R² with three digits, and never rounded up to a perfect 1.
pub(crate) fn r_squared_digits(r: f64) -> String {
    if r < 1.0 && r > 0.9995 { format!("{:.4}", (r * 1e4).floor() / 1e4) } else { format!("{r:.3}") }
}

/// `2.19e6`, or the number itself when it is short.
fn scale(parameters: u64) -> String {
    if parameters < 1000 { parameters.to_string() } else { magnitude(parameters as f64) }
}

/// `2.19e6`, or `0.0705` as it stands.
pub(crate) fn magnitude(x: f64) -> String {
    if (0.001..1000.0).contains(&x) { x.to_string() } else { format!("{x:.2e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        assert_eq!(scale(12), "12");
        assert_eq!(scale(2_187_344), "2.19e6");
        assert_eq!(r_squared_digits(0.99999), "0.9999");
        assert_eq!(r_squared_digits(0.98342), "0.983");
        assert_eq!(r_squared_digits(1.0), "1.000");
    }
}
