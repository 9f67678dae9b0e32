//! Questions with options: means against hand-computed ones, items that take no part, the spread of
//! a sample of questions, the relative law.

mod support;

use std::collections::BTreeMap;

use relscale_laws::choices::{
    ChoiceMeasure, ChoicesOptions, ChoicesSource, fit_choices, options_of_items,
};
use relscale_laws::relative::{
    ErrorMeasure, RelativeOptions, StudySource, fit_relative, read_study,
};
use relscale_laws::{ChoiceMean, ChoicesFit, FlagCode, LawsError};
use relscale_records::RunTally;
use relscale_records::parquet::DocumentRow;
use relscale_records::provenance::sha256_bytes;
use support::random::Random;

/// A question: group, domain, name of the gold option.
struct Question {
    group: &'static str,
    domain: &'static str,
    gold: &'static [&'static str],
}

/// The documents of questions with options A and B, of 4 and 8 bytes.
fn documents(questions: &[Question]) -> BTreeMap<String, Vec<DocumentRow>> {
    let mut rows = Vec::new();
    for (number, question) in questions.iter().enumerate() {
        for (at, option) in ["A", "B", "C"].into_iter().enumerate() {
            let ordinal = (number * 3 + at) as u32;
            let tags = [
                ("item", format!("q{number}")),
                ("option", option.to_owned()),
                ("gold", question.gold.contains(&option).to_string()),
                ("span_bytes", (4 * (at + 1)).to_string()),
                ("group", question.group.to_owned()),
                ("domain", question.domain.to_owned()),
                ("format", "modified".to_owned()),
            ];
            rows.push(DocumentRow {
                ordinal,
                id: format!("q{number}/{option}"),
                tags: tags.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
                tokens: 20,
                bytes: 60,
                words: None,
                scored: 2,
            });
        }
    }
    BTreeMap::from([(sha256_bytes(b"text"), rows)])
}

/// A run whose options have these sums of nll, three an item.
fn run(model: &str, parameters: u64, nll: &[[f64; 3]]) -> RunTally {
    let mut run = support::run(model, parameters, &[1, 10]);
    let sums = nll.iter().flatten().enumerate();
    run.documents =
        sums.map(|(at, nll)| support::document(at as u32, 2, &[0, 1], nll / 2.0)).collect();
    run
}

fn fit(runs: &[RunTally], documents: &BTreeMap<String, Vec<DocumentRow>>) -> ChoicesFit {
    let source = ChoicesSource { runs, documents, family: None, corpus: None, by: None, only: &[] };
    fit_choices(&source, &ChoicesOptions { resamples: 200, ..ChoicesOptions::default() }).unwrap()
}

fn mean<'a>(
    fit: &'a ChoicesFit,
    model: usize,
    distribution: Option<&str>,
    group: Option<&str>,
) -> &'a ChoiceMean {
    let means = &fit.groups[0].models[model].means;
    means
        .iter()
        .find(|mean| (mean.distribution.as_deref(), mean.group.as_deref()) == (distribution, group))
        .unwrap()
}

const STEM_A: Question = Question { group: "algebra", domain: "stem", gold: &["A"] };
const STEM_B: Question = Question { group: "physics", domain: "stem", gold: &["B"] };
const ARTS: Question = Question { group: "music", domain: "arts", gold: &["A"] };

