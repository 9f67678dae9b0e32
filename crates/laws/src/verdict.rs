//! Sentences with their numbers: what a reader would be told who asks once and reads no table.

use crate::result::{FlagCode, Interval, Law, Outcome, PowerLaw, Quantity, Regime};

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
        Outcome::Fitted(fit) => format!("{symbol} {} as {}.", direction(fit), slope_over(fit)),
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
            direction(fit),
            slope_over(fit),
            direction(entropy),
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
        Some(format!("At k = {k}, -ln RBP_{k} {} as {}.", direction(fit), slope(fit)))
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

fn direction(fit: &PowerLaw) -> &'static str {
    match fit.exponent.bounds() {
        _ if fit.exponent.value <= 0.0 => "does not fall: it goes",
        Some((low, _)) if low <= 0.0 => "may or may not fall: it goes",
        _ => "falls",
    }
}

/// `S^-0.120 (exponent in [0.104, 0.137] at 95 %), R² 0.991`.
fn slope(fit: &PowerLaw) -> String {
    let interval = match fit.exponent.interval {
        Interval::StudentT { low, high, level, .. }
        | Interval::DocumentBootstrap { low, high, level, .. }
        | Interval::Fieller { low, high, level, .. } => {
            format!("exponent in [{low:.3}, {high:.3}] at {} %", 100.0 * level)
        }
        Interval::None { .. } => "no interval".to_owned(),
    };
    let r_squared = fit.r_squared.map_or(String::new(), |r| format!(", R² {}", r_squared_digits(r)));
    format!("S^{:.3} ({interval}){r_squared}", 0.0 - fit.exponent.value)
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

/// R² with three digits, and never rounded up to a perfect 1.
fn r_squared_digits(r: f64) -> String {
    if r < 1.0 && r > 0.9995 { format!("{:.4}", (r * 1e4).floor() / 1e4) } else { format!("{r:.3}") }
}

/// `2.19e6`, or the number itself when it is short.
fn scale(parameters: u64) -> String {
    if parameters < 1000 { parameters.to_string() } else { format!("{:.2e}", parameters as f64) }
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
