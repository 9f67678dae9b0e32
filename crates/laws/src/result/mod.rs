//! What leaves this crate: the serialisable result of a fit, exactly as it stands in `laws.json`.
//!
//! A file a noun: [`StudyFit`] holds [`GroupFit`]s (one family on one corpus), a group holds
//! [`ModelSummary`]s and [`Law`]s. A law is a [`Series`]: its [`Point`]s, what it left out, the
//! [`PowerLaw`] or the reason why there is none ([`Outcome`]), its [`Rivals`] and its
//! [`Breakdown`]; so are a column of a table and the [`Gap`] of two distributions. Beside its laws
//! a group holds its [`TextUnits`], its [`Emergence`], its [`RankDistribution`] and its
//! [`ClassReport`]; beside the groups [`AcrossTokenizers`] holds families side by side. What is a
//! file of its own is [`Saved`]; `earlier` reads files of earlier layouts.
//!
//! Invariants: every number has its unit in its name or in [`Estimate::unit`]; every estimate has
//! an interval or the reason for none; doubts are [`Flag`]s, in words; no number is NaN or
//! infinite.
//!
//! # Reading `laws.json` elsewhere
//!
//! The member names are those of the types here and stay as they are while [`RESULT_FORMAT`] does;
//! what is absent is `null`. Three members tell forms apart: `quantity.name` (`rank` with its `k`,
//! `cross_entropy`, `sequence`, ...), `outcome.status` (`fitted`, `refused` with its `reason`) and
//! `interval.method` (`student_t`, `document_bootstrap`, `fieller`, `profile`, `none` with its
//! `reason`). For instance, all claimed exponents with `jq`:
//!
//! ```text
//! jq -r '.groups[] | .corpus as $c | .rank_laws[] | select(.outcome.claimed)
//!        | [$c, .quantity.k, .outcome.exponent.value, .outcome.exponent.interval.low,
//!           .outcome.exponent.interval.high, .outcome.r_squared] | @tsv' laws.json
//! ```

mod advice;
mod breakdown;
mod choices;
mod classes;
mod earlier;
mod emergence;
mod estimate;
mod example;
mod finite;
mod flag;
mod forecast;
mod group;
mod held_out;
mod isoflop;
mod json;
mod outcome;
mod outlined;
mod prediction;
mod rank_distribution;
mod relative;
mod rivals;
mod series;
mod size_tokens;
mod study;
mod table;
mod text_units;
mod trace;
mod training;
mod two_stage;

pub use advice::{Advice, Candidate, FoundAdvice, Further, LawAdvice, Narrowed};
pub use breakdown::{
    Breakdown, Finding, GroupBreakdown, PerfectLaw, PointNoise, ReferenceSlope, ScatterTest,
};
pub use choices::{
    ChoiceMean, ChoiceOption, ChoiceValue, ChoicesFit, ChoicesGroup, ChoicesModel, ShuffledGold,
};
pub use classes::{ClassMisses, ClassReport, ClassShare, MissesByClass};
pub use emergence::{
    Autocorrelation, Emergence, EmergenceAtK, HalfSize, HitOrder, HitRuns, LengthExponent,
    RunDistance, RunSurvival, SequencePoint, SequencesOfLength,
};
pub use estimate::{Estimate, Interval};
pub use example::{ExampleScore, RankExample, RankExamples};
pub use flag::{Flag, FlagCode, Severity};
pub use forecast::{
    AgainstLoss, CorpusRanking, FeatureKind, FewTokens, FewTokensError, Forecast, ForecastFeature,
    ForecastModel, ForecastPoint, ForecastTask, ForecastValue, Forecaster, ForecasterErrors,
    LeaveOut, RankingAtSize,
};
pub use group::{GroupFit, ModelSummary};
pub use held_out::{AuditStep, Coverage, HeldOut};
pub use isoflop::{
    Agreement, Along, Curve, ExponentRatio, FloorLaw, FormComparison, FormCriteria, HeldOutBy,
    HeldOutCheck, HeldOutLoss, HeldOutLosses, HeldOutRuns, HeldOutSurface, IsoflopBudget,
    IsoflopFit, IsoflopGroup, IsoflopMinimum, IsoflopRun, IsoflopSize, IsoflopSurface, Judged,
    LossForm, LossPredictions, LossThere, MethodOptimum, MethodValue, Minimum, OptimumLoss,
    OptimumPath, OptimumPrediction, OverTrainingLaw, OverTrainingSurface, PathLaw, PointDistance,
    PointLoss, PointPrediction, SurfaceForm, SurfaceLaw, SurfaceMethod,
};
pub(crate) use json::write_named;
pub use json::{RESULT_FORMAT, Saved};
pub use outcome::{Outcome, Parameter};
pub use prediction::{
    Basis, FoundSize, FoundValue, GroupPredictions, LineValue, NextSize, NextValue, Predicted,
    Predictions, RivalSize, RivalValue, SizePrediction, ValuePrediction,
};
pub use rank_distribution::{
    AppendixBCheck, Calibration, Comparison, Identifiability, ModelRanks, RankBin,
    RankDistribution, RankFit, RatioLaw, RatioLine, RatioPoint, RatioPower, RefusedForm,
    SimulatedLaw, SimulatedPoint, Simulation,
};
pub use relative::{
    CorrelationEstimate, CovariateLink, CovariatePair, Gap, GapCrossing, GapLaw, GapPrediction,
    GapTests, RankGap, RanksOfGap, RelativeFamily, RelativeFit, RelativeRanks, Trend,
};
pub use rivals::{FloorShown, FormFinding, FormTest, Rival, RivalFit, RivalHeldOut, Rivals};
pub use series::{ChiSquared, Law, LeftOut, Point, PowerLaw, Quantity, Regime, Series, TextNoise};
pub use size_tokens::{Direction, Plane, SizeTokens, SizeTokensFit, Slice, Split};
pub use study::StudyFit;
pub use table::{TableFit, TableGroup};
pub use text_units::{
    AcrossFamilies, AcrossTokenizers, FamilyOnText, FamilyValue, TextCounts, TextUnits,
};
pub use trace::TracePoint;
pub(crate) use trace::trace;
pub use training::{
    EarlyCut, SeedNoise, TrainingFit, TrainingGroup, TrainingLaw, TrainingPoint, TrainingSurface,
    UnseenCheckpoints,
};
pub use two_stage::{
    HeldOutPoint, HeldOutStages, Predictability, Route, RouteErrors, RouteTrace, RouteValue,
    StageCurve, StageCurves, StageFormTest, StageTraces, StagesFit, StagesGroup, StagesPoint,
    StagesPrediction,
};
