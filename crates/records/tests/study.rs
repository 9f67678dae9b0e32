//! The study folder: refusals, the lock, runs that come and go.

use std::fs;
use std::path::Path;

use relscale_records::error::Error;
use relscale_records::parquet::PartRange;
use relscale_records::study::{PartState, RunFolder, RunPlan, RunRecord};
use relscale_records::{
    Provenance, RunTally, Score, ScoredToken, SequenceGrid, Study, TallyOptions,
};

const PLAN: RunPlan = RunPlan { documents: 2, scored: 4, part_tokens: 2, parts: 2 };

fn range(index: u32) -> PartRange {
    PartRange { index, first_document: index, end_document: index + 1 }
}

fn rows(document: u32) -> [ScoredToken; 2] {
    [1, 2].map(|position| ScoredToken {
        document,
        position,
        token: 9,
        bytes: 4,
        context: position,
        score: Some(Score {
            rank: position,
            ties: Some(0),
            nll: 1.5,
            entropy: Some(2.0),
            argmax: Some(9),
        }),
    })
}

fn measure(run: &RunFolder) {
    let parts = [0, 1].map(|index| {
        let mut writer = run.part_writer(index).unwrap();
        writer.write(&rows(index)).unwrap();
        writer.finish(range(index)).unwrap()
    });
    run.write_documents(&[]).unwrap();
    run.finish(parts.to_vec(), 0).unwrap();
}

fn finished(study: &mut Study, provenance: Provenance) -> RunFolder {
    let run = study.start(&RunRecord::new(provenance, PLAN)).unwrap();
    measure(&run);
    study.set_current(&run).unwrap();
    run
}

#[test]
fn a_study_is_made_filled_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/study");
    let mut study = Study::create_or_open(&path).unwrap();
    let run = finished(&mut study, Provenance::example());
    assert!(run.name().starts_with("tiny--prose--"));
    drop(study);

    let study = Study::open(&path).unwrap();
    let tallies = study.tallies().unwrap();
    assert_eq!(tallies.len(), 1);
    assert_eq!(tallies[0].documents.len(), 2);
    assert_eq!(tallies[0].rbp().unwrap()[..2], [0.5, 1.0]);
    assert_eq!(tallies[0].bits_per_byte(), Some(6.0 / std::f64::consts::LN_2 / 16.0));
    // The totals alone, without the documents.
    assert_eq!(study.totals(&run).unwrap(), tallies[0].totals());
    // Ranks come in the same pass, and say the same.
    let ranks = tallies[0].ranks.as_ref().unwrap();
    let totals = tallies[0].totals();
    assert_eq!(ranks.tokens(), totals.scored);
    assert_eq!(
        ranks.iter().take_while(|bin| bin.rank <= 1).map(|bin| bin.tokens).sum::<u64>(),
        totals.hits[0]
    );
    assert_eq!(ranks.iter().map(|bin| bin.sum_nll).sum::<f64>(), totals.sum_nll);

    // Sequences come out of the same pass, on the grid that is asked for.
    let sequences = |tallies: Vec<RunTally>| tallies.into_iter().next().unwrap().sequences.unwrap();
    assert_eq!(sequences(tallies).grid, SequenceGrid::default());
    let grid = SequenceGrid { k: vec![1, 4], lengths: vec![2], ..SequenceGrid::default() };
    let asked = sequences(study.tallies_with(&TallyOptions { sequences: grid.clone() }).unwrap());
    assert_eq!((asked.grid, asked.documents.len()), (grid, 2));
    let refused = TallyOptions { sequences: SequenceGrid { k: vec![], ..SequenceGrid::default() } };
    assert!(matches!(study.tallies_with(&refused), Err(Error::SequenceGrid { .. })));
}

#[test]
fn a_changed_input_supersedes_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create_or_open(folder.path()).unwrap();
    let old = finished(&mut study, Provenance::example());
    let mut changed = Provenance::example();
    changed.model.weights_sha256.replace_range(..1, "0");
    let new = study.start(&RunRecord::new(changed, PLAN)).unwrap();
    assert_ne!(old.name(), new.name());

    // Until the new run is finished, the old one counts.
    assert!(matches!(study.set_current(&new), Err(Error::Unfinished { .. })));
    assert_eq!(study.current().unwrap()[0].name(), old.name());
    measure(&new);
    study.set_current(&new).unwrap();
    assert_eq!(study.current().unwrap()[0].name(), new.name());

    let runs = study.runs().unwrap();
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| run.done.is_some()));
    assert_eq!(runs.iter().filter(|run| run.current).count(), 1);
}

#[test]
fn a_family_set_later_wins() {
    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create_or_open(folder.path()).unwrap();
    finished(&mut study, Provenance::example());
    study.set_family("tiny", "our own").unwrap();
    drop(study);
    let study = Study::open(folder.path()).unwrap();
    assert_eq!(study.tallies().unwrap()[0].family, "our own");
}

