//! Loss against size and against tokens at each budget, with the curve through the runs and its minimum.

use relscale_laws::{Along, Curve, IsoflopBudget, IsoflopFit, IsoflopGroup, Outcome};

use super::params;
use crate::csv::{Cell, Table};
use crate::figures::relative::axis_of;
use crate::figures::slot::{Figure, LeftOut};
use crate::format;
use crate::plot::{Axis, Drawing, Key, Look, Mark, Panel, Point, Sample, Series, Style};

pub(super) const NAME: &str = "isoflop";
pub(super) const TITLE: &str = "Loss against size and tokens at each budget";

/// The curve that is drawn; the parabola's numbers are in the table.
const DRAWN: Curve = Curve::Cubic;

/// The budgets that have runs.
pub(super) struct Curves<'a> {
    fit: &'a IsoflopFit,
    group: &'a IsoflopGroup,
}

impl<'a> Curves<'a> {
    pub(super) fn of(fit: &'a IsoflopFit, group: &'a IsoflopGroup) -> Result<Self, LeftOut> {
        if group.budgets.iter().all(|budget| budget.runs.is_empty()) {
            let reason = "no run belongs to a budget: the runs only make a surface";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { fit, group })
    }

    /// Runs, curve and minimum of a budget along one axis.
    fn series(&self, at: usize, budget: &IsoflopBudget, along: Along, labelled: bool) -> [Series; 2] {
        let style = Style::of(at);
        let whose = "";
        let minimum = budget.minimum(DRAWN, along);
        let place = |params: f64, tokens: f64| match along {
            Along::Params => params,
            Along::Tokens => tokens,
        };
        let runs = budget.runs.iter().map(|run| Point {
            x: place(run.params, run.tokens),
            y: run.loss,
            bar: None,
            look: Look::Filled,
            tip: format!(
                "{}\nC = {}\nN = {}\nD = {}\nloss {}",
                run.run,
                format::quantity(budget.budget),
                format::quantity(run.params),
                format::quantity(run.tokens),
                format::significant(run.loss)
            ),
        });
        let label =
            if labelled { vec![format!("{} FLOPs", format::flops(budget.budget))] } else { Vec::new() };
        let curve = Series {
            mark: Mark::Disc,
            path: minimum
                .map(|minimum| minimum.trace.iter().map(|at| (at.x, at.value)).collect())
                .unwrap_or_default(),
            points: runs.collect(),
            label,
            ..Series::of(style, whose)
        };
        let lowest = minimum.and_then(|minimum| minimum.found()).map(|(x, y)| Point {
            x,
            y,
            bar: None,
            look: Look::Hollow,
            tip: format!(
                "minimum of the {} at C = {}\n{} = {}\nloss {}",
                DRAWN.name(),
                format::quantity(budget.budget),
                if along == Along::Params { "N*" } else { "D*" },
                format::significant(x),
                format::significant(y)
            ),
        });
        let lowest =
            Series { mark: Mark::Diamond, points: lowest.into_iter().collect(), ..Series::of(style, whose) };
        [curve, lowest]
    }

    fn panel(&self, along: Along, y: Axis) -> Panel {
        let budgets = &self.group.budgets;
        let x = budgets.iter().flat_map(|budget| &budget.runs).map(|run| match along {
            Along::Params => run.params,
            Along::Tokens => run.tokens,
        });
        let title = match along {
            Along::Params => params(&self.fit.params),
            Along::Tokens => "D, tokens".to_owned(),
        };
        let last = along == Along::Tokens;
        let series = budgets.iter().enumerate().flat_map(|(at, budget)| self.series(at, budget, along, last));
        Panel { series: series.collect(), ..Panel::of(axis_of(&title, x), y, 340.0) }
    }
}

impl Figure for Curves<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("Loss against size and tokens at each budget, {}", self.group.name)
    }

    fn caption(&self) -> String {
        let minima = Along::ALL.map(|along| {
            let found = self.group.budgets.iter().filter_map(|budget| budget.minimum(DRAWN, along)?.found());
            format!("{} along {}", found.count(), along.name())
        });
        let refused: Vec<String> = self
            .group
            .budgets
            .iter()
            .filter_map(|budget| {
                let reason = budget.minimum(DRAWN, Along::Tokens)?.outcome.refused()?;
                Some(format!("{}: {reason}", format::flops(budget.budget)))
            })
            .collect();
        let refused = if refused.is_empty() {
            String::new()
        } else {
            format!(" No minimum along tokens at {}.", refused.join("; "))
        };
        format!(
            "Each mark is a run, each colour a budget; the lines are {}s in the logarithm, fitted budget by budget, the outlined diamonds their minima. Only \
             minima with runs on both sides count. Seen: {} budgets with a minimum {}.{refused}",
            DRAWN.name(),
            self.group.budgets.len(),
            minima.join(" and "),
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for budget in &self.group.budgets {
            let head =
                |row: &str| vec![Cell::text(&self.group.name), Cell::Number(budget.budget), Cell::text(row)];
            for run in &budget.runs {
                let mut cells = head("run");
                cells.extend([Cell::Empty, Cell::Empty, Cell::text(&run.run)]);
                cells.extend([run.params, run.tokens, run.loss].map(Cell::Number));
                cells.push(Cell::Empty);
                rows.push(cells);
            }
            for minimum in &budget.minima {
                let names =
                    || [Cell::text(minimum.curve.name()), Cell::text(minimum.along.name()), Cell::Empty];
                let place = |x: f64| match minimum.along {
                    Along::Params => [Cell::Number(x), Cell::Empty],
                    Along::Tokens => [Cell::Empty, Cell::Number(x)],
                };
                let mut cells = head("minimum");
                cells.extend(names());
                match &minimum.outcome {
                    Outcome::Fitted(found) => {
                        cells.extend(place(found.at));
                        cells.extend([Cell::Number(found.loss), Cell::Empty]);
                    }
                    Outcome::Refused { reason } => {
                        cells.extend([Cell::Empty, Cell::Empty, Cell::Empty, Cell::text(reason)]);
                    }
                }
                rows.push(cells);
                for at in minimum.trace.iter().filter(|_| minimum.curve == DRAWN) {
                    let mut cells = head("curve");
                    cells.extend(names());
                    cells.extend(place(at.x));
                    cells.extend([Cell::Number(at.value), Cell::Empty]);
                    rows.push(cells);
                }
            }
        }
        Table {
            header: &[
                "group",
                "budget",
                "row",
                "curve",
                "along",
                "run",
                "params",
                "tokens",
                "loss",
                "refused_because",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let runs = self.group.budgets.iter().flat_map(|budget| &budget.runs);
        let y = Axis::log("loss".to_owned(), runs.map(|run| run.loss));
        let key = |mark, look, text: &str| Key {
            style: Style::NEUTRAL,
            sample: Sample::Mark(mark, look),
            text: text.to_owned(),
        };
        Drawing {
            title: self.title(),
            legend: vec![
                key(Mark::Disc, Look::Filled, "run"),
                key(Mark::Diamond, Look::Hollow, "minimum of the curve"),
            ],
            rows: vec![vec![self.panel(Along::Params, y.clone()), self.panel(Along::Tokens, y.untitled())]],
        }
    }
}
