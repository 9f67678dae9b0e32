//! Compute to loss, loss to accuracy, compute to accuracy: B's figure 4, with the points that no
//! curve has seen.

use relscale_laws::{
    HeldOutPoint, Outcome, Route, StageCurve, StageCurves, StagesFit, StagesGroup, TracePoint,
};

use crate::figures::slot::{Figure, Kind, Made};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows, Selection};
use crate::plot::{
    Axis, Drawing, End, Guide, Key, Line, Look, Mark, Marks, Panel, Sample, Series, Shade, Style,
};

pub(super) const FIGURE: Kind<()> =
    Kind { name: "stages", title: "Compute to loss to accuracy", make: () };

/// Routes from x to accuracy with their looks.
const ROUTES: [(Route, usize, Line); 3] = [
    (Route::Chain, 0, Line::Solid),
    (Route::DirectPower, 1, Line::Dashed),
    (Route::DirectSigmoid, 2, Line::DashDot),
];

/// The first stage, among the routes of the table.
const FIRST: &str = "first stage";

/// One group.
pub(super) fn make<'a>(fit: &'a StagesFit, group: &'a StagesGroup) -> Made<'a> {
    if group.points.is_empty() {
        return Err("the group has no rows".to_owned());
    }
    // The curves that are drawn are those that have not seen what was held out.
    let curves = group.held_out.as_ref().map_or(&group.curves, |held_out| &held_out.curves);
    let title = format!("{} to {} to {}, {}", fit.x, fit.loss, fit.accuracy, group.name);
    let caption = caption(fit, group, curves);
    Ok(Figure::new(title, caption, rows(group, curves), move |frame| {
        let rows = frame.rows();
        let key = |mark, look, text| Key::mark(mark, look, text);
        let route = |(route, style, line): &(Route, usize, Line)| {
            Key::new(Style::for_corpus(*style), Sample::Line(*line), route.name())
        };
        let mut legend: Vec<Key> = ROUTES.iter().map(route).collect();
        legend.push(key(Mark::Disc, Look::Filled, "fitted"));
        if !rows.matching("row", "held out").is_empty() {
            legend.push(key(Mark::Disc, Look::HeldOut, "held out"));
            legend.push(key(Mark::Diamond, Look::Hollow, "predicted"));
        }
        // Rows of the group come first in the frame, in its order.
        let place = |row: FrameRow<'_>| {
            group.points.get(row.at).map_or("", |point| &point.place).to_owned()
        };
        Drawing::new(legend, vec![panels(fit, &rows, &place)])
    }))
}

/// The rows of the group, what was predicted of those held out, and the curves.
fn rows(group: &StagesGroup, curves: &StageCurves) -> Frame {
    let held_out = group.held_out.as_ref().map_or(&[][..], |held_out| &held_out.points);
    let measured = Frame::from_rows(&group.points)
        .column("row", |point| if point.held_out { "held out" } else { "fitted" })
        .column("route", |_| "")
        .column("model", |point| &point.label)
        .column("x", |point| point.x)
        .column("loss", |point| point.loss)
        .column("accuracy", |point| point.accuracy)
        .empty("low")
        .empty("high");
    let traces = &curves.traces;
    let first = curve(FIRST, &traces.loss).column("x", |at| at.x).column("loss", |at| at.value);
    let second = curve(Route::SecondStage.name(), &traces.accuracy)
        .column("loss", |at| at.x)
        .column("accuracy", |at| at.value);
    let routes = traces.routes.iter().map(|traced| {
        let curve = curve(traced.route.name(), &traced.accuracy).column("x", |at| at.x);
        curve.column("accuracy", |at| at.value).frame()
    });
    let stages = [first.frame(), second.frame()];
    let ahead = held_out.iter().flat_map(predicted);
    let all = [measured.frame()].into_iter().chain(ahead).chain(stages).chain(routes);
    Frame::stacked(all).led([("group", (&group.name).into())])
}

/// The loss and the accuracies that were predicted of a point.
fn predicted(point: &HeldOutPoint) -> [Frame; 2] {
    let loss = Frame::from_rows(&point.predicted_loss)
        .column("row", |_| "predicted")
        .column("route", |_| FIRST)
        .column("model", |_| &point.label)
        .column("x", |_| point.x)
        .column("loss", |loss| loss.value)
        .ends(["low", "high"], |loss| loss.bounds());
    let accuracies = Frame::from_rows(&point.predicted)
        .column("row", |_| "predicted")
        .column("route", |value| value.route.name())
        .column("model", |_| &point.label)
        .column("x", |_| point.x)
        // The second stage predicts from the loss that was measured.
        .column("loss", |value| (value.route == Route::SecondStage).then_some(point.loss))
        .column("accuracy", |value| value.accuracy.value)
        .ends(["low", "high"], |value| value.accuracy.bounds());
    [loss.frame(), accuracies.frame()]
}

fn curve<'a>(route: &'static str, trace: &'a [TracePoint]) -> Selection<&'a TracePoint> {
    let rows = Frame::from_rows(trace).column("row", |_| "curve").column("route", |_| route);
    rows.ends(["low", "high"], |at| at.interval)
}

