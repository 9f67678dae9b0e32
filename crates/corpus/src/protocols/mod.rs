//! Windows: which tokens a model is fed together, and which of them are scored.
//!
//! A window protocol decides the number as much as the model does: perplexity differs by several
//! per cent between "every chunk from nothing" and "half a window of context at least". So each way
//! is a named type with checked parameters, recorded with every result.
//!
//! | name | file | what it is |
//! |---|---|---|
//! | `document` | [`mod@document`] | ours: length L, stride s, every token but the first scored once, L - s tokens of context |
//! | `paper` | [`mod@paper`] | the rank law's authors: the first 512 tokens of each document |
//! | `rolling` | [`mod@rolling`] | `lm-evaluation-harness`: disjoint chunks, one token of context, a prefix token |
//! | `strided` | [`mod@strided`] | the perplexity guide of `transformers` |
//! | `half-window` | [`mod@half_window`] | the `perplexity` tool of `llama.cpp`: second halves of disjoint chunks |
//!
//! Letters: `L` length in tokens, `s` stride, `n` tokens of the text, `p` position of a token in
//! the text, from 0.
//!
//! Invariants, each a property test: no position is scored twice; a scored position has at least
//! one fed token before it; the windows are in order of position. Cases that the peer tools' own
//! code wrote are in `testdata/windows`.

pub mod document;
pub mod half_window;
pub mod paper;
mod protocol;
pub mod rolling;
pub mod strided;
mod text;

use crate::error::{CorpusError, Result};
pub use document::DocumentWindows;
pub use half_window::HalfWindow;
pub use paper::Paper;
use protocol::bad;
pub use protocol::{Protocol, Window};
pub use rolling::Rolling;
pub use strided::Strided;
pub use text::TokenText;

/// The names of all protocols, in the order of the table above.
pub const NAMES: [&str; 5] = ["document", "paper", "rolling", "strided", "half-window"];

/// What a user may say about a protocol; each protocol takes what it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Window length L in tokens; `None`: the usual length (512 for `paper`).
    pub length: Option<usize>,
    /// Stride s in tokens; `None`: half the length. Known to `document` and `strided`.
    pub stride: Option<usize>,
    /// A token to put in before texts or windows, by id.
    pub prefix: Option<u32>,
    /// The length that the model was made for.
    pub usual_length: usize,
    /// The most tokens the model can take at once; a recurrence takes any number.
    pub model_maximum: usize,
}

/// Makes the protocol of a name.
///
/// # Errors
/// An unknown name, parameters that make no sense, a length beyond the model's maximum, a stride
/// for a protocol that has none.
pub fn named(name: &str, settings: Settings) -> Result<Box<dyn Protocol>> {
    let Settings { length, stride, prefix, usual_length, model_maximum } = settings;
    let known = NAMES.iter().copied().find(|known| *known == name).ok_or_else(|| {
        CorpusError::BadProtocol {
            protocol: "?",
            reason: format!("there is no protocol `{name}`; there are {}", NAMES.join(", ")),
        }
    })?;
    if stride.is_some() && !matches!(known, "document" | "strided") {
        return Err(bad(known, "it has no stride; leave --stride out".into()));
    }
    let default_length =
        if known == "paper" { paper::LENGTH.min(model_maximum) } else { usual_length };
    let length = length.unwrap_or(default_length);
    let half = (length / 2).max(1);
    let protocol: Box<dyn Protocol> = match known {
        "document" => Box::new(DocumentWindows::new(length, stride.unwrap_or(half), prefix)?),
        "paper" => Box::new(Paper::new(length, prefix)?),
        "strided" => Box::new(Strided::new(length, stride.unwrap_or(half), prefix)?),
        "half-window" => Box::new(HalfWindow::new(length, prefix)?),
        _ => {
            let reason = "it needs a prefix token: the beginning-of-text id, or end-of-text where there is none";
            Box::new(Rolling::new(length, prefix.ok_or_else(|| bad(known, reason.into()))?)?)
        }
    };
    if protocol.longest_inputs() > model_maximum {
        return Err(bad(
            known,
            format!(
                "a length of {length} tokens is more than the {model_maximum} that the model takes at once"
            ),
        ));
    }
    Ok(protocol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_by_name_or_a_reason() {
        let settings = Settings {
            length: None,
            stride: None,
            prefix: None,
            usual_length: 64,
            model_maximum: 64,
        };
        // A recurrence: windows as in training unless longer ones are asked for.
        let recurrence = Settings { model_maximum: usize::MAX, ..settings };
        assert_eq!(named("document", recurrence).unwrap().longest_inputs(), 64);
        let longer = Settings { length: Some(5000), ..recurrence };
        assert_eq!(named("document", longer).unwrap().longest_inputs(), 5000);
        for name in NAMES {
            let prefix = (name == "rolling").then_some(1);
            let protocol = named(name, Settings { prefix, ..settings }).unwrap();
            assert_eq!(protocol.name(), name);
            assert!(protocol.longest_inputs() <= 64);
        }
        let refusals = [
            ("perplexity", settings, "there is no protocol"),
            ("rolling", settings, "prefix"),
            ("document", Settings { length: Some(65), ..settings }, "more than the 64"),
            ("document", Settings { length: Some(1), ..settings }, "at least 2"),
            ("document", Settings { stride: Some(64), ..settings }, "stride"),
            ("document", Settings { stride: Some(0), ..settings }, "stride"),
            ("strided", Settings { stride: Some(65), ..settings }, "stride"),
            ("paper", Settings { stride: Some(8), ..settings }, "no stride"),
            ("half-window", Settings { length: Some(2), ..settings }, "at least 3"),
        ];
        for (name, settings, reason) in refusals {
            let message = named(name, settings).unwrap_err().to_string();
            assert!(message.contains(reason), "{name}: {message}");
        }
    }

    #[test]
    fn a_text_that_begins_with_the_prefix_gets_no_second_one() {
        let protocol = DocumentWindows::new(4, 2, Some(9)).unwrap();
        let with = protocol.windows(&TokenText::new(&[9, 1, 2, 3, 4])).unwrap();
        let without = protocol.windows(&TokenText::new(&[1, 2, 3, 4])).unwrap();
        let fed = |windows: &[Window], ids: &[u32]| {
            windows.iter().map(|w| w.tokens(ids)).collect::<Vec<_>>()
        };
        assert_eq!(fed(&with, &[9, 1, 2, 3, 4]), fed(&without, &[1, 2, 3, 4]));
        assert_eq!(with[0].scored, [1, 2, 3]);
    }
}
