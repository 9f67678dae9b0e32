//! From what a run has logged to the cells of the table.

use relscale_decoder::count::ParameterCount;
use relscale_decoder::families;
use relscale_records::units::{FlopsConvention, ParameterConvention};
use serde::Serialize;

use super::CollectOptions;
use super::logged::{Entry, Logged};
use crate::train::sweep::Status;

/// Names under which a held-out loss in nats is logged, the surest first.
pub const HELD_OUT_LOSS: [&str; 16] = [
    "held_out_loss",
    "eval/loss",
    "eval_loss",
    "eval/paloma/macro_loss",
    "val/loss",
    "val_loss",
    "valid/loss",
    "valid_loss",
    "validation/loss",
    "validation_loss",
    "loss/val",
    "loss/validation",
    "loss/eval",
    "test/loss",
    "test_loss",
    "paloma_macro_loss",
];
/// Names of a training loss, which is not taken for a held-out one.
const TRAINING_LOSS: [&str; 6] =
    ["train/loss", "train_loss", "loss/train", "training_loss", "loss", "final_loss"];
const TOKENS: [&str; 8] = [
    "throughput/total_tokens",
    "num_input_tokens_seen",
    "tokens_seen",
    "total_tokens",
    "consumed_tokens",
    "train/tokens",
    "num_tokens",
    "tokens",
];
const STEPS: [&str; 6] = [
    "trainer.num_train_steps",
    "max_steps",
    "num_train_steps",
    "total_steps",
    "max_iters",
    "steps",
];
const STEP: [&str; 4] = ["_step", "global_step", "step", "iter"];
const BATCH: [&str; 4] = ["trainer.train_batch_size", "global_batch_size", "batch_size", "batch"];
const SEQUENCE: [&str; 6] = [
    "train_seq_len",
    "model.max_seq_len",
    "model.seq_len",
    "sequence_length",
    "seq_len",
    "block_size",
];
const RATE: [&str; 6] = [
    "optimizer.learning_rate",
    "optim/learning_rate",
    "train/learning_rate",
    "learning_rate",
    "train/lr",
    "lr",
];
const WIDTH: [&str; 6] =
    ["model.hidden_dim", "hidden_dim", "hidden_size", "n_embd", "d_model", "width"];
const LAYERS: [&str; 6] =
    ["model.num_layers", "num_layers", "num_hidden_layers", "n_layer", "n_layers", "layers"];
/// Names of a number of parameters, with what they count.
const PARAMS: [(&str, Option<ParameterConvention>); 6] = [
    ("parameter_count", Some(ParameterConvention::Total)),
    ("non_embedding_parameters", Some(ParameterConvention::NonEmbedding)),
    ("params", None),
    ("num_params", None),
    ("n_params", None),
    ("num_parameters", None),
];
/// Names of FLOPs, with their unit and what they count.
const FLOPS: [(&str, f64, Option<FlopsConvention>); 5] = [
    ("throughput/total_gflops", 1e9, Some(FlopsConvention::Train)),
    ("total_flos", 1.0, Some(FlopsConvention::Train)),
    ("gflops", 1e9, None),
    ("flops", 1.0, None),
    ("budget", 1.0, None),
];

/// How far, as a share, a run's FLOPs may lie from its budget.
pub const OFF_BUDGET: f64 = 0.05;

/// A row of the table. What is `None` is not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CollectedRun {
    /// Its name.
    pub run: String,
    /// What it was trained on, or whatever sets it apart.
    pub group: Option<String>,
    /// FLOPs that it was planned to cost, or those it did.
    pub budget: Option<f64>,
    /// What `budget` counts.
    pub flops_convention: Option<FlopsConvention>,
    /// Parameters.
    pub params: Option<f64>,
    /// What `params` counts.
    pub params_convention: Option<ParameterConvention>,
    /// Tokens seen.
    pub tokens: Option<f64>,
    /// Sequences of a step.
    pub batch: Option<f64>,
    /// Steps taken.
    pub steps: Option<f64>,
    /// The largest learning rate.
    pub learning_rate: Option<f64>,
    /// Channels.
    pub width: Option<f64>,
    /// Blocks.
    pub layers: Option<f64>,
    /// Held-out loss at the end, nats a token.
    pub loss: Option<f64>,
    /// How it ended.
    pub status: Option<Status>,
    /// What is missing, and what else a reader must know.
    pub notes: Vec<String>,
}

/// Whether a number can be that of a run: above 0, and of a size that anything was ever counted in,
/// so that products of such numbers stay numbers.
fn usable(number: f64) -> bool {
    (1e-60..=1e60).contains(&number)
}

