//! Reading a tokenizer from a model folder.
//!
//! `tokenizer.json` is the one truth where it exists: slow and fast tokenizers differ around added
//! tokens, and this file is the one that other programs read too. Older folders have `vocab.json`
//! and `merges.txt` only; how they split a text is then a matter of the tokenizer's class
//! (`class.rs`). In either case the smaller files (`declared.rs`) may add tokens.

use std::fmt;
use std::path::Path;

use relscale_records::provenance::sha256_bytes;
use serde_json::{Value, json};
use tokenizers::AddedToken;
use tokenizers::models::ModelWrapper;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

use super::blocks::QWEN2_PATTERN;
use super::class::Class;
use super::declared::Declared;
use super::guard::guarded;
use super::specials::{self, AddedByProcessor, NamedSpecials};
use crate::error::{CorpusError, Result, SAVE_FAST};

/// Which files a tokenizer was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenizerSource {
    /// `tokenizer.json`.
    TokenizerJson,
    /// `vocab.json` and `merges.txt`.
    VocabAndMerges,
    /// The metadata of a GGUF file.
    Gguf,
}

impl TokenizerSource {
    pub(super) fn main_file(self) -> &'static str {
        match self {
            Self::TokenizerJson => "tokenizer.json",
            Self::VocabAndMerges => "vocab.json",
            Self::Gguf => "",
        }
    }
}

impl fmt::Display for TokenizerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TokenizerJson => "tokenizer.json",
            Self::VocabAndMerges => "vocab.json + merges.txt",
            Self::Gguf => "GGUF metadata",
        })
    }
}

/// A tokenizer as its files describe it.
pub(super) struct Loaded {
    pub(super) inner: tokenizers::Tokenizer,
    pub(super) source: TokenizerSource,
    pub(super) sha256: String,
    pub(super) named: NamedSpecials,
    /// Ids of all tokens with a role.
    pub(super) with_a_role: Vec<u32>,
    pub(super) added_by_processor: AddedByProcessor,
    /// What the user should know of the files.
    pub(super) notes: Vec<String>,
}

/// Reads whichever form the folder has.
pub(super) fn load(folder: &Path) -> Result<Loaded> {
    let at = |file: &str| folder.join(file);
    let (json, vocab, merges) = (at("tokenizer.json"), at("vocab.json"), at("merges.txt"));
    let declared = Declared::read(folder)?;
    let mut notes = Vec::new();
    let mut loaded = if json.is_file() {
        from_json(&std::fs::read(&json).map_err(CorpusError::read(&json))?, &json)?
    } else if vocab.is_file() && merges.is_file() {
        from_vocab_and_merges(&vocab, &merges, &declared, &mut notes)?
    } else if let Some(found) = NOT_READ.into_iter().find(|file| at(file).is_file()) {
        return Err(CorpusError::TokenizerForm { path: at(found) });
    } else {
        return Err(CorpusError::NoTokenizer { folder: folder.to_owned() });
    };
    let from_merges = loaded.source == TokenizerSource::VocabAndMerges;
    let spaced = !from_merges && follow_prefix_space(&mut loaded.inner, &declared, &mut notes);
    let added_before: Vec<(u32, AddedToken)> = sorted_added(&loaded.inner);
    if declared.complete(&mut loaded.inner, from_merges)? || spaced {
        // All that decides ids beside the main file, in one fixed form.
        let decided = format!(
            "{}\nadded before {}\nadded {}\nspace {:?}\n",
            loaded.sha256,
            as_json(&added_before),
            as_json(&sorted_added(&loaded.inner)),
            declared.add_prefix_space,
        );
        loaded.sha256 = sha256_bytes(decided.as_bytes());
    }
    let id = |token: &str| loaded.inner.token_to_id(token);
    let named = |role: &str| declared.role(role).and_then(id);
    loaded.named = NamedSpecials {
        bos: named("bos_token"),
        eos: named("eos_token"),
        unk: named("unk_token"),
        pad: named("pad_token"),
    };
    loaded.with_a_role = declared.with_a_role().filter_map(|token| id(&token.content)).collect();
    follow_begin(&mut loaded, &declared, &mut notes);
    loaded.notes = notes;
    Ok(loaded)
}

/// Forms of tokenizers that other programs read, and we do not.
const NOT_READ: [&str; 6] = [
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tekken.json",
    "vocab.txt",
    "vocab.json",
];

/// Added tokens by id.
fn sorted_added(inner: &tokenizers::Tokenizer) -> Vec<(u32, AddedToken)> {
    let mut added: Vec<_> = inner.get_added_tokens_decoder().into_iter().collect();
    added.sort_by_key(|(id, _)| *id);
    added
}

