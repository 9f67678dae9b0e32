//! `-ln p_{N,k}` against S (fig. 7 of the paper, first form): does a longer sequence only move the
//! line up?

use relscale_laws::{Emergence, EmergenceAtK, Quantity};

use super::curve::{self, Curve};
use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::plot::{Drawing, Key, Line, Panel, Style};

pub(super) const FIGURE: Kind<OfFamily> = Kind {
    name: "sequences",
    title: "Several tokens right in a row: −ln p against model size",
    make,
};

/// Why a figure of sequences is not there.
pub(super) const NONE: &str =
    "no sequence of tokens was counted, or no model has a point in their laws";

/// The lengths of one k on one corpus.
pub(super) struct Lengths<'a> {
    pub(super) family: &'a str,
    pub(super) corpus: &'a str,
    /// The k, with its laws by length.
    pub(super) found: &'a EmergenceAtK,
}

impl<'a> Lengths<'a> {
    /// Those of a family at each k that have a point, corpora inside.
    pub(super) fn from_family(family: &Family<'a>) -> Result<Vec<Self>, String> {
        let counted: Vec<(&'a str, &'a Emergence)> = family
            .groups
            .iter()
            .filter_map(|(group, _)| Some((group.corpus.as_str(), group.emergence.as_ref()?)))
            .collect();
        let mut grid: Vec<u32> = counted
            .iter()
            .flat_map(|(_, emergence)| emergence.by_k.iter().map(|at| at.k))
            .collect();
        grid.sort_unstable();
        grid.dedup();
        let at = |k| {
            counted.iter().filter_map(move |(corpus, emergence)| Some((*corpus, emergence.at(k)?)))
        };
        let all = grid.into_iter().flat_map(at);
        let lengths = all.map(|(corpus, found)| Self { family: family.name, corpus, found });
        let there: Vec<Self> = lengths.filter(|lengths| lengths.shown().next().is_some()).collect();
        if there.is_empty() { Err(NONE.to_owned()) } else { Ok(there) }
    }

    /// The lengths that have a point, each with its colour.
    fn shown(&self) -> impl Iterator<Item = (&'a relscale_laws::SequencesOfLength, Style)> {
        let lengths = &self.found.lengths;
        let styled =
            lengths.iter().enumerate().map(|(at, length)| (length, Style::step(at, lengths.len())));
        styled.filter(|(length, _)| !length.law.points.is_empty())
    }

    /// `crates-code, k = 10`.
    pub(super) fn heading(&self) -> String {
        format!(
            "{}, k = {}",
            format::shortened(self.corpus, 24),
            format::count(u64::from(self.found.k))
        )
    }

    fn curves(&self) -> Vec<Curve<'a>> {
        let (family, corpus) = (self.family, self.corpus);
        self.shown()
            .map(|(length, style)| Curve { family, corpus, style, law: &length.law })
            .collect()
    }
}

/// Panels of one k in a row, under one key a length.
pub(super) fn drawing(all: &[Lengths<'_>], panel: impl Fn(usize) -> Panel) -> Drawing {
    let mut legend: Vec<Key> = Vec::new();
    for (length, style) in all.iter().flat_map(Lengths::shown) {
        let key = Key::series(style, format!("N = {}", length.length));
        if !legend.contains(&key) {
            legend.push(key);
        }
    }
    let mut rows: Vec<Vec<Panel>> = Vec::new();
    for (at, lengths) in all.iter().enumerate() {
        match rows.last_mut() {
            Some(row) if all[at - 1].found.k == lengths.found.k => row.push(panel(at)),
            _ => rows.push(vec![panel(at)]),
        }
    }
    Drawing::new(legend, rows)
}

/// The laws of all lengths, a panel for each k and corpus.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let all = Lengths::from_family(family)?;
    let curves: Vec<Vec<Curve<'a>>> = all.iter().map(Lengths::curves).collect();
    let values = all.iter().zip(&curves).filter_map(|(lengths, curves)| {
        let claimed = || curves.iter().filter(|curve| curve.claimed());
        let (first, last) = (claimed().next()?, claimed().next_back()?);
        let told = |curve: &Curve<'_>| {
            let exponent = curve.fit().map_or(0.0, |fit| fit.exponent.value);
            let length = match curve.law.quantity {
                Quantity::Sequence { length, .. } => length,
                _ => 1,
            };
            format!("{} for N = {length}", format::fixed(exponent, 3))
        };
        let k = format::count(u64::from(lengths.found.k));
        Some([lengths.corpus.to_owned(), k, told(first), told(last)])
    });
    let values: Vec<[String; 4]> = values.collect();
    let seen = if values.is_empty() { "No slope is claimed here." } else { "" };
    let values = Values::new(["corpus", "k", "α of the shortest", "α of the longest"], values);
    let caption = format!(
        "p is the share of windows of N consecutive tokens of a document that all have rank at most k. Were tokens \
         independent, −ln p would be N times that of one token: parallel lines, log N apart. Lines that come closer \
         with N or turn say that hits cluster. {}{seen}",
        curve::how_to_read(curves.iter().flatten()),
    );
    let numbers = curve::frame(curves.iter().flatten());
    Ok(Figure::new(FIGURE.title, caption, numbers, move |frame| {
        drawing(&all, |at| Panel {
            heading: all[at].heading(),
            apart: false,
            ..curve::panel(frame, &curves[at], "−ln p (nats)", 230.0, |_| (Line::Solid, vec![]))
        })
    })
    .with(values))
}
