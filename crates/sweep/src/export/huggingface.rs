//! A Hugging Face folder: `config.json` (model type `llama`, or `mistral` with an attention window,
//! or `qwen3` with norms of queries and keys), `model.safetensors` (f16), `tokenizer.json`, and
//! `training.json`, the record of how it was made. Written beside its place and renamed: a folder
//! is whole or absent.

use crate::error::{Error, Result};
use crate::tokenizer::{SEPARATOR, SEPARATOR_ID};
use half::f16;
use relscale_decoder::families::named_tensors;
use relscale_decoder::spec::{RotaryScaling, Spec};
use relscale_decoder::weights::Weights;
use relscale_records::atomic;
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::json;
use std::path::Path;

/// Writes the folder; for the holder of the lock of the folder above it.
///
/// # Errors
/// [`Error::Write`] and [`Error::Records`], naming the file; nothing half-written is left under the
/// folder's name.
pub fn write(
    folder: &Path,
    spec: &Spec,
    weights: &Weights,
    tokenizer: &tokenizers::Tokenizer,
    training: &impl serde::Serialize,
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
    atomic::write_whole(&aside.join("training.json"), pretty(training).as_bytes())?;
    Ok(atomic::publish_folder(&aside, folder)?)
}

/// The files of a model, in the order to write them in: `config.json`, by which a folder passes for
/// a model, is the last.
///
/// # Errors
/// [`Error::Tokenizer`], [`Error::Write`].
pub fn files(
    spec: &Spec,
    weights: &Weights,
    tokenizer: &tokenizers::Tokenizer,
) -> Result<[(&'static str, Vec<u8>); 3]> {
    let tokenizer =
        tokenizer.to_string(false).map_err(|error| Error::Tokenizer(error.to_string()))?;
    Ok([
        ("model.safetensors", tensors(spec, weights)?),
        ("tokenizer.json", tokenizer.into_bytes()),
        ("config.json", pretty(&config(spec)).into_bytes()),
    ])
}

/// `tokenizer_config.json`, without which transformers takes the tokenizer for Llama's own and adds
/// entries to it.
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

/// Whose configuration and names a model has.
fn family(spec: &Spec) -> &'static str {
    let windowed = spec.layers.iter().any(|layer| layer.window.is_some());
    match spec.query_key_norm {
        Some(_) => "qwen3",
        None if windowed => "mistral",
        None => "llama",
    }
}

