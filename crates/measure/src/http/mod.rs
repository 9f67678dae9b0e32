//! The one place where a socket is opened: a small blocking client for hubs and servers.
//!
//! | module | what |
//! |---|---|
//! | [`client`] | [`Client`]: sends, follows redirects, tries again; [`Response`]: status, headers, body |
//! | [`request`] | [`Request`]: what is sent; [`Redirects`]: whether they are followed |
//! | [`retry`] | [`Retry`]: how often, how long between; what a server asks for |
//! | [`secret`] | [`Secret`]: a token that no message shows |
//! | [`url`] | hosts, redirects and names in URLs, and a URL as messages may show it |
//! | [`error`] | [`HttpError`] |
//!
//! **Invariants.**
//! * TLS is verified, against Mozilla's roots or those of `SSL_CERT_FILE`.
//! * A token goes to the host that it was meant for, and to no other after a redirect.
//! * Neither tokens nor what stands behind `?` of a URL (signatures) reach a message.
//! * A status is an answer, not an error: whoever asked judges it. Errors are those of connections.
//! * Nothing waits for ever: each step has its limit, and a cancelled client stops at the next one.
//!
//! Built on `ureq`: blocking, without an async runtime; a thread a request in flight is what our
//! callers have anyway.

pub mod client;
pub mod error;
pub mod request;
pub mod retry;
pub mod secret;
pub mod url;

pub use client::{Client, Limits, Response};
pub use error::HttpError;
pub use request::{Redirects, Request};
pub use retry::{Attempt, Retry};
pub use secret::Secret;
