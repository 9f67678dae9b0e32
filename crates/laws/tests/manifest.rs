//! Manifests: every format alike, conventions that are never guessed, and what they do to the x of
//! a study and of a table.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use relscale_laws::FlagCode;
use relscale_laws::manifest::{Compute, Manifest, ModelAxis};
use relscale_laws::relative::{
    ErrorMeasure, Measurements, RelativeOptions, RelativeTable, StudySource, fit_relative,
    read_study, read_table,
};
use relscale_laws::size_tokens::{SizeTokensTable, fit_size_tokens, split_measured};
use relscale_laws::tables::{Select, TableError};
use relscale_laws::two_stage::{StagesOptions, fit_stages};
use relscale_records::RunTally;
use relscale_records::units::{FlopsConvention, ParameterConvention};
use support::{document, run};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn manifest(&self, text: &str) -> Result<Manifest, TableError> {
        Manifest::read(&self.file("models.toml", text))
    }
}

/// The message of a refusal, which must have these words.
fn refused<T, E: std::fmt::Display + std::fmt::Debug>(result: Result<T, E>, words: &[&str]) {
    let said = result.map(drop).unwrap_err().to_string();
    for word in words {
        assert!(said.contains(word), "no `{word}` in: {said}");
    }
}

#[test]
fn the_same_models_in_every_format() {
    let place = Place::new();
    let toml = r#"
# What holds for all, unless a model says otherwise.
flops_convention = "train"
params_convention = "non-embedding"

[[model]]
model = "owner/a"
params = 1_000_000
tokens = 2e9
family = "f"

[[model]]
model = "b"
params = 4e6
tokens = 8e9
flops = 1.5e17
flops_convention = "fwd"
run = "r"
"#;
    let csv = "model,params,tokens,family,flops,run,params_convention,flops_convention\n\
               owner/a,1e6,2e9,f,,,non-embedding,train\nb,4000000,8e9,,1.5e17,r,non-embedding,fwd\n";
    let jsonl = concat!(
        r#"{"name": "owner/a", "S": 1000000, "D": 2e9, "family": "f", "flops_convention": "train"}"#,
        "\n",
        r#"{"name": "b", "S": 4e6, "D": 8e9, "flops": 1.5e17, "flops_convention": "forward", "run": "r"}"#,
    );
    let files = [
        ("m.toml", toml.to_owned()),
        ("m.csv", csv.to_owned()),
        ("m.tsv", csv.replace(',', "\t")),
        ("m.jsonl", jsonl.to_owned()),
    ];
    let mut places = Vec::new();
    for (name, text) in files {
        let found = Manifest::read(&place.file(name, &text)).unwrap();
        let [a, b] = found.models() else { panic!("{name}: {:?}", found.models()) };
        assert_eq!(
            (a.name.as_str(), a.family.as_deref(), a.run.as_deref()),
            ("owner/a", Some("f"), None)
        );
        assert_eq!(
            (b.name.as_str(), b.family.as_deref(), b.run.as_deref()),
            ("b", None, Some("r"))
        );
        let params = a.params.unwrap();
        assert_eq!(
            (params.value, params.convention),
            (1e6, Some(ParameterConvention::NonEmbedding))
        );
        assert_eq!(a.compute, Compute::FromSizes(FlopsConvention::Train), "{name}");
        assert_eq!(b.tokens, Some(8e9));
        let given = Compute::Given { value: 1.5e17, convention: Some(FlopsConvention::Forward) };
        assert_eq!(b.compute, given, "{name}");
        // With its owner or without.
        assert!(found.model("a").is_some_and(|model| model.name == "owner/a"));
        assert!(found.model("other/b").is_some() && found.model("c").is_none());
        places.push([a.place.clone(), b.place.clone()]);
    }
    assert_eq!(places[0], ["line 6", "line 12"]);
    assert_eq!(places[1], ["line 2", "line 3"]);
}

