//! Texts as people have them, through the program: what it reads, what it warns of, what it refuses
//! and how.

mod common;

use std::fs;

use common::Place;
use relscale_testkit::TinyModel;

fn place() -> Place {
    let place = Place::new();
    place.model("tiny", &TinyModel::default());
    place
}

fn measure(corpora: &[&str]) -> Vec<String> {
    let mut arguments = vec!["measure", "--model", "models", "--out", "study", "--corpus"];
    arguments.extend(corpora);
    arguments.into_iter().map(str::to_owned).collect()
}

fn run(place: &Place, corpora: &[&str]) -> common::Outcome {
    let arguments = measure(corpora);
    place.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_folder_says_what_it_leaves_out_and_a_pattern_names_its_files() {
    let place = place();
    fs::create_dir(place.path("texts")).unwrap();
    place.text("texts/a.txt", "The first text of two.");
    place.text("texts/b.TXT", "The second text, in capitals.");
    place.text("texts/c.rs", "fn main() {}");
    let outcome = run(&place, &["texts", "rows=texts/?.txt"]);
    assert_ne!(outcome.code, Some(0), "`?` begins keys: {}", outcome.screen());
    let outcome = run(&place, &["texts", "both=texts/[ab].*"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.screen());
    let left_out = "warning: texts: 2 files of text are read, 1 others left out (1 .rs)";
    assert_eq!(outcome.err.matches(left_out).count(), 1, "{}", outcome.screen());
    assert!(outcome.err.contains("both: 2 documents"), "{}", outcome.screen());
}

#[test]
fn a_file_of_the_users_is_never_to_be_deleted() {
    let place = place();
    let lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    for name in ["x.parquet", "y.jsonl", "z.txt", "v.arrow"] {
        place.text(name, lfs);
        let outcome = run(&place, &[name]);
        outcome.refuses(3, &[name, "Git LFS pointer", "hint: ", "git lfs pull"]);
        assert!(!outcome.err.contains("delete"), "{}", outcome.screen());
    }
    place.text("cut.parquet", "PAR1 and no more");
    let outcome = run(&place, &["cut.parquet"]);
    outcome.refuses(3, &["cut.parquet", "hint: fetch or write it again"]);
    assert!(!outcome.err.contains("same command"), "{}", outcome.screen());
}

#[test]
fn what_is_wrong_is_said_before_anything_is_measured() {
    let place = place();
    place.prose();
    let option =
        |gold: &str| format!("{{\"text\": \"some words\", \"q\": 1, \"gold\": \"{gold}\"}}\n");
    place.text("quiz.jsonl", &[option("right"), option("false")].concat());
    // As JSONL has it, the question is the tag `item`; here under that name already.
    let quiz = fs::read_to_string(place.path("quiz.jsonl")).unwrap().replace("\"q\"", "\"item\"");
    place.text("quiz.jsonl", &quiz);
    let outcome = run(&place, &["prose.txt", "quiz.jsonl?tag=item&tag=gold"]);
    outcome.refuses(3, &["question 1", "gold = `right`"]);
    assert!(!outcome.err.contains("tiny on prose"), "{}", outcome.screen());
    place.text("rows.txt", "{\"text\": \"one\"}\n");
    run(&place, &["rows.txt"]).refuses(3, &["rows.txt", "hint: ", "kind=jsonl", "kind=text"]);
    run(&place, &["/dev/zero"]).refuses(3, &["/dev/zero", "pipe or a device"]);
}
