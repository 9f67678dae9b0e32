//! A server of one folder's report, for this machine only: GET and HEAD, a connection a request.
//!
//! It knows the page and the files under `figures/` and no other path: a request names a file by its plain name, so there is
//! nothing by which it could leave the folder, and the records of a study are not handed out.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::PAGE;
use crate::terminal;

/// The longest request that is read.
const LONGEST: u64 = 16 * 1024;

/// How often Ctrl-C is looked for.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a browser may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers requests until `cancel` is set. A request that fails is told and forgotten.
///
/// # Errors
/// The listener breaks.
pub(super) fn until(listener: &TcpListener, folder: &Path, cancel: &AtomicBool) -> anyhow::Result<()> {
    listener.set_nonblocking(true)?;
    while !cancel.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                if let Err(error) = answer(&stream, folder) {
                    terminal::message(&format!("a request was not answered: {error}"));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn answer(stream: &TcpStream, folder: &Path) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream.take(LONGEST)).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
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
        return reply(stream, "403 Forbidden", "text/plain; charset=utf-8", b"not for this host\n", true);
    }
    match file(folder, target).and_then(|(path, kind)| Some((fs::read(path).ok()?, kind))) {
        Some((content, kind)) => reply(stream, "200 OK", kind, &content, method == "GET"),
        None => {
            reply(stream, "404 Not Found", "text/plain; charset=utf-8", b"no such file\n", method == "GET")
        }
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
    // The names of our figures have no other letters; above all no separator, and no second dot in a row.
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

fn reply(mut stream: &TcpStream, status: &str, kind: &str, content: &[u8], body: bool) -> io::Result<()> {
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
