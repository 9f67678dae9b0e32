//! The keys of one `config.json`, each read at most once, and the refusal of those that nobody
//! read.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::checkpoint::sha256;
use crate::error::{Error, Result};
use crate::spec::{Activation, Layer};

/// Keys of any configuration that do not change what the model computes in evaluation: names,
/// versions, token ids, dropouts, initialisation, losses, classification heads, implementations of
/// attention, defaults of text generation.
const IGNORED: &[&str] = &[
    "_attn_implementation_autoset",
    "_attn_implementation_internal",
    "_commit_hash",
    "_flash_attn_2_enabled",
    "_from_model_config",
    "_name_or_path",
    "_num_labels",
    "activation_dropout",
    "add_bos_token",
    "add_eos_token",
    "architectures",
    "attention_dropout",
    "attention_probs_dropout_prob",
    "attn_implementation",
    "attn_pdrop",
    "auto_map",
    "bad_words_ids",
    "base_model",
    "begin_suppress_tokens",
    "bos_token",
    "bos_token_id",
    "cache_implementation",
    "chat_template",
    "chunk_size_feed_forward",
    "classifier_dropout",
    "cls_token_id",
    "cross_attention_hidden_size",
    "dataset",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dropout",
    "dtype",
    "early_stopping",
    "embd_pdrop",
    "embedding_dropout",
    "encoder_no_repeat_ngram_size",
    "eos_token",
    "eos_token_id",
    "exponential_decay_length_penalty",
    "finetuned_from",
    "finetuning_task",
    "flash_attention",
    "flash_attn",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "fused_rms_norm",
    "global_step",
    "gradient_checkpointing",
    "hidden_dropout",
    "hidden_dropout_prob",
    "id2label",
    "ignore_index",
    "init_device",
    "init_std",
    "initializer_factor",
    "initializer_range",
    "is_decoder",
    "keys_to_ignore_at_inference",
    "label2id",
    "label_smoothing",
    "language",
    "layerdrop",
    "length_penalty",
    "license",
    "loss_type",
    "mask_token_id",
    "max_length",
    "max_seq_len",
    "max_sequence_length",
    "min_length",
    "model_max_length",
    "model_type",
    "neftune_noise_alpha",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_labels",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "output_router_logits",
    "output_scores",
    "pad_token_id",
    "pad_vocab_size_multiple",
    "prefix",
    "problem_type",
    "remove_invalid_values",
    "repetition_penalty",
    "resid_pdrop",
    "residual_dropout",
    "return_dict",
    "return_dict_in_generate",
    "sep_token_id",
    "seq_len",
    "seq_length",
    "step",
    "suppress_tokens",
    "tags",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tie_encoder_decoder",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "training_args",
    "transformers_version",
    "trust_remote_code",
    "typical_p",
    "unk_token_id",
    "unsloth_fixed",
    "unsloth_tiled_mlp",
    "unsloth_version",
    "use_bfloat16",
    "use_cache",
    "use_flash_attention",
    "use_flash_attention_2",
    "use_flash_attn",
    "use_liger_kernel",
    "vocab_file",
    "wandb_id",
    "z_loss",
];

/// Keys of any configuration that change the computation when true: of encoders, and of programs
/// that write other architectures under a family's name.
const MUST_BE_FALSE: &[&str] = &[
    "add_cross_attention",
    "alibi",
    "is_encoder_decoder",
    "moe",
    "multi_query",
    "post_norm",
    "qk_layernorm",
    "qk_norm",
    "rope_interleaved",
    "scale_embeddings",
    "use_mrope",
    "use_mup",
    "use_qk_norm",
];

/// Larger counts are in no model, and small enough that no product of ours overflows.
const MAX_SIZE: u64 = 1 << 24;

/// More blocks are in no model.
const MAX_LAYERS: usize = 1 << 12;

/// A `config.json` that remembers which keys were asked for.
#[derive(Debug)]
pub(super) struct Config {
    path: PathBuf,
    family: &'static str,
    keys: Map<String, Value>,
    read: BTreeSet<String>,
    /// Keys that the file lacks and what was taken for them, where weights depend on it.
    taken: Vec<(String, usize)>,
    sha256: String,
}

