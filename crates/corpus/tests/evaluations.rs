//! Loaders of evaluations on small files written for this purpose, on broken ones, and on the real
//! data where they are at hand.

use std::collections::BTreeMap;

use relscale_corpus::choices::{Format, LETTERS};
use relscale_corpus::{CorpusSpec, Document, Result};
use relscale_testkit::data::of_others;

fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn load(spec: &str) -> Result<Vec<Document>> {
    spec.parse::<CorpusSpec>()?.open()?.collect()
}

fn refusal(spec: &str) -> String {
    load(spec).expect_err("a refusal").to_string()
}

fn scored(document: &Document) -> &str {
    &document.text[document.spans[0].clone()]
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }
}

fn counts<'a>(documents: &'a [Document], tag: &str) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for document in documents {
        *counts.entry(document.tags[tag].as_str()).or_default() += 1;
    }
    counts
}

#[test]
fn mmlu_is_one_document_an_option_with_the_shots_before_it() {
    let documents = load(&format!("{}?kind=mmlu&shots=1", data("mmlu"))).unwrap();
    assert_eq!(documents.len(), 12);
    let first = &documents[0];
    assert_eq!(first.id, "astronomy/test/1/A");
    assert_eq!(
        first.text,
        "The following are multiple choice questions (with answers) about astronomy.\n\n\
         Which body is at the centre of the solar system?\nA. The Sun\nB. The Earth\nC. The Moon\nD. Mars\nAnswer: A. The Sun\n\n\
         Which of these is \"the red planet\"?\nA. Mars\nB. Mars and Venus\nC. Venus\nD. Mars, Venus and Earth\nAnswer: A. Mars"
    );
    assert_eq!(scored(first), " A. Mars");
    // Options that begin alike are documents of their own: only the scored text differs.
    assert_eq!(scored(&documents[1]), " B. Mars and Venus");
    let tag = |document: &Document, key: &str| document.tags[key].clone();
    let tags: Vec<String> =
        ["item", "option", "gold", "span_bytes", "group", "domain", "format", "shots"]
            .iter()
            .map(|key| tag(first, key))
            .collect();
    assert_eq!(tags, ["astronomy/test/1", "A", "true", "7", "astronomy", "stem", "modified", "1"]);
    assert_eq!(counts(&documents, "gold"), BTreeMap::from([("false", 9), ("true", 3)]));
    assert_eq!(counts(&documents, "domain"), BTreeMap::from([("humanities", 4), ("stem", 8)]));
}

#[test]
fn mmlu_formats_score_letters_texts_or_both() {
    let path = data("mmlu");
    let of = |options: &str| load(&format!("{path}?kind=mmlu&subject=astronomy{options}")).unwrap();
    let second = |options: &str| of(options)[5].clone();
    assert_eq!(scored(&second("&shots=0&format=standard")), " B");
    // White space inside an option is the file's and stays; it counts in span_bytes, the joining
    // space does not.
    let text = second("&shots=0&format=text");
    assert_eq!((scored(&text), text.tags["span_bytes"].as_str()), ("  24 hours", "9"));
    let continuation = second("&shots=2&format=continuation");
    assert!(continuation.text.starts_with(
        "The following are questions (with answers) about astronomy.\n\nQuestion: Which body"
    ));
    assert!(
        continuation.text.ends_with("\n\nQuestion: A day on Mars lasts\nabout\nAnswer:  24 hours")
    );
    assert!(!continuation.text.contains("A. "));
    assert_eq!(of("&shots=2&questions=1").len(), 4);
    assert_eq!(of("&split=dev&shots=0").len(), 20);
}

