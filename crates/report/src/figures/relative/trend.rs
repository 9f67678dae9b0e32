//! What a verdict looks like: the same mark in every figure of gaps.

use relscale_laws::{GapLaw, Trend};

use crate::frame::{FrameRow, Rows};
use crate::plot::{Key, Line, Look, Mark, Sample, Style};

/// All verdicts, in the order of legends.
const ALL: [Trend; 5] =
    [Trend::Closes, Trend::Widens, Trend::Crossed, Trend::Parallel, Trend::Undecided];

/// The verdict that stands in a row; undecided where there is none.
pub(super) fn verdict(row: FrameRow<'_>) -> Trend {
    ALL.into_iter().find(|trend| trend.name() == row.text("trend")).unwrap_or(Trend::Undecided)
}

/// Down for gaps that close, up for those that widen, both for those that go through 1, level for
/// parallel ones, round for what is not decided.
pub(super) fn mark(trend: Trend) -> Mark {
    match trend {
        Trend::Closes => Mark::Wedge,
        Trend::Widens => Mark::Triangle,
        Trend::Crossed => Mark::Diamond,
        Trend::Parallel => Mark::Square,
        Trend::Undecided => Mark::Disc,
    }
}

/// An outline where nothing is shown.
pub(super) fn look(trend: Trend) -> Look {
    Look::claimed(trend != Trend::Undecided)
}

/// A broken line where nothing is shown.
pub(super) fn line(trend: Trend) -> Line {
    if trend == Trend::Undecided { Line::Dashed } else { Line::Solid }
}

/// The colour of a verdict, for figures that have too many distributions for a colour each.
pub(super) fn style(trend: Trend) -> Style {
    match trend {
        Trend::Closes => Style::for_corpus(0),
        Trend::Widens => Style::for_corpus(1),
        Trend::Crossed => Style::for_corpus(3),
        Trend::Parallel => Style::for_corpus(2),
        Trend::Undecided => Style::for_corpus(6),
    }
}

/// Keys for the verdicts that are there; in their colours, or only by their marks.
pub(super) fn legend(rows: &Rows<'_>, coloured: bool) -> Vec<Key> {
    let key = |trend: Trend| {
        let style = if coloured { style(trend) } else { Style::NEUTRAL };
        Key::new(style, Sample::Mark(mark(trend), look(trend)), trend.name())
    };
    ALL.into_iter()
        .filter(|trend| !rows.matching("trend", trend.name()).is_empty())
        .map(key)
        .collect()
}

/// `2 close (a, b), 1 is undecided (c)`: how many of each, the first few by name.
pub(super) fn summary<'a>(laws: impl Iterator<Item = (&'a str, &'a GapLaw)> + Clone) -> String {
    const NAMED: usize = 5;
    let told: Vec<String> = ALL
        .into_iter()
        .filter_map(|trend| {
            let names: Vec<&str> =
                laws.clone().filter(|(_, law)| law.trend == trend).map(|(name, _)| name).collect();
            let verb = match (trend, names.len()) {
                (_, 0) => return None,
                (Trend::Closes, 1) => "closes",
                (Trend::Closes, _) => "close",
                (Trend::Widens, 1) => "widens",
                (Trend::Widens, _) => "widen",
                (Trend::Crossed, 1) => "is crossed",
                (Trend::Crossed, _) => "are crossed",
                (Trend::Parallel, 1) => "is parallel",
                (Trend::Parallel, _) => "are parallel",
                (Trend::Undecided, 1) => "is undecided",
                (Trend::Undecided, _) => "are undecided",
            };
            let more = if names.len() > NAMED { ", ..." } else { "" };
            let first = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
            Some(format!("{} {verb} ({first}{more})", names.len()))
        })
        .collect();
    told.join("; ")
}
