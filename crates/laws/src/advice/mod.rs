//! What to measure next: which further model, or how much more text, narrows an interval most for
//! its cost.
//!
//! ```text
//! today     ln y = X b + m + s,  m ~ N(0, tau² I) models,  s ~ N(0, V) text
//! then      one more model at S': a row of X, a row of V (by the line through how the text moves the others)
//!           c times the text:     V / c, known with c times the degrees of freedom
//! width     the median, over studies drawn from that, of the interval that the same fit gives
//! ```
//!
//! Both widths, today's and then's, are of drawn studies, so that their ratio does not depend on
//! what this study's residuals happen to be; it is told of today's interval as `fit` has it.
//!
//! | file | what |
//! |---|---|
//! | `design` | sizes, scatter and noise of a law, today or with more |
//! | `verdicts` | sentences with their numbers |
//!
//! Invariants: a candidate is compared under the same draws for all. Nothing is advised from a law
//! that is not claimed, or has too few points to be drawn from.

mod design;
mod verdicts;

use relscale_stats::interval::open_form::Of;

use crate::error::LawsError;
use crate::options::FitOptions;
use crate::predict::{Size, Source, groups_of};
use crate::result::{
    Advice, Candidate, FoundAdvice, Further, GroupFit, LawAdvice, Narrowed, Outcome, Predicted,
    RESULT_FORMAT, StudyFit,
};
use crate::series;
use design::{Design, Widths};

/// What is asked of the laws of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct AdviceOptions {
    /// This family only.
    pub family: Option<String>,
    /// This corpus only.
    pub corpus: Option<String>,
    /// The k of the rank laws that are looked at; one that was not fitted is told.
    pub k: Vec<u32>,
    /// Sizes of models that could be measured; empty for some about the measured ones.
    pub sizes: Vec<Size>,
    /// How many times the text could be scored; each above 1.
    pub times: Vec<f64>,
    /// Which interval is to narrow.
    pub of: Narrowed,
    /// Tokens on which a new model must first be trained.
    pub training_tokens: Option<f64>,
    /// Studies to draw behind each width.
    pub draws: u32,
    /// Seed of the drawing.
    pub seed: u64,
}

impl Default for AdviceOptions {
    fn default() -> Self {
        Self {
            family: None,
            corpus: None,
            k: vec![1],
            sizes: Vec::new(),
            times: vec![2.0, 4.0, 10.0],
            of: Narrowed::Exponent,
            training_tokens: None,
            draws: 200,
            seed: FitOptions::default().seed,
        }
    }
}

impl AdviceOptions {
    /// Refuses what cannot be asked.
    fn validate(&self) -> Result<(), LawsError> {
        let refuse =
            |option, value: String, expected| Err(LawsError::Option { option, value, expected });
        if let Some(times) = self.times.iter().find(|times| !(**times > 1.0 && times.is_finite())) {
            return refuse("times", times.to_string(), "above 1: 1 is the text as it is");
        }
        if let Some(tokens) =
            self.training_tokens.filter(|tokens| !(*tokens > 0.0 && tokens.is_finite()))
        {
            return refuse("training-tokens", tokens.to_string(), "above 0");
        }
        if self.draws < 20 {
            return refuse("draws", self.draws.to_string(), "at least 20");
        }
        Ok(())
    }
}

/// Says of each law how much further measurements would narrow it.
///
/// # Errors
/// [`LawsError::NoGroup`] for a family or corpus that the study does not have;
/// [`LawsError::Option`] for what cannot be asked. What cannot be advised is no error: the law says
/// why.
pub fn advise(laws: &StudyFit, options: &AdviceOptions) -> Result<Advice, LawsError> {
    options.validate()?;
    let groups = groups_of(laws, options.family.as_deref(), options.corpus.as_deref())?;
    let level = laws.options.level;
    let quantities = || {
        let ranks = options.k.iter().map(|&k| Predicted::Rbp { k });
        ranks.chain([Predicted::CrossEntropy])
    };
    let found: Vec<LawAdvice> = groups
        .into_iter()
        .flat_map(|group| quantities().map(move |quantity| law(group, quantity, options, level)))
        .collect();
    Ok(Advice {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        level,
        draws: options.draws,
        seed: options.seed,
        of: options.of,
        training_tokens: options.training_tokens,
        verdict: verdicts::whole(&found, options.of),
        laws: found,
    })
}

/// How far beyond the largest model the prediction lies.
const AHEAD: f64 = 10.0;

fn law(group: &GroupFit, quantity: Predicted, options: &AdviceOptions, level: f64) -> LawAdvice {
    let found = found(group, quantity, options, level);
    let verdict = match &found {
        Ok(found) => verdicts::law(quantity, found, options.of),
        Err(reason) => format!("{}: {reason}.", quantity.symbol()),
    };
    LawAdvice {
        family: group.family.clone(),
        corpus: group.corpus.clone(),
        quantity,
        outcome: match found {
            Ok(found) => Outcome::fitted(found),
            Err(reason) => Outcome::Refused { reason },
        },
        verdict,
    }
}

