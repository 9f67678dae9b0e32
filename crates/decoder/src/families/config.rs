//! The keys of one `config.json`, each read at most once, and the refusal of those that nobody read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::checkpoint::sha256;
use crate::error::{Error, Result};
use crate::spec::Activation;

/// Keys of any configuration that do not change what the model computes in evaluation: names, versions, token ids,
/// dropouts, initialisation, classification heads, defaults of text generation.
const IGNORED: &[&str] = &[
    "_name_or_path",
    "_num_labels",
    "architectures",
    "_attn_implementation_autoset",
    "_flash_attn_2_enabled",
    "attn_implementation",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "gradient_checkpointing",
    "id2label",
    "initializer_range",
    "is_decoder",
    "label2id",
    "length_penalty",
    "max_length",
    "max_sequence_length",
    "min_length",
    "model_type",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_labels",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "output_scores",
    "pad_token_id",
    "prefix",
    "problem_type",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict",
    "return_dict_in_generate",
    "sep_token_id",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tie_encoder_decoder",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "typical_p",
    "unk_token_id",
    "unsloth_fixed",
    "unsloth_version",
    "use_bfloat16",
    "use_cache",
];

/// Keys of any configuration that change the computation when true.
const MUST_BE_FALSE: &[&str] = &["add_cross_attention", "is_encoder_decoder"];

/// Larger counts are in no model, and small enough that no product of ours overflows.
const MAX_SIZE: u64 = 1 << 24;

/// A `config.json` that remembers which keys were asked for.
#[derive(Debug)]
pub(super) struct Config {
    path: PathBuf,
    family: &'static str,
    keys: Map<String, Value>,
    read: BTreeSet<String>,
    sha256: String,
}

