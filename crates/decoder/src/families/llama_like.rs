//! What Llama, Qwen2 and Mistral share: RMSNorm before each part, rotary positions on whole heads, grouped-query
//! attention, SwiGLU; keys and tensor names are the same too. They differ in which maps carry a bias.

use super::config::Config;
use super::rotary::{self, Spelling};
use super::tensors::{Naming, Tensors};
use crate::error::Result;
use crate::spec::{AttentionScale, Biases, NormKind, NormPlacement, Positions, Residual, Spec};
use crate::weights::{Block, Keep, Role, Weights, up_role};

const NAMING: Naming = Naming {
    prefixes: &["model.", ""],
    signature: "embed_tokens.weight",
    block: "layers.",
    buffers: &[".rotary_emb.inv_freq"],
};

const ROTARY: Spelling = Spelling { base: &["rope_theta"], fraction: &[], default_fraction: 1.0 };

/// What a family takes for sizes that its configuration does not say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) vocabulary: usize,
    pub(super) width: usize,
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    /// `None`: as many as there are heads, as `null` has it in all of them.
    pub(super) kv_heads: Option<usize>,
    pub(super) context: usize,
}

/// The spec of a configuration whose biases are these.
pub(super) fn spec(config: &mut Config, biases: Biases, default: &Sizes) -> Result<Spec> {
    let width = config.size("hidden_size", default.width)?;
    let heads = config.size("num_attention_heads", default.heads)?;
    let kv_heads = match default.kv_heads {
        Some(kv_heads) => config.size_or_null("num_key_value_heads", kv_heads)?,
        None => config.optional_size("num_key_value_heads")?,
    };
    let head_width = match config.optional_size("head_dim")? {
        Some(head_width) => head_width,
        None => config.head_width(width, heads)?,
    };
    Ok(Spec {
        family: config.family().to_string(),
        vocabulary: config.size("vocab_size", default.vocabulary)?,
        width,
        layers: config.size("num_hidden_layers", default.layers)?,
        heads,
        kv_heads: kv_heads.unwrap_or(heads),
        head_width,
        hidden: config.size("intermediate_size", default.hidden)?,
        context: config.size("max_position_embeddings", default.context)?,
        positions: Positions::Rotary(rotary::read(config, &ROTARY, head_width)?),
        norm: NormKind::Rms,
        norm_epsilon: config.epsilon("rms_norm_eps", 1e-6)?,
        norm_placement: NormPlacement::Pre,
        norm_affine: true,
        final_norm: true,
        residual: Residual::Sequential,
        activation: config.gated_activation("hidden_act")?,
        biases,
        attention_scale: AttentionScale { by_head_width: true, by_layer: false },
        windows: Vec::new(),
        embedding_width: width,
        tied: config.flag("tie_word_embeddings", false)?,
    })
}

/// The windows of all blocks. `window` is the key's value, or the reference's default when the key is absent; without
/// `layer_types`, by which newer configurations say it block by block, it holds in block `first` and all after it.
pub(super) fn windows(
    config: &mut Config,
    window: Option<usize>,
    first: usize,
    spec: &Spec,
) -> Result<Vec<Option<usize>>> {
    // One as long as the context hides nothing.
    let there = window.is_some();
    let window = window.filter(|window| *window < spec.context);
    let Some(kinds) = config.get("layer_types") else {
        return Ok((0..spec.layers).map(|layer| window.filter(|_| layer >= first)).collect());
    };
    let unsupported = config.unsupported("layer_types", &kinds);
    let Some(kinds) = kinds.as_array().filter(|kinds| kinds.len() == spec.layers) else {
        return Err(unsupported);
    };
    let block = |kind: &serde_json::Value| match kind.as_str() {
        Some("full_attention") => Some(None),
        // Without a window, or with it switched off, the reference has none to take.
        Some("sliding_attention") if there => Some(window),
        _ => None,
    };
    kinds.iter().map(block).collect::<Option<_>>().ok_or(unsupported)
}

/// The weights of any of them.
pub(super) fn weights<M: Keep>(tensors: &mut Tensors<M>, spec: &Spec) -> Result<Weights<M>> {
    tensors.find_prefix(&NAMING)?;
    let (c, f, d) = (spec.width, spec.hidden, spec.head_width);
    let (token_embedding, head) = tensors.embeddings("embed_tokens.weight", "lm_head.weight", spec)?;
    let mut block = |i: usize| -> Result<Block<M>> {
        let name = |part: &str| format!("layers.{i}.{part}");
        let (q, k, v) = (name("self_attn.q_proj"), name("self_attn.k_proj"), name("self_attn.v_proj"));
        let (gate, up) = (name("mlp.gate_proj"), name("mlp.up_proj"));
        let biases = spec.biases;
        Ok(Block {
            attention_norm: tensors.norm(&name("input_layernorm"), spec)?,
            qkv: tensors.stacked(
                &[(&q, spec.heads * d), (&k, spec.kv_heads * d), (&v, spec.kv_heads * d)],
                c,
                biases.query_key_value,
                Role::Linear,
            )?,
            attention_output: tensors.linear(
                &name("self_attn.o_proj"),
                c,
                spec.attention_width(),
                biases.attention_output,
            )?,
            mlp_norm: tensors.norm(&name("post_attention_layernorm"), spec)?,
            up: tensors.stacked(&[(&gate, f), (&up, f)], c, biases.mlp, up_role(spec))?,
            down: tensors.linear(&name("mlp.down_proj"), c, f, biases.mlp)?,
        })
    };
    let blocks = (0..spec.layers).map(&mut block).collect::<Result<_>>()?;
    Ok(Weights {
        token_embedding,
        position_embedding: None,
        project_in: None,
        blocks,
        final_norm: Some(tensors.norm("norm", spec)?),
        project_out: None,
        head,
    })
}
