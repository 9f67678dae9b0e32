//! A whole session of one model over one corpus, as `relscale measure` does it: seconds, tokens a
//! second, seconds of processors, and the peak of the resident set.
//!
//!     cargo bench -p relscale-measure --bench session -- FOLDER CORPUS STUDY [--mock] [--tokens N]
//!
//! FOLDER is a model, CORPUS a value of `--corpus`, STUDY the folder to measure into. With `--mock`
//! the model is not run: its ranks are made up from the tokens, at no cost, so that what remains is
//! reading, tokenising, laying out and writing.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench reports on the terminal")]

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use relscale_measure::engines::{EngineOptions, MockEngine, local};
use relscale_measure::{CorpusSource, Event, LoadedModel, ModelRequest, Settings, measure};
use relscale_records::Study;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [folder, spec, study, options @ ..] = args.as_slice() else {
        eprintln!("no model, corpus and study given: nothing to time (see this file's head)");
        return Ok(());
    };
    let mut settings = Settings::default();
    if let Some(at) = options.iter().position(|option| option == "--tokens") {
        settings.tokens = options.get(at + 1).map(|tokens| tokens.parse()).transpose()?;
    }
    let mut model = local::source(&ModelRequest::parse(folder)?, &EngineOptions::default())?;
    if options.iter().any(|option| option == "--mock") {
        let rows = model.tokenizer.as_ref().map_or(0, |tokenizer| tokenizer.sizes().with_added);
        model.recognise = None;
        model.load = Box::new(move |_| {
            Ok(LoadedModel {
                engine: Box::new(MockEngine::new("mock", 1_000_000, rows).with_context(1_024)),
                unused_tensors: Vec::new(),
                files_not_read: Vec::new(),
                bos: None,
                learned: None,
            })
        });
    }
    let corpus = CorpusSource::from_spec(spec.parse()?);
    let mut study = Study::create_or_open(Path::new(study))?;
    let (start, before) = (Instant::now(), cpu_seconds());
    let mut tell = |event: Event| match event {
        Event::CorpusRead { documents, bytes, tokens, .. } => println!(
            "read: {documents} documents, {:.1} MB, {tokens} tokens; {:.1} s, {:.0} MB at most so far",
            bytes as f64 / 1e6,
            start.elapsed().as_secs_f64(),
            peak_megabytes()
        ),
        Event::RunStarted { of, .. } => {
            println!("laid out: {of} positions; {:.1} s", start.elapsed().as_secs_f64());
        }
        Event::Warning(warning) => eprintln!("{warning}"),
        _ => {}
    };
    let measured =
        measure(&mut study, &[model], &[corpus], &settings, &mut tell, &AtomicBool::new(false))?;
    let (seconds, busy) = (start.elapsed().as_secs_f64(), cpu_seconds() - before);
    let totals =
        measured.iter().map(|run| run.done.totals.scored + run.done.totals.nonfinite).sum::<u64>();
    println!(
        "measured: {totals} positions; {seconds:.1} s ({busy:.1} s of processors), {:.0} positions/s, {:.0} MB at most",
        totals as f64 / seconds,
        peak_megabytes()
    );
    Ok(())
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
