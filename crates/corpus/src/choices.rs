//! Multiple-choice items as scored documents: one document an option, the prompt as context, the
//! option as the scored span.
//!
//! | [`Format`] | prompt | scored strings |
//! |---|---|---|
//! | `standard` | question, lines `A. ...` to `D. ...`, `Answer:` | `A` / `B` / `C` / `D` |
//! | `text` | the same | the text of each option |
//! | `modified` | the same | letter and text: `A. ...` |
//! | `continuation` | `Question: ...`, `Answer:`; no options shown | the text of each option |
//!
//! Prompts are those of `mmlu` and `mmlu_continuation` in lm-evaluation-harness 0.4.13, `modified`
//! is the format of arXiv 2510.24626: the smooth loss of a text with the options in view.
//!
//! **What is scored.** The text of a document is prompt + joining space + option. The span begins
//! *at* the joining space, so that every token of the continuation counts, also where a tokenizer
//! gives the space a token of its own; that is the harness's sum of log-likelihoods. Bits per byte
//! divide by the bytes of the option *without* that space, which stand in the tag `span_bytes`.
//!
//! **Tags**: `item` (the same for all options of a question), `option` (its letter), `gold` (`true`
//! or `false`), `span_bytes`, `format`, and the loader's own.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::document::Document;

/// Letters of options, in order.
pub const LETTERS: [char; 8] = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];

/// A question with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The question, without the options.
    pub question: String,
    /// The options' texts, as they stand in the file; at most as many as [`LETTERS`].
    pub options: Vec<String>,
    /// Index of the right one.
    pub gold: usize,
}

/// How a question becomes a prompt, and which string of an option is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Options in the prompt, the letter scored.
    Standard,
    /// Options in the prompt, the option's text scored.
    Text,
    /// Options in the prompt, letter and text scored.
    #[default]
    Modified,
    /// No options in the prompt, the option's text scored.
    Continuation,
}

impl Format {
    /// All of them, in the order of the table above.
    pub const ALL: [Self; 4] = [Self::Standard, Self::Text, Self::Modified, Self::Continuation];

    /// Its name in `--corpus` values and in the tag `format`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Text => "text",
            Self::Modified => "modified",
            Self::Continuation => "continuation",
        }
    }

    /// The line that opens a prompt, `topic` in words.
    pub fn header(self, topic: &str) -> String {
        match self {
            Self::Continuation => {
                format!("The following are questions (with answers) about {topic}.\n\n")
            }
            _ => format!(
                "The following are multiple choice questions (with answers) about {topic}.\n\n"
            ),
        }
    }

    /// A question up to and with `Answer:`. White space around the question goes; options stay as
    /// they are.
    ///
    /// ```
    /// use relscale_corpus::choices::{Format, Item};
    /// let item = Item { question: "2 + 2?".into(), options: vec!["3".into(), "4".into()], gold: 1 };
    /// assert_eq!(Format::Modified.prompt(&item), "2 + 2?\nA. 3\nB. 4\nAnswer:");
    /// assert_eq!(Format::Modified.target(&item, 1).as_deref(), Some("B. 4"));
    /// assert_eq!(Format::Continuation.prompt(&item), "Question: 2 + 2?\nAnswer:");
    /// ```
    pub fn prompt(self, item: &Item) -> String {
        let question = item.question.trim();
        if self == Self::Continuation {
            return format!("Question: {question}\nAnswer:");
        }
        let options: String = LETTERS
            .iter()
            .zip(&item.options)
            .map(|(letter, text)| format!("{letter}. {text}\n"))
            .collect();
        format!("{question}\n{options}Answer:")
    }

    /// The scored string of an option; `None` beyond the last option.
    pub fn target(self, item: &Item, option: usize) -> Option<String> {
        let (letter, text) = (LETTERS.get(option)?, item.options.get(option)?);
        Some(match self {
            Self::Standard => letter.to_string(),
            Self::Text | Self::Continuation => text.clone(),
            Self::Modified => format!("{letter}. {text}"),
        })
    }

    /// A solved question for a prompt of several shots, with the empty line after it.
    pub fn shot(self, item: &Item) -> String {
        let answer = self.target(item, item.gold).unwrap_or_default();
        format!("{} {answer}\n\n", self.prompt(item))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| format!("format={name} is not {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// What all options of one item share.
#[derive(Debug, Clone)]
pub(crate) struct Prompted {
    /// Names the item; ids are `ITEM/OPTION`.
    pub(crate) item: String,
    /// The whole context.
    pub(crate) prompt: String,
    /// What stands between context and option: a space, or nothing.
    pub(crate) joint: &'static str,
    /// Tags of the loader.
    pub(crate) tags: BTreeMap<String, String>,
}

impl Prompted {
    /// The document of one option.
    pub(crate) fn option(&self, name: &str, scored: &str, gold: bool) -> Document {
        let text = [&self.prompt, self.joint, scored].concat();
        let mut tags = self.tags.clone();
        for (key, value) in [
            ("item", self.item.clone()),
            ("option", name.to_owned()),
            ("gold", gold.to_string()),
            ("span_bytes", scored.len().to_string()),
        ] {
            tags.insert(key.to_owned(), value);
        }
        let span = self.prompt.len()..text.len();
        Document { id: format!("{}/{name}", self.item), text, tags, ids: None, spans: vec![span] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> Item {
        Item {
            question: " Which? \n".into(),
            options: vec!["ab".into(), "a".into(), "é ".into()],
            gold: 2,
        }
    }

    #[test]
    fn formats_differ_in_prompt_and_target_as_the_table_says() {
        let item = item();
        let shown = "Which?\nA. ab\nB. a\nC. é \nAnswer:";
        let cases = [
            (Format::Standard, shown, "C"),
            (Format::Text, shown, "é "),
            (Format::Modified, shown, "C. é "),
            (Format::Continuation, "Question: Which?\nAnswer:", "é "),
        ];
        for (format, prompt, target) in cases {
            assert_eq!(format.prompt(&item), prompt);
            assert_eq!(format.target(&item, 2).unwrap(), target);
            assert_eq!(format.shot(&item), format!("{prompt} {target}\n\n"));
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert_eq!(Format::Text.target(&item, 3), None);
        assert!("letters".parse::<Format>().unwrap_err().contains("modified"));
    }

    #[test]
    fn the_span_holds_the_joining_space_and_its_bytes_do_not_count() {
        let prompted =
            Prompted { item: "q/1".into(), prompt: "p:".into(), joint: " ", tags: BTreeMap::new() };
        let document = prompted.option("C", "é ", true);
        assert_eq!((document.id.as_str(), document.text.as_str()), ("q/1/C", "p: é "));
        assert_eq!(&document.text[document.spans[0].clone()], " é ");
        assert_eq!(
            (document.tags["span_bytes"].as_str(), document.tags["gold"].as_str()),
            ("3", "true")
        );
        document.check_spans().unwrap();
    }
}
