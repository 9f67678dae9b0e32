//! Questions with options: which one a model prefers, how sure it is, and what the loss of the
//! right one is.
//!
//! Each option of an item was scored as a document of its own (tags `item`, `option`, `gold`,
//! `span_bytes`); here options meet again. Definitions are those of the relative law's paper (arXiv
//! 2510.24626) and its evaluation code, given in [`ChoiceMeasure`]; of a question about behaviour
//! the `gold` answer is the one that matches the behaviour, so that its choice probability is that
//! of the behaviour, `p_match / (p_match + p_not)`.
//!
//! | file | what |
//! |---|---|
//! | `items` | documents to items, with every check of their tags |
//! | `score` | one item under one model: all measures, for any choice of the gold |
//! | `panel` | one family on one corpus: measures of every item by every model |
//! | `mean` | means over items, groups and distributions, with items drawn again |
//! | `null` | the same with the gold shuffled over the items: what copying and a taste for letters give |
//! | `fit` | a study to a result: the entrance [`fit_choices`] |
//! | `csv` | means and options as tables, for other commands and other programs |
//! | `verdicts` | sentences with their numbers |
//!
//! Invariants: all models of a family are judged on the same items; an item that one of them cannot
//! be judged on is left out for all, and counted. Losses are means over groups of means over items,
//! accuracies are shares of all items. An item's options are drawn together.

mod csv;
mod fit;
mod items;
mod mean;
mod null;
mod panel;
mod score;
mod verdicts;

pub use crate::choice_measure::ChoiceMeasure;
pub use csv::{save_means, save_options};
pub use fit::{ChoicesOptions, ChoicesSource, fit_choices, options_of_items};
pub(crate) use items::Grouping;
pub(crate) use mean::{Draw, Means};
pub(crate) use panel::Panel;
