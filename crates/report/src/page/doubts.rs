//! Every doubt of the fit, in words: flags of groups and laws, and the points that were left out.

use relscale_laws::{Flag, FlagCode, Quantity, StudyFit};
use serde::Serialize;

use crate::format;

/// All doubts of a study.
#[derive(Debug, Serialize)]
pub(super) struct Doubts {
    groups: Vec<GroupDoubts>,
    /// Whether there is any at all.
    any: bool,
}

/// Those of one family on one corpus.
#[derive(Debug, Serialize)]
struct GroupDoubts {
    family: String,
    corpus: String,
    /// About the measurement as a whole.
    whole: Vec<Doubt>,
    /// About single laws.
    laws: Vec<Doubt>,
    left_out: Vec<LeftOut>,
}

/// A kind of doubt, and the laws that it is about.
#[derive(Debug, Serialize)]
struct Doubt {
    kind: &'static str,
    /// `k = 1, 2 and CE`; empty for a doubt about the whole.
    laws: String,
    /// In words, with the numbers of the first of these laws.
    message: String,
    /// The same for the other laws, where their words or numbers differ: `k = 2: ...`.
    others: Vec<String>,
}

/// A point that is in no fit.
#[derive(Debug, Serialize)]
struct LeftOut {
    quantity: String,
    model: String,
    parameters: String,
    reason: String,
}

impl Doubts {
    pub(super) fn of(study: &StudyFit) -> Self {
        let groups: Vec<GroupDoubts> = study.groups.iter().map(GroupDoubts::of).collect();
        let any = groups
            .iter()
            .any(|group| !(group.whole.is_empty() && group.laws.is_empty() && group.left_out.is_empty()));
        Self { groups, any }
    }
}

impl GroupDoubts {
    fn of(group: &relscale_laws::GroupFit) -> Self {
        let laws = || group.rank_laws.iter().chain([&group.cross_entropy_law]);
        // Laws at many k often share a kind of doubt: said once, with all of them.
        let mut kinds: Vec<(FlagCode, Vec<(&Quantity, &Flag)>)> = Vec::new();
        for law in laws() {
            for flag in &law.flags {
                let entry = (&law.quantity, flag);
                match kinds.iter_mut().find(|(code, _)| *code == flag.code) {
                    Some((_, entries)) => entries.push(entry),
                    None => kinds.push((flag.code, vec![entry])),
                }
            }
        }
        Self {
            family: group.family.clone(),
            corpus: group.corpus.clone(),
            whole: group.flags.iter().map(Doubt::of_whole).collect(),
            laws: kinds.iter().filter_map(|(_, entries)| Doubt::of_laws(entries)).collect(),
            left_out: laws()
                .flat_map(|law| law.left_out.iter().map(|left| (law.quantity.symbol(), left)))
                .map(|(quantity, left)| LeftOut {
                    quantity,
                    model: left.model.clone(),
                    parameters: format::count(left.parameters),
                    reason: left.reason.clone(),
                })
                .collect(),
        }
    }
}

impl Doubt {
    fn of_whole(flag: &Flag) -> Self {
        let message = flag.message.clone();
        Self { kind: kind(flag.code), laws: String::new(), message, others: Vec::new() }
    }

    /// One kind of doubt about some laws; `None` where there are none.
    fn of_laws(entries: &[(&Quantity, &Flag)]) -> Option<Self> {
        let (_, first) = entries.first()?;
        let mut ks: Vec<String> = entries
            .iter()
            .filter_map(|(quantity, _)| match quantity {
                Quantity::Rank { k } => Some(format::count(u64::from(*k))),
                _ => None,
            })
            .collect();
        if let Some(first) = ks.first_mut() {
            first.insert_str(0, "k = ");
        }
        let mut laws = vec![ks.join(", ")];
        if entries.iter().any(|(quantity, _)| matches!(quantity, Quantity::CrossEntropy)) {
            laws.push("CE".to_owned());
        }
        laws.retain(|text| !text.is_empty());
        Some(Self {
            kind: kind(first.code),
            laws: format::list(&laws),
            message: first.message.clone(),
            others: entries
                .iter()
                .filter(|(_, flag)| flag.message != first.message)
                .map(|(quantity, flag)| format!("{}: {}", quantity.symbol(), flag.message))
                .collect(),
        })
    }
}

/// The kind of a doubt in a few words.
fn kind(code: FlagCode) -> &'static str {
    match code {
        FlagCode::FewMisses => "too few misses",
        FlagCode::FewHits => "too few hits",
        FlagCode::LostResamples => "misses in few documents",
        FlagCode::PointsLeftOut => "points left out",
        FlagCode::NoInterval => "no interval",
        FlagCode::NotFalling => "not falling",
        FlagCode::SameSize => "models of one size",
        FlagCode::NonFinite => "non-finite logits",
        FlagCode::FewDocuments => "few documents",
        FlagCode::FewTokens => "few tokens",
        FlagCode::VocabularyDiffers => "vocabularies differ",
        FlagCode::WindowsDiffer => "windows differ",
        FlagCode::ScatterBeyondNoise => "scatter beyond noise",
        FlagCode::Outlier => "outlier",
        // A kind that is newer than this page: its message stands.
        _ => "note",
    }
}
