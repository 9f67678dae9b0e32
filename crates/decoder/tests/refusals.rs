//! Folders that are wrong in one way: the error says what, where and what to do, and nothing is
//! computed.
//!
//! Each test is a way in which users of other tools were bitten.

#[path = "refusals/older.rs"]
mod older;
mod support;

use std::path::Path;

use proptest::prelude::*;
use relscale_decoder::Error;
use relscale_decoder::checkpoint::Checkpoint;
use relscale_decoder::families::{self, LoadOptions};
use relscale_decoder::spec::{Mixer, Selection};
use safetensors::Dtype;
use serde_json::{Value, json};
use support::{Stored, case, copy, edit_tensors, refusal, says, with_config};

// --- configuration ---

#[test]
fn a_folder_without_config_or_weights() {
    let folder = tempfile::tempdir().unwrap();
    says(&refusal(folder.path()), &["config.json is missing"]);
    std::fs::copy(case("gpt2").join("config.json"), folder.path().join("config.json")).unwrap();
    says(&refusal(folder.path()), &["model.safetensors", "is missing"]);
    std::fs::write(folder.path().join("config.json"), "{").unwrap();
    assert!(matches!(refusal(folder.path()), Error::Config { .. }));
}

#[test]
fn a_configuration_that_contradicts_itself_is_named() {
    let error = refusal(with_config("llama-gqa", json!({"num_key_value_heads": 3})).path());
    says(&error, &["config.json", "query heads cannot share 3 key/value heads"]);
}

#[test]
fn an_unknown_architecture_is_answered_with_the_known_ones() {
    let folder = with_config("llama-gqa", json!({"model_type": "xlstm"}));
    let error = refusal(folder.path());
    assert!(matches!(error, Error::UnknownArchitecture { .. }));
    let known = "bloom, falcon, falcon_mamba, gemma, gemma2, gemma3, gemma3_text, gpt2, gpt_neo, \
                 gpt_neox, granite, hf_olmo, llama, mamba, mamba2, mistral, olmo, olmo2, olmo3, \
                 opt, phi, phi3, qwen2, qwen3, rwkv, smollm3, stablelm, starcoder2";
    says(&error, &["xlstm", known]);
}

