//! A finished pickle as a dictionary of tensors, each inside its storage.

use std::collections::BTreeMap;

use super::machine::Object;
use super::value::{Tensor, Value};
use crate::checkpoint::tensor::{Entry, row_major};
use crate::error::{PickleError, PickleResult as Result};

/// Name -> tensor, as the file states them. A later entry of the same name replaces an earlier one,
/// as in Python.
pub(super) fn tensors(object: &Object) -> Result<BTreeMap<String, Tensor>> {
    let not = |what: String| PickleError::NotAStateDict { what };
    let Value::Dict(items) = object.top() else {
        return Err(not("the top of the file".to_string()));
    };
    let mut tensors = BTreeMap::new();
    for (key, value) in items {
        let Value::Text(name) = object.get(*key) else {
            return Err(not("a key that is not text".to_string()));
        };
        match object.get(*value) {
            Value::Tensor(tensor) => tensors.insert(name.clone(), tensor.clone()),
            _ => return Err(not(format!("the value of {name}"))),
        };
    }
    Ok(tensors)
}

impl Tensor {
    /// The tensor in a file whose storage begins at byte `start` and is `bytes` long.
    pub(super) fn place(&self, name: &str, start: u64, bytes: u64) -> Result<Entry> {
        let bounds = |reason: String| PickleError::Bounds { tensor: name.to_string(), reason };
        let size = self.storage.stored.bytes();
        if self.storage.elements.checked_mul(size) != Some(bytes) {
            return Err(bounds(format!(
                "its storage should have {} elements of {size} bytes, but has {bytes} bytes",
                self.storage.elements
            )));
        }
        if self.shape.len() != self.strides.len() {
            return Err(bounds(format!("shape {:?} with strides {:?}", self.shape, self.strides)));
        }
        // Also refuses a small storage blown up by strides of 0.
        let elements = self.shape.iter().try_fold(1_u64, |all, n| all.checked_mul(*n));
        if elements.is_none_or(|n| n > self.storage.elements) {
            return Err(bounds(format!(
                "shape {:?} is larger than its storage of {} elements",
                self.shape, self.storage.elements
            )));
        }
        let last = self.shape.iter().zip(&self.strides).try_fold(self.offset, |at, (n, stride)| {
            at.checked_add(n.saturating_sub(1).checked_mul(*stride)?)
        });
        if elements != Some(0) && last.is_none_or(|last| last >= self.storage.elements) {
            return Err(bounds(format!(
                "offset {}, shape {:?} and strides {:?} leave its storage of {} elements",
                self.offset, self.shape, self.strides, self.storage.elements
            )));
        }
        let narrow = |sizes: &[u64]| {
            sizes.iter().map(|n| usize::try_from(*n).ok()).collect::<Option<Vec<_>>>()
        };
        let (Some(shape), Some(strides)) = (narrow(&self.shape), narrow(&self.strides)) else {
            return Err(bounds("sizes beyond this machine's address space".to_string()));
        };
        let plain = elements == Some(0) || row_major(&shape, &strides);
        // An empty tensor may state any offset; nothing is read from there.
        let start = if elements == Some(0) { start } else { start + self.offset * size };
        Ok(Entry {
            stored: self.storage.stored,
            shape,
            start,
            strides: (!plain).then_some(strides),
        })
    }
}
