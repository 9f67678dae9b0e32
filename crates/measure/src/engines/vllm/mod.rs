//! A vLLM server: token ids out, the rank and logprob of every prompt token back.
//!
//! **Purpose.** What vLLM runs, on whatever machines it runs it, is measured with the records of
//! this program. The folder of the model, of which no weights are needed, gives token ids and
//! parameters; the server gives ranks.
//!
//! | module | what it does |
//! |---|---|
//! | `server` | the three addresses, and the body of a request |
//! | `answers` | an answer, read against what was asked; each way to be wrong has its sentence |
//! | `grid` | logits of 16 bits and the counting of equal ones, from lists of probable tokens |
//! | `probe` | what a server is, before anything is measured |
//! | `flight` | how many requests at once, what is tried again, a server that comes back |
//! | `prompts` | a prompt, asked until it is answered or given up |
//! | `facts` | what a folder says: rows, parameters, hashes |
//! | `engine`, `audit` | windows to scores; a sample measured a second time |
//!
//! **Invariants.**
//! * A score is looked up by its token's id at its token's position; an answer that is short,
//!   shifted, of other tokens or of impossible ranks is none.
//! * Nothing that changes logprobs is left to the server's defaults: temperature 1, no penalties.
//! * Ranks run over all rows of the head. Ties, entropy and argmax are not told, and not guessed.
//! * A server whose logits are rounded to 16 bits is refused unless that was accepted, and then
//!   every number says so.
//! * The key is read from the environment, and goes nowhere but into a header.

mod answers;
mod audit;
mod engine;
mod facts;
mod flight;
mod grid;
mod probe;
mod prompts;
mod server;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::options::{EngineOptions, Share};
use super::provider::Provider;
use super::{gguf, local};
use crate::error::{Error, Result};
use crate::http::{Limits, Secret};
use crate::hub::{ModelRequest, Parts};
use crate::known::{Files, Learned};
use crate::source::{LoadedModel, ModelFacts, ModelSource, Recognition};
use audit::{Audit, Judge};
use engine::VllmEngine;
use facts::{Folder, Weights};
use flight::{Flight, Patience};
use probe::{Expected, Probed, probe};
use prompts::Prompts;
use server::{KEYS, Server};

/// Its name.
const NAME: &str = "vllm";

/// Requests in flight, where nobody says.
pub const IN_FLIGHT: usize = 32;

/// The provider of this engine.
pub const PROVIDER: Provider = Provider {
    name: NAME,
    argument: None,
    about: "a vLLM server at --url, on whatever machines; the folder needs no weights",
    takes: &[
        "--url",
        "--served",
        "--accept-bf16-logits",
        "--in-flight",
        "--audit",
        "--parameters",
        "--tie-head",
        "--dtype",
    ],
    parts: Parts::WithoutWeights,
    source,
};

/// How long a server may think. A long prompt on a machine without GPU takes minutes, and so does
/// one that waits for others.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(10),
    answer: Duration::from_secs(20 * 60),
    silence: Duration::from_secs(120),
};

/// A model on a server as a source for a session: the server is asked now what it is.
///
/// # Errors
/// [`Error::Server`] for a server that cannot be reached, lacks the model, scores no prompts, or
/// rounds its logits where that was not accepted; [`Error::EngineFolder`].
pub fn source(request: &ModelRequest, asked: &EngineOptions) -> Result<ModelSource<'static>> {
    source_with(request, asked, Patience::default())
}

/// As [`source`], with another patience.
fn source_with(
    request: &ModelRequest,
    asked: &EngineOptions,
    patience: Patience,
) -> Result<ModelSource<'static>> {
    let url = asked.url.as_deref().ok_or(Error::EngineNeeds {
        engine: NAME,
        option: "--url",
        example: "--url http://localhost:8000",
    })?;
    let failed = |error: crate::http::HttpError| Error::Server {
        url: crate::http::url::shown(url),
        reason: error.to_string(),
        hint: "give --url http://HOST:PORT".into(),
    };
    let key = KEYS.iter().find_map(|name| Secret::from_variable(name));
    let server = Server::new(url, key, Arc::clone(&asked.cancel), LIMITS).map_err(failed)?;
    gguf::refuse(request, NAME)?;
    let tokenizer = local::tokenizer(&request.folder)?;
    let sizes = facts::sizes(request, asked.parameters)?;
    let known = tokenizer.as_ref().and_then(|tokenizer| tokenizer.known_ids().last().copied());
    let folder_name = request.folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let expected = Expected {
        served: asked.served.clone(),
        names: [Some(request.name.clone()), folder_name].into_iter().flatten().collect(),
        rows: sizes.rows,
        ids: known.map_or(sizes.rows, |largest| sizes.rows.min(largest.saturating_add(1))),
        positions: sizes.positions,
        length: asked.length,
        wait: patience.first,
    };
    let probed = probe(&server, &expected)?;
    if !asked.accept_bf16_logits {
        refuse_coarse(&server, &probed)?;
    }
    let opened = Arc::new(Opened {
        request: request.clone(),
        asked: asked.clone(),
        server,
        probed,
        sizes,
        patience,
    });
    let (again, folder) = (Arc::clone(&opened), request.folder.clone());
    Ok(ModelSource {
        name: request.name.clone(),
        folder: request.folder.clone(),
        tokenizer,
        load: Box::new(move |learned| opened.load(learned.and_then(Learned::get::<Weights>))),
        recognise: Some(Recognition {
            files: Files::new(NAME, move || local::files_of_a_model(&folder)),
            facts: Box::new(move |learned| {
                Ok(learned.get::<Weights>().map(|weights| again.facts(Some(weights))))
            }),
        }),
    })
}

