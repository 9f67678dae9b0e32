//! Ids, source bytes and sizes, over a tokenizer trained here, hand-made ones of other kinds, and
//! (where their files are at hand) GPT-2's, OPT's and GPT-NeoX's own.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use relscale_corpus::tokenizer::TokenizerSource;
use relscale_corpus::{CorpusError, Document, Tokenizer};
use relscale_records::vocabulary::TokenKind;
use relscale_testkit::data::of_others;
use serde_json::{Value, json};
use tokenizers::models::TrainerWrapper;
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

/// Byte-level BPE of some 300 entries, without a normaliser.
fn trained() -> Tokenizer {
    let mut inner = tokenizers::Tokenizer::new(BPE::default());
    inner.with_pre_tokenizer(Some(ByteLevel::new(false, true, true)));
    inner.with_decoder(Some(ByteLevel::new(false, true, true)));
    let mut trainer: TrainerWrapper = BpeTrainer::builder()
        .vocab_size(300)
        .show_progress(false)
        .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
        .build()
        .into();
    let text = ["the rank of the right token", "żółw i łoś", "zero is the worst of the ranks 🙂🙂"];
    inner.train(&mut trainer, text.into_iter()).unwrap();
    Tokenizer::from_json(&inner.to_string(false).unwrap()).unwrap()
}

/// A tokenizer.json in the manner of Llama 2: no pre-tokeniser, a prepended space, bytes for what
/// is not in the vocabulary.
fn sentencepiece_like() -> Value {
    let mut vocab = serde_json::Map::new();
    let names = ["<unk>".to_owned(), "<s>".to_owned(), "</s>".to_owned()]
        .into_iter()
        .chain((0..256).map(|byte| format!("<0x{byte:02X}>")))
        .chain(["▁", "a", "b", "é", "▁a", "ab", "▁ab"].map(str::to_owned));
    for (id, name) in names.enumerate() {
        vocab.insert(name, json!(id));
    }
    let special = |id: u32, content: &str| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
               "normalized": false, "special": true})
    };
    json!({
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
                    "pad_type_id": 0, "pad_token": "<unk>"},
        "added_tokens": [special(0, "<unk>"), special(1, "<s>"), special(2, "</s>")],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
        "pre_tokenizer": null,
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": {"type": "ByteFallback"},
        "model": {"type": "BPE", "dropout": 0.5, "unk_token": "<unk>", "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": true, "byte_fallback": true, "ignore_merges": false,
            "vocab": vocab, "merges": [["▁", "a"], ["▁a", "b"], ["a", "b"]]}
    })
}

/// Whole words, everything else dropped: bytes that no token covers.
fn words_only() -> Tokenizer {
    let json = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "word": 2}, "unk_token": "[UNK]"}
    });
    Tokenizer::from_json(&json.to_string()).unwrap()
}

fn data() -> Option<PathBuf> {
    of_others("tokenizers")
}

/// A model folder of GPT-2 from the published vocabulary.
fn gpt2_folder(data: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["vocab.json", "merges.txt"] {
        std::fs::copy(data.join("gpt2").join(file), folder.path().join(file)).unwrap();
    }
    std::fs::write(folder.path().join("config.json"), json!({"model_type": "gpt2"}).to_string())
        .unwrap();
    folder
}

/// A model folder with OPT's vocabulary under the names that such folders use.
fn opt_folder(data: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(data.join("gpt2/opt-vocab.json"), folder.path().join("vocab.json")).unwrap();
    std::fs::copy(data.join("gpt2/merges.txt"), folder.path().join("merges.txt")).unwrap();
    std::fs::write(folder.path().join("config.json"), json!({"model_type": "opt"}).to_string())
        .unwrap();
    let roles = json!({"bos_token": {"content": "</s>"}, "eos_token": "</s>", "unk_token": "</s>", "pad_token": "<pad>"});
    std::fs::write(folder.path().join("special_tokens_map.json"), roles.to_string()).unwrap();
    folder
}

fn check_bytes(tokenizer: &Tokenizer, text: &str) {
    let encoded = tokenizer.encode(text).unwrap();
    assert_eq!(encoded.bytes.len(), encoded.ids.len());
    if !encoded.ids.is_empty() {
        assert_eq!(encoded.total_bytes(), text.len() as u64, "{text:?}");
    }
}

