//! IsoFLOP sweeps: many sizes trained at each of several budgets, and what is best at a budget.
//!
//! | file | what |
//! |---|---|
//! | [`IsoflopOptions`] | columns, conventions, how to judge |
//! | `read` | a table's rows to runs, in groups; what takes no part |
//! | `budget` | runs of one budget, and the minimum of a curve through them |
//! | `path` | minima over budgets as power laws, the runs' scatter turned again |
//! | `surface` | `L = E + A N^-alpha + B D^-beta` two ways, runs drawn again |
//! | `ahead` | what each method says of a budget |
//! | `fit` | a table to a result: the entrance [`fit_isoflop`] |
//! | `words` | sentences with their numbers |
//!
//! Invariants: a minimum is quoted only where runs bracket it; one that is not is listed with the reason. FLOPs and parameters carry their
//! convention, or the result says that none was given. Every method is shown beside the others.

mod ahead;
mod budget;
mod fit;
mod options;
mod path;
mod read;
mod surface;
mod words;

pub use fit::fit_isoflop;
pub use options::{IsoflopColumns, IsoflopOptions};
