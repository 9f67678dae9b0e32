//! The keys of the loaders of evaluations: MMLU, behaviours, ICE.

use std::path::PathBuf;

use super::keys::Keys;
use crate::loaders::anthropic::AnthropicOptions;
use crate::loaders::ice::IceOptions;
use crate::loaders::ice::markup::Stripping;
use crate::loaders::mmlu::{Domains, MOST_SHOTS, MmluOptions};

type Result<T> = std::result::Result<T, String>;

pub(super) fn mmlu(keys: &mut Keys) -> Result<MmluOptions> {
    let mut options = MmluOptions::default();
    if let Some(format) = keys.one("format")? {
        options.format = format.parse()?;
    }
    if let Some(shots) = keys.number("shots", 0)? {
        options.shots = shots;
    }
    if options.shots > MOST_SHOTS {
        return Err(format!("shots={} is more than the {MOST_SHOTS} questions of dev", options.shots));
    }
    match keys.one("split")?.as_deref() {
        None | Some("test") => {}
        Some(split @ ("val" | "dev")) => split.clone_into(&mut options.split),
        Some(other) => return Err(format!("split={other} is not test, val or dev")),
    }
    if options.split == "dev" && options.shots > 0 {
        return Err("split=dev asks the questions that the shots answer; add shots=0".to_owned());
    }
    options.subjects = keys.all("subject");
    if let Some(domains) = keys.one("domains")? {
        options.domains = Domains::named(&domains);
    }
    options.questions = keys.number("questions", 1)?;
    Ok(options)
}

pub(super) fn anthropic(keys: &mut Keys) -> Result<AnthropicOptions> {
    Ok(AnthropicOptions {
        prompt: keys.one("format")?.map_or(Ok(Default::default()), |format| format.parse())?,
        clusters: keys.one("clusters")?.map(PathBuf::from),
        questions: keys.number("questions", 1)?,
    })
}

pub(super) fn ice(keys: &mut Keys) -> Result<IceOptions> {
    let mut either = |key: &str, yes: &str| match keys.one(key)?.as_deref() {
        None => Ok(true),
        Some("drop") => Ok(false),
        Some(value) if value == yes => Ok(true),
        Some(other) => Err(format!("{key}={other} is not {yes} or drop")),
    };
    let stripping = Stripping { pauses: either("pauses", "comma")?, extra: either("extra", "keep")? };
    Ok(IceOptions { variety: keys.one("variety")?, stripping })
}
