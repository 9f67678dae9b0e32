//! An engine process that runs no model: pseudo-scores of [`MockEngine`], over the protocol of
//! `docs/engines.md`. For tests, and to be read by whoever writes an engine.
//!
//! `mock-engine [ROWS] [FAULT]`, where a fault is how it is to misbehave (see `Fault`). The option
//! `parameters` is the size of the model that it plays.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

use std::io::{self, BufReader, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use relscale_measure::engine::{Engine, EngineWindow, Vocabulary};
use relscale_measure::engines::MockEngine;
use serde_json::{Value, json};

/// How it is to misbehave, by the name that is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Not at all.
    None,
    /// Ends with status 3 at the eighth request.
    Dies,
    /// Says nothing any more from the third request on.
    Hangs,
    /// Answers one score too few.
    Short,
    /// Answers another request than was sent.
    Other,
    /// Prints a line before its first frame.
    Rubbish,
    /// Prints a line between frames.
    Prints,
    /// Ends inside a frame.
    Cut,
    /// Has no memory for more than two windows.
    Memory,
    /// Has no memory for any window.
    NoMemory,
    /// Fails in words.
    Says,
    /// Speaks another version of the protocol.
    Newer,
    /// Counts parameters that do not add up.
    Miscounts,
    /// Gives ranks and losses alone, and ranks over all rows only.
    Poor,
    /// Takes a second for each request, with heartbeats.
    Slow,
}