/// `config.json` as transformers' `LlamaConfig` writes it, `MistralConfig` where attention has a
/// window, or `Qwen3Config` where queries and keys have norms: the same model otherwise, under the
/// same names.
fn config(spec: &Spec) -> serde_json::Value {
    let layer = spec.layers.first();
    let (base, scaling) = match layer.and_then(|layer| layer.rotary.as_ref()) {
        Some(rotary) => (rotary.base, rotary.scaling.as_ref().map(rope_scaling)),
        None => (10_000.0, None),
    };
    // By way of its digits, so that 1e-5 stays what it is in a type of more digits.
    let epsilon: f64 = spec.norm_epsilon.to_string().parse().unwrap_or(1e-5);
    let mut config = json!({
        "architectures": ["LlamaForCausalLM"],
        "model_type": family(spec),
        "vocab_size": spec.vocabulary,
        "hidden_size": spec.width,
        "intermediate_size": spec.hidden,
        "num_hidden_layers": spec.layers.len(),
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
    let window = layer.and_then(|layer| layer.window);
    let more = match family(spec) {
        "qwen3" => {
            let kind = if window.is_some() { "sliding_attention" } else { "full_attention" };
            json!({
                "architectures": ["Qwen3ForCausalLM"],
                "attention_bias": false,
                "use_sliding_window": window.is_some(),
                "sliding_window": window,
                "max_window_layers": 0,
                "layer_types": vec![kind; spec.layers.len()],
            })
        }
        "mistral" => {
            json!({ "architectures": ["MistralForCausalLM"], "sliding_window": window })
        }
        _ => json!({ "attention_bias": false, "mlp_bias": false }),
    };
    let rotary = layer.and_then(|layer| layer.rotary.as_ref());
    if let Some(RotaryScaling::Long { original_context, .. }) =
        rotary.and_then(|rotary| rotary.scaling.as_ref())
    {
        // Where transformers looks for it.
        config["original_max_position_embeddings"] = json!(original_context);
    }
    for (key, value) in more.as_object().into_iter().flatten() {
        config[key] = value.clone();
    }
    config
}

fn rope_scaling(scaling: &RotaryScaling) -> serde_json::Value {
    match scaling {
        RotaryScaling::Linear { factor } => json!({ "rope_type": "linear", "factor": factor }),
        RotaryScaling::Divided { divisors } => json!({
            "rope_type": "longrope",
            "short_factor": divisors,
            "long_factor": divisors,
            "attention_factor": 1.0,
        }),
        RotaryScaling::Llama3 {
            factor,
            low_frequency_factor,
            high_frequency_factor,
            original_context,
        } => {
            json!({
                "rope_type": "llama3",
                "factor": factor,
                "low_freq_factor": low_frequency_factor,
                "high_freq_factor": high_frequency_factor,
                "original_max_position_embeddings": original_context,
            })
        }
        RotaryScaling::Yarn {
            factor,
            beta_fast,
            beta_slow,
            truncate,
            original_context,
            attention_factor,
        } => json!({
            "rope_type": "yarn",
            "factor": factor,
            "beta_fast": beta_fast,
            "beta_slow": beta_slow,
            "truncate": truncate,
            "original_max_position_embeddings": original_context,
            "attention_factor": attention_factor,
        }),
        RotaryScaling::Long { short, long, attention_factor, .. } => json!({
            "rope_type": "longrope",
            "short_factor": short,
            "long_factor": long,
            "attention_factor": attention_factor,
        }),
    }
}

/// The tensors under the family's names, as f16.
fn tensors(spec: &Spec, weights: &Weights) -> Result<Vec<u8>> {
    let half = |numbers: &[f32]| {
        numbers.iter().flat_map(|w| f16::from_f32(*w).to_le_bytes()).collect::<Vec<u8>>()
    };
    let named: Vec<_> = named_tensors(family(spec), spec, weights)?
        .into_iter()
        .map(|(name, shape, numbers)| (name, shape, half(numbers)))
        .collect();
    let views = named
        .iter()
        .map(|(name, shape, bytes)| {
            Ok((name.as_str(), TensorView::new(Dtype::F16, shape.clone(), bytes)?))
        })
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>();
    let format = std::collections::HashMap::from([("format".to_owned(), "pt".to_owned())]);
    views.and_then(|views| safetensors::serialize(views, Some(format))).map_err(|error| {
        Error::Write { path: "model.safetensors".into(), source: std::io::Error::other(error) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipes::Recipe;
    use relscale_decoder::families::{self, LoadOptions};

    /// Weights of which no two tensors are alike.
    fn numbered(spec: &Spec) -> Weights {
        let mut weights = Weights::zeros(spec);
        for (seed, tensor) in weights.tensors_mut().into_iter().enumerate() {
            tensor.copy_from_slice(&relscale_testkit::numbers::numbers(
                tensor.len(),
                seed as u64 + 1,
            ));
        }
        weights
    }

    /// What is written is what is read: sizes, windows, every weight to the precision of f16, and
    /// no key that the reader does not know.
    #[test]
    fn a_folder_reads_back_as_the_model_that_was_written() {
        let text = "fn main() { let greeting = \"hello\"; println!(\"{greeting}\"); }";
        let tokenizer = crate::tokenizer::train([text].into_iter(), 300).unwrap();
        for window in [None, Some(16)] {
            let recipe = Recipe { window, vocabulary: 300, ..Recipe::named("small").unwrap() };
            let size = &recipe.sizes[2];
            let spec = recipe.spec(size);
            let weights = numbered(&spec);
            let place = tempfile::tempdir().unwrap();
            let folder = place.path().join("model");
            write(&folder, &spec, &weights, &tokenizer, &"a record").unwrap();
            let loaded = families::load(&folder, LoadOptions::default()).unwrap();
            let family = spec.family.clone();
            assert_eq!(Spec { family, ..loaded.spec.clone() }, spec);
            assert!(loaded.info.unused.is_empty());
            for (read, written) in loaded.weights.tensors().iter().zip(weights.tensors()) {
                assert_eq!(read.len(), written.len());
                for (read, written) in read.iter().zip(written) {
                    assert_eq!(*read, f16::from_f32(*written).to_f32());
                }
            }
        }
    }

    /// What the family does not use: scaled frequencies, grouped heads, another epsilon, Qwen3's
    /// norms, a head of its own.
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
        let tokenizer =
            crate::tokenizer::train(["some words, and some more"].into_iter(), 300).unwrap();
        for (qk_norm, tied, window) in
            [(false, true, None), (false, false, None), (true, false, None), (true, true, Some(9))]
        {
            let spec =
                crate::plan::Architecture { qk_norm, tied, window, ..architecture.clone() }.spec();
            let (place, weights) = (tempfile::tempdir().unwrap(), numbered(&spec));
            for (name, bytes) in files(&spec, &weights, &tokenizer).unwrap() {
                std::fs::write(place.path().join(name), bytes).unwrap();
            }
            let loaded = families::load(place.path(), LoadOptions::default()).unwrap();
            assert_eq!(loaded.spec, spec);
            assert!(loaded.info.unused.is_empty());
            let half = |numbers: &[f32]| -> Vec<f32> {
                numbers.iter().map(|w| f16::from_f32(*w).to_f32()).collect()
            };
            for (read, written) in loaded.weights.tensors().iter().zip(weights.tensors()) {
                assert_eq!(*read, half(written));
            }
        }
    }
}
