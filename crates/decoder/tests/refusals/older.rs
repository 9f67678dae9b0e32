//! BLOOM, Falcon, Phi, StableLM and StarCoder2: options that are followed, refused, or of no
//! effect.

use super::*;
use relscale_decoder::spec::{NormSpan, Positions, Residual, Spec};

fn spec_of(name: &str, keys: Value) -> Spec {
    families::spec(with_config(name, keys).path()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn options_that_would_change_the_numbers_are_refused_by_name() {
    let other = json!({"rope_scaling": {"rope_type": "ntk", "factor": 4.0}});
    for (name, keys, word) in [
        (
            "bloom",
            json!({"apply_residual_connection_post_layernorm": true}),
            "apply_residual_connection_post_layernorm",
        ),
        // It would leave out the biases of two maps.
        ("bloom", json!({"slow_but_exact": true, "pretraining_tp": 4}), "slow_but_exact"),
        ("bloom", json!({"alibi": true}), "alibi"),
        ("falcon-7b", json!({"activation": "quick_gelu"}), "activation"),
        (
            "falcon-7b",
            json!({"apply_residual_connection_post_layernorm": true}),
            "apply_residual_connection_post_layernorm",
        ),
        ("falcon-7b", other.clone(), "ntk"),
        ("falcon-7b", json!({"partial_rotary_factor": 0.5}), "partial_rotary_factor"),
        ("phi", json!({"hidden_act": "silu"}), "hidden_act"),
        ("phi", other.clone(), "ntk"),
        ("stablelm", json!({"hidden_act": "gelu"}), "hidden_act"),
        ("stablelm", other, "ntk"),
        ("starcoder2", json!({"hidden_act": "silu"}), "hidden_act"),
        ("starcoder2", json!({"partial_rotary_factor": 0.5}), "partial_rotary_factor"),
        ("starcoder2", json!({"qk_layernorm": true}), "qk_layernorm"),
    ] {
        let error = refusal(with_config(name, keys).path());
        assert!(matches!(error, Error::UnsupportedOption { .. }), "{name}: {error}");
        says(&error, &[word, "config.json"]);
    }
}

#[test]
fn unknown_keys_are_refused() {
    for (name, keys, word) in [
        ("bloom", json!({"max_position_embeddings": 4096}), "max_position_embeddings"),
        ("falcon-7b", json!({"head_dim": 4}), "head_dim"),
        ("falcon-7b", json!({"n_head_kv": 2}), "n_head_kv"),
        ("phi", json!({"sliding_window": 5}), "sliding_window"),
        ("stablelm", json!({"head_dim": 4}), "head_dim"),
        ("stablelm", json!({"rope_pct": 0.5}), "rope_pct"),
        ("starcoder2", json!({"layer_types": ["full_attention"]}), "layer_types"),
    ] {
        let error = refusal(with_config(name, keys).path());
        assert!(matches!(error, Error::UnknownOption { .. }), "{name}: {error}");
        says(&error, &[word, "config.json"]);
    }
}

/// Settings under which transformers stops too.
#[test]
fn settings_that_nothing_computes_are_named() {
    for (name, keys, words) in [
        ("falcon-40b", json!({"parallel_attn": false}), &["new_decoder", "parallel_attn"][..]),
        ("falcon-40b", json!({"num_ln_in_parallel_attn": 3}), &["num_ln_in_parallel_attn = 3"]),
        ("falcon-7b", json!({"num_ln_in_parallel_attn": 2}), &["num_ln_in_parallel_attn = 2"]),
        ("falcon-rw", json!({"num_kv_heads": 5}), &["num_kv_heads = 5", "multi_query"]),
        ("falcon-40b", json!({"num_kv_heads": 3}), &["4 query heads", "3 key/value"]),
        ("falcon-7b", json!({"num_attention_heads": 3}), &["16", "3 heads"]),
        ("bloom", json!({"n_embed": 16}), &["n_embed = 16", "hidden_size = 24", "contradict"]),
        ("bloom-old-names", json!({"n_head": 4}), &["n_head = 4", "num_attention_heads = 5"]),
        ("bloom", json!({"seq_length": "long"}), &["seq_length"]),
        ("phi", json!({"partial_rotary_factor": 0.4}), &["3 rotated channels"]),
        ("phi-query-key-norm", json!({"head_dim": 6}), &["qk_layernorm", "heads of 6"]),
        ("stablelm", json!({"partial_rotary_factor": 1.5}), &["1.5"]),
        (
            "stablelm-odd",
            json!({"hidden_size": 1 << 20, "num_attention_heads": 1 << 17}),
            &["131072 heads with a norm each"],
        ),
        ("starcoder2-window", json!({"sliding_window": 0}), &["attention windows"]),
    ] {
        says(&refusal(with_config(name, keys).path()), words);
    }
}

/// Three ways of joining a block's parts, and how many key/value heads there are, by six keys of
/// which some count only beside others.
#[test]
fn falcon_by_its_switches() {
    let of = |name: &str, keys: Value| {
        let spec = spec_of(name, keys);
        (spec.residual, spec.kv_heads, spec.positions)
    };
    let (one_norm, two_norms) = (Residual::ParallelOneNorm, Residual::Parallel);
    let (plain, alibi) = (Positions::Unadded, Positions::RoundedAlibi);
    assert_eq!(of("falcon-7b", json!({})), (one_norm, 1, plain.clone()));
    // These say nothing in the old architecture with one key/value head.
    let idle = json!({"num_kv_heads": 4, "num_ln_in_parallel_attn": 1});
    assert_eq!(of("falcon-7b", idle), (one_norm, 1, plain.clone()));
    assert_eq!(of("falcon-40b", json!({})), (two_norms, 2, plain.clone()));
    let unsaid = json!({"num_kv_heads": (), "multi_query": true});
    assert_eq!(of("falcon-40b", unsaid), (two_norms, 4, plain.clone()));
    assert_eq!(of("falcon-11b", json!({})), (one_norm, 2, plain));
    assert_eq!(of("falcon-rw", json!({})), (Residual::Sequential, 10, alibi.clone()));
    assert_eq!(of("falcon-alibi-parallel", json!({})), (two_norms, 5, alibi));
    // The rotation's keys are read in any case, and rotate nothing then.
    assert!(spec_of("falcon-rw", json!({})).layers.iter().all(|layer| layer.rotary.is_none()));
    // The width of the MLP follows `hidden_size`, whatever `n_embed` says.
    let older = json!({"n_embed": 16, "hidden_size": (), "ffn_hidden_size": ()});
    assert_eq!(spec_of("falcon-7b", older).hidden, 4 * 4544);
    assert_eq!(spec_of("falcon-7b", json!({"ffn_hidden_size": ()})).hidden, 64);
}

/// ALiBi has no bound: the length of training, said or that of the published models.
#[test]
fn the_context_of_bloom_is_that_of_its_training() {
    assert_eq!(spec_of("bloom", json!({})).context, 2048);
    assert_eq!(spec_of("bloom-old-names", json!({})).context, 20);
    assert_eq!(spec_of("bloom-old-names", json!({"seq_length": ()})).context, 2048);
}

#[test]
fn norms_of_queries_and_keys_where_they_are_switched_on() {
    let of = |name: &str, on: bool| spec_of(name, json!({"qk_layernorm": on})).query_key_norm;
    assert_eq!(of("phi", false), None);
    assert_eq!(of("phi", true), Some(NormSpan::Head));
    assert_eq!(of("stablelm", true), Some(NormSpan::EachHead));
    // A tensor for every head, of queries and of the fewer keys.
    says(
        &refusal(with_config("stablelm", json!({"qk_layernorm": true})).path()),
        &["model.layers.0.self_attn.q_layernorm.norms.0.weight"],
    );
    says(
        &refusal(with_config("stablelm-odd", json!({"qk_layernorm": false})).path()),
        &["k_layernorm.norms.", "no place"],
    );
}

#[test]
fn every_tensor_is_needed_and_named_when_missing() {
    for name in
        ["bloom", "falcon-7b", "falcon-40b", "falcon-rw", "phi", "stablelm-odd", "starcoder2"]
    {
        every_tensor_is_needed(name);
    }
}

#[test]
fn keys_that_change_nothing_are_accepted() {
    for name in ["bloom", "falcon-7b", "phi", "stablelm", "starcoder2"] {
        accepts_idle_keys(name);
    }
    let idle = json!({"pretraining_tp": 4, "slow_but_exact": false});
    families::load(with_config("bloom", idle).path(), LoadOptions::default()).unwrap();
    let idle = json!({"pretraining_tp": 1, "slow_but_exact": true});
    families::load(with_config("bloom", idle).path(), LoadOptions::default()).unwrap();
}

/// The head's bias stays when its matrix is the embedding.
#[test]
fn a_tied_head_keeps_its_bias() {
    for name in ["phi", "phi-tied-sharded-f16"] {
        let options = LoadOptions { force_tied: true, ..Default::default() };
        let loaded = families::load(&case(name), options).unwrap();
        assert!(loaded.weights.head.is_none() && loaded.spec.tied);
        assert_eq!(loaded.weights.head_bias.unwrap().len(), 43);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_senseless_configuration_never_panics(case in 0..6, at in any::<prop::sample::Index>(), value in any_value()) {
        let names = ["bloom-old-names", "falcon-40b", "falcon-rw", "phi-odd", "stablelm-odd", "starcoder2"];
        read_or_refused(names[case as usize], at, value);
    }
}
