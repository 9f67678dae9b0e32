//! The relative law of ranks: how `delta_beta` of the gaps of `-ln RBP_k` changes with k.
//!
//! Where the two papers meet (arXiv 2510.20387 and 2510.24626), and neither has it. Every k is a
//! relative law of its own, fitted by [`fit_relative`] with the same options; what is new is only
//! their order. Neighbouring k share most of their hits, so neighbouring slopes err together.

use relscale_records::RunTally;

use super::{Measurements, fit_relative};
use crate::error::LawsError;
use crate::result::{
    FlagCode, Gap, RankGap, RanksOfGap, RelativeFamily, RelativeFit, RelativeRanks, Trend,
};

/// Treatments that a sentence names.
const NAMED: usize = 3;

/// The k that all runs counted, below the smallest vocabulary of them, at which every token is a
/// hit.
pub fn counted_ranks(runs: &[RunTally]) -> Vec<u32> {
    let smallest = runs.iter().map(|run| run.vocabulary.scored).min();
    let grid = runs.first().map_or(&[][..], |run| &run.k_grid);
    let everywhere = |k: &u32| runs.iter().all(|run| run.k_grid.binary_search(k).is_ok());
    grid.iter().copied().filter(|k| Some(*k) < smallest && everywhere(k)).collect()
}

impl RelativeFit {
    /// Adds the gaps of `-ln RBP_k`: `measured` holds k, ascending, and the errors `-ln RBP_k` of
    /// the same models and distributions.
    ///
    /// # Errors
    /// As [`fit_relative`].
    pub fn add_ranks(&mut self, measured: &[(u32, Measurements)]) -> Result<(), LawsError> {
        let mut fits = Vec::new();
        for (k, measurements) in measured {
            fits.push((*k, fit_relative(measurements, &self.options, None)?));
        }
        for family in &mut self.families {
            let of_k: Vec<(u32, &RelativeFamily)> = fits
                .iter()
                .filter_map(|(k, fit)| {
                    Some((*k, fit.families.iter().find(|one| one.name == family.name)?))
                })
                .collect();
            let gaps: Vec<RanksOfGap> =
                family.gaps.iter().map(|gap| ranks_of_gap(&gap.name, &of_k)).collect();
            let verdict = sentence(&gaps, &self.options.baseline);
            family.ranks = verdict.map(|verdict| RelativeRanks { gaps, verdict });
        }
        Ok(())
    }
}

fn ranks_of_gap(treatment: &str, families: &[(u32, &RelativeFamily)]) -> RanksOfGap {
    let mut found =
        RanksOfGap { treatment: treatment.to_owned(), at: Vec::new(), left_out: Vec::new() };
    for (k, family) in families {
        match family.gap(treatment).map_or_else(|| Err("no model has both errors".to_owned()), at_k)
        {
            Ok(gap) => found.at.push(RankGap { k: *k, ..gap }),
            Err(reason) => found.left_out.push((*k, reason)),
        }
    }
    found
}

/// One k, whose number the caller sets.
///
/// # Errors
/// In words: a model without one of the errors, as a slope of fewer models than at other k is no
/// neighbour of theirs; no fit.
fn at_k(gap: &Gap) -> Result<RankGap, String> {
    if let Some(left) = gap.left_out.first() {
        return Err(format!("{}: {}", left.label, left.reason));
    }
    let law = gap.fit().ok_or_else(|| gap.verdict.trim_end_matches('.').to_owned())?;
    Ok(RankGap {
        k: 0,
        delta_beta: law.delta_beta.clone(),
        delta_beta_sampling: law.delta_beta_sampling.clone(),
        ends: (law.at_smallest.value, law.at_largest.value),
        models: law.power.points,
        tests: law.tests,
        trend: law.trend,
        flags: gap
            .flags
            .iter()
            .filter(|flag| matches!(flag.code, FlagCode::FewMisses | FlagCode::FewHits))
            .cloned()
            .collect(),
    })
}

/// Where each slope goes over k; none when no gap has a slope at two k.
fn sentence(gaps: &[RanksOfGap], baseline: &str) -> Option<String> {
    let along: Vec<&RanksOfGap> = gaps.iter().filter(|gap| gap.at.len() > 1).collect();
    let told: Vec<String> = along.iter().take(NAMED).map(|gap| along_k(gap)).collect();
    let others = along.len().checked_sub(NAMED).filter(|others| *others > 0);
    let others =
        others.map_or(String::new(), |others| format!("; {others} more gaps are in the table"));
    (!told.is_empty()).then(|| {
        format!("delta_beta of -ln RBP_k against {baseline}: {}{others}.", told.join("; "))
    })
}

/// One gap, from the first k whose slope is claimed to the last.
fn along_k(gap: &RanksOfGap) -> String {
    let claimed: Vec<&RankGap> = gap.at.iter().filter(|at| at.claimed()).collect();
    let of = gap.at.len();
    let few = of - claimed.len();
    let (Some(first), Some(last)) = (claimed.first(), claimed.last()) else {
        return format!(
            "{} has too few misses or hits for a slope at any of {of} k",
            gap.treatment
        );
    };
    let count = |trend: Trend| claimed.iter().filter(|at| at.trend == trend).count();
    let mut claims: Vec<String> =
        [Trend::Closes, Trend::Widens, Trend::Crossed, Trend::Parallel, Trend::Undecided]
            .into_iter()
            .filter(|trend| count(*trend) > 0)
            .map(|trend| {
                let is = if matches!(trend, Trend::Closes | Trend::Widens) { "" } else { "is " };
                format!("{is}{} at {}", trend.name(), count(trend))
            })
            .collect();
    if few > 0 {
        claims.push(format!("has too few misses or hits at {few}"));
    }
    format!(
        "{} from {:+.4} at k = {} to {:+.4} at k = {} (of {of} k it {})",
        gap.treatment,
        first.delta_beta.value,
        first.k,
        last.delta_beta.value,
        last.k,
        claims.join(", ")
    )
}
