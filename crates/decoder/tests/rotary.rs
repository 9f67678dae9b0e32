//! YaRN and LongRoPE as configurations say them: what is taken for keys that they leave out, what
//! is refused, and what a sequence's length decides.

mod support;

use relscale_decoder::families::{self, LoadOptions};
use relscale_decoder::head::Vocabulary;
use relscale_decoder::spec::{Rotary, RotaryScaling, Spec};
use relscale_decoder::{Error, Model, Sequence};
use serde_json::{Value, json};
use support::golden::Golden;
use support::{case, with_config};

fn spec_of(name: &str, keys: Value) -> Result<Spec, Error> {
    families::spec(with_config(name, keys).path())
}

/// Of the first block.
fn rotary(name: &str, keys: Value) -> Rotary {
    spec_of(name, keys).unwrap().layers.remove(0).rotary.unwrap()
}

/// The message must hold all of these.
fn refused(name: &str, keys: Value, words: &[&str]) {
    let message = match spec_of(name, keys.clone()) {
        Ok(_) => panic!("{name} with {keys} was accepted"),
        Err(error) => error.to_string(),
    };
    for word in words {
        assert!(message.contains(word), "{word:?} is not in {message:?}");
    }
}

/// `_compute_yarn_parameters` of transformers 4.57 and 5.24.
#[test]
fn what_yarn_takes_for_keys_that_are_not_there() {
    let yarn = |more: Value| {
        let mut table = json!({"rope_type": "yarn", "factor": 4.0});
        table.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rotary("llama-yarn", json!({ "rope_scaling": table })).scaling.unwrap()
    };
    let from_the_factor = 0.1 * 4_f64.ln() + 1.0;
    let plain = RotaryScaling::Yarn {
        factor: 4.0,
        beta_fast: 32.0,
        beta_slow: 1.0,
        truncate: true,
        original_context: 24,
        attention_factor: from_the_factor,
    };
    assert_eq!(yarn(json!({})), plain);
    // Null, and zero where Python's `or` stands, are absent; but null turns truncate off.
    assert_eq!(yarn(json!({"beta_fast": null, "beta_slow": 0, "mscale": null})), plain);
    assert_eq!(yarn(json!({"attention_factor": null, "mscale": 0.5, "mscale_all_dim": 0})), plain);
    assert_eq!(yarn(json!({"original_max_position_embeddings": null})), plain);
    let RotaryScaling::Yarn { truncate, .. } = yarn(json!({"truncate": null})) else { panic!() };
    assert!(!truncate);
    let attention = |more: Value| match yarn(more) {
        RotaryScaling::Yarn { attention_factor, .. } => attention_factor,
        other => panic!("{other:?}"),
    };
    let both = json!({"mscale": 0.707, "mscale_all_dim": 1.414});
    let grown = |by: f64| 0.1 * by * 4_f64.ln() + 1.0;
    assert_eq!(attention(both.clone()), grown(0.707) / grown(1.414));
    // One of the two alone says nothing, and attention_factor says it all.
    assert_eq!(attention(json!({"mscale": 0.707})), from_the_factor);
    let mut given = both;
    given["attention_factor"] = json!(1.25);
    assert_eq!(attention(given), 1.25);
    assert_eq!(attention(json!({"factor": 0.5})), 1.0, "what is not stretched is not sharpened");
}

/// `_compute_longrope_parameters`, and `Phi3Config`.
#[test]
fn what_longrope_takes_for_keys_that_are_not_there() {
    let factors = json!([1.0, 1.5, 2.0, 2.5, 1.25, 3.0]);
    let long = |name: &str, keys: Value| match rotary(name, keys).scaling {
        Some(RotaryScaling::Long { original_context, attention_factor, .. }) => {
            (original_context, attention_factor)
        }
        other => panic!("{other:?}"),
    };
    let table = json!({"type": "longrope", "short_factor": factors, "long_factor": factors});
    let attention = |factor: f64, original: f64| (1.0 + factor.ln() / original.ln()).sqrt();
    // Phi-3: by the two contexts.
    assert_eq!(long("phi3-longrope", json!({})), (10, attention(2.4, 10.0)));
    // Where the original one is the longer, nothing is sharpened. Without it: 4096 tokens.
    let keys = json!({"original_max_position_embeddings": 30});
    assert_eq!(long("phi3-longrope", keys), (30, 1.0));
    let keys = json!({"original_max_position_embeddings": (), "max_position_embeddings": 8192});
    assert_eq!(long("phi3-longrope", keys), (4096, attention(2.0, 4096.0)));
    // Elsewhere it is the context, unless it is said beside the table.
    let keys = json!({"rope_scaling": table, "original_max_position_embeddings": ()});
    assert_eq!(long("llama-longrope", keys), (24, 1.0));
    let keys = json!({"rope_scaling": table});
    assert_eq!(long("llama-longrope", keys), (10, attention(2.4, 10.0)));
    // `factor` says it where there is nothing beside the table, or where it is version 5's.
    let mut with_factor = table;
    with_factor["factor"] = json!(4.0);
    let keys = json!({"rope_scaling": with_factor, "original_max_position_embeddings": ()});
    assert_eq!(long("llama-longrope", keys), (24, attention(4.0, 24.0)));
    with_factor["original_max_position_embeddings"] = json!(10);
    with_factor["rope_theta"] = json!(100.0);
    let keys = json!({"rope_scaling": (), "rope_parameters": with_factor});
    assert_eq!(long("llama-longrope", keys), (10, attention(4.0, 10.0)));
}

