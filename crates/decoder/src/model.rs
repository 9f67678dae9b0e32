//! A model ready to score: spec, weights, and the checks that let only sound sequences through.

use crate::count::ParameterCount;
use crate::error::{Error, Result};
use crate::families::{self, CheckpointInfo, LoadOptions, ReadWeights};
use crate::forward;
use crate::head::{Scored, Vocabulary, tiled};
use crate::kernels::{Choice, Dtype, Format, Packed};
use crate::parts::sizes;
use crate::spec::Spec;
use crate::weights::Weights;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// One sequence to run, and the positions in it to score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sequence<'a> {
    /// Token ids. Those before the last scored one are fed, at most [`Spec::longest`] of them; the
    /// last is only a target. Where their number matters ([`Spec::by_length`]), all but the last.
    pub tokens: &'a [u32],
    /// Indices `i >= 1` into `tokens`: token `i` is scored given tokens `0..i`. Position 0 has
    /// nothing before it and no score.
    pub scored: &'a [u32],
}

impl<'a> Sequence<'a> {
    /// The tokens that the model has to read: all before the last scored one.
    fn fed(&self, spec: &Spec) -> &'a [u32] {
        let end = match self.scored.last() {
            // What is scored of a sequence must not change what it is.
            Some(_) if spec.by_length() => self.tokens.len() - 1,
            Some(last) => *last as usize,
            None => 0,
        };
        &self.tokens[..end]
    }
}

/// A model in memory, every matrix laid out for its products.
#[derive(Debug, Clone)]
pub struct Model {
    spec: Spec,
    weights: Weights<Packed>,
    info: Option<CheckpointInfo>,
    idle: Idle,
}

/// Buffers between two calls. Each call takes one or makes one, so calls may run side by side.
#[derive(Debug, Default)]
struct Idle(Mutex<Vec<forward::Buffers>>);

impl Idle {
    fn take(&self) -> Option<forward::Buffers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put(&self, buffers: forward::Buffers) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffers);
    }
}

impl Clone for Idle {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Model {
    /// Reads a Hugging Face folder, in the numbers and for the kernels that `options` ask for.
    ///
    /// # Errors
    /// As [`families::load_packed`].
    pub fn load(folder: &Path, options: LoadOptions) -> Result<Self> {
        families::load_packed(folder, options).map(Self::from_loaded)
    }

    /// As [`Model::load`], of files that are known to be those of which `read` was learned: they
    /// are not hashed.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn load_known(folder: &Path, options: LoadOptions, read: &ReadWeights) -> Result<Self> {
        families::load_known(folder, options, read).map(Self::from_loaded)
    }

    fn from_loaded(families::Loaded { spec, weights, info }: families::Loaded<Packed>) -> Self {
        Self { spec, weights, info: Some(info), idle: Idle::default() }
    }

    /// A model made in memory, in f32 with the best kernels there are.
    ///
    /// # Errors
    /// [`Error::Spec`] when the spec contradicts itself, or the weights have other shapes than it
    /// asks for.
    pub fn new(spec: Spec, weights: Weights) -> Result<Self> {
        Self::with_format(spec, weights, Format::new(Dtype::F32, Choice::Best))
    }

