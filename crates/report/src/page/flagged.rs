//! A result as far as it leads to its flags: its JSON without what no flag needs, a small part of
//! it however many models it is of.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// Members that say what an object is about, and the parts of a flag.
const TEXTS: [&str; 10] = [
    "treatment",
    "distribution",
    "model",
    "form",
    "name",
    "column",
    "family",
    "corpus",
    "code",
    "message",
];

/// Likewise, as whole numbers.
const NUMBERS: [&str; 2] = ["length", "k"];

/// A value of JSON, or [`Nothing`](Self::Nothing) where no flag is below it and none needs it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Flagged {
    Members(Members),
    Entries(Vec<Flagged>),
    Text(String),
    Count(u64),
    Nothing,
}

/// The members of an object, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Members(pub(super) Vec<(String, Flagged)>);

impl Members {
    pub(super) fn get(&self, name: &str) -> Option<&Flagged> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, member)| member)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Flagged::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn count(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Flagged::Count(count) => Some(*count),
            _ => None,
        }
    }
}

impl Flagged {
    /// Of a result.
    ///
    /// # Errors
    /// A number that JSON does not have.
    pub(super) fn from_result(result: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::from_slice(&serde_json::to_vec(result)?)
    }

    /// Whether flags are below.
    fn leads(&self) -> bool {
        matches!(self, Self::Members(_) | Self::Entries(_))
    }
}

impl<'de> Deserialize<'de> for Flagged {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Named("").deserialize(from)
    }
}

/// Reads the member of this name; entries of a list have its name.
#[derive(Clone, Copy)]
struct Named<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Named<'_> {
    type Value = Flagged;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Flagged, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Named<'_> {
    type Value = Flagged;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Flagged, E> {
        Ok(Flagged::Nothing)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Flagged, E> {
        Ok(Flagged::Nothing)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Flagged, E> {
        Ok(Flagged::Nothing)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Flagged, E> {
        Ok(Flagged::Nothing)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Flagged, E> {
        let asked = NUMBERS.contains(&self.0);
        Ok(if asked { Flagged::Count(number) } else { Flagged::Nothing })
    }

    fn visit_str<E>(self, text: &str) -> Result<Flagged, E> {
        let asked = TEXTS.contains(&self.0);
        Ok(if asked { Flagged::Text(text.to_owned()) } else { Flagged::Nothing })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Flagged, A::Error> {
        let mut entries: Vec<Flagged> = Vec::new();
        // Places count: what leads nowhere is a hole between those that lead on.
        let mut holes = 0;
        while let Some(entry) = list.next_element_seed(self)? {
            if entry.leads() {
                entries.extend(std::iter::repeat_n(Flagged::Nothing, holes));
                entries.push(entry);
                holes = 0;
            } else {
                holes += 1;
            }
        }
        Ok(if entries.is_empty() { Flagged::Nothing } else { Flagged::Entries(entries) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Flagged, A::Error> {
        let mut members = Members::default();
        // A quantity says what its law is about, but by itself leads to no flag.
        let mut leads = self.0 == "flags" || self.0 == "quantity";
        while let Some(name) = object.next_key::<String>()? {
            let member = object.next_value_seed(Named(&name))?;
            leads |= member.leads() && name != "quantity";
            if member != Flagged::Nothing {
                members.0.push((name, member));
            }
        }
        Ok(if leads { Flagged::Members(members) } else { Flagged::Nothing })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_leads_to_no_flag_is_nothing() {
        let value = json!({
            "numbers": [1, 2.5, [3]], "flags": [], "law": {"name": "a", "points": [{"x": 1}]},
            "laws": [
                {"name": "b", "quantity": {"name": "rank", "k": 5}, "flags": []},
                {"quantity": {"name": "rank", "k": 7}, "unit": "nats",
                 "flags": [{"code": "outlier", "message": "far"}]},
            ],
        });
        let text = |text: &str| Flagged::Text(text.to_owned());
        let members = |members: &[(&str, Flagged)]| {
            let owned = members.iter().map(|(name, member)| ((*name).to_owned(), member.clone()));
            Flagged::Members(Members(owned.collect()))
        };
        let flag = members(&[("code", text("outlier")), ("message", text("far"))]);
        let quantity = members(&[("name", text("rank")), ("k", Flagged::Count(7))]);
        let law = members(&[("quantity", quantity), ("flags", Flagged::Entries(vec![flag]))]);
        let laws = Flagged::Entries(vec![Flagged::Nothing, law]);
        assert_eq!(Flagged::from_result(&value).unwrap(), members(&[("laws", laws)]));
    }
}
