//! A completion as a vLLM server answers it, read against what was asked.
//!
//! `choices[0].prompt_logprobs` has an entry a prompt token: null for the first, then an object
//! from token ids (as text) to `{logprob, rank, ...}`. The prompt token's own entry is looked up
//! by its id; it is never the first entry or the best, since more may stand beside it. Everything
//! that is not so is a [`Fault`], told in words: a list that is short must not become a shifted
//! one.

use serde_json::{Map, Value};

/// What stands for minus infinity in an answer, since JSON has none.
const CLAMPED: f64 = -9999.0;

/// How far a probability may exceed what its rank allows, in nats: logits of 16 bits are rounded
/// before they are counted.
const SLACK: f64 = 0.02;

/// What a server says of one prompt token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    /// Natural logarithm of its probability.
    pub(super) logprob: f64,
    /// Its rank, by the server's rule.
    pub(super) rank: u32,
}

/// The most probable tokens at one position, best first, and the prompt's own token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Top {
    /// Ids and natural logarithms of probabilities, in descending order.
    pub(super) best: Vec<(u32, f64)>,
    /// The prompt's own token.
    pub(super) target: Entry,
}

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Fault {
    /// No JSON.
    #[error("its answer is no JSON ({0})")]
    NotJson(String),
    /// A member that is missing, or of another kind.
    #[error("its answer has no `{member}` ({found})")]
    Member {
        /// Path of the member.
        member: String,
        /// What is there.
        found: String,
    },
    /// It scores what it generates, not what it was given.
    #[error("it gives no scores of prompt tokens (`prompt_logprobs` is {0})")]
    NoPromptScores(String),
    /// A list of another length than the prompt.
    #[error(
        "it scored {found} of {wanted} prompt tokens: the prompt was cut, or part of it came from a cache"
    )]
    Cut {
        /// Entries that came.
        found: usize,
        /// Tokens of the prompt.
        wanted: usize,
    },
    /// The first token has a score, so something stands before it.
    #[error("the first prompt token has a score, so the server put a token before the prompt")]
    FirstScored,
    /// A position without an entry.
    #[error("prompt token {0} has no score in its answer")]
    Null(usize),
    /// Another token's entry.
    #[error(
        "prompt token {position} is {id}, and its answer speaks of {others} there: its scores are shifted or of another prompt"
    )]
    OtherToken {
        /// Index into the prompt.
        position: usize,
        /// The token that was sent.
        id: u32,
        /// What came.
        others: String,
    },
    /// A rank that cannot belong to its probability.
    #[error(
        "prompt token {position} has rank {rank} with logprob {logprob}, which no distribution over {rows} tokens has: its `rank` is something else"
    )]
    Rank {
        /// Index into the prompt.
        position: usize,
        /// Its rank.
        rank: u64,
        /// Its logprob.
        logprob: f64,
        /// Rows of the head.
        rows: u32,
    },
    /// A logprob above 0.
    #[error(
        "prompt token {position} has logprob {logprob}, and a logarithm of a probability is at most 0: it hands out logits (--logprobs-mode?)"
    )]
    Positive {
        /// Index into the prompt.
        position: usize,
        /// Its logprob.
        logprob: f64,
    },
}

/// The entry of each prompt token but the first; `None` where the model's numbers were not finite.
///
/// # Errors
/// A [`Fault`], the first that is found.
pub(super) fn entries(body: &str, prompt: &[u32], rows: u32) -> Result<Vec<Option<Entry>>, Fault> {
    let answer = json(body)?;
    let positions = positions(&answer, prompt)?;
    let one = |(position, entry): (usize, &Map<String, Value>)| {
        target(entry, position, prompt[position], rows)
    };
    positions.into_iter().map(one).collect()
}

/// The most probable tokens at each position but the first.
///
/// # Errors
/// As [`entries`]; a position with numbers that are not finite is left out.
pub(super) fn tops(body: &str, prompt: &[u32], rows: u32) -> Result<Vec<Option<Top>>, Fault> {
    let answer = json(body)?;
    let positions = positions(&answer, prompt)?;
    let one = |(position, entry): (usize, &Map<String, Value>)| {
        let Some(target) = target(entry, position, prompt[position], rows)? else {
            return Ok(None);
        };
        let mut best = Vec::with_capacity(entry.len());
        for (id, value) in entry {
            let number = id.parse::<u32>();
            let logprob = value.get("logprob").and_then(Value::as_f64);
            if let (Ok(id), Some(logprob)) = (number, logprob) {
                best.push((id, logprob));
            }
        }
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(Some(Top { best, target }))
    };
    positions.into_iter().map(one).collect()
}