/// The row of a run.
pub(super) fn collected_run(logged: &Logged, options: &CollectOptions) -> CollectedRun {
    let mut run = CollectedRun {
        run: logged.name.clone(),
        notes: logged.notes.clone(),
        ..CollectedRun::default()
    };
    run.group = logged.texts.get("group").cloned();
    let last = |names: &[&str]| logged.last(names).filter(|number| usable(*number));
    run.batch = last(&BATCH);
    run.width = last(&WIDTH);
    run.layers = last(&LAYERS);
    // A schedule ends low: the largest is the one that was chosen.
    run.learning_rate = logged.first(&RATE).and_then(|(_, series)| {
        series.iter().map(|entry| entry.value).filter(|rate| usable(*rate)).reduce(f64::max)
    });
    set_status(&mut run, logged);
    set_loss(&mut run, logged, options);
    set_params(&mut run, logged, options);
    set_tokens(&mut run, logged, options);
    set_budget(&mut run, logged, options);
    say_missing(&mut run);
    run
}

fn set_status(run: &mut CollectedRun, logged: &Logged) {
    let planned = logged.last(&STEPS);
    let taken = logged.last_step().into_iter().chain(logged.last(&STEP)).reduce(f64::max);
    let (said, unknown) = said(logged);
    if let Some((name, word)) = unknown {
        run.notes.push(format!("{name} is `{word}`, which is no known end of a run"));
    }
    run.status = match (said, planned, taken) {
        (Some(status), ..) => Some(status),
        // What was lost may have been the end.
        _ if logged.broken => Some(Status::Unfinished),
        // Some count steps from 0.
        (_, Some(planned), Some(taken)) if taken + 1.0 >= planned => Some(Status::Finished),
        (_, Some(planned), Some(taken)) => {
            run.notes.push(format!("step {taken} of {planned}"));
            Some(Status::Unfinished)
        }
        _ => None,
    };
    run.steps = match run.status {
        Some(Status::Finished) => planned.or(taken),
        _ => taken.or(planned),
    };
}

/// How a run ended by what its texts say, the worst of several; and a text that should say it and
/// is not known.
fn said(logged: &Logged) -> (Option<Status>, Option<(&str, &str)>) {
    let texts =
        || logged.texts.iter().filter(|(name, word)| Status::is_column(name) && !word.is_empty());
    let all: Vec<Status> = texts().filter_map(|(_, word)| Status::named(word)).collect();
    let worst = [Status::Diverged, Status::Unfinished, Status::Finished];
    let said = worst.into_iter().find(|status| all.contains(status));
    let unknown = texts().find(|(_, word)| Status::named(word).is_none());
    (said, unknown.filter(|_| said.is_none()).map(|(name, word)| (name.as_str(), word.as_str())))
}

fn set_loss(run: &mut CollectedRun, logged: &Logged, options: &CollectOptions) {
    let training = logged.first(&TRAINING_LOSS);
    let ends =
        TRAINING_LOSS.iter().filter_map(|name| Some((*name, logged.numbers.get(*name)?.last()?)));
    let mut ends =
        ends.filter(|(name, end)| Some(*name) != options.loss.as_deref() && !end.value.is_finite());
    if let Some((name, Entry { value, step })) = ends.next() {
        diverge(run, name, *value, *step);
    }
    let held_out = match &options.loss {
        Some(name) => logged.numbers.get(name).map(|series| (name.as_str(), series.as_slice())),
        None => logged.first(&HELD_OUT_LOSS),
    };
    let Some((name, series)) = held_out else {
        let there = training.map_or(String::new(), |(name, _)| {
            format!(" (there is {name}: --loss {name} takes it)")
        });
        let wanted =
            options.loss.as_deref().map_or("held-out loss".to_owned(), |name| format!("`{name}`"));
        run.notes.push(format!("no {wanted}{there}"));
        return;
    };
    let Some(last) = series.last() else { return };
    if let Some((step, text)) = logged.unread.get(name).filter(|(step, _)| *step >= last.step) {
        let step = step.map_or(String::new(), |step| format!(" at step {step}"));
        run.notes.push(format!(
            "the last {name}{step} is `{text}`, which is no number, so no loss is taken"
        ));
        return;
    }
    if !last.value.is_finite() {
        diverge(run, name, last.value, last.step);
        return;
    }
    if last.value <= 0.0 {
        run.notes.push(format!("{name} is {}, which is no loss", last.value));
        return;
    }
    run.loss = Some(last.value);
    if let (Some(of), Some(end)) = (last.step, logged.last_step())
        && of < end
    {
        run.notes.push(format!("the last {name} is of step {of}, the last step {end}"));
    }
}

