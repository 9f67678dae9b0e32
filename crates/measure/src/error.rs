//! What can go wrong with a measurement, each with what, where, and what to do next.

use std::path::PathBuf;

mod hub;

pub use hub::HubError;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that this crate refuses or fails at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Records: reading, writing, the study folder.
    #[error(transparent)]
    Records(#[from] relscale_records::Error),
    /// Text: loading, tokenising, windows.
    #[error(transparent)]
    Corpus(relscale_corpus::error::CorpusError),
    /// The model's files.
    #[error("model `{model}`: {source}")]
    Model {
        /// Name of the model.
        model: String,
        /// The decoder's reason.
        source: relscale_decoder::error::Error,
    },
    /// A model that is not a local folder, where no name of the Hub is looked up.
    #[error(
        "model `{argument}`: there is no such folder; give a folder with config.json and the weights"
    )]
    NoModelFolder {
        /// What was given.
        argument: String,
    },
    /// Between a name of the Hugging Face Hub and its files.
    #[error(transparent)]
    Hub(Box<HubError>),
    /// A path where nothing is.
    #[error(
        "{}: there is nothing at this path; check the path (a `~` in quotes, or after `=`, is not a home folder), and give a folder with \
         config.json and the weights",
        path.display()
    )]
    NoSuchPath {
        /// The path.
        path: PathBuf,
    },
    /// A file in GGUF, for an engine that reads folders.
    #[error(
        "{}: a GGUF file, which --engine {engine} does not read; --engine local does, and for this one give the folder of the original model (config.json, *.safetensors, tokenizer.json), or convert \
         this one with transformers: `AutoModelForCausalLM.from_pretrained({:?}, gguf_file={:?})` and `AutoTokenizer` likewise, each saved by \
         `save_pretrained(FOLDER)`",
        path.display(),
        folder,
        path.file_name().unwrap_or_default()
    )]
    Gguf {
        /// The file.
        path: PathBuf,
        /// The folder that it lies in.
        folder: PathBuf,
        /// The engine.
        engine: &'static str,
    },
    /// A file, which is no folder.
    #[error(
        "{}: is a file, and a model is a folder with config.json, weights and tokenizer; give its folder{}",
        path.display(),
        folder.as_ref().map(|folder| format!(", {}", folder.display())).unwrap_or_default()
    )]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// The folder that it lies in, where that holds a model.
        folder: Option<PathBuf>,
    },
    /// A folder without a configuration.
    #[error("{}: no config.json here, so this is not a Hugging Face model folder; give the folder that holds config.json and the weights", folder.display())]
    NoConfig {
        /// The folder.
        folder: PathBuf,
    },
    /// Two models under one name.
    #[error("two models are called `{name}` ({} and {}): rename one with NAME=FOLDER", first.display(), second.display())]
    SameName {
        /// The name.
        name: String,
        /// One folder.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// Two corpora under one name.
    #[error("two corpora are called `{name}`: rename one with NAME=SPEC")]
    SameCorpusName {
        /// The name.
        name: String,
    },
    /// A study whose runs of a corpus took documents in several ways, and nobody says which.
    #[error(
        "{corpus}: runs of this study took {tokens} tokens in more than one way ({}); give the one that is meant",
        ways.join(", ")
    )]
    SeveralDraws {
        /// Name of the corpus.
        corpus: String,
        /// The limit.
        tokens: u64,
        /// The options that ask for two of them.
        ways: [String; 2],
    },
    /// An option that an engine does not take.
    #[error("engine `{engine}` does not take {option}; it takes {takes}")]
    EngineOption {
        /// Name of the engine.
        engine: &'static str,
        /// The option.
        option: &'static str,
        /// Those that it takes.
        takes: String,
    },
    /// An engine without an option that it cannot do without.
    #[error("engine `{engine}` needs {option}; say for example {example}")]
    EngineNeeds {
        /// Name of the engine.
        engine: &'static str,
        /// The option.
        option: &'static str,
        /// How it may look.
        example: &'static str,
    },
    /// A server that cannot measure a model, found out before anything was measured.
    #[error("{url}: {reason}; {hint}")]
    Server {
        /// Its address.
        url: String,
        /// What is missing or wrong.
        reason: String,
        /// What to do.
        hint: String,
    },
    /// A folder that does not say enough of the model that runs elsewhere.
    #[error("{}: {reason}; {hint}", folder.display())]
    EngineFolder {
        /// The folder.
        folder: PathBuf,
        /// What is missing.
        reason: String,
        /// What to do.
        hint: &'static str,
    },
    /// Known tokens asked of an engine that ranks over all rows.
    #[error(
        "engine `{engine}` ranks over all rows of the output head and can leave none out; say --vocab rows, or nothing"
    )]
    OnlyRows {
        /// Name of the engine.
        engine: String,
    },
    /// A tie rule that cannot be had from an engine without ties.
    #[error(
        "engine `{engine}` tells no ties and counts equal logits {}, and protocol `{protocol}` the other way; take another protocol, \
         or an engine that tells ties",
        match rule {
            relscale_records::provenance::TieRule::AtLeast => "against the model (>=)",
            relscale_records::provenance::TieRule::Greater => "in the model's favour (>)",
        }
    )]
    OtherTies {
        /// Name of the engine.
        engine: String,
        /// Name of the protocol.
        protocol: String,
        /// The engine's rule.
        rule: relscale_records::provenance::TieRule,
    },
    /// A prefix for which the model has no row.
    #[error(
        "model `{model}`: the token to be put before a text has id {id} ({reason}), but the output head has {rows} rows; give another by \
         --bos ID, or none by --bos none"
    )]
    PrefixTooLarge {
        /// Name of the model.
        model: String,
        /// The id.
        id: u32,
        /// Where it comes from.
        reason: String,
        /// Rows of the output head.
        rows: u32,
    },
    /// A text with a token of the model's own tokenizer for which the model has no row.
    #[error(
        "model `{model}`: its tokenizer does not fit it: corpus `{corpus}`, document `{document}` has token id {id}, the tokenizer ids up \
         to {largest_id} ({size} entries), the output head {rows} rows; take tokenizer and weights from the same model"
    )]
    TokenizerTooLarge {
        /// Name of the corpus.
        corpus: String,
        /// Id of the document.
        document: String,
        /// The id.
        id: u32,
        /// Name of the model.
        model: String,
        /// Largest id of the tokenizer.
        largest_id: u32,
        /// Entries of the tokenizer, added ones included.
        size: u32,
        /// Rows of the output head.
        rows: u32,
    },
    /// A model folder without a tokenizer, where one is needed.
    #[error(
        "model `{model}`: its folder has no tokenizer (tokenizer.json, or vocab.json and merges.txt; other forms, such as tokenizer.model, \
         are not read: transformers' AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes tokenizer.json), so it can be \
         measured on token ids only, and with all rows of the head counted: put the tokenizer there, or use a corpus of ids and \
         `--vocab rows`"
    )]
    NoTokenizer {
        /// Name of the model.
        model: String,
    },
    /// A token of the text that takes no part in ranks.
    #[error(
        "corpus `{corpus}`, document `{document}`, position {position}: token id {id} is none of the tokenizer of model `{model}`; \
         the ids were made by another tokenizer, or count all rows with `--vocab rows`"
    )]
    UnknownId {
        /// Name of the corpus.
        corpus: String,
        /// Id of the document.
        document: String,
        /// Index of the token.
        position: usize,
        /// The id.
        id: u32,
        /// Name of the model.
        model: String,
    },
    /// A token of the text for which the model has no row.
    #[error(
        "corpus `{corpus}`, document `{document}`, position {position}: token id {id}, but model `{model}` has only {rows} rows; \
         the ids were made by another tokenizer"
    )]
    IdTooLarge {
        /// Name of the corpus.
        corpus: String,
        /// Id of the document.
        document: String,
        /// Index of the token.
        position: usize,
        /// The id.
        id: u32,
        /// Name of the model.
        model: String,
        /// Rows of its output head.
        rows: u32,
    },
    /// A corpus without documents.
    #[error("corpus `{corpus}`: it has no documents; check its path and options")]
    EmptyCorpus {
        /// Name of the corpus.
        corpus: String,
    },
    /// A question with options that could not be judged once it was measured.
    #[error(
        "corpus `{corpus}`, question {item}: {reason}; mend its tags item, option, gold (docs/formats.md), or leave out tag=gold to measure its \
         texts alone"
    )]
    BadItem {
        /// Name of the corpus.
        corpus: String,
        /// The question's name, or where it begins.
        item: String,
        /// What is wrong.
        reason: String,
    },
    /// More documents or tokens than the records can number.
    #[error("corpus `{corpus}`: {what} exceed 4 294 967 295; split the corpus")]
    TooLarge {
        /// Name of the corpus.
        corpus: String,
        /// What there are too many of.
        what: &'static str,
    },
    /// A corpus in which no position can be scored.
    #[error(
        "corpus `{corpus}`: none of its {documents} documents has a position that can be scored (a first token is scored only with a \
         prefix, and spans may leave nothing); give longer documents, or a prefix"
    )]
    NothingToScore {
        /// Name of the corpus.
        corpus: String,
        /// How many documents there are.
        documents: usize,
    },
    /// An option of a question that the protocol does not score as a whole.
    #[error(
        "corpus `{corpus}`: of the scored text of `{document}`, the protocol reaches {scored} of its {wanted} bytes, and a part of an option \
         has another likelihood; use --protocol document (it scores every token, and cuts the context from the left where a question is longer \
         than the window), or --bos when a scored text begins at the first token"
    )]
    OptionNotReached {
        /// Name of the corpus.
        corpus: String,
        /// Id of the document.
        document: String,
        /// Bytes of the scored tokens.
        scored: u64,
        /// Bytes of the spans.
        wanted: u64,
    },
    /// A limit of zero tokens.
    #[error("a limit of 0 tokens leaves nothing to measure; give at least 1, or no limit")]
    ZeroLimit,
    /// Every single row had a non-finite logit.
    #[error(
        "model `{model}` on corpus `{corpus}`: all {rows} rows measured so far have a non-finite logit (NaN or infinity), so there is no rank \
         to speak of; the weights are damaged or overflow: check the checkpoint (the rows are kept as nulls in {})",
        folder.display()
    )]
    AllNonFinite {
        /// Name of the model.
        model: String,
        /// Name of the corpus.
        corpus: String,
        /// How many rows.
        rows: u64,
        /// Folder of the run.
        folder: PathBuf,
    },
    /// A run of the same key whose plan is another one.
    #[error(
        "{}: this run was started with another layout of its documents ({found} positions, now {wanted}), by another version of the program; \
         move the folder away and run the same command again",
        folder.display()
    )]
    OtherLayout {
        /// Folder of the run.
        folder: PathBuf,
        /// Positions in its plan.
        found: u64,
        /// Positions in the plan of now.
        wanted: u64,
    },
    /// An engine failed.
    #[error(
        "engine `{engine}` failed: {reason}; finished parts are kept: run the same command again to go on"
    )]
    Engine {
        /// Name of the engine.
        engine: String,
        /// Its reason.
        reason: String,
    },
    /// The process of an engine failed.
    #[error(
        "engine `{engine}`, model `{model}`: {reason}; finished parts are kept, and the same command goes on from there"
    )]
    EngineProcess {
        /// Name of the engine.
        engine: String,
        /// Name of the model.
        model: String,
        /// What its process did.
        reason: String,
    },
    /// An engine's answer is not one.
    #[error(
        "engine `{engine}` gave a wrong answer for document `{document}`: {reason}; this is a fault of the engine, please report it"
    )]
    BadAnswer {
        /// Name of the engine.
        engine: String,
        /// Id of the document.
        document: String,
        /// What is wrong.
        reason: String,
    },
    /// A protocol that names positions out of order or twice.
    #[error(
        "protocol `{protocol}` on document `{document}`: {reason}; this is a fault of the protocol, please report it"
    )]
    BadWindows {
        /// Name of the protocol.
        protocol: String,
        /// Id of the document.
        document: String,
        /// What is wrong.
        reason: String,
    },
    /// The tokens of a text could not be kept while it is measured.
    #[error(
        "{}: cannot keep the tokens of a text here while it is measured ({bytes} bytes so far): {source}; {}; nothing that was measured is lost",
        folder.display(),
        room(source)
    )]
    Keep {
        /// The study's folder.
        folder: PathBuf,
        /// How many bytes were to be kept when it failed.
        bytes: u64,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The tokens of a text cannot be read back.
    #[error(
        "{}: the tokens of a text that were kept here (in a file without a name) cannot be read back: {source}; check the disk, and run the same          command again to go on: finished parts are kept",
        folder.display()
    )]
    ReadBack {
        /// The study's folder.
        folder: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Stopped on request.
    #[error("stopped; all finished parts are kept: run the same command again to go on")]
    Cancelled,
}

impl From<relscale_corpus::error::CorpusError> for Error {
    /// A reading that was stopped is work that was stopped.
    fn from(error: relscale_corpus::error::CorpusError) -> Self {
        match error {
            relscale_corpus::error::CorpusError::Stopped => Self::Cancelled,
            error => Self::Corpus(error),
        }
    }
}

impl From<HubError> for Error {
    fn from(error: HubError) -> Self {
        Self::Hub(Box::new(error))
    }
}

/// What to do when tokens cannot be kept.
fn room(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "a whole text takes 8 bytes a token there until it is measured: free some space, or measure a beginning with --tokens N, and run the \
             command again"
        }
        _ => "see that the study's folder can be written to, and run the same command again",
    }
}
