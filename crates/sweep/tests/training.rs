//! The training step against PyTorch in float64 (`tools/goldens/training.py`): the gradient of
//! every tensor, and ten steps, of a Mistral by AdamW and of a Qwen3 by cautious Adam.

use relscale_decoder::families::{self, LoadOptions, Loaded};
use relscale_decoder::spec::NormSpan;
use relscale_decoder::weights::Weights;
use relscale_sweep::plan::recipe::OptimiserKind;
use relscale_sweep::train::schedule::Schedule;
use relscale_sweep::train::settings::Settings;
use relscale_sweep::train::step::Workspace;
use relscale_sweep::train::trainer::{State, Trainer};
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Steps {
    length: usize,
    steps: u32,
    peak: f64,
    warm_up: f64,
    decay: f64,
    optimiser: OptimiserKind,
    betas: [f32; 2],
    epsilon: f32,
    weight_decay: f32,
    clip: f64,
    batches: Vec<Vec<Vec<u32>>>,
    losses: Vec<f64>,
    norms: Vec<f64>,
}

const MODELS: [&str; 2] = ["mistral", "qwen3"];

fn folder(model: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/training").join(model)
}

fn steps(model: &str) -> Steps {
    serde_json::from_slice(&std::fs::read(folder(model).join("steps.json")).unwrap()).unwrap()
}

/// A gradient has the names and shapes of the model's tensors, and is read as one.
fn load(model: &str, name: &str) -> Loaded {
    families::load(&folder(model).join(name), LoadOptions::default()).unwrap()
}

/// What the two models have that training must see.
#[test]
fn the_models_have_all_parts() {
    let [mistral, qwen3] = MODELS.map(|model| load(model, "model").spec);
    for spec in [&mistral, &qwen3] {
        assert!(spec.vocabulary % 10 > 0 && spec.vocabulary > 20 && spec.kv_heads < spec.heads);
    }
    assert!(mistral.layers.iter().all(|l| l.window == Some(5)) && mistral.layers.len() == 3);
    assert!(mistral.tied && !qwen3.tied);
    assert_eq!(qwen3.query_key_norm, Some(NormSpan::Head));
    assert!(qwen3.heads * qwen3.head_width != qwen3.width && qwen3.layers.len() == 2);
    assert!(qwen3.layers.iter().all(|l| l.rotary.as_ref().unwrap().scaling.is_some()));
}

#[test]
fn every_gradient_agrees_with_pytorch() {
    MODELS.into_iter().for_each(gradients_agree);
}

fn gradients_agree(model: &str) {
    let (Loaded { spec, weights, .. }, want) =
        (load(model, "model"), load(model, "gradient").weights);
    let steps = steps(model);
    let batch: Vec<&[u32]> = steps.batches[0].iter().map(Vec::as_slice).collect();
    let tokens = batch.len() * steps.length;
    let workspace = || Workspace::new(&spec, steps.length).unwrap();
    // In the tiles that are chosen: one, as the vocabulary is small; and in several, the last of
    // rows and of entries cut off.
    for mut workspace in [workspace(), workspace().with_tiles(7, 10)] {
        let mut got = Weights::zeros(&spec);
        let weight = 1.0 / tokens as f32;
        let loss = workspace.forward_backward(&spec, &weights, &batch, weight, &mut got);
        assert!((loss / tokens as f64 - steps.losses[0]).abs() < 1e-6);
        let (got, want) = (got.tensors(), want.tensors());
        assert_eq!(got.len(), want.len());
        for (number, (got, want)) in got.iter().zip(&want).enumerate() {
            assert_eq!(got.len(), want.len(), "{model}, tensor {number}");
            let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
            let size = norm(&mut want.iter().map(|w| f64::from(*w)));
            let off = norm(&mut got.iter().zip(*want).map(|(g, w)| f64::from(*g) - f64::from(*w)));
            assert!(size > 1e-2, "{model}, tensor {number}: a gradient of {size} tells nothing");
            assert!(off < 3e-6 * size, "{model}, tensor {number}: off by {off:e} of {size}");
        }
    }
}

#[test]
fn ten_steps_agree_with_pytorch_on_any_number_of_threads() {
    MODELS.into_iter().for_each(steps_agree);
}

fn steps_agree(model: &str) {
    let steps = steps(model);
    let run = || {
        let Loaded { spec, weights, .. } = load(model, "model");
        let moments = [Weights::zeros(&spec), Weights::zeros(&spec)];
        let settings = Settings {
            spec,
            schedule: Schedule {
                peak: steps.peak,
                steps: steps.steps,
                warm_up: steps.warm_up,
                decay: steps.decay,
            },
            optimiser: steps.optimiser,
            betas: steps.betas,
            epsilon: steps.epsilon,
            weight_decay: steps.weight_decay,
            clip: steps.clip,
            z_loss: 0.0,
        };
        let state = State { weights, moments, taken: 0 };
        let mut trainer = Trainer::resume(settings, steps.length, state).unwrap();
        for (number, batch) in steps.batches.iter().enumerate() {
            let batch: Vec<&[u32]> = batch.iter().map(Vec::as_slice).collect();
            let taken = trainer.step(&batch);
            let (loss, norm) = (steps.losses[number], steps.norms[number]);
            assert!(
                (taken.loss - loss).abs() < 1e-5,
                "{model}, step {}: {} for {loss}",
                number + 1,
                taken.loss
            );
            assert!(
                (taken.norm / norm - 1.0).abs() < 1e-4,
                "{model}, step {}: {} for {norm}",
                number + 1,
                taken.norm
            );
        }
        trainer.into_weights()
    };
    // Some steps are clipped and some are not.
    assert!(
        steps.norms.iter().any(|norm| *norm > steps.clip)
            && steps.norms.iter().any(|norm| *norm < steps.clip)
    );
    let on = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
    };
    let one = on(1);
    for threads in [2, 3] {
        assert_eq!(one, on(threads), "{threads} threads");
    }
}
