//! A law through labelled points: the points, what was left out, the law or the reason for none,
//! and what is to be doubted. Laws of a study, of a table and of two distributions are all this.

use serde::{Deserialize, Serialize};

use super::{AuditStep, Breakdown, Coverage, Estimate, Flag, FlagCode, HeldOut, Outcome, Rivals};
use crate::kind::Kind;

/// One quantity at several x, and the law through it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series<L = PowerLaw> {
    /// What tells it from its neighbours: a table's column, a distribution; of a study's laws the
    /// quantity's symbol.
    pub name: String,
    /// What is fitted against x.
    pub quantity: Quantity,
    /// Unit of the quantity, e.g. `nats` for `-ln RBP_k`.
    pub unit: String,
    /// The points of the fit, smallest x first.
    pub points: Vec<Point>,
    /// What has no point here: models, rows.
    pub left_out: Vec<LeftOut>,
    /// The law, or why there is none.
    pub outcome: Outcome<L>,
    /// Other forms on the same points; absent without a power law, and where they were not asked
    /// for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rivals: Option<Rivals>,
    /// How the points move together on other texts; absent where documents could not be left out
    /// one by one, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextNoise>,
    /// Doubts about this law.
    pub flags: Vec<Flag>,
    /// Whether the law holds at this k and, if not, why (rank laws only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
    /// One sentence with the numbers; of the error of one distribution there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub verdict: String,
}

/// A power law through points.
pub type Law = Series<PowerLaw>;

impl<L> Series<L> {
    /// The k of a rank law; `None` for every other.
    pub fn k(&self) -> Option<u32> {
        match self.quantity {
            Quantity::Rank { k } => Some(k),
            _ => None,
        }
    }

    /// The law, when there is one.
    pub fn fit(&self) -> Option<&L> {
        self.outcome.fit()
    }

    /// False when a flag says that no slope may be claimed: few misses or hits of some model.
    pub fn claimed(&self) -> bool {
        claimed(&self.flags)
    }

    /// The point of this label.
    pub fn point(&self, label: &str) -> Option<&Point> {
        self.points.iter().find(|point| point.label == label)
    }
}

/// Whether no flag says that misses or hits are too few.
pub(super) fn claimed(flags: &[Flag]) -> bool {
    !flags.iter().any(|flag| matches!(flag.code, FlagCode::FewMisses | FlagCode::FewHits))
}

/// What a law is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// `-ln p`, where `p` is the share of windows of `length` consecutive tokens that all have rank
    /// at most `k` (arXiv 2510.20387, eq. 6 to 8, measured).
    Sequence {
        /// The largest rank that counts as a hit.
        k: u32,
        /// N, tokens in a row.
        length: u32,
    },
    /// Total bits over total bytes of the scored tokens.
    BitsPerByte,
    /// `-ln RBP_k` of bytes: of those that stand in tokens of rank at most `k`.
    Bytes {
        /// The largest rank that counts as a hit.
        k: u32,
    },
    /// `-ln RBP_k` of words: of those whose tokens all have rank at most `k`.
    Words {
        /// The largest rank that counts as a hit.
        k: u32,
    },
    /// `-ln RBP_k` of spans of words: of those whose tokens, white space between words included,
    /// all have rank at most `k`.
    Spans {
        /// The largest rank that counts as a hit.
        k: u32,
        /// N, words in a row.
        words: u32,
    },
    /// A column of a user's table.
    Column {
        /// What its values are.
        kind: Kind,
        /// What the law is about, e.g. `-ln rbp1`.
        symbol: String,
    },
    /// E, the error of one distribution.
    Error,
    /// G, the error of a distribution over that of the baseline.
    Gap,
}