/// Strings that tokenizers find hard, as pieces of random texts.
fn hard_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,6}",
        "[ \t\n]{1,5}",
        "[a-z]{1,8}",
        Just("e\u{301}".to_owned()),
        Just("\u{1100}\u{1161}\u{11A8}".to_owned()),
        Just("👩‍👩‍👧🏽".to_owned()),
        Just("\u{FFFD}\u{FEFF}".to_owned()),
        Just("<|endoftext|>".to_owned()),
        Just("</s>".to_owned()),
        Just("▁".to_owned()),
        Just("ﬁ ½ İ".to_owned()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

#[test]
fn bytes_sum_to_the_text_for_every_kind() {
    let mut tokenizers = vec![
        trained(),
        words_only(),
        Tokenizer::from_json(&sentencepiece_like().to_string()).unwrap(),
    ];
    if let Some(data) = data() {
        tokenizers.push(Tokenizer::from_folder(gpt2_folder(&data).path()).unwrap());
        tokenizers.push(Tokenizer::from_folder(&data.join("gpt-neox-20b")).unwrap());
        tokenizers.push(Tokenizer::from_folder(opt_folder(&data).path()).unwrap());
    }
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
    runner
        .run(&hard_text(), |text| {
            tokenizers.iter().for_each(|tokenizer| check_bytes(tokenizer, &text));
            Ok(())
        })
        .unwrap();
}

#[test]
fn byte_level_tokens_have_the_bytes_they_spell() {
    let tokenizer = trained();
    for text in ["żółw 🙂 the", "łłł", "a\u{301}🙃\n\n  z"] {
        let encoded = tokenizer.encode(text).unwrap();
        for (&id, &bytes) in encoded.ids.iter().zip(&encoded.bytes) {
            assert_eq!(tokenizer.id_to_token(id).unwrap().chars().count(), bytes as usize);
        }
    }
}

#[test]
fn a_sentencepiece_like_file_is_taken_without_its_training_aids() {
    let tokenizer = Tokenizer::from_json(&sentencepiece_like().to_string()).unwrap();
    let id = |token: &str| tokenizer.token_to_id(token).unwrap();
    // Neither <s> before, nor cut at 4, nor padded to 8, nor with random merges left out.
    let encoded = tokenizer.encode("ab ab ab ab ab ab").unwrap();
    assert_eq!(encoded.ids, [id("▁ab"); 6]);
    assert_eq!(encoded.bytes, [2, 3, 3, 3, 3, 3]);
    assert_eq!(tokenizer.added_by_processor().before, [1]);
    assert!(tokenizer.added_by_processor().after.is_empty());
    // A character the vocabulary lacks is three byte tokens of a byte each.
    let encoded = tokenizer.encode("a€").unwrap();
    assert_eq!(encoded.ids, [id("▁a"), id("<0xE2>"), id("<0x82>"), id("<0xAC>")]);
    assert_eq!(encoded.bytes, [1, 1, 1, 1]);
    // Text that spells a special token becomes it, and is counted.
    let encoded = tokenizer.encode("<s>a").unwrap();
    assert_eq!((encoded.ids[0], encoded.specials, encoded.bytes[0]), (1, 1, 3));
    assert_eq!(tokenizer.special_ids().iter().copied().collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn many_documents_in_parallel_are_the_same_one_by_one() {
    let tokenizer = trained();
    let documents: Vec<Document> = (0..50)
        .map(|i| Document::new(format!("{i}"), format!("the rank {i} żółw").repeat(i)))
        .collect();
    let all = tokenizer.encode_all(&documents).unwrap();
    for (document, encoded) in documents.iter().zip(&all) {
        assert_eq!(&tokenizer.encode(&document.text).unwrap(), encoded);
    }
    let ids = Document { ids: Some(vec![7, 8]), ..Document::new("ids", "") };
    assert_eq!(tokenizer.encode_document(&ids).unwrap().ids, [7, 8]);
    let wrong = Document::new("wrong", "abc").with_span(2..9);
    assert!(matches!(tokenizer.encode_all(&[wrong]), Err(CorpusError::BadSpan { .. })));
}

#[test]
fn rows_of_the_head_are_known_or_padding() {
    let tokenizer = words_only();
    assert_eq!(tokenizer.known_ids(), [0, 1, 2]);
    assert_eq!(tokenizer.known_rows(5), [true, true, true, false, false]);
    assert_eq!((tokenizer.known_rows(2), tokenizer.beyond(2)), (vec![true, true], &[2][..]));
    assert!(tokenizer.beyond(3).is_empty());
}

#[test]
fn folders_without_a_tokenizer_and_with_a_broken_one() {
    let folder = tempfile::tempdir().unwrap();
    let error = Tokenizer::from_folder(folder.path()).unwrap_err();
    assert!(matches!(error, CorpusError::NoTokenizer { .. }), "{error}");
    std::fs::write(folder.path().join("tokenizer.json"), "{\"version\": \"1.0\"").unwrap();
    let error = Tokenizer::from_folder(folder.path()).unwrap_err();
    assert!(error.to_string().contains("tokenizer.json"), "{error}");
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    std::fs::write(folder.path().join("config.json"), "{\"model_type\": \"gpt2\"}").unwrap();
    std::fs::write(folder.path().join("vocab.json"), "{\"a\": 0}").unwrap();
    std::fs::write(folder.path().join("merges.txt"), "#version: 0.2\na b\n").unwrap();
    let error = Tokenizer::from_folder(folder.path()).unwrap_err();
    assert!(
        matches!(error, CorpusError::BadTokenizer { .. })
            && error.to_string().contains("merges.txt"),
        "{error}"
    );
}

/// The library panics on these: a file cut inside its decoder, a normaliser whose table is none.
#[test]
fn a_file_on_which_the_library_panics_is_refused() {
    let whole = sentencepiece_like().to_string();
    let inside = whole.find("\"decoder\"").unwrap() + 14;
    let mut table = sentencepiece_like();
    table["normalizer"] = json!({"type": "Precompiled", "precompiled_charsmap": "AAAA"});
    for text in [&whole[..inside], &table.to_string()] {
        let message = Tokenizer::from_json(text).unwrap_err().to_string();
        assert!(message.contains("tokenizer.json: not a tokenizer that can be used"), "{message}");
    }
}

/// Tables by id would take 16 GB for this one.
#[test]
fn an_id_beyond_any_model_is_refused_before_anything_is_made_for_it() {
    let mut wide = sentencepiece_like();
    wide["model"]["vocab"]["ab"] = json!(u32::MAX);
    let message = Tokenizer::from_json(&wide.to_string()).unwrap_err().to_string();
    assert!(message.contains("token id 4294967295 is beyond any model's output head"), "{message}");
}

#[test]
fn the_configuration_names_the_roles() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), sentencepiece_like().to_string()).unwrap();
    let config = json!({"bos_token": "<s>", "eos_token": {"content": "</s>"}, "pad_token": null});
    std::fs::write(folder.path().join("tokenizer_config.json"), config.to_string()).unwrap();
    let tokenizer = Tokenizer::from_folder(folder.path()).unwrap();
    let named = tokenizer.named_specials();
    assert_eq!((named.bos, named.eos, named.unk, named.pad), (Some(1), Some(2), None, None));
    assert_eq!(tokenizer.source(), TokenizerSource::TokenizerJson);
}

