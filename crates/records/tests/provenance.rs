//! The key: every input moves it, nothing else does.

use std::collections::BTreeSet;

use relscale_records::Provenance;
use relscale_records::provenance::{
    DrawProvenance, DrawRule, LimitProvenance, PrefixProvenance, TieRule, VocabularyRule,
    sha256_bytes, sha256_file,
};

type Change = (&'static str, fn(&mut Provenance));

#[test]
fn every_input_changes_the_key() {
    let changes: &[Change] = &[
        ("weights", |p| p.model.weights_sha256 = sha256_bytes(b"one byte more")),
        ("config", |p| p.model.config_sha256 = sha256_bytes(b"other config")),
        ("architecture", |p| p.model.architecture = "opt".into()),
        ("stored dtype", |p| p.model.stored_dtype = "bf16".into()),
        ("S", |p| p.model.parameters.non_embedding += 1),
        ("tokenizer", |p| p.tokenizer.sha256 = sha256_bytes(b"other tokenizer")),
        ("text", |p| p.corpus.text_sha256 = sha256_bytes(b"other text")),
        ("documents", |p| p.corpus.documents += 1),
        ("protocol", |p| p.protocol.name = "paper".into()),
        ("stride", |p| drop(p.protocol.parameters.insert("stride".into(), 16.into()))),
        ("one more parameter", |p| drop(p.protocol.parameters.insert("x".into(), 1.into()))),
        ("prefix", |p| {
            p.protocol.prefix = Some(PrefixProvenance { id: 2, reason: "config".into() })
        }),
        ("engine", |p| p.scoring.engine = "local-f32".into()),
        ("engine revision", |p| p.scoring.engine_revision += 1),
        ("compute dtype", |p| p.scoring.compute_dtype = "bf16".into()),
        ("tie rule", |p| p.scoring.tie_rule = TieRule::Greater),
        ("vocabulary rule", |p| p.scoring.vocabulary_rule = VocabularyRule::Rows),
        ("rows", |p| p.scoring.vocabulary.rows += 1),
        ("limit", |p| p.limit = Some(LimitProvenance { tokens: 500_000, drawn: None })),
        ("draw", |p| {
            let drawn = Some(DrawProvenance { by: DrawRule::Sha256, seed: 0 });
            p.limit = Some(LimitProvenance { tokens: 500_000, drawn });
        }),
        ("seed", |p| {
            let drawn = Some(DrawProvenance { by: DrawRule::Sha256, seed: 1 });
            p.limit = Some(LimitProvenance { tokens: 500_000, drawn });
        }),
    ];
    let original = Provenance::example().key();
    let mut keys = BTreeSet::from([original.clone()]);
    for (what, change) in changes {
        let mut provenance = Provenance::example();
        change(&mut provenance);
        assert!(keys.insert(provenance.key()), "{what} does not change the key");
    }
}

#[test]
fn names_versions_and_reasons_do_not_change_the_key() {
    let changes: &[Change] = &[
        ("model name", |p| p.model.name = "renamed".into()),
        ("family", |p| p.model.family = "other".into()),
        ("files", |p| p.model.files.push("more".into())),
        ("corpus name", |p| p.corpus.name = "renamed".into()),
        ("corpus description", |p| p.corpus.description = "elsewhere".into()),
        ("tokenizer source", |p| p.tokenizer.source = "vocab.json + merges.txt".into()),
        ("program version", |p| p.tool.version = "99.0.0".into()),
    ];
    for (what, change) in changes {
        let mut provenance = Provenance::example();
        change(&mut provenance);
        assert_eq!(provenance.key(), Provenance::example().key(), "{what} changes the key");
    }
}

#[test]
fn provenance_survives_json() {
    let mut provenance = Provenance::example();
    provenance.protocol.parameters.insert("fraction".into(), serde_json::json!(0.1));
    let text = provenance.to_canonical_json().unwrap();
    let back: Provenance = serde_json::from_str(&text).unwrap();
    assert_eq!(back, provenance);
    assert_eq!(back.to_canonical_json().unwrap(), text);
}

#[test]
fn a_file_hashes_like_its_bytes_whatever_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    for size in [0, 1, 65_535, 65_536, 65_537, 200_000] {
        let bytes: Vec<u8> = (0..size).map(|i: u32| i as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(sha256_file(&path).unwrap(), sha256_bytes(&bytes));
    }
    let message = sha256_file(&folder.path().join("absent")).unwrap_err().to_string();
    assert!(message.contains("absent"), "{message}");
}
