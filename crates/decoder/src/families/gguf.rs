//! A GGUF file as a model: its metadata as the configuration that the family's own file reads, and
//! llama.cpp's names of tensors, which are the same for all architectures.
//!
//! Source: `constants.py` of the gguf package, `convert_hf_to_gguf.py` and `llama-model.cpp` of
//! llama.cpp. What the files have otherwise than a Hugging Face folder:
//!
//! * queries and keys of `llama`, whose rotary pairs lie side by side ([`Names::paired`]);
//! * Llama 3's scaling of frequencies, worked out, as the tensor `rope_freqs.weight`;
//! * gains of Gemma, stored as they are multiplied with ([`Architecture::plain_gains`]);
//! * a head that is the embedding is not stored, and nothing says so;
//! * that attention has biases is told by their being there.
//!
//! As with a `config.json`, a key of the architecture that nobody reads is refused.

use std::path::Path;

use serde_json::{Map, Value as Json, json};

use super::config::Config;
use super::family::Family;
use super::names::{Names, Stored};
use super::{gemma, llama, qwen2, qwen3};
use crate::checkpoint::Checkpoint;
use crate::checkpoint::gguf::{self, Metadata, Value};
use crate::error::{Error, Result};
use crate::spec::{Gain, RotaryScaling, Spec};

/// What is peculiar to a `general.architecture`.
struct Architecture {
    /// Which family computes as it does; both have the same name.
    family: &'static Family,
    names: &'static Names,
    /// Whether gains are stored as they are, where the family's own files store their difference
    /// from 1.
    plain_gains: bool,
}

/// All architectures that are read.
const ARCHITECTURES: [Architecture; 4] = [
    Architecture { family: &gemma::FAMILY, names: &NAMES, plain_gains: true },
    Architecture { family: &llama::FAMILY, names: &PAIRED, plain_gains: false },
    Architecture { family: &qwen2::FAMILY, names: &NAMES, plain_gains: false },
    Architecture { family: &qwen3::FAMILY, names: &NAMES, plain_gains: false },
];

/// llama.cpp's names.
const NAMES: Names = Names {
    block: "blk.",
    buffers: &["rope_freqs.weight", ".attn_rot_embd.weight", ".attn_rot_embd"],
    token_embedding: "token_embd",
    final_norm: "output_norm",
    head: "output",
    attention_norm: "attn_norm",
    query_key_value: Stored::Apart(&["attn_q", "attn_k", "attn_v"]),
    query_norm: "attn_q_norm",
    key_norm: "attn_k_norm",
    attention_output: "attn_output",
    attention_branch_norm: "post_attention_norm",
    mlp_norm: "ffn_norm",
    up: Stored::Apart(&["ffn_gate", "ffn_up"]),
    down: "ffn_down",
    mlp_branch_norm: "post_ffw_norm",
    ..Names::NONE
};

const PAIRED: Names = Names { paired: true, ..NAMES };

/// Llama 3's scaling, worked out: a divisor of each frequency.
const FREQUENCIES: &str = "rope_freqs.weight";

/// A file, as far as its metadata say what model it is.
pub(super) struct Opened {
    pub(super) config: Config,
    pub(super) family: &'static Family,
    pub(super) names: &'static Names,
    pub(super) checkpoint: Checkpoint,
    divisors: Option<Vec<f64>>,
    plain_gains: bool,
}

/// Opens the GGUF file that `path` means; `None` where it means none.
pub(super) fn open(path: &Path) -> Result<Option<Opened>> {
    if gguf::find(path)?.is_none() {
        return Ok(None);
    }
    let metadata = gguf::metadata(path)?;
    let name = metadata.text("general.architecture")?.unwrap_or_default();
    let known = ARCHITECTURES.iter().find(|one| one.family.name == name);
    let Some(architecture) = known else {
        let known: Vec<&str> = ARCHITECTURES.iter().map(|one| one.family.name).collect();
        return Err(Error::UnknownArchitecture {
            path: metadata.path().to_path_buf(),
            found: name.to_owned(),
            known: known.join(", "),
        });
    };
    let checkpoint = Checkpoint::open(path)?;
    let keys = Keys { metadata: &metadata, architecture: name, used: Vec::new() };
    let mut config = Config::new(metadata.path().to_path_buf(), keys.config(&checkpoint)?);
    config.belongs_to(architecture.family.name);
    let divisors = match checkpoint.shape(FREQUENCIES) {
        None => None,
        Some(_) => {
            let mut divisors = Vec::new();
            checkpoint.read_into(FREQUENCIES, &mut divisors)?;
            Some(divisors.into_iter().map(f64::from).collect())
        }
    };
    Ok(Some(Opened {
        config,
        family: architecture.family,
        names: architecture.names,
        checkpoint,
        divisors,
        plain_gains: architecture.plain_gains,
    }))
}

