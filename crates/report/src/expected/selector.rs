//! Where in a result file a number stands, said by names instead of positions:
//! `groups[family=gpt2,corpus=wiki].rank_laws[quantity.k=1].outcome.exponent`.

use std::fmt;

use serde_json::Value;

/// A way through a result file: members by name, of arrays the one entry that has these values (or
/// the one at a position, from 0).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    At(usize),
    Where(Vec<Condition>),
}

/// A member of an entry, reached by names, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    members: Vec<String>,
    value: String,
}

impl Selector {
    /// Reads a way.
    ///
    /// # Errors
    /// In words, what it should look like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!(
                "`{text}` {what}; a place is written as groups[family=gpt2].rank_laws[quantity.k=1].outcome.exponent"
            )
        };
        let mut steps = Vec::new();
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(wrong("names no place"));
        }
        loop {
            let end = rest.find(['.', '[', ']']).unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            if name.trim().is_empty() {
                return Err(wrong("lacks a name"));
            }
            steps.push(Step::Member(name.trim().to_owned()));
            rest = behind;
            while let Some(inside) = rest.strip_prefix('[') {
                let (inside, behind) =
                    inside.split_once(']').ok_or_else(|| wrong("has a [ without a ]"))?;
                steps.push(bracket(inside).ok_or_else(|| wrong("has an empty [ ]"))?);
                rest = behind;
            }
            match rest.strip_prefix('.') {
                Some(more) => rest = more,
                None if rest.is_empty() => break,
                None => return Err(wrong("goes on after a ]")),
            }
        }
        Ok(Self { text: text.trim().to_owned(), steps })
    }

    /// What stands there, and its place as steps from the top of the file.
    ///
    /// # Errors
    /// In words, where the way ends.
    pub(super) fn find<'a>(&self, file: &'a Value) -> Result<(&'a Value, Vec<String>), String> {
        let mut here = file;
        let mut way = Vec::new();
        for step in &self.steps {
            let (next, name) = match step {
                Step::Member(name) => {
                    let there = here.get(name).ok_or_else(|| format!("there is no `{name}`"))?;
                    (there, name.clone())
                }
                Step::At(at) => {
                    let there = here.get(at).ok_or_else(|| format!("there is no entry {at}"))?;
                    (there, at.to_string())
                }
                Step::Where(conditions) => {
                    let at = only(here, conditions)?;
                    (&here[at], at.to_string())
                }
            };
            here = next;
            way.push(name);
        }
        Ok((here, way))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn bracket(inside: &str) -> Option<Step> {
    let inside = inside.trim();
    if let Ok(at) = inside.parse() {
        return Some(Step::At(at));
    }
    let condition = |text: &str| {
        let (members, value) = text.split_once('=')?;
        let members: Vec<String> = members.split('.').map(|name| name.trim().to_owned()).collect();
        let whole = members.iter().all(|name| !name.is_empty());
        whole.then(|| Condition { members, value: value.trim().to_owned() })
    };
    inside.split(',').map(condition).collect::<Option<Vec<_>>>().map(Step::Where)
}

/// The one entry that has the values.
fn only(array: &Value, conditions: &[Condition]) -> Result<usize, String> {
    let said = || conditions.iter().map(Condition::to_string).collect::<Vec<_>>().join(", ");
    let entries = array.as_array().ok_or_else(|| format!("no list to look for {} in", said()))?;
    let mut found =
        (0..entries.len()).filter(|at| conditions.iter().all(|one| one.holds(&entries[*at])));
    match (found.next(), found.next()) {
        (Some(at), None) => Ok(at),
        (Some(_), Some(_)) => Err(format!("more than one entry has {}", said())),
        (None, _) => Err(format!("no entry has {}", said())),
    }
}

impl Condition {
    fn holds(&self, entry: &Value) -> bool {
        let there = self.members.iter().try_fold(entry, |here, name| here.get(name));
        match there {
            Some(Value::String(text)) => *text == self.value,
            Some(Value::Number(number)) => match (number.as_f64(), self.value.parse::<f64>()) {
                (Some(one), Ok(other)) => one == other,
                _ => false,
            },
            Some(Value::Bool(flag)) => self.value == flag.to_string(),
            Some(Value::Null) | None => self.value == "null",
            Some(_) => false,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.members.join("."), self.value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn find(text: &str) -> Result<(Value, String), String> {
        let file = json!({
            "groups": [
                {"family": "gpt2", "laws": [{"q": {"k": 1}, "v": 0.5}, {"q": {"k": 10}, "v": 0.7}]},
                {"family": "pythia-1.4b", "laws": [], "none": null},
            ],
        });
        Selector::parse(text)?
            .find(&file)
            .map(|(value, way)| (value.clone(), format!("/{}", way.join("/"))))
    }

    #[test]
    fn entries_are_found_by_what_they_hold() {
        let (value, place) = find("groups[family=gpt2].laws[q.k=10].v").unwrap();
        assert_eq!((value, place.as_str()), (json!(0.7), "/groups/0/laws/1/v"));
        assert_eq!(find("groups[1].family").unwrap().0, json!("pythia-1.4b"));
        assert_eq!(
            find("groups[family=pythia-1.4b, none=null].family").unwrap().1,
            "/groups/1/family"
        );
    }

    #[test]
    fn what_is_not_there_is_told_by_name() {
        for (text, word) in [
            ("", "names no place"),
            ("groups[", "without a ]"),
            ("groups[]", "empty"),
            ("groups[0]x", "goes on"),
            ("groups..x", "lacks a name"),
            ("groups[family]", "empty"),
            ("laws", "no `laws`"),
            ("groups[7]", "no entry 7"),
            ("groups[family=opt]", "no entry has family=opt"),
            ("groups[0].laws[v.x=null]", "more than one"),
            ("groups[0].family[a=b]", "no list"),
        ] {
            let said = find(text).unwrap_err();
            assert!(said.contains(word), "{text}: {said}");
        }
    }
}