impl Fault {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "dies" => Self::Dies,
            "hangs" => Self::Hangs,
            "short" => Self::Short,
            "other" => Self::Other,
            "rubbish" => Self::Rubbish,
            "prints" => Self::Prints,
            "cut" => Self::Cut,
            "memory" => Self::Memory,
            "no-memory" => Self::NoMemory,
            "says" => Self::Says,
            "newer" => Self::Newer,
            "miscounts" => Self::Miscounts,
            "poor" => Self::Poor,
            "slow" => Self::Slow,
            _ => return None,
        })
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let rows = arguments.next().map_or(Some(60), |text| text.parse().ok());
    let fault = Fault::named(arguments.next().as_deref().unwrap_or("none"));
    let (Some(rows), Some(fault)) = (rows, fault) else {
        eprintln!("mock-engine [ROWS] [FAULT]");
        return ExitCode::from(2);
    };
    eprintln!("a mock of {rows} rows");
    match serve(rows, fault) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("mock-engine: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes one frame.
fn write(kind: &[u8; 4], payload: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(kind)?;
    out.write_all(&(payload.len() as u32).to_le_bytes())?;
    out.write_all(payload)?;
    out.flush()
}

fn serve(rows: u32, fault: Fault) -> io::Result<ExitCode> {
    let mut input = BufReader::new(io::stdin().lock());
    let mut engine = mock(&Value::Null, rows);
    let mut vocabulary = Vocabulary::Rows(rows);
    let mut requests = 0;
    loop {
        let mut head = [0; 8];
        // The end of the input is a goodbye.
        if input.read_exact(&mut head).is_err() {
            return Ok(ExitCode::SUCCESS);
        }
        let [kind, length] = [0, 4].map(|at| [head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let mut payload = vec![0; u32::from_le_bytes(length) as usize];
        input.read_exact(&mut payload)?;
        match &kind {
            b"HELO" => {
                if fault == Fault::Rubbish {
                    println!("Loading checkpoint shards: 100%");
                }
                let asked: Value = serde_json::from_slice(&payload)?;
                engine = mock(&asked, rows);
                let answer = hello(&engine, rows, fault);
                write(b"HELO", answer.to_string().as_bytes())?;
            }
            b"VOCB" if payload.is_empty() => vocabulary = Vocabulary::Rows(rows),
            b"VOCB" => vocabulary = Vocabulary::Tokens(payload.iter().map(|&b| b == 1).collect()),
            b"WIND" => {
                requests += 1;
                match (fault, requests) {
                    (Fault::Dies, 8) => {
                        eprintln!("CUDA error: device lost");
                        return Ok(ExitCode::from(3));
                    }
                    (Fault::Hangs, 3) => std::thread::sleep(Duration::from_secs(600)),
                    (Fault::Prints, 2) => println!("epoch 1: loss 3.14"),
                    (Fault::Cut, 2) => {
                        io::stdout().lock().write_all(b"SCOR\x40\0\0\0few")?;
                        return Ok(ExitCode::SUCCESS);
                    }
                    (Fault::Says, _) => {
                        let said = json!({"message": "the model gave up", "kind": "error"});
                        write(b"FAIL", said.to_string().as_bytes())?;
                        return Ok(ExitCode::FAILURE);
                    }
                    (Fault::Slow, _) => {
                        for _ in 0..10 {
                            std::thread::sleep(Duration::from_millis(100));
                            write(b"BEAT", &[])?;
                        }
                    }
                    _ => {}
                }
                answer(&engine, &vocabulary, &payload, fault)?;
            }
            b"BYE " => return Ok(ExitCode::SUCCESS),
            _ => return Err(io::Error::other("a frame that is not known")),
        }
    }
}

/// The mock that a hello asks for: by the name of its model, and of as many non-embedding
/// parameters as the option `parameters` says; the more, the more skilled.
fn mock(asked: &Value, rows: u32) -> MockEngine {
    let said = asked["options"]["parameters"].as_str().and_then(|text| text.parse().ok());
    let name = asked["model"].as_str().unwrap_or("mock");
    MockEngine::new(name, said.unwrap_or(10_000), rows).with_context(32)
}

fn hello(engine: &MockEngine, rows: u32, fault: Fault) -> Value {
    let model = engine.model();
    let mut parameters = json!(model.parameters);
    if fault == Fault::Miscounts {
        parameters["total"] = json!(1);
    }
    let poor = fault == Fault::Poor;
    json!({
        "protocol": if fault == Fault::Newer { 99 } else { 1 },
        "engine": "mock",
        "engine_version": "0.1.0",
        "revision": 1,
        "compute_dtype": if poor { "bf16" } else { "f32" },
        "architecture": model.architecture,
        "weights_sha256": model.weights_sha256,
        "config_sha256": model.config_sha256,
        "stored_dtype": model.stored_dtype,
        "files": model.files,
        "parameters": parameters,
        "rows": rows,
        "context": engine.context(),
        "bos": null,
        "gives": if poor { json!([]) } else { json!(["ties", "entropy", "argmax"]) },
        "rank_rule": ">=",
        "rows_only": poor,
        "batch_tokens": 96,
        "notices": ["a mock: its scores are made up"],
    })
}

/// Answers a request.
fn answer(
    engine: &MockEngine,
    vocabulary: &Vocabulary,
    payload: &[u8],
    fault: Fault,
) -> io::Result<()> {
    let words: Vec<u32> =
        payload.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let (number, mut rest) = (words[0], &words[2..]);
    let mut windows = Vec::new();
    while let [tokens, scored, more @ ..] = rest {
        let (ids, more) = more.split_at(*tokens as usize);
        let (positions, more) = more.split_at(*scored as usize);
        windows.push(EngineWindow { tokens: ids, scored: positions });
        rest = more;
    }
    let most = match fault {
        Fault::Memory => 2,
        Fault::NoMemory => 0,
        _ => usize::MAX,
    };
    if windows.len() > most {
        let said = json!({"message": "out of memory", "kind": "memory"});
        return write(b"FAIL", said.to_string().as_bytes());
    }
    let scores = engine.score(&windows, vocabulary).map_err(io::Error::other)?;
    let mut scores: Vec<_> = scores.into_iter().flatten().collect();
    if fault == Fault::Short {
        scores.pop();
    }
    let columns: [fn(&relscale_records::Score) -> u32; 5] = [
        |score| score.rank,
        |score| score.nll.to_bits(),
        |score| score.ties.unwrap_or_default(),
        |score| score.entropy.unwrap_or_default().to_bits(),
        |score| score.argmax.unwrap_or_default(),
    ];
    let told = if fault == Fault::Poor { 2 } else { 5 };
    let number = number + u32::from(fault == Fault::Other);
    let mut block: Vec<u8> =
        [number, scores.len() as u32].into_iter().flat_map(u32::to_le_bytes).collect();
    for column in &columns[..told] {
        // A position without a score is a rank of 0.
        let words = scores.iter().map(|score| score.as_ref().map_or(0, column));
        block.extend(words.flat_map(u32::to_le_bytes));
    }
    write(b"SCOR", &block)
}
