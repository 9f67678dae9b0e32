//! A Hugging Face folder: `config.json` (model type `llama`, or `mistral` with an attention window), `model.safetensors` (f16), `tokenizer.json`,
//! and `training.json`, the record of how it was made. Written beside its place and renamed: a folder is whole or absent.

use crate::error::{Error, Result};
use crate::tokenizer::{SEPARATOR, SEPARATOR_ID};
use crate::train::curve::Training;
use half::f16;
use relscale_decoder::spec::{Positions, RotaryScaling, Spec};
use relscale_decoder::weights::{Matrix, Weights};
use relscale_records::atomic;
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::json;
use std::path::Path;

/// Writes the folder; for the holder of the lock of the folder above it.
///
/// # Errors
/// [`Error::Write`] and [`Error::Records`], naming the file; nothing half-written is left under the folder's name.
pub fn write(
    folder: &Path,
    spec: &Spec,
    weights: &Weights,
    tokenizer: &tokenizers::Tokenizer,
    training: &Training,
) -> Result<()> {
    // A hidden name, so that a folder in the making is not taken for a model.
    let mut name = std::ffi::OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(".tmp");
    let aside = folder.with_file_name(name);
    // What a killed writer left; of a link, only the link.
    let _ = std::fs::remove_dir_all(&aside);
    atomic::inner_folder(&aside)?;
    for (name, bytes) in files(spec, weights, tokenizer)? {
        atomic::write_whole(&aside.join(name), &bytes)?;
    }
    atomic::write_whole(&aside.join("training.json"), pretty(&training).as_bytes())?;
    Ok(atomic::publish_folder(&aside, folder)?)
}

/// The files of a model, in the order to write them in: `config.json`, by which a folder passes for a model, is the last.
///
/// # Errors
/// [`Error::Tokenizer`], [`Error::Write`].
pub fn files(
    spec: &Spec,
    weights: &Weights,
    tokenizer: &tokenizers::Tokenizer,
) -> Result<[(&'static str, Vec<u8>); 3]> {
    let tokenizer = tokenizer.to_string(false).map_err(|error| Error::Tokenizer(error.to_string()))?;
    Ok([
        ("model.safetensors", tensors(spec, weights)?),
        ("tokenizer.json", tokenizer.into_bytes()),
        ("config.json", pretty(&config(spec)).into_bytes()),
    ])
}

/// `tokenizer_config.json`, without which transformers takes the tokenizer for Llama's own and adds entries to it.
pub fn tokenizer_config(spec: &Spec) -> Vec<u8> {
    let config = json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": SEPARATOR,
        "eos_token": SEPARATOR,
        "add_bos_token": false,
        "clean_up_tokenization_spaces": false,
        "model_max_length": spec.context,
    });
    pretty(&config).into_bytes()
}

