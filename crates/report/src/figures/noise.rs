//! The noise floor against k: what a perfect power law would look like on the same text sample.

use relscale_laws::{Law, PerfectLaw, PointNoise, ScatterTest};

use super::{Family, Figure, LeftOut};
use crate::csv::{Cell, Table};
use crate::format;
use crate::plot::{Axis, Drawing, End, Guide, Key, Line, Look, Panel, Point, Sample, Series, Style};

const NAME: &str = "noise-floor";
const TITLE: &str = "The noise of the text sample against k";
/// The customary bound of p-values.
const DOUBT: f64 = 0.05;

/// What is known of the noise at one k of one corpus.
struct AtK<'a> {
    k: u32,
    /// The largest model's, whose misses are fewest.
    largest: Option<&'a PointNoise>,
    test: Option<&'a PerfectLaw>,
    verdict: &'a str,
}

/// All k of one corpus.
struct Corpus<'a> {
    name: &'a str,
    style: Style,
    at: Vec<AtK<'a>>,
}

/// Standard error, R² and p-value by k.
pub(super) struct Noise<'a> {
    family: &'a str,
    corpora: Vec<Corpus<'a>>,
}

impl<'a> Noise<'a> {
    pub(super) fn of(family: &Family<'a>) -> Result<Self, LeftOut> {
        let at = |law: &'a Law| {
            let found = law.breakdown.as_ref()?;
            let test = match &found.test {
                ScatterTest::Tested(test) => Some(test.as_ref()),
                ScatterTest::Untested { .. } => None,
            };
            Some(AtK { k: law.k()?, largest: found.noise.last(), test, verdict: &found.verdict })
        };
        let corpora: Vec<Corpus<'a>> = family
            .groups
            .iter()
            .map(|(group, style)| Corpus {
                name: &group.corpus,
                style: *style,
                at: group.rank_laws.iter().filter_map(at).collect(),
            })
            .filter(|corpus| corpus.at.iter().any(|at| at.largest.is_some()))
            .collect();
        if corpora.is_empty() {
            let reason =
                "the noise of a text sample comes from resampling documents, and these laws have none";
            return Err(LeftOut::because(NAME, TITLE, reason));
        }
        Ok(Self { family: family.name, corpora })
    }

    fn grid(&self) -> Vec<u32> {
        let mut grid: Vec<u32> =
            self.corpora.iter().flat_map(|corpus| corpus.at.iter().map(|at| at.k)).collect();
        grid.sort_unstable();
        grid.dedup();
        grid
    }

    /// One series a corpus, of what `value` gives with its tip.
    fn series(&self, line: Line, value: impl Fn(&AtK<'a>) -> Option<(f64, Look, String)>) -> Vec<Series> {
        let of = |corpus: &Corpus<'a>| {
            let points = corpus.at.iter().filter_map(|at| {
                let (y, look, tip) = value(at)?;
                let tip = format!("{}\nk = {}\n{tip}", corpus.name, at.k);
                Some(Point { look, ..Point::of(f64::from(at.k), y, tip) })
            });
            Series { line, ..Series::joined(corpus.style, corpus.name, points.collect()) }
        };
        self.corpora.iter().map(of).collect()
    }

    /// As [`series`](Self::series), without marks.
    fn lines(&self, line: Line, value: impl Fn(&AtK<'a>) -> Option<f64>) -> Vec<Series> {
        let of = |corpus: &Corpus<'a>| Series {
            line,
            path: corpus.at.iter().filter_map(|at| Some((f64::from(at.k), value(at)?))).collect(),
            ..Series::of(corpus.style, corpus.name)
        };
        self.corpora.iter().map(of).collect()
    }
}

fn heights(series: &[Series]) -> Vec<f64> {
    let marks = series.iter().flat_map(|series| series.points.iter().map(|point| point.y));
    let lines = series.iter().flat_map(|series| series.path.iter().map(|(_, y)| *y));
    marks.chain(lines).collect()
}

