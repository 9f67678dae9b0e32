//! The window protocols against the numbers of the tools that they follow, on the same models and
//! text.
//!
//! `tools/peers/protocols.py` wrote the two tiny models, the text and the numbers, in float64: some
//! by the tool itself, some by its procedure around the same model (that file says which). Here the
//! same folders go through [`relscale_measure::measure`] with the local engine, and what is
//! compared is read back from the study.

#![allow(clippy::print_stdout)] // says how closely the numbers agree

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::run::{Run, all_rows, corpus, model};
use common::{assert_same, session};
use relscale_corpus::Tokenizer;
use relscale_corpus::protocols::{NAMES, Protocol, Strided, TokenText};
use relscale_measure::{Prefix, Settings};
use relscale_records::ScoredToken;
use serde::Deserialize;

/// Positions that the models take.
const CONTEXT: usize = 32;

/// Relative distance allowed between f32 here and float64 there.
const TOLERANCE: f64 = 1e-5;

#[derive(Deserialize)]
struct Peers {
    gpt2: Numbers,
    llama: Numbers,
}

#[derive(Deserialize)]
struct Numbers {
    /// Of each document.
    tokens: Vec<usize>,
    joined_tokens: usize,
    rolling: Vec<RollingNumbers>,
    rolling_as_the_tokenizer_likes: RollingNumbers,
    rolling_joined: RollingNumbers,
    strided: Vec<StridedNumbers>,
    half_window: Vec<HalfWindowNumbers>,
    paper: PaperNumbers,
}

#[derive(Deserialize)]
struct RollingNumbers {
    max_length: usize,
    prefix_token_id: u32,
    /// Of each document.
    loglikelihood: Vec<f64>,
    bits_per_byte: f64,
    byte_perplexity: f64,
}

#[derive(Deserialize)]
struct StridedNumbers {
    max_length: usize,
    stride: usize,
    /// Sum of the guide's weights.
    tokens: usize,
    average_nll: f64,
    perplexity: f64,
}

#[derive(Deserialize)]
struct HalfWindowNumbers {
    n_ctx: usize,
    /// What stands at the beginning of each chunk.
    bos: Option<u32>,
    count: u64,
    perplexity: f64,
}

#[derive(Deserialize)]
struct PaperNumbers {
    seq_len: usize,
    documents: Vec<PaperDocument>,
    k: Vec<u32>,
    rbp: Vec<f64>,
    cross_entropy: f64,
}

#[derive(Deserialize)]
struct PaperDocument {
    position: Vec<u32>,
    rank: Vec<u32>,
    nll: Vec<f64>,
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/protocols")
}

/// Half windows of the Llama by llama.cpp's own arithmetic, as
/// `tools/peers/half_window_llama_cpp.py` wrote them.
#[derive(Deserialize)]
struct LlamaCpp {
    llama: Vec<HalfWindowNumbers>,
}

fn read<T: serde::de::DeserializeOwned>(name: &str) -> T {
    serde_json::from_slice(&fs::read(data().join(name)).unwrap()).unwrap()
}