#[test]
fn options_that_would_change_the_numbers_are_refused_by_name() {
    let cases = [
        ("llama-gqa", json!({"rope_scaling": {"rope_type": "proportional"}}), "rope_type"),
        (
            "llama-gqa",
            json!({"rope_scaling": {"type": "linear", "factor": 2.0, "beta": 1}}),
            "beta",
        ),
        ("llama-gqa", json!({"hidden_act": "gelu"}), "hidden_act"),
        ("llama-gqa", json!({"partial_rotary_factor": 0.5}), "partial_rotary_factor"),
        ("llama-gqa", json!({"rope_interleaved": true}), "rope_interleaved"),
        ("gpt2", json!({"pruned_heads": {"0": [1]}}), "pruned_heads"),
        ("gpt2", json!({"activation_function": "quick_gelu"}), "activation_function"),
        ("gpt2", json!({"add_cross_attention": true}), "add_cross_attention"),
        ("gpt_neo", json!({"activation_function": "quick_gelu"}), "activation_function"),
        ("gpt_neo", json!({"attention_types": [[["global", "block"], 1]]}), "attention_types"),
        ("gpt_neo", json!({"attention_types": ["global", "local"]}), "attention_types"),
        ("gpt_neox-parallel", json!({"hidden_act": "silu"}), "hidden_act"),
        ("mamba", json!({"hidden_act": "gelu"}), "hidden_act"),
        ("mamba", json!({"rms_norm": false}), "rms_norm"),
        ("mamba", json!({"ssm_cfg": {"layer": "Mamba2"}}), "ssm_cfg"),
        ("falcon_mamba", json!({"hidden_act": "gelu"}), "hidden_act"),
        ("mamba2", json!({"hidden_act": "gelu"}), "hidden_act"),
        ("mamba2", json!({"rms_norm": false}), "rms_norm"),
        ("mamba2", json!({"time_step_limit": 0.1}), "time_step_limit"),
        ("rwkv", json!({"rescale_every": 1.5}), "rescale_every"),
        ("opt", json!({"alibi": true}), "alibi"),
        (
            "llama-gqa",
            json!({"layer_types": ["full_attention", "sliding_attention"]}),
            "layer_types",
        ),
        (
            "gpt_neox-parallel",
            json!({"layer_types": ["sliding_attention", "full_attention"]}),
            "layer_types",
        ),
        (
            "mistral-no-window",
            json!({"layer_types": ["full_attention", "sliding_attention"]}),
            "layer_types",
        ),
        ("qwen2-window-on", json!({"use_sliding_window": false}), "layer_types"),
        (
            "olmo2-gqa",
            json!({"layer_types": ["sliding_attention", "full_attention"]}),
            "layer_types",
        ),
        ("olmo2-gqa", json!({"hidden_act": "gelu"}), "hidden_act"),
        ("olmo2-gqa", json!({"partial_rotary_factor": 0.5}), "partial_rotary_factor"),
        ("olmo", json!({"hidden_act": "gelu"}), "hidden_act"),
        ("olmo3", json!({"layer_types": ["full_attention", "chunked_attention"]}), "layer_types"),
        ("olmo3", json!({"layer_types": ["full_attention"]}), "layer_types"),
        ("phi3", json!({"attention_bias": true}), "attention_bias"),
        ("qwen2-tied", json!({"use_mrope": true}), "use_mrope"),
        (
            "qwen3",
            json!({"rope_scaling": {"type": "linear", "factor": 2.0, "attention_factor": 1.1}}),
            "attention_factor",
        ),
        ("qwen3", json!({"hidden_act": "gelu"}), "hidden_act"),
        ("qwen3", json!({"partial_rotary_factor": 0.5}), "partial_rotary_factor"),
        ("qwen3", json!({"use_mrope": true}), "use_mrope"),
        // This family's norm of queries and keys has no switch; under such a key stands another.
        ("qwen3", json!({"use_qk_norm": true}), "use_qk_norm"),
        ("qwen3-window-on", json!({"use_sliding_window": false}), "layer_types"),
        (
            "qwen3-window-on",
            json!({"layer_types": ["full_attention", "chunked_attention"]}),
            "layer_types",
        ),
        ("qwen3-window-on", json!({"layer_types": ["full_attention"]}), "layer_types"),
        (
            "mistral-no-window",
            json!({"layer_types": ["sliding_attention", "chunked_attention"]}),
            "layer_types",
        ),
        ("mistral-no-window", json!({"layer_types": ["full_attention"]}), "layer_types"),
    ];
    for (name, keys, word) in cases {
        let folder = with_config(name, keys);
        let error = refusal(folder.path());
        assert!(matches!(error, Error::UnsupportedOption { .. }), "{name}: {error}");
        says(&error, &[word, "config.json"]);
    }
}

/// A key of which nobody knows whether it matters is told apart from one that does.
#[test]
fn unknown_keys_are_refused_and_said_to_be_unknown() {
    for (name, keys, word) in [
        ("llama-gqa", json!({"attn_logit_softcapping": 30.0}), "attn_logit_softcapping"),
        ("llama-gqa", json!({"quantization_config": {"bits": 4}}), "quantization_config"),
        ("gpt2", json!({"embedding_multiplier": 2.0}), "embedding_multiplier"),
        ("gpt_neo", json!({"scale_attn_weights": true}), "scale_attn_weights"),
        ("mamba", json!({"mixer_rms_eps": 1e-6}), "mixer_rms_eps"),
        ("mamba", json!({"num_attention_heads": 8}), "num_attention_heads"),
        ("qwen3", json!({"num_experts": 8}), "num_experts"),
        ("qwen3", json!({"mlp_bias": true}), "mlp_bias"),
        // Of OLMo 1 and 3.
        ("olmo2-gqa", json!({"clip_qkv": 8.0}), "clip_qkv"),
        ("olmo2-gqa", json!({"sliding_window": 4096}), "sliding_window"),
        ("olmo2-gqa", json!({"mlp_bias": true}), "mlp_bias"),
    ] {
        let error = refusal(with_config(name, keys).path());
        assert!(matches!(error, Error::UnknownOption { .. }), "{name}: {error}");
        says(&error, &[word, "config.json", "copy of the folder"]);
    }
    // Whoever takes this one out has another model.
    let other = json!({"rope_scaling": {"rope_type": "proportional", "factor": 4.0}});
    let message = refusal(with_config("llama-gqa", other).path()).to_string();
    assert!(!message.contains("take"), "{message}");
}

