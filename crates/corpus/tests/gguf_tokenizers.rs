//! Tokenizers of GGUF files: ids of llama.cpp's own hard texts as its own tests expect them, on the
//! parts of published vocabularies that these texts touch (`tools/goldens/gguf_files.py`); and what
//! is refused.

use std::collections::BTreeMap;
use std::path::Path;

use relscale_corpus::Tokenizer;
use relscale_corpus::tokenizer::{GgufVocabulary, NamedSpecials, TokenizerSource};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    texts: Vec<String>,
    cases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
struct Case {
    model: String,
    pre: Option<String>,
    rows: usize,
    /// Id, token, kind.
    tokens: Vec<(usize, String, i64)>,
    #[serde(default)]
    scores: Vec<f32>,
    merges: Vec<String>,
    ids: Vec<Vec<u32>>,
}

fn golden() -> Golden {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/gguf_tokenizers.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The whole vocabulary, with fillers for the tokens that were left out.
fn vocabulary(case: &Case) -> GgufVocabulary {
    let mut all = GgufVocabulary {
        model: case.model.clone(),
        pre: case.pre.clone(),
        tokens: (0..case.rows).map(|id| format!("[PAD{id}]")).collect(),
        kinds: vec![5; case.rows],
        scores: if case.scores.is_empty() { vec![] } else { vec![0.0; case.rows] },
        merges: case.merges.clone(),
        ..GgufVocabulary::default()
    };
    for (at, (id, token, kind)) in case.tokens.iter().enumerate() {
        all.tokens[*id].clone_from(token);
        all.kinds[*id] = *kind;
        if let Some(score) = case.scores.get(at) {
            all.scores[*id] = *score;
        }
    }
    all
}

fn open(vocabulary: &GgufVocabulary) -> Tokenizer {
    Tokenizer::from_gguf(vocabulary, Path::new("m.gguf")).unwrap()
}

#[test]
fn ids_are_those_of_llama_cpp() {
    let golden = golden();
    assert!(golden.cases.len() >= 7 && golden.texts.len() >= 40);
    for (name, case) in &golden.cases {
        let tokenizer = open(&vocabulary(case));
        assert_eq!(tokenizer.source(), TokenizerSource::Gguf);
        for (text, ids) in golden.texts.iter().zip(&case.ids) {
            let encoded = tokenizer.encode(text).unwrap();
            assert_eq!(encoded.ids, *ids, "{name}: {text:?}");
            assert_eq!(encoded.total_bytes(), text.len() as u64, "{name}: {text:?}");
        }
    }
}

/// A byte-level vocabulary of a few tokens.
fn small() -> GgufVocabulary {
    let tokens = ["<|end|>", "a", "b", "ab", "Ġ", "<tool>", "[PAD6]", "1"];
    GgufVocabulary {
        model: "gpt2".into(),
        pre: Some("smollm".into()),
        tokens: tokens.map(String::from).to_vec(),
        kinds: vec![3, 1, 1, 1, 1, 4, 5, 1],
        merges: vec!["a b".into()],
        named: NamedSpecials { bos: Some(0), eos: Some(0), unk: None, pad: Some(99) },
        ..GgufVocabulary::default()
    }
}

#[test]
fn special_tokens_rows_without_a_token_and_what_stands_before_a_text() {
    let tokenizer = open(&small());
    let encoded = tokenizer.encode("ab11<|end|>a <tool>").unwrap();
    assert_eq!(encoded.ids, [3, 7, 7, 0, 1, 4, 5]);
    assert_eq!(encoded.specials, 1);
    assert_eq!(tokenizer.known_rows(8), [true, true, true, true, true, true, false, true]);
    assert_eq!(tokenizer.named_specials().bos, Some(0));
    assert_eq!(tokenizer.named_specials().pad, None);
    assert!(tokenizer.added_by_processor().is_nothing());
    let begins = |add_bos, add_eos, pre: &str| {
        let vocabulary = GgufVocabulary { add_bos, add_eos, pre: Some(pre.into()), ..small() };
        let added = open(&vocabulary).added_by_processor().clone();
        (added.before, added.after)
    };
    assert_eq!(begins(Some(true), Some(true), "gpt-2"), (vec![0], vec![0]));
    assert_eq!(begins(None, None, "llama-bpe"), (vec![0], vec![]));
    assert_eq!(begins(Some(false), None, "llama-bpe"), (vec![], vec![]));
    // What decides ids decides the hash.
    let other = GgufVocabulary { kinds: vec![3, 1, 1, 1, 1, 3, 5, 1], ..small() };
    assert_ne!(open(&other).sha256(), tokenizer.sha256());
}

/// A text that is not composed, under a model that composes and one that does not.
#[test]
fn qwen2_composes_first() {
    let ids = |pre: &str| {
        let letters = ["e", "Ì", "ģ", "Ã", "©"].map(String::from).to_vec();
        let vocabulary = GgufVocabulary {
            tokens: letters,
            kinds: vec![1; 5],
            merges: vec!["Ì ģ".into()],
            pre: Some(pre.into()),
            ..small()
        };
        let mut vocabulary = vocabulary;
        vocabulary.tokens.push("Ìģ".into());
        vocabulary.kinds.push(1);
        open(&vocabulary).encode("e\u{301}").unwrap().ids
    };
    assert_eq!(ids("qwen2"), [3, 4]);
    assert_eq!(ids("deepseek-r1-qwen"), [0, 5]);
}

/// SentencePiece's: the pair whose result scores highest goes first; bytes for the rest.
#[test]
fn scores_decide_and_bytes_fall_back() {
    let tokens = ["<unk>", "<s>", "<0xC3>", "<0xA9>", "▁", "a", "b", "c", "ab", "bc", "▁a"];
    let mut vocabulary = GgufVocabulary {
        model: "llama".into(),
        tokens: tokens.map(String::from).to_vec(),
        kinds: vec![2, 3, 6, 6, 1, 1, 1, 1, 1, 1, 1],
        scores: vec![0.0, 0.0, 0.0, 0.0, -9.0, -9.0, -9.0, -9.0, -3.0, -2.0, -1.0],
        named: NamedSpecials { bos: Some(1), ..NamedSpecials::default() },
        ..GgufVocabulary::default()
    };
    let tokenizer = open(&vocabulary);
    assert_eq!(tokenizer.added_by_processor().before, [1]);
    let encoded = tokenizer.encode("abc é<s>abc").unwrap();
    assert_eq!(encoded.ids, [10, 9, 4, 2, 3, 1, 10, 9]);
    assert_eq!(encoded.total_bytes(), 12);
    vocabulary.space = Some(false);
    assert_eq!(open(&vocabulary).encode("abc").unwrap().ids, [5, 9]);
    // A letter, and no byte, that the vocabulary has.
    assert_eq!(open(&vocabulary).encode("~").unwrap().ids, [0]);
}

/// Damage to a vocabulary.
type Spoil<'a> = &'a dyn Fn(&mut GgufVocabulary);

#[test]
fn what_is_not_known_is_refused_by_name() {
    let said = |change: &dyn Fn(&mut GgufVocabulary)| {
        let mut vocabulary = small();
        change(&mut vocabulary);
        Tokenizer::from_gguf(&vocabulary, Path::new("m.gguf")).unwrap_err().to_string()
    };
    let cases: [(Spoil<'_>, &str); 11] = [
        (&|v| v.model = "t5".into(), "\"t5\" is not read"),
        (&|v| v.pre = Some("tekken".into()), "\"tekken\""),
        (&|v| v.pre = None, "pre is missing"),
        (&|v| v.tokens.clear(), "the file has no tokenizer"),
        (&|v| v.kinds.clear(), "0 entries for 8 tokens"),
        (&|v| v.kinds[1] = 9, "9 is no kind of token"),
        (&|v| v.tokens[2] = "a".into(), "ids 1 and 2 are both \"a\""),
        (&|v| v.merges.clear(), "merges is missing"),
        (&|v| v.merges = vec!["ab".into()], "\"ab\" is no pair"),
        (&|v| v.scores = vec![1.0], "scores has 1 entries"),
        (&|v| v.model = "llama".into(), "scores is missing"),
    ];
    for (change, words) in cases {
        let message = said(change);
        assert!(message.contains(words) && message.contains("m.gguf"), "{words}: {message}");
    }
    // A merge whose result is no token.
    assert!(said(&|v| v.merges = vec!["b a".into()]).contains("m.gguf"));
}
