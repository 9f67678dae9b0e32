//! What an engine process says of itself and of its model, checked: a fact that is wrong would be
//! believed by every law.

use relscale_records::provenance::{ModelProvenance, ParameterCounts, ScoreColumn, TieRule};
use serde::{Deserialize, Serialize};

use super::frames::Broken;
use crate::engine::EngineIdentity;
use crate::hub::ModelRequest;
use crate::source::ModelFacts;

/// The version of the protocol that this program speaks.
pub(super) const PROTOCOL: u32 = 1;

/// The program's side.
#[derive(Debug, Serialize)]
pub(super) struct Asked {
    pub(super) protocol: u32,
    pub(super) program: String,
    pub(super) folder: Option<String>,
    pub(super) model: String,
    pub(super) options: std::collections::BTreeMap<String, String>,
}

/// The engine's side.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Hello {
    protocol: u32,
    pub(super) engine: String,
    #[serde(default)]
    engine_version: Option<String>,
    revision: u32,
    compute_dtype: String,
    #[serde(default)]
    head_dtype: Option<String>,
    architecture: String,
    weights_sha256: String,
    config_sha256: String,
    stored_dtype: String,
    #[serde(default)]
    files: Vec<String>,
    parameters: ParameterCounts,
    rows: u32,
    #[serde(default)]
    context: Option<usize>,
    #[serde(default)]
    bos: Option<u32>,
    #[serde(default)]
    gives: Vec<ScoreColumn>,
    #[serde(default = "at_least")]
    rank_rule: TieRule,
    #[serde(default)]
    rows_only: bool,
    #[serde(default)]
    pub(super) batch_tokens: Option<usize>,
    #[serde(default)]
    pub(super) notices: Vec<String>,
}

fn at_least() -> TieRule {
    TieRule::AtLeast
}

impl Hello {
    /// The columns that it does not give.
    pub(super) fn lacks(&self) -> Vec<ScoreColumn> {
        ScoreColumn::ALL.into_iter().filter(|column| !self.gives.contains(column)).collect()
    }

    /// Refuses what cannot be.
    ///
    /// # Errors
    /// [`Broken::Payload`], naming the fact.
    pub(super) fn check(&self) -> Result<(), Broken> {
        let counts = &self.parameters;
        let parts =
            [counts.non_embedding, counts.token_embedding, counts.position_embedding, counts.head];
        let sum = parts.iter().try_fold(0u64, |sum, &part| sum.checked_add(part));
        let is_hash = |text: &str| text.len() == 64 && text.chars().all(|c| c.is_ascii_hexdigit());
        let is_name = |text: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            !text.is_empty() && text.len() <= 40 && text.chars().all(plain)
        };
        let given = self.gives.contains(&ScoreColumn::Ties);
        let reason = if self.protocol != PROTOCOL {
            format!(
                "it speaks version {} of the protocol and this program {PROTOCOL}; take versions that fit",
                self.protocol
            )
        } else if !is_name(&self.engine) {
            format!("`{}` is no name of an engine", self.engine)
        } else if !is_hash(&self.weights_sha256) || !is_hash(&self.config_sha256) {
            "weights_sha256 and config_sha256 are 64 hexadecimal digits each".into()
        } else if counts.non_embedding == 0 || sum != Some(counts.total) {
            format!("its parameter counts do not add up to their total, or S is 0: {counts:?}")
        } else if self.rows == 0 || self.context == Some(0) {
            format!("{} rows and a context of {:?} leave nothing to score", self.rows, self.context)
        } else if given && self.rank_rule != TieRule::AtLeast {
            "it gives ties, and then ranks are counted by `>=`".into()
        } else {
            return Ok(());
        };
        Err(Broken::Payload(format!("its hello cannot be used: {reason}")))
    }

    /// The facts of a model that was asked for. `prefix` tells engines of any command apart from
    /// those that this program knows.
    pub(super) fn facts(&self, request: &ModelRequest, prefix: &str) -> ModelFacts {
        let head = self.head_dtype.as_ref().filter(|head| **head != self.compute_dtype);
        let compute_dtype = match head {
            Some(head) => format!("{}, head {head}", self.compute_dtype),
            None => self.compute_dtype.clone(),
        };
        let coarse = self.head_dtype.as_deref().unwrap_or(&self.compute_dtype);
        let caution = (!matches!(coarse, "f32" | "f64")).then(|| {
            format!(
                "logits were rounded to {coarse} before they were ranked, so that tokens tie that do \
                 not in 32 bits; {}",
                match self.rank_rule {
                    TieRule::AtLeast => "all of them count against the model (>=)",
                    TieRule::Greater => "none of them counts (>)",
                }
            )
        });
        ModelFacts {
            identity: EngineIdentity {
                version: self.engine_version.clone(),
                lacks: self.lacks(),
                rank_rule: self.rank_rule,
                rows_only: self.rows_only,
                cautions: caution.into_iter().collect(),
                ..EngineIdentity::new(
                    format!("{prefix}{}", self.engine),
                    self.revision,
                    compute_dtype,
                )
            },
            model: ModelProvenance {
                name: request.name.clone(),
                source: request.source.clone(),
                family: request.family.clone().unwrap_or_else(|| self.architecture.clone()),
                architecture: self.architecture.clone(),
                weights_sha256: self.weights_sha256.clone(),
                config_sha256: self.config_sha256.clone(),
                stored_dtype: self.stored_dtype.clone(),
                files: self.files.clone(),
                parameters: self.parameters,
            },
            rows: self.rows,
            context: self.context,
            usual_length: None,
            unused_tensors: Vec::new(),
            files_not_read: Vec::new(),
            bos: self.bos,
        }
    }
}