/// Three questions of algebra (nll of gold 2, 4, 6) and one of physics (nll 12): the loss of a
/// domain weighs its groups alike, its accuracy its questions.
#[test]
fn losses_weigh_groups_alike_and_accuracies_questions() {
    let documents = documents(&[STEM_A, STEM_A, STEM_A, STEM_B, ARTS]);
    let nll =
        [[2.0, 9.0, 9.0], [4.0, 3.0, 9.0], [6.0, 9.0, 9.0], [12.0, 12.0, 20.0], [1.0, 5.0, 5.0]];
    let found = fit(&[run("m", 1000, &nll)], &documents);
    let value = |distribution, group, measure| {
        mean(&found, 0, distribution, group).value(measure).unwrap().mean.value
    };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    close(value(Some("stem"), Some("algebra"), ChoiceMeasure::GoldNll), 4.0);
    close(value(Some("stem"), Some("physics"), ChoiceMeasure::GoldNll), 12.0);
    close(value(Some("stem"), None, ChoiceMeasure::GoldNll), 8.0);
    close(value(None, None, ChoiceMeasure::GoldNll), (4.0 + 12.0 + 1.0) / 3.0);
    // Mean of bits per byte over questions, not bits over bytes: A has 4 bytes, B has 8.
    let bits = std::f64::consts::LN_2;
    close(
        value(Some("stem"), None, ChoiceMeasure::GoldBpb),
        (4.0 / 4.0 / bits + 12.0 / 8.0 / bits) / 2.0,
    );
    // Algebra 2 of 3, physics a tie for half a point: 2.5 of 4.
    close(value(Some("stem"), None, ChoiceMeasure::Accuracy), 2.5 / 4.0);
    close(value(None, None, ChoiceMeasure::Accuracy), 3.5 / 5.0);
    // Per byte B (12/8) is better than A (12/4); all of algebra goes wrong where 9/8 or 9/12 is
    // less than nll/4.
    close(value(Some("stem"), None, ChoiceMeasure::AccuracyBytes), (1.0 + 0.0 + 0.0 + 1.0) / 4.0);
    assert_eq!(found.groups[0].models[0].ties, 1);
    assert!(found.groups[0].flags.iter().any(|flag| flag.code == FlagCode::TiedOptions));
    // The behaviour's probability is that of the choice.
    let p = (-2.0_f64).exp() / ((-2.0_f64).exp() + 2.0 * (-9.0_f64).exp());
    let nll = [[2.0, 9.0, 9.0], [2.0, 9.0, 9.0]];
    let one = fit(&[run("m", 1000, &nll)], &two_of_algebra());
    close(
        mean(&one, 0, Some("stem"), None).value(ChoiceMeasure::ChoiceNll).unwrap().mean.value,
        -p.ln(),
    );
}

fn two_of_algebra() -> BTreeMap<String, Vec<DocumentRow>> {
    documents(&[STEM_A, STEM_A])
}

#[test]
fn golds_may_be_several_and_every_option_is_told() {
    let both = Question { group: "g", domain: "d", gold: &["A", "C"] };
    let documents = documents(&[both, STEM_A]);
    let runs = [run("m", 1000, &[[5.0, 3.0, 2.0], [1.0, 2.0, 3.0]])];
    let found = fit(&runs, &documents);
    let value = |measure| mean(&found, 0, Some("d"), None).value(measure).unwrap().mean.value;
    assert_eq!((value(ChoiceMeasure::Accuracy), value(ChoiceMeasure::GoldNll)), (1.0, 2.0));
    assert!((mean(&found, 0, Some("d"), None).chance - 2.0 / 3.0).abs() < 1e-12);
    let source = ChoicesSource {
        runs: &runs,
        documents: &documents,
        family: None,
        corpus: None,
        by: None,
        only: &[],
    };
    let options = options_of_items(&source).unwrap();
    let first: Vec<(&str, bool, f64, f64, f64)> = options[..3]
        .iter()
        .map(|o| (o.option.as_str(), o.gold, o.nll, o.bytes, o.chosen))
        .collect();
    assert_eq!(
        first,
        [("A", true, 5.0, 4.0, 0.0), ("B", false, 3.0, 8.0, 0.0), ("C", true, 2.0, 12.0, 1.0)]
    );
}

