//! From a Hugging Face folder to a [`Spec`](crate::spec::Spec) and its
//! [`Weights`](crate::weights::Weights): all that is peculiar to a family stands here.
//!
//! A family is one file of settings and names: `config.json` -> spec, and a table of tensor names.
//!
//! * `family`: what a family says; `list`: those that there are; `load`: from a folder to a model.
//! * `config`: the keys of a `config.json` as a closed list. A key that is neither used, nor
//!   knowingly ignored, nor at the one value that we compute is an error: a new variant is refused,
//!   never computed wrongly.
//! * `names`: the table of tensor names; `tensors`: tensors by name and shape, with a record of
//!   what was used.
//! * `gguf`: a GGUF file as a model of one of these families.
//! * `gpt2`, `gpt_neo`, `opt`, `gpt_neox`, `hf_olmo`, `bloom`, `falcon`, `phi`, `stablelm`,
//!   `starcoder2`; `mamba` and its Falcon kin, `mamba2`, `rwkv`; `llama_like`, of which `llama`,
//!   `olmo`, `olmo2`, `olmo3`, `phi3`, `qwen2`, `qwen3`, `gemma`, `gemma2`, `gemma3`, `smollm3`,
//!   `granite` and Mistral are settings; `rotary/`: the keys of rotary positions in their
//!   spellings, and the kinds of scaling.
//!
//! Adding a family: a file here, a line in `list`, a case in `tools/goldens/checkpoints.py`, a
//! published configuration in `tests/configs`.

mod bloom;
mod config;
mod falcon;
mod family;
mod gemma;
mod gemma2;
mod gemma3;
mod gguf;
mod gpt2;
mod gpt_neo;
mod gpt_neox;
mod granite;
mod hf_olmo;
mod list;
mod llama;
mod llama_like;
mod load;
mod mamba;
mod mamba2;
mod names;
mod olmo;
mod olmo2;
mod olmo3;
mod opt;
mod phi;
mod phi3;
mod qwen2;
mod qwen3;
mod rotary;
mod rwkv;
mod smollm3;
mod stablelm;
mod starcoder2;
mod tensors;

pub use load::{
    CheckpointInfo, LoadOptions, Loaded, ReadWeights, known, load, load_known, load_packed,
    named_tensors, recognise, spec, spec_of_config,
};
pub use names::Named;
