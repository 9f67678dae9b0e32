//! Tokenizer folders of every shape against what transformers 4.57.6 makes of them
//! (`tools/goldens/tokenizer_folders.py`).

use std::path::Path;

use relscale_corpus::{CorpusError, Tokenizer};
use serde_json::{Map, Value, json};

/// The file of cases.
fn goldens() -> Value {
    serde_json::from_str(include_str!("data/tokenizer_folders.json")).unwrap()
}

/// Writes a folder: the vocabulary's files, and those of the case.
fn folder(goldens: &Value, vocabulary: &str, files: &Map<String, Value>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let merges: Vec<&str> =
        goldens["merges"].as_array().unwrap().iter().map(|m| m.as_str().unwrap()).collect();
    match goldens["tables"].get(vocabulary) {
        Some(table) => write("tokenizer.json", table.to_string()),
        None => {
            write("vocab.json", goldens["vocabularies"][vocabulary].to_string());
            write("merges.txt", format!("#version: 0.2\n{}\n", merges.join("\n")));
        }
    }
    for (name, content) in files {
        match content.as_str() {
            Some("no version") => write(name, format!("{}\n", merges.join("\n"))),
            Some("no newline") => write(name, format!("#version: 0.2\n{}", merges.join("\n"))),
            _ => write(name, content.to_string()),
        }
    }
    folder
}

fn ids(tokenizer: &Tokenizer, goldens: &Value) -> Vec<Vec<u32>> {
    let texts = goldens["texts"].as_array().unwrap().iter();
    texts.map(|text| tokenizer.encode(text.as_str().unwrap()).unwrap().ids).collect()
}

#[test]
fn folders_are_read_as_transformers_reads_them() {
    let goldens = goldens();
    let cases = goldens["cases"].as_array().unwrap();
    assert!(cases.len() > 50, "only {} cases", cases.len());
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let folder = folder(
            &goldens,
            case["vocabulary"].as_str().unwrap(),
            case["files"].as_object().unwrap(),
        );
        let read = Tokenizer::from_folder(folder.path());
        let expected = &case["expected"];
        if expected.is_null() {
            let message = read.expect_err(name).to_string();
            assert!(message.contains("save_pretrained"), "{name}: {message}");
            continue;
        }
        let tokenizer = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(json!(ids(&tokenizer, &goldens)), expected["ids"], "{name}: ids");
        assert_eq!(
            json!(tokenizer.added_by_processor().before),
            expected["before"],
            "{name}: before"
        );
        let named = tokenizer.named_specials();
        let roles = json!({"bos": named.bos, "eos": named.eos, "unk": named.unk, "pad": named.pad});
        assert_eq!(roles, expected["roles"], "{name}: roles");
        assert_eq!(json!(tokenizer.role_ids()), expected["special"], "{name}: special");
    }
}

/// Where a flag is not followed, or versions of transformers differ about it, the user is told;
/// where all is well, nothing is said.
#[test]
fn contradictions_are_told() {
    let goldens = goldens();
    let told = |name: &str| {
        let case = goldens["cases"]
            .as_array()
            .unwrap()
            .iter()
            .find(|case| case["name"] == name)
            .expect(name);
        let folder = folder(
            &goldens,
            case["vocabulary"].as_str().unwrap(),
            case["files"].as_object().unwrap(),
        );
        Tokenizer::from_folder(folder.path()).unwrap().notes().to_vec()
    };
    for (name, words) in [
        ("json, llama's flag", "add_bos_token true"),
        ("json, roles of llama by default", "LlamaTokenizerFast does so by default"),
        ("json, a flag of no class", "none is put here"),
        ("json, a template and a flag off", "it is put here"),
        ("json, a flag for gpt2", "none is put here"),
        ("json, a flag for neox", "add_bos_token true"),
        ("qwen2, begins by itself", "none is put here"),
        ("json with a space before, no flag", "add_prefix_space"),
    ] {
        let notes = told(name);
        assert!(notes.iter().any(|note| note.contains(words)), "{name}: {notes:?}");
    }
    for name in [
        "gpt2 by model_type",
        "opt",
        "qwen2 as published",
        "json, a template and no flag",
        "json, llama's flag off",
    ] {
        assert!(told(name).is_empty(), "{name}");
    }
}

