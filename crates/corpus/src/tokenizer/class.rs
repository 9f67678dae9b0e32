//! The class of transformers that a folder's tokenizer is: it decides what the files leave out.
//!
//! Source: the tokenizers' `__init__` and `AutoTokenizer` of transformers 4.57.

use serde_json::Value;

/// What a class of transformers takes for granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// `GPT2Tokenizer`, of GPT-2, OPT and OLMo 3, and Phi's `CodeGenTokenizer`.
    Gpt2,
    /// `Qwen2Tokenizer`.
    Qwen2,
    /// `GPTNeoXTokenizer`, of Pythia, OLMo 1 and 2, Mamba and RWKV.
    GptNeoX,
    /// `LlamaTokenizer`, of Llama 1 and 2, Mistral and Phi-3.
    Llama,
    /// `GemmaTokenizer`.
    Gemma,
    /// `BloomTokenizer`.
    Bloom,
    /// Any other, `PreTrainedTokenizerFast` among them: what its files say and no more.
    Other,
}

/// Roles in the order in which transformers adds tokens for them.
pub(super) const ROLES: [&str; 7] =
    ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];

impl Class {
    /// The class and its name, by the first that says it: `tokenizer_class` of
    /// `tokenizer_config.json`, that of `config.json`, the model's type; and whether a file names
    /// the class, which a model's type only implies.
    pub(super) fn from_configs(
        tokenizer_config: Option<&Value>,
        config: Option<&Value>,
    ) -> (Self, Option<String>, bool) {
        let named = |file: Option<&Value>, key: &str| {
            file.and_then(|file| file.get(key)).and_then(Value::as_str).map(str::to_owned)
        };
        let name =
            named(tokenizer_config, "tokenizer_class").or_else(|| named(config, "tokenizer_class"));
        let said = name.is_some();
        let name = name.or_else(|| {
            let class = match named(config, "model_type")?.as_str() {
                "gpt2" | "gpt_neo" | "granite" | "olmo3" | "opt" | "starcoder2" => "GPT2Tokenizer",
                "phi" => "CodeGenTokenizer",
                "qwen2" | "qwen3" => "Qwen2Tokenizer",
                "falcon_mamba" | "gpt_neox" | "mamba" | "mamba2" | "olmo" | "olmo2" | "rwkv"
                | "stablelm" => "GPTNeoXTokenizerFast",
                "llama" | "mistral" | "phi3" => "LlamaTokenizer",
                "gemma" | "gemma2" | "gemma3_text" => "GemmaTokenizer",
                "bloom" => "BloomTokenizerFast",
                _ => return None,
            };
            Some(class.to_owned())
        });
        let class = match name.as_deref().map(|name| name.strip_suffix("Fast").unwrap_or(name)) {
            Some("GPT2Tokenizer" | "CodeGenTokenizer") => Self::Gpt2,
            Some("Qwen2Tokenizer") => Self::Qwen2,
            Some("GPTNeoXTokenizer") => Self::GptNeoX,
            Some("LlamaTokenizer") => Self::Llama,
            Some("GemmaTokenizer") => Self::Gemma,
            Some("BloomTokenizer") => Self::Bloom,
            _ => Self::Other,
        };
        (class, name, said)
    }

    /// The token that has a role where no file says it, one of [`ROLES`].
    pub(super) fn default_of(self, role: &str) -> Option<&'static str> {
        match (self, role) {
            (Self::Gpt2 | Self::GptNeoX, "bos_token" | "eos_token" | "unk_token")
            | (Self::Qwen2, "eos_token" | "unk_token" | "pad_token") => Some("<|endoftext|>"),
            (Self::Llama | Self::Bloom, "bos_token") => Some("<s>"),
            (Self::Llama | Self::Bloom, "eos_token") => Some("</s>"),
            (Self::Gemma, "bos_token") => Some("<bos>"),
            (Self::Gemma, "eos_token") => Some("<eos>"),
            (Self::Llama | Self::Gemma | Self::Bloom, "unk_token") => Some("<unk>"),
            (Self::Gemma | Self::Bloom, "pad_token") => Some("<pad>"),
            _ => None,
        }
    }

    /// Whether `add_bos_token` decides, whatever `tokenizer.json` would add; with the flag's
    /// default. `None`: a class that does not look at it.
    pub(super) fn begins_by_flag(self, from_merges: bool) -> Option<bool> {
        match self {
            Self::Llama | Self::Gemma => Some(true),
            Self::GptNeoX => Some(false),
            // Only while it is put together from its older files.
            Self::Gpt2 if from_merges => Some(false),
            Self::Gpt2 | Self::Qwen2 | Self::Bloom | Self::Other => None,
        }
    }
}
