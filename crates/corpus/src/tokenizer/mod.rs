//! Text to token ids, with the number of source bytes that each token covers.
//!
//! The actors:
//!
//! | file | what it does |
//! |---|---|
//! | [`mod@folder`] | reads `tokenizer.json`, or `vocab.json` + `merges.txt` where a folder has only these |
//! | `class` | what a class of transformers takes for granted |
//! | `declared` | what the smaller files say: added tokens, roles, flags |
//! | [`mod@gguf`], `split` | the tokenizer of a GGUF file, by its metadata; how its names split a text |
//! | [`mod@specials`] | beginning- and end-of-text as the folder names them; what a post-processor would have added |
//! | [`mod@bytes`] | which source bytes belong to which token |
//! | `vocabulary` | what each id stands for, as text |
//! | [`mod@blocks`] | very long texts in blocks, so that memory stays bounded |
//! | `guard` | the library's panics as refusals |
//!
//! Files read: `tokenizer.json`, otherwise `vocab.json` and `merges.txt` by the class that
//! `tokenizer_config.json` or `config.json` name; and, for added tokens and roles,
//! `tokenizer_config.json`, `special_tokens_map.json`, `added_tokens.json`. The hash of what
//! decided ids is [`Tokenizer::sha256`].
//!
//! Invariants: nothing is ever added to the text's own tokens here (beginning-of-text is put in by
//! the protocol, by id, and recorded); truncation, padding and BPE dropout that a file may ask for
//! are switched off; the bytes of a document's tokens sum to the byte length of its text.
//!
//! Text that spells a special token (`<|endoftext|>` in a web page) is encoded as that token, as
//! `transformers` does and as the training data of the published families was encoded;
//! [`Encoded::specials`] counts these so that the run can say so.

pub mod blocks;
pub mod bytes;
mod class;
mod declared;
pub mod folder;
pub mod gguf;
mod guard;
pub mod specials;
mod split;
mod vocabulary;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use relscale_records::Vocabulary;

use crate::document::Document;
use crate::error::{CorpusError, Result};
use blocks::BlockRule;
use bytes::SourceLengths;
pub use folder::TokenizerSource;
pub use gguf::GgufVocabulary;
use guard::guarded;
pub use specials::{AddedByProcessor, NamedSpecials};

/// Ids are below this: no model has more rows, and a file that names a larger one asks for a table
/// of that length.
pub const MOST_IDS: u32 = 1 << 24;

/// Blocks of a long text that are encoded before they are put to the others: enough for every
/// thread to have some.
const BLOCKS_AT_ONCE: usize = 64;

/// A document as token ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Encoded {
    /// Token ids, in order, nothing added.
    pub ids: Vec<u32>,
    /// Source bytes that each token covers, as long as `ids`; sums to the byte length of the text.
    pub bytes: Vec<u32>,
    /// How many of the ids are special tokens that the text spells out.
    pub specials: usize,
}

impl Encoded {
    /// Ids that came without text: no token covers a known number of bytes.
    pub fn from_ids(ids: Vec<u32>) -> Self {
        Self { bytes: vec![0; ids.len()], ids, specials: 0 }
    }

    /// Bytes of source that all tokens cover together.
    pub fn total_bytes(&self) -> u64 {
        self.bytes.iter().map(|b| u64::from(*b)).sum()
    }
}

/// The sizes that are all called "vocabulary size"; the third one, the rows of the output head, is
/// the model's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenizerSizes {
    /// Entries of the tokenizer's model (Pythia: 50 254).
    pub tokenizer: u32,
    /// With added tokens, special or not (Pythia: 50 277).
    pub with_added: u32,
}

/// A tokenizer of the Hugging Face kind, restricted to what measuring needs.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    source: TokenizerSource,
    sha256: String,
    sizes: TokenizerSizes,
    known: Vec<u32>,
    special_ids: BTreeSet<u32>,
    role_ids: BTreeSet<u32>,
    named: NamedSpecials,
    notes: Vec<String>,
    added_by_processor: AddedByProcessor,
    lengths: SourceLengths,
    blocks: BlockRule,
    /// Whether a text's bytes may be had from the tokens alone.
    spells: bool,
}

impl Tokenizer {
    /// Loads the tokenizer of a model folder.
    ///
    /// # Errors
    /// Neither form is there, a file cannot be read, or it is not a tokenizer.
    pub fn from_folder(folder: &Path) -> Result<Self> {
        let loaded = folder::load(folder)?;
        let where_from = folder.join(loaded.source.main_file());
        Self::build(loaded, &where_from)
    }

