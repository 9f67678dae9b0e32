//! The client: sends a request, follows redirects, tries again what may pass.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::{HeaderMap, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Timeout};

use super::error::HttpError;
use super::request::{Redirects, Request};
use super::retry::{Attempt, Retry, asked_wait};
use super::url::{is_here, origin, redirected, shown};

/// Most redirects of one request.
const REDIRECTS: usize = 10;

/// How often a wait looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// How long a step may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// To find the host, and to connect.
    pub connect: Duration,
    /// From the request to the first byte of its answer.
    pub answer: Duration,
    /// Between two reads of an answer, or two writes of a request.
    pub silence: Duration,
}

impl Default for Limits {
    /// For servers that answer at once and then send much.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(30),
            silence: Duration::from_secs(60),
        }
    }
}

/// Called for each try that is followed by another.
pub type AttemptListener = Arc<dyn Fn(Attempt<'_>) + Send + Sync>;

/// A client; cheap to clone, and shared by threads.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    retry: Retry,
    cancel: Arc<AtomicBool>,
    listener: Option<AttemptListener>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("retry", &self.retry).finish_non_exhaustive()
    }
}

impl Client {
    /// A client; nothing is opened yet. `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are
    /// followed, but not on the way to this machine; certificates are judged by Mozilla's roots, or
    /// those of `SSL_CERT_FILE`.
    ///
    /// # Errors
    /// [`HttpError::Certificates`].
    pub fn new(limits: Limits, retry: Retry) -> Result<Self, HttpError> {
        let roots = match std::env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty()) {
            Some(path) => certificates(path.into())?,
            None => RootCerts::WebPki,
        };
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .user_agent(concat!("relscale/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(limits.connect))
            .timeout_connect(Some(limits.connect))
            .timeout_recv_response(Some(limits.answer))
            .timeout_per_read(Some(limits.silence.max(limits.answer)))
            .timeout_per_write(Some(limits.silence))
            // One for each request in flight of a busy client.
            .max_idle_connections(256)
            .max_idle_connections_per_host(256)
            .build()
            .new_agent();
        Ok(Self { agent, retry, cancel: Arc::default(), listener: None })
    }

    /// Stops at its next step once the flag is set: between two tries, while it waits, between two
    /// reads. A server that thinks is waited for, up to [`Limits::answer`].
    #[must_use]
    pub fn cancelled_by(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancel = flag;
        self
    }

    /// Calls `listener` for each try that is followed by another.
    #[must_use]
    pub fn on_retry(mut self, listener: AttemptListener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// The same client with other tries.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sends, and gives back the answer when its headers are there; the body comes as it is read.
    /// An answer of any status is one, once there are no tries left for it.
    ///
    /// # Errors
    /// [`HttpError`], where there is no answer.
    pub fn send(&self, request: &Request) -> Result<Response, HttpError> {
        self.trying(request, Ok)
    }

    /// Sends, and reads the answer whole; one that breaks in the middle is tried again.
    ///
    /// # Errors
    /// [`HttpError`]; [`HttpError::TooLong`] past `limit` bytes.
    pub fn exchange(&self, request: &Request, limit: u64) -> Result<Whole, HttpError> {
        self.trying(request, |response| response.whole(limit))
    }

    /// Waits as after a failed try, for whoever tries again by other means: after a body that broke
    /// in the middle.
    ///
    /// # Errors
    /// [`HttpError::Cancelled`].
    pub fn pause(&self, number: u32, url: &str, reason: &str) -> Result<(), HttpError> {
        self.notify_and_sleep(number, &shown(url), reason, self.retry.wait(number))
    }

    fn notify_and_sleep(
        &self,
        number: u32,
        url: &str,
        reason: &str,
        wait: Duration,
    ) -> Result<(), HttpError> {
        if let Some(listener) = &self.listener {
            listener(Attempt { url, number, reason, wait });
        }
        self.sleep(wait)
    }

    /// The loop over tries.
    fn trying<T>(
        &self,
        request: &Request,
        take: impl Fn(Response) -> Result<T, HttpError>,
    ) -> Result<T, HttpError> {
        let url = shown(&request.url);
        let mut number = 1;
        loop {
            let last = number >= self.retry.tries.max(1);
            let (asked, reason) =
                match self.once(request) {
                    Ok(response) if !(self.retry.statuses)(response.status) || last => {
                        match take(response) {
                            Err(HttpError::Broken { reason, .. }) if !last => (None, reason),
                            taken => return taken.map_err(|error| after(error, number)),
                        }
                    }
                    Ok(response) => {
                        let asked = asked_wait(&|name| response.header(name).map(str::to_owned));
                        if let Some(wait) = asked.filter(|wait| *wait > self.retry.longest) {
                            return Err(HttpError::Waits { url, status: response.status, wait });
                        }
                        (asked, format!("the server answers {}", response.status))
                    }
                    Err(
                        HttpError::Unreachable { reason, .. } | HttpError::Broken { reason, .. },
                    ) if !last => (None, reason),
                    Err(error) => return Err(after(error, number)),
                };
            // A server may say 0 and mean its next second.
            let wait = self.retry.wait(number).max(asked.unwrap_or_default());
            self.notify_and_sleep(number, &url, &reason, wait)?;
            number += 1;
        }
    }

    /// One try, redirects included.
    fn once(&self, request: &Request) -> Result<Response, HttpError> {
        let bad = |reason: String| HttpError::BadUrl { url: shown(&request.url), reason };
        let mut uri: Uri = request
            .url
            .parse()
            .map_err(|error: ureq::http::uri::InvalidUri| bad(error.to_string()))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
            return Err(bad("no http:// or https:// with a host".into()));
        }
        let first = origin(&uri);
        for _ in 0..=REDIRECTS {
            self.check()?;
            let response = self.ask(request, &uri, origin(&uri) == first)?;
            if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
                return Ok(response);
            }
            let Some(to) = response.header("Location") else { return Ok(response) };
            let wrong = |what: String| HttpError::Redirected { url: shown(&request.url), what };
            let next = redirected(&uri, to)
                .ok_or_else(|| wrong(format!("to `{}`, which is no place", shown(to))))?;
            let same = origin(&next) == first;
            match request.redirects {
                Redirects::Return => return Ok(response),
                Redirects::SameOrigin if !same => return Ok(response),
                _ => {}
            }
            if uri.scheme_str() == Some("https") && next.scheme_str() == Some("http") {
                return Err(wrong("from https to http, which is not followed".into()));
            }
            uri = next;
        }
        let what = format!("more than {REDIRECTS} times");
        Err(HttpError::Redirected { url: shown(&request.url), what })
    }

