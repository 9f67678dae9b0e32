//! OLMo's generations: which is which is told by tensors.

mod support;

use std::path::Path;

use relscale_decoder::Error;
use relscale_decoder::families::{self, LoadOptions};
use safetensors::Dtype;
use serde_json::json;
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
