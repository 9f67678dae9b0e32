//! Columns of Parquet files that others made.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int8Array, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray, UInt32Array,
    UInt64Array,
};
use parquet::arrow::ArrowWriter;
use relscale_records::error::Error;
use relscale_records::parquet::{Cell, column_names, read_cells, read_text_columns};

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn sample(path: &Path) {
    let text = [Some("ein"), None, Some("zwei äöü 日本")];
    let dictionary: DictionaryArray<Int32Type> = text.into_iter().collect();
    write(
        path,
        vec![
            ("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef),
            ("plain", Arc::new(StringArray::from_iter(text))),
            ("large", Arc::new(LargeStringArray::from_iter(text))),
            ("view", Arc::new(StringViewArray::from_iter(text))),
            ("categories", Arc::new(dictionary)),
        ],
    );
}

#[test]
fn every_kind_of_text_is_read_in_the_order_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    sample(&path);
    let columns = ["view", "plain", "categories", "large"];
    let rows: Vec<_> = read_text_columns(&path, &columns).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows.len(), 3);
    for (row, expected) in rows.iter().zip([Some("ein"), None, Some("zwei äöü 日本")]) {
        assert_eq!(*row, vec![expected.map(str::to_owned); 4]);
    }
}

#[test]
fn more_rows_than_a_batch_stay_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let text: Vec<String> = (0..1_000).map(|i| format!("row {i}")).collect();
    write(&path, vec![("text", Arc::new(StringArray::from_iter_values(&text)) as ArrayRef)]);
    let rows: Vec<String> =
        read_text_columns(&path, &["text"]).unwrap().map(|row| row.unwrap().remove(0).unwrap()).collect();
    assert_eq!(rows, text);
}

#[test]
fn a_missing_column_lists_those_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    sample(&path);
    let error = read_text_columns(&path, &["content"]).err().unwrap();
    let message = error.to_string();
    assert!(matches!(error, Error::NoColumn { .. }));
    assert!(message.contains("`content`") && message.contains("id, plain, large, view"), "{message}");
}

#[test]
fn a_column_of_numbers_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    sample(&path);
    let error = read_text_columns(&path, &["plain", "id"]).err().unwrap();
    let message = error.to_string();
    assert!(matches!(error, Error::NotText { .. }));
    assert!(message.contains("`id` is Int64") && message.contains("plain, large"), "{message}");
}

#[test]
fn cells_are_numbers_text_or_truth_values_of_any_width() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let decimals = Decimal128Array::from(vec![Some(12_345), None]).with_precision_and_scale(9, 3).unwrap();
    let large = [18_915_328_u64, 11_327_027_200];
    write(
        &path,
        vec![
            ("int8", Arc::new(Int8Array::from(vec![Some(-1), None])) as ArrayRef),
            ("int64", Arc::new(Int64Array::from(vec![i64::MAX, -5]))),
            ("uint32", Arc::new(UInt32Array::from(vec![u32::MAX, 0]))),
            ("uint64", Arc::new(UInt64Array::from(large.to_vec()))),
            ("float", Arc::new(Float32Array::from(vec![0.5, -0.25]))),
            ("double", Arc::new(Float64Array::from(vec![0.1, f64::NAN]))),
            ("decimal", Arc::new(decimals)),
            ("truth", Arc::new(BooleanArray::from(vec![true, false]))),
            ("text", Arc::new(StringViewArray::from_iter([Some("a"), None]))),
        ],
    );
    let names = column_names(&path).unwrap();
    assert_eq!(names, ["int8", "int64", "uint32", "uint64", "float", "double", "decimal", "truth", "text"]);
    // In the order asked for, not that of the file.
    let asked: Vec<&str> = names.iter().rev().map(String::as_str).collect();
    let rows: Vec<_> = read_cells(&path, &asked).unwrap().collect::<Result<_, _>>().unwrap();
    let number = Cell::Number;
    assert_eq!(
        rows[0],
        [
            Cell::Text("a".into()),
            Cell::Truth(true),
            number(12.345),
            number(0.1),
            number(0.5),
            number(large[0] as f64),
            number(f64::from(u32::MAX)),
            number(i64::MAX as f64),
            number(-1.0),
        ]
    );
    assert!(matches!(rows[1][3], Cell::Number(number) if number.is_nan()));
    assert_eq!([&rows[1][0], &rows[1][2], &rows[1][8]], [&Cell::Missing; 3]);
    assert_eq!(rows[1][5], number(large[1] as f64));
}

#[test]
fn what_is_no_cell_is_refused_with_its_type() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    write(&path, vec![("day", Arc::new(Date32Array::from(vec![1])) as ArrayRef)]);
    let refusal = |columns: &[&str]| read_cells(&path, columns).map(|_| ()).unwrap_err();
    assert!(
        matches!(refusal(&["day"]), Error::NotCells { column, found, .. } if column == "day" && found == "Date32")
    );
    assert!(matches!(refusal(&["x"]), Error::NoColumn { there, .. } if there == ["day"]));
}
