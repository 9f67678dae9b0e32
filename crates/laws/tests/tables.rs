//! Every check of a table against every law that reads one: a fault that is mended for one is
//! mended for all.

use std::fs;
use std::path::{Path, PathBuf};

use relscale_laws::isoflop::{IsoflopOptions, fit_isoflop};
use relscale_laws::relative::{RelativeOptions, RelativeTable, fit_relative, read_table};
use relscale_laws::size_tokens::{SizeTokensTable, fit_size_tokens};
use relscale_laws::tables::{Kind, Select};
use relscale_laws::two_stage::{StagesOptions, fit_stages};
use relscale_laws::user_table::{TableOptions, fit_table};
use relscale_records::parquet::{TableColumn, write_table};
use serde_json::Value;

/// A law that reads tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Law {
    Fit,
    Relative,
    SizeTokens,
    Stages,
    SweepFit,
}

const LAWS: [Law; 5] = [Law::Fit, Law::Relative, Law::SizeTokens, Law::Stages, Law::SweepFit];

impl Law {
    /// What it takes of the table of this test.
    fn select(self) -> Select {
        match self {
            Self::Fit => Select::new(&["params"], &["loss"]),
            Self::Relative | Self::Stages => Select::new(&["params"], &["loss", "acc"]),
            Self::SizeTokens | Self::SweepFit => Select::new(&["params", "tokens"], &["loss"]),
        }
    }

    /// Its result as JSON, or what is refused.
    fn read(self, path: &Path, edit: impl Fn(&mut Select)) -> Result<Value, String> {
        let mut select = self.select();
        edit(&mut select);
        let said = |error: relscale_laws::LawsError| error.to_string();
        let json = match self {
            Self::Fit => {
                let options = TableOptions { select, ..TableOptions::default() };
                serde_json::to_value(fit_table(path, &options).map_err(said)?)
            }
            Self::Relative => {
                let table = RelativeTable { select, ..RelativeTable::default() };
                let read = read_table(path, &table).map_err(said)?;
                let fit = fit_relative(&read, &RelativeOptions::new("loss"), None).map_err(said)?;
                serde_json::to_value(fit)
            }
            Self::SizeTokens => {
                let table = SizeTokensTable { select, baseline: "loss".to_owned(), level: 0.95 };
                serde_json::to_value(fit_size_tokens(path, &table).map_err(said)?)
            }
            Self::Stages => {
                let options = StagesOptions { select, ..StagesOptions::default() };
                serde_json::to_value(fit_stages(path, &options).map_err(said)?)
            }
            Self::SweepFit => {
                let options = IsoflopOptions { select, resamples: 2, ..IsoflopOptions::default() };
                serde_json::to_value(fit_isoflop(path, &options).map_err(said)?)
            }
        };
        Ok(json.unwrap())
    }
}

