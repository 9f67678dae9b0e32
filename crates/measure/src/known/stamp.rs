//! Whether files were touched since they were last read.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use relscale_records::provenance::sha256_bytes;
use serde::{Deserialize, Serialize};

/// How long a file must have been left alone to be believed: file systems count times in ticks of
/// up to two seconds.
pub const SETTLING: Duration = Duration::from_secs(2);

/// What stands for a set of files as they are now; equal stamps, equal bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stamp(String);

#[cfg(test)]
impl Stamp {
    pub(super) fn made_up(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// The files that an input is read from.
pub struct Files<'a> {
    /// Everything but the files that decides what is read out of them.
    about: String,
    list: Box<dyn Fn() -> Option<Vec<PathBuf>> + 'a>,
    settling: Duration,
}

impl<'a> Files<'a> {
    /// Files that `list` names anew at each look; `None` when it cannot. `about` is everything else
    /// that decides what is read out of them: options, the program's way of reading.
    pub fn new(about: impl Into<String>, list: impl Fn() -> Option<Vec<PathBuf>> + 'a) -> Self {
        Self { about: about.into(), list: Box::new(list), settling: SETTLING }
    }

    /// Believes files that were left alone for less (or more) than [`SETTLING`]; for tests and for
    /// file systems with better clocks.
    pub fn settle_after(&mut self, settling: Duration) {
        self.settling = settling;
    }

    /// The stamp of the files as they are now. `None` when one of them cannot be looked at or was
    /// touched just now, and on systems that do not tell enough.
    pub fn stamp(&self) -> Option<Stamp> {
        let files = (self.list)()?;
        let mut text = self.about.clone();
        for file in &files {
            let (line, touched) = signature(file)?;
            // A time to come (another machine's clock) is never old enough.
            if SystemTime::now().duration_since(touched).ok()? < self.settling {
                return None;
            }
            text.push('\n');
            text.push_str(&line);
        }
        Some(Stamp(sha256_bytes(text.as_bytes())))
    }
}

/// A line that changes whenever the file does, and when it was last touched. Writing to a file
/// moves the time of its inode, which no program can set back; replacing it makes another inode.
#[cfg(unix)]
fn signature(file: &Path) -> Option<(String, SystemTime)> {
    use std::os::unix::fs::MetadataExt;
    let there = std::fs::metadata(file).ok()?;
    let line = format!(
        "{:?} {} {} {} {}.{} {}.{}",
        file,
        there.dev(),
        there.ino(),
        there.size(),
        there.mtime(),
        there.mtime_nsec(),
        there.ctime(),
        there.ctime_nsec(),
    );
    let touched = (there.mtime(), there.mtime_nsec()).max((there.ctime(), there.ctime_nsec()));
    let touched = Duration::new(touched.0.try_into().ok()?, touched.1.try_into().ok()?);
    Some((line, UNIX_EPOCH + touched))
}

#[cfg(not(unix))]
fn signature(_: &Path) -> Option<(String, SystemTime)> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    /// The files of a folder, believed at once.
    fn files(folder: &Path) -> Files<'static> {
        let folder = folder.to_owned();
        let mut files = Files::new("test", move || {
            let mut files: Vec<PathBuf> = fs::read_dir(&folder)
                .ok()?
                .map(|entry| Some(entry.ok()?.path()))
                .collect::<Option<_>>()?;
            files.sort();
            Some(files)
        });
        files.settle_after(Duration::ZERO);
        files
    }

    /// Waits for the next tick of the file system's clock, for which [`SETTLING`] waits elsewhere.
    fn stamp(files: &Files<'_>) -> Stamp {
        std::thread::sleep(Duration::from_millis(30));
        files.stamp().unwrap()
    }

    #[test]
    fn a_byte_changed_under_the_old_size_and_time_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights");
        fs::write(&path, [0u8; 64]).unwrap();
        let files = files(folder.path());
        let before = stamp(&files);
        assert_eq!(stamp(&files), before);

        let written = fs::metadata(&path).unwrap().modified().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[63] = 1;
        fs::write(&path, &bytes).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);
        assert_ne!(stamp(&files), before);
    }

    #[test]
    fn a_file_that_comes_is_seen_and_one_of_now_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "x").unwrap();
        let mut files = files(folder.path());
        let before = stamp(&files);
        fs::write(folder.path().join("b"), "").unwrap();
        assert_ne!(stamp(&files), before);
        files.settle_after(SETTLING);
        fs::write(folder.path().join("b"), "").unwrap();
        assert_eq!(files.stamp(), None);
        let nowhere = Files::new("test", || Some(vec!["/nowhere/at/all".into()]));
        assert_eq!(nowhere.stamp(), None);
        assert_eq!(Files::new("test", || None).stamp(), None);
    }
}
