//! A model that is a formula, behind a server that speaks as vLLM does, in the shapes that
//! `testdata/servers` records; a test changes its answers as it likes.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::server::{Answer, Received, StubServer};

/// A server of one model.
#[derive(Debug, Clone)]
pub struct FakeVllm {
    /// Rows of the head.
    pub rows: u32,
    /// `max_model_len`.
    pub context: usize,
    /// Another number, another model.
    pub seed: u64,
    /// Whether logits are rounded to bf16.
    pub coarse: bool,
    /// Whether ranks are by `>=`; else by `> + 1`.
    pub at_least: bool,
    /// Rows whose logits are those of the row before, so that they tie.
    pub twin: Option<u32>,
    /// Divides logits before probabilities are taken.
    pub temperature: f64,
}

impl Default for FakeVllm {
    fn default() -> Self {
        Self {
            rows: 300,
            context: 64,
            seed: 1,
            coarse: false,
            at_least: true,
            twin: None,
            temperature: 1.0,
        }
    }
}

/// One position: the logprob of each row, and ranks.
pub struct Position {
    /// One a row.
    pub logits: Vec<f32>,
    logsum: f64,
}

impl Position {
    /// Natural logarithm of a row's probability, as a server hands it out.
    pub fn logprob(&self, row: u32) -> f64 {
        f64::from((f64::from(self.logits[row as usize]) - self.logsum) as f32)
    }

    /// Its rank, by `>=` or by `> + 1`.
    pub fn rank(&self, row: u32, at_least: bool) -> u64 {
        let own = self.logits[row as usize];
        let count = |keep: &dyn Fn(f32) -> bool| {
            self.logits.iter().filter(|&&logit| keep(logit)).count() as u64
        };
        if at_least { count(&|z| z >= own) } else { count(&|z| z > own) + 1 }
    }
}

impl FakeVllm {
    /// What the model says after `before`.
    pub fn after(&self, before: &[u32]) -> Position {
        let state = before.iter().fold(self.seed, |state, &token| mixed(state ^ u64::from(token)));
        let mut logits: Vec<f32> = (0..u64::from(self.rows))
            .map(|row| {
                let unit = (mixed(state ^ (row << 20)) >> 11) as f64 / 2f64.powi(53);
                // Logistic, of about the spread of a model's.
                let logit = (12.0 + 1.6 * (unit / (1.0 - unit)).ln()) / self.temperature;
                let logit = logit as f32;
                if !self.coarse {
                    return logit;
                }
                let bits = logit.to_bits();
                f32::from_bits((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff_0000)
            })
            .collect();
        if let Some(twin) = self.twin {
            logits[twin as usize] = logits[twin as usize - 1];
        }
        let logsum = logits.iter().map(|&z| f64::from(z).exp()).sum::<f64>().ln();
        Position { logits, logsum }
    }

    /// The answer to a prompt, in vLLM's shape.
    pub fn completion(&self, body: &Value) -> Value {
        let prompt = prompt(body);
        let beside = body["prompt_logprobs"].as_u64().unwrap_or(0) as usize;
        let mut list = vec![Value::Null];
        for (at, &token) in prompt.iter().enumerate().skip(1) {
            let position = self.after(&prompt[..at]);
            let entry = |row: u32, rank: u64| json!({"logprob": position.logprob(row), "rank": rank, "decoded_token": null});
            let mut entries = Map::new();
            entries.insert(token.to_string(), entry(token, position.rank(token, self.at_least)));
            let mut rows: Vec<u32> = (0..self.rows).collect();
            rows.sort_by(|&a, &b| {
                position.logits[b as usize].total_cmp(&position.logits[a as usize]).then(a.cmp(&b))
            });
            // As vLLM does: the place of one that is among the best goes over its rank.
            for (place, &row) in rows.iter().take(beside).enumerate() {
                entries.insert(row.to_string(), entry(row, place as u64 + 1));
            }
            list.push(Value::Object(entries));
        }
        json!({
            "id": "cmpl-1", "object": "text_completion", "created": 1, "model": body["model"],
            "choices": [{
                "index": 0, "text": "", "logprobs": null, "finish_reason": "length", "stop_reason": null, "token_ids": null,
                "prompt_logprobs": list, "prompt_token_ids": null
            }],
            "usage": {"prompt_tokens": prompt.len(), "completion_tokens": 1, "total_tokens": prompt.len() + 1}
        })
    }

    /// What it answers a request, all well.
    pub fn answer(&self, request: &Received) -> Answer {
        match request.path.as_str() {
            "/v1/models" => Answer::new(200, self.models("vllm").to_string()),
            "/version" => Answer::new(200, "{\"version\":\"0.11.0\"}"),
            "/v1/completions" => {
                let body = body(request);
                let tokens = prompt(&body).len();
                if tokens + 1 > self.context {
                    let words = format!(
                        "This model's maximum context length is {} tokens. However, your request has {tokens} input tokens.",
                        self.context - 1
                    );
                    return refusal(400, &words);
                }
                if body["prompt_logprobs"].as_u64() > Some(20) {
                    return refusal(
                        400,
                        "Requested prompt logprobs of 21, which is greater than max allowed: 20",
                    );
                }
                Answer::new(200, self.completion(&body).to_string())
            }
            _ => refusal(404, "Not Found"),
        }
    }

    /// `/v1/models`.
    pub fn models(&self, owner: &str) -> Value {
        json!({"object": "list", "data": [{
            "id": "tiny", "object": "model", "created": 1, "owned_by": owner, "root": "/models/tiny", "parent": null,
            "max_model_len": self.context, "permission": []
        }]})
    }

    /// A server of it, all well.
    pub fn start(self) -> StubServer {
        StubServer::start(move |request| self.answer(request))
    }

    /// A server of it whose completions are changed on the way.
    pub fn changed(
        self,
        change: impl Fn(&mut Value, &Value) + Send + Sync + 'static,
    ) -> StubServer {
        StubServer::start(move |request| {
            if request.path != "/v1/completions" {
                return self.answer(request);
            }
            let asked = body(request);
            let mut answer = self.completion(&asked);
            change(&mut answer, &asked);
            Answer::new(200, answer.to_string())
        })
    }
}

/// An error in vLLM's shape.
pub fn refusal(status: u16, words: &str) -> Answer {
    Answer::new(
        status,
        json!({"error": {"message": words, "type": "Error", "param": null, "code": status}})
            .to_string(),
    )
}

/// What was asked.
pub fn body(request: &Received) -> Value {
    serde_json::from_slice(&request.body).unwrap_or(Value::Null)
}

/// The tokens that were asked.
pub fn prompt(body: &Value) -> Vec<u32> {
    let ids = body["prompt"].as_array().cloned().unwrap_or_default();
    ids.iter().map(|id| id.as_u64().unwrap() as u32).collect()
}

/// The list of entries in an answer.
pub fn list(answer: &mut Value) -> &mut Vec<Value> {
    answer["choices"][0]["prompt_logprobs"].as_array_mut().unwrap()
}

/// splitmix64.
fn mixed(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The configuration of a small Llama of so many rows, as its folder holds it.
pub fn small_llama(rows: u32) -> Value {
    json!({
        "model_type": "llama", "vocab_size": rows, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
        "hidden_act": "silu", "tie_word_embeddings": false, "rope_theta": 10000.0, "bos_token_id": 1, "eos_token_id": 2
    })
}

/// Makes a folder that holds a configuration and nothing else.
///
/// # Panics
/// It cannot be written.
pub fn write_config(folder: &Path, config: &Value) {
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(folder.join("config.json"), config.to_string()));
    written.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
}