/// A server whose ranks are counted among rounded logits is no peer of an f32 run.
fn refuse_coarse(server: &Server, probed: &Probed) -> Result<()> {
    let Some(grid) = probed.grid.filter(|grid| grid.coarse()) else { return Ok(()) };
    Err(Error::Server {
        url: server.shown().to_owned(),
        reason: format!(
            "its logits are rounded to 16 bits (steps of {} nats; {:.0} % of neighbours among the most probable tokens are equal), so tokens tie \
             that do not in 32 bits, and ranks are off",
            grid.step.unwrap_or_default(),
            100.0 * grid.equal_share()
        ),
        hint: "start it with --hf-overrides '{\"head_dtype\": \"float32\"}' where it has that, or with --dtype float32; or take its ranks as they \
               are with --accept-bf16-logits, which every number will say"
            .into(),
    })
}

/// A server that was asked what it is, and the folder of its model.
struct Opened {
    request: ModelRequest,
    asked: EngineOptions,
    server: Server,
    probed: Probed,
    sizes: Folder,
    patience: Patience,
}

impl Opened {
    fn facts(&self, weights: Option<Weights>) -> ModelFacts {
        ModelFacts {
            identity: engine::identity(&self.probed),
            model: facts::provenance(
                &self.request,
                &self.sizes,
                weights.as_ref(),
                &self.probed.served,
            ),
            rows: self.sizes.rows,
            context: self.probed.context,
            usual_length: None,
            unused_tensors: Vec::new(),
            files_not_read: Vec::new(),
            bos: self.sizes.bos,
        }
    }

    fn load(&self, known: Option<Weights>) -> Result<LoadedModel> {
        let weights = match known {
            Some(known) => Some(known),
            None => facts::weights(&self.request)?,
        };
        let audit = self.asked.audit.map(|audit| self.audit(audit)).transpose()?;
        let bound = self.asked.in_flight.unwrap_or(IN_FLIGHT).max(1);
        let mut notices = Vec::new();
        if let Some(whole) = self.probed.halved_from {
            let carries = self.probed.context.unwrap_or_default();
            notices.push(format!(
                "the server fails on a prompt of {whole} tokens, so windows are {carries} long at most; give it more memory for longer ones"
            ));
        }
        let facts = self.facts(weights.clone());
        let engine = VllmEngine {
            prompts: Prompts {
                server: self.server.clone(),
                probed: self.probed.clone(),
                flight: Flight::new(
                    bound,
                    self.patience,
                    Arc::clone(&self.asked.cancel),
                    self.asked.listener.clone(),
                ),
                rows: facts.rows,
            },
            model: facts.model,
            bound,
            audit,
            notices: Mutex::new(notices),
            told_fewer: AtomicBool::new(false),
        };
        Ok(LoadedModel {
            engine: Box::new(engine),
            unused_tensors: Vec::new(),
            files_not_read: Vec::new(),
            bos: facts.bos,
            learned: weights.as_ref().and_then(Learned::new),
        })
    }

    fn audit(&self, audit: Share) -> Result<Audit> {
        let judge = if audit.local {
            let options = EngineOptions {
                dtype: self.asked.dtype,
                tie_head: self.asked.tie_head,
                ..EngineOptions::default()
            };
            let source = local::source(&self.request, &options)?;
            Judge::Local((source.load)(None)?.engine)
        } else {
            Judge::Again
        };
        Ok(Audit::new(audit.share, judge))
    }
}

#[cfg(test)]
mod tests;
