//! Ways in which perplexity goes wrong in other tools, by threads of their repositories; each a run
//! through `measure`.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::run::{Run, all_rows, corpus, model};
use relscale_corpus::CorpusError;
use relscale_corpus::protocols::NAMES;
use relscale_measure::{Error, Event, Prefix, Settings, Warning};
use relscale_records::provenance::VocabularyRule;
use serde_json::{Value, json};

/// Positions that the models take.
const CONTEXT: usize = 32;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/protocols")
}

/// A model over a text of its own.
fn run(name: &str, text: &str, settings: &Settings) -> Result<Run, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.txt");
    fs::write(&path, text).unwrap();
    Run::measure(model(&data().join(name)), corpus(&path, "split=file"), settings)
}

/// A text of exactly so many tokens: both tokenizers have no merge over digits, so each is a token.
fn digits(tokens: usize) -> String {
    "0123456789".chars().cycle().take(tokens).collect()
}

fn nlls(run: &Run) -> Vec<f64> {
    run.rows.iter().map(|row| f64::from(row.score.unwrap().nll)).collect()
}

/// huggingface/transformers 34138: the mean of window means counts short windows too much.
#[test]
fn one_and_a_half_windows_are_weighted_by_their_tokens() {
    let settings = Settings { stride: Some(CONTEXT), ..all_rows("strided", None) };
    let run = run("gpt2", &digits(CONTEXT * 3 / 2), &settings).unwrap();
    let nlls = nlls(&run);
    let (long, short) = nlls.split_at(CONTEXT - 1);
    assert_eq!(short.len(), CONTEXT / 2 - 1);
    let mean = |nlls: &[f64]| nlls.iter().sum::<f64>() / nlls.len() as f64;
    let found = run.tally.cross_entropy().unwrap();
    assert!((found - mean(&nlls)).abs() < 1e-12);
    assert!(
        (found - (mean(long) + mean(short)) / 2.0).abs() > 1e-3,
        "the mean of means is another number"
    );
}

/// huggingface/transformers 18887 and 483: the first window is as long as it may be, and every row
/// says its context; the length is recorded.
#[test]
fn the_first_window_is_full_and_contexts_are_on_record() {
    for (length, stride) in [(CONTEXT, 8), (16, 8)] {
        let settings = Settings { stride: Some(stride), ..all_rows("document", Some(length)) };
        let run = run("gpt2", &digits(100), &settings).unwrap();
        let contexts = run.contexts();
        assert!(contexts[..length - 1].iter().copied().eq(1..length as u32));
        assert!(contexts[length - 1..].iter().all(|&context| context as usize >= length - stride));
        assert_eq!(run.provenance.protocol.parameters["length"], length);
        assert_eq!(run.provenance.protocol.parameters["stride"], stride);
    }
}

/// facebookresearch/lingua 46: a text cut for scoring is divided by what was scored.
#[test]
fn a_cut_text_is_divided_by_what_was_scored() {
    let text = digits(100);
    let paper = run("gpt2", &text, &Settings::for_protocol("paper")).unwrap();
    let totals = paper.tally.totals();
    assert_eq!((totals.scored, totals.bytes), (CONTEXT as u64 - 1, CONTEXT as u64 - 1));
    assert_eq!(paper.provenance.corpus.bytes, 100);
    let limited = Settings { tokens: Some(40), ..all_rows("document", None) };
    let totals = run("gpt2", &text, &limited).unwrap().tally.totals();
    assert_eq!((totals.scored, totals.bytes), (40, 40));
}

/// keras-team/keras-hub 2958: perplexity is the exponential of one mean over tokens, whatever the
/// batch.
#[test]
fn perplexity_is_the_same_with_one_window_a_batch_and_seven() {
    let perplexity = |windows: usize| {
        let settings =
            Settings { batch_tokens: Some(windows * CONTEXT), ..all_rows("document", None) };
        let run = run("llama", &digits(500), &settings).unwrap();
        let nlls = nlls(&run);
        let perplexity = run.tally.cross_entropy().unwrap().exp();
        assert!(
            (perplexity / (nlls.iter().sum::<f64>() / nlls.len() as f64).exp() - 1.0).abs() < 1e-12
        );
        perplexity
    };
    assert_eq!(perplexity(1).to_bits(), perplexity(7).to_bits());
}