#[test]
fn an_item_that_one_model_cannot_be_judged_on_is_left_out_for_all() {
    let documents = documents(&[STEM_A, STEM_A, STEM_B]);
    let nll = [[2.0, 9.0, 9.0], [4.0, 3.0, 9.0], [6.0, 9.0, 9.0]];
    let (small, mut large) = (run("small", 1000, &nll), run("large", 9000, &nll));
    large.documents[4].scored -= 1;
    large.documents[4].nonfinite += 1;
    let found = fit(&[large, small], &documents);
    let group = &found.groups[0];
    assert_eq!((group.items, group.left_out.len(), group.left_out[0].label.as_str()), (2, 1, "q1"));
    assert!(
        group.left_out[0].reason.contains("non-finite")
            && group.left_out[0].reason.contains("large")
    );
    assert!(group.flags.iter().any(|flag| flag.code == FlagCode::PointsLeftOut));
    assert_eq!(
        group.models.iter().map(|model| model.model.as_str()).collect::<Vec<_>>(),
        ["small", "large"]
    );
    // The relative law says so as well.
    let runs = [run("small", 1000, &nll), {
        let mut large = run("large", 9000, &nll);
        large.documents[4].scored -= 1;
        large.documents[4].nonfinite += 1;
        large
    }];
    let source = StudySource {
        runs: &runs,
        documents: &documents,
        error: "gold-bpb".parse().unwrap(),
        x: None,
        family: None,
        by: Some("group"),
        only: &[],
        resamples: 20,
        seed: 1,
    };
    let flags = &read_study(&source).unwrap().families[0].flags;
    assert!(
        flags.iter().any(|flag| flag.message.contains("1 items of prose left out")
            && flag.message.contains("q1"))
    );

    let source = ChoicesSource {
        runs: &[],
        documents: &documents,
        family: None,
        corpus: None,
        by: None,
        only: &[],
    };
    assert!(matches!(fit_choices(&source, &ChoicesOptions::default()), Err(LawsError::NoRuns)));
}

/// Where each question is answered wrongly, drawing them again shows no error; an interval from 0
/// to 0 would claim to know that none is ever answered rightly.
#[test]
fn items_that_come_out_alike_have_no_interval() {
    let nll = [[9.0, 2.0, 5.0], [9.0, 5.0, 2.0], [8.0, 2.0, 5.0]];
    let found = fit(&[run("m", 1000, &nll)], &documents(&[STEM_A, STEM_A, STEM_A]));
    let value = |measure| mean(&found, 0, Some("stem"), None).value(measure).unwrap().mean.clone();
    let accuracy = value(ChoiceMeasure::Accuracy);
    assert_eq!((accuracy.value, accuracy.standard_error, accuracy.bounds()), (0.0, None, None));
    assert!(accuracy.interval.reason().unwrap().contains("come out alike"));
    assert!(value(ChoiceMeasure::GoldNll).bounds().is_some());
}

/// Shuffling by hand, many times, against the closed form.
#[test]
fn shuffled_gold_is_the_mean_over_shuffles() {
    let golds: [&'static [&'static str]; 3] = [&["A"], &["B"], &["C"]];
    let questions: Vec<Question> =
        (0..12).map(|at| Question { group: "g", domain: "d", gold: golds[at * at % 3] }).collect();
    let mut random = Random(3);
    let nll: Vec<[f64; 3]> =
        (0..12).map(|_| [0; 3].map(|_| 1.0 + 8.0 * random.uniform())).collect();
    let found = fit(&[run("m", 1000, &nll)], &documents(&questions));
    let value = mean(&found, 0, Some("d"), None).value(ChoiceMeasure::GoldNll).unwrap();
    let mut order: Vec<usize> = (0..12).collect();
    let shuffles = 20_000;
    let means: Vec<f64> = (0..shuffles)
        .map(|_| {
            for at in (1..12).rev() {
                order.swap(at, (random.uniform() * (at + 1) as f64) as usize);
            }
            let gold = |of: usize| {
                ["A", "B", "C"].iter().position(|name| questions[of].gold[0] == *name).unwrap()
            };
            order.iter().enumerate().map(|(item, &of)| nll[item][gold(of)]).sum::<f64>() / 12.0
        })
        .collect();
    let average = means.iter().sum::<f64>() / f64::from(shuffles);
    let deviation =
        (means.iter().map(|m| (m - average).powi(2)).sum::<f64>() / f64::from(shuffles)).sqrt();
    assert!((value.shuffled.mean - average).abs() < 4.0 * deviation / f64::from(shuffles).sqrt());
    assert!((value.shuffled.standard_deviation / deviation - 1.0).abs() < 0.03);
}