/// The result without the files that were read and the lines at which rows stand.
fn numbers(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                ["file", "files", "place", "models"]
                    .iter()
                    .for_each(|name| drop(members.remove(*name)));
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

/// The result without words, which name x and files, and without cautions.
fn unnamed(value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::String(_) => *value = Value::Null,
            Value::Object(members) => {
                drop(members.remove("flags"));
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = numbers(value);
    strip(&mut value);
    value
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

const HEADER: [&str; 5] = ["model", "params", "tokens", "loss", "acc"];

/// Three sizes after three numbers of tokens each.
fn rows() -> Vec<[String; 5]> {
    let mut rows = Vec::new();
    for (at, params) in [1_000_000_u64, 4_000_000, 16_000_000].into_iter().enumerate() {
        for (step, tokens) in
            [2_000_000_000_u64, 8_000_000_000, 32_000_000_000].into_iter().enumerate()
        {
            let number = 3 * at + step;
            let wobble = [0.003, -0.002, 0.001][number % 3];
            let loss = 1.5
                + 60.0 * (params as f64).powf(-0.3)
                + 100.0 * (tokens as f64).powf(-0.25)
                + wobble;
            rows.push([
                format!("m{number}"),
                params.to_string(),
                tokens.to_string(),
                format!("{loss:.4}"),
                format!("{:.4}", 1.2 - loss / 4.0),
            ]);
        }
    }
    rows
}

/// A table of these rows.
fn text<R: AsRef<[String]>>(header: &[&str], rows: &[R], between: &str, end: &str) -> String {
    let lines = rows.iter().map(|row| row.as_ref().join(between));
    [header.join(between)].into_iter().chain(lines).map(|line| line + end).collect()
}

fn csv() -> String {
    text(&HEADER, &rows(), ",", "\n")
}

/// The table with another column of these cells.
fn with(name: &str, cell: impl Fn(usize) -> String) -> (Vec<&str>, Vec<Vec<String>>) {
    let header = HEADER.into_iter().chain([name]).collect();
    let rows = rows().into_iter().enumerate();
    (header, rows.map(|(at, row)| row.into_iter().chain([cell(at)]).collect()).collect())
}

#[test]
fn one_table_however_it_is_written() {
    let place = Place::new();
    let usual = place.file("t.csv", csv());
    let text_of = |between: &str, end: &str| text(&HEADER, &rows(), between, end);
    let wide = |unit: fn(u16) -> [u8; 2]| csv().encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    let cells = |edit: &dyn Fn(usize, String) -> String, between: &str| {
        let rows: Vec<Vec<String>> = rows()
            .into_iter()
            .map(|row| row.into_iter().enumerate().map(|(at, c)| edit(at, c)).collect())
            .collect();
        text(&HEADER, &rows, between, "\n")
    };
    let thousands = |at: usize, cell: String| match at {
        1 => format!("\"{},000,000\"", cell.trim_end_matches("000000")),
        _ => cell,
    };
    let units = |at: usize, cell: String| match at {
        1 => format!("{}M", cell.trim_end_matches("000000")),
        2 => format!("{} B", cell.trim_end_matches("000000000")),
        _ => cell,
    };
    let decimal = |at: usize, cell: String| if at > 2 { cell.replace('.', ",") } else { cell };
    let quoted = |_: usize, cell: String| format!("\"{cell}\"");
    let members = |row: &[String; 5], between: &str, colon: &str| {
        let cell = |at: usize| if at == 0 { format!("\"{}\"", row[at]) } else { row[at].clone() };
        let all: Vec<String> =
            (0..5).map(|at| format!("{}{colon}{}", HEADER[at], cell(at))).collect();
        all.join(between)
    };
    let jsonl: String = rows()
        .iter()
        .map(|row| {
            let members = members(row, ", ", ": ");
            let named = HEADER
                .iter()
                .fold(members, |text, name| text.replacen(name, &format!("\"{name}\""), 1));
            format!("{{{named}}}\n\n")
        })
        .collect();
    let toml: String =
        rows().iter().map(|row| format!("[[model]]\n{}\n", members(row, "\n", " = "))).collect();
    let mut reversed = rows();
    reversed.reverse();
    let (header, others) = with("set", |_| "a".to_owned());
    let mut sets = others;
    sets.extend([1, 2].map(|n| {
        ["x", "1e6", "7e9", "9", "0.1", "b"].map(|c| c.replace('x', &format!("x{n}"))).to_vec()
    }));
    let parquet = place.0.path().join("t.parquet");
    let column = |at: usize| {
        let cells: Vec<String> = rows().into_iter().map(|row| row[at].clone()).collect();
        match at {
            0 => TableColumn::Text(cells.into_iter().map(Some).collect()),
            _ => TableColumn::Numbers(cells.iter().map(|cell| cell.parse().ok()).collect()),
        }
    };
    let columns: Vec<(&str, TableColumn)> =
        HEADER.iter().enumerate().map(|(at, name)| (*name, column(at))).collect();
    write_table(&parquet, "runs", &columns).unwrap();
    let variants: Vec<(&str, PathBuf)> = vec![
        ("a mark of UTF-8", place.file("bom.csv", format!("\u{feff}{}", csv()))),
        ("UTF-16", place.file("le.csv", wide(u16::to_le_bytes))),
        ("UTF-16, the other end first", place.file("be.csv", wide(u16::to_be_bytes))),
        ("ends of lines", place.file("crlf.csv", text_of(",", "\r\n"))),
        ("tabs", place.file("t.tsv", text_of("\t", "\n"))),
        ("tabs in a text", place.file("t.txt", text_of("\t", "\n"))),
        ("bars", place.file("bars.csv", text_of("|", "\n"))),
        (
            "a first line that tells",
            place.file("sep.csv", format!("sep=;\r\n{}", text_of(";", "\r\n"))),
        ),
        ("decimal commas", place.file("decimal.csv", cells(&decimal, ";"))),
        ("thousands", place.file("thousands.csv", cells(&thousands, ","))),
        ("units", place.file("units.csv", cells(&units, ","))),
        ("quotation marks", place.file("quoted.csv", cells(&quoted, ","))),
        ("empty cells at the end", place.file("trailing.csv", text_of(",", ",,\n") + ",,,,,,\n")),
        ("blank lines", place.file("blank.csv", format!("\n{}", text_of(",", "\n\n")))),
        ("no last end of line", place.file("open.csv", csv().trim_end())),
        (
            "the rows the other way round",
            place.file("reversed.csv", text(&HEADER, &reversed, ",", "\n")),
        ),
        ("JSONL", place.file("t.jsonl", jsonl)),
        ("TOML", place.file("t.toml", toml)),
        ("Parquet", parquet),
    ];
    for law in LAWS {
        let expected =
            numbers(law.read(&usual, |_| {}).unwrap_or_else(|said| panic!("{law:?}: {said}")));
        for (what, path) in &variants {
            let found =
                law.read(path, |_| {}).unwrap_or_else(|said| panic!("{law:?}, {what}: {said}"));
            assert_eq!(numbers(found), expected, "{law:?}, {what}");
        }
        let chosen = place.file("sets.csv", text(&header, &sets, ",", "\n"));
        let only = |value: &str| vec![("set".to_owned(), value.to_owned())];
        let found = law.read(&chosen, |select| select.only = only("a")).unwrap();
        assert_eq!(numbers(found), expected, "{law:?}, rows that were chosen");
        // Other spellings of a number are that number.
        let found = law.read(&usual, |select| select.only = vec![("params".into(), "1.0M".into())]);
        assert!(!found.is_err_and(|said| said.contains("no row")), "{law:?}");
    }
}

#[test]
fn x_is_a_column_a_product_or_in_a_manifest() {
    let place = Place::new();
    let usual = place.file("t.csv", csv());
    let millions: Vec<Vec<String>> = rows()
        .into_iter()
        .map(|row| {
            let n: f64 = row[1].parse().unwrap();
            [row[0].clone(), (n / 1e6).to_string(), row[2].clone(), row[3].clone(), row[4].clone()]
                .to_vec()
        })
        .collect();
    let product =
        place.file("p.csv", text(&["model", "N", "tokens", "loss", "acc"], &millions, ",", "\n"));
    // A name that reads as a product is a column's where there is one.
    let named = csv().replacen("params", "6*x", 1);
    let named = place.file("n.csv", named);
    let bare: Vec<Vec<String>> = rows()
        .into_iter()
        .map(|row| [row[0].clone(), row[2].clone(), row[3].clone(), row[4].clone()].to_vec())
        .collect();
    let bare = place.file("b.csv", text(&["model", "tokens", "loss", "acc"], &bare, ",", "\n"));
    let models: Vec<Vec<String>> = rows()
        .into_iter()
        .map(|row| [row[0].clone(), row[1].clone(), "total".to_owned()].to_vec())
        .collect();
    let manifest = place
        .file("models.csv", text(&["model", "params", "params_convention"], &models, ",", "\n"));
    for law in LAWS {
        let expected = unnamed(law.read(&usual, |_| {}).unwrap());
        let same = |path: &Path, x: &str, edit: &dyn Fn(&mut Select)| {
            let found = law.read(path, |select| {
                select.x[0] = x.to_owned();
                edit(select);
            });
            let found = found.unwrap_or_else(|said| panic!("{law:?}, {x}: {said}"));
            assert_eq!(unnamed(found), expected, "{law:?}, {x}");
        };
        same(&product, "1e6*N", &|_| {});
        same(&named, "6*x", &|_| {});
        same(&bare, "params", &|select| select.models = Some(manifest.clone()));
        let lacking = place.file("few.csv", "model,params\nm0,1e6\n");
        let said = law.read(&bare, |select| select.models = Some(lacking.clone())).unwrap_err();
        assert!(said.contains("few.csv: no row has model `m1`"), "{law:?}: {said}");
        let said = law.read(&bare, |_| {}).unwrap_err();
        assert!(
            said.contains("b.csv: no column `params`; its columns are: model, tokens"),
            "{law:?}: {said}"
        );
    }
}

#[test]
fn groups_of_the_table_and_of_a_manifest_share_laws() {
    let place = Place::new();
    let (header, rows) = with("kind", |at| if at % 2 == 0 { "even" } else { "odd" }.to_owned());
    let path = place.file("t.csv", text(&header, &rows, ",", "\n"));
    let of_models: Vec<[String; 2]> =
        rows.iter().map(|row| [row[0].clone(), format!("of {}", row[5])]).collect();
    let manifest = place.file("models.csv", text(&["model", "lab"], &of_models, ",", "\n"));
    for law in LAWS {
        let by = |name: &str| vec![name.to_owned()];
        let found = law.read(&path, |select| select.group = by("kind")).unwrap().to_string();
        assert!(found.contains("even") && found.contains("odd"), "{law:?}: {found}");
        let found = law.read(&path, |select| {
            select.group = vec!["kind".to_owned(), "lab".to_owned()];
            select.models = Some(manifest.clone());
        });
        let found = found.unwrap_or_else(|said| panic!("{law:?}: {said}")).to_string();
        assert!(
            found.contains("even, of even") && found.contains("odd, of odd"),
            "{law:?}: {found}"
        );
        let said = law.read(&path, |select| select.group = by("lab")).unwrap_err();
        assert!(said.contains("no column `lab`"), "{law:?}: {said}");
    }
}

/// The table with a row beside its own, and a column of states where `state` is one.
fn beside(row: [&str; 5], state: Option<&str>) -> String {
    let mut rows: Vec<Vec<String>> = rows().into_iter().map(Vec::from).collect();
    rows.push(row.map(str::to_owned).to_vec());
    let last = rows.len() - 1;
    let mut header = HEADER.to_vec();
    if let Some(state) = state {
        header.push("State");
        for (at, row) in rows.iter_mut().enumerate() {
            row.push(if at == last { state } else { "finished" }.to_owned());
        }
    }
    text(&header, &rows, ",", "\n")
}

#[test]
fn what_takes_no_part_is_told_by_name() {
    let place = Place::new();
    let all = |_: Law| true;
    let nan = |select: &mut Select| select.leave_out_nan = true;
    let nothing = |_: &mut Select| {};
    type Case<'a> =
        (&'a str, [&'a str; 5], Option<&'a str>, &'a dyn Fn(&mut Select), &'a dyn Fn(Law) -> bool);
    let cases: [Case<'_>; 11] = [
        ("crashed", ["bad", "2e6", "2e9", "3", "0.3"], Some("crashed"), &nothing, &all),
        ("Failed", ["bad", "2e6", "2e9", "3", "0.3"], Some("Failed"), &nothing, &all),
        (
            "which is not known as finished",
            ["bad", "2e6", "2e9", "3", "0.3"],
            Some("weird"),
            &nothing,
            &all,
        ),
        ("KILLED", ["bad", "", "", "", ""], Some("KILLED"), &nothing, &all),
        ("its loss is not given", ["bad", "2e6", "2e9", "", "0.3"], None, &nothing, &all),
        ("its loss is not given", ["bad", "2e6", "2e9", "N/A", "0.3"], None, &nothing, &all),
        ("its params is not given", ["bad", "", "2e9", "3", "0.3"], None, &nothing, &all),
        ("its loss is NaN", ["bad", "2e6", "2e9", "nan", "0.3"], None, &nan, &all),
        ("its loss is inf", ["bad", "2e6", "2e9", "+Inf", "0.3"], None, &nan, &all),
        (
            "diverged: its loss is NaN",
            ["bad", "2e6", "2e9", "1.#QNAN", "0.3"],
            None,
            &nothing,
            &|law| law == Law::SweepFit,
        ),
        ("loss is 0: it has no logarithm", ["bad", "2e6", "2e9", "0", "0.3"], None, &nothing, &all),
    ];
    for (reason, row, state, edit, holds) in cases {
        let path = place.file("t.csv", beside(row, state));
        for law in LAWS.into_iter().filter(|law| holds(*law)) {
            let found =
                law.read(&path, edit).unwrap_or_else(|said| panic!("{law:?}, {reason}: {said}"));
            let found = found.to_string();
            assert!(found.contains("bad") && found.contains(reason), "{law:?}, {reason}: {found}");
        }
    }
    // Asked for by name such rows are wanted; where states are of something else they say nothing.
    let states = |states: [&str; 2]| {
        let (header, rows) = with("state", |at| states[at % 2].to_owned());
        place.file("s.csv", text(&header, &rows, ",", "\n"))
    };
    for law in LAWS {
        let found = law.read(&states(["CA", "NY"]), |_| {}).unwrap().to_string();
        assert!(!found.contains("points_left_out"), "{law:?}: {found}");
        let only = vec![("state".to_owned(), "crashed".to_owned())];
        let read = law.read(&states(["crashed", "finished"]), |select| select.only = only.clone());
        assert!(!read.unwrap().to_string().contains("left out, crashed"), "{law:?}");
        let said = law.read(&states(["crashed", "killed"]), |_| {}).unwrap_err();
        assert!(said.contains("no row is left of 9, e.g. m0 (line 2): crashed"), "{law:?}: {said}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_file_and_line() {
    let place = Place::new();
    let all = |_: Law| true;
    let models = |law: Law| law != Law::SweepFit;
    let row = |row: &str| csv() + row + "\n";
    let (header, mixed) =
        with("params_convention", |at| if at == 4 { "total" } else { "non-embedding" }.to_owned());
    let mixed = text(&header, &mixed, ",", "\n");
    type Case<'a> = (&'a str, Vec<u8>, &'a str, &'a dyn Fn(Law) -> bool);
    let cases: Vec<Case<'_>> = vec![
        ("t.csv", row("x,1e6,2e9,3").into(), "line 11: 4 values, but the header has 5", &all),
        ("t.csv", row("x,1e6,2e9,3,0.3,7").into(), "line 11: 6 values, but the header has 5", &all),
        ("t.csv", row("x,1e6,2e9,3,65,0.3").into(), "a value with a comma inside", &all),
        ("t.csv", (csv() + "x,1e6").into(), "line 11: the file ends inside this line", &all),
        (
            "t.csv",
            row("x,1e6,2e9,abc,0.3").into(),
            "line 11: column `loss` is `abc`, expected a number",
            &all,
        ),
        (
            "t.csv",
            row("x,huge,2e9,3,0.3").into(),
            "line 11: column `params` is `huge`, expected a number",
            &all,
        ),
        (
            "t.csv",
            row("x,0,2e9,3,0.3").into(),
            "line 11: column `params` is `0`, expected a number above 0",
            &all,
        ),
        (
            "t.csv",
            row("x,-5,2e9,3,0.3").into(),
            "column `params` is `-5`, expected a number above 0",
            &all,
        ),
        (
            "t.csv",
            row("x,1e300,2e9,3,0.3").into(),
            "expected 0, or a number between 1e-60 and 1e60",
            &all,
        ),
        (
            "t.csv",
            row("x,1e6,2e9,-3,0.3").into(),
            "line 11: column `loss` is `-3`, expected a value of at least 0",
            &all,
        ),
        ("t.csv", row("x,1e6,2e9,nan,0.3").into(), "--leave-out-nan", &models),
        (
            "t.csv",
            row("x,inf,2e9,3,0.3").into(),
            "column `params` is `inf`, expected a number",
            &all,
        ),
        (
            "t.csv",
            row("m0,1000000,2000000000,3,0.3").into(),
            "is there 2 times, in line 2 and line 11",
            &models,
        ),
        (
            "t.csv",
            row("m0,5000000,2e9,3,0.3").into(),
            "has more than one x: 1000000 (line 2) and 5000000 (line 11)",
            &models,
        ),
        ("t.csv", row(",1e6,2e9,3,0.3").into(), "line 11: column `model` is empty", &models),
        ("t.csv", mixed.into(), "line 6: column `params_convention` is `total`", &all),
        (
            "t.csv",
            csv().replacen("loss", "los", 1).into(),
            "no column `loss`; its columns are: model, params",
            &all,
        ),
        (
            "t.csv",
            csv().replacen("tokens", "loss", 1).replacen("acc", "tokens", 1).into(),
            "olumn `",
            &all,
        ),
        ("t.csv", csv().lines().next().unwrap().into(), "no row", &all),
        ("t.csv", Vec::new(), "no column", &all),
        ("t.csv", b"model,params\ncaf\xe9,1\n".to_vec(), "line 2: not UTF-8", &all),
        ("t.csv", b"\x1f\x8b\x08\0".to_vec(), "compressed by gzip", &all),
        ("t.csv", b"PK\x03\x04\0".to_vec(), "save the sheet as CSV", &all),
        ("t.jsonl", b"{\"model\": \"a\"\n".to_vec(), "line 1: no JSON object", &all),
        ("t.toml", b"[[model]]\nparams = 1.e6\n".to_vec(), "line 2: no TOML of models", &all),
        ("t.toml", b"a = 1\n".to_vec(), "no [[model]] in the file", &all),
        ("t.parquet", b"PAR1".to_vec(), "t.parquet", &all),
        ("t.xlsx", Vec::new(), "give a .csv, .tsv, .jsonl, .parquet or .toml file", &all),
    ];
    for (name, bytes, words, holds) in cases {
        let path = place.file(name, bytes);
        for law in LAWS.into_iter().filter(|law| holds(*law)) {
            let said = match law.read(&path, |_| {}) {
                Ok(found) => panic!("{law:?}, {words}: {found}"),
                Err(said) => said,
            };
            assert!(said.contains(name) && said.contains(words), "{law:?}, {words}: {said}");
        }
    }
    // `1,400` is 1400 or 1.4, and nothing in this file tells which.
    let ambiguous = place.file(
        "t.csv",
        "model,params,tokens,loss,acc\na,\"1,400\",\"2,000\",3,1\nb,\"2,800\",\"2,000\",2,1\n",
    );
    for law in LAWS {
        let said = law.read(&ambiguous, |_| {}).unwrap_err();
        assert!(
            said.contains("line 2: column `params` is `1,400`, expected a number that can be read"),
            "{law:?}: {said}"
        );
    }
}

#[test]
fn a_choice_that_means_nothing_is_refused_by_every_law() {
    let place = Place::new();
    let path = place.file("t.csv", csv());
    let (header, groups) = with("of", |at| if at == 3 { "" } else { "a" }.to_owned());
    let groups = place.file("g.csv", text(&header, &groups, ",", "\n"));
    type Case<'a> = (&'a Path, &'a dyn Fn(&mut Select), &'a str);
    let cases: [Case<'_>; 9] = [
        (
            &path,
            &|select| select.only = vec![("model".into(), "m77".into())],
            "no row with model = m77",
        ),
        (&path, &|select| select.only = vec![("set".into(), "a".into())], "no column `set`"),
        (&path, &|select| select.label = Some("run".into()), "no column `run`"),
        (&path, &|select| select.x[0] = "flops".into(), "no column `flops`"),
        (&path, &|select| select.y[0] = "mse_error".into(), "no column `mse_error`"),
        (&path, &|select| select.kinds = vec![Kind::Loss; 7], "7 kinds for"),
        (&path, &|select| select.x.clear(), "`x` is not given"),
        (&path, &|select| select.models = Some("nowhere.csv".into()), "nowhere.csv: cannot read"),
        (&groups, &|select| select.group = vec!["of".into()], "line 5: column `of` is empty"),
    ];
    for (path, edit, words) in cases {
        for law in LAWS {
            let said = match law.read(path, edit) {
                Ok(found) => panic!("{law:?}, {words}: {found}"),
                Err(said) => said,
            };
            assert!(said.contains(words), "{law:?}, {words}: {said}");
        }
    }
    // Rows without a name are told by their line.
    let nameless =
        csv().replacen("model", "id", 1).replace("m3,4000000,2000000000,", "m3,,2000000000,");
    let nameless = place.file("n.csv", nameless);
    // Where a row is a model on a distribution, rows of one x are one model without names.
    for law in LAWS.into_iter().filter(|law| *law != Law::Relative) {
        let found = law.read(&nameless, |_| {}).unwrap_or_else(|said| panic!("{law:?}: {said}"));
        assert!(found.to_string().contains("line 5"), "{law:?}: {found}");
    }
}
