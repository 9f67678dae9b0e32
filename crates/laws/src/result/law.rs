//! One power law `y = C S^-exponent`, its points, and what was left out of it.

use serde::{Deserialize, Serialize};

use super::{Breakdown, Estimate, Flag, Rivals};

/// A law of one quantity over the models of one family on one corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Law {
    /// What is fitted against size.
    pub quantity: Quantity,
    /// Unit of the quantity: `nats` for `-ln RBP_k` and `-ln p`, `nats per token` for the cross entropy.
    pub unit: String,
    /// The points of the fit, smallest model first.
    pub points: Vec<LawPoint>,
    /// Models that have no point here, smallest first.
    pub left_out: Vec<LeftOut>,
    /// The fit, or why there is none.
    pub outcome: Outcome,
    /// Other forms on the same points; absent where there is no power law either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rivals: Option<Rivals>,
    /// How the points move together on other texts; absent where documents could not be left out one by one, and in files of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextNoise>,
    /// Doubts about this law.
    pub flags: Vec<Flag>,
    /// Whether the law holds at this k and, if not, why (rank laws only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
    /// One sentence with the numbers.
    pub verdict: String,
}

impl Law {
    /// The k of a rank law; `None` for the cross-entropy law.
    pub fn k(&self) -> Option<u32> {
        match self.quantity {
            Quantity::Rank { k } => Some(k),
            Quantity::CrossEntropy | Quantity::Sequence { .. } => None,
        }
    }

    /// The fitted power law, when there is one.
    pub fn fit(&self) -> Option<&PowerLaw> {
        match &self.outcome {
            Outcome::Fitted(fit) => Some(fit),
            Outcome::Refused { .. } => None,
        }
    }
}

/// What a law is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Quantity {
    /// `-ln RBP_k`, where `RBP_k` is the share of scored tokens whose rank is at most `k`
    /// (arXiv 2510.20387, eq. 4 and 5).
    Rank {
        /// The largest rank that counts as a hit.
        k: u32,
    },
    /// Mean negative log-likelihood of a scored token.
    CrossEntropy,
    /// `-ln p`, where `p` is the share of windows of `length` consecutive tokens that all have rank at most `k`
    /// (arXiv 2510.20387, eq. 6 to 8, measured).
    Sequence {
        /// The largest rank that counts as a hit.
        k: u32,
        /// N, tokens in a row.
        length: u32,
    },
}

impl Quantity {
    /// The quantity as text, e.g. `-ln RBP_10`.
    pub fn symbol(&self) -> String {
        match self {
            Self::Rank { k } => format!("-ln RBP_{k}"),
            Self::CrossEntropy => "CE".to_owned(),
            Self::Sequence { k, length } => format!("-ln p_{{{length},{k}}}"),
        }
    }

    /// The unit of the quantity.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Rank { .. } | Self::Sequence { .. } => "nats",
            Self::CrossEntropy => "nats per token",
        }
    }
}

/// Where k stands between 1 and the vocabulary (spec of arXiv 2510.20387: the three regimes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    /// `k = 1`: greedy decoding.
    Greedy,
    /// `1 < k <= 100`: sampling from the head of the distribution.
    TopK,
    /// `k > 100`: towards the vocabulary, where the law is known to fray.
    Large,
}

impl Regime {
    /// The regime of `k`.
    pub fn of(k: u32) -> Self {
        match k {
            0..=1 => Self::Greedy,
            2..=100 => Self::TopK,
            _ => Self::Large,
        }
    }
}

/// One model in one law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LawPoint {
    /// The model's name.
    pub model: String,
    /// Non-embedding parameters S.
    pub parameters: u64,
    /// `-ln RBP_k` (nats) or cross entropy (nats per token).
    pub value: f64,
    /// Standard error of `value` by document bootstrap; absent with one document.
    pub standard_error: Option<f64>,
    /// `ln(value)`, what the line is fitted to.
    pub log_value: f64,
    /// Standard error of `log_value` by document bootstrap.
    pub log_standard_error: Option<f64>,
    /// Scored tokens behind the point; of a law of sequences: windows.
    pub tokens: u64,
    /// Tokens with rank at most k (rank laws), windows that succeed (laws of sequences).
    pub hits: Option<u64>,
    /// The others.
    pub misses: Option<u64>,
    /// What the fitted law gives at this size, in the unit of `value`; absent without a fit.
    pub fitted: Option<f64>,
    /// `log_value - ln(fitted)`: the residual of the line.
    pub log_residual: Option<f64>,
    /// The point's own weight in its fitted value, from `1/n` to 1.
    pub leverage: Option<f64>,
}

/// A model that has no point in a law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The model's name.
    pub model: String,
    /// Non-embedding parameters S.
    pub parameters: u64,
    /// Why, in words, with the counts.
    pub reason: String,
}

/// How a fit ended. In JSON the member `status` is `fitted` or `refused`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    /// A power law was fitted.
    Fitted(Box<PowerLaw>),
    /// There is no fit.
    Refused {
        /// Why, in words.
        reason: String,
    },
}

