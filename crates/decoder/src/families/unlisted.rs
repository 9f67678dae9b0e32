//! What only families need that are not listed yet: each part of a [`Spec`] against transformers in
//! float64, on tiny random checkpoints of the families that have it
//! (`tools/goldens/checkpoints.py --parts`), with their own tensor names.

use super::gpt_neox::by_kind;
use super::names::{Names, Stored};
use super::tensors::Tensors;
use crate::Model;
use crate::checkpoint::Checkpoint;
use crate::kernels::{Choice, Dtype, Format, Packed};
use crate::matrix::Matrix;
use crate::parts::build;
use crate::spec::*;
use support::golden::{BF16_TOLERANCE, Golden, TOLERANCE, compare, size};
use support::naive;

#[path = "../../tests/support/mod.rs"]
mod support;

fn rotary(width: usize, base: f64) -> Layer {
    Layer { rotary: Some(Rotary { width, base, scaling: None }), ..Layer::default() }
}

/// Settings of Llama's kind, heads of 4.
fn small() -> Spec {
    Spec {
        vocabulary: 37,
        width: 16,
        heads: 4,
        kv_heads: 2,
        head_width: 4,
        hidden: 28,
        context: 24,
        norm_epsilon: 1e-6,
        layers: vec![rotary(4, 10_000.0); 2],
        ..Spec::default()
    }
}

/// LayerNorm and a plain MLP: of the time before Llama.
fn older() -> Spec {
    Spec {
        heads: 2,
        head_width: 8,
        norm: NormKind::Layer,
        norm_epsilon: 1e-5,
        gated: false,
        tied: true,
        ..small()
    }
}

const BLOOM: Names = Names {
    prefixes: &["transformer."],
    block: "h.",
    token_embedding: "word_embeddings",
    embedding_norm: "word_embeddings_layernorm",
    final_norm: "ln_f",
    attention_norm: "input_layernorm",
    query_key_value: Stored::Ordered("self_attention.query_key_value", by_kind),
    attention_output: "self_attention.dense",
    mlp_norm: "post_attention_layernorm",
    up: Stored::Whole("mlp.dense_h_to_4h"),
    down: "mlp.dense_4h_to_h",
    ..Names::NONE
};

/// Name, settings and tensor names of each.
fn cases() -> Vec<(&'static str, Spec, Names)> {
    vec![
        // ALiBi for a number of heads that is no power of two, norm behind the embedding.
        (
            "bloom",
            Spec {
                width: 24,
                heads: 3,
                kv_heads: 3,
                hidden: 96,
                layers: vec![Layer::default(); 2],
                positions: Positions::Alibi,
                embedding_norm: true,
                activation: Activation::GeluTanh,
                biases: Biases::ALL,
                ..older()
            },
            BLOOM,
        ),
        // One norm for two parallel parts, one key/value head.
        (
            "falcon",
            Spec {
                kv_heads: 1,
                hidden: 64,
                layers: vec![rotary(8, 10_000.0); 2],
                residual: Residual::ParallelOneNorm,
                activation: Activation::Gelu,
                ..older()
            },
            Names {
                query_key_value: Stored::Whole("self_attention.query_key_value"),
                embedding_norm: "",
                mlp_norm: "",
                ..BLOOM
            },
        ),
    ]
}

#[test]
fn every_part_agrees_with_transformers() {
    for (name, spec, names) in cases() {
        let names: &'static Names = Box::leak(Box::new(names));
        spec.check().unwrap();
        let folder = support::part(name);
        let golden = Golden::read_from(&folder);
        let checkpoint = Checkpoint::open(&folder).unwrap();
        let format = Format::new(Dtype::F32, Choice::Best);
        let mut tensors = Tensors::<Matrix>::new(&checkpoint, &spec, names, format, false).unwrap();
        let weights = build(&spec, &mut tensors).unwrap();
        let (used, unused) = tensors.finish().unwrap();
        assert!(
            unused.is_empty() && used.len() == checkpoint.names().count(),
            "{name}: {unused:?}"
        );
        // Exact, so that nothing can stand in the wrong place.
        for (sequence, logits) in golden.sequences.iter().zip(&golden.logits) {
            let found = naive::logits(&spec, &weights, &sequence.ids);
            for (found, expected) in found.iter().zip(logits) {
                for (a, b) in found.iter().zip(expected) {
                    assert!((a - b).abs() < 1e-9 * size(expected), "{name}: {a} for {b}");
                }
            }
        }
        // The pass that runs, in every format. Sharp scores of two blocks double what bf16 loses.
        for format in [Dtype::F32, Dtype::Bf16].into_iter().flat_map(Format::all) {
            let tolerance = match format.dtype() {
                Dtype::F32 => TOLERANCE,
                Dtype::Bf16 => 2.0 * BF16_TOLERANCE,
            };
            let model = Model::with_format(spec.clone(), weights.clone(), format).unwrap();
            let mut tensors =
                Tensors::<Packed>::new(&checkpoint, &spec, names, format, false).unwrap();
            assert!(
                build(&spec, &mut tensors).unwrap() == *model.weights(),
                "{name}: laid out as it is read"
            );
            let all = crate::head::Vocabulary::all(spec.vocabulary);
            for (sequence, logits) in golden.sequences.iter().zip(&golden.logits) {
                compare(name, &model, &sequence.ids, &all, &sequence.scores, logits, tolerance);
            }
        }
    }
}

/// What the walk over a spec asks for is what a model holds, tensor by tensor and in its order.
#[test]
fn parts_are_counted_and_made_in_the_order_of_the_tensors() {
    for (name, spec, _) in cases() {
        let sizes: Vec<u64> = crate::parts::sizes(&spec).iter().map(|(_, size)| *size).collect();
        let zeros = crate::weights::Weights::zeros(&spec);
        assert_eq!(
            sizes,
            zeros.tensors().iter().map(|tensor| tensor.len() as u64).collect::<Vec<_>>(),
            "{name}"
        );
        assert_eq!(crate::count::ParameterCount::from_spec(&spec).total, sizes.iter().sum::<u64>());
    }
}
