//! The families that were measured on one corpus, side by side: in bytes and words, whose number no
//! tokenizer changes.

use std::collections::BTreeMap;

use relscale_records::digits::{self, count};
use relscale_records::{DocumentTally, RunTally};

use super::words;
use crate::options::FitOptions;
use crate::result::{
    AcrossFamilies, AcrossTokenizers, FamilyOnText, FamilyValue, Flag, FlagCode, GroupFit, Law,
    Quantity, TextUnits, TracePoint,
};
use crate::table::Group;

/// The k at which families are compared, where they were fitted.
const K: [u32; 2] = [1, 10];

/// The length of spans at which families are compared, in words.
const SPAN: u32 = 8;

/// How far the words of two families may be apart, as a share, before it is said.
const AS_MANY: f64 = 0.01;

/// One entry a corpus with two families or more; `fits` are those of `groups`, in their order.
pub(crate) fn across(
    groups: &[Group<'_>],
    fits: &[GroupFit],
    options: &FitOptions,
) -> Vec<AcrossTokenizers> {
    let mut corpora: BTreeMap<&str, Vec<Member<'_>>> = BTreeMap::new();
    for (group, fit) in groups.iter().zip(fits) {
        let Some(text) = &fit.text_units else { continue };
        corpora.entry(&fit.corpus).or_default().push(Member { group, fit, text });
    }
    let several = corpora.into_iter().filter(|(_, members)| members.len() > 1);
    several.map(|(corpus, members)| side_by_side(corpus, &members, options)).collect()
}

/// A family on the corpus.
#[derive(Clone, Copy)]
struct Member<'a> {
    group: &'a Group<'a>,
    fit: &'a GroupFit,
    text: &'a TextUnits,
}

impl<'a> Member<'a> {
    fn law(&self, quantity: &Quantity) -> Option<&'a Law> {
        self.text.laws().find(|law| law.quantity == *quantity)
    }

    fn first(&self) -> &'a RunTally {
        self.group.runs[0].tally
    }

    fn family(&self) -> FamilyOnText {
        let runs = &self.group.runs;
        let sizes = || runs.iter().map(|run| run.tally.non_embedding);
        let largest = runs.last().map(|run| run.tally);
        let counted = largest.and_then(words);
        let sum = |of: fn(&DocumentTally) -> u64| {
            largest.map_or(0, |run| run.documents.iter().map(of).sum())
        };
        FamilyOnText {
            family: self.fit.family.clone(),
            tokenizer: runs[0].tally.tokenizer_sha256.clone(),
            models: runs.len() as u32,
            range: (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0)),
            tokens: sum(|document| document.scored),
            bytes: sum(|document| document.bytes),
            words: counted.map(|(words, _)| words),
            words_left_out: counted.map(|(_, left_out)| left_out),
        }
    }
}

