//! Model folders: weights, their index, `config.json`.

use std::fs;

use relscale_decoder::checkpoint::Checkpoint;
use relscale_decoder::count::ParameterCount;
use relscale_decoder::families::{self, LoadOptions};
use relscale_decoder::head::Vocabulary;
use relscale_decoder::{Model, Sequence};
use relscale_measure::ModelRequest;
use relscale_measure::engines::{EngineOptions, local};
use safetensors::SafeTensors;

use crate::input::{files, join};
use crate::place::{Place, check_refusal};
use crate::seeds::{self, Seeds};

const GOLDENS: &str = "crates/decoder/tests/goldens";

/// A safetensors file, judged by the library whose format it is: what one reads the other reads,
/// with the same tensors.
///
/// # Panics
/// It is not so, or a refusal does not name the file.
pub fn safetensors(data: &[u8]) {
    let place = Place::of("safetensors");
    let path = place.put("model.safetensors", data);
    let judge = SafeTensors::deserialize(data);
    let checkpoint = match Checkpoint::open(place.path()) {
        Ok(checkpoint) => checkpoint,
        Err(error) => {
            assert!(judge.is_err(), "refused, though the format's own reader takes it: {error}");
            return check_refusal(&error, &path);
        }
    };
    let judge = judge.unwrap_or_else(|error| panic!("read, though the format's own reader refuses: {error}"));
    let mut names: Vec<&str> = judge.names();
    names.sort_unstable();
    assert_eq!(checkpoint.names().collect::<Vec<_>>(), names);
    for name in names {
        let theirs = judge.tensor(name).expect("a tensor that is named");
        assert_eq!(checkpoint.shape(name), Some(theirs.shape()));
        let mut numbers = Vec::new();
        match checkpoint.read_into(name, &mut numbers) {
            Ok(()) => assert_eq!(numbers.len(), theirs.shape().iter().product::<usize>(), "{name}"),
            Err(error) => check_refusal(&error, &path),
        }
        if theirs.dtype() == safetensors::Dtype::F32 {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            assert_eq!(bytes, theirs.data(), "{name}");
        }
    }
}

/// Small files of the decoder's tests.
pub fn safetensors_seeds() -> Vec<Vec<u8>> {
    Seeds::new()
        .files(b"", GOLDENS, &["model.safetensors", "-of-00004.safetensors"])
        .bytes(b"\x08\0\0\0\0\0\0\0{}      ")
        .all()
}

/// A file of `torch.save`: the stack machine, the archive around it, the plain stream of old.
/// Nothing is executed, no tensor leaves its storage.
///
/// # Panics
/// A tensor that opened has other than its shape's numbers, or a refusal does not name the file.
pub fn pickle(data: &[u8]) {
    let place = Place::of("pickle");
    let path = place.put("pytorch_model.bin", data);
    let checkpoint = match Checkpoint::open(place.path()) {
        Ok(checkpoint) => checkpoint,
        Err(error) => return check_refusal(&error, &path),
    };
    for name in checkpoint.names() {
        let shape = checkpoint.shape(name).expect("a tensor that is named");
        let mut numbers = Vec::new();
        match checkpoint.read_into(name, &mut numbers) {
            Ok(()) => assert_eq!(numbers.len(), shape.iter().product::<usize>(), "{name}"),
            Err(error) => check_refusal(&error, &path),
        }
    }
}

/// Archives and old streams, as PyTorch wrote them.
pub fn pickle_seeds() -> Vec<Vec<u8>> {
    Seeds::new().files(b"", GOLDENS, &[".bin"]).all()
}

/// An index of shards, beside two shards that are there.
///
/// # Panics
/// What opens lacks a tensor that its index names.
pub fn shards(data: &[u8]) {
    let place = Place::of("shards");
    let shard = seeds::read("crates/decoder/tests/goldens/llama-gqa/model.safetensors");
    place.put("model-1.safetensors", &shard);
    place.put("model-2.safetensors", b"\x08\0\0\0\0\0\0\0{}      ");
    let index = place.put("model.safetensors.index.json", data);
    match Checkpoint::open(place.path()) {
        Ok(checkpoint) => {
            // What no reader of an index looks at need not be JSON in all depth.
            let index: serde_json::Value = serde_json::from_slice(data).unwrap_or_default();
            for (tensor, _) in index["weight_map"].as_object().into_iter().flatten() {
                assert!(checkpoint.shape(tensor).is_some(), "{tensor} is in the index alone");
            }
        }
        Err(error) => {
            // Some are about the index, some about a shard.
            let said = error.to_string();
            assert!(said.contains("model") || said.contains(&*index.to_string_lossy()), "{said}");
        }
    }
}

