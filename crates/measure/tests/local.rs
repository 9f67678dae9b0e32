//! The local engine: folders on disk in, records out.

mod common;

use std::fs;
use std::path::Path;

use common::{WORDS, assert_same, session, settings, text, tiny, tokenizer_json};
use relscale_decoder::families::LoadOptions;
use relscale_decoder::head::Vocabulary;
use relscale_decoder::kernels::{Choice, Dtype, Format};
use relscale_decoder::{Model, Sequence, processor};
use relscale_measure::engines::{EngineOptions, local};
use relscale_measure::{CorpusSource, Error, ModelRequest, ModelSource, Settings};
use relscale_records::provenance::VocabularyRule;
use relscale_records::{ScoredToken, Study};

/// Rows of the head: nine more than the tokenizer's 51.
const ROWS: usize = 60;

/// A model folder with a tokenizer.
fn folder(root: &Path, name: &str, seed: u64, context: usize) -> ModelSource<'static> {
    let folder = root.join(name);
    tiny::llama(&folder, ROWS, seed, context);
    fs::write(folder.join("tokenizer.json"), tokenizer_json("null")).unwrap();
    source(&folder)
}

fn source(folder: &Path) -> ModelSource<'static> {
    let request = ModelRequest::parse(&folder.to_string_lossy()).unwrap();
    local::source(&request, &EngineOptions::default()).unwrap()
}

/// A corpus of one line a document.
fn lines(root: &Path) -> CorpusSource<'static> {
    let path = root.join("lines.txt");
    let lines: Vec<String> = [40, 1, 90, 7, 250].iter().map(|&n| text(n, n)).collect();
    fs::write(&path, lines.join("\n")).unwrap();
    CorpusSource::from_spec(format!("{}?split=lines", path.display()).parse().unwrap())
}

fn rows(study: &Path) -> Vec<ScoredToken> {
    let run = Study::open(study).unwrap().current().unwrap().remove(0);
    run.rows().unwrap().collect::<Result<Vec<_>, _>>().unwrap().concat()
}

#[test]
fn records_hold_what_the_decoder_says() {
    let root = tempfile::tempdir().unwrap();
    let models = [folder(root.path(), "tiny", 1, 300)];
    let study = root.path().join("study");
    session(&study, &models, &[lines(root.path())], &settings()).0.unwrap();

    // Contexts are longer than documents: a document is one window.
    let model = Model::load(&root.path().join("tiny"), LoadOptions::default()).unwrap();
    let counted = Vocabulary::only(ROWS, |row| row <= WORDS);
    let rows = rows(&study);
    for document in [0, 2, 3, 4] {
        let own: Vec<&ScoredToken> = rows.iter().filter(|row| row.document == document).collect();
        let mut tokens = vec![0; own.len() + 1];
        let tokenizer = common::tokenizer();
        let file = fs::read_to_string(root.path().join("lines.txt")).unwrap();
        let line = file.lines().nth(document as usize).unwrap();
        tokens.copy_from_slice(&tokenizer.encode(line).unwrap().ids);
        let scored: Vec<u32> = (1..tokens.len() as u32).collect();
        let expected =
            model.score(&[Sequence { tokens: &tokens, scored: &scored }], &counted).unwrap();
        for (row, expected) in own.iter().zip(&expected[0]) {
            let (score, expected) = (row.score.unwrap(), expected.unwrap());
            assert_eq!(
                (score.rank, score.ties.unwrap(), score.argmax.unwrap()),
                (expected.rank, expected.ties, expected.argmax)
            );
            assert_eq!(score.nll.to_bits(), expected.nll.to_bits());
            assert_eq!(score.entropy.unwrap().to_bits(), expected.entropy.to_bits());
            assert_eq!(row.token, tokens[row.position as usize]);
        }
    }
    let tally = Study::open(&study).unwrap().tallies().unwrap().remove(0);
    assert_eq!((tally.model.as_str(), tally.family.as_str()), ("tiny", "llama"));
    assert_eq!(tally.non_embedding, tiny::NON_EMBEDDING);
    assert_eq!(tally.corpus, "lines");
    assert_eq!(tally.vocabulary.scored, WORDS + 1);
}