#[test]
fn gpt2_as_published() {
    let Some(data) = data() else { return };
    let tokenizer = Tokenizer::from_folder(gpt2_folder(&data).path()).unwrap();
    assert_eq!((tokenizer.sizes().tokenizer, tokenizer.sizes().with_added), (50_257, 50_257));
    assert_eq!(tokenizer.known_ids().len(), 50_257);
    assert_eq!(tokenizer.encode("Hello world").unwrap().ids, [15496, 995]);
    let encoded = tokenizer.encode("one<|endoftext|>two").unwrap();
    assert_eq!((encoded.ids[1], encoded.specials, encoded.bytes[1]), (50_256, 1, 13));
    assert_eq!(tokenizer.source(), TokenizerSource::VocabAndMerges);
}

#[test]
fn opt_shares_the_merges_and_not_the_ids() {
    let Some(data) = data() else { return };
    let gpt2 = Tokenizer::from_folder(gpt2_folder(&data).path()).unwrap();
    let opt = Tokenizer::from_folder(opt_folder(&data).path()).unwrap();
    assert_eq!(opt.sizes().with_added, 50_265);
    let named = opt.named_specials();
    // Beginning, end and unknown are one token.
    assert_eq!((named.bos, named.eos, named.unk, named.pad), (Some(2), Some(2), Some(2), Some(1)));
    let text = "Ranks, not probabilities: 1st of 50,257.\n";
    let spelled = |t: &Tokenizer| -> Vec<String> {
        t.encode(text).unwrap().ids.iter().map(|&id| t.id_to_token(id).unwrap()).collect()
    };
    assert_eq!(spelled(&gpt2), spelled(&opt));
    assert_ne!(gpt2.sha256(), opt.sha256());
    // 50 272 rows in the model's head: 7 of padding.
    assert_eq!(opt.known_rows(50_272).iter().filter(|known| !**known).count(), 7);
}

