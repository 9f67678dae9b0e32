//! A tokenizer from the metadata of a GGUF file.
//!
//! The file has the entries of the vocabulary with their kinds, and either merges in order
//! (`tokenizer.ggml.model` = `gpt2`: byte-level BPE, whose split of a text is only named,
//! `split.rs`) or scores (`llama`: SentencePiece's BPE, which merges the pair whose result scores
//! highest). Both become the `tokenizer.json` that says the same.
//!
//! Source: `llama-vocab.cpp` of llama.cpp; for merges from scores, `SentencePieceExtractor` of
//! transformers 4.57. Control tokens that a text spells out are encoded as such, as in folders of
//! models; llama.cpp does so when it is told to parse specials.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use super::folder::{self, Loaded, TokenizerSource};
use super::specials::NamedSpecials;
use super::split::{self, Split};
use crate::error::{CorpusError, Result};

/// What a GGUF file says of its tokenizer: the values of its keys `tokenizer.ggml.*`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GgufVocabulary {
    /// `model`.
    pub model: String,
    /// `pre`: how a text is split, by name.
    pub pre: Option<String>,
    /// `tokens`, by id.
    pub tokens: Vec<String>,
    /// `token_type`, by id: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 a byte.
    pub kinds: Vec<i64>,
    /// `scores`, by id; empty where there are none.
    pub scores: Vec<f32>,
    /// `merges`, each two tokens with a space between.
    pub merges: Vec<String>,
    /// `bos_token_id` and so on.
    pub named: NamedSpecials,
    /// `add_bos_token`.
    pub add_bos: Option<bool>,
    /// `add_eos_token`.
    pub add_eos: Option<bool>,
    /// `add_space_prefix`.
    pub space: Option<bool>,
}

const UNKNOWN: i64 = 2;
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;
const UNUSED: i64 = 5;
const BYTE: i64 = 6;

/// The tokenizer that a file describes; `path` for messages.
pub(super) fn load(vocabulary: &GgufVocabulary, path: &Path) -> Result<Loaded> {
    let bad = |reason: String| CorpusError::BadTokenizer { path: path.to_owned(), reason };
    vocabulary.check().map_err(bad)?;
    let (json, begins) = match vocabulary.model.as_str() {
        "gpt2" => {
            let split = split::named(vocabulary.pre.as_deref()).map_err(bad)?;
            (vocabulary.byte_level(split).map_err(bad)?, split.begins)
        }
        "llama" => (vocabulary.sentencepiece().map_err(bad)?, true),
        other => {
            return Err(bad(format!(
                "tokenizer.ggml.model = {other:?} is not read; gpt2 (byte-level BPE) and llama (SentencePiece's BPE) are. Give \
                the folder of the original model"
            )));
        }
    };
    let loaded = folder::from_json(json.to_string().as_bytes(), path)?;
    let known = |id: Option<u32>| id.filter(|id| (*id as usize) < vocabulary.tokens.len());
    let named = NamedSpecials {
        bos: known(vocabulary.named.bos),
        eos: known(vocabulary.named.eos),
        unk: known(vocabulary.named.unk),
        pad: known(vocabulary.named.pad),
    };
    let mut added = loaded.added_by_processor;
    added.before = named.bos.filter(|_| vocabulary.add_bos.unwrap_or(begins)).into_iter().collect();
    added.after = named.eos.filter(|_| vocabulary.add_eos == Some(true)).into_iter().collect();
    added.why = match vocabulary.add_bos {
        Some(true) => "the GGUF file asks for it (tokenizer.ggml.add_bos_token)",
        _ => "the tokenizer puts it before every text",
    };
    Ok(Loaded {
        source: TokenizerSource::Gguf,
        with_a_role: [named.bos, named.eos, named.unk, named.pad].into_iter().flatten().collect(),
        named,
        added_by_processor: added,
        ..loaded
    })
}

impl GgufVocabulary {
    fn check(&self) -> std::result::Result<(), String> {
        let count = self.tokens.len();
        if count == 0 {
            return Err(
                "tokenizer.ggml.tokens is empty or missing: the file has no tokenizer".into()
            );
        }
        if self.kinds.len() != count {
            return Err(format!(
                "tokenizer.ggml.token_type has {} entries for {count} tokens, without which it is not known which of them are \
                special",
                self.kinds.len()
            ));
        }
        if !matches!(self.scores.len(), 0) && self.scores.len() != count {
            return Err(format!(
                "tokenizer.ggml.scores has {} entries for {count} tokens",
                self.scores.len()
            ));
        }
        if let Some(kind) = self.kinds.iter().find(|kind| !(1..=6).contains(*kind)) {
            return Err(format!("tokenizer.ggml.token_type: {kind} is no kind of token"));
        }
        Ok(())
    }

