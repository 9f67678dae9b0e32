//! `relscale measure --engine vllm`, against a server on this machine that is a formula.

mod common;

use std::fs;

use common::{Place, files};
use relscale_testkit::vllm::{FakeVllm, body, prompt, refusal};
use relscale_testkit::{StubServer, TinyModel};

/// A model's folder without its weights, and a text.
fn place() -> Place {
    let place = Place::new();
    let folder = place.model("a", &TinyModel::default());
    fs::remove_file(folder.join("model.safetensors")).unwrap();
    place.prose();
    place
}

fn fake() -> FakeVllm {
    FakeVllm { rows: TinyModel::default().rows as u32, ..FakeVllm::default() }
}

fn command<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["measure", "--engine", "vllm", "--url", url, "--model", "models/a"];
    all.extend(["--corpus", "prose=prose.txt", "--out", "study"]);
    all.extend(more);
    all
}

#[test]
fn a_server_ranks_and_the_study_is_as_any() {
    let place = place();
    let server = StubServer::start(|request| match request.header("authorization") {
        Some("Bearer key-of-mine") => fake().answer(request),
        _ => refusal(401, "Unauthorized"),
    });
    let url = server.url();
    let mut program = place.command(&command(&url, &["--served", "tiny", "--in-flight", "2"]));
    let output = program.env("VLLM_API_KEY", "key-of-mine").output().unwrap();
    let told = place.redact(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(server.requests().iter().any(|request| prompt(&body(request)).len() > 2));
    // Neither the key nor the server's address is in anything that is kept.
    for (path, bytes) in files(&place.path("study")) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains("key-of-mine") && !text.contains(&url), "{}", path.display());
    }
    assert!(!told.contains("key-of-mine"), "{told}");
    let run = fs::read_dir(place.path("study/runs")).unwrap().next().unwrap().unwrap();
    let run = fs::read_to_string(run.path().join("run.json")).unwrap();
    for word in ["\"engine\": \"vllm\"", "\"lacks\"", "served:", "prompt_logprobs 0", "\"rows\""] {
        assert!(run.contains(word), "{word} is not in {run}");
    }
    // The same again asks the server what it is, and measures nothing.
    let before = server.requests().len();
    let mut again = place.command(&command(&url, &["--served", "tiny"]));
    let output = again.env("OPENAI_API_KEY", "key-of-mine").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", place.redact(&output.stderr));
    assert!(server.requests().len() - before < 10);
}

#[test]
fn what_cannot_be_measured_is_refused_with_what_to_do() {
    let place = place();
    let mut no_url = command("", &[]);
    no_url.drain(3..5);
    place.run(&no_url).refuses(3, &["`vllm` needs --url", "hint: say for example"]);
    let server = fake().start();
    let url = server.url();
    place.run(&command(&url, &["--vocab", "tokens"])).refuses(3, &["--vocab rows"]);
    place.run(&command(&url, &["--served", "other"])).refuses(3, &["no model `other`"]);
    place.run(&command(&url, &["--audit", "lots"])).refuses(2, &["1%"]);
    let mut local = command(&url, &[]);
    local.drain(1..3);
    place.run(&local).refuses(3, &["`local` does not take --url"]);
    let closed = StubServer::start(|_| refusal(404, "Not Found"));
    place.run(&command(&closed.url(), &[])).refuses(3, &["HTTP 404", "vLLM server"]);
}

#[test]
fn a_server_in_16_bits_is_refused_unless_it_is_accepted() {
    let place = place();
    let server = FakeVllm { coarse: true, ..fake() }.start();
    let url = server.url();
    place.run(&command(&url, &[])).refuses(3, &["rounded to 16 bits", "--accept-bf16-logits"]);
    let outcome = place.run(&command(&url, &["--accept-bf16-logits"]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    let kept: Vec<String> = files(&place.path("study"))
        .into_iter()
        .filter(|(path, _)| path.ends_with("run.json"))
        .map(|(_, bytes)| String::from_utf8(bytes).unwrap())
        .collect();
    assert!(kept.len() == 1 && kept[0].contains("rounded to 16 bits"), "{kept:?}");
}
