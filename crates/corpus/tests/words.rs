//! Words of texts under tokenizers of four kinds, against a count by another program that knows
//! the texts and the tokenizers' offsets (`tools/goldens/words.py`); and under real vocabularies,
//! where they are at hand.

use std::collections::BTreeMap;

use relscale_corpus::Tokenizer;
use relscale_records::classes::TokenCounts;
use relscale_records::provenance::TieRule;
use relscale_records::words::{DocumentEnds, Spelling, TextCounter, TextTally};
use relscale_records::{Score, ScoredToken};
use relscale_testkit::data::of_others;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    k: Vec<u32>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    tokenizer: serde_json::Value,
    documents: Vec<Text>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
    ids: Vec<u32>,
    ranks: Vec<Option<u32>>,
    count: Count,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Count {
    words: u64,
    left_out: u64,
    hits: Vec<u64>,
    spans: Vec<u32>,
    span_hits: Vec<Vec<u32>>,
}

/// The rows of a text, all of whose tokens are scored but those without a rank.
fn rows(
    tokenizer: &Tokenizer,
    text: &str,
    ranks: impl Fn(usize) -> Option<u32>,
) -> Vec<ScoredToken> {
    let encoded = tokenizer.encode(text).unwrap();
    let bytes = encoded.bytes.clone();
    let row = |(at, &token): (usize, &u32)| ScoredToken {
        document: 0,
        position: at as u32,
        token,
        bytes: bytes[at],
        context: at as u32,
        score: ranks(at).map(|rank| Score {
            rank,
            ties: Some(0),
            nll: 1.0,
            entropy: None,
            argmax: None,
        }),
    };
    encoded.ids.iter().enumerate().map(row).collect()
}

fn count(tokenizer: &Tokenizer, k: &[u32], rows: &[ScoredToken]) -> TextTally {
    let mut counts = TokenCounts::default();
    counts.extend(rows.iter().map(|row| row.token));
    let spelling = Spelling::new(&tokenizer.vocabulary().unwrap(), &counts);
    let mut ends = DocumentEnds::default();
    ends.push(0, rows.len() as u64);
    let mut counter = TextCounter::new(k.to_vec(), TieRule::AtLeast, Some(spelling), ends);
    rows.iter().for_each(|row| counter.add(row));
    counter.finish().remove(0)
}

#[test]
fn words_are_those_that_another_program_finds_by_offsets() {
    let golden: Golden = serde_json::from_str(include_str!("data/words.json")).unwrap();
    assert_eq!(golden.cases.len(), 4);
    let mut totals: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for case in &golden.cases {
        let tokenizer = Tokenizer::from_json(&case.tokenizer.to_string()).unwrap();
        for (at, text) in case.documents.iter().enumerate() {
            let rows = rows(&tokenizer, &text.text, |at| text.ranks[at]);
            let ids: Vec<u32> = rows.iter().map(|row| row.token).collect();
            assert_eq!(ids, text.ids, "{} of {at}", case.name);
            let counted = count(&tokenizer, &golden.k, &rows);
            let words = counted.words.unwrap();
            totals.entry(at).or_default().push(words.words + words.left_out);
            let found = Count {
                words: words.words,
                left_out: words.left_out,
                hits: words.hits,
                spans: words.spans.to_vec(),
                span_hits: words.span_hits.iter().map(|hits| hits.to_vec()).collect(),
            };
            assert_eq!(found, text.count, "{} of {:?}", case.name, text.text);
            let scored: u64 =
                rows.iter().filter(|row| row.score.is_some()).map(|row| u64::from(row.bytes)).sum();
            assert_eq!(counted.byte_hits.last(), Some(&scored));
            assert_eq!(counted.nonfinite_bytes + scored, text.text.len() as u64);
        }
    }
    for totals in totals.values() {
        assert!(totals.windows(2).all(|pair| pair[0] == pair[1]), "{totals:?}");
    }
}

/// Words of a text, as the text has them.
fn of_text(text: &str) -> u64 {
    let space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    text.split(space).filter(|word| !word.is_empty()).count() as u64
}

/// Prose, code, and scripts of all widths, in whatever vocabulary is at hand.
#[test]
fn real_vocabularies_have_the_words_of_the_text() {
    let Some(folder) = of_others("tokenizers") else { return };
    let golden: Golden = serde_json::from_str(include_str!("data/words.json")).unwrap();
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        let Ok(tokenizer) = Tokenizer::from_folder(&path) else { continue };
        seen += 1;
        for text in &golden.cases[0].documents {
            let rows = rows(&tokenizer, &text.text, |_| Some(3));
            let words = count(&tokenizer, &golden.k, &rows).words.unwrap();
            let found = (words.words, words.left_out);
            assert_eq!(found, (of_text(&text.text), 0), "{} of {:?}", path.display(), text.text);
        }
    }
    assert!(seen > 0, "no tokenizer could be read");
}
