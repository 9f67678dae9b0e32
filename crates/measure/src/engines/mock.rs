//! No model at all: scores that are a pure function of the token ids before and at a position.
//!
//! Good for testing everything around an engine. It can be as skilled as wanted (so that a "family"
//! of mocks obeys a rank law), emit non-finite rows, fail at a given window, and be slow.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use relscale_records::Score;
use relscale_records::provenance::{ModelProvenance, ParameterCounts, ScoreColumn, sha256_bytes};

use crate::engine::{Engine, EngineIdentity, EngineWindow, Vocabulary};
use crate::error::{Error, Result};

/// Which rows are to be non-finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonFinite {
    /// None.
    Never,
    /// Those whose pseudo-random number is 0 modulo this.
    OneIn(u64),
    /// All.
    Always,
}

/// The mock; make one with [`MockEngine::new`] and set what is wanted.
#[derive(Debug)]
pub struct MockEngine {
    model: ModelProvenance,
    rows: u32,
    /// Longest window; none by default.
    pub context: Option<usize>,
    /// Chance of rank 1.
    pub skill: f64,
    /// Non-finite rows.
    pub non_finite: NonFinite,
    /// Fails when asked for the window with this number, counted from 0 over the engine's life.
    pub fail_at_window: Option<u64>,
    /// Slept before each batch.
    pub delay: Duration,
    /// What it does not tell.
    pub lacks: Vec<ScoreColumn>,
    /// What its readers must know.
    pub cautions: Vec<String>,
    windows: AtomicU64,
}

impl MockEngine {
    /// A mock model with a head of `rows` rows and `non_embedding` parameters; the larger, the more
    /// skilled: `-ln P(R = 1) = 3 S^-0.1`.
    pub fn new(name: &str, non_embedding: u64, rows: u32) -> Self {
        let seed = format!("mock {name} {non_embedding} {rows}");
        let model = ModelProvenance {
            name: name.to_owned(),
            family: "mock".into(),
            architecture: "mock".into(),
            weights_sha256: sha256_bytes(seed.as_bytes()),
            config_sha256: sha256_bytes(b"mock"),
            stored_dtype: "none".into(),
            files: Vec::new(),
            source: None,
            parameters: ParameterCounts {
                non_embedding,
                token_embedding: u64::from(rows),
                position_embedding: 0,
                head: 0,
                total: non_embedding + u64::from(rows),
            },
        };
        Self {
            model,
            rows,
            context: None,
            skill: (-3.0 * (non_embedding.max(1) as f64).powf(-0.1)).exp(),
            non_finite: NonFinite::Never,
            fail_at_window: None,
            delay: Duration::ZERO,
            lacks: Vec::new(),
            cautions: Vec::new(),
            windows: AtomicU64::new(0),
        }
    }

    /// The same mock with a longest window.
    #[must_use]
    pub fn with_context(mut self, tokens: usize) -> Self {
        self.context = Some(tokens);
        self
    }

    /// Windows scored so far.
    pub fn windows_seen(&self) -> u64 {
        self.windows.load(Ordering::Relaxed)
    }

    /// To change what the mock says of its model (its hash, for instance).
    pub fn model_mut(&mut self) -> &mut ModelProvenance {
        &mut self.model
    }

    fn score_one(&self, state: u64, target: u32, vocabulary: u32) -> Option<Score> {
        let random = mix(state ^ (u64::from(target) << 32) ^ self.model.parameters.non_embedding);
        match self.non_finite {
            NonFinite::Always => return None,
            NonFinite::OneIn(n) if random.is_multiple_of(n.max(1)) => return None,
            _ => {}
        }
        // Two uniform numbers from the two halves.
        let (u, v) =
            ((random >> 32) as f64 / 2f64.powi(32), (random as u32) as f64 / 2f64.powi(32));
        let ranks = f64::from(vocabulary.max(1));
        let rank = if u < self.skill { 1.0 } else { (1.0 + ranks.powf(v)).floor().min(ranks) };
        Some(Score {
            rank: rank as u32,
            ties: Some(0),
            nll: (rank.ln() + 0.5 * v) as f32,
            entropy: Some((1.0 + u) as f32),
            argmax: Some(if rank == 1.0 {
                target
            } else {
                (random % u64::from(self.rows.max(1))) as u32
            }),
        })
        .map(|score| self.without_lacking(score))
    }

    /// A score without what the mock is told not to tell.
    fn without_lacking(&self, score: Score) -> Score {
        let tells = |column| !self.lacks.contains(&column);
        Score {
            ties: score.ties.filter(|_| tells(ScoreColumn::Ties)),
            entropy: score.entropy.filter(|_| tells(ScoreColumn::Entropy)),
            argmax: score.argmax.filter(|_| tells(ScoreColumn::Argmax)),
            ..score
        }
    }
}

impl Engine for MockEngine {
    fn identity(&self) -> EngineIdentity {
        EngineIdentity {
            lacks: self.lacks.clone(),
            cautions: self.cautions.clone(),
            ..EngineIdentity::new("mock", 1, "none")
        }
    }

    fn model(&self) -> &ModelProvenance {
        &self.model
    }

    fn rows(&self) -> u32 {
        self.rows
    }

    fn context(&self) -> Option<usize> {
        self.context
    }

    fn score(
        &self,
        windows: &[EngineWindow<'_>],
        vocabulary: &Vocabulary,
    ) -> Result<Vec<Vec<Option<Score>>>> {
        if !self.delay.is_zero() {
            std::thread::sleep(self.delay);
        }
        let size = vocabulary.scored();
        windows
            .iter()
            .map(|window| {
                let number = self.windows.fetch_add(1, Ordering::Relaxed);
                if self.fail_at_window == Some(number) {
                    return Err(Error::Engine {
                        engine: "mock".into(),
                        reason: format!("told to fail at window {number}"),
                    });
                }
                let mut scores = Vec::with_capacity(window.scored.len());
                let mut scored = window.scored.iter().peekable();
                let mut state = 0;
                for (i, &token) in (0u32..).zip(window.tokens) {
                    if scored.next_if(|&&at| at == i).is_some() {
                        scores.push(self.score_one(state, token, size));
                    }
                    state = mix(state ^ u64::from(token));
                }
                Ok(scores)
            })
            .collect()
    }
}

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014): every input bit moves every output bit.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_depends_on_what_comes_before_and_on_nothing_after() {
        let engine = MockEngine::new("m", 1_000, 100);
        let score = |tokens: &[u32]| {
            engine.score(&[EngineWindow { tokens, scored: &[2] }], &Vocabulary::Rows(100)).unwrap()
        };
        assert_eq!(score(&[1, 2, 3]), score(&[1, 2, 3, 4, 5]));
        assert_ne!(score(&[1, 2, 3]), score(&[9, 2, 3]));
    }

    #[test]
    fn skill_is_the_share_of_rank_one() {
        let engine = MockEngine::new("m", 1_000_000, 1_000);
        let tokens: Vec<u32> = (0..20_000).map(|i| i % 997).collect();
        let scored: Vec<u32> = (1..20_000).collect();
        let window = EngineWindow { tokens: &tokens, scored: &scored };
        let scores = engine.score(&[window], &Vocabulary::Rows(1_000)).unwrap().remove(0);
        assert!(
            scores.iter().flatten().all(|s| (1..=1_000).contains(&s.rank) && s.nll.is_finite())
        );
        let best = scores.iter().flatten().filter(|s| s.rank == 1).count();
        // Four standard errors of a share over 20 000.
        assert!((best as f64 / 19_999.0 - engine.skill).abs() < 0.015, "{best} {}", engine.skill);
    }
}
