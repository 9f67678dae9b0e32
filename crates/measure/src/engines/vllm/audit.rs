//! A sample of windows measured a second time: by the server, alone, or by the decoder of this
//! program where the folder has the weights. How far the two disagree is told.

use std::sync::Mutex;

use relscale_records::Score;

use super::prompts::{Prompts, scores};
use crate::engine::{Engine, EngineWindow, Vocabulary};
use crate::error::Result;

/// What measures the sample.
pub(super) enum Judge {
    /// The server again.
    Again,
    /// An engine of this program.
    Local(Box<dyn Engine>),
}

/// A share of windows, and what came of them.
pub(super) struct Audit {
    share: f64,
    judge: Judge,
    sums: Mutex<Sums>,
}

/// What was compared.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sums {
    windows: u64,
    tokens: u64,
    /// Tokens with another rank.
    ranks: u64,
    /// Tokens with a score on one side only.
    nulls: u64,
    /// Largest difference of nll, in nats.
    most: f64,
    /// Sum of differences of nll, in nats, with their signs.
    shift: f64,
    /// Windows when it was last told.
    told: u64,
}

impl Audit {
    pub(super) fn new(share: f64, judge: Judge) -> Self {
        Self { share, judge, sums: Mutex::default() }
    }

    /// Whether a window is of the sample: by its tokens alone, so that a run that goes on takes the
    /// same ones.
    fn takes(&self, tokens: &[u32]) -> bool {
        // FNV-1a, folded; a share of its values.
        let hash = tokens.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &token| {
            (hash ^ u64::from(token)).wrapping_mul(0x0100_0000_01b3)
        });
        let hash = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((hash >> 11) as f64) / 2f64.powi(53) < self.share
    }

    /// Measures the sample among `windows` again, and compares.
    ///
    /// # Errors
    /// Those of the server, or of the decoder.
    pub(super) fn again(
        &self,
        prompts: &Prompts,
        windows: &[EngineWindow<'_>],
        scored: &[Vec<Option<Score>>],
    ) -> Result<()> {
        for (window, first) in windows.iter().zip(scored) {
            if window.scored.is_empty() || !self.takes(window.tokens) {
                continue;
            }
            let second = match &self.judge {
                Judge::Again => scores(window.scored, &prompts.prompt(window.tokens)?),
                Judge::Local(local) => {
                    let rows = Vocabulary::Rows(prompts.rows);
                    local.score(&[*window], &rows)?.pop().unwrap_or_default()
                }
            };
            let mut sums = self.sums.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            sums.windows += 1;
            for pair in first.iter().zip(&second) {
                sums.compare(pair);
            }
        }
        Ok(())
    }

    /// What is to be told: at first, and whenever the sample has doubled.
    pub(super) fn notice(&self) -> Option<String> {
        let mut sums = self.sums.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if sums.windows == 0 || sums.windows < 2 * sums.told {
            return None;
        }
        sums.told = sums.windows;
        let by = match self.judge {
            Judge::Again => "sent again",
            Judge::Local(_) => "measured by this program's decoder",
        };
        Some(sums.sentence(by))
    }
}

impl Sums {
    fn compare(&mut self, pair: (&Option<Score>, &Option<Score>)) {
        self.tokens += 1;
        match pair {
            (Some(a), Some(b)) => {
                self.ranks += u64::from(a.rank != b.rank);
                let difference = f64::from(a.nll) - f64::from(b.nll);
                self.most = self.most.max(difference.abs());
                self.shift += difference;
            }
            (None, None) => {}
            _ => self.nulls += 1,
        }
    }

    fn sentence(&self, by: &str) -> String {
        let share = 100.0 * self.ranks as f64 / self.tokens.max(1) as f64;
        let mut text = format!(
            "audit: of {} tokens {by}, {} ({share:.2} %) have another rank; nll differs by at most {:.1e} nats, by {:+.1e} on average",
            self.tokens,
            self.ranks,
            self.most,
            self.shift / self.tokens.max(1) as f64
        );
        if self.nulls > 0 {
            text.push_str(&format!("; {} have a score on one side only", self.nulls));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(rank: u32, nll: f32) -> Option<Score> {
        Some(Score { rank, ties: None, nll, entropy: None, argmax: None })
    }

    #[test]
    fn disagreement_is_counted_and_told_when_the_sample_doubled() {
        let audit = Audit::new(1.0, Judge::Again);
        assert_eq!(audit.notice(), None);
        for (n, told) in [(1, true), (2, true), (3, false), (4, true), (5, false)] {
            audit.sums.lock().unwrap().windows = n;
            assert_eq!(audit.notice().is_some(), told, "{n}");
        }
        let mut sums = Sums::default();
        sums.compare((&score(1, 0.5), &score(1, 0.5)));
        sums.compare((&score(4, 2.5), &score(5, 2.25)));
        sums.compare((&None, &score(5, 2.25)));
        sums.compare((&None, &None));
        assert_eq!(
            sums.sentence("sent again"),
            "audit: of 4 tokens sent again, 1 (25.00 %) have another rank; nll differs by at most 2.5e-1 nats, by +6.2e-2 on average; 1 have a \
             score on one side only"
        );
    }

    #[test]
    fn a_share_is_a_share() {
        let audit = Audit::new(0.1, Judge::Again);
        let taken = (0u32..20_000).filter(|&n| audit.takes(&[n, 7, n / 3])).count();
        // Four standard errors.
        assert!((1_830..2_170).contains(&taken), "{taken}");
        assert!(Audit::new(1.0, Judge::Again).takes(&[3]));
        assert!(!Audit::new(0.0, Judge::Again).takes(&[3]));
    }
}
