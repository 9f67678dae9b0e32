//! The distribution of ranks: fitted forms, which wins, mu/sigma against size, calibration,
//! simulation.

use serde::{Deserialize, Serialize};

use super::{Estimate, Flag, LeftOut, Parameter, Quantity};

/// The rank distributions of one family on one corpus (spec of arXiv 2510.20387, section 5.2 and
/// Appendix B).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankDistribution {
    /// One entry a model, smallest first.
    pub models: Vec<ModelRanks>,
    /// Models whose ranks were not counted or not fitted, smallest first.
    pub left_out: Vec<LeftOut>,
    /// Hypothesis 2 of the paper: mu/sigma against S, once for each lognormal form.
    pub ratio_laws: Vec<RatioLaw>,
    /// Figure 8b of the paper: both laws from simulated ranks, once for each lognormal form.
    pub simulations: Vec<Simulation>,
    /// Doubts about the whole.
    pub flags: Vec<Flag>,
    /// A few sentences with the numbers: which form wins, what mu/sigma does, what the simulation
    /// gives.
    pub verdict: String,
}

/// The ranks of one model's run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRanks {
    /// The model's name.
    pub model: String,
    /// Non-embedding parameters S.
    pub parameters: u64,
    /// &#124;V&#124;: every form is a distribution on ranks 1 to this.
    pub vocabulary: u32,
    /// Ranks counted: scored positions.
    pub tokens: u64,
    /// Different ranks among them.
    pub distinct: u64,
    /// The largest.
    pub largest: u32,
    /// The forms that could be fitted, best AIC first.
    pub fits: Vec<RankFit>,
    /// The forms that could not.
    pub refused: Vec<RefusedForm>,
    /// The form with the best AIC against each other one, and the lognormal against the zeta.
    pub comparisons: Vec<Comparison>,
    /// Counts in bins that widen with the rank, with the share that each form gives them: figure
    /// 8c.
    pub bins: Vec<RankBin>,
    /// Whether the model gives a token of rank k the probability with which rank k occurs.
    pub calibration: Calibration,
    /// What Appendix B derives from the fitted point masses, beside what was measured.
    pub appendix_b: Option<AppendixBCheck>,
    /// Doubts about this model's fits.
    pub flags: Vec<Flag>,
    /// One or two sentences with the numbers.
    pub verdict: String,
}

impl ModelRanks {
    /// The fit of the form of this name.
    pub fn fit(&self, form: &str) -> Option<&RankFit> {
        self.fits.iter().find(|fit| fit.form == form)
    }
}

/// One form fitted to one model's ranks by maximum likelihood, truncated at the vocabulary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankFit {
    /// Name of the form, e.g. `lognormal`, `point_mass`, `zeta`.
    pub form: String,
    /// Its parameters, with errors over documents.
    pub parameters: Vec<Parameter>,
    /// Correlation of the first two parameters' errors by the curvature of the likelihood: near ±1
    /// only a combination of them is known.
    pub correlation: Option<f64>,
    /// Correlation of the first two parameters' errors over documents.
    pub document_correlation: Option<f64>,
    /// `sum over tokens of ln P(R)`, nats.
    pub log_likelihood: f64,
    /// `2 parameters - 2 log_likelihood`: smaller is better.
    pub aic: f64,
    /// `aic` less the best form's.
    pub aic_difference: f64,
    /// Kolmogorov-Smirnov distance: the largest difference between the two cumulative
    /// distributions.
    pub ks: f64,
    /// `-ln P(1)`, nats: what the form says of `-ln RBP_1`.
    pub minus_ln_p1: f64,
    /// Entropy of the form, nats.
    pub entropy: f64,
    /// How well mu and sigma are told apart; for the lognormal forms only.
    pub identifiability: Option<Identifiability>,
    /// What the fit itself has to say: a parameter at its bound, ill-conditioned.
    pub flags: Vec<Flag>,
}

impl RankFit {
    /// The value of the parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<f64> {
        self.parameters
            .iter()
            .find(|parameter| parameter.name == name)
            .map(|parameter| parameter.estimate.value)
    }
}

