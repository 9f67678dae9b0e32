//! Calls into libraries that panic on some damaged or odd inputs where they should refuse them: a
//! panic becomes a reason, and says nothing on standard error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Calls of this thread that are guarded, one inside another.
    static GUARDED: Cell<u32> = const { Cell::new(0) };
}

/// Runs a call; a panic is what it said.
///
/// What the call had in its hands may be left half changed, so whoever hands over something to be
/// changed must give it up with the reason. A panic of another thread that the call started is told
/// by that thread.
///
/// # Errors
/// The panic's words.
///
/// ```
/// use relscale_records::guard::guarded;
/// assert_eq!(guarded(|| 1), Ok(1));
/// assert_eq!(guarded(|| -> u8 { panic!("at {}", 7) }), Err("at 7".to_owned()));
/// ```
pub fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            // A thread that is ending has no count any more, and no guard.
            if GUARDED.try_with(Cell::get).unwrap_or(0) == 0 {
                others(panic);
            }
        }));
    });
    GUARDED.set(GUARDED.get() + 1);
    let called = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(GUARDED.get() - 1);
    called.map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        said.or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no reason given")
            .to_owned()
    })
}