#[test]
fn another_tools_folder_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "years of work").unwrap();
    let error = Study::create_or_open(folder.path()).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::NotAStudy { .. }));
    assert!(message.contains("thesis.tex") && message.contains("--out"), "{message}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    // A file in its place, too.
    let file = folder.path().join("thesis.tex");
    assert!(Study::create_or_open(&file).is_err());
    assert!(matches!(Study::open(folder.path()), Err(Error::NoStudy { .. })));
}

#[test]
fn a_study_killed_at_birth_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".lock"), "4242\n").unwrap();
    fs::write(folder.path().join("study.json.tmp"), "{\"for").unwrap();
    Study::create_or_open(folder.path()).unwrap();
    assert!(!folder.path().join("study.json.tmp").exists());
}

#[test]
fn a_newer_or_broken_study_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("study.json");
    fs::write(&file, r#"{"format": 3, "unheard": "of"}"#).unwrap();
    for result in [Study::open(folder.path()), Study::create_or_open(folder.path())] {
        assert!(matches!(result.unwrap_err(), Error::NewerFormat { found: 3, .. }));
    }
    fs::write(&file, r#"{"format": 1, "tool"#).unwrap();
    assert!(matches!(Study::open(folder.path()).unwrap_err(), Error::Json { .. }));
}

#[test]
fn two_writers_at_once_are_one_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let first = Study::create_or_open(folder.path()).unwrap();
    let error = Study::create_or_open(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Locked { process: Some(id), .. } if id == std::process::id()));
    Study::open(folder.path()).expect("a reader does not mind");
    drop(first);
    Study::create_or_open(folder.path()).expect("free again");
    assert_eq!(fs::read(folder.path().join(".lock")).unwrap(), b"");
}

#[test]
fn leftovers_of_a_killed_writer_go_and_parts_stay() {
    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create_or_open(folder.path()).unwrap();
    let run = finished(&mut study, Provenance::example());
    let cut = run.path().join("part-00002.parquet.tmp");
    fs::write(&cut, "cut").unwrap();
    let again = study.start(&RunRecord::new(Provenance::example(), PLAN)).unwrap();
    assert!(!cut.exists());
    assert!(matches!(again.part_state(range(1)).unwrap(), PartState::Finished(_)));
}

#[test]
fn parts_are_looked_at_before_they_are_believed() {
    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create_or_open(folder.path()).unwrap();
    let run = finished(&mut study, Provenance::example());
    assert!(matches!(run.part_state(range(7)).unwrap(), PartState::Missing));

    // A good part in the wrong place.
    let (first, second) = (run.part_path(0), run.part_path(1));
    fs::copy(&first, &second).unwrap();
    assert!(matches!(run.part_state(range(1)), Err(Error::ForeignPart { .. })));
    assert!(matches!(run.tally(), Err(Error::ForeignPart { .. } | Error::Damaged { .. })));

    // A good part of another run.
    let mut other = Provenance::example();
    other.scoring.engine_revision += 1;
    let other = finished(&mut study, other);
    fs::copy(other.part_path(1), &second).unwrap();
    let error = run.part_state(range(1)).unwrap_err();
    assert!(error.to_string().contains("belongs to another run"), "{error}");

    // A cut one.
    let whole = fs::read(&first).unwrap();
    fs::write(&first, &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(run.part_state(range(0)).unwrap(), PartState::Damaged(_)));
    let error = run.tally().unwrap_err();
    assert!(error.to_string().contains("part-00000.parquet"), "{error}");

    // None.
    fs::remove_file(&first).unwrap();
    assert!(matches!(run.tally(), Err(Error::MissingPart { .. })));
}

#[test]
fn an_edited_run_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create_or_open(folder.path()).unwrap();
    let run = finished(&mut study, Provenance::example());
    let file = run.path().join("run.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"non_embedding\": 3000", "\"non_embedding\": 4000")).unwrap();
    assert!(matches!(study.tallies(), Err(Error::RunMismatch { .. })));
}

#[test]
fn awkward_names_stay_inside_the_study() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study");
    let mut study = Study::create_or_open(&path).unwrap();
    let mut provenance = Provenance::example();
    provenance.model.name = "../../outside".into();
    provenance.corpus.name = "a/b: *?".into();
    let run = finished(&mut study, provenance);
    assert_eq!(run.path().parent().unwrap(), path.join("runs"));
    assert_eq!(study.tallies().unwrap()[0].model, "../../outside");
    let outside: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(outside.len(), 1);
}

#[test]
fn a_run_that_is_not_finished_has_no_tally() {
    let folder = tempfile::tempdir().unwrap();
    let mut study = Study::create_or_open(folder.path()).unwrap();
    let run = study.start(&RunRecord::new(Provenance::example(), PLAN)).unwrap();
    assert!(matches!(run.tally(), Err(Error::Unfinished { .. })));
    assert!(study.tallies().unwrap().is_empty());
    assert!(study.runs().unwrap()[0].done.is_none());
    assert!(Path::new(&run.path().join("run.json")).exists());
}