#[test]
fn what_cannot_be_is_refused_with_its_line() {
    let place = Place::new();
    let one = "[[model]]\nmodel = \"a\"\n";
    for (text, words) in [
        ("model = 3\n", &["models.toml, line 1", "no TOML of models"][..]),
        ("[[model]]\nmodel = \"a\"\nparams = \n", &["line 3", "no TOML"]),
        ("[[run]]\nmodel = \"a\"\n", &["no [[model]]"]),
        ("[[model]]\nparams = 3\n", &["no column `model`", "params"]),
        (&format!("{one}{one}"), &["line 3", "`a` is there already, line 1"]),
        (&format!("{one}params = -1\n"), &["line 1", "`params` is `-1`", "above 0"]),
        (&format!("{one}tokens = \"many\"\n"), &["line 1", "`tokens` is `many`", "a number"]),
        (&format!("{one}params = 1\nparams_convention = \"active\"\n"), &["`active`", "total"]),
        (&format!("{one}flops = 1\nflops_convention = \"6ND\"\n"), &["`6ND`", "fwd or train"]),
        (
            "[[model]]\nmodel = \"a\"\nrun = \"r\"\nparams = 1\n[[model]]\nmodel = \"b\"\nrun = \"r\"\nparams = 2\n",
            &["line 5", "`a` (line 1)", "differ in params"],
        ),
        (
            "[[model]]\nmodel = \"a\"\nrun = \"r\"\ntokens = 1\n[[model]]\nmodel = \"b\"\nrun = \"r\"\ntokens = 1\n",
            &["line 5", "have as many tokens"],
        ),
    ] {
        refused(place.manifest(text), words);
    }
}

/// Runs of `sizes`, each after `steps` times a billion tokens, on two corpora: cross entropies
/// `30 N^-0.1 D^-0.05` and, on `code`, `G` times that with `G = 2 N^-0.02 D^0.004`. The models are
/// called `m{size}-{step}`.
fn checkpoints(sizes: &[u64], steps: &[u32]) -> Vec<RunTally> {
    let mut runs = Vec::new();
    for &size in sizes {
        for &step in steps {
            let (n, d) = (size as f64, 1e9 * f64::from(step));
            let base = 30.0 * n.powf(-0.1) * d.powf(-0.05);
            for (corpus, error) in
                [("web", base), ("code", base * 2.0 * n.powf(-0.02) * d.powf(0.004))]
            {
                let mut run = run(&format!("m{size}-{step}"), size, &[1]);
                run.corpus = corpus.to_owned();
                run.text_sha256 = corpus.to_owned();
                run.documents =
                    (0..4).map(|ordinal| document(ordinal, 1000, &[500], error)).collect();
                runs.push(run);
            }
        }
    }
    runs
}

fn listed(sizes: &[u64], steps: &[u32], more: impl Fn(u64, u32) -> String) -> String {
    let mut text = String::new();
    for &size in sizes {
        for &step in steps {
            let more = more(size, step);
            text += &format!("[[model]]\nmodel = \"m{size}-{step}\"\ntokens = {step}e9\n{more}\n");
        }
    }
    text
}

fn measured(runs: &[RunTally], x: Option<&ModelAxis>) -> Measurements {
    read_study(&StudySource {
        runs,
        documents: &BTreeMap::new(),
        error: ErrorMeasure::CrossEntropy,
        x,
        family: None,
        by: None,
        only: &[],
        resamples: 20,
        seed: 1,
    })
    .unwrap()
}

const SIZES: [u64; 4] = [10_000, 40_000, 160_000, 640_000];
const STEPS: [u32; 3] = [1, 2, 4];

