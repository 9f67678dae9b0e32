//! Weights files of a Hugging Face folder, read one tensor at a time.
//!
//! Files on disk: `model.safetensors`, or `model.safetensors.index.json` with its shards; else
//! `pytorch_model.bin`, or `pytorch_model.bin.index.json` with its shards; else, or where a file is
//! named, GGUF. All become one directory of tensors ([`Checkpoint`]).
//!
//! * `shards`: which of these files a folder has, and whether the index and the files agree;
//! * `safetensors`: the header of one safetensors file;
//! * `pickle`: the directory of one `torch.save` file, without executing anything;
//! * [`gguf`]: llama.cpp's files, with their metadata;
//! * `blocks`: numbers in blocks, as GGUF has them;
//! * `tensor`: where a tensor lies in its file, and its numbers as f32;
//! * `rows`: a matrix while it is still in its files, read by all threads a few rows at a time;
//! * `shared`: a file that several threads read.
//!
//! Invariants: nothing is mapped into memory and nothing is executed; a size is compared with the
//! file before anything is allocated for it; a tensor that cannot be read is an error when it is
//! asked for, never zeros.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

mod blocks;
pub mod gguf;
pub mod pickle;
mod rows;
mod safetensors;
mod shards;
mod shared;
mod tensor;

pub use blocks::Quantised;
pub use rows::Rows;
pub use shards::Format;
use shared::SharedFile;
use tensor::Entry;
pub use tensor::StoredType;

/// The tensors of one folder or GGUF file, as a directory; their numbers stay in the files until
/// [`Checkpoint::read_into`].
#[derive(Debug)]
pub struct Checkpoint {
    folder: PathBuf,
    format: Format,
    files: Vec<OpenFile>,
    set_aside: Vec<String>,
    /// Name -> index into `files`, and where in that file.
    tensors: BTreeMap<String, (usize, Entry)>,
}

#[derive(Debug)]
struct OpenFile {
    name: String,
    path: PathBuf,
    /// Kept open, so that the numbers come from the file whose directory was read.
    file: SharedFile,
    bytes: u64,
}

impl OpenFile {
    /// The error of a read that failed.
    fn failed(&self, source: io::Error) -> Error {
        let path = self.path.clone();
        if source.kind() != io::ErrorKind::UnexpectedEof {
            return Error::Read { path, source };
        }
        // The directory has been checked against the file's length.
        let reason = format!(
            "shorter than the {} bytes that it had when it was opened: something is writing to it. Wait for that, or \
            fetch it again",
            self.bytes
        );
        Error::Checkpoint { path, reason }
    }
}

impl Checkpoint {
    /// Finds the weights files of `folder`, or of a GGUF file, and reads their directories, not
    /// their numbers.
    ///
    /// # Errors
    /// [`Error::NotAModel`] without weights; [`Error::MissingShard`] and
    /// [`Error::TensorNotInShard`] when the index and the files disagree; [`Error::Checkpoint`] and
    /// [`Error::Pickle`] for a cut or malformed file.
    pub fn open(folder: &Path) -> Result<Self> {
        if let Some(files) = gguf::find(folder)? {
            return Self::of_gguf(folder, &files);
        }
        let plan = shards::find(folder)?;
        let mut files = Vec::new();
        let mut tensors: BTreeMap<String, (usize, Entry)> = BTreeMap::new();
        for (number, name) in plan.files.iter().enumerate() {
            let path = folder.join(name);
            let read = |source| Error::Read { path: path.clone(), source };
            let file = File::open(&path).map_err(read)?;
            let bytes = file.metadata().map_err(read)?.len();
            let entries = match plan.format {
                Format::Safetensors => safetensors::directory(&path, &file, bytes)?,
                Format::Pickle => pickle::directory(&path, &file, bytes)?,
                Format::Gguf => unreachable!("no place of theirs is GGUF's"),
            };
            for (tensor, entry) in entries {
                // Which of two shards speaks for a tensor is the index's to say.
                let elsewhere = plan.shard_of(&tensor).is_some_and(|shard| shard != name);
                if elsewhere
                    && plan.files.iter().any(|f| Some(f.as_str()) == plan.shard_of(&tensor))
                {
                    continue;
                }
                tensors.insert(tensor, (number, entry));
            }
            files.push(OpenFile { name: name.clone(), path, file: SharedFile::new(file), bytes });
        }
        if let Some((index, map)) = &plan.index {
            for (tensor, shard) in map {
                if tensors.get(tensor).is_none_or(|(number, _)| files[*number].name != *shard) {
                    return Err(Error::TensorNotInShard {
                        path: index.clone(),
                        tensor: tensor.clone(),
                        shard: shard.clone(),
                    });
                }
            }
        }
        Ok(Self {
            folder: folder.to_path_buf(),
            format: plan.format,
            files,
            set_aside: plan.set_aside,
            tensors,
        })
    }

