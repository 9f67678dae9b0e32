//! Every protocol against the cases of `testdata/windows`, which know no engine; `rolling`,
//! `strided` and `half-window` were written by the peer tools' own code or its restatement
//! (`tools/peers/windows.py`).

use std::collections::BTreeSet;
use std::path::Path;

use relscale_corpus::protocols::{
    DocumentWindows, HalfWindow, Paper, Protocol, Rolling, Strided, TokenText, Window,
};
use relscale_corpus::{CorpusError, Document, Encoded};
use serde::Deserialize;

/// An id that no token of a case has.
const PREFIX: u32 = u32::MAX;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    protocol: String,
    case: Vec<Case>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Case {
    tokens: u32,
    length: usize,
    stride: Option<usize>,
    prefix: bool,
    #[serde(default)]
    specials: BTreeSet<u32>,
    #[serde(default)]
    too_short: bool,
    #[serde(default)]
    windows: Vec<Expected>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Expected {
    prefix: bool,
    start: usize,
    end: usize,
    scored: Vec<u32>,
    weight: Option<usize>,
}

fn read(name: &str) -> File {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/windows").join(name);
    toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
}

fn protocol(name: &str, case: &Case) -> Box<dyn Protocol> {
    let (length, prefix) = (case.length, case.prefix.then_some(PREFIX));
    let stride = case.stride.unwrap_or_default();
    match name {
        "document" => Box::new(DocumentWindows::new(length, stride, prefix).unwrap()),
        "paper" => Box::new(Paper::new(length, prefix).unwrap()),
        "rolling" => Box::new(Rolling::new(length, PREFIX).unwrap()),
        "strided" => Box::new(Strided::new(length, stride, prefix).unwrap()),
        "half-window" => Box::new(HalfWindow::new(length, prefix).unwrap()),
        other => panic!("no protocol {other}"),
    }
}

fn check(name: &str) {
    let file = read(&format!("{name}.toml"));
    assert_eq!(file.protocol, name);
    for case in &file.case {
        let protocol = protocol(name, case);
        let encoded = Encoded::from_ids((0..case.tokens).collect());
        let found = protocol.windows(&TokenText::of_document(
            &Document::default(),
            &encoded,
            &case.specials,
        ));
        if case.too_short {
            assert!(matches!(found, Err(CorpusError::TooShort { .. })), "{case:?}");
            continue;
        }
        let found = found.unwrap();
        let expected: Vec<Window> = case
            .windows
            .iter()
            .map(|w| Window {
                prefix: w.prefix.then_some(PREFIX),
                start: w.start,
                end: w.end,
                scored: w.scored.clone(),
            })
            .collect();
        assert_eq!(found, expected, "{name}: {case:?}");
        assert!(found.iter().all(|w| w.inputs() <= protocol.longest_inputs()), "{case:?}");
        for (window, expected) in found.iter().zip(&case.windows) {
            if let Some(weight) = expected.weight {
                let strided =
                    Strided::new(case.length, case.stride.unwrap(), case.prefix.then_some(PREFIX))
                        .unwrap();
                assert_eq!(strided.guide_weight(window), weight, "{case:?}");
            }
        }
    }
    assert!(!file.case.is_empty(), "{name} has no case");
}

#[test]
fn document() {
    check("document");
}

#[test]
fn paper() {
    check("paper");
}

#[test]
fn rolling_as_the_harness_itself() {
    check("rolling");
}

#[test]
fn strided_as_the_guide() {
    check("strided");
}

#[test]
fn half_window_as_llama_cpp() {
    check("half-window");
}
