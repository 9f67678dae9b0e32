//! Words are the text's, whoever cuts it into tokens; their hits are those of a count by offsets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use relscale_records::classes::TokenCounts;
use relscale_records::parquet::{DocumentRow, PartRange};
use relscale_records::provenance::TieRule;
use relscale_records::study::{RunFolder, RunPlan, RunRecord};
use relscale_records::tally::k_grid;
use relscale_records::vocabulary::{TokenKind, Vocabulary, VocabularyEntry};
use relscale_records::words::{
    DocumentEnds, SPAN_K, SPAN_WORDS, Spelling, TextCounter, TextTally, WordTally,
};
use relscale_records::{Provenance, Score, ScoredToken, Study};

/// What a text is made of: letters of one to four bytes, white space of one to three.
const LETTERS: [&str; 12] =
    ["a", "b", "the", ".", "(", "é", "漢", "🦀", "o\u{301}", "Ж", "0", "\u{200b}"];
const SPACES: [&str; 7] = [" ", "\n", "  ", "\t", "\u{a0}", "\u{3000}", "\u{1c}"];

/// A text, and where it is cut into tokens: at any byte.
fn cut_text() -> impl Strategy<Value = (String, Vec<usize>, Vec<usize>)> {
    let piece = prop_oneof![
        3 => prop::sample::select(LETTERS.to_vec()),
        1 => prop::sample::select(SPACES.to_vec()),
    ];
    prop::collection::vec(piece, 1..80).prop_flat_map(|pieces| {
        let text = pieces.concat();
        let cuts = || prop::collection::btree_set(1..text.len().max(2), 0..60);
        (Just(text.clone()), cuts(), cuts()).prop_map(|(text, a, b)| {
            let cuts = |set: std::collections::BTreeSet<usize>| {
                let inside = set.into_iter().filter(|cut| *cut < text.len());
                [0].into_iter().chain(inside).chain([text.len()]).collect()
            };
            let (a, b) = (cuts(a), cuts(b));
            (text.clone(), a, b)
        })
    })
}

/// How the pieces are spelled in a vocabulary.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    ByteLevel,
    SentencePiece,
}

/// The vocabulary of the pieces, and the token of each.
fn vocabulary(text: &str, cuts: &[usize], manner: Manner) -> (Vocabulary, Vec<u32>) {
    let mut ids: BTreeMap<(TokenKind, String), u32> = BTreeMap::new();
    let mut add = |kind, text: String| {
        let next = ids.len() as u32;
        *ids.entry((kind, text)).or_insert(next)
    };
    // A vocabulary has many that begin with a space, as it spells one.
    let space = if manner == Manner::SentencePiece { "\u{2581}" } else { " " };
    add(TokenKind::Normal, format!("{space}never"));
    let tokens = cuts.windows(2).map(|cut| {
        let bytes = &text.as_bytes()[cut[0]..cut[1]];
        match std::str::from_utf8(bytes) {
            // SentencePiece has pieces of bytes for what it lacks: a line's end among others.
            Ok("\n") if manner == Manner::SentencePiece => add(TokenKind::Byte, "<0x0A>".into()),
            Ok(piece) => add(TokenKind::Normal, piece.replace(' ', space)),
            Err(_) => {
                let hex = bytes.iter().map(|byte| format!("<0x{byte:02X}>")).collect();
                add(TokenKind::Byte, hex)
            }
        }
    });
    let tokens = tokens.collect();
    let mut entries: Vec<VocabularyEntry> =
        ids.into_iter().map(|((kind, text), id)| VocabularyEntry { id, text, kind }).collect();
    entries.sort_by_key(|entry| entry.id);
    (Vocabulary::new("of a test", entries).unwrap(), tokens)
}

