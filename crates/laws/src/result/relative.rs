//! The relative law: how the error of one distribution changes against another's as models grow.

use serde::{Deserialize, Serialize};

use super::series::claimed;
use super::{Estimate, Flag, Law, LeftOut, PowerLaw, Series, TracePoint};
use crate::options::RelativeOptions;

/// All gaps to one baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelativeFit {
    /// Layout version, [`RESULT_FORMAT`](super::RESULT_FORMAT).
    pub format: u32,
    /// Program and version that made this.
    pub tool: String,
    /// The files that were read, as they were named; empty for a study.
    pub files: Vec<String>,
    /// What x is, e.g. `S, non-embedding parameters`.
    pub x: String,
    /// What a distribution is: `corpus`, or the name of the tag or column whose values are the
    /// distributions; empty where each column of errors is one, and in files of earlier versions.
    #[serde(default)]
    pub distributions: String,
    /// What E is, e.g. `bits per byte`, `-ln RBP_10`.
    pub error: String,
    /// Unit of E.
    pub unit: String,
    /// Baseline, margin, level and the rest, as they were used.
    pub options: RelativeOptions,
    /// One entry a family of models, by name.
    pub families: Vec<RelativeFamily>,
}

/// The laws and gaps of one family of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelativeFamily {
    /// Name of the family; `all` where none is named.
    pub name: String,
    /// The law of each distribution by itself, the baseline first, the others by name.
    pub absolute: Vec<Law>,
    /// The gap of each treatment to the baseline, by name.
    pub gaps: Vec<Gap>,
    /// The slopes against a covariate, when a table of one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covariate: Option<CovariateLink>,
    /// The gaps of `-ln RBP_k` at each k, when the distributions are of documents whose ranks were
    /// counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RelativeRanks>,
    /// Doubts about the family as a whole.
    pub flags: Vec<Flag>,
    /// A few sentences with the numbers.
    pub verdict: String,
}

impl RelativeFamily {
    /// The gap of a treatment.
    pub fn gap(&self, treatment: &str) -> Option<&Gap> {
        self.gaps.iter().find(|gap| gap.name == treatment)
    }

    /// The law of a distribution.
    pub fn absolute(&self, distribution: &str) -> Option<&Law> {
        self.absolute.iter().find(|law| law.name == distribution)
    }
}

/// One treatment against the baseline: `G = E_treatment / E_baseline`, model by model. Its name is
/// the treatment; left out are the models that have one of the two errors only.
pub type Gap = Series<GapLaw>;

/// `G = gamma x^delta_beta`, by least squares of `ln G` on `ln x`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GapLaw {
    /// The same law as `G = prefactor x^-exponent`: `prefactor` is gamma, `exponent` is minus
    /// `delta_beta`. In JSON its members stand beside those below.
    #[serde(flatten)]
    pub power: PowerLaw,
    /// `delta_beta = beta_baseline - beta_treatment`: below zero the treatment gains on the
    /// baseline. For texts like these and models like these: the residuals of `ln G`, in which
    /// noise that both distributions share has cancelled, and the noise of both texts. By Student t
    /// from the residuals alone where that is not known. The trend is judged by this.
    pub delta_beta: Estimate,
    /// The same from the residuals of `ln G` alone, by Student t: for these very texts. Absent in
    /// files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_beta_of_this_text: Option<Estimate>,
    /// The same slope with the noise of the texts alone: for these very models. Absent reasons
    /// stand in its interval.
    pub delta_beta_sampling: Estimate,
    /// The law's G at the smallest x measured.
    pub at_smallest: Estimate,
    /// The law's G at the largest x measured.
    pub at_largest: Estimate,
    /// Per cent by which G changes over a tenfold x: `100 (10^delta_beta - 1)`.
    pub per_decade: Estimate,
    /// The two tests of the slope; absent for two points, and where no slope is claimed
    /// ([`Series::claimed`]).
    pub tests: Option<GapTests>,
    /// What the tests allow to say.
    pub trend: Trend,
    /// Where G reaches the values asked for.
    pub crossings: Vec<GapCrossing>,
    /// The law from the smallest x measured or asked for to the largest, with its interval.
    #[serde(default)]
    pub trace: Vec<TracePoint>,
    /// G at the x asked for.
    pub predictions: Vec<GapPrediction>,
}

/// The tests behind a [`Trend`]. `p` is of this gap alone, `q` adjusted for the number of gaps
/// (Benjamini and Hochberg).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GapTests {
    /// Chance of a slope this far from 0, were it 0.
    pub difference_p: f64,
    /// The same, adjusted.
    pub difference_q: f64,
    /// Chance of a slope this far inside the margin, were it at its edge (two one-sided tests).
    pub equivalence_p: f64,
    /// The same, adjusted.
    pub equivalence_q: f64,
}

