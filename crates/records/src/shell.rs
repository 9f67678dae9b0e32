//! A path as one word of a command that somebody copies into a shell.

use std::ffi::OsStr;
use std::path::Path;

/// The word, plain where a shell takes it as it is, else in quotes; `$'...'` where it has control
/// characters or is not UTF-8.
///
/// ```
/// use relscale_records::shell::quoted;
/// assert_eq!(quoted("runs/a-1.0".as_ref()), "runs/a-1.0");
/// assert_eq!(quoted("my study".as_ref()), "'my study'");
/// assert_eq!(quoted("it's".as_ref()), r"'it'\''s'");
/// assert_eq!(quoted("-x".as_ref()), "./-x");
/// assert_eq!(quoted("a\u{1b}[2J".as_ref()), r"$'a\x1b[2J'");
/// ```
pub fn quoted(path: &Path) -> String {
    let text = word(path.as_os_str());
    // A path that begins with a hyphen would be an option.
    let option = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    if option { format!("./{text}") } else { text }
}

/// As [`quoted`], of any argument.
pub fn word(argument: &OsStr) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    match argument.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
        Some(text) if !text.chars().any(is_unseen) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => in_bytes(argument.as_encoded_bytes()),
    }
}

/// Characters that do not show, or change how others do: control characters, and those that turn
/// the direction of writing.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn in_bytes(bytes: &[u8]) -> String {
    let mut text = String::from("$'");
    for &byte in bytes {
        match byte {
            b'\'' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a shell makes of the word is the path.
    #[cfg(unix)]
    #[test]
    fn a_shell_gives_the_path_back() {
        use std::os::unix::ffi::OsStrExt;
        let awkward: [&[u8]; 10] = [
            b"plain",
            b"two words",
            b"it's",
            b"$HOME `x` \"q\" \\",
            b"*?[a]",
            b"~",
            b"a\nb\tc",
            b"\x1b[31m'x'",
            b"not \xff utf-8",
            b"",
        ];
        for bytes in awkward {
            let word = word(OsStr::from_bytes(bytes));
            let shell = std::process::Command::new("bash")
                .args(["-c", &format!("printf %s {word}")])
                .output();
            let Ok(shell) = shell else { return };
            assert_eq!(shell.stdout, bytes, "{word}");
        }
        assert_eq!(quoted(Path::new("-rf x")), "./'-rf x'");
    }

    #[test]
    fn what_does_not_show_is_written_out() {
        assert_eq!(quoted(Path::new("a\u{202e}b")), r"$'a\xe2\x80\xaeb'");
        assert_eq!(quoted(Path::new("日本")), "'日本'");
    }
}
