//! Runs `relscale_fuzz::targets::tokenizers::tokenizer_json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::tokenizers::tokenizer_json(data));