#[test]
fn kinds_of_rotary_scaling_that_contradict_each_other_are_refused() {
    for (old, new) in [("linear", "default"), ("default", "linear"), ("linear", "llama3")] {
        let keys = json!({"rope_scaling": {"type": old, "rope_type": new, "factor": 4.0}});
        says(
            &refusal(with_config("llama-gqa", keys).path()),
            &["rope_scaling", old, new, "contradict"],
        );
    }
    let keys = json!({"rope_scaling": {"type": "linear", "rope_type": "linear", "factor": 4.0}});
    families::load(with_config("llama-gqa", keys).path(), LoadOptions::default()).unwrap();
}

/// Two names of one size, as transformers maps them.
#[test]
fn sizes_of_gpt2_have_two_names() {
    let folder =
        with_config("gpt2", json!({"hidden_size": 16, "num_hidden_layers": 2, "n_layer": ()}));
    families::load(folder.path(), LoadOptions::default()).unwrap();
    let error = refusal(with_config("gpt2", json!({"num_attention_heads": 4})).path());
    says(&error, &["n_head = 2", "num_attention_heads = 4", "contradict"]);
}

/// Keys of configurations in the wild that change no rank: the same scores with and without them in
/// both versions of transformers.
#[test]
fn keys_that_change_nothing_are_accepted() {
    for name in [
        "falcon_mamba",
        "gpt2",
        "gpt_neo",
        "opt",
        "gpt_neox-parallel",
        "qwen2-tied",
        "qwen3",
        "rwkv",
        "llama-gqa",
        "mistral-no-window",
        "olmo",
        "olmo2-gqa",
        "gemma",
        "gemma2",
        "gemma3_text",
        "gemma3-newer-names",
        "granite",
        "smollm3",
        "olmo3",
        "phi3",
    ] {
        accepts_idle_keys(name);
    }
    let windows = json!({
        "sliding_window": 4, "use_sliding_window": true, "max_window_layers": 1, "partial_rotary_factor": 1.0,
        "layer_types": ["full_attention", "full_attention"],
    });
    let loaded =
        families::load(with_config("llama-gqa", windows).path(), LoadOptions::default()).unwrap();
    assert!(loaded.spec.layers.iter().all(|layer| layer.window.is_none()));
}

fn accepts_idle_keys(name: &str) {
    let keys = json!({
        "auto_map": {"AutoModel": "x.Y"}, "_commit_hash": "abc", "use_flash_attn": true, "model_max_length": 12,
        "seq_length": 12, "max_seq_len": 12, "hidden_dropout_prob": 0.5, "residual_dropout": 0.5, "initializer_factor": 3.0,
        "init_device": "meta", "label_smoothing": 0.1, "keys_to_ignore_at_inference": ["past_key_values"], "license": "mit",
        "neftune_noise_alpha": 5, "chat_template": "x", "global_step": 7, "alibi": false, "qk_layernorm": false,
    });
    let folder = with_config(name, keys);
    families::load(folder.path(), LoadOptions::default())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
}

#[test]
fn options_without_effect_are_accepted() {
    let folder = with_config(
        "llama-gqa",
        json!({
            "attention_dropout": 0.5, "transformers_version": "9.9", "use_cache": false, "pruned_heads": {},
            "rope_interleaved": false, "num_beams": 4, "eos_token_id": [2, 7],
        }),
    );
    // A key at null says nothing.
    let path = folder.path().join("config.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen('{', "{\"quantization_config\": null, ", 1)).unwrap();
    let loaded = families::load(folder.path(), LoadOptions::default()).unwrap();
    assert_eq!(loaded.info.eos_tokens, [2, 7]);
    assert_eq!(loaded.info.bos_token, Some(1));
}

