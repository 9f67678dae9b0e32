//! Which crates: names, versions and hashes, from the list that the program carries or from a
//! `Cargo.lock`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::CorpusError;

/// The list that ships with the program: a crate a line, `NAME VERSION SHA256`.
const SHIPPED: &str = include_str!("../../../../../assets/crates.txt");

/// A published crate, down to its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The crate's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// sha256 of its `.crate` file, hexadecimal; `None` where a lock file has none.
    pub sha256: Option<String>,
}

impl Pinned {
    /// `NAME-VERSION`, which its folder is called.
    pub fn folder(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// The crates of `assets/crates.txt`: those on whose text the shipped family was trained, and
    /// those that were held out.
    pub fn shipped() -> Vec<Self> {
        let lines = SHIPPED.lines().filter(|line| !line.starts_with('#'));
        let words = lines.map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let pinned = words.filter_map(|words| {
            let [name, version, sha256]: [String; 3] = words.try_into().ok()?;
            Some(Self { name, version, sha256: Some(sha256) })
        });
        pinned.collect()
    }

    /// The registry crates that a workspace is locked to. `manifest` is its `Cargo.toml`, or that
    /// of a member.
    ///
    /// # Errors
    /// There is no lock file beside or above the manifest, or it is not TOML.
    pub fn locked(manifest: &Path) -> Result<Vec<Self>, CorpusError> {
        let path = lock_file_of(manifest)?;
        let text = std::fs::read_to_string(&path).map_err(CorpusError::read(&path))?;
        let lock: Lock = toml::from_str(&text).map_err(|source| CorpusError::LockFile {
            path: path.clone(),
            source: Box::new(source),
        })?;
        let of_registry = |package: &Package| {
            let source = package.source.as_deref();
            source.is_some_and(|source| {
                source.starts_with("registry+") || source.starts_with("sparse+")
            })
        };
        let packages = lock.package.into_iter().filter(of_registry);
        let pinned =
            |one: Package| Self { name: one.name, version: one.version, sha256: one.checksum };
        Ok(packages.map(pinned).collect())
    }
}

/// The `Cargo.toml` that a path is, or that the folder there has.
///
/// # Errors
/// [`CorpusError::NoManifest`].
pub fn manifest_at(path: &Path) -> Result<PathBuf, CorpusError> {
    let manifest = if path.is_dir() { path.join("Cargo.toml") } else { path.to_owned() };
    if manifest.is_file() {
        Ok(manifest)
    } else {
        Err(CorpusError::NoManifest { given: path.to_owned() })
    }
}

/// The nearest `Cargo.lock` beside or above the manifest (a workspace member's lock file is at the
/// workspace's root).
fn lock_file_of(manifest: &Path) -> Result<PathBuf, CorpusError> {
    let manifest = manifest.canonicalize().map_err(CorpusError::read(manifest))?;
    let lock = manifest
        .ancestors()
        .skip(1)
        .map(|folder| folder.join("Cargo.lock"))
        .find(|path| path.is_file());
    lock.ok_or(CorpusError::NoLockFile { manifest })
}

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_a_crate() {
        let lines = SHIPPED.lines().filter(|line| !line.starts_with('#'));
        let shipped = Pinned::shipped();
        assert_eq!(lines.count(), shipped.len());
        assert!(shipped.len() > 250);
        assert!(shipped.windows(2).all(|pair| pair[0].name < pair[1].name), "sorted, a name once");
        for one in shipped {
            let sha256 = one.sha256.unwrap();
            assert!(
                sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit()),
                "{}",
                one.name
            );
        }
    }
}
