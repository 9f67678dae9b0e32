//! The loss curve of one training run as a table: one row a point.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use serde::{Deserialize, Serialize};

use super::format;
use super::guard::Batches;
use crate::atomic::AtomicFile;
use crate::error::{Error, Result};

/// `relscale.kind` of the table.
const KIND: &str = "curve";
/// Metadata key: name of the run.
const RUN: &str = "relscale.run";

/// One point of a loss curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Steps taken.
    pub step: u32,
    /// Tokens seen.
    pub tokens: u64,
    /// Mean training loss over the steps since the last point, nats a token.
    pub loss: f64,
    /// Learning rate of this step.
    pub learning_rate: f64,
    /// Loss on the held-out text after this step, nats a token; `None` where it was not evaluated.
    pub held_out_loss: Option<f64>,
}

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        Field::new("step", DataType::UInt32, false),
        Field::new("tokens", DataType::UInt64, false),
        Field::new("loss", DataType::Float64, false),
        Field::new("learning_rate", DataType::Float64, false),
        Field::new("held_out_loss", DataType::Float64, true),
    ]))
}

/// Writes the curve of a run (aside, then renamed).
///
/// # Errors
/// [`Error::Write`], [`Error::WriteParquet`]; the table does not appear then.
pub fn write_curve(path: &Path, run: &str, points: &[CurvePoint]) -> Result<()> {
    let file = AtomicFile::create(path)?;
    let properties = format::properties_with(KIND, (RUN, run.to_owned()));
    let unwritable = |source| format::unwritable(path, source);
    let mut writer = ArrowWriter::try_new(file, schema(), Some(properties)).map_err(unwritable)?;
    for chunk in points.chunks(format::ROW_GROUP) {
        let batch = to_batch(chunk).map_err(|source| Error::WriteParquet {
            path: path.to_path_buf(),
            reason: source.to_string(),
        })?;
        writer.write(&batch).map_err(unwritable)?;
    }
    writer.into_inner().map_err(unwritable)?.commit()
}

fn to_batch(points: &[CurvePoint]) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_new(
        schema(),
        vec![
            Arc::new(UInt32Array::from_iter_values(points.iter().map(|point| point.step))),
            Arc::new(UInt64Array::from_iter_values(points.iter().map(|point| point.tokens))),
            Arc::new(Float64Array::from_iter_values(points.iter().map(|point| point.loss))),
            Arc::new(Float64Array::from_iter_values(
                points.iter().map(|point| point.learning_rate),
            )),
            Arc::new(Float64Array::from_iter(points.iter().map(|point| point.held_out_loss))),
        ],
    )
}

/// Reads the curve of a run: its name and its points.
///
/// # Errors
/// [`Error::Read`], [`Error::Damaged`], [`Error::NotOurs`], [`Error::NewerFormat`].
pub fn read_curve(path: &Path) -> Result<(String, Vec<CurvePoint>)> {
    let builder = format::open_kind(path, KIND)?;
    let damaged = |reason: String| Error::Damaged { path: path.to_path_buf(), reason };
    let run = format::metadata(&builder, RUN)
        .ok_or_else(|| damaged(format!("no metadata `{RUN}`")))?
        .to_owned();
    let mut points = Vec::new();
    for batch in
        Batches::from_builder(builder).map_err(|source| format::unreadable(path, source))?
    {
        let batch = batch.map_err(|source| damaged(source.to_string()))?;
        let column = |name: &str| {
            batch.column_by_name(name).ok_or_else(|| damaged(format!("no column `{name}`")))
        };
        let wrong = |name: &str| damaged(format!("column `{name}` has another type"));
        let number =
            |name: &str| column(name)?.as_primitive_opt::<Float64Type>().ok_or_else(|| wrong(name));
        let step = column("step")?.as_primitive_opt::<UInt32Type>().ok_or_else(|| wrong("step"))?;
        let tokens =
            column("tokens")?.as_primitive_opt::<UInt64Type>().ok_or_else(|| wrong("tokens"))?;
        let (loss, rate, held_out) =
            (number("loss")?, number("learning_rate")?, number("held_out_loss")?);
        points.extend((0..batch.num_rows()).map(|i| CurvePoint {
            step: step.value(i),
            tokens: tokens.value(i),
            loss: loss.value(i),
            learning_rate: rate.value(i),
            held_out_loss: held_out.is_valid(i).then(|| held_out.value(i)),
        }));
    }
    Ok((run, points))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_comes_back_and_the_same_points_give_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let points: Vec<CurvePoint> = (1..50)
            .map(|step| CurvePoint {
                step,
                tokens: u64::from(step) << 33,
                loss: 1.0 / f64::from(step),
                learning_rate: 1e-300 * f64::from(step),
                held_out_loss: (step % 7 == 0).then_some(0.1 + f64::from(step)),
            })
            .collect();
        let (one, two) = (folder.path().join("one.parquet"), folder.path().join("two.parquet"));
        write_curve(&one, "1e12-d16", &points).unwrap();
        write_curve(&two, "1e12-d16", &points).unwrap();
        assert_eq!(read_curve(&one).unwrap(), ("1e12-d16".to_owned(), points));
        assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
        // No other table of ours passes for one.
        let tokenizer = crate::Vocabulary::new("0".repeat(64), Vec::new()).unwrap();
        crate::parquet::write_vocabulary(&two, &tokenizer).unwrap();
        let error = read_curve(&two).unwrap_err();
        assert!(matches!(error, Error::NotOurs { .. }), "{error}");
    }

    #[test]
    fn an_empty_curve_is_a_table_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("curve.parquet");
        write_curve(&path, "none", &[]).unwrap();
        assert_eq!(read_curve(&path).unwrap().1, []);
    }
}
