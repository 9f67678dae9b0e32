//! MMLU in its published layout: `test/SUBJECT_test.csv` and `dev/SUBJECT_dev.csv`, without header,
//! six fields a row: question, A, B, C, D, the letter of the answer.
//!
//! One document is one option of one question ([`mod@crate::choices`]); the prompt is a line about
//! the subject, the first `shots` questions of `dev` with their answers, and the question. Tags
//! besides those of every option: `group` (subject), `domain`, `shots`. Subjects come by name,
//! questions in the order of the file; items are named `SUBJECT/SPLIT/ROW`, where ROW counts the
//! questions of the file from 1.

mod subjects;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use subjects::{Domains, test_questions};

use super::keys::Keys;
use super::listing::Listing;
use super::loader::{Kind, Loader, OPTIONS_STAY_APART};
use super::open::{Expected, bare_name, file_name, whole};
use super::place::with_table;
use super::reading::Reading;
use super::stream::{Documents, in_turn};
use crate::choices::{Format, Item, LETTERS, Prompted};
use crate::document::Document;
use crate::error::{CorpusError, Result};

/// Options of a question.
const OPTIONS: usize = 4;

/// Solved questions that `dev` has of each subject.
const MOST_SHOTS: usize = 5;

/// The kind.
pub(super) static MMLU: Kind = Kind {
    help: "  mmlu     (kind=mmlu)  folder with test/ and dev/  format=standard|text|modified|continuation  shots=0..5 (default 5)
                        split=test|val|dev  subject=NAME (repeatable)  domains=lm-eval|hendrycks|FILE  questions=N a subject",
    not_joined: Some(OPTIONS_STAY_APART),
    ..Kind::named("mmlu", |place, keys| Ok(Box::new(Mmlu { path: place.path(), asked: Asked::read(keys)? })))
};

/// The folder with `test` and `dev`, and what is asked of it.
#[derive(Debug)]
struct Mmlu {
    path: PathBuf,
    asked: Asked,
}

/// Which questions, and how they are put.
#[derive(Debug, Clone)]
struct Asked {
    /// Prompt and scored strings.
    format: Format,
    /// Solved questions in the prompt, 0 to [`MOST_SHOTS`].
    shots: usize,
    /// Folder whose questions are asked: `test`, `val` or `dev`.
    split: String,
    /// Subjects; empty: all of the folder.
    subjects: Vec<String>,
    /// Which domain a subject belongs to.
    domains: Domains,
    /// Questions of each subject, from the first; `None`: all.
    questions: Option<usize>,
}

impl Asked {
    fn read(keys: &mut Keys) -> std::result::Result<Self, String> {
        let format = keys.one("format")?.map_or(Ok(Format::default()), |format| format.parse())?;
        let shots = keys.number("shots", 0)?.unwrap_or(MOST_SHOTS);
        if shots > MOST_SHOTS {
            return Err(format!("shots={shots} is more than the {MOST_SHOTS} questions of dev"));
        }
        let split = keys.one("split")?.unwrap_or_else(|| "test".to_owned());
        if !["test", "val", "dev"].contains(&split.as_str()) {
            return Err(format!("split={split} is not test, val or dev"));
        }
        if split == "dev" && shots > 0 {
            return Err(
                "split=dev asks the questions that the shots answer; add shots=0".to_owned()
            );
        }
        Ok(Self {
            format,
            shots,
            split,
            subjects: keys.all("subject"),
            domains: keys
                .one("domains")?
                .map_or_else(Domains::default, |domains| Domains::named(&domains)),
            questions: keys.number("questions", 1)?,
        })
    }
}

impl Loader for Mmlu {
    fn files(&self) -> Result<Vec<PathBuf>> {
        with_table(&self.path, self.asked.domains.file())
    }

    /// The options of all questions, a subject's file at a time. At once: no such folder, no file
    /// of the split, a subject that is not there, a table of domains that cannot be read. As an
    /// item: a subject without domain, a file without a question, fewer questions in `dev` than
    /// shots, and, with file and row, a row without six fields, an empty question, an empty option
    /// (it has no bits per byte), an answer that is no letter.
    fn open(&self, reading: &Reading) -> Result<Documents> {
        let Self { path, asked } = self;
        let ending = format!("_{}.csv", asked.split);
        let folder = path.join(&asked.split);
        if path.exists() && !folder.is_dir() {
            let reason = format!(
                "no folder `{}` here; MMLU is a folder of test, dev and val with a file SUBJECT{ending} a subject",
                asked.split
            );
            return Err(CorpusError::BadLayout { path: path.clone(), reason });
        }
        let mut files = subject_files(&folder, &asked.split, reading)?;
        let mut there: Vec<String> = files.keys().cloned().collect();
        if there.is_empty() {
            let reason =
                format!("no file SUBJECT{ending}; the published layout of MMLU has one a subject");
            return Err(CorpusError::BadLayout { path: folder, reason });
        }
        if let Some(missing) = asked.subjects.iter().find(|subject| !there.contains(subject)) {
            let reason = format!("no subject `{missing}`; there are {}", there.join(", "));
            return Err(CorpusError::BadLayout { path: folder, reason });
        }
        there.retain(|subject| asked.subjects.is_empty() || asked.subjects.contains(subject));
        let domains = asked.domains.table()?;
        let solved = match asked.shots {
            0 => BTreeMap::new(),
            _ => subject_files(&path.join("dev"), "dev", reading)?,
        };
        files.retain(|subject, _| there.contains(subject));
        let sources =
            Sources { root: path.clone(), asked: files, solved, reading: reading.clone() };
        let asked = asked.clone();
        Ok(in_turn(there.into_iter(), move |subject| {
            subject_documents(&sources, &subject, &domains, &asked)
        }))
    }

