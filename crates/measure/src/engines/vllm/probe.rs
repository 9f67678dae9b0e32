//! What a server is, found out before anything is measured: whether it is there, has the model and
//! scores prompts; how it wants to be asked, how long a prompt may be, how it counts ranks, and
//! whether its logits are rounded.

use std::time::Duration;

use super::answers::{Entry, Fault, Top, entries, tops};
use super::flight::passes;
use super::grid::{Grid, RankRule, Tie, ties};
use super::server::{Form, KEYS, Reply, Served, Server};
use crate::error::{Error, Result};
use crate::http::HttpError;

/// Tokens of the prompt that is asked first.
const PROMPT: usize = 48;

/// Most probable tokens that are asked for once: what servers allow by default.
const BESIDE: u32 = 20;

/// The longest prompt that is tried beforehand; a longer one shows when it is its turn.
const LONGEST: usize = 4_096;

/// Ties that are asked for, to see how they are counted.
const TIES: usize = 4;

/// What is known before the server is asked.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    /// Its name there, where the user gave one.
    pub(super) served: Option<String>,
    /// The model's own name, and its folder's.
    pub(super) names: Vec<String>,
    /// Rows of the head.
    pub(super) rows: u32,
    /// Ids below this may be sent.
    pub(super) ids: u32,
    /// Positions of the model, where its configuration says.
    pub(super) positions: Option<usize>,
    /// Length of windows that was asked for.
    pub(super) length: Option<usize>,
    /// The wait before something is tried again.
    pub(super) wait: Duration,
}

/// What a server is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Probed {
    /// The model there.
    pub(super) served: Served,
    /// Its version, where it tells one.
    pub(super) version: Option<String>,
    /// How it is asked.
    pub(super) form: Form,
    /// Longest prompt in tokens: one less than its context, since it also generates one.
    pub(super) context: Option<usize>,
    /// Its context, where prompts of that length failed and the shorter one above went through.
    pub(super) halved_from: Option<usize>,
    /// How it counts equal logits.
    pub(super) rule: RankRule,
    /// Its logits; `None` where it gives no more than the token's own.
    pub(super) grid: Option<Grid>,
    /// The prompt that it was asked, and its answer: what it must say again after it was away.
    pub(super) prompt: Vec<u32>,
    pub(super) answer: Vec<Option<Entry>>,
}

/// Asks a server.
///
/// # Errors
/// [`Error::Server`], in one sentence what is missing and what to do.
pub(super) fn probe(server: &Server, expected: &Expected) -> Result<Probed> {
    let asking = Asking { server, expected };
    let served = asking.served()?;
    let version = server.version().map_err(|error| asking.unreachable(&error))?;
    let prompt = ids(1, PROMPT, expected.ids);
    let (form, answer) = asking.form(&served, &prompt)?;
    let lists = asking.lists(&served, form, &prompt)?;
    let mut rule = RankRule::Unknown;
    let mut grid = None;
    if let Some(lists) = &lists {
        asking.agree(lists, &answer)?;
        let known: Vec<Top> = lists.iter().flatten().cloned().collect();
        grid = (!known.is_empty()).then(|| Grid::from_lists(&known));
        rule = asking.rule(&served, form, &prompt, lists)?;
    }
    let (context, halved_from) = asking.context(&served, form)?;
    Ok(Probed { served, version, form, context, halved_from, rule, grid, prompt, answer })
}