    /// The tokenizer that the metadata of a GGUF file describe; `path` is the file's, for messages.
    ///
    /// # Errors
    /// It is of a kind that is not read, or contradicts itself.
    pub fn from_gguf(vocabulary: &GgufVocabulary, path: &Path) -> Result<Self> {
        Self::build(gguf::load(vocabulary, path)?, path)
    }

    /// Takes the text of a `tokenizer.json`, e.g. of a tokenizer just trained. No special token has
    /// a named role.
    ///
    /// # Errors
    /// It is not a tokenizer.
    pub fn from_json(json: &str) -> Result<Self> {
        let loaded = folder::from_json(json.as_bytes(), Path::new("tokenizer.json"))?;
        Self::build(loaded, Path::new("tokenizer.json"))
    }

    fn build(loaded: folder::Loaded, path: &Path) -> Result<Self> {
        let folder::Loaded { inner, source, sha256, named, with_a_role, added_by_processor, notes } =
            loaded;
        let bad = |reason: String| CorpusError::BadTokenizer { path: path.to_owned(), reason };
        let mut known: Vec<u32> = inner.get_vocab(true).into_values().collect();
        known.sort_unstable();
        known.dedup();
        match known.last() {
            None => return Err(bad("its vocabulary is empty".into())),
            // Tables by id are as long as the largest.
            Some(&id) if id >= MOST_IDS => {
                return Err(bad(format!(
                    "token id {id} is beyond any model's output head ({MOST_IDS} rows)"
                )));
            }
            Some(_) => {}
        }
        let size = |with_added| u32::try_from(inner.get_vocab_size(with_added)).unwrap_or(u32::MAX);
        Ok(Self {
            sizes: TokenizerSizes { tokenizer: size(false), with_added: size(true) },
            special_ids: inner
                .get_added_tokens_decoder()
                .into_iter()
                .filter(|(_, token)| token.special)
                .map(|(id, _)| id)
                .collect(),
            lengths: SourceLengths::from_tokenizer(&inner),
            blocks: BlockRule::from_tokenizer(&inner),
            spells: blocks::keeps_boundaries(inner.get_normalizer()),
            inner,
            source,
            sha256,
            known,
            role_ids: with_a_role.into_iter().collect(),
            named,
            notes,
            added_by_processor,
        })
    }

    /// Encodes one text, specials off.
    ///
    /// # Errors
    /// The tokenizer refuses the text (an unknown character and no unknown token); a stretch of it
    /// is too long ([`blocks`]).
    pub fn encode(&self, text: &str) -> Result<Encoded> {
        self.encode_until(text, &AtomicBool::new(false))
    }

    /// Encodes a text block by block, in parallel; gives up between two blocks as soon as `stop` is
    /// set.
    fn encode_until(&self, text: &str, stop: &AtomicBool) -> Result<Encoded> {
        let blocks = self.blocks.split(text).map_err(|long| CorpusError::TooLongToEncode {
            document: excerpt(text),
            start: long.start,
            bytes: long.bytes,
            limit: long.limit,
        })?;
        let block = |block: &&str| match stop.load(Ordering::Relaxed) {
            true => Err(CorpusError::Stopped),
            false => self.encode_block(block),
        };
        if let [one] = blocks.as_slice() {
            return block(one);
        }
        let mut encoded = Encoded::default();
        // A few at a time: all of them at once, beside what they are put together to, are the
        // text's tokens twice.
        for some in blocks.chunks(BLOCKS_AT_ONCE) {
            let parts: Vec<Result<Encoded>> = some.par_iter().map(block).collect();
            for part in parts {
                let Encoded { ids, bytes, specials } = part?;
                encoded.ids.extend(ids);
                encoded.bytes.extend(bytes);
                encoded.specials += specials;
            }
        }
        Ok(encoded)
    }

    fn encode_block(&self, block: &str) -> Result<Encoded> {
        let refused = |reason: String| CorpusError::Encode { document: excerpt(block), reason };
        let specials = |ids: &[u32]| ids.iter().filter(|id| self.special_ids.contains(id)).count();
        // Offsets cost half of the time. NFC leaves ASCII as it is; what it makes of other text may
        // have another length.
        if self.spells && (block.is_ascii() || self.inner.get_normalizer().is_none()) {
            let encoding = guarded(|| self.inner.encode_fast(block, false)).map_err(refused)?;
            let ids = encoding.get_ids();
            if let Some(bytes) = self.lengths.spelled(ids, block.len()) {
                return Ok(Encoded { ids: ids.to_vec(), bytes, specials: specials(ids) });
            }
        }
        let encoding = guarded(|| self.inner.encode(block, false)).map_err(refused)?;
        let ids = encoding.get_ids();
        let bytes = self.lengths.per_token(ids, encoding.get_offsets(), block.len());
        Ok(Encoded { bytes, specials: specials(ids), ids: ids.to_vec() })
    }

