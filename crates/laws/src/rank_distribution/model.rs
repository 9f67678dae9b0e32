//! One model's ranks: every form fitted, the best one found, and what that says.

use relscale_records::{RankHistogram, RunTally};
use relscale_stats::StatsError;
use relscale_stats::discrete::{self, Caution, Fit, Histogram, Kind};
use relscale_stats::interval::student::two_sided_quantile;

use super::bins::{self, Bin};
use super::documents::AtRank;
use super::errors::{self, Errors};
use super::{LOGNORMALS, appendix_b, calibration, compare, identify, title};
use crate::result::{
    AppendixBCheck, Calibration, Comparison, Estimate, Flag, FlagCode, Interval, ModelRanks,
    Parameter, RankBin, RankFit, RefusedForm,
};

/// Kolmogorov's 1 % point over `sqrt(n)`: a larger distance is no noise of independent tokens.
const KOLMOGOROV: f64 = 1.63;

/// Fits every form to the ranks of a run.
///
/// # Errors
/// The reason why this run has no distribution, in words.
pub(super) fn fit_ranks(run: &RunTally, level: f64) -> Result<ModelRanks, String> {
    let ranks = run.ranks.as_ref().ok_or("its ranks were not counted")?;
    let upper = run.vocabulary.scored;
    let largest = ranks.largest().ok_or("no token was scored")?;
    if largest > upper {
        return Err(format!("a token has rank {largest}, above the {upper} entries that compete"));
    }
    if ranks.tokens() != run.documents.iter().map(|document| document.scored).sum::<u64>() {
        return Err("ranks and documents count different numbers of tokens".to_owned());
    }
    let histogram = histogram(ranks).map_err(|refusal| refusal.to_string())?;
    let calibration = calibration::compute(ranks).ok_or("no token was scored")?;

    let mut fitted = Vec::new();
    let mut refused = Vec::new();
    for kind in Kind::ALL {
        match discrete::fit(kind, &histogram, upper) {
            Ok(fit) => fitted.push(fit),
            Err(refusal) => {
                refused.push(RefusedForm {
                    form: kind.name().to_owned(),
                    reason: refusal.to_string(),
                });
            }
        }
    }
    fitted.sort_by(|a, b| a.aic.total_cmp(&b.aic));
    let fits = described(run, ranks, &fitted, &histogram, level);
    let comparisons = comparisons(run, ranks, &fitted, &histogram, level);
    let appendix_b = fitted
        .iter()
        .find(|fit| fit.kind == Kind::PointMass)
        .and_then(|fit| appendix_b(fit, ranks, &calibration));
    let flags = flags(&fits, ranks.tokens());
    Ok(ModelRanks {
        model: run.model.clone(),
        parameters: run.non_embedding,
        vocabulary: upper,
        tokens: ranks.tokens(),
        distinct: ranks.distinct() as u64,
        largest,
        verdict: words(&run.model, &fits, &comparisons, appendix_b.as_ref()),
        fits,
        refused,
        comparisons,
        bins: binned(&bins::cut(ranks, upper), &fitted, ranks.tokens()),
        calibration,
        appendix_b,
        flags,
    })
}

fn histogram(ranks: &RankHistogram) -> Result<Histogram, StatsError> {
    let (values, counts): (Vec<u32>, Vec<u64>) =
        ranks.iter().map(|rank| (rank.rank, rank.tokens)).unzip();
    Histogram::new(&values, &counts)
}

fn described(
    run: &RunTally,
    ranks: &RankHistogram,
    fitted: &[Fit],
    histogram: &Histogram,
    level: f64,
) -> Vec<RankFit> {
    let best = fitted.first().map_or(0.0, |fit| fit.aic);
    fitted
        .iter()
        .map(|fit| (fit, errors::over_documents(run, ranks, fit)))
        .map(|(fit, errors)| RankFit {
            form: fit.kind.name().to_owned(),
            parameters: parameters(fit, errors.as_ref(), level),
            document_correlation: errors.and_then(|errors| errors.correlation),
            correlation: fit.correlation,
            log_likelihood: fit.log_likelihood,
            aic: fit.aic,
            aic_difference: fit.aic - best,
            ks: fit.ks,
            minus_ln_p1: 0.0 - fit.ln_mass(1),
            entropy: fit.distribution.expectation(|_, ln_mass| -ln_mass),
            identifiability: LOGNORMALS
                .contains(&fit.kind)
                .then(|| identify::profile_mu(fit, histogram, level))
                .flatten(),
            flags: fit_flags(fit),
        })
        .collect()
}