fn as_json(added: &[(u32, AddedToken)]) -> String {
    let token = |(id, t): &(u32, AddedToken)| {
        json!([id, t.content, t.single_word, t.lstrip, t.rstrip, t.normalized, t.special])
    };
    json!(added.iter().map(token).collect::<Vec<_>>()).to_string()
}

/// Takes the bytes of a `tokenizer.json`; `path` for messages.
pub(super) fn from_json(json: &[u8], path: &Path) -> Result<Loaded> {
    let bad = |reason| CorpusError::BadTokenizer { path: path.to_owned(), reason };
    let mut inner = guarded(|| tokenizers::Tokenizer::from_bytes(json)).map_err(bad)?;
    make_steady_and_fast(&mut inner).map_err(bad)?;
    let added_by_processor = specials::take_post_processor(&mut inner).map_err(bad)?;
    Ok(Loaded {
        inner,
        source: TokenizerSource::TokenizerJson,
        sha256: sha256_bytes(json),
        named: NamedSpecials::default(),
        with_a_role: Vec::new(),
        added_by_processor,
        notes: Vec::new(),
    })
}

/// Byte-level BPE; the class says how a text is split.
fn from_vocab_and_merges(
    vocab: &Path,
    merges: &Path,
    declared: &Declared,
    notes: &mut Vec<String>,
) -> Result<Loaded> {
    let bad =
        |path: &Path, reason: String| CorpusError::BadTokenizer { path: path.to_owned(), reason };
    let vocab_bytes = std::fs::read(vocab).map_err(CorpusError::read(vocab))?;
    let merges_bytes = std::fs::read(merges).map_err(CorpusError::read(merges))?;
    let table: serde_json::Map<String, Value> =
        serde_json::from_slice(&vocab_bytes).map_err(|error| bad(vocab, error.to_string()))?;
    let text =
        std::str::from_utf8(&merges_bytes).map_err(|error| bad(merges, error.to_string()))?;
    let pairs = pairs(text).map_err(|reason| bad(merges, reason))?;
    if declared.class == Class::Gpt2 && !(text.starts_with("#version") && text.ends_with('\n')) {
        notes.push(format!(
            "{}: all its lines are read; GPT2Tokenizer of transformers 4 takes its first line for a version and leaves out \
             a last one that does not end",
            merges.display()
        ));
    }
    let space = declared.add_prefix_space.unwrap_or(false);
    let byte_level = |space: bool, use_regex: bool| json!({"type": "ByteLevel", "add_prefix_space": space, "trim_offsets": true, "use_regex": use_regex});
    let (normalizer, pre_tokenizer) = match declared.class {
        Class::Gpt2 => (Value::Null, byte_level(space, true)),
        Class::Qwen2 if !space => {
            let split = json!({
                "type": "Split", "pattern": {"Regex": QWEN2_PATTERN}, "behavior": "Isolated", "invert": false,
            });
            let parts = [split, byte_level(false, false)];
            (json!({"type": "NFC"}), json!({"type": "Sequence", "pretokenizers": parts}))
        }
        class => {
            let why = match (class, &declared.class_name) {
                (Class::Qwen2, _) => {
                    "add_prefix_space of Qwen2Tokenizer is not known here".to_owned()
                }
                (_, Some(name)) => format!("how {name} splits a text is not known here"),
                (_, None) => {
                    "neither tokenizer_config.json nor config.json says of which class it is"
                        .to_owned()
                }
            };
            return Err(bad(vocab, format!("{why}. {SAVE_FAST}")));
        }
    };
    // The same tokenizer as one file.
    let whole = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer, "post_processor": null, "decoder": byte_level(space, true),
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": "", "end_of_word_suffix": "",
            "fuse_unk": false, "byte_fallback": false, "vocab": table, "merges": pairs,
        },
    });
    let loaded = from_json(whole.to_string().as_bytes(), vocab).map_err(|error| match error {
        CorpusError::BadTokenizer { path, reason } => CorpusError::BadTokenizer {
            path,
            reason: format!("{reason} (read together with {})", merges.display()),
        },
        other => other,
    })?;
    Ok(Loaded { source: TokenizerSource::VocabAndMerges, ..loaded })
}

/// The merges of a `merges.txt`, in order.
fn pairs(text: &str) -> std::result::Result<Vec<(String, String)>, String> {
    let lines = text.lines().enumerate();
    let merges = lines.filter(|(number, line)| {
        !(line.trim().is_empty() || *number == 0 && line.starts_with("#version"))
    });
    merges
        .map(|(number, line)| {
            let mut parts = line.split_whitespace();
            match (parts.next(), parts.next(), parts.next()) {
                (Some(a), Some(b), None) => Ok((a.to_owned(), b.to_owned())),
                _ => Err(format!("line {}: {line:?} is no pair of tokens", number + 1)),
            }
        })
        .collect()
}