    /// The tensors of the files of one GGUF model; `path` is what was given.
    fn of_gguf(path: &Path, paths: &[PathBuf]) -> Result<Self> {
        let mut files = Vec::new();
        let mut tensors = BTreeMap::new();
        for (number, path) in paths.iter().enumerate() {
            let read = |source| Error::Read { path: path.clone(), source };
            let file = File::open(path).map_err(read)?;
            let bytes = file.metadata().map_err(read)?.len();
            for (tensor, entry) in gguf::directory(path, &file, bytes, paths.len())? {
                if tensors.insert(tensor.clone(), (number, entry)).is_some() {
                    let reason =
                        format!("tensor {tensor} is in an earlier file too. Fetch them again");
                    return Err(Error::Checkpoint { path: path.clone(), reason });
                }
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push(OpenFile { name, path: path.clone(), file: SharedFile::new(file), bytes });
        }
        let (folder, set_aside) = (path.to_path_buf(), Vec::new());
        Ok(Self { folder, format: Format::Gguf, files, set_aside, tensors })
    }

    /// The folder, or the GGUF file.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Kind of the files that are read.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Names of the files that are read, sorted.
    pub fn files(&self) -> Vec<String> {
        self.files.iter().map(|f| f.name.clone()).collect()
    }

    /// Weights files that the folder has as well and that are not read, e.g. `pytorch_model.bin`
    /// beside safetensors.
    pub fn set_aside(&self) -> &[String] {
        &self.set_aside
    }

    /// Bytes of all files that are read.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|f| f.bytes).sum()
    }

    /// Names of all tensors, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Shape of a tensor, if it is there.
    pub fn shape(&self, tensor: &str) -> Option<&[usize]> {
        self.tensors.get(tensor).map(|(_, entry)| entry.shape.as_slice())
    }

    /// How the numbers of a tensor are stored, if it is there.
    pub fn stored_type(&self, tensor: &str) -> Option<StoredType> {
        self.tensors.get(tensor).map(|(_, entry)| entry.stored)
    }

    /// The number types that occur among `tensors`, sorted, e.g. `["f16", "f32"]`; of GGUF, where
    /// most files mix several, with the tensors of each, most first: `["210 q4_1", "61 f32"]`.
    pub fn stored_types<'a>(&self, tensors: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        for stored in tensors.filter_map(|tensor| self.stored_type(tensor)) {
            *found.entry(stored.name()).or_default() += 1;
        }
        if self.format != Format::Gguf {
            return found.into_keys().map(str::to_owned).collect();
        }
        let mut found: Vec<(&str, usize)> = found.into_iter().collect();
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        found.into_iter().map(|(name, count)| format!("{count} {name}")).collect()
    }

    /// Appends the numbers of a tensor to `out`, row-major, widened to f32 (which is exact for f16
    /// and bf16).
    ///
    /// # Errors
    /// [`Error::MissingTensor`]; [`Error::Checkpoint`] for a type other than f32, f16, bf16, and
    /// where the file has become shorter since it was opened; [`Error::Read`].
    pub fn read_into(&self, tensor: &str, out: &mut Vec<f32>) -> Result<()> {
        let (file, entry) = self.readable(tensor)?;
        entry.read_into(&file.file, out).map_err(|source| file.failed(source))
    }

    /// A tensor of two axes as a matrix whose rows are read when they are wanted.
    ///
    /// # Errors
    /// As [`Checkpoint::read_into`]; [`Error::Checkpoint`] for a tensor of other than two axes.
    pub fn rows(&self, tensor: &str) -> Result<Rows<'_>> {
        self.matrix(tensor, false)
    }

    /// As [`Checkpoint::rows`], of the transposed matrix.
    ///
    /// # Errors
    /// As [`Checkpoint::rows`].
    pub fn columns(&self, tensor: &str) -> Result<Rows<'_>> {
        self.matrix(tensor, true)
    }

    fn matrix(&self, tensor: &str, turned: bool) -> Result<Rows<'_>> {
        let (file, entry) = self.readable(tensor)?;
        let &[rows, columns] = entry.shape.as_slice() else {
            let reason = format!("tensor {tensor} has shape {:?}, which is no matrix", entry.shape);
            return Err(Error::Checkpoint { path: file.path.clone(), reason });
        };
        Rows::new(file, entry, [rows, columns], turned).map_err(|source| file.failed(source))
    }

    /// Where a tensor lies, if it is there and of a type that is read.
    fn readable(&self, tensor: &str) -> Result<(&OpenFile, &Entry)> {
        let (number, entry) = self.tensors.get(tensor).ok_or_else(|| Error::MissingTensor {
            path: self.folder.clone(),
            tensor: tensor.to_string(),
            hint: "no weights file has it".to_string(),
        })?;
        let file = &self.files[*number];
        if !entry.stored.readable() {
            return Err(Error::Checkpoint {
                path: file.path.clone(),
                reason: format!(
                    "tensor {tensor} is stored as {}; f32, f16 and bf16 are read. Convert the checkpoint",
                    entry.stored.name()
                ),
            });
        }
        Ok((file, entry))
    }

    /// SHA-256 over the bytes of all files that are read, one after another by name, as 64 hex
    /// digits. Work for one thread: about 2 GB a second where the processor has instructions for
    /// it.
    ///
    /// # Errors
    /// [`Error::Read`]; [`Error::Checkpoint`] where a file has become shorter since it was opened.
    pub fn sha256(&self) -> Result<String> {
        let mut hash = Sha256::new();
        let mut buffer = vec![0_u8; HASHED];
        for file in &self.files {
            let mut at = 0;
            while at < file.bytes {
                let bytes =
                    &mut buffer[..HASHED.min(usize::try_from(file.bytes - at).unwrap_or(HASHED))];
                file.file.read_exact_at(bytes, at).map_err(|source| file.failed(source))?;
                hash.update(&*bytes);
                at += bytes.len() as u64;
            }
        }
        Ok(hex(&hash.finalize()))
    }
}

/// Bytes that are hashed at a time: few enough to be there still in the cache.
const HASHED: usize = 1 << 17;

/// SHA-256 of bytes in memory, as 64 hex digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
