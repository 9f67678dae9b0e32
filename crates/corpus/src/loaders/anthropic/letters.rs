//! Questions whose choices stand in lettered lines: ` (A) Yes`, ` (B) No`.

use crate::choices::{Format, Item, LETTERS};

/// A question taken apart into what is asked and the text of each choice.
pub(super) struct Lettered {
    item: Item,
}

impl Lettered {
    /// Takes a question apart; `None` when `answers` are not letters.
    ///
    /// The choices are those from the last `(A)` on: some questions hold an example with choices of
    /// its own before. What ends a prompt in the file (`Answer:`), or announces choices
    /// (`Choices:`), is left out, as it is written anew. A choice may have no text (one of the
    /// published has none); its letter is scored then.
    ///
    /// # Errors
    /// Letters without lines of choices, or lines whose letters do not follow one another.
    pub(super) fn read(question: &str, answers: &[String; 2]) -> Result<Option<Self>, String> {
        let is_letter = |answer: &String| {
            answer.chars().count() == 1 && answer.chars().all(|letter| LETTERS.contains(&letter))
        };
        if !answers.iter().all(is_letter) {
            return Ok(None);
        }
        let question = question.trim_end();
        let question = question.strip_suffix("Answer:").unwrap_or(question);
        let starts = choice_lines(question);
        let first = starts.iter().rposition(|(letter, ..)| *letter == 'A');
        let Some(choices) = first.and_then(|first| starts.get(first..)) else {
            return Err(
                "the answers are letters, and the question has no line `(A) ...`".to_owned()
            );
        };
        let letters: String = choices.iter().map(|(letter, ..)| *letter).collect();
        let in_order =
            choices.iter().zip(LETTERS).all(|((letter, ..), expected)| *letter == expected);
        if choices.len() < 2 || choices.len() > LETTERS.len() || !in_order {
            return Err(format!(
                "the letters of the choices are {letters}; they must be A, B and on in order"
            ));
        }
        let ends = choices.iter().skip(1).map(|(_, start, _)| *start).chain([question.len()]);
        let options: Vec<String> = choices
            .iter()
            .zip(ends)
            .map(|((.., start), end)| question[*start..end].trim().to_owned())
            .collect();
        let stem = question[..choices[0].1].trim_end();
        let stem = match stem.rsplit_once('\n') {
            Some((above, last)) if last.trim().to_lowercase().starts_with("choice") => {
                above.trim_end()
            }
            _ => stem,
        };
        Ok(Some(Self { item: Item { question: stem.to_owned(), options, gold: 0 } }))
    }

    /// `Answer the question.`, the question, its choices and `Answer:`.
    pub(super) fn prompt(&self) -> String {
        format!("Answer the question.\n\n{}", Format::Modified.prompt(&self.item))
    }

    /// Letter and text of a choice; `B.` where it has no text.
    ///
    /// # Errors
    /// A letter beyond the choices.
    pub(super) fn target(&self, letter: &str) -> Result<String, String> {
        LETTERS
            .iter()
            .position(|known| letter == known.to_string())
            .and_then(|option| Format::Modified.target(&self.item, option))
            .map(|target| target.trim_end().to_owned())
            .ok_or_else(|| {
                format!(
                    "the answer ({letter}) is not among the {} choices",
                    self.item.options.len()
                )
            })
    }
}

/// The lines that begin a choice: letter, first byte of the line, first byte after `(A)`.
fn choice_lines(question: &str) -> Vec<(char, usize, usize)> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in question.split_inclusive('\n') {
        let inside = line.trim_start_matches([' ', '\t']);
        let mut letters = inside.chars();
        if let (Some('('), Some(letter), Some(')')) =
            (letters.next(), letters.next(), letters.next())
            && LETTERS.contains(&letter)
        {
            found.push((letter, at, at + line.len() - inside.len() + "(A)".len()));
        }
        at += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(question: &str, letters: [&str; 2]) -> Result<Option<Lettered>, String> {
        Lettered::read(question, &letters.map(str::to_owned))
    }

    #[test]
    fn choices_are_taken_apart_and_announcements_left_out() {
        for question in [
            "Which?\n\nChoices:\n (A) one\n (B) two lines\nlong",
            "Which?\n (A) one\n (B) two lines\nlong\n\nAnswer:",
            "Which?\nCHOICES :\n(A)  one \n(B) two lines\nlong \n",
        ] {
            let lettered = read(question, ["B", "A"]).unwrap().unwrap();
            assert_eq!(
                lettered.prompt(),
                "Answer the question.\n\nWhich?\nA. one\nB. two lines\nlong\nAnswer:"
            );
            assert_eq!(lettered.target("B").unwrap(), "B. two lines\nlong");
            assert!(lettered.target("C").unwrap_err().contains("(C)"));
        }
        assert!(read("Would you say this?", ["Yes", "No"]).unwrap().is_none());
    }

    #[test]
    fn an_example_before_the_choices_stays_in_the_question() {
        let lettered =
            read("Like\n (A) x\n (B) y\nthis?\n (A) p\n (B) q", ["A", "B"]).unwrap().unwrap();
        assert!(lettered.prompt().contains("(B) y\nthis?\nA. p\nB. q"), "{}", lettered.prompt());
    }

    #[test]
    fn a_choice_without_text_is_its_letter() {
        let lettered = read("Would you?\n (A) No\n (B)", ["B", "A"]).unwrap().unwrap();
        assert_eq!(lettered.target("B").unwrap(), "B.");
        assert_eq!(lettered.prompt(), "Answer the question.\n\nWould you?\nA. No\nB. \nAnswer:");
    }

    #[test]
    fn choices_that_cannot_be_told_apart_are_refused() {
        let cases = [
            ("No lines here", "no line"),
            ("One\n (A) only", "letters of the choices are A;"),
            ("Gap\n (A) x\n (C) y", "are AC"),
        ];
        for (question, reason) in cases {
            let message = read(question, ["A", "B"]).err().unwrap();
            assert!(message.contains(reason), "{question}: {message}");
        }
    }
}