fn parameters(fit: &Fit, errors: Option<&Errors>, level: f64) -> Vec<Parameter> {
    fit.parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| {
            let error = errors.and_then(|errors| {
                errors.standard.get(index).map(|error| (*error, errors.documents))
            });
            let interval = error.map_or_else(
                || Interval::None { reason: "no error over documents".to_owned() },
                |(error, documents)| spread(parameter.value, error, documents - 1, level),
            );
            Parameter {
                name: parameter.name.to_owned(),
                estimate: Estimate {
                    value: parameter.value,
                    unit: "1".to_owned(),
                    standard_error: error.map(|(error, _)| error),
                    interval,
                },
                token_standard_error: parameter.standard_error,
            }
        })
        .collect()
}

fn spread(value: f64, error: f64, degrees_of_freedom: u32, level: f64) -> Interval {
    match two_sided_quantile(level, degrees_of_freedom as usize) {
        Ok(t) => {
            let (low, high) = (value - t * error, value + t * error);
            Interval::DocumentSpread { low, high, level, degrees_of_freedom }
        }
        Err(refusal) => Interval::None { reason: refusal.to_string() },
    }
}

fn fit_flags(fit: &Fit) -> Vec<Flag> {
    let code = |caution: &Caution| match caution {
        Caution::AtLimit { .. } => FlagCode::AtBound,
        Caution::Unconfirmed => FlagCode::Unconfirmed,
        _ => FlagCode::IllConditioned,
    };
    fit.cautions
        .iter()
        .map(|caution| Flag::new(code(caution), format!("{}: {caution}", fit.kind.name())))
        .collect()
}

/// The best form against each other one; and the paper's question, lognormal against power law,
/// where that is not among them.
fn comparisons(
    run: &RunTally,
    ranks: &RankHistogram,
    fitted: &[Fit],
    histogram: &Histogram,
    level: f64,
) -> Vec<Comparison> {
    let find = |kind| fitted.iter().find(|fit: &&Fit| fit.kind == kind);
    let best = fitted.first();
    let pairs =
        best.into_iter().flat_map(|best| fitted.iter().skip(1).map(move |other| (best, other)));
    let paper = find(Kind::Lognormal)
        .zip(find(Kind::Zeta))
        .filter(|(a, b)| best.is_some_and(|best| best.kind != a.kind && best.kind != b.kind));
    pairs
        .chain(paper)
        .filter_map(|(first, second)| {
            let test = discrete::vuong(first, second, histogram).ok()?;
            let difference = |rank| first.ln_mass(rank) - second.ln_mass(rank);
            let differences: Vec<AtRank<1>> = ranks
                .iter()
                .map(|at| AtRank { rank: at.rank, tokens: at.tokens, value: [difference(at.rank)] })
                .collect();
            let documents = compare::by_documents(run, &differences);
            let p_value = documents.map_or(test.p_value, |documents| documents.p_value);
            let kinds = (first.kind, second.kind);
            Some(Comparison {
                first: kinds.0.name().to_owned(),
                second: kinds.1.name().to_owned(),
                mean_difference: test.mean_difference,
                statistic: test.statistic,
                p_value: test.p_value,
                document_statistic: documents.map(|documents| documents.statistic),
                document_p_value: documents.map(|documents| documents.p_value),
                words: compare::words(kinds.0, kinds.1, test.mean_difference, p_value, level),
            })
        })
        .collect()
}

