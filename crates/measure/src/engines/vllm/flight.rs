//! Requests in flight: how many at once, what is tried again, and when it is given up.
//!
//! A window cannot be halved without losing context, so what is halved when a server runs out of
//! memory or is overrun is the number of requests that it has at once. It grows again with success.
//! A connection that is gone is waited for, since servers are started again; but what answers then
//! must be what answered before, which is for the caller's `again` to see.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::server::Reply;
use crate::engines::Listener;
use crate::error::{Error, Result};
use crate::http::{HttpError, Retry};

/// How long failures are borne.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// The wait after the first failure; it doubles with each.
    pub(super) first: Duration,
    /// The longest wait between two tries.
    pub(super) longest: Duration,
    /// Tries of a prompt that the server fails on, or answers wrongly.
    pub(super) tries: u32,
    /// How long a server that does not answer at all is waited for.
    pub(super) gone: Duration,
}

impl Default for Patience {
    /// A server needs minutes to load a large model.
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(20),
            tries: 6,
            gone: Duration::from_secs(15 * 60),
        }
    }
}

/// What came of one try.
pub(super) enum Try<T> {
    /// It went well.
    Done(T),
    /// The server is in trouble, or has too much to do: fewer at once, and again.
    Overrun(Reply),
    /// There is no answer: it is waited for.
    Gone(HttpError),
    /// An answer that may be better next time.
    Wrong(String),
    /// No other try would help.
    Never(Error),
}

/// What came of all tries.
pub(super) enum Outcome<T> {
    /// It went well.
    Done(T),
    /// The server failed on it as often as it was tried, at last alone.
    Overrun(String),
    /// Its answer was wrong as often as it was tried.
    Wrong(String),
}

/// Sorts statuses that mean trouble that may pass from others.
pub(super) fn passes(status: u16) -> bool {
    Retry::passing(status)
}

/// How many requests there may be at once.
#[derive(Debug)]
struct Gate {
    allowed: usize,
    active: usize,
    /// Whether somebody is alone, or waits to be.
    alone: bool,
    /// The fewest that were allowed.
    fewest: usize,
    /// Successes since the last change.
    well: usize,
    /// Rises with each halving: those that were in flight together fail together, which is one
    /// reason, not many.
    halvings: u64,
}

/// Requests to one server.
pub(super) struct Flight {
    bound: usize,
    gate: Mutex<Gate>,
    opened: Condvar,
    patience: Patience,
    cancel: std::sync::Arc<AtomicBool>,
    /// Whether a connection broke since the server was last known to be the same.
    broke: Mutex<Broke>,
    listener: Listener,
}

