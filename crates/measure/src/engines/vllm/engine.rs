//! Windows in, scores out, by requests to a server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use relscale_records::Score;
use relscale_records::provenance::{ModelProvenance, ScoreColumn, ScoringProvenance, TieRule};

use super::NAME;
use super::audit::Audit;
use super::grid::RankRule;
use super::probe::Probed;
use super::prompts::{Prompts, scores};
use crate::engine::{Engine, EngineIdentity, EngineWindow, Vocabulary};
use crate::error::{Error, Result};

/// Rises when the numbers may change by more than rounding.
const REVISION: u32 = 1;

/// Windows of a batch, as multiples of what may be in flight: the more, the less often all wait for
/// the last.
const ROUNDS: usize = 4;

/// A model on a server.
pub(super) struct VllmEngine {
    pub(super) prompts: Prompts,
    pub(super) model: ModelProvenance,
    /// Requests at once, at most.
    pub(super) bound: usize,
    pub(super) audit: Option<Audit>,
    pub(super) notices: Mutex<Vec<String>>,
    /// Whether it was told that fewer requests are in flight than were to be.
    pub(super) told_fewer: AtomicBool,
}

/// What stands before the first numbers of a probe in the recorded version.
const PROBED: &str = "; probe ";

/// Positions of a probe that are recorded.
const POSITIONS: usize = 12;

/// The first logprobs of the probe's answer, in hundredths of nats: enough to tell another
/// checkpoint, and not the rounding of another machine.
fn hundredths(probed: &Probed) -> Vec<Option<i64>> {
    let first = probed.answer.iter().take(POSITIONS);
    first.map(|entry| entry.map(|entry| (100.0 * entry.logprob).round() as i64)).collect()
}

/// The same, read back from a version.
fn recorded(version: &str) -> Option<Vec<Option<i64>>> {
    let (_, numbers) = version.rsplit_once(PROBED)?;
    Some(numbers.split_whitespace().map(|number| number.parse().ok()).collect())
}

/// Whether two probes may be of one model: in bf16, rounding moves a logprob by a hundredth or so.
fn alike(a: &[Option<i64>], b: &[Option<i64>]) -> bool {
    let pairs: Vec<(i64, i64)> =
        a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let apart: i64 = pairs.iter().map(|(a, b)| (a - b).abs()).sum();
    let nulls = a.iter().zip(b).any(|(a, b)| a.is_some() != b.is_some());
    !nulls && apart <= 5 * pairs.len() as i64
}

/// What a probe makes of an engine.
pub(super) fn identity(probed: &Probed) -> EngineIdentity {
    let coarse = probed.grid.map(|grid| grid.coarse());
    let logits = match coarse {
        None => "served",
        Some(false) => "served-logits-32",
        Some(true) => "served-logits-16",
    };
    let mut cautions = Vec::new();
    if let Some(grid) = probed.grid.filter(|grid| grid.coarse()) {
        let counted = match probed.rule {
            RankRule::AtLeast => "all of them count against the model (>=)",
            RankRule::GreaterPlusOne => "none of them counts (>)",
            RankRule::Unknown => "how they count was not seen",
        };
        let step = grid.step.unwrap_or_default();
        cautions.push(format!(
            "the server's logits are rounded to 16 bits (steps of {step} nats; {:.0} % of neighbours among the most probable tokens are equal): \
             ranks see ties that 32 bits would not, and {counted}",
            100.0 * grid.equal_share()
        ));
    }
    if probed.grid.is_none() {
        cautions.push(
            "the server gives no list of its most probable tokens, so whether its logits are rounded to 16 bits is not known".into(),
        );
    }
    if probed.form.beside > 0 && coarse == Some(true) {
        cautions.push("ranks of the most probable token are places in a list".into());
    }
    let version = probed.version.as_deref().unwrap_or("of unknown version");
    let rule = match probed.rule {
        RankRule::Unknown => "rank rule not seen, as no tie was met".to_owned(),
        rule => format!("ranks by {}", rule.name()),
    };
    let beside = probed.form.beside;
    let numbers: Vec<String> = hundredths(probed)
        .into_iter()
        .map(|number| number.map_or_else(|| "null".into(), |number| number.to_string()))
        .collect();
    let numbers = numbers.join(" ");
    EngineIdentity {
        version: Some(format!(
            "server {version}; prompt_logprobs {beside}; {rule}{PROBED}{numbers}"
        )),
        lacks: ScoreColumn::ALL.to_vec(),
        rank_rule: match probed.rule {
            RankRule::GreaterPlusOne => TieRule::Greater,
            RankRule::AtLeast | RankRule::Unknown => TieRule::AtLeast,
        },
        rows_only: true,
        cautions,
        ..EngineIdentity::new(NAME, REVISION, logits)
    }
}

impl Engine for VllmEngine {
    fn identity(&self) -> EngineIdentity {
        identity(&self.prompts.probed)
    }

    fn model(&self) -> &ModelProvenance {
        &self.model
    }

    fn rows(&self) -> u32 {
        self.prompts.rows
    }

    fn context(&self) -> Option<usize> {
        self.prompts.probed.context
    }

    fn batch_tokens(&self) -> Option<usize> {
        Some(self.bound * ROUNDS * self.prompts.probed.context.unwrap_or(1_024).min(1_024))
    }

    fn notices(&self) -> Vec<String> {
        let mut notices =
            std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner));
        notices.extend(self.audit.as_ref().and_then(Audit::notice));
        notices
    }

    fn check_earlier(&self, earlier: &ScoringProvenance) -> Result<()> {
        let before = earlier.engine_version.as_deref().and_then(recorded);
        match before {
            Some(before) if !alike(&before, &hundredths(&self.prompts.probed)) => {
                Err(self.prompts.failed(
                    "of the probe's prompt it says other logprobs than the server by which this run was begun, so it has other weights under the \
                     same name: serve the same model, or give the other checkpoint another name there (--served-model-name)"
                        .into(),
                ))
            }
            _ => Ok(()),
        }
    }

    fn score(
        &self,
        windows: &[EngineWindow<'_>],
        vocabulary: &Vocabulary,
    ) -> Result<Vec<Vec<Option<Score>>>> {
        if *vocabulary != Vocabulary::Rows(self.prompts.rows) {
            return Err(Error::OnlyRows { engine: NAME.into() });
        }
        // The model and its judge stay with this thread.
        let prompts = &self.prompts;
        let one = |number: usize| {
            let window = windows[number];
            match window.scored {
                [] => Ok(Vec::new()),
                scored => Ok(scores(scored, &prompts.prompt(window.tokens)?)),
            }
        };
        let scored = prompts.flight.each(windows.len(), &one)?;
        self.tell_of_fewer();
        if let Some(audit) = &self.audit {
            audit.again(prompts, windows, &scored)?;
        }
        Ok(scored)
    }
}

impl VllmEngine {
    /// That the server does not carry what it was to carry, once.
    fn tell_of_fewer(&self) {
        let fewest = self.prompts.flight.fewest();
        if fewest < self.bound && !self.told_fewer.swap(true, Ordering::Relaxed) {
            let notice = format!(
                "the server could not carry {} requests at once; there were {fewest} at times, and --in-flight {fewest} saves the failures",
                self.bound
            );
            self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
        }
    }
}