fn rows(cuts: &[usize], tokens: &[u32], ranks: impl Fn(usize) -> Option<u32>) -> Vec<ScoredToken> {
    let row = |(at, (cut, &token)): (usize, (&[usize], &u32))| ScoredToken {
        document: 0,
        position: at as u32,
        token,
        bytes: (cut[1] - cut[0]) as u32,
        context: at as u32,
        score: ranks(at).map(|rank| Score {
            rank,
            ties: Some(0),
            nll: 1.0,
            entropy: Some(1.0),
            argmax: Some(0),
        }),
    };
    cuts.windows(2).zip(tokens).enumerate().map(row).collect()
}

fn count(vocabulary: &Vocabulary, rows: &[ScoredToken], tokens: u64) -> TextTally {
    let mut counts = TokenCounts::default();
    counts.extend(rows.iter().map(|row| row.token));
    let mut ends = DocumentEnds::default();
    ends.push(0, tokens);
    let spelling = Spelling::new(vocabulary, &counts);
    let mut counter = TextCounter::new(k_grid(1_000), TieRule::AtLeast, Some(spelling), ends);
    rows.iter().for_each(|row| counter.add(row));
    counter.finish().pop().unwrap_or_else(|| TextTally::empty(k_grid(1_000).len(), true))
}

/// Where the words of a text are, in bytes.
fn words_of(text: &str) -> Vec<(usize, usize)> {
    let space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    let mut words: Vec<(usize, usize)> = Vec::new();
    for (at, letter) in text.char_indices().filter(|(_, letter)| !space(*letter)) {
        let end = at + letter.len_utf8();
        match words.last_mut() {
            Some(last) if last.1 == at => last.1 = end,
            _ => words.push((at, end)),
        }
    }
    words
}

/// The judge: words by offsets, every token looked at for every word and span.
fn judge(text: &str, cuts: &[usize], rank: impl Fn(usize) -> Option<u32>) -> WordTally {
    // The largest rank of the tokens that hold a byte of a stretch; none where one has none.
    let over = |start: usize, end: usize| {
        let held = |at: &usize| cuts[*at] < end && cuts[*at + 1] > start;
        let ranks: Option<Vec<u32>> = (0..cuts.len() - 1).filter(held).map(&rank).collect();
        ranks.map(|ranks| ranks.into_iter().max().unwrap_or(0))
    };
    let grid = k_grid(1_000);
    let words = words_of(text);
    let known: Vec<u32> = words.iter().filter_map(|&(start, end)| over(start, end)).collect();
    let mut tally = WordTally {
        words: known.len() as u64,
        left_out: (words.len() - known.len()) as u64,
        hits: grid.iter().map(|k| known.iter().filter(|rank| *rank <= k).count() as u64).collect(),
        ..WordTally::default()
    };
    for (n_at, n) in SPAN_WORDS.into_iter().enumerate() {
        for span in words.windows(n as usize) {
            let Some(rank) = over(span[0].0, span[span.len() - 1].1) else { continue };
            tally.spans[n_at] += 1;
            for (k_at, k) in SPAN_K.into_iter().enumerate() {
                tally.span_hits[k_at][n_at] += u32::from(rank <= k);
            }
        }
    }
    tally
}

