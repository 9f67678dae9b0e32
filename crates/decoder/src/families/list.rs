//! The families. Kin that is exactly another family's arithmetic stands in that family's file.

use super::family::Family;
use super::{
    gemma, gemma2, gemma3, gpt_neo, gpt_neox, gpt2, granite, llama, olmo, olmo2, opt, qwen2, qwen3,
    smollm3,
};

/// In the order in which they are told.
pub(super) const FAMILIES: [&Family; 16] = [
    &gemma::FAMILY,
    &gemma2::FAMILY,
    &gemma3::FAMILY,
    &gemma3::TEXT,
    &gpt2::FAMILY,
    &gpt_neo::FAMILY,
    &gpt_neox::FAMILY,
    &granite::FAMILY,
    &llama::FAMILY,
    &llama::MISTRAL,
    &olmo::FAMILY,
    &olmo2::FAMILY,
    &opt::FAMILY,
    &qwen2::FAMILY,
    &qwen3::FAMILY,
    &smollm3::FAMILY,
];
