//! Tokenizer files of a model folder.

use std::panic;
use std::path::Path;
use std::sync::Once;

use relscale_corpus::Tokenizer;
use relscale_testkit::tokenizer;

use crate::input::{files, join};
use crate::place::{Place, check_refusal};
use crate::seeds::{self, Seeds};

/// What is encoded by every tokenizer that can be read: characters of one to four bytes, a special
/// token, odd spaces.
const TEXT: &str = " The theatre, and in\n\nitself é中文 🙂e\u{301}<|endoftext|>\u{a0}</s> 12\r\n";

/// The tokenizer library panics on files that are none, and the corpus turns that into a refusal;
/// the engine, which ends the program at every panic before anybody can catch it, must not see
/// these. Panics that nobody catches still end it.
fn let_the_library_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|panic| {
            if !panic.location().is_some_and(|place| place.file().contains("/tokenizers-")) {
                eprintln!("{panic}");
            }
        }));
    });
}

/// Takes a tokenizer through what a measurement does with it. Bytes of tokens sum to the text;
/// every id has an entry.
fn use_it(tokenizer: &Tokenizer) {
    for text in [TEXT, "", "a"] {
        let Ok(encoded) = tokenizer.encode(text) else { continue };
        assert_eq!(encoded.ids.len(), encoded.bytes.len());
        let bytes: usize = encoded.bytes.iter().map(|bytes| *bytes as usize).sum();
        assert!(encoded.ids.is_empty() || bytes == text.len(), "{bytes} bytes of {}", text.len());
        assert!(encoded.ids.iter().all(|id| tokenizer.known_ids().binary_search(id).is_ok()), "{encoded:?}");
    }
    let vocabulary = tokenizer.vocabulary().expect("distinct ids");
    assert_eq!(vocabulary.entries().len(), tokenizer.known_ids().len());
    assert!(tokenizer.special_ids().iter().all(|id| tokenizer.known_ids().binary_search(id).is_ok()));
}

fn folder(place: &Place, main: &Path) {
    let_the_library_panic();
    match Tokenizer::from_folder(place.path()) {
        Ok(tokenizer) => use_it(&tokenizer),
        Err(error) => {
            let said = error.to_string();
            if !said.contains("tokenizer_config.json") && !said.contains("merges.txt") {
                check_refusal(&error, main);
            }
        }
    }
}

/// A `tokenizer.json`.
///
/// # Panics
/// Bytes of tokens do not sum to the text, an id has no entry, a refusal does not name the file.
pub fn tokenizer_json(data: &[u8]) {
    let place = Place::of("tokenizer_json");
    let path = place.put("tokenizer.json", data);
    folder(&place, &path);
}

/// Byte-level BPE as ours, word-level, unigram and byte fallback, with normalisers and
/// post-processors.
pub fn tokenizer_json_seeds() -> Vec<Vec<u8>> {
    let word_level = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{"id":3,"content":"</s>","single_word":false,"lstrip":true,"rstrip":false,"normalized":false,"special":true}],
        "normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Lowercase"}]},"pre_tokenizer":{"type":"Whitespace"},
        "post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"</s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"</s>":{"id":"</s>","ids":[3],"tokens":["</s>"]}}},
        "decoder":null,"model":{"type":"WordLevel","vocab":{"[UNK]":0,"the":1,"a":2},"unk_token":"[UNK]"}}"#;
    let unigram = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":{"type":"Replace","pattern":{"String":" "},"content":"▁"},
        "pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true},"post_processor":null,"decoder":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true},
        "model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0.0],["▁",-2.0],["a",-3.0],["▁the",-1.5],["e",-3.0]],"byte_fallback":false}}"#;
    let fallback = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":{"type":"Prepend","prepend":"▁"},"pre_tokenizer":null,"post_processor":null,
        "decoder":{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Fuse"}]},
        "model":{"type":"BPE","dropout":null,"unk_token":"<unk>","continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":true,"byte_fallback":true,
        "vocab":{"<unk>":0,"<0xC3>":1,"<0xA9>":2,"▁":3,"a":4,"▁a":5},"merges":["▁ a"]}}"#;
    let split = tokenizer::json().replace(
        r#""pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}"#,
        r#""pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\p{N}{1,3}| ?\\p{L}+|\\s+"},"behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}]}"#,
    );
    Seeds::new()
        .bytes(tokenizer::json())
        .bytes(split)
        .bytes(word_level)
        .bytes(unigram)
        .bytes(fallback)
        .files(b"", "crates/cli/tests/data/choices/model", &["tokenizer.json"])
        .all()
}

