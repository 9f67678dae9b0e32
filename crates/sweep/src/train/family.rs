//! A whole family: one text, one vocabulary, every size; folders that are whole are not made again.

use super::batches::Batches;
use super::course::Course;
use super::curve::{Point, Training};
use super::keep::{Keep, Of};
use super::settings::Settings;
use crate::error::{Error, Result};
use crate::export::huggingface;
use crate::recipes::{Recipe, Size};
use crate::tokenizer;
use relscale_decoder::count::ParameterCount;
use relscale_decoder::weights::Weights;
use relscale_records::atomic;
use relscale_records::lock::Lock;
use relscale_records::parquet::CurvePoint;
use sha2::{Digest, Sha256};
use std::path::Path;
use tokenizers::Tokenizer;

/// Bytes of text that the vocabulary is trained on, taken evenly from all documents.
const TOKENIZER_BYTES: usize = 8_000_000;

/// What a caller is told while a family is made.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The text has been encoded.
    Text {
        /// Documents of it.
        documents: usize,
        /// Tokens of it.
        tokens: usize,
        /// Bytes of it.
        bytes: usize,
    },
    /// A size stands there already and is left as it is.
    Kept {
        /// Which.
        size: &'a Size,
    },
    /// A step of a size is done.
    Step {
        /// Which size.
        size: &'a Size,
        /// Step, from 1.
        step: u32,
        /// Loss of its batch, nats a token.
        loss: f64,
    },
    /// A size has been written.
    Written {
        /// Which.
        size: &'a Size,
        /// Mean loss over the last tenth of its steps, nats a token.
        final_loss: f64,
    },
}

/// The text of a family, encoded once for all sizes.
#[derive(Debug)]
pub struct Text {
    /// The vocabulary.
    pub tokenizer: Tokenizer,
    /// Ids of all documents, each after a separator.
    pub stream: Vec<u32>,
    /// SHA-256 of the stream.
    pub sha256: String,
}

impl Text {
    /// Trains a vocabulary of so many entries on a part of `documents` and encodes all of them.
    ///
    /// # Errors
    /// [`Error::Tokenizer`].
    pub fn new(vocabulary: usize, documents: &[&str]) -> Result<Self> {
        let bytes: usize = documents.iter().map(|d| d.len()).sum();
        let every = bytes.div_ceil(TOKENIZER_BYTES).max(1);
        let sample = documents.iter().copied().step_by(every);
        let tokenizer = tokenizer::train(sample, vocabulary)?;
        let stream = tokenizer::stream(&tokenizer, documents)?;
        let sha256 = hash(&stream);
        Ok(Self { tokenizer, stream, sha256 })
    }
}

/// SHA-256 over ids as little-endian u32, in hexadecimal.
pub fn hash(ids: &[u32]) -> String {
    let mut hasher = Sha256::new();
    ids.iter().for_each(|id| hasher.update(id.to_le_bytes()));
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How a family is made, beside what its recipe says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Made<'a> {
    /// The command that makes it again.
    pub command: &'a str,
    /// How many models of each size are kept on the way.
    pub keep: u32,
}

