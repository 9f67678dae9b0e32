//! Families side by side on one corpus: per word and per byte, whose number no tokenizer changes.

use relscale_laws::{AcrossTokenizers, Law, Quantity, StudyFit, TextUnits};

use super::curve::{self, Curve};
use super::slot::{Figure, Kind, Made, Section, Slot};
use crate::frame::Frame;
use crate::plot::{Drawing, Key, Line, Panel, Style};
use crate::results::Results;

const FIGURE: Kind<for<'a> fn(&Side<'a>) -> Made<'a>> =
    Kind { name: "across-tokenizers", title: "Families side by side, per word and per byte", make };

/// What is drawn, a panel each, where two families have it: else the same of bytes.
const PANELS: [[Quantity; 2]; 3] = [
    [Quantity::Words { k: 1 }, Quantity::Bytes { k: 1 }],
    [Quantity::Words { k: 10 }, Quantity::Bytes { k: 10 }],
    [Quantity::BitsPerByte, Quantity::BitsPerByte],
];

/// A corpus that several families were measured on.
struct Side<'a> {
    across: &'a AcrossTokenizers,
    /// Each family's laws, by name.
    families: Vec<(&'a str, &'a str, &'a TextUnits)>,
}

/// A section a corpus.
pub(super) fn sections(results: &Results) -> Vec<Section<'_>> {
    let Some(study) = &results.laws else { return Vec::new() };
    let sections = study.across_tokenizers.iter().map(|across| {
        let side = Side::new(study, across);
        let heading = format!("Families on {}", across.corpus);
        Section::new(&heading, &across.corpus, vec![FIGURE.slot((FIGURE.make)(&side))])
    });
    sections.collect()
}

/// The slot of this figure where no corpus has two families.
pub(super) fn left_out() -> Vec<Slot<'static>> {
    let reason = "no corpus of this folder was measured with two families of models";
    vec![FIGURE.slot(Err(reason.to_owned()))]
}

impl<'a> Side<'a> {
    fn new(study: &'a StudyFit, across: &'a AcrossTokenizers) -> Self {
        let of_corpus = study.groups.iter().filter(|group| group.corpus == across.corpus);
        let families = of_corpus.filter_map(|group| {
            Some((group.family.as_str(), group.corpus.as_str(), group.text_units.as_ref()?))
        });
        Self { across, families: families.collect() }
    }

    /// A curve a family that has a point of this quantity.
    fn curves(&self, quantity: &Quantity) -> Vec<Curve<'a>> {
        let families = self.families.iter().enumerate();
        let curve = |(at, (family, corpus, text)): (usize, &(&'a str, &'a str, &'a TextUnits))| {
            let law: &'a Law = text.laws().find(|law| law.quantity == *quantity)?;
            let style = Style::for_corpus(at);
            (!law.points.is_empty()).then_some(Curve { family, corpus, style, law })
        };
        families.filter_map(curve).collect()
    }
}

/// A panel a quantity, a line a family.
fn make<'a>(side: &Side<'a>) -> Made<'a> {
    let panels: Vec<Vec<Curve<'a>>> = PANELS
        .iter()
        .filter_map(|quantities| {
            quantities.iter().map(|one| side.curves(one)).find(|curves| curves.len() > 1)
        })
        .collect();
    if panels.is_empty() {
        return Err(format!(
            "no two families on {} have a point per word or per byte",
            side.across.corpus
        ));
    }
    let all = || panels.iter().flatten();
    let mut tokenizers: Vec<&str> =
        side.across.families.iter().map(|family| family.tokenizer.as_str()).collect();
    tokenizers.sort_unstable();
    tokenizers.dedup();
    let caption = format!(
        "{} families with {} on one text. A word is a hit where all its tokens have rank at most k; bits per byte are the cross \
         entropy over the text's bytes. {}{}",
        side.across.families.len(),
        if tokenizers.len() > 1 { "different tokenizers" } else { "one tokenizer" },
        curve::how_to_read(all()),
        side.across.verdict
    );
    let numbers: Frame = curve::frame(all());
    Ok(Figure::new(FIGURE.title, caption, numbers, move |frame| {
        let drawn: Vec<Panel> = panels.iter().map(|curves| panel(frame, curves)).collect();
        Drawing::new(Key::each(&drawn), vec![drawn])
    }))
}

/// The laws of one quantity, what they say in coloured lines above it.
fn panel(frame: &Frame, curves: &[Curve<'_>]) -> Panel {
    let Some(law) = curves.first().map(|curve| curve.law) else {
        return curve::panel(frame, curves, "", 280.0, |_| (Line::Solid, vec![]));
    };
    let symbol = curve::symbol(law);
    let title = match law.quantity {
        Quantity::BitsPerByte => symbol.clone(),
        _ => format!("{symbol} (nats)"),
    };
    Panel {
        heading: symbol,
        notes: curves.iter().map(|curve| (curve.style, curve.fit_text())).collect(),
        ..curve::panel(frame, curves, &title, 280.0, |_| (Line::Solid, vec![]))
    }
}
