//! Every way of being wrong that users of such servers have met: told in a sentence, never turned
//! into a number.

use relscale_testkit::{Answer, StubServer};
use serde_json::{Value, json};

use super::super::answers::{Fault, entries};
use super::fake::*;
use crate::engine::{EngineWindow, Vocabulary};
use crate::engines::EngineOptions;
use crate::error::Error;
use crate::http::Secret;
use relscale_records::provenance::{ScoreColumn, TieRule};

/// Damage to a choice of an answer, and to its list.
type OfChoice = fn(&mut Value);
type OfList = fn(&mut Vec<Value>);

fn contains(message: &str, words: &[&str]) {
    words.iter().for_each(|word| assert!(message.contains(word), "`{word}` not in: {message}"));
}

#[test]
fn nobody_there_and_a_wrong_address_are_told_apart() {
    let root = tempfile::tempdir().unwrap();
    let refused = |url: &str| opened(root.path(), &options(url)).err().unwrap().to_string();
    let gone = Fake::default().start().url();
    contains(&refused(&gone), &["no server to speak to", "no connection", "vllm serve"]);
    contains(&refused("localhost:8000"), &["http://"]);
    let none = EngineOptions::default();
    let message = opened(root.path(), &none).err().unwrap().to_string();
    contains(&message, &["`vllm` needs --url", "http://localhost:8000"]);
    let other = StubServer::start(|_| Answer::new(404, "<html>Not Found</html>"));
    contains(&refused(&other.url()), &["HTTP 404", "vLLM server, without a path"]);
}

#[test]
fn a_model_that_is_not_there_is_said_with_those_that_are() {
    let root = tempfile::tempdir().unwrap();
    let server = Fake::default().start();
    let asked = EngineOptions { served: Some("other".into()), ..options(&server.url()) };
    let message = opened(root.path(), &asked).err().unwrap().to_string();
    contains(&message, &["no model `other`, but `tiny`", "--served"]);
    let two = StubServer::start(|request| match request.path.as_str() {
        "/v1/models" => {
            let card = |id: &str| json!({"id": id, "max_model_len": 64});
            Answer::new(200, json!({"data": [card("a"), card("b")]}).to_string())
        }
        _ => Fake::default().answer(request),
    });
    contains(&refused(&two), &["several models: `a`, `b`", "--served NAME"]);
}

/// llama.cpp, hosted APIs and fronts that drop the list: scores of what is generated, or none.
#[test]
fn servers_that_score_no_prompts_are_refused_in_a_sentence() {
    let changes: [(&str, OfChoice); 5] = [
        ("not there", |choice| drop(choice.as_object_mut().unwrap().remove("prompt_logprobs"))),
        ("null", |choice| choice["prompt_logprobs"] = Value::Null),
        ("[null]", |choice| choice["prompt_logprobs"] = json!([null])),
        ("empty", |choice| choice["prompt_logprobs"] = json!([])),
        ("null throughout", |choice| choice["prompt_logprobs"] = json!(vec![Value::Null; 48])),
    ];
    for (what, change) in changes {
        let server = Fake::default().changed(move |answer, _| change(&mut answer["choices"][0]));
        let message = refused(&server);
        contains(&message, &["gives no scores of prompt tokens", what, "vLLM"]);
    }
    // As llama.cpp answers: a logprob for the one token that it generated.
    let llama = StubServer::start(|request| {
        match request.path.as_str() {
        "/v1/models" => Answer::new(200, Fake::default().models("llamacpp").to_string()),
        "/version" => refusal(404, "File Not Found"),
        _ => Answer::new(
            200,
            json!({"choices": [{"text": "x", "index": 0, "logprobs": {"content": [{"id": 5, "logprob": -0.1}]}}]})
                .to_string(),
        ),
    }
    });
    contains(&refused(&llama), &["gives no scores of prompt tokens", "llama.cpp"]);
    // SGLang's own route, by a front that hands it on.
    let sglang = StubServer::start(|request| {
        match request.path.as_str() {
        "/v1/models" => Answer::new(200, Fake::default().models("sglang").to_string()),
        _ => Answer::new(
            200,
            json!({"text": "x", "meta_info": {"input_token_logprobs": [[null, 3, null], [-1.5, 7, null]]}}).to_string(),
        ),
    }
    });
    contains(&refused(&sglang), &["no `choices`", "SGLang"]);
}

