//! `relscale view`: the page by its path, by a real request, and what is not handed out.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::Place;
use relscale_testkit::{MadeUpFamily, made_up_study};

fn reported(place: &Place) {
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    assert_eq!(place.run(&["fit", "study", "--resamples", "50"]).code, Some(0));
    assert_eq!(place.run(&["report", "study"]).code, Some(0));
}

/// A server that ends with the test.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn new(place: &Place) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_relscale"))
            .current_dir(place.path(""))
            .args(["view", "study", "--serve"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let address = url.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{url}");
        Self { child, address }
    }

    /// Status, head and body of what comes back for a request.
    fn ask(&self, method: &str, target: &str, host: &str) -> (u32, String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        write!(stream, "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head, answer[end + 4..].to_vec())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_page_is_served_to_this_machine_and_nothing_else_is() {
    let place = Place::new();
    reported(&place);
    let served = Served::new(&place);
    let host = served.address.clone();
    let (status, head, body) = served.ask("GET", "/", &host);
    assert_eq!(status, 200, "{head}");
    assert!(head.contains("Content-Type: text/html; charset=utf-8"), "{head}");
    assert_eq!(body, std::fs::read(place.path("study/report.html")).unwrap());

    // Every figure, by its name.
    let entries = std::fs::read_dir(place.path("study/figures")).unwrap();
    let figures: Vec<String> = entries
        .map(|entry| format!("figures/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    assert!(figures.len() >= 27, "{figures:?}");
    for name in figures {
        let (status, head, body) = served.ask("GET", &format!("/{name}"), &host);
        assert_eq!(status, 200, "{name}: {head}");
        assert_eq!(body, std::fs::read(place.path("study").join(&name)).unwrap(), "{name}");
    }

    for target in [
        "/laws.json",
        "/study.json",
        "/../secret",
        "/figures/../laws.json",
        "/figures/%2e%2e/laws.json",
        "//etc/passwd",
    ] {
        assert_eq!(served.ask("GET", target, &host).0, 404, "{target}");
    }
    assert_eq!(served.ask("POST", "/", &host).0, 405);
    // A name of someone else's that leads here.
    assert_eq!(served.ask("GET", "/", "evil.example").0, 403);
    let (status, head, body) = served.ask("HEAD", "/", "localhost");
    assert_eq!((status, body.len()), (200, 0), "{head}");
    // Nonsense is forgotten, and the next is answered.
    TcpStream::connect(&served.address).unwrap().write_all(b"\x00\xff\r\n\r\n").unwrap();
    assert_eq!(served.ask("GET", "/report.html", &host).0, 200);
}

/// Connections that say nothing, or a byte now and then, delay nobody.
#[test]
fn idle_connections_delay_no_other() {
    let place = Place::new();
    reported(&place);
    let served = Served::new(&place);
    let mut idle: Vec<TcpStream> =
        (0..20).map(|_| TcpStream::connect(&served.address).unwrap()).collect();
    idle[0].write_all(b"GET / HT").unwrap();
    let begun = Instant::now();
    assert_eq!(served.ask("GET", "/", &served.address.clone()).0, 200);
    // One by one they would have taken 5 s each, 100 s in all.
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
}

/// Ctrl-C is how a server ends, so it is no failure; it waits for nobody.
#[test]
#[cfg(unix)]
fn ctrl_c_ends_it_well() {
    let place = Place::new();
    reported(&place);
    let mut served = Served::new(&place);
    let _idle = TcpStream::connect(&served.address).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let id = served.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = served.child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < Duration::from_secs(4), "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0));
}

#[test]
fn only_the_path_when_asked() {
    let place = Place::new();
    reported(&place);
    let outcome = place.run(&["view", "study", "--print"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "[DIR]/study/report.html\n"));
    let outcome = place.run(&["view", "study", "--print", "--json", "-"]);
    let document: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(document["url"], "file://[DIR]/study/report.html");
}

#[test]
fn without_a_page_or_a_port_it_says_what_to_do() {
    let place = Place::new();
    made_up_study(&place.path("study"), &MadeUpFamily::default());
    place
        .run(&["view", "study"])
        .refuses(3, &["study/report.html: there is no page", "relscale report study"]);
    reported(&place);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    place.run(&["view", "study", "--serve", &port]).refuses(3, &["port", "give another one"]);
}
