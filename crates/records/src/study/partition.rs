//! How documents are cut: into the parts of a run, and into the slices that several processes
//! measure. Both are functions of the scored positions of each document, never of time or threads.

use serde::{Deserialize, Serialize};

use crate::parquet::PartRange;

/// One of `of` slices of a run's documents, to be measured by itself and merged with the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SliceOf {
    /// Which one, from 1.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

impl std::fmt::Display for SliceOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl std::str::FromStr for SliceOf {
    type Err = String;

    /// Reads `I/N`, 1 <= I <= N.
    ///
    /// ```
    /// use relscale_records::study::SliceOf;
    /// assert_eq!("3/8".parse(), Ok(SliceOf { index: 3, of: 8 }));
    /// assert!("0/8".parse::<SliceOf>().is_err() && "9/8".parse::<SliceOf>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(index, of)| {
            Some(Self { index: index.trim().parse().ok()?, of: of.trim().parse().ok()? })
        });
        match parsed {
            Some(slice) if (1..=slice.of).contains(&slice.index) => Ok(slice),
            _ => Err("it is I/N with 1 <= I <= N, such as 3/8".to_owned()),
        }
    }
}

/// The documents of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Which slice it is.
    #[serde(flatten)]
    pub which: SliceOf,
    /// Ordinal of its first document.
    pub first_document: u32,
    /// One past the ordinal of its last document.
    pub end_document: u32,
}

impl Slice {
    /// The documents of a slice: those that begin within its share of all `total` positions.
    /// `scored` is the number of positions of each document. Slices are disjoint and cover all
    /// documents; some may be empty.
    ///
    /// # Errors
    /// Those of `scored`.
    pub fn new<E>(
        which: SliceOf,
        scored: impl Iterator<Item = Result<u64, E>>,
        total: u64,
    ) -> Result<Self, E> {
        let bound = |share: u32| u128::from(total) * u128::from(share) / u128::from(which.of);
        let (low, high) = (bound(which.index - 1), bound(which.index));
        let last = which.index == which.of;
        let (mut first_document, mut end_document, mut before) = (0, 0, 0u128);
        for (ordinal, scored) in (0u32..).zip(scored) {
            if before < low {
                first_document = ordinal + 1;
            }
            if last || before < high {
                end_document = ordinal + 1;
            }
            before += u128::from(scored?);
        }
        Ok(Self { which, first_document, end_document: end_document.max(first_document) })
    }

    /// How many documents it has.
    pub fn documents(&self) -> u32 {
        self.end_document - self.first_document
    }
}

/// The parts of documents from `first` on: whole documents until a part has `part_tokens`
/// positions.
///
/// # Errors
/// Those of `scored`.
pub fn parts<E>(
    first: u32,
    scored: impl Iterator<Item = Result<u64, E>>,
    part_tokens: u64,
) -> Result<Vec<PartRange>, E> {
    let mut parts: Vec<PartRange> = Vec::new();
    let (mut begin, mut end, mut size) = (first, first, 0);
    let mut close = |begin: &mut u32, end: u32, size: &mut u64| {
        let index = parts.len() as u32;
        parts.push(PartRange { index, first_document: *begin, end_document: end });
        (*begin, *size) = (end, 0);
    };
    for scored in scored {
        let scored = scored?;
        if scored >= part_tokens && size > 0 {
            close(&mut begin, end, &mut size);
        }
        end += 1;
        size += scored;
        if size >= part_tokens {
            close(&mut begin, end, &mut size);
        }
    }
    if begin < end {
        close(&mut begin, end, &mut size);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every document is in exactly one slice, and in exactly one part of it.
        #[test]
        fn slices_and_parts_cover_each_document_once(
            scored in prop::collection::vec(0u64..200, 1..60),
            of in 1u32..9,
            part_tokens in 1u64..300,
        ) {
            let total = scored.iter().sum();
            let each = || scored.iter().map(|&scored| Ok::<_, ()>(scored));
            let (mut next, mut positions) = (0, Vec::new());
            for index in 1..=of {
                let slice = Slice::new(SliceOf { index, of }, each(), total).unwrap();
                prop_assert!(slice.documents() == 0 || slice.first_document == next);
                let inside = || {
                    scored[slice.first_document as usize..slice.end_document as usize].iter()
                };
                let parts = parts(
                    slice.first_document,
                    inside().map(|&scored| Ok::<_, ()>(scored)),
                    part_tokens,
                ).unwrap();
                let mut at = slice.first_document;
                for (number, part) in (0..).zip(&parts) {
                    prop_assert_eq!((part.index, part.first_document), (number, at));
                    at = part.end_document;
                }
                prop_assert_eq!(at, slice.end_document);
                next = next.max(slice.end_document);
                positions.push(inside().sum::<u64>());
            }
            prop_assert_eq!(next as usize, scored.len());
            // No slice has more than its share and one document.
            let largest = scored.iter().max().copied().unwrap_or(0);
            let share = total / u64::from(of) + 1;
            prop_assert!(positions.iter().all(|&here| here <= share + largest), "{positions:?}");
        }
    }
}
