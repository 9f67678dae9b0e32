//! The frames of the process protocol (`docs/engines.md`): four letters, a length, a payload.

use std::io::{BufRead, ErrorKind, Read, Write};

use relscale_records::Score;
use relscale_records::provenance::ScoreColumn;

use crate::engine::{EngineWindow, Vocabulary};

/// Longest payload that is believed.
const LONGEST: u32 = 1 << 30;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Facts, both ways.
    Hello,
    /// Which rows take part.
    Vocabulary,
    /// A request.
    Windows,
    /// Its answer.
    Scores,
    /// The engine lives.
    Beat,
    /// A sentence for a person.
    Notice,
    /// An error in words.
    Failure,
    /// The end.
    Goodbye,
}

impl Kind {
    const ALL: [(Self, &[u8; 4]); 8] = [
        (Self::Hello, b"HELO"),
        (Self::Vocabulary, b"VOCB"),
        (Self::Windows, b"WIND"),
        (Self::Scores, b"SCOR"),
        (Self::Beat, b"BEAT"),
        (Self::Notice, b"NOTE"),
        (Self::Failure, b"FAIL"),
        (Self::Goodbye, b"BYE "),
    ];

    fn letters(self) -> &'static [u8; 4] {
        // The list has every kind.
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or(b"????", |(_, letters)| letters)
    }
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    pub(super) payload: Vec<u8>,
}

/// What came instead of a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Broken {
    /// Bytes that begin no frame.
    #[error(
        "it wrote `{0}` on standard output, which is for frames alone; let it print to standard error"
    )]
    Rubbish(String),
    /// A length that nobody means.
    #[error("it announced a frame of {0} bytes, more than 1 GiB")]
    TooLong(u32),
    /// The end of the stream inside a frame.
    #[error("its output ended inside a frame")]
    Cut,
    /// A payload that is not what its kind says.
    #[error("{0}")]
    Payload(String),
    /// The system's reason.
    #[error("its output cannot be read ({0})")]
    Unreadable(String),
}

impl Frame {
    /// A frame without a payload.
    pub(super) fn empty(kind: Kind) -> Self {
        Self { kind, payload: Vec::new() }
    }

    /// Writes the frame.
    ///
    /// # Errors
    /// The stream's.
    pub(super) fn write(&self, to: &mut impl Write) -> std::io::Result<()> {
        to.write_all(self.kind.letters())?;
        // Payloads are made here, of at most a batch of tokens.
        to.write_all(&(self.payload.len() as u32).to_le_bytes())?;
        to.write_all(&self.payload)?;
        to.flush()
    }

    /// Reads the next frame; `None` at the end of the stream.
    ///
    /// # Errors
    /// [`Broken`].
    pub(super) fn read(from: &mut impl BufRead) -> Result<Option<Self>, Broken> {
        let unreadable = |error: &std::io::Error| match error.kind() {
            ErrorKind::UnexpectedEof => Broken::Cut,
            _ => Broken::Unreadable(error.to_string()),
        };
        let mut letters = [0; 4];
        let mut there = 0;
        while there < letters.len() {
            match from.read(&mut letters[there..]) {
                Ok(0) => break,
                Ok(count) => there += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(&error)),
            }
        }
        let begun = &letters[..there];
        let kind = Kind::ALL.iter().find(|(_, known)| known.as_slice() == begun);
        let Some(&(kind, _)) = kind else {
            let cut = Kind::ALL.iter().any(|(_, known)| known.starts_with(begun));
            return match there {
                0 => Ok(None),
                _ if cut => Err(Broken::Cut),
                // What the pipe has already given shows better what it was.
                _ => Err(rubbish(begun, from.fill_buf().unwrap_or_default())),
            };
        };
        let mut length = [0; 4];
        from.read_exact(&mut length).map_err(|error| unreadable(&error))?;
        let length = u32::from_le_bytes(length);
        if length > LONGEST {
            return Err(Broken::TooLong(length));
        }
        // Grows with what comes, not with what is announced.
        let mut payload = Vec::new();
        let read = from.take(u64::from(length)).read_to_end(&mut payload);
        read.map_err(|error| unreadable(&error))?;
        if payload.len() < length as usize {
            return Err(Broken::Cut);
        }
        Ok(Some(Self { kind, payload }))
    }

    /// The payload as JSON.
    ///
    /// # Errors
    /// [`Broken::Payload`].
    pub(super) fn json<T: for<'de> serde::Deserialize<'de>>(&self) -> Result<T, Broken> {
        serde_json::from_slice(&self.payload).map_err(|error| {
            let kind = String::from_utf8_lossy(self.kind.letters());
            Broken::Payload(format!("its `{kind}` is not what the protocol says: {error}"))
        })
    }
}

