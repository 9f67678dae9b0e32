//! A large study: 23 models on four texts with the whole grid of k.

mod support;

use std::time::{Duration, Instant};

use support::Text;

/// The largest page that is still sent by mail: figures twice, wide and in a column, and their
/// numbers.
const MOST: u64 = 10_000_000;

#[test]
#[allow(clippy::print_stdout)] // the figures for the record
fn a_page_of_23_models_on_four_texts() {
    let texts =
        [("web", 4.1, 0.118), ("code", 3.8, 0.13), ("books", 4.4, 0.09), ("chat", 4.6, 0.087)];
    let texts = texts.map(|(name, level, exponent)| Text { name, level, exponent });
    let mut runs = Vec::new();
    for text in &texts {
        for number in 0..23 {
            // From ten thousand to ten billion.
            let size = (1e4 * 10_f64.powf(6.0 * f64::from(number) / 22.0)) as u64;
            let name = format!("model-{number:02}-of-a-family");
            let mut provenance = support::provenance("large", &name, size, text, 60);
            let sizes = &mut provenance.scoring.vocabulary;
            (sizes.tokenizer, sizes.with_added, sizes.rows, sizes.scored) =
                (50_254, 50_277, 50_304, 50_277);
            let tally = support::measured(&provenance, text, 60);
            runs.push((provenance, tally));
        }
    }
    let home = tempfile::tempdir().unwrap();
    support::keep(home.path(), &runs);
    let laws = support::laws(&runs);
    let grid: Vec<u32> = laws.groups[0].rank_laws.iter().filter_map(|law| law.k()).collect();
    assert_eq!(grid, relscale_records::tally::K_GRID, "below |V|");

    let begun = Instant::now();
    let files = support::render(&laws, home.path()).unwrap();
    let taken = begun.elapsed();
    let bytes = std::fs::metadata(&files.page).unwrap().len();
    println!("{bytes} bytes in {taken:?}, {} figures", files.figures.len());
    assert!(bytes < MOST, "{bytes} bytes");
    // A debug build on a busy machine; a release build takes well below a second for the page.
    assert!(taken < Duration::from_secs(60), "{taken:?}");
}
