//! Reading a corpus: from a file to token ids, in memory or (beyond 16 MB) in a file of the folder
//! for temporary files, as a measurement does it before the first token is scored. Megabytes and
//! tokens a second, and the peak of the resident set. Beside it stands `tools/peers/tokenise.py`,
//! which encodes the same documents with the `tokenizers` package in Python.
//!
//!     cargo bench -p relscale-measure --bench read -- FOLDER CORPUS [TOKENS]
//!
//! FOLDER has a tokenizer, CORPUS is a value of `--corpus`; with TOKENS only so many are kept and
//! the rest is read for its hash. In place of a folder, the word `documents` makes documents of the
//! file and drops them, and the word `hash` takes their hash as well: what reading costs before
//! anything is tokenised.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench reports on the terminal")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use relscale_corpus::{CorpusSpec, Fingerprint, Tokenizer};
use relscale_measure::scratch::Place;
use relscale_measure::text::Keep;
use relscale_measure::{CorpusSource, Error, ModelSource};

type Failure = Box<dyn std::error::Error>;

/// What was read.
struct Read {
    documents: u64,
    bytes: u64,
    tokens: u64,
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [stage, spec, keep @ ..] = args.as_slice() else {
        eprintln!("no folder and corpus given: nothing to time (see this file's head)");
        return Ok(());
    };
    let spec: CorpusSpec = spec.parse()?;
    let keep = keep.first().map(|tokens| tokens.parse()).transpose()?;
    let work: Box<dyn FnOnce() -> Result<Read, Failure>> = match stage.as_str() {
        "documents" => Box::new(move || documents(&spec)),
        "hash" => Box::new(move || hash(&spec)),
        folder => {
            let tokenizer = Tokenizer::from_folder(folder.as_ref())?;
            let folder = PathBuf::from(folder);
            Box::new(move || tokens(folder, tokenizer, spec, keep))
        }
    };
    let (start, before) = (Instant::now(), cpu_seconds());
    let Read { documents, bytes, tokens } = work()?;
    let (seconds, busy) = (start.elapsed().as_secs_f64(), cpu_seconds() - before);
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{documents} documents, {megabytes:.1} MB, {tokens} tokens kept: {seconds:.2} s ({busy:.2} s of processors), {:.1} MB/s, \
         {:.0} tokens/s, {:.0} MB at most",
        megabytes / seconds,
        tokens as f64 / seconds,
        peak_megabytes()
    );
    Ok(())
}

fn documents(spec: &CorpusSpec) -> Result<Read, Failure> {
    let mut read = Read { documents: 0, bytes: 0, tokens: 0 };
    for document in spec.open()? {
        read.documents += 1;
        read.bytes += document?.text.len() as u64;
    }
    Ok(read)
}

fn hash(spec: &CorpusSpec) -> Result<Read, Failure> {
    let mut hash = Fingerprint::default();
    for document in spec.open()? {
        hash.add(&document?);
    }
    let summary = hash.finish();
    Ok(Read { documents: summary.documents, bytes: summary.bytes, tokens: 0 })
}

fn tokens(
    folder: PathBuf,
    tokenizer: Tokenizer,
    spec: CorpusSpec,
    keep: Option<u64>,
) -> Result<Read, Failure> {
    let model = ModelSource {
        name: "none".into(),
        tokenizer: Some(Arc::new(tokenizer)),
        folder,
        load: Box::new(|_| Err(Error::ZeroLimit)),
        recognise: None,
    };
    let place = Place::new(&std::env::temp_dir());
    let keep = keep.map_or(Keep::All, Keep::First);
    let text = CorpusSource::from_spec(spec).read(&model, keep, &place, &AtomicBool::new(false))?;
    Ok(Read {
        documents: text.provenance.documents,
        bytes: text.provenance.bytes,
        tokens: text.tokens(),
    })
}

/// Seconds that this process has had of all processors; NaN where the system says nothing.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN);
    // Fields 14 and 15 of the line, in ticks of 1/100 s.
    (ticks(11) + ticks(12)) / 100.0
}

fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(f64::NAN)
        / 1e3
}
