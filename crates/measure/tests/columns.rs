//! Engines that tell less: what is lacking stays lacking up to the laws, and is never guessed.

mod common;

use common::{corpus, documents, mock, model, session, settings};
use relscale_measure::engines::MockEngine;
use relscale_measure::{Error, Event, ModelSource, Settings};
use relscale_records::Study;
use relscale_records::provenance::{ScoreColumn, TieRule};

fn told_by(change: impl Fn(&mut MockEngine) + Clone + 'static) -> ModelSource<'static> {
    model(move || {
        let mut engine = mock("m");
        change(&mut engine);
        engine
    })
}

#[test]
fn columns_that_an_engine_lacks_are_null_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let caution = "its logits are on a coarse grid";
    let poor = told_by(move |engine| {
        engine.lacks = ScoreColumn::ALL.to_vec();
        engine.cautions = vec![caution.to_owned()];
    });
    let (result, events) =
        session(folder.path(), &[poor], &[corpus("a", documents())], &settings());
    let scored = result.unwrap()[0].done.totals.scored;
    assert!(events.iter().any(|event| {
        matches!(event, Event::Warning(warning) if warning.to_string() == format!("m: {caution}"))
    }));
    let study = Study::open(folder.path()).unwrap();
    let run = study.current().unwrap().remove(0);
    let scoring = &run.record().provenance.scoring;
    assert_eq!(
        (scoring.lacks.as_slice(), scoring.rank_rule),
        (&ScoreColumn::ALL[..], TieRule::AtLeast)
    );
    let tally = study.tallies().unwrap().remove(0);
    assert_eq!(tally.cautions, [caution]);
    let totals = tally.totals();
    assert_eq!((totals.scored, totals.tied, totals.sum_entropy), (scored, None, None));

    // Ranks and losses are those of an engine that tells all.
    let whole = tempfile::tempdir().unwrap();
    session(whole.path(), &[told_by(|_| ())], &[corpus("a", documents())], &settings()).0.unwrap();
    let all = Study::open(whole.path()).unwrap().tallies().unwrap().remove(0).totals();
    assert_eq!((all.hits, all.sum_nll.to_bits()), (totals.hits, totals.sum_nll.to_bits()));
    assert!(all.tied.is_some() && all.sum_entropy.is_some());
}

/// `paper` counts equal logits in the model's favour, which needs ties.
#[test]
fn a_tie_rule_that_cannot_be_had_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let paper = Settings { part_tokens: 100, ..Settings::for_protocol("paper") };
    let poor = || told_by(|engine| engine.lacks = vec![ScoreColumn::Ties]);
    let error = session(folder.path(), &[poor()], &[corpus("a", documents())], &paper).0;
    let error = error.unwrap_err();
    assert!(matches!(error, Error::OtherTies { rule: TieRule::AtLeast, .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("`paper`") && message.contains("(>=)"), "{message}");
    let other = Settings { tie_rule: None, ..paper };
    session(folder.path(), &[poor()], &[corpus("a", documents())], &other).0.unwrap();
}

#[test]
fn an_engine_that_tells_against_its_word_is_caught() {
    // The mock says that it tells all, and the wrapper takes the entropy away.
    struct Silent(MockEngine);
    impl relscale_measure::Engine for Silent {
        fn identity(&self) -> relscale_measure::engine::EngineIdentity {
            self.0.identity()
        }
        fn model(&self) -> &relscale_records::provenance::ModelProvenance {
            self.0.model()
        }
        fn rows(&self) -> u32 {
            self.0.rows()
        }
        fn context(&self) -> Option<usize> {
            self.0.context()
        }
        fn score(
            &self,
            windows: &[relscale_measure::EngineWindow<'_>],
            vocabulary: &relscale_measure::engine::Vocabulary,
        ) -> relscale_measure::Result<Vec<Vec<Option<relscale_records::Score>>>> {
            let mut scores = self.0.score(windows, vocabulary)?;
            scores.iter_mut().flatten().flatten().for_each(|score| score.entropy = None);
            Ok(scores)
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let source = ModelSource {
        load: Box::new(|_| {
            Ok(relscale_measure::LoadedModel {
                engine: Box::new(Silent(mock("m"))),
                unused_tensors: Vec::new(),
                files_not_read: Vec::new(),
                bos: None,
                learned: None,
            })
        }),
        ..model(|| mock("m"))
    };
    let error = session(folder.path(), &[source], &[corpus("a", documents())], &settings()).0;
    let message = error.unwrap_err().to_string();
    assert!(message.contains("entropy is told or not"), "{message}");
}
