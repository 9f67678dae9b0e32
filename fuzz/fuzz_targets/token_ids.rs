//! Runs `relscale_fuzz::targets::corpora::token_ids`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::corpora::token_ids(data));
