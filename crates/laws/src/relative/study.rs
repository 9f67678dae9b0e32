//! Measurements from the tallies of a study: a distribution is a corpus, or the documents of one
//! that share a tag's value.
//!
//! Errors come from documents drawn again. Within a distribution one draw serves all models, as all
//! of them read the same documents. Different distributions hold different documents, so they are
//! drawn apart, by seeds that follow from their text; the same text under two names is drawn alike.

use std::collections::BTreeMap;
use std::f64::consts::LN_2;

use relscale_records::parquet::DocumentRow;
use relscale_records::provenance::sha256_bytes;
use relscale_records::{DocumentTally, RunTally};

use super::choices;
use super::series::{Counted, Measurements, ModelFamily, Series, SeriesPoint, Units, tell_apart};
use super::source::{ErrorMeasure, StudySource};
use crate::error::LawsError;
use crate::options::FitOptions;
use crate::rank::minus_ln_rbp;
use crate::result::{Flag, FlagCode, LeftOut};
use crate::table::{Group, Sums, Unit, bare, check_alike};
use crate::text_units::bytes_a_token;

/// The errors of a study's runs.
///
/// # Errors
/// No run of the family; runs that may not be compared; a tag that no document has; a model that
/// has no x; a rank that was not counted.
pub fn read_study(source: &StudySource<'_>) -> Result<Measurements, LawsError> {
    let families = match source.error {
        ErrorMeasure::Choice(measure) => choices::families(source, measure)?,
        _ => families_by_document(source)?,
    };
    Ok(Measurements {
        x: source.x.map_or("S, non-embedding parameters".to_owned(), |x| x.in_words().to_owned()),
        distributions: source.by.unwrap_or("corpus").to_owned(),
        error: source.error.to_string(),
        unit: match source.error {
            ErrorMeasure::BitsPerByte => "bits per byte",
            ErrorMeasure::CrossEntropy => "nats per token",
            ErrorMeasure::Rbp { .. } => "nats",
            ErrorMeasure::Choice(measure) if measure.is_accuracy() => "nats",
            ErrorMeasure::Choice(measure) => measure.unit(),
        }
        .to_owned(),
        files: source.x.map(|x| x.file().to_owned()).into_iter().collect(),
        families,
    })
}

/// Errors of sums over documents.
fn families_by_document(source: &StudySource<'_>) -> Result<Vec<ModelFamily>, LawsError> {
    let mut corpora: BTreeMap<(&str, &str), Vec<&RunTally>> = BTreeMap::new();
    for run in source.runs {
        if source.family.is_none_or(|family| family == run.family) {
            corpora.entry((&run.family, &run.corpus)).or_default().push(run);
        }
    }
    let Some(((_, corpus), _)) = corpora.first_key_value() else {
        return Err(match source.family {
            None => LawsError::NoRuns,
            Some(family) => {
                let mut there: Vec<String> =
                    source.runs.iter().map(|run| run.family.clone()).collect();
                there.dedup();
                LawsError::NoGroup { wanted: vec![format!("family {family}")], there }
            }
        });
    };
    let corpus = (*corpus).to_owned();
    let mut families: Vec<(ModelFamily, Vec<String>)> = Vec::new();
    for ((family, corpus), runs) in corpora {
        if families.last().is_none_or(|(last, _)| last.name != family) {
            let flags = source.x.map(|x| x.flags().to_vec()).unwrap_or_default();
            let family = ModelFamily {
                name: family.to_owned(),
                series: Vec::new(),
                places: BTreeMap::new(),
                flags,
            };
            families.push((family, Vec::new()));
        }
        let Some((family, names)) = families.last_mut() else { continue };
        for share in Share::from_runs(&runs, corpus, source, &mut family.flags) {
            family.series.push(series(share, source)?);
            names.push(corpus.to_owned());
        }
    }
    if families.iter().all(|(family, _)| family.series.is_empty()) {
        return Err(LawsError::NoTag { tags: source.tags(), corpus });
    }
    Ok(families.into_iter().map(|(family, corpora)| tell_apart(family, &corpora)).collect())
}

/// The runs of one distribution.
struct Share {
    distribution: String,
    runs: Vec<RunTally>,
}

impl Share {
    /// The distributions inside one corpus, by name. Documents without the tag are in none, which a
    /// flag says.
    fn from_runs(
        runs: &[&RunTally],
        corpus: &str,
        source: &StudySource<'_>,
        flags: &mut Vec<Flag>,
    ) -> Vec<Self> {
        let rows = source.documents.get(&runs[0].documents_key()).map_or(&[][..], Vec::as_slice);
        let rows: BTreeMap<u32, &DocumentRow> = rows.iter().map(|row| (row.ordinal, row)).collect();
        let mut shares: BTreeMap<String, Vec<RunTally>> = BTreeMap::new();
        let (mut without_tag, mut wrong_options) = (0_usize, 0_usize);
        for (number, run) in runs.iter().enumerate() {
            let mut documents: BTreeMap<String, Vec<DocumentTally>> = BTreeMap::new();
            for tally in &run.documents {
                let tag = |name: &str| rows.get(&tally.document).and_then(|row| row.tags.get(name));
                if source.only.iter().any(|(name, value)| tag(name) != Some(value)) {
                    continue;
                }
                let distribution = match source.by.map(tag) {
                    None => corpus.to_owned(),
                    Some(Some(value)) => value.clone(),
                    Some(None) => {
                        without_tag += usize::from(number == 0);
                        continue;
                    }
                };
                let mut tally = tally.clone();
                // The token that holds the space before an option counts it among its bytes; the
                // option's own are wanted.
                if let Some(bytes) = tag("span_bytes").and_then(|bytes| bytes.parse().ok()) {
                    tally.bytes = bytes;
                }
                wrong_options +=
                    usize::from(number == 0 && tag("gold").is_some_and(|gold| gold == "false"));
                documents.entry(distribution).or_default().push(tally);
            }
            let bare = bare(run);
            for (distribution, documents) in documents {
                shares
                    .entry(distribution)
                    .or_default()
                    .push(RunTally { documents, ..bare.clone() });
            }
        }
        let mut flag = |code, message: String| flags.push(Flag::new(code, message));
        if without_tag > 0 {
            let tag = source.by.unwrap_or_default();
            flag(
                FlagCode::PointsLeftOut,
                format!("{without_tag} documents of {corpus} have no tag {tag} and take no part"),
            );
        }
        if wrong_options > 0 {
            flag(
                FlagCode::WrongOptions,
                format!(
                    "{wrong_options} documents of {corpus} are options that are not the right answer; the condition gold=true \
                     leaves them out"
                ),
            );
        }
        shares.into_iter().map(|(distribution, runs)| Self { distribution, runs }).collect()
    }
}

