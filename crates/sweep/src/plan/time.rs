//! What the times of a plan rest on; [`crate::train::timing`] finds them.

use serde::{Deserialize, Serialize};

/// How the times of a plan came about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum TimeBasis {
    /// A few steps of every run on random tokens, on this machine.
    Measured {
        /// Threads that worked.
        threads: usize,
    },
    /// The user says how fast tokens go, whatever the model.
    TokensPerSecond {
        /// Tokens a second.
        rate: f64,
    },
    /// The user says how fast training FLOPs go.
    TrainFlopsPerSecond {
        /// Training FLOPs a second.
        rate: f64,
    },
}
