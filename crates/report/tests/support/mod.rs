//! Made-up studies: no model, no text, only sums that follow laws one knows.

// Each test file and the example use their own part of this.
#![allow(dead_code)]

pub(crate) mod chromium;
pub(crate) mod others;
pub(crate) mod sources;

use std::fs;
use std::path::Path;

use relscale_laws::{
    ExampleScore, FitOptions, ModelSummary, RESULT_FORMAT, RankExample, RankExamples, StudyFit,
    fit_study,
};
use relscale_records::parquet::{PartMeta, PartRange};
use relscale_records::provenance::{Provenance, sha256_bytes};
use relscale_records::ranks::RankHistogram;
use relscale_records::sequences::{SequenceCounter, SequenceGrid};
use relscale_records::study::{RunPlan, RunRecord, Study};
use relscale_records::words::{SPAN_K, SPAN_WORDS};
use relscale_records::{DocumentTally, RunTally, Score, ScoredToken, TextTally, WordTally};
use relscale_report::{Options, ReportFiles, Results};

/// Seven sizes over three decades.
pub(crate) const SIZES: [u64; 7] = [3_136, 10_432, 33_408, 98_816, 311_040, 986_112, 2_958_336];

/// Entries that compete for a rank.
const VOCABULARY: u32 = 4_096;

/// A distribution: how hard it is, and how fast it gets easier with size.
pub(crate) struct Text {
    pub(crate) name: &'static str,
    /// `-ln RBP_1` of a model of one parameter.
    pub(crate) level: f64,
    /// alpha at k = 1.
    pub(crate) exponent: f64,
}

/// The three distributions of the crate sources, roughly.
pub(crate) const TEXTS: [Text; 3] = [
    Text { name: "code", level: 4.1, exponent: 0.118 },
    Text { name: "markdown", level: 4.0, exponent: 0.094 },
    Text { name: "prose", level: 4.6, exponent: 0.087 },
];

/// What a run would be stored under.
pub(crate) fn provenance(
    family: &str,
    model: &str,
    parameters: u64,
    text: &Text,
    documents: u32,
) -> Provenance {
    let mut provenance = Provenance::example();
    provenance.model.name = model.into();
    provenance.model.family = family.into();
    provenance.model.weights_sha256 = sha256_bytes(model.as_bytes());
    provenance.model.config_sha256 = sha256_bytes(format!("config of {model}").as_bytes());
    provenance.model.stored_dtype = "f16".into();
    provenance.model.parameters.non_embedding = parameters;
    provenance.corpus.name = text.name.into();
    provenance.corpus.description = format!("held-out crate sources, {}", text.name);
    provenance.corpus.text_sha256 = sha256_bytes(text.name.as_bytes());
    provenance.corpus.documents = u64::from(documents);
    provenance.corpus.bytes = 4_321 * u64::from(documents);
    provenance.protocol.parameters =
        [("length".into(), 512.into()), ("stride".into(), 256.into())].into();
    let sizes = &mut provenance.scoring.vocabulary;
    (sizes.tokenizer, sizes.with_added) = (VOCABULARY - 2, VOCABULARY);
    (sizes.rows, sizes.scored) = (VOCABULARY, VOCABULARY);
    provenance
}

