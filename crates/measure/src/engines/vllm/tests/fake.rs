//! What the tests of this engine share: the model that is a formula (`relscale_testkit::vllm`), a
//! folder for it, and a server that counts what it is asked.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub(super) use relscale_testkit::vllm::{
    FakeVllm as Fake, body, list, prompt, refusal, small_llama, write_config,
};
use relscale_testkit::{Answer, Received, StubServer};

use super::super::flight::Patience;
use super::super::source_with;
use crate::engines::EngineOptions;
use crate::error::Result;
use crate::hub::ModelRequest;
use crate::source::ModelSource;

/// A folder of a model without weights.
pub(super) fn folder(at: &Path, rows: u32) -> ModelRequest {
    write_config(at, &small_llama(rows));
    ModelRequest { name: "tiny".into(), family: None, folder: at.to_owned(), source: None }
}

/// Failures that do not make a test slow.
pub(super) fn quick() -> Patience {
    Patience {
        first: Duration::from_millis(2),
        longest: Duration::from_millis(20),
        tries: 4,
        gone: Duration::from_secs(20),
    }
}

/// Options for a server.
pub(super) fn options(url: &str) -> EngineOptions {
    EngineOptions { url: Some(url.to_owned()), in_flight: Some(4), ..EngineOptions::default() }
}

/// A model at a server, opened.
pub(super) fn opened(folder: &Path, asked: &EngineOptions) -> Result<ModelSource<'static>> {
    source_with(&self::folder(folder, 300), asked, quick())
}

/// Why a model at a server is refused.
pub(super) fn refused(server: &StubServer) -> String {
    let root = tempfile::tempdir().unwrap();
    match opened(root.path(), &options(&server.url())) {
        Ok(_) => panic!("it was not refused"),
        Err(error) => error.to_string(),
    }
}

/// How often a server was asked before this request.
#[derive(Clone, Copy)]
pub(super) struct Before {
    /// Completions in all: in which order they come is left to the threads that ask.
    pub(super) completions: usize,
    /// Completions of this prompt: nothing else decides how often it fails.
    pub(super) of_prompt: usize,
}

/// A server whose answers depend on what came before; of all but completions, on nothing.
pub(super) fn counting(
    answer: impl Fn(&Received, Before) -> Answer + Send + Sync + 'static,
) -> StubServer {
    let completions = AtomicUsize::new(0);
    let prompts: Mutex<BTreeMap<Vec<u32>, usize>> = Mutex::default();
    StubServer::start(move |request| {
        if request.path != "/v1/completions" {
            return answer(request, Before { completions: 0, of_prompt: 0 });
        }
        let of_prompt = {
            let mut prompts = prompts.lock().unwrap();
            let there = prompts.entry(prompt(&body(request))).or_default();
            *there += 1;
            *there - 1
        };
        let completions = completions.fetch_add(1, Ordering::SeqCst);
        answer(request, Before { completions, of_prompt })
    })
}

/// A number that is the prompt's own; none where nothing is to be completed.
pub(super) fn number_of(request: &Received) -> Option<usize> {
    let prompt = (request.path == "/v1/completions").then(|| prompt(&body(request)))?;
    let more = |number: usize, &token: &u32| (31 * number + token as usize) % 10_007;
    Some(prompt.iter().fold(prompt.len(), more))
}
