//! The page on paper: printed by a converter that the machine has.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use relscale_records::atomic::AtomicFile;

use crate::exit::Refusal;
use crate::terminal::some_of;

/// How a program turns a page into a PDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Headless, as all browsers that descend from Chromium.
    Browser,
    /// `program PAGE PDF`.
    Converter,
}

/// What is looked for on the PATH, the best first: browsers run the page's script, which opens what
/// is folded.
const PROGRAMS: [(&str, Kind); 8] = [
    ("chromium", Kind::Browser),
    ("chromium-browser", Kind::Browser),
    ("google-chrome", Kind::Browser),
    ("google-chrome-stable", Kind::Browser),
    ("chrome", Kind::Browser),
    ("msedge", Kind::Browser),
    ("weasyprint", Kind::Converter),
    ("wkhtmltopdf", Kind::Converter),
];

/// Prints a page to the PDF of the same name beside it; the PDF's path.
///
/// # Errors
/// No converter is there, or all that are there fail.
pub(super) fn convert(page: &Path) -> anyhow::Result<PathBuf> {
    let folders: Vec<PathBuf> =
        env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    let programs: Vec<(PathBuf, Kind)> = PROGRAMS
        .iter()
        .flat_map(|(name, kind)| {
            let name = format!("{name}{}", env::consts::EXE_SUFFIX);
            folders.iter().map(move |folder| (folder.join(&name), *kind))
        })
        .filter(|(path, _)| path.is_file())
        .collect();
    if programs.is_empty() {
        return Err(Refusal::new(
            format!("{}: no program that makes a PDF of it is on the PATH", page.display()),
            "install chromium (or weasyprint, or wkhtmltopdf), or open the page in a browser and print it to a file",
        )
        .into());
    }
    let pdf = page.with_extension("pdf");
    // The converter writes aside, so that a reader sees the old file or the new one.
    let aside = AtomicFile::create(&pdf)?;
    let mut failed = Vec::new();
    for (program, kind) in programs {
        match print(&program, kind, page, aside.aside()) {
            Ok(()) => {
                aside.commit_as_written()?;
                return Ok(pdf);
            }
            Err(reason) => failed.push(format!("{} ({reason})", program.display())),
        }
    }
    anyhow::bail!(
        "{}: no PDF came out of {}; open the page in a browser and print it to a file",
        page.display(),
        some_of(&failed, 3)
    )
}

/// Runs a program; the reason why there is no PDF after it.
fn print(program: &Path, kind: Kind, page: &Path, pdf: &Path) -> Result<(), String> {
    let page = fs::canonicalize(page).map_err(|error| error.to_string())?;
    // Its folder is there, the file is not yet.
    let folder = page.parent().map(Path::to_owned).unwrap_or_default();
    let pdf = folder.join(pdf.file_name().unwrap_or_default());
    let mut command = Command::new(program);
    match kind {
        Kind::Converter => {
            command.arg(&page).arg(&pdf);
        }
        Kind::Browser => {
            // A profile of its own: one that a running browser holds would only open a window
            // there.
            let profile = env::temp_dir().join(format!("relscale-pdf-{}", std::process::id()));
            command.args([
                "--headless",
                "--disable-gpu",
                "--no-first-run",
                "--no-pdf-header-footer",
            ]);
            command.args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ]);
            command.arg(option("--user-data-dir=", &profile));
            if is_root() {
                // Chromium builds no walls around itself for root, and does not start without being
                // told so.
                command.arg("--no-sandbox");
            }
            command.arg(option("--print-to-pdf=", &pdf)).arg(url(&page));
            let done = wait(&mut command, &pdf);
            let _ = fs::remove_dir_all(&profile);
            return done;
        }
    }
    wait(&mut command, &pdf)
}

fn wait(command: &mut Command, pdf: &Path) -> Result<(), String> {
    let output = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let made = fs::read(pdf).is_ok_and(|bytes| bytes.starts_with(b"%PDF"));
    match (output.status.success(), made) {
        (true, true) => Ok(()),
        (true, false) => Err("it wrote no PDF".to_owned()),
        (false, _) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said =
                said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given");
            Err(format!("{}: {}", output.status, said.trim()))
        }
    }
}

/// An option and a path that need not be UTF-8.
fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(path);
    option
}

/// The address of a file: what is not plain in a path is written as its bytes.
pub(in crate::commands) fn url(path: &Path) -> String {
    let mut url = String::from("file://");
    // Byte by byte, since a path need not be UTF-8.
    let bytes = path.as_os_str().as_encoded_bytes();
    let bytes: Vec<u8> = bytes
        .iter()
        .map(|&byte| if cfg!(windows) && byte == b'\\' { b'/' } else { byte })
        .collect();
    if !bytes.starts_with(b"/") {
        url.push('/');
    }
    for &byte in bytes.strip_prefix(b"//?/").unwrap_or(&bytes) {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b':' => {
                url.push(char::from(byte));
            }
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    url
}

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0)
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_an_address() {
        assert_eq!(url(Path::new("/a b/ü#1.html")), "file:///a%20b/%C3%BC%231.html");
        assert_eq!(url(Path::new("C:/x/report.html")), "file:///C:/x/report.html");
    }
}
