//! `-ln RBP_1` against S (fig. 3 of the paper): how often the first choice is right, by size.

use super::curve::{self, Curve};
use super::{Family, Figure, LeftOut};
use crate::csv::Table;
use crate::format;
use crate::plot::{Axis, Drawing, Line, Panel};

const NAME: &str = "greedy";

/// The rank law at the smallest k, which is 1 unless another grid was asked for.
pub(super) struct Greedy<'a> {
    k: u32,
    curves: Vec<Curve<'a>>,
}

impl<'a> Greedy<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let left = || LeftOut::because(NAME, "−ln RBP₁ against model size", curve::NO_POINT);
        let k = *family.grid().first().ok_or_else(left)?;
        let curves = Curve::of_rank(family, k);
        if curves.is_empty() { Err(left()) } else { Ok(Self { k, curves }) }
    }
}

impl Figure for Greedy<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("{} against model size", format::rank_symbol(self.k))
    }

    fn caption(&self) -> String {
        let what = if self.k == 1 {
            "How often the right token is the model's first choice, as −ln of that share: lower is better. "
                .to_owned()
        } else {
            format!("How often the right token is among the first {}, as −ln of that share. ", self.k)
        };
        format!("{what}{}{}", curve::how_to_read(&self.curves), curve::summary(&self.curves, "α"))
    }

    fn numbers(&self) -> Table {
        curve::table(&self.curves)
    }

    fn drawing(&self) -> Drawing {
        let label = |curve: &Curve<'_>| {
            let lines = [Some(curve.corpus.to_owned()), Some(curve.exponent_text()), curve.r_squared_text()];
            lines.into_iter().flatten().collect()
        };
        let x = Axis::sizes(self.curves.iter().flat_map(Curve::reach));
        let y = Axis::log(
            format!("{} (nats)", format::rank_symbol(self.k)),
            self.curves.iter().flat_map(Curve::heights),
        );
        let series = self.curves.iter().map(|curve| curve.series(Line::Solid, label(curve))).collect();
        Drawing {
            title: self.title(),
            legend: Vec::new(),
            rows: vec![vec![Panel { shades: curve::shades(&self.curves), series, ..Panel::of(x, y, 380.0) }]],
        }
    }
}
