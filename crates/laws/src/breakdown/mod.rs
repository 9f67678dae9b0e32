//! Why the rank law breaks at large k, or whether it does.
//!
//! At large k nearly every token hits, `-ln RBP_k` rests on few misses, and its logarithm is noisy:
//! R² must fall even if the law is perfect. So each law is set beside perfect power laws that are
//! seen through the noise of the same text sample (`ln value = ln C - alpha ln S + e`, e drawn with
//! the joint covariance of the models with documents left out one by one):
//!
//! * does that noise explain the scatter of the models about their line (p-value)?
//! * would it hide a slope like the one at k = 100 (power)?
//!
//! Scatter that noise explains, in a sample that would hide any slope, says nothing against the
//! law; scatter beyond the noise is a departure, and a slope that would have been seen and is not
//! is lost.
//!
//! Where R² is high the question is another one: does the line bend? A law holds only where the
//! test of the form (`judged`) does not reject it, over models enough for that test, and where a
//! bend seen at the smallest k is excluded here.
//!
//! | file | what |
//! |---|---|
//! | `points` | the noise of each point: standard errors, design effect |
//! | `verdicts` | the sentences |
//! | `classes` | which classes of tokens the misses are |

pub(crate) mod classes;
mod points;
mod verdicts;

use rayon::prelude::*;
use relscale_records::digits;
use relscale_stats::bootstrap::{Noise, PerfectFit, Sample, perfect_lines};
use relscale_stats::interval::{percentile, student};

use crate::options::FitOptions;
use crate::result::{
    Breakdown, Finding, FormFinding, FormTest, GroupBreakdown, Law, PerfectLaw, PowerLaw,
    ReferenceSlope, ScatterTest,
};
use crate::series::{BEYOND_NOISE, UNKNOWN_TEXT};
use crate::table::Group;
use points::Replicates;

/// R² from which the law is said to hold: what the paper reports for every k below 1000.
const HOLDS: f64 = 0.9;

/// Models below which R² says little and a bend cannot be tested.
const FEWEST_MODELS: u32 = relscale_stats::judge::FEWEST_FOR_BEND as u32;

/// Documents below which their variety is not known well enough to test anything by it.
const FEWEST_DOCUMENTS: u64 = 10;

/// The reference slope is that of the largest k up to this at which the law holds.
const REFERENCE_K: u32 = 100;

/// Chance of being seen from which a slope counts as visible.
const VISIBLE: f64 = 0.8;

/// Judges every rank law of a group and the group as a whole.
pub(crate) fn judge(group: &Group<'_>, laws: &mut [Law], options: &FitOptions) -> GroupBreakdown {
    let reference = laws
        .iter()
        .rev()
        .filter(|law| law.k().is_some_and(|k| k <= REFERENCE_K) && described(law))
        .find_map(|law| Some(Reference { k: law.k()?, exponent: law.fit()?.exponent.value }));
    // At the smallest k misses are most and noise is least: a bend there is not to be lost sight
    // of.
    let bent = laws.first().and_then(Bent::from_law);
    laws.par_iter_mut().enumerate().for_each(|(at, law)| {
        let replicates = Replicates::new(group, at, law);
        let test = match scatter(law, &replicates, group.documents, reference, options) {
            Ok(perfect) => ScatterTest::Tested(Box::new(perfect)),
            Err(reason) => ScatterTest::Untested { reason },
        };
        let finding = finding(law, &test, bent);
        let noise = replicates.noise(law);
        let verdict = verdicts::law(law, finding, &test, bent);
        let would_change = verdicts::would_change(law, finding);
        law.breakdown = Some(Breakdown { finding, noise, test, would_change, verdict });
    });
    let unbroken = laws.iter().take_while(|law| finding_of(law) == Some(Finding::Holds));
    let holds_up_to = unbroken.last().and_then(Law::k);
    GroupBreakdown { holds_up_to, verdict: verdicts::group(laws, holds_up_to) }
}

#[derive(Clone, Copy)]
struct Reference {
    k: u32,
    exponent: f64,
}

fn finding_of(law: &Law) -> Option<Finding> {
    law.breakdown.as_ref().map(|breakdown| breakdown.finding)
}

/// A bend that the test found at a small k.
#[derive(Clone, Copy)]
struct Bent {
    k: u32,
    curvature: f64,
}

impl Bent {
    fn from_law(law: &Law) -> Option<Self> {
        let test =
            form_of(law).filter(|test| test.finding == FormFinding::Bends && described(law))?;
        Some(Self { k: law.k()?, curvature: test.curvature? })
    }

    /// Whether the law may bend as much: the interval of its own curvature holds this one.
    fn possible(self, test: &FormTest) -> bool {
        let interval = test.curvature.zip(test.standard_error).zip(test.degrees_of_freedom);
        interval.is_some_and(|((curvature, error), freedom)| {
            student::two_sided_quantile(1.0 - test.level, freedom as usize)
                .is_ok_and(|t| (curvature - self.curvature).abs() <= t * error)
        })
    }
}

/// The test of the law's form.
fn form_of(law: &Law) -> Option<&FormTest> {
    law.rivals.as_ref()?.test.as_ref()
}

/// Whether the paper would say that the law holds: a line describes it.
fn described(law: &Law) -> bool {
    law.fit().is_some_and(|fit| {
        fit.claimed
            && fit.points >= FEWEST_MODELS
            && fit.exponent.value > 0.0
            && fit.r_squared.is_some_and(|r| r >= HOLDS)
    })
}

