//! Runs `relscale_fuzz::targets::records::cells`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::records::cells(data));
