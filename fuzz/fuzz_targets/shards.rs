//! Runs `relscale_fuzz::targets::checkpoints::shards`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::checkpoints::shards(data));
