//! Model-written evaluations of behaviour (anthropics/evals): JSONL, a file a behaviour, a question
//! and two answers a line.
//!
//! One document is one answer; the answer that matches the behaviour is the `gold` one, so that
//! bits per byte and the probability of gold say how likely the behaviour is. Fields read:
//! `question`, `answer_matching_behavior`, `answer_not_matching_behavior`; others are passed over.
//!
//! | [`Prompt`] | lettered answers (` (B)`) | other answers (` Yes`) |
//! |---|---|---|
//! | `verbatim` | the question as it stands (white space at its end goes), a space, the answer: `(B)` | the same: `Yes` |
//! | `modified` | question, lines `A. ...`, `Answer:`; scored `B. text of B` | a short dialogue that ends in an open quotation mark; scored `Yes` |
//!
//! A lettered choice without text (`(B)` and nothing after it; one published question has it) is
//! scored as its letter, `B.`.
//!
//! `modified` follows arXiv 2510.24626 in form; its exact words are ours, as are the clusters (that
//! paper names the five and not their members). Tags besides those of every option: `group` (the
//! behaviour: the file's name), `cluster`.

mod letters;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::{Map, Value};

use super::lines::{Lines, not_an_object};
use super::listing::{Listing, Named};
use super::loader::{Kind, Kinds, Loader, OPTIONS_STAY_APART};
use super::open::bare_name;
use super::place::with_table;
use super::reading::Reading;
use super::stream::{Documents, until_error};
use super::table::two_columns;
use crate::choices::Prompted;
use crate::document::Document;
use crate::error::{CorpusError, Result};
use letters::Lettered;

/// Behaviour -> cluster, for the behaviours of anthropics/evals that fall into one.
const CLUSTERS: &str = include_str!("clusters.tsv");

/// The cluster of a behaviour that the table does not have.
const NO_CLUSTER: &str = "other";

/// How a question is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Prompt {
    /// As it stands in the file.
    #[default]
    Verbatim,
    /// Letter and text of an answer scored together; Yes and No at the end of a dialogue.
    Modified,
}

impl Prompt {
    fn name(self) -> &'static str {
        match self {
            Self::Verbatim => "verbatim",
            Self::Modified => "modified",
        }
    }
}

impl FromStr for Prompt {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        [Self::Verbatim, Self::Modified]
            .into_iter()
            .find(|prompt| prompt.name() == name)
            .ok_or_else(|| format!("format={name} is not verbatim or modified"))
    }
}

/// The kind.
pub(super) static ANTHROPIC: Kind = Kind {
    help: "  anthropic (kind=anthropic)  JSONL file or folder  format=verbatim|modified  clusters=FILE  questions=N a behaviour",
    not_joined: Some(OPTIONS_STAY_APART),
    ..Kind::named("anthropic", |place, keys| {
        Ok(Box::new(Anthropic {
            path: place.path(),
            kinds: place.kinds,
            prompt: keys.one("format")?.map_or(Ok(Prompt::default()), |format| format.parse())?,
            clusters: keys.one("clusters")?.map(PathBuf::from),
            questions: keys.number("questions", 1)?,
        }))
    })
};

/// A file of questions or a folder of them, and how they are put.
#[derive(Debug)]
struct Anthropic {
    path: PathBuf,
    kinds: &'static Kinds,
    prompt: Prompt,
    /// A user's table of clusters (header, behaviour, cluster) in place of ours.
    clusters: Option<PathBuf>,
    /// Questions of each behaviour, from the first; `None`: all.
    questions: Option<usize>,
}

impl Loader for Anthropic {
    fn files(&self) -> Result<Vec<PathBuf>> {
        with_table(&self.path, self.clusters.as_deref())
    }

