//! The arguments of `relscale measure` that an engine in a process of its own takes.

use std::time::Duration;

use relscale_measure::engines::EngineOptions;

/// What is said to a process.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Engines that are processes (docs/engines.md)")]
pub(super) struct ProcessArguments {
    /// Told to the engine as it is; may be given several times
    #[arg(long = "engine-option", value_name = "KEY=VALUE", value_parser = pair)]
    options: Vec<(String, String)>,

    /// Seconds of silence, without a heartbeat, after which a process counts as hanging
    /// [default: 60]
    #[arg(long = "engine-silence", value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    silence: Option<u32>,
}

impl ProcessArguments {
    /// Adds what was said.
    pub(super) fn add(&self, options: EngineOptions) -> EngineOptions {
        EngineOptions {
            own: self.options.clone(),
            silence: self.silence.map(|seconds| Duration::from_secs(seconds.into())),
            ..options
        }
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("it is KEY=VALUE".to_owned()),
    }
}
