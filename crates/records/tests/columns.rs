//! Columns of Parquet files that others made.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int8Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, UInt32Array, UInt64Array,
};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use relscale_records::error::Error;
use relscale_records::parquet::{Cell, column_names, read_cells, read_text_columns};

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
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
    let rows: Vec<_> =
        read_text_columns(&path, &columns, &[]).unwrap().collect::<Result<_, _>>().unwrap();
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
    let rows: Vec<String> = read_text_columns(&path, &["text"], &[])
        .unwrap()
        .map(|row| row.unwrap().remove(0).unwrap())
        .collect();
    assert_eq!(rows, text);
}

#[test]
fn a_missing_column_lists_those_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    sample(&path);
    let error = read_text_columns(&path, &["content"], &[]).err().unwrap();
    let message = error.to_string();
    assert!(matches!(error, Error::NoColumn { .. }));
    assert!(
        message.contains("`content`") && message.contains("id, plain, large, view"),
        "{message}"
    );
}

#[test]
fn a_column_of_numbers_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    sample(&path);
    let error = read_text_columns(&path, &["plain", "id"], &[]).err().unwrap();
    let message = error.to_string();
    assert!(matches!(error, Error::NotText { .. }));
    assert!(message.contains("`id` is Int64") && message.contains("plain, large"), "{message}");
}

#[test]
fn labels_are_numbers_and_truth_values_as_json_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let one = |array: ArrayRef| array;
    write(
        &path,
        vec![
            ("text", one(Arc::new(StringArray::from(vec!["a", "b"])))),
            ("int", one(Arc::new(Int64Array::from(vec![Some(i64::MAX), None])))),
            ("small", one(Arc::new(UInt32Array::from(vec![7, 0])))),
            ("truth", one(Arc::new(BooleanArray::from(vec![true, false])))),
            ("double", one(Arc::new(Float64Array::from(vec![1.0, 0.1])))),
            ("float", one(Arc::new(Float32Array::from(vec![0.1, 2.5])))),
            ("day", one(Arc::new(Date32Array::from(vec![1, 2])))),
        ],
    );
    let labels = ["int", "truth", "small", "double", "float"];
    let rows: Vec<_> =
        read_text_columns(&path, &["text"], &labels).unwrap().map(Result::unwrap).collect();
    let row = |texts: [&str; 6]| texts.map(|text| (text != "-").then(|| text.to_owned())).to_vec();
    assert_eq!(rows[0], row(["a", "9223372036854775807", "true", "7", "1.0", "0.1"]));
    assert_eq!(rows[1], row(["b", "-", "false", "0", "0.1", "2.5"]));
    let refused = read_text_columns(&path, &["text"], &["day"]).err().unwrap().to_string();
    assert!(refused.contains("Date32") && refused.contains("text, int, small"), "{refused}");
}

/// Each codec that writers offer, written by another library's defaults for it where ours has them.
#[test]
fn every_usual_codec_is_read() {
    use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
    let folder = tempfile::tempdir().unwrap();
    let text: Vec<String> = (0..500).map(|i| format!("row {i} of text")).collect();
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for codec in codecs {
        let path = folder.path().join("x.parquet");
        let batch = RecordBatch::try_from_iter([(
            "text",
            Arc::new(StringArray::from(text.clone())) as ArrayRef,
        )])
        .unwrap();
        let properties = WriterProperties::builder().set_compression(codec).build();
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let read = read_text_columns(&path, &["text"], &[]).unwrap();
        let read: Vec<String> = read.map(|row| row.unwrap().remove(0).unwrap()).collect();
        assert_eq!(read, text, "{codec}");
    }
}