/// `value = prefactor * S^-exponent`, by least squares of `ln value` on `ln S`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PowerLaw {
    /// alpha (rank) or beta (cross entropy); positive when the quantity falls with size. For texts like this one and models
    /// like these: the scatter of the models and the noise of the text together. By Student t from the scatter alone where the
    /// noise of the text is not known.
    pub exponent: Estimate,
    /// The same from the scatter of the models alone, by Student t: for this very text. Absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponent_of_this_text: Option<Estimate>,
    /// Standard error of the exponent that the text sample alone gives (documents left out one by one, the
    /// models held fixed); absent with one document.
    pub exponent_sampling_error: Option<f64>,
    /// The exponent with the noise of the text alone, the models held fixed: for these very models.
    pub exponent_sampling_interval: Estimate,
    /// Correlation of the logarithm of [`at_centre`](Self::at_centre) with the exponent over texts: 0 where the text is not in them.
    #[serde(default)]
    pub correlation: f64,
    /// C: the law's value at `S = 1`, far outside the data, so its interval is wide. Absent when it exceeds
    /// the range of numbers (two models of nearly one size can have any slope).
    pub prefactor: Option<Estimate>,
    /// The geometric mean of the sizes, where the line is known best.
    pub centre_parameters: f64,
    /// The law's value at `centre_parameters`, in the unit of the quantity.
    pub at_centre: Estimate,
    /// `1 - SS_residual / SS_total` of the log-log fit, as the paper; absent when all values are equal.
    pub r_squared: Option<f64>,
    /// Standard deviation of the residuals of `ln value` (n - 2 in the denominator); absent for two points.
    pub residual_standard_deviation: Option<f64>,
    /// Points in the fit.
    pub models: u32,
    /// Smallest and largest S in the fit.
    pub parameter_range: (u64, u64),
    /// False when a flag says that no slope may be claimed (few misses or hits, see the flags).
    pub claimed: bool,
    /// The residuals against the noise of the text sample; absent when that is unknown, or the documents are
    /// too few to know it.
    pub chi_squared: Option<ChiSquared>,
    /// Each model predicted from all others.
    pub leave_one_out: Vec<HeldOut>,
    /// Fits to the smallest m models predict the larger ones, for each m from 3 (extrapolation audit).
    pub audit: Vec<AuditStep>,
}

impl PowerLaw {
    /// The law's value at `parameters`, in the unit of the quantity.
    ///
    /// Computed from the centre of the data, where no digits are lost.
    pub fn at(&self, parameters: f64) -> f64 {
        self.at_centre.value * (parameters / self.centre_parameters).powf(-self.exponent.value)
    }

    /// The interval of the line at `parameters`, in the unit of the quantity: where the law's own value lies, not that of
    /// a model, which scatters about it. Absent where exponent or value at the centre have no interval.
    ///
    /// Slope and value at the centre of a least-squares line are uncorrelated but for what a text moves in both (`r`), so with `h`
    /// half an interval in the logarithm and `d = ln S - ln centre` the ends are
    /// `exp(±sqrt(h_centre² - 2 r d h_centre h_exponent + d² h_exponent²))` times the value (Draper and Smith, 3rd ed., 3.1).
    pub fn line_interval(&self, parameters: f64) -> Option<(f64, f64)> {
        let (low, high) = self.exponent.bounds()?;
        let (least, most) = self.at_centre.bounds()?;
        let distance = (parameters / self.centre_parameters).ln();
        let (centre, slope) = ((most / least).ln() / 2.0, distance * (high - low) / 2.0);
        let half =
            (centre * centre - 2.0 * self.correlation * centre * slope + slope * slope).max(0.0).sqrt();
        let value = self.at(parameters);
        let ends = (value * (-half).exp(), value * half.exp());
        (ends.0.is_finite() && ends.1.is_finite()).then_some(ends)
    }
}

/// How the logarithms of a law's points vary together over texts like the one measured: what the text adds to every interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextNoise {
    /// Covariance of the logarithms of the points, in their order, row by row: by leaving out one document at a time, the loudest
    /// counted twice.
    pub covariance: Vec<f64>,
    /// With which it is known: fewer than the documents where some are long, or err much more than others.
    pub degrees_of_freedom: f64,
    /// One document's largest share of the text's variance of the exponent; 0 where it is not known.
    #[serde(default)]
    pub loudest: f64,
    /// Documents.
    pub documents: u64,
    /// Documents of equal length that would know a mean as well (Kish 1965).
    pub effective_documents: f64,
}

/// Goodness of fit against the noise of the text sample.
///
/// The least `(y - Xb)ᵀ V⁻¹ (y - Xb)` over lines, y the log values and V their covariance over resampled documents:
/// models err together on a sample, and V knows it. A large value says that the models scatter about the line for
/// reasons other than the text sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChiSquared {
    /// The minimum.
    pub value: f64,
    /// Points less two.
    pub degrees_of_freedom: u32,
    /// Exponent of that fit, beside the unweighted one.
    pub weighted_exponent: f64,
    /// Chance of a value this large or larger were the law exact (Hotelling's T², as V is itself estimated from
    /// the documents).
    pub p_value: f64,
}

/// A model predicted by a law that did not see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The model's name.
    pub model: String,
    /// Non-embedding parameters S.
    pub parameters: u64,
    /// Measured value.
    pub observed: f64,
    /// Predicted value, in the same unit; the interval is that of a new model's value (Student t).
    pub predicted: Estimate,
    /// `predicted / observed - 1`.
    pub relative_error: f64,
    /// Whether the interval holds the measured value; absent when there is no interval.
    pub covered: Option<bool>,
}

/// One step of the extrapolation audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditStep {
    /// How many of the smallest models were fitted.
    pub fitted_models: u32,
    /// Exponent from these alone.
    pub exponent: f64,
    /// The larger models, as this fit predicts them.
    pub predictions: Vec<HeldOut>,
}
