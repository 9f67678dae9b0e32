//! Planning an IsoFLOP sweep: from budgets and a recipe to runs that can be trained, here or
//! elsewhere.
//!
//! ```text
//! budgets, recipe --> widths --> architecture --> FLOPs a token --> batch, learning rate --> steps --> run
//!                                                                                        \--> dropped, with the reason
//! ```
//!
//! * [`recipe`]: the rules as data; [`presets`]: recipes by name, `marin`, `marin-small` and
//!   `small`.
//! * [`architecture`]: one model, its parameters by every convention; [`flops`]: what a token
//!   costs.
//! * [`mod@build`]: the walk above; [`run`]: what comes out, [`Plan`], and its file.
//! * [`time`]: how long the runs take here, measured or by a stated rate; never guessed.
//!
//! Invariants: a budget never travels without what it counts (`forward` or `train`); a run costs
//! its budget within the recipe's tolerance or is dropped with a reason; the same recipe gives the
//! same plan, to the byte.

pub mod architecture;
pub mod build;
pub mod flops;
pub mod presets;
pub mod recipe;
pub mod run;
pub mod time;

pub use architecture::{Architecture, Parameters};
pub use build::build;
pub use presets::preset;
pub use recipe::SweepRecipe;
pub use run::{Dropped, Plan, PlannedRun};
