//! `relscale demo`: the whole job, on tiny models in place of the shipped ones.

mod common;

use common::{Place, files};
use relscale_testkit::TinyModel;

#[test]
fn the_whole_job_and_again() {
    let place = Place::new();
    for (number, width) in [8, 16, 24].into_iter().enumerate() {
        let model =
            TinyModel { width, hidden: 2 * width, seed: number as u64, ..TinyModel::default() };
        place.model(&format!("tiny-{width}"), &model);
    }
    let arguments = ["demo", "--assets", "models", "--tokens", "300", "--out", "shown"];
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    for corpus in ["crates-code", "crates-docs", "crates-markdown"] {
        assert!(outcome.out.contains(corpus), "{}", outcome.screen());
    }
    assert!(outcome.out.contains("shown/report.html") && outcome.out.contains("shown/laws.json"));
    for file in ["study.json", "laws.json", "report.html"] {
        assert!(place.path("shown").join(file).is_file(), "{file}");
    }

    let runs = files(&place.path("shown/runs"));
    let again = place.run(&arguments);
    assert_eq!((again.code, &again.out), (Some(0), &outcome.out));
    assert!(again.err.contains("measured before"), "{}", again.screen());
    assert!(runs == files(&place.path("shown/runs")));
}

/// The real family, on a few tokens: what the command does is what its file says.
#[test]
fn the_demo_is_a_study_file() {
    let place = Place::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/shipped.toml");
    for arguments in [
        ["demo", "--tokens", "300", "--out", "shown"],
        ["run", file, "--tokens=300", "--out", "run"],
    ] {
        let outcome = place.run(&arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    }
    for result in ["laws.json", "relative.json"] {
        let [one, other] =
            ["shown", "run"].map(|study| std::fs::read(place.path(study).join(result)).unwrap());
        assert!(one == other, "{result}");
    }
    assert!(place.path("run/report.html").is_file());
}

/// A machine without the crates, on which cargo can fetch nothing: the repository's own text, under
/// names of its own.
#[test]
fn without_the_crates_the_repository_is_measured() {
    let place = Place::new();
    for (number, width) in [8, 16, 24].into_iter().enumerate() {
        let model =
            TinyModel { width, hidden: 2 * width, seed: number as u64, ..TinyModel::default() };
        place.model(&format!("tiny-{width}"), &model);
    }
    let bare = |cargo: Option<&str>| {
        let mut command =
            place.command(&["demo", "--assets", "models", "--tokens", "300", "--out", "shown"]);
        command.env("CARGO_HOME", place.path("empty")).env("CARGO_NET_OFFLINE", "true");
        if let Some(cargo) = cargo {
            command.env("CARGO", cargo);
        }
        let output = command.output().unwrap();
        (
            output.status.code(),
            place.redact(&output.stdout),
            place.redact(&output.stderr).replace('\n', " "),
        )
    };
    let (code, out, err) = bare(None);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        err.contains("warning: the held-out crates are not to be had: ")
            && err.contains("own-docs"),
        "{err}"
    );
    for corpus in ["own-code", "own-docs", "own-markdown"] {
        assert!(out.contains(corpus), "{out}");
    }
    assert!(!out.contains("crates-code"), "{out}");
    let (code, _, err) = bare(Some("no-such-program"));
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("cargo cannot be started"), "{err}");
}

#[test]
fn a_family_that_is_not_there() {
    let place = Place::new();
    place
        .run(&["demo", "--assets", "nowhere"])
        .refuses(3, &["nowhere: the shipped family is not there", "hint: run from a checkout"]);
    assert!(!place.path("demo").exists());
}