/// A `tokenizer.json` of byte-level BPE that disagrees with `add_prefix_space` is bent to the flag,
/// as transformers does; so it is where there is no flag. Returns whether it was.
fn follow_prefix_space(
    inner: &mut tokenizers::Tokenizer,
    declared: &Declared,
    notes: &mut Vec<String>,
) -> bool {
    let Some(PreTokenizerWrapper::ByteLevel(level)) = inner.get_pre_tokenizer() else {
        return false;
    };
    let (had, wanted) = (level.add_prefix_space, declared.add_prefix_space.unwrap_or(false));
    // LlamaTokenizer asks for nothing where the flag is not given.
    if had == wanted || (declared.class == Class::Llama && declared.add_prefix_space.is_none()) {
        return false;
    }
    let level = ByteLevel::new(wanted, level.trim_offsets, level.use_regex);
    inner.with_pre_tokenizer(Some(level));
    if declared.add_prefix_space.is_none() {
        notes.push(
            "tokenizer.json puts a space before a text and tokenizer_config.json does not ask for it (add_prefix_space): none is \
             put, as in transformers 4; version 5 puts it for some classes"
                .to_owned(),
        );
    }
    true
}

/// Lets the flag `add_bos_token` decide what stands before a text where the class lets it, and says
/// where it does not.
fn follow_begin(loaded: &mut Loaded, declared: &Declared, notes: &mut Vec<String>) {
    let from_merges = loaded.source == TokenizerSource::VocabAndMerges;
    let (asked, before) = (declared.add_bos, &mut loaded.added_by_processor.before);
    let class = declared.class_name.as_deref().unwrap_or("its class");
    let Some(default) = declared.class.begins_by_flag(from_merges) else {
        match asked {
            Some(true) if before.is_empty() => notes.push(format!(
                "tokenizer_config.json asks for beginning-of-text (add_bos_token), but {class} of transformers 4 puts none: none is \
                 put here; --bos ID puts one"
            )),
            Some(false) if !before.is_empty() => notes.push(format!(
                "tokenizer_config.json asks for no beginning-of-text (add_bos_token), but tokenizer.json puts it, as {class} of \
                 transformers does: it is put here; --bos none leaves it out"
            )),
            _ => {}
        }
        return;
    };
    // What only the model's type implies does not overrule a file; transformers 5 has it so for
    // every class.
    let puts = match asked {
        None if !from_merges && !declared.class_said => return,
        asked => asked.unwrap_or(default),
    };
    let bos = loaded.named.bos;
    let now: Vec<u32> = bos.filter(|_| puts).into_iter().collect();
    if puts && bos.is_none() {
        notes.push(format!(
            "{class} puts beginning-of-text before a text, but no file names that token: none is put"
        ));
    }
    if *before != now {
        if !from_merges {
            let what = if now.is_empty() {
                "no beginning-of-text is put"
            } else {
                "beginning-of-text is put"
            };
            let why = match asked {
                Some(flag) => format!("tokenizer_config.json says add_bos_token {flag}"),
                None => format!("{class} does so by default"),
            };
            notes.push(format!(
                "{what} before a text ({why}), unlike tokenizer.json alone: transformers 4 follows the flag of this class, version 5 \
                 the file; --bos none or --bos ID decides"
            ));
        }
        *before = now;
        loaded.added_by_processor.why = match asked {
            Some(true) => "tokenizer_config.json asks for it (add_bos_token)",
            _ => "the tokenizer's class puts it before every text",
        };
    }
}

/// Pieces whose tokens a thread remembers: about 100 bytes each. The library's 10 000 are soon full
/// of what came first.
const REMEMBERED_PIECES: usize = 100_000;

/// A file may ask for truncation, padding or BPE dropout, which serve training; a measurement wants
/// none of them.
pub(super) fn make_steady_and_fast(
    inner: &mut tokenizers::Tokenizer,
) -> std::result::Result<(), String> {
    inner.with_padding(None);
    inner.with_truncation(None).map_err(|error| error.to_string())?;
    if let ModelWrapper::BPE(bpe) = inner.get_model() {
        let mut steady = bpe.clone();
        steady.dropout = None;
        steady.resize_cache(REMEMBERED_PIECES);
        inner.with_model(steady);
    }
    Ok(())
}
