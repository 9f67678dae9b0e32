//! What the tests of this engine share: the model that is a formula (`relscale_testkit::vllm`), a
//! folder for it, and a server that can be switched off.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

/// A server at one address that can be stopped and started again: it is there while `up`.
pub(super) struct Switch {
    pub(super) up: Arc<AtomicBool>,
    pub(super) completions: Arc<AtomicUsize>,
}

impl Switch {
    /// Starts it. Where it is down, connections close without an answer. The answer depends on how
    /// many completions came before; on 0 for all else.
    pub(super) fn start(
        answer: impl Fn(&Received, usize) -> Answer + Send + Sync + 'static,
    ) -> (StubServer, Self) {
        let up = Arc::new(AtomicBool::new(true));
        let completions = Arc::new(AtomicUsize::new(0));
        let (is_up, count) = (Arc::clone(&up), Arc::clone(&completions));
        let server = StubServer::start(move |request| {
            if !is_up.load(Ordering::SeqCst) {
                return Answer::nothing();
            }
            match request.path.as_str() {
                "/v1/completions" => answer(request, count.fetch_add(1, Ordering::SeqCst)),
                _ => answer(request, 0),
            }
        });
        (server, Self { up, completions })
    }
}
