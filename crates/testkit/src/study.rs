//! A study of models that never were: their ranks follow a law that one knows, by token or, with a
//! vocabulary that says where words begin, by word.

use std::path::Path;

use relscale_records::parquet::{DocumentRow, PartRange};
use relscale_records::provenance::sha256_bytes;
use relscale_records::study::{RunPlan, RunRecord};
use relscale_records::vocabulary::{TokenKind, VocabularyEntry};
use relscale_records::{Provenance, Score, ScoredToken, Study, Vocabulary};

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
    /// Documents, of [`DOCUMENT`] tokens each; with `pieces` of so many words.
    pub documents: u32,
    /// The family's name.
    pub family: String,
    /// Tokens of a word, one to three, by a tokenizer of which the study keeps the vocabulary. The
    /// law is then one of words: the first token of a word has its rank, the others rank 1. Without
    /// it tokens are tokens and nobody knows of what.
    pub pieces: Option<u32>,
}

impl Default for MadeUpFamily {
    /// Five models over two decades, alpha 0.12, beta 0.1; no vocabulary.
    fn default() -> Self {
        Self {
            corpus: "prose".to_owned(),
            sizes: vec![10_000, 32_000, 100_000, 320_000, 1_000_000],
            alpha: 0.12,
            beta: 0.1,
            documents: 40,
            family: "made-up".to_owned(),
            pieces: None,
        }
    }
}

/// Tokens of a document that are scored; with [`MadeUpFamily::pieces`] words.
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
    if let Some(pieces) = family.pieces {
        let kept = vocabulary(family, pieces).and_then(|kept| study.write_vocabulary(&kept));
        kept.unwrap_or_else(|error| panic!("{error}"));
    }
    for &size in &family.sizes {
        write_run(&mut study, family, size).unwrap_or_else(|error| panic!("{error}"));
    }
}

fn write_run(study: &mut Study, family: &MadeUpFamily, size: u64) -> relscale_records::Result<()> {
    let MadeUpFamily { documents, .. } = *family;
    let total = documents * DOCUMENT;
    // Behind the first token of a document, which nothing stands before.
    let tokens =
        DOCUMENT * family.pieces.unwrap_or(1) + family.pieces.map_or(0, |pieces| pieces - 1);
    let scored = u64::from(documents * tokens);
    let plan = RunPlan { documents, scored, part_tokens: scored, parts: 1 };
    let run = study.start(&RunRecord::new(provenance(family, size), plan))?;
    let row = |ordinal| document_row(ordinal, family, tokens);
    run.write_documents(&(0..documents).map(row).collect::<Vec<DocumentRow>>())?;
    let mut writer = run.part_writer(0)?;
    let nll = 8.0 * (size as f64).powf(-family.beta);
    for document in 0..documents {
        let token = |position: u32| {
            let pieces = family.pieces.unwrap_or(1);
            let (word, piece) = (position / pieces, position % pieces);
            // A stride without common divisor with the total visits every quantile once, in no
            // order.
            let at = (u64::from(document * DOCUMENT) + u64::from(word)).saturating_sub(1) * 7_919;
            let quantile = ((at % u64::from(total)) as f64 + 0.5) / f64::from(total);
            let rank = if piece == 0 { rank(quantile, size, family.alpha) } else { 1 };
            let nll = (nll / f64::from(pieces)) as f32;
            let score = Score { rank, ties: Some(0), nll, entropy: Some(nll), argmax: Some(0) };
            let (token, bytes) = match family.pieces {
                None => (1, 4),
                Some(pieces) => {
                    let text = spelling(pieces)[piece as usize];
                    (piece, text.len() as u32)
                }
            };
            ScoredToken {
                document,
                position,
                token,
                bytes,
                context: position,
                // What is left of the first word is sure.
                score: Some(if word == 0 { Score { rank: 1, ..score } } else { score }),
            }
        };
        writer.write(&(1..=tokens).map(token).collect::<Vec<_>>())?;
    }
    let meta = writer.finish(PartRange { index: 0, first_document: 0, end_document: documents })?;
    run.finish(vec![meta], 0)?;
    study.set_current(&run)
}

/// The one word of the text, ` word`, in pieces.
fn spelling(pieces: u32) -> &'static [&'static str] {
    match pieces {
        1 => &[" word"],
        2 => &[" wo", "rd"],
        3 => &[" w", "or", "d"],
        other => panic!("a word of {other} tokens"),
    }
}

fn vocabulary(family: &MadeUpFamily, pieces: u32) -> relscale_records::Result<Vocabulary> {
    let entry = |(id, text): (u32, &&str)| VocabularyEntry {
        id,
        text: (*text).to_owned(),
        kind: TokenKind::Normal,
    };
    let entries = (0..).zip(spelling(pieces)).map(entry).collect();
    Vocabulary::new(tokenizer(family), entries)
}

/// sha256 of the family's tokenizer.
fn tokenizer(family: &MadeUpFamily) -> String {
    match family.pieces {
        None => Provenance::example().tokenizer.sha256,
        Some(pieces) => sha256_bytes(format!("{pieces} tokens a word").as_bytes()),
    }
}

/// The smallest k with `RBP_k >= quantile`.
fn rank(quantile: f64, size: u64, alpha: f64) -> u32 {
    let at_one = 4.0 * (size as f64).powf(-alpha);
    let k = (at_one / -quantile.ln()).powf(1.0 / 0.6).ceil();
    (k as u32).clamp(1, VOCABULARY)
}

fn document_row(ordinal: u32, family: &MadeUpFamily, scored: u32) -> DocumentRow {
    let words = family.pieces.map(|_| u64::from(DOCUMENT) + 1);
    DocumentRow {
        ordinal,
        id: format!("document-{ordinal}"),
        tags: Default::default(),
        tokens: u64::from(scored) + 1,
        bytes: words.map_or(4 * (u64::from(DOCUMENT) + 1), |words| 5 * words),
        words,
        scored: u64::from(scored),
    }
}

fn provenance(family: &MadeUpFamily, size: u64) -> Provenance {
    let mut provenance = Provenance::example();
    provenance.model.name = format!("{}-{size}", family.family);
    provenance.model.family.clone_from(&family.family);
    provenance.tokenizer.sha256 = tokenizer(family);
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
