//! What a caller is told on the way. Progress bars, log lines and warnings are made from these, by
//! the program alone.

use std::path::PathBuf;

use relscale_records::study::Totals;

use crate::draw::SEED;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A corpus was read and tokenised, now or by an earlier start whose files these still are.
    CorpusRead {
        /// Its name.
        corpus: String,
        /// Documents.
        documents: u64,
        /// Questions whose options (some of) the documents are.
        items: u64,
        /// Bytes of text.
        bytes: u64,
        /// Tokens of the documents that were tokenised.
        tokens: u64,
        /// Whether these were all; with a limit, some may do.
        whole: bool,
        /// The seed by which documents are drawn, where a limit leaves some out.
        drawn: Option<u64>,
    },
    /// A model was loaded, or recognised by its files.
    ModelLoaded {
        /// Its name.
        model: String,
        /// Its family.
        family: String,
        /// `S`.
        non_embedding: u64,
        /// All its parameters.
        total: u64,
        /// Tensors in its files that the architecture does not use.
        unused_tensors: Vec<String>,
        /// Weights files of its folder that were not read, since others hold the same.
        files_not_read: Vec<String>,
    },
    /// A run begins, or goes on.
    RunStarted {
        /// Name of the model.
        model: String,
        /// Name of the corpus.
        corpus: String,
        /// Folder of the run.
        folder: PathBuf,
        /// Positions of finished parts, from an earlier start.
        already: u64,
        /// Positions in all.
        of: u64,
    },
    /// A batch was scored.
    Progress {
        /// Name of the model.
        model: String,
        /// Name of the corpus.
        corpus: String,
        /// Positions scored so far, finished parts included.
        scored: u64,
        /// Positions in all.
        of: u64,
        /// Tokens that went through the model in this batch.
        fed: u64,
    },
    /// A part is on disk.
    PartFinished {
        /// Its file.
        file: PathBuf,
        /// How many parts are finished.
        parts: u32,
        /// How many there will be.
        of: u32,
    },
    /// A run is finished, now or before.
    RunFinished {
        /// Name of the model.
        model: String,
        /// Name of the corpus.
        corpus: String,
        /// Folder of the run.
        folder: PathBuf,
        /// What was counted.
        totals: Totals,
        /// Whether it was finished before, so that nothing had to be measured.
        reused: bool,
    },
    /// Something the user should know.
    Warning(Warning),
}

