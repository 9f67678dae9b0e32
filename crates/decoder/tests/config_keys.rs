//! Every key of every tiny checkpoint, those of rotary scaling's table as well, absent and `null`,
//! against what transformers computes then (`tools/goldens/config_keys.py`); every checkpoint's
//! configuration as version 5 spells it (`tools/goldens/versions.py`).

mod support;

use relscale_decoder::families::{self, LoadOptions};
use relscale_decoder::head::Vocabulary;
use relscale_decoder::{Model, Sequence};
use serde_json::Value;
use support::golden::Golden;
use support::{case, copy};

/// Keys that transformers needs to build or train a model and that change no score of one that
/// exists: it fails on `null`, we do not.
const NOT_OURS: [&str; 24] = [
    "attention_dropout",
    "attn_pdrop",
    "classifier_dropout",
    "dropout",
    "embd_pdrop",
    "embed_dropout",
    "embedding_dropout",
    "hidden_dropout",
    "init_std",
    "initializer_range",
    "layerdrop",
    "resid_dropout",
    "resid_pdrop",
    "residual_dropout",
    "dtype",
    "activation_dropout",
    "image_token_index",
    "mm_tokens_per_image",
    "chunk_size",
    "time_step_floor",
    "time_step_max",
    "time_step_min",
    "time_step_rank",
    "time_step_scale",
];

/// Keys for which it draws new weights, or picks one of two heads, where we refuse.
fn may_be_refused(name: &str, key: &str, way: &str) -> bool {
    // A stored head that differs from the embedding: the versions of transformers disagree.
    matches!(key, "tie_word_embeddings" | "weight_tying")
        // Biases that are stored and then not used.
        || matches!(key, "attention_bias" | "bias" | "include_bias" | "mlp_bias" | "use_bias" | "use_conv_bias" | "use_qkv_bias")
        // The versions take two bases.
        || (name.starts_with("olmo3") && way == "absent" && key == "rope_theta")
        // Norms likewise, or a kind of them that is not computed.
        || matches!(key, "layer_norm_with_affine" | "attention_layer_norm" | "layer_norm_type")
        || (way == "null" && matches!(key, "enable_bias" | "layer_norm_elementwise_affine"))
        // Another spelling is there that transformers does not read, and contradicts the default.
        || (way == "absent" && matches!(key, "rotary_emb_base" | "rotary_pct"))
        // Implementations of its attention disagree: SmolLM3.
        || key == "use_sliding_window"
        // Norms that are stored and then not used.
        || (way == "null" && key == "do_layer_norm_before")
        || (way == "absent" && key == "parallel_attn")
        || key == "qk_layernorm"
}

/// nll of the longest sequence, nats.
fn nll(folder: &std::path::Path, ids: &[u32]) -> relscale_decoder::error::Result<Vec<f64>> {
    let model = Model::load(folder, LoadOptions::default())?;
    let scored: Vec<u32> = (1..ids.len() as u32).collect();
    let rows = Vocabulary::all(model.spec().vocabulary);
    let found = model.score(&[Sequence { tokens: ids, scored: &scored }], &rows)?;
    Ok(found[0].iter().map(|score| f64::from(score.expect("finite").nll)).collect())
}

#[test]
fn an_absent_key_and_null_mean_what_they_mean_to_transformers() {
    let goldens: Value = serde_json::from_str(include_str!("config_keys.json")).unwrap();
    let (mut changed, mut failed, mut contexts) = (0, 0, 0);
    for (name, keys) in goldens["cases"].as_object().unwrap() {
        let golden = Golden::read(name);
        let longest = golden.sequences.last().unwrap();
        let config = Value::Object(support::config(&case(name)));
        let folder = copy(name);
        for (key, ways) in keys.as_object().unwrap() {
            for way in ["absent", "null"] {
                let mut config = config.clone();
                let (table, inner) = match key.split_once('.') {
                    Some((table, inner)) => (&mut config[table], inner),
                    None => (&mut config, key.as_str()),
                };
                match way {
                    "absent" => drop(table.as_object_mut().unwrap().remove(inner)),
                    _ => table[inner] = Value::Null,
                }
                std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
                let what = format!("{name}: {key} {way}");
                let expected = &ways[way];
                let found = nll(folder.path(), &longest.ids);
                if expected.get("fails").is_some() {
                    failed += 1;
                    // Dynamic scaling of heads of two channels divides by nothing there; within the
                    // context it is none.
                    let by_zero = expected["fails"]
                        .as_str()
                        .is_some_and(|fails| fails.starts_with("ZeroDivision"));
                    // The older spelling of the kind beside the newer one; version 5 does not look.
                    let ours = NOT_OURS.contains(&key.as_str()) || key == "rope_scaling.type";
                    let excused = (way == "null" && ours)
                        // No text needs it.
                        || key == "vision_config"
                        // A default that is none of so few rows.
                        || (way == "absent" && key == "pad_token_id")
                        || (by_zero && name == "gpt_neox-dynamic");
                    assert!(
                        found.is_err() || excused,
                        "{what}: transformers fails ({})",
                        expected["fails"]
                    );
                    continue;
                }
                let found = match found {
                    Err(_) if may_be_refused(name, key, way) => continue,
                    Err(error)
                        if matches!(&**key, "max_position_embeddings" | "context_length")
                            && way == "null" =>
                    {
                        // It computes without knowing its own limit, which we need.
                        assert!(error.to_string().contains("is null"), "{what}: {error}");
                        continue;
                    }
                    found => found.unwrap_or_else(|error| panic!("{what}: {error}")),
                };
                let wanted: Vec<f64> = match expected.get("nll") {
                    Some(nll) => {
                        nll.as_array().unwrap().iter().map(|nll| nll.as_f64().unwrap()).collect()
                    }
                    None => longest.scores.nll.clone(),
                };
                changed += usize::from(expected.get("nll").is_some());
                for (ours, theirs) in found.iter().zip(&wanted) {
                    assert!(
                        (ours - theirs).abs() < 2e-4 * theirs.abs().max(1.0),
                        "{what}: {ours} for {theirs}"
                    );
                }
                if let Some(context) = expected.get("context") {
                    contexts += 1;
                    assert_eq!(
                        families::spec(folder.path()).unwrap().context as u64,
                        context.as_u64().unwrap(),
                        "{what}"
                    );
                }
            }
        }
    }
    // The walk is worth something only where keys do something.
    assert!(changed > 110 && failed > 1100 && contexts > 35, "{changed} {failed} {contexts}");
}

/// From the same arguments and weights version 5 makes the scores of the golden, so what it writes
/// is the same model.
#[test]
fn configurations_of_version_5_mean_the_same() {
    let written: Value = serde_json::from_str(include_str!("version_5_configs.json")).unwrap();
    let written = written["configs"].as_object().unwrap();
    let (folder, mut otherwise) = (tempfile::tempdir().unwrap(), 0);
    for (name, config) in written {
        let path = folder.path().join("config.json");
        std::fs::write(&path, config.to_string()).unwrap();
        let found = families::spec_of_config(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(found, families::spec(&case(name)).unwrap(), "{name}");
        let stored = std::fs::read_to_string(case(name).join("config.json")).unwrap();
        otherwise += usize::from(
            !config["rope_parameters"].is_null() && !stored.contains("\"rope_parameters\""),
        );
    }
    assert!(written.len() >= 82 && otherwise >= 50, "{} {otherwise}", written.len());
}
