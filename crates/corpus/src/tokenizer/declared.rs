//! What the smaller files of a folder say of its tokenizer, read as transformers 4.57 reads them.
//!
//! | file | what of it counts |
//! |---|---|
//! | `tokenizer_config.json` | class, roles, `added_tokens_decoder`, `add_bos_token`, `add_prefix_space` |
//! | `special_tokens_map.json` | roles, over those of `tokenizer_config.json`; nothing where that has an `added_tokens_decoder` |
//! | `added_tokens.json` | tokens with their ids; nothing where `tokenizer_config.json` has an `added_tokens_decoder` |
//! | `config.json` | the class, where `tokenizer_config.json` does not name it |

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tokenizers::AddedToken;

use super::class::{Class, ROLES};
use super::guard::guarded;
use crate::error::{CorpusError, Result};

/// All that the smaller files say.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) class: Class,
    /// The class as the files name it, or the model's type implies it.
    pub(super) class_name: Option<String>,
    /// Whether a file names the class.
    pub(super) class_said: bool,
    /// Tokens by their role, in the order of [`ROLES`].
    roles: Vec<(&'static str, AddedToken)>,
    /// Roles that the files themselves speak of.
    said: Vec<&'static str>,
    /// Special tokens without one of those roles.
    additional: Vec<AddedToken>,
    /// Added tokens by the id that they are said to have, ascending.
    added: Vec<(u32, AddedToken)>,
    /// The file that says so.
    added_in: PathBuf,
    /// `add_bos_token`, where it is said.
    pub(super) add_bos: Option<bool>,
    /// `add_prefix_space`, where it is said.
    pub(super) add_prefix_space: Option<bool>,
}

impl Declared {
    /// Reads the files that are there.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let tokenizer_config = object(folder, "tokenizer_config.json")?;
        // A broken one is the decoder's to refuse.
        let config = object(folder, "config.json").ok().flatten().map(Value::Object);
        let mut keys = tokenizer_config.clone().unwrap_or_default();
        let (class, class_name, class_said) =
            Class::from_configs(tokenizer_config.map(Value::Object).as_ref(), config.as_ref());
        let at = |file: &str| folder.join(file);
        let bad = |file: &str, reason: String| CorpusError::BadTokenizer { path: at(file), reason };

        let mut added = Vec::new();
        let mut added_in = at("tokenizer_config.json");
        match keys.remove("added_tokens_decoder") {
            Some(Value::Object(tokens)) => {
                for (id, value) in tokens {
                    let number = id.parse().map_err(|_| {
                        bad(
                            "tokenizer_config.json",
                            format!("added_tokens_decoder: {id:?} is no token id"),
                        )
                    })?;
                    let token = token(&value, false).ok_or_else(|| {
                        bad(
                            "tokenizer_config.json",
                            format!("added_tokens_decoder: {value} is no token"),
                        )
                    })?;
                    added.push((number, token));
                }
            }
            _ => {
                if let Some(map) = object(folder, "special_tokens_map.json")? {
                    keys.extend(map);
                }
                added_in = at("added_tokens.json");
                for (content, id) in object(folder, "added_tokens.json")?.unwrap_or_default() {
                    let Some(number) = id.as_u64().and_then(|id| u32::try_from(id).ok()) else {
                        return Err(bad(
                            "added_tokens.json",
                            format!("{content:?}: {id} is no token id"),
                        ));
                    };
                    // A class's own default makes no token of this file special.
                    let special = said(&keys, &content);
                    added.push((number, AddedToken::from(content, special)));
                }
            }
        }
        added.sort_by_key(|(id, _)| *id);
        let flag = |key: &str| keys.get(key).and_then(Value::as_bool);
        Ok(Self {
            class,
            class_name,
            class_said,
            said: ROLES.into_iter().filter(|role| keys.contains_key(*role)).collect(),
            roles: roles(&keys, class),
            additional: additional(&keys),
            added,
            added_in,
            add_bos: flag("add_bos_token"),
            add_prefix_space: flag("add_prefix_space"),
        })
    }

    /// The token of a role, as text.
    pub(super) fn role(&self, role: &str) -> Option<&str> {
        self.roles.iter().find(|(name, _)| *name == role).map(|(_, token)| token.content.as_str())
    }

    /// All tokens with a role, the additional ones included: `all_special_tokens` of transformers.
    pub(super) fn with_a_role(&self) -> impl Iterator<Item = &AddedToken> {
        self.roles.iter().map(|(_, token)| token).chain(&self.additional)
    }

    /// Adds what the files name and the tokenizer lacks, in the order of transformers: by the ids
    /// said, then by role. Returns whether that changed anything.
    ///
    /// A `tokenizer.json` beside which no file names the class gets no token for a role that only
    /// the class would give: transformers takes the model's type for the class and adds one, which
    /// for Llama is a beginning-of-text for which the model has no row.
    ///
    /// # Errors
    /// A token comes to another id than the files say.
    pub(super) fn complete(
        &self,
        inner: &mut tokenizers::Tokenizer,
        from_merges: bool,
    ) -> Result<bool> {
        let bad =
            |reason: String| CorpusError::BadTokenizer { path: self.added_in.clone(), reason };
        let before = inner.get_added_tokens_decoder();
        let has_role = |content: &str| self.with_a_role().any(|token| token.content == content);
        let mut tokens: Vec<AddedToken> =
            self.added.iter().map(|(_, token)| token.clone()).collect();
        let by_class = self.class_said || from_merges;
        let roles = self.roles.iter().filter(|(role, _)| by_class || self.said.contains(role));
        for token in roles.map(|(_, token)| token).chain(&self.additional) {
            let known = before.values().chain(&tokens).any(|other| other.content == token.content);
            if !known {
                tokens.push(token.clone());
            }
        }
        for token in &mut tokens {
            token.special |= has_role(&token.content);
        }
        guarded(|| inner.add_tokens(tokens)).map_err(bad)?;
        for (id, token) in &self.added {
            let found = inner.token_to_id(&token.content);
            if found != Some(*id) {
                let found = found.map_or("none".to_owned(), |id| id.to_string());
                return Err(bad(format!(
                    "the added token {:?} is said to have id {id}, but comes to {found}: ids of added tokens must follow \
                     the vocabulary without a gap. Save the tokenizer again with the program that wrote the folder",
                    token.content
                )));
            }
        }
        Ok(inner.get_added_tokens_decoder() != before)
    }
}

