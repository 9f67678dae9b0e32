//! Tables in which a row is a model: one that is there twice, one with two sizes, values without a
//! logarithm, a gap that goes through 1; with the exact words.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use relscale_laws::relative::{
    Measurements, RelativeOptions, RelativeTable, fit_relative, read_table,
};
use relscale_laws::size_tokens::{SizeTokensTable, fit_size_tokens};
use relscale_laws::tables::{Kind, Select};
use relscale_laws::two_stage::{StagesOptions, fit_stages};
use relscale_laws::user_table::{TableOptions, fit_table};
use relscale_laws::{FlagCode, LawsError, RelativeFamily, TableFit, Trend};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// What was refused, without the folder.
    fn said<T: std::fmt::Debug>(&self, refused: Result<T, LawsError>) -> String {
        let folder = format!("{}{}", self.0.path().display(), std::path::MAIN_SEPARATOR);
        refused.unwrap_err().to_string().replace(&folder, "")
    }
}

fn table(options: impl FnOnce(&mut TableOptions)) -> TableOptions {
    let mut chosen = TableOptions {
        select: Select { y: vec!["loss".to_owned()], ..TableOptions::default().select },
        ..TableOptions::default()
    };
    options(&mut chosen);
    chosen
}

const HINT: &str = "a row is a model: take out what was pasted twice, give each row a name of its own (--label), or choose rows with \
                    --where or --group";

/// Three models, `times` times over.
fn pasted(times: usize) -> String {
    let rows = [("m0", 1e6, 4.9), ("m1", 1e7, 4.1), ("m2", 1e8, 3.3)];
    (0..times).flat_map(|_| rows).fold(
        "model,S,loss\n".to_owned(),
        |mut text, (model, size, loss)| {
            writeln!(text, "{model},{size},{loss}").unwrap();
            text
        },
    )
}

#[test]
fn a_model_that_was_pasted_thrice_is_refused_with_its_lines() {
    let place = Place::new();
    let path = place.file("t.csv", &pasted(3));
    assert_eq!(
        place.said(fit_table(&path, &table(|_| {}))),
        format!(
            "t.csv: model `m0` is there 3 times, in line 2, line 5 and line 8, and 2 more models likewise; {HINT}"
        )
    );
    assert!(fit_table(&place.file("t.csv", &pasted(1)), &table(|_| {})).is_ok());
    // Other values under one name are no other model.
    let path =
        place.file("t.csv", "model,S,loss,of\nm,1e6,3.1,a\nm,1e6,3.0,a\nn,1e7,2,a\nm,1e6,3.2,b\n");
    let by = table(|options| options.select.group = vec!["of".to_owned()]);
    assert_eq!(
        place.said(fit_table(&path, &by)),
        format!("t.csv: model `m` of a is there 2 times, in line 2 and line 3; {HINT}")
    );
    // A group, or a choice of rows, makes of one name one row.
    let path =
        place.file("t.csv", "model,S,loss,of\nm,1e6,3.1,a\nm,1e6,3.0,b\nn,1e7,2,a\nn,1e7,2.2,b\n");
    assert_eq!(fit_table(&path, &by).unwrap().groups.len(), 2);
    let chosen = table(|options| options.select.only = vec![("of".to_owned(), "a".to_owned())]);
    assert!(fit_table(&path, &chosen).is_ok());
}

#[test]
fn one_label_with_two_sizes_is_refused_with_both_lines() {
    let place = Place::new();
    let path = place.file("t.csv", "model,S,loss\nm,1e6,3.1\nn,1e7,2.5\nm,2e6,2.9\n");
    assert_eq!(
        place.said(fit_table(&path, &table(|_| {}))),
        "t.csv: model `m` has more than one x: 1000000 (line 2) and 2000000 (line 4); a model has one size: mend the value, give each \
         row a name of its own (--label), or choose rows with --where or --group"
    );
    // Checkpoints of a model share its name: another column names the rows, or the name parts them.
    let path = place.file("t.csv", "model,step,S,loss\nm,a,1e6,3.1\nm,b,1e7,2.5\nm,c,1e8,2.1\n");
    assert!(
        fit_table(&path, &table(|options| options.select.label = Some("step".to_owned()))).is_ok()
    );
    assert!(
        fit_table(&path, &table(|options| options.select.group = vec!["model".to_owned()])).is_ok()
    );
}

fn law(fit: &TableFit) -> &relscale_laws::Law {
    &fit.groups[0].laws[0]
}