proptest! {
    #[test]
    fn words_are_those_of_the_text_however_it_is_cut(
        (text, cuts, others) in cut_text(), seed in any::<u32>(),
    ) {
        let rank = |at: usize| 1 + (at as u32).wrapping_mul(seed | 1) % 4 * 7;
        let mut found = Vec::new();
        for cuts in [&cuts, &others] {
            for manner in [Manner::ByteLevel, Manner::SentencePiece] {
                let (vocabulary, tokens) = vocabulary(&text, cuts, manner);
                let rows = rows(cuts, &tokens, |at| Some(rank(at)));
                let counted = count(&vocabulary, &rows, tokens.len() as u64);
                let words = counted.words.unwrap();
                prop_assert_eq!(&words, &judge(&text, cuts, |at| Some(rank(at))));
                prop_assert_eq!(words.left_out, 0);
                let last = counted.byte_hits.last().copied();
                prop_assert_eq!(last, Some(text.len() as u64));
                found.push((words.words, words.spans));
            }
        }
        prop_assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
        prop_assert_eq!(found[0].0, words_of(&text).len() as u64);
    }

    #[test]
    fn words_without_a_score_are_left_out_and_counted(
        (text, cuts, _) in cut_text(), seed in any::<u32>(),
    ) {
        let rank = |at: usize| {
            let drawn = (at as u32).wrapping_mul(seed | 1) >> 7;
            (!drawn.is_multiple_of(5)).then_some(1 + drawn % 4 * 7)
        };
        let (vocabulary, tokens) = vocabulary(&text, &cuts, Manner::ByteLevel);
        let rows = rows(&cuts, &tokens, rank);
        let counted = count(&vocabulary, &rows, tokens.len() as u64);
        prop_assert_eq!(counted.words.as_ref(), Some(&judge(&text, &cuts, rank)));
        let lost: u64 = rows.iter().filter(|row| row.score.is_none()).map(|row| u64::from(row.bytes)).sum();
        prop_assert_eq!(counted.nonfinite_bytes, lost);
    }

    #[test]
    fn positions_that_were_not_scored_take_their_words_with_them(
        (text, cuts, _) in cut_text(), seed in any::<u32>(),
    ) {
        let there = |at: usize| (at as u32).wrapping_mul(seed | 1) >> 7 & 3 > 0;
        let rank = |at: usize| Some(1 + at as u32 % 3 * 9);
        let (vocabulary, tokens) = vocabulary(&text, &cuts, Manner::ByteLevel);
        let rows: Vec<ScoredToken> = rows(&cuts, &tokens, rank)
            .into_iter()
            .filter(|row| there(row.position as usize))
            .collect();
        let words = count(&vocabulary, &rows, tokens.len() as u64).words.unwrap();
        // Known is a word with all its tokens, where the characters about it are there too.
        let (mut known, cuts) = (Vec::new(), &cuts);
        for (start, end) in words_of(&text) {
            let before = text[..start].char_indices().next_back().map_or(0, |(at, _)| at);
            let behind = end + text[end..].chars().next().map_or(0, char::len_utf8);
            let held = |from: usize, to: usize| {
                (0..tokens.len()).filter(move |&at| cuts[at] < to && cuts[at + 1] > from)
            };
            if held(before, behind).all(there) {
                known.extend(held(start, end).filter_map(rank).max());
            }
        }
        let hits = |k: u32| known.iter().filter(|rank| **rank <= k).count() as u64;
        prop_assert_eq!(words.words, known.len() as u64);
        prop_assert_eq!(words.hits, k_grid(1_000).into_iter().map(hits).collect::<Vec<_>>());
    }

    #[test]
    fn where_each_word_is_a_token_words_are_tokens(ranks in prop::collection::vec(1u32..400, 1..60)) {
        let text: String = (0..ranks.len()).map(|at| format!(" w{}", at % 7)).collect();
        let cuts: Vec<usize> = (0..=ranks.len()).map(|at| 3 * at).collect();
        let (vocabulary, tokens) = vocabulary(&text, &cuts, Manner::ByteLevel);
        let rows = rows(&cuts, &tokens, |at| Some(ranks[at]));
        let words = count(&vocabulary, &rows, tokens.len() as u64).words.unwrap();
        let hits = |k: u32| ranks.iter().filter(|rank| **rank <= k).count() as u64;
        prop_assert_eq!(words.words, ranks.len() as u64);
        prop_assert_eq!(words.hits, k_grid(1_000).into_iter().map(hits).collect::<Vec<_>>());
    }
}