fn appendix_b(
    fit: &Fit,
    ranks: &RankHistogram,
    calibration: &Calibration,
) -> Option<AppendixBCheck> {
    let [mu, sigma, ..] = &fit.parameters[..] else { return None };
    let (mu, sigma) = (mu.value, sigma.value);
    let closed = appendix_b::closed_form(mu, sigma).ok()?;
    let sum = appendix_b::sum(mu, sigma, fit.upper).ok()?;
    let greedy = ranks.iter().next().filter(|rank| rank.rank == 1)?;
    Some(AppendixBCheck {
        mu,
        sigma,
        minus_ln_p1_closed: closed.minus_ln_p1,
        minus_ln_p1_sum: sum.minus_ln_p1,
        minus_ln_p1_measured: Some(-(greedy.tokens as f64 / ranks.tokens() as f64).ln()),
        entropy_closed: closed.entropy,
        entropy_sum: sum.entropy,
        cross_entropy_measured: calibration.cross_entropy,
    })
}

fn binned(bins: &[Bin], fitted: &[Fit], tokens: u64) -> Vec<RankBin> {
    bins.iter()
        .map(|bin| {
            let width = f64::from(bin.high - bin.low + 1);
            let count = bin.tokens as f64;
            let seen = bin.tokens > 0;
            RankBin {
                low: bin.low,
                high: bin.high,
                tokens: bin.tokens,
                mean_nll: seen.then(|| bin.sum_nll / count),
                minus_ln_share: seen.then(|| -(count / (tokens as f64 * width)).ln()),
                fitted: fitted
                    .iter()
                    .map(|fit| six_digits(share(fit, bin.low, bin.high)))
                    .collect(),
            }
        })
        .collect()
}

/// Probability of ranks `low` to `high`, from the side where the cumulative numbers are small.
fn share(fit: &Fit, low: u32, high: u32) -> f64 {
    if low == high {
        return fit.ln_mass(low).exp();
    }
    let share = if fit.cdf(low - 1) < 0.5 {
        fit.cdf(high) - fit.cdf(low - 1)
    } else {
        fit.survival(low - 1) - fit.survival(high)
    };
    share.max(0.0)
}

/// A number that is drawn, not computed with: as short in the file as it is in the figure.
fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

fn flags(fits: &[RankFit], tokens: u64) -> Vec<Flag> {
    let noise = KOLMOGOROV / (tokens as f64).sqrt();
    let Some(closest) = fits.iter().min_by(|a, b| a.ks.total_cmp(&b.ks)) else { return Vec::new() };
    if closest.ks <= noise {
        return Vec::new();
    }
    vec![Flag::new(
        FlagCode::LackOfFit,
        format!(
            "no form fits: the closest ({}) is off by {:.4} in cumulative probability, where the noise of {tokens} \
             independent tokens is {noise:.4}",
            title(&closest.form),
            closest.ks
        ),
    )]
}

fn words(
    model: &str,
    fits: &[RankFit],
    comparisons: &[Comparison],
    appendix_b: Option<&AppendixBCheck>,
) -> String {
    let Some(best) = fits.first() else { return format!("{model}: no form could be fitted.") };
    let next = fits.get(1).map_or_else(String::new, |next| {
        format!("; next is the {}, {:.0} behind in AIC", title(&next.form), next.aic_difference)
    });
    let mut sentences = vec![format!(
        "{model}: of {} forms the {} is closest to the ranks (KS {:.4}{next}).",
        fits.len(),
        title(&best.form),
        best.ks
    )];
    if let Some(paper) =
        fits.iter().find(|fit| fit.form == Kind::Lognormal.name() && fit.form != best.form)
    {
        let test = comparisons.iter().find(|c| c.first == best.form && c.second == paper.form);
        sentences.push(format!(
            "The lognormal is behind by {:.0} in AIC{}.",
            paper.aic_difference,
            test.map_or_else(String::new, |test| format!(": {}", test.words))
        ));
    }
    if let Some(check) = appendix_b
        && let Some(measured) = check.minus_ln_p1_measured
    {
        sentences.push(format!(
            "The point masses of Appendix B give -ln p_1 = {:.3} ({:.3} in closed form) where {measured:.3} was measured, and an \
             entropy of {:.3} ({:.3}) where the cross entropy is {:.3}.",
            check.minus_ln_p1_sum,
            check.minus_ln_p1_closed,
            check.entropy_sum,
            check.entropy_closed,
            check.cross_entropy_measured
        ));
    }
    sentences.join(" ")
}
