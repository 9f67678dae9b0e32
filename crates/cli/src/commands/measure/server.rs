//! The arguments of `relscale measure` that a server as an engine takes.

use relscale_measure::engines::{EngineOptions, Share};

/// What is said to a server.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Engines that are servers (docs/engines-vllm.md)")]
pub(super) struct ServerArguments {
    /// Address of the server, http or https; a key is taken from VLLM_API_KEY or OPENAI_API_KEY
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// The model's name on the server [default: its only one, or that of the folder]
    #[arg(long, value_name = "NAME")]
    served: Option<String>,

    /// Take ranks of a server whose logits are rounded to 16 bits; every law says so
    #[arg(long)]
    accept_bf16_logits: bool,

    /// Requests at once, at most; fewer while the server cannot carry them [default: 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    in_flight: Option<u16>,

    /// Measure a share of the windows a second time and tell how far the two differ: by the server
    /// again (1%), or by this program's own decoder where the folder has weights (local:1%)
    #[arg(long, value_name = "SHARE")]
    audit: Option<Share>,

    /// Non-embedding parameters, for a model whose folder does not tell them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    parameters: Option<u64>,
}

impl ServerArguments {
    /// Adds what is said to a server.
    pub(super) fn add(&self, said: EngineOptions) -> EngineOptions {
        EngineOptions {
            url: self.url.clone(),
            served: self.served.clone(),
            accept_bf16_logits: self.accept_bf16_logits,
            in_flight: self.in_flight.map(usize::from),
            audit: self.audit,
            parameters: self.parameters,
            ..said
        }
    }
}