#[test]
fn a_missing_or_senseless_size_is_named() {
    for (keys, word) in [
        (json!({"hidden_size": ()}), "hidden_size"),
        (json!({"num_hidden_layers": -2}), "num_hidden_layers"),
        (json!({"num_hidden_layers": "two"}), "num_hidden_layers"),
        (json!({"num_attention_heads": 5, "head_dim": ()}), "heads"),
        (json!({"num_key_value_heads": 3}), "key/value heads"),
        (json!({"vocab_size": 0}), "vocabulary"),
        (json!({"rms_norm_eps": 7.0}), "rms_norm_eps"),
        (json!({"intermediate_size": 9_000_000_000_u64}), "intermediate_size"),
        (json!({"num_hidden_layers": 1_000_000}), "1000000 blocks"),
        (
            json!({"num_attention_heads": 1_000_000, "head_dim": 1_000_000}),
            "1000000000000 channels",
        ),
        (
            json!({"rope_scaling": {"rope_type": "linear", "factor": 0.0}}),
            "rope_scaling.factor = 0",
        ),
        (json!({"rope_scaling": {"rope_type": "linear"}}), "lacks factor"),
        (json!({"tie_word_embeddings": "yes"}), "tie_word_embeddings"),
    ] {
        let folder = with_config("llama-gqa", keys);
        says(&refusal(folder.path()), &[word]);
    }
}

#[test]
fn two_spellings_of_the_rotary_base_must_agree() {
    let folder = with_config("gpt_neox-parallel", json!({"rotary_emb_base": 500}));
    says(&refusal(folder.path()), &["rotary_emb_base = 500", "rope_theta = 10000"]);
}

/// Sizes of a state space that no model has, or that Python would compute from others.
#[test]
fn sizes_of_a_state_space() {
    for (keys, words) in [
        (json!({"state_size": 0}), ["state of a state space", "0"]),
        (json!({"conv_kernel": 0}), ["taps of the convolution", "0"]),
        (json!({"time_step_rank": 0}), ["time_step_rank", "0"]),
        (json!({"time_step_rank": "large"}), ["time_step_rank", "large"]),
        (json!({"expand": -1.0}), ["expand", "no width"]),
        (json!({"expand": 1e300}), ["expand", "no width"]),
    ] {
        says(&refusal(with_config("mamba", keys).path()), &words);
    }
    for (keys, words) in [
        (json!({"num_heads": 5}), ["5 heads of 8", "32 channels"]),
        (json!({"n_groups": 3}), ["3 groups", "divide evenly"]),
        (json!({"n_groups": 0}), ["groups of a state space", "0"]),
        (json!({"time_step_limit": [0.5, 0.1]}), ["time steps from 0.5 to 0.1", "no range"]),
        (json!({"time_step_limit": [0.5]}), ["time_step_limit", "[0.5]"]),
    ] {
        says(&refusal(with_config("mamba2", keys).path()), &words);
    }
    for (keys, words) in [
        (json!({"attention_hidden_size": 0}), ["channels of time mixing", "0"]),
        (json!({"intermediate_size": 0}), ["hidden", "0"]),
        (json!({"max_position_embeddings": 25}), ["context_length = 24", "contradict"]),
    ] {
        says(&refusal(with_config("rwkv", keys).path()), &words);
    }
    let rescaled = |every: i64| {
        let spec = families::spec(with_config("rwkv", json!({"rescale_every": every})).path());
        spec.unwrap().epsilon(3) / 1e-5
    };
    assert_eq!([-1, 0, 1, 2, 6].map(rescaled), [1.0, 1.0, 64.0, 4.0, 1.0]);
    let inner = |name: &str, keys| {
        let spec = families::spec(with_config(name, keys).path()).unwrap();
        let Mixer::StateSpace(mixer) = spec.mixer else { panic!("{name} has no state space") };
        match mixer.selection {
            Selection::Channels { rank, .. } => (mixer.inner, rank),
            Selection::Heads { heads, .. } => (mixer.inner, heads),
        }
    };
    assert_eq!(inner("mamba-older-f16", json!({"time_step_rank": "auto"})), (15, 1));
    let expanded = json!({"intermediate_size": (), "expand": 1.59, "time_step_rank": ()});
    assert_eq!(inner("mamba-older-f16", expanded), (15, 1));
    assert_eq!(inner("mamba", json!({"expand": 3})), (32, 3));
    assert_eq!(inner("mamba2", json!({})), (32, 4));
    // A recurrence reads any length; windows are as long as in training.
    let spec = families::spec(&case("mamba")).unwrap();
    assert_eq!((spec.context, spec.longest()), (2048, None));
    assert_eq!(families::spec(&case("falcon_mamba")).unwrap().context, 8192);
    let spec = families::spec(&case("rwkv")).unwrap();
    assert_eq!((spec.context, spec.longest()), (24, None));
}

