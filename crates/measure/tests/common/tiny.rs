//! A tiny Llama folder, written by hand: two layers, tied head, f32.

use std::fs;
use std::path::Path;

/// Width, inner width, layers, heads.
const SHAPE: [usize; 4] = [16, 24, 2, 2];

/// Non-embedding parameters of the model: per layer 4 C^2 + 3 C F + 2 C, and C for the last norm.
pub const NON_EMBEDDING: u64 = 2 * (4 * 16 * 16 + 3 * 16 * 24 + 2 * 16) + 16;

/// Writes `config.json` and `model.safetensors` with `rows` rows; weights follow from `seed`.
pub fn llama(folder: &Path, rows: usize, seed: u64, context: usize) {
    let [c, f, layers, heads] = SHAPE;
    fs::create_dir_all(folder).unwrap();
    let config = format!(
        r#"{{"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":{rows},"hidden_size":{c},
        "intermediate_size":{f},"num_hidden_layers":{layers},"num_attention_heads":{heads},"num_key_value_heads":{heads},
        "hidden_act":"silu","max_position_embeddings":{context},"rms_norm_eps":1e-5,"tie_word_embeddings":true,
        "rope_theta":10000.0,"attention_bias":false,"mlp_bias":false}}"#
    );
    fs::write(folder.join("config.json"), config).unwrap();

    let mut tensors = vec![("model.embed_tokens.weight".to_owned(), vec![rows, c])];
    for layer in 0..layers {
        let mut add = |name: &str, shape: Vec<usize>| {
            tensors.push((format!("model.layers.{layer}.{name}.weight"), shape));
        };
        add("input_layernorm", vec![c]);
        add("post_attention_layernorm", vec![c]);
        for name in ["q", "k", "v", "o"] {
            add(&format!("self_attn.{name}_proj"), vec![c, c]);
        }
        add("mlp.gate_proj", vec![f, c]);
        add("mlp.up_proj", vec![f, c]);
        add("mlp.down_proj", vec![c, f]);
    }
    tensors.push(("model.norm.weight".to_owned(), vec![c]));

    let (mut entries, mut data, mut state) = (Vec::new(), Vec::<u8>::new(), seed);
    for (name, shape) in tensors {
        let begin = data.len();
        for _ in 0..shape.iter().product::<usize>() {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let value = ((state >> 40) as f32 / (1u64 << 24) as f32 - 0.5) * 1.5;
            data.extend(value.to_le_bytes());
        }
        let end = data.len();
        entries.push(format!(
            r#""{name}":{{"dtype":"F32","shape":{shape:?},"data_offsets":[{begin},{end}]}}"#
        ));
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(data);
    fs::write(folder.join("model.safetensors"), file).unwrap();
}

/// Overwrites the last so many weights of a folder (the last norm's) with a value.
pub fn spoil(folder: &Path, count: usize, value: f32) {
    let path = folder.join("model.safetensors");
    let mut file = fs::read(&path).unwrap();
    let at = file.len() - 4 * count;
    for bytes in file[at..].chunks_exact_mut(4) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
    fs::write(path, file).unwrap();
}