impl Quantity {
    /// The quantity as text, e.g. `-ln RBP_10`.
    pub fn symbol(&self) -> String {
        match self {
            Self::Rank { k } => format!("-ln RBP_{k}"),
            Self::CrossEntropy => "CE".to_owned(),
            Self::Sequence { k, length } => format!("-ln p_{{{length},{k}}}"),
            Self::BitsPerByte => "bits per byte".to_owned(),
            Self::Bytes { k } => format!("-ln RBP_{k} of bytes"),
            Self::Words { k } => format!("-ln RBP_{k} of words"),
            Self::Spans { k, words } => format!("-ln RBP_{k} of {words} words"),
            Self::Column { symbol, .. } => symbol.clone(),
            Self::Error => "E".to_owned(),
            Self::Gap => "G".to_owned(),
        }
    }

    /// The unit of a quantity of a study; what columns, errors and gaps are in, their results say.
    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Self::CrossEntropy => "nats per token",
            Self::BitsPerByte => "bits per byte",
            _ => "nats",
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

/// One point of a law: a model, or a row of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The model's name; of a row without one its place.
    pub label: String,
    /// Where the row stands, e.g. `line 3`; of tables alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Where the point lies: non-embedding parameters S in a study, else what the table or the user
    /// names.
    pub x: f64,
    /// What the law is about, in its unit.
    pub value: f64,
    /// The value as the table gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<f64>,
    /// Of a gap: the error on the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<f64>,
    /// Of a gap: the error on the treatment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub treatment: Option<f64>,
    /// Standard error of `value` over documents drawn again; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Standard error of `ln value`, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_standard_error: Option<f64>,
    /// Scored tokens behind the point; of a law of sequences windows, of one of bytes, words or
    /// spans those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Tokens with rank at most k (rank laws), windows that succeed (laws of sequences); bytes,
    /// words and spans that are hits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits: Option<u64>,
    /// The others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misses: Option<u64>,
    /// Questions or documents that the value is a mean over, where a table's results say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// What the fitted law gives at this x, in the unit of `value`; absent without a fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<f64>,
    /// `ln(value / fitted)`: the residual of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_residual: Option<f64>,
    /// The point's own weight in its fitted value, from `1/n` to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leverage: Option<f64>,
}

impl Point {
    /// `ln value`, what the line is fitted to.
    pub fn log_value(&self) -> f64 {
        self.value.ln()
    }
}

/// What takes no part: a model, a row, a run, a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its name; of a row without one its place.
    pub label: String,
    /// Where the row stands, of tables alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Where it would lie, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// The value as the table gives it, where that is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<f64>,
    /// Why, in words, with the counts.
    pub reason: String,
}

impl LeftOut {
    /// Of something that only has a name.
    pub fn new(label: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { label: label.into(), place: None, x: None, given: None, reason: reason.into() }
    }

    /// The same at an x.
    pub fn at(self, x: f64) -> Self {
        Self { x: Some(x), ..self }
    }
}

/// `value = prefactor * x^-exponent`, by least squares of `ln value` on `ln x`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PowerLaw {
    /// Positive when the value falls with x: alpha (rank), beta (cross entropy). For texts like
    /// this one and models like these: the scatter of the points and the noise of the text
    /// together. By Student t from the scatter alone where the noise of the text is not known.
    pub exponent: Estimate,
    /// The same from the scatter of the models alone, by Student t: for this very text. Of a
    /// study's laws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponent_of_this_text: Option<Estimate>,
    /// The same with the noise of the text alone (documents left out one by one), the models held
    /// fixed: for these very models. Of a study's laws; where that noise is not known its interval
    /// says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponent_sampling: Option<Estimate>,
    /// Correlation of the logarithm of [`at_centre`](Self::at_centre) with the exponent over texts:
    /// 0 where the text is not in them.
    #[serde(default)]
    pub correlation: f64,
    /// The law's value at `x = 1`, far outside the data, so its interval is wide. Absent when it
    /// exceeds the range of numbers (two points of nearly one x can have any slope).
    pub prefactor: Option<Estimate>,
    /// The geometric mean of x, where the line is known best.
    pub centre: f64,
    /// The law's value at `centre`.
    pub at_centre: Estimate,
    /// `1 - SS_residual / SS_total` of the log-log fit, as the paper; absent when all values are
    /// equal.
    pub r_squared: Option<f64>,
    /// Standard deviation of the residuals of `ln value` (n - 2 in the denominator); absent for two
    /// points.
    pub residual_standard_deviation: Option<f64>,
    /// Points in the fit.
    pub points: u32,
    /// Smallest and largest x in the fit.
    pub range: (f64, f64),
    /// False when a flag says that no slope may be claimed (few misses or hits, see the flags).
    pub claimed: bool,
    /// The residuals against the noise of the text sample; absent when that is unknown, or the
    /// documents are too few to know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chi_squared: Option<ChiSquared>,
    /// Each point predicted from all others; empty where it was not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leave_one_out: Vec<HeldOut>,
    /// Fits to the m points of smallest x predict the others, for each m from 3 (extrapolation
    /// audit).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<AuditStep>,
    /// How many predictions of the audit lie in their intervals; absent where none has one, and in
    /// files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

