//! Where the sources of pinned crates are.
//!
//! Cargo keeps them in `$CARGO_HOME/registry/src/REGISTRY/NAME-VERSION`. Where all of them are
//! there, that is the answer, at once. Where one is missing, `cargo metadata` is asked, which knows
//! of other places and fetches what is missing where there is a network, but may have to wait for
//! another cargo. Where it cannot run, what is there has to do.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use relscale_records::atomic;
use relscale_records::provenance::sha256_bytes;
use serde::Deserialize;

use super::pinned::Pinned;

/// One registry crate whose source is on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceCrate {
    /// The crate's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licence expression; empty when the manifest gives none (a licence file only).
    pub licence: String,
    /// The folder that holds its `Cargo.toml`.
    pub root: PathBuf,
}

/// Crates that were looked for and are not to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Why not.
    pub because: String,
    /// `name-version` of each.
    pub crates: Vec<String>,
}

/// The sources of crates, those that are to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// In the order in which they were asked for, but that those which cargo had to be asked for
    /// come last.
    pub crates: Vec<SourceCrate>,
    /// The others.
    pub missing: Option<Missing>,
}

/// The sources of the crates that a workspace is locked to.
pub fn locked(pinned: &[Pinned], manifest: &Path) -> Found {
    find(pinned, &registry_folders(), |_| metadata(manifest, true))
}

/// The sources of crates of which no workspace is known: a manifest that asks for those that are
/// missing is made for the purpose.
pub fn shipped(pinned: &[Pinned]) -> Found {
    find(pinned, &registry_folders(), |missing| {
        let folder =
            tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            atomic::write_whole(&path, text.as_bytes()).map_err(|error| error.to_string())?;
            Ok::<_, String>(path)
        };
        // With the lock file cargo takes these versions also where one was yanked, and refuses one
        // with another hash.
        write("Cargo.lock", lock_file(pinned))?;
        metadata(&write("Cargo.toml", manifest(missing))?, false)
    })
}

fn find(
    pinned: &[Pinned],
    registries: &[PathBuf],
    ask: impl FnOnce(&[&Pinned]) -> Result<Vec<SourceCrate>, String>,
) -> Found {
    let mut crates: Vec<SourceCrate> =
        pinned.iter().filter_map(|one| in_folders(one, registries)).collect();
    let has = |crates: &[SourceCrate], one: &Pinned| {
        crates.iter().any(|known| known.name == one.name && known.version == one.version)
    };
    let missing: Vec<&Pinned> = pinned.iter().filter(|one| !has(&crates, one)).collect();
    if missing.is_empty() {
        return Found { crates, missing: None };
    }
    let because = match ask(&missing) {
        Ok(told) => {
            let wanted = |one: &SourceCrate| {
                missing
                    .iter()
                    .any(|pinned| pinned.name == one.name && pinned.version == one.version)
            };
            crates.extend(told.into_iter().filter(wanted));
            "cargo has others of their names only".to_owned()
        }
        Err(because) => because,
    };
    let missing: Vec<String> =
        missing.into_iter().filter(|one| !has(&crates, one)).map(Pinned::folder).collect();
    let missing = (!missing.is_empty()).then_some(Missing { because, crates: missing });
    Found { crates, missing }
}

/// A crate's folder below one of the registries' folders. One whose packed file is kept beside and
/// has another hash is another crate.
fn in_folders(one: &Pinned, registries: &[PathBuf]) -> Option<SourceCrate> {
    let is_whole = |root: &PathBuf| {
        // Cargo writes the second file when a crate is unpacked to its end.
        root.join("Cargo.toml").is_file() && root.join(".cargo-ok").is_file()
    };
    let is_the_same = |root: &PathBuf| match (
        &one.sha256,
        packed(root).and_then(|path| std::fs::read(path).ok()),
    ) {
        (Some(sha256), Some(bytes)) => sha256_bytes(&bytes) == *sha256,
        _ => true,
    };
    let mut roots = registries.iter().map(|registry| registry.join(one.folder()));
    let root = roots.find(|root| is_whole(root) && is_the_same(root))?;
    Some(SourceCrate {
        licence: licence_in_manifest(&root.join("Cargo.toml")),
        name: one.name.clone(),
        version: one.version.clone(),
        root,
    })
}

/// `registry/src/REGISTRY/FOLDER` was unpacked from `registry/cache/REGISTRY/FOLDER.crate`.
fn packed(root: &Path) -> Option<PathBuf> {
    let registry = root.parent()?;
    let cache = registry.parent()?.with_file_name("cache").join(registry.file_name()?);
    Some(cache.join(format!("{}.crate", root.file_name()?.to_str()?)))
}

/// A manifest that depends on these very versions.
fn manifest(pinned: &[&Pinned]) -> String {
    let mut text =
        "[package]\nname = \"crate-sources\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
                    [lib]\npath = \"none.rs\"\n\n[workspace]\n\n[dependencies]\n"
            .to_owned();
    for (number, Pinned { name, version, .. }) in pinned.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "d{number} = {{ package = \"{name}\", version = \"={version}\", default-features = false }}"
        );
    }
    text
}

