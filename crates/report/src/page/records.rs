//! Where the numbers come from: the provenance of the runs behind the laws, as the study folder
//! records it.

use std::collections::BTreeMap;
use std::path::Path;

use relscale_laws::StudyFit;
use relscale_records::Study;
use relscale_records::digits::count;
use relscale_records::provenance::{LimitProvenance, Provenance, TieRule, VocabularyRule};
use relscale_records::study::{RunEntry, Totals};
use serde::Serialize;

use super::source::Html;
use crate::error::Result;
use crate::shown::Cell;
use crate::shown::place::{At, at};

/// The runs of a study; none where the folder is no study.
pub(crate) struct Records {
    runs: Option<Vec<RunEntry>>,
    /// The commands that made them, and results beside them.
    commands: Vec<String>,
}

/// What the page says of them.
#[derive(Debug, Serialize)]
pub(super) struct View {
    /// Whether there are records at all.
    there: bool,
    /// The commands that made them.
    commands: Vec<String>,
    /// How text was cut and which rows of the head took part, for the top of the page.
    how: String,
    runs: Vec<RunView>,
    corpora: Vec<Corpus>,
    /// What decided the numbers: each once where all runs agree.
    facts: Vec<Fact>,
    /// How the laws and the records disagree.
    stale: Vec<String>,
    superseded: usize,
    unfinished: usize,
    models: Vec<String>,
    corpus_names: Vec<String>,
}

/// One current run.
#[derive(Debug, Serialize)]
struct RunView {
    model: String,
    corpus: String,
    key: String,
    weights: String,
    config: String,
    source: Option<String>,
    tokens: Html,
    nonfinite: Html,
    unscored: Html,
}

/// One text.
#[derive(Debug, Serialize)]
struct Corpus {
    name: String,
    description: String,
    source: Option<String>,
    sha256: String,
    documents: Html,
    bytes: Html,
}

/// One thing that decided the numbers.
#[derive(Debug, Serialize)]
struct Fact {
    name: &'static str,
    values: Vec<Value>,
}

/// A value, and for whom it holds where not for all.
#[derive(Debug, Serialize)]
struct Value {
    text: String,
    whose: String,
}

impl Records {
    /// Reads what a study folder says of its runs; not their rows.
    ///
    /// # Errors
    /// The folder is a study and a file of it cannot be read.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        if !folder.join("study.json").exists() {
            return Ok(Self { runs: None, commands: Vec::new() });
        }
        let runs = Some(Study::open(folder)?.runs()?);
        Ok(Self { runs, commands: relscale_records::study::commands(folder)? })
    }

    /// What the page says of the current runs, and whether the laws were fitted to them.
    pub(super) fn view(&self, study: &StudyFit) -> View {
        let all = self.runs.as_deref().unwrap_or_default();
        let current: Vec<&RunEntry> = all.iter().filter(|run| run.current).collect();
        let mut models: Vec<(u64, String)> = current
            .iter()
            .map(|run| {
                let model = &run.record.provenance.model;
                (model.parameters.non_embedding, model.name.clone())
            })
            .collect();
        models.sort();
        models.dedup();
        let corpora = corpora(&current);
        View {
            there: self.runs.is_some(),
            commands: self.commands.clone(),
            how: how(&current),
            runs: current.iter().map(|run| RunView::from_entry(run)).collect(),
            facts: facts(&current),
            stale: if self.runs.is_some() { stale(study, &current) } else { Vec::new() },
            superseded: all.iter().filter(|run| !run.current && run.done.is_some()).count(),
            unfinished: all.iter().filter(|run| run.done.is_none()).count(),
            models: models.into_iter().map(|(_, name)| name).collect(),
            corpus_names: corpora.iter().map(|corpus| corpus.name.clone()).collect(),
            corpora,
        }
    }
}

impl RunView {
    fn from_entry(run: &RunEntry) -> Self {
        let provenance = &run.record.provenance;
        let done =
            run.done.as_ref().map(|done| At::file(&format!("runs/{}/done.json", run.folder), done));
        let total = |count: &dyn Fn(&At<'_, Totals>) -> Cell| {
            let totals = done.as_ref().map(|done| at!(done.totals));
            totals.map_or_else(|| Html::text("–"), |totals| Html::from(&count(&totals)))
        };
        Self {
            model: provenance.model.name.clone(),
            corpus: provenance.corpus.name.clone(),
            key: run.record.key.clone(),
            weights: provenance.model.weights_sha256.clone(),
            config: provenance.model.config_sha256.clone(),
            source: provenance.model.source.clone(),
            tokens: total(&|totals| at!(totals.scored).count()),
            nonfinite: total(&|totals| at!(totals.nonfinite).count()),
            unscored: total(&|totals| at!(totals.unscored_documents).count()),
        }
    }
}

