//! What bf16 does to ranks, or one kernel beside another: scores the same text with the same models
//! in two formats, position by position.
//!
//! ```text
//! cargo run --release -p relscale-measure --example precision                               # the shipped family
//! cargo run --release -p relscale-measure --example precision -- crates:docs 60000 FOLDER...
//! FORMATS=f32:avx512,f32:amx-model cargo run --release -p relscale-measure --example precision
//! ```
//!
//! A format is a kind of numbers and, if wanted, the kernels. The tables in `docs/performance.md`
//! are made by it.

#![allow(clippy::print_stdout)] // An example prints.

use std::error::Error;
use std::path::{Path, PathBuf};

use relscale_corpus::Tokenizer;
use relscale_corpus::spec::CorpusSpec;
use relscale_decoder::families::LoadOptions;
use relscale_decoder::head::{Scored, Vocabulary};
use relscale_decoder::kernels::{Choice, Dtype, Format, Kernels};
use relscale_decoder::{Model, Sequence};

/// The k whose hits are compared.
const K: [u32; 4] = [1, 10, 100, 1000];

/// `f32`, `bf16:avx2` and the like.
fn format(text: &str) -> Result<LoadOptions, Box<dyn Error>> {
    let (dtype, kernels) = text.split_once(':').map_or((text, None), |(d, k)| (d, Some(k)));
    let dtypes = [Dtype::F32, Dtype::Bf16];
    let dtype = dtypes.into_iter().find(|d| d.name() == dtype).ok_or("f32 or bf16 is wanted")?;
    let kernels = match kernels {
        None => Choice::Best,
        Some(name) => Kernels::named(name)
            .and_then(|kernels| Format::by(dtype, kernels))
            .map(|format| Choice::Only(format.kernels()))
            .ok_or(format!("no kernels `{name}` for {} on this processor", dtype.name()))?,
    };
    Ok(LoadOptions { dtype, kernels, ..LoadOptions::default() })
}

fn main() -> Result<(), Box<dyn Error>> {
    let formats = std::env::var("FORMATS").unwrap_or("f32,bf16".to_owned());
    let (first, second) = formats.split_once(',').ok_or("FORMATS has two, with a comma between")?;
    let (first, second) = (format(first)?, format(second)?);
    let mut arguments = std::env::args().skip(1);
    let corpus: CorpusSpec = arguments.next().unwrap_or("crates:docs".to_owned()).parse()?;
    let wanted: usize = arguments.next().map_or(Ok(60_000), |text| text.parse())?;
    let mut folders: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    if folders.is_empty() {
        let family = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/family");
        folders = std::fs::read_dir(family)?
            .map(|entry| entry.map(|e| e.path()))
            .collect::<Result<_, _>>()?;
    }
    let documents = corpus.open()?.collect::<Result<Vec<_>, _>>()?;
    println!(
        "model         positions  same rank  |d ln rank|: mean  99 %   max   hits lost, gained at k = {K:?}    -ln RBP_1 of both       CE of both (nats): {formats}"
    );
    let mut lines = Vec::new();
    for folder in &folders {
        let tokenizer = Tokenizer::from_folder(folder)?;
        let (exact, narrow) = (Model::load(folder, first)?, Model::load(folder, second)?);
        let mut ids = Vec::new();
        for document in &documents {
            if ids.len() >= wanted {
                break;
            }
            ids.extend(tokenizer.encode(&document.text)?.ids);
        }
        ids.truncate(wanted);
        let context = exact.spec().context;
        let scored: Vec<u32> = (1..context as u32).collect();
        let windows: Vec<Sequence<'_>> = ids
            .chunks(context)
            .map(|tokens| Sequence { tokens, scored: &scored[..tokens.len() - 1] })
            .collect();
        let known = tokenizer.known_rows(exact.spec().vocabulary);
        let vocabulary = Vocabulary::only(exact.spec().vocabulary, |row| known[row as usize]);
        let mut pairs = Vec::new();
        for windows in windows.chunks(4) {
            let (a, b) = (exact.score(windows, &vocabulary)?, narrow.score(windows, &vocabulary)?);
            pairs.extend(
                a.into_iter().flatten().zip(b.into_iter().flatten()).filter_map(|(a, b)| a.zip(b)),
            );
        }
        let name =
            folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        lines.push((exact.parameters().non_embedding, line(&name, &pairs)));
    }
    lines.sort();
    lines.iter().for_each(|(_, line)| println!("{line}"));
    Ok(())
}

/// One line of the table.
fn line(name: &str, pairs: &[(Scored, Scored)]) -> String {
    let count = pairs.len() as f64;
    let share = |of: &dyn Fn(&(Scored, Scored)) -> bool| {
        pairs.iter().filter(|pair| of(pair)).count() as f64 / count
    };
    let mut moved: Vec<f64> = pairs
        .iter()
        .map(|(a, b)| (f64::from(a.rank).ln() - f64::from(b.rank).ln()).abs())
        .collect();
    moved.sort_by(f64::total_cmp);
    let hits: Vec<String> = K
        .iter()
        .map(|&k| {
            let lost = pairs.iter().filter(|(a, b)| a.rank <= k && b.rank > k).count();
            let gained = pairs.iter().filter(|(a, b)| a.rank > k && b.rank <= k).count();
            format!("{lost}, {gained}")
        })
        .collect();
    let mean = |of: &dyn Fn(&(Scored, Scored)) -> f32| {
        pairs.iter().map(|pair| f64::from(of(pair))).sum::<f64>() / count
    };
    format!(
        "{name:<12} {:>10}  {:>8.2} %         {:>9.4}  {:.3}  {:.2}   {:<38}  {:.5}, {:.5}   {:.5}, {:.5}",
        pairs.len(),
        100.0 * share(&|(a, b)| a.rank == b.rank),
        moved.iter().sum::<f64>() / count,
        moved[(0.99 * count) as usize],
        moved[moved.len() - 1],
        hits.join("; "),
        -share(&|(a, _)| a.rank <= 1).ln(),
        -share(&|(_, b)| b.rank <= 1).ln(),
        mean(&|(a, _)| a.nll),
        mean(&|(_, b)| b.nll),
    )
}