impl Config {
    pub(super) fn read(path: PathBuf) -> Result<Self> {
        let bytes = std::fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(keys)) => {
                Ok(Self { path, family: "", keys, read: BTreeSet::new(), sha256: sha256(&bytes) })
            }
            Ok(_) => Err(Error::Config { path, reason: "not a JSON object".to_string() }),
            Err(e) => Err(Error::Config { path, reason: format!("not JSON: {e}") }),
        }
    }

    pub(super) fn belongs_to(&mut self, family: &'static str) {
        self.family = family;
    }

    pub(super) fn family(&self) -> &'static str {
        self.family
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The value of a key, `null` counting as absent, as it does in the reference implementation.
    pub(super) fn get(&mut self, key: &str) -> Option<Value> {
        self.read.insert(key.to_string());
        self.keys.get(key).filter(|value| !value.is_null()).cloned()
    }

    /// Whether the file has the key, be it `null`.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    pub(super) fn broken(&self, reason: String) -> Error {
        Error::Config { path: self.path.clone(), reason }
    }

    pub(super) fn unsupported(&self, key: &str, value: &Value) -> Error {
        Error::UnsupportedOption {
            path: self.path.clone(),
            family: self.family,
            key: key.to_string(),
            value: value.to_string(),
        }
    }

    fn required(&mut self, key: &str) -> Result<Value> {
        self.get(key).ok_or_else(|| self.broken(format!("key {key} is missing")))
    }

    pub(super) fn text(&mut self, key: &str) -> Result<String> {
        match self.required(key)? {
            Value::String(text) => Ok(text),
            other => Err(self.broken(format!("{key} = {other} is not text"))),
        }
    }

    /// A count.
    pub(super) fn size(&mut self, key: &str) -> Result<usize> {
        let value = self.required(key)?;
        self.as_size(key, &value)
    }

    pub(super) fn optional_size(&mut self, key: &str) -> Result<Option<usize>> {
        self.get(key).map(|value| self.as_size(key, &value)).transpose()
    }

    pub(super) fn as_size(&self, key: &str, value: &Value) -> Result<usize> {
        match value.as_u64() {
            Some(size) if size <= MAX_SIZE => Ok(size as usize),
            _ => Err(self.broken(format!("{key} = {value} is not a count that a model may have"))),
        }
    }

    pub(super) fn optional_number(&mut self, key: &str) -> Result<Option<f64>> {
        self.get(key).map(|value| self.as_number(key, &value)).transpose()
    }

    pub(super) fn as_number(&self, key: &str, value: &Value) -> Result<f64> {
        value.as_f64().ok_or_else(|| self.broken(format!("{key} = {value} is not a number")))
    }

    /// A small positive number, e.g. the epsilon of a norm.
    pub(super) fn epsilon(&mut self, key: &str, default: f64) -> Result<f32> {
        let value = self.optional_number(key)?.unwrap_or(default);
        if !(0.0..1.0).contains(&value) {
            return Err(self.broken(format!("{key} = {value} is not a small positive number")));
        }
        Ok(value as f32)
    }

    pub(super) fn flag(&mut self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(self.broken(format!("{key} = {other} is neither true nor false"))),
        }
    }

    /// `C / H`, refusing a remainder.
    pub(super) fn head_width(&self, width: usize, heads: usize) -> Result<usize> {
        match width.checked_div(heads) {
            Some(head_width) if head_width * heads == width => Ok(head_width),
            _ => Err(self.broken(format!("a width of {width} does not divide among {heads} heads"))),
        }
    }

    /// An activation without gate by the reference implementation's names.
    pub(super) fn activation(&mut self, key: &str, default: &str) -> Result<Activation> {
        let value = self.get(key).unwrap_or_else(|| Value::String(default.to_string()));
        match value.as_str() {
            Some("gelu" | "gelu_python") => Ok(Activation::Gelu),
            // Three names, one formula.
            Some("gelu_new" | "gelu_fast" | "gelu_pytorch_tanh") => Ok(Activation::GeluTanh),
            Some("relu") => Ok(Activation::Relu),
            _ => Err(self.unsupported(key, &value)),
        }
    }

    /// The activation of a gated MLP; SiLU is the only one we compute.
    pub(super) fn gated_activation(&mut self, key: &str) -> Result<Activation> {
        let value = self.get(key).unwrap_or_else(|| Value::String("silu".to_string()));
        match value.as_str() {
            Some("silu" | "swish") => Ok(Activation::SwiGlu),
            _ => Err(self.unsupported(key, &value)),
        }
    }

    /// Refuses `key` at any value but this one.
    pub(super) fn only(&mut self, key: &str, accepted: bool) -> Result<()> {
        match self.get(key) {
            Some(value) if value != Value::Bool(accepted) => Err(self.unsupported(key, &value)),
            _ => Ok(()),
        }
    }

    /// Refuses every key that was neither read nor is known to be without effect. `null` says nothing and passes.
    pub(super) fn refuse_unread(&mut self, ignored: &[&str]) -> Result<()> {
        for key in MUST_BE_FALSE {
            self.only(key, false)?;
        }
        match self.get("pruned_heads") {
            Some(Value::Object(heads)) if heads.is_empty() => {}
            Some(pruned) => return Err(self.unsupported("pruned_heads", &pruned)),
            None => {}
        }
        let unread = self.keys.iter().find(|(key, value)| {
            !value.is_null()
                && !self.read.contains(*key)
                && !IGNORED.contains(&key.as_str())
                && !ignored.contains(&key.as_str())
        });
        match unread {
            Some((key, value)) => Err(self.unsupported(key, value)),
            None => Ok(()),
        }
    }

    /// Token ids under a key that may hold none, one or a list.
    pub(super) fn token_ids(&self, key: &str) -> Vec<u32> {
        let id = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
        match self.keys.get(key) {
            Some(Value::Array(ids)) => ids.iter().filter_map(id).collect(),
            Some(value) => id(value).into_iter().collect(),
            None => Vec::new(),
        }
    }
}
