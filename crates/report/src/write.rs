//! The files of a report: written whole or not at all, and those of an earlier one taken away.

use std::fs;
use std::io;
use std::path::Path;

use relscale_records::atomic;

use crate::error::{ReportError, Result};

/// Makes the folder of the figures inside the study.
pub(crate) fn folder(path: &Path) -> Result<()> {
    atomic::inner_folder(path).map_err(|error| refused(path, error))
}

/// Writes a file aside, syncs it and renames it. A reader sees the old file or the new one, also
/// where two reports are made at once; an attempt that fails leaves the old one and nothing else.
pub(crate) fn whole(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    atomic::write_whole(path, content.as_ref()).map_err(|error| refused(path, error))
}

/// Removes figures of an earlier report that this one did not write, so that none is taken for
/// current. Only names that our figures have are touched.
pub(crate) fn remove_stale(
    folder: &Path,
    names: &[&str],
    written: &[impl AsRef<Path>],
) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        let ours = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| {
            let figure = name.split_once("--").is_some_and(|(figure, _)| names.contains(&figure));
            figure && [".svg", ".png", ".csv"].iter().any(|ending| name.ends_with(ending))
        });
        if ours && !written.iter().any(|kept| kept.as_ref() == path) {
            match fs::remove_file(&path) {
                // Another report of the same study was faster.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed.map_err(failed(&path))?,
            }
        }
    }
    Ok(())
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> ReportError {
    let path = path.to_path_buf();
    move |source| ReportError::Write { path, source }
}

fn refused(path: &Path, error: relscale_records::Error) -> ReportError {
    match error {
        relscale_records::Error::Write { source, .. } => failed(path)(source),
        other => ReportError::Place(Box::new(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_stale_figures_go() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for name in [
            "greedy--old.svg",
            "greedy--old.csv",
            "greedy--old.png",
            "greedy--new.svg",
            "greedy--notes.txt",
            "mine--x.svg",
        ] {
            whole(&at(name), "x").unwrap();
        }
        remove_stale(home.path(), &["greedy"], &[at("greedy--new.svg")]).unwrap();
        let mut left: Vec<String> = fs::read_dir(home.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["greedy--new.svg", "greedy--notes.txt", "mine--x.svg"]);
    }

    /// As every file of ours: known to last only once its folder is synced.
    #[cfg(unix)]
    #[test]
    fn the_folder_is_synced() {
        let home = tempfile::tempdir().unwrap();
        let _dying = atomic::faults::dying(home.path());
        let made =
            [whole(&home.path().join("report.html"), "new"), folder(&home.path().join("figures"))];
        for made in made {
            assert!(made.unwrap_err().to_string().contains("the disk died"));
        }
    }

    /// A disk that is really full, as the kernel plays it.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_the_old_file() {
        let home = tempfile::tempdir().unwrap();
        let page = home.path().join("report.html");
        whole(&page, "old").unwrap();
        let _full = atomic::faults::full(&page);
        let message = whole(&page, "new").unwrap_err().to_string();
        assert!(message.contains("report.html"), "{message}");
        assert_eq!(fs::read_to_string(&page).unwrap(), "old");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