/// Whether a server that was away still says of the first prompt what it said.
///
/// # Errors
/// [`Error::Server`] where it is another; a connection that is not there (yet) comes back as it is.
pub(super) fn same(server: &Server, probed: &Probed, rows: u32) -> Result<Option<HttpError>> {
    let other = |reason: String| Error::Server {
        url: server.shown().to_owned(),
        reason: format!("the server was away, and what answers now is another ({reason})"),
        hint: "start it with the same model and options, and run the same command again".into(),
    };
    let served = match server.models() {
        Err(error) => return Ok(Some(error)),
        Ok(Err(reply)) => return Ok(Some(starting(server, &reply))),
        Ok(Ok(served)) => served,
    };
    let now = served.iter().find(|one| one.id == probed.served.id);
    let now = now.ok_or_else(|| other(format!("it has no `{}`", probed.served.id)))?;
    if now.root != probed.served.root || now.max_model_len != probed.served.max_model_len {
        return Err(other("another model, or another context".into()));
    }
    let reply = match server.complete(&probed.served.id, probed.form, &probed.prompt) {
        Err(error) => return Ok(Some(error)),
        Ok(reply) if passes(reply.status) => return Ok(Some(starting(server, &reply))),
        Ok(reply) => reply,
    };
    let answer = entries(&reply.text, &probed.prompt, rows)
        .map_err(|fault| other(format!("{} {fault}", reply.status)))?;
    let pairs = || answer.iter().zip(&probed.answer);
    let far = pairs()
        .filter_map(|(a, b)| Some((a.as_ref()?.logprob - b.as_ref()?.logprob).abs()))
        .fold(0.0, f64::max);
    // Rounding moves a logprob by a hundredth in bf16; another model moves it by several nats.
    let nulls = pairs().any(|(a, b)| a.is_some() != b.is_some());
    match nulls || far > 0.5 {
        true => Err(other(format!("logprobs of the same prompt differ by {far:.2} nats"))),
        false => Ok(None),
    }
}

/// A server that answers, but not yet.
fn starting(server: &Server, reply: &Reply) -> HttpError {
    HttpError::Unreachable { url: server.shown().to_owned(), tries: 1, reason: reply.reason() }
}

/// Token ids without meaning, the same each time.
pub(super) fn ids(seed: u64, count: usize, below: u32) -> Vec<u32> {
    let mut state = seed;
    let mut next = || {
        // Knuth's MMIX generator; its high half.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Below 2^32.
        ((state >> 33) % u64::from(below.max(1))) as u32
    };
    (0..count).map(|_| next()).collect()
}

struct Asking<'a> {
    server: &'a Server,
    expected: &'a Expected,
}

