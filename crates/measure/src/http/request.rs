//! What is sent.

use serde_json::Value;

use super::secret::Secret;

/// Whether redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// To any host; a token stays with the origin that it was given for.
    Follow,
    /// Within the same origin only; one that leads elsewhere is the answer.
    SameOrigin,
    /// Never: the redirect is the answer.
    Return,
}

/// A request: what, to where, with what.
#[derive(Debug, Clone)]
pub struct Request {
    pub(super) method: &'static str,
    pub(super) url: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) bearer: Option<Secret>,
    pub(super) body: Option<Vec<u8>>,
    pub(super) redirects: Redirects,
}

impl Request {
    fn new(method: &'static str, url: &str) -> Self {
        Self {
            method,
            url: url.to_owned(),
            headers: Vec::new(),
            bearer: None,
            body: None,
            redirects: Redirects::Follow,
        }
    }

    /// Asks for what is at a URL.
    pub fn get(url: &str) -> Self {
        Self::new("GET", url)
    }

    /// Asks for the headers of what is at a URL.
    pub fn head(url: &str) -> Self {
        Self::new("HEAD", url)
    }

    /// Sends JSON. Sent again when no answer comes: only for what may be asked twice. A redirect is
    /// never followed, since it would lose the body.
    pub fn post_json(url: &str, json: &Value) -> Self {
        let mut request = Self::new("POST", url).header("Content-Type", "application/json");
        request.body = Some(json.to_string().into_bytes());
        request.redirects = Redirects::Return;
        request
    }

    /// With a header. Not for secrets: [`bearer`](Self::bearer) is.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With `Authorization: Bearer SECRET`, where there is one.
    #[must_use]
    pub fn bearer(mut self, secret: Option<&Secret>) -> Self {
        self.bearer = secret.cloned();
        self
    }

    /// The bytes from this one on; the answer is 206 where the server can do that.
    #[must_use]
    pub fn from_byte(self, first: u64) -> Self {
        match first {
            0 => self,
            first => self.header("Range", format!("bytes={first}-")),
        }
    }

    /// What is done with redirects.
    #[must_use]
    pub fn redirects(mut self, redirects: Redirects) -> Self {
        self.redirects = redirects;
        self
    }
}
