//! delta_beta of every treatment with its interval: which gaps close, which widen, which are parallel, which nobody can tell.

use relscale_laws::GapLaw;
use relscale_laws::relative::RelativeOptions;

use super::{Comparison, signed, trend};
use crate::csv::{Cell, Table};
use crate::figures::slot::{Figure, LeftOut};
use crate::format;
use crate::plot::{Axis, Drawing, Guide, Panel, Point, Series, Shade};

pub(super) const NAME: &str = "slopes";
pub(super) const TITLE: &str = "The slopes of all gaps";

/// Height of a row in pixels, and of the frame beside them.
const ROW: f64 = 22.0;
const FRAME: f64 = 26.0;

/// The gaps that have a law, by slope.
pub(super) struct Slopes<'a> {
    of: Comparison<'a>,
    laws: Vec<(&'a str, &'a GapLaw)>,
}

impl<'a> Slopes<'a> {
    pub(super) fn of(of: Comparison<'a>) -> Result<Self, LeftOut> {
        let mut laws: Vec<(&str, &GapLaw)> =
            of.gaps().filter_map(|gap| Some((gap.name.as_str(), gap.fit()?))).collect();
        if laws.is_empty() {
            let reason = "no gap has a law: it takes two models, and three for an interval";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        laws.sort_by(|a, b| a.1.delta_beta.value.total_cmp(&b.1.delta_beta.value));
        Ok(Self { of, laws })
    }

    fn options(&self) -> &RelativeOptions {
        &self.of.fit.options
    }
}

impl Figure for Slopes<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        format!("Δβ of {} against {} by {}", self.of.fit.error, self.options().baseline, self.of.one())
    }

    fn caption(&self) -> String {
        let options = self.options();
        format!(
            "The slope of ln G on ln x of every treatment with its {} interval (Student t from the residuals of ln G): left of 0 the gap closes, right of \
             it it widens; where G goes through 1 on the way it is crossed. Shaded: ±{}, inside which slopes count as parallel. Verdicts are adjusted for their number (false claims at most {}), so an \
             interval alone does not decide. Seen: {}.",
            format::percent(options.level),
            options.margin,
            format::percent(options.false_discovery),
            trend::told(self.laws.iter().copied())
        )
    }

    fn numbers(&self) -> Table {
        let rows = self.laws.iter().map(|(treatment, law)| {
            let (ends, tests) = (law.delta_beta.bounds(), law.tests);
            vec![
                Cell::text(&self.of.family.name),
                Cell::text(treatment),
                Cell::text(&self.options().baseline),
                Cell::text(&self.of.fit.error),
                Cell::Number(law.delta_beta.value),
                ends.map(|(low, _)| low).into(),
                ends.map(|(_, high)| high).into(),
                law.delta_beta_sampling.standard_error.into(),
                law.power.r_squared.into(),
                Cell::Count(u64::from(law.power.points)),
                tests.map(|tests| tests.difference_q).into(),
                tests.map(|tests| tests.equivalence_q).into(),
                Cell::text(law.trend.name()),
            ]
        });
        Table {
            header: &[
                "family",
                "treatment",
                "baseline",
                "error",
                "delta_beta",
                "low",
                "high",
                "standard_error_of_text",
                "r_squared",
                "models",
                "difference_q",
                "equivalence_q",
                "trend",
            ],
            rows: rows.collect(),
        }
    }

    fn drawing(&self) -> Drawing {
        let margin = self.options().margin;
        let series = self.laws.iter().enumerate().map(|(at, (treatment, law))| {
            let style = if self.of.named() { self.of.style(treatment) } else { trend::style(law.trend) };
            let point = Point {
                x: law.delta_beta.value,
                y: Axis::row(at),
                bar: law.delta_beta.bounds(),
                look: trend::look(law.trend),
                tip: format!("{treatment}\nΔβ {}\n{}", signed(&law.delta_beta), law.trend.name()),
            };
            Series {
                lying: true,
                mark: trend::mark(law.trend),
                points: vec![point],
                ..Series::of(style, treatment)
            }
        });
        let ends = self.laws.iter().flat_map(|(_, law)| {
            let (low, high) = law.delta_beta.bounds().unwrap_or((law.delta_beta.value, law.delta_beta.value));
            [low, high]
        });
        let x = Axis::linear("Δβ, slope of ln G on ln x".to_owned(), ends.chain([-margin, margin]));
        let names: Vec<String> = self.laws.iter().map(|(treatment, _)| (*treatment).to_owned()).collect();
        Drawing {
            title: self.title(),
            legend: trend::legend(self.laws.iter().map(|(_, law)| law.trend), !self.of.named()),
            rows: vec![vec![Panel {
                shades: vec![Shade { from: -margin, to: margin, text: String::new() }],
                guides: vec![Guide::Upright { at: 0.0, text: String::new() }],
                series: series.collect(),
                ..Panel::of(x, Axis::rows(&names), FRAME + ROW * names.len() as f64)
            }]],
        }
    }
}
