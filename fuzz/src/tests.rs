//! The targets without an engine: seeds, and simple damage.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::mutate::{Draws, damaged};
use crate::seeds::root;
use crate::targets::{TARGETS, Target};

/// Damaged inputs of a target. Fits take longer than readers.
fn rounds(name: &str) -> u64 {
    match std::env::var("RELSCALE_FUZZ_ROUNDS").map(|text| text.parse()) {
        Ok(Ok(rounds)) => rounds,
        _ if ["study", "stages", "isoflop", "laws"].contains(&name) => 100,
        _ => 1000,
    }
}

/// All seeds, then damage. The first input that the target cannot bear is kept as a file.
fn run(target: &Target) {
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty(), "{} has no seed", target.name);
    let bear = |bytes: &[u8], what: &str| {
        if catch_unwind(AssertUnwindSafe(|| (target.run)(bytes))).is_err() {
            let kept = std::env::temp_dir().join(format!("relscale-fuzz-{}", target.name));
            std::fs::write(&kept, bytes).expect("a folder for files");
            panic!("{}, {what}: kept as {}", target.name, kept.display());
        }
    };
    for (number, seed) in seeds.iter().enumerate() {
        bear(seed, &format!("seed {number}"));
    }
    for round in 0..rounds(target.name) {
        let draws = &mut Draws::new(round);
        let (seed, other) = (&seeds[draws.below(seeds.len())], &seeds[draws.below(seeds.len())]);
        bear(&damaged(seed, other, draws), &format!("round {round}"));
    }
}

/// One test a target, so that they run side by side and a failure names it.
macro_rules! tests {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(TARGETS.iter().find(|target| target.name == stringify!($name)).expect("a target of the list"));
        })*

        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

tests! {
    safetensors pickle shards gguf config model
    text rows parquet token_ids mmlu anthropic ice crate_source crate_licence held_out corpus_spec
    tokenizer_json vocab_and_merges special_tokens
    part table cells study
    user_table sizes_table harness manifest isoflop relative stages size_tokens
    saved laws
    tensorboard tensorboard_message trainer_state levanter metrics sweep training training_checkpoint
}

#[test]
fn every_target_has_a_program_a_line_of_the_manifest_and_a_test() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names.len(), TARGETS.len());
    assert_eq!(names, TESTED.iter().copied().collect());
    let programs = std::fs::read_dir(root().join("fuzz/fuzz_targets")).expect("the programs");
    let programs: Vec<String> =
        programs.flatten().map(|entry| entry.file_name().to_string_lossy().replace(".rs", "")).collect();
    assert_eq!(names, programs.iter().map(String::as_str).collect());
    let manifest = include_str!("../Cargo.toml");
    let missing = names.iter().find(|name| !manifest.contains(&format!("{{ name = \"{name}\"")));
    assert_eq!(missing, None);
    for name in programs {
        let text =
            std::fs::read_to_string(root().join(format!("fuzz/fuzz_targets/{name}.rs"))).expect("a program");
        assert!(text.contains(&format!("::{name}(data)")), "{name}.rs runs another target");
    }
}

/// Else the tests would try other versions of the libraries than the product has.
#[test]
fn the_lock_file_pins_what_the_workspace_pins() {
    let packages = |text: &str| -> BTreeSet<(String, String)> {
        let value = |block: &str, key: &str| {
            let line = block.lines().find_map(|line| line.strip_prefix(key))?;
            Some(line.trim_matches(['"', ' ', '=']).to_owned())
        };
        text.split("[[package]]")
            .filter_map(|block| Some((value(block, "name = ")?, value(block, "version = ")?)))
            .collect()
    };
    let product = packages(&String::from_utf8(crate::seeds::read("Cargo.lock")).expect("UTF-8"));
    let ours = packages(include_str!("../Cargo.lock"));
    assert!(ours.len() > 100);
    let own = ["relscale-fuzz", "libfuzzer-sys", "arbitrary"];
    let others: Vec<_> =
        ours.difference(&product).filter(|(name, _)| !own.contains(&name.as_str())).collect();
    assert!(others.is_empty(), "{others:?}");
}