/// Prompts and continuations of lm-evaluation-harness itself, by its own templates and few-shot
/// assembly (`tools/goldens/mmlu_prompts.py`).
#[test]
fn mmlu_prompts_are_those_of_the_harness_to_the_byte() {
    let golden = std::fs::read_to_string(data("mmlu_prompts.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> =
        golden.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut compared = 0;
    for (format, shots) in
        Format::ALL.iter().flat_map(|format| (0..=5).map(move |shots| (format, shots)))
    {
        let documents =
            load(&format!("{}?kind=mmlu&format={format}&shots={shots}", data("mmlu"))).unwrap();
        let documents: BTreeMap<&str, &Document> =
            documents.iter().map(|d| (d.id.as_str(), d)).collect();
        for row in rows.iter().filter(|row| row["format"] == format.name() && row["shots"] == shots)
        {
            for (option, continuation) in
                LETTERS.iter().zip(row["continuations"].as_array().unwrap())
            {
                let id =
                    format!("{}/test/{}/{option}", row["subject"].as_str().unwrap(), row["row"]);
                let document = documents[id.as_str()];
                assert_eq!(
                    &document.text[..document.spans[0].start],
                    row["context"],
                    "{id}, {format}, {shots}"
                );
                assert_eq!(scored(document), continuation, "{id}, {format}, {shots}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 4 * 6 * 3 * 4);
}

#[test]
fn mmlu_refusals_name_file_and_row() {
    let good = "q,a,b,c,d,A\n";
    let cases = [
        ("q,a,b,c,A\n", "row 2: 5 fields"),
        ("q,a,b,c,d,E\n", "row 2: the answer `E`"),
        ("q,a,b,c,d,AB\n", "row 2: the answer `AB` is not one letter"),
        ("q,a, ,c,d,A\n", "row 2: option B is empty"),
        (" ,a,b,c,d,A\n", "row 2: the question is empty"),
        ("\"one\ntwo\",a,b,c,d,A\nq,a,b,c,d,4\n", "row 4: the answer `4`"),
        ("\"not closed,a,b,c,d,A\n", "row 2: 1 field; a row is"),
    ];
    for (bad, reason) in cases {
        let folder = Folder::new();
        folder.file("test/anatomy_test.csv", format!("{good}{bad}"));
        let message = refusal(&format!("{}?kind=mmlu&shots=0", folder.path()));
        assert!(message.contains("anatomy_test.csv") && message.contains(reason), "{message}");
    }
    let folder = Folder::new();
    folder.file("test/anatomy_test.csv", good);
    folder.file("dev/anatomy_dev.csv", good);
    let of = |options: &str| refusal(&format!("{}?kind=mmlu{options}", folder.path()));
    assert!(
        of("").contains("5 shots need as many questions, and it has 1; use shots=1"),
        "{}",
        of("")
    );
    assert!(of("&shots=0&subject=law").contains("no subject `law`; there are anatomy"));
    assert!(of("&shots=0&split=val").contains("val"));
    let table = folder.file("domains.csv", "subject,domain\nlaw,arts\n");
    assert!(of(&format!("&shots=0&domains={table}")).contains("`anatomy` has no domain"));
    let table = folder.file("twice.csv", "subject,domain\nanatomy,arts\nanatomy,stem\n");
    assert!(
        of(&format!("&shots=0&domains={table}"))
            .contains("twice.csv, row 3: `anatomy` is given twice")
    );
    folder.file("test/virology_test.csv", "question,A,B,C,D,answer\nq,a,b,c,d,A\n");
    let message = of("&shots=0&subject=virology");
    assert!(
        message.contains("virology_test.csv, row 1") && message.contains("header"),
        "{message}"
    );
    // One empty file among others is not passed over.
    folder.file("test/virology_test.csv", "");
    assert!(of("&shots=0").contains("virology_test.csv: it has no question"), "{}", of("&shots=0"));
    let message = refusal(&format!("{}/test/anatomy_test.csv?kind=mmlu", folder.path()));
    assert!(message.contains("no folder `test` here"), "{message}");
    let bytes = Folder::new();
    bytes.file("test/anatomy_test.csv", b"q,a,b,c,d,A\nq\xff,a,b,c,d,A\n");
    let message = refusal(&format!("{}?kind=mmlu&shots=0", bytes.path()));
    assert!(message.contains("row 2") && message.contains("UTF-8"), "{message}");
}

#[test]
fn behaviours_are_two_answers_a_question() {
    let documents = load(&format!("{}?kind=anthropic", data("behaviours"))).unwrap();
    assert_eq!(documents.len(), 6);
    assert_eq!(
        counts(&documents, "cluster"),
        BTreeMap::from([("incorrigibility", 4), ("other", 2)])
    );
    let [yes, no] = &documents[..2] else { panic!() };
    assert_eq!((yes.id.as_str(), no.id.as_str()), ("likes-tea/1/Yes", "likes-tea/1/No"));
    assert!(yes.text.ends_with("settles most things\" Yes"));
    assert_eq!((scored(yes), scored(no)), (" Yes", " No"));
    assert_eq!((yes.tags["gold"].as_str(), no.tags["gold"].as_str()), ("true", "false"));
    assert_eq!(scored(&documents[2]), " (B)");

    let folder = Folder::new();
    let clusters = folder.file("clusters.tsv", "behaviour\tcluster\nlikes-tea\tdrinks\n");
    let documents =
        load(&format!("{}?kind=anthropic&format=modified&clusters={clusters}", data("behaviours")))
            .unwrap();
    assert_eq!(counts(&documents, "cluster"), BTreeMap::from([("drinks", 2), ("other", 4)]));
    let yes = &documents[0];
    assert!(
        yes.text.ends_with("Answer with \"Yes\" or \"No\".\n\nAssistant: My answer is \"Yes"),
        "{}",
        yes.text
    );
    assert_eq!(scored(yes), "Yes");
    // A choice of which the file has only the letter.
    let folder_of_one = Folder::new();
    let path = folder_of_one.file(
        "b.jsonl",
        "{\"question\": \"Would you?\\n (A) No\\n (B)\", \"answer_matching_behavior\": \" (B)\", \"answer_not_matching_behavior\": \" (A)\"}\n",
    );
    let bare = load(&format!("{path}?kind=anthropic&format=modified")).unwrap();
    assert_eq!((scored(&bare[0]), bare[0].tags["span_bytes"].as_str()), (" B.", "2"));
    let locked = &documents[4];
    assert!(locked.text.ends_with("You:\nA. warn the cleaner that data may be lost\nB. lock the door\nC. say nothing\nAnswer: B. lock the door"));
    assert_eq!(scored(locked), " B. lock the door");
}

#[test]
fn behaviour_refusals_name_file_and_row() {
    let row = |question: &str, matching: &str, other: &str| {
        format!(
            "{{\"question\": {question}, \"answer_matching_behavior\": {matching}, \"answer_not_matching_behavior\": {other}}}\n"
        )
    };
    let good = row("\"q\"", "\" Yes\"", "\" No\"");
    let cases = [
        ("{\"question\": \"q\"}\n".to_owned(), "no field `answer_matching_behavior`"),
        (row("\"q\"", "\" Yes\"", "\" Yes\""), "both answers are `Yes`"),
        (row("\"q\"", "\" \"", "\" Yes\""), "`answer_matching_behavior` is empty"),
        (row("\"q\"", "[\" Yes\"]", "\" No\""), "`answer_matching_behavior` is not text"),
        (row("\"q\\n (A) x\"", "\" (A)\"", "\" (B)\""), "letters of the choices are A;"),
        (row("\"q\\n (A) x\\n (B) y\"", "\" (A)\"", "\" (C)\""), "(C) is not among the 2 choices"),
        ("[]\n".to_owned(), "not a JSON object"),
    ];
    for (bad, reason) in cases {
        let folder = Folder::new();
        let path = folder.file("b.jsonl", format!("{good}\n{bad}"));
        let message = refusal(&format!("{path}?kind=anthropic&format=modified"));
        assert!(message.contains("b.jsonl, row 3") && message.contains(reason), "{message}");
    }
    let bad = Folder::new();
    let of = |name: &str, content: &[u8]| {
        bad.file(name, content);
        refusal(&format!("{}?kind=anthropic", bad.path()))
    };
    // Read in the order of their names: what is good before them does not hide them.
    bad.file("a.jsonl", &good);
    let message = of("d.jsonl", b"{\"question\": \xff}\n");
    assert!(message.contains("d.jsonl, row 1: not UTF-8"), "{message}");
    let message = of("c.jsonl", b"{\"question\": \n");
    assert!(
        message.contains("c.jsonl, row 1: not a JSON object") && message.contains("at its end"),
        "{message}"
    );
    assert!(of("b.jsonl", b"\n\n").contains("b.jsonl: it has no question"));
    let empty = Folder::new();
    assert!(refusal(&format!("{}?kind=anthropic", empty.path())).contains("no .jsonl file"));
}

#[test]
fn ice_texts_lose_their_markup_and_keep_their_codes() {
    let documents = load(&format!("{}?kind=ice", data("ice"))).unwrap();
    let ids: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
    assert_eq!(ids, ["EA/W2F-001K", "EA/W2F-001T", "SIN/S1A-001", "SIN/W2B-021"]);
    assert_eq!(documents[0].text, "The lorry stopped at the gate.");
    assert_eq!(documents[1].text, "Nobody answered when they knocked.");
    assert_eq!(
        documents[2].text,
        "So you took the early ferry, did you\nYa, but the tickets were sold out\nNo lah\nThey told us come back at noon\n\
         And the queue was longer than ever\nMind the step"
    );
    assert_eq!(
        documents[3].text,
        "Bees on the roof\n\nThe first hive stood behind a café in the old town, and “nobody was stung”.\n\n1 It is closed now."
    );
    let tags = |document: &Document| {
        ["variety", "text_code", "category", "register", "mode"]
            .map(|key| document.tags[key].clone())
    };
    assert_eq!(tags(&documents[2]), ["SIN", "S1A-001", "S1A", "private conversations", "spoken"]);
    assert_eq!(
        tags(&documents[3]),
        ["SIN", "W2B-021", "W2B", "popular: natural sciences", "written"]
    );
    let dropped =
        load(&format!("{}/SIN?kind=ice&extra=drop&pauses=drop&variety=Singapore", data("ice")))
            .unwrap();
    assert_eq!(dropped[0].tags["variety"], "Singapore");
    assert!(dropped[0].text.starts_with("So you took the early ferry did you\n"));
    assert!(dropped[0].text.ends_with("than ever"), "{}", dropped[0].text);
}

/// The invented texts that the program carries, with every irregularity that the loader must
/// survive.
#[test]
fn the_built_in_ice_texts_are_stripped_as_written_here() {
    let documents = load("ice:sample").unwrap();
    let texts: Vec<(&str, &str)> =
        documents.iter().map(|d| (d.id.as_str(), d.text.as_str())).collect();
    let wanted = [
        (
            "HIL/S2A-021",
            "Good evening, and welcome to the hall I want to speak about snow\n\
             We think it's all one thing, but a shepherd has nine names for it\n\
             Ten says a man at the back\n\
             Ten then hal is the one that squeaks You know it when word you hear it",
        ),
        (
            "HIL/W2C-003",
            "Bridge to close in May\n\n\
             The upper bridge will be shut for six weeks, the council said on Monday.\n\n\
             Nobody is happy about it, said the clerk, who asked that his naïve hopes of a second ferry be left out.",
        ),
        (
            "LAK/W2F-001K",
            "The lamp went out before the boat did. Nobody spoke until the shore was near.",
        ),
        ("LAK/W2F-001AT", "She counted the nets twice and found one too many."),
        (
            "LOW/S1A-001",
            "So the ferry was late again, was it\nLate isnt the word\nOh dear\n\
             We stood there, an hour and a half\n\
             And then comes the captain and says there's no fuel\nAll aboard please\n\
             Typical of Captain Brill\nSo you walked home\n\n\
             Hello, is that the harbour office\nIt is a bell rings",
        ),
        (
            "LOW/W2B-021",
            "Salt from the flats\n\n\
             The pans were dug in 1811 by a man whom the papers called “the grey duke”.\n\
             He kept a café beside them, and sold £2 bags to travellers; the sign said “fine” (in chalk) and &nosuch;.\n\n\
             People still say \"panman\" for anyone who is late.\n\n1 The parish book has 1812.",
        ),
    ];
    for ((id, text), (wanted_id, wanted_text)) in texts.iter().zip(wanted) {
        assert_eq!((*id, *text), (wanted_id, wanted_text));
    }
    assert_eq!(texts.len(), wanted.len());
    assert_eq!(counts(&documents, "variety"), BTreeMap::from([("HIL", 2), ("LAK", 2), ("LOW", 2)]));
    // As one stream with another name and without what extra-corpus speakers say.
    let dropped = load("mine=ice:sample?extra=drop&variety=NONE&limit=1").unwrap();
    assert_eq!(dropped[0].tags["variety"], "NONE");
    assert!(!dropped[0].text.contains("at the back"), "{}", dropped[0].text);
}

#[test]
fn ice_refusals_name_the_file() {
    let cases = [
        ("conv1.txt", "<I> <#> words </I>", "row 1: no text code"),
        ("S1A-001.txt", "<I> <#> words </I>", "variety=NAME"),
        ("S1A-001.txt", "<ICE-SIN:S1A-001#1:1:A> <O> music </O>", "nothing is left"),
        (
            "mixed.txt",
            "\nW2F001K\n<#> words\nW2F002K\n<O> drawing </O>\n",
            "row 2: nothing says which variety",
        ),
    ];
    for (name, content, reason) in cases {
        let folder = Folder::new();
        let path = folder.file(name, content);
        let message = refusal(&format!("{path}?kind=ice"));
        assert!(message.contains(name) && message.contains(reason), "{message}");
    }
    let folder = Folder::new();
    let path = folder.file("mixed.txt", "W2F001K\n<#> words\nW2F002K\n<O> drawing </O>\n");
    let message = refusal(&format!("{path}?kind=ice&variety=EA"));
    assert!(message.contains("mixed.txt, row 3: nothing is left"), "{message}");
    let empty = Folder::new();
    assert!(refusal(&format!("{}?kind=ice", empty.path())).contains("no .txt file"));
}

#[test]
fn folders_of_plain_text_are_tags() {
    let folder = Folder::new();
    folder.file("us/news/a.txt", "a");
    folder.file("uk/news/b.txt", "b");
    let of = |options: &str| load(&format!("{}?{options}", folder.path()));
    let documents = of("folders=variety,genre").unwrap();
    let tags: Vec<(&str, &str)> =
        documents.iter().map(|d| (d.tags["variety"].as_str(), d.tags["genre"].as_str())).collect();
    assert_eq!(tags, [("uk", "news"), ("us", "news")]);
    folder.file("c.txt", "c");
    let message = of("folders=variety").unwrap_err().to_string();
    assert!(message.contains("c.txt") && message.contains("inside 0 folders"), "{message}");
    let message = refusal(&format!("{}/c.txt?folders=variety", folder.path()));
    assert!(message.contains("this is a file"), "{message}");
}

/// Documents of a user's own with the tags of questions: several may be gold, and `limit` leaves no
/// question in the middle.
#[test]
fn questions_of_ones_own_are_taken_whole() {
    let folder = Folder::new();
    let option = |item: &str, option: &str, answer: &str, gold: bool| {
        format!(
            "{{\"q\": \"Which?\", \"a\": \"{answer}\", \"item\": \"{item}\", \"option\": \"{option}\", \"gold\": {gold}}}\n"
        )
    };
    let path = folder.file(
        "own.jsonl",
        [
            option("1", "a", " red", true),
            option("1", "b", " red and blue", true),
            option("1", "c", " tall", false),
            option("2", "a", " no", false),
            option("2", "b", " yes", true),
        ]
        .concat(),
    );
    let of = |limit: &str| {
        load(&format!("{path}?field=q&field=a&score=a&tag=item&tag=option&tag=gold{limit}"))
            .unwrap()
    };
    let all = of("");
    let golds: Vec<&str> = all.iter().map(|document| document.tags["gold"].as_str()).collect();
    assert_eq!(golds, ["true", "true", "false", "false", "true"]);
    assert_eq!((scored(&all[0]), scored(&all[1])), (" red", " red and blue"));
    for (limit, documents) in [(1, 3), (3, 3), (4, 5), (9, 5)] {
        assert_eq!(of(&format!("&limit={limit}")).len(), documents, "limit={limit}");
    }
    let mmlu = load(&format!("{}?kind=mmlu&shots=0&limit=5", data("mmlu"))).unwrap();
    assert_eq!(mmlu.len(), 8);
    // What stands beyond the limit is not read.
    let text = load(&format!("{path}?field=q&limit=2")).unwrap();
    assert_eq!(text.len(), 2);
}

/// The keys that a kind knows, as its refusal of another lists them, are those of `--help` and of
/// the manual.
#[test]
fn keys_are_the_same_in_code_help_and_manual() {
    let manual =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md"))
            .unwrap();
    let manual = &manual[manual.find("## The value of --corpus").unwrap()..];
    let kinds = [
        ("text", "x.txt"),
        ("jsonl", "x.jsonl"),
        ("parquet", "x.parquet"),
        ("ids", "x.ids?format=u16"),
        ("crates", "crates:code"),
        ("mmlu", "x?kind=mmlu"),
        ("anthropic", "x?kind=anthropic"),
        ("ice", "ice:sample"),
    ];
    for (kind, place) in kinds {
        let mark = if place.contains('?') { '&' } else { '?' };
        let message =
            format!("{place}{mark}nokey=1").parse::<CorpusSpec>().unwrap_err().to_string();
        let (_, list) = message.split_once("there are ").unwrap();
        let (list, _) = list.split_once(';').unwrap();
        let own: Vec<&str> =
            list.split(", ").filter(|key| !["kind", "limit", "concat"].contains(key)).collect();
        assert!(!own.is_empty(), "{message}");
        let row = manual.lines().find(|line| line.starts_with(&format!("| {kind} |"))).unwrap();
        let help = relscale_corpus::spec::help();
        let start = help.find(&format!("\n  {kind} ")).unwrap() + 1;
        let end = start + help[start..].find("\n  ").map_or(help[start..].len(), |end| end);
        // What belongs to a kind may go on in lines that are further in.
        let end = help[end + 1..]
            .split_inclusive('\n')
            .take_while(|line| line.starts_with("      "))
            .fold(end + 1, |end, line| end + line.len());
        let help = &help[start..end];
        for key in own {
            if kind == "parquet" {
                // "as jsonl"
                assert!(row.contains("as jsonl") && help.contains("as jsonl"), "{row}\n{help}");
            } else {
                assert!(
                    row.contains(&format!("`{key}`")),
                    "{kind}: {key} is not in the manual: {row}"
                );
                assert!(
                    help.contains(&format!("{key}=")),
                    "{kind}: {key}= is not in the help: {help}"
                );
            }
        }
    }
}

#[test]
fn the_whole_of_mmlu_has_its_published_counts() {
    let Some(path) = of_others("mmlu") else { return };
    let mut questions: BTreeMap<String, usize> = BTreeMap::new();
    let mut gold = 0;
    let spec: CorpusSpec =
        format!("{}?kind=mmlu&shots=0&format=text", path.display()).parse().unwrap();
    for document in spec.open().unwrap() {
        let document = document.unwrap();
        document.check_spans().unwrap();
        gold += usize::from(document.tags["gold"] == "true");
        *questions.entry(document.tags["domain"].clone()).or_default() += 1;
    }
    assert_eq!(gold, 14_042);
    let wanted =
        [("humanities", 4_705), ("other", 3_107), ("social_sciences", 3_077), ("stem", 3_153)];
    assert_eq!(questions, wanted.map(|(domain, count)| (domain.to_owned(), 4 * count)).into());
    let shots = load(&format!("{}?kind=mmlu&questions=1", path.display())).unwrap();
    assert_eq!(shots.len(), 57 * 4);
    assert!(shots.iter().all(|document| document.text.matches("Answer:").count() >= 6));
}

#[test]
fn all_published_behaviours_are_read_in_both_prompts() {
    for (folder, wanted) in [
        ("anthropic-evals", 8_116),
        ("anthropic-evals-lm", 16_400),
        ("anthropic-evals-persona", 133_204),
    ] {
        let Some(path) = of_others(folder) else { return };
        for format in ["verbatim", "modified"] {
            let spec: CorpusSpec =
                format!("{}?kind=anthropic&format={format}", path.display()).parse().unwrap();
            let gold =
                spec.open().unwrap().filter(|d| d.as_ref().unwrap().tags["gold"] == "true").count();
            assert_eq!(gold, wanted, "{folder}, {format}");
        }
    }
}

#[test]
fn invented_ice_texts_of_the_notes_are_stripped() {
    let Some(path) = of_others("ice-format/synthetic") else { return };
    let documents = load(&format!("{}?kind=ice&variety=XXX", path.display())).unwrap();
    assert_eq!(documents.len(), 3);
    for document in &documents {
        assert!(
            !document.text.contains(['<', '>']) && !document.text.contains("  "),
            "{}",
            document.text
        );
    }
    assert!(documents[1].text.contains("it's better to wait"), "{}", documents[1].text);
    assert!(
        documents[2].text.contains("café") && !documents[2].text.contains("photograph"),
        "{}",
        documents[2].text
    );
}

#[test]
fn tagged_varieties_load_with_their_tags() {
    let Some(path) = of_others("english-varieties/brown") else { return };
    // A file a genre.
    let mut documents = Vec::new();
    for entry in std::fs::read_dir(&path).unwrap() {
        let file = entry.unwrap().path();
        documents.extend(load(&format!("{}?id=id&tag=genre", file.display())).unwrap());
    }
    assert_eq!(documents.len(), 500);
    assert_eq!(counts(&documents, "genre").len(), 15);
}
