//! The figures of a relative law (arXiv 2510.24626): errors and gaps of whatever distributions were
//! compared.
//!
//! The two forms of that paper, "absolute" (E against x for each distribution) and "relative" (G
//! against x for each treatment), are written once: what the distributions are (domains, varieties,
//! clusters, corpora), what E is and what x is follow from the result.
//!
//! | figure | what |
//! |---|---|
//! | `absolute` | E against x |
//! | `gap` | G against x, with the band of the law and where it leads |
//! | `slopes` | delta_beta of every treatment with its interval, beside the margin of "parallel" |
//! | `covariate` | delta_beta against a number that each distribution has |
//! | `gap-by-k` | delta_beta of the gaps of `-ln RBP_k` against k: the relative law of ranks |
//! | `cases` | gaps of several results side by side |

mod absolute;
mod cases;
mod covariate;
mod gap;
mod ranks;
mod slopes;
mod trend;

use relscale_laws::{Gap, RelativeFamily, RelativeFit};

use super::slot::{Kind, Made, Section, Slot};
use crate::format;
use crate::frame::FrameRow;
use crate::plot::{Axis, Style};
use crate::results::{Named, Results};

/// How a figure of one relative law is made.
type OfComparison = for<'a> fn(Comparison<'a>) -> Made<'a>;

/// The figures of one relative law, in the order of the page.
const OF_COMPARISON: [Kind<OfComparison>; 5] =
    [absolute::FIGURE, gap::FIGURE, slopes::FIGURE, covariate::FIGURE, ranks::FIGURE];

/// Distributions that are named beside a figure; of more, only the slopes' figure names each.
const NAMED: usize = 14;

/// All sections of relative laws: those of each result and family, then what stands side by side.
pub(super) fn sections(results: &Results) -> Vec<Section<'_>> {
    let laws = Comparison::all(&results.relative);
    let several_files = results.relative.len() > 1;
    let mut sections: Vec<Section<'_>> =
        laws.iter().map(|law| law.section(several_files)).collect();
    if !laws.is_empty() {
        let slot = cases::FIGURE.slot((cases::FIGURE.make)(laws));
        sections.push(Section::new("Relative laws side by side", "relative", vec![slot]));
    }
    sections
}

/// The slots of these figures where there is no relative law.
pub(super) fn left_out() -> Vec<Slot<'static>> {
    let reason = || {
        Err("no relative.json here: relscale relative STUDY --baseline NAME makes it".to_owned())
    };
    let of_each = OF_COMPARISON.iter().map(|kind| kind.slot(reason()));
    of_each.chain([cases::FIGURE.slot(reason())]).collect()
}

/// One family of one relative law, and how it is drawn.
#[derive(Clone, Copy)]
struct Comparison<'a> {
    /// Name of the file without its ending.
    file: &'a str,
    fit: &'a RelativeFit,
    family: &'a RelativeFamily,
    /// Whether the result has other families.
    one_of_several: bool,
}

impl<'a> Comparison<'a> {
    /// All families of all results that have a point.
    fn all(relative: &'a [Named<RelativeFit>]) -> Vec<Self> {
        let of = |found: &'a Named<RelativeFit>| {
            let one_of_several = found.fit.families.len() > 1;
            let families = found.fit.families.iter();
            families.map(move |family| Self {
                file: &found.file,
                fit: &found.fit,
                family,
                one_of_several,
            })
        };
        relative.iter().flat_map(of).collect()
    }

    fn section(&self, several_files: bool) -> Section<'a> {
        let slots = OF_COMPARISON.iter().map(|kind| kind.slot((kind.make)(*self))).collect();
        let file = if several_files { format!(", {}.json", self.file) } else { String::new() };
        let family = if self.one_of_several {
            format!(", family {}", self.family.name)
        } else {
            String::new()
        };
        let heading = format!(
            "Relative law: {} to {}{family}{file}",
            self.fit.error, self.fit.options.baseline
        );
        let files = if self.one_of_several {
            format!("{}--{}", self.file, self.family.name)
        } else {
            self.file.to_owned()
        };
        Section::new(&heading, &files, slots)
    }

    /// The colour of a distribution: its place among all distributions of the result, by name.
    fn style(&self, distribution: &str) -> Style {
        let mut names: Vec<&str> = self
            .fit
            .families
            .iter()
            .flat_map(|family| &family.absolute)
            .map(|law| law.name.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        Style::for_corpus(names.iter().position(|name| *name == distribution).unwrap_or(0))
    }

    /// Whether each distribution can be named beside the axes.
    fn named(&self) -> bool {
        self.family.absolute.len() <= NAMED
    }

    /// The gaps that have a point.
    fn gaps(&self) -> impl Iterator<Item = &'a Gap> + use<'a> {
        self.family.gaps.iter().filter(|gap| !gap.points.is_empty())
    }

    /// What a distribution is: `domain`.
    fn one(&self) -> &'a str {
        if self.fit.distributions.is_empty() { "distribution" } else { &self.fit.distributions }
    }

    /// What distributions are: `domains`.
    fn many(&self) -> String {
        match self.one() {
            "corpus" => "corpora".to_owned(),
            one => match one.strip_suffix('y') {
                Some(stem) if !one.ends_with("ay") && !one.ends_with("ey") => format!("{stem}ies"),
                _ => format!("{one}s"),
            },
        }
    }

    /// What x is called in sentences: `S` for `S, non-embedding parameters`.
    fn x(&self) -> &'a str {
        self.fit.x.split(", ").next().unwrap_or(&self.fit.x)
    }

    /// The axis of x.
    fn axis(&self) -> Axis {
        Axis::amounts(&self.fit.x)
    }

    /// The title of an axis of E.
    fn error(&self) -> String {
        if self.fit.error.starts_with(&self.fit.unit)
            || ["1", "as given"].contains(&self.fit.unit.as_str())
        {
            return format!("E, {}", self.fit.error);
        }
        format!("E, {} ({})", self.fit.error, self.fit.unit)
    }
}

/// The first letter as a capital.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// `+0.0123 [0.0098, 0.0148]`: a slope with its sign.
fn signed(value: f64, ends: Option<(f64, f64)>) -> String {
    let text = format::with_ends(value, ends);
    if value > 0.0 { format!("+{text}") } else { text }
}

/// The same of a row of slopes.
fn slope(row: FrameRow<'_>) -> String {
    signed(row.number("delta_beta").unwrap_or_default(), row.ends(["low", "high"]))
}