/// Something the user should know, though the work goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Rows with a non-finite logit: kept as nulls, in no average.
    NonFinite {
        /// Name of the model.
        model: String,
        /// Name of the corpus.
        corpus: String,
        /// How many.
        rows: u64,
        /// Out of so many.
        of: u64,
    },
    /// Documents without a position that could be scored.
    UnscoredDocuments {
        /// Name of the corpus.
        corpus: String,
        /// How many.
        documents: u64,
        /// Out of so many.
        of: u64,
    },
    /// Options that the model sees with the end of their prompt only.
    PromptsCut {
        /// Name of the corpus.
        corpus: String,
        /// How many.
        options: u64,
        /// Out of so many.
        of: u64,
        /// Tokens of the longest option with its prompt.
        longest: u64,
    },
    /// Files of a tokenizer that contradict each other, or that versions of transformers read
    /// differently.
    Tokenizer {
        /// Name of the first model that has it.
        model: String,
        /// What they say, and what is done.
        note: String,
    },
    /// Tokens for which the model has no row. A text that has one is refused.
    TokensBeyond {
        /// Name of the model.
        model: String,
        /// How many.
        ids: usize,
        /// The largest of them.
        largest: u32,
        /// Rows of the output head.
        rows: u32,
    },
    /// What is to be known of the files of a text: left out, passed over.
    OfFiles {
        /// Name of the corpus.
        corpus: String,
        /// The sentence.
        notice: String,
    },
    /// What an engine has to tell: how it counts, what it met.
    OfEngine {
        /// Name of the model.
        model: String,
        /// The sentence.
        notice: String,
    },
    /// Special tokens that the text spells out (`<|endoftext|>` in a web page): encoded as such.
    SpecialsInText {
        /// Name of the corpus.
        corpus: String,
        /// How many.
        tokens: u64,
    },
    /// A limit that the corpus does not reach.
    ShortCorpus {
        /// Name of the corpus.
        corpus: String,
        /// Positions there are.
        scored: u64,
        /// Positions that were asked for.
        wanted: u64,
    },
    /// A limit takes documents as the runs took them that the study has, which is not the usual
    /// way.
    AsBegun {
        /// Name of the corpus.
        corpus: String,
        /// The limit.
        tokens: u64,
        /// The seed by which they are drawn; `None` for the first.
        seed: Option<u64>,
    },
    /// A limit on a corpus of one document, from which nothing can be drawn.
    OneDocument {
        /// Name of the corpus.
        corpus: String,
    },
    /// Two names for one set of weights: a fit must not count them as two models.
    SameWeights {
        /// One name.
        model: String,
        /// Another.
        other: String,
    },
    /// A part that cannot be read; it is measured again.
    DamagedPart {
        /// Its file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Current runs of a corpus that were not measured alike, so that a fit would mix them.
    Mixed {
        /// Name of the corpus.
        corpus: String,
        /// What differs: `text`, `protocol`, ...
        differs: Vec<&'static str>,
        /// Models whose runs come from earlier sessions.
        models: Vec<String>,
    },
    /// Models that do not share a tokenizer: figures per token do not compare across them.
    DifferentTokenizers {
        /// Name of the corpus.
        corpus: String,
        /// Models, one for each tokenizer.
        models: Vec<String>,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NonFinite { model, corpus, rows, of } => write!(
                f,
                "{model} on {corpus}: {rows} of {of} rows have a non-finite logit; they are kept as nulls and enter no average"
            ),
            Self::UnscoredDocuments { corpus, documents, of } => write!(
                f,
                "{corpus}: {documents} of {of} documents have no position that can be scored (a single token, or no scored span)"
            ),
            Self::PromptsCut { corpus, options, of, longest } => write!(
                f,
                "{corpus}: {options} of {of} options do not fit into the window with their prompt (the longest takes {longest} tokens); the beginning \
                 of the prompt is cut off, solved examples first"
            ),
            Self::Tokenizer { model, note } => write!(f, "{model}: {note}"),
            Self::TokensBeyond { model, ids, largest, rows } => write!(
                f,
                "{model}: {ids} tokens of its tokenizer (up to id {largest}) have no row in its output head of {rows}; no text here may use them"
            ),
            Self::OfFiles { corpus: subject, notice }
            | Self::OfEngine { model: subject, notice } => {
                write!(f, "{subject}: {notice}")
            }
            Self::SpecialsInText { corpus, tokens } => write!(
                f,
                "{corpus}: the text spells out {tokens} special tokens; they are encoded as such, as in the training of the published families"
            ),
            Self::ShortCorpus { corpus, scored, wanted } => {
                write!(f, "{corpus}: {scored} positions in all, {wanted} were asked for")
            }
            Self::AsBegun { corpus, tokens, seed: None } => write!(
                f,
                "{corpus}: its first {tokens} tokens are measured, as by the runs that this study has (--first says so); --seed {SEED} draws \
                 documents from the whole text instead, as new runs"
            ),
            Self::AsBegun { corpus, seed: Some(seed), .. } => write!(
                f,
                "{corpus}: documents are drawn by seed {seed}, as for the runs that this study has (--seed {seed} says so)"
            ),
            Self::OneDocument { corpus } => write!(
                f,
                "{corpus}: it is one document, whose beginning is measured: nothing can be drawn; cut it (split=paragraphs, lines or titles) for a \
                 sample of the whole"
            ),
            Self::SameWeights { model, other } => {
                write!(
                    f,
                    "{model} and {other} have the same weights: they are one model under two names"
                )
            }
            Self::DamagedPart { file, reason } => {
                write!(f, "{} is damaged and is measured again: {reason}", file.display())
            }
            Self::Mixed { corpus, differs, models } => write!(
                f,
                "{corpus}: this study holds runs that differ in {} ({} measured earlier); measure these models again, or use another \
                 folder, before fitting",
                differs.join(", "),
                models.join(", ")
            ),
            Self::DifferentTokenizers { corpus, models } => write!(
                f,
                "{corpus}: models with different tokenizers ({}): figures per token compare only within one; use bits per byte across",
                models.join(", ")
            ),
        }
    }
}