#[test]
fn neither_batch_nor_threads_change_a_byte() {
    let root = tempfile::tempdir().unwrap();
    let run = |name: &str, batch_tokens: usize| {
        let models = [folder(root.path(), "tiny", 1, 32), folder(root.path(), "other", 2, 48)];
        let settings = Settings { batch_tokens: Some(batch_tokens), ..settings() };
        session(&root.path().join(name), &models, &[lines(root.path())], &settings).0.unwrap();
    };
    run("reference", 64);
    for (name, batch_tokens, threads) in [("one", 1, 1), ("some", 100, 3), ("all", 1 << 20, 2)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(name, batch_tokens));
        assert_same(&root.path().join("reference"), &root.path().join(name));
    }
}

#[test]
fn one_changed_weight_is_a_new_run() {
    let root = tempfile::tempdir().unwrap();
    let study = root.path().join("study");
    let corpora = [lines(root.path())];
    session(&study, &[folder(root.path(), "tiny", 1, 64)], &corpora, &settings()).0.unwrap();
    tiny::spoil(&root.path().join("tiny"), 1, 0.25);
    session(&study, &[source(&root.path().join("tiny"))], &corpora, &settings()).0.unwrap();
    let runs = Study::open(&study).unwrap().runs().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs.iter().filter(|run| run.current).count(), 1);
}

/// Another machine goes on: the record tells both. What was finished elsewhere stays as it is.
#[test]
fn a_run_that_is_gone_on_with_elsewhere_tells_both() {
    let root = tempfile::tempdir().unwrap();
    let study = root.path().join("study");
    let corpora = [lines(root.path())];
    let models = [folder(root.path(), "tiny", 1, 64)];
    let measured = || session(&study, &models, &corpora, &settings()).0.unwrap();
    let record = || Study::open(&study).unwrap().runs().unwrap().remove(0).record;
    measured();
    let here = record().computed_on;
    let best = Format::new(Dtype::F32, Choice::Best);
    assert_eq!((here.len(), here[0].kernels.as_str()), (1, best.kernels().name()));
    assert_eq!(here[0].processor, processor::name());

    let file = study.join("runs").join(record().folder_name()).join("run.json");
    let text = fs::read_to_string(&file).unwrap();
    let elsewhere = text.replace(processor::name(), "~ another");
    assert!(text != elsewhere);
    fs::write(&file, &elsewhere).unwrap();
    measured();
    assert_eq!(fs::read_to_string(&file).unwrap(), elsewhere);

    fs::remove_file(file.with_file_name("part-00000.parquet")).unwrap();
    measured();
    let both = record().computed_on;
    assert_eq!((both.len(), &both[0]), (2, &here[0]));
    assert_eq!(both[1].processor, "~ another");
    // Nothing that decides the numbers: the same run.
    assert_eq!(Study::open(&study).unwrap().runs().unwrap().len(), 1);
}

#[test]
fn nan_weights_are_an_error_that_names_the_model() {
    let root = tempfile::tempdir().unwrap();
    let models = [folder(root.path(), "broken", 1, 64)];
    tiny::spoil(&root.path().join("broken"), 16, f32::NAN);
    let error = session(&root.path().join("study"), &models, &[lines(root.path())], &settings())
        .0
        .unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::AllNonFinite { .. }), "{message}");
    assert!(message.contains("`broken`") && message.contains("weights are damaged"), "{message}");
}

