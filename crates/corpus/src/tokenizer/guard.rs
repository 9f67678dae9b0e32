//! The tokenizer library panics on some files that are no tokenizers, and on some texts of
//! tokenizers that are odd. Here a panic becomes a refusal.

/// Runs a call into the library. An error, or a panic, is a reason.
///
/// What the call had in its hands may be left half changed, so whoever hands over a tokenizer to be
/// changed must give it up with the reason.
pub(super) fn guarded<T>(call: impl FnOnce() -> tokenizers::Result<T>) -> Result<T, String> {
    match relscale_records::guard::guarded(call) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(said) => Err(format!("the tokenizer library gave up ({said})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_panics_are_reasons() {
        assert_eq!(guarded(|| Ok(1)), Ok(1));
        assert_eq!(guarded::<()>(|| Err("wrong".into())), Err("wrong".to_owned()));
        assert_eq!(
            guarded::<()>(|| panic!("at {}", 7)),
            Err("the tokenizer library gave up (at 7)".to_owned())
        );
    }
}