#[test]
fn a_measured_study_is_split_into_size_and_tokens() {
    let place = Place::new();
    let runs = checkpoints(&SIZES, &STEPS);
    let text = listed(&SIZES, &STEPS, |size, _| format!("run = \"m{size}\"\n"));
    let manifest =
        place.manifest(&format!("{text}[[model]]\nmodel = \"not-yet\"\ntokens = 1e9\n")).unwrap();
    let params = ModelAxis::from_runs(&manifest, "params", &runs).unwrap();
    assert_eq!(params.in_words(), "params (non-embedding)");
    assert_eq!(params.of("m40000-2"), Some(40_000.0));
    let tokens = ModelAxis::from_runs(&manifest, "tokens", &runs).unwrap();
    let found = measured(&runs, Some(&params));
    let fit = split_measured(&found, &tokens, "web", 0.95, "study").unwrap();
    let gap = fit.distribution("code").unwrap().gap.as_ref().unwrap();
    assert_eq!((gap.along_size.slices.len(), gap.along_tokens.slices.len()), (3, 4));
    let slope = |direction: &relscale_laws::Direction| direction.slope.as_ref().unwrap().value;
    // The sums hold f64; nothing but their rounding is between these and the truth.
    assert!((slope(&gap.along_size) + 0.02).abs() < 1e-12, "{}", slope(&gap.along_size));
    assert!((slope(&gap.along_tokens) - 0.004).abs() < 1e-12);
    assert_eq!((fit.sizes, fit.params_range, fit.tokens_range), (4, (1e4, 6.4e5), (1e9, 4e9)));
    let [flag] = fit.flags.as_slice() else { panic!("{:?}", fit.flags) };
    assert_eq!(flag.code, FlagCode::NotMeasured);
    assert!(flag.message.contains("not-yet (line"), "{}", flag.message);

    // The same numbers as a table, with the sizes of the models from the manifest.
    let mut table = "model,step,corpus,loss\n".to_owned();
    for run in &runs {
        let step = run.model.rsplit('-').next().unwrap();
        let loss = run.documents[0].sum_nll / 1000.0;
        table += &format!("{},{step},{},{loss}\n", run.model, run.corpus);
    }
    let sizes = listed(&SIZES, &STEPS, |size, _| {
        format!("params = {size}\nparams_convention = \"total\"\n")
    });
    let options = SizeTokensTable {
        select: Select {
            distribution: Some("corpus".to_owned()),
            models: Some(place.file("sizes.toml", &sizes)),
            ..Select::new(&["params", "1e9*step"], &["loss"])
        },
        baseline: "web".to_owned(),
        level: 0.95,
    };
    let by_table = fit_size_tokens(&place.file("t.csv", &table), &options).unwrap();
    assert_eq!(by_table.params, "params (total)");
    let gap_by_table = by_table.distribution("code").unwrap().gap.as_ref().unwrap();
    assert!((slope(&gap_by_table.along_size) - slope(&gap.along_size)).abs() < 1e-12);
    assert!((slope(&gap_by_table.along_tokens) - slope(&gap.along_tokens)).abs() < 1e-12);
}

#[test]
fn flops_that_are_not_given_are_computed_and_said() {
    let place = Place::new();
    let runs = checkpoints(&SIZES, &[2]);
    let axis = |more: &dyn Fn(u64) -> String| {
        let manifest = place.manifest(&listed(&SIZES, &[2], |size, _| more(size))).unwrap();
        ModelAxis::from_runs(&manifest, "flops", &runs)
    };
    let said = |axis: &ModelAxis, code: FlagCode| {
        let found = axis.flags().iter().find(|flag| flag.code == code);
        found.unwrap_or_else(|| panic!("no {code:?} in {:?}", axis.flags())).message.clone()
    };

    // Nothing but tokens: S is the study's own, and 6 N D of training.
    let computed = axis(&|_| String::new()).unwrap();
    assert_eq!(computed.in_words(), "flops (train)");
    assert_eq!(computed.of("m40000-2"), Some(6.0 * 40_000.0 * 2e9));
    assert!(said(&computed, FlagCode::FlopsComputed).contains(
        "flops of 4 models are not given; they are computed as 6 N D (train), N being the non-embedding"
    ));

    // The forward pass: a third, and it stays so where all are such.
    let forward = axis(&|_| "flops_convention = \"fwd\"".to_owned()).unwrap();
    assert_eq!(
        (forward.in_words(), forward.of("m40000-2")),
        ("flops (fwd)", Some(2.0 * 40_000.0 * 2e9))
    );
    assert!(said(&forward, FlagCode::FlopsComputed).contains("2 N D (fwd)"));

    // One of each: what is of the forward pass alone is multiplied by 3, and that is said.
    let mixed = axis(&|size| {
        let word = if size < 100_000 { "fwd" } else { "train" };
        format!("flops = {size}e12\nflops_convention = \"{word}\"")
    })
    .unwrap();
    assert_eq!(mixed.in_words(), "flops (train)");
    assert_eq!((mixed.of("m10000-2"), mixed.of("m640000-2")), (Some(3e16), Some(6.4e17)));
    let words = said(&mixed, FlagCode::FlopsConverted);
    assert!(words.contains("flops of 2 models") && words.contains("m10000-2, m40000-2"), "{words}");

    // Not said by any: as given, and a flag. Said by some: refused.
    let unsaid = axis(&|size| format!("flops = {size}e12")).unwrap();
    assert_eq!((unsaid.in_words(), unsaid.of("m10000-2")), ("flops", Some(1e16)));
    assert!(
        said(&unsaid, FlagCode::ConventionUnstated)
            .contains("flops_convention says it (fwd or train)")
    );
    let some = |size| match size {
        160_000 => "flops = 1e17".to_owned(),
        _ => "flops = 2e17\nflops_convention = \"train\"".to_owned(),
    };
    refused(axis(&some), &["models.toml, line", "`m160000-2`", "flops_convention fwd or train"]);
}