/// The file as an object; `None` where it is not there.
fn object(folder: &Path, name: &str) -> Result<Option<Map<String, Value>>> {
    let path = folder.join(name);
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = std::fs::read(&path).map_err(CorpusError::read(&path))?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(keys)) => Ok(Some(keys)),
        Ok(_) => Err(CorpusError::BadTokenizer { path, reason: "not a JSON object".to_owned() }),
        Err(error) => Err(CorpusError::BadTokenizer { path, reason: error.to_string() }),
    }
}

/// Tokens with a role: as the keys say, or as the class has it; `null` is a role that no token has.
fn roles(keys: &Map<String, Value>, class: Class) -> Vec<(&'static str, AddedToken)> {
    let of = |role: &'static str| {
        let token = match keys.get(role) {
            Some(value) => token(value, true),
            None => class.default_of(role).map(|content| AddedToken::from(content, true)),
        };
        Some((role, token?))
    };
    ROLES.into_iter().filter_map(of).collect()
}

fn additional(keys: &Map<String, Value>) -> Vec<AddedToken> {
    let tokens = keys.get("additional_special_tokens").and_then(Value::as_array);
    tokens.into_iter().flatten().filter_map(|value| token(value, true)).collect()
}

/// Whether the files themselves give this token a role.
fn said(keys: &Map<String, Value>, content: &str) -> bool {
    let is = |value: &Value| token(value, true).is_some_and(|token| token.content == content);
    let named = ROLES.iter().filter_map(|role| keys.get(*role)).any(is);
    let tokens = keys.get("additional_special_tokens").and_then(Value::as_array);
    named || tokens.into_iter().flatten().any(is)
}

/// A token, written as a string or as an object with `content` and flags; `special` where nothing
/// says so.
fn token(value: &Value, special: bool) -> Option<AddedToken> {
    if let Some(content) = value.as_str() {
        return Some(AddedToken::from(content, special));
    }
    let flag = |key: &str| value.get(key).and_then(Value::as_bool);
    let special = flag("special").unwrap_or(special);
    Some(AddedToken {
        single_word: flag("single_word").unwrap_or(false),
        lstrip: flag("lstrip").unwrap_or(false),
        rstrip: flag("rstrip").unwrap_or(false),
        normalized: flag("normalized").unwrap_or(!special),
        ..AddedToken::from(value.get("content")?.as_str()?, special)
    })
}
