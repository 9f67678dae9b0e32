//! ICE markup, and what is left of a text without it.
//!
//! | mark | what it becomes |
//! |---|---|
//! | `<ICE-SIN:S1A-001#12:1:A>`, `<#>`, `<$A>`, `<I>` | nothing: unit, speaker, subtext |
//! | `<,>`, `<,,>` | a comma after the word before (`pauses=drop`: nothing) |
//! | `<p>` | an empty line |
//! | `<mention> .. </mention>` | the words in quotation marks |
//! | `<O> <&> <unclear> <unc> <.> <-> <fnr> <marginalia> <del>` | go with their content |
//! | `<X> .. </X>` | the words stay (`extra=drop`: they go) |
//! | all others | the words stay |
//! | `&eacute;` | the character; a name that is not known stays |
//!
//! `<->` is what was said before a correction `<+>`, so corrected words stay. Content goes only
//! inside one text unit and from the last start of that mark: an end without a start is passed
//! over, and of a start without an end only the mark goes (`<X>` to the end of its unit). Marks may
//! have stray spaces (`< p>`), any case, or lack their `>`.

use super::entities;

/// What is kept of the markup's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stripping {
    /// Pauses become commas.
    pub pauses: bool,
    /// Words of speakers who do not belong to the corpus, and quotations, stay.
    pub extra: bool,
}

impl Default for Stripping {
    fn default() -> Self {
        Self { pauses: true, extra: true }
    }
}

/// Marks that go with what is between them.
const GO: [&str; 9] = ["o", "&", "unclear", "unc", ".", "-", "fnr", "marginalia", "del"];

/// A mark longer than this is none: a text may hold a bare `<`.
const LONGEST: usize = 80;

/// A text without its markup. `editing_codes`: words of ICE-East Africa that are codes go, too.
pub fn strip(text: &str, editing_codes: bool, stripping: Stripping) -> String {
    let mut out = Stripped {
        text: String::with_capacity(text.len()),
        open: Vec::new(),
        quote_opened: false,
        stripping,
    };
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        out.words(&rest[..at]);
        rest = &rest[at..];
        let taken = if rest.starts_with('&') { out.entity(rest) } else { out.mark(rest) };
        rest = &rest[taken..];
    }
    out.words(rest);
    out.end_of_unit();
    tidy(&out.text, editing_codes)
}

struct Stripped {
    text: String,
    /// Marks whose end would take content with it, and where they began in `text`.
    open: Vec<(String, usize)>,
    /// Whether the words to come follow a quotation mark that opened.
    quote_opened: bool,
    stripping: Stripping,
}

impl Stripped {
    /// Takes words. Where a mark stood between a space and a stop (`<it> sea </it>.`), the space
    /// was the mark's.
    fn words(&mut self, words: &str) {
        if words.starts_with([',', '.', ';', ':', '!', '?']) {
            self.drop_spaces();
        }
        let opened = std::mem::take(&mut self.quote_opened);
        self.text.push_str(if opened { words.trim_start_matches(' ') } else { words });
    }

    /// Spaces at the end go.
    fn drop_spaces(&mut self) {
        self.text.truncate(self.text.trim_end_matches([' ', '\t']).len());
    }

    /// Takes an entity; the number of bytes read.
    fn entity(&mut self, rest: &str) -> usize {
        let name = rest[1..].split_once(';').map(|(name, _)| name).filter(|name| name.len() < 20);
        match name.and_then(|name| Some((name, entities::character(name)?))) {
            Some((name, character)) => {
                self.text.push_str(&character);
                name.len() + 2
            }
            None => {
                self.text.push('&');
                1
            }
        }
    }

    /// Takes a mark; the number of bytes read.
    fn mark(&mut self, rest: &str) -> usize {
        let Some(mark) = Mark::read(rest) else {
            self.text.push('<');
            return 1;
        };
        let name = mark.name.as_str();
        let takes_content = GO.contains(&name) || (name == "x" && !self.stripping.extra);
        match (name, mark.end) {
            _ if mark.is_unit() => self.end_of_unit(),
            ("," | ",,", false) if self.stripping.pauses => {
                self.drop_spaces();
                self.text.push(',');
            }
            ("p", _) => self.text.push_str("\n\n"),
            ("mention", false) => {
                self.text.push('"');
                self.quote_opened = true;
            }
            ("mention", true) => {
                self.drop_spaces();
                self.text.push('"');
            }
            (_, false) if takes_content => self.open.push((name.to_owned(), self.text.len())),
            (_, true) if takes_content => {
                if let Some(last) = self.open.iter().rposition(|(open, _)| open == name) {
                    self.text.truncate(self.open[last].1);
                    self.open.truncate(last);
                }
            }
            _ => {}
        }
        mark.length
    }

    /// No content goes beyond a unit; that of an extra-corpus speaker ends with it.
    fn end_of_unit(&mut self) {
        if let Some((_, at)) = self.open.iter().find(|(open, _)| open == "x") {
            self.text.truncate(*at);
            self.text.push('\n');
        }
        self.open.clear();
    }
}

/// One mark: `</unclear>`, `<{1>`, `<ICE-SIN:S1A-001#1:1:A>`.
struct Mark {
    /// In lower case, without the slash, numbers of `{1` and `[1`, and what follows a space or `=`.
    name: String,
    end: bool,
    /// Bytes of the source.
    length: usize,
}

