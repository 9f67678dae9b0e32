//! What was fitted, or why it was not.

use relscale_laws::Outcome;

use super::place::At;

impl<'a, T> At<'a, Outcome<T>> {
    /// What was fitted; its members stand beside the status.
    pub(crate) fn fit(&self) -> Option<At<'a, T>> {
        self.content(Outcome::fit)
    }

    /// Why there is nothing.
    pub(crate) fn reason(&self) -> &'a str {
        match self.it {
            Outcome::Fitted(_) => "",
            Outcome::Refused { reason } => reason,
        }
    }
}