/// What may be said of a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// delta_beta is below 0: the treatment's error falls faster than the baseline's, and G is not
    /// shown to go through 1. (Where G is below 1 from the start, that takes the two further apart;
    /// a flag says so.)
    Closes,
    /// delta_beta is above 0: the treatment's error falls more slowly.
    Widens,
    /// G goes through 1 between the smallest and the largest x measured: the slope is shown, and
    /// the law's interval excludes 1 at both ends, on different sides. Which distribution has the
    /// larger error changes, so the two neither come closer throughout nor part throughout.
    Crossed,
    /// delta_beta lies inside the margin, which is a finding: both errors fall alike.
    Parallel,
    /// Neither is shown.
    Undecided,
}

impl Trend {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closes => "closes",
            Self::Widens => "widens",
            Self::Crossed => "crossed",
            Self::Parallel => "parallel",
            Self::Undecided => "undecided",
        }
    }
}

/// Where a gap reaches a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GapCrossing {
    /// The value of G.
    pub gap: f64,
    /// The x at which the law reaches it, with Fieller's interval; absent when it never does.
    pub x: Option<Estimate>,
    /// Decades beyond the largest x measured, negative below the smallest, 0 inside; absent without
    /// x.
    pub decades_beyond: Option<f64>,
    /// One sentence.
    pub verdict: String,
}

/// A gap at an x that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GapPrediction {
    /// The x.
    pub x: f64,
    /// Decades beyond the largest x measured, negative below the smallest, 0 inside.
    pub decades_beyond: f64,
    /// G of the law there.
    pub law: Estimate,
    /// G of a new model there: the same value, a wider interval.
    pub model: Estimate,
}

/// The relative law of ranks: `delta_beta` of the gaps of `-ln RBP_k`, k by k.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelativeRanks {
    /// One entry a treatment, by name.
    pub gaps: Vec<RanksOfGap>,
    /// One sentence with the numbers.
    pub verdict: String,
}

/// One treatment, k by k.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RanksOfGap {
    /// The treatment.
    pub treatment: String,
    /// The k at which all of its models have both errors, ascending.
    pub at: Vec<RankGap>,
    /// The k at which they have not, with the reason.
    pub left_out: Vec<(u32, String)>,
}

/// The gap of `-ln RBP_k` at one k.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankGap {
    /// The largest rank that counts as a hit.
    pub k: u32,
    /// Slope of `ln G`, as [`GapLaw::delta_beta`].
    pub delta_beta: Estimate,
    /// The same slope with the noise of the text sample alone, as in
    /// [`GapLaw::delta_beta_sampling`].
    pub delta_beta_sampling: Estimate,
    /// The law's G at the smallest and at the largest x measured.
    pub ends: (f64, f64),
    /// Models in the fit.
    pub models: u32,
    /// The tests; `q` is adjusted for the gaps of this k. Absent for two models, and where no slope
    /// is claimed.
    pub tests: Option<GapTests>,
    /// What the tests allow to say.
    pub trend: Trend,
    /// That misses or hits are too few for a slope to be claimed; the gap's other doubts are those
    /// of a fit of this k alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
}

impl RankGap {
    /// False when a flag says that no slope may be claimed, as [`Series::claimed`].
    pub fn claimed(&self) -> bool {
        claimed(&self.flags)
    }
}

/// The slopes of all treatments against a number that each of them has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CovariateLink {
    /// The covariate: a column's name.
    pub column: String,
    /// Treatments that have both, by name.
    pub pairs: Vec<CovariatePair>,
    /// Treatments without a covariate, and those without a slope.
    pub left_out: Vec<LeftOut>,
    /// Pearson's correlation, with Fisher's interval; absent when it cannot be had.
    pub pearson: Option<CorrelationEstimate>,
    /// Spearman's correlation of ranks; absent when it cannot be had.
    pub spearman: Option<CorrelationEstimate>,
    /// One sentence with the numbers, or why there are none.
    pub verdict: String,
}

/// A treatment with its covariate and its slope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CovariatePair {
    /// The treatment.
    pub treatment: String,
    /// Its covariate.
    pub covariate: f64,
    /// Its delta_beta.
    pub delta_beta: f64,
}

/// A correlation coefficient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrelationEstimate {
    /// The coefficient, a pure number; without a standard error, as its distribution is skew.
    pub estimate: Estimate,
    /// Chance of one at least this strong between things that have nothing to do with each other.
    pub p_value: f64,
}
