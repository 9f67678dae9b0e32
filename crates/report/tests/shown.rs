//! Results as they are shown: every number where it says, whatever prints it.

mod support;

use std::path::Path;

use relscale_laws::predict::{Question, predict};
use relscale_laws::tables::Select;
use relscale_laws::user_table::{TableOptions, fit_table};
use relscale_laws::{Predictions, Saved as _, StudyFit, TableFit};
use relscale_report::Results;
use relscale_report::shown::{self, At, Cell, Part, Piece, Questions, Shown, text};
use support::sources::{Sources, Stated};
use support::{SIZES, TEXTS, others};

/// Every cell of a result: of its tables and of its sentences.
fn cells<'a>(shown: &'a Shown) -> Vec<&'a Cell> {
    let of = |part: &'a Part| match part {
        Part::Table(table) => {
            table.groups.iter().flatten().flat_map(|row| &row.cells).collect::<Vec<_>>()
        }
        Part::Said(said) => vec![&said.text],
    };
    shown.parts.iter().flat_map(of).collect()
}

/// What a result states, number by number.
fn stated(shown: &Shown) -> Vec<Stated> {
    let pieces = cells(shown)
        .into_iter()
        .flat_map(|cell| cell.pieces.iter().chain(cell.interval.iter().flatten()));
    let of = |piece: &Piece| match piece {
        Piece::Words(_) => None,
        Piece::Number(number) => Some(Stated {
            text: number.text.clone(),
            value: Some(number.value.to_string()),
            source: number.place.as_str().to_owned(),
        }),
        Piece::Sentence { text, place } => {
            Some(Stated { text: text.clone(), value: None, source: place.as_str().to_owned() })
        }
    };
    pieces.filter_map(of).collect()
}

/// Laws of two columns of a table, saved.
fn table(folder: &Path) -> TableFit {
    let mut text = "model,S,loss,acc\n".to_owned();
    for (at, size) in SIZES.iter().enumerate() {
        let size_of = *size as f64;
        let own = 1.0 + 0.01 * (at as f64 * 2.3).sin();
        text += &format!(
            "m{size},{size},{},{}\n",
            9.0 * size_of.powf(-0.07) * own,
            0.2 + 0.05 * at as f64
        );
    }
    std::fs::write(folder.join("points.csv"), text).unwrap();
    let options =
        TableOptions { select: Select::new(&["S"], &["loss", "acc"]), ..TableOptions::default() };
    fit_table(&folder.join("points.csv"), &options)
        .unwrap()
        .save(&folder.join("table.json"))
        .unwrap();
    TableFit::load(&folder.join("table.json")).unwrap()
}

/// Not one number without its place, and every place holds that number: on the page and on the
/// screen alike.
#[test]
fn every_number_is_where_it_says() {
    let home = tempfile::tempdir().unwrap();
    others::save_all(home.path());
    let study = support::laws(&support::two_families(&SIZES, &TEXTS[..2], 40));
    let question = Question {
        targets: vec!["RBP_1 = 0.6".parse().unwrap(), "CE = 9".parse().unwrap()],
        at: vec!["10x".parse().unwrap(), "1e3".parse().unwrap()],
        lengths: vec![5],
        ..Question::default()
    };
    predict(&study, &question).unwrap().save(&home.path().join("predictions.json")).unwrap();
    let predictions = Predictions::load(&home.path().join("predictions.json")).unwrap();

    // Results of all kinds, of different studies.
    let results = Results::read(home.path()).unwrap();
    study.save(&home.path().join("laws.json")).unwrap();
    let study = StudyFit::load(&home.path().join("laws.json")).unwrap();
    let table = table(home.path());
    let beyond = Questions { groups: true, beyond_shuffled: true };
    let all = [
        ("laws", shown::laws(&At::file("laws.json", &study), true)),
        ("glance", shown::glance(&At::file("laws.json", &study), true)),
        ("across", shown::across(&At::file("laws.json", &study))),
        ("table", shown::table_fit(&At::file("table.json", &table))),
        ("relative", shown::relative(&At::file("relative.json", &results.relative[0].fit))),
        ("in short", shown::relative_summary(&At::file("relative.json", &results.relative[0].fit))),
        (
            "choices",
            shown::choices(
                &At::file("choices.json", &results.choices[0].fit),
                Questions::default(),
            ),
        ),
        ("beyond", shown::choices(&At::file("choices.json", &results.choices[0].fit), beyond)),
        ("stages", shown::stages(&At::file("stages.json", &results.stages[0].fit))),
        (
            "size-tokens",
            shown::size_tokens(&At::file("size-tokens.json", &results.size_tokens[0].fit)),
        ),
        ("sweep", shown::sweep(&At::file("isoflop.json", &results.isoflop[0].fit))),
        ("predictions", shown::predictions(&At::file("predictions.json", &predictions))),
    ];
    let mut sources = Sources::read(home.path());
    for (name, shown) in &all {
        let stated = stated(shown);
        assert!(stated.len() > 12, "{name}: {}", stated.len());
        stated.iter().for_each(|one| sources.check(one));
        for part in &shown.parts {
            let Part::Table(table) = part else { continue };
            for row in table.groups.iter().flatten() {
                assert_eq!(row.cells.len(), table.columns.len(), "{name}: {}", table.title);
            }
        }
        // Words are names and units: a number among them has no place.
        for piece in cells(shown).iter().flat_map(|cell| &cell.pieces) {
            let Piece::Words(words) = piece else { continue };
            let loose = words
                .split(|c: char| !(c.is_ascii_digit() || c == '.'))
                .find(|word| word.contains('.') && word.parse::<f64>().is_ok());
            assert_eq!(loose, None, "{name}: {words}");
        }
    }
}

/// The same number reads the same in a table and in the sentence below it.
#[test]
fn a_number_reads_the_same_in_words_and_in_tables() {
    let home = tempfile::tempdir().unwrap();
    others::save_all(home.path());
    let results = Results::read(home.path()).unwrap();
    let shown = shown::stages(&At::file("stages.json", &results.stages[0].fit));
    let all = stated(&shown);
    let sentences: String =
        all.iter().filter(|one| one.value.is_none()).map(|one| one.text.clone()).collect();
    for place in
        ["predictability/quadratic", "held_out/routes/1/mean_absolute", "held_out/loss_error"]
    {
        let number =
            all.iter().find(|one| one.source.ends_with(place)).unwrap_or_else(|| panic!("{place}"));
        assert!(sentences.contains(&number.text), "{}: {} in {sentences}", place, number.text);
    }
    assert!(text(&cells(&shown)[0].pieces).contains("x = flops"));
}
