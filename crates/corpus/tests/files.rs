//! Files as people have them: other names, other compressions, folders, patterns, links, and what
//! is no text at all.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use relscale_corpus::loaders::reading::Reading;
use relscale_corpus::{CorpusError, CorpusSpec, Document, Result};

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

    fn at(&self, rest: &str) -> String {
        format!("{}{rest}", self.0.path().display())
    }
}

fn read(spec: &str) -> Result<(Vec<Document>, String)> {
    let reading = Reading::default();
    let documents = spec.parse::<CorpusSpec>()?.open_with(&reading)?.collect::<Result<Vec<_>>>()?;
    Ok((documents, reading.take().join("\n")))
}

fn texts(spec: &str) -> Vec<String> {
    read(spec).unwrap().0.into_iter().map(|document| document.text).collect()
}

fn refusal(spec: &str) -> String {
    read(spec).unwrap_err().to_string()
}

fn kind(spec: &str) -> &'static str {
    spec.parse::<CorpusSpec>().unwrap().kind()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// How bytes are packed.
type Pack = fn(&[u8]) -> Vec<u8>;

const ROWS: &str = "{\"text\": \"one\"}\n{\"text\": \"two\"}\n";

#[test]
fn jsonl_is_known_by_any_name() {
    let folder = Folder::new();
    let gz = gzipped(ROWS.as_bytes());
    let zst = zstd::encode_all(ROWS.as_bytes(), 3).unwrap();
    let plain =
        ["a.jsonl", "b.JSONL", "c.ndjson", "d.jl", "e.jsonlines", "f.json", "g.JSON", "h.log", "i"];
    let mut paths: Vec<String> = plain.iter().map(|name| folder.file(name, ROWS)).collect();
    for name in [
        "a.jsonl.gz",
        "b.jsonl.GZ",
        "c4.00000-of-01024.json.gz",
        "d.json",
        "e.ndjson.gzip",
        "packed",
    ] {
        paths.push(folder.file(&format!("gz/{name}"), &gz));
    }
    for name in ["a.jsonl.zst", "b.jsonl.zstd", "c.JSON.ZST", "d.jsonl.gz"] {
        paths.push(folder.file(&format!("zst/{name}"), &zst));
    }
    for path in paths {
        assert_eq!(
            (kind(&path), texts(&path)),
            ("jsonl", vec!["one".to_owned(), "two".to_owned()]),
            "{path}"
        );
        // What was said wins.
        assert_eq!(texts(&format!("{path}?kind=text")), [ROWS]);
    }
}

#[test]
fn text_that_begins_with_a_json_object_is_refused_unless_it_was_said_to_be_text() {
    let folder = Folder::new();
    for (name, bytes) in
        [("a.txt", ROWS.as_bytes().to_vec()), ("b.txt.gz", gzipped(ROWS.as_bytes()))]
    {
        let path = folder.file(name, bytes);
        let refused = refusal(&path);
        assert!(refused.contains("kind=jsonl") && refused.contains("kind=text"), "{refused}");
        assert_eq!(texts(&format!("{path}?kind=text")), [ROWS]);
        assert_eq!(texts(&format!("{path}?kind=jsonl")), ["one", "two"]);
    }
    let refused = refusal(&folder.file("in/a folder/c.txt", ROWS).replace("/a folder/c.txt", ""));
    assert!(refused.contains("c.txt") && refused.contains("kind=jsonl"), "{refused}");
    // Braces alone are no JSON.
    assert_eq!(texts(&folder.file("d.txt", "{ not json }\n")), ["{ not json }\n"]);
}

#[test]
fn json_that_is_not_jsonl_says_what_to_do() {
    let folder = Folder::new();
    let refused = refusal(&folder.file("a.json", "[\n {\"text\": \"one\"}\n]\n"));
    assert!(refused.contains("JSON array") && refused.contains("jq -c '.[]'"), "{refused}");
    let refused = refusal(&folder.file("b.json", "{\n \"text\": \"one\"\n}\n"));
    assert!(refused.contains("over several lines"), "{refused}");
    let refused = refusal(&folder.file("c.jsonl", "[{\"text\": \"one\"}]\n"));
    assert!(refused.contains("row 1") && refused.contains("jq -c '.[]'"), "{refused}");
    let refused = refusal(&folder.file("d.jsonl", "{\n \"text\": \"one\"\n}\n"));
    assert!(refused.contains("row 1") && refused.contains("jq -c ."), "{refused}");
}