/// A list that is short, long, or of other tokens must not become a shifted one.
#[test]
fn lists_that_do_not_fit_the_prompt_are_refused() {
    let changes: [(&[&str], OfList); 7] = [
        (&["scored 40 of 48 prompt tokens"], |list| list.truncate(40)),
        (&["scored 45 of 48 prompt tokens"], |list| drop(list.drain(1..4))),
        (&["prompt token 7 has no score"], |list| list[7] = Value::Null),
        (&["put a token before the prompt"], |list| {
            list.remove(0);
            let last = list[46].clone();
            list.push(last);
        }),
        (&["prompt token 1 is", "shifted"], |list| list[1..].rotate_left(1)),
        (&["prompt_logprobs[9]", "it is -2.5"], |list| list[9] = json!(-2.5)),
        (&["prompt token 3 is", "speaks of none"], |list| list[3] = json!({})),
    ];
    for (words, change) in changes {
        let server = Fake::default().changed(move |answer, _| change(list(answer)));
        contains(&refused(&server), words);
    }
}

/// The error of a field under another name names the field that is missed.
#[test]
fn a_renamed_field_is_named() {
    for (old, new) in [("logprob", "log_prob"), ("rank", "vocab_rank")] {
        let server = Fake::default().changed(move |answer, asked| {
            let id = prompt(asked)[4].to_string();
            let entry = list(answer)[4][&id].as_object_mut().unwrap();
            let value = entry.remove(old).unwrap();
            entry.insert(new.into(), value);
        });
        contains(&refused(&server), &["prompt_logprobs[4]", &format!(".{old}`"), "not there"]);
    }
    let null = Fake::default().changed(|answer, asked| {
        let id = prompt(asked)[4].to_string();
        list(answer)[4][&id]["rank"] = Value::Null;
    });
    contains(&refused(&null), &[".rank`", "it is null"]);
    let choices = Fake::default().changed(|answer, _| {
        let choices = answer["choices"].take();
        answer["choises"] = choices;
    });
    contains(&refused(&choices), &["no `choices`"]);
    let html = StubServer::start(|request| match request.path.as_str() {
        "/v1/completions" => Answer::new(200, "<html>"),
        _ => Fake::default().answer(request),
    });
    contains(&refused(&html), &["no JSON"]);
}

/// Some servers put the place in their list where the rank belongs.
#[test]
fn a_rank_that_is_a_slot_number_is_caught() {
    // Always 1 for the prompt's own token: no rank, since it is less probable than the mean.
    let first = Fake::default().changed(|answer, asked| {
        for (token, entry) in prompt(asked).iter().zip(list(answer)).skip(1) {
            entry[token.to_string()]["rank"] = json!(1);
        }
    });
    contains(&refused(&first), &["rank 1 with logprob", "no distribution over 300"]);
    let zero = Fake::default().changed(|answer, asked| {
        for (token, entry) in prompt(asked).iter().zip(list(answer)).skip(1) {
            entry[token.to_string()]["rank"] = json!(0);
        }
    });
    contains(&refused(&zero), &["rank 0 with logprob"]);
    // The place after the list: possible by its logprob, and not by the list.
    let after = Fake::default().changed(|answer, asked| {
        for (token, entry) in prompt(asked).iter().zip(list(answer)).skip(1) {
            let own = &mut entry[token.to_string()];
            let logprob = own["logprob"].as_f64().unwrap();
            own["rank"] = json!(if logprob < -3.0 { 2 } else { 1 });
            if logprob > -5.7 && logprob < -3.0 {
                own["rank"] = json!(2);
            }
        }
    });
    let message = refused(&after);
    assert!(
        message.contains("is something else") || message.contains("place in a list"),
        "{message}"
    );
}

/// Logits, or probabilities at another temperature, in the place of logprobs.
#[test]
fn what_is_no_logprob_is_caught() {
    let logits = Fake::default().changed(|answer, asked| {
        for (token, entry) in prompt(asked).iter().zip(list(answer)).skip(1) {
            let own = &mut entry[token.to_string()]["logprob"];
            *own = json!(own.as_f64().unwrap() + 20.0);
        }
    });
    contains(&refused(&logits), &["at most 0", "--logprobs-mode"]);
    // A list over the whole vocabulary must sum to one.
    let small = Fake { rows: 18, ..Fake::default() };
    let root = tempfile::tempdir().unwrap();
    let request = folder(root.path(), 18);
    let tempered = small.clone().changed(|answer, _| {
        for entry in list(answer).iter_mut().skip(1) {
            for own in entry.as_object_mut().unwrap().values_mut() {
                own["logprob"] = json!(own["logprob"].as_f64().unwrap() * 2.0);
            }
        }
    });
    let open =
        |server: &StubServer| super::super::source_with(&request, &options(&server.url()), quick());
    let message = open(&tempered).err().unwrap().to_string();
    contains(&message, &["sum to 0.", "temperature 1"]);
    assert!(open(&small.start()).is_ok());
}

