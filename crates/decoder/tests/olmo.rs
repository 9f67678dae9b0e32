//! OLMo's generations: which is which is told by tensors, and the settings of its own program are
//! followed or refused by name.

mod support;

use std::path::Path;

use relscale_decoder::Error;
use relscale_decoder::families::{self, LoadOptions};
use relscale_decoder::spec::{Gain, NormKind, Positions, Spec};
use safetensors::Dtype;
use serde_json::{Value, json};
use support::{Stored, copy, edit_tensors, with_config};

fn refusal(folder: &Path) -> Error {
    match families::load(folder, LoadOptions::default()) {
        Ok(_) => panic!("{} was accepted", folder.display()),
        Err(e) => e,
    }
}

/// The message must hold all of these.
fn says(error: &Error, words: &[&str]) {
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in {message:?}");
    }
}

/// Llama's norms stand before the parts and carry a gain. OLMo 1 has no gains, and OLMo 2 one of
/// Llama's names for a norm behind a part.
#[test]
fn another_generation_of_olmo_is_told_by_its_tensors() {
    let folder = with_config(
        "llama-gqa",
        json!({"model_type": "olmo2", "mlp_bias": (), "pretraining_tp": ()}),
    );
    let error = refusal(folder.path());
    assert!(matches!(error, Error::MissingTensor { .. }));
    says(&error, &["model.layers.0.self_attn.q_norm.weight"]);
    for name in ["olmo", "olmo2-gqa"] {
        let folder = copy(name);
        edit_tensors(folder.path(), |tensors| {
            let norm = Stored { dtype: Dtype::F32, shape: vec![16], data: vec![0; 64] };
            tensors.insert("model.layers.1.input_layernorm.weight".to_string(), norm);
        });
        says(&refusal(folder.path()), &["model.layers.1.input_layernorm.weight", "no place"]);
    }
}

#[test]
fn settings_of_the_first_files_that_are_not_computed_are_refused_by_name() {
    let cases = [
        ("hf_olmo-datadecide", json!({"alibi": true, "rope": false}), "alibi"),
        ("hf_olmo-datadecide", json!({"block_type": "llama"}), "block_type"),
        ("hf_olmo-datadecide", json!({"block_group_size": 2}), "block_group_size"),
        ("hf_olmo-datadecide", json!({"scale_logits": true}), "scale_logits"),
        ("hf_olmo-datadecide", json!({"layer_norm_type": "batch"}), "layer_norm_type"),
        ("hf_olmo-datadecide", json!({"activation_type": "silu"}), "activation_type"),
        ("hf_olmo-datadecide", json!({"include_bias": true}), "include_bias"),
        ("hf_olmo-datadecide", json!({"bias_for_layer_norm": true}), "bias_for_layer_norm"),
        ("hf_olmo-odd", json!({"attention_layer_norm_with_affine": false}), "with_affine"),
        ("hf_olmo-learned", json!({"embedding_layer_norm": true}), "embedding_layer_norm"),
    ];
    for (name, keys, word) in cases {
        let error = refusal(with_config(name, keys).path());
        assert!(matches!(error, Error::UnsupportedOption { .. }), "{name}: {error}");
        says(&error, &[word, "config.json"]);
    }
}

#[test]
fn settings_of_the_first_files_that_contradict_each_other_are_refused() {
    for (name, keys, words) in [
        ("hf_olmo-odd", json!({"n_kv_heads": 2}), ["n_kv_heads = 2", "multi_query_attention"]),
        (
            "hf_olmo-first",
            json!({"embedding_size": 36}),
            ["embedding_size = 36", "vocab_size = 37"],
        ),
        ("hf_olmo-first", json!({"mlp_hidden_size": 45}), ["45 channels", "no half"]),
        ("hf_olmo-first", json!({"clip_qkv": -8.0}), ["clip_qkv = -8", "not positive"]),
        ("hf_olmo-first", json!({"n_heads": 3}), ["16", "3 heads"]),
        // LayerNorm of queries and keys.
        (
            "hf_olmo-first",
            json!({"attention_layer_norm": true, "attention_layer_norm_with_affine": false}),
            ["LayerNorm", "not known"],
        ),
    ] {
        says(&refusal(with_config(name, keys).path()), &words);
    }
}

/// `ModelConfig` of ai2-olmo 0.6.0.
#[test]
fn defaults_of_the_first_files() {
    let spec = |keys: Value| -> Spec {
        let folder = with_config("hf_olmo-datadecide", keys);
        families::spec(folder.path()).unwrap()
    };
    let bare = spec(json!({"embedding_size": (), "vocab_size": (), "layer_norm_type": ()}));
    assert_eq!(
        (bare.vocabulary, bare.norm, bare.norm_gain),
        (50_304, NormKind::Layer, Gain::NoBias)
    );
    // Without rotation there is a table of positions.
    let learned = spec(json!({"rope": ()}));
    assert_eq!(learned.positions, Positions::Learned { offset: 0, rows: 24 });
    let tied = spec(json!({"weight_tying": (), "include_bias": (), "layer_norm_type": ()}));
    assert!(tied.tied && tied.biases.query_key_value && tied.norm_gain == Gain::Plain);
}