/// An index over the shards that are there, and published ones over shards that are not.
pub fn shards_seeds() -> Vec<Vec<u8>> {
    Seeds::new()
        .bytes(
            r#"{"metadata": {"total_size": 4}, "weight_map": {"model.norm.weight": "model-1.safetensors"}}"#,
        )
        .bytes(r#"{"weight_map": {"model.norm.weight": "model-2.safetensors"}}"#)
        .bytes(r#"{"weight_map": {}}"#)
        .files(b"", GOLDENS, &["index.json"])
        .all()
}

/// A GGUF file: its tensors have as many numbers as their shapes say, a model of it runs, its
/// tokenizer counts the bytes of a text; or a refusal names the file.
///
/// # Panics
/// It is none of these.
pub fn gguf(data: &[u8]) {
    let place = Place::of("gguf");
    let path = place.put("model.gguf", data);
    match Checkpoint::open(&path) {
        Ok(checkpoint) => {
            for name in checkpoint.names() {
                let shape = checkpoint.shape(name).expect("a tensor that is named");
                let mut numbers = Vec::new();
                checkpoint.read_into(name, &mut numbers).expect("a tensor within the file");
                assert_eq!(numbers.len(), shape.iter().product::<usize>(), "{name}");
            }
        }
        Err(error) => check_refusal(&error, &path),
    }
    match Model::load(&path, LoadOptions::default()) {
        Ok(model) => run(&model),
        Err(error) => check_refusal(&error, &path),
    }
    let folder = path.clone();
    let request = ModelRequest { name: "m".to_owned(), family: None, folder, source: None };
    match local::source(&request, &EngineOptions::default()) {
        Ok(source) => {
            let Some(tokenizer) = source.tokenizer else { return };
            let text = "the other thing\u{e9} <s>1 ";
            if let Ok(encoded) = tokenizer.encode(text) {
                assert!(encoded.ids.is_empty() || encoded.total_bytes() == text.len() as u64);
            }
        }
        Err(error) => check_refusal(&error, &path),
    }
}

/// Those of the decoder's tests.
pub fn gguf_seeds() -> Vec<Vec<u8>> {
    Seeds::new().files(b"", "crates/decoder/tests/gguf", &["model.gguf"]).all()
}

/// A `config.json`: a spec that does not contradict itself, and whose parameters can be counted, or
/// a refusal that names the file.
///
/// # Panics
/// It is neither.
pub fn config(data: &[u8]) {
    let place = Place::of("config");
    let path = place.put("config.json", data);
    match families::spec_of_config(&path) {
        Ok(spec) => {
            spec.check().expect("a spec that was given");
            let count = ParameterCount::from_spec(&spec);
            assert!(count.non_embedding <= count.total);
        }
        Err(error) => check_refusal(&error, &path),
    }
}

/// Published configurations, and those of the decoder's tests with all their variants.
pub fn config_seeds() -> Vec<Vec<u8>> {
    Seeds::new()
        .files(b"", "crates/decoder/tests/configs", &[".json"])
        .files(b"", GOLDENS, &["config.json"])
        .all()
}

/// A whole folder, `config.json` and weights that need not fit it. What loads is run: tokens get
/// ranks within the vocabulary, or none.
///
/// # Panics
/// A number is none, or a refusal names neither file.
pub fn model(data: &[u8]) {
    let [config, weights] = files(data);
    let place = Place::of("model");
    place.put("config.json", config);
    place.put("model.safetensors", weights);
    let model = match Model::load(place.path(), LoadOptions::default()) {
        Ok(model) => model,
        Err(error) => {
            let said = error.to_string();
            let names = ["config.json", "model.safetensors", "/model"];
            return assert!(names.iter().any(|name| said.contains(name)), "{said}");
        }
    };
    run(&model);
}

/// Tokens get ranks within the vocabulary, or none.
fn run(model: &Model) {
    let spec = model.spec();
    let tokens: Vec<u32> = (0..spec.context.min(5)).map(|at| (at * 7 % spec.vocabulary) as u32).collect();
    let scored: Vec<u32> = (1..tokens.len() as u32).collect();
    let sequence = Sequence { tokens: &tokens, scored: &scored };
    let rows = spec.vocabulary;
    let answers = model.score(&[sequence], &Vocabulary::all(rows)).expect("tokens of the vocabulary");
    for answer in answers.into_iter().flatten().flatten() {
        assert!((1..=rows as u32).contains(&answer.rank) && (answer.argmax as usize) < rows, "{answer:?}");
        assert!(answer.nll.is_finite() && answer.entropy.is_finite(), "{answer:?}");
    }
}

/// The folders of the decoder's tests.
pub fn model_seeds() -> Vec<Vec<u8>> {
    let folders = [
        "gemma3-newer-names",
        "bloom",
        "falcon-rw",
        "gpt2",
        "gpt_neo",
        "gpt_neox-parallel",
        "granite",
        "llama-gqa",
        "llama-llama3",
        "mamba",
        "mistral-window",
        "opt",
        "opt-350m",
        "olmo3",
        "phi",
        "phi3-longrope",
        "qwen2-tied",
        "qwen3",
        "rwkv",
        "smollm3",
        "stablelm-odd",
    ];
    let folder = |name: &str| {
        let file =
            |file: &str| fs::read(seeds::root().join(GOLDENS).join(name).join(file)).expect("a golden");
        join(&[&file("config.json"), &file("model.safetensors")])
    };
    folders.into_iter().map(folder).fold(Seeds::new(), Seeds::bytes).all()
}