impl Mark {
    /// The mark at the beginning of `rest`; `None` where `<` begins none.
    fn read(rest: &str) -> Option<Self> {
        let inside = &rest[1..];
        let (inner, length) = match inside.find(['<', '>', '\n']) {
            Some(at) if inside[at..].starts_with('>') && at <= LONGEST => (&inside[..at], at + 2),
            // `</O` without its `>`: the name ends with the word.
            _ if inside.starts_with('/') => {
                let end = inside.find(char::is_whitespace).unwrap_or(inside.len()).min(LONGEST);
                (inside.get(..end)?, end + 1)
            }
            _ => return None,
        };
        let inner = inner.trim();
        let end = inner.starts_with('/');
        let name = inner.trim_start_matches('/').trim();
        let name = if name == "=" { name } else { name.split([' ', '=']).next()? };
        let name = match name.chars().next()? {
            // `3 < 4 and 5 > 2`: no mark is a number.
            first if first.is_ascii_digit() => return None,
            first @ ('{' | '[' | '}' | ']') => first.to_string(),
            _ => name.to_lowercase(),
        };
        Some(Self { name, end, length })
    }

    /// Whether a text unit begins here, or a subtext begins or ends.
    fn is_unit(&self) -> bool {
        self.name.starts_with("ice-") || self.name == "#" || self.name == "i"
    }
}

/// Lines without superfluous space, at most one empty line between them.
fn tidy(text: &str, editing_codes: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line
            .split_whitespace()
            .filter(|word| !(editing_codes && is_editing_code(word)))
            .collect();
        let empty = words.is_empty();
        if empty && lines.last().is_none_or(String::is_empty) {
            continue;
        }
        lines.push(words.join(" "));
    }
    lines.join("\n").trim().to_owned()
}

/// `BBBx`, `yRRR`, `IIIx`, `UUU`: the editors of ICE-East Africa wrote them as words.
fn is_editing_code(word: &str) -> bool {
    let begins = |with| {
        word.strip_prefix(with)
            .is_some_and(|rest: &str| rest.starts_with(|next: char| next.is_alphanumeric()))
    };
    // `III` alone is a number.
    ["BBB", "RRR", "III"].into_iter().any(begins)
        || (word.ends_with("RRR") && word != "RRR")
        || word == "UUU"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        strip(text, false, Stripping::default())
    }

    #[test]
    fn every_row_of_the_table() {
        let cases = [
            ("<I> <ICE-X:S1A-001#1:1:A> Hello <$B> <#> you </I>", "Hello you"),
            ("went <,> did you <,,> yes", "went, did you, yes"),
            ("one <p> two </p> <p> three", "one\n\ntwo\n\nthree"),
            ("word <mention>chai</mention> came", "word \"chai\" came"),
            ("word <mention> chai </mention> came", "word \"chai\" came"),
            ("Friday <O> laughter </O> then", "Friday then"),
            ("a <unclear> two words </unclear> b <.> ma </.> mangoes", "a b mangoes"),
            ("it <}> <-> was </-> <+> were </+> </}> late", "it were late"),
            ("<}> <-> to </-> <=> to wait </=> </}>", "to wait"),
            ("<{1> <[1> Oh no </[1> </{1>", "Oh no"),
            (
                "<w> it's </w> <@> Mister Green </@> <indig=Maori> kia ora </indig>",
                "it's Mister Green kia ora",
            ),
            ("see <fnr> 1 </fnr> the <X> Tickets please </X>", "see the Tickets please"),
            ("caf&eacute; &nosuch; R&D &ldquo;x&rdquo;", "café &nosuch; R&D “x”"),
            ("the <it> sea </it>, late <del> - </del>. So", "the sea, late. So"),
        ];
        for (marked, wanted) in cases {
            assert_eq!(plain(marked), wanted, "{marked}");
        }
    }

    #[test]
    fn irregular_markup_loses_no_more_than_itself() {
        let cases = [
            ("an end </unclear> alone", "an end alone"),
            ("a start <unclear> alone", "a start alone"),
            ("noise <O> cough </O and on", "noise and on"),
            ("twice <unc> x </unc> </unc> done", "twice done"),
            ("< p>para</ p> < h>Head</ h>", "para\n\nHead"),
            ("3 < 4 and 5 > 2", "3 < 4 and 5 > 2"),
            // A start in one unit and an end in another are no pair.
            ("<#> a <O> b <#> c </O> d", "a b c d"),
            ("<it>so</it>, <I>", "so,"),
            ("", ""),
        ];
        for (marked, wanted) in cases {
            assert_eq!(plain(marked), wanted, "{marked}");
        }
    }

    #[test]
    fn what_is_kept_can_be_chosen() {
        let marked = "<#> we <,> said <X> no one <#> yes <X> they </X> did";
        assert_eq!(plain(marked), "we, said no one yes they did");
        assert_eq!(
            strip(marked, false, Stripping { pauses: false, extra: false }),
            "we said\nyes did"
        );
        let coded = "the BBBcat dogRRR IIIsat UUU RRRx III III, down";
        assert_eq!(strip(coded, true, Stripping::default()), "the III III, down");
        assert_eq!(plain(coded), coded);
    }

    #[test]
    fn nothing_is_left_of_a_text_of_marks() {
        assert_eq!(plain("<I>\n<#> <O> music </O>\n</I>\n"), "");
    }
}
