//! The values that a state dict is made of, and the only Python names that are understood.

use crate::checkpoint::tensor::StoredType;
use crate::error::{PickleError, PickleResult as Result};

/// A value's number in the arena.
pub(super) type Id = u32;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    /// An integer beyond 64 bits, little-endian; only the magic number of the old container is one.
    Wide(Vec<u8>),
    Float,
    Text(String),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Global(Global),
    Storage(Storage),
    Tensor(Tensor),
}

/// The only Python names that are understood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Global {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    StorageType(StoredType),
}

/// A run of numbers somewhere in the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Storage {
    pub(super) stored: StoredType,
    pub(super) key: String,
    pub(super) elements: u64,
}

/// A view into a storage, as the file states it: not yet checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tensor {
    pub(super) storage: Storage,
    pub(super) offset: u64,
    pub(super) shape: Vec<u64>,
    pub(super) strides: Vec<u64>,
}

impl Global {
    /// The name, or its refusal: a name that is not listed here could be any function of the
    /// reader's machine.
    pub(super) fn find(module: &str, name: &str) -> Result<Self> {
        let other = |name, bytes| Ok(Self::StorageType(StoredType::Other(name, bytes)));
        match (module, name) {
            ("collections", "OrderedDict") => Ok(Self::OrderedDict),
            ("torch._utils", "_rebuild_tensor" | "_rebuild_tensor_v2") => Ok(Self::RebuildTensor),
            ("torch._utils", "_rebuild_parameter") => Ok(Self::RebuildParameter),
            ("torch" | "torch.storage" | "torch.cuda", storage) => match storage {
                "FloatStorage" => Ok(Self::StorageType(StoredType::F32)),
                "HalfStorage" => Ok(Self::StorageType(StoredType::F16)),
                "BFloat16Storage" => Ok(Self::StorageType(StoredType::Bf16)),
                "DoubleStorage" => other("f64", 8),
                "LongStorage" => other("i64", 8),
                "IntStorage" => other("i32", 4),
                "ShortStorage" => other("i16", 2),
                "CharStorage" => other("i8", 1),
                "ByteStorage" => other("u8", 1),
                "BoolStorage" => other("bool", 1),
                _ => Err(PickleError::Global { name: format!("{module}.{name}") }),
            },
            _ => Err(PickleError::Global { name: format!("{module}.{name}") }),
        }
    }
}
