//! A GGUF file as a source of a tokenizer: what its metadata say, put to the library that makes
//! one; and its refusal by engines that read folders.

use std::path::Path;

use relscale_corpus::Tokenizer;
use relscale_corpus::tokenizer::{GgufVocabulary, NamedSpecials};
use relscale_decoder::checkpoint::gguf::{self, Metadata};

use crate::error::{Error, Result};
use crate::hub::ModelRequest;

/// The tokenizer of the GGUF file that a path means; `None` where it means none.
///
/// # Errors
/// [`Error::Model`] for a file that is broken, [`Error::Corpus`] for a tokenizer that is not read.
pub(super) fn tokenizer(path: &Path) -> Result<Option<Tokenizer>> {
    let name = || path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let failed = |source| Error::Model { model: name(), source };
    if gguf::find(path).map_err(failed)?.is_none() {
        return Ok(None);
    }
    let metadata = gguf::metadata(path).map_err(failed)?;
    // Vocabularies may be left out of a file, which then scores token ids.
    if matches!(
        metadata.text("tokenizer.ggml.model").map_err(failed)?,
        None | Some("none" | "no_vocab")
    ) {
        return Ok(None);
    }
    let vocabulary = vocabulary(&metadata).map_err(failed)?;
    Ok(Some(Tokenizer::from_gguf(&vocabulary, metadata.path())?))
}

/// Bytes of a token; runs of spaces are the longest that there are.
const LONGEST_TOKEN: usize = 2048;

/// The keys of a tokenizer.
fn vocabulary(metadata: &Metadata) -> relscale_decoder::Result<GgufVocabulary> {
    let key = |key: &str| format!("tokenizer.ggml.{key}");
    // These change what a text becomes, in tokenizers of other kinds.
    for other in ["precompiled_charsmap", "remove_extra_whitespaces", "normalizer.lowercase"] {
        match metadata.get(&key(other)) {
            None | Some(gguf::Value::Flag(false)) => {}
            Some(value) => {
                let (key, value) = (key(other), value.shown());
                return Err(metadata.broken(format!(
                    "{key} = {value}: such a tokenizer is not read. Give the folder of the original model"
                )));
            }
        }
    }
    // Merges are looked for at every letter of a token.
    let tokens = metadata.texts(&key("tokens"))?.unwrap_or_default();
    if let Some(id) = tokens.iter().position(|token| token.len() > LONGEST_TOKEN) {
        let bytes = tokens[id].len();
        return Err(metadata.broken(format!(
            "{}: token {id} has {bytes} bytes, more than one of any vocabulary. Fetch the file again",
            key("tokens")
        )));
    }
    let text = |name: &str| Ok(metadata.text(&key(name))?.map(str::to_owned));
    let texts = |name: &str| Ok(metadata.texts(&key(name))?.unwrap_or_default().to_vec());
    let flag = |name: &str| metadata.flag(&key(name));
    let id = |name: &str| {
        let id = metadata.integer(&key(&format!("{name}_token_id")))?;
        Ok(id.and_then(|id| u32::try_from(id).ok()))
    };
    Ok(GgufVocabulary {
        model: text("model")?.unwrap_or_default(),
        pre: text("pre")?,
        tokens: tokens.to_vec(),
        kinds: metadata.integers(&key("token_type"))?.unwrap_or_default().to_vec(),
        scores: metadata.numbers(&key("scores"))?.unwrap_or_default().to_vec(),
        merges: texts("merges")?,
        named: NamedSpecials {
            bos: id("bos")?,
            eos: id("eos")?,
            unk: id("unknown")?,
            pad: id("padding")?,
        },
        add_bos: flag("add_bos_token")?,
        add_eos: flag("add_eos_token")?,
        space: flag("add_space_prefix")?,
    })
}

/// For engines that read folders.
///
/// # Errors
/// [`Error::Gguf`] where the model is a GGUF file.
pub(super) fn refuse(request: &ModelRequest, engine: &'static str) -> Result<()> {
    let failed = |source| Error::Model { model: request.name.clone(), source };
    let files = gguf::find(&request.folder).map_err(failed)?;
    match files.and_then(|files| files.into_iter().next()) {
        None => Ok(()),
        Some(path) => {
            let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
            Err(Error::Gguf { path, folder, engine })
        }
    }
}