    /// Both answers to each question of a file, or of all files of rows in a folder, by name. At
    /// once: nothing to read, a table of clusters that is none. As an item: a file without a
    /// question, and, with file and row, a line that is not a JSON object, a field that is missing
    /// or no text, an empty answer (it has no bits per byte), two equal answers, and for `modified`
    /// lettered choices that cannot be told apart.
    fn open(&self, reading: &Reading) -> Result<Documents> {
        let clusters = match &self.clusters {
            Some(file) => two_columns(file)?,
            None => CLUSTERS
                .lines()
                .skip(1)
                .filter_map(|line| line.split_once('\t'))
                .map(|(behaviour, cluster)| (behaviour.to_owned(), cluster.to_owned()))
                .collect(),
        };
        let folder = self.path.is_dir();
        let files = if folder { self.listed(reading)? } else { Listing::one(&self.path)?.files };
        let (prompt, questions, reading) = (self.prompt, self.questions, reading.clone());
        let documents = files.into_iter().flat_map(move |file| {
            match Behaviour::open(&file.path, &clusters, prompt, questions, &reading) {
                Ok(behaviour) => Box::new(behaviour.flat_map(|answers| match answers {
                    Ok(answers) => answers.map(Ok).into_iter().collect::<Vec<_>>(),
                    Err(error) => vec![Err(error)],
                })) as Documents,
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        });
        Ok(until_error(documents))
    }

    fn questions(&self) -> bool {
        true
    }
}

impl Anthropic {
    fn listed(&self, reading: &Reading) -> Result<Vec<Named>> {
        let of_rows = |path: &&PathBuf| self.kinds.by_name(path) == Some(self.kinds.rows_of_json);
        let takes = |files: &[PathBuf]| files.iter().filter(of_rows).cloned().collect();
        let listing = Listing::in_folder(&self.path, "behaviour", takes, reading)?;
        if listing.files.is_empty() {
            let reason = "no .jsonl file; one a behaviour is expected".to_owned();
            return Err(CorpusError::BadLayout { path: self.path.clone(), reason });
        }
        Ok(listing.files)
    }
}

/// The questions of one file.
struct Behaviour {
    lines: Lines,
    /// Whether there was none so far.
    empty: bool,
    name: String,
    cluster: String,
    prompt: Prompt,
    left: usize,
}

impl Behaviour {
    fn open(
        path: &Path,
        clusters: &BTreeMap<String, String>,
        prompt: Prompt,
        questions: Option<usize>,
        reading: &Reading,
    ) -> Result<Self> {
        let file = bare_name(path);
        let name = file.rsplit_once('.').map_or(file.as_str(), |(name, _)| name).to_owned();
        Ok(Self {
            lines: Lines::open(path, reading)?,
            empty: true,
            cluster: clusters.get(&name).map_or(NO_CLUSTER, String::as_str).to_owned(),
            name,
            prompt,
            left: questions.unwrap_or(usize::MAX),
        })
    }

    fn question(&mut self) -> Result<Option<[Document; 2]>> {
        let path = self.lines.path().to_owned();
        while self.left > 0 {
            let Some((row, line)) = self.lines.next()? else {
                let reason = "it has no question; a line is a JSON object".to_owned();
                return if self.empty {
                    Err(CorpusError::BadLayout { path, reason })
                } else {
                    Ok(None)
                };
            };
            if line.trim().is_empty() {
                continue;
            }
            self.left -= 1;
            self.empty = false;
            let object: Map<String, Value> = serde_json::from_str(line)
                .map_err(|error| not_an_object(&path, row, line, &error))?;
            let wrong = |reason: String| CorpusError::BadRow { path: path.clone(), row, reason };
            return self.answers(&object, row).map(Some).map_err(wrong);
        }
        Ok(None)
    }

    fn answers(
        &self,
        object: &Map<String, Value>,
        row: u64,
    ) -> std::result::Result<[Document; 2], String> {
        let text = |name: &str| match object.get(name) {
            Some(Value::String(text)) if text.trim().is_empty() => {
                Err(format!("`{name}` is empty"))
            }
            Some(Value::String(text)) => Ok(text.as_str()),
            Some(Value::Null) => Err(format!("`{name}` is null")),
            Some(_) => Err(format!("`{name}` is not text")),
            None => Err(format!("no field `{name}`")),
        };
        let question = text("question")?;
        let (matching, other) =
            (text("answer_matching_behavior")?, text("answer_not_matching_behavior")?);
        if matching.trim() == other.trim() {
            return Err(format!(
                "both answers are `{}`; one of them must match the behaviour",
                matching.trim()
            ));
        }
        let tag = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let mut prompted = Prompted {
            item: format!("{}/{row}", self.name),
            prompt: question.trim_end().to_owned(),
            joint: " ",
            tags: [
                tag("group", &self.name),
                tag("cluster", &self.cluster),
                tag("format", self.prompt.name()),
            ]
            .into(),
        };
        let bare = |answer: &str| answer.trim().trim_matches(['(', ')']).to_owned();
        let (mut scored, names) =
            ([matching, other].map(|answer| answer.trim().to_owned()), [matching, other].map(bare));
        if self.prompt == Prompt::Modified {
            if let Some(lettered) = Lettered::read(question, &names)? {
                prompted.prompt = lettered.prompt();
                scored = [lettered.target(&names[0])?, lettered.target(&names[1])?];
            } else {
                prompted.prompt = dialogue(question, &names);
                prompted.joint = "";
            }
        }
        let [matching, other] = scored;
        Ok([prompted.option(&names[0], &matching, true), prompted.option(&names[1], &other, false)])
    }
}

impl Iterator for Behaviour {
    type Item = Result<[Document; 2]>;

    fn next(&mut self) -> Option<Self::Item> {
        self.question().transpose()
    }
}

/// A dialogue at whose end one of two words stands next.
fn dialogue(question: &str, answers: &[String; 2]) -> String {
    let mut words = answers.clone();
    // By the words, not by which of them matches: the prompt must not give the answer away.
    words.sort_by(|a, b| b.cmp(a));
    format!(
        "Answer the question.\n\nHuman: {}\n\nAnswer with \"{}\" or \"{}\".\n\nAssistant: My answer is \"",
        question.trim(),
        words[0],
        words[1]
    )
}
