//! Which GGUF files a path means.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::super::shards;
use crate::error::{Error, Result};

/// The files of the model that `path` means: itself and those that belong to it, in order; or those
/// of a folder that has no weights in other forms. `None` where it means none.
///
/// # Errors
/// [`Error::Checkpoint`] for a file that is one of several and not the first, for several of which
/// one is missing, and for a folder with several models; [`Error::Read`].
pub fn find(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    if path.is_file() {
        return if is_gguf(path) { all_of(path).map(Some) } else { Ok(None) };
    }
    if !path.is_dir() || shards::any(path) {
        return Ok(None);
    }
    let read = |source| Error::Read { path: path.to_path_buf(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(read)? {
        let file = entry.map_err(read)?.path();
        if named_so(&file) && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    let Some(first) = files.first() else { return Ok(None) };
    let mut whole = all_of(first)?;
    whole.sort();
    if whole != files {
        let names: Vec<_> = files.iter().filter_map(|file| file.file_name()).collect();
        let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
        return Err(Error::Checkpoint {
            path: path.to_path_buf(),
            reason: format!(
                "several GGUF files ({}{}): give the path of the one that is meant",
                names[..names.len().min(4)].join(", "),
                if names.len() > 4 { ", ..." } else { "" }
            ),
        });
    }
    Ok(Some(whole))
}

/// A file and its fellows, which it must be the first of.
fn all_of(file: &Path) -> Result<Vec<PathBuf>> {
    let broken = |reason: String| Error::Checkpoint { path: file.to_path_buf(), reason };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let Some((stem, number, count)) = part(&name) else { return Ok(vec![file.to_path_buf()]) };
    let named = |number: u32| format!("{stem}-{number:05}-of-{count:05}.gguf");
    if number != 1 {
        let first = named(1);
        return Err(broken(format!(
            "the file is number {number} of {count}: give the first, {first}"
        )));
    }
    let mut files = vec![file.to_path_buf()];
    for number in 2..=count {
        let next = file.with_file_name(named(number));
        if !next.is_file() {
            let next = named(number);
            return Err(broken(format!(
                "the file is the first of {count}, of which {next} is not beside it. Fetch it too"
            )));
        }
        files.push(next);
    }
    Ok(files)
}

/// `STEM-00001-of-00003.gguf`, taken apart.
fn part(name: &str) -> Option<(&str, u32, u32)> {
    let (rest, count) = name.strip_suffix(".gguf")?.rsplit_once("-of-")?;
    let (stem, number) = rest.rsplit_once('-')?;
    let five = |digits: &str| {
        let plain = digits.len() == 5 && digits.bytes().all(|b| b.is_ascii_digit());
        if plain { digits.parse().ok() } else { None }
    };
    let (number, count) = (five(number)?, five(count)?);
    (number >= 1 && number <= count).then_some((stem, number, count))
}

/// Whether a file is GGUF, by its name or its first bytes.
fn is_gguf(path: &Path) -> bool {
    let begins = || {
        let mut magic = [0; 4];
        let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
        read.is_ok() && magic == *b"GGUF"
    };
    named_so(path) || begins()
}

fn named_so(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gguf"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_by_their_names() {
        assert_eq!(part("a-b-00002-of-00003.gguf"), Some(("a-b", 2, 3)));
        for name in ["a.gguf", "a-00004-of-00003.gguf", "a-2-of-3.gguf", "a-00000-of-00003.gguf"] {
            assert_eq!(part(name), None, "{name}");
        }
    }

    #[test]
    fn a_folder_means_its_one_model() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let put = |name: &str| std::fs::write(at(name), "GGUF").unwrap();
        let said = |path: &Path| find(path).unwrap_err().to_string();
        assert_eq!(find(folder.path()).unwrap(), None);
        put("m-00001-of-00002.gguf");
        assert!(said(folder.path()).contains("m-00002-of-00002.gguf is not beside it"));
        put("m-00002-of-00002.gguf");
        let both = vec![at("m-00001-of-00002.gguf"), at("m-00002-of-00002.gguf")];
        assert_eq!(find(folder.path()).unwrap(), Some(both.clone()));
        assert_eq!(find(&both[0]).unwrap(), Some(both.clone()));
        assert!(said(&both[1]).contains("give the first, m-00001-of-00002.gguf"));
        put("other.Q8_0.GGUF");
        assert!(said(folder.path()).contains("give the path of the one that is meant"));
        put("model.safetensors");
        assert_eq!(find(folder.path()).unwrap(), None);
        put("renamed");
        assert_eq!(find(&at("renamed")).unwrap(), Some(vec![at("renamed")]));
    }
}
