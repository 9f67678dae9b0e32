//! torchtitan: a TOML a run, and one Python file that tells it the sizes.
//!
//! Sections and fields are those of torchtitan 0.2 (`config/job_config.py`); later versions are
//! configured in Python. A model's sizes are no fields of the TOML: `[model] flavor` names an entry
//! of a dictionary, so `relscale_flavors.py` puts one there for each run, and
//! `[experimental] custom_import` loads it. All are of the kind `qwen3`, which has QK-norm and
//! tying as switches and takes the inner width as it is (its `llama3` derives it by a rule of its
//! own).

use super::{Exported, float, head, refuse_windows};
use crate::error::Result;
use crate::plan::recipe::OptimiserKind;
use crate::plan::{Plan, PlannedRun};

/// Name of the Python module.
const MODULE: &str = "relscale_flavors";

/// `NAME.toml` for every run, and `relscale_flavors.py`.
///
/// # Errors
/// [`crate::Error::Unexportable`] for runs with an attention window.
pub fn export(plan: &Plan) -> Result<Exported> {
    refuse_windows("torchtitan", plan)?;
    let mut differences = Vec::new();
    let any = |what: fn(&PlannedRun) -> bool| plan.runs.iter().any(what);
    if any(|run| run.optimiser.kind == OptimiserKind::CautiousAdamC) {
        differences.push(
            "torchtitan has AdamW: no mask of updates, no decay that follows the learning rate"
                .to_owned(),
        );
    }
    if any(|run| run.architecture.rope_scaling.is_some()) {
        differences.push(
            "rotary frequencies are not scaled; torchtitan's qwen3 takes a base alone".to_owned(),
        );
    }
    if any(|run| run.optimiser.weight_decay > 0.0) {
        let table = if any(|run| !run.architecture.tied) { ", and the embedding" } else { "" };
        differences.push(format!("torchtitan decays gains of norms as well{table}"));
    }
    if any(|run| run.optimiser.z_loss > 0.0) {
        differences.push("torchtitan has no z-loss".to_owned());
    }
    let mut files: Vec<_> = plan
        .runs
        .iter()
        .map(|run| (format!("{}.toml", run.name).into(), file(plan, run, &differences)))
        .collect();
    files.push((format!("{MODULE}.py").into(), flavors(plan)));
    Ok(Exported { files, differences })
}

fn file(plan: &Plan, run: &PlannedRun, differences: &[String]) -> String {
    let (model, optimiser) = (&run.architecture, &run.optimiser);
    let mut text = head(plan, run, differences);
    text.push_str(&format!(
        "# For torchtitan 0.2, with this folder on PYTHONPATH: --job.config_file {name}.toml\n\
         # The model's sizes are in {MODULE}.py. Add your dataset, and a tokenizer of {vocabulary} entries.\n\n\
         [job]\ndump_folder = \"./outputs/{name}\"\ndescription = \"{sweep} {name}\"\n\n\
         [experimental]\ncustom_import = \"{MODULE}\"\n\n\
         [model]\nname = \"qwen3\"\nflavor = \"{name}\"\n\n",
        name = run.name,
        vocabulary = model.vocabulary,
        sweep = plan.recipe.name,
    ));
    text.push_str(&format!(
        "[optimizer]\nname = \"AdamW\"\nlr = {}\nbeta1 = {}\nbeta2 = {}\neps = {}\nweight_decay = {}\n\n",
        float(optimiser.learning_rate),
        float(optimiser.beta1),
        float(optimiser.beta2),
        float(optimiser.epsilon),
        float(optimiser.weight_decay),
    ));
    text.push_str(&format!(
        "[lr_scheduler]\nwarmup_steps = {}\ndecay_ratio = {}\ndecay_type = \"linear\"\nmin_lr_factor = 0.0\n\n",
        (optimiser.warm_up * f64::from(run.steps)).round(),
        float(optimiser.decay),
    ));
    // One sequence at a time is right on any number of devices that divides the batch; more is
    // faster where it fits.
    text.push_str(&format!(
        "[training]\nlocal_batch_size = 1\nglobal_batch_size = {}\nseq_len = {}\nmax_norm = {}\nsteps = {}\n\n[debug]\nseed = {}\n",
        run.batch,
        model.sequence,
        float(optimiser.clip),
        run.steps,
        run.seed,
    ));
    text
}

fn flavors(plan: &Plan) -> String {
    let mut text = "\
\"\"\"Sizes of the models of a sweep, for torchtitan 0.2: loaded by `[experimental] custom_import`.\"\"\"

from torchtitan.models.qwen3 import qwen3_args
from torchtitan.models.qwen3.model.args import Qwen3ModelArgs

qwen3_args.update(
    {
"
    .to_owned();
    let truth = |value: bool| if value { "True" } else { "False" };
    for run in &plan.runs {
        let model = &run.architecture;
        text.push_str(&format!(
            "        \"{}\": Qwen3ModelArgs(\n            vocab_size={}, max_seq_len={}, dim={}, n_layers={}, n_heads={}, \
             n_kv_heads={},\n            head_dim={}, hidden_dim={}, qk_norm={}, enable_weight_tying={}, rope_theta={}, norm_eps={},\n        ),\n",
            run.name,
            model.vocabulary,
            model.sequence,
            model.width,
            model.layers,
            model.heads,
            model.kv_heads,
            model.head_width,
            model.hidden,
            truth(model.qk_norm),
            truth(model.tied),
            float(model.rope_base),
            float(model.norm_epsilon),
        ));
    }
    text.push_str("    }\n)\n");
    text
}
