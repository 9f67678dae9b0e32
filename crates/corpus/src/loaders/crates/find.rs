//! Where the sources of the locked crates are.
//!
//! The lock file names each crate and version, and cargo keeps their sources in `$CARGO_HOME/registry/src/REGISTRY/NAME-VERSION`. Where all of
//! them are there, that is the answer, at once. Where one is missing, `cargo metadata` is asked, which knows of other places and fetches what is
//! missing where there is a network, but may have to wait for another cargo. Where it cannot run, what is there has to do.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::error::CorpusError;

/// One registry crate whose source is on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceCrate {
    /// The crate's name.
    pub name: String,
    /// Its version, as in the lock file.
    pub version: String,
    /// Its licence expression; empty when the manifest gives none (a licence file only).
    pub licence: String,
    /// The folder that holds its `Cargo.toml`.
    pub root: PathBuf,
}

/// How the crates were found; said to the user, because only the first way is sure to be complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundBy {
    /// The lock file was read, and the registry folder has all of them.
    RegistryFolder,
    /// `cargo metadata --locked` listed them all.
    CargoMetadata,
    /// The lock file was read and the registry folder searched, since cargo could not be asked.
    LockFile {
        /// Why cargo could not be asked.
        because: String,
        /// `name-version` of the crates whose sources are not on this machine.
        missing: Vec<String>,
    },
}

impl fmt::Display for FoundBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RegistryFolder => f.write_str("Cargo.lock and the registry folder"),
            Self::CargoMetadata => f.write_str("cargo metadata --locked"),
            Self::LockFile { because, missing } => {
                write!(f, "Cargo.lock and the registry folder, {} crates missing ({because})", missing.len())
            }
        }
    }
}

/// All registry crates of the workspace at `manifest` (see [`super::CrateSources::find`]), in no particular order.
///
/// # Errors
/// No `Cargo.toml` with a `Cargo.lock` is found, or the lock file cannot be read.
pub fn find(manifest: Option<&Path>) -> Result<(Vec<SourceCrate>, FoundBy), CorpusError> {
    let manifest = locate_manifest(manifest)?;
    let by_lock = lock_file_of(&manifest).and_then(|lock| from_lock_file(&lock, &registry_folders()));
    if let Ok((crates, missing)) = &by_lock
        && missing.is_empty()
    {
        return Ok((crates.clone(), FoundBy::RegistryFolder));
    }
    match from_metadata(&manifest) {
        Ok(crates) => Ok((crates, FoundBy::CargoMetadata)),
        Err(because) => {
            let (crates, missing) = by_lock?;
            Ok((crates, FoundBy::LockFile { because, missing }))
        }
    }
}

/// The manifest to start from: the one given, or the nearest `Cargo.toml` at or above the current directory.
fn locate_manifest(given: Option<&Path>) -> Result<PathBuf, CorpusError> {
    let from = match given {
        Some(path) if path.is_dir() => path.join("Cargo.toml"),
        Some(path) => path.to_owned(),
        None => {
            let here =
                std::env::current_dir().map_err(|source| CorpusError::Read { path: ".".into(), source })?;
            here.ancestors()
                .map(|folder| folder.join("Cargo.toml"))
                .find(|path| path.is_file())
                .unwrap_or_default()
        }
    };
    if from.is_file() { Ok(from) } else { Err(CorpusError::NoManifest { given: given.map(Path::to_owned) }) }
}

/// The nearest `Cargo.lock` beside or above the manifest (a workspace member's lock file is at the workspace's root).
fn lock_file_of(manifest: &Path) -> Result<PathBuf, CorpusError> {
    let manifest =
        manifest.canonicalize().map_err(|source| CorpusError::Read { path: manifest.to_owned(), source })?;
    manifest
        .ancestors()
        .skip(1)
        .map(|folder| folder.join("Cargo.lock"))
        .find(|path| path.is_file())
        .ok_or(CorpusError::NoLockFile { manifest })
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
}

#[derive(Deserialize)]
struct MetadataPackage {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    manifest_path: PathBuf,
}

/// Asks cargo. The error is a sentence, since it is not a failure but the reason for the second way.
fn from_metadata(manifest: &Path) -> Result<Vec<SourceCrate>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(manifest)
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let reason = text.lines().find(|line| line.starts_with("error")).unwrap_or("cargo metadata failed");
        return Err(reason.to_owned());
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata wrote something else than expected: {error}"))?;
    let registry = metadata.packages.into_iter().filter(|package| is_registry(package.source.as_deref()));
    Ok(registry
        .filter_map(|package| {
            Some(SourceCrate {
                root: package.manifest_path.parent()?.to_owned(),
                name: package.name,
                version: package.version,
                licence: package.license.unwrap_or_default(),
            })
        })
        .collect())
}