/// Whether a connection broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Broke {
    /// Not since the server was last known to be the same.
    No,
    /// Yes.
    Yes,
    /// Yes, and that it is waited for was told.
    Told,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Counts stay true through a panic elsewhere.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Flight {
    /// At most `bound` at once.
    pub(super) fn new(
        bound: usize,
        patience: Patience,
        cancel: std::sync::Arc<AtomicBool>,
        listener: Listener,
    ) -> Self {
        let bound = bound.max(1);
        Self {
            bound,
            gate: Mutex::new(Gate {
                allowed: bound,
                active: 0,
                alone: false,
                fewest: bound,
                well: 0,
                halvings: 0,
            }),
            opened: Condvar::new(),
            patience,
            cancel,
            broke: Mutex::new(Broke::No),
            listener,
        }
    }

    /// The fewest that there might be at once so far.
    pub(super) fn fewest(&self) -> usize {
        lock(&self.gate).fewest
    }

    /// Calls `one` for each number below `count`, several at once, and gives back the results in
    /// order.
    ///
    /// # Errors
    /// The first that occurs; what is in flight then is waited for, and nothing new begins.
    pub(super) fn each<T: Send>(
        &self,
        count: usize,
        one: &(dyn Fn(usize) -> Result<T> + Sync),
    ) -> Result<Vec<T>> {
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<Error>> = Mutex::new(None);
        let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
        let work = || {
            while lock(&failed).is_none() {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(place) = results.get(number) else { return };
                match one(number) {
                    Ok(result) => *lock(place) = Some(result),
                    Err(error) => {
                        lock(&failed).get_or_insert(error);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.bound.min(count) {
                scope.spawn(work);
            }
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let result = |place: Mutex<Option<T>>| {
            place.into_inner().unwrap_or_else(PoisonError::into_inner).ok_or(Error::Cancelled)
        };
        results.into_iter().map(result).collect()
    }

    /// Tries one request until it goes well or patience ends. `again` sees to it, once after a
    /// connection broke, that the server is the same.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; those of `again` and of [`Try::Never`]; a server that stays away, as
    /// `away` words it.
    pub(super) fn trying<T>(
        &self,
        once: &dyn Fn() -> Try<T>,
        again: &dyn Fn() -> Result<Option<HttpError>>,
        away: &dyn Fn(HttpError) -> Error,
    ) -> Result<Outcome<T>> {
        let mut failures = 0;
        let mut waits = 0;
        let mut gone_since: Option<Instant> = None;
        loop {
            let mut gone = |error: HttpError| {
                let mut broke = lock(&self.broke);
                *broke = (*broke).max(Broke::Yes);
                drop(broke);
                let since = *gone_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= self.patience.gone { Err(away(error)) } else { Ok(()) }
            };
            // What fails with others beside it may still go well alone.
            let alone = 2 * failures >= self.patience.tries;
            let halvings = self.enter(alone)?;
            let tried = match self.same(again) {
                Ok(None) => once(),
                Ok(Some(error)) => Try::Gone(error),
                Err(error) => Try::Never(error),
            };
            self.leave(alone, halvings, &tried);
            let mut asked = None;
            match tried {
                Try::Done(done) => return Ok(Outcome::Done(done)),
                Try::Never(error) => return Err(error),
                Try::Gone(HttpError::Cancelled) => return Err(Error::Cancelled),
                Try::Gone(error) => {
                    gone(error)?;
                }
                Try::Wrong(reason) => {
                    failures += 1;
                    if failures >= self.patience.tries.min(3) {
                        return Ok(Outcome::Wrong(reason));
                    }
                }
                Try::Overrun(reply) => {
                    failures += 1;
                    gone_since = None;
                    if failures >= self.patience.tries {
                        return Ok(Outcome::Overrun(reply.reason()));
                    }
                    asked = reply.wait;
                }
            }
            waits += 1;
            let own = self.patience.first.saturating_mul(1 << (waits - 1).min(10u32));
            let wait = asked.map_or(own, |asked| asked.max(own)).min(self.patience.longest);
            self.sleep(wait)?;
        }
    }

    /// Sees, once after a connection broke, that the server is the same; others wait meanwhile.
    fn same(&self, again: &dyn Fn() -> Result<Option<HttpError>>) -> Result<Option<HttpError>> {
        let mut broke = lock(&self.broke);
        if *broke == Broke::No {
            return Ok(None);
        }
        let error = again()?;
        match (&error, *broke) {
            (Some(HttpError::Cancelled), _) | (Some(_), Broke::Told) => {}
            (Some(reason), _) => {
                let minutes = self.patience.gone.as_secs().div_ceil(60);
                self.listener.notify(&format!(
                    "the server is away ({reason}); it is waited for, {minutes} minutes at most"
                ));
                *broke = Broke::Told;
            }
            (None, told) => {
                if told == Broke::Told {
                    self.listener.notify("the server is back, with the same model");
                }
                *broke = Broke::No;
            }
        }
        Ok(error)
    }

    /// Waits for a place, or for all others to be out; how often it was halved till then.
    fn enter(&self, alone: bool) -> Result<u64> {
        let mut gate = lock(&self.gate);
        let mut claimed = false;
        loop {
            if alone && !gate.alone {
                (gate.alone, claimed) = (true, true);
            }
            let free = match alone {
                true => claimed && gate.active == 0,
                false => !gate.alone && gate.active < gate.allowed,
            };
            if let Err(stopped) = self.check() {
                gate.alone &= !claimed;
                return Err(stopped);
            }
            if free {
                gate.active += 1;
                return Ok(gate.halvings);
            }
            let look = Duration::from_millis(100);
            let waited = self.opened.wait_timeout(gate, look);
            gate = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Gives the place back, and learns from what came.
    fn leave<T>(&self, alone: bool, halvings: u64, tried: &Try<T>) {
        let mut gate = lock(&self.gate);
        gate.active -= 1;
        gate.alone &= !alone;
        match tried {
            Try::Done(_) => gate.well += 1,
            Try::Overrun(_) | Try::Gone(_) if gate.halvings == halvings => {
                gate.allowed = (gate.allowed / 2).max(1);
                gate.fewest = gate.fewest.min(gate.allowed);
                gate.well = 0;
                gate.halvings += 1;
            }
            _ => {}
        }
        // As many as are in flight went well: one more.
        if gate.well >= gate.allowed && gate.allowed < self.bound {
            gate.allowed += 1;
            gate.well = 0;
        }
        drop(gate);
        self.opened.notify_all();
    }

    fn check(&self) -> Result<()> {
        match self.cancel.load(Ordering::Relaxed) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    fn sleep(&self, wait: Duration) -> Result<()> {
        let until = Instant::now() + wait;
        while Instant::now() < until {
            self.check()?;
            std::thread::sleep(Duration::from_millis(20).min(wait));
        }
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn flight(bound: usize) -> Flight {
        let patience = Patience {
            first: Duration::from_millis(1),
            longest: Duration::from_millis(4),
            tries: 4,
            gone: Duration::from_secs(60),
        };
        Flight::new(bound, patience, Arc::default(), Listener::default())
    }

    fn overrun() -> Reply {
        Reply {
            status: 500,
            text: "{\"error\":{\"message\":\"out of memory\"}}".into(),
            wait: None,
        }
    }

    fn never() -> Result<Option<HttpError>> {
        Ok(None)
    }

    fn away(error: HttpError) -> Error {
        Error::Engine { engine: "vllm".into(), reason: error.to_string() }
    }

    /// A server that carries no more than three at once: all get through, in order, and the number
    /// comes down to what it carries.
    #[test]
    fn an_overrun_server_gets_fewer_at_once_and_every_prompt_is_answered_once() {
        let flight = flight(16);
        let (active, worst) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let one = |number: usize| {
            let once = || {
                let now = active.fetch_add(1, Ordering::SeqCst) + 1;
                worst.fetch_max(now, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(2));
                active.fetch_sub(1, Ordering::SeqCst);
                if now > 3 { Try::Overrun(overrun()) } else { Try::Done(number * 10) }
            };
            match flight.trying(&once, &never, &away)? {
                Outcome::Done(done) => Ok(done),
                Outcome::Overrun(reason) | Outcome::Wrong(reason) => {
                    Err(Error::Engine { engine: "vllm".into(), reason })
                }
            }
        };
        let results = flight.each(60, &one).unwrap();
        assert_eq!(results, (0..60).map(|n| n * 10).collect::<Vec<_>>());
        assert!(worst.load(Ordering::SeqCst) > 3 && flight.fewest() < 16, "{}", flight.fewest());
    }

    #[test]
    fn a_prompt_that_fails_alone_is_given_up_with_the_servers_words() {
        let flight = flight(4);
        let once = || -> Try<()> { Try::Overrun(overrun()) };
        let outcome = flight.trying(&once, &never, &away).unwrap();
        assert!(matches!(outcome, Outcome::Overrun(reason) if reason == "HTTP 500: out of memory"));
        assert_eq!(flight.fewest(), 1);
        // Others that go well do not keep it going for ever.
        let one = |number: usize| {
            let once = || if number == 5 { Try::Overrun(overrun()) } else { Try::Done(true) };
            Ok(matches!(flight.trying(&once, &never, &away)?, Outcome::Done(true)))
        };
        let went: Vec<bool> = flight.each(40, &one).unwrap();
        assert_eq!(went.iter().filter(|&&went| !went).count(), 1);
        assert!(!went[5]);
    }

    /// After a break, the server is looked at once before anything else is sent.
    #[test]
    fn a_server_that_comes_back_must_be_the_same() {
        let flight = flight(1);
        let (tries, looks) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let gone = || HttpError::Unreachable { url: "u".into(), tries: 1, reason: "r".into() };
        let once = || match tries.fetch_add(1, Ordering::SeqCst) {
            0 => Try::Gone(gone()),
            _ => Try::Done(()),
        };
        let again = || match looks.fetch_add(1, Ordering::SeqCst) {
            0 => Ok(Some(gone())),
            _ => Ok(None),
        };
        assert!(matches!(flight.trying(&once, &again, &away), Ok(Outcome::Done(()))));
        assert_eq!((tries.into_inner(), looks.into_inner()), (2, 2));
        let other = || Err(Error::Cancelled);
        *lock(&flight.broke) = Broke::Yes;
        assert!(flight.trying(&|| Try::Done(()), &other, &away).is_err());
        let patience = Patience { gone: Duration::ZERO, ..flight.patience };
        let flight = Flight { patience, ..self::flight(1) };
        let stays_away = || -> Try<()> { Try::Gone(gone()) };
        let error = flight.trying(&stays_away, &never, &away).err().unwrap().to_string();
        assert!(error.contains("no connection (r)"), "{error}");
    }

    #[test]
    fn a_stop_ends_the_waiting() {
        let flight = flight(2);
        flight.cancel.store(true, Ordering::Relaxed);
        let once = || -> Try<()> { Try::Overrun(overrun()) };
        assert!(matches!(flight.trying(&once, &never, &away), Err(Error::Cancelled)));
    }
}
