//! Plans in the forms of other trainers. The same files were read by torchtitan 0.2.2 itself, which
//! built all 85 models with the planned number of parameters, and by PyYAML:
//! `tools/peers/plan_exports.py`.

use relscale_sweep::error::Error;
use relscale_sweep::export::{self, Exported};
use relscale_sweep::plan::{self, Plan, PlannedRun, SweepRecipe};

fn marin() -> Plan {
    plan::build(&plan::preset("marin").unwrap()).unwrap()
}

/// The preset for a CPU, with attention over whole sequences.
fn small() -> Plan {
    plan::build(&SweepRecipe { window: None, ..plan::preset("small").unwrap() }).unwrap()
}

fn file<'a>(exported: &'a Exported, name: &str) -> &'a str {
    let found = exported.files.iter().find(|(path, _)| path.to_str() == Some(name));
    &found.unwrap_or_else(|| panic!("{name} is missing")).1
}

/// Looked at once, and parsed by PyYAML; the version of this program is taken out.
#[test]
fn a_levanter_file_is_the_golden_one() {
    let exported = export::plan("levanter", &marin()).unwrap();
    assert_eq!(exported.files.len(), 85);
    let same =
        |text: &str| text.replace(concat!("relscale ", env!("CARGO_PKG_VERSION")), "relscale");
    let golden = include_str!("exports/1e18-d512-L6-B32.yaml");
    assert_eq!(same(file(&exported, "1e18-d512-L6-B32.yaml")), same(golden));
    assert!(exported.differences.is_empty());
}

#[test]
fn a_plain_llama_is_told_as_one_and_what_differs_is_said_in_every_file() {
    let exported = export::plan("levanter", &small()).unwrap();
    assert!(exported.differences[0].contains("decays no embedding"), "{:?}", exported.differences);
    for (path, text) in &exported.files {
        for line in [
            "  type: llama\n",
            "  tie_word_embeddings: true\n",
            "    type: default\n",
            "  type: adam\n",
        ] {
            assert!(text.contains(line), "{line} is not in {}", path.display());
        }
        assert!(text.contains("# Differs from the plan: Levanter decays"), "{}", path.display());
        assert!(!text.contains("adamc") && text.contains(" training FLOPs. This run"));
    }
}

#[test]
fn torchtitan_files_are_toml_with_the_numbers_of_the_plan() {
    let plan = marin();
    let exported = export::plan("torchtitan", &plan).unwrap();
    assert_eq!(exported.files.len(), 86);
    let flavors = file(&exported, "relscale_flavors.py");
    for run in &plan.runs {
        let text = file(&exported, &format!("{}.toml", run.name));
        let told: toml::Table =
            text.parse().unwrap_or_else(|error| panic!("{}: {error}", run.name));
        let number = |section: &str, key: &str| told[section][key].as_float().unwrap();
        let whole = |section: &str, key: &str| told[section][key].as_integer().unwrap();
        let optimiser = &run.optimiser;
        assert_eq!(number("optimizer", "lr"), optimiser.learning_rate);
        assert_eq!(number("optimizer", "beta2"), optimiser.beta2);
        assert_eq!(number("optimizer", "eps"), 1e-15);
        assert_eq!(number("training", "max_norm"), 1.0);
        assert_eq!(whole("training", "global_batch_size"), run.batch as i64);
        assert_eq!(whole("training", "steps"), i64::from(run.steps));
        assert_eq!(whole("training", "seq_len"), 4096);
        assert_eq!(
            whole("lr_scheduler", "warmup_steps"),
            (0.1 * f64::from(run.steps)).round() as i64
        );
        assert_eq!(told["experimental"]["custom_import"].as_str(), Some("relscale_flavors"));
        let flavor = told["model"]["flavor"].as_str().unwrap();
        let model = &run.architecture;
        let sizes = format!(
            "\"{flavor}\": Qwen3ModelArgs(\n            vocab_size=128256, max_seq_len=4096, dim={}, n_layers={},",
            model.width, model.layers
        );
        assert!(flavors.contains(&sizes), "{sizes}");
    }
    assert_eq!(exported.differences.len(), 3, "{:?}", exported.differences);
}

#[test]
fn json_files_hold_the_runs() {
    let plan = small();
    let exported = export::plan("json", &plan).unwrap();
    assert_eq!(exported.files.len(), plan.runs.len());
    for ((_, text), run) in exported.files.iter().zip(&plan.runs) {
        assert_eq!(&serde_json::from_str::<PlannedRun>(text).unwrap(), run);
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(value["recipe"]["flops"], "train");
    }
}

#[test]
fn a_window_is_not_dropped_in_silence() {
    let windowed = plan::build(&plan::preset("small").unwrap()).unwrap();
    for form in ["levanter", "torchtitan"] {
        let error = export::plan(form, &windowed).unwrap_err();
        assert!(matches!(error, Error::Unexportable { .. }));
        let error = error.to_string();
        assert!(error.contains("16 tokens") && error.contains("--window none"), "{error}");
    }
    export::plan("json", &windowed).unwrap();
    let error = export::plan("megatron", &windowed).unwrap_err().to_string();
    assert!(error.contains("levanter, torchtitan, json"), "{error}");
}
