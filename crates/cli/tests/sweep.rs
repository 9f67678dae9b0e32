//! `relscale sweep`: recipes, plans and training.

mod common;

use common::Place;
use relscale_testkit::data::published;
use serde_json::Value;

#[test]
fn recipes_are_listed_with_their_sizes() {
    let place = Place::new();
    let outcome = place.run(&["sweep", "list"]);
    assert_eq!(outcome.code, Some(0));
    outcome.shows("sweep-list");
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let place = Place::new();
    place.run(&["sweep", "train", "large", "--out", "family"]).refuses(3, &["large", "small"]);
    place
        .run(&["sweep", "train", "small", "--size", "1b", "--out", "family"])
        .refuses(3, &["1b", "3k, 9k, 28k"]);
    place.run(&["sweep", "train", "small"]).refuses(2, &["--out"]);
    place
        .run(&["sweep", "train", "small", "--out", "family", "--steps", "0"])
        .refuses(2, &["0 is not in 1.."]);
    assert!(!place.path("family").exists());
}

#[test]
fn a_plan_is_shown_and_written() {
    let place = Place::new();
    let outcome = place.run(&[
        "sweep",
        "plan",
        "--preset",
        "marin",
        "--budgets",
        "1e18,3e18",
        "--flops-per-second",
        "4e14",
        "--out",
        "marin.json",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("sweep-plan");
    let plan: Value =
        serde_json::from_slice(&std::fs::read(place.path("marin.json")).unwrap()).unwrap();
    assert_eq!(plan["runs"].as_array().unwrap().len(), 15);
    assert_eq!(
        (plan["recipe"]["flops"].as_str(), plan["runs"][0]["parameters"]["total"].as_u64()),
        (Some("forward"), Some(156_508_160))
    );
    // For machines: the same plan, alone on standard output; a folder is made for the file.
    let piped = place.run(&[
        "sweep",
        "plan",
        "--preset",
        "marin",
        "--budgets",
        "1e18,3e18",
        "--flops-per-second",
        "4e14",
        "--json",
        "-",
        "--out",
        "a/b",
    ]);
    let written = std::fs::read_to_string(place.path("a/b/plan.json")).unwrap();
    assert_eq!(piped.out, written);
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), plan);
}

#[test]
fn what_is_overridden_is_planned() {
    let place = Place::new();
    let outcome = place.run(&[
        "sweep",
        "plan",
        "--preset",
        "small",
        "--budgets",
        "1e12",
        "--flops",
        "fwd",
        "--widths",
        "16,33,64",
        "--vocabulary",
        "512",
        "--sequence",
        "128",
        "--window",
        "none",
        "--z-loss",
        "1e-4",
        "--seed",
        "7",
        "--tokens-per-second",
        "1e5",
        "--json",
        "-",
    ]);
    let plan: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(
        (plan["runs"].as_array().unwrap().len(), plan["dropped"][0]["width"].as_u64()),
        (2, Some(33))
    );
    let (recipe, run) = (&plan["recipe"], &plan["runs"][0]);
    assert_eq!((recipe["flops"].as_str(), recipe["window"].is_null()), (Some("forward"), true));
    assert_eq!(
        (run["seed"].as_u64(), run["architecture"]["vocabulary"].as_u64()),
        (Some(7), Some(512))
    );
    assert_eq!(run["architecture"]["sequence"].as_u64(), Some(128));
    assert_eq!(run["optimiser"]["z_loss"].as_f64(), Some(1e-4));
    assert_eq!(run["seconds"].as_f64().unwrap(), run["tokens"].as_f64().unwrap() / 1e5);
}

#[test]
fn a_plan_that_cannot_be_is_refused() {
    let place = Place::new();
    let plan = |more: &[&str]| place.run(&[&["sweep", "plan", "--preset"], more].concat());
    plan(&["large"]).refuses(2, &["large", "marin, marin-small, small"]);
    plan(&["marin", "--budgets", "0"]).refuses(3, &["a budget of 0 FLOPs"]);
    plan(&["marin", "--z-loss=-1"]).refuses(3, &["a z-loss of -1"]);
    plan(&["marin", "--flops", "both"]).refuses(2, &["fwd or train"]);
    plan(&["small", "--window", "wide"]).refuses(2, &["none"]);
    plan(&["small", "--tokens-per-second", "0"]).refuses(3, &["a rate of 0"]);
    plan(&["marin", "--time"]).refuses(3, &["9.1e13", "--flops-per-second"]);
    plan(&["small", "--time", "--tokens-per-second", "1"]).refuses(2, &["cannot be used with"]);
}

