//! The rank law at k = 10, 50, 100 (fig. 4 of the paper), or at the nearest k of the grid.

use super::curve::{self, Curve};
use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::plot::{Drawing, Key, Line, Panel};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "head", title: "−ln RBP against model size for k = 10, 50 and 100", make };

/// The k of the paper's figure.
const WANTED: [u32; 3] = [10, 50, 100];

/// One panel a k.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let panels = at_each(family, &nearest(&family.grid()));
    if panels.is_empty() {
        return Err(format!("beyond the smallest k {}", curve::NO_POINT));
    }
    let ks: Vec<String> = panels.iter().map(|(k, _)| k.to_string()).collect();
    let values = panels.iter().flat_map(|(k, curves)| {
        let row = |curve: &Curve<'a>| {
            let r_squared = curve.r_squared_text().unwrap_or_default().replace("R² ", "");
            let exponent = curve.exponent_text().replace("α ", "");
            [k.to_string(), curve.corpus.to_owned(), exponent, r_squared]
        };
        curves.iter().map(row).collect::<Vec<_>>()
    });
    let values = Values::new(["k", "corpus", "α", "R²"], values);
    let all = || panels.iter().flat_map(|(_, curves)| curves);
    let caption = format!(
        "How often the right token is among the first k. The vertical axes span equally many decades, so equal \
         slopes are equal exponents. {}",
        curve::how_to_read(all()),
    );
    let title = format!("−ln RBP against model size for k = {}", format::list(&ks));
    let numbers = curve::frame(all());
    Ok(Figure::new(title, caption, numbers, move |frame| {
        let mut drawn: Vec<Panel> =
            panels.iter().map(|(k, curves)| laws(frame, *k, curves, 280.0)).collect();
        Panel::equal_spans(&mut drawn);
        Drawing::new(Key::each(&drawn), vec![drawn])
    })
    .with(values))
}

/// The rank laws of a family at some k, where there are any.
pub(super) fn at_each<'a>(family: &Family<'a>, ks: &[u32]) -> Vec<(u32, Vec<Curve<'a>>)> {
    let at = ks.iter().map(|&k| (k, Curve::of_rank(family, k)));
    at.filter(|(_, curves)| !curves.is_empty()).collect()
}

/// The panel of the laws at one k, what they say in coloured lines above it.
pub(super) fn laws(
    frame: &crate::frame::Frame,
    k: u32,
    curves: &[Curve<'_>],
    height: f64,
) -> Panel {
    // Which k it is the heading says.
    let title = "−ln RBPₖ (nats)";
    Panel {
        heading: format!("k = {}", format::count(u64::from(k))),
        notes: curves.iter().map(|curve| (curve.style, curve.fit_text())).collect(),
        ..curve::panel(frame, curves, title, height, |_| (Line::Solid, vec![]))
    }
}

/// The members of the grid, beyond its first, that are nearest to 10, 50 and 100 by ratio, each
/// once.
pub(super) fn nearest(grid: &[u32]) -> Vec<u32> {
    let rest = grid.get(1..).unwrap_or_default();
    let mut found: Vec<u32> = WANTED
        .iter()
        .filter_map(|&wanted| {
            let distance = |k: u32| (f64::from(k) / f64::from(wanted)).ln().abs();
            rest.iter().copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_k_of_the_grid() {
        assert_eq!(nearest(&[1, 2, 5, 10, 20, 50, 100, 200]), [10, 50, 100]);
        assert_eq!(nearest(&[1, 8, 64]), [8, 64]);
        assert_eq!(nearest(&[1, 2]), [2]);
        assert!(nearest(&[1]).is_empty());
        assert!(nearest(&[]).is_empty());
    }
}
