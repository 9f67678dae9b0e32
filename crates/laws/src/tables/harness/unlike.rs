//! Whether the models of a law were evaluated alike: on as many questions, by one version of a
//! task, with the same options.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::result::{Flag, FlagCode};

/// Members of a task's configuration that say nothing of how it was asked, or that part laws.
const NO_OPTIONS: [&str; 5] = ["task", "task_alias", "metadata", "num_fewshot", "tag"];
/// Members of the whole evaluation that change what a model is asked, or how it answers.
const OPTIONS: [&str; 2] = ["gen_kwargs", "fewshot_seed"];
const BESIDE: [&str; 2] = ["fewshot_as_multiturn", "system_instruction"];
/// Characters of a value that are shown.
const SHOWN: usize = 40;

/// What decided a model's result, beside the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Evaluation {
    /// By name; values as they stand in the file. What is null or absent is not here.
    options: BTreeMap<String, String>,
    /// Questions that were asked, and those there are.
    samples: Option<(u64, u64)>,
}

impl Evaluation {
    /// How a task was evaluated, by the file of its result.
    pub(super) fn from_result(root: &Json, task: &str) -> Self {
        let mut options = BTreeMap::new();
        let mut add = |name: &str, value: &Json| {
            if !value.is_null() && value != &Json::Bool(false) && value != "" {
                options.insert(name.to_owned(), value.to_string());
            }
        };
        add("limit", &root["config"]["limit"]);
        add("version", &root["versions"][task]);
        for (name, value) in root["configs"][task].as_object().into_iter().flatten() {
            if !NO_OPTIONS.contains(&name.as_str()) {
                add(name, value);
            }
        }
        OPTIONS.iter().for_each(|name| add(name, &root["config"][*name]));
        BESIDE.iter().for_each(|name| add(name, &root[*name]));
        // Each model has a template of its own; whether there is one is a choice.
        add("chat template", &Json::Bool(root["chat_template"].is_string()));
        let samples = &root["n-samples"][task];
        let samples = samples["effective"].as_u64().zip(samples["original"].as_u64());
        Self { options, samples }
    }
}

/// A caution about a law's models that were not evaluated alike, or not on all questions.
pub(super) fn flag(models: &[(&str, &Evaluation)]) -> Option<Flag> {
    let mut told = Vec::new();
    let mut names: Vec<&String> = models.iter().flat_map(|(_, how)| how.options.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let mut by_value: BTreeMap<Option<&String>, Vec<&str>> = BTreeMap::new();
        for (model, how) in models {
            by_value.entry(how.options.get(name)).or_default().push(model);
        }
        if by_value.len() > 1 {
            told.push(differ(name, by_value));
        }
    }
    let few = models.iter().filter_map(|(model, how)| {
        let (asked, all) = how.samples?;
        (asked < all).then(|| format!("{model} {asked} of {all}"))
    });
    let few: Vec<String> = few.collect();
    if !few.is_empty() {
        told.push(format!("not all samples were asked: {}", few.join(", ")));
    } else if let Some(limit) = models.first().and_then(|(_, how)| how.options.get("limit")) {
        told.push(format!("`limit` is {limit}, so not all samples were asked"));
    }
    let counts = || models.iter().filter_map(|(_, how)| how.samples);
    if few.is_empty() && counts().any(|samples| Some(samples) != counts().next()) {
        let each: Vec<String> = models
            .iter()
            .filter_map(|(model, how)| Some(format!("{model} {}", how.samples?.0)))
            .collect();
        told.push(format!("samples differ in number: {}", each.join(", ")));
    }
    let message = || {
        format!(
            "these results were not had alike, so their law mixes what differs with size: {}; evaluate all models with the same settings, or leave \
             those out",
            told.join("; ")
        )
    };
    (!told.is_empty()).then(|| Flag::new(FlagCode::UnlikeEvaluations, message()))
}

/// One option that differs: those with a rare value by name.
fn differ(name: &str, by_value: BTreeMap<Option<&String>, Vec<&str>>) -> String {
    let mut values: Vec<(Option<&String>, Vec<&str>)> = by_value.into_iter().collect();
    values.sort_by_key(|(value, models)| (models.len(), *value));
    let last = values.len() - 1;
    let each = values.iter().enumerate().map(|(at, (value, models))| {
        let value = value.map_or_else(|| "not set".to_owned(), |value| shortened(value));
        let of = if at == last && models.len() > 1 {
            format!("{} others", models.len())
        } else {
            models.join(", ")
        };
        format!("{value} ({of})")
    });
    format!("`{name}` is {}", each.collect::<Vec<_>>().join(", "))
}

fn shortened(value: &str) -> String {
    match value.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &value[..at]),
        None => value.to_owned(),
    }
}
