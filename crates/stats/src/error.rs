//! Why numbers cannot be had. The messages double as the reason shown to a reader of the result.

/// Errors of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// Two slices that belong together differ in length.
    #[error("{left} has {left_length} entries but {right} has {right_length}; they must pair up")]
    Lengths {
        /// Name of the first slice.
        left: &'static str,
        /// Its length.
        left_length: usize,
        /// Name of the second slice.
        right: &'static str,
        /// Its length.
        right_length: usize,
    },
    /// Fewer points than the form has parameters.
    #[error("{given} point(s), and at least {needed} are needed")]
    TooFewPoints {
        /// Points given.
        given: usize,
        /// Points needed.
        needed: usize,
    },
    /// An entry is NaN or infinite.
    #[error("{what}[{index}] is {value}, not a finite number; leave the point out")]
    NonFinite {
        /// Name of the slice.
        what: &'static str,
        /// Position in it.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// An entry that must be above zero (a weight, a value whose logarithm is needed) is not.
    #[error("{what}[{index}] is {value}, but must be above zero; leave the point out")]
    NotPositive {
        /// Name of the slice.
        what: &'static str,
        /// Position in it.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// Every x is the same, so no slope is defined.
    #[error("all {points} points have the same x ({x}), so no slope is defined")]
    NoSpread {
        /// Number of points.
        points: usize,
        /// The common x.
        x: f64,
    },
    /// The points leave some parameter free.
    #[error(
        "the points do not determine all parameters: too few differ, or they lie so that parameters stand in for one another"
    )]
    Undetermined,
    /// A quantity that must fall does not.
    #[error("the loss does not fall with {what}, so it has no such exponent")]
    NoFall {
        /// With what.
        what: &'static str,
    },
    /// Two slopes cannot be told apart.
    #[error("the two x of the {points} points go together, so their slopes cannot be told apart")]
    Collinear {
        /// Number of points.
        points: usize,
    },
    /// The numbers are so large that a result exceeds the range of `f64`.
    #[error("{what} exceeds the range of f64; rescale the data")]
    Overflow {
        /// The result concerned.
        what: &'static str,
    },
    /// A covariance has no inverse: a point without error, or points that err exactly together.
    #[error("the covariance of the errors is not positive definite at row {row}")]
    NotPositiveDefinite {
        /// Row where the factorisation stops.
        row: usize,
    },
    /// The scatter about a line through two points is unknown.
    #[error("a line through two points leaves no scatter to judge it by, so there is no interval")]
    NoDegreesOfFreedom,
    /// Points that cannot show the form of a law, so that no interval can leave it open.
    #[error(
        "{points} points cannot show whether a law flattens; {needed} are the least for an interval that leaves its form open"
    )]
    FormUnknown {
        /// How many there are.
        points: usize,
        /// How many there must be.
        needed: usize,
    },
    /// The coverage of an interval must be a probability.
    #[error("an interval cannot have coverage {level}; give a number above 0 and below 1")]
    Level {
        /// The coverage given.
        level: f64,
    },
    /// A level line never meets another level.
    #[error("the line has no slope, so it never reaches another level")]
    NoSlope,
    /// The slope may be zero, so the line may reach the level anywhere or nowhere.
    #[error(
        "the slope's interval at {} % holds zero, so no finite range holds the place where the level is reached",
        100.0 * level
    )]
    EndlessCrossing {
        /// Coverage of the interval.
        level: f64,
    },
    /// Two pairs always lie on a line.
    #[error("{pairs} pair(s) tell nothing about a correlation; at least 3 are needed")]
    TooFewPairs {
        /// Pairs given.
        pairs: usize,
    },
    /// There are too few units to draw again.
    #[error("{units} unit(s) cannot be resampled; at least 2 are needed to see any variation")]
    TooFewUnits {
        /// Units given.
        units: usize,
    },
    /// Too few replicates for a spread.
    #[error("{replicates} finite replicate(s) tell nothing about spread; at least 2 are needed")]
    TooFewReplicates {
        /// Finite replicates.
        replicates: usize,
    },
    /// Values of a histogram must be whole numbers from 1, each above the one before it.
    #[error("value {index} of the histogram is {value}, after {previous}; values ascend from 1")]
    NotAscending {
        /// Position among the values.
        index: usize,
        /// The value.
        value: u32,
        /// The one before it.
        previous: u32,
    },
    /// Nothing was observed, or nothing can be.
    #[error("no observations")]
    NoObservations,
    /// A value lies beyond the largest that the distribution has.
    #[error("an observation of {value}, but the distribution ends at {upper}")]
    AboveUpper {
        /// The value.
        value: u32,
        /// The largest of the distribution.
        upper: u32,
    },
    /// All observations have one value, so no distribution can be told from another.
    #[error("all observations are {value}: nothing to fit a distribution to")]
    OneValue {
        /// The value.
        value: u32,
    },
    /// A parameter is outside its domain.
    #[error("{name} is {value}, but must be {domain}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// The value.
        value: f64,
        /// What it may be.
        domain: &'static str,
    },
    /// Too few points to fit a form and have something left to judge it by.
    #[error("{form} ({parameters} parameters) needs at least {needed} points, not {given}")]
    TooFewForForm {
        /// Name of the form.
        form: &'static str,
        /// Its parameters.
        parameters: usize,
        /// Points given.
        given: usize,
        /// Points needed.
        needed: usize,
    },
    /// Too few points for the small-sample correction of AIC.
    #[error(
        "AICc of the {form} ({parameters} parameters and a variance) needs at least {needed} points, not {given}"
    )]
    TooFewForAicc {
        /// Name of the form.
        form: &'static str,
        /// Its parameters, the variance not counted.
        parameters: usize,
        /// Points given.
        given: usize,
        /// Points needed.
        needed: usize,
    },
    /// A form has no value above zero at all of the points, whatever its parameters.
    #[error("{form}: no parameters give a value above zero at every point")]
    NoStart {
        /// Name of the form.
        form: &'static str,
    },
    /// The points do not bound a quantity on one side.
    #[error("the points do not bound it {side}: their scatter allows any value")]
    Unbounded {
        /// `from below` or `from above`.
        side: &'static str,
    },
    /// A statistic does not move with any parameter, or the points leave no scatter, so no interval
    /// can be traced.
    #[error(
        "it does not move with the fit, or the points leave no scatter, so there is no interval"
    )]
    NoSpringScale,
    /// A formula has fewer parameters than were asked for.
    #[error("the {form} has no parameter number {index}")]
    NoParameter {
        /// Name of the form.
        form: &'static str,
        /// Counted from 0.
        index: usize,
    },
}