/// A form that could not be fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RefusedForm {
    /// Name of the form.
    pub form: String,
    /// Why, in words.
    pub reason: String,
}

/// How well a likelihood tells mu from sigma.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Identifiability {
    /// `(mu, deviance)`: twice the log-likelihood lost when mu is held there and sigma fitted
    /// again.
    pub profile: Vec<(f64, f64)>,
    /// Lower end of the mu that a likelihood-ratio test at `level` does not reject, tokens taken as
    /// independent; absent when no value is rejected on that side.
    pub low: Option<f64>,
    /// Upper end, likewise.
    pub high: Option<f64>,
    /// Coverage of `low` to `high`.
    pub level: f64,
    /// In words.
    pub words: String,
}

/// Two forms set against each other by Vuong's test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The first form.
    pub first: String,
    /// The second form.
    pub second: String,
    /// Mean of `ln P_first(R) - ln P_second(R)` a token, nats: above zero where the first is
    /// closer.
    pub mean_difference: f64,
    /// Vuong's z: the mean over its standard error, tokens taken as independent.
    pub statistic: f64,
    /// Two-sided p-value of that z.
    pub p_value: f64,
    /// z with the standard error over documents, by the counts at each tallied k; absent with one
    /// document. Tokens of a document are alike, so this is the one to believe.
    pub document_statistic: Option<f64>,
    /// Two-sided p-value of that.
    pub document_p_value: Option<f64>,
    /// Which is closer, in words.
    pub words: String,
}

/// Ranks from `low` to `high`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankBin {
    /// Smallest rank of the bin.
    pub low: u32,
    /// Largest rank of the bin.
    pub high: u32,
    /// Tokens in it.
    pub tokens: u64,
    /// Mean nll of these tokens, nats; absent without any.
    pub mean_nll: Option<f64>,
    /// `-ln` of the observed probability of one rank of the bin,
    /// `-ln(tokens / (all tokens * width))`, nats; absent without any. A model that gives each rank
    /// its own frequency has `mean_nll` equal to this.
    pub minus_ln_share: Option<f64>,
    /// Probability of the bin by each form, in the order of [`ModelRanks::fits`], to six digits.
    /// Density at a rank: this over the width.
    pub fitted: Vec<f64>,
}

impl RankBin {
    /// Number of ranks in the bin.
    pub fn width(&self) -> u32 {
        self.high - self.low + 1
    }
}

/// The model's cross entropy beside entropies of its rank distribution, nats a token.
///
/// Appendix B takes the entropy of the rank distribution for the cross entropy. If a model is
/// calibrated, the first exceeds the second by the information that the context has about the rank:
/// a model knows where it is sure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Mean nll of the same tokens: the model's cross entropy.
    pub cross_entropy: f64,
    /// `-sum f ln f` over the observed frequencies f of ranks, plus `(distinct - 1)/(2 tokens)` for
    /// its bias (Miller 1955).
    pub rank_entropy: f64,
    /// `rank_entropy` less `cross_entropy`.
    pub difference: f64,
    /// In words.
    pub words: String,
}

/// Appendix B at the fitted point masses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppendixBCheck {
    /// mu of the point masses.
    pub mu: f64,
    /// sigma of the point masses.
    pub sigma: f64,
    /// `-ln p_1` by the closed form (16) with (20).
    pub minus_ln_p1_closed: f64,
    /// `-ln p_1` by the sum over the vocabulary.
    pub minus_ln_p1_sum: f64,
    /// Measured `-ln RBP_1`; absent where no token has rank 1.
    pub minus_ln_p1_measured: Option<f64>,
    /// "CE" by the closed form (21).
    pub entropy_closed: f64,
    /// "CE" by the sum over the vocabulary.
    pub entropy_sum: f64,
    /// The model's measured cross entropy, nats a token.
    pub cross_entropy_measured: f64,
}