fn is_registry(source: Option<&str>) -> bool {
    source.is_some_and(|source| source.starts_with("registry+") || source.starts_with("sparse+"))
}

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<LockedPackage>,
}

#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
    source: Option<String>,
}

/// The second way: every locked crate that is found under one of `registries`, and the names of the others.
fn from_lock_file(
    lock: &Path,
    registries: &[PathBuf],
) -> Result<(Vec<SourceCrate>, Vec<String>), CorpusError> {
    let text = std::fs::read_to_string(lock)
        .map_err(|source| CorpusError::Read { path: lock.to_owned(), source })?;
    let lock: Lock = toml::from_str(&text)
        .map_err(|source| CorpusError::LockFile { path: lock.to_owned(), source: Box::new(source) })?;
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for package in lock.package.into_iter().filter(|package| is_registry(package.source.as_deref())) {
        let folder = format!("{}-{}", package.name, package.version);
        match registries
            .iter()
            .map(|registry| registry.join(&folder))
            // Cargo writes the second file when a crate is unpacked to its end.
            .find(|root| root.join("Cargo.toml").is_file() && root.join(".cargo-ok").is_file())
        {
            Some(root) => found.push(SourceCrate {
                licence: licence_in_manifest(&root.join("Cargo.toml")),
                name: package.name,
                version: package.version,
                root,
            }),
            None => missing.push(folder),
        }
    }
    Ok((found, missing))
}

/// Every `$CARGO_HOME/registry/src/*`, sorted.
fn registry_folders() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
        .unwrap_or_default();
    let entries = std::fs::read_dir(home.join("registry").join("src")).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// The `license` of a published manifest (cargo writes it out, never inherited); empty when there is none.
fn licence_in_manifest(manifest: &Path) -> String {
    #[derive(Deserialize)]
    struct Manifest {
        package: Package,
    }
    #[derive(Deserialize)]
    struct Package {
        license: Option<String>,
    }
    std::fs::read_to_string(manifest)
        .ok()
        .and_then(|text| toml::from_str::<Manifest>(&text).ok())
        .and_then(|manifest| manifest.package.license)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_finds_what_is_there_and_names_what_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("Cargo.lock");
        let registry = folder.path().join("index");
        std::fs::create_dir_all(registry.join("a-1.0.0")).unwrap();
        std::fs::write(
            registry.join("a-1.0.0/Cargo.toml"),
            "[package]\nname = 'a'\nversion = '1.0.0'\nlicense = 'MIT'\n",
        )
        .unwrap();
        std::fs::write(
            &lock,
            "version = 4\n[[package]]\nname = 'a'\nversion = '1.0.0'\nsource = 'registry+x'\n\
             [[package]]\nname = 'b'\nversion = '2.0.0'\nsource = 'registry+x'\n\
             [[package]]\nname = 'own'\nversion = '0.1.0'\n",
        )
        .unwrap();
        let (_, missing) = from_lock_file(&lock, std::slice::from_ref(&registry)).unwrap();
        assert_eq!(missing, ["a-1.0.0", "b-2.0.0"], "a is not unpacked to its end");
        std::fs::write(registry.join("a-1.0.0/.cargo-ok"), "ok").unwrap();
        let (found, missing) = from_lock_file(&lock, std::slice::from_ref(&registry)).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].licence.as_str()), ("a", "MIT"));
        assert_eq!(missing, ["b-2.0.0"]);
    }

    #[test]
    #[allow(clippy::print_stdout)] // says that the test was skipped
    fn the_two_ways_agree_on_this_workspace() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let Ok(mut by_cargo) = from_metadata(&manifest) else {
            println!("skipped: cargo metadata does not run here");
            return;
        };
        let (mut by_lock, missing) =
            from_lock_file(&lock_file_of(&manifest).unwrap(), &registry_folders()).unwrap();
        if !missing.is_empty() {
            println!("skipped: {} crates are not in the registry folder", missing.len());
            return;
        }
        by_cargo.sort_by(|a, b| a.root.cmp(&b.root));
        by_lock.sort_by(|a, b| a.root.cmp(&b.root));
        assert_eq!(by_cargo, by_lock);
    }

    #[test]
    fn a_missing_manifest_is_named() {
        let error = find(Some(Path::new("/nowhere/Cargo.toml"))).unwrap_err();
        assert!(error.to_string().contains("/nowhere/Cargo.toml"), "{error}");
    }
}
