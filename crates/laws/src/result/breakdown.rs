//! Why a rank law holds or breaks at one k: noise of the text sample, a real departure, or too
//! little to tell.

use serde::{Deserialize, Serialize};

/// A rank law beside what a perfect power law would look like on the same text sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Breakdown {
    /// What was found.
    pub finding: Finding,
    /// The noise of each point, in the order of the law's points.
    pub noise: Vec<PointNoise>,
    /// The scatter of the models against that noise, or why it could not be tested.
    pub test: ScatterTest,
    /// What would change the finding, in words; empty in files of before it was told.
    #[serde(default)]
    pub would_change: String,
    /// The finding in one sentence, with its numbers.
    pub verdict: String,
}

/// What is found at one k.
///
/// In JSON `holds`, `bends`, `departure`, `sampling_noise`, `slope_lost`, `too_few`, `undecided`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// The quantity falls with size with R² of at least 0.9, the paper's own yardstick, over at
    /// least five models, and the test of the form does not reject the power law: of truths with a
    /// bend that the models would show, few are called so. The models may still scatter by more
    /// than the sample's noise: see the test.
    Holds,
    /// As before by R², but the points bend beyond the test's level: a power law describes them,
    /// and they follow none.
    Bends,
    /// R² is lower or the slope turned, and sampling noise does not explain the scatter: models
    /// depart from the line for other reasons.
    Departure,
    /// R² is lower, but sampling noise explains the scatter: the slope is still seen, or would be
    /// hidden even if it were that of the reference k.
    SamplingNoise,
    /// R² is lower, sampling noise explains the scatter, but no slope is seen where one as at the
    /// reference k would be: the quantity has stopped to fall as it did.
    SlopeLost,
    /// Some model has too few misses or hits for its point to be known.
    TooFew,
    /// Too few models for R² to mean anything and a bend to be tested, no fit, no known noise, or a
    /// bend as at the smallest k that would not be seen at this one.
    Undecided,
}

/// The sampling noise of one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointNoise {
    /// The model's name.
    pub model: String,
    /// Standard error of `ln(-ln RBP_k)` over resampled documents; absent when documents could not
    /// be resampled.
    pub log_standard_error: Option<f64>,
    /// The same if tokens were independent: `sqrt((1 - p)/(n p)) / (-ln p)`, which is about
    /// `1/sqrt(misses)` near p = 1.
    pub independent_log_standard_error: f64,
    /// Variance of `RBP_k` over resampled documents by that of as many independent tokens,
    /// `p(1 - p)/n` (Kish 1965): how alike the tokens of a document are. Absent without resamples.
    pub design_effect: Option<f64>,
    /// Tokens by design effect: how many independent ones would know `RBP_k` as well. Absent
    /// without a design effect, or when no resample differed.
    pub effective_tokens: Option<f64>,
}

/// The test of the scatter. In JSON the member `status` is `tested` or `untested`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ScatterTest {
    /// Perfect laws were drawn with the sample's noise.
    Tested(Box<PerfectLaw>),
    /// There is no test.
    Untested {
        /// Why, in words.
        reason: String,
    },
}

/// The fit beside fits to a perfect power law with the noise of the text sample (parametric
/// bootstrap).
///
/// Noise is drawn with the covariance of the points over resampled documents, and with the doubt
/// about that covariance that so many documents leave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerfectLaw {
    /// R² of the law's own fit; absent when all values are equal.
    pub r_squared: Option<f64>,
    /// Median R² of a perfect law with the fitted exponent and this noise.
    pub r_squared_median: f64,
    /// R² that 95 % of such laws exceed.
    pub r_squared_low: f64,
    /// Chance that a perfect law scatters as much as the models do, or more: that of `sum e²`,
    /// which depends on the noise alone and not on the exponent. Small = sampling noise alone does
    /// not explain the scatter.
    pub p_value: f64,
    /// Perfect laws drawn.
    pub draws: u32,
    /// Whether a slope known from a smaller k would be seen at this noise; absent when no such law
    /// holds.
    pub reference: Option<ReferenceSlope>,
}

/// A slope known from another k, under the noise of this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReferenceSlope {
    /// The k that it comes from: the largest up to 100 at which a line describes the law, by R²
    /// over models enough.
    pub k: u32,
    /// The exponent there.
    pub exponent: f64,
    /// Chance that a perfect law of this exponent would show itself: that the interval of its
    /// fitted exponent lies above 0.
    pub power: f64,
    /// Median R² of such a law.
    pub r_squared_median: f64,
}

/// Over all k of a family on a corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupBreakdown {
    /// The largest k up to which the law holds at every k that was fitted; absent when it does not
    /// at the first.
    pub holds_up_to: Option<u32>,
    /// Where it holds and what lies beyond, in words.
    pub verdict: String,
}