/// First stage, second stage, and both.
fn panels(fit: &StagesFit, rows: &Rows<'_>, place: &dyn Fn(FrameRow<'_>) -> String) -> Vec<Panel> {
    // Which columns are the axes of a panel.
    let measured = |x: &'static str, y: &'static str| {
        let rows = rows.only(|row| ["fitted", "held out"].contains(&row.text("row")));
        let look = |row: FrameRow<'_>| {
            if row.text("row") == "held out" { Look::HeldOut } else { Look::Filled }
        };
        let marks = Marks::at(&rows, x, y, |row| tip(row, &place(row))).look(look);
        Series::new(Style::NEUTRAL, "").shape(Mark::Disc).marks(marks)
    };
    let predicted = |style: usize, route: &str, x: &'static str, y: &'static str, bars: bool| {
        let told = |row: FrameRow<'_>| {
            format!("{} as predicted\n{}", row.text("model"), row.significant(y))
        };
        let marks =
            Marks::at(&rows.matching("row", "predicted").matching("route", route), x, y, told);
        let marks = marks.error_where(|_| bars, "low", "high").all(Look::Hollow);
        Series::new(Style::for_corpus(style), "").shape(Mark::Diamond).marks(marks)
    };
    let traced =
        |style: usize, line: Line, route: &str, x: &'static str, y: &'static str, band: bool| {
            let curve = rows.matching("row", "curve").matching("route", route);
            let series = Series::new(Style::for_corpus(style), "").stroke(line).line(&curve, x, y);
            if band { series.band(&curve, x, ["low", "high"]) } else { series }
        };
    let second = Route::SecondStage.name();
    let first = vec![
        traced(0, Line::Solid, FIRST, "x", "loss", true),
        measured("x", "loss"),
        predicted(0, FIRST, "x", "loss", true),
    ];
    let between = vec![
        traced(0, Line::Solid, second, "loss", "accuracy", true),
        measured("loss", "accuracy"),
        predicted(0, second, "loss", "accuracy", true),
    ];
    // One band is enough to read; the others' ends are in the table.
    let one = |route: Route| route == Route::Chain;
    let mut whole: Vec<Series> = ROUTES
        .iter()
        .map(|(route, style, line)| {
            traced(*style, *line, route.name(), "x", "accuracy", one(*route))
        })
        .collect();
    whole.push(measured("x", "accuracy"));
    whole.extend(
        ROUTES
            .iter()
            .map(|(route, style, _)| predicted(*style, route.name(), "x", "accuracy", one(*route))),
    );
    let largest = rows.only(|row| row.text("route").is_empty()).range("x").1;
    let goes_on = rows.matching("route", FIRST).matching("row", "curve").range("x").1 > largest;
    let shades = || if goes_on { vec![Shade::above(largest, "")] } else { Vec::new() };
    let chance = |end| fit.chance.map(|at| Guide::level(at, "chance", end)).into_iter().collect();
    let accuracy = || Axis::linear(&fit.accuracy).holding(fit.chance);
    let losses = rows.only(|row| row.text("route").is_empty()).numbers("loss");
    vec![
        Panel {
            heading: "First stage: compute to loss".to_owned(),
            shades: shades(),
            ..Panel::new(Axis::amounts(&fit.x), Axis::log(&fit.loss), 260.0, first)
        },
        Panel {
            heading: "Second stage: loss to accuracy".to_owned(),
            guides: chance(End::Right),
            ..Panel::new(Axis::linear(&fit.loss).closed(losses), accuracy(), 260.0, between)
        },
        Panel {
            heading: "Compute to accuracy".to_owned(),
            shades: shades(),
            guides: chance(End::Left),
            ..Panel::new(Axis::amounts(&fit.x), accuracy(), 260.0, whole)
        },
    ]
}

fn tip(row: FrameRow<'_>, place: &str) -> String {
    format!(
        "{} ({place})\nx = {}\nloss {}\naccuracy {}{}",
        row.text("model"),
        format::quantity(row.number("x").unwrap_or_default()),
        row.significant("loss"),
        row.significant("accuracy"),
        if row.text("row") == "held out" { "\nheld out" } else { "" }
    )
}

fn caption(fit: &StagesFit, group: &StagesGroup, curves: &StageCurves) -> String {
    let refusal = |name: &str, outcome: &Outcome<StageCurve>| {
        outcome.refused().map_or(String::new(), |reason| format!(" No {name}: {reason}."))
    };
    let held_out = group.held_out.as_ref().map_or_else(
        || "No point was held out.".to_owned(),
        |held_out| {
            format!(
                "Dotted outlines are held out ({}) and unknown to the curves; diamonds say what was predicted of them.",
                held_out.which
            )
        },
    );
    let farthest = curves.traces.loss.iter().map(|at| at.x).fold(0.0, f64::max);
    let beyond = farthest > group.points.last().map_or(0.0, |point| point.x);
    format!(
        "A power law with a floor from compute to loss, a sigmoid from loss to accuracy, and both composed; beside them accuracy straight from compute. \
         {held_out} Bands and bars are {} intervals of one new model.{}{}{} Seen: {}",
        format::percent(fit.level),
        if beyond { " Shaded: beyond all rows." } else { "" },
        refusal("first stage", &curves.loss),
        refusal("second stage", &curves.accuracy),
        group.verdict
    )
}