fn diverge(run: &mut CollectedRun, name: &str, value: f64, step: Option<f64>) {
    run.status = Some(Status::Diverged);
    let step = step.map_or(String::new(), |step| format!(" at step {step}"));
    run.notes.push(format!("{name} is {value}{step}"));
}

fn set_params(run: &mut CollectedRun, logged: &Logged, options: &CollectOptions) {
    if let Some(config) = &logged.config {
        match families::spec_of_config(config) {
            Ok(spec) => {
                let count = ParameterCount::from_spec(&spec);
                let counted = match options.params {
                    ParameterConvention::NonEmbedding => count.non_embedding,
                    // A tied head is a product all the same.
                    ParameterConvention::NonEmbeddingAndHead if spec.tied => {
                        count.non_embedding + count.token_embedding
                    }
                    ParameterConvention::NonEmbeddingAndHead => count.non_embedding + count.head,
                    ParameterConvention::Total => count.total,
                };
                run.params = Some(counted as f64);
                run.params_convention = Some(options.params);
                run.width = Some(spec.width as f64);
                run.layers = Some(spec.layers.len() as f64);
                return;
            }
            Err(error) => {
                run.notes.push(format!("config.json does not tell the parameters: {error}"))
            }
        }
    }
    let logged_params = PARAMS.iter().find_map(|(name, said)| Some((logged.last(&[name])?, *said)));
    if let Some((number, said)) = logged_params.filter(|(number, _)| usable(*number)) {
        run.params = Some(number);
        let named =
            logged.texts.get("params_convention").and_then(|text| ParameterConvention::named(text));
        run.params_convention = said.or(named).or(options.logged_params);
        if run.params_convention.is_none() {
            run.notes.push("what params count is not said".to_owned());
        }
    }
}

fn set_tokens(run: &mut CollectedRun, logged: &Logged, options: &CollectOptions) {
    run.tokens = match &options.tokens {
        Some(name) => logged.last(&[name]),
        None => logged.last(&TOKENS),
    }
    .filter(|tokens| usable(*tokens));
    let product = run.batch.zip(run.steps).zip(logged.last(&SEQUENCE));
    let product = product.filter(|((batch, steps), sequence)| usable(batch * steps * sequence));
    if let (None, Some(((batch, steps), sequence))) = (run.tokens, product) {
        run.tokens = Some(batch * steps * sequence);
        run.notes
            .push(format!("tokens are batch * steps * sequence, {batch} * {steps} * {sequence}"));
    }
}

fn set_budget(run: &mut CollectedRun, logged: &Logged, options: &CollectOptions) {
    let flops =
        FLOPS.iter().find_map(|(name, unit, said)| Some((logged.last(&[name])? * unit, *said)));
    let Some((flops, said)) = flops.filter(|(flops, _)| usable(*flops)) else { return };
    let named = logged.texts.get("flops_convention").and_then(|text| FlopsConvention::named(text));
    run.flops_convention = said.or(named).or(options.logged_flops);
    if run.flops_convention.is_none() {
        run.notes.push("whether FLOPs are fwd or train is not said".to_owned());
    }
    give_budget(run, flops, options);
}

/// The budget that these FLOPs are of.
pub(super) fn give_budget(run: &mut CollectedRun, flops: f64, options: &CollectOptions) {
    if options.budgets.is_empty() {
        run.budget = Some(flops);
        return;
    }
    let near = options.budgets.iter().copied().min_by(|a, b| {
        let distance = |budget: f64| (flops / budget).ln().abs();
        distance(*a).total_cmp(&distance(*b))
    });
    match near.filter(|budget| (flops / budget - 1.0).abs() <= OFF_BUDGET) {
        Some(budget) => run.budget = Some(budget),
        None => run.notes.push(format!("{flops:.3e} FLOPs, near none of the budgets")),
    }
}

/// One note that names the cells that are empty and have no note of their own.
pub(super) fn say_missing(run: &mut CollectedRun) {
    let missing: Vec<&str> = [
        ("FLOPs", run.budget.is_none() && !run.notes.iter().any(|note| note.contains("budgets"))),
        ("params", run.params.is_none()),
        ("tokens", run.tokens.is_none()),
        ("batch", run.batch.is_none()),
        ("steps", run.steps.is_none()),
        ("learning rate", run.learning_rate.is_none()),
        ("width", run.width.is_none()),
        ("layers", run.layers.is_none()),
        ("whether it finished", run.status.is_none()),
    ]
    .into_iter()
    .filter_map(|(what, missing)| missing.then_some(what))
    .collect();
    if !missing.is_empty() {
        run.notes.push(format!("not logged: {}", missing.join(", ")));
    }
}
