//! Files of text, and the value of `--corpus` that says how they are read.

use std::io::Write as _;
use std::path::Path;

use relscale_corpus::loaders::crates::{code, held_out::HeldOut, licence, prose};
use relscale_corpus::{CorpusError, CorpusSpec, Document};

use crate::input::{choice, files, join};
use crate::place::{Place, check_refusal};
use crate::seeds::{self, Seeds};

const DATA: &str = "crates/corpus/tests/data";

/// Reads a corpus to its end: documents whose spans fit, ids that are there; or a refusal that
/// names one of the files `named`.
fn read(spec: &str, named: &[&Path]) -> Vec<Document> {
    let refuse = |error: CorpusError| match named {
        [only] => check_refusal(&error, only),
        several => {
            let said = error.to_string();
            let names =
                |path: &&Path| said.contains(&*path.file_name().unwrap_or_default().to_string_lossy());
            assert!(several.iter().any(names), "the refusal names no file: {said}");
        }
    };
    // Where its name does not say what a file is, parsing looks at it.
    let documents = match spec.parse::<CorpusSpec>().and_then(|spec| spec.open()) {
        Ok(documents) => documents,
        Err(error) => {
            refuse(error);
            return Vec::new();
        }
    };
    let mut all = Vec::new();
    for document in documents {
        match document {
            Ok(document) => {
                document.check_spans().unwrap_or_else(|error| panic!("{error}"));
                assert!(!document.id.is_empty() || spec.contains("id="), "{document:?}");
                all.push(document);
            }
            Err(error) => {
                refuse(error);
                return Vec::new();
            }
        }
    }
    all
}

/// Plain text, cut in every way. Nothing of it is lost or changed but byte-order marks and, where
/// lines are documents, their ends.
///
/// # Panics
/// It is.
pub fn text(data: &[u8]) {
    const CUTS: [&str; 4] = ["file", "lines", "paragraphs", "titles"];
    let Some((cut, data)) = choice(data, CUTS.len()) else { return };
    let place = Place::of("text");
    let path = place.put("text.txt", data);
    let documents = read(&format!("t={}?kind=text&split={}", path.display(), CUTS[cut]), &[&path]);
    if let (false, Ok(whole)) = (documents.is_empty(), std::str::from_utf8(data)) {
        let joined: String = documents.iter().map(|document| document.text.as_str()).collect();
        let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let whole = whole.trim_start_matches('\u{FEFF}');
        match CUTS[cut] {
            "file" => assert_eq!(joined, whole),
            // Blank lines before the first title are no document.
            "titles" => assert!(
                whole.strip_suffix(joined.as_str()).is_some_and(|before| before.trim().is_empty()),
                "{joined:?} of {whole:?}"
            ),
            _ => assert_eq!(bare(&joined), bare(whole)),
        }
    }
}

/// Prose, an article of WikiText, line ends of all kinds.
pub fn text_seeds() -> Vec<Vec<u8>> {
    let wiki = " = One = \n \n First . \n = = Part = = \n more \n = Two = \n last";
    Seeds::new()
        .chosen(0, "one\ntwo\n\nthree")
        .chosen(1, "\u{feff}one\r\n\r\ntwo\n")
        .chosen(2, "a\nb\n\n\nc\n \nd")
        .chosen(3, wiki)
        .files(b"2", "record", &["scoring-speed.md"])
        .all()
}

/// What decompression and lines make of a file: `.jsonl`, and text and rows in gzip and zstd.
///
/// # Panics
/// A refusal does not name the file, or spans do not fit.
pub fn rows(data: &[u8]) {
    const NAMES: [&str; 5] = ["rows.jsonl", "rows.jsonl.gz", "rows.jsonl.zst", "text.gz", "text.zst"];
    let Some((name, data)) = choice(data, NAMES.len()) else { return };
    let place = Place::of("rows");
    let path = place.put(NAMES[name], data);
    let how = if name < 3 {
        "field=prompt&field=text&join=%0A&score=text&id=id&tag=meta.kind"
    } else {
        "split=lines"
    };
    read(&format!("r={}?{how}", path.display()), &[&path]);
}

