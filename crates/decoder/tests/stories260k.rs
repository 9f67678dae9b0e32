//! A model that someone else trained, against what an independent float64 forward says of it.
//!
//! `../shared/data/stories260k` holds 260 032 parameters in llama2.c's layout; the test turns them
//! into a Hugging Face folder as `tools/goldens/stories260k.py` does, and loads that. Skipped where
//! the data is absent.

mod support;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use relscale_decoder::families::{self, LoadOptions};
use relscale_decoder::head::Vocabulary;
use relscale_decoder::{Model, Sequence};
use relscale_testkit::data::of_others;
use serde_json::json;
use support::naive;

const C: usize = 64;
const F: usize = 172;
const L: usize = 5;
const H: usize = 8;
const G: usize = 4;
const V: usize = 512;
const D: usize = C / H;

/// Text, tokens scored, mean nll, hits at k = 1, 2, 5, 10.
const EXPECTED: [(&str, usize, f64, [usize; 4]); 3] = [
    (
        "Once upon a time, there was a little girl named Lily. She loved to play outside in the park.",
        31,
        0.180356,
        [31, 31, 31, 31],
    ),
    (
        "Tom found an old key under the tree. He ran home to show his sister, but she was sad because her bird had \
         flown away.",
        59,
        1.761789,
        [30, 37, 44, 52],
    ),
    (
        "The committee said on Friday that the new law would not change the price of oil.",
        38,
        3.878756,
        [5, 12, 13, 22],
    ),
];

const RANKS_OF_THE_THIRD: [u32; 38] = [
    11, 7, 22, 11, 44, 7, 32, 11, 47, 7, 10, 3, 19, 21, 23, 10, 39, 1, 23, 2, 2, 12, 2, 16, 1, 10,
    9, 2, 1, 1, 2, 9, 14, 2, 6, 24, 2, 1,
];

fn data() -> Option<PathBuf> {
    of_others("stories260k")
}

/// Writes `config.json` and `model.safetensors` of a Llama.
fn convert(bin: &[u8], folder: &Path) {
    let word = |n: usize| i32::from_le_bytes(bin[4 * n..4 * n + 4].try_into().unwrap());
    let header: Vec<i32> = (0..7).map(word).collect();
    assert_eq!(header, [C as i32, F as i32, L as i32, H as i32, G as i32, V as i32, 512]);
    let mut at = 28;
    let mut take = |n: usize| {
        at += 4 * n;
        bin[at - 4 * n..at].to_vec()
    };
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> =
        vec![("model.embed_tokens.weight".into(), vec![V, C], take(V * C))];
    let parts: [(&str, &[usize]); 9] = [
        ("input_layernorm", &[C]),
        ("self_attn.q_proj", &[C, C]),
        ("self_attn.k_proj", &[G * D, C]),
        ("self_attn.v_proj", &[G * D, C]),
        ("self_attn.o_proj", &[C, C]),
        ("post_attention_layernorm", &[C]),
        ("mlp.gate_proj", &[F, C]),
        ("mlp.down_proj", &[C, F]),
        ("mlp.up_proj", &[F, C]),
    ];
    for (part, shape) in parts {
        for layer in 0..L {
            let mut bytes = take(shape.iter().product());
            if part.ends_with("q_proj") || part.ends_with("k_proj") {
                bytes = halves(&bytes);
            }
            tensors.push((format!("model.layers.{layer}.{part}.weight"), shape.to_vec(), bytes));
        }
    }
    tensors.push(("model.norm.weight".into(), vec![C], take(C)));
    let views = tensors.iter().map(|(name, shape, bytes)| {
        let view =
            safetensors::tensor::TensorView::new(safetensors::Dtype::F32, shape.clone(), bytes);
        (name, view.unwrap())
    });
    let bytes = safetensors::serialize(views, None).unwrap();
    std::fs::write(folder.join("model.safetensors"), bytes).unwrap();
    let config = json!({
        "model_type": "llama", "hidden_size": C, "intermediate_size": F, "num_hidden_layers": L,
        "num_attention_heads": H, "num_key_value_heads": G, "vocab_size": V, "max_position_embeddings": 512,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": true, "hidden_act": "silu",
        "bos_token_id": 1, "eos_token_id": 2,
    });
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
}

