//! GGUF: numbers bit for bit as the gguf package has them, whole tiny models against transformers
//! in float64 on those numbers (`tools/goldens/gguf_files.py`), and files that are wrong in one
//! way.

mod support;

use std::path::{Path, PathBuf};

use relscale_decoder::checkpoint::{Checkpoint, Format};
use relscale_decoder::families::{self, LoadOptions};
use relscale_decoder::head::Vocabulary;
use relscale_decoder::kernels::Dtype;
use relscale_decoder::{Error, Model};
use safetensors::SafeTensors;
use support::gguf::{File, key, tensor, text};
use support::golden::{BF16_TOLERANCE, Golden, TOLERANCE, compare, size};
use support::naive;

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gguf").join(name)
}

const MODELS: [&str; 4] = ["gemma", "llama", "qwen2", "qwen3"];

/// The types of the format by their numbers.
const TYPES: [(&str, u32, u64); 10] = [
    ("q4_0", 2, 32),
    ("q4_1", 3, 32),
    ("q5_0", 6, 32),
    ("q5_1", 7, 32),
    ("q8_0", 8, 32),
    ("q2_k", 10, 256),
    ("q3_k", 11, 256),
    ("q4_k", 12, 256),
    ("q5_k", 13, 256),
    ("q6_k", 14, 256),
];

#[test]
fn blocks_are_what_the_gguf_package_makes_of_them() {
    let bytes = std::fs::read(case("blocks.safetensors")).unwrap();
    let golden = SafeTensors::deserialize(&bytes).unwrap();
    for (name, kind, block) in TYPES {
        let data = golden.tensor(&format!("{name}.bytes")).unwrap().data().to_vec();
        let numbers = golden.tensor(&format!("{name}.numbers")).unwrap();
        let numbers = numbers.data().chunks_exact(4);
        let expected: Vec<u32> =
            numbers.map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect();
        // As rows of one block, and as one row; the second would not end on a piece's boundary.
        let rows = expected.len() as u64 / block;
        for sizes in [vec![block, rows], vec![block * rows]] {
            let tensors = vec![tensor("a", &sizes, kind, 0)];
            let place = Place::of(&File { tensors, data: data.clone(), ..File::new() }.bytes());
            let checkpoint = Checkpoint::open(&place.path).unwrap();
            assert_eq!(checkpoint.stored_type("a").unwrap().name(), name);
            let mut found = Vec::new();
            checkpoint.read_into("a", &mut found).unwrap();
            let found: Vec<u32> = found.into_iter().map(f32::to_bits).collect();
            assert_eq!(found, expected, "{name}");
            if let [_, rows] = sizes[..] {
                let matrix = checkpoint.rows("a").unwrap();
                let last = rows as usize - 1;
                let mut row = vec![0.0; block as usize];
                matrix.read(last..last + 1, &mut row).unwrap();
                let row: Vec<u32> = row.into_iter().map(f32::to_bits).collect();
                assert_eq!(row, expected[last * block as usize..], "{name}");
            }
        }
    }
}

#[test]
fn models_are_those_of_transformers() {
    for name in MODELS {
        let (folder, golden) = (case(name), Golden::read_from(&case(name)));
        let loaded = families::load(&folder, LoadOptions::default()).unwrap();
        assert_eq!(loaded.spec.family, name);
        for (sequence, logits) in golden.sequences.iter().zip(&golden.logits) {
            let found = naive::logits(&loaded.spec, &loaded.weights, &sequence.ids);
            for (found, expected) in found.iter().zip(logits) {
                for (a, b) in found.iter().zip(expected) {
                    assert!((a - b).abs() < 1e-9 * size(expected), "{name}: {a} for {b}");
                }
            }
        }
        for (dtype, tolerance) in [(Dtype::F32, TOLERANCE), (Dtype::Bf16, BF16_TOLERANCE)] {
            let model =
                Model::load(&folder, LoadOptions { dtype, ..LoadOptions::default() }).unwrap();
            let all = Vocabulary::all(model.spec().vocabulary);
            for (sequence, logits) in golden.sequences.iter().zip(&golden.logits) {
                compare(name, &model, &sequence.ids, &all, &sequence.scores, logits, tolerance);
            }
        }
    }
}

/// What is recorded of a file: which types, of how many tensors each.
#[test]
fn types_are_recorded_with_their_counts() {
    let info = |name: &str| {
        let loaded = families::load(&case(name), LoadOptions::default()).unwrap();
        let read = families::ReadWeights {
            sha256: loaded.info.weights_sha256.clone(),
            stored: loaded.info.stored.clone(),
            unused: loaded.info.unused.clone(),
        };
        let known = families::recognise(&case(name), LoadOptions::default(), read).unwrap();
        assert_eq!(known, (loaded.spec, loaded.info.clone()), "{name}");
        loaded.info
    };
    let llama = info("llama");
    assert_eq!(llama.stored, ["13 f32", "6 q4_1", "3 q8_0", "2 q4_0", "2 q5_0", "2 q5_1", "1 f16"]);
    assert_eq!((llama.bos_token, llama.files), (Some(1), vec!["model.gguf".to_owned()]));
    let qwen2 = info("qwen2");
    assert_eq!(qwen2.files.len(), 3);
    assert!(info("qwen3").stored.contains(&"1 q6_k".to_owned()));
    let checkpoint = Checkpoint::open(&case("llama")).unwrap();
    assert_eq!(checkpoint.format(), Format::Gguf);
}

