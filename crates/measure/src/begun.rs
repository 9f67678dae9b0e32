//! How the runs of a study took documents from a corpus, so that others take them likewise.

use std::collections::BTreeSet;

use relscale_records::Study;

use crate::draw::{Draw, SEED, option};
use crate::error::{Error, Result};
use crate::event::{Event, Warning};
use crate::settings::Settings;
use crate::source::CorpusSource;

/// The seed by which documents of a corpus are drawn, where there are so many that the limit leaves
/// some out; `None` for the first.
///
/// # Errors
/// [`Error::SeveralDraws`] where the study does not say it; those of reading the study.
pub(crate) fn seed_for(
    study: &Study,
    corpus: &CorpusSource<'_>,
    settings: &Settings,
    events: &mut dyn FnMut(Event),
) -> Result<Option<u64>> {
    let (Some(tokens), Draw::AsBegun) = (settings.tokens, settings.draw) else {
        return Ok(match settings.draw {
            Draw::Seed(seed) => Some(seed).filter(|_| settings.tokens.is_some()),
            Draw::AsBegun | Draw::First => None,
        });
    };
    let usual = (!corpus.drawn).then_some(SEED);
    let mut begun = BTreeSet::new();
    for run in study.runs()?.iter().filter(|run| run.current || run.done.is_none()) {
        let (provenance, plan) = (&run.record.provenance, run.record.plan);
        let Some(limit) = provenance.limit.filter(|limit| limit.tokens == tokens) else { continue };
        // Where the limit left nothing out there was nothing to draw from.
        let left_out = plan.scored >= tokens && provenance.corpus.documents > 1;
        if provenance.corpus.name == corpus.name && (left_out || limit.drawn.is_some()) {
            begun.insert(limit.drawn.map(|drawn| drawn.seed));
        }
    }
    let mut begun = begun.into_iter();
    match (begun.next(), begun.next()) {
        (None, _) => Ok(usual),
        (Some(only), None) => {
            if only != usual {
                let (corpus, seed) = (corpus.name.clone(), only);
                events(Event::Warning(Warning::AsBegun { corpus, tokens, seed }));
            }
            Ok(only)
        }
        (Some(one), Some(other)) => {
            let (corpus, ways) = (corpus.name.clone(), [option(one), option(other)]);
            Err(Error::SeveralDraws { corpus, tokens, ways })
        }
    }
}