/// Rows with every kind of member, plain and compressed.
pub fn rows_seeds() -> Vec<Vec<u8>> {
    let plain = "{\"id\": 1, \"prompt\": \"a \\u00e9\", \"text\": \"b\", \"meta\": {\"kind\": true}}\n\n{\"id\": \"x\", \"prompt\": \"\", \"text\": \"c\", \"meta.kind\": 1.5}\n";
    let gzip = gzipped(plain.as_bytes());
    // Several members one after another are one file, as `cat a.gz b.gz` makes it.
    let twice = [gzip.clone(), gzip.clone()].concat();
    let zstd = zstd::encode_all(plain.as_bytes(), 3).expect("bytes in memory");
    Seeds::new()
        .chosen(0, plain)
        .chosen(1, &gzip)
        .chosen(1, twice)
        .chosen(1, [gzip.as_slice(), &[0; 40], gzip.as_slice(), b"rest"].concat())
        .chosen(2, &zstd)
        .chosen(3, gzip)
        .chosen(4, zstd)
        .files(b"0", DATA, &[".jsonl"])
        .all()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).and_then(|()| writer.finish()).expect("bytes in memory")
}

/// Text columns of a Parquet file made elsewhere.
///
/// # Panics
/// As [`rows`].
pub fn parquet(data: &[u8]) {
    let place = Place::of("parquet");
    let path = place.put("rows.parquet", data);
    read(&format!("p={}?field=text&tag=id", path.display()), &[&path]);
}

/// The file of the corpus's tests.
pub fn parquet_seeds() -> Vec<Vec<u8>> {
    Seeds::new().files(b"", DATA, &[".parquet"]).all()
}

/// Token ids in the three formats: every id comes back, in order.
///
/// # Panics
/// It does not.
pub fn token_ids(data: &[u8]) {
    const FORMATS: [&str; 5] = ["u16", "u32", "text", "u16&separator=0", "u32&separator=7"];
    let Some((format, data)) = choice(data, FORMATS.len()) else { return };
    let place = Place::of("token_ids");
    let path = place.put("text.ids", data);
    let documents = read(&format!("i={}?format={}", path.display(), FORMATS[format]), &[&path]);
    let ids: Vec<u32> =
        documents.into_iter().flat_map(|document| document.ids.expect("a corpus of ids")).collect();
    // Archives are looked through.
    let packed = data.starts_with(b"\x1F\x8B") || data.starts_with(b"\x28\xB5\x2F\xFD");
    if format == 1 && !ids.is_empty() && !packed {
        assert_eq!(ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>(), data);
    }
}

/// A few ids in each format.
pub fn token_ids_seeds() -> Vec<Vec<u8>> {
    Seeds::new()
        .chosen(0, b"\x01\0\x02\0\xff\xff")
        .chosen(1, b"\x01\0\0\0\xff\xff\xff\xff")
        .chosen(2, "1 2 3\n\n4294967295\n")
        .chosen(3, b"\x01\0\0\0\0\0\x02\0")
        .chosen(4, b"\x07\0\0\0\x01\0\0\0\x07\0\0\0")
        .all()
}

/// A subject of MMLU: questions, and the solved ones of its prompt.
///
/// # Panics
/// As [`rows`]; a question without exactly one right option.
pub fn mmlu(data: &[u8]) {
    const FORMATS: [&str; 4] = ["standard", "text", "modified", "continuation"];
    let Some((format, data)) = choice(data, FORMATS.len()) else { return };
    let [dev, test] = files(data);
    let place = Place::of("mmlu");
    let dev = place.put("dev/astronomy_dev.csv", dev);
    let test = place.put("test/astronomy_test.csv", test);
    let spec = format!("m={}?kind=mmlu&shots=2&format={}", place.path().display(), FORMATS[format]);
    let documents = read(&spec, &[&dev, &test]);
    let right = documents.iter().filter(|document| document.tags["gold"] == "true").count();
    assert_eq!(4 * right, documents.len());
}

