//! What leaves this crate: the serialisable result of a fit, exactly as it stands in `laws.json`.
//!
//! A file a noun: [`StudyFit`] holds [`GroupFit`]s (one family on one corpus), a group holds
//! [`ModelSummary`]s and [`Law`]s, a law holds its [`LawPoint`]s, the points it left out and the
//! [`PowerLaw`] or the reason why there is none.
//!
//! Invariants: every number has its unit in its name or in [`Estimate::unit`]; every estimate has an
//! interval or the reason for none; doubts are [`Flag`]s, in words; no number is NaN or infinite.

mod estimate;
mod flag;
mod group;
mod law;
mod study;

pub use estimate::{Estimate, Interval};
pub use flag::{Flag, FlagCode};
pub use group::{GroupFit, ModelSummary};
pub use law::{AuditStep, ChiSquared, HeldOut, Law, LawPoint, LeftOut, Outcome, PowerLaw, Quantity, Regime};
pub use study::{FORMAT, StudyFit};
