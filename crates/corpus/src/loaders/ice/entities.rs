//! Special characters by name: `&eacute;`, `&ldquo;`, `&pound-sign;`.

/// Names that are no letter with an accent.
const NAMES: [(&str, &str); 46] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("ldquo", "\u{201C}"),
    ("ldquuo", "\u{201C}"),
    ("rdquo", "\u{201D}"),
    ("lsquo", "\u{2018}"),
    ("rsquo", "\u{2019}"),
    ("bquo", "\u{201C}"),
    ("equo", "\u{201D}"),
    ("dash", "\u{2014}"),
    ("long-dash", "\u{2014}"),
    ("mdash", "\u{2014}"),
    ("ndash", "\u{2013}"),
    ("hyphen", "-"),
    ("hellip", "\u{2026}"),
    ("dotted-line", "\u{2026}"),
    ("bullet", "\u{2022}"),
    ("square", "\u{25A1}"),
    ("obrack", "("),
    ("cbrack", ")"),
    ("crback", ")"),
    ("lsqb", "["),
    ("rsqb", "]"),
    ("ampersand", "&"),
    ("percent", "%"),
    ("percent-sign", "%"),
    ("pound", "\u{A3}"),
    ("pound-sign", "\u{A3}"),
    ("dollar", "$"),
    ("dollar-sign", "$"),
    ("cent", "\u{A2}"),
    ("yen", "\u{A5}"),
    ("euro", "\u{20AC}"),
    ("degree", "\u{B0}"),
    ("deg", "\u{B0}"),
    ("half", "\u{BD}"),
    ("frac12", "\u{BD}"),
    ("quarter", "\u{BC}"),
    ("times", "\u{D7}"),
    ("plus", "+"),
    ("szlig", "\u{DF}"),
    ("ae", "\u{E6}"),
];

/// Endings of the names of accented letters, and the combining character that each is.
const ACCENTS: [(&str, char); 7] = [
    ("grave", '\u{300}'),
    ("acute", '\u{301}'),
    ("circ", '\u{302}'),
    ("tilde", '\u{303}'),
    ("uml", '\u{308}'),
    ("ring", '\u{30A}'),
    ("cedil", '\u{327}'),
];

/// Letters with an accent that have a character of their own, in the order letter, accent,
/// composed.
const COMPOSED: &str = "a\u{300}à a\u{301}á a\u{302}â a\u{303}ã a\u{308}ä a\u{30A}å c\u{327}ç e\u{300}è e\u{301}é e\u{302}ê e\u{308}ë \
                        i\u{300}ì i\u{301}í i\u{302}î i\u{308}ï n\u{303}ñ o\u{300}ò o\u{301}ó o\u{302}ô o\u{303}õ o\u{308}ö u\u{300}ù \
                        u\u{301}ú u\u{302}û u\u{308}ü y\u{301}ý y\u{308}ÿ A\u{300}À A\u{301}Á A\u{302}Â A\u{303}Ã A\u{308}Ä A\u{30A}Å \
                        C\u{327}Ç E\u{300}È E\u{301}É E\u{302}Ê E\u{308}Ë I\u{301}Í N\u{303}Ñ O\u{301}Ó O\u{302}Ô O\u{308}Ö U\u{301}Ú U\u{308}Ü";

/// The character of a name, without `&` and `;`. `None`: not known, so the text keeps the name as
/// it stands.
pub(super) fn character(name: &str) -> Option<String> {
    if let Some((_, character)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some((*character).to_owned());
    }
    let letter = name.chars().next().filter(char::is_ascii_alphabetic)?;
    let (_, accent) = ACCENTS.iter().find(|(ending, _)| *ending == &name[1..])?;
    let pair = [letter, *accent];
    COMPOSED.split_whitespace().find_map(|entry| {
        let mut characters = entry.chars();
        let same = pair.iter().all(|wanted| characters.next() == Some(*wanted));
        same.then(|| characters.collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_accents() {
        let found = |name: &str| character(name).unwrap_or_default();
        let cases = [
            ("eacute", "é"),
            ("Uuml", "Ü"),
            ("ccedil", "ç"),
            ("ntilde", "ñ"),
            ("pound-sign", "£"),
            ("ldquuo", "“"),
        ];
        for (name, wanted) in cases {
            assert_eq!(found(name), wanted, "{name}");
        }
        for unknown in ["xacute", "eacut", "", "é", "nosuch"] {
            assert_eq!(character(unknown), None, "{unknown}");
        }
    }
}