fn rubbish(begun: &[u8], more: &[u8]) -> Broken {
    let text =
        String::from_utf8_lossy(&[begun, &more[..more.len().min(120)]].concat()).into_owned();
    let line = text.lines().next().unwrap_or_default();
    Broken::Rubbish(line.chars().map(|c| if c.is_control() { '?' } else { c }).collect())
}

/// Which rows take part: nothing for all, else a byte a row.
pub(super) fn vocabulary(vocabulary: &Vocabulary) -> Frame {
    let payload = match vocabulary {
        Vocabulary::Rows(_) => Vec::new(),
        Vocabulary::Tokens(takes_part) => takes_part.iter().map(|&part| u8::from(part)).collect(),
    };
    Frame { kind: Kind::Vocabulary, payload }
}

/// A request for the scores of windows.
pub(super) fn windows(number: u32, windows: &[EngineWindow<'_>]) -> Frame {
    let mut payload = Vec::new();
    let mut put = |word: u32| payload.extend(word.to_le_bytes());
    put(number);
    // A batch is far smaller than what u32 can count.
    put(windows.len() as u32);
    for window in windows {
        put(window.tokens.len() as u32);
        put(window.scored.len() as u32);
        window.tokens.iter().chain(window.scored).for_each(|&word| put(word));
    }
    Frame { kind: Kind::Windows, payload }
}

/// The scores of an answer to request `number`, one entry a scored position of `windows`.
///
/// # Errors
/// [`Broken::Payload`] where it has another number, or not exactly these positions.
pub(super) fn scores(
    frame: &Frame,
    number: u32,
    windows: &[EngineWindow<'_>],
    lacks: &[ScoreColumn],
) -> Result<Vec<Vec<Option<Score>>>, Broken> {
    let wrong = |reason: String| Broken::Payload(format!("it answered wrongly: {reason}"));
    let (words, rest) = frame.payload.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let [answered, positions, columns @ ..] = words.as_slice() else {
        return Err(wrong("a block of scores without its two counts".into()));
    };
    if *answered != number {
        return Err(wrong(format!("scores of request {answered} for request {number}")));
    }
    let wanted: usize = windows.iter().map(|window| window.scored.len()).sum();
    let count = 5 - lacks.len();
    if *positions as usize != wanted {
        return Err(wrong(format!("{positions} scores for {wanted} positions")));
    }
    if columns.len() != wanted * count || !rest.is_empty() {
        let bytes = frame.payload.len() - 8;
        return Err(wrong(format!(
            "{bytes} bytes for {count} columns of {wanted} positions, where {} are due",
            4 * wanted * count
        )));
    }
    let mut left = columns;
    let mut column = |there: bool| {
        there.then(|| {
            let (column, more) = left.split_at(wanted);
            left = more;
            column
        })
    };
    let tells = |column| !lacks.contains(&column);
    let (rank, nll) = (column(true).unwrap_or_default(), column(true).unwrap_or_default());
    let ties = column(tells(ScoreColumn::Ties));
    let entropy = column(tells(ScoreColumn::Entropy));
    let argmax = column(tells(ScoreColumn::Argmax));
    let score = |at: usize| {
        let nll = f32::from_bits(nll[at]);
        (rank[at] > 0 && nll.is_finite()).then(|| Score {
            rank: rank[at],
            ties: ties.map(|ties| ties[at]),
            nll,
            entropy: entropy.map(|entropy| f32::from_bits(entropy[at])),
            argmax: argmax.map(|argmax| argmax[at]),
        })
    };
    let mut first = 0;
    let of_window = |window: &EngineWindow<'_>| {
        let scores = (first..first + window.scored.len()).map(score).collect();
        first += window.scored.len();
        scores
    };
    Ok(windows.iter().map(of_window).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Option<Frame>, Broken> {
        Frame::read(&mut &*bytes)
    }

    #[test]
    fn frames_come_back_and_every_cut_is_seen() {
        let tokens = [EngineWindow { tokens: &[5, 6, 7], scored: &[1, 2] }];
        let frame = windows(3, &tokens);
        let mut bytes = Vec::new();
        frame.write(&mut bytes).unwrap();
        assert_eq!(read(&bytes).unwrap().unwrap(), frame);
        assert_eq!(read(&[]), Ok(None));
        for end in 1..bytes.len() {
            assert_eq!(read(&bytes[..end]), Err(Broken::Cut), "{end}");
        }
    }

    #[test]
    fn what_is_no_frame_is_shown() {
        let Err(Broken::Rubbish(text)) = read(b"Loading checkpoint shards: 10%\nmore") else {
            panic!()
        };
        assert_eq!(text, "Loading checkpoint shards: 10%");
        assert_eq!(read(b"SCOR\xff\xff\xff\xff"), Err(Broken::TooLong(u32::MAX)));
    }

    #[test]
    fn scores_have_the_columns_that_are_told_and_no_others() {
        let asked = [
            EngineWindow { tokens: &[5, 6, 7], scored: &[1, 2] },
            EngineWindow { tokens: &[5, 6], scored: &[1] },
        ];
        let block = |number: u32, columns: &[[u32; 3]]| {
            let words = [number, 3].into_iter().chain(columns.iter().flatten().copied());
            Frame { kind: Kind::Scores, payload: words.flat_map(u32::to_le_bytes).collect() }
        };
        let bits = f32::to_bits;
        let [rank, nll] = [[1, 0, 7], [bits(0.5), bits(1.0), bits(2.0)]];
        let all = [rank, nll, [0, 0, 2], [bits(1.5), 0, bits(2.5)], [9, 9, 8]];
        let told = scores(&block(4, &all), 4, &asked, &[]).unwrap();
        let last = Score { rank: 7, ties: Some(2), nll: 2.0, entropy: Some(2.5), argmax: Some(8) };
        // A rank of 0 marks a position without a score.
        assert_eq!((told[0][1], told[1][0]), (None, Some(last)));
        let few = scores(&block(4, &all[..2]), 4, &asked, &ScoreColumn::ALL).unwrap();
        assert_eq!(few[1][0], Some(Score { ties: None, entropy: None, argmax: None, ..last }));
        let nan = [rank, [bits(f32::NAN), bits(1.0), bits(f32::INFINITY)]];
        let none = scores(&block(4, &nan), 4, &asked, &ScoreColumn::ALL).unwrap();
        assert!(none.concat().iter().all(Option::is_none));

        let refused = |frame: &Frame, lacks: &[ScoreColumn]| {
            scores(frame, 4, &asked, lacks).unwrap_err().to_string()
        };
        assert!(refused(&block(5, &all), &[]).contains("request 5 for request 4"));
        assert!(refused(&block(4, &all[..4]), &[]).contains("48 bytes for 5 columns"));
        assert!(refused(&block(4, &all), &ScoreColumn::ALL).contains("24 are due"));
        let short = EngineWindow { tokens: &[5, 6], scored: &[1] };
        let error = scores(&block(4, &all), 4, &[short], &[]).unwrap_err().to_string();
        assert!(error.contains("3 scores for 1 positions"), "{error}");
    }
}
