//! Are tokens independent? Correlation of hits, runs of hits against the geometric, and the length
//! that N tokens count as.

use relscale_laws::{EmergenceAtK, Estimate, HitOrder, SequencePoint};

use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, End, Guide, Key, Line, Look, Marks, Panel, Series, Style};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "independence", title: "Are tokens independent? Hits in order", make };

/// The kinds of rows.
const CORRELATION: &str = "correlation at lag";
const RUNS: &str = "share of runs of at least";
const LENGTH: &str = "effective length of";

/// The largest model at the smallest k of one corpus.
struct Corpus<'a> {
    name: &'a str,
    at: &'a EmergenceAtK,
    order: &'a HitOrder,
}

/// A panel each: correlation by lag, runs by length, effective length by N.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let corpora = family.groups.iter().filter_map(|(group, _)| {
        let at = group.emergence.as_ref()?.by_k.first()?;
        Some(Corpus { name: &group.corpus, at, order: at.models.last()? })
    });
    let corpora: Vec<Corpus<'a>> = corpora.collect();
    let k = corpora.first().ok_or("the order of hits was not counted")?.at.k;
    let head = ["corpus", "model", "correlation at lag 1", "tokens in a row", "count as"];
    let values = Values::new(head, corpora.iter().map(Corpus::told));
    let caption = format!(
        "The largest model, a hit being a rank of at most {k}. First: correlation of two hits a lag apart; what does not \
         die out is the difference between easy and hard documents. Second: share of runs of hits that reach a length, \
         measured (marks), with independent tokens (dashed) and in a first-order chain (dotted). Third: ln p of N \
         tokens in a row over ln RBP, how many independent tokens they count as; below the line of equality hits \
         cluster. Bars and intervals by resampling documents; hollow marks rest on too few successes."
    );
    let numbers = Frame::stacked(corpora.iter().map(|corpus| corpus.frame(family.name)));
    let family = family.clone();
    Ok(Figure::new(FIGURE.title, caption, numbers, move |frame| {
        let rows = frame.rows();
        let style = |rows: &Rows<'_>| family.style(rows.text("corpus"));
        let panels = vec![correlation(&rows, style), runs(&rows, style), lengths(&rows, style)];
        let mut legend = Key::each(&panels);
        legend.push(Key::line(Line::Dashed, "independent tokens"));
        legend.push(Key::line(Line::Dotted, "first-order chain"));
        Drawing::new(legend, vec![panels])
    })
    .with(values))
}

impl<'a> Corpus<'a> {
    /// The largest model's windows of each length that count as some number of independent tokens.
    fn effective(&self) -> impl DoubleEndedIterator<Item = (u32, &'a SequencePoint, &'a Estimate)> {
        self.at.lengths.iter().filter_map(|length| {
            let point = length.points.last()?;
            Some((length.length, point, point.effective_length.as_ref()?))
        })
    }

    fn told(&self) -> [String; 5] {
        let lag = self.order.autocorrelation.first().and_then(|found| found.value.as_ref());
        let lag = lag.map_or(String::new(), |value| format::fixed(value.value, 3));
        let counts = self.effective().rfind(|(length, point, _)| point.claimed && *length > 1);
        let (length, counts) = counts
            .map_or((String::new(), String::new()), |(length, _, effective)| {
                (length.to_string(), format::significant(effective.value))
            });
        [self.name.to_owned(), self.order.model.clone(), lag, length, counts]
    }

    fn frame(&self, family: &str) -> Frame {
        let correlation = Frame::from_rows(&self.order.autocorrelation)
            .column("what", |_| CORRELATION)
            .column("at", |found| found.lag)
            .column("value", |found| Some(found.value.as_ref()?.value))
            .ends(["low", "high"], |found| found.value.as_ref()?.bounds());
        let runs = Frame::from_rows(&self.order.runs.survival)
            .column("what", |_| RUNS)
            .column("at", |found| found.length)
            .column("value", |found| found.observed)
            .column("independent", |found| found.independent)
            .column("markov", |found| found.markov);
        let lengths = Frame::from_rows(self.effective())
            .column("what", |_| LENGTH)
            .column("at", |(length, ..)| length)
            .column("value", |(.., effective)| effective.value)
            .ends(["low", "high"], |(.., effective)| effective.bounds())
            .column("independent", |(length, ..)| f64::from(length))
            .column("claimed", |(_, point, _)| point.claimed);
        Frame::stacked([correlation.frame(), runs.frame(), lengths.frame()]).led([
            ("family", family.into()),
            ("corpus", self.name.into()),
            ("k", self.at.k.into()),
            ("model", (&self.order.model).into()),
        ])
    }
}

