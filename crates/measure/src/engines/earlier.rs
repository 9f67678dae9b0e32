//! What a study holds already of the texts that are about to be measured: an engine that may pick
//! for itself goes on as it began, so that nothing is measured twice, in other numbers, because of
//! a noisy timing or of another machine.

use std::cmp::Reverse;
use std::path::Path;

use relscale_records::Study;

use crate::error::Result;

/// Runs of a study, finished or begun.
#[derive(Debug, Clone, Default)]
pub struct Earlier(Vec<Run>);

#[derive(Debug, Clone)]
struct Run {
    model: String,
    engine: String,
    standing: Standing,
}

/// How much a run counts, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Begun,
    Finished,
    Current,
}

impl Earlier {
    /// The runs of a study folder on texts of these names; none where there is no study.
    ///
    /// # Errors
    /// Those of reading a study that is there.
    pub fn read(study: &Path, corpora: &[&str]) -> Result<Self> {
        let study = match Study::open(study) {
            Err(relscale_records::Error::NoStudy { .. }) => return Ok(Self::default()),
            study => study?,
        };
        let runs = study.runs()?.into_iter().filter_map(|run| {
            let provenance = run.record.provenance;
            let standing = match (run.current, run.done) {
                (true, _) => Standing::Current,
                (false, Some(_)) => Standing::Finished,
                (false, None) => Standing::Begun,
            };
            let (model, engine) = (provenance.model.name, provenance.scoring.engine);
            let of_these = corpora.contains(&provenance.corpus.name.as_str());
            of_these.then_some(Run { model, engine, standing })
        });
        Ok(Self(runs.collect()))
    }

    /// Which of `engines` a model was measured by: itself, or else any other model, since a fit
    /// takes runs of one kind. Where there are several, the one that counts, then a finished one,
    /// then the first of the list.
    pub fn engine<'a>(&self, model: &str, engines: &[&'a str]) -> Option<&'a str> {
        let ranked = self.0.iter().filter_map(|run| {
            let at = engines.iter().position(|engine| *engine == run.engine)?;
            Some(((run.model == model, run.standing, Reverse(at)), engines[at]))
        });
        ranked.max_by_key(|(rank, _)| *rank).map(|(_, engine)| engine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_was_measured_by_goes_before_what_others_were() {
        let run = |model: &str, engine: &str, standing| Run {
            model: model.into(),
            engine: engine.into(),
            standing,
        };
        use Standing::{Begun, Current, Finished};
        let engines = ["local-f32", "local-bf16"];
        let earlier = Earlier(vec![
            run("a", "local-bf16", Begun),
            run("b", "local-f32", Current),
            run("c", "local-bf16", Current),
            run("c", "local-f32", Finished),
            run("d", "local-bf16", Begun),
            run("d", "local-f32", Begun),
            run("e", "vllm", Current),
        ]);
        for (model, engine) in [
            ("a", "local-bf16"),
            ("b", "local-f32"),
            ("c", "local-bf16"),
            ("d", "local-f32"),
            ("e", "local-f32"),
        ] {
            assert_eq!(earlier.engine(model, &engines), Some(engine), "{model}");
        }
        let other = Earlier(vec![run("e", "vllm", Current)]);
        assert_eq!(other.engine("e", &engines), None);
        assert_eq!(Earlier::default().engine("a", &engines), None);
    }

    #[test]
    fn without_a_study_there_is_nothing() {
        let place = tempfile::tempdir().unwrap();
        assert!(Earlier::read(&place.path().join("new"), &["a"]).unwrap().0.is_empty());
        std::fs::write(place.path().join("study.json"), "{").unwrap();
        assert!(Earlier::read(place.path(), &["a"]).is_err());
    }
}
