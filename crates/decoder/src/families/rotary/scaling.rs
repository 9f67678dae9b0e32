//! The kinds of rotary scaling: `rope_scaling`, or what `rope_parameters` says beside base and
//! fraction.
//!
//! Source: `modeling_rope_utils.py` of transformers 4.57 and 5.24.

use serde_json::{Map, Value};

use super::Model;
use crate::error::Result;
use crate::families::config::Config;
use crate::spec::RotaryScaling;

/// Where phi3, and others after it, say the context of the original training.
const ORIGINAL: &str = "original_max_position_embeddings";

/// The table of one rotation.
pub(super) struct Table<'a> {
    /// Its key in the configuration.
    pub(super) name: &'a str,
    /// What nobody has read yet.
    pub(super) keys: Map<String, Value>,
    /// Rotated channels of a head.
    pub(super) width: usize,
    pub(super) model: &'a Model<'a>,
}

impl Table<'_> {
    /// The kind of scaling, which may have another name here than usual; every key that the kind
    /// does not use is refused.
    pub(super) fn scaling(mut self, config: &mut Config) -> Result<Option<RotaryScaling>> {
        // Beside a kind that does not look at it, it says nothing.
        config.get(ORIGINAL);
        let said = self.kind(config)?;
        let kind = said.as_str().map(|said| self.model.usual(said));
        let scaling = match kind {
            Some("default") => None,
            Some("linear") => {
                // Written beside every kind, read by few.
                self.keys.remove(ORIGINAL);
                Some(RotaryScaling::Linear { factor: self.required(config, &said, "factor")? })
            }
            // It stretches beyond `max_position_embeddings` only, and no sequence here is longer.
            Some("dynamic") => {
                self.keys.remove(ORIGINAL);
                self.required(config, &said, "factor")?;
                None
            }
            Some("llama3") => Some(self.llama3(config, &said)?),
            Some("yarn") => Some(self.yarn(config, &said)?),
            Some("longrope") => Some(self.long(config, &said)?),
            _ => return Err(config.unsupported(&self.key("rope_type"), &said)),
        };
        match self.keys.iter().find(|(_, value)| !value.is_null()) {
            Some((key, value)) => Err(config.unsupported(&self.key(key), value)),
            None => Ok(scaling),
        }
    }

    /// Its kind in either spelling.
    fn kind(&mut self, config: &Config) -> Result<Value> {
        let given = |value: &Value| !value.is_null();
        let new = self.keys.remove("rope_type").filter(given);
        let usual = |kind: &Value| kind.as_str().map(|kind| self.model.usual(kind).to_owned());
        match (self.keys.remove("type").filter(given), new) {
            (Some(old), Some(new)) if old != new && usual(&old) != usual(&new) => Err(config.broken(format!(
                "{}: type = {old} and rope_type = {new} contradict each other; keep the one that holds",
                self.name
            ))),
            (old, new) => Ok(new.or(old).unwrap_or_else(|| "default".into())),
        }
    }

    fn llama3(&mut self, config: &mut Config, kind: &Value) -> Result<RotaryScaling> {
        let factor = self.required(config, kind, "factor")?;
        let low = self.required(config, kind, "low_freq_factor")?;
        let high = self.required(config, kind, "high_freq_factor")?;
        if low >= high {
            return Err(config.broken(format!(
                "{}: low_freq_factor {low} is not below high_freq_factor {high}",
                self.name
            )));
        }
        // Version 4 has no default of it.
        if self.keys.get(ORIGINAL).is_none_or(Value::is_null) {
            return Err(self.lacks(config, kind, ORIGINAL));
        }
        Ok(RotaryScaling::Llama3 {
            factor,
            low_frequency_factor: low,
            high_frequency_factor: high,
            original_context: self.original(config)?,
        })
    }

    fn yarn(&mut self, config: &mut Config, kind: &Value) -> Result<RotaryScaling> {
        let factor = self.required(config, kind, "factor")?;
        let given = self.number(config, "attention_factor")?;
        // Of these, zero is to the reference what null and absence are.
        let mut number = |key| Ok(self.plain(config, key)?.filter(|number| *number != 0.0));
        let (mscale, all) = (number("mscale")?, number("mscale_all_dim")?);
        let (fast, slow) = (number("beta_fast")?, number("beta_slow")?);
        let grown = |by: f64| if factor <= 1.0 { 1.0 } else { 0.1 * by * factor.ln() + 1.0 };
        let attention_factor = given.unwrap_or_else(|| match (mscale, all) {
            (Some(one), Some(all)) => grown(one) / grown(all),
            _ => grown(1.0),
        });
        let truncate = match self.keys.remove("truncate") {
            None => true,
            Some(Value::Null) => false,
            Some(Value::Bool(truncate)) => truncate,
            Some(other) => return Err(config.unsupported(&self.key("truncate"), &other)),
        };
        let original_context = self.original(config)?;
        let [beta_fast, beta_slow] = [fast.unwrap_or(32.0), slow.unwrap_or(1.0)];
        let numbers =
            [("beta_fast", beta_fast), ("beta_slow", beta_slow), ("mscale", attention_factor)];
        if let Some((key, number)) =
            numbers.iter().find(|(_, number)| !(*number > 0.0 && number.is_finite()))
        {
            return Err(config.broken(format!(
                "{} makes a factor of {number}, which is not positive",
                self.key(key)
            )));
        }
        Ok(RotaryScaling::Yarn {
            factor,
            beta_fast,
            beta_slow,
            truncate,
            original_context,
            attention_factor,
        })
    }

    fn long(&mut self, config: &mut Config, kind: &Value) -> Result<RotaryScaling> {
        let mut divisors = |key: &str| -> Result<Vec<f64>> {
            let Some(value) = self.keys.remove(key).filter(|value| !value.is_null()) else {
                return Err(self.lacks(config, kind, key));
            };
            let numbers: Option<Vec<f64>> =
                value.as_array().and_then(|list| list.iter().map(Value::as_f64).collect());
            let numbers = numbers.filter(|numbers| numbers.iter().all(|number| *number > 0.0));
            numbers.filter(|numbers| numbers.len() == self.width / 2).ok_or_else(|| {
                config.broken(format!(
                    "{} is not a list of {} positive numbers, one for each rotated channel pair of a head",
                    self.key(key),
                    self.width / 2
                ))
            })
        };
        let (short, long) = (divisors("short_factor")?, divisors("long_factor")?);
        let (context, at_the_top) = (self.model.context, self.top(config)?);
        let inner = self.inner(config)?;
        let original_context = match at_the_top {
            Some(top) => top,
            // What the table says, version 4 does not look at, and it has no other table than this.
            None if self.name == "rope_scaling" && inner.is_some_and(|inner| inner != context) => {
                return Err(config.broken(format!(
                    "{}: transformers 4 takes max_position_embeddings = {context} for it, version 5 this; write it beside rope_scaling, where both look",
                    self.key(ORIGINAL)
                )));
            }
            None => inner.unwrap_or(context),
        };
        self.agree(config, at_the_top, inner.or(at_the_top))?;
        let ratio = context as f64 / original_context as f64;
        let given = self.number(config, "attention_factor")?;
        let factor = self.number(config, "factor")?.unwrap_or(ratio);
        if at_the_top.is_some() && given.is_none() && self.name == "rope_scaling" && factor != ratio
        {
            return Err(config.broken(format!(
                "{} = {factor}: transformers 4 takes {ratio} for it, max_position_embeddings over {ORIGINAL}, version 5 this; write the attention_factor",
                self.key("factor")
            )));
        }
        let attention_factor = match given {
            Some(given) => given,
            None if factor <= 1.0 => 1.0,
            None => (1.0 + factor.ln() / (original_context as f64).ln()).sqrt(),
        };
        if !attention_factor.is_finite() {
            return Err(config.broken(format!(
                "{}: an original context of {original_context} has no attention_factor",
                self.name
            )));
        }
        Ok(RotaryScaling::Long { short, long, original_context, attention_factor })
    }

    /// Tokens of the original context for YaRN and Llama 3: version 4 looks into the table,
    /// version 5 at the top first.
    fn original(&mut self, config: &mut Config) -> Result<usize> {
        let top = self.top(config)?;
        let inner = self.inner(config)?.unwrap_or(self.model.context);
        self.agree(config, top, Some(inner))?;
        Ok(inner)
    }

    /// What the key beside the table says.
    fn top(&self, config: &mut Config) -> Result<Option<usize>> {
        match config.get(ORIGINAL) {
            Some(value) => self.context(config, ORIGINAL, &value).map(Some),
            None if config.has(ORIGINAL) => Err(config.broken(format!(
                "{ORIGINAL} is null, with which transformers cannot compute; take it out"
            ))),
            None => Ok(self.model.original),
        }
    }

    /// What the key in the table says.
    fn inner(&mut self, config: &Config) -> Result<Option<usize>> {
        let value = self.keys.remove(ORIGINAL).filter(|value| !value.is_null());
        value.map(|value| self.context(config, &self.key(ORIGINAL), &value)).transpose()
    }

    fn context(&self, config: &Config, key: &str, value: &Value) -> Result<usize> {
        match config.as_size(key, value)? {
            0 => Err(config.broken(format!("{key} is 0 tokens"))),
            tokens => Ok(tokens),
        }
    }

    fn agree(&self, config: &Config, top: Option<usize>, inner: Option<usize>) -> Result<()> {
        match (top, inner) {
            (Some(top), Some(inner)) if top != inner => Err(config.broken(format!(
                "{ORIGINAL} = {top} and {} = {inner} (max_position_embeddings where it is absent) contradict each other",
                self.key(ORIGINAL)
            ))),
            _ => Ok(()),
        }
    }

    fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.name)
    }

    fn lacks(&self, config: &Config, kind: &Value, key: &str) -> crate::Error {
        config.broken(format!("{} of type {kind} lacks {key}", self.name))
    }

    /// A positive number.
    fn required(&mut self, config: &Config, kind: &Value, key: &str) -> Result<f64> {
        self.number(config, key)?.ok_or_else(|| self.lacks(config, kind, key))
    }

    /// A positive number, `null` counting as absent.
    fn number(&mut self, config: &Config, key: &str) -> Result<Option<f64>> {
        match self.plain(config, key)? {
            Some(number) if number <= 0.0 => {
                Err(config.broken(format!("{} = {number} is not positive", self.key(key))))
            }
            number => Ok(number),
        }
    }

    fn plain(&mut self, config: &Config, key: &str) -> Result<Option<f64>> {
        let value = self.keys.remove(key).filter(|value| !value.is_null());
        value.map(|value| config.as_number(&self.key(key), &value)).transpose()
    }
}