/// An answer as JSON. Python writes `NaN` and `Infinity` into it, which JSON has not: null here.
fn json(body: &str) -> Result<Value, Fault> {
    let error = match serde_json::from_str(body) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    // Only as values: a text that was generated may say `NaN` as well, and stays a text then.
    let mut mended = body.to_owned();
    for before in [":", ": "] {
        for word in ["NaN", "-Infinity", "Infinity"] {
            mended = mended.replace(&format!("{before}{word}"), &format!("{before}null"));
        }
    }
    serde_json::from_str(&mended).map_err(|_| Fault::NotJson(error.to_string()))
}

/// Positions, and the object at each.
type Positions<'a> = Vec<(usize, &'a Map<String, Value>)>;

/// The objects of all positions but the first, with their positions.
fn positions<'a>(answer: &'a Value, prompt: &[u32]) -> Result<Positions<'a>, Fault> {
    let choices = member(answer, "choices", "choices")?
        .as_array()
        .ok_or_else(|| wrong("choices", &answer["choices"]))?;
    let [choice] = choices.as_slice() else {
        return Err(Fault::Member {
            member: "choices[0]".into(),
            found: format!("{} choices", choices.len()),
        });
    };
    let path = "choices[0].prompt_logprobs";
    let list = match choice.get("prompt_logprobs") {
        None => return Err(Fault::NoPromptScores("not there".into())),
        Some(Value::Null) => return Err(Fault::NoPromptScores("null".into())),
        Some(other) => other.as_array().ok_or_else(|| wrong(path, other))?,
    };
    if list.iter().all(Value::is_null) && prompt.len() > 1 {
        return Err(Fault::NoPromptScores(match list.len() {
            0 => "empty".into(),
            1 => "[null]".into(),
            _ => "null throughout".into(),
        }));
    }
    // One more is the token that had to be generated; it is dropped.
    if list.len() != prompt.len() && list.len() != prompt.len() + 1 {
        return Err(Fault::Cut { found: list.len(), wanted: prompt.len() });
    }
    if list.first().is_some_and(|first| !first.is_null()) {
        return Err(Fault::FirstScored);
    }
    let rest = list.iter().enumerate().take(prompt.len()).skip(1);
    rest.map(|(position, entry)| match entry {
        Value::Null => Err(Fault::Null(position)),
        Value::Object(entry) => Ok((position, entry)),
        other => Err(wrong(&format!("{path}[{position}]"), other)),
    })
    .collect()
}

/// The prompt token's own entry, checked.
fn target(
    entry: &Map<String, Value>,
    position: usize,
    id: u32,
    rows: u32,
) -> Result<Option<Entry>, Fault> {
    let Some(own) = entry.get(&id.to_string()) else {
        let others: Vec<&str> = entry.keys().take(3).map(String::as_str).collect();
        let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
        return Err(Fault::OtherToken { position, id, others });
    };
    let path = |name: &str| format!("choices[0].prompt_logprobs[{position}].{id}.{name}");
    let logprob = match member(own, "logprob", &path("logprob"))? {
        Value::Null => return Ok(None),
        other => other.as_f64().ok_or_else(|| wrong(&path("logprob"), other))?,
    };
    let rank = member(own, "rank", &path("rank"))?;
    let rank = rank.as_u64().ok_or_else(|| wrong(&path("rank"), rank))?;
    if logprob <= CLAMPED || !logprob.is_finite() {
        return Ok(None);
    }
    if logprob > 1e-3 {
        return Err(Fault::Positive { position, logprob });
    }
    // The `rank - 1` others before it are at least as probable, and all sum to one; who is first is
    // at least as probable as the mean.
    let most = -(rank.max(1) as f64).ln();
    let least = if rank == 1 { -f64::from(rows).ln() } else { f64::NEG_INFINITY };
    let fits = (1..=u64::from(rows)).contains(&rank)
        && logprob <= most + SLACK
        && logprob >= least - SLACK;
    match u32::try_from(rank) {
        Ok(rank) if fits => Ok(Some(Entry { logprob, rank })),
        _ => Err(Fault::Rank { position, rank, logprob, rows }),
    }
}

fn member<'a>(value: &'a Value, name: &str, path: &str) -> Result<&'a Value, Fault> {
    value
        .get(name)
        .ok_or_else(|| Fault::Member { member: path.to_owned(), found: "not there".into() })
}

fn wrong(path: &str, found: &Value) -> Fault {
    let mut text = found.to_string();
    if text.len() > 60 {
        text = text.chars().take(60).collect::<String>() + "...";
    }
    Fault::Member { member: path.to_owned(), found: format!("it is {text}") }
}
