//! The rank law and the cross-entropy law: records in, typed and serialisable results out.
//!
//! A law is a plain function. It sees no model and no text: what it needs is in the tallies of
//! `relscale-records`, and what it finds is a [`StudyFit`], saved as `laws.json`.

mod error;
mod options;
mod result;

pub use error::LawsError;
pub use options::FitOptions;
pub use result::*;
