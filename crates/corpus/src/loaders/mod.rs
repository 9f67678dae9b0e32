//! Where documents come from.

pub mod crates;
