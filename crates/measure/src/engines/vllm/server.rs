//! A server's three addresses: what it is, which models it has, and a completion. One try each:
//! what is tried again, and when, is for [`super::flight`] to say.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::http::{Client, HttpError, Limits, Request, Retry, Secret};

/// The longest answer that is read, in bytes: 100 a token of the longest prompt that any server
/// takes, twice over.
const LONGEST: u64 = 1 << 28;

/// Variables of the environment that may hold the server's key, the first that does.
pub(super) const KEYS: [&str; 2] = ["VLLM_API_KEY", "OPENAI_API_KEY"];

/// How a prompt is put to a server: fronts differ in what they accept beside the standard's
/// members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    /// Whether the members that vLLM adds for sampling are sent, each at the value that changes
    /// nothing. A server may have other defaults of its own (`--generation-config`).
    pub(super) neutral: bool,
    /// Whether the cache of prefixes is told apart for each request, so that nothing is reused.
    pub(super) salted: bool,
    /// `prompt_logprobs`: how many of the most probable tokens come beside the prompt's own.
    pub(super) beside: u32,
}

impl Form {
    /// Those that are tried, in this order, until a server takes one.
    pub(super) const ALL: [Self; 6] = [
        Self { neutral: true, salted: true, beside: 0 },
        Self { neutral: true, salted: false, beside: 0 },
        Self { neutral: false, salted: false, beside: 0 },
        Self { neutral: true, salted: true, beside: 1 },
        Self { neutral: true, salted: false, beside: 1 },
        Self { neutral: false, salted: false, beside: 1 },
    ];

    /// The body of a request: token ids in, one token out, temperature 1 and neutral sampling. No
    /// `echo`, no streaming, no offsets.
    pub(super) fn body(self, model: &str, prompt: &[u32], salt: u64) -> Value {
        let mut body = Map::new();
        let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
        put("model", json!(model));
        put("prompt", json!(prompt));
        put("max_tokens", json!(1));
        put("temperature", json!(1.0));
        put("top_p", json!(1.0));
        put("presence_penalty", json!(0.0));
        put("frequency_penalty", json!(0.0));
        put("prompt_logprobs", json!(self.beside));
        if self.neutral {
            put("top_k", json!(-1));
            put("min_p", json!(0.0));
            put("repetition_penalty", json!(1.0));
        }
        if self.salted {
            put("cache_salt", json!(format!("relscale-{}-{salt}", std::process::id())));
        }
        Value::Object(body)
    }
}

/// A model as `/v1/models` tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Served {
    /// Its name there.
    pub(super) id: String,
    /// What was loaded, where the server says: a folder on its machine, or a name of the hub.
    pub(super) root: Option<String>,
    /// Tokens of a prompt and its completion together, where the server says.
    pub(super) max_model_len: Option<usize>,
    /// Which program it is, where it says: `vllm`, `sglang`, `llamacpp`.
    pub(super) owned_by: Option<String>,
}

/// An answer: its status, its words, and how long it asks to be left alone.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) text: String,
    pub(super) wait: Option<Duration>,
}

impl Reply {
    /// The server's reason in one line, of any of the shapes that errors have.
    pub(super) fn reason(&self) -> String {
        let value: Value = serde_json::from_str(&self.text).unwrap_or(Value::Null);
        let told =
            [&value["error"]["message"], &value["message"], &value["detail"], &value["error"]]
                .into_iter()
                .find(|value| !value.is_null())
                .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        let line = told.unwrap_or_else(|| self.text.clone());
        let line: Vec<&str> = line.split_whitespace().collect();
        let mut line = line.join(" ");
        if line.chars().count() > 300 {
            line = line.chars().take(300).collect::<String>() + "...";
        }
        match line.is_empty() {
            true => format!("HTTP {}", self.status),
            false => format!("HTTP {}: {line}", self.status),
        }
    }
}

/// A server at an address.
#[derive(Clone)]
pub(super) struct Server {
    client: Client,
    base: String,
    shown: String,
    key: Option<Secret>,
    /// Numbers the requests.
    sent: Arc<AtomicU64>,
}

impl std::fmt::Debug for Server {
    /// Without what an address may hold of a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("at", &self.shown).finish_non_exhaustive()
    }
}

impl Server {
    /// The server at `url`, with or without `/v1` at its end. Nothing is sent yet.
    ///
    /// # Errors
    /// Those of [`Client::new`].
    pub(super) fn new(
        url: &str,
        key: Option<Secret>,
        cancel: Arc<AtomicBool>,
        limits: Limits,
    ) -> Result<Self, HttpError> {
        let base = url.trim().trim_end_matches('/');
        let base = base.strip_suffix("/v1").unwrap_or(base).trim_end_matches('/').to_owned();
        let client = Client::new(limits, Retry::NEVER)?.cancelled_by(cancel);
        let shown = crate::http::url::shown(&base);
        Ok(Self { client, base, shown, key, sent: Arc::default() })
    }

