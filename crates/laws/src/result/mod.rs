//! What leaves this crate: the serialisable result of a fit, exactly as it stands in `laws.json`.
//!
//! A file a noun: [`StudyFit`] holds [`GroupFit`]s (one family on one corpus), a group holds
//! [`ModelSummary`]s and [`Law`]s, a law holds its [`LawPoint`]s, the points it left out and the
//! [`PowerLaw`] or the reason why there is none, its [`Rivals`] and its [`Breakdown`]. Beside its laws a group holds its
//! [`Emergence`], its [`RankDistribution`] and its [`ClassReport`]. What is a file of its own is [`Saved`].
//!
//! Invariants: every number has its unit in its name or in [`Estimate::unit`]; every estimate has an
//! interval or the reason for none; doubts are [`Flag`]s, in words; no number is NaN or infinite.
//!
//! # Reading `laws.json` elsewhere
//!
//! The member names are those of the types here and stay as they are while [`FORMAT`] does; what is absent is
//! `null`. Three members tell forms apart: `quantity.name` (`rank` with its `k`, `cross_entropy`, `sequence`), `outcome.status`
//! (`fitted`, `refused` with its `reason`) and `interval.method` (`student_t`, `document_bootstrap`, `fieller`, `profile`, `none` with its
//! `reason`). For instance, all claimed exponents with `jq`:
//!
//! ```text
//! jq -r '.groups[] | .corpus as $c | .rank_laws[] | select(.outcome.claimed)
//!        | [$c, .quantity.k, .outcome.exponent.value, .outcome.exponent.interval.low,
//!           .outcome.exponent.interval.high, .outcome.r_squared] | @tsv' laws.json
//! ```

mod breakdown;
mod choices;
mod classes;
mod emergence;
mod estimate;
mod finite;
mod flag;
mod group;
mod isoflop;
mod json;
mod law;
mod outlined;
mod prediction;
mod rank_distribution;
mod relative;
mod rivals;
mod size_tokens;
mod study;
mod table;
mod trace;
mod two_stage;

pub use breakdown::{
    Breakdown, Finding, GroupBreakdown, PerfectLaw, PointNoise, ReferenceSlope, ScatterTest,
};
pub use choices::{
    CHOICES_FORMAT, ChoiceMean, ChoiceOption, ChoiceValue, ChoicesFit, ChoicesGroup, ChoicesModel,
    ItemLeftOut, ShuffledGold,
};
pub use classes::{ClassMisses, ClassReport, ClassShare, MissesByClass};
pub use emergence::{
    Autocorrelation, Emergence, EmergenceAtK, HalfSize, HalfSizeFound, HitOrder, HitRuns, LengthExponent,
    RunDistance, RunSurvival, SequencePoint, SequencesOfLength,
};
pub use estimate::{Estimate, Interval};
pub use flag::{Flag, FlagCode, Severity};
pub use group::{GroupFit, ModelSummary};
pub use isoflop::{
    Agreement, Along, Curve, FloorLaw, FloorOutcome, ISOFLOP_FORMAT, IsoflopBudget, IsoflopFit, IsoflopGroup,
    IsoflopMinimum, IsoflopRun, IsoflopSize, IsoflopSurface, Judged, LossForm, MethodOptimum, MethodValue,
    MinimumOutcome, OptimumAhead, OptimumLoss, OptimumPath, PathLaw, PathOutcome, RunLeftOut, SurfaceLaw,
    SurfaceMethod, SurfaceOutcome,
};
pub use json::Saved;
pub(crate) use json::write_named;
pub use law::{
    AuditStep, ChiSquared, HeldOut, Law, LawPoint, LeftOut, Outcome, PowerLaw, Quantity, Regime, TextNoise,
};
pub use prediction::{
    Basis, FoundSize, FoundValue, GroupPredictions, LineValue, NextSize, NextValue, PREDICTION_FORMAT,
    Predicted, Predictions, RivalSize, RivalValue, SizeOutcome, SizePrediction, ValueOutcome,
    ValuePrediction,
};
pub use rank_distribution::{
    AppendixBCheck, Calibration, Comparison, FittedParameter, Identifiability, ModelRanks, RankBin,
    RankDistribution, RankFit, RatioLaw, RatioLine, RatioPoint, RatioPower, RefusedForm, SimulatedLaw,
    SimulatedPoint, Simulation,
};
pub use relative::{
    AbsoluteLaw, AbsolutePoint, CorrelationEstimate, CovariateLink, CovariatePair, Gap, GapAuditStep,
    GapCrossing, GapHeldOut, GapLaw, GapOutcome, GapPoint, GapPrediction, GapTests, RELATIVE_FORMAT, RankGap,
    RanksOfGap, RelativeFamily, RelativeFit, RelativeLeftOut, RelativeRanks, Trend,
};
pub use rivals::{
    FloorShown, FormFinding, FormTest, Rival, RivalFit, RivalHeldOut, RivalOutcome, RivalParameter, Rivals,
};
pub use size_tokens::{Direction, PlaneOutcome, SIZE_TOKENS_FORMAT, SizeTokens, SizeTokensFit, Slice, Split};
pub use study::{FORMAT, StudyFit};
pub use table::{
    TABLE_FORMAT, TableAuditStep, TableFit, TableGroup, TableHeldOut, TableLaw, TableLeftOut, TableOutcome,
    TablePoint, TablePowerLaw,
};
pub use trace::TracePoint;
pub(crate) use trace::trace;
pub use two_stage::{
    HeldOutPoint, HeldOutStages, Predictability, Route, RouteErrors, RouteTrace, RouteValue, STAGES_FORMAT,
    StageCurve, StageCurves, StageFormTest, StageOutcome, StageParameter, StageTraces, StagesAhead,
    StagesFit, StagesGroup, StagesPoint,
};