/// A lock file with these crates.
fn lock_file(pinned: &[Pinned]) -> String {
    let mut text = "version = 4\n".to_owned();
    for Pinned { name, version, sha256 } in pinned {
        let _ = write!(
            text,
            "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\
             source = \"registry+https://github.com/rust-lang/crates.io-index\"\n"
        );
        if let Some(sha256) = sha256 {
            let _ = writeln!(text, "checksum = \"{sha256}\"");
        }
    }
    text
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    manifest_path: PathBuf,
}

/// All packages of a workspace, as cargo has them. The error is a sentence, since it is not a
/// failure but the reason why some are missing.
fn metadata(manifest: &Path, locked: bool) -> Result<Vec<SourceCrate>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .args(locked.then_some("--locked"))
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let reason =
            text.lines().find(|line| line.starts_with("error")).unwrap_or("cargo metadata failed");
        return Err(reason.trim_start_matches("error: ").to_owned());
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata wrote something else than expected: {error}"))?;
    let source = |package: Package| {
        Some(SourceCrate {
            root: package.manifest_path.parent()?.to_owned(),
            name: package.name,
            version: package.version,
            licence: package.license.unwrap_or_default(),
        })
    };
    Ok(metadata.packages.into_iter().filter_map(source).collect())
}

/// Every `$CARGO_HOME/registry/src/*`, sorted.
fn registry_folders() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
        .unwrap_or_default();
    let entries =
        std::fs::read_dir(home.join("registry").join("src")).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// The `license` of a published manifest (cargo writes it out, never inherited); empty when there
/// is none.
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

    fn pinned(name: &str, version: &str, packed: &[u8]) -> Pinned {
        Pinned {
            name: name.to_owned(),
            version: version.to_owned(),
            sha256: Some(sha256_bytes(packed)),
        }
    }

    #[test]
    fn what_is_there_is_found_and_the_rest_is_asked_for() {
        let home = tempfile::tempdir().unwrap();
        let registry = home.path().join("src/index");
        let a = registry.join("a-1.0.0");
        std::fs::create_dir_all(&a).unwrap();
        std::fs::write(a.join("Cargo.toml"), "[package]\nname = 'a'\nlicense = 'MIT'\n").unwrap();
        let wanted = [pinned("a", "1.0.0", b"packed"), pinned("b", "2.0.0", b"")];
        type Ask<'a> = dyn Fn(&[&Pinned]) -> Result<Vec<SourceCrate>, String> + 'a;
        let look = |ask: &Ask<'_>| find(&wanted, std::slice::from_ref(&registry), ask);
        let refuse = |_: &[&Pinned]| Err("no network".to_owned());
        let missing = look(&refuse).missing.unwrap();
        assert_eq!(missing.crates, ["a-1.0.0", "b-2.0.0"], "a is not unpacked to its end");
        std::fs::write(a.join(".cargo-ok"), "ok").unwrap();
        let found = look(&refuse);
        assert_eq!((found.crates[0].name.as_str(), found.crates[0].licence.as_str()), ("a", "MIT"));
        assert_eq!(
            found.missing.unwrap(),
            Missing { because: "no network".into(), crates: vec!["b-2.0.0".into()] }
        );

        // Of what cargo has, the versions that were asked for.
        let told = |version: &str| {
            let (name, version, licence) = ("b".to_owned(), version.to_owned(), "MIT".to_owned());
            SourceCrate { name, version, licence, root: PathBuf::new() }
        };
        let found = look(&|missing| {
            assert_eq!(missing.iter().map(|one| one.folder()).collect::<Vec<_>>(), ["b-2.0.0"]);
            Ok(vec![told("2.0.0"), told("2.0.1")])
        });
        assert_eq!(found.crates.len(), 2);
        assert_eq!((&found.missing, found.crates[1].version.as_str()), (&None, "2.0.0"));
        assert_eq!(look(&|_| Ok(vec![told("2.0.1")])).missing.unwrap().crates, ["b-2.0.0"]);

        // The packed file beside tells another crate of the same name.
        std::fs::create_dir_all(home.path().join("cache/index")).unwrap();
        std::fs::write(home.path().join("cache/index/a-1.0.0.crate"), "packed").unwrap();
        assert_eq!(look(&refuse).missing.unwrap().crates, ["b-2.0.0"]);
        std::fs::write(home.path().join("cache/index/a-1.0.0.crate"), "others").unwrap();
        assert_eq!(look(&refuse).missing.unwrap().crates, ["a-1.0.0", "b-2.0.0"]);
    }

    #[test]
    fn what_cargo_is_given_is_toml() {
        let list = [
            pinned("a", "1.0.0-rc.1+meta", b""),
            Pinned { sha256: None, ..pinned("b", "2.0.0", b"") },
        ];
        let manifest: toml::Table =
            toml::from_str(&manifest(&list.iter().collect::<Vec<_>>())).unwrap();
        assert_eq!(manifest["dependencies"]["d0"]["version"].as_str(), Some("=1.0.0-rc.1+meta"));
        let lock: toml::Table = toml::from_str(&lock_file(&list)).unwrap();
        assert_eq!(lock["package"].as_array().unwrap().len(), 2);
    }
}
