//! IsoFLOP sweeps: many sizes trained at each of several budgets, and what is best at a budget.
//!
//! | file | what |
//! |---|---|
//! | [`IsoflopOptions`] | columns, conventions, how to judge |
//! | `run` | one run; those of a group |
//! | `read` | a table's rows to runs, in groups; what takes no part |
//! | `computed` | budgets by `6 N D`, where runs gather into some |
//! | `budget` | runs of one budget, and the minimum of a curve through them |
//! | `bias` | curves that turn beside the optimum by their shape alone |
//! | `path` | minima over budgets as power laws, the runs' scatter drawn again |
//! | `floor` | the least loss over budgets as `k C^-b + E` |
//! | `surface` | `L = E + A N^-alpha + B D^-beta` two ways, scatter or weights of the runs drawn again |
//! | `spread` | from the spread of draws to an interval |
//! | `prediction` | what each method says of a budget |
//! | [`Point`] | a run that was not trained, by two of N, D, C and M |
//! | `losses` | the loss at such points, by every form and method |
//! | `over_training` | the surface with one exponent, and whether runs tell it from that with two |
//! | `held_out` | runs of most compute, and of most tokens a parameter, left out and predicted |
//! | `agree` | the methods' numbers beside one another |
//! | `minima` | which quantity of the minima is followed |
//! | `flags` | the flags of a group, from its `facts`; `unit`: numbers that are likely in another unit |
//! | `fit` | a table to a result: the entrance [`fit_isoflop`] |
//! | `verdicts` | sentences with their numbers |
//!
//! Invariants: every run counts, several of one size as its seeds; nothing depends on the order of
//! the rows. A minimum is quoted only where runs bracket it, with the interval of its place by
//! their scatter and the bias that the surface shows; one that is not is listed with the reason.
//! FLOPs and parameters carry their convention, or the result says that none was given. Every
//! method is shown beside the others. A loss beyond the budgets has a floor where the data tell
//! one, and is flagged where it has none.

mod agree;
mod bias;
mod budget;
mod computed;
mod facts;
mod fit;
mod flags;
mod floor;
mod held_out;
mod losses;
mod minima;
mod options;
mod over_training;
mod path;
mod point;
mod prediction;
mod read;
mod run;
mod spread;
mod surface;
mod unit;
mod verdicts;

pub use fit::fit_isoflop;
pub use options::IsoflopOptions;
pub use point::{Point, PointError, PointQuantity};
pub use relscale_stats::surface::Residual;