    /// Encodes one document; one that carries ids already is passed through.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`], naming the document; spans that do not fit the text.
    pub fn encode_document(&self, document: &Document) -> Result<Encoded> {
        self.encode_document_until(document, &AtomicBool::new(false))
    }

    fn encode_document_until(&self, document: &Document, stop: &AtomicBool) -> Result<Encoded> {
        document.check_spans()?;
        let name = || document.id.clone();
        match &document.ids {
            Some(ids) => Ok(Encoded::from_ids(ids.clone())),
            None => self.encode_until(&document.text, stop).map_err(|error| match error {
                CorpusError::Encode { reason, .. } => {
                    CorpusError::Encode { document: name(), reason }
                }
                CorpusError::TooLongToEncode { start, bytes, limit, .. } => {
                    CorpusError::TooLongToEncode { document: name(), start, bytes, limit }
                }
                other => other,
            }),
        }
    }

    /// Encodes many documents in parallel; the result is in their order and does not depend on the
    /// threads.
    ///
    /// # Errors
    /// That of the first document, in order, which has one.
    pub fn encode_all(&self, documents: &[Document]) -> Result<Vec<Encoded>> {
        self.encode_all_until(documents, &AtomicBool::new(false))
    }

    /// As [`Tokenizer::encode_all`], given up soon after `stop` is set by another thread.
    ///
    /// # Errors
    /// [`CorpusError::Stopped`], besides.
    pub fn encode_all_until(
        &self,
        documents: &[Document],
        stop: &AtomicBool,
    ) -> Result<Vec<Encoded>> {
        let encoded: Vec<Result<Encoded>> =
            documents.par_iter().map(|d| self.encode_document_until(d, stop)).collect();
        encoded.into_iter().collect()
    }

    /// Which files it came from.
    pub fn source(&self) -> TokenizerSource {
        self.source
    }

    /// sha256 of the files that decide ids, hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Its sizes.
    pub fn sizes(&self) -> TokenizerSizes {
        self.sizes
    }

    /// The ids that some token maps to, ascending. Rows of the output head without one are padding
    /// (`docs/methods.md`).
    pub fn known_ids(&self) -> &[u32] {
        &self.known
    }

    /// For each row of an output head of `rows` rows, whether some token maps to it. Tokens beyond
    /// them are left out ([`Tokenizer::beyond`]).
    pub fn known_rows(&self, rows: usize) -> Vec<bool> {
        let mut mask = vec![false; rows];
        let inside = self.known.iter().filter(|id| (**id as usize) < rows);
        inside.for_each(|&id| mask[id as usize] = true);
        mask
    }

    /// The tokens for which an output head of `rows` rows has none: a text without them can be
    /// scored, one with them cannot.
    pub fn beyond(&self, rows: usize) -> &[u32] {
        &self.known[self.known.partition_point(|&id| (id as usize) < rows)..]
    }

    /// Ids of tokens marked as special.
    pub fn special_ids(&self) -> &BTreeSet<u32> {
        &self.special_ids
    }

    /// Ids of the tokens with a role, by the folder's files or its class: `all_special_ids` of
    /// transformers. A token may be marked as special and have none (Pythia's padding).
    pub fn role_ids(&self) -> &BTreeSet<u32> {
        &self.role_ids
    }

    /// What the user should know of the folder's files: where they contradict each other, or
    /// versions of transformers differ.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Beginning-of-text, end-of-text and so on, as the folder's configuration names them.
    pub fn named_specials(&self) -> &NamedSpecials {
        &self.named
    }

    /// What this tokenizer would have put around each text by itself (OPT: `</s>` before it). It is
    /// not done here; a protocol's prefix does it openly.
    pub fn added_by_processor(&self) -> &AddedByProcessor {
        &self.added_by_processor
    }

    /// What each id stands for, added tokens included: text, special, or bytes that are no whole
    /// characters.
    ///
    /// # Errors
    /// None that can occur: ids are distinct. The type of the records refuses others.
    pub fn vocabulary(&self) -> Result<Vocabulary> {
        Ok(vocabulary::entries(&self.inner, &self.sha256, &self.special_ids)?)
    }

    /// Id of a token given as text.
    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }

    /// A token as the vocabulary spells it (byte-level alphabets included), for tables and
    /// messages.
    pub fn id_to_token(&self, id: u32) -> Option<String> {
        self.inner.id_to_token(id)
    }
}

/// The first characters of a text, to point at it in a message.
fn excerpt(text: &str) -> String {
    let head: String = text.chars().take(40).collect();
    if head.len() < text.len() { format!("{head}...") } else { head }
}