#[test]
fn flops_of_several_checkpoints_of_one_run_are_not_independent() {
    let place = Place::new();
    let runs = checkpoints(&SIZES, &STEPS);
    let text = listed(&SIZES, &STEPS, |size, _| format!("run = \"m{size}\"\n"));
    let manifest = place.manifest(&text).unwrap();
    let axis = ModelAxis::from_runs(&manifest, "flops", &runs).unwrap();
    let fit =
        fit_relative(&measured(&runs, Some(&axis)), &RelativeOptions::new("web"), None).unwrap();
    assert_eq!((fit.x.as_str(), fit.files.len()), ("flops (train)", 1));
    let flags = &fit.families[0].flags;
    let shared = flags.iter().find(|flag| flag.code == FlagCode::SharedRun).unwrap();
    assert!(
        shared.message.starts_with("12 models are checkpoints of 4 training runs (m10000, m160000")
    );
}

#[test]
fn parameters_of_a_study_are_those_of_its_weights() {
    let place = Place::new();
    let runs = checkpoints(&SIZES, &[2]);
    let axis = |more: &dyn Fn(u64) -> String| {
        ModelAxis::from_runs(
            &place.manifest(&listed(&SIZES, &[2], |size, _| more(size))).unwrap(),
            "params",
            &runs,
        )
    };
    // Rounded for people, counted by the weights.
    let rounded = axis(&|size| format!("params = {}", size as f64 * 1.004)).unwrap();
    assert_eq!(rounded.of("m160000-2"), Some(160_000.0));
    // The embeddings counted too, and not said.
    refused(
        axis(&|size| format!("params = {}", 2 * size)),
        &[
            "models.toml, line 1",
            "`m10000-2` has 20000 params",
            "10000 that are no embeddings",
            "total",
        ],
    );
    // Said: taken.
    let total =
        axis(&|size| format!("params = {}\nparams_convention = \"total\"", 2 * size)).unwrap();
    assert_eq!((total.in_words(), total.of("m10000-2")), ("params (total)", Some(20_000.0)));
    // One fit, two counts: the others' are the study's own.
    let mixed = |size: u64| match size {
        640_000 => "params = 1e6\nparams_convention = \"total\"".to_owned(),
        _ => String::new(),
    };
    refused(
        axis(&mixed),
        &["line", "total for `m640000-2`, but non-embedding for `m10000-2` (line 1)"],
    );
}

