//! The client against a server on this machine: retries, redirects and what becomes of a token,
//! ranges, cut bodies, servers that ask to wait, and a stop.

use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use relscale_measure::http::{Client, HttpError, Limits, Redirects, Request, Retry, Secret};
use relscale_testkit::{Answer, StubServer};
use serde_json::{Value, json};

/// Tries that do not make a test slow.
fn quick(tries: u32) -> Retry {
    Retry { tries, first: Duration::from_millis(4), ..Retry::default() }
}

fn client(tries: u32) -> Client {
    Client::new(Limits::default(), quick(tries)).unwrap()
}

/// A server that answers its first `faults` requests with one answer, and the others with `well`.
fn faulty(faults: usize, fault: Answer) -> StubServer {
    let seen = AtomicUsize::new(0);
    StubServer::start(move |_| match seen.fetch_add(1, Ordering::Relaxed) < faults {
        true => fault.clone(),
        false => Answer::new(200, "well"),
    })
}

#[test]
fn json_goes_out_and_comes_back() {
    let server = StubServer::start(|request| Answer::new(200, request.body.clone()));
    let sent = json!({"prompt": [1, 2, 3], "nan": null});
    let secret = Secret::new("key-1").unwrap();
    let request = Request::post_json(&format!("{}/v1/completions", server.url()), &sent)
        .bearer(Some(&secret));
    let answer = client(1).exchange(&request, 1_000).unwrap();
    assert_eq!(answer.json::<Value>().unwrap(), sent);
    let [came] = server.requests().try_into().unwrap();
    assert_eq!((came.method.as_str(), came.path.as_str()), ("POST", "/v1/completions"));
    assert_eq!(came.header("content-type"), Some("application/json"));
    assert_eq!(came.header("authorization"), Some("Bearer key-1"));
    assert!(came.header("user-agent").unwrap().starts_with("relscale/"));
    assert!(!format!("{request:?}").contains("key-1"), "{request:?}");
}

/// Too many requests, a server in trouble, a connection that closes or breaks: all pass.
#[test]
fn what_may_pass_is_tried_again() {
    for fault in [
        Answer::new(429, ""),
        Answer::new(500, ""),
        Answer::new(503, "").header("Retry-After", "0"),
        Answer::nothing(),
        Answer::new(200, "a longer answer").cut_after(3),
    ] {
        let server = faulty(2, fault.clone());
        let told = Arc::new(Mutex::new(Vec::new()));
        let tell = Arc::clone(&told);
        let client = client(3).on_retry(Arc::new(move |attempt| {
            tell.lock().unwrap().push((attempt.number, attempt.reason.to_owned()));
        }));
        let answer = client.exchange(&Request::get(&server.url()), 100).unwrap();
        assert_eq!((answer.status, answer.body.as_slice()), (200, b"well".as_slice()), "{fault:?}");
        assert_eq!(server.requests().len(), 3);
        let numbers: Vec<u32> = told.lock().unwrap().iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 2], "{told:?}");
    }
}

/// The last answer of a server that stays in trouble is an answer; a connection that never comes is
/// an error that counts.
#[test]
fn tries_have_an_end() {
    let server = faulty(9, Answer::new(503, "busy"));
    let answer = client(3).exchange(&Request::get(&server.url()), 100).unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (503, b"busy".as_slice()));
    assert_eq!(server.requests().len(), 3);

    let server = faulty(9, Answer::nothing());
    let error = client(3).exchange(&Request::get(&server.url()), 100).unwrap_err();
    assert!(matches!(&error, HttpError::Broken { tries: 3, .. }), "{error:?}");
    assert_eq!(server.requests().len(), 3);

    let url = server.url();
    drop(server);
    let error = client(2).exchange(&Request::get(&format!("{url}/x?sig=s3cret")), 100).unwrap_err();
    assert!(matches!(&error, HttpError::Unreachable { tries: 2, .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains(&format!("{url}/x: no connection")), "{message}");
    assert!(message.contains("2 times") && !message.contains("s3cret"), "{message}");
}

#[test]
fn what_is_wrong_for_good_is_asked_once() {
    for status in [400, 401, 403, 404, 501] {
        let server = faulty(9, Answer::new(status, "no"));
        assert_eq!(client(5).send(&Request::get(&server.url())).unwrap().status(), status);
        assert_eq!(server.requests().len(), 1, "{status}");
    }
    for url in ["huggingface.co", "ftp://x/y", "http://", "", "http://a b/"] {
        let error = client(5).send(&Request::get(url)).unwrap_err();
        assert!(matches!(error, HttpError::BadUrl { .. }), "{url}: {error:?}");
    }
}

#[test]
fn a_server_that_asks_to_wait_is_waited_for_within_bounds() {
    let server = faulty(1, Answer::new(429, "").header("Retry-After", "1"));
    let begun = Instant::now();
    assert_eq!(client(2).send(&Request::get(&server.url())).unwrap().status(), 200);
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());

    let server = faulty(1, Answer::new(429, "").header("Retry-After", "86400"));
    let error = client(2).send(&Request::get(&server.url())).unwrap_err();
    assert!(
        matches!(error, HttpError::Waits { status: 429, wait, .. } if wait.as_secs() == 86_400),
        "{error:?}"
    );
    assert_eq!(server.requests().len(), 1);
}

