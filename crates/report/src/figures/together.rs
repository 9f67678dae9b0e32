//! Cross entropy and `-ln RBP_1` on the same axes (fig. 8a of the paper): do the two laws run in
//! parallel?

use super::curve::{self, Curve};
use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::plot::{Drawing, Key, Line};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "together", title: "Cross entropy and −ln RBP₁ against model size", make };

/// Both laws of each corpus.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let none = "no model has a point in both laws";
    let k = *family.grid().first().ok_or(none)?;
    let (rank, entropy) = (Curve::of_rank(family, k), Curve::of_cross_entropy(family));
    if rank.is_empty() || entropy.is_empty() {
        return Err(none.to_owned());
    }
    let symbol = format::rank_symbol(k);
    // `alpha - beta` where both are known.
    let differences = family.groups.iter().filter_map(|(group, _)| {
        let difference = group.greedy_minus_cross_entropy.as_ref()?;
        Some([group.corpus.clone(), format::estimate(difference)])
    });
    let differences: Vec<[String; 2]> = differences.collect();
    let difference = if differences.is_empty() {
        ""
    } else {
        " α − β is from the ratio of the two at each model. The paper finds the two exponents nearly equal."
    };
    let values = Values::new(["corpus", "α − β"], differences);
    let caption = format!(
        "Both laws on one pair of axes: parallel lines have equal exponents. Above, dashed: cross entropy (CE, mean \
         negative log-likelihood, exponent β); below, solid: {symbol} (exponent α). {}{difference}",
        curve::summary(&entropy, "β"),
    );
    let title = format!("Cross entropy and {symbol} against model size");
    let numbers = curve::frame(rank.iter().chain(&entropy));
    // In the order in which they are drawn.
    let curves = [entropy, rank].concat();
    Ok(Figure::new(title, caption, numbers, move |frame| {
        let panel = curve::panel(frame, &curves, "nats", 400.0, |curve| {
            let line = if curve.law.k().is_some() { Line::Solid } else { Line::Dashed };
            let corpus = format::shortened(curve.corpus, 18);
            (line, vec![format!("{corpus}, {}", curve.symbol()), curve.fit_text()])
        });
        let legend = vec![
            Key::line(Line::Dashed, "CE (nats per token)"),
            Key::line(Line::Solid, format!("{symbol} (nats)")),
        ];
        Drawing::one(legend, panel)
    })
    .with(values))
}