fn tip(row: FrameRow<'_>, what: &str) -> String {
    format!("{} on {}, k = {}\n{what}", row.text("model"), row.text("corpus"), row.plain("k"))
}

fn correlation(rows: &Rows<'_>, style: impl Fn(&Rows<'_>) -> Style) -> Panel {
    let series = rows.matching("what", CORRELATION).by("corpus").into_iter().map(|rows| {
        let marks = Marks::at(&rows, "at", "value", |row| {
            tip(
                row,
                &format!("lag {}: {}", row.plain("at"), row.estimate(["value", "low", "high"])),
            )
        });
        Series::new(style(&rows), rows.text("corpus")).joined(marks.error("low", "high"))
    });
    let y = Axis::linear("correlation").holding([0.0]);
    Panel {
        heading: "correlation of hits".to_owned(),
        guides: vec![Guide::level(0.0, "independent", End::Left)],
        ..Panel::new(Axis::counts("lag in tokens"), y, 250.0, series.collect())
    }
}

/// Observed shares as marks; independent tokens dashed, a chain dotted.
fn runs(rows: &Rows<'_>, style: impl Fn(&Rows<'_>) -> Style) -> Panel {
    let rows = rows.matching("what", RUNS);
    let marked = rows.above("value", 0.0);
    let series = rows.by("corpus").into_iter().flat_map(|rows| {
        let marks = Marks::at(&rows.above("value", 0.0), "at", "value", |row| {
            let [value, independent, markov] =
                ["value", "independent", "markov"].map(|column| row.significant(column));
            let at = row.plain("at");
            tip(
                row,
                &format!(
                    "runs of {at} or more: {value}\nindependent {independent}, chain {markov}"
                ),
            )
        });
        let series = || Series::new(style(&rows), rows.text("corpus"));
        [
            series().joined(marks),
            series().stroke(Line::Dashed).line(
                &rows.above("independent", 0.0),
                "at",
                "independent",
            ),
            series().stroke(Line::Dotted).line(&rows.above("markov", 0.0), "at", "markov"),
        ]
    });
    // Where independence leaves nothing, its line leaves the axes.
    let foot = marked.range("value").0.min(1.0) / 20.0;
    Panel {
        heading: "runs of hits".to_owned(),
        apart: false,
        ..Panel::new(
            Axis::counts("length of the run").closed(marked.numbers("at")),
            Axis::log("share that is as long").closed(marked.numbers("value")).holding([foot, 1.0]),
            250.0,
            series.collect(),
        )
    }
}

fn lengths(rows: &Rows<'_>, style: impl Fn(&Rows<'_>) -> Style) -> Panel {
    let rows = rows.matching("what", LENGTH);
    let equality =
        Series::new(Style::NEUTRAL, "").stroke(Line::Dashed).line(&rows, "at", "independent");
    let series = rows.by("corpus").into_iter().map(|rows| {
        let marks = Marks::at(&rows, "at", "value", |row| {
            let counts = row.estimate(["value", "low", "high"]);
            tip(row, &format!("N = {} counts as {counts} tokens", row.plain("at")))
        });
        let look = |row: FrameRow<'_>| Look::claimed(row.flag("claimed"));
        Series::new(style(&rows), rows.text("corpus")).joined(marks.error("low", "high").look(look))
    });
    let (x, y) = (Axis::counts("N, tokens in a row"), Axis::log("effective length"));
    Panel {
        heading: "what N tokens count as".to_owned(),
        apart: false,
        ..Panel::new(x, y, 250.0, series.chain([equality]).collect())
    }
}
