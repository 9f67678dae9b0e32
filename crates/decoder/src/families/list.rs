//! The families. Kin that is exactly another family's arithmetic stands in that family's file.

use super::family::Family;
use super::{gpt_neo, gpt_neox, gpt2, llama, olmo, olmo2, opt, qwen2, qwen3};

/// In the order in which they are told.
pub(super) const FAMILIES: [&Family; 10] = [
    &gpt2::FAMILY,
    &gpt_neo::FAMILY,
    &gpt_neox::FAMILY,
    &llama::FAMILY,
    &llama::MISTRAL,
    &olmo::FAMILY,
    &olmo2::FAMILY,
    &opt::FAMILY,
    &qwen2::FAMILY,
    &qwen3::FAMILY,
];