/// A folder of nothing but `config.json` and `tokenizer.json`, as many programs write: transformers
/// 4 takes the class from the model's type, adds `<s>` where the file lacks it, and puts it before
/// a text, though the model has no row for it. Here the file has the say.
#[test]
fn a_class_that_no_file_names_adds_nothing() {
    let goldens = goldens();
    let files = json!({"config.json": {"model_type": "llama"}});
    for (table, bos) in
        [("json plain", None), ("json bos", Some(330)), ("json template", Some(330))]
    {
        let folder = folder(&goldens, table, files.as_object().unwrap());
        let tokenizer = Tokenizer::from_folder(folder.path()).unwrap();
        assert_eq!(tokenizer.named_specials().bos, bos, "{table}");
        let before: Vec<u32> = bos.filter(|_| table == "json template").into_iter().collect();
        assert_eq!(tokenizer.added_by_processor().before, before, "{table}");
        let entries = goldens["vocabularies"]["plain"].as_object().unwrap().len()
            + goldens["tables"][table]["added_tokens"].as_array().unwrap().len();
        assert_eq!(tokenizer.known_ids().len(), entries, "{table}");
        assert!(tokenizer.notes().is_empty(), "{table}: {:?}", tokenizer.notes());
    }
}

/// Whether a file of merges has a version before or a newline at its end changes no id.
#[test]
fn merges_are_read_whole() {
    let goldens = goldens();
    let with = |merges: Option<&str>| {
        let mut files = json!({"config.json": {"model_type": "gpt2"}});
        if let Some(merges) = merges {
            files["merges.txt"] = json!(merges);
        }
        let folder = folder(&goldens, "gpt2", files.as_object().unwrap());
        let tokenizer = Tokenizer::from_folder(folder.path()).unwrap();
        (ids(&tokenizer, &goldens), tokenizer.notes().len())
    };
    let (whole, notes) = with(None);
    assert_eq!(notes, 0);
    for other in ["no version", "no newline"] {
        assert_eq!(with(Some(other)), (whole.clone(), 1), "{other}");
    }
}

#[test]
fn forms_that_are_not_read_are_named_with_a_way_out() {
    for file in ["tokenizer.model", "spiece.model", "tekken.json", "vocab.txt"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(file), "?").unwrap();
        let error = Tokenizer::from_folder(folder.path()).unwrap_err();
        assert!(matches!(error, CorpusError::TokenizerForm { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains(file) && message.contains("save_pretrained"), "{message}");
    }
}

/// What the smaller files say wrongly is refused by name.
#[test]
fn broken_declarations_are_refused() {
    let goldens = goldens();
    let refused = |files: Value| {
        let folder = folder(&goldens, "gpt2", files.as_object().unwrap());
        Tokenizer::from_folder(folder.path()).unwrap_err().to_string()
    };
    let gpt2 = json!({"model_type": "gpt2"});
    for (files, words) in [
        (
            json!({"config.json": gpt2, "added_tokens.json": {"<mark>": 4000}}),
            ["\"<mark>\"", "4000"],
        ),
        (
            json!({"config.json": gpt2, "added_tokens.json": {"<mark>": "x"}}),
            ["added_tokens.json", "no token id"],
        ),
        (
            json!({"config.json": gpt2, "added_tokens.json": []}),
            ["added_tokens.json", "not a JSON object"],
        ),
        (
            json!({"tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": {"a": {"content": "x"}}}}),
            ["tokenizer_config.json", "\"a\" is no token id"],
        ),
        (json!({"merges.txt": "no version"}), ["vocab.json", "of which class"]),
        (json!({"config.json": {"model_type": "bert"}}), ["vocab.json", "of which class"]),
    ] {
        let message = refused(files);
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}

/// The key of a run rests on the hash: what changes ids changes it, what does not leaves it.
#[test]
fn the_hash_follows_what_decides_ids() {
    let goldens = goldens();
    let sha = |vocabulary: &str, files: Value| {
        let folder = folder(&goldens, vocabulary, files.as_object().unwrap());
        Tokenizer::from_folder(folder.path()).unwrap().sha256().to_owned()
    };
    let (gpt2, qwen2) = (json!({"model_type": "gpt2"}), json!({"model_type": "qwen2"}));
    let plain = sha("plain", json!({"config.json": gpt2}));
    assert_ne!(plain, sha("plain", json!({"config.json": qwen2})));
    assert_ne!(
        plain,
        sha(
            "plain",
            json!({"config.json": gpt2, "special_tokens_map.json": {"pad_token": "[PAD]"}})
        )
    );
    // A file alone, or one whose roles are all in it.
    let json = sha("json gpt2", json!({}));
    assert_eq!(json, sha("json gpt2", json!({"config.json": gpt2})));
    assert_ne!(
        json,
        sha(
            "json gpt2",
            json!({"config.json": gpt2, "special_tokens_map.json": {"pad_token": "[PAD]"}})
        )
    );
    let bytes = relscale_records::provenance::sha256_bytes(
        goldens["tables"]["json gpt2"].to_string().as_bytes(),
    );
    assert_eq!(json, bytes);
    assert!(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tokenizer_folders.json").is_file()
    );
}