fn finding(law: &Law, test: &ScatterTest, bent: Option<Bent>) -> Finding {
    match (law.fit(), test) {
        (None, _) => Finding::Undecided,
        (Some(fit), _) if !fit.claimed => Finding::TooFew,
        (Some(fit), _) if fit.points < FEWEST_MODELS => Finding::Undecided,
        _ if described(law) => match form_of(law) {
            None => Finding::Undecided,
            Some(form) => match form.finding {
                FormFinding::Bends => Finding::Bends,
                FormFinding::NotRejected if bent.is_some_and(|bent| bent.possible(form)) => {
                    Finding::Undecided
                }
                FormFinding::NotRejected => Finding::Holds,
                FormFinding::Undecided => Finding::Undecided,
            },
        },
        (_, ScatterTest::Untested { .. }) => Finding::Undecided,
        (_, ScatterTest::Tested(perfect)) if perfect.p_value < BEYOND_NOISE => Finding::Departure,
        (Some(fit), ScatterTest::Tested(perfect)) => match &perfect.reference {
            Some(reference) if reference.power >= VISIBLE && !seen(fit) => Finding::SlopeLost,
            _ => Finding::SamplingNoise,
        },
    }
}

/// Whether the quantity is known to fall: the interval of its exponent lies above zero.
fn seen(fit: &PowerLaw) -> bool {
    fit.exponent.bounds().is_some_and(|(low, _)| low > 0.0)
}

/// Draws perfect laws with the noise of the points and sets the fit beside them.
fn scatter(
    law: &Law,
    replicates: &Replicates<'_>,
    documents: u64,
    reference: Option<Reference>,
    options: &FitOptions,
) -> Result<PerfectLaw, String> {
    let fit = law.fit().ok_or_else(|| "there is no fit".to_owned())?;
    let log_sizes: Vec<f64> = law.points.iter().map(|point| point.x.ln()).collect();
    let points = log_sizes.len();
    if points < 3 {
        return Err("two points leave no scatter".to_owned());
    }
    replicates.logarithms()?;
    if documents < FEWEST_DOCUMENTS {
        return Err(format!("{documents} documents are too few to know the noise of a point"));
    }
    let text = law.text.as_ref().ok_or_else(|| UNKNOWN_TEXT.to_owned())?;
    // One dimension: each residual becomes Student's t, as its variance is known as from so many
    // even documents.
    let units = (text.degrees_of_freedom + 1.0).floor() as usize;
    let noise = Noise::estimated(&text.covariance, points, units, 1)
        .map_err(|refusal| refusal.to_string())?;
    // The streams of the resamples count up from 0; these count down, one a k.
    let stream = u64::MAX - u64::from(law.k().unwrap_or(0));
    let draw = |exponent: f64| {
        perfect_lines(&log_sizes, -exponent, &noise, options.resamples, options.seed, stream)
            .map_err(|refusal| refusal.to_string())
    };
    let own = draw(fit.exponent.value)?;
    let r_squared = Sample::new(own.iter().map(|fit| fit.r_squared));
    let quantile = |probability| {
        percentile::quantile(r_squared.ascending(), probability)
            .map_err(|refusal| refusal.to_string())
    };
    Ok(PerfectLaw {
        r_squared: fit.r_squared,
        r_squared_median: quantile(0.5)?,
        r_squared_low: quantile(0.05)?,
        p_value: p_value(law, &own),
        draws: own.len() as u32,
        reference: match reference {
            Some(reference) => {
                Some(visible(reference, &draw(reference.exponent)?, points, options.level)?)
            }
            None => None,
        },
    })
}

/// Share of perfect laws with residuals as large; the data count as one of them (Davison and
/// Hinkley 1997, eq. 4.11).
fn p_value(law: &Law, perfect: &[PerfectFit]) -> f64 {
    let observed: f64 =
        law.points.iter().filter_map(|point| point.log_residual).map(|e| e * e).sum();
    let as_large = perfect.iter().filter(|fit| fit.residual_sum_of_squares >= observed).count();
    (1 + as_large) as f64 / (1 + perfect.len()) as f64
}

/// How often the interval of the exponent of a perfect law lies above zero.
fn visible(
    reference: Reference,
    perfect: &[PerfectFit],
    points: usize,
    level: f64,
) -> Result<ReferenceSlope, String> {
    let t =
        student::two_sided_quantile(level, points - 2).map_err(|refusal| refusal.to_string())?;
    let seen = perfect.iter().filter(|fit| -fit.slope > t * fit.slope_standard_error).count();
    let r_squared = Sample::new(perfect.iter().map(|fit| fit.r_squared));
    Ok(ReferenceSlope {
        k: reference.k,
        exponent: reference.exponent,
        power: seen as f64 / perfect.len() as f64,
        r_squared_median: percentile::quantile(r_squared.ascending(), 0.5)
            .map_err(|refusal| refusal.to_string())?,
    })
}

/// R² as the verdicts tell it: cut, not rounded, so that 0.8996 is not told as the 0.9 that it
/// misses.
fn r_squared(fit: &PowerLaw) -> String {
    fit.r_squared.map_or("no R²".to_owned(), |r| format!("R² {}", digits::r_squared(r)))
}
