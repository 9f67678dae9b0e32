//! Where the numbers come from: everything that decided them, and the hash of that.
//!
//! A [`Provenance`] is stored in `run.json` and in the metadata of every part. [`Provenance::key`]
//! hashes the members that determine the numbers; the members that do not (names given by the user,
//! the version of the program) are recorded but do not enter, so that renaming a model does not
//! throw its measurement away.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::units::ParameterConvention;
use crate::version::{FORMAT, TOOL, TOOL_VERSION};

/// Everything that decided the numbers of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the format on disk.
    pub format: u32,
    /// The program that started the run.
    pub tool: ToolProvenance,
    /// The model.
    pub model: ModelProvenance,
    /// The tokenizer.
    pub tokenizer: TokenizerProvenance,
    /// The text.
    pub corpus: CorpusProvenance,
    /// How text was cut into windows and which positions were scored.
    pub protocol: ProtocolProvenance,
    /// How a position was scored.
    pub scoring: ScoringProvenance,
    /// Where scoring stopped before the end of the corpus, if it did.
    pub limit: Option<LimitProvenance>,
}

/// The program that started the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolProvenance {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl ToolProvenance {
    /// This program.
    pub fn this() -> Self {
        Self { name: TOOL.into(), version: TOOL_VERSION.into() }
    }
}

/// The model: names for people, hashes for certainty, counts for the laws.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelProvenance {
    /// Name shown (not part of the key).
    pub name: String,
    /// Family within which laws are fitted (not part of the key).
    pub family: String,
    /// Architecture as the configuration names it (`gpt2`, `llama`, ...).
    pub architecture: String,
    /// sha256 of the weights, hexadecimal.
    pub weights_sha256: String,
    /// sha256 of the configuration, hexadecimal.
    pub config_sha256: String,
    /// Type in which the weights are stored (`f32`, `f16`, `bf16`, or several joined by `+`).
    pub stored_dtype: String,
    /// Names of the files that were read (not part of the key: the hashes are).
    pub files: Vec<String>,
    /// Where they were fetched from, with the commit: `hf:OWNER/NAME@COMMIT`; none of a folder that
    /// was given (not part of the key: the hashes are).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Exact parameter counts.
    pub parameters: ParameterCounts,
}

/// Exact parameter counts of a model. All but `total` are disjoint; a tied head has count 0 and its
/// weights are those of `token_embedding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterCounts {
    /// `S`: all parameters minus token embedding, position embedding and output head. Biases and
    /// norms count.
    pub non_embedding: u64,
    /// Token embedding.
    pub token_embedding: u64,
    /// Learned position embedding.
    pub position_embedding: u64,
    /// Output head where it is not tied to the embedding.
    pub head: u64,
    /// Everything stored, a tied head once.
    pub total: u64,
}

impl ParameterCounts {
    /// The count in a named convention.
    pub fn by(&self, convention: ParameterConvention) -> u64 {
        match convention {
            ParameterConvention::NonEmbedding => self.non_embedding,
            // A tied head does the same work with the same number of weights as the table it is
            // tied to.
            ParameterConvention::NonEmbeddingAndHead => {
                self.non_embedding + if self.head > 0 { self.head } else { self.token_embedding }
            }
            ParameterConvention::Total => self.total,
        }
    }
}

/// The tokenizer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenizerProvenance {
    /// sha256 of its file or files, hexadecimal.
    pub sha256: String,
    /// What was read: `tokenizer.json`, `vocab.json + merges.txt`, `token ids`.
    pub source: String,
}

/// The text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorpusProvenance {
    /// Name shown (not part of the key).
    pub name: String,
    /// The loader and its options, without paths; for people (not part of the key: the text's hash
    /// is).
    pub description: String,
    /// sha256 over the documents in order: id, text, token ids, tags, spans.
    pub text_sha256: String,
    /// Number of documents.
    pub documents: u64,
    /// Bytes of text in all of them.
    pub bytes: u64,
    /// Where its files were fetched from, with the commit: `hf:datasets/OWNER/NAME@COMMIT/FILE`;
    /// none of files that were given (not part of the key).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// How text was cut into windows and which positions were scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProtocolProvenance {
    /// `document`, `paper`, `rolling`, `strided`, `half-window`.
    pub name: String,
    /// All its parameters (length, stride, ...) as they were used.
    pub parameters: BTreeMap<String, Value>,
    /// The token put before windows, and why; `None` when there is none.
    pub prefix: Option<PrefixProvenance>,
}

/// A token put in before the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixProvenance {
    /// Its id.
    pub id: u32,
    /// Why it is there, and chosen by whom (not part of the key).
    pub reason: String,
}

