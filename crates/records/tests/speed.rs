//! How long counting takes a row; figures in `record/2026-11-29-words.md`.

#![allow(clippy::print_stdout)] // The benches print what they find.

use std::hint::black_box;
use std::time::Instant;

use relscale_records::classes::{ClassCounter, TokenCounts};
use relscale_records::provenance::TieRule;
use relscale_records::sequences::{SequenceCounter, SequenceGrid};
use relscale_records::tally::k_grid;
use relscale_records::vocabulary::{TokenKind, VocabularyEntry};
use relscale_records::words::{DocumentEnds, Spelling, TextCounter};
use relscale_records::{Provenance, RankHistogram, RunTally, Score, ScoredToken, Vocabulary};

const ROWS: u32 = 4_000_000;
const VOCABULARY: u32 = 50_000;

/// Documents of 500 tokens; of four tokens three begin a word.
fn rows() -> (Vec<ScoredToken>, Vocabulary) {
    let mut state = 1_u64;
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let row = |at: u32| {
        // Most tokens are frequent ones, most ranks small.
        let token = ((next(1 << 16) * next(1 << 16) * u64::from(VOCABULARY)) >> 32) as u32;
        let rank = 1 + ((next(1 << 10) * next(1 << 10) * next(1 << 10) * 40_000) >> 30) as u32;
        let score = Score { rank, ties: Some(0), nll: 2.5, entropy: Some(2.4), argmax: Some(3) };
        let (document, position) = (at / 500, at % 500);
        ScoredToken { document, position, token, bytes: 5, context: position, score: Some(score) }
    };
    let rows = (0..ROWS).map(row).collect();
    let entry = |id: u32| {
        let text = if id.is_multiple_of(4) { format!("t{id}") } else { format!(" t{id}") };
        VocabularyEntry { id, text, kind: TokenKind::Normal }
    };
    (rows, Vocabulary::new("", (0..VOCABULARY).map(entry).collect()).unwrap())
}

/// Seconds that this thread has computed, whoever else does on the machine; elsewhere than on Linux
/// those that have passed.
fn seconds(since: Instant) -> f64 {
    let computed = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = computed.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or(since.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

fn timed(what: &str, mut work: impl FnMut()) {
    let begun = Instant::now();
    let best = (0..3)
        .map(|_| {
            let start = seconds(begun);
            work();
            seconds(begun) - start
        })
        .fold(f64::INFINITY, f64::min);
    println!("{what}: {best:.3} s, {:.1} ns a row", best * 1e9 / f64::from(ROWS));
}

/// `cargo test -p relscale-records --test speed -- --ignored --nocapture`
#[test]
#[ignore = "a bench: prints times"]
fn counting_by_kind_of_count() {
    let (rows, vocabulary) = rows();
    let mut counts = TokenCounts::default();
    counts.extend(rows.iter().map(|row| row.token));
    let k = k_grid(VOCABULARY);
    timed("sums and hits", || {
        let mut tally = RunTally::with_grid(&Provenance::example(), k.clone());
        rows.iter().for_each(|row| tally.add(row));
        black_box(tally);
    });
    timed("sequences", || {
        let mut counter = SequenceCounter::new(SequenceGrid::default(), TieRule::AtLeast).unwrap();
        rows.iter().for_each(|row| counter.add(row));
        black_box(counter.finish());
    });
    timed("ranks", || {
        let mut ranks = RankHistogram::default();
        rows.iter().for_each(|row| ranks.add_token(row, TieRule::AtLeast));
        black_box(ranks);
    });
    timed("classes", || {
        let mut counter =
            ClassCounter::new(&counts, Some(&vocabulary), k.clone(), TieRule::AtLeast);
        rows.iter().for_each(|row| counter.add(row));
        black_box(counter.finish());
    });
    timed("bytes", || {
        let ends = DocumentEnds::default();
        let mut counter = TextCounter::new(k.clone(), TieRule::AtLeast, None, ends);
        rows.iter().for_each(|row| counter.add(row));
        black_box(counter.finish());
    });
    timed("bytes, words and spans", || {
        let spelling = Spelling::new(&vocabulary, &counts);
        let ends = DocumentEnds::default();
        let mut counter = TextCounter::new(k.clone(), TieRule::AtLeast, Some(spelling), ends);
        rows.iter().for_each(|row| counter.add(row));
        black_box(counter.finish());
    });
}
