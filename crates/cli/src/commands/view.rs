//! `relscale view`: the page of a study, before one's eyes.

mod serve;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::json::{self, Json};
use super::report::{self, PAGE};
use crate::exit::Refusal;
use crate::spare::{Input, spare};
use crate::{interrupt, terminal};

/// Open the page of a study in a browser, or serve it where none can open a file.
///
/// Without options the system's own program opens STUDY/report.html. Where there is none, as on a
/// machine that one is logged in to from another, the page and its files are served at an address
/// of this machine only, until Ctrl-C; `ssh -L PORT:127.0.0.1:PORT MACHINE` takes it to a browser
/// elsewhere.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  relscale view study
  relscale view study --serve 8000
  relscale view study --print")]
pub(crate) struct Arguments {
    /// The study folder
    study: PathBuf,

    /// Serve the page at http://127.0.0.1:PORT/ instead of opening it
    /// [default: a port that is free]
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
    serve: Option<u16>,

    /// Only print the path of the page
    #[arg(long, conflicts_with = "serve")]
    print: bool,

    /// Write path and address as JSON to a file, or to standard output (-) and nothing else there
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

/// Where the page is, for machines.
#[derive(Serialize)]
struct Seen {
    page: String,
    url: String,
}

/// Carries the command out.
///
/// # Errors
/// There is no page, the port is taken, and nothing can open a page and nothing be served.
pub(super) fn run(arguments: &Arguments, cancel: &AtomicBool) -> anyhow::Result<()> {
    let mut read = Input::results(&arguments.study);
    let page = page(&arguments.study)?;
    read.push(Input::Path(page.clone()));
    spare(&[Json::file(arguments.json.as_ref())], &read)?;
    if arguments.print {
        let seen = Seen { url: report::url(&page), page: json::text(&page) };
        return json::hand_over(&seen, arguments.json.as_ref(), || terminal::print(&seen.page));
    }
    let port = match arguments.serve {
        Some(port) => port,
        None if open(&page) => {
            let seen = Seen { url: report::url(&page), page: json::text(&page) };
            return json::hand_over(&seen, arguments.json.as_ref(), || {
                terminal::message("opened in the browser:");
                terminal::print(&seen.page)
            });
        }
        None => {
            terminal::message("no program here opens a page, so it is served");
            0
        }
    };
    let listener = listen(port)?;
    let url = format!("http://{}/", listener.local_addr()?);
    let seen = Seen { page: json::text(&page), url };
    json::hand_over(&seen, arguments.json.as_ref(), || terminal::print(&seen.url))?;
    terminal::message("Ctrl-C ends it");
    interrupt::nothing_to_end();
    serve::until(&listener, page.parent().unwrap_or(Path::new(".")), cancel)
}

/// The page of a study, as a whole path.
fn page(study: &Path) -> anyhow::Result<PathBuf> {
    let page = study.join(PAGE);
    if !page.is_file() {
        let what = format!("{}: there is no page", page.display());
        return Err(Refusal::new(
            what,
            format!("run `relscale report {}` first", terminal::quoted(study)),
        )
        .into());
    }
    Ok(std::fs::canonicalize(&page)?)
}

/// A port of this machine that nobody else can reach.
fn listen(port: u16) -> anyhow::Result<TcpListener> {
    TcpListener::bind(("127.0.0.1", port)).map_err(|error| {
        let what = format!("port {port} of this machine cannot be had: {error}");
        Refusal::new(what, "give another one, or none: --serve").into()
    })
}

/// Asks the system to open a file; false where it cannot.
fn open(page: &Path) -> bool {
    let quiet = |command: &mut Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if cfg!(target_os = "windows") {
        // `start` takes its first argument in quotes for a title.
        return quiet(Command::new("cmd").args(["/c", "start", ""]).arg(page));
    }
    if cfg!(target_os = "macos") {
        return quiet(Command::new("open").arg(page));
    }
    // Without a screen xdg-open would start a browser of text, or nothing.
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    screen && quiet(Command::new("xdg-open").arg(page))
}