    /// As [`Model::new`], in a format of choice.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn with_format(spec: Spec, weights: Weights, format: Format) -> Result<Self> {
        spec.check()?;
        let found = weights.tensors().into_iter().map(|tensor| tensor.len() as u64);
        if !found.eq(sizes(&spec).into_iter().map(|(_, size)| size)) {
            return Err(Error::Spec(
                "the weights have other shapes than the spec asks for".to_owned(),
            ));
        }
        let weights = weights.packed(&spec, format);
        Ok(Self { spec, weights, info: None, idle: Idle::default() })
    }

    /// The architecture.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// In which numbers products are taken, and by which kernels.
    pub fn format(&self) -> Format {
        self.weights.head().format()
    }

    /// The numbers.
    pub fn weights(&self) -> &Weights<Packed> {
        &self.weights
    }

    /// What the model was read from; `None` when it was made in memory.
    pub fn info(&self) -> Option<&CheckpointInfo> {
        self.info.as_ref()
    }

    /// Exact parameter counts.
    pub fn parameters(&self) -> ParameterCount {
        ParameterCount::from_spec(&self.spec)
    }

    /// Scores the asked positions of every sequence, in order: rank, ties, nll, entropy, argmax;
    /// `None` where a logit was not finite. Only scored positions reach the head.
    ///
    /// A sequence's results do not depend, bit for bit, on the others in the call or on the number
    /// of threads.
    ///
    /// # Errors
    /// [`Error::Sequence`]: an empty or too long sequence, an id beyond the embedding, a scored
    /// index that is 0, out of range or not ascending, a target outside `vocabulary`.
    pub fn score(
        &self,
        sequences: &[Sequence<'_>],
        vocabulary: &Vocabulary,
    ) -> Result<Vec<Vec<Option<Scored>>>> {
        for (index, sequence) in sequences.iter().enumerate() {
            self.check(index, sequence, vocabulary)?;
        }
        let fed: Vec<&[u32]> = sequences.iter().map(|sequence| sequence.fed(&self.spec)).collect();
        let mut buffers = self.idle.take().unwrap_or_else(|| forward::Buffers::new(self.format()));
        forward::hidden(&self.spec, &self.weights, &fed, &mut buffers);
        let count: usize = sequences.iter().map(|s| s.scored.len()).sum();
        let (mut asked, mut targets) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut start = 0;
        for sequence in sequences {
            asked.extend(sequence.scored.iter().map(|at| start + *at as usize - 1));
            targets.extend(sequence.scored.iter().map(|at| sequence.tokens[*at as usize]));
            start += sequence.fed(&self.spec).len();
        }
        let rows = forward::before_head(&self.spec, &self.weights, &asked, &mut buffers);
        let scored = tiled::score(
            self.weights.head(),
            self.weights.head_bias.as_deref(),
            rows,
            &targets,
            vocabulary,
            self.spec.logit_cap,
        );
        self.idle.put(buffers);
        let mut scored = scored?.into_iter();
        Ok(sequences.iter().map(|s| scored.by_ref().take(s.scored.len()).collect()).collect())
    }

    fn check(&self, index: usize, sequence: &Sequence<'_>, vocabulary: &Vocabulary) -> Result<()> {
        let refuse = |reason: String| Err(Error::Sequence { index, reason });
        let Sequence { tokens, scored } = sequence;
        let length = tokens.len();
        if tokens.is_empty() {
            return refuse("it is empty".to_owned());
        }
        let rows = self.spec.vocabulary;
        if let Some(id) = tokens.iter().find(|id| **id as usize >= rows) {
            return refuse(format!(
                "token {id} is beyond the model's {rows} embedding rows: the tokenizer does not fit the model"
            ));
        }
        if !scored.windows(2).all(|pair| pair[0] < pair[1]) {
            return refuse("scored positions are not ascending".to_owned());
        }
        if scored.first() == Some(&0) || scored.last().is_some_and(|last| *last as usize >= length)
        {
            return refuse(format!("scored positions must lie in 1..{length}"));
        }
        let fed = sequence.fed(&self.spec).len();
        if let Some(context) = self.spec.longest().filter(|longest| fed > *longest) {
            return refuse(format!(
                "{fed} tokens are to be read, but the model's context is {context}; use shorter windows"
            ));
        }
        if vocabulary.rows() != rows {
            return refuse(format!(
                "the vocabulary has {} rows, the head {rows}",
                vocabulary.rows()
            ));
        }
        for &at in *scored {
            vocabulary.check_target(index, tokens[at as usize])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::*;
    use relscale_testkit::numbers::numbers;

    fn rotary() -> Layer {
        Layer { rotary: Some(Rotary { width: 6, base: 1e4, scaling: None }), ..Layer::default() }
    }

    /// The windows of 299 and 300 tokens turn otherwise than those of 140 and less.
    fn by_length() -> Layer {
        let scaling = RotaryScaling::Long {
            short: vec![1.0, 1.1, 1.2],
            long: vec![1.5, 2.0, 9.0],
            original_context: 150,
            attention_factor: 1.2,
        };
        let rotary = Rotary { width: 6, base: 1e4, scaling: Some(scaling) };
        Layer { rotary: Some(rotary), ..Layer::default() }
    }

    fn spec() -> Spec {
        Spec {
            vocabulary: 61,
            width: 24,
            heads: 4,
            kv_heads: 2,
            head_width: 6,
            hidden: 40,
            context: 300,
            layers: vec![rotary(); 2],
            tied: true,
            ..Spec::default()
        }
    }

    fn random(spec: &Spec) -> Weights {
        let mut weights = Weights::zeros(spec);
        for (seed, tensor) in weights.tensors_mut().into_iter().enumerate() {
            let data = numbers(tensor.len(), seed as u64 + 1);
            tensor.copy_from_slice(&data);
        }
        weights
    }

    fn model(spec: Spec) -> Model {
        let weights = random(&spec);
        Model::new(spec, weights).unwrap()
    }

    fn formats() -> impl Iterator<Item = Format> {
        [Dtype::F32, Dtype::Bf16].into_iter().flat_map(Format::all)
    }

    /// One of each recurrence: pieces of 16 channels and fewer, one and several blocks of state.
    fn recurrent() -> Vec<Spec> {
        let channels = |inner, state, norm_epsilon| StateSpace {
            inner,
            state,
            taps: 4,
            selection: Selection::Channels { rank: 3, norm_epsilon },
            biases: false,
            convolution_bias: true,
        };
        let heads = |inner, state, heads, groups| StateSpace {
            selection: Selection::Heads { heads, groups, limits: [0.0, f32::INFINITY] },
            ..channels(inner, state, None)
        };
        [
            channels(48, 16, None),
            channels(20, 18, Some(1e-6)),
            heads(96, 32, 3, 1),
            heads(40, 6, 4, 2),
        ]
        .map(Mixer::StateSpace)
        .into_iter()
        .chain([(48, None), (20, Some(1))].map(|(inner, rescale_every)| {
            Mixer::TimeMix(TimeMix { inner, rescale_every, final_epsilon: 1e-5 })
        }))
        .map(|mixer| Spec {
            hidden: if matches!(mixer, Mixer::TimeMix(_)) { 40 } else { 0 },
            mixer,
            heads: 0,
            kv_heads: 0,
            head_width: 0,
            layers: vec![Layer::default(); 2],
            ..spec()
        })
        .collect()
    }

    /// A recurrence begins each sequence anew: whatever stood before it in the batch, or in the
    /// call before, and beyond the length of training.
    #[test]
    fn state_never_passes_from_one_sequence_to_the_next() {
        for spec in recurrent() {
            let model = model(Spec { context: 40, ..spec });
            let all = Vocabulary::all(61);
            let ids: Vec<u32> = (0..300).map(|i| (i * i + 3 * i) % 61).collect();
            let scored: Vec<u32> = (1..130).collect();
            let sequence = |at: usize| Sequence { tokens: &ids[at..at + 130], scored: &scored };
            let alone = model.score(&[sequence(0)], &all).unwrap();
            for before in [7, 19, 100] {
                let both = model.score(&[sequence(before), sequence(0)], &all).unwrap();
                assert_eq!(both[1], alone[0]);
                assert_ne!(both[0], alone[0]);
            }
        }
    }

    /// Batch, threads and neighbours leave no trace in the bits.
    #[test]
    fn scores_do_not_depend_on_the_batch_or_the_threads() {
        let specs = [
            spec(),
            Spec {
                norm: NormKind::Layer,
                query_key_norm: Some(NormSpan::EachHead),
                residual: Residual::Parallel,
                activation: Activation::Gelu,
                gated: false,
                layers: [7, 200].map(|window| Layer { window: Some(window), ..rotary() }).to_vec(),
                ..spec()
            },
            Spec {
                layers: vec![Layer::default(); 2],
                positions: Positions::Learned { offset: 2, rows: 302 },
                norm_placement: NormPlacement::AfterResidual,
                final_norm: false,
                activation: Activation::Relu,
                gated: false,
                projected: Some(10),
                head_bias: true,
                tied: false,
                ..spec()
            },
            // Every part that only some families have.
            Spec {
                layers: vec![
                    Layer { scale: Some(0.3), ..rotary() },
                    Layer { window: Some(40), ..by_length() },
                ],
                positions: Positions::Alibi,
                clip: Some(0.8),
                norm_placement: NormPlacement::Both,
                query_key_norm: Some(NormSpan::Head),
                embedding_scale: 4.0,
                embedding_norm: true,
                activation: Activation::GeluTanh,
                attention_cap: Some(2.0),
                residual_scale: 0.5,
                logit_scale: 0.75,
                logit_cap: Some(3.0),
                ..spec()
            },
            Spec {
                layers: vec![Layer::default(); 2],
                positions: Positions::RoundedAlibi,
                norm_placement: NormPlacement::OnBranch,
                norm_gain: Gain::None,
                query_key_norm: Some(NormSpan::Width),
                ..spec()
            },
        ];
        for spec in specs.into_iter().chain(recurrent()) {
            for format in formats() {
                scores_do_not_depend_on_the_batch_or_the_threads_in(&spec, format);
            }
        }
    }

    fn scores_do_not_depend_on_the_batch_or_the_threads_in(spec: &Spec, format: Format) {
        let model = Model::with_format(spec.clone(), random(spec), format).unwrap();
        let all = Vocabulary::all(61);
        let ids: Vec<u32> = (0..700).map(|i| (i * i + 3 * i) % 61).collect();
        let scored: Vec<u32> = (1..300).collect();
        let windows: Vec<Sequence<'_>> = [(0, 300), (300, 3), (310, 1), (320, 140), (400, 299)]
            .map(|(at, length)| Sequence {
                tokens: &ids[at..at + length],
                scored: &scored[..length - 1],
            })
            .to_vec();
        let together = model.score(&windows, &all).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(together, pool.install(|| model.score(&windows, &all).unwrap()));
        for (window, together) in windows.iter().zip(&together) {
            assert_eq!(model.score(&[*window], &all).unwrap()[0], *together);
        }
        assert_eq!(together.iter().map(Vec::len).collect::<Vec<_>>(), [299, 2, 0, 139, 298]);
    }

    #[test]
    fn a_nan_weight_flags_its_rows() {
        for format in formats() {
            a_nan_weight_flags_its_rows_in(format);
        }
    }

    fn a_nan_weight_flags_its_rows_in(format: Format) {
        let mut weights = random(&spec());
        weights.token_embedding.data[5 * 24] = f32::NAN;
        let model = Model::with_format(spec(), weights, format).unwrap();
        let scores = model
            .score(&[Sequence { tokens: &[1, 2, 3], scored: &[1, 2] }], &Vocabulary::all(61))
            .unwrap();
        assert_eq!(scores, [vec![None, None]], "row 5 of the head is NaN for every position");
        // Where row 5 takes no part it does no harm, until token 5 is read.
        let without = Vocabulary::only(61, |v| v != 5);
        let scores = |tokens: &[u32]| {
            model.score(&[Sequence { tokens, scored: &[1, 3] }], &without).unwrap()[0].clone()
        };
        assert!(scores(&[1, 2, 3, 4]).iter().all(Option::is_some));
        assert!(scores(&[1, 2, 5, 4])[1].is_none());
    }

    #[test]
    fn unsound_sequences_are_refused() {
        let model = model(spec());
        let all = Vocabulary::all(61);
        let long = vec![0; 302];
        // 300 are read, the last is a target.
        assert!(model.score(&[Sequence { tokens: &long, scored: &[1, 300] }], &all).is_ok());
        for (tokens, scored, words) in [
            (&[][..], &[][..], "empty"),
            (&long, &[301], "context is 300"),
            (&[1, 61], &[1], "beyond the model's 61"),
            (&[1, 2], &[0], "1..2"),
            (&[1, 2], &[2], "1..2"),
            (&[1, 2, 3], &[2, 1], "ascending"),
        ] {
            let error = model.score(&[Sequence { tokens, scored }], &all).unwrap_err().to_string();
            assert!(error.contains(words) && error.starts_with("sequence 0"), "{error}");
        }
    }
}
