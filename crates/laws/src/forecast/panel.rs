//! Models, features and tasks side by side.

use std::collections::BTreeMap;

use super::Features;
use super::targets::Targets;
use crate::error::LawsError;
use crate::result::{FeatureKind, Flag, FlagCode, ForecastFeature, ForecastModel, ForecastTask};

/// Models below which nothing can be held out.
const FEWEST: usize = 5;

/// What a forecaster may see, and what it may not.
pub(super) struct Panel {
    pub(super) features: Vec<ForecastFeature>,
    /// Smallest x first.
    pub(super) models: Vec<ForecastModel>,
    pub(super) tasks: Vec<ForecastTask>,
}

impl Panel {
    /// Joins features and accuracies by the models' names, an owner (`EleutherAI/`) aside.
    ///
    /// # Errors
    /// No loss among the features; fewer than five models that have features and accuracies.
    pub(super) fn new(
        features: &Features,
        targets: &Targets,
    ) -> Result<(Self, Vec<Flag>), LawsError> {
        if !features.features.iter().any(|feature| feature.kind == FeatureKind::Loss) {
            let names: Vec<&str> =
                features.features.iter().map(|feature| feature.name.as_str()).collect();
            let expected = "at least one loss, with which ranks are compared";
            return Err(LawsError::Option { option: "feature", value: names.join(", "), expected });
        }
        let by_name = |models: &BTreeMap<String, f64>, name: &str| {
            let exact = models.get(name).copied();
            exact.or_else(|| {
                let mut alike =
                    models.iter().filter(|(other, _)| without_owner(other) == without_owner(name));
                alike.next().map(|(_, accuracy)| *accuracy)
            })
        };
        let has_any = |model: &&ForecastModel| {
            targets.tasks.values().any(|models| by_name(models, &model.model).is_some())
        };
        let (there, silent): (Vec<&ForecastModel>, Vec<&ForecastModel>) =
            features.models.iter().partition(has_any);
        let models: Vec<ForecastModel> = there.into_iter().cloned().collect();
        if models.len() < FEWEST {
            let value = format!("{} with features and accuracies", models.len());
            let expected = "five models or more, named alike in both";
            return Err(LawsError::Option { option: "models", value, expected });
        }
        let tasks = targets.tasks.iter().map(|(task, accuracies)| ForecastTask {
            task: task.clone(),
            chance: targets.chances[task],
            accuracy: models.iter().map(|model| by_name(accuracies, &model.model)).collect(),
        });
        let (tasks, few): (Vec<ForecastTask>, Vec<ForecastTask>) =
            tasks.partition(|task| task.accuracy.iter().flatten().count() >= FEWEST);
        let mut flags = features.flags.clone();
        let names = |names: Vec<String>| names.join(", ");
        let mut told = |what: &str, left_out: Vec<String>| {
            if !left_out.is_empty() {
                let message = format!("{what}, so left out: {}", names(left_out));
                flags.push(Flag::new(FlagCode::PointsLeftOut, message));
            }
        };
        told(
            "models without an accuracy",
            silent.into_iter().map(|model| model.model.clone()).collect(),
        );
        let known = |name: &String| {
            models.iter().any(|model| without_owner(&model.model) == without_owner(name))
        };
        let mut strangers: Vec<String> =
            targets.tasks.values().flat_map(|m| m.keys()).cloned().collect();
        strangers.sort();
        strangers.dedup();
        strangers.retain(|name| !known(name));
        told("models without features", strangers);
        told("accuracies without a number", targets.left_out.clone());
        told("tasks with fewer than five models", few.into_iter().map(|task| task.task).collect());
        if tasks.is_empty() {
            let value = "none with five models".to_owned();
            let expected = "a task of which five models or more have an accuracy";
            return Err(LawsError::Option { option: "table", value, expected });
        }
        Ok((Self { features: features.features.clone(), models, tasks }, flags))
    }

    /// A feature of models.
    pub(super) fn feature(&self, feature: usize, models: &[usize]) -> Vec<f64> {
        models.iter().map(|&model| self.models[model].values[feature]).collect()
    }

    /// Features of a kind.
    pub(super) fn of_kind(&self, kind: FeatureKind) -> Vec<usize> {
        (0..self.features.len()).filter(|&at| self.features[at].kind == kind).collect()
    }

    /// The lower limit of a task's curve: chance, or the least accuracy that is seen where that is
    /// below it. An answer that is plausible and wrong draws small models below chance; a curve
    /// that may not follow them there is a step.
    pub(super) fn lower(&self, task: usize, seen: &[f64]) -> f64 {
        seen.iter().copied().fold(self.tasks[task].chance, f64::min)
    }

    /// `-ln x` of models: a feature like others.
    pub(super) fn minus_log_x(&self, models: &[usize]) -> Vec<f64> {
        models.iter().map(|&model| -self.models[model].x.ln()).collect()
    }

    /// Those of `models` that have an accuracy on a task, with it.
    pub(super) fn with_accuracy(&self, task: usize, models: &[usize]) -> (Vec<usize>, Vec<f64>) {
        let accuracy = &self.tasks[task].accuracy;
        models.iter().filter_map(|&model| Some((model, accuracy[model]?))).unzip()
    }

    /// Doubts about tasks.
    pub(super) fn flags(&self) -> Vec<Flag> {
        let below = |task: &&ForecastTask| {
            task.accuracy.iter().flatten().all(|accuracy| accuracy - task.chance < 0.02)
        };
        let names: Vec<&str> = self.tasks.iter().filter(below).map(|t| t.task.as_str()).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let message = format!(
            "no model is better than chance by 0.02, so nothing is to be forecast: {}",
            names.join(", ")
        );
        vec![Flag::new(FlagCode::ChosenAnswers, message)]
    }
}

fn without_owner(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}
