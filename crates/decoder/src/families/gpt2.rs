//! GPT-2: learned positions, pre-norm, GELU in its tanh form, tied head, `Conv1D` matrices stored `[in, out]`.
//!
//! Source: `GPT2Config` and `GPT2LMHeadModel` of transformers 4.57. `reorder_and_upcast_attn` only changes in which
//! precision the reference computes the scores; ours are f32 in any case.

use super::Family;
use super::config::Config;
use super::tensors::{Naming, Tensors};
use crate::error::Result;
use crate::kernels::Packed;
use crate::spec::{AttentionScale, Biases, NormKind, NormPlacement, Positions, Residual, Spec};
use crate::weights::{Block, Keep, Matrix, Weights};

pub(super) const FAMILY: Family = Family {
    name: "gpt2",
    spec,
    ignored: &[
        "n_ctx",
        "n_special",
        "predict_special_tokens",
        "reorder_and_upcast_attn",
        "summary_activation",
        "summary_first_dropout",
        "summary_proj_to_labels",
        "summary_type",
        "summary_use_proj",
    ],
    ends: [Some(50_256), Some(50_256)],
    dense: weights::<Matrix>,
    packed: weights::<Packed>,
};

const NAMING: Naming = Naming {
    prefixes: &["transformer.", ""],
    signature: "wte.weight",
    block: "h.",
    buffers: &[".attn.bias", ".attn.masked_bias"],
};

fn spec(config: &mut Config) -> Result<Spec> {
    let width = config.size_of_two("n_embd", "hidden_size", 768)?;
    let heads = config.size_of_two("n_head", "num_attention_heads", 12)?;
    let context = config.size_of_two("n_positions", "max_position_embeddings", 1024)?;
    Ok(Spec {
        family: config.family().to_string(),
        vocabulary: config.size("vocab_size", 50_257)?,
        width,
        layers: config.size_of_two("n_layer", "num_hidden_layers", 12)?,
        heads,
        kv_heads: heads,
        head_width: config.head_width(width, heads)?,
        hidden: config.optional_size("n_inner")?.unwrap_or(4 * width),
        context,
        positions: Positions::Learned { offset: 0, rows: context },
        norm: NormKind::Layer,
        norm_epsilon: config.epsilon("layer_norm_epsilon", 1e-5)?,
        norm_placement: NormPlacement::Pre,
        norm_affine: true,
        final_norm: true,
        residual: Residual::Sequential,
        activation: config.activation("activation_function", "gelu_new")?,
        biases: Biases { query_key_value: true, attention_output: true, mlp: true },
        attention_scale: AttentionScale {
            by_head_width: config.flag("scale_attn_weights", true)?,
            by_layer: config.flag("scale_attn_by_inverse_layer_idx", false)?,
        },
        windows: Vec::new(),
        embedding_width: width,
        tied: config.flag("tie_word_embeddings", true)?,
    })
}

fn weights<M: Keep>(tensors: &mut Tensors<M>, spec: &Spec) -> Result<Weights<M>> {
    tensors.find_prefix(&NAMING)?;
    let (c, f) = (spec.width, spec.hidden);
    let (token_embedding, head) = tensors.embeddings("wte.weight", "lm_head.weight", spec)?;
    let mut block = |i: usize| -> Result<Block<M>> {
        Ok(Block {
            attention_norm: tensors.norm(&format!("h.{i}.ln_1"), spec)?,
            // Stored as one product already: queries, keys, values.
            qkv: tensors.transposed_linear(&format!("h.{i}.attn.c_attn"), 3 * c, c)?,
            attention_output: tensors.transposed_linear(&format!("h.{i}.attn.c_proj"), c, c)?,
            mlp_norm: tensors.norm(&format!("h.{i}.ln_2"), spec)?,
            up: tensors.transposed_linear(&format!("h.{i}.mlp.c_fc"), f, c)?,
            down: tensors.transposed_linear(&format!("h.{i}.mlp.c_proj"), c, f)?,
        })
    };
    let blocks = (0..spec.layers).map(&mut block).collect::<Result<_>>()?;
    Ok(Weights {
        token_embedding,
        position_embedding: Some(tensors.matrix("wpe.weight", spec.context, c)?),
        project_in: None,
        blocks,
        final_norm: Some(tensors.norm("ln_f", spec)?),
        project_out: None,
        head,
    })
}
