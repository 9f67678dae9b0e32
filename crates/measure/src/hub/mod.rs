//! A name becomes a local folder or file: here and nowhere else.
//!
//! **Purpose.** `--model EleutherAI/pythia-160m@step1000` and `hf://datasets/OWNER/NAME/FILE` mean
//! files of the Hugging Face Hub. What is in the cache that `huggingface_hub`, `transformers` and
//! vLLM share is used as it is; what is not is fetched into it, in its very layout, so that they
//! find it too.
//!
//! **Actors.**
//!
//! | module | what it does |
//! |---|---|
//! | [`model`] | [`ModelRequest`]: what `--model` means; a local path wins over a name |
//! | [`name`] | [`Repository`]: kind, name, revision; the grammar of both arguments |
//! | [`settings`] | the variables of the environment: places, endpoint, token, offline |
//! | [`cache`] | the layout: refs, snapshots, blobs |
//! | [`wanted`] | which files of a repository are wanted |
//! | [`remote`] | what the Hub says of a repository and its files, and its refusals |
//! | [`fetch`] | one file into the cache: resumed, checked, pointed to |
//! | [`find`] | [`Hub`]: all of it together |
//!
//! **Files on disk.** `models--OWNER--NAME/{refs,snapshots,blobs}` and `.locks` below the cache.
//!
//! **Invariants.**
//! * A revision is pinned to its commit before a file is used, and the commit is recorded.
//! * What the cache has of a revision is used without asking: a branch that moved on does not
//!   change a study that is half done. Whoever wants another commit names it.
//! * Offline opens no socket.
//! * A blob appears only when its size and hash are those that the Hub gave.
//! * The token is sent to the endpoint only, and stands in no message, file or record.
//!
//! **Why our own.** `hf-hub` 0.5 with the same client would add four crates, but of the variables
//! it reads `HF_HOME` and `HF_ENDPOINT` alone (no cache elsewhere, no offline, no token of the
//! environment), compares no hash, and its 1.0 line pulls two hundred crates and an async runtime.
//! The `hf` command needs Python wherever we run, and its words and exit codes are no interface.
//! What is needed of the protocol (two requests, four headers) and of the layout (three folders) is
//! little and old, and is tested here against what `huggingface_hub` itself wrote.

pub mod cache;
pub mod event;
pub mod fetch;
pub mod find;
pub mod model;
pub mod name;
pub mod remote;
pub mod settings;
pub mod wanted;

pub use event::HubEvent;
pub use find::{Found, Hub};
pub use model::ModelRequest;
pub use name::Repository;
pub use settings::Settings;
pub use wanted::Parts;