/// Trains each of `sizes` on `documents` into `out/<recipe>-<size>`. `watch` returns `false` to
/// stop.
///
/// # Errors
/// [`Error::Occupied`] when a folder of that name was made with other settings; [`Error::Records`]
/// when another process works here; what training and writing refuse.
pub fn train(
    recipe: &Recipe,
    sizes: &[&Size],
    documents: &[&str],
    out: &Path,
    made: &Made<'_>,
    mut watch: impl FnMut(Event<'_>) -> bool,
) -> Result<()> {
    atomic::folder(out)?;
    let _lock = Lock::take(out)?;
    let text = Text::new(recipe.vocabulary, documents)?;
    watch(Event::Text {
        documents: documents.len(),
        tokens: text.stream.len(),
        bytes: documents.iter().map(|d| d.len()).sum(),
    });
    for &size in sizes {
        let name = format!("{}-{}", recipe.name, size.name);
        let folder = out.join(&name);
        let key = key(recipe, size, &text.sha256);
        let of = Of {
            run: &name,
            key: &key,
            seed: recipe.seed,
            steps: recipe.steps,
            tokens_a_step: (recipe.batch * recipe.context) as u64,
            tokenizer: &text.tokenizer,
        };
        if folder.exists() {
            check_same(&folder, recipe, size, &text)?;
            Keep::new(out, made.keep, of, recipe.steps)?;
            watch(Event::Kept { size });
            continue;
        }
        let keep = Keep::new(out, made.keep, of, 0)?;
        let trained = one(recipe, size, &text.stream, &keep, |step, loss| {
            watch(Event::Step { size, step, loss })
        })?;
        let spec = recipe.spec(size);
        let training = Training {
            command: made.command.to_owned(),
            recipe: recipe.clone(),
            size: size.clone(),
            non_embedding_parameters: ParameterCount::from_spec(&spec).non_embedding,
            tokens: recipe.tokens() as u64,
            text_tokens: text.stream.len() as u64,
            passes: trained.passes,
            text_sha256: text.sha256.clone(),
            final_loss: trained.final_loss,
            curve: trained.curve,
        };
        huggingface::write(&folder, &spec, &trained.weights, &text.tokenizer, &training)?;
        watch(Event::Written { size, final_loss: trained.final_loss });
    }
    Ok(())
}

/// Steps between two points of the loss curve.
const POINT_STEPS: u32 = 25;

/// A finished size.
#[derive(Debug)]
struct Trained {
    weights: Weights,
    curve: Vec<Point>,
    /// Mean loss over the last tenth of the steps, nats a token.
    final_loss: f64,
    /// Times the text was passed over.
    passes: f64,
}

/// Trains one size on `stream`. `progress(step, loss)` is called after each step; training stops
/// when it returns `false`.
fn one(
    recipe: &Recipe,
    size: &Size,
    stream: &[u32],
    keep: &Keep<'_>,
    mut progress: impl FnMut(u32, f64) -> bool,
) -> Result<Trained> {
    let batches = Batches::new(stream, recipe.context, recipe.batch, recipe.seed)?;
    let settings =
        Settings::new(&recipe.architecture(size), &recipe.optimiser(size), recipe.steps)?;
    let mut course = Course::new(settings, batches, POINT_STEPS, recipe.seed, None)?;
    let model = || size.name.to_owned();
    let spec = recipe.spec(size);
    course.run(|course, step, taken| {
        if !taken.moved {
            return Err(Error::Diverged { model: model(), step, loss: taken.loss });
        }
        course.note(step, taken, None);
        keep.note(step, &spec, course.trainer.weights())?;
        if progress(step, taken.loss) {
            Ok(None)
        } else {
            Err(Error::Cancelled { model: model(), step })
        }
    })?;
    let point = |point: &CurvePoint| Point {
        step: point.step,
        loss: point.loss,
        learning_rate: point.learning_rate,
    };
    Ok(Trained {
        curve: course.progress.curve.iter().map(point).collect(),
        final_loss: course.final_loss(),
        passes: course.passes(recipe.steps),
        weights: course.trainer.into_weights(),
    })
}

/// What decides the models of a size: its recipe, its text.
fn key(recipe: &Recipe, size: &Size, text: &str) -> String {
    let mut hasher = Sha256::new();
    for part in [serde_json::to_string(recipe), serde_json::to_string(size)] {
        hasher.update(part.unwrap_or_default());
    }
    hasher.update(text);
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Refuses a folder whose record names another recipe, size or text.
fn check_same(folder: &Path, recipe: &Recipe, size: &Size, text: &Text) -> Result<()> {
    let occupied =
        |differs: &str| Error::Occupied { path: folder.to_owned(), differs: differs.to_owned() };
    let record =
        std::fs::read(folder.join("training.json")).map_err(|_| occupied("no training.json"))?;
    let record: serde_json::Value =
        serde_json::from_slice(&record).map_err(|_| occupied("training.json is broken"))?;
    // Through text on both sides, so that numbers compare as they are written.
    let same = |key: &str, value: Result<String, serde_json::Error>| {
        let value = value.and_then(|text| serde_json::from_str::<serde_json::Value>(&text));
        value.is_ok_and(|value| record.get(key) == Some(&value))
    };
    let asked = [
        ("recipe", serde_json::to_string(recipe), "other settings"),
        ("size", serde_json::to_string(size), "another size"),
        ("text_sha256", serde_json::to_string(&text.sha256), "another training text"),
    ];
    for (key, value, differs) in asked {
        if !same(key, value) {
            return Err(occupied(differs));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second of two trainings into one folder is refused before it has cost anything, and the
    /// first keeps its work.
    #[test]
    fn trainings_do_not_meet_in_a_folder() {
        let out = tempfile::tempdir().unwrap();
        let _first = Lock::take(out.path()).unwrap();
        let recipe = Recipe::named("small").unwrap();
        let told = |_: Event<'_>| -> bool { panic!("it began") };
        let error =
            train(&recipe, &[&recipe.sizes[0]], &["text"], out.path(), &Made::default(), told)
                .unwrap_err();
        assert!(
            matches!(&error, Error::Records(relscale_records::Error::Locked { .. })),
            "{error}"
        );
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 1);
    }

    fn quick() -> Recipe {
        let mut recipe = Recipe::named("small").unwrap();
        recipe.vocabulary = 32;
        recipe.context = 16;
        recipe.batch = 6;
        recipe.steps = 60;
        recipe
    }

    fn tokenizer() -> Tokenizer {
        tokenizer::train(["ab ab ba"].into_iter(), 260).unwrap()
    }

    fn of<'a>(recipe: &Recipe, tokenizer: &'a Tokenizer) -> Of<'a> {
        let (seed, steps) = (recipe.seed, recipe.steps);
        Of { run: "quick", key: "key", seed, steps, tokens_a_step: 96, tokenizer }
    }

    /// What is kept after the last step is the model; a run that kept nothing is not continued as
    /// if it had.
    #[test]
    fn models_are_kept_on_the_way() {
        let recipe = quick();
        let stream: Vec<u32> = (0..4000).map(|i| i % 31).collect();
        let (tokenizer, out) = (tokenizer(), tempfile::tempdir().unwrap());
        let size = &recipe.sizes[0];
        let run = |times| {
            let keep = Keep::new(out.path(), times, of(&recipe, &tokenizer), 0).unwrap();
            one(&recipe, size, &stream, &keep, |_, _| true).unwrap()
        };
        let last = run(3);
        let kept = out.path().join("checkpoints");
        let manifest = std::fs::read_to_string(kept.join("models.toml")).unwrap();
        let there = manifest.lines().filter_map(|line| line.strip_prefix("model = "));
        assert_eq!(
            there.collect::<Vec<_>>(),
            ["\"quick-step15\"", "\"quick-step30\"", "\"quick-step60\""]
        );
        assert!(manifest.contains("tokens = 1440\n"), "{manifest}");
        let written = |step: u32| {
            std::fs::read(kept.join(format!("quick-step{step}/model.safetensors"))).unwrap()
        };
        let [model, ..] =
            huggingface::files(&recipe.spec(size), &last.weights, &tokenizer).unwrap();
        assert!(written(60) == model.1 && written(30) != model.1);
        // Again: the same, and nothing in the way.
        run(3);
        assert!(written(60) == model.1);
        let error = Keep::new(out.path(), 4, of(&recipe, &tokenizer), 60).unwrap_err().to_string();
        assert!(error.contains("quick-step7") && error.contains("without keeping"), "{error}");
        let other = Of { key: "other", ..of(&recipe, &tokenizer) };
        let keep = Keep::new(out.path(), 3, other, 0).unwrap();
        let error = one(&recipe, size, &stream, &keep, |_, _| true).unwrap_err();
        assert!(matches!(error, Error::Occupied { .. }), "{error}");
    }

    #[test]
    fn a_repeating_text_is_learnt_and_a_run_is_repeatable_on_any_number_of_threads() {
        let recipe = quick();
        let stream: Vec<u32> = (0..4000).map(|i| (i * i + i / 3) % 31).collect();
        let (tokenizer, out) = (tokenizer(), tempfile::tempdir().unwrap());
        let run = || {
            let keep = Keep::new(out.path(), 0, of(&recipe, &tokenizer), 0).unwrap();
            one(&recipe, &recipe.sizes[2], &stream, &keep, |_, _| true).unwrap()
        };
        let one = run();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let two = pool.install(run);
        assert_eq!(one.weights, two.weights);
        assert_eq!(one.curve, two.curve);
        let (first, last) = (one.curve[0].loss, one.final_loss);
        assert!((first - 32f64.ln()).abs() < 1.0, "{first}");
        assert!(last < 0.5 * first, "{first} -> {last}");
    }

    #[test]
    fn a_run_stops_when_asked() {
        let recipe = quick();
        let stream: Vec<u32> = (0..4000).map(|i| i % 31).collect();
        let (tokenizer, out) = (tokenizer(), tempfile::tempdir().unwrap());
        let keep = Keep::new(out.path(), 0, of(&recipe, &tokenizer), 0).unwrap();
        let error = one(&recipe, &recipe.sizes[0], &stream, &keep, |step, _| step < 3).unwrap_err();
        assert!(matches!(error, Error::Cancelled { step: 3, .. }), "{error}");
    }
}