/// transformers takes one of the two where they contradict each other, and does not say so.
#[test]
fn kinds_of_attention_in_two_spellings_must_agree() {
    let local = json!(["local", "local"]);
    for (keys, words) in [
        (json!({"attention_layers": local}), ["attention_layers", "contradict"]),
        (json!({"attention_layers": ["global"]}), ["attention_layers", "contradict"]),
        (json!({"attention_types": [[["local"], 2]]}), ["attention_types", "contradict"]),
        (
            json!({"attention_types": [[["local"], 3]]}),
            ["attention_types", "more than the 2 blocks"],
        ),
        (json!({"attention_types": [[["local"], 1]]}), ["attention_types", "for 1 blocks"]),
        (json!({"attention_types": [[["local"], -1]]}), ["attention_types", "not a count"]),
        (json!({"window_size": 0}), ["attention windows", "at least 1 token"]),
    ] {
        says(&refusal(with_config("gpt_neo", keys).path()), &words);
    }
    let both = json!({"attention_layers": local, "attention_types": [[["local"], 2]]});
    let spec =
        families::load(with_config("gpt_neo", both).path(), LoadOptions::default()).unwrap().spec;
    assert!(spec.layers.iter().all(|layer| layer.window == Some(5)));
}

/// QwenLM and transformers: the window was applied to the wrong layers, or while switched off.
#[test]
fn a_sliding_window_holds_where_it_is_switched_on_and_only_there() {
    let windows = |name: &str, keys: Value| {
        let folder = with_config(name, keys);
        let spec = families::load(folder.path(), LoadOptions::default()).unwrap().spec;
        spec.layers.iter().map(|layer| layer.window).collect::<Vec<_>>()
    };
    assert_eq!(windows("qwen2-window-on", json!({})), [None, Some(4)]);
    assert_eq!(windows("qwen2-window-off", json!({})), [None, None]);
    // Older configurations do not list the layers: from `max_window_layers` on.
    let from = |layer: usize| json!({"max_window_layers": layer, "layer_types": ()});
    assert_eq!(windows("qwen2-window-on", from(0)), [Some(4), Some(4)]);
    assert_eq!(windows("qwen2-window-on", from(1)), [None, Some(4)]);
    assert_eq!(windows("qwen2-window-on", from(2)), [None, None]);
    // As long as the context: it never cuts anything off.
    assert_eq!(windows("qwen2-window-on", json!({"sliding_window": 24})), [None, None]);
    assert_eq!(windows("gpt_neo-runs", json!({})), [None, Some(3), Some(3), None]);
    assert_eq!(windows("qwen3-window-on", json!({})), [None, Some(4)]);
    assert_eq!(windows("qwen3-window-off", json!({})), [None, None]);
    assert_eq!(windows("qwen3-window-on", from(0)), [Some(4), Some(4)]);
    assert_eq!(windows("qwen3-window-by-turns", json!({})), [Some(5), None, Some(5)]);
    assert_eq!(windows("mistral-window", json!({})), [Some(5), Some(5)]);
    assert_eq!(windows("mistral-no-window", json!({})), [None, None]);
    // Without the key the reference takes a window of 4096, longer than this context, or shorter.
    assert_eq!(windows("mistral-no-window", json!({"sliding_window": ()})), [None, None]);
    let long = json!({"sliding_window": (), "max_position_embeddings": 8192});
    assert_eq!(windows("mistral-no-window", long), [Some(4096), Some(4096)]);
    says(
        &refusal(with_config("mistral-window", json!({"sliding_window": 0})).path()),
        &["attention windows", "at least 1 token"],
    );
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(|n| json!(n)),
        (0_i64..70).prop_map(|n| json!(n)),
        any::<f64>().prop_map(|x| json!(x)),
        any::<bool>().prop_map(|b| json!(b)),
        Just(json!("relu")),
        Just(json!([1])),
        Just(json!({"rope_type": "llama3", "factor": -1})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any value under any key: the folder is read, or refused with a message; nothing panics.
    #[test]
    fn a_senseless_configuration_never_panics(case in 0..16, at in any::<prop::sample::Index>(), value in any_value()) {
        let name = [
            "gpt2", "opt-350m", "gpt_neox-parallel", "qwen2-tied", "llama-llama3", "qwen3", "gpt_neo",
            "olmo2-mqa-biases", "gemma3_text-odd", "gemma3-newer-names", "smollm3-odd", "granite",
            "olmo3-rope-parameters", "phi3-longrope", "hf_olmo-odd", "mamba",
        ][case as usize];
        read_or_refused(name, at, value);
    }
}

fn read_or_refused(name: &str, at: prop::sample::Index, value: Value) {
    let folder = copy(name);
    let path = folder.path().join("config.json");
    let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let keys = config.as_object_mut().unwrap();
    let at = at.index(keys.len());
    *keys.values_mut().nth(at).unwrap() = value;
    std::fs::write(&path, config.to_string()).unwrap();
    if let Err(error) = families::load(folder.path(), LoadOptions::default()) {
        assert!(!error.to_string().is_empty());
    }
}

// --- tensors ---

/// candle: a tied model without `lm_head.weight` must fall back to the embedding.
#[test]
fn a_tied_head_is_the_embedding() {
    let loaded = families::load(&case("llama-mha-tied"), LoadOptions::default()).unwrap();
    assert!(loaded.weights.head.is_none() && loaded.spec.tied);
}

/// Qwen3-VL-Embedding: the configuration says untied, the file has no head.
#[test]
fn an_untied_model_without_head_stops_with_both_facts() {
    let folder = copy("llama-gqa");
    edit_tensors(folder.path(), |tensors| {
        tensors.remove("lm_head.weight").unwrap();
    });
    let error = refusal(folder.path());
    says(&error, &["lm_head.weight", "tie_word_embeddings false", "--tie-head"]);
    let loaded =
        families::load(folder.path(), LoadOptions { force_tied: true, ..Default::default() })
            .unwrap();
    assert!(loaded.spec.tied && loaded.weights.head.is_none());
}

#[test]
fn a_tied_model_with_another_head_stops_with_both_facts() {
    let folder = with_config("llama-gqa", json!({"tie_word_embeddings": true}));
    says(&refusal(folder.path()), &["lm_head.weight differs", "tie_word_embeddings", "--tie-head"]);
    // A second copy of the embedding is no contradiction.
    edit_tensors(folder.path(), |tensors| {
        let embedding = tensors["model.embed_tokens.weight"].data.clone();
        tensors.get_mut("lm_head.weight").unwrap().data = embedding;
    });
    let loaded = families::load(folder.path(), LoadOptions::default()).unwrap();
    assert!(loaded.weights.head.is_none() && loaded.info.unused.is_empty());
}

/// transformers: a model with unset parameters was used without a warning.
#[test]
fn every_tensor_is_needed_and_named_when_missing() {
    for name in [
        "falcon_mamba",
        "gpt2",
        "gpt_neo",
        "mamba-biases-untied-bf16",
        "mamba2",
        "opt-350m",
        "gemma3_text-odd",
        "gpt_neox-sequential",
        "llama-mqa-biases",
        "olmo-mqa-biases",
        "olmo2-mqa-biases",
        "hf_olmo-learned",
        "phi3",
        "qwen2-tied",
        "qwen3-mqa-biases",
        "rwkv",
    ] {
        every_tensor_is_needed(name);
    }
}

fn every_tensor_is_needed(name: &str) {
    let checkpoint = Checkpoint::open(&case(name)).unwrap();
    for tensor in checkpoint.names() {
        let folder = copy(name);
        edit_tensors(folder.path(), |tensors| drop(tensors.remove(tensor)));
        match refusal(folder.path()) {
            // Without the tensor that finds the prefix, the usual prefix is named, the others
            // in the hint.
            Error::MissingTensor { tensor: named, .. } if named.ends_with(tensor) => {}
            other => panic!("{name} without {tensor}: {other}"),
        }
    }
}

#[test]
fn tensors_of_no_use_are_listed_and_known_buffers_are_not() {
    let folder = copy("llama-gqa");
    edit_tensors(folder.path(), |tensors| {
        let spare = || Stored { dtype: Dtype::F32, shape: vec![1], data: vec![0; 4] };
        tensors.insert("score.weight".to_string(), spare());
        tensors.insert("model.layers.0.self_attn.rotary_emb.inv_freq".to_string(), spare());
    });
    let loaded = families::load(folder.path(), LoadOptions::default()).unwrap();
    assert_eq!(loaded.info.unused, ["score.weight"]);
    let loaded = families::load(&case("gpt_neox-buffers"), LoadOptions::default()).unwrap();
    assert!(loaded.info.unused.is_empty(), "{:?}", loaded.info.unused);
}

#[test]
fn a_block_with_more_than_the_configuration_says_is_refused() {
    let folder = with_config("llama-mqa-biases", json!({"mlp_bias": false}));
    says(&refusal(folder.path()), &["mlp.down_proj.bias", "no place"]);
    let folder = with_config("llama-gqa", json!({"num_hidden_layers": 1}));
    says(&refusal(folder.path()), &["block 1", "1 blocks"]);
}

/// Pythia: sizes in configuration and weights disagree.
#[test]
fn a_wrong_shape_is_named_with_both_shapes() {
    let folder = with_config("gpt_neox-parallel", json!({"hidden_size": 32}));
    let error = refusal(folder.path());
    assert!(matches!(error, Error::Shape { .. }));
    says(&error, &["gpt_neox.embed_in.weight", "[43, 16]", "[43, 32]"]);
    let folder = with_config("opt", json!({"max_position_embeddings": 26}));
    says(&refusal(folder.path()), &["embed_positions.weight", "[26, 16]", "[28, 16]"]);
}

#[test]
fn another_number_type_is_named() {
    let folder = copy("llama-gqa");
    edit_tensors(folder.path(), |tensors| {
        let norm = tensors.get_mut("model.norm.weight").unwrap();
        norm.dtype = Dtype::F64;
        norm.data = vec![0; 8 * 16];
    });
    says(&refusal(folder.path()), &["model.norm.weight", "f64", "f32, f16 and bf16"]);
}

// --- files ---

#[test]
fn a_cut_safetensors_file_is_recognised() {
    let folder = copy("gpt2");
    let path = folder.path().join("model.safetensors");
    let whole = std::fs::read(&path).unwrap();
    for length in [whole.len() - 1, whole.len() / 2, 1000, 7, 0] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = refusal(folder.path());
        assert!(matches!(error, Error::Checkpoint { .. }));
        says(&error, &["model.safetensors", "again"]);
    }
    let mut longer = whole.clone();
    longer.push(0);
    std::fs::write(&path, longer).unwrap();
    says(&refusal(folder.path()), &["model.safetensors"]);
    // Eight bytes that claim a header of 2^63 bytes: nothing of that size is asked for.
    std::fs::write(&path, [0, 0, 0, 0, 0, 0, 0, 0x80]).unwrap();
    says(&refusal(folder.path()), &["claims 9223372036854775808 bytes"]);
}

