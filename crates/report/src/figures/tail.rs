//! Large k (fig. 5 of the paper): where the law frays, and how few misses are left to know it by.

use super::curve::{self, Curve, S};
use super::head::{at_each, laws};
use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::frame::{Frame, FrameRow};
use crate::plot::{Axis, Drawing, End, Guide, Key, Look, Marks, Panel, Series};

pub(super) const FIGURE: Kind<OfFamily> = Kind {
    name: "tail",
    title: "Where the law ends: −ln RBP against model size for large k",
    make,
};

/// The two largest k that were fitted: above, the law; below, the misses behind each point.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    // Small k have figures of their own.
    let large: Vec<u32> = family.grid().into_iter().filter(|&k| k > 100).collect();
    let panels = at_each(family, &large[large.len().saturating_sub(2)..]);
    if panels.is_empty() {
        return Err(format!("above k = 100 {}", curve::NO_POINT));
    }
    // Misses of any model below which no slope is claimed.
    let minimum = family.minimum_count;
    let ks: Vec<String> = panels.iter().map(|(k, _)| format::count(u64::from(*k))).collect();
    let values = panels.iter().flat_map(|(k, curves)| {
        let row = |curve: &Curve<'a>| {
            let r_squared = curve.r_squared_text().unwrap_or_default().replace("R² ", "");
            let exponent = curve.exponent_text().replace("α ", "");
            let misses = curve.law.points.iter().filter_map(|point| point.misses).min();
            let k = format::count(u64::from(*k));
            let misses = misses.map(format::count).unwrap_or_default();
            [k, curve.corpus.to_owned(), exponent, r_squared, misses]
        };
        curves.iter().map(row).collect::<Vec<_>>()
    });
    let values = Values::new(["k", "corpus", "α", "R²", "fewest misses of a model"], values);
    let all = || panels.iter().flat_map(|(_, curves)| curves);
    let caption = format!(
        "As k nears the vocabulary nearly every token is a hit, and −ln RBP rests on the few that are not: the lower \
         panels count them. Below {minimum} misses of any model no slope is claimed. {}",
        curve::how_to_read(all()),
    );
    let title =
        format!("Where the law ends: −ln RBP against model size for k = {}", format::list(&ks));
    let numbers = curve::frame(all());
    Ok(Figure::new(title, caption, numbers, move |frame| {
        let above = panels.iter().map(|(k, curves)| {
            let panel = laws(frame, *k, curves, 240.0);
            Panel { x: panel.x.clone().untitled(), ..panel }
        });
        let above: Vec<Panel> = above.collect();
        let below = panels.iter().map(|(_, curves)| misses(frame, curves, minimum as f64));
        Drawing::new(Key::each(&above), vec![above, below.collect()]).paired()
    })
    .with(values))
}

/// Misses by size.
fn misses(frame: &Frame, curves: &[Curve<'_>], minimum: f64) -> Panel {
    let rows = frame.rows();
    let tip = |row: FrameRow<'_>| {
        format!("{} on {}\n{} misses", row.text("model"), row.text("corpus"), row.count("misses"))
    };
    let series = curves.iter().map(|curve| {
        let marks = Marks::at(&curve.rows(&rows), S, "misses", tip);
        let look = |row: FrameRow<'_>| Look::claimed(row.flag("slope_claimed"));
        Series::new(curve.style, curve.corpus).joined(marks.look(look))
    });
    // As far as the lines above go.
    let reach = curves.iter().flat_map(|curve| curve.rows(&rows).with("fitted").numbers(S));
    let y = Axis::counts("misses (rank > k)")
        // The threshold, and room for its name below it.
        .holding([minimum, 0.6 * minimum]);
    Panel {
        guides: vec![Guide::level(minimum, format!("{minimum} misses"), End::Right)],
        shades: curve::shades(&rows, curves),
        ..Panel::new(Axis::sizes().holding(reach), y, 130.0, series.collect())
    }
}
