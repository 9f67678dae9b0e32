//! What a command writes must not be what it reads: looked at before any work, by the files
//! themselves and not by how they are spelled.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use relscale_corpus::CorpusSpec;
use relscale_records::atomic;

use crate::exit::Refusal;
use crate::inputs::Model;

/// Something that a command reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// A file, or a folder with all that is in it.
    Path(PathBuf),
    /// A study or sweep, whose results beside its records may be written again.
    Study(PathBuf),
}

impl Input {
    /// Files and folders.
    pub(crate) fn paths<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<Self> {
        paths.into_iter().map(|path| Self::Path(path.clone())).collect()
    }

    /// The files of the models.
    pub(crate) fn models(models: &[Model]) -> Vec<Self> {
        models.iter().map(|model| Self::Path(model.request.folder.clone())).collect()
    }

    /// The files of texts, by the arguments that name them; those that cannot be listed are refused
    /// elsewhere.
    pub(crate) fn corpora(arguments: &[String]) -> Vec<Self> {
        let specs = arguments.iter().filter_map(|argument| argument.parse::<CorpusSpec>().ok());
        specs.flat_map(|spec| spec.files().unwrap_or_default()).map(Self::Path).collect()
    }

    /// The results of a study that the report shows.
    pub(crate) fn results(study: &Path) -> Vec<Self> {
        const KINDS: [&str; 9] = [
            "laws",
            "rank-examples",
            "relative",
            "choices",
            "isoflop",
            "stages",
            "size-tokens",
            "training",
            "forecast",
        ];
        let entries = fs::read_dir(study).into_iter().flatten().flatten();
        let shown = entries.map(|entry| entry.path()).filter(|path| {
            let stem = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json"));
            stem.is_some_and(|stem| KINDS.iter().any(|kind| stem.starts_with(kind)))
        });
        shown.map(Self::Path).chain([Self::Study(study.to_owned())]).collect()
    }

    /// Whether the file of an output, which is there, is one of this input.
    fn has(&self, output: &Path, there: &Metadata) -> bool {
        match self {
            Self::Path(path) => match fs::metadata(path) {
                Ok(input) if input.is_dir() => {
                    is_inside(output, path) || files(path).any(|file| is_same(&file, output, there))
                }
                Ok(_) => is_same(path, output, there),
                Err(_) => false,
            },
            Self::Study(path) => {
                let own = |name: &str| is_same(&path.join(name), output, there);
                ["study.json", ".known.json", ".lock", "plan.json"].into_iter().any(own)
                    || (is_inside(output, path) && !is_beside_records(output, path))
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Path(path) | Self::Study(path) => path,
        }
    }
}

/// Refuses outputs that are among the inputs, or the same as one another.
///
/// # Errors
/// [`Refusal`], naming both.
pub(crate) fn spare(outputs: &[Option<&Path>], inputs: &[Input]) -> anyhow::Result<()> {
    let outputs: Vec<PathBuf> = outputs.iter().copied().flatten().map(atomic::place).collect();
    for (number, output) in outputs.iter().enumerate() {
        if let Some(other) = outputs[..number].iter().find(|other| is_same_place(other, output)) {
            let what = format!(
                "{} and {}: two results would be written to one file",
                other.display(),
                output.display()
            );
            return Err(Refusal::new(what, "give each a file of its own").into());
        }
        let Ok(there) = fs::metadata(output) else { continue };
        if !there.is_file() {
            if there.is_dir() {
                let what =
                    format!("{}: is a folder, and a file is to be written", output.display());
                return Err(Refusal::new(what, "give the name of a file").into());
            }
            continue;
        }
        if let Some(input) = inputs.iter().find(|input| input.has(output, &there)) {
            let of = match input.path() == output {
                true => "this command reads it".to_owned(),
                false => format!("this command reads it as {}", input.path().display()),
            };
            let what = format!("{}: would be written over, and {of}", output.display());
            return Err(Refusal::new(what, "give another file for the result").into());
        }
    }
    Ok(())
}

/// The files of a folder itself; of models and tables there are no deeper ones.
fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
}

fn is_inside(file: &Path, folder: &Path) -> bool {
    match (fs::canonicalize(file), fs::canonicalize(folder)) {
        (Ok(file), Ok(folder)) => file.starts_with(folder),
        _ => false,
    }
}

/// A result at the top of a study: its tables and JSON.
fn is_beside_records(file: &Path, study: &Path) -> bool {
    let top = match (fs::canonicalize(file), fs::canonicalize(study)) {
        (Ok(file), Ok(study)) => file.parent() == Some(&study),
        _ => false,
    };
    top && file.extension().is_some_and(|ending| ending == "json" || ending == "csv")
}

fn is_same_place(one: &Path, other: &Path) -> bool {
    one == other
        || fs::metadata(one).is_ok_and(|there| there.is_file() && is_same(other, one, &there))
        || match (one.file_name(), other.file_name(), place_of(one), place_of(other)) {
            (Some(one), Some(other), Some(here), Some(there)) => one == other && here == there,
            _ => false,
        }
}

fn place_of(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }).ok()
}

/// Whether a path leads to the file `there` of `output`, by whatever name.
#[cfg(unix)]
fn is_same(path: &Path, _: &Path, there: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).is_ok_and(|input| (input.dev(), input.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_same(path: &Path, output: &Path, _: &Metadata) -> bool {
    matches!((fs::canonicalize(path), fs::canonicalize(output)), (Ok(one), Ok(other)) if one == other)
}