/// How a position was scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoringProvenance {
    /// The engine: `local-f32`, `mock`.
    pub engine: String,
    /// Rises when the engine's numbers may change; a new number is a new run.
    pub engine_revision: u32,
    /// Type in which the model was computed.
    pub compute_dtype: String,
    /// How equal logits count.
    pub tie_rule: TieRule,
    /// Which rows of the head take part.
    pub vocabulary_rule: VocabularyRule,
    /// The sizes that are all called "the vocabulary size".
    pub vocabulary: VocabularySizes,
    /// What the engine does not tell: these columns are null in every row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<ScoreColumn>,
    /// How equal logits count in the stored rank; `>=` but for engines that tell no ties and count
    /// otherwise.
    #[serde(default = "at_least", skip_serializing_if = "is_at_least")]
    pub rank_rule: TieRule,
    /// The engine's own version and those of what it runs on (not part of the key: a change of the
    /// numbers by more than rounding raises `engine_revision`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_version: Option<String>,
    /// What a reader of any number of the run must know (not part of the key).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<String>,
}

fn at_least() -> TieRule {
    TieRule::AtLeast
}

fn is_at_least(rule: &TieRule) -> bool {
    *rule == TieRule::AtLeast
}

/// A column of a token part that an engine may leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreColumn {
    /// [`Score::ties`](crate::Score::ties).
    Ties,
    /// [`Score::entropy`](crate::Score::entropy).
    Entropy,
    /// [`Score::argmax`](crate::Score::argmax).
    Argmax,
}

impl ScoreColumn {
    /// All of them, in the order of the columns.
    pub const ALL: [Self; 3] = [Self::Ties, Self::Entropy, Self::Argmax];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ties => "ties",
            Self::Entropy => "entropy",
            Self::Argmax => "argmax",
        }
    }
}

/// How equal logits count when a rank is compared with k. Stored ranks are by `>=`, with the ties
/// beside them, so either rule can be applied to the same records; where an engine tells no ties,
/// there is one rule, [`ScoringProvenance::rank_rule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TieRule {
    /// `R = #{v : z[v] >= z_t}`: against the model.
    #[serde(rename = ">=")]
    AtLeast,
    /// `R = #{v : z[v] > z_t} + 1`: in the model's favour.
    #[serde(rename = ">")]
    Greater,
}

/// Which rows of the output head take part in rank and softmax.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VocabularyRule {
    /// Only rows to which some token maps; padding rows are left out.
    Tokens,
    /// All rows, as most other programs do.
    Rows,
}

impl fmt::Display for VocabularyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tokens => "tokens",
            Self::Rows => "rows",
        })
    }
}

/// The sizes that are all called "the vocabulary size".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VocabularySizes {
    /// Entries of the tokenizer's own vocabulary.
    pub tokenizer: u32,
    /// The same with added (special) tokens.
    pub with_added: u32,
    /// Rows of the model's output head, padding included.
    pub rows: u32,
    /// Rows that took part in ranks: |V| of the laws.
    pub scored: u32,
}

/// Where scoring stopped before the end of the corpus.
///
/// Documents are taken in order until this many positions would be scored; later positions of the
/// document in which the limit falls are not scored. A first token (scored only with a prefix) does
/// not count, so models that share a tokenizer see the same text whether or not they take a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitProvenance {
    /// Positions to score.
    pub tokens: u64,
    /// How documents were drawn; absent where they were taken from the first, in the corpus's own
    /// order, and where the limit leaves nothing to draw from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<DrawProvenance>,
}

/// How documents were drawn from a corpus; ordinals of documents are then places in the drawn
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DrawProvenance {
    /// The rule.
    pub by: DrawRule,
    /// Its seed.
    pub seed: u64,
}

/// A rule by which documents are drawn. Another rule is another name, so that a key keeps its
/// meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DrawRule {
    /// In the order of hashes of the seed with the document's number, or with its question's name.
    Sha256,
}

impl Provenance {
    /// sha256, hexadecimal, over the canonical JSON of everything that determines the numbers.
    ///
    /// Paths, times, names given by people, thread and batch counts and the program's version do
    /// not enter. The patterns below are exhaustive on purpose: a new field does not compile until
    /// somebody has decided whether it belongs to the key.
    pub fn key(&self) -> String {
        sha256_bytes(canonical_json(&self.key_inputs()).as_bytes())
    }

    fn key_inputs(&self) -> Value {
        let Self { format: _, tool: _, model, tokenizer, corpus, protocol, scoring, limit } = self;
        let ModelProvenance {
            name: _,
            family: _,
            files: _,
            source: _,
            architecture,
            weights_sha256,
            config_sha256,
            stored_dtype,
            parameters,
        } = model;
        let TokenizerProvenance { sha256, source: _ } = tokenizer;
        let CorpusProvenance { name: _, description: _, source: _, text_sha256, documents, bytes } =
            corpus;
        let ProtocolProvenance { name, parameters: protocol_parameters, prefix } = protocol;
        let ScoringProvenance {
            engine,
            engine_revision,
            compute_dtype,
            tie_rule,
            vocabulary_rule,
            vocabulary,
            lacks,
            rank_rule,
            engine_version: _,
            cautions: _,
        } = scoring;
        let mut inputs = json!({
            "model": {
                "architecture": architecture,
                "weights": weights_sha256,
                "config": config_sha256,
                "stored_dtype": stored_dtype,
                "parameters": parameters,
            },
            "tokenizer": sha256,
            "corpus": { "text": text_sha256, "documents": documents, "bytes": bytes },
            "protocol": {
                "name": name,
                "parameters": protocol_parameters,
                "prefix": prefix.as_ref().map(|prefix| prefix.id),
            },
            "scoring": {
                "engine": engine,
                "engine_revision": engine_revision,
                "compute_dtype": compute_dtype,
                "tie_rule": tie_rule,
                "vocabulary_rule": vocabulary_rule,
                "vocabulary": vocabulary,
            },
            "limit": limit,
        });
        // Only where there is something to say, so that the keys of earlier runs stay.
        if !lacks.is_empty() {
            inputs["scoring"]["lacks"] = json!(lacks);
        }
        if !is_at_least(rank_rule) {
            inputs["scoring"]["rank_rule"] = json!(rank_rule);
        }
        inputs
    }

