//! What a study folder holds besides its records: the results that commands saved there, read once.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use relscale_laws::{
    ChoicesFit, Forecast, IsoflopFit, RankExamples, RelativeFit, Saved, SizeTokensFit, StagesFit,
    StudyFit, TrainingFit,
};
use relscale_records::Study;

use crate::error::{ReportError, Result};

/// The laws' file.
const LAWS: &str = "laws.json";
/// The file of positions that show what a rank is.
const EXAMPLES: &str = "rank-examples.json";

/// Every result of a folder. Any subset may be there; a report shows what is, and names the rest.
///
/// A kind has a file of its name (`relative.json`), and may have others with more behind it
/// (`relative-mmlu.json`): several baselines, errors or tags of one study.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Results {
    /// The rank laws, `laws.json`.
    pub laws: Option<StudyFit>,
    /// Positions that show what a rank is, `rank-examples.json`; shown beside laws alone.
    pub examples: Option<RankExamples>,
    /// Relative laws, `relative.json` and `relative-NAME.json`.
    pub relative: Vec<Named<RelativeFit>>,
    /// Questions with options, `choices.json` and `choices-NAME.json`.
    pub choices: Vec<Named<ChoicesFit>>,
    /// Two stages, `stages.json` and `stages-NAME.json`.
    pub stages: Vec<Named<StagesFit>>,
    /// Forecasts, `forecast.json` and `forecast-NAME.json`.
    pub forecasts: Vec<Named<Forecast>>,
    /// Size against tokens, `size-tokens.json` and `size-tokens-NAME.json`.
    pub size_tokens: Vec<Named<SizeTokensFit>>,
    /// Laws over training, `training.json` and `training-NAME.json`.
    pub training: Vec<Named<TrainingFit>>,
    /// Sweeps, `isoflop.json` and `isoflop-NAME.json`.
    pub isoflop: Vec<Named<IsoflopFit>>,
}

/// A result with the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T> {
    /// The file without `.json`, e.g. `relative-mmlu`.
    pub file: String,
    /// What it holds.
    pub fit: T,
}

impl Results {
    /// Reads all results of a folder.
    ///
    /// # Errors
    /// [`ReportError::Result`] when a file has another layout or is no such result,
    /// [`ReportError::Foreign`] when it is about a model that the study has not measured,
    /// [`ReportError::Nothing`] when there is none at all, [`ReportError::Records`] when there are
    /// records and they cannot be read.
    pub fn read(folder: &Path) -> Result<Self> {
        let (laws, examples) = (folder.join(LAWS), folder.join(EXAMPLES));
        let found = Self {
            laws: laws.exists().then(|| StudyFit::load(&laws)).transpose()?,
            examples: examples.exists().then(|| RankExamples::load(&examples)).transpose()?,
            relative: all(folder, "relative")?,
            choices: all(folder, "choices")?,
            stages: all(folder, "stages")?,
            forecasts: all(folder, "forecast")?,
            size_tokens: all(folder, "size-tokens")?,
            training: all(folder, "training")?,
            isoflop: all(folder, "isoflop")?,
        };
        if (Self { examples: None, ..found.clone() }) == Self::default() {
            return Err(ReportError::Nothing { folder: folder.to_owned() });
        }
        found.belong(folder)?;
        Ok(found)
    }

    /// Refuses results of another study: those about a model that this one has not.
    fn belong(&self, folder: &Path) -> Result<()> {
        let Some(there) = self.models(folder)? else { return Ok(()) };
        for found in &self.relative {
            // Of a table, which may hold any models.
            if !found.fit.files.is_empty() {
                continue;
            }
            let laws = found.fit.families.iter().flat_map(|family| &family.absolute);
            let models = laws.flat_map(|law| &law.points).map(|point| point.label.as_str());
            refuse_foreign::<RelativeFit>(folder, &found.file, models, &there)?;
        }
        for found in &self.choices {
            let models = found.fit.groups.iter().flat_map(|group| &group.models);
            let models = models.map(|model| model.model.as_str());
            refuse_foreign::<ChoicesFit>(folder, &found.file, models, &there)?;
        }
        Ok(())
    }

    /// The models of the study by its records, else by its laws; `None` where neither is there.
    fn models(&self, folder: &Path) -> Result<Option<BTreeSet<String>>> {
        if folder.join("study.json").exists() {
            let runs = Study::open(folder)?.runs()?;
            return Ok(Some(
                runs.into_iter().map(|run| run.record.provenance.model.name).collect(),
            ));
        }
        let of_laws = |laws: &StudyFit| {
            let models = laws.groups.iter().flat_map(|group| &group.models);
            models.map(|model| model.name.clone()).collect()
        };
        Ok(self.laws.as_ref().map(of_laws))
    }
}

/// The results of a kind, by name of their files.
fn all<T: Saved>(folder: &Path, kind: &str) -> Result<Vec<Named<T>>> {
    let entries =
        fs::read_dir(folder).map_err(|_| ReportError::Nothing { folder: folder.to_owned() })?;
    let mut files: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|stem| {
            stem.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|file| Ok(Named { fit: T::load(&folder.join(format!("{file}.json")))?, file }))
        .collect()
}

fn refuse_foreign<'a, T: Saved>(
    folder: &Path,
    file: &str,
    mut models: impl Iterator<Item = &'a str>,
    there: &BTreeSet<String>,
) -> Result<()> {
    match models.find(|model| !there.contains(*model)) {
        None => Ok(()),
        Some(model) => Err(ReportError::Foreign {
            path: folder.join(format!("{file}.json")),
            model: model.to_owned(),
            command: T::COMMAND,
        }),
    }
}
