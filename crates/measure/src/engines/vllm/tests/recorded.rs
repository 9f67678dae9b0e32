//! Answers of real servers (`testdata/servers`, by `tools/peers/vllm_server.py`).

use std::path::Path;

use relscale_testkit::{Answer, StubServer};
use serde_json::Value;

use super::super::answers::{Top, entries, tops};
use super::super::grid::{Grid, RankRule, Tie};
use super::super::probe::ids;
use super::super::server::{Reply, Server};
use crate::http::Limits;

const ROWS: u32 = 300;

struct Case {
    prompt: Vec<u32>,
    status: u16,
    body: String,
}

fn recorded(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/servers").join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn case(file: &Value, name: &str) -> Case {
    let case = &file[name];
    let ids = case["request"]["prompt"].as_array().cloned().unwrap_or_default();
    Case {
        prompt: ids.iter().map(|id| id.as_u64().unwrap() as u32).collect(),
        status: case["status"].as_u64().unwrap() as u16,
        body: case["body"].as_str().unwrap().to_owned(),
    }
}

const VERSIONS: [&str; 2] = ["vllm-0.11.0.json", "vllm-0.32.0.json"];

#[test]
fn two_versions_far_apart_are_read_alike() {
    let read = |file: &str, name: &str| {
        let case = case(&recorded(file), name);
        assert_eq!(case.status, 200);
        entries(&case.body, &case.prompt, ROWS).unwrap()
    };
    for name in ["prompt", "longest", "beside 1", "tempered", "unknown member"] {
        let [old, new] = VERSIONS.map(|file| read(file, name));
        assert_eq!(old.len(), new.len());
        for (a, b) in old.iter().zip(&new) {
            let (a, b) = (a.unwrap(), b.unwrap());
            assert_eq!(a.rank, b.rank, "{name}");
            assert!((a.logprob - b.logprob).abs() < 1e-4, "{name}");
        }
    }
    // What a sampler would be told does not move the scores of a prompt.
    let plain = read(VERSIONS[0], "prompt");
    for (a, b) in plain.iter().zip(&read(VERSIONS[0], "tempered")) {
        assert!((a.unwrap().logprob - b.unwrap().logprob).abs() < 1e-5);
    }
    assert_eq!(plain.len(), 11);
    assert_eq!(read(VERSIONS[0], "longest").len(), 126);
    assert!(read(VERSIONS[1], "one token").is_empty());
}

/// Two rows of the model's head are equal: their tokens tie, and both servers count both.
#[test]
fn the_rule_of_ranks_shows_at_a_tie() {
    for file in VERSIONS {
        let file = recorded(file);
        let [a, b] = ["twins 17", "twins 18"].map(|name| {
            let case = case(&file, name);
            entries(&case.body, &case.prompt, ROWS).unwrap().last().copied().flatten().unwrap()
        });
        assert_eq!(a.rank, b.rank);
        assert_eq!(a.logprob, b.logprob);
        // 104 are above by the logits of transformers: 17 and 18 share ranks 105 and 106.
        let tie = Tie { list: 0, token: 17, above: 104, equal: 2 };
        assert_eq!(RankRule::from_tie(&tie, a.rank), Some(RankRule::AtLeast));
    }
}

#[test]
fn a_server_in_bf16_shows_its_grid_and_others_do_not() {
    let grid = |file: &str| {
        let case = case(&recorded(file), "top 20");
        let lists: Vec<Top> =
            tops(&case.body, &case.prompt, ROWS).unwrap().into_iter().flatten().collect();
        assert_eq!(lists.len(), case.prompt.len() - 1);
        Grid::from_lists(&lists)
    };
    for file in VERSIONS {
        let grid = grid(file);
        assert!(!grid.coarse(), "{file}: {grid:?}");
    }
    let coarse = grid("vllm-0.11.0-bf16.json");
    assert!(coarse.coarse() && coarse.equal_share() > 0.02, "{coarse:?}");
}

#[test]
fn what_servers_refuse_is_said_in_their_words() {
    for file in VERSIONS {
        let file = recorded(file);
        for (name, status, words) in [
            ("too long", 400, "maximum context length"),
            ("unknown model", 404, "`other` does not exist"),
            ("top 21", 400, "max allowed: 20"),
            ("empty salt", 400, "cache_salt"),
            ("after that", 500, "EngineCore encountered an issue"),
        ] {
            let case = case(&file, name);
            let reply = Reply { status: case.status, text: case.body, wait: None };
            assert_eq!(reply.status, status, "{name}");
            let reason = reply.reason();
            assert!(reason.contains(words) && reason.chars().count() < 330, "{name}: {reason}");
        }
    }
}

#[test]
fn models_and_version_are_read() {
    for (file, version) in VERSIONS.into_iter().zip(["0.11.0", "0.32.0"]) {
        let file = recorded(file);
        let [models, told] = ["models", "version"].map(|name| case(&file, name).body);
        let stub = StubServer::start(move |request| {
            Answer::new(200, if request.path == "/version" { told.clone() } else { models.clone() })
        });
        for url in [stub.url(), format!("{}/v1/", stub.url())] {
            let server = Server::new(&url, None, Default::default(), Limits::default()).unwrap();
            let served = server.models().unwrap().unwrap();
            assert_eq!(served.len(), 1);
            assert_eq!((served[0].id.as_str(), served[0].max_model_len), ("tiny", Some(128)));
            assert_eq!(served[0].root.as_deref(), Some("/models/tiny-qwen2"));
            assert_eq!(server.version().unwrap().as_deref(), Some(version));
        }
    }
}

/// Whatever a damaged answer still says, it says of each token of the prompt, or it is refused.
#[test]
fn damaged_answers_are_refused_or_whole() {
    let case = case(&recorded(VERSIONS[0]), "beside 1");
    let bytes = case.body.as_bytes();
    let (mut refused, mut read) = (0, 0);
    for (round, number) in (0..4_000).zip(ids(9, 8_000, u32::MAX).chunks_exact(2)) {
        let (at, other) = (number[0] as usize % bytes.len(), number[1] as usize % bytes.len());
        let mut damaged = bytes.to_vec();
        match round % 4 {
            0 => damaged[at] = bytes[other],
            1 => damaged.truncate(at),
            2 => drop(damaged.drain(at.min(other)..at.max(other))),
            _ => damaged.splice(at..at, bytes[other..].iter().copied().take(40)).for_each(drop),
        }
        let text = String::from_utf8_lossy(&damaged);
        match entries(&text, &case.prompt, ROWS) {
            Ok(entries) => {
                read += 1;
                assert_eq!(entries.len(), case.prompt.len() - 1);
                let sound = |rank: u32| (1..=ROWS).contains(&rank);
                assert!(entries.iter().flatten().all(|entry| sound(entry.rank)));
            }
            Err(fault) => {
                refused += 1;
                assert!(!fault.to_string().is_empty());
            }
        }
    }
    assert!(refused > 2_000 && read > 100, "{refused} {read}");
}
