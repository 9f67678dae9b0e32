//! The families. Kin that is exactly another family's arithmetic stands in that family's file.

use super::family::Family;
use super::{
    bloom, falcon, gemma, gemma2, gemma3, gpt_neo, gpt_neox, gpt2, granite, hf_olmo, llama, mamba,
    mamba2, olmo, olmo2, olmo3, opt, phi, phi3, qwen2, qwen3, rwkv, smollm3, stablelm, starcoder2,
};

/// In the order in which they are told.
pub(super) const FAMILIES: [&Family; 28] = [
    &bloom::FAMILY,
    &falcon::FAMILY,
    &mamba::FALCON,
    &gemma::FAMILY,
    &gemma2::FAMILY,
    &gemma3::FAMILY,
    &gemma3::TEXT,
    &gpt2::FAMILY,
    &gpt_neo::FAMILY,
    &gpt_neox::FAMILY,
    &granite::FAMILY,
    &hf_olmo::FAMILY,
    &llama::FAMILY,
    &mamba::FAMILY,
    &mamba2::FAMILY,
    &llama::MISTRAL,
    &olmo::FAMILY,
    &olmo2::FAMILY,
    &olmo3::FAMILY,
    &opt::FAMILY,
    &phi::FAMILY,
    &phi3::FAMILY,
    &qwen2::FAMILY,
    &qwen3::FAMILY,
    &rwkv::FAMILY,
    &smollm3::FAMILY,
    &stablelm::FAMILY,
    &starcoder2::FAMILY,
];
