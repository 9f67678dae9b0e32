//! Runs left out, as both forms of the surface tell them.

use relscale_laws::{
    HeldOutBy, HeldOutCheck, IsoflopFit, IsoflopGroup, SurfaceForm, SurfaceMethod,
};

use super::OfGroup;
use crate::figures::slot::{Figure, Kind, Made};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, End, Guide, Key, Look, Marks, Num, Panel, Sample, Series, Style};

pub(super) const FIGURE: Kind<OfGroup> =
    Kind { name: "left-out", title: "Runs left out, predicted by the others", make };

/// The method that is drawn; the other's numbers are in the table.
const DRAWN: SurfaceMethod = SurfaceMethod::VariableProjection;

/// A panel for the runs of most compute, and one for those of most tokens a parameter.
fn make<'a>(_: &'a IsoflopFit, group: &'a IsoflopGroup) -> Made<'a> {
    let Some(losses) = &group.losses else {
        return Err("no loss was asked for: relscale sweep fit --at N=..,D=.. asks".to_owned());
    };
    let checks: Vec<(HeldOutBy, &HeldOutCheck)> = losses
        .held_out
        .iter()
        .filter_map(|runs| Some((runs.by, runs.outcome.fit()?)))
        .filter(|(_, check)| check.surfaces.iter().any(|surface| surface.outcome.fit().is_some()))
        .collect();
    if checks.is_empty() {
        return Err("no runs could be left out and predicted by the others".to_owned());
    }
    let numbers = Frame::stacked(checks.iter().map(|(by, check)| rows(group, *by, check)));
    let title = format!("Runs left out, predicted by the others, {}", group.name);
    Ok(Figure::new(title, caption(&checks), numbers, move |frame| {
        let legend = SurfaceForm::ALL.map(|form| {
            let style = style(form);
            let sample = Sample::Mark(style.mark(), Look::HeldOut);
            let exponents =
                if form == SurfaceForm::Chinchilla { "two exponents" } else { "one exponent" };
            Key::new(style, sample, format!("{}, {exponents}", form.name()))
        });
        let rows = frame.rows();
        let panels = checks.iter().map(|(by, check)| panel(*by, check, &rows));
        Drawing::new(legend.into_iter().collect(), vec![panels.collect()])
    }))
}

fn style(form: SurfaceForm) -> Style {
    Style::for_corpus(if form == SurfaceForm::Chinchilla { 0 } else { 1 })
}

/// Every run by every form and method.
fn rows(group: &IsoflopGroup, by: HeldOutBy, check: &HeldOutCheck) -> Frame {
    let surfaces = check.surfaces.iter().filter_map(|surface| {
        let told = check.runs.iter().zip(&surface.outcome.fit()?.predictions);
        let rows = Frame::from_rows(told)
            .column("form", |_| surface.form.name())
            .column("method", |_| surface.method.name())
            .column("run", |(run, _)| &run.run)
            .column("params", |(run, _)| run.params)
            .column("tokens", |(run, _)| run.tokens)
            .column("loss", |(run, _)| run.loss)
            .column("predicted", |(_, told)| told.predicted.value)
            .ends(["low", "high"], |(_, told)| told.predicted.bounds())
            .column("relative_error", |(_, told)| told.relative_error)
            .column("covered", |(_, told)| told.covered);
        Some(rows.frame())
    });
    let head = [("group", (&group.name).into()), ("left_out_by", by.symbol().into())];
    Frame::stacked(surfaces).led(head)
}

fn panel(by: HeldOutBy, check: &HeldOutCheck, rows: &Rows<'_>) -> Panel {
    let rows = rows.matching("left_out_by", by.symbol()).matching("method", DRAWN.name());
    let end = |end: &'static str| Num::made([end, "loss"], |[end, loss]| end / loss - 1.0);
    let series = SurfaceForm::ALL.map(|form| {
        let marks = Marks::at(&rows.matching("form", form.name()), "loss", "relative_error", tip);
        let marks = marks.error(end("low"), end("high")).all(Look::HeldOut);
        Series::new(style(form), "").marks(marks)
    });
    let which = match by {
        HeldOutBy::Compute => "most compute",
        HeldOutBy::Multiplier => "most tokens a parameter",
    };
    let measured = rows.numbers("loss");
    let y = Axis::linear("predicted / measured - 1").holding([0.0]);
    let y = if by == HeldOutBy::Compute { y } else { y.untitled() };
    Panel {
        heading: format!("the {} runs of {which}", check.runs.len()),
        guides: vec![Guide::level(0.0, "as measured", End::Right)],
        ..Panel::new(Axis::log("loss, measured").closed(measured), y, 280.0, series.into())
    }
}

fn tip(row: FrameRow<'_>) -> String {
    let [params, tokens] = ["params", "tokens"]
        .map(|column| row.number(column).map_or(String::new(), format::quantity));
    let predicted = row.estimate(["predicted", "low", "high"]);
    format!(
        "{}\nN = {params}\nD = {tokens}\nloss {}\npredicted {predicted} ({})",
        row.text("run"),
        row.significant("loss"),
        row.text("form")
    )
}

fn caption(checks: &[(HeldOutBy, &HeldOutCheck)]) -> String {
    let told = checks.iter().flat_map(|(by, check)| {
        check.surfaces.iter().filter(|surface| surface.method == DRAWN).filter_map(|surface| {
            let found = surface.outcome.fit()?;
            let coverage = found.coverage.map_or(String::new(), |coverage| {
                format!(", {} of {} inside", coverage.inside, coverage.judged)
            });
            Some(format!(
                "{} by most {}: off by {} %{coverage}",
                surface.form.name(),
                by.symbol(),
                format::fixed(100.0 * found.root_mean_square_error, 2)
            ))
        })
    });
    format!(
        "Each mark is a run that the fit has not seen, by {}; its bar is the interval of one new run, and should reach the level line for nearly \
         all. Marks above the line: the form falls too slowly. Seen (root mean square): {}.",
        DRAWN.name(),
        told.collect::<Vec<_>>().join("; ")
    )
}
