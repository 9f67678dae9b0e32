//! A corpus under one tokenizer: token ids and source bytes, made once for all models that share
//! the tokenizer.
//!
//! **Purpose.** To have a text of any length as token ids, in order and as often as there are
//! models, in bounded memory. A run's key holds the hash of the whole text, so a text is read to
//! its end before the first token of it is scored; what was tokenised on the way is kept.
//!
//! **Actors.**
//!
//! | file | what |
//! |---|---|
//! | `corpus` | [`TokenisedCorpus`]: reads documents, hashes and tokenises them, knows what there is to know of them all |
//! | `facts` | [`TextFacts`]: what there is to know of a corpus without its tokens |
//! | `document` | [`TokenisedDocument`], and how one is written down |
//! | `facts` | [`TextFacts`]: what was found, for the record and for later starts |
//! | `drawing` | documents drawn from all as they pass, as many as are needed |
//! | `items` | questions: counted, and refused where nobody could judge them |
//! | `store` | [`Documents`]: one after another in [`crate::scratch`], found by their number |
//!
//! **Invariants.**
//! * Only ids, byte counts, names and tags are kept (8 bytes a token), the text streams through, a
//!   block of documents at a time. In memory are at most [`crate::scratch::MEMORY`] bytes of it and
//!   one document; the rest is in a file without a name.
//! * Where fewer positions are asked for than the corpus has, only as many documents are kept as
//!   have them, drawn or from the first, and the rest is read for its hash alone. While documents
//!   are drawn, half as many bytes again may be in memory.
//! * Where a text is kept changes nothing of what is measured. What is read back is compared with a
//!   checksum: a damaged disk is an error, never a number.

mod corpus;
mod document;
mod drawing;
mod facts;
mod items;
mod store;

pub use corpus::{Keep, TokenisedCorpus};
pub use document::TokenisedDocument;
pub use facts::TextFacts;
pub use store::Documents;
