//! alpha against k, with intervals (fig. 6b of the paper): how fast each regime improves with size.

use super::by_k::{self, FitsByK};
use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::frame::FrameRow;
use crate::plot::{Axis, Drawing, End, Guide, Marks, Panel};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "exponent-by-k", title: "The exponent α against k", make };

/// The exponent of each rank law.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let corpora = FitsByK::from_family(family, |_| true)
        .ok_or("it needs laws of two models or more at two k or more")?;
    let numbers = by_k::selection(&corpora)
        .column("alpha", |(.., fit)| fit.exponent.value)
        .ends(["low", "high"], |(.., fit)| fit.exponent.bounds())
        .column("interval", |(.., fit)| format::interval_method(&fit.exponent.interval))
        .column("slope_claimed", |(.., fit)| fit.claimed)
        .frame();
    let (family, values) = (family.clone(), values(&corpora));
    Ok(Figure::new(FIGURE.title, caption(&corpora), numbers, move |frame| {
        let rows = frame.rows();
        let tip = |row: FrameRow<'_>| {
            let alpha = row.estimate(["alpha", "low", "high"]);
            format!("{}\nk = {}\nα {alpha}", row.text("corpus"), row.plain("k"))
        };
        // An interval that nobody claims would only set the scale of the axis.
        let claimed = |row: FrameRow<'_>| row.flag("slope_claimed");
        let series = by_k::series(&family, &rows, |rows| {
            Marks::at(rows, "k", "alpha", tip).error_where(claimed, "low", "high")
        });
        let highest = rows.range("alpha").1.max(rows.only(claimed).range("high").1);
        // Zero, and room for its name below it.
        let y = Axis::linear("α").holding([-0.06 * highest]);
        Drawing::one(
            vec![],
            Panel {
                guides: vec![Guide::level(0.0, "0: no change with size", End::Left)],
                ..Panel::new(Axis::grid(rows.numbers("k")), y, 300.0, series)
            },
        )
    })
    .with(values))
}

/// Where the exponent begins and how far it gets.
fn values(corpora: &[FitsByK<'_>]) -> Values {
    let rows = corpora.iter().filter_map(|corpus| {
        let claimed: Vec<_> = corpus.fits.iter().filter(|(_, fit)| fit.claimed).collect();
        let (first_k, first) = claimed.first()?;
        let (top_k, top) =
            claimed.iter().max_by(|a, b| a.1.exponent.value.total_cmp(&b.1.exponent.value))?;
        let at = |fit: &relscale_laws::PowerLaw, k: u32| {
            let (alpha, k) = (format::fixed(fit.exponent.value, 3), format::count(u64::from(k)));
            format!("{alpha} at k = {k}")
        };
        Some([corpus.corpus.to_owned(), at(first, *first_k), at(top, *top_k)])
    });
    Values::new(["corpus", "first α", "largest α"], rows)
}

fn caption(corpora: &[FitsByK<'_>]) -> String {
    format!(
        "The exponent of −ln RBP at each k: larger means that this regime gains more from size.{}{}{}",
        if by_k::all(corpora).any(|fit| fit.exponent.bounds().is_some()) {
            " Bars are Student t intervals from the scatter of the models about the line."
        } else {
            " Two models give no interval."
        },
        if by_k::all(corpora).any(|fit| !fit.claimed) {
            " Hollow marks, without bars: no slope is claimed."
        } else {
            ""
        },
        if by_k::all(corpora).any(|fit| fit.claimed) { "" } else { " No α is claimed here." }
    )
}
