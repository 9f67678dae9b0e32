//! Laws in bytes, words and spans of words, which compare across tokenizers.

mod support;

use relscale_laws::relative::{
    ErrorMeasure, RelativeOptions, StudySource, fit_relative, read_study,
};
use relscale_laws::{FitOptions, LawsError, Quantity, fit_study};
use relscale_records::provenance::sha256_bytes;
use relscale_records::words::{SPAN_K, SPAN_WORDS};
use relscale_records::{RunTally, TextTally, WordTally};
use support::{SIZES, document, run};

const K: [u32; 3] = [1, 10, 4096];

/// A family whose words miss as `-ln RBP_1 = level S^-0.1`, cut into `tokens` tokens a word, all of
/// which must hit; 200 words a document of five bytes each.
fn family(name: &str, level: f64, tokens: u64) -> Vec<RunTally> {
    let one = |&size: &u64| {
        let mut run = run(&format!("{name}-{size}"), size, &K);
        run.family = name.into();
        run.tokenizer_sha256 = sha256_bytes(name.as_bytes());
        for ordinal in 0..60 {
            let ease = 0.7 + 0.6 * f64::from(ordinal * 61 % 97) / 96.0;
            let missed = |k: f64| level * ease / k.sqrt() * (size as f64).powf(-0.1);
            let words = 200 + u64::from(ordinal * 37 % 100);
            let hits = |of: u64, k: f64, parts: f64| {
                (of as f64 * (-missed(k) / parts).exp()).round() as u64
            };
            // Tokens that all must hit miss less often than their word.
            let parts = tokens as f64;
            let by_token = [hits(words * tokens, 1.0, parts), hits(words * tokens, 10.0, parts)];
            let mut sums = document(ordinal, words * tokens, &by_token, 0.0);
            sums.hits.push(words * tokens);
            sums.bytes = 5 * words;
            sums.sum_nll = 3.0 * missed(1.0) * words as f64;
            let spans = SPAN_WORDS.map(|n| words as u32 + 1 - n);
            let span_hits = SPAN_K.map(|k| {
                SPAN_WORDS.map(|n| {
                    let share = (-missed(f64::from(k)) * f64::from(n).powf(0.25)).exp();
                    (f64::from(words as u32 + 1 - n) * share).round() as u32
                })
            });
            sums.text = Some(TextTally {
                nonfinite_bytes: 0,
                byte_hits: vec![
                    5 * hits(words, 1.0, parts),
                    5 * hits(words, 10.0, parts),
                    5 * words,
                ],
                words: Some(WordTally {
                    words,
                    left_out: 1,
                    hits: vec![hits(words, 1.0, 1.0), hits(words, 10.0, 1.0), words],
                    spans,
                    span_hits,
                }),
            });
            run.documents.push(sums);
        }
        run
    };
    SIZES.iter().map(one).collect()
}

fn options() -> FitOptions {
    FitOptions { resamples: 200, ..FitOptions::default() }
}

