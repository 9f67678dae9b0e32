//! What `--version` shows besides the number: which kernels this processor gets, since a speed, a
//! record and a report of trouble all depend on them.

use std::sync::OnceLock;

use relscale_decoder::kernels::{Choice, Dtype, Format};
use relscale_decoder::processor;

/// The commit that this was built from, where it was built in a checkout.
const COMMIT: &str = env!("RELSCALE_COMMIT");

/// The version with its commit, the kernels of each kind of numbers, the processor and its
/// features: a line each. The version alone where nobody asks by `--version`: to choose kernels may
/// take a timing, and every start builds this.
pub(crate) fn long() -> &'static str {
    static LONG: OnceLock<String> = OnceLock::new();
    match std::env::args_os().any(|argument| argument == "--version") {
        true => LONG.get_or_init(lines),
        false => env!("CARGO_PKG_VERSION"),
    }
}

fn lines() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut lines = vec![match COMMIT {
        "" => version.to_owned(),
        commit => format!("{version} ({commit})"),
    }];
    for dtype in [Dtype::F32, Dtype::Bf16] {
        let kernels = Format::new(dtype, Choice::Best).kernels().name();
        lines.push(format!("{}: {kernels}", dtype.name()));
    }
    lines.push(format!("processor: {}", processor::name()));
    let features = processor::features();
    if !features.is_empty() {
        lines.push(format!("features: {}", features.join(" ")));
    }
    lines.join("\n")
}
