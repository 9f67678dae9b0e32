//! Any process as an engine: it speaks the protocol of `docs/engines.md` over standard input and
//! output.
//!
//! * `--engine exec:COMMAND` starts that command, without a shell.
//! * `--engine transformers` starts the Python package `relscale_engine`, by the interpreter of
//!   `RELSCALE_PYTHON`, else `python3`.
//!
//! **Actors.** `frames` is the wire, `hello` what both sides say of themselves, `process` the
//! child with its pipes and its ends. The process is started when the model's turn comes and told
//! to end when it is over.
//!
//! **Invariants.** A process that dies, hangs, answers short or prints rubbish is an error that
//! says which, with its last words; no number of it is kept. Requests for which it has no memory
//! are halved.

mod frames;
mod hello;
mod process;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use relscale_records::Score;
use relscale_records::provenance::{ModelProvenance, ScoreColumn, ToolProvenance};

use super::options::{Dtype, EngineOptions};
use super::provider::Provider;
use super::{gguf, local};
use crate::engine::{Engine, EngineIdentity, EngineWindow, Vocabulary};
use crate::error::{Error, Result};
use crate::hub::{ModelRequest, Parts};
use crate::source::{LoadedModel, ModelFacts, ModelSource};
use frames::{Broken, Frame, Kind};
use hello::{Asked, Hello, PROTOCOL};
use process::{Fault, Process};

/// Seconds of silence after which a process counts as hanging.
const SILENCE: Duration = Duration::from_secs(60);

/// `--engine exec:COMMAND`.
pub const PROVIDER: Provider = Provider {
    name: "exec",
    argument: Some("COMMAND"),
    about: "a process that speaks the protocol of docs/engines.md",
    takes: &["--engine-option", "--engine-silence"],
    parts: Parts::All,
    source: command_source,
};

/// `--engine transformers`.
pub const TRANSFORMERS: Provider = Provider {
    name: "transformers",
    argument: None,
    about: "PyTorch and transformers, by the Python package relscale_engine: any causal model, on any device",
    takes: &["--dtype", "--dtype auto", "--engine-option", "--engine-silence"],
    parts: Parts::All,
    source: transformers_source,
};

/// The interpreter that has `relscale_engine`.
const PYTHON: &str = "RELSCALE_PYTHON";

fn command_source(request: &ModelRequest, asked: &EngineOptions) -> Result<ModelSource<'static>> {
    let command = asked.argument.clone().unwrap_or_default();
    let words = shlex::split(&command).ok_or_else(|| Error::Engine {
        engine: "exec".into(),
        reason: format!("`{command}` has a quote that does not end"),
    })?;
    source(request, asked, words, "exec-")
}

fn transformers_source(
    request: &ModelRequest,
    asked: &EngineOptions,
) -> Result<ModelSource<'static>> {
    let python = std::env::var(PYTHON).unwrap_or_else(|_| "python3".into());
    let mut words: Vec<String> =
        [&python, "-m", "relscale_engine", "--backend", "transformers"].map(str::to_owned).into();
    if let Some(dtype) = asked.dtype {
        let dtype = match dtype {
            Dtype::F32 => "f32",
            Dtype::Bf16 => "bf16",
            // By the device, as it does where nobody says.
            Dtype::Auto => "auto",
        };
        words.extend(["--dtype".to_owned(), dtype.to_owned()]);
    }
    source(request, asked, words, "")
}

fn source(
    request: &ModelRequest,
    asked: &EngineOptions,
    words: Vec<String>,
    prefix: &'static str,
) -> Result<ModelSource<'static>> {
    gguf::refuse(request, name(prefix))?;
    let (request, asked) = (request.clone(), asked.clone());
    Ok(ModelSource {
        name: request.name.clone(),
        folder: request.folder.clone(),
        tokenizer: local::tokenizer(&request.folder)?,
        // Not recognised by its files: the process has a version of its own, which only it tells.
        load: Box::new(move |_| load(&request, &asked, &words, prefix)),
        recognise: None,
    })
}

/// The engine as a person names it, by what stands before the names of its process.
fn name(prefix: &str) -> &'static str {
    if prefix.is_empty() { TRANSFORMERS.name } else { PROVIDER.name }
}

/// A model behind a process.
pub struct ProcessEngine {
    facts: ModelFacts,
    batch_tokens: Option<usize>,
    talk: Mutex<Talk>,
}

/// The process, and where the talk with it stands.
struct Talk {
    process: Process,
    /// Rows that it was told take part.
    vocabulary: Option<Vocabulary>,
    request: u32,
    notices: Vec<String>,
}