impl PowerLaw {
    /// The law's value at `x`, in the unit of the quantity.
    ///
    /// Computed from the centre of the data, where no digits are lost.
    pub fn at(&self, x: f64) -> f64 {
        self.at_centre.value * (x / self.centre).powf(-self.exponent.value)
    }

    /// The interval of the line at `x`, in the unit of the quantity: where the law's own value
    /// lies, not that of a new point, which scatters about it. Absent where exponent or value at
    /// the centre have no interval.
    ///
    /// Slope and value at the centre of a least-squares line are uncorrelated but for what a text
    /// moves in both (`r`), so with `h` half an interval in the logarithm and
    /// `d = ln x - ln centre` the ends are
    /// `exp(±sqrt(h_centre² - 2 r d h_centre h_exponent + d² h_exponent²))` times the value (Draper
    /// and Smith, 3rd ed., 3.1).
    pub fn line_interval(&self, x: f64) -> Option<(f64, f64)> {
        let (low, high) = self.exponent.bounds()?;
        let (least, most) = self.at_centre.bounds()?;
        let distance = (x / self.centre).ln();
        let (centre, slope) = ((most / least).ln() / 2.0, distance * (high - low) / 2.0);
        let half = (centre * centre - 2.0 * self.correlation * centre * slope + slope * slope)
            .max(0.0)
            .sqrt();
        let value = self.at(x);
        let ends = (value * (-half).exp(), value * half.exp());
        (ends.0.is_finite() && ends.1.is_finite()).then_some(ends)
    }
}

/// How the logarithms of a law's points vary together over texts like the one measured: what the
/// text adds to every interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextNoise {
    /// Covariance of the logarithms of the points, in their order, row by row: by leaving out one
    /// document at a time, the loudest counted twice. With `along` it is of these logarithms
    /// added up by each direction.
    pub covariance: Vec<f64>,
    /// Of more than 24 points: orthonormal directions, an entry a point each, in which the law can
    /// move, straight or with a floor; no interval depends on more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub along: Vec<Vec<f64>>,
    /// With `along`: variance in all other directions together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<f64>,
    /// With which it is known: fewer than the documents where some are long, or err much more than
    /// others.
    pub degrees_of_freedom: f64,
    /// One document's largest share of the text's variance of the exponent; 0 where it is not
    /// known.
    #[serde(default)]
    pub loudest: f64,
    /// Documents.
    pub documents: u64,
    /// Documents of equal length that would know a mean as well (Kish 1965).
    pub effective_documents: f64,
}

/// Goodness of fit against the noise of the text sample.
///
/// The least `(y - Xb)ᵀ V⁻¹ (y - Xb)` over lines, y the log values and V their covariance over
/// resampled documents: models err together on a sample, and V knows it. A large value says that
/// the models scatter about the line for reasons other than the text sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChiSquared {
    /// The minimum.
    pub value: f64,
    /// Points less two.
    pub degrees_of_freedom: u32,
    /// Exponent of that fit, beside the unweighted one.
    pub weighted_exponent: f64,
    /// Chance of a value this large or larger were the law exact (Hotelling's T², as V is itself
    /// estimated from the documents).
    pub p_value: f64,
}