/// Each text once.
fn corpora(runs: &[&RunEntry]) -> Vec<Corpus> {
    let mut texts = BTreeMap::new();
    for run in runs {
        let corpus = &run.record.provenance.corpus;
        texts.entry((&corpus.name, &corpus.text_sha256)).or_insert((&run.record, &run.folder));
    }
    let texts = texts.into_values().map(|(record, folder)| {
        let record = At::file(&format!("runs/{folder}/run.json"), record);
        let corpus = at!(record.provenance.corpus);
        Corpus {
            name: corpus.name.clone(),
            description: corpus.description.clone(),
            source: corpus.source.clone(),
            sha256: corpus.text_sha256.clone(),
            documents: Html::from(&at!(corpus.documents).count()),
            bytes: Html::from(&at!(corpus.bytes).count()),
        }
    });
    texts.collect()
}

/// What computed a run.
fn computed_on(run: &RunEntry) -> String {
    let each: Vec<String> = run.record.computed_on.iter().map(ToString::to_string).collect();
    if each.is_empty() { "not recorded".to_owned() } else { each.join("; ") }
}

/// A fact's name and how to read it off a provenance.
type Reading = (&'static str, fn(&Provenance) -> String);

/// What decided the numbers besides weights and text.
const FACTS: [Reading; 12] = [
    ("Window protocol", protocol),
    ("Token put before windows", |p| match &p.protocol.prefix {
        Some(prefix) => format!("id {}: {}", prefix.id, prefix.reason),
        None => "none".to_owned(),
    }),
    ("Tie rule", |p| match p.scoring.tie_rule {
        TieRule::AtLeast => {
            "R = #{v : z[v] ≥ z[t]}: equal logits count against the model".to_owned()
        }
        TieRule::Greater => {
            "R = #{v : z[v] > z[t]} + 1: equal logits count in the model's favour".to_owned()
        }
    }),
    ("Vocabulary rule", |p| match p.scoring.vocabulary_rule {
        VocabularyRule::Tokens => {
            "tokens: rows of the output head that no token maps to are left out of rank and softmax"
                .to_owned()
        }
        VocabularyRule::Rows => {
            "rows: every row of the output head takes part, padding included".to_owned()
        }
    }),
    ("Vocabulary sizes", |p| {
        let sizes = p.scoring.vocabulary;
        let [tokenizer, added, rows, scored] =
            [sizes.tokenizer, sizes.with_added, sizes.rows, sizes.scored]
                .map(|size| count(u64::from(size)));
        format!(
            "tokenizer {tokenizer}; with added tokens {added}; rows of the output head {rows}; |V| in ranks {scored}"
        )
    }),
    ("Engine", |p| {
        let version = p.scoring.engine_version.as_deref();
        let version = version.map(|version| format!(" ({version})")).unwrap_or_default();
        format!("{}, revision {}{version}", p.scoring.engine, p.scoring.engine_revision)
    }),
    ("Not told by the engine", |p| match p.scoring.lacks.as_slice() {
        [] => "nothing: ties, entropy and argmax are told".to_owned(),
        lacks => lacks.iter().map(|column| column.name()).collect::<Vec<_>>().join(", "),
    }),
    ("Computed in", |p| p.scoring.compute_dtype.clone()),
    ("Weights stored in", |p| p.model.stored_dtype.clone()),
    ("Architecture", |p| p.model.architecture.clone()),
    ("Tokenizer", |p| format!("{}, sha256 {}", p.tokenizer.source, p.tokenizer.sha256)),
    ("Limit", |p| match p.limit {
        Some(LimitProvenance { tokens, drawn: None }) => {
            format!("the first {} positions of the corpus", count(tokens))
        }
        Some(LimitProvenance { tokens, drawn: Some(drawn) }) => format!(
            "{} positions, of documents drawn from the whole corpus by seed {}",
            count(tokens),
            drawn.seed
        ),
        None => "none: the whole corpus".to_owned(),
    }),
];

/// Protocol, vocabulary and ties in a sentence; empty without runs.
fn how(runs: &[&RunEntry]) -> String {
    let ways = distinct(runs, |run| {
        let provenance = &run.record.provenance;
        let rows = match provenance.scoring.vocabulary_rule {
            VocabularyRule::Tokens => "the rows of the output head that some token maps to",
            VocabularyRule::Rows => "all rows of the output head",
        };
        let ties = match provenance.scoring.tie_rule {
            TieRule::AtLeast => "against the model",
            TieRule::Greater => "in the model's favour",
        };
        format!(
            "Text is cut by the window protocol {}; ranks are over {rows} ({}); equal logits count {ties}.",
            protocol(provenance),
            count(u64::from(provenance.scoring.vocabulary.scored)),
        )
    });
    match ways.as_slice() {
        [] => String::new(),
        [only] => only.text.clone(),
        _ => "Window protocol or vocabulary differ between runs: see the provenance below."
            .to_owned(),
    }
}

fn protocol(provenance: &Provenance) -> String {
    let protocol = &provenance.protocol;
    let parameters: Vec<String> = protocol
        .parameters
        .iter()
        .map(|(name, value)| format!("{name} = {}", plain(value)))
        .collect();
    if parameters.is_empty() {
        return protocol.name.clone();
    }
    format!("{} ({})", protocol.name, parameters.join(", "))
}

/// A value of JSON as people write it; strings without quotes.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn facts(runs: &[&RunEntry]) -> Vec<Fact> {
    let mut facts: Vec<Fact> = FACTS
        .iter()
        .map(|(name, read)| Fact {
            name,
            values: distinct(runs, |run| read(&run.record.provenance)),
        })
        .collect();
    if runs.iter().any(|run| !run.record.computed_on.is_empty()) {
        facts.push(Fact { name: "Computed on", values: distinct(runs, computed_on) });
    }
    facts.push(Fact {
        name: "Measured by",
        values: distinct(runs, |run| {
            let tool = &run.record.provenance.tool;
            format!("{} {}, record format {}", tool.name, tool.version, run.record.format)
        }),
    });
    facts.retain(|fact| !fact.values.is_empty());
    facts
}