fn side_by_side(corpus: &str, members: &[Member<'_>], options: &FitOptions) -> AcrossTokenizers {
    let families: Vec<FamilyOnText> = members.iter().map(Member::family).collect();
    let size = common_size(&families);
    let law = |quantity: &Quantity| -> Vec<(&str, &Law)> {
        members
            .iter()
            .zip(&families)
            .filter_map(|(member, family)| Some((family.family.as_str(), member.law(quantity)?)))
            .collect()
    };
    let words = K.map(|k| Quantity::Words { k });
    let bytes = K.map(|k| Quantity::Bytes { k });
    let spans = K.map(|k| Quantity::Spans { k, words: SPAN });
    let wanted = words.into_iter().chain(bytes).chain(spans).chain([Quantity::BitsPerByte]);
    let quantities: Vec<AcrossFamilies> = wanted
        .filter_map(|quantity| {
            let families: Vec<FamilyValue> = law(&quantity)
                .into_iter()
                .filter_map(|(family, law)| value(family, law, size))
                .collect();
            let name = quantity.symbol().trim_start_matches("-ln ").to_owned();
            (families.len() > 1).then_some(AcrossFamilies { name, quantity, families })
        })
        .collect();
    let flags = flags(members, &families);
    let mut found = AcrossTokenizers {
        corpus: corpus.to_owned(),
        families,
        quantities,
        size,
        flags,
        verdict: String::new(),
    };
    found.verdict = verdict(&found, options.level);
    found
}

/// The middle of the sizes that all families span.
fn common_size(families: &[FamilyOnText]) -> Option<f64> {
    let low = families.iter().map(|family| family.range.0).max()?;
    let high = families.iter().map(|family| family.range.1).min()?;
    (low <= high).then(|| (low as f64 * high as f64).sqrt())
}

fn value(family: &str, law: &Law, size: Option<f64>) -> Option<FamilyValue> {
    let fit = law.fit()?;
    let share = law.quantity != Quantity::BitsPerByte;
    let seen = |value: f64| if share { (-value).exp() } else { value };
    let at = |x: f64| {
        // A larger -ln is a smaller share.
        let interval = fit.line_interval(x).map(|(low, high)| match share {
            true => (seen(high), seen(low)),
            false => (low, high),
        });
        let value = seen(fit.at(x));
        value.is_finite().then_some(TracePoint { x, value, interval })
    };
    Some(FamilyValue {
        family: family.to_owned(),
        exponent: fit.exponent.clone(),
        claimed: fit.claimed,
        at_size: size.and_then(at),
    })
}

/// What keeps the families from being measured on the same.
fn flags(members: &[Member<'_>], families: &[FamilyOnText]) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut differs = |code, what: &str, of: &dyn Fn(&Member<'_>) -> String| {
        let values: Vec<String> = members.iter().map(of).collect();
        if values.windows(2).any(|pair| pair[0] != pair[1]) {
            let each = families.iter().zip(values);
            let each: Vec<String> =
                each.map(|(family, value)| format!("{} {value}", family.family)).collect();
            flags.push(Flag::new(code, format!("{what}: {}", each.join("; "))));
        }
    };
    differs(
        FlagCode::MixedErrors,
        "the texts differ, so nothing is compared like with like",
        &|m| m.first().text_sha256.chars().take(12).collect(),
    );
    differs(FlagCode::WindowsDiffer, "windows are cut otherwise", &|member| {
        let protocol = &member.first().protocol;
        let parameters = protocol.parameters.iter();
        let parameters: Vec<String> =
            parameters.map(|(name, value)| format!("{name} {value}")).collect();
        format!("{} ({})", protocol.name, parameters.join(", "))
    });
    differs(FlagCode::UnlikeEvaluations, "equal logits count otherwise", &|member| {
        format!("{:?}", member.first().tie_rule)
    });
    differs(FlagCode::UnlikeEvaluations, "other documents were scored", &|member| {
        format!("{} documents", member.group.documents)
    });
    let words: Vec<u64> = families.iter().filter_map(|family| family.words).collect();
    if let (Some(&least), Some(&most)) = (words.iter().min(), words.iter().max())
        && (most - least) as f64 > AS_MANY * most as f64
    {
        let each: Vec<String> = families
            .iter()
            .filter_map(|family| Some(format!("{} {}", family.family, count(family.words?))))
            .collect();
        let message = format!(
            "the families were scored on other amounts of the text, in words: {}; a limit of tokens ends elsewhere in each \
             tokenizer",
            each.join(", ")
        );
        flags.push(Flag::new(FlagCode::UnlikeEvaluations, message));
    }
    flags
}

/// "On prose, RBP_1 of words of two families at S = 1.2e7, where both have models: a 0.412
/// [0.405, 0.419], b 0.398 [...]; bits per byte a 1.02, b 1.07."
fn verdict(found: &AcrossTokenizers, level: f64) -> String {
    let tokenizers: Vec<&str> =
        found.families.iter().map(|family| family.tokenizer.as_str()).collect();
    let same = tokenizers.windows(2).all(|pair| pair[0] == pair[1]);
    let whose = match same {
        true => "families of one tokenizer",
        false => "families of different tokenizers",
    };
    let several = format!("On {}, {} {whose}", found.corpus, found.families.len());
    let Some(size) = found.size else {
        return format!("{several} have no size in common, so only their laws stand side by side.");
    };
    let first = found.quantities.iter().find(|one| matches!(one.quantity, Quantity::Words { .. }));
    let first = first.or(found.quantities.first());
    let bits = found.quantities.iter().find(|one| one.quantity == Quantity::BitsPerByte);
    let bits = bits.filter(|bits| Some(bits.name.as_str()) != first.map(|one| one.name.as_str()));
    let told: Vec<String> = first
        .into_iter()
        .chain(bits)
        .map(|one| {
            let values: Vec<String> = one
                .families
                .iter()
                .filter_map(|family| {
                    let at = family.at_size?;
                    Some(format!("{} {}", family.family, digits::estimate(at.value, at.interval)))
                })
                .collect();
            format!("{}: {}", one.name, values.join(", "))
        })
        .collect();
    match told.is_empty() {
        true => format!("{several} have no law in common."),
        false => format!(
            "{several} at S = {}, in the middle of the sizes that all span, by their laws ({} % intervals of the lines): {}.",
            digits::number(size),
            100.0 * level,
            told.join("; ")
        ),
    }
}