/// The invented subject of the corpus's tests.
pub fn mmlu_seeds() -> Vec<Vec<u8>> {
    let file = |name: &str| seeds::read(&format!("{DATA}/mmlu/{name}"));
    let both = join(&[&file("dev/astronomy_dev.csv"), &file("test/astronomy_test.csv")]);
    (0..4).fold(Seeds::new(), |seeds, format| seeds.chosen(format, &both)).all()
}

/// A file of questions about behaviour, verbatim and modified, with a user's table of clusters.
///
/// # Panics
/// As [`rows`]; a question without exactly one right answer.
pub fn anthropic(data: &[u8]) {
    let Some((format, data)) = choice(data, 2) else { return };
    let [clusters, questions] = files(data);
    let place = Place::of("anthropic");
    let clusters = place.put("clusters.csv", clusters);
    let questions = place.put("behaviour.jsonl", questions);
    let format = ["verbatim", "modified"][format];
    let spec =
        format!("a={}?kind=anthropic&format={format}&clusters={}", questions.display(), clusters.display());
    let documents = read(&spec, &[&questions, &clusters]);
    let right = documents.iter().filter(|document| document.tags["gold"] == "true").count();
    assert_eq!(2 * right, documents.len());
}

/// The invented behaviours of the corpus's tests.
pub fn anthropic_seeds() -> Vec<Vec<u8>> {
    let clusters = b"behaviour,cluster\nbehaviour,tea\n";
    let file = |name: &str| join(&[clusters, &seeds::read(&format!("{DATA}/behaviours/{name}.jsonl"))]);
    let mut seeds = Seeds::new();
    for name in ["likes-tea", "no-shut-down"] {
        seeds = seeds.chosen(0, file(name)).chosen(1, file(name));
    }
    seeds.all()
}

/// A text in the markup of ICE, by the two names that a file may have. A text that was stripped is
/// stripped of nothing more.
///
/// # Panics
/// As [`rows`].
pub fn ice(data: &[u8]) {
    const NAMES: [&str; 3] = ["LOW/S1A-001.txt", "EA/stories.txt", "LOW/w2b-021.TXT"];
    let Some((name, data)) = choice(data, 2 * NAMES.len()) else { return };
    let place = Place::of("ice");
    let path = place.put(NAMES[name % NAMES.len()], data);
    let how = ["", "&pauses=drop&extra=drop"][name / NAMES.len()];
    for document in read(&format!("i={}?kind=ice{how}", place.path().display()), &[&path]) {
        assert!(!document.text.trim().is_empty() && document.tags.contains_key("variety"), "{document:?}");
    }
}

/// The invented texts that the program carries, with every irregularity that a file may have.
pub fn ice_seeds() -> Vec<Vec<u8>> {
    let sample = "crates/corpus/src/loaders/ice/sample";
    Seeds::new()
        .files(b"0", sample, &[".txt"])
        .files(b"1", sample, &[".txt"])
        .files(b"3", sample, &[".txt"])
        .files(b"5", DATA, &[".TXT"])
        .all()
}

/// A Rust file taken apart into code and prose. The code is no longer than the file (but for its
/// last newline); text that is no Rust may be anything else.
///
/// # Panics
/// It is.
pub fn crate_source(data: &[u8]) {
    let source = String::from_utf8_lossy(data);
    let code = code::without_comments(&source);
    assert!(code.len() <= source.len() + 1 && (code.is_empty() || code.ends_with('\n')), "{code:?}");
    let prose = prose::doc_comments(&source);
    assert!(prose.is_empty() || prose.ends_with('\n'));
}

/// Comments of every kind, and where signs of comments are none.
pub fn crate_source_seeds() -> Vec<Vec<u8>> {
    Seeds::new()
        .bytes("#!/usr/bin/env run\n//! inner\n/*! a /* b */ */\n/** out\n * er */\nfn/* a */main() {} // end\n// tail")
        .bytes("let a = \"// no\"; let b = r#\"/* \" no */\"#; let c = '/'; let d = b\"//\";\n/// ```\n/// x\n/// ~~~\nfn f<'a>() {}")
        .files(b"", "crates/corpus/src/loaders/crates", &["code.rs", "licence.rs"])
        .all()
}

