//! The prose of doc comments.
//!
//! Code examples (fenced blocks) are left out: they are Rust, which the distribution *code*
//! measures already, and a third of the doc comments in common crates is examples, so keeping them
//! would make two of the three distributions overlap.

use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, strip_shebang, tokenize};

/// The text of `///`, `//!`, `/** */` and `/*! */` in `source`, without markers and without fenced
/// code.
///
/// Adjacent line comments form one block; blocks are separated by one blank line. One leading space
/// of each line goes, further ones stay (they are Markdown's lists). The result ends with one
/// newline, or is empty.
///
/// ```
/// use relscale_corpus::loaders::crates::prose::doc_comments;
/// let source = "//! A crate.\n\n/// Adds one.\n///\n/// ```\n/// f(1);\n/// ```\n/// Never fails.\nfn f() {} // said\n";
/// assert_eq!(doc_comments(source), "A crate.\n\nAdds one.\n\nNever fails.\n");
/// ```
pub fn doc_comments(source: &str) -> String {
    let mut prose = String::new();
    for block in blocks(source) {
        let text = tidy(&block);
        if text.is_empty() {
            continue;
        }
        if !prose.is_empty() {
            prose.push_str("\n\n");
        }
        prose.push_str(&text);
    }
    if !prose.is_empty() {
        prose.push('\n');
    }
    prose
}

/// The doc comments of a file as blocks of lines, markers and one leading space removed.
fn blocks(source: &str) -> Vec<Vec<String>> {
    let start = strip_shebang(source).unwrap_or(0);
    let mut blocks: Vec<Vec<String>> = Vec::new();
    let mut open: Option<Vec<String>> = None;
    let mut at = start;
    for token in tokenize(&source[start..], FrontmatterAllowed::No) {
        let end = at + token.len as usize;
        let text = &source[at..end];
        at = end;
        match token.kind {
            TokenKind::LineComment { doc_style: Some(_) } => {
                open.get_or_insert_default().push(unindent(&text[3..]).trim_end().to_owned());
            }
            TokenKind::BlockComment { doc_style: Some(_), terminated } => {
                blocks.extend(open.take());
                let body = &text[3..text.len() - if terminated { 2 } else { 0 }];
                blocks.push(body.lines().map(|line| unstar(line).trim_end().to_owned()).collect());
            }
            // One newline between two `///` lines is the usual case; an empty line ends the block.
            TokenKind::Whitespace if text.matches('\n').count() < 2 => {}
            _ => blocks.extend(open.take()),
        }
    }
    blocks.extend(open);
    blocks
}

fn unindent(line: &str) -> &str {
    line.strip_prefix(' ').unwrap_or(line)
}

/// A line of a block comment without the decorative ` * ` that many styles put before it.
fn unstar(line: &str) -> &str {
    match line.trim_start().strip_prefix('*') {
        Some(rest) if rest.is_empty() || rest.starts_with(' ') => unindent(rest),
        _ => unindent(line),
    }
}

/// The lines outside fenced code, runs of blank lines made one, none at either end.
fn tidy(lines: &[String]) -> String {
    let mut text = String::new();
    let mut fence: Option<(char, usize)> = None;
    let mut blank = false;
    for line in lines {
        let mark = fence_mark(line);
        match (fence, mark) {
            (None, Some(opened)) => {
                fence = Some(opened);
                blank = true;
                continue;
            }
            (Some((sign, length)), Some((s, l))) if s == sign && l >= length => {
                fence = None;
                continue;
            }
            (Some(_), _) => continue,
            (None, None) => {}
        }
        if line.trim().is_empty() {
            blank = true;
            continue;
        }
        if !text.is_empty() {
            text.push_str(if blank { "\n\n" } else { "\n" });
        }
        blank = false;
        text.push_str(line);
    }
    text
}

/// The sign and length of a code fence (CommonMark 4.5), if the line is one.
fn fence_mark(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == sign).count();
    // "```inline```" on one line is a code span, not a fence.
    (length >= 3 && !(sign == '`' && line[length..].contains('`'))).then_some((sign, length))
}

#[cfg(test)]
mod tests {
    use super::doc_comments;

    #[test]
    fn all_four_forms() {
        let source =
            "//! one\n/*! two\n * three\n * * item\n */\n/** four */\n/// five\nfn f() {}\n";
        assert_eq!(doc_comments(source), "one\n\ntwo\nthree\n* item\n\nfour\n\nfive\n");
    }

    #[test]
    fn plain_comments_and_strings_are_not_docs() {
        assert_eq!(doc_comments("// a\n//// b\n/* c */ /*** d */ let s = \"/// e\";"), "");
    }

    #[test]
    fn fences_of_both_signs_and_longer_ones_go() {
        let source = "/// a\n/// ````\n/// ```\n/// x\n/// ````\n/// b\n/// ~~~text\n/// y\n/// ~~~\n/// ```c``` d\nfn f();";
        assert_eq!(doc_comments(source), "a\n\nb\n\n```c``` d\n");
    }

    #[test]
    fn indentation_beyond_one_space_stays() {
        assert_eq!(doc_comments("/// * a\n///   b\n///c\n"), "* a\n  b\nc\n");
    }
}
