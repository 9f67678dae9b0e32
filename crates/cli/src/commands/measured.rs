//! Which errors of a study are compared, for the commands that take a study or a table.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use relscale_laws::LawsError;
use relscale_laws::manifest::{Manifest, ModelAxis};
use relscale_laws::relative::{
    ErrorMeasure, HitUnit, Measurements, StudySource, counted_ranks, read_study,
};
use relscale_records::parquet::DocumentRow;
use relscale_records::{RunTally, Study};

use crate::exit::Refusal;

/// What of a study is compared.
#[derive(Clone, Copy)]
pub(super) struct Choice<'a> {
    pub(super) error: ErrorMeasure,
    /// What models grow in; without it, S.
    pub(super) x: Option<&'a str>,
    /// What a person knows of the models.
    pub(super) manifest: Option<&'a Manifest>,
    pub(super) family: Option<&'a str>,
    /// The tag whose values are the distributions; without it, each corpus is one.
    pub(super) by: Option<&'a str>,
    pub(super) only: &'a [(String, String)],
    pub(super) resamples: u32,
    pub(super) seed: u64,
}

/// What was read of a study.
pub(super) struct Measured {
    /// The runs that take part, in the families that the manifest gives them.
    pub(super) runs: Vec<RunTally>,
    documents: BTreeMap<String, Vec<DocumentRow>>,
}

impl Choice<'_> {
    /// Reads the study: tallies of its runs, and the documents of each text once, as all models
    /// read the same.
    ///
    /// # Errors
    /// The study cannot be read; no run is of the family.
    pub(super) fn read(&self, study: &Path) -> anyhow::Result<Measured> {
        let study = Study::open(study)?;
        let documents = documents(&study)?;
        let mut runs = study.tallies()?;
        if let Some(manifest) = self.manifest {
            manifest.set_families(&mut runs);
        }
        if let Some(family) = self.family {
            let mut there: Vec<String> = runs.iter().map(|run| run.family.clone()).collect();
            there.sort();
            there.dedup();
            runs.retain(|run| run.family == family);
            if runs.is_empty() {
                return Err(
                    LawsError::NoGroup { wanted: vec![format!("family {family}")], there }.into()
                );
            }
        }
        Ok(Measured { runs, documents })
    }

    /// The errors of the runs.
    ///
    /// # Errors
    /// The runs cannot be compared, their models have no such x.
    pub(super) fn errors(&self, measured: &Measured) -> anyhow::Result<Measurements> {
        let Measured { runs, documents } = measured;
        let x = self.axis(runs, self.x)?;
        let source = StudySource {
            runs,
            documents,
            error: self.error,
            x: x.as_ref(),
            family: None,
            by: self.by,
            only: self.only,
            resamples: self.resamples,
            seed: self.seed,
        };
        Ok(read_study(&source)?)
    }

    /// The errors `-ln RBP_k` of the same runs at every k that all of them counted; none where the
    /// error is of questions with options, whose words have no ranks of their own.
    ///
    /// # Errors
    /// As [`errors`](Self::errors).
    pub(super) fn ranks(&self, measured: &Measured) -> anyhow::Result<Vec<(u32, Measurements)>> {
        if matches!(self.error, ErrorMeasure::Choice(_)) {
            return Ok(Vec::new());
        }
        let at = |k| {
            Ok((
                k,
                Self { error: ErrorMeasure::Rbp { unit: HitUnit::Token, k }, ..*self }
                    .errors(measured)?,
            ))
        };
        counted_ranks(&measured.runs).into_iter().map(at).collect()
    }

    /// An x of these runs' models; none for S, which a study knows by itself.
    ///
    /// # Errors
    /// The manifest lacks it, or there is none.
    pub(super) fn axis(
        &self,
        runs: &[RunTally],
        x: Option<&str>,
    ) -> anyhow::Result<Option<ModelAxis>> {
        match (self.manifest, x) {
            (Some(manifest), x) => {
                Ok(Some(ModelAxis::from_runs(manifest, x.unwrap_or("params"), runs)?))
            }
            (None, None | Some("params" | "S")) => Ok(None),
            (None, Some(x)) => {
                let hint = "give a manifest of the models that has it with --models";
                Err(Refusal::new(format!("a study knows no {x} of its models, only params"), hint)
                    .into())
            }
        }
    }
}

/// The documents of each text of a study, as drawn, by what their ordinals number
/// ([`RunTally::documents_key`]).
///
/// # Errors
/// A run that cannot be read.
pub(super) fn documents(study: &Study) -> anyhow::Result<BTreeMap<String, Vec<DocumentRow>>> {
    let mut documents = BTreeMap::new();
    for run in study.current()? {
        let text = run.record().provenance.documents_key();
        if let Entry::Vacant(place) = documents.entry(text) {
            place.insert(run.documents()?);
        }
    }
    Ok(documents)
}

/// The error of a study's runs, bits per byte where none is named.
///
/// # Errors
/// No error has this name, or several are named.
pub(super) fn error(named: &[String]) -> anyhow::Result<ErrorMeasure> {
    match named {
        [] => Ok(ErrorMeasure::BitsPerByte),
        [one] => Ok(one.parse()?),
        several => {
            let hint = "give one of bpb, ce, rbp10, word10, choice-nll, accuracy";
            Err(Refusal::new(format!("a study has one error, not {}", several.join(" and ")), hint)
                .into())
        }
    }
}

/// Conditions on tags, which may be written as `tag:domain=stem` or `domain=stem`.
pub(super) fn tags(only: &[(String, String)]) -> Vec<(String, String)> {
    let bare = |name: &str| name.strip_prefix("tag:").unwrap_or(name).to_owned();
    only.iter().map(|(name, value)| (bare(name), value.clone())).collect()
}

/// The name of a tag, as `tag:domain` or `domain`.
pub(super) fn tag(text: &str) -> Result<String, String> {
    match text.strip_prefix("tag:").unwrap_or(text).trim() {
        "" => Err("expected the name of a tag".to_owned()),
        name => Ok(name.to_owned()),
    }
}
