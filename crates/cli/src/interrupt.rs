//! Ctrl-C: the first one asks for a good end, the second one ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{exit, progress};

/// Installs the handler and returns the flag that it sets. Termination (`kill`) counts as Ctrl-C.
///
/// # Errors
/// The system allows no handler.
pub(crate) fn watch() -> anyhow::Result<Arc<AtomicBool>> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            // Nothing is lost by that: a file appears under its name only when it is whole.
            #[allow(clippy::exit, reason = "the user asked twice")]
            std::process::exit(exit::INTERRUPTED.into());
        }
        progress::say("stopping after this step; Ctrl-C once more stops at once");
    })?;
    Ok(cancel)
}