#[test]
fn scaling_that_the_versions_read_in_two_ways_is_refused() {
    let factors = json!([1.0, 1.5, 2.0, 2.5, 1.25, 3.0]);
    let long = |key: &str, value: Value| {
        let mut table =
            json!({"type": "longrope", "short_factor": factors, "long_factor": factors});
        table[key] = value;
        json!({"rope_scaling": table})
    };
    let original = "original_max_position_embeddings";
    // Version 4 looks beside the table alone.
    let mut keys = long(original, json!(12));
    keys[original] = Value::Null;
    refused("llama-longrope", keys, &["rope_scaling.original", "transformers 4", "beside"]);
    refused("llama-longrope", long(original, json!(12)), &["10", "12", "contradict"]);
    // Version 4 overrides it.
    refused("llama-longrope", long("factor", json!(4.0)), &["rope_scaling.factor = 4", "2.4"]);
    assert!(spec_of("llama-longrope", long("factor", json!(2.4))).is_ok());
    // Of YaRN and Llama 3 version 4 looks into the table alone.
    refused("llama-yarn", json!({original: 8}), &["8", "24", "contradict"]);
    refused("llama-llama3", json!({original: 8}), &["8", "32", "contradict"]);
    assert!(spec_of("llama-llama3", json!({original: 32})).is_ok());
    // The base of OLMo 3, and a key that version 5 does not find.
    refused("olmo3", json!({"rope_theta": ()}), &["rope_theta", "10000", "500000"]);
    let yarn = json!({"rope_type": "yarn", "factor": 4.0, "truncate": false});
    refused("olmo3", json!({"rope_scaling": yarn}), &["truncate"]);
}

#[test]
fn scaling_without_a_meaning_is_refused() {
    let table = |more: Value| {
        let mut table = json!({"type": "longrope", "short_factor": [1, 1, 1, 1, 1, 1], "long_factor": [1, 1, 1, 1, 1, 1]});
        table.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "rope_scaling": table })
    };
    for (more, words) in [
        (json!({"long_factor": [1, 1]}), ["rope_scaling.long_factor", "6 positive numbers"]),
        (json!({"short_factor": [1, 1, 1, 1, 1, 0]}), ["rope_scaling.short_factor", "positive"]),
        (json!({"short_factor": null}), ["longrope", "lacks short_factor"]),
        (json!({"short_factor": 2.0}), ["rope_scaling.short_factor", "list"]),
        (json!({"attention_factor": 0.0}), ["rope_scaling.attention_factor", "not positive"]),
        (json!({"beta_fast": 32}), ["rope_scaling.beta_fast", "another computation"]),
        (json!({"original_max_position_embeddings": 0}), ["original_max", "0 tokens"]),
    ] {
        refused("llama-longrope", table(more), &words);
    }
    let one = json!({"original_max_position_embeddings": 1});
    refused("phi3-longrope", one, &["context of 1", "attention_factor"]);
    for (more, words) in [
        (json!({"factor": ()}), ["yarn", "lacks factor"]),
        (json!({"factor": 4.0, "attention_factor": -1.0}), ["attention_factor", "not positive"]),
        (json!({"factor": 4.0, "beta_slow": -1.0}), ["beta_slow", "not positive"]),
        (json!({"factor": 4.0, "truncate": 1}), ["truncate", "another computation"]),
        (json!({"factor": 4.0, "short_factor": [1]}), ["short_factor", "another computation"]),
    ] {
        let mut table = json!({"rope_type": "yarn"});
        table.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        refused("llama-yarn", json!({ "rope_scaling": table }), &words);
    }
    refused("llama-yarn", json!({"rope_theta": 1.0}), &["YaRN", "base of 1"]);
    // Names of Phi-3's own; and what its configuration does not take.
    let su = json!({"rope_scaling": {"type": "su", "short_factor": [1], "long_factor": [1]}});
    refused("llama-longrope", su, &["su"]);
    refused("phi3", json!({"rope_scaling": {"type": "linear", "factor": 2.0}}), &["linear"]);
}