#[test]
fn seeds_are_points_of_their_own_unless_nothing_tells_them_apart() {
    let place = Place::new();
    let named = "model,S,loss\na-0,1e6,3.1\na-1,1e6,3.1\nb-0,1e7,2.5\nb-1,1e7,2.4\n";
    let unnamed = "seed,S,loss\n0,1e6,3.1\n1,1e6,3.1\n0,1e7,2.5\n1,1e7,2.4\n";
    for text in [named, unnamed] {
        let fit = fit_table(&place.file("t.csv", text), &table(|_| {})).unwrap();
        assert_eq!(law(&fit).points.len(), 4);
        assert!(law(&fit).flags.iter().any(|flag| flag.code == FlagCode::SameSize));
    }
    let path = place.file("t.csv", "S,loss\n1e6,3.1\n1e7,2.5\n1e8,2.1\n1e7,2.5\n");
    assert_eq!(
        place.said(fit_table(&path, &table(|_| {}))),
        "t.csv, line 5: the row is that of line 3 again, to the last cell; take one out, or give each row a name of its own (a column \
         `model`)"
    );
}

#[test]
fn relative_laws_take_each_model_once_and_at_one_x() {
    let place = Place::new();
    let read = |text: &str, distribution: Option<&str>| {
        let errors: &[&str] =
            if distribution.is_some() { &["loss"] } else { &["loss_a", "loss_b"] };
        let options = RelativeTable {
            select: Select {
                x: vec!["S".to_owned()],
                y: errors.iter().map(ToString::to_string).collect(),
                distribution: distribution.map(str::to_owned),
                ..Select::default()
            },
            ..RelativeTable::default()
        };
        read_table(&place.file("r.csv", text), &options)
    };
    let hint = HINT;
    let long = "model,S,of,loss\nm,1e6,a,3\nm,1e6,b,2\nn,1e7,a,2.5\nn,1e7,b,1.9\n";
    assert!(read(long, Some("of")).is_ok());
    assert_eq!(
        place.said(read(&format!("{long}m,1e6,b,2\n"), Some("of"))),
        format!("r.csv: model `m` of b is there 2 times, in line 3 and line 6; {hint}")
    );
    let moved = long.replace("n,1e7,b", "n,2e7,b");
    assert!(place.said(read(&moved, Some("of"))).starts_with(
        "r.csv: model `n` has more than one x: 10000000 (line 4) and 20000000 (line 5); a model"
    ));
    let wide = "model,S,loss_a,loss_b\nm,1e6,3,2\nn,1e7,2,1\nm,1e6,3,2\n";
    assert_eq!(
        place.said(read(wide, None)),
        format!("r.csv: model `m` is there 2 times, in line 2 and line 4; {hint}")
    );
}

#[test]
fn stages_and_checkpoints_take_each_model_once() {
    let place = Place::new();
    let options = StagesOptions::new("S", "loss", "acc");
    let path = place.file("s.csv", "model,S,loss,acc\nm,1e6,3,0.3\nn,1e7,2,0.4\nm,1e6,3,0.3\n");
    assert_eq!(
        place.said(fit_stages(&path, &options)),
        format!("s.csv: model `m` is there 2 times, in line 2 and line 4; {HINT}")
    );
    let path = place.file("s.csv", "model,S,loss,acc\nm,1e6,3,0.3\nn,1e7,2,0.4\nm,1e8,3,0.3\n");
    assert!(
        place
            .said(fit_stages(&path, &options))
            .contains("more than one x: 1000000 (line 2) and 100000000 (line 4)")
    );
    let path = place.file("s.csv", "S,loss,acc\n1e6,3,0.3\n1e6,2.9,0.3\n1e6,3,0.3\n");
    assert!(
        place
            .said(fit_stages(&path, &options))
            .starts_with("s.csv, line 4: the row is that of line 2 again")
    );
    let path = place.file("s.csv", "model,S,loss,acc\nm,1e6,0,0.3\n");
    assert_eq!(
        place.said(fit_stages(&path, &options)),
        "s.csv: no row is left of 1, e.g. m (line 2): loss is 0: it has no logarithm; see what the table says of how its runs ended, and of their numbers"
    );

    let options = SizeTokensTable {
        select: Select {
            distribution: Some("of".to_owned()),
            ..Select::new(&["S", "D"], &["loss"])
        },
        baseline: "a".to_owned(),
        level: 0.95,
    };
    let path =
        place.file("c.csv", "run,S,D,of,loss\nr,1e6,1e9,a,3\nr,1e6,2e9,a,2\nr,1e6,1e9,a,3\n");
    assert_eq!(
        place.said(fit_size_tokens(&path, &options)),
        format!(
            "c.csv: model `r, 1000000 parameters, 1000000000 tokens` of a is there 2 times, in line 2 and line 4; {}",
            HINT
        )
    );
    let path = place.file("c.csv", "run,S,D,of,loss\nr,1e6,1e9,a,3\nr,2e6,2e9,a,2\n");
    assert!(place.said(fit_size_tokens(&path, &options)).starts_with(
        "c.csv: model `r` has more than one x: 1000000 (line 2) and 2000000 (line 3)"
    ));
}

