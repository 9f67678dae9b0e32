//! What a rank is: one position of the study, as every model saw it (after figures 1 and 2 of
//! arXiv 2510.20387).

use relscale_laws::{ExampleScore, RankExample, RankExamples};

use super::curve::S;
use super::{Family, Figure, Kind, Made, Passage, Values};
use crate::format;
use crate::frame::{Frame, FrameRow};
use crate::plot::{Axis, Drawing, End, Guide, Marks, Panel, Series};

/// How it is made of a family and what a folder holds of positions.
pub(super) type OfExamples = for<'a> fn(&Family<'a>, Option<&'a RankExamples>) -> Made<'a>;

pub(super) const FIGURE: Kind<OfExamples> = Kind { name: "rank", title: "What a rank is", make };

/// The k of which is said whether the token counts as a hit.
const SHOWN: [u32; 3] = [1, 10, 100];

/// The family's position.
fn make<'a>(family: &Family<'a>, examples: Option<&'a RankExamples>) -> Made<'a> {
    let example = examples.and_then(|all| {
        // Of other laws it would be about models that the page does not know.
        let known = |example: &&RankExample| {
            let group = family.groups.iter().find(|(group, _)| group.corpus == example.corpus);
            group.is_some_and(|(group, _)| {
                let names = group.models.iter().map(|model| &model.name);
                names.eq(example.models.iter().map(|score| &score.model))
            })
        };
        all.examples.iter().filter(|example| example.family == family.name).find(known)
    });
    let example = example.ok_or(
        "no position of these models is kept: relscale fit STUDY keeps one where the records have \
         rows and the tokenizer's vocabulary",
    )?;
    let shown: Vec<u32> = SHOWN.into_iter().filter(|k| *k < example.vocabulary).collect();
    let numbers = Frame::from_rows(&example.models)
        .column("family", |_| &example.family)
        .column("corpus", |_| &example.corpus)
        .column("document", |_| u64::from(example.document))
        .column("position", |_| u64::from(example.position))
        .column("token", |_| &example.token)
        .column("model", |score| &score.model)
        .column(S, |score| score.parameters)
        .column("rank", |score| score.rank)
        .column("probability", |score| score.probability)
        .column("nll", |score| score.nll)
        .column("likeliest", |score| score.likeliest.as_deref())
        .frame();
    let words = format!(
        "Marked: the token that came. Its rank R by a model: how many of the {} entries of the vocabulary the model \
         holds at least as likely. RBP_k is the share of all positions with R ≤ k. The position (token {} of document \
         {}) was chosen because ranks fall clearly there; at most positions they do not fall so evenly, and the laws \
         are about all of them. Rank and probability say different things: a token may have a fair probability and \
         still stand behind others, and greedy decoding takes the first.",
        format::count(u64::from(example.vocabulary)),
        format::count(u64::from(example.position)),
        format::count(u64::from(example.document)),
    );
    let row = |score: &ExampleScore| {
        let hits: Vec<String> =
            shown.iter().filter(|k| score.rank <= **k).map(u32::to_string).collect();
        [
            score.model.clone(),
            score.likeliest.as_deref().map(visible).unwrap_or_default(),
            format::count(u64::from(score.rank)),
            format::significant(score.probability),
            if hits.is_empty() { "none".to_owned() } else { hits.join(", ") },
        ]
    };
    let head = ["model", "holds likeliest", "rank R", "probability", "a hit at k ="];
    let values = Values::new(head, example.models.iter().map(row)).literal("holds likeliest");
    let style = family.style(&example.corpus);
    let corpus = &example.corpus;
    let figure = Figure::new(FIGURE.title, words, numbers, move |frame| {
        let rows = frame.rows();
        let tip = |row: FrameRow<'_>| {
            format!(
                "{}\nS = {}\nrank {}, probability {}",
                row.text("model"),
                row.count(S),
                row.count("rank"),
                row.significant("probability")
            )
        };
        let series = |column: &'static str| {
            vec![Series::new(style, corpus).joined(Marks::at(&rows, S, column, tip))]
        };
        let guide = |k: &u32| Guide::level(f64::from(*k), format!("k = {k}"), End::Left);
        let levels = shown.iter().map(|k| f64::from(*k));
        let ranks = Axis::counts("rank R").holding(levels).holding([0.7]);
        let rank = Panel {
            heading: "rank of the token".to_owned(),
            guides: shown.iter().map(guide).collect(),
            ..Panel::new(Axis::sizes(), ranks, 190.0, series("rank"))
        };
        let probability = Axis::linear("probability").holding([0.0]);
        let probability = Panel {
            heading: "its probability".to_owned(),
            ..Panel::new(Axis::sizes(), probability, 190.0, series("probability"))
        };
        Drawing::new(vec![], vec![vec![rank, probability]])
    });
    Ok(figure.with(values).of(Passage::new(&example.before, &example.token)))
}

/// A token with its white space to be seen.
fn visible(text: &str) -> String {
    let seen = |c: char| match c {
        ' ' | '\u{2581}' => '␣',
        '\n' => '⏎',
        '\t' => '⇥',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(seen).collect()
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn white_space_is_seen() {
        assert_eq!(visible(" fn\n\u{1}"), "␣fn⏎\u{fffd}");
        assert_eq!(visible("\u{2581}the"), "␣the");
    }
}