/// Kinds of layers rotate each in its own way, in either spelling.
#[test]
fn rotations_by_kind_of_layer() {
    for name in ["olmo3", "olmo3-rope-parameters"] {
        let spec = families::spec(&case(name)).unwrap();
        let scaled: Vec<bool> = spec
            .layers
            .iter()
            .map(|layer| layer.rotary.as_ref().unwrap().scaling.is_some())
            .collect();
        assert_eq!(scaled, [false, false, false, true], "{name}");
        let windows: Vec<_> = spec.layers.iter().map(|layer| layer.window).collect();
        assert_eq!(windows, [Some(5), Some(5), Some(5), None], "{name}");
        assert!(spec.layers.iter().all(|layer| layer.rotary.as_ref().unwrap().base == 100.0));
    }
    let plain = json!({"rope_type": "default", "rope_theta": 100.0});
    let name = "olmo3-rope-parameters";
    for (tables, words) in [
        (json!({"full_attention": plain}), ["sliding_attention", "lacks rope_theta"]),
        (
            json!({"full_attention": plain, "sliding_attention": {"rope_type": "default"}}),
            ["sliding_attention", "lacks rope_theta"],
        ),
        (
            json!({"full_attention": plain, "sliding_attention": plain, "rope_theta": 5.0}),
            ["rope_parameters.rope_theta", "another computation"],
        ),
        (
            json!({"full_attention": plain, "sliding_attention": {"rope_type": "yarn", "rope_theta": 1e4}}),
            ["rope_parameters.sliding_attention", "lacks factor"],
        ),
    ] {
        refused(name, json!({ "rope_parameters": tables }), &words);
    }
    refused(name, json!({"rope_scaling": {"rope_type": "default"}}), &["rope_scaling"]);
    // A family whose layers rotate alike has no such tables.
    refused(
        "llama-rope-parameters",
        json!({"rope_parameters": {"full_attention": plain}}),
        &["full_attention"],
    );
}

/// LongRoPE: the length of a sequence decides for all its tokens, and neither what else is in its
/// batch nor which of its tokens are scored.
#[test]
fn a_length_is_a_sequence_s_own() {
    for name in ["phi3-longrope", "llama-longrope"] {
        let model = Model::load(&case(name), LoadOptions::default()).unwrap();
        let all = Vocabulary::all(model.spec().vocabulary);
        let golden = Golden::read(name);
        let [.., short, long] = &golden.sequences[..] else { panic!("{name}") };
        let scored: Vec<u32> = (1..long.ids.len() as u32).collect();
        let sequences = [
            Sequence { tokens: &short.ids, scored: &scored[..short.ids.len() - 1] },
            Sequence { tokens: &long.ids, scored: &scored },
        ];
        let together = model.score(&sequences, &all).unwrap();
        for (sequence, together) in sequences.iter().zip(&together) {
            assert_eq!(model.score(&[*sequence], &all).unwrap()[0], *together, "{name}");
        }
        let first = Sequence { tokens: &long.ids, scored: &scored[..6] };
        assert_eq!(model.score(&[first], &all).unwrap()[0], together[1][..6], "{name}");
        // The same tokens by themselves are a short sequence.
        let alone = Sequence { tokens: &long.ids[..7], scored: &scored[..6] };
        assert_ne!(model.score(&[alone], &all).unwrap()[0], together[1][..6], "{name}");
        // At the bound, and beyond it by one: the last token is only a target.
        let [at, beyond] = [11, 12].map(|end| {
            let sequence = Sequence { tokens: &long.ids[..end], scored: &scored[..6] };
            model.score(&[sequence], &all).unwrap().remove(0)
        });
        assert_eq!(beyond, together[1][..6], "{name}");
        assert_eq!(at, model.score(&[alone], &all).unwrap()[0], "{name}");
    }
}
