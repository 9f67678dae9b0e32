//! A server on this machine that answers as a test says, faults included: a status, a redirect, a
//! body that is cut, a pause, no answer at all.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Received {
    /// `GET`, `HEAD`, `POST`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names (lower case) and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Received {
    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(there, _)| there == name).map(|(_, value)| value.as_str())
    }

    /// The first byte of a `Range: bytes=FIRST-`.
    pub fn first_byte(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }
}

/// What the server answers.
#[derive(Debug, Clone)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    cut: Option<usize>,
    pause: Duration,
    silent: bool,
}

impl Answer {
    /// A status and a body.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            cut: None,
            pause: Duration::ZERO,
            silent: false,
        }
    }

    /// The bytes that were asked for: all, or with 206 those of a range.
    pub fn bytes(request: &Received, body: &[u8]) -> Self {
        match request.first_byte() {
            None => Self::new(200, body),
            Some(first) if first >= body.len() => {
                Self::new(416, "").header("Content-Range", format!("bytes */{}", body.len()))
            }
            Some(first) => Self::new(206, &body[first..]).header(
                "Content-Range",
                format!("bytes {first}-{}/{}", body.len() - 1, body.len()),
            ),
        }
    }

    /// A redirect.
    pub fn redirect(status: u16, to: &str) -> Self {
        Self::new(status, "").header("Location", to)
    }

    /// The connection is closed without an answer.
    pub fn nothing() -> Self {
        Self { silent: true, ..Self::new(0, "") }
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The connection breaks after so many bytes of the body.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.cut = Some(bytes);
        self
    }

    /// A pause before the answer.
    #[must_use]
    pub fn after(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
}

/// What a test says of each request.
type Answers = dyn Fn(&Received) -> Answer + Send + Sync;

/// The server; it ends when it is dropped.
pub struct StubServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Received>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StubServer {
    /// Listens at a free port; each connection has one request and one answer.
    ///
    /// # Panics
    /// No port can be had.
    pub fn start(answer: impl Fn(&Received) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this machine");
        let address = listener.local_addr().expect("its address");
        let requests: Arc<Mutex<Vec<Received>>> = Arc::default();
        let stop = Arc::new(AtomicBool::new(false));
        let answer: Arc<Answers> = Arc::new(answer);
        let thread = {
            let (requests, stop) = (Arc::clone(&requests), Arc::clone(&stop));
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let Ok(stream) = stream else { continue };
                    let (requests, answer) = (Arc::clone(&requests), Arc::clone(&answer));
                    std::thread::spawn(move || drop(serve(&stream, &requests, &*answer)));
                }
            })
        };
        Self { address, requests, stop, thread: Some(thread) }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What came so far.
    pub fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for StubServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the listener.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One connection.
fn serve(stream: &TcpStream, seen: &Mutex<Vec<Received>>, answer: &Answers) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let mut request = Received {
        method: method.to_owned(),
        path: path.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    loop {
        line.clear();
        lines.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    request.body.resize(length, 0);
    lines.read_exact(&mut request.body)?;
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());

    let answer = answer(&request);
    std::thread::sleep(answer.pause);
    if answer.silent {
        return stream.shutdown(Shutdown::Both);
    }
    let mut head = format!("HTTP/1.1 {} Stub\r\nConnection: close\r\n", answer.status);
    if !answer.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
        head.push_str(&format!("Content-Length: {}\r\n", answer.body.len()));
    }
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut out = stream;
    out.write_all(format!("{head}\r\n").as_bytes())?;
    if request.method != "HEAD" {
        out.write_all(&answer.body[..answer.cut.unwrap_or(usize::MAX).min(answer.body.len())])?;
    }
    out.flush()?;
    stream.shutdown(Shutdown::Both)
}