/// Starts the process and hears what it is.
fn load(
    request: &ModelRequest,
    asked: &EngineOptions,
    words: &[String],
    prefix: &str,
) -> Result<LoadedModel> {
    let silence = asked.silence.unwrap_or(SILENCE);
    let started = || -> Result<(Process, Hello, Vec<String>), Fault> {
        let mut process = Process::start(words, silence, asked.cancel.clone())?;
        let tool = ToolProvenance::this();
        let full = request.folder.canonicalize().unwrap_or_else(|_| request.folder.clone());
        let hello = Asked {
            protocol: PROTOCOL,
            program: format!("{} {}", tool.name, tool.version),
            folder: Some(full.to_string_lossy().into_owned()),
            model: request.name.clone(),
            options: asked.own.iter().cloned().collect::<BTreeMap<_, _>>(),
        };
        // Strings and numbers, which JSON always has.
        let payload = serde_json::to_vec(&hello).unwrap_or_default();
        process.send(Frame { kind: Kind::Hello, payload });
        let mut notices = Vec::new();
        let frame = process.receive(&mut notices)?;
        if frame.kind != Kind::Hello {
            return Err(Broken::Payload(format!("it began with {:?}", frame.kind)).into());
        }
        let hello: Hello = frame.json()?;
        hello.check()?;
        notices.extend(hello.notices.iter().cloned());
        Ok((process, hello, notices))
    };
    let engine = name(prefix);
    let (process, hello, notices) =
        started().map_err(|fault| engine_error(fault, engine, &request.name))?;
    let facts = hello.facts(request, prefix);
    let talk = Talk { process, vocabulary: None, request: 0, notices };
    let bos = facts.bos;
    Ok(LoadedModel {
        engine: Box::new(ProcessEngine {
            facts,
            batch_tokens: hello.batch_tokens,
            talk: Mutex::new(talk),
        }),
        unused_tensors: Vec::new(),
        files_not_read: Vec::new(),
        bos,
        learned: None,
    })
}

fn engine_error(fault: Fault, engine: &str, model: &str) -> Error {
    match fault {
        Fault::Cancelled => Error::Cancelled,
        fault => {
            let mut reason = fault.to_string();
            if engine == TRANSFORMERS.name && reason.contains("No module named") {
                reason.push_str(
                    "; install it with `pip install ./python/relscale_engine` from this program's \
                     sources, and name the interpreter that has it by RELSCALE_PYTHON",
                );
            }
            Error::EngineProcess { engine: engine.to_owned(), model: model.to_owned(), reason }
        }
    }
}

impl Talk {
    fn score(
        &mut self,
        windows: &[EngineWindow<'_>],
        lacks: &[ScoreColumn],
    ) -> Result<Vec<Vec<Option<Score>>>, Fault> {
        self.request = self.request.wrapping_add(1);
        let number = self.request;
        self.process.send(frames::windows(number, windows));
        match self.process.receive(&mut self.notices) {
            Ok(frame) if frame.kind == Kind::Scores => {
                Ok(frames::scores(&frame, number, windows, lacks)?)
            }
            Ok(frame) => {
                Err(Broken::Payload(format!("{:?} came where scores are due", frame.kind)).into())
            }
            Err(Fault::Memory(_)) if windows.len() > 1 => {
                let (first, second) = windows.split_at(windows.len() / 2);
                let mut scores = self.score(first, lacks)?;
                scores.extend(self.score(second, lacks)?);
                Ok(scores)
            }
            Err(fault) => Err(fault),
        }
    }
}

impl Engine for ProcessEngine {
    fn identity(&self) -> EngineIdentity {
        self.facts.identity.clone()
    }

    fn model(&self) -> &ModelProvenance {
        &self.facts.model
    }

    fn rows(&self) -> u32 {
        self.facts.rows
    }

    fn context(&self) -> Option<usize> {
        self.facts.context
    }

    fn batch_tokens(&self) -> Option<usize> {
        self.batch_tokens
    }

    fn notices(&self) -> Vec<String> {
        let mut talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut talk.notices)
    }

    fn score(
        &self,
        windows: &[EngineWindow<'_>],
        vocabulary: &Vocabulary,
    ) -> Result<Vec<Vec<Option<Score>>>> {
        let mut talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
        if talk.vocabulary.as_ref() != Some(vocabulary) {
            talk.process.send(frames::vocabulary(vocabulary));
            talk.vocabulary = Some(vocabulary.clone());
        }
        let scores = talk.score(windows, &self.facts.identity.lacks);
        scores
            .map_err(|fault| engine_error(fault, &self.facts.identity.name, &self.facts.model.name))
    }
}