#[test]
fn a_folder_is_read_whole_or_says_what_it_leaves_out() {
    let folder = Folder::new();
    folder.file("t/a.txt", "a");
    folder.file("t/b.txt.gz", gzipped(b"b"));
    folder.file("t/c.TXT", "c");
    folder.file("t/d.text", "d");
    folder.file("t/e/f.markdown.zst", zstd::encode_all(&b"f"[..], 3).unwrap());
    for name in ["g.rs", "h.rs", "i.log", "README"] {
        folder.file(&format!("t/{name}"), "x");
    }
    let (documents, notices) = read(&folder.at("/t")).unwrap();
    let got: Vec<(&str, &str)> =
        documents.iter().map(|d| (d.id.as_str(), d.text.as_str())).collect();
    assert_eq!(
        got,
        [
            ("a.txt", "a"),
            ("b.txt.gz", "b"),
            ("c.TXT", "c"),
            ("d.text", "d"),
            ("e/f.markdown.zst", "f")
        ]
    );
    assert_eq!(
        notices,
        "5 files of text are read, 4 others left out (1 .log, 2 .rs, 1 without extension)"
    );
    assert_eq!(read(&folder.at("/t/a.txt")).unwrap().1, "");
    std::fs::create_dir(folder.0.path().join("none")).unwrap();
    folder.file("none/a.rs", "x");
    let refused = refusal(&folder.at("/none"));
    assert!(refused.contains("no file of text") && refused.contains(".markdown"), "{refused}");
}

