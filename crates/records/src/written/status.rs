//! How a run ended, in the words of trackers and schedulers.

use serde::{Deserialize, Serialize};

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// All steps were taken; its model is there.
    Finished,
    /// Given up: the loss was no number, or rose and stayed up.
    Diverged,
    /// Not begun, or stopped on the way.
    Unfinished,
}

/// Words for an end that was planned: Weights & Biases, MLflow, Ray, Optuna, Slurm.
const FINISHED: [&str; 13] = [
    "finished",
    "finish",
    "completed",
    "complete",
    "success",
    "successful",
    "succeeded",
    "done",
    "ok",
    "terminated",
    "ended",
    "passed",
    "exited",
];
const DIVERGED: [&str; 4] = ["diverged", "diverging", "nan", "exploded"];
/// Words for anything else.
const UNFINISHED: [&str; 38] = [
    "unfinished",
    "crashed",
    "crash",
    "failed",
    "fail",
    "failure",
    "error",
    "errored",
    "killed",
    "preempted",
    "preempting",
    "running",
    "pending",
    "queued",
    "scheduled",
    "waiting",
    "paused",
    "pruned",
    "stopped",
    "stopping",
    "aborted",
    "cancelled",
    "canceled",
    "interrupted",
    "timeout",
    "timed out",
    "out of memory",
    "oom",
    "node fail",
    "boot fail",
    "deadline",
    "suspended",
    "incomplete",
    "started",
    "starting",
    "not started",
    "created",
    "partial",
];

/// Names of columns that say it, in lower case and without what stands between their words.
const COLUMNS: [&str; 17] = [
    "state",
    "status",
    "runstate",
    "runstatus",
    "jobstate",
    "jobstatus",
    "trialstate",
    "trialstatus",
    "wandbstate",
    "wandbstatus",
    "finalstate",
    "finalstatus",
    "sysstate",
    "summarystate",
    "exitstatus",
    "trainingstatus",
    "infostatus",
];

impl Status {
    /// The word for it in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Diverged => "diverged",
            Self::Unfinished => "unfinished",
        }
    }

    /// What a tracker's word says, in any case; `None` for a word that is not known.
    pub fn named(word: &str) -> Option<Self> {
        let word: String = word
            .trim()
            .to_lowercase()
            .chars()
            .map(|letter| if "_-".contains(letter) { ' ' } else { letter })
            .collect();
        // Slurm cuts a word off with a plus, and says by whom a job was cancelled; others name
        // their type first.
        let word = word.trim_end_matches('+').rsplit('.').next().unwrap_or_default();
        let word = word.split(" by ").next().unwrap_or_default().trim();
        match word {
            _ if FINISHED.contains(&word) => Some(Self::Finished),
            _ if DIVERGED.contains(&word) => Some(Self::Diverged),
            _ if UNFINISHED.contains(&word) => Some(Self::Unfinished),
            _ => None,
        }
    }

    /// Whether a column's name is one of those under which trackers say how a run ended.
    pub fn is_column(name: &str) -> bool {
        let letters: String = name.chars().filter(|letter| letter.is_alphanumeric()).collect();
        COLUMNS.contains(&letters.to_lowercase().as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_columns_of_trackers() {
        for word in [
            "finished",
            "Finished",
            "FINISHED",
            "COMPLETED",
            "completed ",
            "success",
            "TERMINATED",
            "RunStatus.FINISHED",
        ] {
            assert_eq!(Status::named(word), Some(Status::Finished), "{word}");
        }
        for word in [
            "crashed",
            "Failed",
            "KILLED",
            "preempted",
            "Running",
            "PENDING",
            "OUT_OF_MEMORY",
            "CANCELLED by 1000",
            "CANCELLED+",
            "TrialState.PRUNED",
        ] {
            assert_eq!(Status::named(word), Some(Status::Unfinished), "{word}");
        }
        assert_eq!(Status::named("Diverged"), Some(Status::Diverged));
        for word in ["", "CA", "1", "finishing touches"] {
            assert_eq!(Status::named(word), None, "{word}");
        }
        for name in [
            "state",
            "State",
            "STATUS",
            "run_state",
            "run.state",
            "run state",
            "_state",
            "runState",
            "sys/state",
        ] {
            assert!(Status::is_column(name), "{name}");
        }
        for name in ["statement", "us_state", "optimizer_state", "name"] {
            assert!(!Status::is_column(name), "{name}");
        }
    }
}
