//! Levanter: a YAML a run, for its `train_lm`.
//!
//! Field names are those of Levanter as it stands in marin-community/marin (`lib/levanter`):
//! `TrainLmConfig`, `LlamaConfig`, `Qwen3Config`, `OptimizerConfig`, `CautiousConfig`,
//! `TrainerConfig`. Its older releases say `seq_len` for `max_seq_len` and know no `train_seq_len`.
//! Data and tokenizer are the user's.

use super::{Exported, float, head, refuse_windows};
use crate::error::Result;
use crate::plan::recipe::OptimiserKind;
use crate::plan::{Plan, PlannedRun};

/// Evaluations over a run.
const EVALUATIONS: u32 = 20;

/// `NAME.yaml` for every run.
///
/// # Errors
/// [`crate::Error::Unexportable`] for runs with an attention window.
pub fn export(plan: &Plan) -> Result<Exported> {
    refuse_windows("levanter", plan)?;
    let mut differences = Vec::new();
    if plan.runs.iter().any(|run| run.optimiser.weight_decay > 0.0 && run.architecture.tied) {
        differences.push(
            "Levanter decays no embedding, a tied head included, unless told otherwise".to_owned(),
        );
    }
    let files = plan
        .runs
        .iter()
        .map(|run| (format!("{}.yaml", run.name).into(), file(plan, run, &differences)));
    Ok(Exported { files: files.collect(), differences })
}

fn file(plan: &Plan, run: &PlannedRun, differences: &[String]) -> String {
    let (model, optimiser) = (&run.architecture, &run.optimiser);
    let mut text = head(plan, run, differences);
    text.push_str(&format!(
        "# For: python -m levanter.main.train_lm --config_path {name}.yaml\n\
         # Add `data`: your text, its cache, and a tokenizer of {vocabulary} entries.\n\
         model:\n  type: {kind}\n  max_seq_len: {sequence}\n  hidden_dim: {width}\n  intermediate_dim: {hidden}\n  \
         num_layers: {layers}\n  num_heads: {heads}\n  num_kv_heads: {kv_heads}\n  head_dim: {head_width}\n  \
         activation_function: silu\n  layer_norm_epsilon: {epsilon}\n  tie_word_embeddings: {tied}\n  use_bias: false\n",
        name = run.name,
        vocabulary = model.vocabulary,
        kind = if model.qk_norm { "qwen3" } else { "llama" },
        sequence = model.sequence,
        width = model.width,
        hidden = model.hidden,
        layers = model.layers,
        heads = model.heads,
        kv_heads = model.kv_heads,
        head_width = model.head_width,
        epsilon = float(model.norm_epsilon),
        tied = model.tied,
    ));
    match &model.rope_scaling {
        None => {
            text.push_str(&format!("  rope:\n    type: default\n    theta: {}\n", float(model.rope_base)));
        }
        Some(scaling) => text.push_str(&format!(
            "  rope:\n    type: llama3\n    theta: {}\n    factor: {}\n    low_freq_factor: {}\n    high_freq_factor: {}\n    \
             original_max_position_embeddings: {}\n",
            float(model.rope_base),
            float(scaling.factor),
            float(scaling.low_frequency_factor),
            float(scaling.high_frequency_factor),
            scaling.original_context,
        )),
    }
    text.push_str(&format!(
        "train_seq_len: {}\nz_loss_weight: {}\n",
        model.sequence,
        float(optimiser.z_loss)
    ));
    text.push_str(&format!(
        "optimizer:\n  type: {}\n  learning_rate: {}\n  weight_decay: {}\n  beta1: {}\n  beta2: {}\n  epsilon: {}\n  \
         max_grad_norm: {}\n",
        match optimiser.kind {
            OptimiserKind::AdamW => "adam",
            OptimiserKind::CautiousAdamC => "cautious",
        },
        float(optimiser.learning_rate),
        float(optimiser.weight_decay),
        float(optimiser.beta1),
        float(optimiser.beta2),
        float(optimiser.epsilon),
        float(optimiser.clip),
    ));
    if optimiser.kind == OptimiserKind::CautiousAdamC {
        text.push_str("  adamc_weight_decay: true\n");
    }
    // Shares below 1 are shares to Levanter as well.
    text.push_str(&format!(
        "  warmup: {}\n  decay: {}\n  lr_schedule: linear\n  min_lr_ratio: 0.0\n",
        float(optimiser.warm_up),
        float(optimiser.decay),
    ));
    text.push_str(&format!(
        "trainer:\n  id: \"{}\"\n  seed: {}\n  train_batch_size: {}\n  num_train_steps: {}\n  steps_per_eval: {}\n  \
         mp: p=f32,c=bfloat16\n",
        run.name,
        run.seed,
        run.batch,
        run.steps,
        (run.steps / EVALUATIONS).max(1),
    ));
    text
}
