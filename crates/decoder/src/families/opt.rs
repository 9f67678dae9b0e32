//! OPT: learned positions from row 2, ReLU, tied head; the 350M member is post-norm, has no final
//! norm, and projects an embedding of 512 to its width of 1024 and back.
//!
//! Source: `OPTConfig` and `OPTForCausalLM` of transformers 4.57. The epsilon of its norms is
//! PyTorch's default and has no key. A block's second norm is called `final_layer_norm` in the
//! file, as is the one before the head.

use super::config::Config;
use super::family::Family;
use super::names::{Names, Stored};
use crate::error::Result;
use crate::spec::{Activation, Biases, Gain, Layer, NormKind, NormPlacement, Positions, Spec};

pub(super) const FAMILY: Family = Family {
    name: "opt",
    spec,
    ignored: &[],
    ends: [Some(2), Some(2)],
    names: &Names {
        prefixes: &["model.decoder.", "decoder.", ""],
        block: "layers.",
        buffers: &["decoder.version"],
        token_embedding: "embed_tokens",
        position_embedding: "embed_positions",
        project_in: "project_in",
        final_norm: "final_layer_norm",
        project_out: "project_out",
        attention_norm: "self_attn_layer_norm",
        query_key_value: Stored::Apart(&[
            "self_attn.q_proj",
            "self_attn.k_proj",
            "self_attn.v_proj",
        ]),
        attention_output: "self_attn.out_proj",
        mlp_norm: "final_layer_norm",
        up: Stored::Whole("fc1"),
        down: "fc2",
        ..Names::NONE
    },
};

/// Rows of the position table before that of position 0.
const OFFSET: usize = 2;

fn spec(config: &mut Config) -> Result<Spec> {
    let (width, heads) =
        (config.size("hidden_size", 768)?, config.size("num_attention_heads", 12)?);
    let context = config.size("max_position_embeddings", 2048)?;
    let pre_norm = config.flag("do_layer_norm_before", true)?;
    let bias = config.flag("enable_bias", true)?;
    // Read in any case, so that it counts as known; it only bites where there would be a final
    // norm.
    let norm_removed = config.flag("_remove_final_layer_norm", false)?;
    let layers = config.size("num_hidden_layers", 12)?;
    Ok(Spec {
        vocabulary: config.size("vocab_size", 50_272)?,
        width,
        heads,
        kv_heads: heads,
        head_width: config.head_width(width, heads)?,
        hidden: config.size("ffn_dim", 3072)?,
        context,
        layers: config.layers(layers, |_| Layer::default())?,
        positions: Positions::Learned { offset: OFFSET, rows: context + OFFSET },
        projected: config
            .optional_size("word_embed_proj_dim")?
            .filter(|channels| *channels != width),
        norm: NormKind::Layer,
        norm_placement: if pre_norm { NormPlacement::Before } else { NormPlacement::AfterResidual },
        norm_gain: if config.flag("layer_norm_elementwise_affine", true)? {
            Gain::Plain
        } else {
            Gain::None
        },
        final_norm: pre_norm && !norm_removed,
        activation: config.activation("activation_function", Activation::Relu)?,
        gated: false,
        biases: if bias { Biases::ALL } else { Biases::NONE },
        tied: config.flag("tie_word_embeddings", true)?,
        ..Spec::default()
    })
}
