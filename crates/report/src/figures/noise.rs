//! The noise floor against k: what a perfect power law would look like on the same text sample.

use relscale_laws::{Law, PerfectLaw, PointNoise, ScatterTest};

use super::{Family, Figure, Kind, Made, OfFamily, Values};
use crate::format;
use crate::frame::{Frame, FrameRow, Rows};
use crate::plot::{Axis, Drawing, End, Guide, Key, Line, Look, Marks, Num, Panel, Series};

pub(super) const FIGURE: Kind<OfFamily> =
    Kind { name: "noise-floor", title: "The noise of the text sample against k", make };

/// The customary bound of p-values.
const DOUBT: f64 = 0.05;

/// What is known of the noise at one k of one corpus.
#[derive(Clone, Copy)]
struct AtK<'a> {
    corpus: &'a str,
    k: u32,
    /// The largest model's, whose misses are fewest.
    largest: Option<&'a PointNoise>,
    test: Option<&'a PerfectLaw>,
    verdict: &'a str,
}

/// Standard error, R² and p-value by k.
fn make<'a>(family: &Family<'a>) -> Made<'a> {
    let at = |corpus: &'a str, law: &'a Law| {
        let found = law.breakdown.as_ref()?;
        let test = match &found.test {
            ScatterTest::Tested(test) => Some(test.as_ref()),
            ScatterTest::Untested { .. } => None,
        };
        Some(AtK {
            corpus,
            k: law.k()?,
            largest: found.noise.last(),
            test,
            verdict: &found.verdict,
        })
    };
    let corpora = family.groups.iter().map(|(group, _)| -> Vec<AtK<'a>> {
        group.rank_laws.iter().filter_map(|law| at(&group.corpus, law)).collect()
    });
    let corpora: Vec<Vec<AtK<'a>>> =
        corpora.filter(|all| all.iter().any(|at| at.largest.is_some())).collect();
    if corpora.is_empty() {
        let reason =
            "the noise of a text sample comes from resampling documents, and these laws have none";
        return Err(reason.to_owned());
    }
    let numbers = Frame::from_rows(corpora.concat())
        .column("family", |_| family.name)
        .column("corpus", |at| at.corpus)
        .column("k", |at| at.k)
        .column("largest_model", |at| Some(&at.largest?.model))
        .column("log_standard_error", |at| at.largest?.log_standard_error)
        .column("independent_log_standard_error", |at| {
            Some(at.largest?.independent_log_standard_error)
        })
        .column("effective_tokens", |at| at.largest?.effective_tokens)
        .column("r_squared", |at| at.test?.r_squared)
        .column("perfect_r_squared_median", |at| Some(at.test?.r_squared_median))
        .column("perfect_r_squared_low", |at| Some(at.test?.r_squared_low))
        .column("p_value", |at| Some(at.test?.p_value))
        .column("verdict", |at| at.verdict)
        .frame();
    let caption = format!(
        "Above: the noise of the largest model's ln(−ln RBP_k) over resampled documents, and the chance that a perfect \
         law scatters as much as the fit. Below: 1 − R² of the fit beside that of perfect laws. Dashed above: the noise \
         were tokens independent. Dashed below: where 95 % of perfect power laws stay when they are seen through this \
         noise; marks below it are as good as can be, whatever their R², hollow ones lie above it. Chances below \
         {DOUBT} are hollow."
    );
    let values = corpora.iter().map(|all| {
        let doubtful = all.iter().filter(|at| at.test.is_some_and(|test| test.p_value < DOUBT));
        let doubtful: Vec<String> = doubtful.map(|at| format::count(u64::from(at.k))).collect();
        let corpus = all.first().map_or("", |at| at.corpus);
        [
            corpus.to_owned(),
            if doubtful.is_empty() { "none".to_owned() } else { doubtful.join(", ") },
        ]
    });
    let head = ["corpus", "k at which noise alone does not explain the scatter (p below 0.05)"];
    let values = Values::new(head, values);
    let family = family.clone();
    Ok(Figure::new(FIGURE.title, caption, numbers, move |frame| {
        let rows = frame.rows();
        let panel = |heading: &str, y: Axis, series: Vec<Series>| Panel {
            heading: heading.to_owned(),
            apart: false,
            ..Panel::new(Axis::counts("k").holding(rows.numbers("k")), y, 200.0, series)
        };
        let of =
            |rows: &Rows<'_>| Series::new(family.style(rows.text("corpus")), rows.text("corpus"));
        let by_corpus = rows.by("corpus");
        // One series a corpus.
        let marks = |marks: for<'f> fn(&Rows<'f>) -> Marks<'f>| -> Vec<Series> {
            by_corpus.iter().map(|rows| of(rows).joined(marks(rows))).collect()
        };
        let dashed = |rows: &Rows<'_>, y: Num| of(rows).stroke(Line::Dashed).line(rows, "k", y);
        let mut noise = marks(errors);
        let independent = || Num::from("independent_log_standard_error");
        noise.extend(by_corpus.iter().map(|rows| dashed(rows, independent())));
        let chance = Axis::log("p-value").holding([DOUBT, 1.0]);
        let above = vec![
            panel("noise of the largest model", Axis::log("standard error of ln(−ln RBPₖ)"), noise),
            Panel {
                guides: vec![Guide::level(DOUBT, "0.05", End::Right)],
                ..panel("chance of such scatter", chance, marks(chances))
            },
        ];
        // All to one scale, or corpora could not be compared.
        let perfect = || Num::made(["perfect_r_squared_low"], |[r_squared]| 1.0 - r_squared);
        let fitted = |rows: &Rows<'_>| vec![of(rows).joined(fits(rows)), dashed(rows, perfect())];
        let all: Vec<f64> = by_corpus
            .iter()
            .flat_map(fitted)
            .flat_map(|one| one.heights().collect::<Vec<_>>())
            .collect();
        let fit = |rows: &Rows<'_>| {
            let y = Axis::log("1 − R²").holding(all.iter().copied());
            panel(&format::shortened(rows.text("corpus"), 24), y, fitted(rows))
        };
        let below = by_corpus.iter().filter(|rows| !rows.with("r_squared").is_empty()).map(fit);
        let below: Vec<Panel> = below.collect();
        let mut legend = Key::each(&above);
        legend.push(Key::line(Line::Dashed, "independent tokens; 95 % of perfect laws"));
        let mut panels = vec![above];
        let columns = 3;
        let mut below = below.into_iter().peekable();
        while below.peek().is_some() {
            panels.push(below.by_ref().take(columns).collect());
        }
        Drawing::new(legend, panels)
    })
    .with(values))
}

