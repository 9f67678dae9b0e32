//! Every command line that the documents show is one that this program takes, run or not.

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use relscale_testkit::book::{blocks, commands, documents};

use crate::Program;

#[test]
fn every_command_of_the_documents_parses() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, text) in documents() {
        for block in blocks(&text).iter().filter(|block| block.language == "sh") {
            for words in commands(&block.text) {
                count += 1;
                let told = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion];
                if let Err(error) = Program::try_parse_from(&words)
                    && !told.contains(&error.kind())
                {
                    wrong.push(format!("{name}:{}: {}\n{error}", block.line, words.join(" ")));
                }
            }
        }
    }
    assert!(count > 40, "only {count} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Commands in a sentence are often parts of one; their names and options must be known at least.
#[test]
fn commands_and_options_in_sentences_are_known() {
    let mut program = Program::command();
    program.build();
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, text) in documents() {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for span in text.split('`').filter(|span| span.starts_with("relscale ")) {
            count += 1;
            let mut command = &program;
            for word in span.split(' ').skip(1) {
                if let Some(found) = command.find_subcommand(word) {
                    command = found;
                } else if let Some(option) = word.strip_prefix("--") {
                    let option = option.split(['=', ',']).next().unwrap_or_default();
                    let known = command.get_arguments().any(|one| one.get_long() == Some(option));
                    if !known && !["help", "version"].contains(&option) {
                        wrong.push(format!("{name}: `{span}`: no --{option}"));
                    }
                }
            }
            let known = command.get_name() != "relscale"
                || span.starts_with("relscale --")
                || span.split(' ').nth(1).is_some_and(|word| word == word.to_uppercase());
            if !known {
                wrong.push(format!("{name}: `{span}`: no such command"));
            }
        }
    }
    assert!(count > 20, "only {count} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