impl Figure for Noise<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn caption(&self) -> String {
        let seen: Vec<String> = self
            .corpora
            .iter()
            .map(|corpus| {
                let doubtful: Vec<String> = corpus
                    .at
                    .iter()
                    .filter(|at| at.test.is_some_and(|test| test.p_value < DOUBT))
                    .map(|at| format::count(u64::from(at.k)))
                    .collect();
                let whether = if doubtful.is_empty() {
                    "noise alone explains the scatter at every k".to_owned()
                } else {
                    format!(
                        "noise alone does not explain the scatter (p below {DOUBT}) at k = {}",
                        format::list(&doubtful)
                    )
                };
                format!("on {} {whether}", corpus.name)
            })
            .collect();
        format!(
            "First: standard error of ln(−ln RBP) of the largest model over resampled documents (marks), and what it would be \
             were tokens independent (dashed). Second: 1 − R² of the fit (marks), and the 1 − R² below which \
             95 % of perfect power laws stay when they are seen through this noise (dashed): marks below it are as good as \
             can be, whatever their R²; hollow marks lie above. Third: the chance that a perfect law scatters as much, \
             hollow below {DOUBT}. Seen: {}.",
            seen.join("; ")
        )
    }

    fn numbers(&self) -> Table {
        let mut rows = Vec::new();
        for corpus in &self.corpora {
            for at in &corpus.at {
                rows.push(vec![
                    Cell::text(self.family),
                    Cell::text(corpus.name),
                    Cell::Count(u64::from(at.k)),
                    at.largest.map_or(Cell::Empty, |noise| Cell::text(&noise.model)),
                    at.largest.and_then(|noise| noise.log_standard_error).into(),
                    at.largest.map(|noise| noise.independent_log_standard_error).into(),
                    at.largest.and_then(|noise| noise.effective_tokens).into(),
                    at.test.and_then(|test| test.r_squared).into(),
                    at.test.map(|test| test.r_squared_median).into(),
                    at.test.map(|test| test.r_squared_low).into(),
                    at.test.map(|test| test.p_value).into(),
                    Cell::text(at.verdict),
                ]);
            }
        }
        Table {
            header: &[
                "family",
                "corpus",
                "k",
                "largest_model",
                "log_standard_error",
                "independent_log_standard_error",
                "effective_tokens",
                "r_squared",
                "perfect_r_squared_median",
                "perfect_r_squared_low",
                "p_value",
                "verdict",
            ],
            rows,
        }
    }

    fn drawing(&self) -> Drawing {
        let grid = self.grid();
        let panel = |heading: &str, y: Axis, series: Vec<Series>| Panel {
            heading: heading.to_owned(),
            apart: false,
            series,
            ..Panel::of(Axis::counts("k".to_owned(), grid.iter().map(|&k| f64::from(k))), y, 250.0)
        };
        let mut errors = self.series(Line::Solid, |at| {
            let noise = at.largest?;
            let error = noise.log_standard_error?;
            let tip = format!("{}: standard error {}", noise.model, format::significant(error));
            Some((error, Look::Filled, tip))
        });
        errors.extend(self.lines(Line::Dashed, |at| Some(at.largest?.independent_log_standard_error)));
        let mut fits = self.series(Line::Solid, |at| {
            let test = at.test?;
            let r_squared = test.r_squared?;
            let tip = format!(
                "R² {}\na perfect law: {} in the middle, above {} in 95 %",
                format::r_squared(test.r_squared),
                format::r_squared(Some(test.r_squared_median)),
                format::r_squared(Some(test.r_squared_low))
            );
            Some((1.0 - r_squared, Look::claimed(r_squared >= test.r_squared_low), tip))
        });
        fits.extend(self.lines(Line::Dashed, |at| Some(1.0 - at.test?.r_squared_low)));
        let chances = self.series(Line::Solid, |at| {
            let p = at.test?.p_value;
            Some((p, Look::claimed(p >= DOUBT), format!("p = {}", format::significant(p))))
        });

        let error_axis = Axis::log("standard error of ln(−ln RBP)".to_owned(), heights(&errors));
        let fit_axis = Axis::log("1 − R²".to_owned(), heights(&fits));
        let chance_axis = Axis::log("p-value".to_owned(), heights(&chances).into_iter().chain([DOUBT, 1.0]));
        let mut third = panel("chance of such scatter (line: 0.05)", chance_axis, chances);
        third.guides.push(Guide::Level { at: DOUBT, text: String::new(), end: End::Right });
        let mut legend: Vec<Key> = self
            .corpora
            .iter()
            .map(|corpus| Key {
                style: corpus.style,
                sample: Sample::Series(Line::Solid, corpus.style.mark()),
                text: corpus.name.to_owned(),
            })
            .collect();
        legend.push(Key {
            style: Style::NEUTRAL,
            sample: Sample::Line(Line::Dashed),
            text: "independent tokens; a perfect law".to_owned(),
        });
        Drawing {
            title: self.title(),
            legend,
            rows: vec![vec![
                panel("noise of the largest model", error_axis, errors),
                panel("1 − R², and that of a perfect law", fit_axis, fits),
                third,
            ]],
        }
    }
}