impl Opened {
    /// What of the spec the file says otherwise than by its metadata.
    pub(super) fn complete(&self, spec: &mut Spec) -> Result<()> {
        if self.plain_gains && spec.norm_gain == Gain::OnePlus {
            spec.norm_gain = Gain::Plain;
        }
        let Some(divisors) = &self.divisors else { return Ok(()) };
        for rotary in spec.layers.iter_mut().filter_map(|layer| layer.rotary.as_mut()) {
            let sound = divisors.iter().all(|divisor| *divisor > 0.0 && divisor.is_finite());
            if divisors.len() != rotary.width / 2 || !sound || rotary.scaling.is_some() {
                return Err(self.config.broken(format!(
                    "{FREQUENCIES} has {} divisors for {} frequencies, all of which must be positive, and the only scaling. \
                    Convert the original model again",
                    divisors.len(),
                    rotary.width / 2
                )));
            }
            rotary.scaling = Some(RotaryScaling::Divided { divisors: divisors.clone() });
        }
        Ok(())
    }
}

/// Keys of an architecture that change nothing that is computed.
const IGNORED: [&str; 2] = ["vocab_size", "rope.scaling.finetuned"];

/// The keys of an architecture, with a record of those that were read.
struct Keys<'a> {
    metadata: &'a Metadata,
    architecture: &'a str,
    used: Vec<String>,
}

