//! Columns of lists of numbers, in and out.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, ArrayRef};
use arrow_schema::Field;

/// A column of these lists.
pub(super) fn list_array<'a, T: ArrowPrimitiveType>(
    rows: impl Iterator<Item = &'a [T::Native]>,
) -> ArrayRef {
    let field = Field::new("item", T::DATA_TYPE, false);
    let mut list = ListBuilder::new(PrimitiveBuilder::<T>::new()).with_field(field);
    for row in rows {
        list.values().append_slice(row);
        list.append(true);
    }
    Arc::new(list.finish())
}

/// A column of lists.
pub(super) struct List<'a, T: ArrowPrimitiveType> {
    offsets: &'a [i32],
    values: &'a [T::Native],
}

impl<'a, T: ArrowPrimitiveType> List<'a, T> {
    pub(super) fn from_column(column: &'a dyn Array) -> Option<Self> {
        let lists = column.as_list_opt::<i32>()?;
        let values = lists.values().as_primitive_opt::<T>()?.values();
        Some(Self { offsets: lists.value_offsets(), values })
    }

    /// The list of a row.
    pub(super) fn row(&self, row: usize) -> Option<&'a [T::Native]> {
        let at = |row: usize| usize::try_from(*self.offsets.get(row)?).ok();
        self.values.get(at(row)?..at(row + 1)?)
    }
}