    fn questions(&self) -> bool {
        true
    }
}

/// Where the questions are: subject -> file, of those asked and those of `dev`.
struct Sources {
    root: PathBuf,
    asked: BTreeMap<String, PathBuf>,
    solved: BTreeMap<String, PathBuf>,
    reading: Reading,
}

/// The files `SUBJECT_SPLIT.csv` of a folder, in any case, plain or compressed; others are told.
fn subject_files(
    folder: &Path,
    split: &str,
    reading: &Reading,
) -> Result<BTreeMap<String, PathBuf>> {
    let ending = format!("_{split}.csv");
    let subject = |path: &Path| {
        let name = bare_name(path);
        let at = name.len().checked_sub(ending.len())?;
        let fits = name.get(at..)?.eq_ignore_ascii_case(&ending) && path.to_str().is_some();
        fits.then(|| name[..at].to_owned())
    };
    let takes =
        |files: &[PathBuf]| files.iter().filter(|path| subject(path).is_some()).cloned().collect();
    let listing = Listing::in_folder(folder, "MMLU", takes, reading)?;
    let mut files = BTreeMap::new();
    for file in listing.files {
        let Some(subject) = subject(&file.path) else { continue };
        if let Some(other) = files.insert(subject.clone(), file.path.clone()) {
            let reason = format!(
                "{} is of subject `{subject}` too; take one of them away",
                file_name(&other)
            );
            return Err(CorpusError::BadLayout { path: file.path, reason });
        }
    }
    Ok(files)
}

fn subject_documents(
    sources: &Sources,
    subject: &str,
    domains: &BTreeMap<String, String>,
    options: &Asked,
) -> Result<Vec<Document>> {
    let expected = |split: &str| sources.root.join(split).join(format!("{subject}_{split}.csv"));
    let file = |files: &BTreeMap<String, PathBuf>, split: &str| {
        files.get(subject).cloned().unwrap_or_else(|| expected(split))
    };
    let Some(domain) = domains.get(subject) else {
        return Err(CorpusError::BadLayout {
            path: file(&sources.asked, &options.split),
            reason: format!(
                "subject `{subject}` has no domain; give a table with domains=FILE (subject,domain)"
            ),
        });
    };
    let mut prompt = options.format.header(&subject.replace('_', " "));
    if options.shots > 0 {
        let path = file(&sources.solved, "dev");
        let solved = items(&path, &sources.reading)?;
        if solved.len() < options.shots {
            let reason = format!(
                "{} shots need as many questions, and it has {}; use shots={1}",
                options.shots,
                solved.len()
            );
            return Err(CorpusError::BadLayout { path, reason });
        }
        for item in &solved[..options.shots] {
            prompt.push_str(&options.format.shot(item));
        }
    }
    let mut documents = Vec::new();
    let path = file(&sources.asked, &options.split);
    let asked = items(&path, &sources.reading)?;
    if asked.is_empty() {
        return Err(CorpusError::BadLayout {
            path,
            reason: "it has no question; a line is one".to_owned(),
        });
    }
    for (row, item) in asked.iter().enumerate().take(options.questions.unwrap_or(usize::MAX)) {
        let tag = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let prompted = Prompted {
            item: format!("{subject}/{}/{}", options.split, row + 1),
            prompt: [prompt.as_str(), &options.format.prompt(item)].concat(),
            joint: " ",
            tags: [
                tag("group", subject),
                tag("domain", domain),
                tag("format", options.format.name()),
                tag("shots", &options.shots.to_string()),
            ]
            .into(),
        };
        for (option, letter) in LETTERS.iter().enumerate() {
            if let Some(scored) = options.format.target(item, option) {
                documents.push(prompted.option(&letter.to_string(), &scored, option == item.gold));
            }
        }
    }
    Ok(documents)
}

/// The questions of a file.
fn items(path: &Path, reading: &Reading) -> Result<Vec<Item>> {
    let bytes = whole(path, Expected::Text, reading)?;
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes.as_slice());
    let mut items = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            let row = error.position().map_or(0, csv::Position::line);
            CorpusError::BadRow { path: path.to_owned(), row, reason: error.to_string() }
        })?;
        let row = record.position().map_or(0, csv::Position::line);
        items.push(item(&record).map_err(|reason| {
            let header = if row == 1 { " (if this row is a header, take it out)" } else { "" };
            CorpusError::BadRow { path: path.to_owned(), row, reason: format!("{reason}{header}") }
        })?);
    }
    Ok(items)
}

fn item(record: &csv::StringRecord) -> std::result::Result<Item, String> {
    if record.len() != OPTIONS + 2 {
        let fields =
            if record.len() == 1 { "1 field" } else { &format!("{} fields", record.len()) };
        return Err(format!(
            "{fields}; a row is question, A, B, C, D, letter of the answer, and a text with commas or quotation marks stands in quotation marks"
        ));
    }
    let question = record[0].trim_start_matches('\u{FEFF}').to_owned();
    if question.trim().is_empty() {
        return Err("the question is empty".to_owned());
    }
    let options: Vec<String> = record.iter().skip(1).take(OPTIONS).map(str::to_owned).collect();
    if let Some(empty) = options.iter().position(|option| option.trim().is_empty()) {
        return Err(format!("option {} is empty: nothing of it can be scored", LETTERS[empty]));
    }
    let answer = record[OPTIONS + 1].trim();
    let gold = LETTERS[..OPTIONS].iter().position(|letter| answer == letter.to_string());
    let gold =
        gold.ok_or_else(|| format!("the answer `{answer}` is not one letter of A, B, C, D"))?;
    Ok(Item { question, options, gold })
}