fn pretty(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// `config.json` as transformers' `LlamaConfig` writes it, or `MistralConfig` where attention has a window: the same model
/// otherwise, under the same names.
fn config(spec: &Spec) -> serde_json::Value {
    let (base, scaling) = match &spec.positions {
        Positions::Rotary(rotary) => (rotary.base, rotary.scaling.as_ref().map(rope_scaling)),
        Positions::Learned { .. } => (10_000.0, None),
    };
    // By way of its digits, so that 1e-5 stays what it is in a type of more digits.
    let epsilon: f64 = spec.norm_epsilon.to_string().parse().unwrap_or(1e-5);
    let mut config = json!({
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": spec.vocabulary,
        "hidden_size": spec.width,
        "intermediate_size": spec.hidden,
        "num_hidden_layers": spec.layers,
        "num_attention_heads": spec.heads,
        "num_key_value_heads": spec.kv_heads,
        "head_dim": spec.head_width,
        "max_position_embeddings": spec.context,
        "hidden_act": "silu",
        "rms_norm_eps": epsilon,
        "rope_theta": base,
        "rope_scaling": scaling,
        "tie_word_embeddings": spec.tied,
        "bos_token_id": SEPARATOR_ID,
        "eos_token_id": SEPARATOR_ID,
        "torch_dtype": "float16",
    });
    let more = match spec.window(0) {
        Some(window) => json!({
            "architectures": ["MistralForCausalLM"], "model_type": "mistral", "sliding_window": window,
        }),
        None => json!({ "attention_bias": false, "mlp_bias": false }),
    };
    for (key, value) in more.as_object().into_iter().flatten() {
        config[key] = value.clone();
    }
    config
}

fn rope_scaling(scaling: &RotaryScaling) -> serde_json::Value {
    match scaling {
        RotaryScaling::Linear { factor } => json!({ "rope_type": "linear", "factor": factor }),
        RotaryScaling::Llama3 { factor, low_frequency_factor, high_frequency_factor, original_context } => {
            json!({
                "rope_type": "llama3",
                "factor": factor,
                "low_freq_factor": low_frequency_factor,
                "high_freq_factor": high_frequency_factor,
                "original_max_position_embeddings": original_context,
            })
        }
    }
}

/// The tensors under Llama's names, as f16.
fn tensors(spec: &Spec, weights: &Weights) -> Result<Vec<u8>> {
    let mut named: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    let mut push = |name: String, shape: &[usize], data: &[f32]| {
        named.push((
            name,
            shape.to_vec(),
            data.iter().flat_map(|w| f16::from_f32(*w).to_le_bytes()).collect(),
        ));
    };
    let embedding = &weights.token_embedding;
    push("model.embed_tokens.weight".into(), &[embedding.rows, embedding.columns], &embedding.data);
    for (layer, block) in weights.blocks.iter().enumerate() {
        let name = |part: &str| format!("model.layers.{layer}.{part}.weight");
        let (q, k) = (spec.attention_width(), spec.kv_heads * spec.head_width);
        for (part, first, rows) in [("q", 0, q), ("k", q, k), ("v", q + k, k)] {
            push(
                name(&format!("self_attn.{part}_proj")),
                &[rows, spec.width],
                band(&block.qkv.weight, first, rows),
            );
        }
        let matrix = |m: &Matrix| [m.rows, m.columns];
        let output = &block.attention_output.weight;
        push(name("self_attn.o_proj"), &matrix(output), &output.data);
        for (part, first) in [("gate", 0), ("up", spec.hidden)] {
            let rows = band(&block.up.weight, first, spec.hidden);
            push(name(&format!("mlp.{part}_proj")), &[spec.hidden, spec.width], rows);
        }
        push(name("mlp.down_proj"), &matrix(&block.down.weight), &block.down.weight.data);
        for (part, norm) in
            [("input_layernorm", &block.attention_norm), ("post_attention_layernorm", &block.mlp_norm)]
        {
            norm.gain.iter().for_each(|gain| push(name(part), &[spec.width], gain));
        }
    }
    let last = weights.final_norm.iter().flat_map(|norm| &norm.gain);
    last.for_each(|gain| push("model.norm.weight".into(), &[spec.width], gain));
    let views = named
        .iter()
        .map(|(name, shape, bytes)| Ok((name.as_str(), TensorView::new(Dtype::F16, shape.clone(), bytes)?)))
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>();
    let format = std::collections::HashMap::from([("format".to_owned(), "pt".to_owned())]);
    views.and_then(|views| safetensors::serialize(views, Some(format))).map_err(|error| Error::Write {
        path: "model.safetensors".into(),
        source: std::io::Error::other(error),
    })
}

/// Rows `first..first + rows` of a matrix.
fn band(matrix: &Matrix, first: usize, rows: usize) -> &[f32] {
    &matrix.data[first * matrix.columns..(first + rows) * matrix.columns]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipes::Recipe;
    use crate::train::initial::initial_weights;
    use relscale_decoder::count::ParameterCount;
    use relscale_decoder::families::{self, LoadOptions};

    /// What is written is what is read: sizes, windows, every weight to the precision of f16, and no key that the reader
    /// does not know.
    #[test]
    fn a_folder_reads_back_as_the_model_that_was_written() {
        let text = "fn main() { let greeting = \"hello\"; println!(\"{greeting}\"); }";
        let tokenizer = crate::tokenizer::train([text].into_iter(), 300).unwrap();
        for window in [None, Some(16)] {
            let recipe = Recipe { window, vocabulary: 300, ..Recipe::named("small").unwrap() };
            let size = &recipe.sizes[2];
            let spec = recipe.spec(size);
            let weights = initial_weights(&spec, 1);
            let training = Training {
                command: String::new(),
                recipe: recipe.clone(),
                size: size.clone(),
                non_embedding_parameters: ParameterCount::of(&spec).non_embedding,
                tokens: 0,
                text_tokens: 0,
                passes: 0.0,
                text_sha256: String::new(),
                final_loss: 0.0,
                curve: Vec::new(),
            };
            let place = tempfile::tempdir().unwrap();
            let folder = place.path().join("model");
            write(&folder, &spec, &weights, &tokenizer, &training).unwrap();
            let loaded = families::load(&folder, LoadOptions::default()).unwrap();
            let windows: Vec<_> = (0..spec.layers).map(|layer| loaded.spec.window(layer)).collect();
            assert_eq!(windows, vec![window; spec.layers]);
            let family = spec.family.clone();
            assert_eq!(Spec { family, windows: spec.windows.clone(), ..loaded.spec.clone() }, spec);
            assert!(loaded.info.unused.is_empty());
            for (read, written) in loaded.weights.tensors().iter().zip(weights.tensors()) {
                assert_eq!(read.len(), written.len());
                for (read, written) in read.iter().zip(written) {
                    assert_eq!(*read, f16::from_f32(*written).to_f32());
                }
            }
        }
    }

    /// What the family does not use: scaled frequencies, grouped heads, another epsilon.
    #[test]
    fn a_configuration_tells_all_that_a_plan_may_ask_for() {
        let architecture = crate::plan::Architecture {
            vocabulary: 300,
            sequence: 64,
            width: 16,
            layers: 2,
            heads: 4,
            kv_heads: 2,
            head_width: 4,
            hidden: 24,
            tied: true,
            qk_norm: false,
            window: None,
            rope_base: 5e5,
            rope_scaling: Some(crate::plan::architecture::Llama3Scaling {
                factor: 8.0,
                low_frequency_factor: 1.0,
                high_frequency_factor: 4.0,
                original_context: 32,
            }),
            norm_epsilon: 1e-6,
        };
        let spec = architecture.spec().unwrap();
        let tokenizer = crate::tokenizer::train(["some words, and some more"].into_iter(), 300).unwrap();
        let place = tempfile::tempdir().unwrap();
        for (name, bytes) in files(&spec, &initial_weights(&spec, 1), &tokenizer).unwrap() {
            std::fs::write(place.path().join(name), bytes).unwrap();
        }
        let loaded = families::load(place.path(), LoadOptions::default()).unwrap();
        let (family, windows) = (spec.family.clone(), spec.windows.clone());
        assert_eq!(Spec { family, windows, ..loaded.spec }, spec);
    }
}
