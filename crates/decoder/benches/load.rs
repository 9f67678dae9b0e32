//! From a model folder to a model that is ready to score, in this order: [`Model::load`] with
//! memory that is new to the process, again with memory that the load before gave back, and
//! [`Model::load_known`], which does not hash. Beside them stands the hash of the files alone,
//! below which no load of files that are not known can come.
//!
//!     cargo bench -p relscale-decoder --bench load -- FOLDER [REPEATS] [--dtype f32|bf16] [--portable]
//!
//! Files should be in the system's cache; run it twice. Processor time is that of all threads, the
//! system's share included.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench reports on the terminal")]

use relscale_decoder::Model;
use relscale_decoder::checkpoint::Checkpoint;
use relscale_decoder::families::{LoadOptions, ReadWeights};
use relscale_decoder::kernels::{Choice, Dtype};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = LoadOptions::default();
    let mut plain = Vec::new();
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--portable" => options.kernels = Choice::Portable,
            "--dtype" => {
                options.dtype = match args.next().as_deref() {
                    Some("f32") => Dtype::F32,
                    Some("bf16") => Dtype::Bf16,
                    other => return Err(format!("--dtype takes f32 or bf16, not {other:?}").into()),
                }
            }
            _ => plain.push(arg),
        }
    }
    let Some(folder) = plain.first() else {
        eprintln!("no folder given: nothing to time (see this file's head)");
        return Ok(());
    };
    let folder = folder.as_ref();
    let repeats: usize = plain.get(1).map_or(Ok(5), |text| text.parse())?;
    let checkpoint = Checkpoint::open(folder)?;
    let bytes = checkpoint.bytes() as f64;
    println!(
        "{:.0} MB in {} files, {}, {} threads",
        bytes / 1e6,
        checkpoint.files().len(),
        options.dtype.name(),
        rayon::current_num_threads()
    );

    let before = megabytes("VmHWM:");
    let (first, model) = timed(|| Model::load(folder, options))?;
    let info = model.info().ok_or("a model without a record of its files")?;
    let read = ReadWeights {
        sha256: info.weights_sha256.clone(),
        stored: info.stored.clone(),
        unused: info.unused.clone(),
    };
    println!(
        "  memory: {:.0} MB before, {:.0} MB loaded, {:.0} MB at most",
        before,
        megabytes("VmRSS:"),
        megabytes("VmHWM:")
    );
    drop(model);
    report("load, new memory", bytes, &[first]);
    report("load, memory given back", bytes, &several(repeats, || Model::load(folder, options))?);
    report(
        "load, files known",
        bytes,
        &several(repeats, || Model::load_known(folder, options, &read))?,
    );
    report("the hash alone", bytes, &several(repeats, || checkpoint.sha256())?);
    Ok(())
}

/// Seconds on the clock, and of processor time.
type Seconds = (f64, f64);

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(Seconds, T), E> {
    let (start, processor) = (Instant::now(), processor_time());
    let result = work()?;
    Ok(((start.elapsed().as_secs_f64(), processor_time() - processor), result))
}

fn several<T, E>(
    repeats: usize,
    mut work: impl FnMut() -> Result<T, E>,
) -> Result<Vec<Seconds>, E> {
    (0..repeats.max(1)).map(|_| Ok(timed(&mut work)?.0)).collect()
}

/// Median, least and most on the clock, the median of processor time, and bytes of the files a
/// second.
fn report(what: &str, bytes: f64, times: &[Seconds]) {
    let sorted = |each: fn(&Seconds) -> f64| {
        let mut times: Vec<f64> = times.iter().map(each).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let (clock, processor) = (sorted(|t| t.0), sorted(|t| t.1));
    let median = clock[clock.len() / 2];
    println!(
        "  {what:<24} {median:.2} s ({:.2} to {:.2} of {}), processor {:.2} s; {:.2} GB/s of the files",
        clock[0],
        clock[clock.len() - 1],
        clock.len(),
        processor[processor.len() / 2],
        bytes / median / 1e9
    );
}

/// Seconds of processor time that this process has had; NaN where the system does not tell.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may hold anything, in parentheses: user and system time are the 12th
    // and 13th, in hundredths of a second.
    let fields =
        stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().skip(11).take(2);
    let ticks: Option<Vec<f64>> = fields.map(|field| field.parse().ok()).collect();
    ticks
        .filter(|ticks| ticks.len() == 2)
        .map_or(f64::NAN, |ticks| ticks.iter().sum::<f64>() / 100.0)
}

/// A line of what the kernel says of this process, in MB; NaN where it says nothing.
fn megabytes(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(f64::NAN)
        / 1e3
}
