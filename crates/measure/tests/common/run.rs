//! One model folder over one corpus file, and what the study then holds.

use std::path::Path;

use relscale_measure::engines::{EngineOptions, local};
use relscale_measure::{CorpusSource, Error, Event, ModelRequest, ModelSource, Settings};
use relscale_records::provenance::{Provenance, VocabularyRule};
use relscale_records::{RunTally, ScoredToken, Study};

/// A Hugging Face folder.
pub fn model(folder: &Path) -> ModelSource<'static> {
    let request = ModelRequest::parse(&folder.to_string_lossy()).unwrap();
    local::source(&request, &EngineOptions::default()).unwrap()
}

/// A file with the options of its loader.
pub fn corpus(path: &Path, options: &str) -> CorpusSource<'static> {
    CorpusSource::from_spec(format!("{}?{options}", path.display()).parse().unwrap())
}

/// Settings as other tools have them: all rows of the head take part.
pub fn all_rows(protocol: &str, length: Option<usize>) -> Settings {
    Settings {
        protocol: protocol.into(),
        length,
        vocabulary: Some(VocabularyRule::Rows),
        ..Settings::default()
    }
}

/// What a study holds after one session of one model over one corpus.
pub struct Run {
    pub provenance: Provenance,
    pub tally: RunTally,
    pub rows: Vec<ScoredToken>,
    pub events: Vec<Event>,
    pub word_perplexity: Option<f64>,
}

impl Run {
    pub fn measure(
        model: ModelSource<'_>,
        corpus: CorpusSource<'_>,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let root = tempfile::tempdir().unwrap();
        let (result, events) = super::session(root.path(), &[model], &[corpus], settings);
        result?;
        let run = Study::open(root.path()).unwrap().current().unwrap().remove(0);
        let rows = run.rows().unwrap().collect::<Result<Vec<_>, _>>().unwrap().concat();
        let tally = run.tally().unwrap();
        let word_perplexity = run.word_perplexity(&tally.totals()).unwrap();
        Ok(Self {
            provenance: run.record().provenance.clone(),
            tally,
            rows,
            events,
            word_perplexity,
        })
    }

    pub fn sum_nll(&self, document: u32) -> f64 {
        self.tally
            .documents
            .iter()
            .filter(|tally| tally.document == document)
            .map(|tally| tally.sum_nll)
            .sum()
    }

    /// Id and reason of the prefix.
    pub fn prefix(&self) -> Option<(u32, &str)> {
        self.provenance.protocol.prefix.as_ref().map(|prefix| (prefix.id, prefix.reason.as_str()))
    }

    /// Tokens before each row in its window.
    pub fn contexts(&self) -> Vec<u32> {
        self.rows.iter().map(|row| row.context).collect()
    }
}