#[test]
fn arrow_files_and_streams_are_read_as_parquet_is() {
    let folder = tempfile::tempdir().unwrap();
    let categories: DictionaryArray<Int32Type> = [Some("b"), None, Some("a")].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![3, 1, 2]))),
        ("large", Arc::new(LargeStringArray::from(vec!["x", "yy", "zzz"]))),
        (
            "view",
            Arc::new(StringViewArray::from(vec![
                "x",
                "yy",
                "a text that is longer than twelve bytes",
            ])),
        ),
        ("categories", Arc::new(categories)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for (name, lz4) in [("a.arrow", false), ("b.feather", true), ("stream.arrow", false)] {
        let path = folder.path().join(name);
        let file = File::create(&path).unwrap();
        if name.starts_with("stream") {
            let mut writer = StreamWriter::try_new(file, &batch.schema()).unwrap();
            writer.write(&batch).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
        } else {
            let compression = lz4.then_some(arrow_ipc::CompressionType::LZ4_FRAME);
            let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
            let mut writer =
                FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
            writer.write(&batch).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
        }
        let rows: Vec<_> = read_text_columns(&path, &["view", "categories", "large"], &["id"])
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(rows.len(), 6, "{name}");
        let row = |texts: [Option<&str>; 4]| texts.map(|text| text.map(str::to_owned)).to_vec();
        assert_eq!(rows[3], row([Some("x"), Some("b"), Some("x"), Some("3")]));
        assert_eq!(rows[4], row([Some("yy"), None, Some("yy"), Some("1")]));
        // Cut anywhere: an error, or fewer whole batches of a stream that does not say how many
        // there are; never a panic.
        let bytes = std::fs::read(&path).unwrap();
        for length in (0..bytes.len()).step_by(37) {
            std::fs::write(&path, &bytes[..length]).unwrap();
            match read_text_columns(&path, &["large"], &[])
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            {
                Ok(rows) => {
                    assert!(name.starts_with("stream") && rows.len() % 3 == 0, "{name} {length}")
                }
                Err(error) => assert!(!error.to_string().contains("run the command"), "{error}"),
            }
        }
    }
}

/// The file is the user's: no advice may cost it.
#[test]
fn what_is_wrong_with_a_file_of_others_is_told_without_advice_for_ours() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    sample(&path);
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() - 20..whole.len() - 8].fill(0xFF);
    let mut encrypted = whole.clone();
    encrypted[whole.len() - 4..].copy_from_slice(b"PARE");
    let lfs = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n".to_vec();
    let cases: [(Vec<u8>, &str); 8] = [
        (whole[..whole.len() / 2].to_vec(), "is cut"),
        (damaged, "fetch or write it again"),
        (encrypted, "without encryption"),
        (lfs, "git lfs pull"),
        (Vec::new(), "empty"),
        (b"<html>not found</html>".to_vec(), "does not begin with PAR1"),
        (b"\x1F\x8B\x08\0rest".to_vec(), "gunzip -k"),
        (b"PAR1".to_vec(), "is cut"),
    ];
    for (bytes, said) in cases {
        std::fs::write(&path, bytes).unwrap();
        for error in [
            read_text_columns(&path, &["plain"], &[]).err().unwrap(),
            read_cells(&path, &["plain"]).err().unwrap(),
            column_names(&path).err().unwrap(),
        ] {
            let text = error.to_string();
            assert!(matches!(error, Error::Foreign { .. }) && text.contains(said), "{text}");
            assert!(
                text.contains("x.parquet") && !text.contains("delete") && !text.contains("command"),
                "{text}"
            );
        }
    }
    // Bytes that are no UTF-8, in a column that says it is text.
    sample(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(3).position(|three| three == b"ein").unwrap();
    bytes[at] = 0xFF;
    std::fs::write(&path, bytes).unwrap();
    let rows = read_text_columns(&path, &["plain"], &[]).unwrap();
    let error = rows.filter_map(Result::err).next().unwrap().to_string();
    assert!(error.contains("not UTF-8") && error.contains("write that column"), "{error}");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused() {
    let refused =
        read_text_columns(Path::new("/dev/zero"), &["text"], &[]).err().unwrap().to_string();
    assert!(refused.contains("no file that could be read"), "{refused}");
}

#[test]
fn cells_are_numbers_text_or_truth_values_of_any_width() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let decimals =
        Decimal128Array::from(vec![Some(12_345), None]).with_precision_and_scale(9, 3).unwrap();
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
    assert_eq!(
        names,
        ["int8", "int64", "uint32", "uint64", "float", "double", "decimal", "truth", "text"]
    );
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