/// A token goes along within its origin, by relative and absolute redirects, and not to another
/// port, which is another server.
#[test]
fn a_token_stays_at_home() {
    let other = StubServer::start(|_| Answer::new(200, "elsewhere"));
    let target = format!("{}/blob?sig=1", other.url());
    let server = StubServer::start(move |request| match request.path.as_str() {
        "/a" => Answer::redirect(307, "/b"),
        "/b" => Answer::redirect(302, &target),
        "/loop" => Answer::redirect(302, "/loop"),
        "/nowhere" => Answer::redirect(302, "mailto:me"),
        _ => Answer::new(404, ""),
    });
    let at = |path: &str| format!("{}{path}", server.url());
    let secret = Secret::new("hf_token").unwrap();
    let request = Request::get(&at("/a")).bearer(Some(&secret));
    let answer = client(1).exchange(&request, 100).unwrap();
    assert_eq!(answer.body, b"elsewhere");
    assert_eq!(answer.url, format!("{}/blob", other.url()));
    let sent: Vec<Option<String>> = server
        .requests()
        .iter()
        .map(|came| came.header("authorization").map(str::to_owned))
        .collect();
    assert_eq!(sent, [Some("Bearer hf_token".into()), Some("Bearer hf_token".into())]);
    let [came] = other.requests().try_into().unwrap();
    assert_eq!(came.header("authorization"), None);
    assert_eq!(came.path, "/blob?sig=1");

    let at_home = client(1).send(&request.clone().redirects(Redirects::SameOrigin)).unwrap();
    assert_eq!(at_home.status(), 302);
    assert_eq!(at_home.header("location"), Some(format!("{}/blob?sig=1", other.url()).as_str()));
    assert_eq!(client(1).send(&request.redirects(Redirects::Return)).unwrap().status(), 307);
    for path in ["/loop", "/nowhere"] {
        let error = client(1).send(&Request::get(&at(path))).unwrap_err();
        assert!(matches!(error, HttpError::Redirected { .. }), "{error:?}");
    }
}

#[test]
fn a_range_is_asked_for_and_its_rest_comes() {
    let server = StubServer::start(|request| Answer::bytes(request, b"0123456789"));
    let get = |first| client(1).send(&Request::get(&server.url()).from_byte(first)).unwrap();
    for (first, status, rest) in [(0, 200, "0123456789"), (7, 206, "789"), (10, 416, "")] {
        let response = get(first);
        assert_eq!(response.status(), status, "{first}");
        let mut text = String::new();
        response.reader().read_to_string(&mut text).unwrap();
        assert_eq!(text, rest, "{first}");
    }
}

/// What was sent before the cut is there, and the cut is an error, never a short success.
#[test]
fn a_cut_body_is_an_error_to_whoever_streams_it() {
    let server = StubServer::start(|_| Answer::new(200, "0123456789").cut_after(4));
    let mut text = Vec::new();
    let response = client(1).send(&Request::get(&server.url())).unwrap();
    response.reader().read_to_end(&mut text).unwrap_err();
    assert_eq!(text, b"0123");
}

#[test]
fn answers_have_a_length_and_a_form() {
    let server = StubServer::start(|_| Answer::new(200, "<html>not found</html>"));
    let request = Request::get(&server.url());
    assert!(matches!(client(3).exchange(&request, 10), Err(HttpError::TooLong { limit: 10, .. })));
    let answer = client(3).exchange(&request, 100).unwrap();
    assert!(matches!(answer.json::<Value>(), Err(HttpError::NotJson { .. })));
}

#[test]
fn a_slow_server_is_given_up_in_time() {
    let server = StubServer::start(|_| Answer::new(200, "").after(Duration::from_secs(90)));
    let limits = Limits { answer: Duration::from_millis(200), ..Limits::default() };
    let begun = Instant::now();
    let error =
        Client::new(limits, quick(2)).unwrap().send(&Request::get(&server.url())).unwrap_err();
    assert!(matches!(error, HttpError::Broken { tries: 2, .. }), "{error:?}");
    assert!(error.to_string().contains("no answer in time"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// A stop ends a wait of a minute at once.
#[test]
fn a_cancelled_client_does_not_wait() {
    let server = faulty(9, Answer::new(503, "").header("Retry-After", "60"));
    let flag = Arc::new(AtomicBool::new(false));
    let client = client(5).cancelled_by(Arc::clone(&flag));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while server.requests().is_empty() {
                std::thread::sleep(Duration::from_millis(5));
            }
            flag.store(true, Ordering::Relaxed);
        });
        let error = client.send(&Request::get(&server.url())).unwrap_err();
        assert!(matches!(error, HttpError::Cancelled), "{error:?}");
    });
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(matches!(client.send(&Request::get(&server.url())), Err(HttpError::Cancelled)));
    assert_eq!(server.requests().len(), 1);
}