#[test]
fn a_server_in_16_bits_is_refused_or_said() {
    let coarse = Fake { coarse: true, ..Fake::default() };
    let server = coarse.start();
    contains(
        &refused(&server),
        &["rounded to 16 bits", "% of neighbours", "head_dtype", "--accept-bf16-logits"],
    );
    let root = tempfile::tempdir().unwrap();
    let asked = EngineOptions { accept_bf16_logits: true, ..options(&server.url()) };
    let source = opened(root.path(), &asked).unwrap();
    let identity = (source.load)(None).unwrap().engine.identity();
    assert_eq!(identity.cautions.len(), 1);
    contains(&identity.cautions[0], &["rounded to 16 bits", "count against the model (>=)"]);
    assert_eq!(identity.compute_dtype, "served-logits-16");
    let fine = Fake::default().start();
    let source = opened(root.path(), &options(&fine.url())).unwrap();
    let identity = (source.load)(None).unwrap().engine.identity();
    assert!(identity.cautions.is_empty(), "{:?}", identity.cautions);
    assert_eq!(identity.compute_dtype, "served-logits-32");
    assert_eq!(identity.lacks, ScoreColumn::ALL);
    contains(&identity.version.unwrap(), &["0.11.0", "prompt_logprobs 0", "not seen"]);
}

/// Old engines count `> + 1`, present ones `>=`: told by a tie, and recorded.
#[test]
fn the_rule_of_ranks_is_found_by_a_tie() {
    let root = tempfile::tempdir().unwrap();
    for (at_least, rule, told) in
        [(true, TieRule::AtLeast, ">="), (false, TieRule::Greater, "> + 1")]
    {
        let server = Fake { at_least, coarse: true, ..Fake::default() }.start();
        let asked = EngineOptions { accept_bf16_logits: true, ..options(&server.url()) };
        let source = opened(root.path(), &asked).unwrap();
        let identity = (source.load)(None).unwrap().engine.identity();
        assert_eq!(identity.rank_rule, rule);
        contains(identity.version.as_deref().unwrap(), &[told]);
    }
    // Two equal rows of a head in 32 bits tell as well, where one is among the most probable.
    for (at_least, rule) in [(true, TieRule::AtLeast), (false, TieRule::Greater)] {
        let server = Fake { at_least, twin: Some(17), ..Fake::default() }.start();
        let source = opened(root.path(), &options(&server.url())).unwrap();
        assert_eq!((source.load)(None).unwrap().engine.identity().rank_rule, rule);
    }
}

/// Fronts that refuse members: the next form is tried, and the one that is taken is used.
#[test]
fn members_that_a_front_refuses_are_left_out() {
    let cases: [(&'static [&'static str], bool, &str); 4] = [
        (&["cache_salt"], false, "prompt_logprobs 0"),
        (&["cache_salt", "top_k", "min_p", "repetition_penalty"], false, "prompt_logprobs 0"),
        (&[], true, "prompt_logprobs 1"),
        (&["cache_salt"], true, "prompt_logprobs 1"),
    ];
    for (members, refuses_0, told) in cases {
        let server = StubServer::start(move |request| {
            let asked = body(request);
            let unknown = asked
                .as_object()
                .and_then(|asked| members.iter().find(|member| asked.contains_key(**member)));
            match unknown {
                Some(member) => refusal(422, &format!("extra fields not permitted: {member}")),
                None if refuses_0 && asked["prompt_logprobs"] == json!(0) => {
                    refusal(400, "`prompt_logprobs` must be a positive value.")
                }
                None => Fake::default().answer(request),
            }
        });
        let root = tempfile::tempdir().unwrap();
        let source = opened(root.path(), &options(&server.url())).unwrap();
        let engine = (source.load)(None).unwrap().engine;
        contains(&engine.identity().version.unwrap(), &[told]);
        let before = server.requests().len();
        let window = EngineWindow { tokens: &[5, 6, 7], scored: &[1, 2] };
        let scores = engine.score(&[window], &Vocabulary::Rows(300)).unwrap();
        let fake = Fake::default();
        for (at, score) in (1..).zip(scores[0].iter().flatten()) {
            let tokens = [5, 6, 7];
            let truth = fake.after(&tokens[..at]);
            assert_eq!(u64::from(score.rank), truth.rank(tokens[at], true));
        }
        let last = body(&server.requests()[before]);
        members.iter().for_each(|member| assert!(last.get(*member).is_none()));
    }
}

