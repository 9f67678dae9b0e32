//! Every tiny checkpoint of `tests/goldens` against the scores that transformers gives in float64.

mod support;

use relscale_decoder::families::{self, LoadOptions};
use support::golden::{self, Golden};
use support::{case, naive};

/// The one case that is there to be refused.
const REFUSED: &str = "qwen2-window-on";

#[test]
fn weights_are_in_their_places() {
    let mut cases = 0;
    for name in golden::names().iter().filter(|name| *name != REFUSED) {
        let loaded =
            families::load(&case(name), LoadOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let golden = Golden::read(name);
        for (n, sequence) in golden.sequences.iter().enumerate() {
            let found = naive::logits(&loaded.spec, &loaded.weights, &sequence.ids);
            let mut worst = 0.0_f64;
            for (found, expected) in found.iter().zip(&golden.logits[n]) {
                assert_eq!(found.len(), expected.len(), "{name}");
                for (a, b) in found.iter().zip(expected) {
                    worst = worst.max((a - b).abs() / (1.0 + b.abs()));
                }
            }
            assert!(worst < 1e-9, "{name}, sequence {n}: off by {worst:e}");
        }
        cases += 1;
    }
    assert!(cases >= 34);
}
