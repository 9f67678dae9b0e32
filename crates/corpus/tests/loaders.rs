//! Every loader on small files, and every way in which a file can be wrong.

use std::io::Write;
use std::path::PathBuf;

use relscale_corpus::{CorpusError, CorpusSpec, Document, Result};
use relscale_testkit::data::of_others;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn load(spec: &str) -> Result<Vec<Document>> {
    spec.parse::<CorpusSpec>()?.open()?.collect()
}

fn texts(spec: &str) -> Vec<String> {
    load(spec).unwrap().into_iter().map(|document| document.text).collect()
}

fn message(spec: &str) -> String {
    load(spec).unwrap_err().to_string()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn text_in_four_cuts() {
    let folder = Folder::new();
    let path = folder.file("a.txt", "\u{FEFF}one\r\n\n\ntwo\nthree\n  \nfour");
    assert_eq!(texts(&path), ["one\r\n\n\ntwo\nthree\n  \nfour"]);
    assert_eq!(texts(&format!("{path}?split=lines")), ["one", "two", "three", "four"]);
    assert_eq!(texts(&format!("{path}?split=paragraphs")), ["one", "two\nthree", "four"]);
    let documents = load(&format!("{path}?split=lines&limit=2")).unwrap();
    assert_eq!(documents.iter().map(|d| d.id.as_str()).collect::<Vec<_>>(), ["a.txt:1", "a.txt:4"]);

    let path = folder
        .file("wiki.txt", " \n = First = \n \n a = b \n = = Section = = \n x\n = Second = \n y\n");
    let documents = load(&format!("{path}?split=titles")).unwrap();
    assert_eq!(documents.len(), 2);
    assert_eq!(
        (documents[0].id.as_str(), documents[0].tags["title"].as_str()),
        ("wiki.txt:2", "First")
    );
    assert!(documents[0].text.ends_with(" = = Section = = \n x\n"));
    // Nothing of the text is lost but the blank line before the first title.
    let whole: String = documents.iter().map(|d| d.text.as_str()).collect();
    assert_eq!(format!(" \n{whole}"), texts(&path)[0]);

    let path = folder.file("notes.md", "intro\n# A\na\n# B\nb\n");
    assert_eq!(texts(&format!("{path}?title=^%23 ")), ["intro\n", "# A\na\n", "# B\nb\n"]);
    assert_eq!(texts(&format!("{path}?title=^%23 &concat=|")), ["intro\n|# A\na\n|# B\nb\n"]);
}

#[test]
fn concat_joins_empty_documents_too() {
    let folder = Folder::new();
    let rows = ["", "a", "", "b", ""].map(|text| format!("{{\"text\":\"{text}\"}}\n")).concat();
    let path = folder.file("rows.jsonl", rows);
    assert_eq!(texts(&format!("{path}?concat=%0A%0A")), ["\n\na\n\n\n\nb\n\n"]);
}

#[test]
fn a_folder_of_texts_in_order_of_path() {
    let folder = Folder::new();
    for name in ["b.txt", "a/z.md", "a/a.txt", "ignored.rs"] {
        folder.file(name, name);
    }
    let documents = load(folder.0.path().to_str().unwrap()).unwrap();
    let ids: Vec<&str> = documents.iter().map(|d| d.id.as_str()).collect();
    assert_eq!(ids, ["a/a.txt", "a/z.md", "b.txt"]);
    assert_eq!(documents[0].tags["file"], "a/a.txt");
}

#[test]
fn jsonl_plain_and_compressed() {
    let folder = Folder::new();
    let rows = "{\"q\": \"why\", \"a\": {\"text\": \"so\"}, \"n\": 7}\n\n{\"q\": \"\", \"a\": {\"text\": \"ü\"}, \"n\": 8}\n";
    let options = "?field=q&field=a.text&join=%0A&id=n&tag=q&score=a.text";
    let paths = [
        folder.file("x.jsonl", rows),
        folder.file(
            "x.jsonl.gz",
            [gzipped(&rows.as_bytes()[..40]), gzipped(&rows.as_bytes()[40..])].concat(),
        ),
        folder.file("x.jsonl.zst", zstd::encode_all(rows.as_bytes(), 3).unwrap()),
    ];
    for path in paths {
        let documents = load(&format!("{path}{options}")).unwrap();
        assert_eq!(documents.len(), 2);
        assert_eq!(
            documents[0],
            Document::new("7", "why\nso").with_tag("q", "why").with_span(4..6)
        );
        assert_eq!(documents[1], Document::new("8", "\nü").with_tag("q", "").with_span(1..3));
    }
}

#[test]
fn jsonl_errors_name_the_row() {
    let folder = Folder::new();
    let path = folder
        .file("x.jsonl", "{\"text\": \"a\"}\n{\"text\": \"b\", \"k\": null}\n{\"text\": 3}\n");
    let error = message(&path);
    assert!(error.contains("row 3") && error.contains("`text` holds a number"), "{error}");
    let error = message(&format!("{path}?tag=k"));
    assert!(
        error.contains("row 1") && error.contains("no field `k`") && error.contains("has: text"),
        "{error}"
    );
    let path = folder.file("cut.jsonl", "{\"text\": \"a\"}\n{\"text\": \"b\n");
    let error = message(&path);
    assert!(error.contains("row 2") && error.contains("JSON"), "{error}");
    let path = folder.file("list.jsonl", "[1]\n");
    assert!(message(&path).contains("row 1"));
    // What came before the error is still given, and nothing after it.
    let spec: CorpusSpec =
        format!("{}?field=text", folder.file("y.jsonl", "{\"text\":\"a\"}\nx\n{\"text\":\"c\"}\n"))
            .parse()
            .unwrap();
    let items: Vec<bool> = spec.open().unwrap().map(|item| item.is_ok()).collect();
    assert_eq!(items, [true, false]);
}

#[test]
fn bytes_that_are_not_utf8_are_located() {
    let folder = Folder::new();
    let path = folder.file("x.txt", b"fine\nbr\xFFken\n");
    let error = load(&path).unwrap_err();
    assert!(matches!(error, CorpusError::NotUtf8 { row: 2, byte: 2, .. }), "{error}");
    assert!(error.to_string().contains("x.txt, row 2"));
}

#[test]
fn cut_archives_are_errors_not_ends() {
    let folder = Folder::new();
    let rows: String =
        (0u64..20_000).map(|i| format!("{{\"text\": \"row {i} {}\"}}\n", i * i * 7919)).collect();
    let gz = gzipped(rows.as_bytes());
    let zst = zstd::encode_all(rows.as_bytes(), 3).unwrap();
    for (name, bytes) in [("x.jsonl.gz", gz), ("x.jsonl.zst", zst)] {
        let path = folder.file(name, &bytes[..bytes.len() / 2]);
        let error = load(&path).unwrap_err();
        let CorpusError::Compression { rows, .. } = &error else { panic!("{name}: {error}") };
        assert!(*rows > 100, "{error}");
        let path = folder.file(name, b"this is not compressed");
        assert!(load(&path).is_err());
    }
}

#[test]
fn missing_and_empty() {
    let folder = Folder::new();
    let error = message("/nowhere/x.txt");
    assert!(error.contains("/nowhere/x.txt"), "{error}");
    for (name, options) in
        [("e.txt", ""), ("e.jsonl", ""), ("e.ids", "?format=u16"), ("blank.txt", "?split=lines")]
    {
        let path = folder.file(name, if name == "blank.txt" { "\n \n" } else { "" });
        let error = load(&format!("{path}{options}")).unwrap_err();
        assert!(matches!(error, CorpusError::EmptyCorpus { .. }), "{name}: {error}");
    }
    // Its only file of rows is empty.
    let error = message(&format!("{}?kind=jsonl", folder.0.path().display()));
    assert!(error.contains("no documents"), "{error}");
    let error = message(&format!("{}?kind=parquet", folder.0.path().display()));
    assert!(error.contains("no file of parquet in this folder"), "{error}");
}

#[test]
fn token_ids_in_three_formats() {
    let folder = Folder::new();
    let ids = |spec: &str| -> Vec<Vec<u32>> {
        load(spec).unwrap().into_iter().map(|d| d.ids.unwrap()).collect()
    };
    let path = folder.file("t.ids", "1 2 3\n\n70000\t5\n");
    assert_eq!(ids(&format!("{path}?format=text")), [vec![1, 2, 3], vec![70000, 5]]);
    let path = folder.file("w.ids", [1u16, 2, 0, 0, 3].map(u16::to_le_bytes).concat());
    assert_eq!(ids(&format!("{path}?format=u16")), [vec![1, 2, 0, 0, 3]]);
    assert_eq!(ids(&format!("{path}?format=u16&separator=0")), [vec![1, 2], vec![3]]);
    let error = message(&format!("{path}?format=u32"));
    assert!(error.contains("ends 2 bytes into an id") && error.contains("after 2 ids"), "{error}");
    let path = folder.file("w.ids.gz", gzipped(&[1u16, 2, 0, 0, 3].map(u16::to_le_bytes).concat()));
    assert_eq!(ids(&format!("{path}?format=u16&separator=0")), [vec![1, 2], vec![3]]);
    let path = folder.file("d.ids", [70_000u32, 1].map(u32::to_le_bytes).concat());
    assert_eq!(ids(&format!("{path}?format=u32")), [vec![70_000, 1]]);
    let path = folder.file("b.ids", "1 2\n3 -4\n");
    let error = message(&format!("{path}?format=text"));
    assert!(error.contains("row 2") && error.contains("`-4`"), "{error}");
}

#[test]
fn parquet_columns() {
    // Written by tools/goldens/corpus_rows.py with another program's library.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rows.parquet");
    let documents =
        load(&format!("{path}?field=topic&field=text&join=: &id=id&tag=topic&limit=2")).unwrap();
    assert_eq!(documents[0], Document::new("r1", "a: first żółw").with_tag("topic", "a"));
    assert_eq!(documents[1].text, "b: second");
    let error = message(path);
    assert!(error.contains("row 3: field `text` is null"), "{error}");
    for options in ["?field=nothing", "?field=number"] {
        let error = load(&format!("{path}{options}")).unwrap_err();
        assert!(matches!(error, CorpusError::Parquet(_)), "{error}");
    }
    let folder = Folder::new();
    assert!(matches!(
        load(&folder.file("not.parquet", "PAR1 or so")),
        Err(CorpusError::Parquet(_))
    ));
    assert!(matches!(load("/nowhere/x.parquet"), Err(CorpusError::Read { .. })));
}

#[test]
fn shared_corpora_have_their_known_sizes() {
    let (Some(human_eval), Some(wiki)) =
        (of_others("human-eval/HumanEval.jsonl.gz"), of_others("wikitext-2/test.txt"))
    else {
        return;
    };
    let documents = load(&format!(
        "{}?field=prompt&field=canonical_solution&id=task_id&score=canonical_solution",
        human_eval.display()
    ))
    .unwrap();
    assert_eq!(documents.len(), 164);
    assert_eq!(documents[0].id, "HumanEval/0");
    assert!(documents[0].text[documents[0].spans[0].clone()].starts_with("    for idx"));
    let articles = load(&format!("{}?split=titles", wiki.display())).unwrap();
    let bytes: usize = articles.iter().map(|d| d.text.len()).sum();
    let whole = std::fs::read_to_string(&wiki).unwrap();
    assert!(articles.len() > 50, "{}", articles.len());
    // Only a blank head may be missing.
    assert!(whole.ends_with(&articles.iter().map(|d| d.text.as_str()).collect::<String>()));
    assert!(whole.len() - bytes < 4);
}
