//! A prompt, asked until it is answered or given up.

use relscale_records::Score;

use super::NAME;
use super::answers::{Entry, entries};
use super::flight::{Flight, Outcome, Try, passes};
use super::probe::{Probed, same};
use super::server::Server;
use crate::error::{Error, Result};
use crate::http::HttpError;

/// A model on a server, to be asked.
pub(super) struct Prompts {
    pub(super) server: Server,
    pub(super) probed: Probed,
    pub(super) flight: Flight,
    /// Rows of the head.
    pub(super) rows: u32,
}

impl Prompts {
    pub(super) fn failed(&self, reason: String) -> Error {
        Error::Engine { engine: format!("{NAME} at {}", self.server.shown()), reason }
    }

    fn away(&self, error: HttpError) -> Error {
        self.failed(format!("the server stays away ({error})"))
    }

    /// One try of one prompt.
    fn once(&self, prompt: &[u32]) -> Try<Vec<Option<Entry>>> {
        let reply = match self.server.complete(&self.probed.served.id, self.probed.form, prompt) {
            Ok(reply) => reply,
            Err(error @ (HttpError::Unreachable { .. } | HttpError::Broken { .. })) => {
                return Try::Gone(error);
            }
            Err(HttpError::Cancelled) => return Try::Never(Error::Cancelled),
            Err(error) => return Try::Never(self.failed(error.to_string())),
        };
        match reply.status {
            200 => match entries(&reply.text, prompt, self.rows) {
                Ok(entries) => Try::Done(entries),
                Err(fault) => Try::Wrong(fault.to_string()),
            },
            status if passes(status) => Try::Overrun(reply),
            _ => Try::Never(self.failed(format!(
                "it refuses a prompt of {} tokens: {}",
                prompt.len(),
                reply.reason()
            ))),
        }
    }

    /// A prompt, answered.
    pub(super) fn prompt(&self, prompt: &[u32]) -> Result<Vec<Option<Entry>>> {
        match self.tried(prompt)? {
            Outcome::Done(entries) => Ok(entries),
            Outcome::Wrong(reason) => Err(self.failed(format!(
                "{reason}, each time it was asked; nothing of this answer is taken"
            ))),
            Outcome::Overrun(reason) => Err(self.too_much(prompt, &reason)?),
        }
    }

    fn tried(&self, prompt: &[u32]) -> Result<Outcome<Vec<Option<Entry>>>> {
        self.flight.trying(
            &|| self.once(prompt),
            &|| same(&self.server, &self.probed, self.rows),
            &|error| self.away(error),
        )
    }

    /// What a prompt that fails even alone means: with fewer tokens it may go through, and a user
    /// can ask for windows of that length.
    fn too_much(&self, prompt: &[u32], reason: &str) -> Result<Error> {
        let mut tokens = prompt.len() / 2;
        while tokens > 1 {
            if let Try::Done(_) = self.once(&prompt[..tokens]) {
                return Ok(self.failed(format!(
                    "a prompt of {} tokens fails even alone ({reason}), and {tokens} tokens go through: give the server more memory, or \
                     measure with --length {tokens}, which is another protocol",
                    prompt.len()
                )));
            }
            tokens /= 2;
        }
        Ok(self.failed(format!("a prompt of {} tokens fails even alone ({reason})", prompt.len())))
    }
}

/// The scores of the positions that were asked for.
pub(super) fn scores(scored: &[u32], entries: &[Option<Entry>]) -> Vec<Option<Score>> {
    let of = |&index: &u32| {
        // The first entry is that of the second token.
        let entry = entries.get((index as usize).checked_sub(1)?).copied().flatten()?;
        let nll = (-entry.logprob) as f32;
        // A probability that rounded up past one.
        let nll = nll.max(0.0);
        Some(Score { rank: entry.rank, ties: None, nll, entropy: None, argmax: None })
    };
    scored.iter().map(of).collect()
}
