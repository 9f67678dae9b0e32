//! Loss against size and against tokens at each budget, with the curve through the runs and its
//! minimum.

use relscale_laws::{Along, Curve, IsoflopBudget, IsoflopFit, IsoflopGroup, IsoflopMinimum};

use super::{OfGroup, params};
use crate::figures::slot::{Figure, Kind, Made};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, Key, Look, Mark, Marks, Panel, Series, Style};

pub(super) const FIGURE: Kind<OfGroup> =
    Kind { name: "isoflop", title: "Loss against size and tokens at each budget", make };

/// The curve that is drawn; the parabola's numbers are in the table.
const DRAWN: Curve = Curve::Cubic;

/// The budgets that have runs.
fn make<'a>(fit: &'a IsoflopFit, group: &'a IsoflopGroup) -> Made<'a> {
    if group.budgets.iter().all(|budget| budget.runs.is_empty()) {
        return Err("no run belongs to a budget: the runs only make a surface".to_owned());
    }
    let numbers = Frame::stacked(group.budgets.iter().map(|budget| rows(group, budget)));
    let title = format!("Loss against size and tokens at each budget, {}", group.name);
    Ok(Figure::new(title, caption(group), numbers, |frame| {
        let legend = vec![
            Key::mark(Mark::Disc, Look::Filled, "run"),
            Key::mark(Mark::Diamond, Look::Hollow, "minimum of the curve"),
        ];
        let rows = frame.rows();
        let sizes = panel(Along::Params, Axis::amounts(params(&fit.params)), &rows);
        let tokens = panel(Along::Tokens, Axis::amounts("D, tokens"), &rows);
        let tokens = Panel { y: tokens.y.untitled(), ..tokens };
        Drawing::new(legend, vec![vec![sizes, tokens]])
    }))
}

/// The runs of a budget; each minimum, and the drawn curve that it is of.
fn rows(group: &IsoflopGroup, budget: &IsoflopBudget) -> Frame {
    let runs = Frame::from_rows(&budget.runs)
        .column("row", |_| "run")
        .empty("curve")
        .empty("along")
        .column("run", |run| &run.run)
        .column("params", |run| run.params)
        .column("tokens", |run| run.tokens)
        .column("loss", |run| run.loss);
    let minima = budget.minima.iter().flat_map(|minimum: &IsoflopMinimum| {
        let place = |along: Along, x: Option<f64>| x.filter(|_| minimum.along == along);
        let found = minimum.found();
        let lowest = Frame::from_rows([()])
            .column("row", |()| "minimum")
            .column("curve", |()| minimum.curve.name())
            .column("along", |()| minimum.along.name())
            .column("params", |()| place(Along::Params, Some(found?.0)))
            .column("tokens", |()| place(Along::Tokens, Some(found?.0)))
            .column("loss", |()| Some(found?.1))
            .column("refused_because", |()| minimum.outcome.refused());
        let trace = minimum.trace.iter().filter(|_| minimum.curve == DRAWN);
        let curve = Frame::from_rows(trace)
            .column("row", |_| "curve")
            .column("curve", |_| minimum.curve.name())
            .column("along", |_| minimum.along.name())
            .column("params", |at| place(Along::Params, Some(at.x)))
            .column("tokens", |at| place(Along::Tokens, Some(at.x)))
            .column("loss", |at| at.value);
        [lowest.frame(), curve.frame()]
    });
    let head = [("group", (&group.name).into()), ("budget", budget.budget.into())];
    Frame::stacked([runs.frame()].into_iter().chain(minima)).led(head)
}

/// Runs, curve and minimum of each budget along one axis.
fn panel(along: Along, x: Axis, rows: &Rows<'_>) -> Panel {
    let column = if along == Along::Params { "params" } else { "tokens" };
    let runs = rows.matching("row", "run");
    let series = rows.by("budget").into_iter().enumerate().flat_map(|(at, rows)| {
        let budget = rows.first().and_then(|row| row.number("budget")).unwrap_or_default();
        let curve = rows.matching("curve", DRAWN.name()).matching("along", along.name());
        let series = || Series::new(Style::for_corpus(at), "");
        let last = along == Along::Tokens;
        let label = if last { vec![format!("{} FLOPs", format::flops(budget))] } else { vec![] };
        let lowest = Marks::at(&curve.matching("row", "minimum"), column, "loss", |row| {
            minimum_tip(row, column)
        });
        [
            series()
                .shape(Mark::Disc)
                .line(&curve.matching("row", "curve"), column, "loss")
                .marks(Marks::at(&rows.matching("row", "run"), column, "loss", tip))
                .label(label),
            series().shape(Mark::Diamond).marks(lowest.all(Look::Hollow)),
        ]
    });
    let y = Axis::log("loss").closed(runs.numbers("loss"));
    Panel::new(x.closed(runs.numbers(column)), y, 340.0, series.collect())
}

fn quantity(row: FrameRow<'_>, column: &str) -> String {
    row.number(column).map_or(String::new(), format::quantity)
}

fn tip(row: FrameRow<'_>) -> String {
    let [budget, params, tokens] =
        ["budget", "params", "tokens"].map(|column| quantity(row, column));
    let loss = row.significant("loss");
    format!("{}\nC = {budget}\nN = {params}\nD = {tokens}\nloss {loss}", row.text("run"))
}

fn minimum_tip(row: FrameRow<'_>, column: &str) -> String {
    let symbol = if column == "params" { "N*" } else { "D*" };
    let (curve, budget) = (row.text("curve"), quantity(row, "budget"));
    let (at, loss) = (row.significant(column), row.significant("loss"));
    format!("minimum of the {curve} at C = {budget}\n{symbol} = {at}\nloss {loss}")
}

fn caption(group: &IsoflopGroup) -> String {
    let minima = Along::ALL.map(|along| {
        let found = group.budgets.iter().filter_map(|budget| budget.minimum(DRAWN, along)?.found());
        format!("{} along {}", found.count(), along.name())
    });
    let refused = group.budgets.iter().filter_map(|budget| {
        let reason = budget.minimum(DRAWN, Along::Tokens)?.outcome.refused()?;
        Some(format!("{}: {reason}", format::flops(budget.budget)))
    });
    let refused: Vec<String> = refused.collect();
    let refused = if refused.is_empty() {
        String::new()
    } else {
        format!(" No minimum along tokens at {}.", refused.join("; "))
    };
    format!(
        "Each mark is a run, each colour a budget; the lines are {}s in the logarithm, fitted budget by budget, the outlined diamonds their minima. Only \
         minima with runs on both sides count. Seen: {} budgets with a minimum {}.{refused}",
        DRAWN.name(),
        group.budgets.len(),
        minima.join(" and "),
    )
}