/// A licence expression of a manifest. One that is permissive stays so beside an `OR`, and with one
/// that is not beside an `AND` it is none.
///
/// # Panics
/// It does not.
pub fn crate_licence(data: &[u8]) {
    let expression = String::from_utf8_lossy(data);
    if licence::is_permissive(&expression) {
        assert!(licence::is_permissive(&format!("({expression}) OR Proprietary")), "{expression}");
        assert!(!licence::is_permissive(&format!("({expression}) AND Proprietary")), "{expression}");
    }
}

/// Expressions as published crates have them.
pub fn crate_licence_seeds() -> Vec<Vec<u8>> {
    Seeds::new()
        .bytes("MIT/Apache-2.0")
        .bytes("(MIT OR Apache-2.0) AND Unicode-3.0")
        .bytes("Apache-2.0 WITH LLVM-exception OR MIT OR LGPL-2.1-or-later")
        .all()
}

/// A list of held-out crates.
///
/// # Panics
/// A name that was read is not in it.
pub fn held_out(data: &[u8]) {
    if let Ok(list) = HeldOut::parse(&String::from_utf8_lossy(data)) {
        assert!(list.names().all(|name| list.contains(name)));
    }
}

/// The list that the program carries.
pub fn held_out_seeds() -> Vec<Vec<u8>> {
    Seeds::new().files(b"", "assets", &["held-out.toml"]).all()
}

/// A value of `--corpus`. It reads back from what it shows, and its name can be a folder's.
///
/// # Panics
/// It does not, or a refusal does not quote it.
pub fn corpus_spec(data: &[u8]) {
    let given = String::from_utf8_lossy(data).into_owned();
    // A pattern lists folders while it is read: of this machine, for as long as they are deep.
    if given.contains(['*', '[', '{'])
        && (given.contains("**") || given.contains("..") || given.contains('/'))
    {
        return;
    }
    // So does a folder that happens to be there, the root above all.
    let place = given.split_once('=').map_or(given.as_str(), |(_, place)| place);
    if [given.as_str(), place].iter().any(|at| at.split('?').next().is_some_and(|at| Path::new(at).is_dir()))
    {
        return;
    }
    match given.parse::<CorpusSpec>() {
        Ok(spec) => {
            let again: CorpusSpec = spec.to_string().parse().expect("a value that was read before");
            assert_eq!((spec.name(), spec.description()), (again.name(), again.description()));
            assert!(!spec.name().is_empty() && !spec.name().contains(['/', '\\', '\0']), "{:?}", spec.name());
        }
        Err(error) => {
            let said = error.to_string();
            // What was looked for on disk is quoted as a path, the value's beginning.
            let path = said.trim_start_matches("cannot read ").split(": ").next().unwrap_or_default();
            assert!(said.contains(&given) || said.contains("crates:") || given.contains(path), "{said}");
        }
    }
}

/// A value of each kind.
pub fn corpus_spec_seeds() -> Vec<Vec<u8>> {
    Seeds::new()
        .bytes("he=data/HumanEval.jsonl.gz?field=prompt&field=canonical_solution&join=%0A&id=task_id&limit=3&score=prompt&tag=x")
        .bytes("wiki=test.txt?split=titles&title=^ = [^=].* = $&concat=%20")
        .bytes("x.ids?format=u16&separator=0")
        .bytes("crates:docs?split=train&manifest=/a/b")
        .bytes("mmlu=data?kind=mmlu&format=modified&questions=20&shots=2&subject=a&domains=lm-eval")
        .bytes("a?kind=anthropic&format=modified&clusters=c.csv")
        .bytes("ice-sin=ICE-SIN?kind=ice&variety=SIN&pauses=drop&extra=keep")
        .bytes("rows.parquet?field=text")
        .bytes("ice:sample")
        .all()
}
