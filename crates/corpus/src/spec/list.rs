//! Several `--corpus` values in one word, with commas between them.
//!
//! A comma is part of a value where the value is there with it: of a file's name, of a pattern that
//! matches; and in the keys behind a `?`, unless what follows it is a text by itself, or the value
//! makes no sense with it. Every other comma separates.

use std::path::Path;

use super::CorpusSpec;
use super::parse::taken_apart;
use crate::loaders::loader::Kind;
use crate::loaders::{KINDS, is_there};

/// The values in a word; one for a word without commas.
///
/// ```
/// use relscale_corpus::spec::separate;
/// assert_eq!(separate("crates:code,crates:docs"), ["crates:code", "crates:docs"]);
/// assert_eq!(separate("a?folders=variety,genre&limit=3"), ["a?folders=variety,genre&limit=3"]);
/// ```
pub fn separate(word: &str) -> Vec<String> {
    let pieces: Vec<&str> = word.split(',').collect();
    let (mut values, mut at) = (Vec::new(), 0);
    while at < pieces.len() {
        let upto = |end: usize| pieces[at..end].join(",");
        // The longest place that is there, else the shortest.
        let places = (at + 1..=pieces.len()).rev();
        let mut end = places.clone().find(|&end| stands(&upto(end))).unwrap_or(at + 1);
        while end < pieces.len() && goes_on(&upto(end), &pieces[end..]) {
            end += 1;
        }
        let value = upto(end);
        let value = if stands(&value) { &value } else { value.trim() };
        if !value.is_empty() {
            values.push(value.to_owned());
        }
        at = end;
    }
    // An empty word is refused where it is read.
    if values.is_empty() { vec![word.to_owned()] } else { values }
}

/// Whether a value names something by itself, with every comma of it in the place.
fn stands(value: &str) -> bool {
    let taken = taken_apart(value);
    let built_in =
        |kind: &&Kind| kind.built_in.is_some_and(|prefix| taken.place.starts_with(prefix));
    let named = KINDS.all.iter().any(built_in) || remote(&taken.place);
    !taken.query.contains(',')
        && (is_there(Path::new(&taken.place)) || (named && !taken.place.contains(',')))
}

/// Whether a place is files of elsewhere, of which nobody can say here whether they are there.
fn remote(place: &str) -> bool {
    place.contains("://")
}

/// Whether the comma between a value and the pieces after it is part of the value.
fn goes_on(value: &str, rest: &[&str]) -> bool {
    let taken = taken_apart(value);
    let begins = || (1..=rest.len()).any(|end| stands(rest[..end].join(",").trim_start()));
    if taken.query.is_empty() {
        return remote(&taken.place) && !rest[0].trim().is_empty() && !begins();
    }
    let last = taken.query.rsplit('&').next().unwrap_or_default();
    let key = last.split('=').next().unwrap_or_default();
    if KINDS.all.iter().any(|kind| kind.lists.contains(&key)) {
        // Names, not texts: those have dots, slashes or keys.
        let name = rest[0].split('&').next().unwrap_or_default();
        return !name.trim().is_empty() && !name.contains(['.', '/', '\\', '=', '?', ':', '*']);
    }
    let makes_sense = |value: &str| value.parse::<CorpusSpec>().is_ok();
    !begins() && (makes_sense(&format!("{value},{}", rest[0])) || !makes_sense(value))
}
