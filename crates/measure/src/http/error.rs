//! Why there is no answer.

use std::path::PathBuf;
use std::time::Duration;

/// Why a request has no answer. URLs stand here as they may be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Stopped on request.
    #[error("stopped")]
    Cancelled,
    /// Something that is no URL, or none of `http` and `https`.
    #[error(
        "{url}: not a URL that can be asked ({reason}); give one that begins with http:// or https://"
    )]
    BadUrl {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No connection: no network, no such host, nobody listens, a certificate that is not trusted.
    #[error("{url}: no connection ({reason}){}", tried(*tries))]
    Unreachable {
        /// What was asked.
        url: String,
        /// How often it was tried.
        tries: u32,
        /// The last reason.
        reason: String,
    },
    /// A connection that broke before the answer was whole, or a server that did not go on.
    #[error("{url}: the connection broke ({reason}){}", tried(*tries))]
    Broken {
        /// What was asked.
        url: String,
        /// How often it was tried.
        tries: u32,
        /// The last reason.
        reason: String,
    },
    /// A certificate that is not trusted.
    #[error(
        "{url}: the server's certificate is not accepted ({reason}); where a proxy reads along, give its certificates (PEM) by SSL_CERT_FILE"
    )]
    Untrusted {
        /// What was asked.
        url: String,
        /// The reason.
        reason: String,
    },
    /// Certificates that a user gave and that cannot be read.
    #[error("SSL_CERT_FILE {}: {reason}; give a file of certificates in PEM, or unset the variable", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Redirects without end, or to nowhere.
    #[error("{url}: redirected {what}")]
    Redirected {
        /// What was asked.
        url: String,
        /// How.
        what: String,
    },
    /// A server that asks to be left alone for longer than we wait.
    #[error("{url}: the server answers {status} and asks to wait {} s; wait as long, and run the same command again", wait.as_secs())]
    Waits {
        /// What was asked.
        url: String,
        /// Its status.
        status: u16,
        /// How long it wants.
        wait: Duration,
    },
    /// An answer that is longer than any that was expected.
    #[error(
        "{url}: the answer is longer than {limit} bytes; see that the URL is that of the right server"
    )]
    TooLong {
        /// What was asked.
        url: String,
        /// The limit.
        limit: u64,
    },
    /// An answer that is not the JSON that was expected.
    #[error(
        "{url}: the answer is not the JSON that was expected ({reason}); see that the URL is that of the right server"
    )]
    NotJson {
        /// What was asked.
        url: String,
        /// Where and why.
        reason: String,
    },
}

/// How often something was tried, where that was more than once.
fn tried(tries: u32) -> String {
    if tries > 1 { format!(", {tries} times") } else { String::new() }
}
