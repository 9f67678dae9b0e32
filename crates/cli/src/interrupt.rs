//! Ctrl-C: the first one asks for a good end, the second one ends at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use crate::exit;

/// The flag: one for the program, as there is one Ctrl-C.
static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The flag that Ctrl-C sets, for whoever reads a file that may be long.
pub(crate) fn flag() -> Arc<AtomicBool> {
    Arc::clone(&FLAG)
}

/// Whether there is a step to end well.
static HAS_STEPS: AtomicBool = AtomicBool::new(true);

/// For what only waits: Ctrl-C just ends it.
pub(crate) fn nothing_to_end() {
    HAS_STEPS.store(false, Ordering::Relaxed);
}

/// Installs the handler, which says so at the first Ctrl-C, and returns the flag that it sets.
/// Termination (`kill`) counts as Ctrl-C.
///
/// # Errors
/// The system allows no handler.
pub(crate) fn watch(say: fn(&str)) -> anyhow::Result<Arc<AtomicBool>> {
    let (cancel, flag) = (flag(), flag());
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            // Nothing is lost by that: a file appears under its name only when it is whole.
            #[allow(clippy::exit, reason = "the user asked twice")]
            std::process::exit(exit::INTERRUPTED.into());
        }
        if HAS_STEPS.load(Ordering::Relaxed) {
            say("stopping after this step; Ctrl-C once more stops at once");
        }
    })?;
    Ok(cancel)
}
