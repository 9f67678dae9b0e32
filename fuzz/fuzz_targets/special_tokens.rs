//! Runs `relscale_fuzz::targets::tokenizers::special_tokens`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::tokenizers::special_tokens(data));