/// ggml-org/llama.cpp 2858: a text shorter than two windows.
#[test]
fn ten_tokens_are_scored_or_refused_with_the_number_needed() {
    let error = run("gpt2", &digits(10), &all_rows("half-window", None)).err().unwrap();
    assert!(
        matches!(error, Error::Corpus(CorpusError::TooShort { needed: 64, tokens: 10, .. })),
        "{error}"
    );
    for (protocol, scored) in [("document", 9), ("rolling", 10), ("strided", 9), ("paper", 9)] {
        assert_eq!(run("gpt2", &digits(10), &all_rows(protocol, None)).unwrap().rows.len(), scored);
    }
}

/// huggingface/evaluate 682: a tokenizer without beginning-of-text.
#[test]
fn without_a_beginning_of_text_scoring_starts_at_the_second_token() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["model.safetensors", "tokenizer.json"] {
        fs::copy(data().join("gpt2").join(file), folder.path().join(file)).unwrap();
    }
    for file in ["config.json", "tokenizer_config.json"] {
        let text = fs::read(data().join("gpt2").join(file)).unwrap();
        let mut config: Value = serde_json::from_slice(&text).unwrap();
        for key in ["bos_token", "bos_token_id"] {
            config.as_object_mut().unwrap().insert(key.into(), Value::Null);
        }
        fs::write(folder.path().join(file), config.to_string()).unwrap();
    }
    let path = folder.path().join("x.txt");
    fs::write(&path, digits(10)).unwrap();
    let run = |protocol: &str| {
        Run::measure(model(folder.path()), corpus(&path, ""), &all_rows(protocol, None)).unwrap()
    };
    let document = run("document");
    assert_eq!((document.prefix(), document.rows[0].position), (None, 1));
    // `rolling` cannot do without, takes end-of-text as the harness does, and says so.
    let (id, reason) = run("rolling").prefix().map(|(id, reason)| (id, reason.to_owned())).unwrap();
    assert!(id == 0 && reason.contains("end-of-text"), "{id}: {reason}");
}

