//! What the fits of one corpus look like along k.

use relscale_laws::PowerLaw;

use super::Family;
use crate::frame::{Frame, FrameRow, Rows, Selection};
use crate::plot::{Look, Marks, Series};

/// The fits of one corpus, k ascending.
pub(super) struct FitsByK<'a> {
    family: &'a str,
    pub(super) corpus: &'a str,
    pub(super) fits: Vec<(u32, &'a PowerLaw)>,
}

impl<'a> FitsByK<'a> {
    /// Those of a family's corpora that have a fit which `keep` wants; none when these are of fewer
    /// than two k.
    pub(super) fn from_family(
        family: &Family<'a>,
        keep: impl Fn(&PowerLaw) -> bool,
    ) -> Option<Vec<Self>> {
        let fits = family.groups.iter().map(|(group, _)| {
            let fit =
                |law: &'a relscale_laws::Law| Some((law.k()?, law.fit().filter(|fit| keep(fit))?));
            let fits = group.rank_laws.iter().filter_map(fit).collect();
            Self { family: &group.family, corpus: &group.corpus, fits }
        });
        let fits: Vec<Self> = fits.filter(|fits| !fits.fits.is_empty()).collect();
        let mut ks = fits.iter().flat_map(|corpus| corpus.fits.iter().map(|(k, _)| k));
        let first = ks.next()?;
        ks.any(|k| k != first).then_some(fits)
    }
}

/// All fits, a row each.
pub(super) fn all<'c, 'a: 'c>(
    corpora: &'c [FitsByK<'a>],
) -> impl Iterator<Item = &'a PowerLaw> + Clone + 'c {
    corpora.iter().flat_map(|corpus| corpus.fits.iter().map(|(_, fit)| *fit))
}

/// Begins a frame with family, corpus and k of each fit.
pub(super) fn selection<'a>(
    corpora: &[FitsByK<'a>],
) -> Selection<(&'a str, &'a str, u32, &'a PowerLaw)> {
    let of = |corpus: &FitsByK<'a>| {
        let (family, name) = (corpus.family, corpus.corpus);
        corpus.fits.iter().map(move |(k, fit)| (family, name, *k, *fit)).collect::<Vec<_>>()
    };
    Frame::from_rows(corpora.iter().flat_map(of))
        .column("family", |(family, ..)| family)
        .column("corpus", |(_, corpus, ..)| corpus)
        .column("k", |(.., k, _)| k)
}

/// A series a corpus with its label, hollow where no slope is claimed.
pub(super) fn series(
    family: &Family<'_>,
    rows: &Rows<'_>,
    marks: impl for<'f> Fn(&Rows<'f>) -> Marks<'f>,
) -> Vec<Series> {
    let look = |row: FrameRow<'_>| Look::claimed(row.flag("slope_claimed"));
    let of = |rows: &Rows<'_>| {
        let corpus = rows.text("corpus");
        let series = Series::new(family.style(corpus), corpus).label(vec![corpus.to_owned()]);
        series.joined(marks(rows).look(look))
    };
    rows.by("corpus").iter().map(of).collect()
}