    /// Ids with their tokens, but for those that no text gives: fillers for rows of the model
    /// without a token.
    fn entries(&self) -> impl Iterator<Item = (usize, &str)> {
        self.tokens.iter().enumerate().map(|(id, token)| (id, token.as_str())).filter(
            |(id, token)| {
                let filler = matches!(self.kinds[*id], USER_DEFINED | UNUSED)
                    && token.strip_prefix("[PAD").and_then(|rest| rest.strip_suffix(']'))
                        == Some(&id.to_string());
                !(filler || token.is_empty())
            },
        )
    }

    /// The vocabulary as JSON has it.
    fn table(&self) -> std::result::Result<serde_json::Map<String, Value>, String> {
        let mut table = serde_json::Map::new();
        for (id, token) in self.entries() {
            if let Some(first) = table.insert(token.to_owned(), id.into()) {
                return Err(format!(
                    "tokenizer.ggml.tokens: ids {first} and {id} are both {token:?}, so that it is not known which of them a text \
                    gives"
                ));
            }
        }
        Ok(table)
    }

    /// Tokens that are looked for in a text before it is split.
    fn added(&self) -> Vec<Value> {
        let wanted =
            |(id, _): &(usize, &str)| matches!(self.kinds[*id], UNKNOWN | CONTROL | USER_DEFINED);
        let added = self.entries().filter(wanted).map(|(id, content)| {
            json!({
                "id": id, "content": content, "special": self.kinds[id] != USER_DEFINED, "normalized": false,
                "single_word": false, "lstrip": false, "rstrip": false,
            })
        });
        added.collect()
    }

    /// Byte-level BPE.
    fn byte_level(&self, split: &Split) -> std::result::Result<Value, String> {
        if self.merges.is_empty() {
            return Err("tokenizer.ggml.merges is missing, without which BPE has no order".into());
        }
        let pair = |merge: &String| {
            // The first of the two may begin with a space, but for a space nobody looks there.
            let at = merge.char_indices().skip(1).find(|(_, c)| *c == ' ').map(|(at, _)| at);
            match at {
                Some(at) => Ok((merge[..at].to_owned(), merge[at + 1..].to_owned())),
                None => Err(format!("tokenizer.ggml.merges: {merge:?} is no pair of tokens")),
            }
        };
        let merges: Vec<(String, String)> =
            self.merges.iter().map(pair).collect::<std::result::Result<_, _>>()?;
        Ok(json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": self.added(),
            "normalizer": split.normaliser(), "pre_tokenizer": split.pre_tokenizer(), "post_processor": null,
            "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
            "model": {
                "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
                "ignore_merges": split.ignores_merges, "vocab": self.table()?, "merges": merges,
            },
        }))
    }

    /// SentencePiece's BPE: spaces are written `▁`, characters that the vocabulary lacks are bytes.
    fn sentencepiece(&self) -> std::result::Result<Value, String> {
        if self.scores.is_empty() {
            return Err("tokenizer.ggml.scores is missing, by which pairs are merged".into());
        }
        let space = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
        let mut normalisers = vec![space];
        if self.space.unwrap_or(true) {
            normalisers.insert(0, json!({"type": "Prepend", "prepend": "▁"}));
        }
        let unknown = self.entries().find(|(id, _)| self.kinds[*id] == UNKNOWN);
        Ok(json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": self.added(),
            "normalizer": {"type": "Sequence", "normalizers": normalisers},
            "pre_tokenizer": null, "post_processor": null,
            "decoder": {"type": "Sequence", "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
            ]},
            "model": {
                "type": "BPE", "dropout": null, "unk_token": unknown.map(|(_, token)| token),
                "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": true, "byte_fallback": true,
                "ignore_merges": false, "vocab": self.table()?, "merges": self.merges_by_score(),
            },
        }))
    }

    /// Every pair of tokens that makes a token, those whose token scores highest first; among pairs
    /// of one token in the order of transformers.
    fn merges_by_score(&self) -> Vec<(&str, &str)> {
        let merged = |id: usize| !matches!(self.kinds[id], UNKNOWN | CONTROL | BYTE);
        let ids: HashMap<&str, usize> =
            self.entries().filter(|(id, _)| merged(*id)).map(|(id, token)| (token, id)).collect();
        let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
        for (id, token) in self.entries().filter(|(id, _)| merged(*id)) {
            let cuts = token.char_indices().skip(1).map(|(at, _)| token.split_at(at));
            let found = cuts.filter_map(|(a, b)| Some((id, *ids.get(a)?, *ids.get(b)?)));
            pairs.extend(found);
        }
        let letters = |id: usize| self.tokens[id].chars().count();
        pairs.sort_by(|&(a, a1, a2), &(b, b1, b2)| {
            let by_score = self.scores[b].total_cmp(&self.scores[a]);
            let by_length = || (letters(b1), letters(b2)).cmp(&(letters(a1), letters(a2)));
            by_score.then_with(by_length).then((a, a1, a2).cmp(&(b, b1, b2)))
        });
        pairs.into_iter().map(|(_, a, b)| (&*self.tokens[a], &*self.tokens[b])).collect()
    }
}
