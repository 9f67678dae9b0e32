//! RWKV-4: time mixing, a linear recurrence of each channel, and channel mixing in every block,
//! each token blended with the one before it.
//!
//! Source: `RwkvConfig`, `RwkvForCausalLM` of transformers 4.57 (`rwkv_linear_attention_cpu`). In
//! evaluation it halves the stream every `rescale_every` blocks, and divides what is added to it,
//! so that f16 holds it; norms undo that but for their epsilon, which we make larger by as much
//! ([`Spec::epsilon`]). `context_length` is the length in training; the recurrence reads any.

use super::config::Config;
use super::family::Family;
use super::names::Names;
use crate::error::Result;
use crate::parts::TimeMixPart;
use crate::spec::{Layer, Mixer, NormKind, Spec, TimeMix};

pub(super) const FAMILY: Family = Family {
    name: "rwkv",
    spec,
    ignored: &[],
    ends: [Some(0), Some(0)],
    names: &Names {
        prefixes: &["rwkv.", ""],
        block: "blocks.",
        token_embedding: "embeddings",
        embedding_norm: "blocks.0.pre_ln",
        final_norm: "ln_out",
        head: "head",
        time_mix: |part| match part {
            TimeMixPart::Norm => "ln1",
            TimeMixPart::Decay => "attention.time_decay",
            TimeMixPart::First => "attention.time_first",
            TimeMixPart::KeyBlend => "attention.time_mix_key",
            TimeMixPart::ValueBlend => "attention.time_mix_value",
            TimeMixPart::ReceptanceBlend => "attention.time_mix_receptance",
            TimeMixPart::Key => "attention.key",
            TimeMixPart::Value => "attention.value",
            TimeMixPart::Receptance => "attention.receptance",
            TimeMixPart::Output => "attention.output",
            TimeMixPart::ChannelNorm => "ln2",
            TimeMixPart::ChannelBlend => "feed_forward.time_mix_key",
            TimeMixPart::GateBlend => "feed_forward.time_mix_receptance",
            TimeMixPart::Up => "feed_forward.key",
            TimeMixPart::Gate => "feed_forward.receptance",
            TimeMixPart::Down => "feed_forward.value",
        },
        ..Names::NONE
    },
};

fn spec(config: &mut Config) -> Result<Spec> {
    let width = config.size("hidden_size", 4096)?;
    let layers = config.size("num_hidden_layers", 32)?;
    // Null means what absent does.
    let inner = config.optional_size("attention_hidden_size")?.unwrap_or(width);
    let hidden = config.optional_size("intermediate_size")?.unwrap_or(4 * width);
    let rescale_every = match config.get_unless_null("rescale_every")? {
        None => Some(6),
        Some(value) => match value.as_i64() {
            Some(every) if every <= 0 => None,
            Some(every) => Some(usize::try_from(every).unwrap_or(usize::MAX)),
            None => return Err(config.unsupported("rescale_every", &value)),
        },
    };
    Ok(Spec {
        vocabulary: config.size("vocab_size", 50_277)?,
        width,
        // `ln_out` is made without the configuration's epsilon.
        mixer: Mixer::TimeMix(TimeMix { inner, rescale_every, final_epsilon: 1e-5 }),
        hidden,
        context: config.size_of_two("context_length", "max_position_embeddings", 1024)?,
        layers: config.layers(layers, |_| Layer::default())?,
        embedding_norm: true,
        norm: NormKind::Layer,
        norm_epsilon: config.epsilon("layer_norm_epsilon", 1e-5)?,
        tied: config.flag("tie_word_embeddings", false)?,
        ..Spec::default()
    })
}