#[test]
fn words_bytes_and_spans_have_the_law_that_they_follow() {
    let fit = fit_study(&family("a", 3.0, 2), &options()).unwrap();
    assert!(fit.across_tokenizers.is_empty(), "one family stands beside none");
    let text = fit.groups[0].text_units.as_ref().unwrap();
    assert_eq!((text.words.len(), text.bytes.len()), (2, 2));
    // Of the k of the group 1 and 10 are counted for spans as well.
    assert_eq!(text.spans.len(), 2 * SPAN_WORDS.len());
    assert_eq!(text.spans[1].quantity, Quantity::Spans { k: 1, words: 4 });
    for law in text.laws() {
        let exponent = law.fit().unwrap().exponent.value;
        // Hard documents weigh less in a share, the more so the smaller it is.
        let off = if matches!(law.quantity, Quantity::Spans { .. }) { 0.02 } else { 0.004 };
        assert!((exponent - 0.1).abs() < off, "{}: {exponent}", law.name);
    }
    let word = text.word_law(10).unwrap();
    assert_eq!((word.name.as_str(), word.unit.as_str()), ("-ln RBP_10 of words", "nats"));
    let point = &word.points[0];
    let words: u64 = (0..60).map(|ordinal| 200 + u64::from(ordinal * 37 % 100_u32)).sum();
    assert_eq!(point.tokens, Some(words));
    let share = point.hits.unwrap() as f64 / words as f64;
    assert!((point.value + share.ln()).abs() < 1e-12);
    assert!(point.log_standard_error.unwrap() > 0.0 && word.text.is_some());
    // Bits over bytes, by hand.
    let run = &family("a", 3.0, 2)[0];
    let nll: f64 = run.documents.iter().map(|document| document.sum_nll).sum();
    let bits = nll / std::f64::consts::LN_2 / (5 * words) as f64;
    assert!((text.bits_per_byte.points[0].value - bits).abs() < 1e-12);
    assert_eq!(text.bits_per_byte.unit, "bits per byte");
    assert!(text.verdict.contains("words were scored (60 more are not known whole)"));
}

/// A tokenizer with half the tokens misses more often a token; its words are what they are.
#[test]
fn families_of_two_tokenizers_stand_side_by_side() {
    let mut runs = family("a", 3.0, 1);
    runs.extend(family("b", 3.0, 3));
    let fit = fit_study(&runs, &options()).unwrap();
    let across = &fit.across_tokenizers[0];
    assert_eq!((across.corpus.as_str(), across.families.len()), ("prose", 2));
    assert_ne!(across.families[0].tokenizer, across.families[1].tokenizer);
    assert_eq!(3 * across.families[0].tokens, across.families[1].tokens);
    assert_eq!(across.families[0].words, across.families[1].words);
    assert!(across.flags.is_empty(), "{:?}", across.flags);
    let size = across.size.unwrap();
    assert!((size - (SIZES[0] as f64 * SIZES[6] as f64).sqrt()).abs() < 1e-6);
    let of = |name: &str| across.quantities.iter().find(|one| one.name == name).unwrap();
    let values = |name: &str| {
        let families = &of(name).families;
        let at = |family: usize| families[family].at_size.unwrap();
        [at(0), at(1)]
    };
    // Words and bits per byte are equal; hits of tokens are not.
    let [a, b] = values("RBP_1 of words");
    assert!((a.value - b.value).abs() < 1e-9, "{a:?} {b:?}");
    let (low, high) = a.interval.unwrap();
    assert!(low < a.value && a.value < high && high < 1.0);
    let [a, b] = values("bits per byte");
    assert!((a.value / b.value - 1.0).abs() < 1e-9);
    let token = |group: usize| fit.groups[group].rank_law(1).unwrap().fit().unwrap().at(size);
    assert!((token(0) / token(1) - 3.0).abs() < 0.1);
    assert!(
        across.verdict.contains("families of different tokenizers at S = "),
        "{}",
        across.verdict
    );
}