/// A copy of the tiny Llama with keys of `config.json` and `tokenizer_config.json` set.
fn llama_with(config: &[(&str, Value)], tokenizer: &[(&str, Value)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["model.safetensors", "tokenizer.json"] {
        fs::copy(data().join("llama").join(file), folder.path().join(file)).unwrap();
    }
    for (file, changes) in [("config.json", config), ("tokenizer_config.json", tokenizer)] {
        let text = fs::read(data().join("llama").join(file)).unwrap();
        let mut keys: Value = serde_json::from_slice(&text).unwrap();
        changes.iter().for_each(|(key, value)| keys[*key] = value.clone());
        fs::write(folder.path().join(file), keys.to_string()).unwrap();
    }
    folder
}

/// `prefix_token_id` of the harness's `HFLM`: the tokenizer's beginning-of-text, else its
/// end-of-text; `config.json` has no say.
#[test]
fn rolling_takes_the_prefix_of_the_harness() {
    let prefix = |tokenizer: &[(&str, Value)]| {
        let folder = llama_with(&[("bos_token_id", json!(2))], tokenizer);
        let path = folder.path().join("x.txt");
        fs::write(&path, digits(10)).unwrap();
        let run = Run::measure(model(folder.path()), corpus(&path, ""), &all_rows("rolling", None))
            .unwrap();
        run.prefix().map(|(id, reason)| (id, reason.to_owned())).unwrap()
    };
    let (id, reason) = prefix(&[]);
    assert!(id == 0 && reason.contains("the tokenizer's beginning-of-text"), "{id}: {reason}");
    let (id, reason) = prefix(&[("bos_token", Value::Null)]);
    assert!(id == 1 && reason.contains("the tokenizer's end-of-text"), "{id}: {reason}");
}

/// The harness, the guide, llama.cpp and the paper's code take a softmax over all rows of the head,
/// padding included.
#[test]
fn protocols_that_follow_a_tool_count_all_rows() {
    for protocol in NAMES {
        let settings = Settings { length: Some(8), ..Settings::for_protocol(protocol) };
        let scoring = run("llama", &digits(40), &settings).unwrap().provenance.scoring;
        let rule =
            if protocol == "document" { VocabularyRule::Tokens } else { VocabularyRule::Rows };
        assert_eq!((settings.protocol.as_str(), scoring.vocabulary_rule), (protocol, rule));
    }
}

/// `all_special_ids` of transformers, which the paper's code masks, has the tokens with a role; one
/// that is merely marked as special is scored.
#[test]
fn the_paper_leaves_out_tokens_with_a_role() {
    let text = format!("{}<|endoftext|>{}", digits(4), digits(4));
    let scored = |additional: Value| {
        let folder = llama_with(&[], &[("additional_special_tokens", additional)]);
        let path = folder.path().join("x.txt");
        fs::write(&path, &text).unwrap();
        let run =
            Run::measure(model(folder.path()), corpus(&path, ""), &Settings::for_protocol("paper"))
                .unwrap();
        let special = run.provenance.protocol.parameters["special_ids"].clone();
        (run.rows.iter().map(|row| row.position).collect::<Vec<_>>(), special)
    };
    // Position 4 is the token, 5 the one predicted from it.
    assert_eq!(scored(json!(["<|endoftext|>"])), (vec![1, 2, 3, 6, 7, 8], json!([0, 1, 2])));
    assert_eq!(scored(json!([])), ((1..9).collect(), json!([0, 1])));
}

/// EleutherAI/lm-evaluation-harness 1586: which token stands before a text moves the number, so it
/// is on record.
#[test]
fn beginning_end_or_no_prefix_are_three_results_that_say_so() {
    let run = |prefix| {
        run("llama", &digits(40), &Settings { prefix, ..all_rows("document", None) }).unwrap()
    };
    let (auto, end, none) = (run(Prefix::Auto), run(Prefix::Id(1)), run(Prefix::None));
    assert_eq!(auto.prefix(), Some((0, "the tokenizer puts it before every text")));
    assert_eq!(end.prefix(), Some((1, "asked for")));
    assert_eq!(none.prefix(), None);
    assert_eq!([&auto, &end, &none].map(|run| run.rows.len()), [40, 40, 39]);
    let keys = [&auto, &end, &none].map(|run| run.provenance.key());
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    assert!((auto.sum_nll(0) - end.sum_nll(0)).abs() > 1e-3);
}

/// EleutherAI/lm-evaluation-harness 3333 and ggml-org/llama.cpp 7332: never two.
#[test]
fn a_text_that_begins_with_beginning_of_text_gets_no_second_one() {
    for protocol in ["document", "rolling", "strided", "paper", "half-window"] {
        let settings = all_rows(protocol, Some(16));
        let with = run("llama", &format!("<s>{}", digits(40)), &settings).unwrap();
        let without = run("llama", &digits(40), &settings).unwrap();
        assert_eq!(with.contexts(), without.contexts(), "{protocol}");
        assert_eq!(nlls(&with), nlls(&without), "{protocol}");
        let said = |run: &Run| {
            run.events.iter().any(|event| {
                matches!(event, Event::Warning(Warning::SpecialsInText { tokens: 1, .. }))
            })
        };
        assert!(said(&with) && !said(&without), "{protocol}");
    }
}

/// EleutherAI/lm-evaluation-harness 2382: beginning-of-text in the first window only, or in each,
/// by protocol.
#[test]
fn the_prefix_is_in_the_windows_that_the_protocol_names() {
    let contexts = |protocol, stride| {
        let settings = Settings { stride, ..all_rows(protocol, Some(8)) };
        run("llama", &digits(20), &settings).unwrap().contexts()
    };
    let chain = |ranges: &[std::ops::Range<u32>]| -> Vec<u32> {
        ranges.iter().cloned().flatten().collect()
    };
    // As the harness: `<s>` and 8 tokens; then one token of context and 8; the last reaches back to
    // 8 inputs.
    assert_eq!(contexts("rolling", None), chain(&[1..9, 1..9, 5..9]));
    // Of 8 fed tokens the prefix is always one: 7 new ones, then 4 and 4 and 4 after the prefix and
    // 3 of context, then 1.
    assert_eq!(contexts("document", Some(4)), chain(&[1..8, 4..8, 4..8, 4..8, 7..8]));
    // The guide's text has it once, at its beginning.
    assert_eq!(contexts("strided", Some(4)), chain(&[1..8, 4..8, 4..8, 4..8, 4..5]));
}
