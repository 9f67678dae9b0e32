//! Laws in units of the text: bits per byte, and `-ln RBP_k` of bytes, of words and of spans of
//! words.
//!
//! Ranks per token do not compare across vocabularies: a tokenizer with longer tokens is asked
//! fewer and harder questions. Bytes and words are the text's, the same for every tokenizer
//! ([`relscale_records::words`]). Each of them is a hit or none, so the laws are the rank law's
//! own, with its noise of the text and its refusals, over another [`Unit`].
//!
//! | file | what |
//! |---|---|
//! | `across` | the families on one corpus side by side |

mod across;

use rayon::prelude::*;
use relscale_records::digits::count;
use relscale_records::words::SPAN_WORDS;
use relscale_records::{RunTally, WordTally};

use crate::cross_entropy;
use crate::error::LawsError;
use crate::options::FitOptions;
use crate::rank;
use crate::result::{Law, LeftOut, Quantity, TextCounts, TextUnits};
use crate::table::{Group, Unit};

pub(crate) use across::across;

/// The laws of a group.
///
/// # Errors
/// Counts that contradict themselves.
pub(crate) fn fit_group(group: &Group<'_>, options: &FitOptions) -> Result<TextUnits, LawsError> {
    let mut left_out = Vec::new();
    let mut laws = |unit: Unit| -> Result<Vec<Law>, LawsError> {
        match laws_of(unit, group, options) {
            Ok(laws) => Ok(laws),
            Err(LawsError::NotCounted { model, reason, what, .. }) => {
                left_out.push(LeftOut::new(what, format!("{model}: {reason}")));
                Ok(Vec::new())
            }
            Err(other) => Err(other),
        }
    };
    let bytes = laws(Unit::Byte)?;
    let words = laws(Unit::Word)?;
    let mut spans = Vec::new();
    if !words.is_empty() {
        for words in SPAN_WORDS {
            spans.extend(laws(Unit::Span { words })?);
        }
    }
    let order = |law: &Law| match law.quantity {
        Quantity::Spans { k, words } => (k, words),
        _ => (0, 0),
    };
    spans.sort_by_key(order);
    let mut found = TextUnits {
        models: group.runs.iter().map(|run| counts(run.tally)).collect(),
        bits_per_byte: cross_entropy::bits_per_byte(group, options),
        bytes,
        words,
        spans,
        left_out,
        verdict: String::new(),
    };
    found.verdict = verdict(&found);
    Ok(found)
}

/// The laws of one unit at each k.
///
/// # Errors
/// [`LawsError::NotCounted`], [`LawsError::Corrupt`].
fn laws_of(unit: Unit, group: &Group<'_>, options: &FitOptions) -> Result<Vec<Law>, LawsError> {
    let views: Vec<RunTally> =
        group.runs.iter().map(|run| unit.view(run.tally)).collect::<Result<_, _>>()?;
    let Some(viewed) = group.of_views(&views, options)? else { return Ok(Vec::new()) };
    // The bytes of a token miss together: so many misses of bytes as that many of tokens have.
    let minimum =
        options.minimum_count as f64 * bytes_a_token(unit, group.runs.iter().map(|run| run.tally));
    let options = &FitOptions { minimum_count: minimum.ceil() as u64, ..options.clone() };
    let law = |at| rank::law_of(unit, &viewed, at, options);
    Ok((0..viewed.k.len()).into_par_iter().map(law).collect())
}

/// How many of a unit share the fate of one token: its bytes on average, else 1.
pub(crate) fn bytes_a_token<'a>(unit: Unit, runs: impl Iterator<Item = &'a RunTally>) -> f64 {
    if unit != Unit::Byte {
        return 1.0;
    }
    let (mut bytes, mut tokens) = (0, 0);
    for document in runs.flat_map(|run| &run.documents) {
        (bytes, tokens) = (bytes + document.bytes, tokens + document.scored);
    }
    (bytes as f64 / tokens.max(1) as f64).max(1.0)
}

/// Words of a run and those left out; none unless they were counted in every document.
pub(super) fn words(run: &RunTally) -> Option<(u64, u64)> {
    let of = |words: &WordTally| (words.words, words.left_out);
    let mut sums = (0, 0);
    for document in &run.documents {
        let (words, left_out) = of(document.text.as_ref()?.words.as_ref()?);
        sums = (sums.0 + words, sums.1 + left_out);
    }
    Some(sums)
}

fn counts(run: &RunTally) -> TextCounts {
    let words = words(run);
    TextCounts {
        model: run.model.clone(),
        parameters: run.non_embedding,
        bytes: run.documents.iter().map(|document| document.bytes).sum(),
        words: words.map(|(words, _)| words),
        words_left_out: words.map(|(_, left_out)| left_out),
    }
}

/// How many words there are, and the law of the first that is claimed, beside bits per byte.
fn verdict(found: &TextUnits) -> String {
    let mut said = Vec::new();
    if let Some((words, left_out)) =
        found.models.first().and_then(|model| model.words.zip(model.words_left_out))
    {
        let rest = match left_out {
            0 => String::new(),
            left_out => format!(" ({} more are not known whole)", count(left_out)),
        };
        said.push(format!("{} words were scored{rest}.", count(words)));
    }
    let claimed = |laws: &[Law]| {
        let law = laws.iter().find(|law| law.fit().is_some_and(|fit| fit.claimed));
        law.or(laws.first()).map(|law| law.verdict.clone())
    };
    said.extend(claimed(&found.words).or_else(|| claimed(&found.bytes)));
    said.push(found.bits_per_byte.verdict.clone());
    for left in &found.left_out {
        said.push(format!("No {}: {}.", left.label, left.reason));
    }
    said.join(" ")
}
