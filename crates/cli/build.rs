//! Tells the program from which commit it is built: empty where there is no checkout, or no git.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
        Some(text.trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    println!("cargo::rustc-env=RELSCALE_COMMIT={commit}");
    println!("cargo::rerun-if-changed=build.rs");
    // The branch that is checked out, and where it stands.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name]);
        // One that is not there would have this run for every build.
        if let Some(path) = path.filter(|path| std::path::Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}