/// The numbers of both models, by the name of the model's folder.
fn peers() -> [(&'static str, Numbers); 2] {
    let peers: Peers = read("peers.json");
    [("gpt2", peers.gpt2), ("llama", peers.llama)]
}

/// The documents one by one, or joined as the transformers guide joins them.
const EACH: &str = "id=id";
const JOINED: &str = "concat=%0A%0A";

/// A run of a model over the text that came with the numbers.
fn run(name: &str, options: &str, settings: &Settings) -> Run {
    Run::measure(
        model(&data().join(name)),
        corpus(&data().join("documents.jsonl"), options),
        settings,
    )
    .unwrap()
}

/// Keeps the largest relative distance, to say it at the end of a test.
#[derive(Default)]
struct Worst(f64);

impl Worst {
    fn compare(&mut self, ours: f64, theirs: f64, what: &str) {
        let distance = (ours - theirs).abs() / theirs.abs().max(f64::MIN_POSITIVE);
        assert!(distance < TOLERANCE, "{what}: {ours} here, {theirs} there");
        self.0 = self.0.max(distance);
    }

    fn say(&self, what: &str) {
        println!("{what}: largest relative distance {:.1e}", self.0);
    }
}

#[test]
fn rolling_gives_the_numbers_of_lm_evaluation_harness() {
    let mut worst = Worst::default();
    for (name, numbers) in peers() {
        for theirs in &numbers.rolling {
            let auto = theirs.prefix_token_id == 0;
            let prefix = if auto { Prefix::Auto } else { Prefix::Id(theirs.prefix_token_id) };
            let settings = Settings { prefix, ..all_rows("rolling", Some(theirs.max_length)) };
            let found = run(name, EACH, &settings);
            assert_eq!(found.prefix().unwrap().0, theirs.prefix_token_id);
            let what = format!("{name}, length {}", theirs.max_length);
            for (document, (&ll, &tokens)) in
                theirs.loglikelihood.iter().zip(&numbers.tokens).enumerate()
            {
                let document = document as u32;
                let rows = found.rows.iter().filter(|row| row.document == document).count();
                assert_eq!(rows, tokens, "{what}: every token is scored");
                if tokens > 0 {
                    worst.compare(
                        -found.sum_nll(document),
                        ll,
                        &format!("{what}, document {document}"),
                    );
                }
            }
            let bits = found.tally.bits_per_byte().unwrap();
            worst.compare(bits, theirs.bits_per_byte, &format!("{what}, bits per byte"));
            worst.compare(bits.exp2(), theirs.byte_perplexity, &format!("{what}, byte perplexity"));
        }
    }
    worst.say("rolling");
}

/// What the harness does when it is not told `add_bos_token=False`: nothing else for a tokenizer
/// that adds nothing, and beginning-of-text twice for one that adds it. We never have it twice.
#[test]
fn rolling_is_the_harness_without_its_second_beginning_of_text() {
    let [(_, gpt2), (_, llama)] = peers();
    assert_eq!(gpt2.rolling_as_the_tokenizer_likes.loglikelihood, gpt2.rolling[0].loglikelihood);
    let (twice, once) =
        (llama.rolling_as_the_tokenizer_likes.loglikelihood, &llama.rolling[0].loglikelihood);
    // The second one is scored too, given the first; even an empty document has one then.
    assert!(once[0] == 0.0 && twice[0] < 0.0);
    assert!(twice.iter().zip(once).skip(1).all(|(twice, once)| (twice / once - 1.0).abs() > 1e-3));
}

#[test]
fn documents_one_by_one_and_joined_are_two_numbers_each_its_own() {
    let mut worst = Worst::default();
    for (name, numbers) in peers() {
        let settings = all_rows("rolling", None);
        let each = run(name, EACH, &settings);
        let joined = run(name, JOINED, &settings);
        let (theirs_each, theirs_joined) = (&numbers.rolling[0], &numbers.rolling_joined);
        assert_eq!(joined.rows.len(), numbers.joined_tokens);
        worst.compare(-joined.sum_nll(0), theirs_joined.loglikelihood[0], name);
        let (each, joined) =
            (each.tally.bits_per_byte().unwrap(), joined.tally.bits_per_byte().unwrap());
        worst.compare(each, theirs_each.bits_per_byte, name);
        worst.compare(joined, theirs_joined.bits_per_byte, name);
        assert!((each - joined).abs() > 1e-3, "{name}: {each} and {joined}");
    }
    worst.say("each and joined");
}

/// The guide's own average, from the rows of a run and the windows of the protocol.
fn guide_average(name: &str, found: &Run, length: usize, stride: usize) -> (f64, usize) {
    let tokenizer = Tokenizer::from_folder(&data().join(name)).unwrap();
    let documents = corpus(&data().join("documents.jsonl"), JOINED);
    let text = (documents.documents)().unwrap().next().unwrap().unwrap().text;
    let encoded = tokenizer.encode(&text).unwrap();
    let prefix = found.prefix().map(|(id, _)| id);
    let protocol = Strided::new(length, stride, prefix).unwrap();
    let (mut sum, mut weights, mut rows) = (0.0, 0, found.rows.iter());
    for window in protocol.windows(&TokenText::new(&encoded.ids)).unwrap() {
        let own: Vec<&ScoredToken> = rows.by_ref().take(window.scored.len()).collect();
        assert!(own.iter().map(|row| row.position).eq(window.scored.iter().copied()));
        let nll: f64 = own.iter().map(|row| f64::from(row.score.unwrap().nll)).sum();
        let weight = protocol.guide_weight(&window);
        sum += nll / own.len() as f64 * weight as f64;
        weights += weight;
    }
    assert!(rows.next().is_none(), "every row belongs to a window");
    (sum / weights as f64, weights)
}

#[test]
fn strided_gives_the_numbers_of_the_transformers_guide() {
    let mut worst = Worst::default();
    for (name, numbers) in peers() {
        for theirs in &numbers.strided {
            let (length, stride) = (theirs.max_length, theirs.stride);
            let settings = Settings { stride: Some(stride), ..all_rows("strided", Some(length)) };
            let found = run(name, JOINED, &settings);
            let (average, weights) = guide_average(name, &found, length, stride);
            let what = format!("{name}, length {length}, stride {stride}");
            assert_eq!(weights, theirs.tokens, "{what}");
            worst.compare(average, theirs.average_nll, &what);
            worst.compare(average.exp(), theirs.perplexity, &what);
        }
    }
    worst.say("strided");
}

#[test]
fn half_window_gives_the_numbers_of_llama_cpp() {
    let mut worst = Worst::default();
    let by_llama_cpp: LlamaCpp = read("llama_cpp.json");
    let by_transformers = peers().map(|(name, numbers)| (name, numbers.half_window));
    for (name, numbers) in by_transformers.into_iter().chain([("llama", by_llama_cpp.llama)]) {
        for theirs in numbers {
            let found = run(name, JOINED, &all_rows("half-window", Some(theirs.n_ctx)));
            let what = format!("{name}, n_ctx {}", theirs.n_ctx);
            assert_eq!(found.prefix().map(|(id, _)| id), theirs.bos, "{what}");
            assert_eq!(found.tally.totals().scored, theirs.count, "{what}");
            worst.compare(found.tally.cross_entropy().unwrap().exp(), theirs.perplexity, &what);
        }
    }
    worst.say("half-window");
}

#[test]
fn the_paper_preset_gives_the_numbers_of_its_released_procedure() {
    let mut worst = Worst::default();
    for (name, numbers) in peers() {
        let theirs = &numbers.paper;
        assert_eq!(theirs.seq_len, CONTEXT, "the preset takes what the model takes, at most 512");
        let found = run(name, EACH, &Settings::for_protocol("paper"));
        let mut rows = found.rows.iter();
        for (document, theirs) in theirs.documents.iter().enumerate() {
            let own: Vec<&ScoredToken> = rows.by_ref().take(theirs.position.len()).collect();
            assert!(
                own.iter().all(|row| row.document == document as u32),
                "{name}, document {document}"
            );
            let positions: Vec<u32> = own.iter().map(|row| row.position).collect();
            assert_eq!(positions, theirs.position, "{name}, document {document}");
            let ranks: Vec<u32> =
                own.iter().map(|row| row.score.unwrap().optimistic_rank()).collect();
            assert_eq!(ranks, theirs.rank, "{name}, document {document}");
            for (row, &nll) in own.iter().zip(&theirs.nll) {
                let nll_here = f64::from(row.score.unwrap().nll);
                // A likelihood near 1 leaves few digits of its logarithm.
                assert!(
                    (nll_here - nll).abs() < TOLERANCE * nll.max(1.0),
                    "{name}: {nll_here} and {nll}"
                );
            }
        }
        assert!(rows.next().is_none(), "{name}: no row beyond theirs");
        assert_eq!(found.tally.k_grid, theirs.k, "{name}");
        assert_eq!(
            found.tally.rbp().unwrap(),
            theirs.rbp,
            "{name}: shares of equal counts are equal"
        );
        worst.compare(found.tally.cross_entropy().unwrap(), theirs.cross_entropy, name);
    }
    worst.say("paper (cross entropy; ranks and RBP are equal)");
}

#[test]
fn one_window_a_batch_or_all_give_the_same_files() {
    let root = tempfile::tempdir().unwrap();
    let stride = |protocol: &str| matches!(protocol, "document" | "strided").then_some(7);
    for (name, _) in peers() {
        for protocol in NAMES {
            let study = |batch_tokens: usize| {
                let folder = root.path().join(format!("{name}-{protocol}-{batch_tokens}"));
                let settings = Settings {
                    batch_tokens: Some(batch_tokens),
                    stride: stride(protocol),
                    part_tokens: 100,
                    ..all_rows(protocol, Some(24))
                };
                let documents = corpus(&data().join("documents.jsonl"), JOINED);
                session(&folder, &[model(&data().join(name))], &[documents], &settings).0.unwrap();
                folder
            };
            let one = study(1);
            for many in [7 * 24, 1 << 20] {
                assert_same(&one, &study(many));
            }
        }
    }
}