/// Python writes numbers that JSON does not have by their names (`Infinity`), here texts.
fn named_numbers(json: &[u8]) -> Cow<'_, [u8]> {
    const NAMES: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
    let mut out = Vec::new();
    let (mut at, mut taken, mut in_text) = (0, 0, false);
    while at < json.len() {
        let name = NAMES.into_iter().find(|name| !in_text && json[at..].starts_with(name));
        match json[at] {
            b'"' => in_text = !in_text,
            b'\\' => at += 1,
            _ => {}
        }
        at += name.map_or(1, |name| {
            out.extend_from_slice(&json[taken..at]);
            out.extend([b"\"", name, b"\""].concat());
            taken = at + name.len();
            name.len()
        });
    }
    if taken == 0 {
        return Cow::Borrowed(json);
    }
    out.extend_from_slice(&json[taken..]);
    Cow::Owned(out)
}

impl Config {
    pub(super) fn read(path: PathBuf) -> Result<Self> {
        let bytes =
            std::fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
        match serde_json::from_slice(&named_numbers(&bytes)) {
            Ok(Value::Object(keys)) => Ok(Self { sha256: sha256(&bytes), ..Self::new(path, keys) }),
            Ok(_) => Err(Error::Config { path, reason: "not a JSON object".to_string() }),
            Err(e) => Err(Error::Config { path, reason: format!("not JSON: {e}") }),
        }
    }

    /// Keys that stand in no `config.json`; `path` says where they are from.
    pub(super) fn new(path: PathBuf, keys: Map<String, Value>) -> Self {
        // What the keys hold has no floats but finite ones.
        let written = serde_json::to_vec(&keys).unwrap_or_default();
        let sha256 = sha256(&written);
        let (read, taken) = (BTreeSet::new(), Vec::new());
        Self { path, family: "", keys, read, taken, sha256 }
    }