/// Losses that fall as known powers of size: the relative law of choices gives the powers back,
/// from the study's sums.
#[test]
fn the_relative_law_of_choices() {
    let questions: Vec<Question> =
        (0..60).map(|at| [STEM_A, ARTS, STEM_B][at % 3].copy()).collect();
    let documents = documents(&questions);
    let sizes = [1_000_u64, 10_000, 100_000, 1_000_000];
    let runs: Vec<RunTally> = sizes
        .iter()
        .map(|&size| {
            let nll: Vec<[f64; 3]> = questions
                .iter()
                .map(|question| {
                    let beta = if question.domain == "stem" { -0.05 } else { -0.08 };
                    let gold = 9.0 * (size as f64).powf(beta);
                    ["A", "B", "C"]
                        .map(|name| if question.gold.contains(&name) { gold } else { 11.0 })
                })
                .collect();
            run(&format!("m{size}"), size, &nll)
        })
        .collect();
    let only = [];
    let source = StudySource {
        runs: &runs,
        documents: &documents,
        error: "gold-nll".parse().unwrap(),
        x: None,
        family: None,
        by: Some("domain"),
        only: &only,
        resamples: 100,
        seed: 1,
    };
    assert_eq!(source.error, ErrorMeasure::Choice(ChoiceMeasure::GoldNll));
    let found =
        fit_relative(&read_study(&source).unwrap(), &RelativeOptions::new("stem"), None).unwrap();
    let law = found.families[0].gap("arts").unwrap().fit().unwrap();
    assert!((law.delta_beta.value + 0.03).abs() < 1e-9, "{}", law.delta_beta.value);
    // An accuracy of 1 has no logarithm to fit: the models are listed.
    let source = StudySource { error: "accuracy".parse().unwrap(), ..source };
    let series = &read_study(&source).unwrap().families[0].series[0];
    assert_eq!((series.points.len(), series.left_out.len()), (0, 4));
}

impl Question {
    fn copy(&self) -> Self {
        Self { group: self.group, domain: self.domain, gold: self.gold }
    }
}

/// How often the interval of a domain's loss and accuracy holds the truth, for samples of questions
/// from three groups of different difficulty.
#[test]
fn coverage_of_intervals_over_questions() {
    let groups = [("a", 1.0, 30), ("b", 2.0, 60), ("c", 4.0, 25)];
    let repetitions = 600;
    // Truth: gold nll uniform within 1 of its group's level; accuracy the chance that gold beats
    // two others at level 2.5 ± 1.
    let truth_loss = (1.0 + 2.0 + 4.0) / 3.0;
    let (mut truth_accuracy, mut total) = (0.0, 0.0);
    let mut random = Random(99);
    let mut item = |level: f64| -> [f64; 3] {
        [level, 2.5, 2.5].map(|level| (level + 2.0 * random.uniform() - 1.0).max(0.01))
    };
    for (_, level, size) in groups {
        let draws = 200_000;
        let right = (0..draws)
            .filter(|_| {
                let [gold, one, two] = item(level);
                gold < one && gold < two
            })
            .count();
        truth_accuracy += size as f64 * right as f64 / f64::from(draws);
        total += size as f64;
    }
    truth_accuracy /= total;
    let questions: Vec<Question> = groups
        .iter()
        .flat_map(|&(group, _, size)| {
            (0..size).map(move |_| Question { group, domain: "d", gold: &["A"] })
        })
        .collect();
    let documents = documents(&questions);
    let mut covered = [0_u32; 2];
    for _ in 0..repetitions {
        let nll: Vec<[f64; 3]> =
            groups.iter().flat_map(|&(_, level, size)| vec![level; size]).map(&mut item).collect();
        let runs = [run("m", 1000, &nll)];
        let source = ChoicesSource {
            runs: &runs,
            documents: &documents,
            family: None,
            corpus: None,
            by: None,
            only: &[],
        };
        let found =
            fit_choices(&source, &ChoicesOptions { resamples: 500, ..ChoicesOptions::default() })
                .unwrap();
        let mean = mean(&found, 0, Some("d"), None);
        for (number, (measure, truth)) in
            [(ChoiceMeasure::GoldNll, truth_loss), (ChoiceMeasure::Accuracy, truth_accuracy)]
                .into_iter()
                .enumerate()
        {
            let (low, high) = mean.value(measure).unwrap().mean.bounds().unwrap();
            covered[number] += u32::from((low..=high).contains(&truth));
        }
    }
    let share = covered.map(|count| f64::from(count) / f64::from(repetitions));
    assert!(share.iter().all(|share| (0.92..=0.98).contains(share)), "{share:?}");
}
