//! The local engine faces the cases of `testdata/ranks` through a whole model: folder, forward
//! pass, head.

use relscale_measure::ModelRequest;
use relscale_measure::engine::{EngineWindow, Vocabulary};
use relscale_measure::engines::{EngineOptions, LocalEngine};
use relscale_testkit::ranks::{Said, cases, model_of_logits};

#[test]
fn the_local_engine_faces_every_case() {
    let folder = tempfile::tempdir().unwrap();
    for (number, case) in cases().into_iter().enumerate() {
        let logits = case.logits();
        let path = folder.path().join(number.to_string());
        model_of_logits(&path, &logits);
        let request = ModelRequest::parse(path.to_str().unwrap()).unwrap();
        let loaded = LocalEngine::load(&request, &EngineOptions::default(), None).unwrap();
        let takes_part =
            (0..logits.len() as u32).map(|row| !case.left_out.contains(&row)).collect();
        let windows = [EngineWindow { tokens: &[0, case.target], scored: &[1] }];
        let scores = loaded.engine.score(&windows, &Vocabulary::Tokens(takes_part)).unwrap();
        let said = scores[0][0].map(|s| Said {
            rank: s.rank,
            ties: s.ties.unwrap(),
            nll: s.nll,
            entropy: s.entropy.unwrap(),
            argmax: s.argmax.unwrap(),
        });
        case.check("local engine", said);
    }
}
