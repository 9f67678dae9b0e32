//! Runs `relscale_fuzz::targets::tables::size_tokens`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::tables::size_tokens(data));