/// mu/sigma against S.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RatioLaw {
    /// Which lognormal form mu and sigma are of.
    pub form: String,
    /// The points, smallest model first.
    pub points: Vec<RatioPoint>,
    /// Models without a mu/sigma to speak of: the fit ran into a limit of the form, or the standard
    /// error exceeds 1.
    pub left_out: Vec<LeftOut>,
    /// `mu/sigma = intercept + slope ln S`; absent with one model.
    pub line: Option<RatioLine>,
    /// `|mu/sigma| = C S^exponent`, by least squares in the logarithm; absent where signs differ.
    pub power: Option<RatioPower>,
    /// Why either is absent; empty where both are there.
    pub reason: String,
    /// One sentence with the numbers.
    pub verdict: String,
}

/// One model's mu/sigma.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RatioPoint {
    /// The model's name.
    pub model: String,
    /// Non-embedding parameters S.
    pub parameters: u64,
    /// mu, mean of ln R.
    pub mu: f64,
    /// sigma, standard deviation of ln R.
    pub sigma: f64,
    /// mu/sigma.
    pub ratio: f64,
    /// Standard error of the ratio over documents, from those of mu and sigma and their
    /// correlation.
    pub standard_error: Option<f64>,
}

/// A line of mu/sigma in ln S.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RatioLine {
    /// Change of mu/sigma for one unit of ln S.
    pub slope: Estimate,
    /// mu/sigma at the geometric mean of the sizes.
    pub at_centre: f64,
    /// The geometric mean of the sizes.
    pub centre_parameters: f64,
    /// `1 - SS_residual / SS_total` of mu/sigma.
    pub r_squared: Option<f64>,
}

impl RatioLine {
    /// mu/sigma at `parameters`.
    pub fn at(&self, parameters: f64) -> f64 {
        self.at_centre + self.slope.value * (parameters / self.centre_parameters).ln()
    }
}

/// A power law of `|mu/sigma|` in S.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RatioPower {
    /// The exponent: positive when `|mu/sigma|` grows with size.
    pub exponent: Estimate,
    /// `1 - SS_residual / SS_total` of `ln |mu/sigma|`.
    pub r_squared: Option<f64>,
}

/// Both laws from ranks that follow a lognormal form whose mu/sigma is on its line (figure 8b of
/// the paper).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// The lognormal form.
    pub form: String,
    /// sigma of all simulated models: the mean over the fitted ones. mu follows from the line of
    /// mu/sigma.
    pub sigma: f64,
    /// Ranks drawn a model.
    pub draws: u64,
    /// One law a quantity: `-ln RBP_k` for some k, and the cross entropy.
    pub laws: Vec<SimulatedLaw>,
    /// One or two sentences with the exponents.
    pub verdict: String,
}

/// One law of a [`Simulation`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulatedLaw {
    /// What falls with size. The simulated cross entropy is the mean of `-ln p_R`: that of a model
    /// that gives each rank its own probability.
    pub quantity: Quantity,
    /// The points, smallest model first.
    pub points: Vec<SimulatedPoint>,
    /// Exponent of the drawn values; absent when they define no power law, with the reason.
    pub exponent: Option<Estimate>,
    /// R² of the log-log fit to the drawn values.
    pub r_squared: Option<f64>,
    /// Exponent of the same values without the noise of drawing.
    pub exact_exponent: Option<f64>,
    /// Exponent when each model keeps its own fitted mu and sigma: what the form alone gives,
    /// without hypothesis 2.
    pub own_exponent: Option<f64>,
    /// Exponent of the measured values of the same models; absent where the measured law is not
    /// claimed or lacks one of them.
    pub measured_exponent: Option<Estimate>,
    /// Why there is no exponent; empty where there is one.
    pub reason: String,
}

/// One simulated model in one [`SimulatedLaw`], values in the unit of its quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulatedPoint {
    /// Name of the model whose size this is.
    pub model: String,
    /// Non-embedding parameters S.
    pub parameters: u64,
    /// From the drawn ranks.
    pub drawn: f64,
    /// From the probabilities that the ranks were drawn by.
    pub exact: f64,
    /// From the probabilities at the model's own fitted mu and sigma.
    pub own: f64,
    /// Measured, where the law has a point.
    pub measured: Option<f64>,
}