#[test]
fn a_document_that_is_cut_loses_its_last_word_only() {
    let text = "one two three";
    let cuts = [0, 3, 7, 10, 13];
    let (vocabulary, tokens) = vocabulary(text, &cuts, Manner::ByteLevel);
    let rows = rows(&cuts, &tokens, |_| Some(1));
    let counted = |rows, tokens| {
        let words = count(&vocabulary, rows, tokens).words.unwrap();
        (words.words, words.left_out)
    };
    assert_eq!(counted(&rows, 4), (3, 0));
    // The document goes on behind the last row, or nobody knows where it ends.
    assert_eq!(counted(&rows[..3], 4), (2, 1));
    assert_eq!(counted(&rows, 0), (2, 1));
    // The first token of a document without a prefix has no row.
    assert_eq!(counted(&rows[1..], 4), (2, 0));
    // Nor has one in the middle of a word: the rest of the word is no word.
    assert_eq!(counted(&[&rows[..1], &rows[2..]].concat(), 4), (1, 1));
}

#[test]
fn a_space_that_stands_for_nothing_begins_no_word() {
    let entry = |(id, (text, kind)): (usize, (&str, TokenKind))| VocabularyEntry {
        id: id as u32,
        text: text.to_owned(),
        kind,
    };
    let entries = [
        ("\u{2581}the", TokenKind::Normal),
        ("</s>", TokenKind::Special),
        ("[UNK]", TokenKind::Special),
        ("re", TokenKind::Normal),
    ];
    let vocabulary =
        Vocabulary::new("", entries.into_iter().enumerate().map(entry).collect()).unwrap();
    let counted = |tokens: &[(u32, u32)]| {
        let row = |(at, &(token, bytes)): (usize, &(u32, u32))| {
            let cut = [0, bytes as usize];
            let one = rows(&cut, &[token], |_| Some(1)).remove(0);
            ScoredToken { position: at as u32, ..one }
        };
        let rows: Vec<ScoredToken> = tokens.iter().enumerate().map(row).collect();
        let words = count(&vocabulary, &rows, rows.len() as u64).words.unwrap();
        (words.words, words.left_out)
    };
    // "the</s>the": the model sees `▁the` twice, and the text has one word.
    assert_eq!(counted(&[(0, 3), (1, 4), (0, 3)]), (1, 0));
    // "the the"
    assert_eq!(counted(&[(0, 3), (0, 4)]), (2, 0));
    // What `[UNK]` stands for is not known: neither how the word before it ends, nor how that
    // behind it begins.
    assert_eq!(counted(&[(0, 3), (2, 9), (3, 2), (0, 4)]), (1, 2));
}

/// A finished, current run of one model on documents of six tokens, `to be or not to be`.
fn finished(study: &mut Study, provenance: Provenance, documents: u32) -> RunFolder {
    let plan = RunPlan {
        documents,
        scored: 6 * u64::from(documents),
        part_tokens: 1,
        parts: documents.div_ceil(2),
    };
    let run = study.start(&RunRecord::new(provenance, plan)).unwrap();
    let part = |index: u32| {
        let range = PartRange {
            index,
            first_document: 2 * index,
            end_document: documents.min(2 * index + 2),
        };
        let mut rows = Vec::new();
        for document in range.first_document..range.end_document {
            for position in 0..6 {
                let rank = 1 + (document * 7 + position * 5) % 23;
                let score =
                    Score { rank, ties: Some(0), nll: 1.0, entropy: Some(1.0), argmax: Some(0) };
                rows.push(ScoredToken {
                    document,
                    position,
                    token: [0, 1, 2, 3, 0, 1][position as usize],
                    bytes: 3,
                    context: position,
                    score: Some(score),
                });
            }
        }
        let mut writer = run.part_writer(index).unwrap();
        writer.write(&rows).unwrap();
        writer.finish(range).unwrap()
    };
    let parts = (0..plan.parts).map(part).collect();
    let row = |ordinal| DocumentRow {
        ordinal,
        id: format!("d{ordinal}"),
        tags: BTreeMap::new(),
        tokens: 6,
        bytes: 18,
        words: Some(6),
        scored: 6,
    };
    run.write_documents(&(0..documents).map(row).collect::<Vec<_>>()).unwrap();
    run.finish(parts, 0).unwrap();
    study.set_current(&run).unwrap();
    run
}

