//! What the fitted laws say of a size that was not measured, and which size a target needs.
//!
//! Answers come from the points in `laws.json`, by the same least squares, so that a value and a
//! size are two readings of one line:
//!
//! ```text
//! value at S:   v(L),  L = exp(ln C - alpha ln S)         L is -ln RBP_k, CE or -ln p_N; v is exp(-L) for a chance
//! S for v:      the crossing of the line with ln L(v)     by Fieller's interval, which has an end only if alpha's excludes 0
//! ```
//!
//! A value has two intervals: that of one new model, and that of the law itself. So has a size.
//!
//! | file | what |
//! |---|---|
//! | [`Question`] | what may be asked, and how sizes and targets are written |
//! | `source` | which law answers, and what is said when it is another than the question's own |
//! | `value`, `size` | the two readings |
//! | `next` | what a group holds by itself: the laws at ten times the largest model |
//! | `rivals` | the same readings off the other forms |
//!
//! Invariants: every answer is a number with its intervals and its distance beyond the data, or a
//! reason. Nothing is answered from a law without saying which.

mod next;
mod question;
mod rivals;
mod size;
mod source;
mod value;

pub(crate) use next::next_size;
pub use question::{Goal, Question, Size, Target};
pub(crate) use source::Source;

use crate::error::LawsError;
use crate::result::{GroupFit, GroupPredictions, Predicted, Predictions, RESULT_FORMAT, StudyFit};

/// Multiples of the largest model that are predicted when nothing is asked for.
const NEXT: [Size; 2] = [Size::TimesLargest(10.0), Size::TimesLargest(100.0)];

/// The k that are predicted when none is asked for, as far as they were fitted.
const K: [u32; 3] = [1, 10, 100];

/// Answers a question from the laws of a study.
///
/// # Errors
/// [`LawsError::NoGroup`] for a family or corpus that the study does not have, with those it has;
/// [`LawsError::Option`] for a level that is no probability. What a law cannot answer is no error:
/// the answer says why.
pub fn predict(laws: &StudyFit, question: &Question) -> Result<Predictions, LawsError> {
    let level = question.level.unwrap_or(laws.options.level);
    if !(level > 0.0 && level < 1.0) {
        return Err(LawsError::Option {
            option: "level",
            value: level.to_string(),
            expected: "above 0 and below 1",
        });
    }
    let groups = groups_of(laws, question.family.as_deref(), question.corpus.as_deref())?;
    let groups = groups.into_iter().map(|group| answer(group, question, level)).collect();
    Ok(Predictions {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        level,
        groups,
    })
}

/// The groups of a family and a corpus; of all, where none is named.
///
/// # Errors
/// [`LawsError::NoGroup`], with those there are.
pub(crate) fn groups_of<'a>(
    laws: &'a StudyFit,
    family: Option<&str>,
    corpus: Option<&str>,
) -> Result<Vec<&'a GroupFit>, LawsError> {
    let is = |wanted: Option<&str>, name: &str| wanted.is_none_or(|wanted| wanted == name);
    let all = laws.groups.iter();
    let groups: Vec<&GroupFit> =
        all.filter(|group| is(family, &group.family) && is(corpus, &group.corpus)).collect();
    if !groups.is_empty() {
        return Ok(groups);
    }
    Err(LawsError::NoGroup {
        wanted: [("family", family), ("corpus", corpus)]
            .into_iter()
            .filter_map(|(what, name)| Some(format!("{what} `{}`", name?)))
            .collect(),
        there: laws
            .groups
            .iter()
            .map(|group| format!("{} on {}", group.family, group.corpus))
            .collect(),
    })
}

fn answer(group: &GroupFit, question: &Question, level: f64) -> GroupPredictions {
    let measured = (
        group.models.first().map_or(0, |model| model.parameters),
        group.models.last().map_or(0, |model| model.parameters),
    );
    let at = if question.at.is_empty() && question.targets.is_empty() {
        &NEXT[..]
    } else {
        &question.at
    };
    let quantities = quantities(group, question);
    let values = at
        .iter()
        .map(|size| size.parameters(measured.1))
        .flat_map(|size| quantities.iter().map(move |&quantity| (size, quantity)))
        .map(|(size, quantity)| value::at(group, quantity, size, level))
        .collect();
    let sizes = question
        .targets
        .iter()
        .flat_map(|target| target.goal.at(&question.k).into_iter().map(|goal| (goal, target.value)))
        .map(|(quantity, target)| size::reaching(group, quantity, target, level))
        .collect();
    GroupPredictions {
        family: group.family.clone(),
        corpus: group.corpus.clone(),
        measured,
        values,
        sizes,
    }
}

/// What is predicted at each size.
fn quantities(group: &GroupFit, question: &Question) -> Vec<Predicted> {
    let fitted: Vec<u32> = K.into_iter().filter(|&k| group.rank_law(k).is_some()).collect();
    let k = if question.k.is_empty() { &fitted } else { &question.k };
    let sequences = question
        .lengths
        .iter()
        .flat_map(|&length| Goal::Sequence { length, k: None }.at(&question.k));
    k.iter()
        .map(|&k| Predicted::Rbp { k })
        .chain([Predicted::CrossEntropy])
        .chain(sequences)
        .collect()
}
