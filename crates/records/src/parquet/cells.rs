//! Columns of numbers, text and truth values of Parquet files made elsewhere, for tables of points.
//!
//! Unlike [`read_text_columns`](super::read_text_columns), which is strict about text because a
//! corpus is text, this reads a table as a person sees it: a cell is nothing, a number, a text, or
//! true or false.

use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_schema::DataType;

use super::foreign::{Columns, Rows};
use crate::error::{Error, Result};

/// One value of a foreign table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A null.
    Missing,
    /// A number of any width. Integers beyond 2^53 and decimals are rounded to the nearest double;
    /// a double may be NaN.
    Number(f64),
    /// A text.
    Text(String),
    /// True or false.
    Truth(bool),
}

/// The names of a file's columns, in its order.
///
/// # Errors
/// [`Error::Read`], [`Error::Foreign`].
pub fn column_names(path: &Path) -> Result<Vec<String>> {
    Ok(Columns::open(path)?.schema().fields().iter().map(|field| field.name().clone()).collect())
}

/// The names of a file's columns, each with whether [`read_cells`] can read it.
///
/// # Errors
/// [`Error::Read`], [`Error::Foreign`].
pub fn cell_columns(path: &Path) -> Result<Vec<(String, bool)>> {
    let fields = Columns::open(path)?.schema().fields().clone();
    Ok(fields.iter().map(|field| (field.name().clone(), readable(field.data_type()))).collect())
}

/// Streams the named columns, row by row, in the order the names were given. Only these are
/// decoded.
///
/// # Errors
/// At once: [`Error::Read`], [`Error::Foreign`], [`Error::NoColumn`] (lists the columns there are),
/// [`Error::NotCells`] for a column of lists, dates or bytes. Later, as an item:
/// [`Error::Foreign`].
pub fn read_cells(
    path: &Path,
    columns: &[&str],
) -> Result<impl Iterator<Item = Result<Vec<Cell>>> + use<>> {
    let opened = Columns::open(path)?;
    let mut roots = Vec::with_capacity(columns.len());
    for &column in columns {
        let fields = opened.schema().fields();
        let Some(root) = fields.iter().position(|field| field.name() == column) else {
            return Err(Error::NoColumn {
                path: path.to_path_buf(),
                column: column.to_owned(),
                there: fields.iter().map(|field| field.name().clone()).collect(),
            });
        };
        let found = fields[root].data_type();
        if !readable(found) {
            return Err(Error::NotCells {
                path: path.to_path_buf(),
                column: column.to_owned(),
                found: found.to_string(),
            });
        }
        roots.push(root);
    }
    let batches = opened.batches(path, roots, None)?;
    Ok(Rows::new(path, batches, columns, cell))
}

fn readable(found: &DataType) -> bool {
    found.is_numeric() || matches!(found, DataType::Boolean | DataType::Utf8 | DataType::Null)
}

/// The cell of one row, `None` for a type that [`readable`] let through by mistake.
fn cell(column: &dyn Array, row: usize) -> Option<Cell> {
    macro_rules! number {
        ($type:ty) => {
            f64::from(column.as_primitive_opt::<$type>()?.value(row))
        };
    }
    // By way of their digits: a product with a power of ten would round twice.
    macro_rules! decimal {
        ($type:ty) => {
            column.as_primitive_opt::<$type>()?.value_as_string(row).parse().ok()?
        };
    }
    if column.is_null(row) {
        return Some(Cell::Missing);
    }
    Some(Cell::Number(match column.data_type() {
        DataType::Boolean => return Some(Cell::Truth(column.as_boolean_opt()?.value(row))),
        DataType::Utf8 => {
            return Some(Cell::Text(column.as_string_opt::<i32>()?.value(row).to_owned()));
        }
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => column.as_primitive_opt::<Int64Type>()?.value(row) as f64,
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => column.as_primitive_opt::<UInt64Type>()?.value(row) as f64,
        DataType::Float16 => column.as_primitive_opt::<Float16Type>()?.value(row).to_f64(),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Decimal32(..) => decimal!(Decimal32Type),
        DataType::Decimal64(..) => decimal!(Decimal64Type),
        DataType::Decimal128(..) => decimal!(Decimal128Type),
        DataType::Decimal256(..) => decimal!(Decimal256Type),
        _ => return None,
    }))
}
