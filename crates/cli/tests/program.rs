//! The program as a whole: its help, its version, its manners.

mod common;

use common::Place;
use relscale_testkit::data::{MACHINE, skipped};

const NO_SCRIPT: &str = "there is no `script` to make a terminal";

#[test]
fn help_and_version() {
    let place = Place::new();
    place.run(&["--help"]).shows("help");
    let version = place.run(&["-V"]);
    assert_eq!((version.code, version.out.as_str()), (Some(0), "relscale [VERSION]\n"));
    // And the kernels that this processor gets, whichever they are.
    let version = place.run(&["--version"]);
    let lines: Vec<&str> = version.out.lines().collect();
    // The commit, where it was built in a checkout.
    let commit = lines[0].strip_prefix("relscale [VERSION]").unwrap();
    let is_commit = commit.starts_with(" (") && commit.len() == " (0123456789ab)".len();
    assert!(version.code == Some(0) && (commit.is_empty() || is_commit), "{lines:?}");
    assert!((4..=5).contains(&lines.len()), "{lines:?}");
    for (line, name) in lines[1..].iter().zip(["f32", "bf16", "processor", "features"]) {
        let value = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(": "));
        assert!(value.is_some_and(|value| !value.is_empty()), "{lines:?}");
    }
    for command in ["demo", "measure", "fit", "relative", "predict", "report", "sweep", "view"] {
        let help = place.run(&[command, "--help"]);
        assert_eq!(help.code, Some(0));
        assert!(help.out.contains("Example"), "{command} has no example");
        let widest = help.out.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(110), "{command}: a line of {widest:?} columns");
    }
}

#[test]
fn what_is_no_command_is_wrong_usage() {
    let place = Place::new();
    place.run(&["mesure"]).refuses(2, &["mesure", "measure"]);
    let nothing = place.run(&[]);
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("Usage: relscale [OPTIONS] <COMMAND>"));
}

/// Without a terminal there is not one escape code, whatever the environment says.
#[test]
fn no_colours_where_there_is_no_terminal() {
    let place = Place::new();
    for no_color in ["", "1"] {
        let output = place.command(&["fit", "nowhere"]).env("NO_COLOR", no_color).output().unwrap();
        assert!(!output.stderr.contains(&0x1b));
    }
}

/// On a terminal `error:` is red, unless `NO_COLOR` is set.
#[test]
#[cfg(target_os = "linux")]
fn colours_on_a_terminal_unless_unwanted() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_relscale");
    let screen = |no_color: Option<&str>| {
        let mut script = std::process::Command::new("script");
        script.args(["-qc", &format!("{program} fit nowhere"), "/dev/null"]);
        script.current_dir(place.path("")).env("TERM", "xterm").env_remove("NO_COLOR");
        script.envs(no_color.map(|value| ("NO_COLOR", value))).stdin(std::process::Stdio::null());
        script.output().ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(coloured) = screen(None) else { return skipped(MACHINE, NO_SCRIPT) };
    assert!(coloured.contains("\x1b[1;31merror:\x1b[0m nowhere"), "{coloured:?}");
    let plain = screen(Some("1")).unwrap();
    assert!(plain.contains("error: nowhere") && !plain.contains('\x1b'), "{plain:?}");
}

/// On a terminal no table is wider than it. Of verdicts and numbers that a table is about none is
/// lost: other columns go, or stand below where everything was asked for.
#[test]
#[cfg(target_os = "linux")]
fn tables_fit_the_terminal() {
    use relscale_testkit::{MadeUpFamily, made_up_study};
    let place = Place::new();
    let corpus = "a-corpus-with-a-rather-long-name".to_owned();
    made_up_study(&place.path("study"), &MadeUpFamily { corpus, ..MadeUpFamily::default() });
    assert_eq!(place.run(&["fit", "study", "--resamples", "50"]).code, Some(0));
    let program = env!("CARGO_BIN_EXE_relscale");
    let header = |command: &str| -> Vec<String> {
        let out = place.run(&command.split(' ').collect::<Vec<_>>()).out;
        out.lines().next().unwrap().split_whitespace().map(str::to_owned).collect()
    };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    for (command, kept) in [
        ("fit study --resamples 50", words("distribution k exponent the law holds")),
        ("fit study --resamples 50 --verbose", header("fit study --verbose")),
        ("predict study", words("corpus quantity S value one model, RBP_1")),
        ("sweep list", header("sweep list")),
    ] {
        for columns in [60, 80, 120] {
            let mut script = std::process::Command::new("script");
            let line = format!("stty cols {columns} rows 40; {program} {command} 2>/dev/null");
            script.args(["-qc", &line, "/dev/null"]).current_dir(place.path(""));
            script.env("TERM", "dumb").env_remove("COLUMNS").stdin(std::process::Stdio::null());
            let Ok(output) = script.output() else { return skipped(MACHINE, NO_SCRIPT) };
            let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
            assert!(widest <= columns, "{command} at {columns}: {widest} columns\n{text}");
            for word in &kept {
                assert!(text.contains(word), "{command} at {columns} lacks {word}\n{text}");
            }
        }
    }
}

/// Scripts for shells name every command; the manual has a page for each.
#[test]
fn completions_and_manual_are_of_all_commands() {
    let place = Place::new();
    let commands = ["demo", "measure", "fit", "report", "sweep", "man"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&["completions", shell]);
        assert_eq!(script.code, Some(0), "{}", script.screen());
        for command in commands {
            assert!(script.out.contains(command), "{shell} lacks {command}");
        }
    }
    place.run(&["completions", "cmd"]).refuses(2, &["cmd", "bash"]);
    let page = place.run(&["man"]);
    assert!(page.out.contains(".TH") && page.out.contains("relscale"), "{}", page.screen());
    assert_eq!(place.run(&["man", "--out", "pages"]).code, Some(0));
    for command in commands {
        let page =
            std::fs::read_to_string(place.path("pages").join(format!("relscale-{command}.1")));
        assert!(page.unwrap().contains(".TH"), "{command}");
    }
}