    /// One request to one place; the token goes along only `home`, to the origin that it was given
    /// for.
    fn ask(&self, request: &Request, uri: &Uri, home: bool) -> Result<Response, HttpError> {
        let url = shown(&uri.to_string());
        let bad = |error: ureq::http::Error| HttpError::BadUrl {
            url: url.clone(),
            reason: error.to_string(),
        };
        let mut builder = ureq::http::Request::builder().method(request.method).uri(uri);
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        if let Some(secret) = request.bearer.as_ref().filter(|_| home) {
            let value = format!("Bearer {}", secret.reveal());
            let mut value = ureq::http::HeaderValue::from_str(&value)
                .map_err(|error| bad(ureq::http::Error::from(error)))?;
            value.set_sensitive(true);
            builder = builder.header("Authorization", value);
        }
        let answer = match &request.body {
            Some(body) => self.run(builder.body(body.as_slice()).map_err(bad)?, uri),
            None => self.run(builder.body(()).map_err(bad)?, uri),
        };
        let (parts, body) = answer.map_err(|error| classified(&error, &url))?.into_parts();
        let status = parts.status.as_u16();
        let cancel = Arc::clone(&self.cancel);
        Ok(Response { status, url: uri.to_string(), headers: parts.headers, body, cancel })
    }

    fn run(
        &self,
        request: ureq::http::Request<impl ureq::AsSendBody>,
        uri: &Uri,
    ) -> Result<ureq::http::Response<Body>, ureq::Error> {
        let mut configured =
            self.agent.configure_request(request).allow_non_standard_methods(false);
        if is_here(uri) {
            configured = configured.proxy(None);
        }
        self.agent.run(configured.build())
    }

    fn check(&self) -> Result<(), HttpError> {
        match self.cancel.load(Ordering::Relaxed) {
            true => Err(HttpError::Cancelled),
            false => Ok(()),
        }
    }

    fn sleep(&self, wait: Duration) -> Result<(), HttpError> {
        let mut left = wait;
        while !left.is_zero() {
            self.check()?;
            let step = left.min(LOOK);
            std::thread::sleep(step);
            left -= step;
        }
        self.check()
    }
}

/// An answer whose body is still to be read.
#[derive(Debug)]
pub struct Response {
    status: u16,
    url: String,
    headers: HeaderMap,
    body: Body,
    cancel: Arc<AtomicBool>,
}

