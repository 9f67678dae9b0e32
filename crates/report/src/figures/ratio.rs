//! mu/sigma against S (fig. 8d of the paper): hypothesis 2, that it is a straight line in ln S.

use relscale_laws::RatioLaw;

use super::curve::BAR;
use super::{Family, Figure, LeftOut};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Drawing, Panel, Point, Series, Style};

const NAME: &str = "mu-sigma";
const TITLE: &str = "μ/σ of the lognormal against model size";

/// The ratios of one form on one corpus.
struct Ratios<'a> {
    corpus: &'a str,
    style: Style,
    law: &'a RatioLaw,
}

/// A panel for each lognormal form.
pub(super) struct Ratio<'a> {
    family: &'a str,
    forms: Vec<(&'a str, Vec<Ratios<'a>>)>,
}

impl<'a> Ratio<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let mut forms: Vec<(&'a str, Vec<Ratios<'a>>)> = Vec::new();
        for (group, style) in &family.groups {
            let laws = group.rank_distribution.as_ref().map_or(&[][..], |ranks| &ranks.ratio_laws);
            for law in laws.iter().filter(|law| !law.points.is_empty()) {
                let ratios = Ratios { corpus: &group.corpus, style: *style, law };
                match forms.iter_mut().find(|(form, _)| *form == law.form) {
                    Some((_, known)) => known.push(ratios),
                    None => forms.push((&law.form, vec![ratios])),
                }
            }
        }
        if forms.is_empty() {
            let reason = "ranks were not counted, or μ and σ could not be told apart for any model";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { family: family.name, forms })
    }

    fn all(&self) -> impl Iterator<Item = &Ratios<'a>> {
        self.forms.iter().flat_map(|(_, ratios)| ratios)
    }
}

impl Ratios<'_> {
    fn series(&self) -> Series {
        let points: Vec<Point> = self
            .law
            .points
            .iter()
            .map(|point| {
                let tip = format!(
                    "{} on {}\nμ = {}, σ = {}\nμ/σ = {}",
                    point.model,
                    self.corpus,
                    format::fixed(point.mu, 3),
                    format::fixed(point.sigma, 3),
                    format::with_error(point.ratio, point.standard_error)
                );
                let bar =
                    point.standard_error.map(|error| (point.ratio - BAR * error, point.ratio + BAR * error));
                Point { bar, ..Point::of(point.parameters as f64, point.ratio, tip) }
            })
            .collect();
        let ends = [self.law.points.first(), self.law.points.last()];
        let path = match (&self.law.line, ends) {
            (Some(line), [Some(first), Some(last)]) => [first, last]
                .map(|point| (point.parameters as f64, line.at(point.parameters as f64)))
                .to_vec(),
            _ => Vec::new(),
        };
        let line = self.law.line.as_ref();
        let slope = line.map_or("no line".to_owned(), |line| {
            format!("slope {} per unit of ln S", format::estimate(&line.slope))
        });
        let r_squared = line
            .filter(|_| self.law.points.len() > 2)
            .map(|line| format!("R² {}", format::r_squared(line.r_squared)));
        let label = [Some(self.corpus.to_owned()), Some(slope), r_squared].into_iter().flatten().collect();
        Series { path, points, label, ..Series::of(self.style, self.corpus) }
    }
}

impl Figure for Ratio<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn caption(&self) -> String {
        let left: usize = self.all().map(|ratios| ratios.law.left_out.len()).sum();
        let left = match left {
            0 => String::new(),
            1 => " One model has no such number and is left out.".to_owned(),
            more => format!(
                " {more} models have no such number (the fit ran into a limit of the form, or μ and σ cannot be told apart) \
                 and are left out."
            ),
        };
        let seen: Vec<&str> = self.all().map(|ratios| ratios.law.verdict.as_str()).collect();
        format!(
            "Mean over standard deviation of ln R of the lognormal that was fitted to each model's ranks; the paper's second \
             hypothesis is a straight line on this axis of log S. Bars span 95 % over documents.{left} {}",
            seen.join(" ")
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for ratios in self.all() {
            let head = |model: &str, parameters: u64| {
                vec![
                    Cell::text(self.family),
                    Cell::text(ratios.corpus),
                    Cell::text(&ratios.law.form),
                    Cell::text(model),
                    Cell::Count(parameters),
                ]
            };
            for point in &ratios.law.points {
                let mut row = head(&point.model, point.parameters);
                row.extend([
                    Cell::Number(point.mu),
                    Cell::Number(point.sigma),
                    Cell::Number(point.ratio),
                    point.standard_error.into(),
                    ratios.law.line.as_ref().map(|line| line.at(point.parameters as f64)).into(),
                    Cell::Empty,
                ]);
                rows.push(row);
            }
            for left in &ratios.law.left_out {
                let mut row = head(&left.label, left.x.unwrap_or_default() as u64);
                row.extend(std::iter::repeat_n(Cell::Empty, 5));
                row.push(Cell::text(&left.reason));
                rows.push(row);
            }
        }
        Table {
            header: &[
                "family",
                "corpus",
                "form",
                "model",
                "non_embedding_parameters",
                "mu",
                "sigma",
                "ratio",
                "standard_error",
                "fitted",
                "left_out_because",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let panel = |(form, ratios): &(&str, Vec<Ratios<'_>>)| {
            let series: Vec<Series> = ratios.iter().map(Ratios::series).collect();
            let points = || series.iter().flat_map(|series| &series.points);
            let heights: Vec<f64> =
                points().flat_map(|point| point.bar.map_or([point.y, point.y], <[f64; 2]>::from)).collect();
            let x = Axis::sizes(points().map(|point| point.x));
            Panel {
                heading: match *form {
                    "point_mass" => "point masses (Appendix B)".to_owned(),
                    form => format!("{form}, cut into whole ranks").replace('_', " "),
                },
                series,
                ..Panel::of(x, Axis::linear("μ/σ".to_owned(), heights), 260.0)
            }
        };
        Drawing {
            title: self.title(),
            legend: Vec::new(),
            rows: self.forms.iter().map(|form| vec![panel(form)]).collect(),
        }
    }
}