/// llama2.c rotates rows (2i, 2i+1) of each head together, Hugging Face (i, i + D/2): even rows
/// first, then odd ones.
fn halves(bytes: &[u8]) -> Vec<u8> {
    let rows: Vec<&[u8]> = bytes.chunks_exact(4 * C).collect();
    let order = |head: usize| (0..D).map(move |i| head * D + 2 * (i % (D / 2)) + i / (D / 2));
    (0..rows.len() / D).flat_map(order).flat_map(|row| rows[row]).copied().collect()
}

/// The ids of a text: BOS, a space, its characters; then the pair whose merge scores best, until
/// there is none.
fn encode(tok: &[u8], text: &str) -> Vec<u32> {
    let mut at = 4;
    let mut pieces = Vec::new();
    while at < tok.len() {
        let score = f32::from_le_bytes(tok[at..at + 4].try_into().unwrap());
        let length = u32::from_le_bytes(tok[at + 4..at + 8].try_into().unwrap()) as usize;
        pieces.push((&tok[at + 8..at + 8 + length], score));
        at += 8 + length;
    }
    let find: HashMap<&[u8], u32> =
        pieces.iter().enumerate().map(|(id, (piece, _))| (*piece, id as u32)).collect();
    let text = format!(" {text}");
    let mut ids: Vec<u32> = text.bytes().map(|byte| find[&[byte][..]]).collect();
    loop {
        let merge = |pair: &[u32]| {
            let joined = [pieces[pair[0] as usize].0, pieces[pair[1] as usize].0].concat();
            find.get(&joined[..]).map(|&id| (pieces[id as usize].1, id))
        };
        let mut best: Option<(f32, u32, usize)> = None;
        for (i, pair) in ids.windows(2).enumerate() {
            if let Some((score, id)) = merge(pair)
                && best.is_none_or(|(top, ..)| score > top)
            {
                best = Some((score, id, i));
            }
        }
        let Some((_, id, i)) = best else { break };
        ids.splice(i..i + 2, [id]);
    }
    ids.insert(0, 1);
    ids
}

#[test]
fn nll_ranks_and_hits_are_those_of_the_reference() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    convert(&std::fs::read(data.join("stories260K.bin")).unwrap(), folder.path());
    let tok = std::fs::read(data.join("tok512.bin")).unwrap();
    let model = Model::load(folder.path(), LoadOptions::default()).unwrap();
    assert_eq!(model.parameters().total, 260_032);
    let loaded = families::load(folder.path(), LoadOptions::default()).unwrap();

    for (text, scored, nll, hits) in EXPECTED {
        let ids = encode(&tok, text);
        assert_eq!(ids.len(), scored + 1, "{text}");
        // The naive f64 pass judges the mapping, to the last digit that the reference gives.
        let logits = naive::logits(model.spec(), &loaded.weights, &ids);
        let z = |row: &Vec<f64>, id: &u32| row[*id as usize];
        let naive_nll = logits
            .iter()
            .zip(&ids[1..])
            .map(|(row, id)| row.iter().map(|other| (other - z(row, id)).exp()).sum::<f64>().ln());
        let naive_nll = naive_nll.sum::<f64>() / scored as f64;
        assert!((naive_nll - nll).abs() < 6e-7, "{text}: {naive_nll}");

        // What runs is f32, and still has the reference's six digits and every one of its ranks.
        let positions: Vec<u32> = (1..ids.len() as u32).collect();
        let sequence = Sequence { tokens: &ids, scored: &positions };
        let scores = model.score(&[sequence], &Vocabulary::all(V)).unwrap().remove(0);
        let mean = scores.iter().map(|s| f64::from(s.unwrap().nll)).sum::<f64>() / scored as f64;
        assert!((mean - nll).abs() < 1e-6, "{text}: {mean}");
        let ranks: Vec<u32> = scores.iter().map(|s| s.unwrap().rank).collect();
        assert_eq!(
            [1, 2, 5, 10].map(|k| ranks.iter().filter(|&&r| r <= k).count()),
            hits,
            "{text}"
        );
        if scored == RANKS_OF_THE_THIRD.len() {
            assert_eq!(ranks, RANKS_OF_THE_THIRD);
        }
    }
}
