//! The files of `studies/`, each run whole on stand-ins: checkpoints of the family's architecture
//! with a few thousand weights, a few sentences in place of each text, all where the file looks for
//! it (the Hub's cache, the folder that a user fills). What comes out means nothing; that every
//! step goes through and that every expected value has its place does. Published tables are in the
//! repository, and there the values must agree.

mod common;
mod stand_ins;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::Place;
use serde_json::Value;
use stand_ins::StandIns;
use toml::Table;

/// What of a study holds without the real models.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Every expected value has its place.
    Found,
    /// Every expected value is as expected.
    Agrees,
}

/// A test a study, and the list of all of them.
macro_rules! studies {
    ($($test:ident: $name:literal, $tokens:literal, $outcome:ident;)*) => {
        const STUDIES: &[&str] = &[$($name),*];

        $(
            #[test]
            fn $test() {
                whole($name, $tokens, Outcome::$outcome);
            }
        )*
    };
}

// Tokens of each text. Questions are scored whole: their stand-ins are few.
studies! {
    shipped: "shipped", 600, Found;
    rank_law: "rank-law", 200, Found;
    gpt2_wikipedia_paper: "gpt2-wikipedia-paper", 400, Found;
    marin_dclm: "marin-dclm", 1, Agrees;
    marin_comma: "marin-comma", 1, Agrees;
    marin_nemotron: "marin-nemotron", 1, Found;
    mmlu: "mmlu", 1000000, Found;
    ice: "ice", 150, Found;
    risk: "risk", 1000000, Found;
    delphi: "delphi", 200, Found;
    datadecide: "datadecide", 200, Found;
    pythia_mamba: "pythia-mamba", 200, Found;
    polypythias: "polypythias", 200, Found;
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names of the study files, and those of the manifests that lie beside them.
fn files() -> [BTreeSet<String>; 2] {
    let names = fs::read_dir(repository().join("studies")).unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.strip_suffix(".toml").map(str::to_owned)
    });
    let (manifests, studies) = names.partition(|name| name.ends_with("-models"));
    [studies, manifests]
}

/// Runs a study whole in a copy of its folder, and looks whether what is expected is there.
fn whole(name: &str, tokens: u64, outcome: Outcome) {
    let place = Place::new();
    let from = repository();
    for folder in ["studies", "testdata/published/marin", "assets"] {
        fs::create_dir_all(place.path(&format!("repository/{folder}"))).unwrap();
    }
    let copy = |what: &str| {
        fs::copy(from.join(what), place.path("repository").join(what)).unwrap();
    };
    let [_, manifests] = files();
    copy(&format!("studies/{name}.toml"));
    manifests.iter().for_each(|manifest| copy(&format!("studies/{manifest}.toml")));
    copy("testdata/published/marin/isoflops.csv");
    let text = fs::read_to_string(from.join(format!("studies/{name}.toml"))).unwrap();
    let study: Table = text.parse().unwrap();
    StandIns::new(&place, &study).put();

    // The shipped family stays where it is: it is its own stand-in.
    let file = match name {
        "shipped" => from.join("studies/shipped.toml").to_str().unwrap().to_owned(),
        _ => format!("repository/studies/{name}.toml"),
    };
    let tokens = format!("--tokens={tokens}");
    let run = place.run(&["run", &file, "--offline", &tokens, "--out", "study"]);
    assert_eq!(run.code, Some(0), "{}", run.screen());
    assert!(place.path("study/report.html").is_file(), "{}", run.screen());

    let check = place.run(&["check", "study", "--json", "rows.json"]);
    let rows: Value =
        serde_json::from_slice(&fs::read(place.path("rows.json")).unwrap_or_default())
            .unwrap_or_else(|error| panic!("{error}: {}", check.screen()));
    let rows = rows.as_array().unwrap();
    let expected = study["expect"].as_array().unwrap();
    assert_eq!(rows.len(), expected.len(), "{}", check.screen());
    let wrong: Vec<&Value> = rows
        .iter()
        .filter(|row| match outcome {
            Outcome::Found => row["verdict"] == "missing",
            Outcome::Agrees => row["verdict"] != "agrees",
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{}", check.screen());
}

#[test]
fn no_study_is_left_out() {
    let [studies, _] = files();
    assert_eq!(studies, STUDIES.iter().map(|name| (*name).to_owned()).collect());
}

/// Each says who it is, what it costs and whom it believes; its keys are flags of this program.
#[test]
fn studies_say_what_a_reader_should_know() {
    let place = Place::new();
    for name in STUDIES {
        let path = repository().join(format!("studies/{name}.toml"));
        let printed = place.run(&["run", path.to_str().unwrap(), "--print"]);
        assert_eq!(printed.code, Some(0), "{}", printed.screen());
        let study: Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        assert_eq!(study["name"].as_str(), Some(*name));
        let cost = &study["cost"];
        let how = cost["how"].as_str().unwrap();
        assert!(how.len() > 40, "{name}: {how}");
        assert!(!study["sources"].as_array().unwrap().is_empty(), "{name}");
        for expected in study["expect"].as_array().unwrap() {
            assert!(expected["source"].as_str().unwrap().len() > 20, "{name}: {expected}");
        }
        let brought = toml::to_string(&study).unwrap();
        let brings = brought.contains("\"data/") || brought.contains("=data/");
        assert_eq!(brings, study.contains_key("needs"), "{name}: what a user brings is in needs");
    }
}
