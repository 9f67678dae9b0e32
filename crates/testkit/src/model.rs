//! A tiny Llama folder with random weights: `config.json`, `model.safetensors` (f32),
//! `tokenizer.json`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::json;

use crate::tokenizer;

/// What the model is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TinyModel {
    /// Channels; a multiple of twice the heads.
    pub width: usize,
    /// Blocks.
    pub layers: usize,
    /// Heads.
    pub heads: usize,
    /// Inner channels of the MLP.
    pub hidden: usize,
    /// The most tokens it takes at once.
    pub context: usize,
    /// Rows of embedding and head; [`tokenizer::ENTRIES`] and more to fit its tokenizer.
    pub rows: usize,
    /// Seed of the weights.
    pub seed: u64,
    /// Whether a weight that every token meets is NaN.
    pub spoilt: bool,
}

impl Default for TinyModel {
    /// Some ten thousand parameters, three rows of padding.
    fn default() -> Self {
        Self {
            width: 16,
            layers: 1,
            heads: 2,
            hidden: 24,
            context: 64,
            rows: tokenizer::ENTRIES + 3,
            seed: 1,
            spoilt: false,
        }
    }
}

/// Writes the model into `folder`, which is made.
///
/// # Panics
/// The folder cannot be written.
pub fn tiny_model(folder: &Path, model: &TinyModel) {
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    };
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    put("config.json", config(model).as_bytes());
    put("model.safetensors", &weights(model));
    put("tokenizer.json", tokenizer::json().as_bytes());
}

fn config(model: &TinyModel) -> String {
    json!({
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": model.rows,
        "hidden_size": model.width,
        "intermediate_size": model.hidden,
        "num_hidden_layers": model.layers,
        "num_attention_heads": model.heads,
        "num_key_value_heads": model.heads,
        "max_position_embeddings": model.context,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "rope_scaling": null,
        "attention_bias": false,
        "mlp_bias": false,
        "tie_word_embeddings": true,
        "torch_dtype": "float32",
    })
    .to_string()
}

fn weights(model: &TinyModel) -> Vec<u8> {
    let TinyModel { width, hidden, .. } = *model;
    let mut shapes: Vec<(String, Vec<usize>)> =
        vec![("model.embed_tokens.weight".to_owned(), vec![model.rows, width])];
    for layer in 0..model.layers {
        let mut add = |part: &str, shape: &[usize]| {
            shapes.push((format!("model.layers.{layer}.{part}.weight"), shape.to_vec()));
        };
        for part in ["q_proj", "k_proj", "v_proj", "o_proj"] {
            add(&format!("self_attn.{part}"), &[width, width]);
        }
        add("mlp.gate_proj", &[hidden, width]);
        add("mlp.up_proj", &[hidden, width]);
        add("mlp.down_proj", &[width, hidden]);
        add("input_layernorm", &[width]);
        add("post_attention_layernorm", &[width]);
    }
    shapes.push(("model.norm.weight".to_owned(), vec![width]));

    let mut random = ChaCha8Rng::seed_from_u64(model.seed);
    let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = shapes
        .into_iter()
        .map(|(name, shape)| {
            let spoilt = model.spoilt && name == "model.norm.weight";
            // Gains about 1, matrices about 0.
            let centre = if shape.len() == 1 { 1.0 } else { 0.0 };
            let mut data: Vec<f32> =
                (0..shape.iter().product()).map(|_| centre + uniform(&mut random)).collect();
            if spoilt {
                data[0] = f32::NAN;
            }
            (name, shape, data.iter().flat_map(|weight| weight.to_le_bytes()).collect())
        })
        .collect();
    let views = tensors.iter().map(|(name, shape, bytes)| {
        let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
        (name.as_str(), view.unwrap_or_else(|error| panic!("{name}: {error}")))
    });
    let format = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    safetensors::serialize(views, Some(format)).unwrap_or_else(|error| panic!("weights: {error}"))
}

/// Between -0.2 and 0.2.
fn uniform(random: &mut ChaCha8Rng) -> f32 {
    (random.next_u32() as f32 / u32::MAX as f32 - 0.5) * 0.4
}
