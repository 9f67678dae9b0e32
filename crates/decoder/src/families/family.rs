//! What is peculiar to one `model_type`.

use super::config::Config;
use super::names::Names;
use crate::error::Result;
use crate::spec::Spec;

/// One family: settings and names.
pub(super) struct Family {
    /// `model_type` in `config.json`.
    pub(super) name: &'static str,
    /// Reads the keys. Whatever it leaves unread is refused unless ignored.
    pub(super) spec: fn(&mut Config) -> Result<Spec>,
    /// Keys that do not change what the model computes, beyond those that all configurations share.
    pub(super) ignored: &'static [&'static str],
    /// Beginning- and end-of-text id where the configuration does not say them.
    pub(super) ends: [Option<u32>; 2],
    /// Where the tensors are.
    pub(super) names: &'static Names,
}
