//! `relscale choices`: against lm-evaluation-harness, what it shows, the whole way to the relative
//! law and two stages, what is refused.

mod common;

use std::fs;
use std::path::Path;

use common::Place;
use relscale_testkit::TinyModel;
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;
use serde_json::Value;

/// The model, questions and results that `tools/peers/choices.py` wrote.
fn data(name: &str) -> String {
    format!("{}/tests/data/choices/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Rows of a CSV without quoted fields, by column.
fn column<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = table.lines();
    let at = lines.next().unwrap().split(',').position(|column| column == name).unwrap();
    lines.map(|line| line.split(',').nth(at).unwrap()).collect()
}

/// Log-likelihoods of every option, and both accuracies of every question, by the harness's own
/// templates, requests and model class in float64; with a window of 250 tokens, and with one of 40,
/// from which every question is cut.
#[test]
fn options_and_accuracies_are_those_of_the_harness() {
    let golden: Value = serde_json::from_slice(&fs::read(data("harness.json")).unwrap()).unwrap();
    let place = Place::new();
    // A model that takes no more than the window: what its own length is without an option.
    let short = short_model(&place, 40);
    let whole = data("model");
    for (window, model, length) in
        [("250", &whole, Some("250")), ("40", &whole, Some("40")), ("40", &short, None)]
    {
        for format in ["standard", "continuation"] {
            let name = format!("{window}-{format}-{}", length.is_some());
            let (study, options) = (name.clone(), format!("{name}.csv"));
            let corpus = format!("{}?kind=mmlu&shots=0&format={format}", data("mmlu"));
            // The model has more rows than tokens, and the harness's softmax is over all rows.
            let mut measure = vec![
                "measure", "--vocab", "rows", "--model", model, "--corpus", &corpus, "--out",
                &study,
            ];
            measure.extend(length.iter().flat_map(|length| ["--length", length]));
            let measured = place.run(&measure);
            assert_eq!(measured.code, Some(0), "{}", measured.screen());
            let chosen = place.run(&["choices", &study, "--options", &options]);
            assert_eq!(chosen.code, Some(0), "{}", chosen.screen());

            let table = fs::read_to_string(place.path(&options)).unwrap();
            let wanted = &golden[window][format];
            let nll: Vec<f64> =
                column(&table, "nll").iter().map(|nll| nll.parse().unwrap()).collect();
            let log_likelihoods = wanted["loglikelihood"].as_array().unwrap().iter();
            let log_likelihoods = log_likelihoods.flat_map(|item| item.as_array().unwrap());
            let log_likelihoods: Vec<f64> =
                log_likelihoods.map(|ll| ll.as_f64().unwrap()).collect();
            assert_eq!(nll.len(), log_likelihoods.len());
            for (ours, theirs) in nll.iter().zip(&log_likelihoods) {
                assert!(
                    (ours + theirs).abs() < 2e-4 * theirs.abs(),
                    "{window}, {format}: {ours} {theirs}"
                );
            }
            let gold: Vec<bool> =
                column(&table, "gold").iter().map(|gold| *gold == "true").collect();
            for (credit, metric) in [("chosen", "acc"), ("chosen_bytes", "acc_norm")] {
                let credit = column(&table, credit);
                let right: Vec<f64> = credit
                    .chunks_exact(4)
                    .zip(gold.chunks_exact(4))
                    .map(|(credit, gold)| {
                        let of = credit.iter().zip(gold).filter(|(_, gold)| **gold);
                        of.map(|(credit, _)| credit.parse::<f64>().unwrap()).sum()
                    })
                    .collect();
                let theirs: Vec<f64> = wanted[metric]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|value| value.as_f64().unwrap())
                    .collect();
                assert_eq!(right, theirs, "{window}, {format}, {metric}");
            }
        }
    }
}

/// The same model with `positions` positions: its other rows of the table are gone.
fn short_model(place: &Place, positions: usize) -> String {
    let folder = place.path("short");
    fs::create_dir(&folder).unwrap();
    for file in
        ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]
    {
        if let Ok(text) = fs::read_to_string(data(&format!("model/{file}"))) {
            fs::write(
                folder.join(file),
                text.replace("\"n_positions\": 256", &format!("\"n_positions\": {positions}")),
            )
            .unwrap();
        }
    }
    let bytes = fs::read(data("model/model.safetensors")).unwrap();
    let whole = SafeTensors::deserialize(&bytes).unwrap();
    let cut = whole.tensors().into_iter().map(|(name, tensor)| {
        let (mut shape, mut data) = (tensor.shape().to_vec(), tensor.data());
        if name.ends_with("wpe.weight") {
            data = &data[..data.len() / shape[0] * positions];
            shape[0] = positions;
        }
        (name, TensorView::new(tensor.dtype(), shape, data).unwrap())
    });
    fs::write(folder.join("model.safetensors"), safetensors::serialize(cut, None).unwrap())
        .unwrap();
    folder.display().to_string()
}

