//! Engines: ways of running a model, a file each.
//!
//! * [`local`]: the decoder of this workspace, on this machine, in f32 or bf16.
//! * [`mock`]: no model at all; pseudo-scores for tests and dry runs.

pub mod local;
pub mod mock;

use relscale_decoder::families::LoadOptions;

use crate::error::Result;
use crate::hub::ModelRequest;
use crate::source::ModelSource;
pub use local::LocalEngine;
pub use mock::MockEngine;

/// What a program offers to run models with.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// Its name for `--engine`.
    pub name: &'static str,
    /// Looks at a model far enough to know that it can be run; it is loaded when it is its turn.
    pub open: fn(&ModelRequest, LoadOptions) -> Result<ModelSource<'static>>,
}

/// All providers; the first is the one that is taken where nobody says.
pub const ENGINES: &[Provider] = &[Provider { name: "local", open: local::source }];

/// The provider of a name, if there is one.
pub fn named(name: &str) -> Option<&'static Provider> {
    ENGINES.iter().find(|engine| engine.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_is_found_by_its_own_name() {
        for engine in ENGINES {
            assert!(
                std::ptr::fn_addr_eq(named(engine.name).unwrap().open, engine.open),
                "{}",
                engine.name
            );
        }
        assert!(named("none").is_none());
    }
}
