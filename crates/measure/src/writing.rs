//! Parts are written on a thread of their own, while the next batches are scored.
//!
//! Scoring uses all cores; hashing rows, encoding Parquet and waiting for the disk use one, or
//! none. So rows go through a bounded queue to a thread that does the latter. What is promised of
//! parts holds as before: a part is whole or absent, parts appear in order, and one that was told
//! to be finished is on disk. At most one part is on its way to the disk while the next one is
//! scored.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::Scope;

use relscale_records::ScoredToken;
use relscale_records::parquet::{PartMeta, PartRange};
use relscale_records::study::RunFolder;

use crate::error::{Error, Result};

/// Messages that may wait, most of them batches of rows: three megabytes, about a part, so that one
/// is encoded and synced while the next is scored.
const WAITING: usize = 16;

/// What the writer is told.
enum Message {
    /// A part begins.
    Begin(u32),
    /// Rows of it.
    Rows(Vec<ScoredToken>),
    /// It is complete.
    End(PartRange),
}

/// The scorer's end of the queue: rows in, finished parts out.
pub(crate) struct Writing {
    queue: SyncSender<Message>,
    answers: Receiver<Result<PartMeta>>,
    /// Whether a part was ended that was not told to be finished.
    under_way: bool,
}

impl Writing {
    /// Starts the thread. It ends when this is dropped: what was ended is finished then, what was
    /// only begun is removed.
    pub(crate) fn start<'scope>(scope: &'scope Scope<'scope, '_>, run: &'scope RunFolder) -> Self {
        let (queue, messages) = sync_channel(WAITING);
        let (answer, answers) = channel();
        scope.spawn(move || {
            if let Err(error) = write(run, messages, &answer) {
                // Nobody hears it when the scorer stopped for a reason of its own.
                let _ = answer.send(Err(error));
            }
        });
        Self { queue, answers, under_way: false }
    }

    /// Begins a part.
    ///
    /// # Errors
    /// Whatever stopped the writer, here and below.
    pub(crate) fn begin(&mut self, index: u32) -> Result<()> {
        self.send(Message::Begin(index))
    }

    /// Adds rows to it.
    pub(crate) fn rows(&mut self, rows: Vec<ScoredToken>) -> Result<()> {
        self.send(Message::Rows(rows))
    }

    /// Ends it; the part before must have been [`Writing::finished`].
    pub(crate) fn end(&mut self, range: PartRange) -> Result<()> {
        debug_assert!(!self.under_way, "one part at a time is on its way");
        self.under_way = true;
        self.send(Message::End(range))
    }

    /// The part that was ended last, once: when it is on disk, or `None` if it is not and this
    /// shall not wait.
    pub(crate) fn finished(&mut self, wait: bool) -> Result<Option<PartMeta>> {
        if !self.under_way {
            return Ok(None);
        }
        let answer = if wait { self.answers.recv().ok() } else { self.answers.try_recv().ok() };
        self.under_way = answer.is_none();
        answer.transpose()
    }

    fn send(&mut self, message: Message) -> Result<()> {
        if self.queue.send(message).is_ok() {
            return Ok(());
        }
        // The queue is closed by a writer that stopped, and its reason is the last of its answers.
        // There is none after a panic, which the scope passes on as soon as this is back there.
        self.answers.iter().try_for_each(|answer| answer.map(drop))?;
        Err(Error::Cancelled)
    }
}

/// What the thread does.
fn write(
    run: &RunFolder,
    messages: Receiver<Message>,
    answers: &Sender<Result<PartMeta>>,
) -> Result<()> {
    let mut part = None;
    for message in messages {
        match (message, part.as_mut()) {
            (Message::Begin(index), _) => part = Some(run.part_writer(index)?),
            (Message::Rows(rows), Some(part)) => part.write(&rows)?,
            (Message::End(range), Some(_)) => {
                let Some(part) = part.take() else { continue };
                if answers.send(Ok(part.finish(range)?)).is_err() {
                    return Ok(());
                }
            }
            (Message::Rows(_) | Message::End(_), None) => {}
        }
    }
    Ok(())
}
