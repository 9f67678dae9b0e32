//! Positions of a text that show what a rank is: the right token, and where each model of a family
//! has it among all entries.
//!
//! No law: nothing is fitted to these positions and no law reads them. They are chosen, from the
//! first positions of each text, because they are clear, so they say nothing about how ranks fall
//! on the whole; the laws do. It takes rows and a vocabulary. A study that came without either has
//! no example, which is no error.

use std::collections::BTreeMap;

use relscale_records::study::RunFolder;
use relscale_records::vocabulary::TokenKind;
use relscale_records::{Score, Study, Vocabulary};

use crate::result::{ExampleScore, GroupFit, RESULT_FORMAT, RankExample, RankExamples, StudyFit};

/// Scored positions of a run, from its first, among which is chosen.
const LOOKED_AT: usize = 20_000;
/// Tokens before the position that are shown.
const BEFORE: usize = 24;
/// Of these there must be so many, lest nobody could guess what comes.
const LEAST_BEFORE: usize = 8;
/// Longest text before the position, in characters.
const LONGEST: usize = 240;

/// The clearest position of each family of `laws`, from the records of the same study.
///
/// The clearest: the rank falls from model to model and never rises, from beyond ten to one, in
/// steps as even as may be, and the token is a word; of equals, the first of the first corpus.
/// Families without rows, without a vocabulary, or of a single model have none.
pub fn examples(study: &Study, laws: &StudyFit) -> RankExamples {
    let mut best: BTreeMap<&str, (Clarity, RankExample)> = BTreeMap::new();
    for group in &laws.groups {
        // What cannot be read is said by whoever needs it.
        let Some((clarity, example)) = of_group(study, group) else { continue };
        let known = best.get(group.family.as_str());
        if known.is_none_or(|(other, _)| clarity > *other) {
            best.insert(&group.family, (clarity, example));
        }
    }
    RankExamples {
        format: RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        examples: best.into_values().map(|(_, example)| example).collect(),
    }
}

/// How clear a position is; more is clearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Clarity {
    /// Whether the token is a word.
    word: bool,
    /// Steps down, less two for each step up, and one each for ranks that begin beyond ten and
    /// that end at one.
    steps: i64,
    /// The negative of the largest step of ln R, in thousandths.
    even: i64,
}

impl Clarity {
    fn of(ranks: &[u32], word: bool) -> Self {
        let steps = ranks.windows(2).map(|pair| match pair[0].cmp(&pair[1]) {
            std::cmp::Ordering::Greater => 1,
            std::cmp::Ordering::Less => -2,
            std::cmp::Ordering::Equal => 0,
        });
        let ends = [ranks.first().is_some_and(|rank| *rank > 10), ranks.last() == Some(&1)];
        let step = |pair: &[u32]| (f64::from(pair[0]).ln() - f64::from(pair[1]).ln()).abs();
        let largest = ranks.windows(2).map(step).fold(0.0, f64::max);
        Self {
            word,
            steps: steps.sum::<i64>() + ends.into_iter().map(i64::from).sum::<i64>(),
            even: -((1_000.0 * largest) as i64),
        }
    }
}

/// A position of a text: ordinal of the document, index in it.
type Place = (u32, u32);