/// `vocab.json` and `merges.txt`, beside a `tokenizer_config.json`.
///
/// # Panics
/// As [`tokenizer_json`].
pub fn vocab_and_merges(data: &[u8]) {
    let [config, vocab, merges] = files(data);
    let place = Place::of("vocab_and_merges");
    place.put("tokenizer_config.json", config);
    let path = place.put("vocab.json", vocab);
    place.put("merges.txt", merges);
    folder(&place, &path);
}

/// The vocabulary of the tiny tokenizer in the old form.
pub fn vocab_and_merges_seeds() -> Vec<Vec<u8>> {
    let json: serde_json::Value = serde_json::from_str(&tokenizer::json()).expect("our own JSON");
    let vocab = json["model"]["vocab"].to_string();
    let pairs = json["model"]["merges"].as_array().expect("a list of merges").iter();
    let merge = |pair: &serde_json::Value| {
        format!("{} {}\n", pair[0].as_str().unwrap_or(""), pair[1].as_str().unwrap_or(""))
    };
    let merges = format!("#version: 0.2\n{}", pairs.map(merge).collect::<String>());
    let small = (r#"{"t": 0, "h": 1, "th": 2, "<|endoftext|>": 3}"#, "#version: 0.2\nt h\n");
    let configs = [
        r#"{"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": {"4": {"content": "<|x|>", "special": true}}}"#,
        r#"{"tokenizer_class": "GPT2Tokenizer", "bos_token": "</s>", "eos_token": {"content": "</s>"}, "add_prefix_space": true}"#,
    ];
    let mut seeds = Seeds::new();
    for config in configs {
        seeds = seeds.bytes(join(&[config.as_bytes(), vocab.as_bytes(), merges.as_bytes()])).bytes(join(&[
            config.as_bytes(),
            small.0.as_bytes(),
            small.1.as_bytes(),
        ]));
    }
    seeds.all()
}

/// The smaller files that say which tokens are special, beside a tokenizer that is whole.
///
/// # Panics
/// As [`tokenizer_json`].
pub fn special_tokens(data: &[u8]) {
    let [config, map, added] = files(data);
    let place = Place::of("special_tokens");
    place.put("tokenizer.json", tokenizer::json().as_bytes());
    let names = ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"];
    names.iter().zip([config, map, added]).for_each(|(name, bytes)| drop(place.put(name, bytes)));
    match Tokenizer::from_folder(place.path()) {
        Ok(tokenizer) => {
            let named = tokenizer.named_specials();
            for id in [named.bos, named.eos, named.unk, named.pad].into_iter().flatten() {
                assert!(tokenizer.known_ids().binary_search(&id).is_ok(), "{named:?}");
            }
        }
        Err(error) => {
            let said = error.to_string();
            assert!(names.iter().any(|name| said.contains(name)), "{said}");
        }
    }
}

/// Roles as strings, as objects, and named twice.
pub fn special_tokens_seeds() -> Vec<Vec<u8>> {
    let model = |name: &str| seeds::read(&format!("crates/cli/tests/data/choices/model/{name}"));
    Seeds::new()
        .bytes(join(&[
            br#"{"bos_token": "<|endoftext|>"}"#,
            br#"{"eos_token": {"content": "<|endoftext|>"}}"#,
            b"{}",
        ]))
        .bytes(join(&[&model("tokenizer_config.json"), &model("special_tokens_map.json"), b"{\"<pad>\": 7}"]))
        .all()
}
