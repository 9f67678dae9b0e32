//! The steps of a study file as commands of this program: a table's keys are the flags of the
//! command, so that an option exists once, with one check and one meaning.

use std::path::Path;

use clap::CommandFactory as _;
use toml::{Table, Value};

use super::file::StudyFile;
use crate::Program;
use crate::exit::Refusal;

/// A command of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// The table of the file, e.g. `[[relative]] number 2`.
    pub(super) table: String,
    /// Whether what stands behind cannot be done without it.
    pub(super) is_needed: bool,
    /// The words behind the program's name.
    pub(super) words: Vec<String>,
}

/// How a file is run here and now.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Here<'a> {
    /// Fewer tokens than the file says.
    pub(super) tokens: Option<u64>,
    /// Nothing is fetched.
    pub(super) offline: bool,
    /// The study folder, as it stands in commands.
    pub(super) study: &'a str,
}

/// A table with the name by which errors call it.
type Named = (String, Table);

/// Keys that are no options of the command: the name of a result.
const NAME: &str = "name";

/// Options that say where a result goes or how this machine works: of `run`, not of a file.
const NOT_IN_A_FILE: [&str; 9] =
    ["out", "json", "csv", "options", "threads", "offline", "part", "verbose", "quiet"];

/// Written into a value in place of the study folder.
const STUDY: &str = "{study}";

/// The steps of a file, in the order in which each finds what it needs.
///
/// # Errors
/// A key that is no flag of the command, a value that no flag takes; `path` is for these.
pub(super) fn steps(file: &StudyFile, path: &Path, here: Here<'_>) -> anyhow::Result<Vec<Step>> {
    let one = |name: &str, table: &Option<Table>| {
        table.iter().map(|table| (format!("[{name}]"), table.clone())).collect::<Vec<_>>()
    };
    let many = |name: &str, tables: &[Table]| {
        let named = |(at, table): (usize, &Table)| {
            let number =
                if tables.len() > 1 { format!(" number {}", at + 1) } else { String::new() };
            (format!("[[{name}]]{number}"), table.clone())
        };
        tables.iter().enumerate().map(named).collect::<Vec<_>>()
    };
    let models = many("models", &file.models).into_iter().map(|(name, own)| {
        let mut table = file.measure.clone();
        table.extend(own);
        if let (Some(tokens), true) = (here.tokens, table.contains_key("corpus")) {
            table.insert(
                "tokens".to_owned(),
                Value::Integer(i64::try_from(tokens).unwrap_or(i64::MAX)),
            );
        }
        if here.offline {
            table.insert("offline".to_owned(), Value::Boolean(true));
        }
        (name, table)
    });
    let kinds: [(&[&str], Vec<Named>); 9] = [
        (&["measure"], models.collect()),
        (&["fit"], one("fit", &file.fit)),
        (&["choices"], many("choices", &file.choices)),
        (&["relative"], many("relative", &file.relative)),
        (&["size-tokens"], many("size-tokens", &file.size_tokens)),
        (&["training"], many("training", &file.training)),
        (&["stages"], many("stages", &file.stages)),
        (&["forecast"], many("forecast", &file.forecast)),
        (&["sweep", "fit"], many("sweep-fit", &file.sweep_fit)),
    ];
    let mut steps = Vec::new();
    for (command, tables) in kinds {
        for (table, mut options) in tables {
            let words =
                words(command, &mut options, here).map_err(|what| refusal(path, &table, &what))?;
            steps.push(Step { table, is_needed: command == ["measure"], words });
        }
    }
    for (table, mut options) in one("report", &file.report) {
        let words =
            words(&["report"], &mut options, here).map_err(|what| refusal(path, &table, &what))?;
        steps.push(Step { table, is_needed: false, words });
    }
    for step in &steps {
        let program = std::iter::once("relscale").chain(step.words.iter().map(String::as_str));
        crate::lists::parse(program.map(Into::into))
            .map_err(|error| refusal(path, &step.table, &said(&error)))?;
    }
    Ok(steps)
}

fn refusal(path: &Path, table: &str, what: &str) -> Refusal {
    let hint = "its keys are the flags of the command, without the dashes";
    Refusal::new(format!("{}: {table}: {what}", path.display()), hint)
}

/// What clap says, in a line and without its title.
fn said(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}

/// A table's options as words of a command, with the places where a study keeps such a result.
fn words(command: &[&str], options: &mut Table, here: Here<'_>) -> Result<Vec<String>, String> {
    let mut clap = Program::command();
    for name in command {
        clap = clap.find_subcommand(name).cloned().unwrap_or_default();
    }
    let mut words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    let name = match options.remove(NAME) {
        None => String::new(),
        Some(Value::String(name)) if is_name(&name) => format!("-{name}"),
        Some(other) => {
            return Err(format!("name = {other} names no file: letters, digits, - and _"));
        }
    };
    for (key, value) in options.iter() {
        if NOT_IN_A_FILE.contains(&key.as_str()) && !(key == "offline" && here.offline) {
            return Err(format!("{key} is said when the file is run, not in it"));
        }
        let flag = clap.get_arguments().find(|argument| argument.get_long() == Some(key));
        if flag.is_none() {
            let mut flags: Vec<&str> = clap
                .get_arguments()
                .filter_map(clap::Arg::get_long)
                .filter(|flag| !NOT_IN_A_FILE.contains(flag) && *flag != "help")
                .collect();
            flags.sort_unstable();
            return Err(format!(
                "`{key}` is no option of {}: {}",
                command.join(" "),
                flags.join(", ")
            ));
        }
        words.extend(flags(key, value, here)?);
    }
    let study = here.study;
    let result = |kind: &str| format!("--json={study}/{kind}{name}.json");
    let of_table = ["table", "harness"].iter().any(|key| options.contains_key(*key));
    match command.last().copied().unwrap_or_default() {
        "measure" => words.push(format!("--out={study}")),
        _ if command == ["sweep", "fit"] => {
            words.push(result("isoflop"));
        }
        "stages" => words.push(result("stages")),
        "choices" => {
            let csv = format!("--csv={study}/choices{name}.csv");
            words.extend([study.to_owned(), result("choices"), csv]);
        }
        "forecast" => {
            words.extend((!options.contains_key("features")).then(|| study.to_owned()));
            words.push(result("forecast"));
        }
        kind @ ("relative" | "size-tokens" | "training") => {
            words.extend((!of_table).then(|| study.to_owned()));
            words.push(result(kind));
        }
        _ if name.is_empty() => words.push(study.to_owned()),
        other => return Err(format!("{other} has one result, without a name")),
    }
    Ok(words)
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
}

/// A key and its value as flags: a list gives the flag once an entry.
fn flags(key: &str, value: &Value, here: Here<'_>) -> Result<Vec<String>, String> {
    let text = match value {
        Value::Boolean(true) => return Ok(vec![format!("--{key}")]),
        Value::Boolean(false) => return Ok(Vec::new()),
        Value::Array(values) => {
            let mut all = Vec::new();
            for value in values {
                if matches!(value, Value::Boolean(_) | Value::Array(_)) {
                    return Err(format!("{key}: a list holds words and numbers"));
                }
                all.extend(flags(key, value, here)?);
            }
            return Ok(all);
        }
        Value::String(text) => text.replace(STUDY, here.study),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Datetime(_) | Value::Table(_) => {
            return Err(format!("{key}: expected words, numbers, true, or a list of them"));
        }
    };
    Ok(vec![format!("--{key}={text}")])
}
