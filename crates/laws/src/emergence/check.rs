//! What must be true of counted sequences before they are averaged.

use relscale_records::RunTally;
use relscale_records::sequences::{DocumentSequences, SequenceGrid, SequenceTally};

use crate::error::{Difference, LawsError};
use crate::options::FitOptions;
use crate::table::Group;

/// The sequences of every run, or `None` when none counted them.
///
/// # Errors
/// [`LawsError::Unlike`] when runs counted different sequences; [`LawsError::Corrupt`];
/// [`LawsError::UnknownSequence`].
pub(super) fn sequences<'a>(
    group: &Group<'a>,
    options: &FitOptions,
) -> Result<Option<Vec<&'a SequenceTally>>, LawsError> {
    let first = group.runs[0].tally;
    let mut tallies = Vec::with_capacity(group.runs.len());
    for run in group.runs.iter().map(|run| run.tally) {
        let grid = |run: &RunTally| run.sequences.as_ref().map(|sequences| sequences.grid.clone());
        if grid(run) != grid(first) {
            let show = |grid: Option<SequenceGrid>| match grid {
                None => "none".to_owned(),
                Some(grid) => format!("k {:?}, N {:?}, lags {:?}", grid.k, grid.lengths, grid.lags),
            };
            return Err(LawsError::Unlike {
                family: group.family.to_owned(),
                corpus: group.corpus.to_owned(),
                difference: Box::new(Difference {
                    what: "the sequences that were counted",
                    first: first.model.clone(),
                    first_value: show(grid(first)),
                    second: run.model.clone(),
                    second_value: show(grid(run)),
                }),
            });
        }
        if let Some(sequences) = &run.sequences {
            whole(run, sequences)?;
            counted(run, "k", &options.emergence_k, &sequences.grid.k)?;
            counted(run, "N", &options.emergence_n, &sequences.grid.lengths)?;
            tallies.push(sequences);
        }
    }
    Ok((!tallies.is_empty()).then_some(tallies))
}

fn counted(
    run: &RunTally,
    what: &'static str,
    asked: &[u32],
    tallied: &[u32],
) -> Result<(), LawsError> {
    match asked.iter().find(|value| !tallied.contains(value)) {
        None => Ok(()),
        Some(&value) => Err(LawsError::UnknownSequence {
            what,
            value,
            model: run.model.clone(),
            corpus: run.corpus.clone(),
            tallied: tallied.to_vec(),
        }),
    }
}

/// Refuses counts that cannot be.
fn whole(run: &RunTally, sequences: &SequenceTally) -> Result<(), LawsError> {
    let corrupt = |document, reason: String| {
        Err(LawsError::Corrupt {
            model: run.model.clone(),
            corpus: run.corpus.clone(),
            document,
            reason,
        })
    };
    let SequenceTally { grid, documents, runs } = sequences;
    if let Err(refusal) = grid.validate() {
        return corrupt(0, refusal.to_string());
    }
    if documents.len() != run.documents.len() || runs.len() != grid.k.len() {
        let reason = format!(
            "sequences of {} documents and runs of {} values of k, for {} documents and {} values of k",
            documents.len(),
            runs.len(),
            run.documents.len(),
            grid.k.len()
        );
        return corrupt(0, reason);
    }
    for (sums, counts) in run.documents.iter().zip(documents) {
        if counts.document != sums.document || u64::from(counts.scored) != sums.scored {
            let reason = format!(
                "sequences of {} tokens of document {} beside {} scored tokens",
                counts.scored, counts.document, sums.scored
            );
            return corrupt(sums.document, reason);
        }
        if !possible(grid, counts) {
            let reason = "sequences that succeed must be no more than there are, one count a length, lag and k";
            return corrupt(sums.document, reason.to_owned());
        }
        for (&k, at_k) in grid.k.iter().zip(&counts.by_k) {
            let hits = run.k_grid.binary_search(&k).ok().map(|at| sums.hits[at]);
            if hits.is_some_and(|hits| hits != u64::from(at_k.hits)) {
                let reason =
                    format!("{} hits at k = {k} in sequences, {hits:?} in the sums", at_k.hits);
                return corrupt(sums.document, reason);
            }
        }
    }
    Ok(())
}

fn possible(grid: &SequenceGrid, counts: &DocumentSequences) -> bool {
    let (lengths, lags) = (grid.lengths.len(), grid.lags.len());
    counts.windows.len() == lengths
        && counts.pairs.len() == lags
        && counts.by_k.len() == grid.k.len()
        && counts.by_k.iter().all(|at_k| {
            at_k.hits <= counts.scored
                && at_k.successes.len() == lengths
                && at_k
                    .successes
                    .iter()
                    .zip(&counts.windows)
                    .all(|(successes, windows)| successes <= windows)
                && at_k.pairs.len() == lags
                && at_k.pairs.iter().zip(&counts.pairs).all(|(hit, pairs)| {
                    hit.both <= hit.earlier.min(hit.later) && hit.earlier.max(hit.later) <= *pairs
                })
        })
}
