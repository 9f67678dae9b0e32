//! What `relscale fit` says in words: verdicts, findings, doubts.

use relscale_laws::{Flag, GroupFit, StudyFit};

use crate::terminal;

/// Verdicts and doubts, in words. A doubt that several k share is told once, with the first one's figures.
pub(in crate::commands) fn notes(laws: &StudyFit) -> String {
    let mut lines = Vec::new();
    for group in &laws.groups {
        let title = format!("{} on {}: ", group.family, group.corpus);
        lines.push(format!("\n{}", terminal::paragraph("", &format!("{title}{}", group.verdict))));
        for (subject, verdict) in group.findings() {
            lines.push(terminal::paragraph(&format!("  {subject}: "), verdict));
        }
        lines.extend(group.flags.iter().map(|flag| terminal::paragraph("  note: ", &flag.message)));
        for (flag, of) in doubts(group) {
            lines.push(terminal::paragraph("  note: ", &format!("({of}) {}", flag.message)));
        }
    }
    lines.join("\n")
}

/// Each kind of doubt about a law of the group, the first of its kind, and which laws have it.
fn doubts(group: &GroupFit) -> Vec<(&Flag, String)> {
    let mut kinds: Vec<(&Flag, Vec<String>)> = Vec::new();
    for law in group.rank_laws.iter().chain([&group.cross_entropy_law]) {
        let name = law.k().map_or("CE".to_owned(), |k| k.to_string());
        for flag in &law.flags {
            match kinds.iter_mut().find(|(there, _)| there.code == flag.code) {
                Some((_, laws)) => laws.push(name.clone()),
                None => kinds.push((flag, vec![name.clone()])),
            }
        }
    }
    let of = |laws: Vec<String>| {
        let (entropy, k): (Vec<String>, Vec<String>) = laws.into_iter().partition(|name| name == "CE");
        let (k, figures) = match k.as_slice() {
            [] => (None, None),
            [one] => (Some(format!("k = {one}")), None),
            [first, .., last] => {
                let values = format!("{} values of k, {first} to {last}", k.len());
                (Some(values), Some(format!("; figures of k = {first}")))
            }
        };
        let names: Vec<String> = k.into_iter().chain(entropy).collect();
        names.join(", and ") + &figures.unwrap_or_default()
    };
    kinds.into_iter().map(|(flag, laws)| (flag, of(laws))).collect()
}