/// A repeatable number in [0, 1) that differs for every document, k and model.
fn noise(document: u32, k: u32, parameters: u64) -> f64 {
    let mut state =
        parameters ^ u64::from(document).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (u64::from(k) << 40);
    for _ in 0..2 {
        state = (state ^ (state >> 31)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    }
    (state >> 11) as f64 / (1u64 << 53) as f64
}

/// A run whose `-ln RBP_k` follows a power law off by a per cent or two a model, steeper at larger
/// k.
pub(crate) fn measured(provenance: &Provenance, text: &Text, documents: u32) -> RunTally {
    let parameters = provenance.model.parameters.non_embedding;
    let vocabulary = provenance.scoring.vocabulary.scored;
    let off = 1.0 + 0.03 * (noise(7, 7, parameters) - 0.5);
    let size = parameters as f64;
    let mut run = RunTally::new(provenance);
    for document in 0..documents {
        let scored = 250 + u64::from(document * 37 % 400);
        let ease = off * (0.7 + 0.6 * f64::from(document * 61 % 97) / 96.0);
        let hits = |k: u32| {
            if k == vocabulary {
                return scored;
            }
            let decades = f64::from(k).log10();
            let exponent = text.exponent * (1.0 + 0.35 * decades);
            let level = text.level * (-0.62 * decades - 0.18 * decades * decades).exp();
            let missed = scored as f64 * (1.0 - (-level * size.powf(-exponent) * ease).exp());
            scored - ((missed + noise(document, k, parameters)).floor() as u64).min(scored)
        };
        let nll = 2.4 * text.level * size.powf(-0.95 * text.exponent) * ease;
        run.documents.push(DocumentTally {
            scored,
            bytes: 4 * scored,
            // Noise must not make a rank of at most 5 rarer than one of at most 2.
            hits: run
                .k_grid
                .iter()
                .scan(0, |most, &k| {
                    *most = hits(k).max(*most);
                    Some(*most)
                })
                .collect(),
            tied: Some(u64::from(document % 50 == 0)),
            sum_nll: nll * scored as f64,
            sum_entropy: Some(0.98 * nll * scored as f64),
            ..DocumentTally::new(document, run.k_grid.len())
        });
    }
    run
}

/// Runs with their provenance.
pub(crate) type Runs = Vec<(Provenance, RunTally)>;

/// Every size on every text.
pub(crate) fn family(name: &str, sizes: &[u64], texts: &[Text], documents: u32) -> Runs {
    let mut runs = Vec::new();
    for text in texts {
        for &size in sizes {
            let provenance = provenance(name, &format!("{name}-{size}"), size, text, documents);
            let tally = measured(&provenance, text, documents);
            runs.push((provenance, tally));
        }
    }
    runs
}

/// Two families whose tokenizers differ, `ants` with a token a word, `bees` with two of which the
/// second is sure: bytes, words and spans are counted.
pub(crate) fn two_families(sizes: &[u64], texts: &[Text], documents: u32) -> Runs {
    let mut runs = family("ants", sizes, texts, documents);
    runs.extend(family("bees", sizes, texts, documents));
    for (provenance, tally) in &mut runs {
        let longer = tally.family == "bees";
        provenance.tokenizer.sha256 = sha256_bytes(tally.family.as_bytes());
        tally.tokenizer_sha256.clone_from(&provenance.tokenizer.sha256);
        for document in &mut tally.documents {
            let (words, hits) = (document.scored, document.hits.clone());
            let spans = SPAN_WORDS.map(|n| (words as u32 + 1).saturating_sub(n));
            let span_hits = SPAN_K.map(|k| {
                let at = tally.k_grid.binary_search(&k).unwrap();
                let share = hits[at] as f64 / words as f64;
                let hit = |n: u32| share.powf(f64::from(n).powf(0.3));
                [0, 1, 2, 3, 4].map(|at| (f64::from(spans[at]) * hit(SPAN_WORDS[at])) as u32)
            });
            if longer {
                document.scored += words;
                document.hits.iter_mut().for_each(|hits| *hits += words);
            }
            // Of four bytes a word the first token of two has two.
            let half = |hits: &u64| if longer { 2 * hits + 2 * words } else { 4 * hits };
            document.text = Some(TextTally {
                nonfinite_bytes: 0,
                byte_hits: hits.iter().map(half).collect(),
                words: Some(WordTally { words, left_out: 1, hits, spans, span_hits }),
            });
        }
        *tally = RunTally { key: provenance.key(), ..tally.clone() };
    }
    runs
}

/// As [`family`], with rows: ranks are lognormal with mu falling in ln S, alike in a document and
/// from token to token, so sequences and ranks have something to show.
pub(crate) fn streamed(
    name: &str,
    sizes: &[u64],
    texts: &[Text],
    documents: u32,
    tokens: u32,
) -> Runs {
    let mut runs = Vec::new();
    for text in texts {
        for &size in sizes {
            let provenance = provenance(name, &format!("{name}-{size}"), size, text, documents);
            let tally = rows(&provenance, text, documents, tokens);
            runs.push((provenance, tally));
        }
    }
    runs
}

fn rows(provenance: &Provenance, text: &Text, documents: u32, tokens: u32) -> RunTally {
    let size = provenance.model.parameters.non_embedding;
    let (mu, sigma) = (text.level - 0.3 * (size as f64).ln(), 2.2);
    let mut run = RunTally::new(provenance);
    let mut sequences = SequenceCounter::new(SequenceGrid::default(), run.tie_rule).unwrap();
    let mut ranks = RankHistogram::default();
    let rank = |z: f64| ((mu + sigma * z).exp().ceil()).clamp(1.0, f64::from(VOCABULARY)) as u32;
    for document in 0..documents {
        let shared = 0.4 * normal(document, 0, 1);
        let mut last = normal(document, 1, 1);
        for position in 1..=tokens {
            // The difficulty of a token is that of its text for every model, and half of it a
            // model's own.
            let fresh = 0.8 * normal(document, position + 1, 1)
                + 0.6 * normal(document, position + 1, size);
            last = 0.3 * last + 0.91f64.sqrt() * fresh;
            let rank = rank(shared + 0.84f64.sqrt() * last);
            let nll = (0.5 + f64::from(rank).ln()) as f32;
            let token = ScoredToken {
                document,
                position,
                token: rank % 97,
                bytes: 4,
                context: position,
                score: Some(Score {
                    rank,
                    ties: Some(0),
                    nll,
                    entropy: Some(nll),
                    argmax: Some(0),
                }),
            };
            run.add(&token);
            sequences.add(&token);
            ranks.add_token(&token, run.tie_rule);
        }
    }
    run.sequences = Some(sequences.finish());
    run.ranks = Some(ranks);
    run
}

/// A repeatable standard normal number: nearly, as a sum of twelve uniform ones.
fn normal(document: u32, position: u32, model: u64) -> f64 {
    (0..12).map(|part| noise(document, 12 * position + part, model)).sum::<f64>() - 6.0
}

/// The laws of some runs, with few resamples.
pub(crate) fn laws(runs: &Runs) -> StudyFit {
    let tallies: Vec<RunTally> = runs.iter().map(|(_, tally)| tally.clone()).collect();
    fit_study(&tallies, &FitOptions { resamples: 200, ..FitOptions::default() }).unwrap()
}

/// The report of laws alone.
pub(crate) fn render(laws: &StudyFit, folder: &Path) -> relscale_report::Result<ReportFiles> {
    let mut results = Results::default();
    results.laws = Some(laws.clone());
    relscale_report::render(&results, folder, &Options::default())
}

/// The report of laws and of a position that shows what a rank is.
pub(crate) fn render_with(
    laws: &StudyFit,
    examples: RankExamples,
    folder: &Path,
) -> relscale_report::Result<ReportFiles> {
    let mut results = Results::default();
    results.laws = Some(laws.clone());
    results.examples = Some(examples);
    relscale_report::render(&results, folder, &Options::default())
}

/// A position of the first group, with a text and the token that came.
pub(crate) fn examples(laws: &StudyFit, before: &str, token: &str) -> RankExamples {
    let group = &laws.groups[0];
    let score = |(at, model): (usize, &ModelSummary)| ExampleScore {
        model: model.name.clone(),
        parameters: model.parameters,
        rank: 1 + 1_000 / 10u32.pow(at as u32),
        nll: 7.0 / (1.0 + at as f64),
        probability: (-7.0 / (1.0 + at as f64)).exp(),
        likeliest: Some(token.to_owned()).filter(|_| at > 1),
    };
    RankExamples {
        format: RESULT_FORMAT,
        tool: "relscale".to_owned(),
        examples: vec![RankExample {
            family: group.family.clone(),
            corpus: group.corpus.clone(),
            document: 2,
            position: 117,
            before: before.to_owned(),
            token: token.to_owned(),
            vocabulary: VOCABULARY,
            models: group.models.iter().enumerate().map(score).collect(),
        }],
    }
}

/// Records of runs as a study holds them, but for the rows themselves.
pub(crate) fn keep(folder: &Path, runs: &Runs) {
    let mut study = Study::create_or_open(folder).unwrap();
    for (provenance, tally) in runs {
        let totals = tally.totals();
        let documents = tally.documents.len() as u32;
        let plan = RunPlan { documents, scored: totals.scored, part_tokens: 1 << 20, parts: 1 };
        let run = study.start(&RunRecord::new(provenance.clone(), plan)).unwrap();
        fs::write(run.part_path(0), tally.model.as_bytes()).unwrap();
        let part = PartMeta {
            range: PartRange { index: 0, first_document: 0, end_document: documents },
            scored: totals.scored,
            bytes: totals.bytes,
            nonfinite: totals.nonfinite,
            rows_sha256: sha256_bytes(tally.model.as_bytes()),
        };
        run.finish(vec![part], 0).unwrap();
        study.set_current(&run).unwrap();
    }
}

/// Seven models on three texts, with what a real study has too: positions with a non-finite logit,
/// and a largest k at which misses run out.
pub(crate) fn realistic(documents: u32) -> Runs {
    let mut runs = family("crates", &SIZES, &TEXTS, documents);
    for (_, tally) in runs.iter_mut().filter(|(_, tally)| tally.corpus == "prose") {
        let broken = if tally.non_embedding == SIZES[0] { 3 } else { 0 };
        let first = &mut tally.documents[0];
        first.nonfinite += broken;
        first.scored -= broken;
        for hits in &mut first.hits {
            *hits = (*hits).min(first.scored);
        }
    }
    // The largest model misses nothing at the largest k: RBP = 1 has no logarithm.
    if let Some((_, tally)) = runs.last_mut() {
        let at = tally.k_grid.iter().position(|&k| k == 2_000).unwrap();
        for document in &mut tally.documents {
            document.hits[at] = document.scored;
        }
    }
    runs
}

/// The same table to nine digits: the last ones are the mathematics library's.
pub(crate) fn rounded(csv: &str) -> String {
    let cell = |cell: &str| match cell.parse::<f64>() {
        Ok(value) if cell.contains(['.', 'e']) => format!("{value:.8e}"),
        _ => cell.to_owned(),
    };
    csv.lines().map(|line| line.split(',').map(cell).collect::<Vec<_>>().join(",") + "\n").collect()
}

/// Compares with `tests/goldens/NAME`; with RELSCALE_WRITE_GOLDENS set, writes it.
pub(crate) fn golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(name);
    if std::env::var_os("RELSCALE_WRITE_GOLDENS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, found).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(wanted, found, "{}", path.display());
}

/// Entities as the characters that they stand for.
pub(crate) fn unescaped(text: &str) -> String {
    let mut text = text.to_owned();
    for (entity, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, character);
    }
    text
}

/// Signs and letters of print as the laws spell them.
pub(crate) fn spelled(text: &str) -> String {
    let words = [
        ("−", "-"),
        ("δβ", "delta_beta"),
        ("μ/σ", "mu/sigma"),
        ("χ²", "chi²"),
        ("Zipf–Mandelbrot", "zipf mandelbrot"),
        ("zipf_mandelbrot", "zipf mandelbrot"),
        ("Yule–Simon", "yule simon"),
        ("yule_simon", "yule simon"),
        ("log-logistic", "log logistic"),
        ("log_logistic", "log logistic"),
        ("point_mass", "point masses"),
    ];
    words.iter().fold(text.to_owned(), |text, (print, word)| text.replace(print, word))
}

/// The page as it is read: no tags, entities resolved, white space as one space, and mathematics
/// written as the laws write it.
pub(crate) fn read(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    let html = html.replace("RBP<sub>", "RBP_").replace("RBP<sup>", "RBP^").replace("S<sup>", "S^");
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    let text = unescaped(&text).replace('−', "-");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
