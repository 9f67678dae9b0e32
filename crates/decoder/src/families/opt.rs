//! OPT: learned positions from row 2, ReLU, tied head; the 350M member is post-norm, has no final norm, and projects
//! an embedding of 512 to its width of 1024 and back.
//!
//! Source: `OPTConfig` and `OPTForCausalLM` of transformers 4.57. The epsilon of its norms is PyTorch's default and has
//! no key. A block's second norm is called `final_layer_norm` in the file, as is the one before the head.

use super::Family;
use super::config::Config;
use super::tensors::{Naming, Tensors};
use crate::error::Result;
use crate::kernels::Packed;
use crate::spec::{AttentionScale, Biases, NormKind, NormPlacement, Positions, Residual, Spec};
use crate::weights::{Block, Keep, Matrix, Role, Weights};

pub(super) const FAMILY: Family = Family {
    name: "opt",
    spec,
    ignored: &[],
    ends: [Some(2), Some(2)],
    dense: weights::<Matrix>,
    packed: weights::<Packed>,
};

const NAMING: Naming = Naming {
    prefixes: &["model.decoder.", "decoder.", ""],
    signature: "embed_tokens.weight",
    block: "layers.",
    buffers: &["decoder.version"],
};

/// Rows of the position table before that of position 0.
const OFFSET: usize = 2;

fn spec(config: &mut Config) -> Result<Spec> {
    let (width, heads) = (config.size("hidden_size", 768)?, config.size("num_attention_heads", 12)?);
    let context = config.size("max_position_embeddings", 2048)?;
    let pre_norm = config.flag("do_layer_norm_before", true)?;
    let bias = config.flag("enable_bias", true)?;
    // Read in any case, so that it counts as known; it only bites where there would be a final norm.
    let norm_removed = config.flag("_remove_final_layer_norm", false)?;
    Ok(Spec {
        family: config.family().to_string(),
        vocabulary: config.size("vocab_size", 50_272)?,
        width,
        layers: config.size("num_hidden_layers", 12)?,
        heads,
        kv_heads: heads,
        head_width: config.head_width(width, heads)?,
        hidden: config.size("ffn_dim", 3072)?,
        context,
        positions: Positions::Learned { offset: OFFSET, rows: context + OFFSET },
        norm: NormKind::Layer,
        norm_epsilon: 1e-5,
        norm_placement: if pre_norm { NormPlacement::Pre } else { NormPlacement::Post },
        norm_affine: config.flag("layer_norm_elementwise_affine", true)?,
        final_norm: pre_norm && !norm_removed,
        residual: Residual::Sequential,
        activation: config.activation("activation_function", "relu")?,
        biases: Biases { query_key_value: bias, attention_output: bias, mlp: bias },
        attention_scale: AttentionScale { by_head_width: true, by_layer: false },
        windows: Vec::new(),
        embedding_width: config.optional_size("word_embed_proj_dim")?.unwrap_or(width),
        tied: config.flag("tie_word_embeddings", true)?,
    })
}

fn weights<M: Keep>(tensors: &mut Tensors<M>, spec: &Spec) -> Result<Weights<M>> {
    tensors.find_prefix(&NAMING)?;
    let (c, f, e) = (spec.width, spec.hidden, spec.embedding_width);
    let (token_embedding, head) = tensors.embeddings("embed_tokens.weight", "lm_head.weight", spec)?;
    let (project_in, project_out) = if e == c {
        (None, None)
    } else {
        let project_in = tensors.linear("project_in", c, e, false)?;
        (Some(project_in), Some(tensors.linear("project_out", e, c, false)?))
    };
    let mut block = |i: usize| -> Result<Block<M>> {
        let name = |part: &str| format!("layers.{i}.{part}");
        let (q, k, v) = (name("self_attn.q_proj"), name("self_attn.k_proj"), name("self_attn.v_proj"));
        Ok(Block {
            attention_norm: tensors.norm(&name("self_attn_layer_norm"), spec)?,
            qkv: tensors.stacked(
                &[(&q, c), (&k, c), (&v, c)],
                c,
                spec.biases.query_key_value,
                Role::Linear,
            )?,
            attention_output: tensors.linear(
                &name("self_attn.out_proj"),
                c,
                c,
                spec.biases.attention_output,
            )?,
            mlp_norm: tensors.norm(&name("final_layer_norm"), spec)?,
            up: tensors.linear(&name("fc1"), f, c, spec.biases.mlp)?,
            down: tensors.linear(&name("fc2"), c, f, spec.biases.mlp)?,
        })
    };
    let blocks = (0..spec.layers).map(&mut block).collect::<Result<_>>()?;
    let positions = tensors.matrix("embed_positions.weight", spec.context + OFFSET, c)?;
    let final_norm = spec.final_norm.then(|| tensors.norm("final_layer_norm", spec)).transpose()?;
    Ok(Weights {
        token_embedding,
        position_embedding: Some(positions),
        project_in,
        blocks,
        final_norm,
        project_out,
        head,
    })
}