/// The errors of all models on one distribution.
fn series(share: Share, source: &StudySource<'_>) -> Result<Series, LawsError> {
    let k = match source.error {
        ErrorMeasure::Rbp { k, .. } => vec![k],
        // Any k that was counted; it is not looked at.
        ErrorMeasure::BitsPerByte | ErrorMeasure::CrossEntropy | ErrorMeasure::Choice(_) => {
            share.runs[0].k_grid.first().copied().into_iter().collect()
        }
    };
    let seed = seed(&share, source.seed);
    let options = FitOptions { k, resamples: source.resamples, seed, ..FitOptions::default() };
    options.validate()?;
    let statistic = |sums: Sums<'_>| match source.error {
        ErrorMeasure::BitsPerByte => sums.nll / LN_2 / sums.bytes,
        ErrorMeasure::CrossEntropy => sums.nll / sums.tokens,
        ErrorMeasure::Rbp { .. } => minus_ln_rbp(sums.hits[0], sums.tokens),
        // Such errors are no sums over documents and come from `choices::families`.
        ErrorMeasure::Choice(_) => f64::NAN,
    };
    let mut series = Series {
        distribution: share.distribution.clone(),
        points: Vec::new(),
        left_out: Vec::new(),
        units: None,
    };
    let key = identity(&share);
    let (share, together) = in_units(share, source.error)?;
    let counted = |sums: Sums<'_>| match source.error {
        ErrorMeasure::Rbp { .. } => Some(Counted {
            hits: (sums.hits[0] / together) as u64,
            tokens: (sums.tokens / together) as u64,
        }),
        ErrorMeasure::BitsPerByte | ErrorMeasure::CrossEntropy | ErrorMeasure::Choice(_) => None,
    };
    for group in Group::all(&share.runs, &options)? {
        let mut units =
            Units { key: key.clone(), sizes: group.sizes.0.clone(), left_out: BTreeMap::new() };
        for (model, run) in group.runs.iter().enumerate() {
            let name = run.tally.model.clone();
            let error = statistic(run.sums());
            if error > 0.0 && error.is_finite() {
                let x = source.x.map_or(Some(run.tally.non_embedding as f64), |x| x.of(&name));
                let x = x.ok_or_else(|| LawsError::Point {
                    model: name.clone(),
                    distribution: series.distribution.clone(),
                    reason: "it has no x".to_owned(),
                })?;
                units.left_out.insert(name.clone(), group.left_out(model, statistic));
                let replicates = group.replicates(model, statistic).map_err(str::to_owned);
                series.points.push(SeriesPoint {
                    model: name,
                    x,
                    error,
                    replicates,
                    counted: counted(run.sums()),
                });
            } else {
                let reason = format!("its {} is {error}, which has no logarithm", source.error);
                series.left_out.push(LeftOut::new(name, reason));
            }
        }
        series.units = Some(units);
    }
    Ok(series)
}

/// The runs in the unit of the error, once they were found alike in tokens, and how many of the
/// unit hit or miss together.
fn in_units(share: Share, error: ErrorMeasure) -> Result<(Share, f64), LawsError> {
    let unit = match error {
        ErrorMeasure::Rbp { unit, .. } => Unit::from(unit),
        _ => Unit::Token,
    };
    if unit == Unit::Token {
        return Ok((share, 1.0));
    }
    let runs: Vec<&RunTally> = share.runs.iter().collect();
    check_alike(&runs[0].family, &runs[0].corpus, &runs)?;
    let mut runs: Vec<RunTally> =
        share.runs.iter().map(|run| unit.view(run)).collect::<Result<_, _>>()?;
    // What a model lacks of bytes or words for want of a finite score differs from model to model;
    // that all were scored at the same positions was seen.
    for at in 0..runs[0].documents.len() {
        let most = runs.iter().map(|run| run.documents[at].scored).max().unwrap_or(0);
        for run in &mut runs {
            run.documents[at].nonfinite = most - run.documents[at].scored;
        }
    }
    let together = bytes_a_token(unit, share.runs.iter());
    Ok((Share { runs, ..share }, together))
}

/// A hash of a set of documents: another for other documents, the same for the same, whatever they
/// are called.
fn identity(share: &Share) -> String {
    let run = &share.runs[0];
    let ordinals: Vec<u8> =
        run.documents.iter().flat_map(|tally| tally.document.to_le_bytes()).collect();
    sha256_bytes(&[run.documents_key().as_bytes(), &ordinals].concat())
}

/// A seed for each set of documents.
fn seed(share: &Share, seed: u64) -> u64 {
    seed ^ u64::from_str_radix(&identity(share)[..16], 16).unwrap_or(0)
}
