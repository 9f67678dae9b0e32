//! All laws of a study: the one entrance of this crate.

use std::collections::BTreeMap;

use crate::error::LawsError;
use crate::family::{NAME_THEM, unlike_shapes};
use crate::line::{Fit, text_noise};
use crate::options::FitOptions;
use crate::result::{
    Estimate, Flag, FlagCode, GroupFit, Law, ModelSummary, RESULT_FORMAT, StudyFit, TextUnits,
};
use crate::table::Group;
use crate::{
    breakdown, cross_entropy, emergence, predict, rank, rank_distribution, series, summary,
    text_units, verdict,
};
use rayon::prelude::*;
use relscale_records::RunTally;
use relscale_records::digits::count;

/// Documents below which resampling them says little about their variety.
const FEW_DOCUMENTS: u64 = 30;

/// Scored tokens a point that the paper asks for.
const PAPER_TOKENS: u64 = 500_000;

/// Fits the rank law at every k and the cross-entropy law to each family on each corpus.
///
/// The same tallies (in any order) and options give the same result, bit for bit.
///
/// # Errors
/// [`LawsError::NoRuns`]; options that cannot be used; runs that may not share a line, with what
/// differs and between which models; sums that contradict themselves. A family that is merely too
/// small for a law is no error: its laws say why they are refused.
pub fn fit_study(runs: &[RunTally], options: &FitOptions) -> Result<StudyFit, LawsError> {
    options.validate()?;
    if runs.is_empty() {
        return Err(LawsError::NoRuns);
    }
    let groups = Group::all(runs, options)?;
    // Collected before the first error is looked for, so that it is the first in order, not in
    // time.
    let fits: Vec<_> = groups.par_iter().map(|group| fit_group(group, options)).collect();
    let fits: Vec<GroupFit> = fits.into_iter().collect::<Result<_, _>>()?;
    Ok(StudyFit {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        options: options.clone(),
        across_tokenizers: text_units::across(&groups, &fits, options),
        groups: fits,
    })
}

fn fit_group(group: &Group<'_>, options: &FitOptions) -> Result<GroupFit, LawsError> {
    let models = summary::models(group, options);
    let mut rank_laws: Vec<Law> =
        (0..group.k.len()).into_par_iter().map(|at| rank::law(group, at, options)).collect();
    let judged = breakdown::judge(group, &mut rank_laws, options);
    let cross_entropy_law = cross_entropy::law(group, options);
    let measured: Vec<&Law> = rank_laws.iter().chain([&cross_entropy_law]).collect();
    let mut fit = GroupFit {
        family: group.family.to_owned(),
        corpus: group.corpus.to_owned(),
        documents: group.documents,
        greedy_minus_cross_entropy: rank_laws
            .iter()
            .find(|law| law.k() == Some(1))
            .and_then(|greedy| difference(group, greedy, &cross_entropy_law, options.level)),
        breakdown: Some(judged),
        classes: breakdown::classes::report(group, options),
        flags: [
            flags(&models, group.documents),
            windows_differ(group),
            unlike_shapes(group),
            engine_flags(group),
        ]
        .concat(),
        verdict: verdict::group(&rank_laws, &cross_entropy_law),
        rank_distribution: rank_distribution::fit_group(group, &measured, options),
        models,
        rank_laws,
        cross_entropy_law,
        text_units: Some(text_units::fit_group(group, options)?),
        emergence: emergence::emergence(group, options)?,
        next_size: None,
    };
    let of_sequences = fit
        .emergence
        .iter_mut()
        .flat_map(|emergence| &mut emergence.by_k)
        .flat_map(|at_k| &mut at_k.lengths)
        .map(|windows| &mut windows.law);
    let mut laws: Vec<&mut Law> =
        fit.rank_laws.iter_mut().chain([&mut fit.cross_entropy_law]).chain(of_sequences).collect();
    laws.extend(fit.text_units.iter_mut().flat_map(TextUnits::laws_mut));
    laws.into_par_iter().for_each(|law| {
        let (x, values) = series::numbers(&law.points);
        law.text.iter_mut().for_each(|text| text.condense(&x, &values));
    });
    // Read off the laws that now stand.
    fit.next_size = predict::next_size(&fit, options.level);
    Ok(fit)
}

