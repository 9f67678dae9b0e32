//! Runs `relscale_fuzz::targets::records::table`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| relscale_fuzz::targets::records::table(data));