    /// The documents that ordinals number: runs with the same one mean the same document by the
    /// same ordinal. The hash of the text, and how documents were drawn from it where they were.
    pub fn documents_key(&self) -> String {
        documents_key(&self.corpus.text_sha256, self.limit.and_then(|limit| limit.drawn))
    }

    /// Canonical JSON of all members: what `run.json` and the parts carry.
    ///
    /// # Errors
    /// [`Error::Serialise`]; cannot happen with the types as they are.
    pub fn to_canonical_json(&self) -> Result<String> {
        let value = serde_json::to_value(self)
            .map_err(|source| Error::Serialise { what: "provenance", source })?;
        Ok(canonical_json(&value))
    }

    /// A made-up provenance for tests and examples: every field filled, nothing measured.
    pub fn example() -> Self {
        Self {
            format: FORMAT,
            tool: ToolProvenance::this(),
            model: ModelProvenance {
                name: "tiny".into(),
                family: "example".into(),
                architecture: "llama".into(),
                weights_sha256: sha256_bytes(b"weights"),
                config_sha256: sha256_bytes(b"config"),
                stored_dtype: "f32".into(),
                files: vec!["model.safetensors".into()],
                source: None,
                parameters: ParameterCounts {
                    non_embedding: 3_000,
                    token_embedding: 1_600,
                    position_embedding: 0,
                    head: 0,
                    total: 4_600,
                },
            },
            tokenizer: TokenizerProvenance {
                sha256: sha256_bytes(b"tokenizer"),
                source: "tokenizer.json".into(),
            },
            corpus: CorpusProvenance {
                name: "prose".into(),
                description: "text".into(),
                text_sha256: sha256_bytes(b"text"),
                documents: 2,
                bytes: 40,
                source: None,
            },
            protocol: ProtocolProvenance {
                name: "document".into(),
                parameters: [("length".into(), json!(64)), ("stride".into(), json!(32))].into(),
                prefix: None,
            },
            scoring: ScoringProvenance {
                engine: "mock".into(),
                engine_revision: 1,
                compute_dtype: "f32".into(),
                tie_rule: TieRule::AtLeast,
                vocabulary_rule: VocabularyRule::Tokens,
                vocabulary: VocabularySizes {
                    tokenizer: 99,
                    with_added: 100,
                    rows: 104,
                    scored: 100,
                },
                lacks: Vec::new(),
                rank_rule: TieRule::AtLeast,
                engine_version: None,
                cautions: Vec::new(),
            },
            limit: None,
        }
    }
}

pub(crate) fn documents_key(text_sha256: &str, drawn: Option<DrawProvenance>) -> String {
    match drawn {
        None => text_sha256.to_owned(),
        Some(DrawProvenance { by: DrawRule::Sha256, seed }) => {
            format!("{text_sha256} drawn by sha256 with seed {seed}")
        }
    }
}

/// JSON with the keys of every object sorted and no white space: equal values have equal text.
///
/// ```
/// let value = serde_json::json!({"b": [1, {"z": null, "y": "ü"}], "a": 0.5});
/// assert_eq!(
///     relscale_records::provenance::canonical_json(&value),
///     r#"{"a":0.5,"b":[1,{"y":"ü","z":null}]}"#
/// );
/// ```
pub fn canonical_json(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            let members: Vec<String> = sorted
                .into_iter()
                .map(|(key, value)| {
                    format!("{}:{}", Value::from(key.as_str()), canonical_json(value))
                })
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical_json).collect();
            format!("[{}]", items.join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// sha256 of a slice, hexadecimal.
///
/// ```
/// assert_eq!(
///     relscale_records::provenance::sha256_bytes(b"abc"),
///     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
/// );
/// ```
pub fn sha256_bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// sha256 of a file, hexadecimal; the file streams through a small buffer.
///
/// # Errors
/// [`Error::Read`], naming the file.
pub fn sha256_file(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(Error::read(path))?;
    sha256_reader(&mut file).map_err(Error::read(path))
}

/// sha256 of everything a reader yields, hexadecimal.
///
/// # Errors
/// Whatever the reader fails with.
pub fn sha256_reader(reader: &mut dyn Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hexadecimal(&hash.finalize())),
            Ok(count) => hash.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