#[test]
fn neox_as_published() {
    let Some(data) = data() else { return };
    let tokenizer = Tokenizer::from_folder(&data.join("gpt-neox-20b")).unwrap();
    assert_eq!((tokenizer.sizes().tokenizer, tokenizer.sizes().with_added), (50_254, 50_277));
    assert_eq!(tokenizer.encode("Hello world").unwrap().ids, [12092, 1533]);
    assert!(tokenizer.added_by_processor().is_nothing());
    // NFC makes one character of three bytes of source; all three are counted.
    let encoded = tokenizer.encode("e\u{301}").unwrap();
    assert_eq!(encoded.total_bytes(), 3);
    // 27 rows of padding in the smallest Pythia.
    assert_eq!(tokenizer.known_rows(50_304).iter().filter(|known| !**known).count(), 27);
}

#[test]
fn the_vocabulary_says_what_is_text_what_is_special_and_what_is_bytes() {
    let count = |tokenizer: &Tokenizer, kind| {
        tokenizer.vocabulary().unwrap().entries().iter().filter(|entry| entry.kind == kind).count()
    };
    let llama = Tokenizer::from_json(&sentencepiece_like().to_string()).unwrap();
    let vocabulary = llama.vocabulary().unwrap();
    assert_eq!(vocabulary.tokenizer_sha256(), llama.sha256());
    assert_eq!((count(&llama, TokenKind::Special), count(&llama, TokenKind::Byte)), (3, 256));
    assert_eq!(vocabulary.get(3 + 0xE4).unwrap().text, "<0xE4>");
    let ids: Vec<u32> = vocabulary.entries().iter().map(|entry| entry.id).collect();
    assert_eq!(ids, llama.known_ids());

    let byte_level = trained();
    let vocabulary = byte_level.vocabulary().unwrap();
    // 128 single bytes are ASCII, each a whole character.
    assert!(count(&byte_level, TokenKind::Byte) >= 128);
    let text = "the rank of\n the worst tokens 1 2";
    let ids = byte_level.encode(text).unwrap().ids;
    let spelled: String = ids.iter().map(|&id| vocabulary.get(id).unwrap().text.as_str()).collect();
    assert_eq!(spelled, text);
    // A character that no merge holds is bytes.
    let ids = byte_level.encode("漢").unwrap().ids;
    let spelled: String = ids.iter().map(|&id| vocabulary.get(id).unwrap().text.as_str()).collect();
    assert_eq!(spelled, "<0xE6><0xBC><0xA2>");
    assert_eq!(
        (count(&words_only(), TokenKind::Normal), count(&words_only(), TokenKind::Byte)),
        (3, 0)
    );
}