#[test]
fn a_value_without_a_logarithm_is_named_with_its_line() {
    let place = Place::new();
    let text = "model,S,loss,acc\na,1e6,3,0.3\nb,1e7,0,0.4\nc,1e8,2,1\nd,1e9,1.5,0.6\n";
    let path = place.file("z.csv", text);
    let told = |y: &str, kind: Kind| {
        let options = table(|options| {
            options.select.y = vec![y.to_owned()];
            options.select.kinds = vec![kind];
        });
        law(&fit_table(&path, &options).unwrap()).flags[0].message.clone()
    };
    assert_eq!(
        told("loss", Kind::Loss),
        "1 of 4 rows left out of the fit: b (line 3: loss is 0: it has no logarithm)"
    );
    assert_eq!(
        told("acc", Kind::Accuracy),
        "1 of 4 rows left out of the fit: c (line 4: acc is 1: its -ln is 0 and has no logarithm)"
    );
    let options = RelativeTable {
        select: Select {
            kinds: vec![Kind::Loss, Kind::Accuracy],
            ..Select::new(&["S"], &["loss", "acc"])
        },
        ..RelativeTable::default()
    };
    let read = read_table(&path, &options).unwrap();
    let flag =
        read.families[0].flags.iter().find(|flag| flag.code == FlagCode::PointsLeftOut).unwrap();
    assert_eq!(
        flag.message,
        "without a logarithm, so left out: b on loss (line 3: loss is 0: it has no logarithm); c on acc (line 4: acc is 1: its -ln is 0 \
         and has no logarithm)"
    );
}

/// The gap of `b` to `a` over five models, `ln G = from + slope (ln x - ln x_0)` with a scatter of
/// `own`.
fn gap(from: f64, slope: f64, own: f64, kinds: Vec<Kind>) -> RelativeFamily {
    let place = Place::new();
    let text = [1.0, -1.0, 0.4, -0.9, 1.0].iter().zip(6..).fold(
        "model,S,loss_a,loss_b\n".to_owned(),
        |mut text, (scatter, decade)| {
            let u = f64::from(decade - 6) * 10f64.ln();
            let a = 3.0 * (-0.1 * u).exp();
            writeln!(
                text,
                "m{decade},1e{decade},{a},{}",
                a * (from + slope * u + own * scatter).exp()
            )
            .unwrap();
            text
        },
    );
    let options = RelativeTable {
        select: Select { kinds, ..Select::new(&["S"], &["loss_a", "loss_b"]) },
        ..RelativeTable::default()
    };
    let read: Measurements = read_table(&place.file("g.csv", &text), &options).unwrap();
    fit_relative(&read, &RelativeOptions::new("loss_a"), None).unwrap().families.remove(0)
}

#[test]
fn a_gap_that_goes_through_one_is_crossed() {
    let trend = |family: &RelativeFamily| family.gaps[0].fit().unwrap().trend;
    // From 1.22 through 1 at 1e8 to 0.82, and the other way.
    let closes = gap(0.2, -0.0434, 0.002, Vec::new());
    assert_eq!(trend(&closes), Trend::Crossed);
    let verdict = &closes.gaps[0].verdict;
    assert!(
        verdict.starts_with(
            "loss_b against loss_a: the gap is crossed: loss_b has the larger error at first and the smaller one at last, G goes through 1 \
             at x = 1.0"
        ),
        "{verdict}"
    );
    assert!(
        closes.verdict.starts_with("Of 1 gap to loss_a, 1 is crossed (loss_b)"),
        "{}",
        closes.verdict
    );
    assert!(serde_json::to_string(&closes).unwrap().contains("\"trend\":\"crossed\""));
    let widens = gap(-0.2, 0.0434, 0.002, Vec::new());
    assert_eq!(trend(&widens), Trend::Crossed);
    assert!(
        widens.gaps[0].verdict.contains("the smaller error at first and the larger one at last")
    );
    // All above 1, or all below, it closes or widens as before.
    assert_eq!(trend(&gap(0.9, -0.0434, 0.002, Vec::new())), Trend::Closes);
    assert_eq!(trend(&gap(-0.9, 0.0434, 0.002, Vec::new())), Trend::Widens);
    // At the largest x the law is below 1, and its interval is not.
    let may = gap(0.39, -0.0434, 0.01, Vec::new());
    assert_eq!(trend(&may), Trend::Closes);
    assert!(may.gaps[0].verdict.contains("so it may cross 1, at x = "), "{}", may.gaps[0].verdict);
    // Between errors of different kinds the height of G says nothing.
    assert_eq!(trend(&gap(0.2, -0.0434, 0.002, vec![Kind::Loss, Kind::Bpb])), Trend::Closes);
}
