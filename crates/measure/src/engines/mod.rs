//! Engines: ways of running a model, a file each.
//!
//! * [`local`]: the decoder of this workspace, on this machine, in f32 or bf16.
//! * [`exec`]: any process that speaks a stated protocol, PyTorch with transformers among them.
//! * `gguf`: the tokenizer of a GGUF file, and its refusal by engines that read folders.
//! * [`mock`]: no model at all; pseudo-scores for tests and dry runs.
//! * [`vllm`]: a vLLM server, on whatever machines.
//!
//! [`provider`] is the one way in: what a program offers, by name. [`options`] is what a person may
//! say to any of them, [`earlier`] what a study holds already. Nothing outside this folder names
//! one of them.

pub mod earlier;
pub mod exec;
mod gguf;
pub mod local;
pub mod mock;
pub mod options;
pub mod provider;
pub mod vllm;

pub use earlier::Earlier;
pub use local::LocalEngine;
pub use mock::MockEngine;
pub use options::{Dtype, EngineOptions, Listener, Share};
pub use provider::Provider;

/// All providers; the first is the one that is taken where nobody says.
pub const ENGINES: &[Provider] =
    &[local::PROVIDER, exec::TRANSFORMERS, vllm::PROVIDER, exec::PROVIDER];

/// The provider that `NAME` or `NAME:ARGUMENT` means, and the argument.
///
/// # Errors
/// A sentence with the names that there are.
pub fn named(text: &str) -> Result<(&'static Provider, Option<String>), String> {
    let (name, argument) = match text.split_once(':') {
        Some((name, argument)) => (name, Some(argument.trim()).filter(|text| !text.is_empty())),
        None => (text, None),
    };
    let Some(engine) = ENGINES.iter().find(|engine| engine.name == name) else {
        let names: Vec<String> = ENGINES.iter().map(Provider::spelling).collect();
        return Err(format!("there is no engine `{name}`; there are {}", names.join(", ")));
    };
    match (engine.argument, argument) {
        (None, Some(_)) => Err(format!("engine `{name}` takes nothing after its name")),
        (Some(what), None) => Err(format!("engine `{name}` needs its {what}: {name}:{what}")),
        (_, argument) => Ok((engine, argument.map(str::to_owned))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_is_found_by_its_own_name() {
        for engine in ENGINES {
            let text = match engine.argument {
                Some(_) => format!("{}:x", engine.name),
                None => engine.name.to_owned(),
            };
            assert_eq!(named(&text).unwrap().0.name, engine.name);
        }
        let message = named("none").unwrap_err();
        assert!(message.contains("`none`") && message.contains("local"), "{message}");
        assert!(named("local:x").unwrap_err().contains("nothing after"));
    }

    #[test]
    fn what_an_engine_does_not_take_is_refused_by_name() {
        let asked = EngineOptions { url: Some("http://x".into()), ..EngineOptions::default() };
        let request = crate::ModelRequest {
            name: "m".into(),
            family: None,
            folder: std::path::PathBuf::from("nowhere"),
            source: None,
        };
        let message = local::PROVIDER.open(&request, &asked).err().unwrap().to_string();
        assert!(message.contains("--url") && message.contains("`local`"), "{message}");
        // Its server has its numbers, and a process of any kind too.
        let asked = EngineOptions { dtype: Some(Dtype::Auto), ..EngineOptions::default() };
        for provider in [vllm::PROVIDER, exec::PROVIDER] {
            let message = provider.open(&request, &asked).err().unwrap().to_string();
            assert!(message.contains("does not take --dtype auto"), "{message}");
        }
    }
}