#[test]
fn shards_of_one_kind_are_one_corpus() {
    let folder = Folder::new();
    folder.file("rows/b.ndjson.gz", gzipped(b"{\"text\": \"b\", \"n\": 2}\n"));
    folder.file("rows/a.jsonl", "{\"text\": \"a\", \"n\": 1}\n");
    folder.file("rows/c.json", "{\"text\": \"c\", \"n\": 3}\n{\"text\": \"d\", \"n\": 4}\n");
    folder.file("rows/dataset_info.json", "{\n \"name\": 1\n}\n");
    let (documents, notices) = read(&folder.at("/rows?tag=n")).unwrap();
    let ids: Vec<&str> = documents.iter().map(|d| d.id.as_str()).collect();
    assert_eq!(ids, ["a.jsonl:1", "b.ndjson.gz:1", "c.json:1", "c.json:2"]);
    assert_eq!(
        (documents[3].tags["n"].as_str(), documents[3].tags["file"].as_str()),
        ("4", "c.json")
    );
    assert!(
        notices.contains("3 files of jsonl are read, 1 others left out (1 .json)"),
        "{notices}"
    );
    // A folder of C4's names.
    folder.file("c4/c4-train.00001.json.gz", gzipped(b"{\"text\": \"2\"}\n"));
    folder.file("c4/c4-train.00000.json.gz", gzipped(b"{\"text\": \"1\"}\n"));
    assert_eq!(texts(&folder.at("/c4")), ["1", "2"]);
    assert_eq!(texts(&folder.at("/c4/*.json.gz")), ["1", "2"]);
    assert_eq!(texts(&folder.at("/c4/c4-train.0000[1-9]*")), ["2"]);

    let shard =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rows.parquet")).unwrap();
    folder.file("pq/train-00001.parquet", &shard);
    folder.file("pq/train-00000.PARQUET", &shard);
    let options = "?field=topic&tag=number&id=number";
    for place in ["/pq", "/pq/train-*"] {
        let (documents, _) = read(&folder.at(&format!("{place}{options}"))).unwrap();
        assert_eq!(documents[0].tags["file"], "train-00000.PARQUET");
        assert_eq!(documents.len() % 2, 0);
        assert!(
            documents[0].id.parse::<f64>().is_ok(),
            "an id that is a number: {}",
            documents[0].id
        );
    }
    folder.file("ids/a.ids", [1u8, 0, 2, 0]);
    folder.file("ids/b.ids", [3u8, 0]);
    assert_eq!(read(&folder.at("/ids?format=u16")).unwrap().0.len(), 2);

    folder.file("mixed/a.jsonl", ROWS);
    folder.file("mixed/README.md", "read me");
    let refused = refusal(&folder.at("/mixed"));
    assert!(refused.contains("several kinds (1 of text, 1 of jsonl)"), "{refused}");
    assert!(refused.contains("kind=text or kind=jsonl"), "{refused}");
    let (documents, notices) = read(&folder.at("/mixed?kind=jsonl")).unwrap();
    assert_eq!(documents.len(), 2);
    assert!(notices.contains("1 others left out (1 .md)"), "{notices}");
    assert!(refusal(&folder.at("/mixed/*")).contains("several kinds"));
    assert!(refusal(&folder.at("/mixed/*.txt")).contains("no file matches"));
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_are_followed_once() {
    let folder = Folder::new();
    folder.file("a/x.txt", "x");
    folder.file("a/b/y.txt", "y");
    for name in ["a/again", "a/b/up", "a/b/round"] {
        std::os::unix::fs::symlink(folder.0.path().join("a"), folder.0.path().join(name)).unwrap();
    }
    let (documents, notices) = read(&folder.at("/a")).unwrap();
    assert_eq!(documents.len(), 2, "{documents:?}");
    assert!(notices.contains("again") && notices.contains("b/up"), "{notices}");
    let spec: CorpusSpec = folder.at("/a").parse().unwrap();
    assert_eq!(spec.files().unwrap().len(), 2);
    assert_eq!(texts(&folder.at("/a/**/*.txt")), ["y", "x"]);
    // Also where a folder is listed for another loader.
    assert!(refusal(&folder.at("/a?kind=ice")).contains("text code"));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused_before_it_is_opened() {
    let folder = Folder::new();
    let fifo = folder.at("/pipe.txt");
    let made = std::process::Command::new("mkfifo")
        .arg(&fifo)
        .status()
        .is_ok_and(|status| status.success());
    let mut places = vec!["/dev/zero".to_owned(), "/dev/tty?kind=jsonl".to_owned()];
    if made {
        for options in ["", "?kind=jsonl", "?kind=ids&format=u16", "?kind=anthropic", "?kind=ice"] {
            places.push(format!("{fifo}{options}"));
        }
        places.push(folder.at(""));
    }
    for place in places {
        let refused = refusal(&place);
        assert!(refused.contains("pipe or a device"), "{place}: {refused}");
        let checked = place.parse::<CorpusSpec>().unwrap().check();
        assert!(place.contains("kind=") || checked.is_err(), "{place}");
    }
    assert!(refusal("/dev/zero?kind=parquet").contains("pipe or a device"));
}

#[test]
fn members_padding_and_garbage() {
    let folder = Folder::new();
    let (one, two) = ("{\"text\": \"one\"}\n", "{\"text\": \"two\"}\n");
    let pack: [(&str, Pack); 2] =
        [("gz", gzipped), ("zst", |bytes| zstd::encode_all(bytes, 3).unwrap())];
    for (ending, pack) in pack {
        let (one, two) = (pack(one.as_bytes()), pack(two.as_bytes()));
        let zeros = vec![0; 70_000];
        let cases: [(&str, Vec<&[u8]>, &str); 6] = [
            ("joined", vec![&one, &two], ""),
            ("padded", vec![&one, &two, &zeros], "70000 bytes zeros (padding)"),
            ("between", vec![&one, &zeros, &two], ""),
            ("garbage", vec![&one, &two, b"garbage"], "7 bytes that are not compressed data"),
            ("both", vec![&one, &two, &zeros, b"x"], "70001 bytes that are not"),
            ("empty", vec![&one, &two, &[]], ""),
        ];
        for (name, parts, said) in cases {
            let path = folder.file(&format!("{name}.jsonl.{ending}"), parts.concat());
            let (documents, notices) = read(&path).unwrap();
            assert_eq!(documents.len(), 2, "{path}");
            assert!(
                notices.contains(said) && notices.is_empty() == said.is_empty(),
                "{path}: {notices}"
            );
        }
        // A member that is cut is no garbage.
        let path =
            folder.file(&format!("cut.jsonl.{ending}"), [&one[..], &two[..two.len() - 3]].concat());
        assert!(matches!(read(&path), Err(CorpusError::Compression { .. })), "{path}");
    }
    // Packed twice.
    let twice = gzipped(&gzipped(ROWS.as_bytes()));
    assert_eq!(texts(&folder.file("twice.jsonl.gz", twice)), ["one", "two"]);
    // A frame that says nothing (as `pzstd` writes), then data.
    let skippable = [
        b"\x50\x2A\x4D\x18\x02\0\0\0ab".as_slice(),
        &zstd::encode_all(ROWS.as_bytes(), 3).unwrap(),
    ];
    assert_eq!(texts(&folder.file("skip.jsonl.zst", skippable.concat())), ["one", "two"]);
}

#[test]
fn the_longest_window_of_zstd_is_read() {
    let folder = Folder::new();
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(31).unwrap();
    encoder.long_distance_matching(true).unwrap();
    // Without its size in advance the frame carries its window.
    encoder.write_all(ROWS.as_bytes()).unwrap();
    let path = folder.file("long.jsonl.zst", encoder.finish().unwrap());
    assert_eq!(texts(&path), ["one", "two"]);
}

#[test]
fn what_is_not_read_is_named_with_what_to_do() {
    let folder = Folder::new();
    let lfs = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    let tar = [[b'x'; 257].as_slice(), b"ustar\0", &[0; 761]].concat();
    let cases: [(&str, Vec<u8>, &str); 14] = [
        ("x.jsonl.xz", b"\xFD7zXZ\0\0\x04".to_vec(), "xz -dk"),
        ("x.jsonl", b"\xFD7zXZ\0\0\x04".to_vec(), "xz -dk"),
        ("x.txt.bz2", b"BZh91AY&SY\0".to_vec(), "bunzip2"),
        ("x.txt.lzma", b"\x5D\0\0\x80\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0".to_vec(), "lzma"),
        ("x.txt.lz4", b"\x04\x22\x4D\x18".to_vec(), "lz4"),
        ("x.7z", b"7z\xBC\xAF\x27\x1C".to_vec(), "7z x"),
        ("x.zip", b"PK\x03\x04".to_vec(), "unzip"),
        ("x.tar.gz", gzipped(&tar), "tar xf"),
        ("y.tgz", gzipped(&tar), "tar xf"),
        ("x.tar", tar, "tar xf"),
        ("x.txt", b"\xFF\xFEa\0".to_vec(), "iconv -f UTF-16"),
        ("lfs.txt", lfs.to_vec(), "git lfs pull"),
        ("plain.txt.gz", b"not packed".to_vec(), "rename it"),
        ("empty.txt.gz", Vec::new(), "rename it"),
    ];
    for (name, bytes, said) in cases {
        let refused = refusal(&folder.file(name, bytes));
        assert!(refused.contains(name) && refused.contains(said), "{name}: {refused}");
    }
    // Git LFS, wherever a file can be one.
    for place in [
        "lfs.jsonl",
        "lfs.parquet?field=a",
        "lfs.arrow",
        "lfs.ids?format=u16",
        "lfs.ids?format=text",
        "lfs.jsonl?kind=anthropic",
        "S1A-001.txt?kind=ice",
    ] {
        let (name, options) = place.split_once('?').unwrap_or((place, ""));
        let refused = refusal(&format!("{}?{options}", folder.file(name, lfs)));
        assert!(
            refused.contains("Git LFS pointer") && refused.contains("git lfs pull"),
            "{place}: {refused}"
        );
    }
    folder.file("mmlu/test/anatomy_test.csv", lfs);
    folder.file("mmlu/dev/anatomy_dev.csv", lfs);
    assert!(refusal(&folder.at("/mmlu?kind=mmlu&shots=0")).contains("git lfs pull"));
    // Numbers may begin as anything.
    let ids = folder.file("x.ids", [0x8B1Fu16, 8, 7].map(u16::to_le_bytes).concat());
    assert_eq!(read(&format!("{ids}?format=u16")).unwrap().0[0].ids, Some(vec![0x8B1F, 8, 7]));
    let packed = folder.file("y.ids", gzipped(&[1u8, 0, 2, 0]));
    assert_eq!(read(&format!("{packed}?format=u16")).unwrap().0[0].ids, Some(vec![1, 2]));
    let parquet =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rows.parquet")).unwrap();
    let refused = refusal(&folder.file("renamed.txt", &parquet));
    assert!(refused.contains("kind=parquet"), "{refused}");
    assert_eq!(kind(&folder.file("renamed.bin", &parquet)), "parquet");
    let refused = refusal(&format!("{}?field=a", folder.file("z.parquet.gz", gzipped(&parquet))));
    assert!(refused.contains("gunzip -k"), "{refused}");
}

#[test]
fn rows_without_text_say_so() {
    let folder = Folder::new();
    let rows = "{\"text\": \"a\", \"n\": null}\n{\"text\": null, \"n\": 1}\n{\"text\": \"c\", \"n\": true}\n";
    let path = folder.file("x.jsonl", rows);
    let refused = refusal(&path);
    assert!(
        refused.contains("row 2: field `text` is null") && refused.contains("null=skip"),
        "{refused}"
    );
    let (documents, notices) = read(&format!("{path}?null=skip")).unwrap();
    assert_eq!(
        documents.iter().map(|d| d.id.as_str()).collect::<Vec<_>>(),
        ["x.jsonl:1", "x.jsonl:3"]
    );
    assert_eq!(
        notices,
        "x.jsonl: 1 rows have null in a field that is asked for; they are passed over"
    );
    assert!(refusal(&format!("{path}?tag=n")).contains("row 1: field `n` is null"));
    for (row, place) in
        [("{\"text\": \"a \\ud83d b\"}", "column"), ("{\"text\": \"\\udc00\"}", "column")]
    {
        let refused = refusal(&folder.file("s.jsonl", format!("{{\"text\": \"fine\"}}\n{row}\n")));
        assert!(
            refused.contains("row 2") && refused.contains("surrogate") && refused.contains(place),
            "{refused}"
        );
        assert!(refused.contains("\\ufffd"), "{refused}");
    }
    let whole = folder.file("t.jsonl", "{\"text\": \"\\ud83d\\ude00\"}\n");
    assert_eq!(texts(&whole), ["\u{1F600}"]);
}

#[test]
fn question_marks_in_paths() {
    let folder = Folder::new();
    let who = folder.file("who?.txt", "one\ntwo\n");
    assert_eq!(texts(&who), ["one\ntwo\n"]);
    assert_eq!(texts(&format!("{who}?split=lines")), ["one", "two"]);
    assert_eq!(texts(&format!("name={who}?split=lines")), ["one", "two"]);
    assert_eq!(texts(&format!("{}?split=lines", who.replace('?', "%3F"))), ["one", "two"]);
    let spec: CorpusSpec = format!("name={who}?split=lines&limit=1").parse().unwrap();
    assert_eq!(
        (spec.name(), spec.description().as_str()),
        ("name", "text who?.txt split=lines limit=1")
    );
    let equals = folder.file("a=b.txt", "x");
    assert_eq!(texts(&equals), ["x"]);
    let brackets = folder.file("a[1]*.txt", "y");
    assert_eq!(texts(&brackets), ["y"]);
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_are_refused_by_name() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    folder.file("a.txt", "a");
    let odd = folder.0.path().join(std::ffi::OsStr::from_bytes(b"b\xFF.txt"));
    if std::fs::write(odd, "b").is_ok() {
        let refused = refusal(&folder.at(""));
        assert!(refused.contains("not UTF-8") && refused.contains("rename"), "{refused}");
    }
}

#[test]
fn reading_ends_on_request_in_the_middle_of_a_document() {
    let folder = Folder::new();
    let zeros = gzipped(&vec![b'a'; 50_000_000]);
    let path = folder.file("long.txt.gz", zeros);
    let stop = Arc::new(AtomicBool::new(false));
    let spec: CorpusSpec = path.parse().unwrap();
    let reading = Reading::until(Arc::clone(&stop));
    stop.store(true, Ordering::Relaxed);
    let stopped = spec.open_with(&reading).err();
    assert!(matches!(stopped, Some(CorpusError::Stopped)), "{stopped:?}");
    stop.store(false, Ordering::Relaxed);
    assert_eq!(spec.open_with(&reading).unwrap().next().unwrap().unwrap().text.len(), 50_000_000);
}

/// A file without blocks on disk, as long as nobody could hold it.
#[test]
fn a_document_longer_than_any_that_is_held_is_refused_by_its_size() {
    let folder = Folder::new();
    let path = folder.file("huge.txt", "");
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len((1 << 30) + 1).unwrap();
    let refused = refusal(&path);
    assert!(refused.contains("huge.txt") && refused.contains("1073741824 bytes"), "{refused}");
    assert!(refused.contains("split=lines"), "{refused}");
}

#[test]
fn evaluations_in_folders_take_every_spelling_and_say_what_they_leave_out() {
    let folder = Folder::new();
    let row = "{\"question\": \"Do you?\", \"answer_matching_behavior\": \" Yes\", \"answer_not_matching_behavior\": \" No\"}\n";
    folder.file("evals/one.JSONL", row);
    folder.file("evals/two.jsonl.GZ", gzipped(row.as_bytes()));
    folder.file("evals/README.md", "");
    folder.file("evals/more/three.jsonl", row);
    let (documents, notices) = read(&folder.at("/evals?kind=anthropic")).unwrap();
    let groups: Vec<&str> = documents.iter().map(|d| d.tags["group"].as_str()).collect();
    assert_eq!(groups, ["one", "one", "two", "two"]);
    assert!(notices.contains("2 others left out (1 .md, 1 folders)"), "{notices}");

    let question = "What is it?,a,b,c,d,B\n";
    folder.file("mmlu/test/virology_test.CSV", question);
    folder.file("mmlu/test/anatomy_test.csv.gz", gzipped(question.as_bytes()));
    folder.file("mmlu/test/notes.txt", "");
    let (documents, notices) = read(&folder.at("/mmlu?kind=mmlu&shots=0")).unwrap();
    assert_eq!(documents.len(), 8);
    assert_eq!(documents[0].tags["group"], "anatomy");
    assert!(notices.contains("1 others left out (1 .txt)"), "{notices}");

    folder.file("ice/S1A-001.TXT", "<I><ICE-SIN:S1A-001#1:1:A> Hello there </I>");
    folder.file("ice/S1A-002.txt.gz", gzipped(b"<I><ICE-SIN:S1A-002#1:1:A> Hello again </I>"));
    folder.file("ice/read.me", "");
    let (documents, notices) = read(&folder.at("/ice?kind=ice")).unwrap();
    assert_eq!(documents.len(), 2);
    assert!(notices.contains("(1 .me)"), "{notices}");
}

fn files(spec: &str) -> Result<Vec<PathBuf>> {
    spec.parse::<CorpusSpec>().unwrap().files()
}

#[test]
fn a_file_is_itself_and_a_folder_all_below_it() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    std::fs::create_dir(at("deep")).unwrap();
    for name in ["b.txt", "a.md", "deep/c.txt", "deep/other.rs", "map.csv"] {
        std::fs::write(at(name), "x").unwrap();
    }
    let spelled = |rest: &str| format!("{}{rest}", root.path().display());
    assert_eq!(files(&spelled("/b.txt")).unwrap(), [at("b.txt")]);
    assert_eq!(files(&spelled("/deep")).unwrap(), [at("deep/c.txt"), at("deep/other.rs")]);
    let mmlu = format!("{}?kind=mmlu&domains={}", spelled("/deep"), at("map.csv").display());
    assert_eq!(files(&mmlu).unwrap(), [at("deep/c.txt"), at("deep/other.rs"), at("map.csv")]);
    let behaviours =
        format!("{}?kind=anthropic&clusters={}", spelled("/deep"), at("map.csv").display());
    assert_eq!(files(&behaviours).unwrap().len(), 3);
    assert!(files("ice:sample").unwrap().is_empty());
    assert!(files(&spelled("/none.txt")).unwrap_err().to_string().contains("none.txt"));
}