/// Nothing longer than the context less the token that must be generated; and a server that fails
/// on long prompts gets windows that it carries.
#[test]
fn prompts_are_as_long_as_the_server_takes_them() {
    let root = tempfile::tempdir().unwrap();
    let server = Fake::default().start();
    let source = opened(root.path(), &options(&server.url())).unwrap();
    let loaded = (source.load)(None).unwrap();
    assert_eq!(loaded.engine.context(), Some(63));
    let longest = server.requests().iter().map(|request| prompt(&body(request)).len()).max();
    assert_eq!(longest, Some(63));

    let fake = Fake { context: 600, ..Fake::default() };
    let weak = StubServer::start(move |request| match prompt(&body(request)).len() {
        0..=300 => fake.answer(request),
        _ => refusal(500, "CUDA out of memory. Tried to allocate 7.50 GiB"),
    });
    let source = opened(root.path(), &options(&weak.url())).unwrap();
    let loaded = (source.load)(None).unwrap();
    assert_eq!(loaded.engine.context(), Some(300));
    contains(&loaded.engine.notices().join("; "), &["fails on a prompt of 599 tokens", "300 long"]);
}

#[test]
fn a_key_is_sent_and_never_shown() {
    let server = StubServer::start(|request| match request.header("authorization") {
        Some("Bearer key-of-mine") => Fake::default().answer(request),
        _ => refusal(401, "Unauthorized"),
    });
    contains(&refused(&server), &["HTTP 401", "VLLM_API_KEY"]);
    let key = Secret::new("key-of-mine");
    let asked = super::super::server::Server::new(
        &server.url(),
        key,
        Default::default(),
        crate::http::Limits::default(),
    )
    .unwrap();
    assert_eq!(asked.models().unwrap().unwrap().len(), 1);
    assert!(!format!("{asked:?}").contains("key-of-mine"), "{asked:?}");
    // Not by way of an address either.
    let url = server.url().replace("http://", "http://me:key-of-mine@");
    let root = tempfile::tempdir().unwrap();
    let message = opened(root.path(), &options(&url)).err().unwrap().to_string();
    assert!(!message.contains("key-of-mine"), "{message}");
}

/// Ranks are read from the token's own entry, however far they are from the most probable ones;
/// what is not finite has no score.
#[test]
fn entries_at_the_ends_of_the_scale() {
    let body = |entry: &str| format!("{{\"choices\":[{{\"prompt_logprobs\":[null,{entry}]}}]}}");
    let read = |entry: &str| entries(&body(entry), &[9, 4], 50_000);
    let far =
        read("{\"11\":{\"logprob\":-0.5,\"rank\":1},\"4\":{\"logprob\":-19.5,\"rank\":40000}}");
    assert_eq!(far.unwrap()[0].unwrap().rank, 40_000);
    for nothing in ["-9999.0", "NaN", "-Infinity", "null"] {
        let entry = format!("{{\"4\":{{\"logprob\":{nothing},\"rank\":50000}}}}");
        assert_eq!(read(&entry), Ok(vec![None]), "{nothing}");
    }
    for (entry, rank) in [
        ("{\"4\":{\"logprob\":-0.1,\"rank\":3}}", 3),
        ("{\"4\":{\"logprob\":-12.0,\"rank\":1}}", 1),
        ("{\"4\":{\"logprob\":-12.0,\"rank\":50001}}", 50_001),
    ] {
        assert!(
            matches!(read(entry), Err(Fault::Rank { rank: found, .. }) if found == rank),
            "{entry}"
        );
    }
    // One more than the prompt has is what was generated.
    let more = "{\"choices\":[{\"prompt_logprobs\":[null,{\"4\":{\"logprob\":-1,\"rank\":2}},{\"8\":{\"logprob\":-1,\"rank\":1}}]}]}";
    assert_eq!(entries(more, &[9, 4], 50_000).unwrap().len(), 1);
}

/// What a config does not tell must be said, or read off the headers of weights.
#[test]
fn parameters_come_from_the_config_or_are_asked_for() {
    let root = tempfile::tempdir().unwrap();
    let request = folder(root.path(), 300);
    let counted = super::super::facts::sizes(&request, None).unwrap().parameters;
    // q, k, v, o: 16 x (16 + 8 + 8 + 16); three of 16 x 24; two norms; two layers and a last norm.
    assert_eq!(counted.non_embedding, 2 * (16 * 48 + 3 * 16 * 24 + 2 * 16) + 16);
    assert_eq!((counted.token_embedding, counted.head), (300 * 16, 300 * 16));
    let config =
        json!({"model_type": "brand_new", "vocab_size": 300, "max_position_embeddings": 9});
    write_config(root.path(), &config);
    let error = super::super::facts::sizes(&request, None).unwrap_err();
    assert!(matches!(error, Error::EngineFolder { .. }));
    contains(&error.to_string(), &["brand_new", "--parameters N"]);
    let given = super::super::facts::sizes(&request, Some(77)).unwrap();
    assert_eq!((given.parameters.non_embedding, given.positions), (77, Some(9)));
}