#[test]
fn questions_from_the_models_to_both_laws() {
    let place = Place::new();
    common::quiz(&place);
    let outcome = place.run(&["choices", "study"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("choices");
    let beyond =
        place.run(&["choices", "study", "--groups", "--beyond-shuffled", "--json", "other.json"]);
    beyond.shows("choices-beyond-shuffled");

    let fit: Value =
        serde_json::from_slice(&fs::read(place.path("study/choices.json")).unwrap()).unwrap();
    let means = fit["groups"][0]["models"][0]["means"].as_array().unwrap();
    let names: Vec<(&str, Option<&str>)> = means
        .iter()
        .map(|mean| (mean["distribution"].as_str().unwrap_or("(all)"), mean["group"].as_str()))
        .collect();
    let wanted = [
        ("other", None),
        ("other", Some("virology")),
        ("social_sciences", None),
        ("social_sciences", Some("sociology")),
        ("stem", None),
        ("stem", Some("astronomy")),
        ("(all)", None),
    ];
    assert_eq!(names, wanted);

    // Its errors in the relative law, from the study and from the table that was written.
    let of_study = place.run(&[
        "relative",
        "study",
        "--error",
        "choice-nll",
        "--by",
        "tag:domain",
        "--baseline",
        "stem",
        "--json",
        "-",
    ]);
    assert_eq!(of_study.code, Some(0), "{}", of_study.screen());
    let of_table = place.run(&[
        "relative",
        "--table",
        "study/choices.csv",
        "--where",
        "level=distribution",
        "--distribution",
        "distribution",
        "--x",
        "params",
        "--error",
        "choice_nll",
        "--as",
        "loss",
        "--baseline",
        "stem",
        "--json",
        "-",
    ]);
    assert_eq!(of_table.code, Some(0), "{}", of_table.screen());
    let slopes = |screen: &str| -> Vec<f64> {
        let found: Value = serde_json::from_str(screen).unwrap();
        let gaps = found["families"][0]["gaps"].as_array().unwrap();
        gaps.iter().map(|gap| gap["outcome"]["delta_beta"]["value"].as_f64().unwrap()).collect()
    };
    let (study, table) = (slopes(&of_study.out), slopes(&of_table.out));
    assert_eq!(study.len(), 2);
    assert!(study.iter().zip(&table).all(|(a, b)| (a - b).abs() < 1e-9), "{study:?} {table:?}");

    let stages = place.run(&[
        "stages",
        "--table",
        "study/choices.csv",
        "--where",
        "level=distribution",
        "--group",
        "distribution",
        "--x",
        "params",
        "--loss",
        "gold_bpb",
        "--accuracy",
        "accuracy",
    ]);
    assert!(
        stages.out.contains("social_sciences") || stages.err.contains("no stage"),
        "{}",
        stages.screen()
    );
}

#[test]
fn what_is_no_question_is_refused() {
    let place = Place::new();
    let model = place.model("tiny", &TinyModel::default()).to_string_lossy().into_owned();
    place.prose();
    let measured =
        place.run(&["measure", "--model", &model, "--corpus", "prose.txt", "--out", "prose"]);
    assert_eq!(measured.code, Some(0), "{}", measured.screen());
    place.run(&["choices", "prose"]).refuses(3, &["no document", "corpus `prose`", "kind=mmlu"]);
    place.run(&["choices", "nowhere"]).refuses(3, &["nowhere"]);

    common::quiz(&place);
    place
        .run(&["choices", "study", "--where", "gold=true"])
        .refuses(3, &["`astronomy/test/1`", "one option", "gold=true"]);
    place.run(&["choices", "study", "--by", "tag:variety"]).refuses(3, &["(variety)"]);
    place
        .run(&["choices", "study", "--corpus", "wiki"])
        .refuses(3, &["no laws of corpus wiki", "on corpus quiz"]);
    let arguments =
        ["relative", "study", "--error", "choice", "--by", "tag:domain", "--baseline", "stem"];
    place.run(&arguments).refuses(3, &["`error` is choice", "choice-nll"]);
    assert!(!Path::new(&place.path("study/choices.json")).exists());
}
