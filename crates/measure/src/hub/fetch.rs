//! One file into the cache: locked, resumed where it was cut, checked, and only then a blob.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use relscale_records::atomic::GrownFile;
use relscale_records::lock::FileLock;
use relscale_records::provenance::sha256_reader;
use sha1::{Digest, Sha1};

use super::cache::Cache;
use super::event::HubEvent;
use super::name::Repository;
use super::remote::{Entry, Remote, failed};
use crate::error::{Error, HubError, Result};

/// Tries in a row that bring no byte before a file is given up.
const TRIES: u32 = 5;

/// How often a lock that another holds is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Bytes that are read at once.
const BLOCK: usize = 1 << 18;

/// Where a file comes from and goes to.
pub struct Fetch<'a> {
    /// The Hub.
    pub remote: Remote<'a>,
    /// The cache.
    pub cache: &'a Cache,
    /// The repository.
    pub repository: &'a Repository,
    /// Its commit.
    pub commit: &'a str,
    /// Ends it between two blocks.
    pub cancel: &'a AtomicBool,
    /// Called for waits and files that cannot be checked.
    pub listener: &'a dyn Fn(HubEvent<'_>),
    /// Called with how many bytes of the file are there.
    pub came: &'a dyn Fn(u64),
}

impl Fetch<'_> {
    /// Fetches a file and lets the snapshot point to it.
    ///
    /// # Errors
    /// [`Error::Hub`], [`Error::Cancelled`]; what came is kept for the next start.
    pub fn file(&self, entry: &Entry) -> Result<()> {
        let blob = self.cache.blob(self.repository, &entry.etag);
        let lock = self.cache.lock(self.repository, &entry.etag);
        let _held = self.lock(&lock, entry)?;
        // Another process, or another commit with the same file.
        let new = !blob.is_file();
        if new {
            self.cache.make_folder_of(&blob).map_err(keeping(&blob, entry.size.unwrap_or(0)))?;
            self.blob(entry, &blob)?;
        }
        (self.came)(entry.size.unwrap_or(0));
        self.cache
            .point(self.repository, self.commit, &entry.file, &entry.etag, new)
            .map_err(keeping(&self.cache.snapshot(self.repository, self.commit), 0))
    }

    fn lock(&self, path: &Path, entry: &Entry) -> Result<FileLock> {
        self.cache.make_folder_of(path).map_err(keeping(path, entry.size.unwrap_or(0)))?;
        let mut told = false;
        loop {
            let taken = FileLock::try_take(path).map_err(Error::from).map_err(keeping(path, 0))?;
            if let Some(lock) = taken {
                return Ok(lock);
            }
            if !std::mem::replace(&mut told, true) {
                (self.listener)(HubEvent::Waits { file: &entry.file });
            }
            self.check()?;
            std::thread::sleep(LOOK);
        }
    }

    /// The bytes, whole and right.
    fn blob(&self, entry: &Entry, blob: &Path) -> Result<()> {
        let aside = self.cache.incomplete(self.repository, &entry.etag);
        let keep = |left| keeping(&aside, left);
        let mut file = GrownFile::open(&aside).map_err(Error::from).map_err(keep(0))?;
        let size = self.bytes(entry, &mut file, &aside)?;
        if let Some(reason) = self.difference(entry, size, &file)? {
            let (what, name) = (self.repository.to_string(), entry.file.clone());
            file.discard();
            return Err(HubError::Wrong { what, file: name, reason }.into());
        }
        file.commit(blob).map_err(Error::from).map_err(keep(0))
    }

    /// Reads until all is there, over as many connections as it takes while each brings something;
    /// gives back the size.
    fn bytes(&self, entry: &Entry, file: &mut GrownFile, aside: &Path) -> Result<u64> {
        let keep = |file: &GrownFile| {
            keeping(aside, entry.size.unwrap_or(0).saturating_sub(file.length()))
        };
        // More than all of it: the rest of something else.
        if entry.size.is_some_and(|size| file.length() > size) {
            file.restart().map_err(Error::from).map_err(keep(file))?;
        }
        let mut size = entry.size;
        let mut tries = 0;
        loop {
            self.check()?;
            if size == Some(file.length()) {
                return Ok(file.length());
            }
            let before = file.length();
            let answer = self.remote.bytes(self.repository, self.commit, entry, before)?;
            match answer.status() {
                206 if begins_at(answer.header("Content-Range"), before) => {}
                // The server has less than is there, or gives something else.
                206 | 416 => {
                    file.restart().map_err(Error::from).map_err(keep(file))?;
                    tries += 1;
                    if tries >= TRIES {
                        return Err(self.cut(entry, file, size, "it gives other ranges").into());
                    }
                    continue;
                }
                _ => file.restart().map_err(Error::from).map_err(keep(file))?,
            }
            let length =
                answer.header("Content-Length").and_then(|value| value.parse::<u64>().ok());
            size = size.or_else(|| Some(file.length() + length?));
            let broken = self.copy(&mut answer.reader(), file, aside, size)?;
            match broken {
                None if size.is_none_or(|size| size == file.length()) => return Ok(file.length()),
                None if size.is_some_and(|size| file.length() > size) => return Ok(file.length()),
                broken => {
                    tries = if file.length() > before { 1 } else { tries + 1 };
                    let reason = broken.map_or("the connection ended".into(), |e| e.to_string());
                    if tries >= TRIES {
                        return Err(self.cut(entry, file, size, &reason).into());
                    }
                    self.remote
                        .client
                        .pause(tries, &entry.url, &reason)
                        .map_err(failed(&self.repository.to_string()))?;
                }
            }
        }
    }

    /// Bytes of one connection; the error by which it broke, if it did.
    fn copy(
        &self,
        from: &mut dyn Read,
        file: &mut GrownFile,
        aside: &Path,
        size: Option<u64>,
    ) -> Result<Option<io::Error>> {
        let mut block = vec![0; BLOCK];
        loop {
            self.check()?;
            let count = match from.read(&mut block) {
                Ok(0) => return Ok(None),
                Ok(count) => count,
                Err(error) => {
                    self.check()?;
                    return Ok(Some(error));
                }
            };
            file.write_all(&block[..count]).map_err(|source| HubError::Keep {
                path: aside.to_owned(),
                source,
                missing: size.unwrap_or(0).saturating_sub(file.length()),
            })?;
            (self.came)(file.length());
            // A server that sends without end.
            if size.is_some_and(|size| file.length() > size) {
                return Ok(None);
            }
        }
    }

    /// How what came differs from what was said; none where it does not.
    fn difference(&self, entry: &Entry, size: u64, file: &GrownFile) -> Result<Option<String>> {
        if let Some(wanted) = entry.size.filter(|wanted| *wanted != size) {
            return Ok(Some(format!("{wanted} bytes, and {size} came")));
        }
        let hexadecimal = entry.etag.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (name, found) = match entry.etag.len() {
            64 if hexadecimal => ("sha256", sha256_reader(&mut file.reader()?)),
            40 if hexadecimal => ("git's sha1", git_sha1(&mut file.reader()?, size)),
            _ => {
                (self.listener)(HubEvent::Unchecked { file: &entry.file });
                return Ok(None);
            }
        };
        let found = found.map_err(|source| HubError::Keep {
            path: self.cache.blob(self.repository, &entry.etag),
            source,
            missing: 0,
        })?;
        let same = found.eq_ignore_ascii_case(&entry.etag);
        Ok((!same).then(|| format!("{name} {}, and {found} came", entry.etag)))
    }

    fn cut(&self, entry: &Entry, file: &GrownFile, size: Option<u64>, reason: &str) -> HubError {
        HubError::Cut {
            what: self.repository.to_string(),
            file: entry.file.clone(),
            done: file.length(),
            of: size.unwrap_or(0),
            reason: reason.to_owned(),
        }
    }

    fn check(&self) -> Result<()> {
        match self.cancel.load(Ordering::Relaxed) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }
}

/// `Content-Range: bytes FIRST-LAST/SIZE`.
fn begins_at(range: Option<&str>, first: u64) -> bool {
    let begin = range.and_then(|range| range.trim().strip_prefix("bytes ")?.split('-').next());
    begin.and_then(|begin| begin.parse().ok()) == Some(first)
}

/// The name of a file's bytes in git: sha1 over `blob SIZE\0` and the bytes.
fn git_sha1(file: &mut File, size: u64) -> io::Result<String> {
    let mut hash = Sha1::new();
    hash.update(format!("blob {size}\0"));
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block)? {
            0 => break,
            count => hash.update(&block[..count]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// An error of the disk, in the words of the cache.
pub(super) fn keeping(path: &Path, missing: u64) -> impl FnOnce(Error) -> Error + use<> {
    let path = path.to_owned();
    move |error| match error {
        Error::Records(relscale_records::Error::Write { path, source }) => {
            HubError::Keep { path, source, missing }.into()
        }
        Error::Records(relscale_records::Error::InTheWay { what, .. }) => {
            HubError::Keep { path, source: io::Error::other(what), missing }.into()
        }
        error => error,
    }
}