/// alpha less beta from the ratio of the two quantities at each model that has both.
fn difference(group: &Group<'_>, greedy: &Law, entropy: &Law, level: f64) -> Option<Estimate> {
    let by_name: BTreeMap<&str, f64> =
        entropy.points.iter().map(|point| (point.label.as_str(), point.value)).collect();
    let k = group.k.iter().position(|k| Some(*k) == greedy.k())?;
    let (mut sizes, mut ratios, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for point in &greedy.points {
        let Some(entropy) = by_name.get(point.label.as_str()) else { continue };
        let model = group.runs.iter().position(|run| run.tally.model == point.label)?;
        sizes.push(point.x);
        ratios.push(point.value / entropy);
        left_out.push(group.left_out(model, |sums| {
            rank::minus_ln_rbp(sums.hits[k], sums.tokens) / (sums.nll / sums.tokens)
        }));
    }
    let left_out: Vec<&[f64]> = left_out.iter().map(Vec::as_slice).collect();
    let text = text_noise(&sizes, &left_out, &group.sizes);
    Some(Fit::new(&sizes, &ratios, text.as_ref()).ok()?.exponent(level))
}

/// Says when models of one family were cut into other windows: contexts differ inside some families
/// (Qwen2.5), and with the default length so do the windows.
fn windows_differ(group: &Group<'_>) -> Vec<Flag> {
    let describe = |run: &RunTally| {
        let parameters = run.protocol.parameters.iter();
        let parameters: Vec<String> =
            parameters.map(|(name, value)| format!("{name} {value}")).collect();
        format!("{} {}", run.model, parameters.join(", "))
    };
    let runs: Vec<&RunTally> = group.runs.iter().map(|run| run.tally).collect();
    if runs.windows(2).all(|pair| pair[0].protocol.parameters == pair[1].protocol.parameters) {
        return Vec::new();
    }
    let windows: Vec<String> = runs.into_iter().map(describe).collect();
    let message = format!(
        "models were measured in other windows, so with other amounts of context: {}. Where they are not one family, {NAME_THEM}",
        windows.join("; ")
    );
    vec![Flag::new(FlagCode::WindowsDiffer, message)]
}

/// What the engines said that a reader of their numbers must know.
fn engine_flags(group: &Group<'_>) -> Vec<Flag> {
    let mut models: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for run in &group.runs {
        for caution in &run.tally.cautions {
            models.entry(caution).or_default().push(&run.tally.model);
        }
    }
    let flag = |(caution, models): (&str, Vec<&str>)| {
        Flag::new(FlagCode::EngineCaution, format!("{} ({})", caution, models.join(", ")))
    };
    models.into_iter().map(flag).collect()
}

/// Doubts about the measurement as a whole.
fn flags(models: &[ModelSummary], documents: u64) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut flag = |code, message: String| flags.push(Flag::new(code, message));
    let broken: Vec<String> = models
        .iter()
        .filter(|model| model.nonfinite > 0)
        .map(|model| {
            format!("{} {} of {}", model.name, model.nonfinite, model.nonfinite + model.tokens)
        })
        .collect();
    if !broken.is_empty() {
        flag(
            FlagCode::NonFinite,
            format!(
                "positions with a non-finite logit were left out of every average: {}",
                broken.join(", ")
            ),
        );
    }
    let twins: Vec<String> = models
        .windows(2)
        .filter(|pair| pair[0].parameters == pair[1].parameters)
        .map(|pair| format!("{} and {} ({})", pair[0].name, pair[1].name, pair[0].parameters))
        .collect();
    if !twins.is_empty() {
        flag(
            FlagCode::SameSize,
            format!("models of one size count as separate points: {}", twins.join(", ")),
        );
    }
    if documents < FEW_DOCUMENTS {
        flag(
            FlagCode::FewDocuments,
            format!("{documents} documents: too few for errors by resampling them to mean much"),
        );
    }
    if let Some(tokens) = models.iter().map(|model| model.tokens).min()
        && tokens < PAPER_TOKENS
    {
        flag(
            FlagCode::FewTokens,
            format!(
                "{} scored tokens a point; the paper asks for {}",
                count(tokens),
                count(PAPER_TOKENS)
            ),
        );
    }
    let sizes: Vec<String> = models
        .windows(2)
        .filter(|pair| pair[0].vocabulary.scored != pair[1].vocabulary.scored)
        .map(|pair| {
            format!(
                "{} {}, {} {}",
                pair[0].name, pair[0].vocabulary.scored, pair[1].name, pair[1].vocabulary.scored
            )
        })
        .collect();
    if !sizes.is_empty() {
        flag(
            FlagCode::VocabularyDiffers,
            format!("the number of entries that compete for a rank differs: {}", sizes.join("; ")),
        );
    }
    flags
}