impl Asking<'_> {
    fn refused(&self, reason: impl Into<String>, hint: impl Into<String>) -> Error {
        let url = self.server.shown().to_owned();
        Error::Server { url, reason: reason.into(), hint: hint.into() }
    }

    fn unreachable(&self, error: &HttpError) -> Error {
        match error {
            HttpError::Cancelled => Error::Cancelled,
            error => self.refused(
                format!("no server to speak to: {error}"),
                "start one (`vllm serve MODEL`), wait until it says that it is ready, and give its address with --url http://HOST:PORT",
            ),
        }
    }

    fn scores_no_prompts(&self, served: &Served, fault: &Fault) -> Error {
        let kind = served.owned_by.as_deref().unwrap_or_default();
        let hint = match kind {
            "llamacpp" | "llama.cpp" => {
                "llama.cpp's server scores generated tokens only: serve the original model with vLLM"
            }
            "sglang" => {
                "SGLang's OpenAI-style route gives no scores of prompts, and its own no ranks: serve the model with vLLM"
            }
            _ => "serve the model with vLLM, and without a front that leaves `prompt_logprobs` out",
        };
        self.refused(fault.to_string(), hint)
    }

    fn refusal(&self, reply: &Reply) -> Error {
        let hint = match reply.status {
            401 | 403 => format!("give its key in the environment: {}=KEY", KEYS[0]),
            404 => "see that --url is that of a vLLM server, without a path".to_owned(),
            _ => "see the server's log".to_owned(),
        };
        self.refused(format!("the server refuses: {}", reply.reason()), hint)
    }

    /// One prompt, tried three times where the server is in trouble.
    fn ask(&self, model: &str, form: Form, prompt: &[u32]) -> Result<Reply> {
        let mut wait = self.expected.wait;
        for _ in 0..2 {
            let reply = self.server.complete(model, form, prompt);
            let reply = reply.map_err(|error| self.unreachable(&error))?;
            if !passes(reply.status) {
                return Ok(reply);
            }
            std::thread::sleep(reply.wait.unwrap_or(wait).min(Duration::from_secs(10)));
            wait *= 2;
        }
        self.server.complete(model, form, prompt).map_err(|error| self.unreachable(&error))
    }

    /// The model on the server.
    fn served(&self) -> Result<Served> {
        let models = self.server.models().map_err(|error| self.unreachable(&error))?;
        let models = models.map_err(|reply| self.refusal(&reply))?;
        let there: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
        let there = there.join("`, `");
        let by_name = |name: &String| models.iter().find(|model| model.id == *name);
        match (&self.expected.served, models.as_slice()) {
            (Some(name), _) => by_name(name).cloned().ok_or_else(|| {
                let reason = format!("it has no model `{name}`, but `{there}`");
                self.refused(reason, "give one of these with --served")
            }),
            (None, [one]) => Ok(one.clone()),
            (None, []) => Err(self.refused("it has no model", "start it with one")),
            (None, _) => self.expected.names.iter().find_map(by_name).cloned().ok_or_else(|| {
                let reason = format!("it has several models: `{there}`");
                self.refused(reason, "say which with --served NAME")
            }),
        }
    }

    /// How it wants to be asked, and what it says of the first prompt.
    fn form(&self, served: &Served, prompt: &[u32]) -> Result<(Form, Vec<Option<Entry>>)> {
        let mut first = None;
        for form in Form::ALL {
            let reply = self.ask(&served.id, form, prompt)?;
            match reply.status {
                200 => {
                    let rows = self.expected.rows;
                    return match entries(&reply.text, prompt, rows) {
                        Ok(answer) => Ok((form, answer)),
                        Err(fault @ (Fault::NoPromptScores(_) | Fault::Member { .. })) => {
                            Err(self.scores_no_prompts(served, &fault))
                        }
                        Err(fault) => Err(self.refused(
                            fault.to_string(),
                            "nothing can be measured with such answers: serve the model with vLLM, and see that it is the model of the folder",
                        )),
                    };
                }
                // What it does not know or does not take, it may take in another form.
                400 | 422 => first = first.or(Some(reply)),
                _ => return Err(self.refusal(&reply)),
            }
        }
        Err(first.map_or_else(
            || self.refused("it takes no prompt", "see the server's log"),
            |reply| self.refusal(&reply),
        ))
    }

    /// The most probable tokens at each position of the prompt, where the server gives any.
    fn lists(
        &self,
        served: &Served,
        form: Form,
        prompt: &[u32],
    ) -> Result<Option<Vec<Option<Top>>>> {
        for beside in [BESIDE, 5] {
            let reply = self.ask(&served.id, Form { beside, ..form }, prompt)?;
            match reply.status {
                200 => {
                    let lists = tops(&reply.text, prompt, self.expected.rows);
                    return match lists {
                        Ok(lists) => Ok(Some(lists)),
                        Err(fault) => Err(self.refused(
                            format!("asked for the {beside} most probable tokens: {fault}"),
                            "nothing can be measured with such answers",
                        )),
                    };
                }
                400 | 422 => {}
                _ => return Err(self.refusal(&reply)),
            }
        }
        Ok(None)
    }

    /// That ranks and lists tell the same: a rank that is a place in the list is none.
    fn agree(&self, lists: &[Option<Top>], answer: &[Option<Entry>]) -> Result<()> {
        for (position, (list, entry)) in lists.iter().zip(answer).enumerate() {
            let (Some(list), Some(entry)) = (list, entry) else { continue };
            let sum: f64 = list.best.iter().map(|(_, logprob)| logprob.exp()).sum();
            let whole = list.best.len() as u64 >= u64::from(self.expected.rows);
            if sum > 1.01 || (whole && sum < 0.99) {
                return Err(self.refused(
                    format!(
                        "the probabilities of its {} most probable tokens sum to {sum:.3}: they are not those of the model at temperature 1",
                        list.best.len()
                    ),
                    "start the server with --logprobs-mode raw_logprobs, its default",
                ));
            }
            // One rounding apart may be a place apart; the list and the rank were asked for twice.
            let close = 0.02;
            let above = list.best.iter().filter(|(_, logprob)| *logprob > entry.logprob + close);
            let least = above.count() as u32 + 1;
            if entry.rank < least {
                return Err(self.refused(
                    format!(
                        "it gives rank {} to prompt token {}, and names {} tokens that are more probable: its `rank` is a place in a list, not a rank",
                        entry.rank,
                        position + 1,
                        least - 1
                    ),
                    "serve the model with vLLM, whose ranks run over the whole vocabulary",
                ));
            }
        }
        Ok(())
    }

    /// How equal logits are counted, where any are met: a token of a known tie is asked for.
    fn rule(
        &self,
        served: &Served,
        form: Form,
        prompt: &[u32],
        lists: &[Option<Top>],
    ) -> Result<RankRule> {
        // Beside others, the entry of a token that is among them has its place there for a rank.
        let (mut at_least, mut greater) = (0, 0);
        for tie in ties(lists).iter().take(TIES) {
            match self.rule_by(served, form, prompt, tie)? {
                Some(RankRule::AtLeast) => at_least += 1,
                Some(RankRule::GreaterPlusOne) => greater += 1,
                _ => {}
            }
        }
        Ok(match (at_least, greater) {
            (0, 0) => RankRule::Unknown,
            (a, g) if a > g => RankRule::AtLeast,
            (a, g) if g > a => RankRule::GreaterPlusOne,
            _ => RankRule::Unknown,
        })
    }

    fn rule_by(
        &self,
        served: &Served,
        form: Form,
        prompt: &[u32],
        tie: &Tie,
    ) -> Result<Option<RankRule>> {
        if form.beside > 0 {
            return Ok(None);
        }
        // The list with number n is that of the token after n + 1.
        let mut asked: Vec<u32> = prompt[..=tie.list].to_vec();
        asked.push(tie.token);
        let reply = self.ask(&served.id, form, &asked)?;
        let answer = entries(&reply.text, &asked, self.expected.rows).ok();
        let entry = answer.and_then(|answer| answer.last().copied().flatten());
        Ok(entry.and_then(|entry| RankRule::from_tie(tie, entry.rank)))
    }

    /// The longest prompt, tried; halved where the server fails on it.
    fn context(&self, served: &Served, form: Form) -> Result<(Option<usize>, Option<usize>)> {
        let whole = served.max_model_len.or(self.expected.positions);
        let Some(context) = whole.map(|tokens| tokens.saturating_sub(1).max(1)) else {
            return Ok((None, None));
        };
        let wanted = self.expected.length.unwrap_or(LONGEST).min(context);
        let mut tried = wanted.min(LONGEST);
        loop {
            let prompt = ids(2, tried, self.expected.ids);
            let reply = self.ask(&served.id, form, &prompt)?;
            if reply.status == 200 {
                entries(&reply.text, &prompt, self.expected.rows).map_err(|fault| {
                    self.refused(
                        format!("of a prompt of {tried} tokens, {fault}"),
                        "see that no front cuts prompts, and that the server's options do not",
                    )
                })?;
                break;
            }
            let too_much = passes(reply.status) || reply.status == 400 || reply.status == 413;
            if !too_much || tried <= PROMPT {
                return Err(self.refusal(&reply));
            }
            tried = tried.div_ceil(2);
        }
        Ok(match tried < wanted.min(LONGEST) {
            true => (Some(tried), Some(wanted.min(LONGEST))),
            false => (Some(context), None),
        })
    }
}
