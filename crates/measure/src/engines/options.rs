//! What a person may say to an engine: one list for all, of which each takes its own.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::earlier::Earlier;

/// Numbers in which weights are kept and products taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dtype {
    /// 32 bits.
    #[default]
    F32,
    /// 16 bits, summed in 32.
    Bf16,
    /// What the engine picks: the faster one on its machine, or that in which the study has runs.
    Auto,
}

/// `--audit`: a sample of windows that is measured a second time.
///
/// ```
/// use relscale_measure::engines::Share;
/// assert_eq!("1%".parse(), Ok(Share { share: 0.01, local: false }));
/// assert_eq!("local:0.5%".parse(), Ok(Share { share: 0.005, local: true }));
/// assert!("2".parse::<Share>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The share of windows, in (0, 1].
    pub share: f64,
    /// Whether this program's decoder measures it, and not the engine again.
    pub local: bool,
}

impl std::str::FromStr for Share {
    type Err = String;

    /// Reads `P%` or `local:P%`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (number, local) = match text.strip_prefix("local:") {
            Some(number) => (number, true),
            None => (text, false),
        };
        let percent = number.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        match percent.filter(|percent| *percent > 0.0 && *percent <= 100.0) {
            Some(percent) => Ok(Self { share: percent / 100.0, local }),
            None => Err("it is a share like 1%, or local:1%".into()),
        }
    }
}

/// What takes sentences.
type OnSentence = dyn Fn(&str) + Send + Sync;

/// Whoever is told at once what an engine waits for, from whatever thread; nobody by default.
#[derive(Clone, Default)]
pub struct Listener {
    on_sentence: Option<Arc<OnSentence>>,
    /// What was said by [`Listener::notify_once`], by whatever copy of this.
    told: Arc<Mutex<BTreeSet<String>>>,
}

impl Listener {
    /// Calls `on_sentence` with every sentence.
    pub fn new(on_sentence: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { on_sentence: Some(Arc::new(on_sentence)), told: Arc::default() }
    }

    /// Passes a sentence on.
    pub fn notify(&self, sentence: &str) {
        if let Some(on_sentence) = &self.on_sentence {
            on_sentence(sentence);
        }
    }

    /// Passes a sentence on, unless it was passed on so before: what holds for all models of a
    /// session is said once.
    pub fn notify_once(&self, sentence: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(sentence.to_owned()) {
            self.notify(sentence);
        }
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.on_sentence.is_some() { "Listener(..)" } else { "Listener(none)" })
    }
}

/// What a person may say to an engine. What is `None`, empty or false was not said.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// What followed the engine's name after a colon.
    pub argument: Option<String>,
    /// `--dtype`.
    pub dtype: Option<Dtype>,
    /// `--tie-head`: take the token embedding for the output head.
    pub tie_head: bool,
    /// `--url` of a server.
    pub url: Option<String>,
    /// `--engine-silence`: how long a process may be silent.
    pub silence: Option<Duration>,
    /// `--served`: the model's name on the server.
    pub served: Option<String>,
    /// `--accept-bf16-logits`: take ranks that are counted among rounded logits.
    pub accept_bf16_logits: bool,
    /// `--in-flight`: requests at once, at most.
    pub in_flight: Option<usize>,
    /// `--audit`: a sample that is measured a second time.
    pub audit: Option<Share>,
    /// `--parameters`: non-embedding parameters, where nothing else tells.
    pub parameters: Option<u64>,
    /// `--length` of windows, which every engine takes: how far one must reach.
    pub length: Option<usize>,
    /// `--engine-option KEY=VALUE`, for the engine itself to understand.
    pub own: Vec<(String, String)>,
    /// What the study holds already; only [`Dtype::Auto`] asks for it.
    pub earlier: Earlier,
    /// Who is told of waiting, and of what an engine picked.
    pub listener: Listener,
    /// A flag that ends whatever takes long.
    pub cancel: Arc<AtomicBool>,
}

impl EngineOptions {
    /// The options that were said, as a person writes them.
    pub fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--dtype", self.dtype.is_some_and(|dtype| dtype != Dtype::Auto)),
            ("--dtype auto", self.dtype == Some(Dtype::Auto)),
            ("--tie-head", self.tie_head),
            ("--url", self.url.is_some()),
            ("--engine-silence", self.silence.is_some()),
            ("--served", self.served.is_some()),
            ("--accept-bf16-logits", self.accept_bf16_logits),
            ("--in-flight", self.in_flight.is_some()),
            ("--audit", self.audit.is_some()),
            ("--parameters", self.parameters.is_some()),
            ("--engine-option", !self.own.is_empty()),
        ];
        all.into_iter().filter(|(_, said)| *said).map(|(name, _)| name).collect()
    }
}
