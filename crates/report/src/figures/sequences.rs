//! `-ln p_{N,k}` against S (fig. 7 of the paper, first form): does a longer sequence only move the line up?

use relscale_laws::{Emergence, EmergenceAtK};

use super::curve::{self, Curve};
use super::{Family, Figure, LeftOut};
use crate::csv::Table;
use crate::format;
use crate::plot::{Axis, Drawing, Key, Line, Panel, Sample, Style};

pub(super) const NAME: &str = "sequences";
const TITLE: &str = "Several tokens right in a row: −ln p against model size";

/// The lengths of one k on one corpus.
pub(super) struct Lengths<'a> {
    pub(super) family: &'a str,
    pub(super) corpus: &'a str,
    /// The k, with its laws by length.
    pub(super) found: &'a EmergenceAtK,
}

/// The laws of all lengths, a panel for each k and corpus.
pub(super) struct Sequences<'a> {
    panels: Vec<(Lengths<'a>, Vec<Curve<'a>>)>,
}

impl<'a> Lengths<'a> {
    /// Those of a family at each k, corpora inside.
    pub(super) fn of(family: &Family<'a>) -> Vec<Self> {
        let counted: Vec<(&'a str, &'a Emergence)> = family
            .groups
            .iter()
            .filter_map(|(group, _)| Some((group.corpus.as_str(), group.emergence.as_ref()?)))
            .collect();
        let mut grid: Vec<u32> =
            counted.iter().flat_map(|(_, emergence)| emergence.by_k.iter().map(|at| at.k)).collect();
        grid.sort_unstable();
        grid.dedup();
        let at = |k| counted.iter().filter_map(move |(corpus, emergence)| Some((*corpus, emergence.at(k)?)));
        grid.into_iter()
            .flat_map(|k| at(k).map(|(corpus, found)| Self { family: family.name, corpus, found }))
            .collect()
    }

    /// The colour of the `at`th length.
    pub(super) fn style(&self, at: usize) -> Style {
        Style::step(at, self.found.lengths.len())
    }

    /// `crates-code, k = 10`.
    pub(super) fn heading(&self) -> String {
        format!("{}, k = {}", format::shortened(self.corpus, 24), format::count(u64::from(self.found.k)))
    }

    /// Whether any length has a point.
    pub(super) fn has_points(&self) -> bool {
        self.found.lengths.iter().any(|length| !length.law.points.is_empty())
    }

    fn curves(&self) -> Vec<Curve<'a>> {
        let lengths = self.found.lengths.iter().enumerate();
        lengths
            .filter(|(_, length)| !length.law.points.is_empty())
            .map(|(at, length)| Curve {
                family: self.family,
                corpus: self.corpus,
                style: self.style(at),
                law: &length.law,
            })
            .collect()
    }
}

/// Panels of one k in a row.
pub(super) fn by_k<'a, P>(panels: impl Iterator<Item = (&'a Lengths<'a>, P)>) -> Vec<Vec<P>> {
    let mut rows: Vec<(u32, Vec<P>)> = Vec::new();
    for (lengths, panel) in panels {
        match rows.last_mut() {
            Some((k, row)) if *k == lengths.found.k => row.push(panel),
            _ => rows.push((lengths.found.k, vec![panel])),
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

/// One key a length, over all panels.
pub(super) fn legend<'a>(panels: impl Iterator<Item = &'a Lengths<'a>>) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for lengths in panels {
        for (at, length) in lengths.found.lengths.iter().enumerate() {
            let text = format!("N = {}", length.length);
            if !length.law.points.is_empty() && !keys.iter().any(|key| key.text == text) {
                let style = lengths.style(at);
                keys.push(Key { style, sample: Sample::Series(Line::Solid, style.mark()), text });
            }
        }
    }
    keys
}

/// Why a figure of sequences is not there.
pub(super) fn left_out(name: &'static str, title: &str) -> LeftOut {
    let reason = "no sequence of tokens was counted, or no model has a point in their laws";
    LeftOut::because(name, title, reason)
}

impl<'a> Sequences<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let panels: Vec<_> = Lengths::of(family)
            .into_iter()
            .filter(Lengths::has_points)
            .map(|lengths| {
                let curves = lengths.curves();
                (lengths, curves)
            })
            .collect();
        if panels.is_empty() { Err(left_out(NAME, TITLE)) } else { Ok(Self { panels }) }
    }

    fn curves(&self) -> Vec<Curve<'_>> {
        self.panels.iter().flat_map(|(_, curves)| curves.iter().copied()).collect()
    }
}

impl Figure for Sequences<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn caption(&self) -> String {
        let seen: Vec<String> = self
            .panels
            .iter()
            .filter_map(|(lengths, curves)| {
                let claimed = || curves.iter().filter(|curve| curve.claimed());
                let (first, last) = (claimed().next()?, claimed().next_back()?);
                let exponent = |curve: &Curve<'_>| curve.fit().map_or(0.0, |fit| fit.exponent.value);
                let length = |curve: &Curve<'_>| match curve.law.quantity {
                    relscale_laws::Quantity::Sequence { length, .. } => length,
                    _ => 1,
                };
                Some(format!(
                    "{}: α {} for N = {}, {} for N = {}",
                    lengths.heading(),
                    format::fixed(exponent(first), 3),
                    length(first),
                    format::fixed(exponent(last), 3),
                    length(last),
                ))
            })
            .collect();
        let seen = if seen.is_empty() {
            "No slope is claimed here.".to_owned()
        } else {
            format!("Seen: {}.", seen.join("; "))
        };
        format!(
            "p is the share of windows of N consecutive tokens of a document that all have rank at most k. Were tokens \
             independent, −ln p would be N times that of one token: parallel lines, log N apart. Lines that come closer \
             with N or turn say that hits cluster. {}{seen}",
            curve::how_to_read(&self.curves()),
        )
    }

    fn numbers(&self) -> Table {
        curve::table(&self.curves())
    }

    fn drawing(&self) -> Drawing {
        let panel = |(lengths, curves): &(Lengths<'_>, Vec<Curve<'_>>)| Panel {
            heading: lengths.heading(),
            apart: false,
            shades: curve::shades(curves),
            series: curves.iter().map(|curve| curve.series(Line::Solid, vec![])).collect(),
            ..Panel::of(
                Axis::sizes(curves.iter().flat_map(Curve::reach)),
                Axis::log("−ln p (nats)".to_owned(), curves.iter().flat_map(Curve::heights)),
                230.0,
            )
        };
        Drawing {
            title: self.title(),
            legend: legend(self.panels.iter().map(|(lengths, _)| lengths)),
            rows: by_k(self.panels.iter().map(|shown| (&shown.0, panel(shown)))),
        }
    }
}
