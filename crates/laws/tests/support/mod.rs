//! Made-up runs: no model, no text, only their sums.

// Each test file uses its own part of this.
#![allow(dead_code)]

pub(crate) mod isoflop;
pub(crate) mod random;
pub(crate) mod rows;
pub(crate) mod texts;

use std::collections::BTreeMap;

use relscale_records::provenance::{
    ProtocolProvenance, TieRule, VocabularyRule, VocabularySizes, sha256_bytes,
};
use relscale_records::{DocumentTally, RunTally};

/// A run without documents.
pub(crate) fn run(model: &str, parameters: u64, k_grid: &[u32]) -> RunTally {
    RunTally {
        model: model.into(),
        family: "made-up".into(),
        non_embedding: parameters,
        corpus: "prose".into(),
        vocabulary: VocabularySizes { tokenizer: 4094, with_added: 4096, rows: 4096, scored: 4096 },
        tie_rule: TieRule::AtLeast,
        key: sha256_bytes(model.as_bytes()),
        weights_sha256: sha256_bytes(model.as_bytes()),
        text_sha256: sha256_bytes(b"text"),
        drawn: None,
        width: None,
        tokenizer_sha256: sha256_bytes(b"tokenizer"),
        protocol: ProtocolProvenance {
            name: "document".into(),
            parameters: BTreeMap::from([
                ("length".to_owned(), 512.into()),
                ("stride".to_owned(), 256.into()),
            ]),
            prefix: None,
        },
        vocabulary_rule: VocabularyRule::Tokens,
        compute_dtype: "f32".into(),
        cautions: Vec::new(),
        k_grid: k_grid.into(),
        documents: Vec::new(),
        sequences: None,
        ranks: None,
        classes: None,
    }
}

/// One document.
pub(crate) fn document(ordinal: u32, scored: u64, hits: &[u64], nll: f64) -> DocumentTally {
    DocumentTally {
        document: ordinal,
        scored,
        bytes: 4 * scored,
        nonfinite: 0,
        tied: Some(0),
        hits: hits.into(),
        sum_nll: nll * scored as f64,
        sum_entropy: Some(0.9 * nll * scored as f64),
        text: None,
    }
}

/// A run of one huge document whose `-ln RBP_k` and cross entropy are the given numbers to 15
/// digits.
pub(crate) fn exact(
    model: &str,
    parameters: u64,
    k_grid: &[u32],
    minus_ln_rbp: &[f64],
    nll: f64,
) -> RunTally {
    const TOKENS: u64 = 1_000_000_000_000_000;
    let hits: Vec<u64> =
        minus_ln_rbp.iter().map(|value| (TOKENS as f64 * (-value).exp()).round() as u64).collect();
    let mut run = run(model, parameters, k_grid);
    run.documents.push(document(0, TOKENS, &hits, nll));
    run
}

/// A run of many documents whose hit rates follow `-ln RBP_k = c_k S^-0.12` with c = 3 (k = 1) and
/// c = 1.5 (k = 10), each document easier or harder by a factor that is the same for all models.
pub(crate) fn sampled(model: &str, parameters: u64, documents: u32) -> RunTally {
    let mut run = run(model, parameters, &[1, 10]);
    let law = |c: f64| c * (parameters as f64).powf(-0.12);
    for ordinal in 0..documents {
        let scored = 400 + u64::from(ordinal * 37 % 200);
        // A fixed, uneven sequence in [0.7, 1.3].
        let ease = 0.7 + 0.6 * f64::from(ordinal * 61 % 97) / 96.0;
        let hits = |c: f64| (scored as f64 * (-law(c) * ease).exp()).round() as u64;
        run.documents.push(document(ordinal, scored, &[hits(3.0), hits(1.5)], law(8.0) * ease));
    }
    run
}

/// Seven sizes over three decades.
pub(crate) const SIZES: [u64; 7] = [3_100, 9_800, 31_000, 98_000, 310_000, 980_000, 3_100_000];

/// [`sampled`] at [`SIZES`].
pub(crate) fn family(documents: u32) -> Vec<RunTally> {
    SIZES.iter().map(|&size| sampled(&format!("m{size}"), size, documents)).collect()
}