// --- files that are wrong ---

/// A file in a folder of its own.
struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Place {
    fn of(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.gguf");
        std::fs::write(&path, bytes).unwrap();
        Self { _folder: folder, path }
    }
}

fn refusal(bytes: &[u8]) -> String {
    let place = Place::of(bytes);
    let error = Checkpoint::open(&place.path).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Checkpoint { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("model.gguf"), "{message}");
    message
}

fn says(bytes: &[u8], words: &str) {
    let message = refusal(bytes);
    assert!(message.contains(words), "{words:?} is not in {message:?}");
}

#[test]
fn the_beginning_is_checked() {
    Checkpoint::open(&Place::of(&File::new().bytes()).path).unwrap();
    says(b"GGUF", "4 bytes are no GGUF file");
    says(&File { magic: *b"GGUf", ..File::new() }.bytes(), "does not begin with GGUF");
    says(&File { magic: *b"tjgg", ..File::new() }.bytes(), "before GGUF");
    says(&File { version: 1, ..File::new() }.bytes(), "version 1");
    says(&File { version: 3 << 24, ..File::new() }.bytes(), "big-endian");
    says(&File { version: 77, ..File::new() }.bytes(), "version 77 is not read; 2 and 3 are");
}

/// Counts and lengths that no file has; nothing is allocated for them.
#[test]
fn absurd_counts_and_lengths_are_refused() {
    let file = File::new();
    for count in [u64::MAX, 1 << 63, 1 << 40, 1000] {
        refusal(&file.with_counts([count, 1]));
        refusal(&file.with_counts([1, count]));
        // Texts, and arrays of each width and of texts.
        for kind in [1_u32, 3, 5, 8, 12] {
            let value = [&kind.to_le_bytes()[..], &count.to_le_bytes()].concat();
            let keys = vec![key("long", 9, &value)];
            says(&File { keys, ..File::new() }.bytes(), "cut, or damaged");
        }
        let keys = vec![key("long", 8, &count.to_le_bytes())];
        says(&File { keys, ..File::new() }.bytes(), "long claims");
        let keys = vec![count.to_le_bytes().to_vec()];
        says(&File { keys, ..File::new() }.bytes(), "key 0 of 1 claims");
    }
}

#[test]
fn every_cut_is_noticed() {
    let whole = std::fs::read(case("llama").join("model.gguf")).unwrap();
    let ends = (24..2_400).step_by(7).chain([whole.len() - 4_000, whole.len() - 40]);
    for end in ends {
        let message = refusal(&whole[..end]);
        assert!(message.contains("cut"), "{end}: {message}");
    }
}

#[test]
fn keys_are_checked() {
    let with = |keys: Vec<Vec<u8>>| File { keys, ..File::new() }.bytes();
    let four = 7_u32.to_le_bytes();
    says(&with(vec![key("a", 4, &four), key("a", 4, &four)]), "a is given twice");
    says(&with(vec![key("a", 13, &four)]), "unknown type 13");
    says(&with(vec![key("a", 7, &[2])]), "neither true nor false");
    says(
        &with(vec![key("a", 9, &[&9_u32.to_le_bytes()[..], &[0; 8]].concat())]),
        "array of arrays",
    );
    says(&with(vec![key("a", 9, &[&99_u32.to_le_bytes()[..], &[0; 8]].concat())]), "type 99");
    let bad = [&8_u32.to_le_bytes()[..], &1_u64.to_le_bytes(), &1_u64.to_le_bytes(), b"\xff"];
    says(&with(vec![key("a", 9, &bad.concat())]), "no UTF-8");
    for alignment in [0_u32, 3, 1 << 30] {
        let key = key("general.alignment", 4, &alignment.to_le_bytes());
        says(&with(vec![key]), "not a power of two");
    }
    says(&with(vec![key("general.alignment", 8, &text("x"))]), "not a whole number");
    says(&with(vec![key("split.count", 4, &four)]), "one of 7");
}

#[test]
fn tensors_are_checked() {
    let with = |tensors: Vec<Vec<u8>>| File { tensors, ..File::new() }.bytes();
    let plain = |offset| tensor("b", &[32], 0, offset);
    says(&with(vec![tensor("a", &[8], 0, 0), tensor("a", &[8], 0, 32)]), "a is given twice");
    says(&with(vec![tensor("a", &[], 0, 0)]), "0 axes");
    says(&with(vec![tensor("a", &[1; 5], 0, 0)]), "5 axes");
    says(&with(vec![tensor("a", &[33], 2, 0)]), "which q4_0 cannot have");
    says(&with(vec![tensor("a", &[1 << 40, 1 << 40], 0, 0)]), "cannot have");
    says(&with(vec![tensor("a", &[u64::MAX], 24, 0)]), "cannot have");
    says(&with(vec![tensor("a", &[32], 77, 0)]), "type 77");
    // Beyond the file, misaligned, over one another, at the end of all numbers.
    says(&with(vec![tensor("a", &[64], 0, 0)]), "beyond the file's");
    says(&with(vec![plain(4)]), "byte 4 of the data, where 0 is due");
    says(&with(vec![tensor("a", &[8], 0, 0), plain(0)]), "where 32 is due");
    says(&with(vec![tensor("a", &[8], 0, 0), plain(64)]), "where 32 is due");
    says(&with(vec![plain(u64::MAX - 31)]), "where 0 is due");
}