#[test]
fn a_plan_is_exported_in_the_forms_of_other_trainers() {
    let place = Place::new();
    let plan = |more: &[&str]| place.run(&[&["sweep", "plan", "--preset"], more].concat());
    let outcome = plan(&[
        "marin",
        "--budgets",
        "1e18",
        "--out",
        "out",
        "--export",
        "levanter,torchtitan,json",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("sweep-export");
    for file in [
        "plan.json",
        "levanter/1e18-d640-L7-B16.yaml",
        "torchtitan/1e18-d640-L7-B16.toml",
        "torchtitan/relscale_flavors.py",
        "json/1e18-d640-L7-B16.json",
    ] {
        assert!(place.path("out").join(file).is_file(), "{file}");
    }
    // Refused before anything is written.
    plan(&["small", "--out", "windowed", "--export", "json,levanter"])
        .refuses(3, &["16 tokens", "--window none"]);
    assert!(!place.path("windowed").exists());
    plan(&["marin", "--export", "json"]).refuses(2, &["--out"]);
    plan(&["marin", "--export", "megatron", "--out", "out"]).refuses(2, &["megatron"]);
    plan(&["small", "--widths", "512,512"])
        .refuses(3, &["width 512 stands there twice", "give each once"]);
    plan(&["marin", "--export", "json", "--out", "plan.json"])
        .refuses(3, &["plan.json is one", "a folder"]);
}

#[test]
fn collect_reads_runs_of_many_kinds_into_one_table() {
    let place = Place::new();
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/collect");
    for (from, to) in [
        ("huggingface/tiny/trainer_state.json", "hf/trainer_state.json"),
        ("huggingface/tiny/config.json", "hf/config.json"),
        (
            "tensorboard/restarted/events.out.tfevents.1.host.1.0",
            "tb/events.out.tfevents.1.host.1.0",
        ),
    ] {
        std::fs::create_dir_all(place.path("logs").join(to).parent().unwrap()).unwrap();
        std::fs::copy(data.join(from), place.path("logs").join(to)).unwrap();
    }
    place.text(
        "export.csv",
        "Name,State,parameter_count,throughput/total_tokens,eval/loss\nbig,finished,2000000,4000000000,2.5\nmad,failed,1000000,4000000000,NaN\n",
    );
    let outcome = place.run(&["sweep", "collect", "logs", "web=export.csv", "--out", "runs.csv"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    outcome.shows("sweep-collect");
    let table = std::fs::read_to_string(place.path("runs.csv")).unwrap();
    assert_eq!(table.lines().count(), 5, "{table}");
    assert!(
        table.lines().nth(3).unwrap().starts_with("big,web,,,2000000,total,4000000000,"),
        "{table}"
    );

    place
        .run(&["sweep", "collect", "nowhere", "--out", "runs.csv"])
        .refuses(3, &["nowhere", "hint: check the path"]);
    place.text("notes.csv", "x,y\n1,2\n");
    place
        .run(&["sweep", "collect", "notes.csv", "--out", "runs.csv"])
        .refuses(3, &["notes.csv, line 1", "columns are: x, y"]);
    place
        .run(&["sweep", "collect", "logs", "--out", "runs.xlsx"])
        .refuses(3, &["runs.xlsx", ".parquet"]);
    place
        .run(&["sweep", "collect", "logs", "--out", "r.csv", "--budgets", "0"])
        .refuses(2, &["above 0"]);
    std::fs::create_dir(place.path("empty")).unwrap();
    place
        .run(&["sweep", "collect", "empty", "--out", "runs.csv"])
        .refuses(3, &["no run in it", "hint: give"]);
}

#[test]
fn what_collect_writes_without_groups_fit_reads_in_every_format() {
    let place = Place::new();
    let mut export =
        "\"Name\",\"State\",\"parameter_count\",\"throughput/total_tokens\",\"throughput/total_gflops\",\"eval/loss\"\n"
            .to_owned();
    for (budget, best) in [(1e18_f64, 8e7_f64), (1e19, 2.4e8)] {
        for step in -2..=2_i32 {
            let n = (best * 2_f64.powi(step)).round();
            let loss = 3.5 + 0.05 * f64::from(step * step) - 0.5 * (budget / 1e18).log10();
            let tokens = (budget / 6.0 / n).round();
            export += &format!(
                "\"r{budget:e}{step}\",\"finished\",\"{n}\",\"{tokens}\",\"{:e}\",\"{loss}\"\n",
                budget / 1e9
            );
        }
    }
    export += "\"dead\",\"crashed\",\"6e7\",\"2.7e9\",\"1e9\",\"9.9\"\n";
    place.text("export.csv", &export);
    let mut shown = Vec::new();
    for out in ["runs.csv", "runs.jsonl", "runs.parquet", "sweep/runs.csv"] {
        std::fs::create_dir_all(place.path("sweep")).unwrap();
        let collected = place.run(&["sweep", "collect", "export.csv", "--out", out]);
        assert_eq!(collected.code, Some(0), "{}", collected.screen());
        let fitted = match out.strip_suffix("/runs.csv") {
            Some(folder) => place.run(&["sweep", "fit", folder, "--resamples", "20"]),
            None => place.run(&["sweep", "fit", "--table", out, "--resamples", "20"]),
        };
        assert_eq!(fitted.code, Some(0), "{}", fitted.screen());
        assert!(
            fitted.out.contains("dead: unfinished") && fitted.out.contains("10 runs"),
            "{}",
            fitted.screen()
        );
        shown.push(fitted.out.replace(out, "TABLE"));
    }
    assert_eq!((&shown[0], &shown[0]), (&shown[1], &shown[2]));
}

#[test]
fn collect_tells_what_it_does_not_read() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("logs/run")).unwrap();
    place.text("logs/run/metrics.csv", "step,val_loss\n1,3\n2,2.5\n");
    place.text("logs/notes.csv", "x,y\n1,2\n");
    place.text("logs/bad.jsonl", "{\"step\": 1}\nno json\n{\"step\": 2}\n");
    let outcome = place.run(&["sweep", "collect", "logs", "--out", "runs.csv"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    assert!(outcome.err.contains("not read: logs/notes.csv"), "{}", outcome.screen());
    assert!(
        outcome.out.contains("bad") && outcome.out.contains("bad.jsonl, line 2"),
        "{}",
        outcome.screen()
    );
}

#[test]
fn what_collect_writes_fit_reads() {
    let text = std::fs::read_to_string(published("marin/runs-comma.csv")).unwrap();
    let place = Place::new();
    // Some runs of it are of no budget of the grid; the fit leaves them out. Two that were trained
    // once more beside the grid, to validate it, are no part of the published fit.
    let grid: Vec<&str> = text.lines().filter(|line| !line.contains("scaling-ladder")).collect();
    place.text("runs-comma.csv", &grid.join("\n"));
    for table in ["runs.csv", "runs.jsonl", "runs.parquet"] {
        let collected = place.run(&[
            "sweep",
            "collect",
            "comma=runs-comma.csv",
            "--logged-flops",
            "train",
            "--logged-params",
            "total",
            "--budgets",
            "3e18,9e18,18e18,3e19,9e19,18e19,3e20",
            "--out",
            table,
        ]);
        assert_eq!(collected.code, Some(0), "{}", collected.screen());
        let fit = place.run(&["sweep", "fit", "--table", table, "--resamples", "20"]);
        assert_eq!(fit.code, Some(0), "{}", fit.screen());
        assert!(fit.out.contains("C counts training FLOPs; N all parameters"), "{}", fit.out);
        // The published exponents of the parabolas: D* by tokens, N* by parameters.
        for line in ["D*          parabola   0.572", "N*          parabola   0.4049"] {
            assert!(fit.out.contains(line), "{line}: {}", fit.out);
        }
    }
}
