//! The cases of `testdata/ranks`: rows of logits, and what the definitions of `docs/methods.md` say
//! of each. They know no engine.

use std::fs;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde::Deserialize;
use serde_json::json;

/// One row of logits, a target, and what is true of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it is about.
    pub name: String,
    #[serde(default)]
    logits: Vec<f64>,
    fill: Option<f64>,
    vocabulary: Option<usize>,
    #[serde(default)]
    set: Vec<(usize, f64)>,
    /// Rows that take no part.
    #[serde(default)]
    pub left_out: Vec<u32>,
    /// The right token.
    pub target: u32,
    /// Its rank; none where the row must be flagged as non-finite.
    pub rank: Option<u32>,
    /// Other entries with the target's logit.
    pub ties: Option<u32>,
    /// Negative log-likelihood, nats.
    pub nll: Option<f64>,
    /// Entropy, nats.
    pub entropy: Option<f64>,
    /// The first of the largest.
    pub argmax: Option<u32>,
}

impl Case {
    /// The logits, each exactly representable in f32.
    pub fn logits(&self) -> Vec<f32> {
        let listed = || self.logits.iter().map(|z| *z as f32).collect();
        let Some((fill, size)) = self.fill.zip(self.vocabulary) else { return listed() };
        let mut logits = vec![fill as f32; size];
        self.set.iter().for_each(|(at, z)| logits[*at] = *z as f32);
        logits
    }

    /// Compares what an engine says with what is true.
    ///
    /// # Panics
    /// On any difference; `who` names the engine.
    pub fn check(&self, who: &str, got: Option<Said>) {
        let place = format!("{who}, {}", self.name);
        let Some(rank) = self.rank else {
            assert!(got.is_none(), "{place}: not flagged: {got:?}");
            return;
        };
        let Some(got) = got else { panic!("{place}: flagged") };
        assert_eq!(got.rank, rank, "{place}: rank");
        assert_eq!(Some(got.ties), self.ties, "{place}: ties");
        assert_eq!(Some(got.argmax), self.argmax, "{place}: argmax");
        for (what, got, want) in
            [("nll", got.nll, self.nll), ("entropy", got.entropy, self.entropy)]
        {
            let want = want.unwrap_or_else(|| panic!("{place}: the case lacks {what}"));
            let error = (f64::from(got) - want).abs();
            assert!(error <= 1e-5 * want.abs().max(1.0), "{place}: {what} {got} for {want}");
        }
    }
}

/// What an engine says of a row.
#[derive(Debug, Clone, Copy)]
pub struct Said {
    /// Rank.
    pub rank: u32,
    /// Ties.
    pub ties: u32,
    /// Negative log-likelihood, nats.
    pub nll: f32,
    /// Entropy, nats.
    pub entropy: f32,
    /// Argmax.
    pub argmax: u32,
}

/// All cases, by file, then as they stand.
///
/// # Panics
/// The files cannot be found or read.
pub fn cases() -> Vec<Case> {
    #[derive(Deserialize)]
    struct File {
        case: Vec<Case>,
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/ranks");
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text =
            fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        toml::from_str::<File>(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
            .case
    };
    let cases: Vec<Case> = files
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .flat_map(read)
        .collect();
    assert!(cases.len() > 10, "the cases were not found");
    cases
}

/// Writes a Llama folder whose logits are `logits`, whatever it reads: two channels, an embedding
/// of ones, a block of zeros, a norm without epsilon (so that ones stay ones) whose gain keeps the
/// first channel alone, and a head with the logits in it.
///
/// # Panics
/// The folder cannot be written.
pub fn model_of_logits(folder: &Path, logits: &[f32]) {
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    };
    let rows = logits.len();
    let config = json!({
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": rows,
        "hidden_size": 2,
        "intermediate_size": 1,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
        "max_position_embeddings": 8,
        "hidden_act": "silu",
        "rms_norm_eps": 0.0,
        "rope_theta": 10000.0,
        "rope_scaling": null,
        "attention_bias": false,
        "mlp_bias": false,
        "tie_word_embeddings": false,
    });
    put("config.json", config.to_string().as_bytes());
    let block = |part: &str| format!("model.layers.0.{part}.weight");
    let head = logits.iter().flat_map(|z| [*z, 0.0]).collect();
    let mut tensors: Vec<(String, Vec<usize>, Vec<f32>)> = vec![
        ("model.embed_tokens.weight".to_owned(), vec![rows, 2], vec![1.0; 2 * rows]),
        ("lm_head.weight".to_owned(), vec![rows, 2], head),
        ("model.norm.weight".to_owned(), vec![2], vec![1.0, 0.0]),
        (block("mlp.down_proj"), vec![2, 1], vec![0.0; 2]),
    ];
    for part in ["q_proj", "k_proj", "v_proj", "o_proj"] {
        tensors.push((block(&format!("self_attn.{part}")), vec![2, 2], vec![0.0; 4]));
    }
    for part in ["mlp.gate_proj", "mlp.up_proj"] {
        tensors.push((block(part), vec![1, 2], vec![0.0; 2]));
    }
    for part in ["input_layernorm", "post_attention_layernorm"] {
        tensors.push((block(part), vec![2], vec![1.0; 2]));
    }
    let bytes: Vec<(String, Vec<usize>, Vec<u8>)> = tensors
        .into_iter()
        .map(|(name, shape, data)| {
            (name, shape, data.iter().flat_map(|w| w.to_le_bytes()).collect())
        })
        .collect();
    let views = bytes.iter().map(|(name, shape, bytes)| {
        let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
        (name.as_str(), view.unwrap_or_else(|error| panic!("{name}: {error}")))
    });
    let file =
        safetensors::serialize(views, None).unwrap_or_else(|error| panic!("weights: {error}"));
    put("model.safetensors", &file);
}