/// Types that are not read are named with their tensor and what to do.
#[test]
fn types_that_are_not_read_are_named() {
    for (id, name, numbers) in [(23, "IQ4_XS", 256), (35, "TQ2_0", 256), (39, "MXFP4", 32)] {
        let tensors = vec![tensor("blk.0.ffn_up.weight", &[numbers], id, 0)];
        let message = refusal(&File { tensors, data: vec![0; 256], ..File::new() }.bytes());
        for words in [name, "blk.0.ffn_up.weight", "q8_0", "Convert the original model"] {
            assert!(message.contains(words), "{words:?} is not in {message:?}");
        }
    }
}

// --- models that are wrong ---

/// The tiny Llama with its metadata changed: keys of `out` taken away, `keys` put in.
fn model(out: &[&str], keys: Vec<Vec<u8>>) -> String {
    let whole = std::fs::read(case("llama").join("model.gguf")).unwrap();
    let parts = support::gguf::keys(&whole);
    let kept = parts.keys.into_iter().filter(|(name, _)| !out.contains(&name.as_str()));
    let keys: Vec<Vec<u8>> = kept.map(|(_, bytes)| bytes).chain(keys).collect();
    let file = File { keys, tensors: vec![parts.tensors], data: parts.data, ..File::new() };
    let count = file.keys.len() as u64;
    let place = Place::of(&file.with_counts([parts.count, count]));
    match families::load(&place.path, LoadOptions::default()) {
        Ok(_) => "loaded".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn metadata_that_is_no_model_of_ours_is_refused() {
    let number = |name: &str, number: u32| key(name, 4, &number.to_le_bytes());
    let float = |name: &str, number: f32| key(name, 6, &number.to_le_bytes());
    let architecture = |name: &str| key("general.architecture", 8, &text(name));
    assert_eq!(model(&[], vec![]), "loaded");
    assert_eq!(model(&[], vec![number("llama.expert_count", 0)]), "loaded");
    assert_eq!(model(&[], vec![float("llama.rope.scaling.factor", 0.0)]), "loaded");
    for (out, keys, words) in [
        (vec!["general.architecture"], vec![], "architecture \"\" is not known"),
        (
            vec!["general.architecture"],
            vec![architecture("mamba")],
            "Known: gemma, llama, qwen2, qwen3",
        ),
        (vec!["llama.block_count"], vec![], "llama.block_count is missing"),
        (vec![], vec![number("llama.logit_scale", 2)], "llama.logit_scale = 2"),
        (vec![], vec![number("llama.expert_count", 8)], "mixture of experts"),
        (vec![], vec![number("llama.attention.sliding_window", 8)], "window of 8 tokens"),
        (vec![], vec![key("llama.attention.causal", 7, &[0])], "ranks of next tokens"),
        (
            vec!["llama.rope.dimension_count"],
            vec![number("llama.rope.dimension_count", 4)],
            "partial",
        ),
        (
            vec!["llama.attention.value_length"],
            vec![number("llama.attention.value_length", 4)],
            "widths",
        ),
        (
            vec!["llama.attention.head_count"],
            vec![number("llama.attention.head_count", 0)],
            "heads",
        ),
        (vec!["llama.rope.freq_base"], vec![float("llama.rope.freq_base", f32::NAN)], "no number"),
        (vec!["llama.block_count"], vec![number("llama.block_count", 3)], "blk.2.attn_norm.weight"),
        (vec!["llama.block_count"], vec![number("llama.block_count", 1)], "belongs to block 1"),
        (vec!["llama.block_count"], vec![number("llama.block_count", 1 << 30)], "not a count"),
        (vec!["llama.embedding_length"], vec![number("llama.embedding_length", 64)], "[39, 32]"),
        // The divisors of the frequencies are a scaling already.
        (vec![], vec![float("llama.rope.scaling.factor", 2.0)], "the only scaling"),
    ] {
        let message = model(&out, keys);
        assert!(message.contains(words), "{words:?} is not in {message:?}");
    }
    // Said block by block, it must be the same in all.
    for (counts, words) in [([4_u32, 4], "loaded"), ([4, 2], "differs from block to block")] {
        let counts: Vec<u8> = counts.iter().flat_map(|count| count.to_le_bytes()).collect();
        let value = [&4_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &counts].concat();
        let name = "llama.attention.head_count";
        let message = model(&[name], vec![key(name, 9, &value)]);
        assert!(message.contains(words), "{words:?} is not in {message:?}");
    }
}