/// The distinct values over runs, each with the models it holds for where they differ.
fn distinct(runs: &[&RunEntry], read: impl Fn(&RunEntry) -> String) -> Vec<Value> {
    let mut values: Vec<(String, Vec<String>)> = Vec::new();
    for run in runs {
        let (text, model) = (read(run), &run.record.provenance.model.name);
        match values.iter_mut().find(|(known, _)| *known == text) {
            Some((_, models)) if models.contains(model) => {}
            Some((_, models)) => models.push(model.clone()),
            None => values.push((text, vec![model.clone()])),
        }
    }
    let one = values.len() == 1;
    values
        .into_iter()
        .map(|(text, models)| Value {
            text,
            whose: if one { String::new() } else { models.join(", ") },
        })
        .collect()
}

/// How laws and records disagree: laws of runs that are gone or have other counts, runs that no law
/// knows.
fn stale(study: &StudyFit, runs: &[&RunEntry]) -> Vec<String> {
    let mut found = Vec::new();
    let name = |run: &RunEntry| {
        let provenance = &run.record.provenance;
        (provenance.model.name.clone(), provenance.corpus.name.clone())
    };
    let totals: BTreeMap<(String, String), _> =
        runs.iter().map(|run| (name(run), run.done.as_ref().map(|done| done.totals))).collect();
    let mut fitted = Vec::new();
    for group in &study.groups {
        for model in &group.models {
            let pair = (model.name.clone(), group.corpus.clone());
            let counts = (model.tokens, model.nonfinite);
            match totals.get(&pair) {
                None => found
                    .push(format!("{} on {} is in the laws, not in the records", pair.0, pair.1)),
                Some(Some(totals)) if (totals.scored, totals.nonfinite) != counts => {
                    found.push(format!(
                        "{} on {}: the laws count {} tokens, the records {}",
                        pair.0,
                        pair.1,
                        count(model.tokens),
                        count(totals.scored)
                    ))
                }
                Some(_) => {}
            }
            fitted.push(pair);
        }
    }
    for pair in totals.keys().filter(|pair| !fitted.contains(pair)) {
        found.push(format!("{} on {} was measured and is not in the laws", pair.0, pair.1));
    }
    found
}
