//! Every doubt a fit can voice: a code for programs, a sentence for people.

use serde::{Deserialize, Serialize};

/// A doubt about a result, or a fact a reader of it must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// Which kind of doubt.
    pub code: FlagCode,
    /// The doubt in words, with its numbers.
    pub message: String,
}

impl Flag {
    /// A flag of `code` that says `message`.
    pub fn new(code: FlagCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// How much a doubt takes from what is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A fact that a reader must know; the numbers stand.
    Note,
    /// The numbers may be off by more than their intervals say, or say less than they seem to.
    Caution,
    /// What the numbers seem to say is not claimed.
    Serious,
}

impl Severity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Caution => "caution",
            Self::Serious => "serious",
        }
    }
}

/// The kinds of [`Flag`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlagCode {
    /// A model misses (rank above k) too seldom for its `-ln RBP_k` to be known: no slope is
    /// claimed.
    FewMisses,
    /// A model hits (rank at most k) too seldom for its `-ln RBP_k` to be known: no slope is
    /// claimed.
    FewHits,
    /// Some resamples of the documents held no miss (or no hit), so the errors are too small: the
    /// misses sit in few documents.
    LostResamples,
    /// Some drawn resamples could not be fitted, so the intervals are of the others alone.
    FailedRefits,
    /// Points were left out of the fit; the law lists them with the reason.
    PointsLeftOut,
    /// Two points only: a slope without interval.
    NoInterval,
    /// A number lies outside the sizes that were measured.
    Extrapolation,
    /// The quantity does not fall with size, or its interval for the exponent reaches zero.
    NotFalling,
    /// Two or more models have the same number of parameters.
    SameSize,
    /// Positions with a non-finite logit were left out of every average.
    NonFinite,
    /// So few documents that resampling them says little.
    FewDocuments,
    /// Fewer scored tokens a point than the 500 000 of the paper.
    FewTokens,
    /// The vocabularies that compete for a rank differ in size inside the family.
    VocabularyDiffers,
    /// Models of one family were measured in windows of another length or stride, so with other
    /// amounts of context.
    WindowsDiffer,
    /// Two models of one family are shaped so differently that they are hardly of one.
    FamilyUnlike,
    /// The scatter about the line is larger than the noise of the text sample explains.
    ScatterBeyondNoise,
    /// A model lies farther from where the others predict it than in one sound family in twenty.
    Outlier,
    /// So few models that the shape of the law cannot be judged.
    TooFewPoints,
    /// The form is not the shape of the data, beyond chance: residuals of a curve bend along ln S,
    /// or no distribution comes within the noise of the ranks.
    LackOfFit,
    /// A parameter stands at the limit of its range.
    AtBound,
    /// Parameters stand in for one another, so each by itself is all but undetermined.
    IllConditioned,
    /// A law that has no floor is taken beyond the data, where it falls too low.
    NoFloor,
    /// Two optimisers did not arrive at the same optimum.
    Unconfirmed,
    /// Tokens are taken to be independent, as no counted windows could be used.
    Independence,
    /// Sizes are totals, embeddings included, where non-embedding counts are meant.
    TotalParameters,
    /// Answers are chosen among given ones, so their accuracy is no success of a sequence and has a
    /// floor at chance.
    ChosenAnswers,
    /// A treatment has the smaller error throughout, so a falling gap takes the two further apart.
    GapBelowOne,
    /// Errors of different kinds are compared, so the height of a gap means nothing, and its slope
    /// does.
    MixedErrors,
    /// Resampled documents move a slope more than the scatter of the models about it tells.
    NoiseBeyondScatter,
    /// Compute was not given and stands for 2 N D or 6 N D.
    FlopsComputed,
    /// Forward FLOPs were multiplied by 3, to compare with training FLOPs.
    FlopsConverted,
    /// It is not said whether FLOPs are those of the forward pass or of training, or which
    /// parameters are counted.
    ConventionUnstated,
    /// Several models are checkpoints of one training run, so they are not independent.
    SharedRun,
    /// Members of a group have no row, so its mean is of the others.
    MembersMissing,
    /// A manifest lists models that were not measured.
    NotMeasured,
    /// Options of a question share the largest score, and so the credit.
    TiedOptions,
    /// Options that are not the right answer are scored among the documents of a distribution.
    WrongOptions,
    /// Two laws explain the points better than one: models of two families may stand in one law.
    Lumped,
    /// By its shape alone a curve of a budget turns beside the optimum, by more than its interval
    /// has room for.
    CurveBias,
    /// Numbers are so large or so small that they are likely in another unit, or logarithms.
    UnlikelyUnit,
    /// Models were evaluated otherwise than others of their law: on fewer questions, by another
    /// version of a task, with other options.
    UnlikeEvaluations,
    /// What the engine that measured says of its numbers: logits on a coarse grid, for instance.
    EngineCaution,
}

impl FlagCode {
    /// How much this kind of doubt takes from what is claimed.
    ///
    /// Serious is what withdraws a slope, a direction or an optimum, and what makes an interval too
    /// narrow; a note is what the user chose or what is said elsewhere in numbers too; everything
    /// else is a caution.
    pub fn severity(self) -> Severity {
        match self {
            Self::FewMisses
            | Self::FewHits
            | Self::NotFalling
            | Self::Unconfirmed
            | Self::LostResamples
            | Self::SharedRun
            | Self::CurveBias => Severity::Serious,
            Self::PointsLeftOut
            | Self::SameSize
            | Self::FewTokens
            | Self::TotalParameters
            | Self::ChosenAnswers
            | Self::GapBelowOne
            | Self::MixedErrors
            | Self::FlopsComputed
            | Self::FlopsConverted
            | Self::MembersMissing
            | Self::NotMeasured
            | Self::TiedOptions
            | Self::WrongOptions => Severity::Note,
            Self::FailedRefits
            | Self::NoFloor
            | Self::LackOfFit
            | Self::AtBound
            | Self::IllConditioned
            | Self::NoInterval
            | Self::Extrapolation
            | Self::NonFinite
            | Self::FewDocuments
            | Self::VocabularyDiffers
            | Self::WindowsDiffer
            | Self::FamilyUnlike
            | Self::ScatterBeyondNoise
            | Self::Outlier
            | Self::Lumped
            | Self::TooFewPoints
            | Self::Independence
            | Self::NoiseBeyondScatter
            | Self::ConventionUnstated
            | Self::UnlikelyUnit
            | Self::UnlikeEvaluations
            | Self::EngineCaution => Severity::Caution,
        }
    }
}