#[test]
fn token_ids_need_no_tokenizer_but_all_rows() {
    let root = tempfile::tempdir().unwrap();
    tiny::llama(&root.path().join("tiny"), ROWS, 1, 64);
    let path = root.path().join("x.ids");
    fs::write(&path, "1 2 3 59 4 5\n7 8 9\n").unwrap();
    let corpus =
        || CorpusSource::from_spec(format!("{}?format=text", path.display()).parse().unwrap());
    let model = || [source(&root.path().join("tiny"))];

    let rows_rule = Settings { vocabulary: Some(VocabularyRule::Rows), ..settings() };
    let study = root.path().join("study");
    session(&study, &model(), &[corpus()], &rows_rule).0.unwrap();
    assert_eq!(rows(&study).len(), 5 + 2);
    // Nobody says what these ids are: no vocabulary, and classes by frequency.
    assert!(!study.join("vocabularies").exists());
    let tally = Study::open(&study).unwrap().tallies().unwrap().remove(0);
    assert!(!tally.classes.unwrap().basis.vocabulary);

    let error = session(&study, &model(), &[corpus()], &settings()).0.unwrap_err();
    assert!(
        matches!(error, Error::NoTokenizer { .. }) && error.to_string().contains("--vocab rows")
    );
    let error = session(&study, &model(), &[lines(root.path())], &rows_rule).0.unwrap_err();
    assert!(matches!(error, Error::NoTokenizer { .. }));

    // Ids that the model has no row for, and ids that are none of the tokenizer's.
    fs::write(&path, "1 2 3\n4 60\n").unwrap();
    let message = session(&study, &model(), &[corpus()], &rows_rule).0.unwrap_err().to_string();
    assert!(
        message.contains("position 1: token id 60") && message.contains("60 rows"),
        "{message}"
    );
    fs::write(&path, "1 2 59\n").unwrap();
    let with_tokenizer = [folder(root.path(), "with", 1, 64)];
    let error = session(&study, &with_tokenizer, &[corpus()], &settings()).0.unwrap_err();
    assert!(matches!(error, Error::UnknownId { id: 59, position: 2, .. }), "{error}");
}

#[test]
fn what_the_tokenizer_would_put_before_a_text_becomes_the_prefix() {
    let root = tempfile::tempdir().unwrap();
    folder(root.path(), "tiny", 1, 64);
    let template = format!(
        r#"{{"type":"TemplateProcessing","single":[{{"SpecialToken":{{"id":"<s>","type_id":0}}}},
        {{"Sequence":{{"id":"A","type_id":0}}}}],"pair":[{{"Sequence":{{"id":"A","type_id":0}}}},
        {{"Sequence":{{"id":"B","type_id":1}}}}],
        "special_tokens":{{"<s>":{{"id":"<s>","ids":[{WORDS}],"tokens":["<s>"]}}}}}}"#
    );
    fs::write(root.path().join("tiny/tokenizer.json"), tokenizer_json(&template)).unwrap();
    let study = root.path().join("study");
    let models = [source(&root.path().join("tiny"))];
    session(&study, &models, &[lines(root.path())], &settings()).0.unwrap();
    let run = Study::open(&study).unwrap().current().unwrap().remove(0);
    let prefix = run.record().provenance.protocol.prefix.clone().unwrap();
    assert_eq!(
        (prefix.id, prefix.reason.as_str()),
        (WORDS, "the tokenizer puts it before every text")
    );
    // Every token is scored, the only one of the second document too.
    assert_eq!(rows(&study).len(), 40 + 1 + 90 + 7 + 250);
}

#[test]
fn a_broken_folder_is_found_before_anything_is_measured() {
    let root = tempfile::tempdir().unwrap();
    folder(root.path(), "tiny", 1, 64);
    let path = root.path().join("tiny/model.safetensors");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 10]).unwrap();
    let request = ModelRequest::parse(&root.path().join("tiny").to_string_lossy()).unwrap();
    let error = local::source(&request, &EngineOptions::default()).err().unwrap();
    let message = error.to_string();
    assert!(message.contains("model `tiny`") && message.contains("model.safetensors"), "{message}");
}
