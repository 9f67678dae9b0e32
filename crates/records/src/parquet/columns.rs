//! Columns of text, and of labels beside them, of Parquet and Arrow files made elsewhere: for the
//! corpus loaders.

use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, Field, SchemaRef};

use super::foreign::{Columns, Rows};
use crate::error::{Error, Result};

/// Rows decoded at a time; small, since a row may be a whole book.
const READ_BATCH: usize = 256;

/// Streams columns of text and, behind them, columns of labels (ids, tags), row by row, in the
/// order the names were given; `None` is a null.
///
/// Every text type is read, whether the writer called it utf8, large utf8, string view or a
/// dictionary of strings. A label may also be a number or a truth value, written as JSON writes it
/// (`7`, `0.5`, `true`). Only the named columns are decoded.
///
/// # Errors
/// At once: [`Error::Read`], [`Error::Foreign`], [`Error::NoColumn`] (lists the columns there are),
/// [`Error::NotText`] (lists the columns that would do). Later, as an item: [`Error::Foreign`].
pub fn read_text_columns(
    path: &Path,
    text: &[&str],
    labels: &[&str],
) -> Result<impl Iterator<Item = Result<Vec<Option<String>>>> + use<>> {
    let opened = Columns::open(path)?;
    let schema = opened.schema();
    check(path, schema, text, "text", is_text)?;
    check(path, schema, labels, "text, number or truth value", is_label)?;
    let names: Vec<&str> = text.iter().chain(labels).copied().collect();
    let roots =
        names.iter().filter_map(|name| schema.fields().iter().position(|f| f.name() == name));
    let roots = roots.collect();
    Ok(Rows::new(path, opened.batches(path, roots, Some(READ_BATCH))?, &names, label))
}

fn check(
    path: &Path,
    schema: &SchemaRef,
    columns: &[&str],
    wanted: &'static str,
    fits: fn(&DataType) -> bool,
) -> Result<()> {
    let names = |fields: &mut dyn Iterator<Item = &std::sync::Arc<Field>>| -> Vec<String> {
        fields.map(|field| field.name().clone()).collect()
    };
    for &column in columns {
        match schema.fields().iter().find(|field| field.name() == column) {
            Some(field) if fits(field.data_type()) => {}
            Some(field) => {
                return Err(Error::NotText {
                    path: path.to_path_buf(),
                    column: column.to_owned(),
                    found: field.data_type().to_string(),
                    wanted,
                    usable: names(
                        &mut schema.fields().iter().filter(|field| fits(field.data_type())),
                    ),
                });
            }
            None => {
                return Err(Error::NoColumn {
                    path: path.to_path_buf(),
                    column: column.to_owned(),
                    there: names(&mut schema.fields().iter()),
                });
            }
        }
    }
    Ok(())
}

fn is_text(found: &DataType) -> bool {
    match found {
        DataType::Dictionary(_, values) => is_text(values),
        found => matches!(found, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
    }
}

fn is_label(found: &DataType) -> bool {
    is_text(found) || found.is_numeric() || *found == DataType::Boolean
}

/// The value of one row as text: `None` inside for a null, outside for a type that is no label.
fn label(column: &dyn Array, row: usize) -> Option<Option<String>> {
    macro_rules! number {
        ($type:ty) => {
            column.as_primitive_opt::<$type>()?.value(row).to_string()
        };
    }
    macro_rules! decimal {
        ($type:ty) => {
            column.as_primitive_opt::<$type>()?.value_as_string(row)
        };
    }
    if column.is_null(row) {
        return Some(None);
    }
    Some(Some(match column.data_type() {
        DataType::Utf8 => column.as_string_opt::<i32>()?.value(row).to_owned(),
        DataType::LargeUtf8 => column.as_string_opt::<i64>()?.value(row).to_owned(),
        DataType::Utf8View => column.as_string_view_opt()?.value(row).to_owned(),
        DataType::Dictionary(key, _) => return entry(column, key, row),
        DataType::Boolean => column.as_boolean_opt()?.value(row).to_string(),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float16 => double(column.as_primitive_opt::<Float16Type>()?.value(row).to_f64()),
        // By its own digits: 0.1 is not 0.10000000149011612.
        DataType::Float32 => {
            let value = column.as_primitive_opt::<Float32Type>()?.value(row);
            double(value.to_string().parse().unwrap_or(f64::from(value)))
        }
        DataType::Float64 => double(column.as_primitive_opt::<Float64Type>()?.value(row)),
        DataType::Decimal32(..) => decimal!(Decimal32Type),
        DataType::Decimal64(..) => decimal!(Decimal64Type),
        DataType::Decimal128(..) => decimal!(Decimal128Type),
        DataType::Decimal256(..) => decimal!(Decimal256Type),
        _ => return None,
    }))
}

/// A number as JSON writes it; what JSON has no word for, as Rust does.
fn double(value: f64) -> String {
    serde_json::Number::from_f64(value)
        .map_or_else(|| value.to_string(), |number| number.to_string())
}

/// The entry of a dictionary that a row points to.
fn entry(column: &dyn Array, key: &DataType, row: usize) -> Option<Option<String>> {
    fn label_at<K: ArrowDictionaryKeyType>(
        column: &dyn Array,
        row: usize,
    ) -> Option<Option<String>> {
        let column = column.as_dictionary_opt::<K>()?;
        label(column.values().as_ref(), column.key(row)?)
    }
    match key {
        DataType::Int8 => label_at::<Int8Type>(column, row),
        DataType::Int16 => label_at::<Int16Type>(column, row),
        DataType::Int32 => label_at::<Int32Type>(column, row),
        DataType::Int64 => label_at::<Int64Type>(column, row),
        DataType::UInt8 => label_at::<UInt8Type>(column, row),
        DataType::UInt16 => label_at::<UInt16Type>(column, row),
        DataType::UInt32 => label_at::<UInt32Type>(column, row),
        DataType::UInt64 => label_at::<UInt64Type>(column, row),
        _ => None,
    }
}
