//! Runs `relscale_fuzz::targets::tokenizers::vocab_and_merges`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::tokenizers::vocab_and_merges(data));
