//! Whether a crate's licence expression can be met with permissive licences alone.
//!
//! Source: SPDX licence expressions (annex D of the SPDX specification 2.3), and the older
//! `MIT/Apache-2.0` form, in which the slash means OR.

/// Licences under which text may be read, tokenised and trained on with no more than a notice kept.
const PERMISSIVE: [&str; 13] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
    "ISC",
    "Zlib",
    "BSL-1.0",
    "CC0-1.0",
    "Unlicense",
    "Unicode-3.0",
];

/// True if `expression` can be satisfied by permissive licences; an unknown name or a malformed
/// expression is not.
///
/// ```
/// use relscale_corpus::loaders::crates::licence::is_permissive;
/// assert!(is_permissive("MIT/Apache-2.0"));
/// assert!(is_permissive("MIT OR Apache-2.0 OR LGPL-2.1-or-later"));
/// assert!(!is_permissive("(MIT OR Apache-2.0) AND MPL-2.0"));
/// assert!(!is_permissive(""));
/// ```
pub fn is_permissive(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    any_of(&words, &mut at) == Some(true) && at == words.len()
}

/// `all_of (OR all_of)*`; `None` for a malformed expression.
fn any_of(words: &[&str], at: &mut usize) -> Option<bool> {
    let mut met = all_of(words, at)?;
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all_of(words, at)?;
    }
    Some(met)
}

/// `one (AND one)*`: AND binds tighter than OR.
fn all_of(words: &[&str], at: &mut usize) -> Option<bool> {
    let mut met = one(words, at)?;
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at)?;
    }
    Some(met)
}

/// `( any_of )`, or a licence name with an optional exception.
fn one(words: &[&str], at: &mut usize) -> Option<bool> {
    let word = *words.get(*at)?;
    *at += 1;
    match word {
        "(" => {
            let met = any_of(words, at)?;
            (words.get(*at) == Some(&")")).then(|| *at += 1)?;
            Some(met)
        }
        ")" | "OR" | "AND" | "WITH" => None,
        name if words.get(*at) == Some(&"WITH") => {
            let exception = words.get(*at + 1)?;
            *at += 2;
            Some(PERMISSIVE.contains(&format!("{name} WITH {exception}").as_str()))
        }
        name => Some(PERMISSIVE.contains(&name)),
    }
}

#[cfg(test)]
mod tests {
    use super::is_permissive;

    #[test]
    fn expressions_seen_in_real_lock_files() {
        let cases = [
            ("MIT", true),
            ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 / MIT", true),
            ("BSD-3-Clause AND BSD-2-Clause", true),
            ("MPL-2.0", false),
            ("GPL-3.0-only OR MPL-2.0", false),
            ("MIT AND GPL-3.0-only", false),
            ("MIT OR", false),
            ("MIT MIT", false),
            ("(MIT", false),
            ("Apache-2.0 WITH", false),
        ];
        for (expression, expected) in cases {
            assert_eq!(is_permissive(expression), expected, "{expression}");
        }
    }
}