fn to_be(study: &mut Study, provenance: &Provenance) {
    let entry = |(id, text): (u32, &str)| VocabularyEntry {
        id,
        text: text.to_owned(),
        kind: TokenKind::Normal,
    };
    let texts = (0..).zip([" to", " be", " or", " not"]);
    let sha256 = provenance.tokenizer.sha256.clone();
    let vocabulary = Vocabulary::new(sha256, texts.map(entry).collect()).unwrap();
    study.write_vocabulary(&vocabulary).unwrap();
}

#[test]
fn counts_of_words_are_kept_and_merge_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create_or_open(folder.path()).unwrap();
    let provenance = Provenance::example();
    to_be(&mut study, &provenance);
    let run = finished(&mut study, provenance, 5);
    let counted = study.tally(&run).unwrap();
    assert!(run.tally_path().exists());
    let text = counted.totals().text.unwrap();
    let words = text.words.unwrap();
    assert_eq!((words.words, words.left_out, text.nonfinite_bytes), (30, 0, 0));
    assert_eq!(words.spans, [25, 15, 0, 0, 0]);
    // A word is a token here, of three bytes.
    let totals = counted.totals();
    assert_eq!(words.hits, totals.hits);
    assert_eq!(text.byte_hits, totals.hits.iter().map(|hits| 3 * hits).collect::<Vec<_>>());
    // Read from the sums alone.
    for index in 0..3 {
        fs::remove_file(run.part_path(index)).unwrap();
    }
    assert_eq!(study.tally(&run).unwrap(), counted);
    // In two halves, in either order.
    let half = |even: bool| {
        let mut half = counted.clone();
        let mine = |document: u32| document.is_multiple_of(2) == even;
        half.documents.retain(|document| mine(document.document));
        (half.sequences, half.ranks, half.classes) = (None, None, None);
        half
    };
    let whole = half(true).merge(half(false)).unwrap();
    assert_eq!(whole, half(false).merge(half(true)).unwrap());
    assert_eq!(whole.documents, counted.documents);
}

/// `tests/format1` has sums of before bytes and words were counted.
#[test]
fn sums_of_earlier_versions_are_counted_again_or_lack_words() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format1");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("study");
    copy_all(&kept, &copy);
    let study = Study::open(&copy).unwrap();
    let run = study.current().unwrap().remove(0);
    let done = run.done().unwrap().unwrap();
    // With rows they are no longer enough, and are counted again.
    assert!(!run.has_tally(&done));
    let before = fs::read(run.tally_path()).unwrap();
    let counted = study.tally(&run).unwrap();
    assert!(run.has_tally(&done) && fs::read(run.tally_path()).unwrap() != before);
    let text = counted.totals().text.unwrap();
    assert_eq!(text.byte_hits.last(), Some(&counted.totals().bytes));
    // It has no vocabulary, which came later than it.
    assert_eq!(text.words, None);
    // Where a part is damaged they are better than nothing.
    let part = run.part_path(0);
    let whole = fs::read(&part).unwrap();
    fs::write(run.tally_path(), &before).unwrap();
    fs::write(&part, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(study.tally(&run).unwrap().totals().hits, counted.totals().hits);
    fs::write(&part, whole).unwrap();
    // Without rows they are read as they are, and lack what was not counted.
    fs::write(run.tally_path(), before).unwrap();
    for file in &done.parts {
        fs::remove_file(run.part_path(file.part.range.index)).unwrap();
    }
    assert!(run.has_tally(&done));
    let old = study.tally(&run).unwrap();
    assert!(old.documents.iter().all(|document| document.text.is_none()));
    assert_eq!(old.totals().hits, counted.totals().hits);
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).unwrap();
        }
    }
}
