//! How byte-level BPE splits a text before it merges, by the names of GGUF
//! (`tokenizer.ggml.pre`).
//!
//! Source: `llm_tokenizer_bpe` of `llama-vocab.cpp` in llama.cpp, where a pattern stands beside the
//! one of the model's own `tokenizer.json`; the latter is taken here, since that is what the model
//! was trained with. Only names of which the pattern, the normaliser and the rule of merges are
//! known are read.

use serde_json::{Value, json};

use super::blocks::{LLAMA3_PATTERN, QWEN2_PATTERN};

/// One way to split a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split {
    /// Names of it.
    names: &'static [&'static str],
    /// Patterns that cut pieces out, one after another.
    patterns: &'static [&'static str],
    /// Whether GPT-2's own pattern comes behind them.
    gpt2: bool,
    /// Whether characters are composed first (NFC). llama.cpp leaves that out.
    composes: bool,
    /// Whether a piece that is a token is that token, however merges would make it.
    pub(super) ignores_merges: bool,
    /// Whether beginning-of-text stands before a text where the file does not say it.
    pub(super) begins: bool,
}

const PLAIN: Split = Split {
    names: &[],
    patterns: &[],
    gpt2: true,
    composes: false,
    ignores_merges: false,
    begins: false,
};

const GPT2_PATTERN: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)";

const SPLITS: &[Split] = &[
    Split { names: &["gpt-2", "phi-2", "mpt", "olmo", "jais", "exaone4", "mellum"], ..PLAIN },
    // Every digit is a piece.
    Split {
        names: &["smollm", "starcoder", "refact", "codeshell", "exaone", "minerva-7b"],
        patterns: &[r"\p{N}"],
        ..PLAIN
    },
    Split {
        names: &["llama-bpe", "llama3", "llama-v3", "falcon3"],
        patterns: &[LLAMA3_PATTERN],
        gpt2: false,
        ignores_merges: true,
        begins: true,
        ..PLAIN
    },
    Split { names: &["dbrx", "smaug-bpe"], patterns: &[LLAMA3_PATTERN], gpt2: false, ..PLAIN },
    Split { names: &["qwen2"], patterns: &[QWEN2_PATTERN], gpt2: false, composes: true, ..PLAIN },
    // Qwen's vocabulary under a file that asks for no composing.
    Split { names: &["deepseek-r1-qwen"], patterns: &[QWEN2_PATTERN], gpt2: false, ..PLAIN },
    Split {
        names: &["deepseek-coder"],
        patterns: &[r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+", r"\p{N}"],
        gpt2: false,
        ..PLAIN
    },
    Split {
        names: &["falcon"],
        patterns: &[r"[\p{P}\$\+<=>\^~\|`]+", GPT2_PATTERN, "[0-9][0-9][0-9]"],
        gpt2: false,
        ..PLAIN
    },
    Split {
        names: &["default"],
        patterns: &[r"[\p{P}\$\+<=>\^~\|]+", GPT2_PATTERN, r"\p{N}+", "[0-9][0-9][0-9]"],
        gpt2: false,
        ..PLAIN
    },
];

/// The split of this name.
pub(super) fn named(name: Option<&str>) -> Result<&'static Split, String> {
    let known = SPLITS.iter().flat_map(|split| split.names);
    let hint = "Give the folder of the original model, or convert it again";
    match name {
        Some(name) => SPLITS.iter().find(|split| split.names.contains(&name)).ok_or_else(|| {
            let known: Vec<&str> = known.copied().collect();
            format!(
                "tokenizer.ggml.pre = {name:?}: how that splits a text is not known here; known are {}. {hint}",
                known.join(", ")
            )
        }),
        None => Err(format!(
            "tokenizer.ggml.pre is missing: the file is of a time before it said how a text is split. {hint}"
        )),
    }
}

impl Split {
    /// As `tokenizer.json` has it.
    pub(super) fn normaliser(&self) -> Value {
        if self.composes { json!({"type": "NFC"}) } else { Value::Null }
    }

    /// As `tokenizer.json` has it.
    pub(super) fn pre_tokenizer(&self) -> Value {
        let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": self.gpt2});
        if self.patterns.is_empty() {
            return bytes;
        }
        let split = |pattern: &&str| json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
        let parts: Vec<Value> = self.patterns.iter().map(split).chain([bytes]).collect();
        json!({"type": "Sequence", "pretokenizers": parts})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_there_twice() {
        let mut names: Vec<&str> = SPLITS.iter().flat_map(|split| split.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(named(Some("tekken")).unwrap_err().contains("known are gpt-2, phi-2"));
        assert!(named(None).unwrap_err().contains("is missing"));
    }
}