/// A file that something else cuts while it is being read: an error, whichever part is asked for,
/// and neither zeros nor a signal.
#[test]
fn a_file_that_shrinks_after_it_was_opened_is_named() {
    let folder = copy("gpt2");
    let path = folder.path().join("model.safetensors");
    let length = std::fs::metadata(&path).unwrap().len();
    let checkpoint = Checkpoint::open(folder.path()).unwrap();
    // Tensors lie behind the header, the last of them at the end.
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(length / 2).unwrap();
    let mut refused = 0;
    for name in checkpoint.names() {
        let errors = [
            checkpoint.read_into(name, &mut Vec::new()).err(),
            checkpoint.rows(name).and_then(|rows| rows.all()).err(),
            checkpoint.columns(name).err(),
        ];
        for error in errors.into_iter().flatten() {
            let message = error.to_string();
            if !message.contains("is no matrix") {
                says(
                    &error,
                    &["model.safetensors", &format!("shorter than the {length} bytes"), "again"],
                );
                refused += 1;
            }
        }
    }
    assert!(refused > 10, "{refused} reads beyond the end were refused");
    says(&checkpoint.sha256().unwrap_err(), &["model.safetensors", "shorter than"]);
}

/// sglang: the index names a shard that is not there, and the model loads with garbage.
#[test]
fn a_missing_shard_is_named_before_work_starts() {
    for (name, shard) in [
        ("llama-sharded-f16", "model-00003-of-00004.safetensors"),
        ("opt-bin-sharded", "pytorch_model-00002-of-00003.bin"),
    ] {
        let folder = copy(name);
        std::fs::remove_file(folder.path().join(shard)).unwrap();
        let error = refusal(folder.path());
        assert!(matches!(error, Error::MissingShard { .. }));
        says(&error, &[shard, "index.json"]);
    }
}

