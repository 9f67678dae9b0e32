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
    assert_eq!((version.code, lines.len(), lines[0]), (Some(0), 4, "relscale [VERSION]"));
    for (line, name) in lines[1..].iter().zip(["f32", "bf16", "processor"]) {
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
    assert!(nothing.err.contains("Usage: relscale <COMMAND>"));
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

/// On a terminal no table is wider than it, and no column is lost: those that do not fit stand
/// below.
#[test]
#[cfg(target_os = "linux")]
fn tables_fit_the_terminal() {
    use relscale_testkit::{MadeUpFamily, made_up_study};
    let place = Place::new();
    let corpus = "a-corpus-with-a-rather-long-name".to_owned();
    made_up_study(&place.path("study"), &MadeUpFamily { corpus, ..MadeUpFamily::default() });
    assert_eq!(place.run(&["fit", "study", "--resamples", "50"]).code, Some(0));
    let program = env!("CARGO_BIN_EXE_relscale");
    for command in ["fit study --resamples 50", "predict study", "sweep list"] {
        for columns in [60, 80, 120] {
            let mut script = std::process::Command::new("script");
            let line = format!("stty cols {columns} rows 40; {program} {command} 2>/dev/null");
            script.args(["-qc", &line, "/dev/null"]).current_dir(place.path(""));
            script.env("TERM", "dumb").env_remove("COLUMNS").stdin(std::process::Stdio::null());
            let Ok(output) = script.output() else { return skipped(MACHINE, NO_SCRIPT) };
            let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
            assert!(widest <= columns, "{command} at {columns}: {widest} columns\n{text}");
            for word in place
                .run(&command.split(' ').collect::<Vec<_>>())
                .out
                .lines()
                .next()
                .unwrap()
                .split_whitespace()
            {
                assert!(text.contains(word), "{command} at {columns} lacks {word}\n{text}");
            }
        }
    }
}