fn of_group(study: &Study, group: &GroupFit) -> Option<(Clarity, RankExample)> {
    if group.models.len() < 2 {
        return None;
    }
    let current = study.current().ok()?;
    let run_of = |name: &str| {
        current.iter().find(|run| {
            let provenance = &run.record().provenance;
            provenance.model.name == name && provenance.corpus.name == group.corpus
        })
    };
    let runs: Vec<&RunFolder> =
        group.models.iter().map(|model| run_of(&model.name)).collect::<Option<_>>()?;
    let provenance = &runs.first()?.record().provenance;
    let vocabulary = study.vocabulary(&provenance.tokenizer.sha256).ok()??;
    // Ids of another tokenizer would be other texts.
    let one =
        |run: &&RunFolder| run.record().provenance.tokenizer.sha256 == provenance.tokenizer.sha256;
    if !runs.iter().all(one) {
        return None;
    }
    let scored: Vec<BTreeMap<Place, (u32, Score)>> =
        runs.iter().map(|run| first_positions(run)).collect::<Option<_>>()?;
    let rank =
        |run: usize, score: &Score| score.rank_by(runs[run].record().provenance.scoring.tie_rule);

    // Right to the text of the token and of those before it.
    let mut best: Option<(Clarity, Place)> = None;
    let mut in_a_row: usize = 0;
    let mut last: Option<Place> = None;
    for (place, (token, _)) in &scored[0] {
        in_a_row = match last {
            Some((document, position)) if (document, position + 1) == *place => in_a_row + 1,
            _ => 0,
        };
        last = Some(*place);
        let Some(entry) = vocabulary.get(*token).filter(|entry| entry.kind == TokenKind::Normal)
        else {
            continue;
        };
        if in_a_row < LEAST_BEFORE || entry.text.trim().is_empty() {
            continue;
        }
        let seen = scored.iter().enumerate().map(|(run, scored)| {
            let (other, score) = scored.get(place)?;
            (other == token).then(|| rank(run, score))
        });
        let Some(ranks) = seen.collect::<Option<Vec<u32>>>() else { continue };
        let clarity = Clarity::of(&ranks, is_word(&entry.text));
        if best.is_none_or(|(known, _)| clarity > known) {
            best = Some((clarity, *place));
        }
    }

    let (clarity, place) = best?;
    let text = |id: u32| vocabulary.get(id).map(|entry| entry.text.clone());
    let models = group.models.iter().zip(&scored).enumerate().map(|(run, (model, scored))| {
        let (_, score) = scored.get(&place)?;
        let nll = f64::from(score.nll);
        Some(ExampleScore {
            model: model.name.clone(),
            parameters: model.parameters,
            rank: rank(run, score),
            nll,
            probability: (-nll).exp(),
            likeliest: score.argmax.and_then(text),
        })
    });
    let example = RankExample {
        family: group.family.clone(),
        corpus: group.corpus.clone(),
        document: place.0,
        position: place.1,
        before: before(&scored[0], place, &vocabulary),
        token: text(scored[0].get(&place)?.0)?,
        vocabulary: provenance.scoring.vocabulary.scored,
        models: models.collect::<Option<_>>()?,
    };
    Some((clarity, example))
}

/// The first positions of a run that have a score; `None` where its rows cannot be read.
fn first_positions(run: &RunFolder) -> Option<BTreeMap<Place, (u32, Score)>> {
    let mut found = BTreeMap::new();
    for rows in run.rows().ok()? {
        for row in rows.ok()? {
            if let Some(score) = row.score {
                found.insert((row.document, row.position), (row.token, score));
            }
        }
        if found.len() >= LOOKED_AT {
            break;
        }
    }
    Some(found)
}

/// The text of the scored tokens right before a place, as far as they stand in a row.
fn before(
    scored: &BTreeMap<Place, (u32, Score)>,
    (document, position): Place,
    vocabulary: &Vocabulary,
) -> String {
    let back = (1..=BEFORE as u32).map_while(|back| {
        let at = position.checked_sub(back)?;
        let (token, _) = scored.get(&(document, at))?;
        Some(vocabulary.get(*token)?.text.as_str())
    });
    let mut length = 0;
    let mut texts: Vec<&str> = back
        .take_while(|text| {
            length += text.chars().count();
            length <= LONGEST
        })
        .collect();
    texts.reverse();
    texts.concat()
}

/// Whether a text is a word of three letters or more, after a space or not.
fn is_word(text: &str) -> bool {
    let word = text.strip_prefix([' ', '\u{2581}']).unwrap_or(text);
    word.chars().count() >= 3 && word.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_fall_evenly_to_one_are_clearest() {
        let clarity = |ranks: &[u32]| Clarity::of(ranks, true);
        let even = clarity(&[1000, 100, 10, 1]);
        assert!(even > clarity(&[1000, 900, 800, 1]), "one leap");
        assert!(even > clarity(&[1000, 100, 10, 10]), "a step less");
        assert!(even > clarity(&[8, 4, 2, 1]), "seen by the smallest");
        assert!(even > clarity(&[100, 1000, 10, 1]), "a step up");
        assert!(even > Clarity::of(&[1000, 100, 10, 1], false), "no word");
    }

    #[test]
    fn words_are_letters() {
        assert!(is_word(" impl") && is_word("\u{2581}größer") && is_word("fun"));
        assert!(!is_word(" {") && !is_word(" to") && !is_word("a_b") && !is_word("   "));
    }
}
