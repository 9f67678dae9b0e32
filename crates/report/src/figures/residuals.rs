//! Residuals of the fitted lines: scatter without a pattern, or a curve that no straight line
//! follows?

use super::curve::{BAR, Curve, S};
use super::head::nearest;
use super::{Family, Figure, Kind, Made, OfFamily};
use crate::format;
use crate::frame::{Frame, FrameRow};
use crate::plot::{Axis, Drawing, End, Guide, Key, Look, Marks, Num, Panel, Series};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "residuals", title: "Residuals of the laws against model size", make };

/// A panel a law: the first k, those of the head, the cross entropy.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let grid = family.grid();
    let mut shown: Vec<u32> = grid.first().copied().into_iter().chain(nearest(&grid)).collect();
    shown.dedup();
    let ranks = shown.into_iter().map(|k| Curve::of_rank(family, k));
    let panels = ranks.chain([Curve::of_cross_entropy(family)]).map(|mut curves| {
        // Two points have no residuals.
        curves.retain(|curve| curve.fit().is_some_and(|fit| fit.points > 2));
        curves
    });
    let panels: Vec<Vec<Curve<'a>>> = panels.filter(|curves| !curves.is_empty()).collect();
    if panels.is_empty() {
        return Err("it needs a law of three models or more".to_owned());
    }
    let points = |curve: &Curve<'a>| {
        let curve = *curve;
        curve.law.points.iter().map(move |point| (curve, point))
    };
    let numbers = Frame::from_rows(panels.iter().flatten().flat_map(points))
        .column("family", |(curve, _)| curve.family)
        .column("corpus", |(curve, _)| curve.corpus)
        .column("quantity", |(curve, _)| curve.law.quantity.symbol())
        .column("model", |(_, point)| &point.label)
        .column(S, |(_, point)| point.x as u64)
        .column("log_residual", |(_, point)| point.log_residual)
        .column("log_standard_error", |(_, point)| point.log_standard_error)
        .column("leverage", |(_, point)| point.leverage)
        .column("slope_claimed", |(curve, _)| curve.claimed())
        .frame();
    let caption = format!(
        "ln of measured over fitted value, times 100: about the per cent by which a model lies above the line. Residuals \
         that turn from one sign to the other and back with size say that the law is curved there. Bars span 95 % by \
         resampling documents, which moves all models together, so neighbours agree better than bars suggest. Farthest \
         from the line: {}.",
        format::list(&panels.iter().filter_map(|curves| farthest(curves)).collect::<Vec<_>>())
    );
    Ok(Figure::new(FIGURE.title, caption, numbers, move |frame| {
        let panels: Vec<Panel> = panels.iter().map(|curves| panel(frame, curves)).collect();
        Drawing::wrapped(Key::each(&panels), panels, 3)
    }))
}

/// The point that lies farthest from its line.
fn farthest(curves: &[Curve<'_>]) -> Option<String> {
    let points =
        curves.iter().flat_map(|curve| curve.law.points.iter().map(move |point| (curve, point)));
    let residuals = points.filter_map(|(curve, point)| Some((curve, point, point.log_residual?)));
    let (curve, point, most) = residuals.max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()))?;
    let most = format::fixed(100.0 * most, 1);
    Some(format!("{} {most} % ({} on {})", curve.symbol(), point.label, curve.corpus))
}

fn panel(frame: &Frame, curves: &[Curve<'_>]) -> Panel {
    let percent = || Num::made(["log_residual"], |[residual]| 100.0 * residual);
    let columns = ["log_residual", "log_standard_error"];
    let low = || Num::made(columns, |[residual, error]| 100.0 * residual - 100.0 * BAR * error);
    let high = || Num::made(columns, |[residual, error]| 100.0 * residual + 100.0 * BAR * error);
    let tip = |row: FrameRow<'_>| {
        let residual = 100.0 * row.number("log_residual").unwrap_or_default();
        let residual = format::fixed(residual, 2);
        format!("{} on {}\n{residual} % of the line", row.text("model"), row.text("corpus"))
    };
    let series = curves.iter().map(|curve| {
        let marks = Marks::at(&curve.rows(&frame.rows()), S, percent(), tip).error(low(), high());
        let look = |row: FrameRow<'_>| Look::claimed(row.flag("slope_claimed"));
        Series::new(curve.style, curve.corpus).joined(marks.look(look))
    });
    Panel {
        heading: curves.first().map(Curve::symbol).unwrap_or_default(),
        guides: vec![Guide::level(0.0, "", End::Left)],
        ..Panel::new(Axis::sizes(), Axis::linear("residual, %"), 200.0, series.collect())
    }
}
