//! Text columns of Parquet files that others made.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use parquet::arrow::ArrowWriter;
use relscale_records::error::Error;
use relscale_records::parquet::read_text_columns;

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
