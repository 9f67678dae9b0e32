//! Reading a tokenizer from a model folder.
//!
//! `tokenizer.json` is the one truth where it exists: slow and fast tokenizers differ around added tokens, and this file
//! is the one that other programs read too. Folders of the first GPT-2 and OPT releases have `vocab.json` and
//! `merges.txt` only; both are byte-level BPE with GPT-2's splitting pattern.

use std::fmt;
use std::path::{Path, PathBuf};

use relscale_records::provenance::sha256_bytes;
use serde_json::Value;
use tokenizers::AddedToken;
use tokenizers::models::ModelWrapper;
use tokenizers::models::bpe::BPE;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

use super::guard::guarded;
use super::specials::NamedSpecials;
use crate::error::{CorpusError, Result};

/// Tokens that count as special in a `vocab.json` folder which does not say so itself.
const USUAL_SPECIALS: [&str; 5] = ["<|endoftext|>", "<s>", "</s>", "<pad>", "<unk>"];

/// Which files a tokenizer was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenizerSource {
    /// `tokenizer.json`.
    TokenizerJson,
    /// `vocab.json` and `merges.txt`.
    VocabAndMerges,
}

impl TokenizerSource {
    pub(super) fn main_file(self) -> &'static str {
        match self {
            Self::TokenizerJson => "tokenizer.json",
            Self::VocabAndMerges => "vocab.json",
        }
    }
}

impl fmt::Display for TokenizerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TokenizerJson => "tokenizer.json",
            Self::VocabAndMerges => "vocab.json + merges.txt",
        })
    }
}

/// A tokenizer as its files describe it.
pub(super) struct Loaded {
    pub(super) inner: tokenizers::Tokenizer,
    pub(super) source: TokenizerSource,
    pub(super) sha256: String,
    pub(super) named: NamedSpecials,
}

/// Reads whichever form the folder has.
pub(super) fn load(folder: &Path) -> Result<Loaded> {
    let json = folder.join("tokenizer.json");
    let (vocab, merges) = (folder.join("vocab.json"), folder.join("merges.txt"));
    let config = Config::read(folder)?;
    let mut loaded = if json.is_file() {
        from_json(&std::fs::read(&json).map_err(CorpusError::read(&json))?, &json)?
    } else if vocab.is_file() && merges.is_file() {
        from_vocab_and_merges(&vocab, &merges, &config)?
    } else {
        return Err(CorpusError::NoTokenizer { folder: folder.to_owned() });
    };
    loaded.named = config.named(&loaded.inner);
    Ok(loaded)
}

/// Takes the bytes of a `tokenizer.json`; `path` for messages.
pub(super) fn from_json(json: &[u8], path: &Path) -> Result<Loaded> {
    let inner = guarded(|| tokenizers::Tokenizer::from_bytes(json))
        .map_err(|reason| CorpusError::BadTokenizer { path: path.to_owned(), reason })?;
    Ok(Loaded {
        inner,
        source: TokenizerSource::TokenizerJson,
        sha256: sha256_bytes(json),
        named: NamedSpecials::default(),
    })
}

fn from_vocab_and_merges(vocab: &Path, merges: &Path, config: &Config) -> Result<Loaded> {
    let bad = |path: &Path, reason: String| CorpusError::BadTokenizer { path: path.to_owned(), reason };
    let as_text = |path: &Path| {
        path.to_str()
            .map(str::to_owned)
            .ok_or_else(|| bad(path, "its path is not UTF-8; move the folder".into()))
    };
    let vocab_text = std::fs::read(vocab).map_err(CorpusError::read(vocab))?;
    let merges_text = std::fs::read(merges).map_err(CorpusError::read(merges))?;
    let (vocab_path, merges_path) = (as_text(vocab)?, as_text(merges)?);
    let model = guarded(|| BPE::from_file(&vocab_path, &merges_path).build())
        .map_err(|reason| bad(vocab, format!("{reason} (read together with {})", merges.display())))?;
    let mut inner = tokenizers::Tokenizer::new(model);
    let byte_level = ByteLevel::new(config.add_prefix_space, true, true);
    inner.with_pre_tokenizer(Some(byte_level));
    inner.with_decoder(Some(byte_level));
    let specials = config.special_tokens(&inner);
    inner
        .add_special_tokens(specials.iter().map(|token| AddedToken::from(token.clone(), true)))
        .map_err(|error| bad(vocab, error.to_string()))?;
    // All that decides ids, in one fixed form.
    let decided = format!(
        "vocab.json {}\nmerges.txt {}\nadd_prefix_space {}\nspecials {}\n",
        sha256_bytes(&vocab_text),
        sha256_bytes(&merges_text),
        config.add_prefix_space,
        Value::from(specials),
    );
    Ok(Loaded {
        inner,
        source: TokenizerSource::VocabAndMerges,
        sha256: sha256_bytes(decided.as_bytes()),
        named: NamedSpecials::default(),
    })
}

/// Pieces whose tokens a thread remembers: about 100 bytes each. The library's 10 000 are soon full of what came first.
const REMEMBERED_PIECES: usize = 100_000;

/// A file may ask for truncation, padding or BPE dropout, which serve training; a measurement wants none of them.
pub(super) fn make_steady_and_fast(inner: &mut tokenizers::Tokenizer) -> std::result::Result<(), String> {
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

/// What the smaller configuration files of the folder say about special tokens.
#[derive(Default)]
struct Config {
    files: Vec<Value>,
    add_prefix_space: bool,
}

impl Config {
    fn read(folder: &Path) -> Result<Self> {
        let mut config = Self::default();
        // The first file that names a role decides it; `transformers` writes both with the same content.
        for name in ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"] {
            let path: PathBuf = folder.join(name);
            if !path.is_file() {
                continue;
            }
            let bytes = std::fs::read(&path).map_err(CorpusError::read(&path))?;
            let value: Value = serde_json::from_slice(&bytes)
                .map_err(|error| CorpusError::BadTokenizer { path, reason: error.to_string() })?;
            config.add_prefix_space |=
                value.get("add_prefix_space").and_then(Value::as_bool).unwrap_or(false);
            config.files.push(value);
        }
        Ok(config)
    }

    /// The text of a role (`bos_token`, ...), written as a string or as an object with `content`.
    fn role(&self, role: &str) -> Option<&str> {
        self.files.iter().find_map(|file| {
            let value = file.get(role)?;
            value.as_str().or_else(|| value.get("content")?.as_str())
        })
    }

    fn named(&self, inner: &tokenizers::Tokenizer) -> NamedSpecials {
        let id = |role| self.role(role).and_then(|token| inner.token_to_id(token));
        NamedSpecials {
            bos: id("bos_token"),
            eos: id("eos_token"),
            unk: id("unk_token"),
            pad: id("pad_token"),
        }
    }

    /// Special tokens of a `vocab.json` folder: those with a role, or the usual ones if no file names any.
    fn special_tokens(&self, inner: &tokenizers::Tokenizer) -> Vec<String> {
        let roles =
            ["bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"];
        let mut tokens: Vec<String> =
            roles.iter().filter_map(|role| self.role(role)).map(str::to_owned).collect();
        if tokens.is_empty() {
            let usual = USUAL_SPECIALS.iter().filter(|token| inner.token_to_id(token).is_some());
            tokens = usual.map(|token| (*token).to_owned()).collect();
        }
        tokens.sort();
        tokens.dedup();
        tokens
    }
}
