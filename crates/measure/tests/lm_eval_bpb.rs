//! Bits per byte are lm-evaluation-harness' `bits_per_byte`, as its users get it: a YAML task over
//! a file, its own aggregation.
//!
//! `tools/goldens/lm_eval_bpb.py` ran the harness. `protocol_numbers.rs` compares its parts (more
//! windows, another prefix, joined text); here the whole is compared: one number for a corpus of
//! documents from one token to ten windows, in English, Polish, Chinese and code.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::run::{Run, all_rows, corpus, model};
use serde::Deserialize;

/// Relative distance allowed between f32 here and float64 there.
const TOLERANCE: f64 = 1e-5;

#[derive(Deserialize)]
struct Golden {
    gpt2: Vec<Evaluated>,
    llama: Vec<Evaluated>,
}

#[derive(Deserialize)]
struct Evaluated {
    max_length: usize,
    prefix_token_id: u32,
    documents: Vec<String>,
    bytes: Vec<u64>,
    loglikelihood: Vec<f64>,
    bits_per_byte: f64,
    byte_perplexity: f64,
    word_perplexity: f64,
}

#[derive(Deserialize)]
struct Line {
    id: String,
    text: String,
}

fn close(ours: f64, theirs: f64, what: &str) {
    assert!((ours / theirs - 1.0).abs() < TOLERANCE, "{what}: {ours} here, {theirs} there");
}

#[test]
fn bits_per_byte_are_those_of_lm_evaluation_harness() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = root.join("tests/data/protocols");
    let golden = fs::read(root.join("../../testdata/peers/lm_eval_bpb.json")).unwrap();
    let golden: Golden = serde_json::from_slice(&golden).unwrap();
    let text = fs::read_to_string(data.join("documents.jsonl")).unwrap();
    let lines: Vec<Line> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ordinals: BTreeMap<&str, usize> =
        lines.iter().enumerate().map(|(at, line)| (line.id.as_str(), at)).collect();
    for (name, evaluated) in [("gpt2", golden.gpt2), ("llama", golden.llama)] {
        for theirs in evaluated {
            let settings = all_rows("rolling", Some(theirs.max_length));
            let documents = corpus(&data.join("documents.jsonl"), "id=id");
            let found = Run::measure(model(&data.join(name)), documents, &settings).unwrap();
            let what = format!("{name}, length {}", theirs.max_length);
            assert_eq!(found.prefix().map(|(id, _)| id), Some(theirs.prefix_token_id), "{what}");

            let longest = theirs.bytes.iter().max().copied().unwrap_or_default();
            assert!(
                longest > 10 * theirs.max_length as u64,
                "{what}: a text longer than the window"
            );
            for ((id, &bytes), &loglikelihood) in
                theirs.documents.iter().zip(&theirs.bytes).zip(&theirs.loglikelihood)
            {
                let at = ordinals[id.as_str()];
                assert_eq!(lines[at].text.len() as u64, bytes, "{what}, {id}: UTF-8 bytes");
                close(-found.sum_nll(at as u32), loglikelihood, &format!("{what}, {id}"));
                let own: u64 = found
                    .rows
                    .iter()
                    .filter(|row| row.document == at as u32)
                    .map(|row| u64::from(row.bytes))
                    .sum();
                assert_eq!(own, bytes, "{what}, {id}: bytes of the scored tokens");
            }
            // Not the mean of the documents' bits per byte: bits of all over bytes of all.
            let bits = found.tally.bits_per_byte().unwrap();
            close(bits, theirs.bits_per_byte, &format!("{what}, bits per byte"));
            close(bits.exp2(), theirs.byte_perplexity, &format!("{what}, byte perplexity"));
            let words = found.word_perplexity.expect("every token is scored");
            close(words.ln(), theirs.word_perplexity.ln(), &format!("{what}, word perplexity"));
            // Where not every token is scored, its words are not known either.
            let limited = relscale_measure::Settings { tokens: Some(100), ..settings.clone() };
            let documents = corpus(&data.join("documents.jsonl"), "id=id");
            let cut = Run::measure(model(&data.join(name)), documents, &limited).unwrap();
            assert_eq!(cut.word_perplexity, None, "{what}");
            let each = theirs.loglikelihood.iter().zip(&theirs.bytes);
            let mean =
                each.map(|(ll, &bytes)| -ll / std::f64::consts::LN_2 / bytes as f64).sum::<f64>()
                    / theirs.bytes.len() as f64;
            assert!(
                (mean / bits - 1.0).abs() > 0.01,
                "{what}: the documents do not tell the two apart"
            );
        }
    }
}
