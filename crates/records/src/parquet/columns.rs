//! Text columns of Parquet files made elsewhere, for the corpus loaders.

use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Schema};
use parquet::arrow::ProjectionMask;

use super::foreign::{self, Rows};
use super::format;
use super::guard::Batches;
use crate::error::{Error, Result};

/// Rows decoded at a time; small, since a row may be a whole book.
const READ_BATCH: usize = 256;

/// Streams the named text columns, row by row, in the order the names were given; `None` is a null.
///
/// Every text type is read: what a writer called utf8, large utf8, string view or a dictionary of
/// strings is the same "string" in Parquet. Only the named columns are decoded.
///
/// # Errors
/// At once: [`Error::Read`], [`Error::Damaged`], [`Error::NoColumn`] (lists the columns there are),
/// [`Error::NotText`] (lists the columns of text). Later, as an item: [`Error::Damaged`].
pub fn read_text_columns(
    path: &Path,
    columns: &[&str],
) -> Result<impl Iterator<Item = Result<Vec<Option<String>>>> + use<>> {
    let builder = foreign::open(path)?;
    check(path, builder.schema(), columns)?;
    let roots: Vec<usize> = columns
        .iter()
        .filter_map(|name| builder.schema().fields().iter().position(|f| f.name() == name))
        .collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
    let batches = Batches::of(builder.with_projection(mask).with_batch_size(READ_BATCH))
        .map_err(|source| format::unreadable(path, source))?;
    Ok(Rows::new(path, batches, columns, text))
}

fn check(path: &Path, schema: &Schema, columns: &[&str]) -> Result<()> {
    for &column in columns {
        let field = schema.fields().iter().find(|field| field.name() == column);
        match field.map(|field| field.data_type()) {
            Some(DataType::Utf8) => {}
            Some(found) => {
                let text =
                    |field: &&std::sync::Arc<arrow_schema::Field>| *field.data_type() == DataType::Utf8;
                return Err(Error::NotText {
                    path: path.to_path_buf(),
                    column: column.to_owned(),
                    found: found.to_string(),
                    text_columns: names(schema.fields().iter().filter(text)),
                });
            }
            None => {
                return Err(Error::NoColumn {
                    path: path.to_path_buf(),
                    column: column.to_owned(),
                    there: names(schema.fields().iter()),
                });
            }
        }
    }
    Ok(())
}

fn names<'a>(fields: impl Iterator<Item = &'a std::sync::Arc<arrow_schema::Field>>) -> Vec<String> {
    fields.map(|field| field.name().clone()).collect()
}

/// The text of one row, `None` inside for a null, outside for a column that is no text.
fn text(column: &dyn Array, row: usize) -> Option<Option<String>> {
    let column = column.as_string_opt::<i32>()?;
    Some(column.is_valid(row).then(|| column.value(row).to_owned()))
}
