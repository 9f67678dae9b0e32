//! Rust code without comments.
//!
//! The text is cut by the compiler's own lexer, so a `//` inside a string stays, a nested
//! `/* /* */ */` goes as a whole, and code that would not compile is treated as the compiler's
//! lexer treats it.

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, strip_shebang, tokenize};

/// `source` without comments of any kind, doc comments included.
///
/// A line that held nothing but a comment goes with it; runs of blank lines become one; trailing
/// spaces go. Inside tokens (string literals above all) nothing is touched. The result ends with
/// one newline, or is empty.
///
/// ```
/// use relscale_corpus::loaders::crates::code::without_comments;
/// let source = "/// Where.\nfn f() -> &'static str {\n    // said\n\n\n    \"http://x\" // here\n}\n";
/// assert_eq!(without_comments(source), "fn f() -> &'static str {\n\n    \"http://x\"\n}\n");
/// ```
pub fn without_comments(source: &str) -> String {
    let start = strip_shebang(source).unwrap_or(0);
    let mut code = String::with_capacity(source.len());
    let mut gap = Gap::default();
    let mut at = start;
    for token in tokenize(&source[start..], FrontmatterAllowed::No) {
        let end = at + token.len as usize;
        let text = &source[at..end];
        match token.kind {
            TokenKind::Whitespace => gap.space(text),
            TokenKind::LineComment { .. } | TokenKind::BlockComment { .. } => gap.comment(),
            _ => {
                if !code.is_empty() {
                    gap.write(&mut code);
                }
                gap = Gap::default();
                code.push_str(text);
            }
        }
        at = end;
    }
    // A literal without its end holds the last newline already.
    if !code.is_empty() && !code.ends_with('\n') {
        code.push('\n');
    }
    code
}

/// What stands between two tokens of code: spaces, newlines, comments.
#[derive(Default)]
struct Gap {
    newlines: usize,
    /// An interior line without a comment: a blank line of the author's.
    blank_line: bool,
    comment_in_line: bool,
    any_comment: bool,
    /// Spaces since the last newline.
    tail: String,
}

impl Gap {
    fn space(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\n' => {
                    // The line now ended is an interior one unless it is the rest of the line of
                    // code before.
                    self.blank_line |= self.newlines > 0 && !self.comment_in_line;
                    self.newlines += 1;
                    self.comment_in_line = false;
                    self.tail.clear();
                }
                '\r' => {}
                other => self.tail.push(other),
            }
        }
    }

    fn comment(&mut self) {
        self.any_comment = true;
        self.comment_in_line = true;
    }

    fn write(&self, code: &mut String) {
        match (self.newlines, self.any_comment) {
            (0, false) => code.push_str(&self.tail),
            // `a/* */b` must not become `ab`.
            (0, true) => code.push(' '),
            _ => {
                code.push_str(if self.blank_line { "\n\n" } else { "\n" });
                if !self.comment_in_line {
                    code.push_str(&self.tail);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comment_signs_inside_literals_survive() {
        let code = "let a = \"// no\"; let b = r#\"/* \" no */\"#; let c = '/'; let d = b\"//\";\n";
        assert_eq!(without_comments(code), code);
    }

    #[test]
    fn every_kind_of_comment_goes() {
        let source = "#!/usr/bin/env run\n//! inner\n/*! inner */\n/** outer */\nfn/* a /* nested */ b */main() {} // end\n// tail";
        assert_eq!(without_comments(source), "fn main() {}\n");
    }

    #[test]
    fn blank_lines_of_the_author_collapse_and_literals_keep_theirs() {
        let source = "a;\n\n\n\nb;   \n// only a comment\nc;\r\n\r\n\r\nd = \"x\n\n\n y\";\n";
        assert_eq!(without_comments(source), "a;\n\nb;\nc;\n\nd = \"x\n\n\n y\";\n");
    }

    #[test]
    fn a_second_pass_changes_nothing() {
        let source = "/// doc\nmod m { /* x */ fn f() { /* y */ } }\n\n\n// z\nfn g() {\n    1 /* one */ + 2\n}\n";
        let once = without_comments(source);
        assert_eq!(without_comments(&once), once);
    }

    #[test]
    fn a_literal_without_its_end_gets_no_second_newline() {
        assert_eq!(without_comments("b = r#\"/* x\n"), "b = r#\"/* x\n");
        assert_eq!(without_comments("b = r#\"/* x"), "b = r#\"/* x\n");
    }

    #[test]
    fn a_file_of_comments_is_empty() {
        assert_eq!(without_comments("// a\n/* b */\n"), "");
    }
}