/// An answer, read.
#[derive(Debug)]
pub struct Whole {
    /// Its status.
    pub status: u16,
    /// What was asked, at the end of all redirects, as it may be shown.
    pub url: String,
    /// Its body.
    pub body: Vec<u8>,
    headers: HeaderMap,
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

impl Response {
    /// Its status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// What was asked at the end of all redirects; with its signature, if it has one, so not for
    /// messages: [`shown`] is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A header, where it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The body as it comes, of any length. Reading fails once the client was cancelled, and where
    /// the connection ends before the length that was said.
    pub fn reader(self) -> impl Read {
        let cancel = self.cancel;
        Watched { reader: self.body.into_with_config().limit(u64::MAX).reader(), cancel }
    }

    /// The body, read.
    ///
    /// # Errors
    /// [`HttpError::Broken`], [`HttpError::TooLong`], [`HttpError::Cancelled`].
    pub fn whole(self, limit: u64) -> Result<Whole, HttpError> {
        let (status, url, headers) = (self.status, shown(&self.url), self.headers.clone());
        let cancel = Arc::clone(&self.cancel);
        let mut body = Vec::new();
        let read = self.reader().take(limit.saturating_add(1)).read_to_end(&mut body);
        if let Err(error) = read {
            return Err(match cancel.load(Ordering::Relaxed) {
                true => HttpError::Cancelled,
                false => HttpError::Broken { url, tries: 1, reason: error.to_string() },
            });
        }
        match body.len() as u64 > limit {
            true => Err(HttpError::TooLong { url, limit }),
            false => Ok(Whole { status, url, body, headers }),
        }
    }
}

impl Whole {
    /// A header, where it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// [`HttpError::NotJson`].
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        serde_json::from_slice(&self.body).map_err(|error| HttpError::NotJson {
            url: self.url.clone(),
            reason: error.to_string(),
        })
    }
}

/// A body that ends when the client is cancelled.
struct Watched<R> {
    reader: R,
    cancel: Arc<AtomicBool>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        self.reader.read(buffer)
    }
}

/// The certificates of a file.
fn certificates(path: PathBuf) -> Result<RootCerts, HttpError> {
    let failed = |reason: String| HttpError::Certificates { path: path.clone(), reason };
    let bytes = std::fs::read(&path).map_err(|error| failed(format!("cannot read: {error}")))?;
    let mut found = Vec::new();
    for item in parse_pem(&bytes) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(_) => {}
            Err(error) => return Err(failed(error.to_string())),
        }
    }
    match found.is_empty() {
        true => Err(failed("no certificate in it".into())),
        false => Ok(RootCerts::from(found)),
    }
}

/// An error after this many tries.
fn after(error: HttpError, number: u32) -> HttpError {
    match error {
        HttpError::Unreachable { url, reason, .. } => {
            HttpError::Unreachable { url, tries: number, reason }
        }
        HttpError::Broken { url, reason, .. } => HttpError::Broken { url, tries: number, reason },
        error => error,
    }
}

/// What an error of the library is to us: whether there never was a connection, or it broke.
fn classified(error: &ureq::Error, url: &str) -> HttpError {
    let url = url.to_owned();
    let reason = reason(error);
    match error {
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::Pem(_) => {
            HttpError::Untrusted { url, reason }
        }
        // The handshake reports through the reading that drives it.
        ureq::Error::Io(error)
            if error.kind() == io::ErrorKind::InvalidData && reason.contains("certificate") =>
        {
            HttpError::Untrusted { url, reason }
        }
        ureq::Error::Io(error) => match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::TimedOut
            | io::ErrorKind::WouldBlock
            | io::ErrorKind::InvalidData => HttpError::Broken { url, tries: 1, reason },
            _ => HttpError::Unreachable { url, tries: 1, reason },
        },
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::ConnectProxyFailed(_) => HttpError::Unreachable { url, tries: 1, reason },
        ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl => {
            HttpError::BadUrl { url, reason }
        }
        _ => HttpError::Broken { url, tries: 1, reason },
    }
}

/// An error of the library in words.
fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(Timeout::Resolve) => "the host's name was not found in time".into(),
        ureq::Error::Timeout(Timeout::Connect) => "the host does not answer".into(),
        ureq::Error::Timeout(Timeout::RecvResponse) => "no answer in time".into(),
        ureq::Error::Timeout(_) => "nothing came for too long".into(),
        ureq::Error::HostNotFound => "there is no host of this name, or no network".into(),
        ureq::Error::Io(error) => error.to_string(),
        error => error.to_string(),
    }
}
