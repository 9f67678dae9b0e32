//! What can go wrong between a name of the Hugging Face Hub and its files, each with what to do.

use std::io;
use std::path::PathBuf;

use crate::http::HttpError;

/// Why a name of the Hub has not become files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// Something that cannot be a name of the Hub.
    #[error(
        "`{given}`: not a name of the Hugging Face Hub ({reason}); give OWNER/NAME, or OWNER/NAME@REVISION{form}"
    )]
    BadName {
        /// What was given.
        given: String,
        /// What is wrong with it.
        reason: String,
        /// The form of a data set's file, where one was meant.
        form: &'static str,
    },
    /// No folder for the cache.
    #[error(
        "the Hugging Face cache has no place: none of HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME and HOME is set; give one by HF_HOME=FOLDER"
    )]
    NoPlace,
    /// Not in the cache, and nothing may be fetched.
    #[error(
        "{what}: {missing} not in the cache ({}), and {why}, so no connection was opened; allow it to be fetched, or put it there with \
         `{command}` on a machine that shares the cache",
        cache.display()
    )]
    Offline {
        /// The repository and revision.
        what: String,
        /// What is missing, with its verb.
        missing: String,
        /// The cache's folder.
        cache: PathBuf,
        /// By what fetching is forbidden.
        why: &'static str,
        /// What would fetch it.
        command: String,
    },
    /// A repository whose terms have to be accepted first.
    #[error(
        "{what}: it is gated, and its terms have to be accepted first; sign in, accept them at {page}, and {}",
        token_advice(*token)
    )]
    Gated {
        /// The repository.
        what: String,
        /// Its page.
        page: String,
        /// Whether a token was sent.
        token: bool,
    },
    /// No such repository, or one that this user may not see: the Hub does not tell which.
    #[error(
        "{what}: the Hub knows no such {kind}, or it is private; check the name at {page}{}",
        if *token { ", and that the token's account may read it" } else { "; for a private one, give a token by HF_TOKEN or `hf auth login`" }
    )]
    NoRepository {
        /// The repository.
        what: String,
        /// `model` or `data set`.
        kind: &'static str,
        /// Its page.
        page: String,
        /// Whether a token was sent.
        token: bool,
    },
    /// A token that is not accepted.
    #[error(
        "{what}: the Hub does not accept the token ({place}); make a new one (`hf auth login`), or take it away to go without"
    )]
    BadToken {
        /// The repository.
        what: String,
        /// Where the token comes from.
        place: String,
    },
    /// No such branch, tag or commit.
    #[error(
        "{what}: the repository has no revision `{revision}`; its branches, tags and commits stand at {page}"
    )]
    NoRevision {
        /// The repository.
        what: String,
        /// The revision.
        revision: String,
        /// Where they stand.
        page: String,
    },
    /// No such file.
    #[error("{what}: there is no file `{file}`{}; all stand at {page}", some_of(near))]
    NoFile {
        /// The repository and commit.
        what: String,
        /// The file, folder or pattern.
        file: String,
        /// Files of similar names.
        near: Vec<String>,
        /// Where all stand.
        page: String,
    },
    /// A repository without weights that can be read.
    #[error(
        "{what}: it has no weights that are read (model.safetensors or pytorch_model.bin, or their shards){}; take another repository of the \
         same model, or convert it with transformers' save_pretrained",
        some_of(has)
    )]
    NoWeights {
        /// The repository and commit.
        what: String,
        /// Weights of other kinds that it has.
        has: Vec<String>,
    },
    /// A status that means nothing in particular.
    #[error(
        "{what}: the Hub answers {status}{}; try again later, and see https://status.huggingface.co",
        said(message)
    )]
    Status {
        /// What was asked for.
        what: String,
        /// The status.
        status: u16,
        /// What it says.
        message: String,
    },
    /// A server that is no hub.
    #[error(
        "{url}: the answer is not that of a hub ({reason}); check HF_ENDPOINT, and proxies on the way"
    )]
    NoHub {
        /// What was asked.
        url: String,
        /// What is missing.
        reason: String,
    },
    /// No connection.
    #[error(
        "{what}: not (wholly) in the cache, and the Hub cannot be reached: {source}; see to the network (HTTPS_PROXY, HF_ENDPOINT), or put it into \
         the cache by other means; what came is kept"
    )]
    NoConnection {
        /// The repository.
        what: String,
        /// Why.
        source: HttpError,
    },
    /// A file that did not come whole.
    #[error(
        "{what}: {file} came only to {done} of {of} bytes: {reason}; run the same command again: it goes on there"
    )]
    Cut {
        /// The repository.
        what: String,
        /// The file.
        file: String,
        /// Bytes that are there.
        done: u64,
        /// Bytes of the whole.
        of: u64,
        /// Why.
        reason: String,
    },
    /// A file that is not what the Hub says it is.
    #[error(
        "{what}: {file} came whole, but is not what the Hub says it is ({reason}); it was thrown away: run the same command again, and if that does \
         not help, look for a proxy or mirror (HF_ENDPOINT) that changes files"
    )]
    Wrong {
        /// The repository.
        what: String,
        /// The file.
        file: String,
        /// Which hash or size was wanted and found.
        reason: String,
    },
    /// The cache cannot be written to.
    #[error("{}: cannot keep what is fetched: {source}; {}", path.display(), room(source, *missing))]
    Keep {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
        /// Bytes that are still to come.
        missing: u64,
    },
}

/// What to do about access.
fn token_advice(token: bool) -> &'static str {
    match token {
        true => "see that the token is of that account and may read gated repositories",
        false => "give a token of that account by HF_TOKEN or `hf auth login`",
    }
}

/// A few names, in brackets.
fn some_of(names: &[String]) -> String {
    let some: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
    let more = if names.len() > 5 { ", ..." } else { "" };
    if some.is_empty() { String::new() } else { format!(" (there are {}{more})", some.join(", ")) }
}

/// What a server says, where it says something.
fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(" ({message})") }
}

/// What to do when the cache cannot be written to.
fn room(source: &io::Error, missing: u64) -> String {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!(
            "the disk is full, and {missing} bytes are still to come: free some space, or give a cache with room by HF_HUB_CACHE=FOLDER, and run \
             the same command again: it goes on there"
        ),
        _ => "give a cache that can be written to by HF_HUB_CACHE=FOLDER, and run the same command again".to_owned(),
    }
}
