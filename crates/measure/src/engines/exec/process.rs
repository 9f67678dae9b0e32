//! The process of an engine: started, fed, listened to, and told apart when it dies, hangs or
//! talks nonsense.
//!
//! A thread writes to it and another listens, so that neither a full pipe nor a silent process can
//! stop the program; what it says on standard error is kept for the day when it dies.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use super::frames::{Broken, Frame, Kind};

/// Lines of standard error that are kept.
const LAST_WORDS: usize = 12;
/// How often the flag that ends everything is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long a process that was told to end may take.
const GOODBYE: Duration = Duration::from_secs(10);

/// Why an engine's process gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// It cannot be started.
    #[error("it cannot be started ({0}); check the command, which is run without a shell")]
    Start(std::io::Error),
    /// It ended.
    #[error("it ended {0} before it answered{1}")]
    Died(String, LastWords),
    /// It is silent.
    #[error(
        "it was silent for {silence:?}, and a living engine sends a heartbeat every 10 s; it was \
         stopped{words} (--engine-silence SECONDS waits longer)"
    )]
    Hangs {
        /// How long.
        silence: Duration,
        /// The end of its standard error.
        words: LastWords,
    },
    /// What it writes are no frames, or not those that are due.
    #[error("{0}")]
    Broken(#[from] Broken),
    /// Its own words.
    #[error("it says: {0}")]
    Says(String),
    /// It has not enough memory for this request.
    #[error("it has not enough memory, even for one window: {0}")]
    Memory(String),
    /// The user ended it.
    #[error("cancelled")]
    Cancelled,
}

/// The end of what a process wrote on standard error.
#[derive(Debug, Default)]
pub(super) struct LastWords(Vec<String>);

impl std::fmt::Display for LastWords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.as_slice() {
            [] => Ok(()),
            lines => write!(f, "; its last words were: {}", lines.join(" / ")),
        }
    }
}

/// A running engine.
pub(super) struct Process {
    child: Child,
    /// Dropped to close its standard input.
    to: Option<Sender<Frame>>,
    from: Receiver<Result<Frame, Broken>>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    listener: Option<JoinHandle<()>>,
    silence: Duration,
    cancel: Arc<AtomicBool>,
}

impl Process {
    /// Starts the command, without a shell; `NAME=VALUE` before it are set in its environment.
    ///
    /// # Errors
    /// [`Fault::Start`].
    pub(super) fn start(
        words: &[String],
        silence: Duration,
        cancel: Arc<AtomicBool>,
    ) -> Result<Self, Fault> {
        let set = |word: &&String| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            })
        };
        let before = words.iter().take_while(set).count();
        let nothing = || Fault::Start(std::io::Error::other("there is no command"));
        let [program, arguments @ ..] = &words[before..] else { return Err(nothing()) };
        let mut child = Command::new(program)
            .args(arguments)
            .envs(words[..before].iter().filter_map(|word| word.split_once('=')))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Fault::Start(std::io::Error::other(format!("{program}: {error}"))))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else { return Err(nothing()) };
        let (to, frames) = channel::<Frame>();
        spawn(move || {
            // A broken pipe is told by the other end: the process has ended.
            frames.iter().map_while(|frame| frame.write(&mut stdin).ok()).for_each(drop);
        });
        let (heard, from) = channel();
        spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Some(frame) = Frame::read(&mut stdout).transpose() {
                let broken = frame.is_err();
                if heard.send(frame).is_err() || broken {
                    break;
                }
            }
        });
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&lines);
        let listener = spawn(move || {
            let mut stderr = BufReader::new(stderr);
            let mut line = Vec::new();
            while stderr.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let text = String::from_utf8_lossy(&line);
                // A progress bar writes itself anew behind carriage returns: its last state counts.
                let text = text.trim_end().rsplit('\r').next().unwrap_or_default().to_owned();
                line.clear();
                if text.trim().is_empty() {
                    continue;
                }
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push_back(text.chars().take(400).collect());
                if kept.len() > LAST_WORDS {
                    kept.pop_front();
                }
            }
        });
        let listener = Some(listener);
        Ok(Self { child, to: Some(to), from, stderr: lines, listener, silence, cancel })
    }

    /// Sends a frame; that nobody reads it any more is noticed when the answer is waited for.
    pub(super) fn send(&self, frame: Frame) {
        if let Some(to) = &self.to {
            let _ = to.send(frame);
        }
    }

    /// Waits for the next frame that is neither heartbeat nor notice; notices go to `notices`.
    ///
    /// # Errors
    /// [`Fault`]; the process is stopped then, but for [`Fault::Memory`].
    pub(super) fn receive(&mut self, notices: &mut Vec<String>) -> Result<Frame, Fault> {
        let mut heard = Instant::now();
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                self.stop();
                return Err(Fault::Cancelled);
            }
            let frame = match self.from.recv_timeout(LOOK) {
                Ok(Ok(frame)) => frame,
                Ok(Err(broken)) => {
                    self.stop();
                    return Err(broken.into());
                }
                Err(RecvTimeoutError::Timeout) if heard.elapsed() < self.silence => continue,
                Err(RecvTimeoutError::Timeout) => {
                    self.stop();
                    let (silence, words) = (self.silence, self.last_words());
                    return Err(Fault::Hangs { silence, words });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
            };
            heard = Instant::now();
            match frame.kind {
                Kind::Beat => {}
                Kind::Notice => notices.push(said(&frame)?.message),
                Kind::Failure => {
                    let said = said(&frame)?;
                    if said.kind.as_deref() == Some("memory") {
                        return Err(Fault::Memory(said.message));
                    }
                    self.stop();
                    return Err(Fault::Says(said.message));
                }
                _ => return Ok(frame),
            }
        }
    }

    /// It closed its output: how it ended, once it has.
    fn died(&mut self) -> Fault {
        self.to = None;
        let status = self.ended(GOODBYE);
        self.stop();
        let how = match status {
            Some(status) => match status.code() {
                Some(code) => format!("with status {code}"),
                None => format!("by a signal ({status})"),
            },
            None => "its output, and went on,".to_owned(),
        };
        Fault::Died(how, self.last_words())
    }

    fn ended(&mut self, within: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if start.elapsed() < within => sleep(Duration::from_millis(10)),
                _ => return None,
            }
        }
    }

    fn stop(&mut self) {
        self.to = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Children of its own may hold the pipe open: they are not waited for.
        let start = Instant::now();
        if let Some(listener) = self.listener.take() {
            while !listener.is_finished() && start.elapsed() < Duration::from_secs(1) {
                sleep(Duration::from_millis(5));
            }
        }
    }

    fn last_words(&self) -> LastWords {
        let lines = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        LastWords(lines.iter().skip(lines.len().saturating_sub(4)).cloned().collect())
    }
}

impl Drop for Process {
    /// Says goodbye, and ends what does not go.
    fn drop(&mut self) {
        self.send(Frame::empty(Kind::Goodbye));
        self.to = None;
        if self.ended(GOODBYE).is_none() {
            self.stop();
        }
    }
}

/// The payload of a notice or a failure.
#[derive(serde::Deserialize)]
struct Said {
    message: String,
    #[serde(default)]
    kind: Option<String>,
}

fn said(frame: &Frame) -> Result<Said, Broken> {
    frame.json()
}
