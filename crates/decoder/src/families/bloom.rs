//! BLOOM: ALiBi in place of positions, a norm behind the embedding, biases on all maps, tied head,
//! query/key/value rows interleaved by head.
//!
//! Source: `BloomConfig` and `BloomForCausalLM` of transformers 4.57. ALiBi has no bound, and the
//! configuration names none: the context is `seq_length`, the length of training, where the file
//! has it, and 2048, that of all published models, where it does not.
//! `apply_residual_connection_post_layernorm`, which no published model has, is refused; so is
//! `slow_but_exact` with a `pretraining_tp` above 1, under which the reference leaves out biases.

use super::config::Config;
use super::family::Family;
use super::gpt_neox::by_kind;
use super::names::{Names, Stored};
use crate::error::Result;
use crate::spec::{Activation, Biases, Layer, NormKind, Positions, Spec};

pub(super) const FAMILY: Family = Family {
    name: "bloom",
    spec,
    ignored: &[
        "attention_softmax_in_fp32",
        "bias_dropout_fusion",
        "masked_softmax_fusion",
        "n_inner",
        "offset_alibi",
        "skip_bias_add",
        "skip_bias_add_qkv",
    ],
    ends: [Some(1), Some(2)],
    names: &Names {
        prefixes: &["transformer.", ""],
        block: "h.",
        token_embedding: "word_embeddings",
        embedding_norm: "word_embeddings_layernorm",
        final_norm: "ln_f",
        attention_norm: "input_layernorm",
        query_key_value: Stored::Ordered("self_attention.query_key_value", by_kind),
        attention_output: "self_attention.dense",
        mlp_norm: "post_attention_layernorm",
        up: Stored::Whole("mlp.dense_h_to_4h"),
        down: "mlp.dense_4h_to_h",
        ..Names::NONE
    },
};

/// Tokens of a sequence in the training of all published models.
const TRAINED: usize = 2048;

fn spec(config: &mut Config) -> Result<Spec> {
    let width = config.size_or_older("hidden_size", "n_embed", 64)?;
    let heads = config.size_of_two("n_head", "num_attention_heads", 8)?;
    let layers = config.size_of_two("n_layer", "num_hidden_layers", 2)?;
    config.only("apply_residual_connection_post_layernorm", false)?;
    let shares = config.size("pretraining_tp", 1)?;
    if shares > 1 {
        config.only("slow_but_exact", false)?;
    } else {
        config.flag("slow_but_exact", false)?;
    }
    Ok(Spec {
        vocabulary: config.size("vocab_size", 250_880)?,
        width,
        heads,
        kv_heads: heads,
        head_width: config.head_width(width, heads)?,
        hidden: 4 * width,
        context: config.optional_size("seq_length")?.unwrap_or(TRAINED),
        layers: config.layers(layers, |_| Layer::default())?,
        positions: Positions::Alibi,
        embedding_norm: true,
        norm: NormKind::Layer,
        norm_epsilon: config.epsilon("layer_norm_epsilon", 1e-5)?,
        activation: Activation::GeluTanh,
        gated: false,
        biases: Biases::ALL,
        tied: config.flag("tie_word_embeddings", true)?,
        ..Spec::default()
    })
}
