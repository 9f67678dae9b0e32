//! What can go wrong between a file of text and windows of token ids.

use std::path::PathBuf;

/// Result with this crate's error.
pub type Result<T> = std::result::Result<T, CorpusError>;

/// How a tokenizer comes into the form that we read.
pub(crate) const SAVE_FAST: &str = "Save it in its fast form (transformers: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes \
     tokenizer.json) or give token ids instead of text";

/// Errors of this crate. Each message says what is wrong, where, and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A corpus without a single document.
    #[error("the corpus `{corpus}` has no documents; check its path and options")]
    EmptyCorpus {
        /// The corpus as asked for.
        corpus: String,
    },

    // The `--corpus` value.
    /// A `--corpus` value that does not follow the grammar.
    #[error("corpus `{spec}`: {reason}; the form is [name=]PATH[?key=value&...]")]
    Spec {
        /// The value as given.
        spec: String,
        /// What is wrong with it.
        reason: String,
    },
    /// `crates:NAME` with a name that is not one of the three.
    #[error("`crates:{name}` is unknown; use crates:code, crates:docs or crates:markdown")]
    UnknownDistribution {
        /// The name given.
        name: String,
    },

    // Files of documents.
    /// A row of a compressed file could not be reached.
    #[error("{}: the {compression} data end or break after row {rows}: {source}; the file is cut or damaged, fetch it again", path.display())]
    Compression {
        /// The file.
        path: PathBuf,
        /// `gzip` or `zstd`.
        compression: &'static str,
        /// Rows (lines) that were read before.
        rows: u64,
        /// What the decompressor says.
        source: std::io::Error,
    },
    /// A stretch of text that would take hours and all memory to encode.
    #[error(
        "document `{document}`: {bytes} bytes from byte {start} on cannot be cut and are encoded at once, which is done up to {limit} bytes; \
         cut the text into documents (split=lines, split=paragraphs), or leave out what is no text"
    )]
    TooLongToEncode {
        /// The document.
        document: String,
        /// First byte of the stretch.
        start: usize,
        /// Its length.
        bytes: usize,
        /// The longest that is encoded.
        limit: usize,
    },
    /// The work was given up on request.
    #[error("stopped on request")]
    Stopped,
    /// Text that is not UTF-8.
    #[error("{}, row {row}: not UTF-8 (byte {byte} of the row); convert the file, for example with iconv", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        row: u64,
        /// Byte of that line, from 0.
        byte: usize,
    },
    /// A line of a JSONL file that is not a JSON object.
    #[error("{}, row {row}: not a JSON object: {reason}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        row: u64,
        /// What the parser says.
        reason: String,
    },
    /// A string with half of a pair of UTF-16, which is no character and cannot be UTF-8.
    #[error(
        "{}, row {row}: a string ends at column {column} with half of a surrogate pair (such as \\ud83d alone), which is no character; \
         replace it by \\ufffd, as most tools do, or take the row out",
        path.display()
    )]
    LoneSurrogate {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        row: u64,
        /// Where the parser gave up, from 1.
        column: usize,
    },
    /// A document, or a line, that is longer than any that is held in memory.
    #[error(
        "{}: at row {row} its document is longer than {limit} bytes, and a document is held in memory as a whole; cut it into documents \
         (split=lines, split=paragraphs, split=titles), or into files",
        path.display()
    )]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Line that was reached, from 1.
        row: u64,
        /// The longest that is read.
        limit: usize,
    },
    /// A row with null in a field that was asked for.
    #[error(
        "{}, row {row}: field `{field}` is null; fill it in, name another field, or pass over rows without text with null=skip",
        path.display()
    )]
    NullField {
        /// The file.
        path: PathBuf,
        /// Row, from 1.
        row: u64,
        /// The field.
        field: String,
    },
    /// A row without a field that was asked for.
    #[error("{}, row {row}: no field `{field}`; this row has: {there}. Name the field with ?field=NAME", path.display())]
    MissingField {
        /// The file.
        path: PathBuf,
        /// Row, from 1.
        row: u64,
        /// The field asked for.
        field: String,
        /// The fields the row has.
        there: String,
    },
    /// A field that holds something else than text.
    #[error("{}, row {row}: field `{field}` holds {found}, not text", path.display())]
    FieldNotText {
        /// The file.
        path: PathBuf,
        /// Row, from 1.
        row: u64,
        /// The field.
        field: String,
        /// What it holds.
        found: String,
    },
    /// Parquet that `relscale-records` could not read.
    #[error(transparent)]
    Parquet(#[from] relscale_records::Error),
    /// A row or line that is not what its loader reads: a question without its options, an answer
    /// that is no letter.
    #[error("{}, row {row}: {reason}", path.display())]
    BadRow {
        /// The file.
        path: PathBuf,
        /// Line of the file, from 1, where the row begins.
        row: u64,
        /// What is wrong, and what is expected.
        reason: String,
    },
    /// A folder (or file) that is not laid out as its loader expects.
    #[error("{}: {reason}", path.display())]
    BadLayout {
        /// The folder or file.
        path: PathBuf,
        /// What is missing, and what is expected.
        reason: String,
    },
    /// A file of token ids that is not one.
    #[error("{}: {reason}", path.display())]
    TokenIds {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },

    // The crate sources corpus.
    /// No `Cargo.toml` where one was named.
    #[error("no Cargo.toml at {}; manifest= names that of a workspace with a lock file", given.display())]
    NoManifest {
        /// The path given.
        given: PathBuf,
    },
    /// A manifest, but no lock file beside or above it.
    #[error("no Cargo.lock beside or above {}; run `cargo generate-lockfile` there", manifest.display())]
    NoLockFile {
        /// The manifest.
        manifest: PathBuf,
    },
    /// A lock file that is not one.
    #[error("{} is not a lock file that can be read: {source}", path.display())]
    LockFile {
        /// The lock file.
        path: PathBuf,
        /// What the TOML parser says.
        source: Box<toml::de::Error>,
    },
    /// A held-out list that is not one.
    #[error("the list of held-out crates is broken: {source}")]
    HeldOutList {
        /// What the TOML parser says.
        source: Box<toml::de::Error>,
    },
    /// No usable crate at all.
    #[error(
        "not one crate of the crate sources is on this machine: {because}; cargo fetches them where it has a network"
    )]
    NoCrates {
        /// Why cargo could not be asked.
        because: String,
    },

    // The tokenizer.
    /// A model folder without tokenizer files that we read.
    #[error("{} has neither tokenizer.json nor vocab.json with merges.txt. {}", folder.display(), SAVE_FAST)]
    NoTokenizer {
        /// The folder.
        folder: PathBuf,
    },
    /// A tokenizer in a form that we do not read.
    #[error("{}: this form of tokenizer is not read. {}", path.display(), SAVE_FAST)]
    TokenizerForm {
        /// The file that was found.
        path: PathBuf,
    },
    /// A tokenizer file that cannot be used.
    #[error("{}: not a tokenizer that can be used: {reason}", path.display())]
    BadTokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A text that could not be encoded.
    #[error("document `{document}` cannot be encoded: {reason}")]
    Encode {
        /// The document's id.
        document: String,
        /// What the tokenizer says.
        reason: String,
    },
    /// Spans that are not sorted, disjoint ranges of the text on character boundaries.
    #[error(
        "document `{document}`: span {start}..{end} is not a sorted, disjoint part of a text of {bytes} bytes"
    )]
    BadSpan {
        /// The document's id.
        document: String,
        /// First byte.
        start: usize,
        /// Byte after the last.
        end: usize,
        /// Length of the text.
        bytes: usize,
    },

    // Protocols.
    /// Parameters with which a protocol makes no sense.
    #[error("protocol `{protocol}`: {reason}")]
    BadProtocol {
        /// The protocol's name.
        protocol: &'static str,
        /// What is wrong and what is allowed.
        reason: String,
    },
    /// A text that the protocol cannot score at all.
    #[error(
        "protocol `{protocol}` needs at least {needed} tokens, this text has {tokens}; use a shorter window, join the documents with concat=, or use --protocol document"
    )]
    TooShort {
        /// The protocol's name.
        protocol: &'static str,
        /// Tokens needed.
        needed: usize,
        /// Tokens there are.
        tokens: usize,
    },
}

impl CorpusError {
    /// A reading error with its path, for `map_err`.
    pub(crate) fn read(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Read { path: path.to_owned(), source }
    }
}
