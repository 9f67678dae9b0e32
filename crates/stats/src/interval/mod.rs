//! Where the true value lies, and how often such a statement is right.
//!
//! Percentile intervals over refitted models cover 69-90 % at nominal 95 % for the 4-8 models that a
//! family has, Student t covers 95 % (`tests/coverage.rs` measures it). So: [`student`] for straight lines
//! over models, [`percentile`] for samples of thousands of documents.

pub mod percentile;
pub mod student;

use crate::error::StatsError;

fn check_level(level: f64) -> Result<(), StatsError> {
    // Written so that NaN is refused too.
    if level > 0.0 && level < 1.0 { Ok(()) } else { Err(StatsError::Level { level }) }
}
