//! Models as they were on the way: checkpoints that are kept, for laws over training.
//!
//! ```text
//! OUT/checkpoints/RUN-stepN/     a model folder, with training.json: run, step, tokens, seed
//! OUT/checkpoints/models.toml    all of them, as a manifest of models
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use relscale_decoder::count::ParameterCount;
use relscale_decoder::spec::Spec;
use relscale_decoder::weights::Weights;
use relscale_records::atomic;
use serde::{Deserialize, Serialize};
use tokenizers::Tokenizer;

use crate::error::{Error, Result};
use crate::export::huggingface;

/// The folder of what is kept, in that of the models.
pub const FOLDER: &str = "checkpoints";

/// The manifest in it.
pub const MANIFEST: &str = "models.toml";

/// A kept model, as its `training.json` says; `None` there reads as absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    run: String,
    step: u32,
    /// Tokens seen.
    tokens: u64,
    seed: u64,
    /// Exact non-embedding parameters, S.
    params: u64,
    /// What decided the run: equal keys, equal bytes.
    key: String,
}

/// Which models of one run are kept, and where.
#[derive(Debug)]
pub struct Keep<'a> {
    folder: PathBuf,
    steps: Vec<u32>,
    tokenizer: &'a Tokenizer,
    run: &'a str,
    key: &'a str,
    seed: u64,
    tokens_a_step: u64,
}

/// Of which run models are kept.
#[derive(Debug, Clone, Copy)]
pub struct Of<'a> {
    /// Its name.
    pub run: &'a str,
    /// What decided it: equal keys, equal bytes.
    pub key: &'a str,
    /// Its seed.
    pub seed: u64,
    /// Its steps.
    pub steps: u32,
    /// Tokens of a step.
    pub tokens_a_step: u64,
    /// Its vocabulary.
    pub tokenizer: &'a Tokenizer,
}

/// The steps after which a model is kept, at most `times`: the last, half of it, a quarter, ...
pub fn steps(last: u32, times: u32) -> Vec<u32> {
    let halves = (0..times.min(u32::BITS)).map(|halvings| last >> halvings);
    let mut steps: Vec<u32> = halves.filter(|step| *step > 0).collect();
    steps.reverse();
    steps
}

impl<'a> Keep<'a> {
    /// Keeps the models of a run after `times` of its steps, in `out`; `from` is the step after
    /// which it goes on.
    ///
    /// # Errors
    /// [`Error::Occupied`] where one of an earlier step should be there and is not, or is another
    /// run's; [`Error::Records`] where the folder cannot be made.
    pub fn new(out: &Path, times: u32, of: Of<'a>, from: u32) -> Result<Self> {
        let keep = Self {
            folder: out.join(FOLDER),
            steps: steps(of.steps, times),
            tokenizer: of.tokenizer,
            run: of.run,
            key: of.key,
            seed: of.seed,
            tokens_a_step: of.tokens_a_step,
        };
        if times > 0 {
            atomic::inner_folder(&keep.folder)?;
        }
        for step in keep.steps.iter().filter(|step| **step <= from) {
            let folder = keep.place(*step);
            let there = read(&folder);
            if there.is_none_or(|there| there.key != keep.key || there.step != *step) {
                let run = out.join(keep.run);
                let differs = format!(
                    "without keeping {}, which is behind its step {from}",
                    folder.display()
                );
                return Err(Error::Occupied { path: run, differs });
            }
        }
        Ok(keep)
    }

    fn place(&self, step: u32) -> PathBuf {
        self.folder.join(format!("{}-step{step}", self.run))
    }

    /// Keeps the model after this step, where it is one of those.
    ///
    /// # Errors
    /// As [`huggingface::write`]; [`Error::Occupied`] where another run's model lies there.
    pub fn note(&self, step: u32, spec: &Spec, weights: &Weights) -> Result<()> {
        if self.steps.binary_search(&step).is_err() {
            return Ok(());
        }
        let kept = Kept {
            run: self.run.to_owned(),
            step,
            tokens: u64::from(step) * self.tokens_a_step,
            seed: self.seed,
            params: ParameterCount::from_spec(spec).non_embedding,
            key: self.key.to_owned(),
        };
        let folder = self.place(step);
        if folder.exists() {
            // Of a process that was killed before it could say how far it was: the same bytes.
            if read(&folder).as_ref() == Some(&kept) {
                return Ok(());
            }
            return Err(Error::Occupied { path: folder, differs: "another run or setting".into() });
        }
        huggingface::write(&folder, spec, weights, self.tokenizer, &kept)?;
        manifest(&self.folder)
    }
}

fn read(folder: &Path) -> Option<Kept> {
    serde_json::from_slice(&fs::read(folder.join("training.json")).ok()?).ok()
}

/// A row of the manifest.
#[derive(Serialize)]
struct Row {
    model: String,
    run: String,
    params: u64,
    tokens: u64,
    step: u32,
    seed: u64,
}

/// The manifest of models.
#[derive(Serialize)]
struct Manifest {
    params_convention: &'static str,
    model: Vec<Row>,
}

/// Writes the manifest of all that is kept in a folder.
fn manifest(folder: &Path) -> Result<()> {
    let entries =
        fs::read_dir(folder).map_err(|source| Error::Write { path: folder.to_owned(), source })?;
    let kept = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let model = entry.file_name().into_string().ok().filter(|name| !name.starts_with('.'))?;
        let Kept { run, step, tokens, seed, params, .. } = read(&entry.path())?;
        Some(Row { model, run, params, tokens, step, seed })
    });
    let mut model: Vec<Row> = kept.collect();
    model.sort_by(|one, other| {
        (one.params, &one.run, one.step).cmp(&(other.params, &other.run, other.step))
    });
    let manifest = Manifest { params_convention: "non-embedding", model };
    let text = toml::to_string(&manifest).unwrap_or_default();
    Ok(atomic::write_whole(&folder.join(MANIFEST), text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_halved_from_the_last() {
        assert_eq!(steps(2450, 4), [306, 612, 1225, 2450]);
        assert_eq!(steps(3, 9), [1, 3]);
        assert_eq!(steps(7, 0), Vec::<u32>::new());
        assert_eq!(steps(u32::MAX, u32::MAX).len(), 32);
    }
}
