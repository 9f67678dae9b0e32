//! OLMo 2: Llama with norms on what each part yields and none before it, and an RMSNorm of queries
//! and of keys, each over all its heads.
//!
//! Source: `Olmo2Config` and `Olmo2ForCausalLM` of transformers 4.57. That configuration takes
//! linear and dynamic rotary scaling alone; the model computes all kinds, and version 5 takes them.

use super::config::Config;
use super::family::Family;
use super::names::Names;
use super::{llama_like, olmo};
use crate::error::Result;
use crate::spec::{NormPlacement, NormSpan, Spec};

pub(super) const FAMILY: Family =
    Family { name: "olmo2", spec, ignored: &[], ends: [None, Some(50_279)], names: &NAMES };

pub(super) const NAMES: Names = Names {
    attention_norm: "",
    query_norm: "self_attn.q_norm",
    key_norm: "self_attn.k_norm",
    attention_branch_norm: "post_attention_layernorm",
    mlp_norm: "",
    mlp_branch_norm: "post_feedforward_layernorm",
    ..llama_like::NAMES
};

fn spec(config: &mut Config) -> Result<Spec> {
    let spec = olmo::llama_like(config)?;
    normed(config, spec)
}

/// Such a model with the norms of OLMo 2 and 3.
pub(super) fn normed(config: &mut Config, spec: Spec) -> Result<Spec> {
    Ok(Spec {
        // Llama's default is another.
        norm_epsilon: config.epsilon("rms_norm_eps", 1e-5)?,
        norm_placement: NormPlacement::OnBranch,
        query_key_norm: Some(NormSpan::Width),
        ..spec
    })
}
