//! A server of one folder's report, for this machine only: GET and HEAD, a connection a request, a
//! thread a connection. One that says nothing delays no other, and the end waits for none.
//!
//! It knows the page and the files under `figures/` and no other path: a request names a file by
//! its plain name, so there is nothing by which it could leave the folder, and the records of a
//! study are not handed out.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::PAGE;
use crate::terminal;

/// The longest request that is read.
const LONGEST: u64 = 16 * 1024;

/// How often Ctrl-C is looked for.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a browser may take to say what it wants, in all.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connections that are open at once; others wait in the system's queue.
const MOST: usize = 64;

/// Answers requests until `cancel` is set. A request that fails is told and forgotten.
///
/// # Errors
/// The listener breaks.
pub(super) fn until(
    listener: &TcpListener,
    folder: &Path,
    cancel: &AtomicBool,
) -> anyhow::Result<()> {
    listener.set_nonblocking(true)?;
    let open = Arc::new(AtomicUsize::new(0));
    while !cancel.load(Ordering::Relaxed) {
        if open.load(Ordering::Relaxed) >= MOST {
            thread::sleep(PAUSE);
            continue;
        }
        match listener.accept() {
            Ok((stream, _)) => {
                let (one, folder) = (Open::new(&open), folder.to_owned());
                // Nobody waits for these threads: they end with the program.
                let started = thread::Builder::new().spawn(move || {
                    let _one = one;
                    report_failure(answer(&stream, &folder));
                });
                report_failure(started.map(drop));
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
                // Of one connection, not of the listener.
                io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {}
                _ => return Err(error.into()),
            },
        }
    }
    Ok(())
}

fn report_failure(answered: io::Result<()>) {
    if let Err(error) = answered {
        terminal::message(&format!("a request was not answered: {error}"));
    }
}

/// A connection that counts as open while this lives.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(open))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is read of a connection until a moment; a byte now and then prolongs nothing.
struct Until<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(bytes)
    }
}

fn answer(stream: &TcpStream, folder: &Path) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let read = Until { stream, end: Instant::now() + PATIENCE };
    let mut lines = BufReader::new(read.take(LONGEST)).lines();
    let request = match lines.next().transpose() {
        Ok(request) => request.unwrap_or_default(),
        // Browsers open connections that they may need; nobody asked for anything.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
        {
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let mut host = None;
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("host")
        {
            host = Some(value.trim().to_owned());
        }
    }
    let mut words = request.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if !matches!(method, "GET" | "HEAD") {
        return reply(
            stream,
            "405 Method Not Allowed",
            "text/plain; charset=utf-8",
            b"only GET and HEAD\n",
            true,
        );
    }
    // A page elsewhere that gives its own name this machine's address must not read the report.
    if !host.as_deref().is_some_and(is_here) {
        return reply(
            stream,
            "403 Forbidden",
            "text/plain; charset=utf-8",
            b"not for this host\n",
            true,
        );
    }
    match file(folder, target).and_then(|(path, kind)| Some((fs::read(path).ok()?, kind))) {
        Some((content, kind)) => reply(stream, "200 OK", kind, &content, method == "GET"),
        None => reply(
            stream,
            "404 Not Found",
            "text/plain; charset=utf-8",
            b"no such file\n",
            method == "GET",
        ),
    }
}

/// Whether a `Host` names this machine as we do.
fn is_here(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "127.0.0.1" | "localhost")
}

/// The file that a target means, and its kind; none for what is not of the report.
fn file(folder: &Path, target: &str) -> Option<(PathBuf, &'static str)> {
    let path = target.split(['?', '#']).next().unwrap_or_default().strip_prefix('/')?;
    if path.is_empty() || path == PAGE {
        return Some((folder.join(PAGE), "text/html; charset=utf-8"));
    }
    let name = path.strip_prefix("figures/")?;
    // The names of our figures have no other letters; above all no separator, and no second dot in
    // a row.
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.chars().all(plain) || name.starts_with('.') {
        return None;
    }
    let kind = match name.rsplit_once('.')?.1 {
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "csv" => "text/csv; charset=utf-8",
        _ => return None,
    };
    Some((folder.join("figures").join(name), kind))
}

fn reply(
    mut stream: &TcpStream,
    status: &str,
    kind: &str,
    content: &[u8],
    body: bool,
) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        content.len()
    );
    stream.write_all(head.as_bytes())?;
    if body {
        stream.write_all(content)?;
    }
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_report_is_there() {
        let found = |target| file(Path::new("s"), target).map(|(path, _)| path);
        assert_eq!(found("/"), Some("s/report.html".into()));
        assert_eq!(found("/report.html?x=1"), Some("s/report.html".into()));
        assert_eq!(found("/figures/greedy--f.svg"), Some("s/figures/greedy--f.svg".into()));
        for target in [
            "",
            "report.html",
            "/laws.json",
            "/study.json",
            "/figures/",
            "/figures/../laws.json",
            "/figures/..%2flaws.csv",
            "/figures/.hidden.csv",
            "/../x.csv",
            "//etc/passwd",
            "/figures//etc/x.csv",
            "/figures/notes.txt",
        ] {
            assert_eq!(found(target), None, "{target}");
        }
    }

    #[test]
    fn names_of_other_machines_are_refused() {
        assert!(is_here("127.0.0.1:8000") && is_here("localhost"));
        assert!(!is_here("evil.example:8000") && !is_here("127.0.0.1.evil.example"));
    }
}