#[test]
fn vocabularies_of_gpt2_and_opt_as_published() {
    let Some(data) = data() else { return };
    let gpt2 = Tokenizer::from_folder(gpt2_folder(&data).path()).unwrap();
    let opt = Tokenizer::from_folder(opt_folder(&data).path()).unwrap();
    // Pieces of characters counted by decoding each entry of vocab.json in Python; the merges are
    // the same.
    for (tokenizer, specials, text) in [(&gpt2, 1, "<|endoftext|>"), (&opt, 2, "</s>")] {
        let vocabulary = tokenizer.vocabulary().unwrap();
        let of = |kind| vocabulary.entries().iter().filter(move |entry| entry.kind == kind);
        assert_eq!((of(TokenKind::Byte).count(), of(TokenKind::Special).count()), (344, specials));
        assert!(of(TokenKind::Special).any(|entry| entry.text == text));
        let id = tokenizer.encode(" rank").unwrap().ids[0];
        assert_eq!(vocabulary.get(id).unwrap().text, " rank");
    }
}

/// Number of ids and the hash of them as little-endian u32, from transformers 4.57.6 (GPT2Tokenizer
/// on vocab.json and merges.txt; PreTrainedTokenizerFast on tokenizer.json), without special
/// tokens.
#[test]
fn wikitext_is_encoded_as_transformers_does() {
    let Some(data) = data() else { return };
    let text = std::fs::read_to_string(data.join("../wikitext-2/valid.txt")).unwrap();
    let cases =
        [("gpt2", 258_659, "9c87f1a0a64b3a69"), ("gpt-neox-20b", 258_131, "1c6733225a2ae2d4")];
    for (folder, tokens, hash) in cases {
        let gpt2 = gpt2_folder(&data);
        let path = if folder == "gpt2" { gpt2.path().to_owned() } else { data.join(folder) };
        let encoded = Tokenizer::from_folder(&path).unwrap().encode(&text).unwrap();
        let bytes: Vec<u8> = encoded.ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        let found = relscale_records::provenance::sha256_bytes(&bytes);
        assert_eq!((encoded.ids.len(), &found[..16]), (tokens, hash), "{folder}");
        assert_eq!(encoded.total_bytes(), text.len() as u64);
    }
}

/// One line of a megabyte, encoded in blocks, against the library's own encoding of the whole,
/// offsets and all.
#[test]
fn a_long_line_has_the_ids_and_bytes_of_the_whole() {
    let Some(data) = data() else { return };
    let file = data.join("gpt-neox-20b/tokenizer.json");
    let mut whole = tokenizers::Tokenizer::from_file(&file).unwrap();
    whole.with_post_processor(None::<tokenizers::PostProcessorWrapper>);
    let article = std::fs::read_to_string(data.join("../wikitext-2/valid.txt")).unwrap();
    let words = article.replace('\n', " ");
    let dump: String =
        (0..40_000u32).map(|i| format!("{:x}=", i.wrapping_mul(2_654_435_761))).collect();
    for (name, text) in [("prose", words), ("a dump without a space", dump)] {
        let expected = whole.encode(text.as_str(), false).unwrap();
        let found =
            Tokenizer::from_folder(&data.join("gpt-neox-20b")).unwrap().encode(&text).unwrap();
        assert!(found.ids == expected.get_ids(), "{name}");
        assert_eq!(found.total_bytes(), text.len() as u64);
        // Where a token is no piece of a character, its bytes are what its offsets span.
        let spans = expected.get_offsets().iter().map(|(start, end)| (end - start) as u32);
        let pieces = found.bytes.iter().zip(spans).filter(|(bytes, span)| **bytes != *span).count();
        assert!(pieces * 100 < found.ids.len(), "{name}: {pieces} of {}", found.ids.len());
        if text.is_ascii() {
            assert_eq!(pieces, 0);
        }
    }
}

#[test]
fn what_no_tokenizer_could_finish_is_refused_by_name() {
    let text = format!("a sensible beginning {}", "x".repeat(9 << 20));
    let error = trained().encode_document(&Document::new("dump.txt", text)).unwrap_err();
    assert!(
        matches!(error, CorpusError::TooLongToEncode { start: 20, bytes: 9_437_185, .. }),
        "{error}"
    );
    let message = error.to_string();
    assert!(message.contains("`dump.txt`") && message.contains("from byte 20"), "{message}");
    assert!(message.contains("split=lines"), "{message}");
}