    /// Its address, as it may be shown.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    fn exchange(&self, request: Request) -> Result<Reply, HttpError> {
        let whole = self.client.exchange(&request.bearer(self.key.as_ref()), LONGEST)?;
        let wait = whole.header("Retry-After").and_then(|text| text.trim().parse().ok());
        Ok(Reply {
            status: whole.status,
            text: String::from_utf8_lossy(&whole.body).into_owned(),
            wait: wait.map(Duration::from_secs),
        })
    }

    /// The models that it has.
    ///
    /// # Errors
    /// The connection's; an answer of another status is given back as it is.
    pub(super) fn models(&self) -> Result<Result<Vec<Served>, Reply>, HttpError> {
        let reply = self.exchange(Request::get(&format!("{}/v1/models", self.base)))?;
        let value: Value = serde_json::from_str(&reply.text).unwrap_or(Value::Null);
        let Some(list) = value["data"].as_array().filter(|_| reply.status == 200) else {
            return Ok(Err(reply));
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let one = |card: &Value| {
            Some(Served {
                id: text(&card["id"])?,
                root: text(&card["root"]),
                max_model_len: card["max_model_len"].as_u64().and_then(|n| usize::try_from(n).ok()),
                owned_by: text(&card["owned_by"]),
            })
        };
        Ok(Ok(list.iter().filter_map(one).collect()))
    }

    /// Its version, where it tells one.
    ///
    /// # Errors
    /// The connection's.
    pub(super) fn version(&self) -> Result<Option<String>, HttpError> {
        let reply = self.exchange(Request::get(&format!("{}/version", self.base)))?;
        let value: Value = serde_json::from_str(&reply.text).unwrap_or(Value::Null);
        Ok(value["version"].as_str().map(str::to_owned))
    }

    /// One prompt.
    ///
    /// # Errors
    /// The connection's.
    pub(super) fn complete(
        &self,
        model: &str,
        form: Form,
        prompt: &[u32],
    ) -> Result<Reply, HttpError> {
        let body = form.body(model, prompt, self.sent.fetch_add(1, Ordering::Relaxed));
        self.exchange(Request::post_json(&format!("{}/v1/completions", self.base), &body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is sent, word for word: members that fronts refuse are in none of it.
    #[test]
    fn the_body_of_a_request() {
        let body = Form { neutral: true, salted: false, beside: 0 }.body("pythia", &[5, 0, 299], 3);
        assert_eq!(
            body.to_string(),
            "{\"model\":\"pythia\",\"prompt\":[5,0,299],\"max_tokens\":1,\"temperature\":1.0,\"top_p\":1.0,\
             \"presence_penalty\":0.0,\"frequency_penalty\":0.0,\"prompt_logprobs\":0,\"top_k\":-1,\"min_p\":0.0,\
             \"repetition_penalty\":1.0}"
        );
        for form in Form::ALL {
            let body = form.body("m", &[1, 2], 7);
            let names: Vec<&String> = body.as_object().unwrap().keys().collect();
            for never in
                ["echo", "stream", "truncate_prompt_tokens", "return_token_ids", "logprobs"]
            {
                assert!(!names.iter().any(|name| *name == never), "{names:?}");
            }
            assert_eq!(names.iter().any(|name| *name == "cache_salt"), form.salted);
        }
        let salts: Vec<Value> =
            (0..3).map(|n| Form::ALL[0].body("m", &[1], n)["cache_salt"].clone()).collect();
        assert!(salts[0] != salts[1] && salts[1] != salts[2], "{salts:?}");
    }

    #[test]
    fn errors_are_read_in_the_shapes_that_servers_give_them() {
        for (text, reason) in [
            ("{\"error\":{\"message\":\"too long\",\"code\":400}}", "HTTP 400: too long"),
            ("{\"object\":\"error\",\"message\":\"old\",\"code\":400}", "HTTP 400: old"),
            ("{\"detail\":[{\"loc\":[\"x\"]}]}", "HTTP 400: [{\"loc\":[\"x\"]}]"),
            ("<html>\n  Bad  Gateway</html>", "HTTP 400: <html> Bad Gateway</html>"),
            ("", "HTTP 400"),
        ] {
            let reply = Reply { status: 400, text: text.into(), wait: None };
            assert_eq!(reply.reason(), reason);
        }
    }
}
