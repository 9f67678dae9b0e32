//! JSON whose outline is indented and whose depths stand in one line each.
//!
//! Results of many models are mostly deep arrays of numbers (an audit has a member for every pair
//! of models). Indented, a number has a line of its own and more white space than digits: half of
//! the file of 40 models. In one line each, such a member can be read too, and found by `grep`.

use std::io::{self, Write};

use serde_json::ser::{Formatter, PrettyFormatter};

/// Levels that are indented: of `laws.json` down to the members of a law's `outcome`.
const LEVELS: u32 = 6;

/// The layout.
#[derive(Default)]
pub(super) struct Outlined {
    pretty: PrettyFormatter<'static>,
    depth: u32,
}

impl Outlined {
    fn is_flat(&self) -> bool {
        self.depth > LEVELS
    }
}

impl Formatter for Outlined {
    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if self.is_flat() {
            after(writer, first)
        } else {
            self.pretty.begin_array_value(writer, first)
        }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.is_flat() { Ok(()) } else { self.pretty.end_array_value(writer) }
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if self.is_flat() {
            after(writer, first)
        } else {
            self.pretty.begin_object_key(writer, first)
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.is_flat() { Ok(()) } else { self.pretty.end_object_value(writer) }
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.is_flat() { writer.write_all(b"[") } else { self.pretty.begin_array(writer) }
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let ended =
            if self.is_flat() { writer.write_all(b"]") } else { self.pretty.end_array(writer) };
        self.depth -= 1;
        ended
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.is_flat() { writer.write_all(b"{") } else { self.pretty.begin_object(writer) }
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let ended =
            if self.is_flat() { writer.write_all(b"}") } else { self.pretty.end_object(writer) };
        self.depth -= 1;
        ended
    }
}

/// What stands between the members of a line.
fn after<W: ?Sized + Write>(writer: &mut W, first: bool) -> io::Result<()> {
    if first { Ok(()) } else { writer.write_all(b", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;
    use serde_json::{Value, json};

    fn laid_out(value: &Value) -> String {
        let mut text = Vec::new();
        value
            .serialize(&mut serde_json::Serializer::with_formatter(&mut text, Outlined::default()))
            .unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn depths_stand_in_lines_and_the_values_are_the_same() {
        let deep = json!({ "a": [1, { "b": [] }, {}], "c": "x\ny" });
        let value =
            json!({ "1": [{ "3": [{ "5": { "6": [deep, 2.5], "e": [], "f": {} } }] }], "n": null });
        let text = laid_out(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert_eq!(text.matches('\n').count(), 15, "{text}");
        assert!(
            text.contains(
                "\n            \"6\": [{\"a\": [1, {\"b\": []}, {}], \"c\": \"x\\ny\"}, 2.5],\n"
            ),
            "{text}"
        );
        let outline = json!({ "a": [1, 2], "b": { "c": [] } });
        assert_eq!(laid_out(&outline), serde_json::to_string_pretty(&outline).unwrap());
    }
}