#[test]
fn families_are_those_of_the_manifest_and_unknown_models_are_named() {
    let place = Place::new();
    let mut runs = checkpoints(&SIZES, &[2]);
    let family = |size| if size < 100_000 { "small" } else { "large" };
    let manifest = place
        .manifest(&listed(&SIZES, &[2], |size, _| format!("family = \"{}\"", family(size))))
        .unwrap();
    manifest.set_families(&mut runs);
    let found = measured(&runs, None);
    let names: Vec<&str> = found.families.iter().map(|family| family.name.as_str()).collect();
    assert_eq!(names, ["large", "small"]);
    let tokens = ModelAxis::from_runs(&manifest, "tokens", &runs).unwrap();
    refused(split_measured(&found, &tokens, "web", 0.95, "study"), &["`family`", "large, small"]);

    let priced = place
        .manifest(&listed(&SIZES, &[2], |size, _| format!("dollars = {}", size / 1000)))
        .unwrap();
    let axis = ModelAxis::from_runs(&priced, "2*dollars*tokens", &runs).unwrap();
    assert_eq!(axis.of("m160000-2"), Some(2.0 * 160.0 * 2e9));

    let few = place.manifest(&listed(&SIZES[..2], &[2], |_, _| String::new())).unwrap();
    refused(
        ModelAxis::from_runs(&few, "tokens", &runs),
        &["models.toml: no row has model `m160000-2`", "it has m10000-2, m40000-2"],
    );
    let bare = place.manifest(&listed(&SIZES, &[2], |_, _| String::new())).unwrap();
    refused(
        ModelAxis::from_runs(&bare, "dollars", &runs),
        &["no column `dollars`", "model, tokens"],
    );
    let none = place
        .manifest(&listed(&SIZES, &[2], |_, _| String::new()).replacen("tokens = 2e9\n", "", 1))
        .unwrap();
    refused(ModelAxis::from_runs(&none, "tokens", &runs), &["line 1", "`m10000-2` has no tokens"]);
    refused(
        ModelAxis::from_runs(&none, "flops", &runs),
        &["line 1", "`m10000-2` has neither flops nor both params and tokens"],
    );
}

#[test]
fn a_table_takes_what_it_lacks_from_the_manifest() {
    let place = Place::new();
    let mut table = "model,corpus,loss,accuracy\n".to_owned();
    for (at, model) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
        let flops = 1e18 * 10.0_f64.powi(at as i32);
        let accuracy = 0.3 + 0.1 * at as f64;
        table += &format!(
            "{model},web,{},{accuracy}\n{model},code,{},{accuracy}\n",
            flops.powf(-0.05),
            2.0 * flops.powf(-0.07)
        );
    }
    let mut models = "flops_convention = \"train\"\nfamily = \"llama-like\"\n".to_owned();
    for (at, model) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
        models += &format!("[[model]]\nmodel = \"{model}\"\nflops = 1e{}\n", 18 + at);
    }
    let (table, models) = (place.file("t.csv", &table), place.file("models.toml", &models));
    let options = RelativeTable {
        select: Select {
            distribution: Some("corpus".to_owned()),
            models: Some(models.clone()),
            ..Select::new(&["flops"], &["loss"])
        },
        ..RelativeTable::default()
    };
    let found = read_table(&table, &options).unwrap();
    assert_eq!(
        (found.x.as_str(), found.families[0].name.as_str()),
        ("flops (train)", "llama-like")
    );
    assert_eq!(found.files.len(), 2);
    let fit = fit_relative(&found, &RelativeOptions::new("web"), None).unwrap();
    let slope = fit.families[0].gaps[0].fit().unwrap().delta_beta.value;
    assert!((slope + 0.02).abs() < 1e-12, "{slope}");

    let web = ("corpus".to_owned(), "web".to_owned());
    let stages = StagesOptions {
        select: Select {
            models: Some(models),
            only: vec![web],
            ..StagesOptions::new("flops", "loss", "accuracy").select
        },
        ..StagesOptions::new("flops", "loss", "accuracy")
    };
    let fit = fit_stages(&table, &stages).unwrap();
    assert_eq!((fit.x.as_str(), fit.groups[0].points[4].x), ("flops (train)", 1e22));

    let few = place.file("few.toml", "[[model]]\nmodel = \"a\"\nflops = 1\n");
    refused(
        read_table(
            &table,
            &RelativeTable {
                select: Select { models: Some(few), ..options.clone().select },
                ..options.clone()
            },
        ),
        &["few.toml: no row has model `b`"],
    );
    let nameless = place.file("nameless.csv", "corpus,loss\nweb,1\n");
    refused(read_table(&nameless, &options), &["nameless.csv", "no column `model`"]);
}
