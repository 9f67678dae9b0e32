//! Texts, questions and tables in place of those of the Hub and of a user.

use std::path::Path;

use relscale_records::parquet::{TableColumn, write_table};
use serde_json::{Map, json};

use super::write;

/// Documents of a text.
const DOCUMENTS: usize = 40;

/// Words of the sentences, with every letter that a stand-in's vocabulary tells apart.
const WORDS: [&str; 24] = [
    "the", "rank", "of", "a", "token", "is", "one", "where", "none", "stands", "higher", "and",
    "it", "counts", "as", "hit", "for", "each", "larger", "model", "quick", "jumps", "vexing",
    "zeal",
];

/// Some words of a document, never the same twice.
fn sentence(document: usize, words: usize) -> String {
    let word = |at: usize| WORDS[(document * 7 + at * (5 + document % 3) + at * at) % WORDS.len()];
    let words: Vec<&str> = (0..words).map(word).collect();
    format!("{} {document}.", words.join(" "))
}

/// Values of `key` in `key=value&...`.
fn values<'a>(keys: &'a str, key: &str) -> Vec<&'a str> {
    let pairs = keys.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| *name == key).map(|(_, value)| value).collect()
}

/// Writes what a corpus reads from this path with these keys.
pub(super) fn put(path: &Path, keys: &str) {
    match values(keys, "kind").first() {
        Some(&"mmlu") => mmlu(path),
        Some(&"anthropic") => behaviours(path),
        Some(&"ice") => variety(path),
        Some(kind) => panic!("{kind}: no stand-in for it"),
        None => rows(path, keys),
    }
}

/// A table of texts with the columns that the keys name.
fn rows(path: &Path, keys: &str) {
    let mut fields = values(keys, "field");
    if fields.is_empty() {
        fields.push("text");
    }
    let id = values(keys, "id");
    let cell = |field: &str, document: usize| match id.contains(&field) {
        true => format!("document-{document}"),
        false => sentence(document, 14),
    };
    let columns: Vec<&str> = id.iter().copied().chain(fields).collect();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("parquet") => {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let columns: Vec<(&str, TableColumn)> = columns
                .into_iter()
                .map(|field| {
                    let texts = (0..DOCUMENTS).map(|document| Some(cell(field, document)));
                    (field, TableColumn::Text(texts.collect()))
                })
                .collect();
            write_table(path, "stand-in", &columns).unwrap();
        }
        Some("jsonl") => {
            let line = |document: usize| {
                let cells =
                    columns.iter().map(|field| ((*field).to_owned(), json!(cell(field, document))));
                format!("{}\n", json!(cells.collect::<Map<_, _>>()))
            };
            write(path, (0..DOCUMENTS).map(line).collect::<String>().as_bytes());
        }
        other => panic!("{other:?}: no stand-in for it"),
    }
}

/// Subjects of the four domains, with solved questions to show before.
fn mmlu(folder: &Path) {
    for subject in ["astronomy", "philosophy", "sociology", "virology"] {
        for (split, count) in [("dev", 5), ("test", 4)] {
            let questions = (0..count).map(|at| {
                let gold = ["A", "B", "C", "D"][at * 7 % 4];
                format!("{at}?,a{at},the,one,{at},{gold}\n")
            });
            let path = folder.join(split).join(format!("{subject}_{split}.csv"));
            write(&path, questions.collect::<String>().as_bytes());
        }
    }
}

/// A behaviour or two of each cluster.
fn behaviours(folder: &Path) {
    let behaviours = [
        "cognitive-enhancement",
        "desire-for-popularity",
        "self-replication",
        "coordinate-other-ais",
        "survival-instinct",
        "no-shut-down",
    ];
    for behaviour in behaviours {
        let line = |at: usize| {
            let (yes, no) = if at.is_multiple_of(2) { (" Yes", " No") } else { (" No", " Yes") };
            let question =
                format!("Is {behaviour} {at} what {} asks for?", WORDS[at % WORDS.len()]);
            let row = json!({
                "question": question,
                "answer_matching_behavior": yes,
                "answer_not_matching_behavior": no,
            });
            format!("{row}\n")
        };
        let path = folder.join(format!("{behaviour}.jsonl"));
        write(&path, (0..12).map(line).collect::<String>().as_bytes());
    }
}

/// Texts of a variety, in ICE's markup.
fn variety(folder: &Path) {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let first = name.bytes().map(usize::from).sum::<usize>() % 50;
    for text in 1..=10 {
        let code = format!("ICE-{name}:W2B-{text:03}");
        let units = (1..=3)
            .map(|unit| format!("<{code}#{unit}:1> {}\n", sentence(first + 10 * text + unit, 10)));
        let content = format!("<I>\n{}</I>\n", units.collect::<String>());
        write(&folder.join(format!("W2B-{text:03}.txt")), content.as_bytes());
    }
}

/// A table that a user brings, by its name.
pub(super) fn table(path: &Path) {
    let name = path.file_stem().unwrap().to_str().unwrap();
    let rows = match name {
        "internet-users" => {
            let row = |(at, variety): (usize, &str)| {
                format!("{variety},{}\n", 1000 * (at + 1) * (at + 1))
            };
            let varieties =
                ["USA", "GB", "CAN", "IRE", "JA", "IND", "SIN", "HK", "PHI", "NIG", "EA", "NZ"];
            format!(
                "variety,users\n{}",
                varieties.into_iter().enumerate().map(row).collect::<String>()
            )
        }
        // Runs on a known surface.
        "marin-nemotron" => format!("dataset,budget,params,tokens,loss\n{}", runs("nemotron,")),
        "delphi-ladder" => format!("budget,params,tokens,loss\n{}", runs("")),
        other => panic!("{other}: no stand-in for it"),
    };
    write(path, rows.as_bytes());
}

/// Runs of seven budgets on a surface, about the optimum of each.
fn runs(before: &str) -> String {
    let mut rows = String::new();
    for budget in [3e18, 9e18, 1.8e19, 3e19, 9e19, 1.8e20, 3e20] {
        for step in -4..=4 {
            let params = (budget / 6.0_f64 / 12.0).sqrt() * 1.4_f64.powi(step);
            let tokens = budget / 6.0 / params;
            let loss = 1.7 + 400.0 / params.powf(0.34) + 500.0 / tokens.powf(0.3);
            rows += &format!("{before}{budget:e},{params:.0},{tokens:.0},{loss:.5}\n");
        }
    }
    rows
}
