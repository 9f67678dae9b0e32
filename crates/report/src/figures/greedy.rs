//! `-ln RBP_1` against S (fig. 3 of the paper): how often the first choice is right, by size.

use super::curve::{self, Curve};
use super::{Family, Figure, Kind, Made, OfFamily};
use crate::format;
use crate::plot::{Drawing, Line};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "greedy", title: "−ln RBP₁ against model size", make };

/// The rank law at the smallest k, which is 1 unless another grid was asked for.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let k = *family.grid().first().ok_or(curve::NO_POINT)?;
    let curves = Curve::of_rank(family, k);
    if curves.is_empty() {
        return Err(curve::NO_POINT.to_owned());
    }
    let symbol = format::rank_symbol(k);
    let what = if k == 1 {
        "How often the right token is the model's first choice, as −ln of that share: lower is better. "
            .to_owned()
    } else {
        format!("How often the right token is among the first {k}, as −ln of that share. ")
    };
    let caption =
        format!("{what}{}{}", curve::how_to_read(curves.iter()), curve::summary(&curves, "α"));
    let title = format!("{symbol} against model size");
    Ok(Figure::new(title, caption, curve::frame(&curves), move |frame| {
        let panel = curve::panel(frame, &curves, &format!("{symbol} (nats)"), 380.0, |curve| {
            let lines = [
                Some(curve.corpus.to_owned()),
                Some(curve.exponent_text()),
                curve.r_squared_text(),
            ];
            (Line::Solid, lines.into_iter().flatten().collect())
        });
        Drawing::one(vec![], panel)
    }))
}