#[test]
fn what_keeps_families_from_being_compared_is_said() {
    let mut runs = family("a", 3.0, 1);
    let mut others = family("b", 3.0, 3);
    for run in &mut others {
        run.text_sha256 = sha256_bytes(b"another");
        run.documents.truncate(50);
        run.non_embedding *= 10_000;
    }
    runs.extend(others);
    let fit = fit_study(&runs, &options()).unwrap();
    let across = &fit.across_tokenizers[0];
    let said: String = across.flags.iter().map(|flag| flag.message.clone()).collect();
    for words in ["the texts differ", "other documents", "other amounts of the text, in words"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(across.size, None);
    assert!(across.verdict.contains("no size in common"), "{}", across.verdict);
}

#[test]
fn sums_without_words_have_bits_per_byte_and_say_what_they_lack() {
    let mut runs = family("a", 3.0, 1);
    for document in runs.iter_mut().flat_map(|run| &mut run.documents) {
        document.text = None;
    }
    let fit = fit_study(&runs, &options()).unwrap();
    let text = fit.groups[0].text_units.as_ref().unwrap();
    assert!(text.bytes.is_empty() && text.words.is_empty() && text.spans.is_empty());
    assert!(text.bits_per_byte.fit().is_some());
    assert!(text.left_out[0].reason.contains("earlier version"), "{:?}", text.left_out);
    assert!(text.verdict.contains("No bytes: "), "{}", text.verdict);
    // Without a vocabulary there are bytes.
    let mut runs = family("a", 3.0, 1);
    for document in runs.iter_mut().flat_map(|run| &mut run.documents) {
        document.text.iter_mut().for_each(|text| text.words = None);
    }
    let fit = fit_study(&runs, &options()).unwrap();
    let text = fit.groups[0].text_units.as_ref().unwrap();
    assert!(!text.bytes.is_empty() && text.words.is_empty());
    assert!(
        text.verdict.contains("No words: a-3100: the study has no vocabulary"),
        "{}",
        text.verdict
    );
}

#[test]
fn counts_that_cannot_be_are_refused() {
    let mut runs = family("a", 3.0, 1);
    let text = runs[3].documents[5].text.as_mut().unwrap();
    text.words.as_mut().unwrap().hits[0] = 9_999;
    let refusal = fit_study(&runs, &options()).unwrap_err();
    assert!(matches!(&refusal, LawsError::Corrupt { document: 5, .. }), "{refusal}");
}

/// The gap of `-ln RBP_k` of words between two corpora, by every unit.
#[test]
fn relative_laws_take_words_bytes_and_spans_as_errors() {
    let mut runs = family("a", 3.0, 2);
    for mut run in family("a", 6.0, 2) {
        run.corpus = "code".into();
        run.text_sha256 = sha256_bytes(b"code");
        // What one model lacks for want of a finite score is no other set of positions.
        if run.non_embedding == SIZES[2] {
            let lost = &mut run.documents[7];
            (lost.scored, lost.nonfinite) = (lost.scored - 1, 1);
            lost.hits.iter_mut().for_each(|hits| *hits = (*hits).min(lost.scored));
            let text = lost.text.as_mut().unwrap().words.as_mut().unwrap();
            (text.words, text.left_out) = (text.words - 1, text.left_out + 1);
            text.hits.iter_mut().for_each(|hits| *hits = (*hits).min(text.words));
            text.spans[0] -= 2;
        }
        runs.push(run);
    }
    let documents = Default::default();
    let measured = |runs: &[RunTally], error: &str| {
        read_study(&StudySource {
            runs,
            documents: &documents,
            error: error.parse::<ErrorMeasure>()?,
            x: None,
            family: None,
            by: None,
            only: &[],
            resamples: 100,
            seed: 1,
        })
    };
    for (error, symbol) in [
        ("word1", "-ln RBP_1 of words"),
        ("byte10", "-ln RBP_10 of bytes"),
        ("span2:1", "-ln RBP_1 of 2 words"),
    ] {
        let found = measured(&runs, error).unwrap();
        assert_eq!((found.error.as_str(), found.unit.as_str()), (symbol, "nats"));
        let fit = fit_relative(&found, &RelativeOptions::new("prose"), None).unwrap();
        let gap = fit.families[0].gap("code").unwrap();
        assert_eq!(gap.points.len(), SIZES.len());
        // Twice the error at every size.
        let law = gap.fit().unwrap();
        assert!(law.delta_beta.value.abs() < 0.01, "{error}: {:?}", law.delta_beta);
        assert!((law.at_largest.value - 2.0).abs() < 0.1);
    }
    let refusal = measured(&runs, "span3:1").unwrap_err();
    assert!(refusal.to_string().contains("no spans of this length"), "{refusal}");
    for document in runs.iter_mut().flat_map(|run| &mut run.documents) {
        document.text = None;
    }
    let refusal = measured(&runs, "word1").unwrap_err().to_string();
    assert!(refusal.contains("words were not counted for model `a-3100` on corpus"), "{refusal}");
}
