//! What a program offers to run models with: one entry an engine.

use super::options::EngineOptions;
use crate::error::{Error, Result};
use crate::hub::{ModelRequest, Parts};
use crate::source::ModelSource;

/// An engine, as a program offers it.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// Its name for `--engine`.
    pub name: &'static str,
    /// What must follow the name after a colon (`COMMAND`), if anything does.
    pub argument: Option<&'static str>,
    /// What it is, in a few words, for the help.
    pub about: &'static str,
    /// The options of [`EngineOptions`] that it takes, as a person writes them.
    pub takes: &'static [&'static str],
    /// Which files of a model of the Hub it needs here.
    pub parts: Parts,
    /// Looks at a model far enough to know that it can be run; it is loaded when it is its turn.
    pub source: fn(&ModelRequest, &EngineOptions) -> Result<ModelSource<'static>>,
}

impl Provider {
    /// How it is written: `NAME`, or `NAME:ARGUMENT`.
    pub fn spelling(&self) -> String {
        match self.argument {
            Some(argument) => format!("{}:{argument}", self.name),
            None => self.name.to_owned(),
        }
    }

    /// Looks at a model far enough to know that it can be run.
    ///
    /// # Errors
    /// [`Error::EngineOption`] for an option that this engine does not take; the engine's own.
    pub fn open(
        &self,
        request: &ModelRequest,
        options: &EngineOptions,
    ) -> Result<ModelSource<'static>> {
        match options.given().into_iter().find(|option| !self.takes.contains(option)) {
            Some(option) => {
                Err(Error::EngineOption { engine: self.name, option, takes: self.takes.join(", ") })
            }
            None => (self.source)(request, options),
        }
    }
}