    pub(super) fn belongs_to(&mut self, family: &'static str) {
        self.family = family;
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The value of a key, `null` counting as absent. Where the reference takes them for two
    /// things, ask [`Config::has`] as well.
    pub(super) fn get(&mut self, key: &str) -> Option<Value> {
        self.read.insert(key.to_string());
        self.keys.get(key).filter(|value| !value.is_null()).cloned()
    }

    /// As [`Config::get`], for a key with which the reference computes and which cannot be `null`
    /// there either.
    pub(super) fn get_unless_null(&mut self, key: &str) -> Result<Option<Value>> {
        match self.get(key) {
            None if self.has(key) => Err(self.null(key)),
            value => Ok(value),
        }
    }

    /// The error of a key that may not be `null`.
    pub(super) fn null(&self, key: &str) -> Error {
        self.broken(format!(
            "{key} is null, with which transformers cannot compute either; give its value, or take it out for the default"
        ))
    }

    /// Sizes that the file lacks, and what was taken for them.
    pub(super) fn taken(&self) -> &[(String, usize)] {
        &self.taken
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

    /// A count, `default` where the file does not say it.
    pub(super) fn size(&mut self, key: &str, default: usize) -> Result<usize> {
        match self.get_unless_null(key)? {
            Some(value) => self.as_size(key, &value),
            None => {
                self.taken.push((key.to_string(), default));
                Ok(default)
            }
        }
    }

    /// A count under a family's own name or the one that all configurations share; where both are
    /// given they must agree.
    pub(super) fn size_of_two(&mut self, own: &str, shared: &str, default: usize) -> Result<usize> {
        if !self.has(shared) {
            return self.size(own, default);
        }
        let b = self.size(shared, default)?;
        let a = if self.has(own) { self.size(own, default)? } else { b };
        if a != b {
            return Err(
                self.broken(format!("{own} = {a} and {shared} = {b} contradict each other"))
            );
        }
        Ok(a)
    }

    /// A count under its name or an older one, which the reference takes unless it is `null`; where
    /// both are given they must agree.
    pub(super) fn size_or_older(
        &mut self,
        key: &str,
        older: &str,
        default: usize,
    ) -> Result<usize> {
        let Some(old) = self.optional_size(older)? else { return self.size(key, default) };
        match self.optional_size(key)? {
            Some(new) if new != old => {
                Err(self.broken(format!("{older} = {old} and {key} = {new} contradict each other")))
            }
            _ => Ok(old),
        }
    }

    /// A count that may be `null`, which is another thing than absent: `default`.
    pub(super) fn size_or_null(&mut self, key: &str, default: usize) -> Result<Option<usize>> {
        if self.has(key) { self.optional_size(key) } else { self.size(key, default).map(Some) }
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
        self.get_unless_null(key)?.map(|value| self.as_number(key, &value)).transpose()
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

    /// A flag; `null` is false, as it is in Python, whatever the default.
    pub(super) fn flag(&mut self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default && !self.has(key)),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(self.broken(format!("{key} = {other} is neither true nor false"))),
        }
    }

    /// `C / H`, refusing a remainder.
    pub(super) fn head_width(&self, width: usize, heads: usize) -> Result<usize> {
        match width.checked_div(heads) {
            Some(head_width) if head_width * heads == width => Ok(head_width),
            _ => {
                Err(self.broken(format!("a width of {width} does not divide among {heads} heads")))
            }
        }
    }

    /// The blocks, each by its number from 0.
    pub(super) fn layers(
        &self,
        count: usize,
        layer: impl Fn(usize) -> Layer,
    ) -> Result<Vec<Layer>> {
        if count > MAX_LAYERS {
            return Err(self.broken(format!("{count} blocks are more than any model has")));
        }
        Ok((0..count).map(layer).collect())
    }

    /// The activation of an MLP without gate.
    pub(super) fn activation(&mut self, key: &str, default: Activation) -> Result<Activation> {
        self.activation_of(
            key,
            default,
            &[Activation::Gelu, Activation::GeluTanh, Activation::Relu],
        )
    }

    /// The activation of a gate, which is the default or another computation.
    pub(super) fn gated_activation(
        &mut self,
        key: &str,
        default: Activation,
    ) -> Result<Activation> {
        self.activation_of(key, default, &[default])
    }

    /// An activation by the reference implementation's names.
    fn activation_of(
        &mut self,
        key: &str,
        default: Activation,
        known: &[Activation],
    ) -> Result<Activation> {
        let Some(value) = self.get_unless_null(key)? else { return Ok(default) };
        let activation = match value.as_str() {
            Some("gelu" | "gelu_python") => Some(Activation::Gelu),
            // Three names, one formula.
            Some("gelu_new" | "gelu_fast" | "gelu_pytorch_tanh") => Some(Activation::GeluTanh),
            Some("relu") => Some(Activation::Relu),
            Some("silu" | "swish") => Some(Activation::Silu),
            _ => None,
        };
        activation
            .filter(|found| known.contains(found))
            .ok_or_else(|| self.unsupported(key, &value))
    }

    /// Refuses `layer_types` but where all layers see everything: of a family that does not read
    /// it.
    pub(super) fn only_full_attention(&mut self) -> Result<()> {
        match self.get("layer_types") {
            Some(Value::Array(kinds)) if kinds.iter().all(|kind| kind == "full_attention") => {
                Ok(())
            }
            Some(kinds) => Err(self.unsupported("layer_types", &kinds)),
            None => Ok(()),
        }
    }

    /// Goes into the table of one part of a model, `key`; without it the part is all defaults.
    /// Whatever stands beside it must be without effect on the part: read, one of `beside`, or of
    /// those that all configurations share. Token ids that stand there hold for the part.
    pub(super) fn enter(&mut self, key: &str, beside: &[&str]) -> Result<()> {
        let part = match self.get(key) {
            None => Map::new(),
            Some(Value::Object(part)) => part,
            Some(other) => return Err(self.unsupported(key, &other)),
        };
        self.refuse_unread(beside)?;
        let mut whole = std::mem::replace(&mut self.keys, part);
        for key in ["bos_token_id", "eos_token_id"] {
            if let Some(ids) = whole.remove(key) {
                self.keys.insert(key.to_owned(), ids);
            }
        }
        self.read.clear();
        Ok(())
    }

    /// Refuses `key` at any value but this one.
    pub(super) fn only(&mut self, key: &str, accepted: bool) -> Result<()> {
        match self.get(key) {
            Some(value) if value != Value::Bool(accepted) => Err(self.unsupported(key, &value)),
            _ => Ok(()),
        }
    }

    /// Refuses every key that was neither read nor is known to be without effect. `null` says
    /// nothing and passes.
    pub(super) fn refuse_unread(&mut self, ignored: &[&str]) -> Result<()> {
        for key in MUST_BE_FALSE {
            // Some family has it, and reads it.
            if !self.read.contains(*key) {
                self.only(key, false)?;
            }
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
            Some((key, value)) => Err(Error::UnknownOption {
                path: self.path.clone(),
                family: self.family,
                key: key.clone(),
                value: value.to_string(),
            }),
            None => Ok(()),
        }
    }

    /// Token ids under a key that may hold none (`null`), one or a list; absent, it is the default.
    pub(super) fn token_ids(&self, key: &str, default: Option<u32>) -> Vec<u32> {
        let id = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
        match self.keys.get(key) {
            Some(Value::Array(ids)) => ids.iter().filter_map(id).collect(),
            Some(value) => id(value).into_iter().collect(),
            None => default.into_iter().collect(),
        }
    }
}
