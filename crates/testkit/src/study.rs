//! A study of models that never were: their ranks follow a law that one knows.

use std::path::Path;

use relscale_records::parquet::{DocumentRow, PartRange};
use relscale_records::provenance::sha256_bytes;
use relscale_records::study::{RunPlan, RunRecord};
use relscale_records::{Provenance, Score, ScoredToken, Study};

/// The law: `-ln RBP_k = factor k^-fall S^-alpha`, cross entropy `8 S^-beta`.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeUpFamily {
    /// Name of the corpus.
    pub corpus: String,
    /// Non-embedding parameters of the models.
    pub sizes: Vec<u64>,
    /// Exponent of the rank law, the same for all k.
    pub alpha: f64,
    /// Exponent of the cross entropy.
    pub beta: f64,
    /// Documents, of [`DOCUMENT`] tokens each.
    pub documents: u32,
}

impl Default for MadeUpFamily {
    /// Five models over two decades, alpha 0.12, beta 0.1.
    fn default() -> Self {
        Self {
            corpus: "prose".to_owned(),
            sizes: vec![10_000, 32_000, 100_000, 320_000, 1_000_000],
            alpha: 0.12,
            beta: 0.1,
            documents: 40,
        }
    }
}

/// Tokens of a document.
pub const DOCUMENT: u32 = 100;

/// |V|.
const VOCABULARY: u32 = 1_000;

/// Adds the family to the study in `folder`, which is made where it is not there.
///
/// The law holds to about one token in all of them: the ranks are its quantiles, spread over the
/// documents.
///
/// # Panics
/// The folder cannot be written.
pub fn made_up_study(folder: &Path, family: &MadeUpFamily) {
    let mut study = Study::create_or_open(folder).unwrap_or_else(|error| panic!("{error}"));
    for &size in &family.sizes {
        write_run(&mut study, family, size).unwrap_or_else(|error| panic!("{error}"));
    }
}

fn write_run(study: &mut Study, family: &MadeUpFamily, size: u64) -> relscale_records::Result<()> {
    let MadeUpFamily { documents, .. } = *family;
    let total = documents * DOCUMENT;
    let plan =
        RunPlan { documents, scored: u64::from(total), part_tokens: u64::from(total), parts: 1 };
    let run = study.start(&RunRecord::new(provenance(family, size), plan))?;
    let rows: Vec<DocumentRow> = (0..documents).map(document_row).collect();
    run.write_documents(&rows)?;
    let mut writer = run.part_writer(0)?;
    let nll = 8.0 * (size as f64).powf(-family.beta);
    for document in 0..documents {
        let token = |position: u32| {
            // A stride without common divisor with the total visits every quantile once, in no
            // order.
            let at = u64::from(document * DOCUMENT + position) * 7_919 % u64::from(total);
            let quantile = (at as f64 + 0.5) / f64::from(total);
            let rank = rank(quantile, size, family.alpha);
            let score = Score {
                rank,
                ties: Some(0),
                nll: nll as f32,
                entropy: Some(nll as f32),
                argmax: Some(0),
            };
            ScoredToken {
                document,
                position: position + 1,
                token: 1,
                bytes: 4,
                context: position + 1,
                score: Some(score),
            }
        };
        writer.write(&(0..DOCUMENT).map(token).collect::<Vec<_>>())?;
    }
    let meta = writer.finish(PartRange { index: 0, first_document: 0, end_document: documents })?;
    run.finish(vec![meta], 0)?;
    study.set_current(&run)
}

/// The smallest k with `RBP_k >= quantile`.
fn rank(quantile: f64, size: u64, alpha: f64) -> u32 {
    let at_one = 4.0 * (size as f64).powf(-alpha);
    let k = (at_one / -quantile.ln()).powf(1.0 / 0.6).ceil();
    (k as u32).clamp(1, VOCABULARY)
}

fn document_row(ordinal: u32) -> DocumentRow {
    DocumentRow {
        ordinal,
        id: format!("document-{ordinal}"),
        tags: Default::default(),
        tokens: u64::from(DOCUMENT) + 1,
        bytes: 4 * (u64::from(DOCUMENT) + 1),
        words: None,
        scored: u64::from(DOCUMENT),
    }
}

fn provenance(family: &MadeUpFamily, size: u64) -> Provenance {
    let mut provenance = Provenance::example();
    provenance.model.name = format!("made-up-{size}");
    provenance.model.family = "made-up".to_owned();
    provenance.model.weights_sha256 = sha256_bytes(provenance.model.name.as_bytes());
    provenance.model.parameters.non_embedding = size;
    provenance.corpus.name.clone_from(&family.corpus);
    provenance.corpus.text_sha256 = sha256_bytes(family.corpus.as_bytes());
    provenance.corpus.documents = u64::from(family.documents);
    let vocabulary = &mut provenance.scoring.vocabulary;
    (vocabulary.tokenizer, vocabulary.with_added, vocabulary.rows) =
        (VOCABULARY, VOCABULARY, VOCABULARY);
    vocabulary.scored = VOCABULARY;
    provenance
}
