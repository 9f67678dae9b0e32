//! What is said to be measured next, against studies in which it is measured: does the interval
//! narrow as much as was told?

mod support;

use relscale_laws::advice::{AdviceOptions, advise};
use relscale_laws::{FitOptions, Further, LawsError, StudyFit, fit_study};
use relscale_records::RunTally;
use support::random::Random;
use support::texts::Text;
use support::{document, run};

/// Five models, and one more a decade beyond.
const SIZES: [u64; 6] = [10_000, 40_000, 160_000, 640_000, 2_560_000, 25_600_000];

/// A study's text and how each model errs by itself.
struct Source {
    texts: Vec<Text>,
    errs: Vec<f64>,
}

impl Source {
    fn draw(documents: usize, scatter: f64, random: &mut Random) -> Self {
        let texts = (0..documents).map(|_| Text::draw(random)).collect();
        let errs = SIZES.iter().map(|_| scatter * random.normal()).collect();
        Self { texts, errs }
    }

    /// The first `models` models on the first `documents` documents.
    fn fit(&self, models: usize, documents: usize) -> StudyFit {
        let tallies: Vec<RunTally> = SIZES[..models]
            .iter()
            .zip(&self.errs)
            .map(|(&size, err)| {
                let mut tally = run(&format!("m{size}"), size, &[1]);
                for (ordinal, text) in self.texts[..documents].iter().enumerate() {
                    let misses =
                        (text.tokens * text.miss(size as f64) * err.exp()).min(text.tokens);
                    let hits = (text.tokens - misses).round() as u64;
                    let tokens = text.tokens as u64;
                    tally.documents.push(document(ordinal as u32, tokens, &[hits], 4.0));
                }
                tally
            })
            .collect();
        fit_study(&tallies, &FitOptions { resamples: 2, ..FitOptions::default() }).unwrap()
    }
}

/// Half of the exponent's interval.
fn half(laws: &StudyFit) -> f64 {
    let law = laws.groups[0].rank_law(1).unwrap().fit().unwrap();
    let (low, high) = law.exponent.bounds().unwrap();
    0.5 * (high - low)
}

/// Mean logarithms of the parts that are told and that are found, of the model and of the text.
fn told_and_found(scatter: f64, repetitions: usize) -> [[f64; 2]; 2] {
    let (documents, times) = (60, 4);
    let mut random = Random(11);
    let mut means = [[0.0; 2]; 2];
    for _ in 0..repetitions {
        let source = Source::draw(times * documents, scatter, &mut random);
        let today = source.fit(5, documents);
        let options = AdviceOptions {
            sizes: vec![format!("{}", SIZES[5]).parse().unwrap()],
            times: vec![times as f64],
            draws: 60,
            ..AdviceOptions::default()
        };
        let advice = advise(&today, &options).unwrap();
        let found = advice.laws[0].outcome.fit().unwrap();
        assert!((found.half / half(&today) - 1.0).abs() < 1e-12);
        let then = [source.fit(6, documents), source.fit(5, times * documents)];
        for candidate in &found.candidates {
            let at = usize::from(matches!(candidate.what, Further::Text { .. }));
            means[at][0] += candidate.exponent_part.ln() / repetitions as f64;
            means[at][1] += (half(&then[at]) / half(&today)).ln() / repetitions as f64;
        }
    }
    means
}

#[test]
fn intervals_narrow_as_much_as_is_told() {
    // Where models scatter little, some, and much, beside the text.
    let mut by_text = Vec::new();
    for scatter in [0.001, 0.01, 0.05] {
        let [model, text] = told_and_found(scatter, 25);
        for (what, [told, found]) in [("model", model), ("text", text)] {
            assert!(
                (told - found).abs() < 0.12,
                "scatter {scatter}, {what}: told {:.3}, found {:.3}",
                told.exp(),
                found.exp()
            );
        }
        by_text.push(text[0].exp());
    }
    // More text helps only where it is the text that limits.
    assert!(by_text[0] < 0.75 && by_text[2] > 0.9, "{by_text:?}");
}

#[test]
fn what_is_not_there_or_not_claimed_is_said() {
    let mut random = Random(3);
    let laws = Source::draw(40, 0.01, &mut random).fit(5, 40);
    let options = AdviceOptions { corpus: Some("nowhere".into()), ..AdviceOptions::default() };
    assert!(matches!(advise(&laws, &options), Err(LawsError::NoGroup { .. })));
    let two = Source::draw(40, 0.01, &mut random).fit(2, 40);
    let advice = advise(&two, &AdviceOptions::default()).unwrap();
    assert!(advice.laws.iter().all(|law| law.outcome.refused().is_some()));
    // A k that was not fitted is told, with those that were.
    let advice = advise(&laws, &AdviceOptions { k: vec![7], ..AdviceOptions::default() }).unwrap();
    assert!(advice.laws[0].verdict.contains("k = 7 was not fitted"), "{}", advice.laws[0].verdict);
    // The best for its cost stands first, and training costs.
    let parts = |training_tokens| {
        let options = AdviceOptions { training_tokens, ..AdviceOptions::default() };
        let advice = advise(&laws, &options).unwrap();
        let candidates = advice.laws[0].outcome.fit().unwrap().candidates.clone();
        assert!(candidates.is_sorted_by(|one, other| { one.worth >= other.worth }));
        let model = candidates.into_iter().find(|one| matches!(one.what, Further::Model { .. }));
        model.unwrap().flops
    };
    assert!(parts(Some(1e9)) > 10.0 * parts(None));
}
