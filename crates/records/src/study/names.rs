//! Names of models and corpora as names of folders.

use crate::provenance::sha256_bytes;

/// Longest name kept; two names, a key and the separators stay far below the 255 bytes of common
/// file systems.
const LONGEST: usize = 80;

/// A name that every file system takes, different for different names.
///
/// ASCII letters, digits, `.`, `_` and `-` stay, all else becomes `_`. Where that, a leading dot or
/// the length changed anything, six digits of the name's hash keep it apart from others that would
/// become the same.
///
/// ```
/// use relscale_records::study::safe_name;
/// assert_eq!(safe_name("pythia-70m"), "pythia-70m");
/// assert!(safe_name("EleutherAI/pythia").starts_with("EleutherAI_pythia-"));
/// assert_ne!(safe_name("a/b"), safe_name("a:b"));
/// ```
pub fn safe_name(name: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let mut safe: String = name.chars().map(|c| if keep(c) { c } else { '_' }).collect();
    if safe.starts_with('.') {
        safe.replace_range(..1, "_");
    }
    safe.truncate(LONGEST);
    // Windows drops trailing dots, and refuses device names; a suffix cures both.
    let device = ["con", "prn", "aux", "nul"].contains(&safe.to_ascii_lowercase().as_str());
    if safe != name || safe.is_empty() || safe.ends_with('.') || device {
        let hash = sha256_bytes(name.as_bytes());
        safe = format!("{safe}-{}", hash.get(..6).unwrap_or(&hash));
    }
    safe
}

/// Whether a name that was read is one of a file or folder beside the file that names it: it leads
/// nowhere else, on no system.
///
/// ```
/// use relscale_records::study::is_plain_name;
/// assert!(is_plain_name("pythia-70m--wiki--0123456789ab") && is_plain_name("1e12 d16"));
/// assert!(!is_plain_name("../../x") && !is_plain_name("a/b") && !is_plain_name("..") && !is_plain_name(""));
/// ```
pub fn is_plain_name(name: &str) -> bool {
    let odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    !(name.is_empty() || name == "." || name == ".." || name.contains(odd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awkward_names_become_distinct_plain_ones() {
        let awkward =
            ["", ".", "..", "a/b", "a\\b", "a b", "日本", "日木", "nul", "NUL", "x.", "../../etc"];
        let mut safe: Vec<String> = awkward.iter().map(|name| safe_name(name)).collect();
        for name in &safe {
            assert!(
                name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)),
                "{name}"
            );
            assert!(!name.starts_with('.') && !name.ends_with('.') && !name.is_empty(), "{name}");
        }
        safe.sort();
        safe.dedup();
        assert_eq!(safe.len(), awkward.len());
    }

    #[test]
    fn safe_names_are_plain_and_paths_are_not() {
        for name in ["", "a/b", "..", "x", "C:\\x", "a\nb"] {
            assert!(is_plain_name(&safe_name(name)), "{name}");
        }
        for name in ["/", "/etc", "a/..", "..\\x", "C:x", "a\0b", "a\nb", "."] {
            assert!(!is_plain_name(name), "{name:?}");
        }
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let (a, b) = ("x".repeat(300), "x".repeat(301));
        assert!(safe_name(&a).len() < 100);
        assert_ne!(safe_name(&a), safe_name(&b));
    }
}
