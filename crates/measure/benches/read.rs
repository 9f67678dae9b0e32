//! Reading a corpus: from a file to token ids, in memory or (beyond 16 MB) in a file of the folder for temporary files, as a measurement does it before the first token is scored. Megabytes and tokens a
//! second, and the peak of the resident set. Beside it stands `tools/peers/tokenise.py`, which encodes the same lines with the
//! `tokenizers` package in Python.
//!
//!     cargo bench -p relscale-measure --bench read -- FOLDER CORPUS [TOKENS]
//!
//! FOLDER has a tokenizer, CORPUS is a value of `--corpus`; with TOKENS only so many are kept and the rest is read for its hash.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench reports on the terminal")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use relscale_corpus::Tokenizer;
use relscale_measure::scratch::Place;
use relscale_measure::{CorpusSource, Error, ModelSource};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [folder, spec, keep @ ..] = args.as_slice() else {
        eprintln!("no folder and corpus given: nothing to time (see this file's head)");
        return Ok(());
    };
    let keep = keep.first().map(|tokens| tokens.parse()).transpose()?;
    let folder = PathBuf::from(folder);
    let model = ModelSource {
        name: "none".into(),
        tokenizer: Some(Arc::new(Tokenizer::from_folder(&folder)?)),
        folder,
        load: Box::new(|| Err(Error::ZeroLimit)),
        recognise: None,
    };
    let corpus = CorpusSource::of_spec(spec.parse()?, None);
    let (start, before) = (Instant::now(), cpu_seconds());
    let place = Place::new(&std::env::temp_dir());
    let text = corpus.read(&model, keep, &place, &AtomicBool::new(false))?;
    let (seconds, busy) = (start.elapsed().as_secs_f64(), cpu_seconds() - before);
    let (megabytes, tokens) = (text.provenance.bytes as f64 / 1e6, text.tokens() as f64);
    println!(
        "{} documents, {megabytes:.1} MB, {tokens} tokens kept: {seconds:.2} s ({busy:.2} s of processors), {:.1} MB/s, {:.0} tokens/s, \
         {:.0} MB at most",
        text.provenance.documents,
        megabytes / seconds,
        tokens / seconds,
        peak_megabytes()
    );
    Ok(())
}

/// Seconds that this process has had of all processors; NaN where the system says nothing.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN);
    // Fields 14 and 15 of the line, in ticks of 1/100 s.
    (ticks(11) + ticks(12)) / 100.0
}

fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e3
}
