//! What a person may say to an engine: one list for all, of which each takes its own.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Numbers in which weights are kept and products taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dtype {
    /// 32 bits.
    #[default]
    F32,
    /// 16 bits, summed in 32.
    Bf16,
}

/// What a person may say to an engine. What is `None`, empty or false was not said.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// What followed the engine's name after a colon.
    pub argument: Option<String>,
    /// `--dtype`.
    pub dtype: Option<Dtype>,
    /// `--tie-head`: take the token embedding for the output head.
    pub tie_head: bool,
    /// `--url` of a server.
    pub url: Option<String>,
    /// `--engine-silence`: how long a process may be silent.
    pub silence: Option<Duration>,
    /// `--engine-option KEY=VALUE`, for the engine itself to understand.
    pub own: Vec<(String, String)>,
    /// A flag that ends whatever takes long.
    pub cancel: Arc<AtomicBool>,
}

impl EngineOptions {
    /// The options that were said, as a person writes them.
    pub fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--dtype", self.dtype.is_some()),
            ("--tie-head", self.tie_head),
            ("--url", self.url.is_some()),
            ("--engine-silence", self.silence.is_some()),
            ("--engine-option", !self.own.is_empty()),
        ];
        all.into_iter().filter(|(_, said)| *said).map(|(name, _)| name).collect()
    }
}