impl Keys<'_> {
    /// The configuration that a Hugging Face folder would have.
    fn config(mut self, checkpoint: &Checkpoint) -> Result<Map<String, Json>> {
        let heads = self.size("attention.head_count")?;
        let width = self.size("embedding_length")?;
        let head_width = self.optional_size("attention.key_length")?;
        if self.optional_size("attention.value_length")? != head_width {
            return Err(self.metadata.broken(
                "keys and values are of different widths (attention.key_length, attention.value_length), which is not read"
                    .to_owned(),
            ));
        }
        let head_width = match head_width {
            Some(head_width) => head_width,
            None if heads > 0 => width / heads,
            None => 0,
        };
        let rotated = self.optional_size("rope.dimension_count")?.unwrap_or(head_width);
        let rows = checkpoint.shape("token_embd.weight").map_or(0, |shape| shape[0]);
        let layers = self.size("block_count")?;
        let mut keys = Map::new();
        let mut put = |key: &str, value: Json| keys.insert(key.to_owned(), value);
        put("model_type", self.architecture.into());
        put("vocab_size", rows.into());
        put("hidden_size", width.into());
        put("num_hidden_layers", layers.into());
        put("num_attention_heads", heads.into());
        let kv_heads = self.optional_size("attention.head_count_kv")?.unwrap_or(heads);
        put("num_key_value_heads", kv_heads.into());
        put("head_dim", head_width.into());
        put("intermediate_size", self.size("feed_forward_length")?.into());
        let context = self.size("context_length")?;
        put("max_position_embeddings", context.into());
        put("rms_norm_eps", self.number("attention.layer_norm_rms_epsilon")?.into());
        let base = self.optional_number("rope.freq_base")?.unwrap_or(10_000.0);
        put("rope_theta", base.into());
        if rotated != head_width {
            put("partial_rotary_factor", (rotated as f64 / head_width as f64).into());
        }
        if let Some(scaling) = self.scaling()? {
            put("rope_scaling", scaling);
        }
        let there = |tensor: &str| checkpoint.shape(tensor).is_some();
        put("tie_word_embeddings", (!there("output.weight")).into());
        // Qwen2 has these always, and no key for them.
        if there("blk.0.attn_q.bias") && self.architecture != "qwen2" {
            put("attention_bias", true.into());
        }
        if there("blk.0.ffn_up.bias") {
            put("mlp_bias", true.into());
        }
        for (ours, theirs) in [("bos_token_id", "bos"), ("eos_token_id", "eos")] {
            let id = self.metadata.integer(&format!("tokenizer.ggml.{theirs}_token_id"))?;
            put(ours, id.and_then(|id| u32::try_from(id).ok()).into());
        }
        self.refuse_other_computations(context)?;
        self.refuse_unread()?;
        Ok(keys)
    }

    /// Scaling of rotary frequencies, as `rope_scaling` has it.
    fn scaling(&mut self) -> Result<Option<Json>> {
        let key = self.key("rope.scaling.type");
        let kind = self.metadata.text(&key)?.map(str::to_owned);
        // The key of files of 2023.
        let older = self.optional_number("rope.scale_linear")?;
        let factor = self.optional_number("rope.scaling.factor")?.or(older);
        let original = self.optional_size("rope.scaling.original_context_length")?;
        // Without a type a factor is that of a linear one.
        match (kind.as_deref(), factor) {
            (Some("none"), _) | (Some("linear") | None, None | Some(0.0)) => Ok(None),
            (Some("linear") | None, Some(factor)) => {
                Ok((factor != 1.0).then(|| json!({"rope_type": "linear", "factor": factor})))
            }
            (Some(kind), factor) => {
                let mut scaling = json!({"rope_type": kind});
                if let Some(factor) = factor {
                    scaling["factor"] = factor.into();
                }
                if let Some(original) = original {
                    scaling["original_max_position_embeddings"] = original.into();
                }
                Ok(Some(scaling))
            }
        }
    }

    /// Refuses what would be another computation.
    fn refuse_other_computations(&mut self, context: usize) -> Result<()> {
        let window = self.optional_size("attention.sliding_window")?;
        if let Some(window) = window.filter(|window| *window > 0 && *window < context) {
            return Err(self.metadata.broken(format!(
                "a window of {window} tokens on attention (attention.sliding_window), which is not read from GGUF; give the \
                folder of the original model"
            )));
        }
        let key = self.key("attention.causal");
        if self.metadata.flag(&key)? == Some(false) {
            return Err(self.metadata.broken(format!(
                "{key} = false: a model that sees what follows has no ranks of next tokens"
            )));
        }
        for key in ["expert_count", "expert_used_count"] {
            if let Some(experts) = self.optional_size(key)?.filter(|experts| *experts > 0) {
                return Err(self.metadata.broken(format!(
                    "a mixture of experts ({key} = {experts}), which is not read; --engine exec:COMMAND runs any model"
                )));
            }
        }
        Ok(())
    }

    /// Refuses a key of the architecture that nobody has read.
    fn refuse_unread(&self) -> Result<()> {
        let start = format!("{}.", self.architecture);
        let unread = self.metadata.keys().find(|(key, _)| {
            key.strip_prefix(&start).is_some_and(|rest| {
                !IGNORED.contains(&rest) && !self.used.iter().any(|used| used == key)
            })
        });
        match unread {
            None => Ok(()),
            Some((key, value)) => Err(self.metadata.broken(format!(
                "the key {key} = {} is not among those that are read, and it may change what the model computes; give the \
                folder of the original model",
                value.shown()
            ))),
        }
    }

    /// The full name of a key, which counts as read.
    fn key(&mut self, key: &str) -> String {
        let key = format!("{}.{key}", self.architecture);
        self.used.push(key.clone());
        key
    }

    fn optional_number(&mut self, key: &str) -> Result<Option<f64>> {
        let key = self.key(key);
        match self.metadata.number(&key)? {
            Some(number) if !number.is_finite() => Err(self
                .metadata
                .broken(format!("{key} = {number} is no number that a model may have"))),
            number => Ok(number),
        }
    }

    fn number(&mut self, key: &str) -> Result<f64> {
        self.optional_number(key)?.ok_or_else(|| self.missing(key))
    }

    /// A count; given block by block, it must be the same in all.
    fn optional_size(&mut self, key: &str) -> Result<Option<usize>> {
        let key = self.key(key);
        let count = match self.metadata.get(&key) {
            Some(Value::Integers(counts)) => {
                let first = counts.first().copied().unwrap_or(0);
                if counts.iter().any(|count| *count != first) {
                    return Err(self.metadata.broken(format!(
                        "{key} differs from block to block, which is not read; give the folder of the original model"
                    )));
                }
                Some(i128::from(first))
            }
            _ => self.metadata.integer(&key)?,
        };
        // Whether a model may have it is for the configuration to say.
        let size = |count: i128| {
            usize::try_from(count)
                .map_err(|_| self.metadata.broken(format!("{key} = {count} is not a count")))
        };
        count.map(size).transpose()
    }

    fn size(&mut self, key: &str) -> Result<usize> {
        self.optional_size(key)?.ok_or_else(|| self.missing(key))
    }

    fn missing(&self, key: &str) -> Error {
        self.metadata.broken(format!(
            "the key {}.{key} is missing: cut, or no model but a vocabulary. Fetch the file again",
            self.architecture
        ))
    }
}