fn tip_text(row: FrameRow<'_>, what: &str) -> String {
    format!("{}\nk = {}\n{what}", row.text("corpus"), row.plain("k"))
}

fn errors<'f>(rows: &Rows<'f>) -> Marks<'f> {
    Marks::at(rows, "k", "log_standard_error", |row| {
        let (model, error) = (row.text("largest_model"), row.significant("log_standard_error"));
        tip_text(row, &format!("{model}: standard error {error}"))
    })
}

fn fits<'f>(rows: &Rows<'f>) -> Marks<'f> {
    let left = Num::made(["r_squared"], |[r_squared]| 1.0 - r_squared);
    let marks = Marks::at(rows, "k", left, |row| {
        let r_squared = |column| format::r_squared(row.number(column));
        let (middle, low) =
            (r_squared("perfect_r_squared_median"), r_squared("perfect_r_squared_low"));
        let perfect = format!("a perfect law: {middle} in the middle, above {low} in 95 %");
        tip_text(row, &format!("R² {}\n{perfect}", r_squared("r_squared")))
    });
    marks.look(|row| Look::claimed(row.number("r_squared") >= row.number("perfect_r_squared_low")))
}

fn chances<'f>(rows: &Rows<'f>) -> Marks<'f> {
    let tip = |row: FrameRow<'f>| tip_text(row, &format!("p = {}", row.significant("p_value")));
    Marks::at(rows, "k", "p_value", tip)
        .look(|row| Look::claimed(row.number("p_value") >= Some(DOUBT)))
}
