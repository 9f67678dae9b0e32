//! Options that one family has: followed, or refused by name. Of Gemma, SmolLM3 and Granite.

mod support;

use relscale_decoder::Error;
use relscale_decoder::families::{self, LoadOptions};
use relscale_decoder::spec::{RotaryScaling, Spec};
use safetensors::Dtype;
use serde_json::{Value, json};
use support::{Stored, case, copy, edit_tensors, refusal, says, with_config};

fn spec(name: &str, keys: Value) -> Spec {
    let folder = with_config(name, keys);
    families::spec(folder.path()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn windows(spec: &Spec) -> Vec<Option<usize>> {
    spec.layers.iter().map(|layer| layer.window).collect()
}

/// The inner configuration of a folder with a vision tower, with these keys instead of its own.
fn inner(name: &str, keys: Value) -> Value {
    let bytes = std::fs::read(case(name).join("config.json")).unwrap();
    let mut config: Value = serde_json::from_slice(&bytes).unwrap();
    let text = config["text_config"].as_object_mut().unwrap();
    text.extend(keys.as_object().unwrap().clone());
    json!({"text_config": config["text_config"]})
}

#[test]
fn options_that_would_change_the_numbers_are_refused_by_name() {
    let (vision, turns) = ("gemma3-newer-names", json!(["sliding_attention", "full_attention"]));
    for (name, keys, word) in [
        ("gemma", json!({"hidden_act": "silu"}), "hidden_act"),
        ("gemma", json!({"hidden_activation": "gelu"}), "hidden_activation"),
        ("gemma", json!({"use_bidirectional_attention": true}), "use_bidirectional_attention"),
        ("gemma", json!({"partial_rotary_factor": 0.5}), "partial_rotary_factor"),
        ("gemma2", json!({"hidden_activation": "gelu"}), "hidden_activation"),
        ("gemma2", json!({"layer_types": turns}), "layer_types"),
        ("gemma3_text", json!({"layer_types": turns}), "layer_types"),
        ("gemma3_text", json!({"attn_logit_softcapping": 50.0}), "attn_logit_softcapping"),
        ("gemma3_text", json!({"use_bidirectional_attention": true}), "bidirectional"),
        (vision, json!({"tie_word_embeddings": false}), "tie_word_embeddings"),
        (vision, inner(vision, json!({"tie_word_embeddings": false})), "tie_word_embeddings"),
        (vision, inner(vision, json!({"tie_word_embeddings": null})), "tie_word_embeddings"),
        (vision, inner(vision, json!({"model_type": "gemma2"})), "text_config.model_type"),
        (vision, json!({"text_config": [1]}), "text_config"),
        ("smollm3", json!({"hidden_act": "gelu"}), "hidden_act"),
        ("smollm3", json!({"no_rope_layers": [1, 2]}), "no_rope_layers"),
        ("smollm3", json!({"no_rope_layers": 1}), "no_rope_layers"),
        ("smollm3-window-f16", json!({"use_sliding_window": false}), "layer_types"),
        ("granite", json!({"hidden_act": "gelu"}), "hidden_act"),
        ("granite", json!({"layer_types": turns}), "layer_types"),
    ] {
        let error = refusal(with_config(name, keys).path());
        assert!(matches!(error, Error::UnsupportedOption { .. }), "{name}: {error}");
        says(&error, &[word, "config.json"]);
    }
    // Of another generation, or of kin with another `model_type`.
    for (name, keys, word) in [
        ("gemma", json!({"query_pre_attn_scalar": 256}), "query_pre_attn_scalar"),
        ("gemma", json!({"sliding_window": 4}), "sliding_window"),
        ("gemma2", json!({"rope_local_base_freq": 10.0}), "rope_local_base_freq"),
        ("gemma3_text", json!({"vision_config": {"hidden_size": 4}}), "vision_config"),
        (vision, json!({"audio_config": {"hidden_size": 4}}), "audio_config"),
        (vision, inner(vision, json!({"altup_num_inputs": 4})), "altup_num_inputs"),
        ("smollm3", json!({"residual_multiplier": 0.5}), "residual_multiplier"),
        ("granite", json!({"num_local_experts": 8}), "num_local_experts"),
    ] {
        let error = refusal(with_config(name, keys).path());
        assert!(matches!(error, Error::UnknownOption { .. }), "{name}: {error}");
        says(&error, &[word, "config.json"]);
    }
}

#[test]
fn senseless_values_are_named() {
    let unsaid = |pattern: Value| json!({"layer_types": null, "_sliding_window_pattern": pattern});
    for (name, keys, word) in [
        ("gemma2", json!({"sliding_window": 0}), "attention windows are of at least 1 token"),
        (
            "gemma2",
            json!({"query_pre_attn_scalar": 0}),
            "query_pre_attn_scalar = 0 is not positive",
        ),
        ("gemma2", json!({"attn_logit_softcapping": 0}), "a cap or a scale of 0"),
        ("gemma2", json!({"final_logit_softcapping": "x"}), "final_logit_softcapping"),
        ("gemma3_text", json!({"rope_local_base_freq": -1.0}), "rope_local_base_freq = -1"),
        ("gemma3_text-odd", json!({"sliding_window_pattern": 0}), "sliding_window_pattern is 0"),
        ("gemma3_text", unsaid(json!(2)), "give layer_types"),
        ("smollm3", json!({"no_rope_layers": [1]}), "1 entries for 2 blocks"),
        ("smollm3-odd", json!({"no_rope_layer_interval": 0}), "no_rope_layer_interval is 0"),
        ("granite", json!({"residual_multiplier": 0}), "residual_multiplier = 0 is not positive"),
        ("granite", json!({"logits_scaling": -8.0}), "logits_scaling = -8 is not positive"),
        ("granite", json!({"attention_multiplier": 1e-60}), "a cap or a scale of 0"),
    ] {
        let error = refusal(with_config(name, keys).path());
        assert!(matches!(error, Error::Config { .. }), "{name}: {error}");
        says(&error, &[word, "config.json"]);
    }
}

/// The first releases say `gelu`, and mean the form by tanh: a warning of transformers 5.
#[test]
fn gemma_means_the_tanh_form_of_gelu() {
    let plain = spec("gemma", json!({}));
    assert_eq!(spec("gemma", json!({"hidden_act": "gelu"})), plain);
    let both = json!({"hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh"});
    assert_eq!(spec("gemma", both), plain);
}

#[test]
fn windows_and_rotation_of_each_block() {
    assert_eq!(windows(&spec("gemma2", json!({}))), [Some(5), None, Some(5)]);
    // Without the list, every other one.
    assert_eq!(windows(&spec("gemma2", json!({"layer_types": null}))), [Some(5), None, Some(5)]);
    assert_eq!(windows(&spec("gemma2-uncapped-f16", json!({}))), [None, Some(5), None]);
    assert_eq!(windows(&spec("gemma2", json!({"sliding_window": 24}))), [None, None, None]);

    // All but every third. Local blocks have a base of their own, and their frequencies stay.
    let gemma3 = spec("gemma3_text-odd", json!({}));
    assert_eq!(windows(&gemma3), [Some(5), Some(5), None, Some(5)]);
    // A window that hides nothing is none, and the block stays a local one.
    let wide = spec("gemma3_text-odd", json!({"sliding_window": 24}));
    assert_eq!(windows(&wide), [None; 4]);
    for spec in [gemma3, wide] {
        let rotary = spec.layers.iter().map(|layer| layer.rotary.clone().unwrap());
        let found: Vec<_> = rotary.map(|rotary| (rotary.base, rotary.scaling)).collect();
        let global = (1000.0, Some(RotaryScaling::Linear { factor: 2.0 }));
        let local = (10.0, None);
        assert_eq!(found, [local.clone(), local.clone(), global, local]);
    }

    let smollm3 = spec("smollm3-odd", json!({}));
    assert_eq!(windows(&smollm3), [None, None, Some(5), None]);
    let turned = |spec: &Spec| -> Vec<bool> {
        spec.layers.iter().map(|layer| layer.rotary.is_some()).collect()
    };
    assert_eq!(turned(&smollm3), [true, true, false, true]);
    // The list wins over the interval, may be longer than the model, and windows follow it.
    let listed = json!({"no_rope_layers": [false, 1, 1, 0, 0, 1]});
    let listed = spec("smollm3-odd", listed);
    assert_eq!(turned(&listed), [false, true, true, false]);
    assert_eq!(windows(&listed), [Some(5), None, None, Some(5)]);
    let off = spec("smollm3-odd", json!({"use_sliding_window": false}));
    assert_eq!(windows(&off), [None; 4]);
}

/// The defaults of keys that a published configuration leaves out are the family's own.
#[test]
fn bases_that_are_not_said() {
    for (name, base) in
        [("gemma", 10_000.0), ("gemma2", 10_000.0), ("granite", 10_000.0), ("smollm3", 2_000_000.0)]
    {
        let spec = spec(name, json!({"rope_theta": null}));
        assert_eq!(spec.layers[0].rotary.as_ref().unwrap().base, base, "{name}");
    }
    let keys = json!({"rope_theta": null, "rope_local_base_freq": null});
    let bases: Vec<_> = spec("gemma3_text", keys)
        .layers
        .iter()
        .map(|layer| layer.rotary.as_ref().unwrap().base)
        .collect();
    assert_eq!(bases, [10_000.0, 1_000_000.0, 10_000.0]);
}

#[test]
fn a_vision_tower_is_left_alone_and_nothing_else_is() {
    for name in ["gemma3-sharded-f16", "gemma3-newer-names"] {
        let info = families::load(&case(name), LoadOptions::default()).unwrap().info;
        assert!(info.unused.is_empty(), "{:?}", info.unused);
        // Neither file says token ids.
        assert_eq!((info.bos_token, &info.eos_tokens[..]), (Some(2), &[1][..]));
        let ids = json!({"eos_token_id": [1, 106]});
        let folder = with_config(name, ids);
        let info = families::load(folder.path(), LoadOptions::default()).unwrap().info;
        assert_eq!(info.eos_tokens, [1, 106]);
    }
    let folder = copy("gemma3-newer-names");
    let spare = || Stored { dtype: Dtype::BF16, shape: vec![1], data: vec![0; 2] };
    edit_tensors(folder.path(), |tensors| {
        tensors.insert("model.audio_tower.weight".to_owned(), spare());
    });
    let info = families::load(folder.path(), LoadOptions::default()).unwrap().info;
    assert_eq!(info.unused, ["model.audio_tower.weight"]);
    edit_tensors(folder.path(), |tensors| {
        tensors.insert("model.language_model.layers.0.gate.weight".to_owned(), spare());
    });
    says(&refusal(folder.path()), &["model.language_model.layers.0.gate.weight", "no place"]);
}

/// A second copy of a tied head, by the name that it has in either layout.
#[test]
fn a_head_beside_a_vision_tower_is_compared() {
    let newer = copy("gemma3-newer-names");
    let older = copy("gemma3-newer-names");
    edit_tensors(older.path(), |tensors| {
        let newer = std::mem::take(tensors);
        tensors.extend(newer.into_iter().map(|(name, tensor)| {
            match name.strip_prefix("model.language_model.") {
                Some(rest) => (format!("language_model.model.{rest}"), tensor),
                None => (name, tensor),
            }
        }));
    });
    for (folder, body, head) in [
        (newer, "model.language_model.embed_tokens.weight", "lm_head.weight"),
        (older, "language_model.model.embed_tokens.weight", "language_model.lm_head.weight"),
    ] {
        let loaded = families::load(folder.path(), LoadOptions::default()).unwrap();
        assert!(loaded.info.unused.is_empty() && loaded.weights.head.is_none());
        edit_tensors(folder.path(), |tensors| {
            let Stored { dtype, shape, data } = &tensors[body];
            let copy = Stored { dtype: *dtype, shape: shape.clone(), data: data.clone() };
            tensors.insert(head.to_owned(), copy);
        });
        let loaded = families::load(folder.path(), LoadOptions::default()).unwrap();
        assert!(loaded.info.unused.is_empty() && loaded.weights.head.is_none());
        edit_tensors(folder.path(), |tensors| tensors.get_mut(head).unwrap().data[7] ^= 1);
        says(&refusal(folder.path()), &[head, "differs from the embedding"]);
    }
}