/// huggingface_hub: the index maps a tensor to a shard that lacks it.
#[test]
fn an_index_that_lies_is_named_with_tensor_and_shard() {
    let folder = copy("llama-sharded-f16");
    let path = folder.path().join("model.safetensors.index.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut index: Value = serde_json::from_str(&text).unwrap();
    let right = index["weight_map"]["model.norm.weight"].as_str().unwrap().to_string();
    let wrong = (1..=4)
        .map(|n| format!("model-0000{n}-of-00004.safetensors"))
        .find(|shard| *shard != right)
        .unwrap();
    index["weight_map"]["model.norm.weight"] = json!(wrong);
    std::fs::write(&path, index.to_string()).unwrap();
    let error = refusal(folder.path());
    assert!(matches!(error, Error::TensorNotInShard { .. }));
    says(&error, &["model.norm.weight", &wrong]);

    index["weight_map"]["model.norm.weight"] = json!("../elsewhere.safetensors");
    std::fs::write(&path, index.to_string()).unwrap();
    says(&refusal(folder.path()), &["../elsewhere.safetensors", "plain file name"]);
    std::fs::write(&path, "{\"weight_map\": {}}").unwrap();
    says(&refusal(folder.path()), &["weight_map is empty"]);
}

/// transformers: the other file than the one asked for was loaded in silence.
#[test]
fn it_is_said_which_files_were_read_and_which_were_not() {
    let folder = copy("gpt2");
    let bin = case("gpt2-bin").join("pytorch_model.bin");
    std::fs::copy(&bin, folder.path().join("pytorch_model.bin")).unwrap();
    let loaded = families::load(folder.path(), LoadOptions::default()).unwrap();
    assert_eq!(loaded.info.files, ["model.safetensors"]);
    assert_eq!(loaded.info.set_aside, ["pytorch_model.bin"]);
    let loaded = families::load(&case("gpt2-bin"), LoadOptions::default()).unwrap();
    assert_eq!(loaded.info.files, ["pytorch_model.bin"]);
    let loaded = families::load(&case("qwen2-sharded"), LoadOptions::default()).unwrap();
    assert_eq!(loaded.info.files.len(), 6);
}

/// Pythia: checkpoints that are copies of others. Equal weights have equal hashes, one byte makes
/// another.
#[test]
fn the_hash_of_the_weights_follows_their_bytes() {
    let hash = |folder: &Path| Checkpoint::open(folder).unwrap().sha256().unwrap();
    let folder = copy("gpt2");
    assert_eq!(hash(folder.path()), hash(&case("gpt2")));
    let path = folder.path().join("model.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert_ne!(hash(folder.path()), hash(&case("gpt2")));
    let info = families::load(&case("gpt2"), LoadOptions::default()).unwrap().info;
    assert_eq!(info.weights_sha256.len(), 64);
    assert_eq!(info.config_sha256.len(), 64);
    assert_eq!(info.stored, ["f32"]);
}

#[test]
fn narrow_numbers_are_widened_exactly_and_said() {
    for (name, stored) in [("llama-sharded-f16", "f16"), ("qwen2-untied-bf16", "bf16")] {
        let info = families::load(&case(name), LoadOptions::default()).unwrap().info;
        assert_eq!(info.stored, [stored]);
    }
}