fn found(
    group: &GroupFit,
    quantity: Predicted,
    options: &AdviceOptions,
    level: f64,
) -> Result<FoundAdvice, String> {
    let source = Source::from_group(group, quantity)?;
    if !source.law.fit().is_some_and(|law| law.claimed) {
        return Err("its slope is not claimed, as some model has too few misses or hits".into());
    }
    let design = Design::of(&source)?;
    let exponent = source.fit.exponent(level);
    let (low, high) = exponent.bounds().ok_or("its exponent has no interval")?;
    let largest = source.sizes.iter().copied().fold(0.0, f64::max);
    let ahead = AHEAD * largest;
    let ahead_bounds = source.open.at(ahead, Of::Point, level).ok();
    let ahead_ratio =
        ahead_bounds.and_then(|open| open.bounds()).map(|(low, high)| (high - low).exp());
    let points = &source.law.points;
    let tokens: Vec<f64> =
        points.iter().filter_map(|point| point.tokens).map(|tokens| tokens as f64).collect();
    let tokens = tokens.iter().sum::<f64>() / tokens.len().max(1) as f64;
    let draw = |design: &Design| design.widths(ahead, level, options.draws, options.seed);
    let today = draw(&design).ok_or("no study could be drawn from it")?;
    let cost = Cost { sizes: &source.sizes, tokens, training: options.training_tokens };
    let (numbers, _) = series::numbers(points);
    let mut candidates: Vec<Candidate> = models(&options.sizes, &numbers)
        .into_iter()
        .map(|parameters| Further::Model { parameters })
        .chain(
            // What adds nothing that is known of is not drawn.
            options.times.iter().map(|&times| Further::Text { times }),
        )
        .filter_map(|what| {
            let then = draw(&design.with(what)?)?;
            Some(candidate(what, &cost, options.of, [&today, &then]))
        })
        .collect();
    candidates.sort_by(|one, other| {
        other.worth.total_cmp(&one.worth).then(one.flops.total_cmp(&other.flops))
    });
    Ok(FoundAdvice {
        exponent: exponent.value,
        half: 0.5 * (high - low),
        text_share: exponent.interval.text_share().unwrap_or(0.0),
        ahead,
        ahead_ratio: ahead_ratio.filter(|ratio| ratio.is_finite()),
        tokens,
        candidates,
    })
}

/// What things cost.
struct Cost<'a> {
    sizes: &'a [f64],
    tokens: f64,
    training: Option<f64>,
}

impl Cost<'_> {
    /// What measuring the models took.
    fn today(&self) -> f64 {
        (2.0 * self.tokens * self.sizes.iter().sum::<f64>()).max(1.0)
    }

    fn of(&self, what: Further) -> f64 {
        match what {
            Further::Model { parameters } => {
                2.0 * parameters * self.tokens + 6.0 * parameters * self.training.unwrap_or(0.0)
            }
            Further::Text { times } => (times - 1.0) * self.today(),
        }
    }
}

fn candidate(
    what: Further,
    cost: &Cost<'_>,
    of: Narrowed,
    [today, then]: [&Widths; 2],
) -> Candidate {
    let flops = cost.of(what);
    let mut candidate = Candidate {
        what,
        flops,
        exponent_part: then.exponent / today.exponent,
        ahead_part: then.ahead.zip(today.ahead).map(|(then, today)| then / today),
        cost: flops / cost.today(),
        worth: 0.0,
    };
    let narrowing = candidate.part(of).map_or(0.0, |part| (1.0 - part).max(0.0));
    // Within what the drawing leaves open nothing is gained.
    candidate.worth = if narrowing < NOTHING { 0.0 } else { narrowing / candidate.cost };
    candidate
}

/// Narrowing by a smaller part is none: medians of a few hundred drawn studies vary by as much.
const NOTHING: f64 = 0.02;

/// The sizes of models that could be measured: those asked for, else a decade and half a decade
/// beyond both ends, and the middle of the widest gap.
fn models(asked: &[Size], measured: &[f64]) -> Vec<f64> {
    let largest = measured.iter().copied().fold(0.0, f64::max);
    if !asked.is_empty() {
        return asked.iter().map(|size| size.parameters(largest as u64)).collect();
    }
    let smallest = measured.iter().copied().fold(f64::INFINITY, f64::min);
    let half = 10f64.sqrt();
    let gap = measured
        .windows(2)
        .max_by(|one, other| (one[1] / one[0]).total_cmp(&(other[1] / other[0])))
        .map(|pair| (pair[0] * pair[1]).sqrt());
    let mut sizes =
        vec![smallest / 10.0, smallest / half, largest * half, largest * 10.0, largest * 100.0];
    sizes.extend(gap);
    sizes.retain(|size| *size >= 1.0);
    sizes.sort_by(f64::total_cmp);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_lie_beyond_both_ends_and_in_the_gap() {
        let sizes = models(&[], &[1e3, 1e4, 1e6]);
        let wanted = [1e2, 1e3 / 10f64.sqrt(), 1e5, 1e6 * 10f64.sqrt(), 1e7, 1e8];
        for (size, wanted) in sizes.iter().zip(wanted) {
            assert!((size / wanted - 1.0).abs() < 1e-12, "{sizes:?}");
        }
        assert_eq!(
            models(&["7B".parse().unwrap(), "3x".parse().unwrap()], &[1e3, 1e6]),
            [7e9, 3e6]
        );
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        for (options, word) in [
            (AdviceOptions { times: vec![1.0], ..AdviceOptions::default() }, "times"),
            (
                AdviceOptions { training_tokens: Some(0.0), ..AdviceOptions::default() },
                "training-tokens",
            ),
            (AdviceOptions { draws: 5, ..AdviceOptions::default() }, "draws"),
        ] {
            let error = options.validate().unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
