//! The tables behind the figures against arithmetic that shares nothing with the program: what one
//! column says is worked out again here from the others, by the formula in a textbook.
//!
//! The tables are those that `figures.rs` and `results.rs` hold the program to, nine digits each.
//! They are its own output, so that they only tell when something changes; these tests tell that it
//! is right.

use std::collections::BTreeMap;
use std::path::Path;

/// A golden table.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// One row of it.
#[derive(Clone, Copy)]
struct Row<'a> {
    table: &'a Table,
    cells: &'a [String],
}

impl Table {
    fn read(name: &str) -> Self {
        let goldens = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens");
        let mut reader = csv::Reader::from_path(goldens.join(format!("{name}.csv"))).unwrap();
        let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let row = |row: csv::StringRecord| row.iter().map(str::to_owned).collect();
        Self { header, rows: reader.records().map(|record| row(record.unwrap())).collect() }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }

    /// Rows that agree in the columns of `by`, in the order of the table.
    fn groups(&self, by: &[&str]) -> Vec<Vec<Row<'_>>> {
        let mut groups: BTreeMap<Vec<&str>, Vec<Row<'_>>> = BTreeMap::new();
        for row in self.rows() {
            groups.entry(by.iter().map(|name| row.text(name)).collect()).or_default().push(row);
        }
        groups.into_values().collect()
    }
}

impl<'a> Row<'a> {
    fn text(&self, column: &str) -> &'a str {
        let at = self.table.header.iter().position(|name| name == column);
        &self.cells[at.unwrap_or_else(|| panic!("no column {column}"))]
    }

    fn has(&self, column: &str) -> bool {
        !self.text(column).is_empty()
    }

    fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or_else(|_| panic!("{column}: {}", self.text(column)))
    }
}

/// Numbers with nine digits, of numbers with nine digits.
#[track_caller]
fn near(found: f64, wanted: f64) {
    within(found, wanted, 2e-7);
}

#[track_caller]
fn within(found: f64, wanted: f64, tolerance: f64) {
    assert!(
        (found - wanted).abs() <= tolerance * wanted.abs().max(1.0),
        "{found} instead of {wanted}"
    );
}

/// Least squares: coefficients of `1, x, ..., x^degree` about the mean of x, which comes last.
fn polynomial(x: &[f64], y: &[f64], degree: usize) -> (Vec<f64>, f64) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let n = degree + 1;
    let mut a = vec![vec![0.0; n + 1]; n];
    for (x, y) in x.iter().zip(y) {
        for (i, row) in a.iter_mut().enumerate() {
            let power = |of: usize| (x - mean).powi(of as i32);
            row[..n].iter_mut().enumerate().for_each(|(j, cell)| *cell += power(i + j));
            row[n] += power(i) * y;
        }
    }
    // Gauss and Jordan, with pivots.
    for column in 0..n {
        let best =
            (column..n).max_by(|&i, &j| a[i][column].abs().total_cmp(&a[j][column].abs())).unwrap();
        a.swap(column, best);
        for row in 0..n {
            if row != column {
                let factor = a[row][column] / a[column][column];
                let pivot = a[column].clone();
                a[row].iter_mut().zip(&pivot).for_each(|(cell, of)| *cell -= factor * of);
            }
        }
    }
    ((0..n).map(|row| a[row][n] / a[row][row]).collect(), mean)
}

/// A straight line: slope and the value at a place.
struct Line {
    slope: f64,
    at_mean: f64,
    mean: f64,
    r_squared: f64,
}

impl Line {
    fn new(x: &[f64], y: &[f64]) -> Self {
        let (found, mean) = polynomial(x, y, 1);
        let (slope, at_mean) = (found[1], found[0]);
        let average = y.iter().sum::<f64>() / y.len() as f64;
        let total: f64 = y.iter().map(|y| (y - average).powi(2)).sum();
        let left: f64 =
            x.iter().zip(y).map(|(x, y)| (y - at_mean - slope * (x - mean)).powi(2)).sum();
        Self { slope, at_mean, mean, r_squared: 1.0 - left / total }
    }

    /// Through logarithms of two columns.
    fn through(rows: &[Row<'_>], x: &str, y: &str) -> Self {
        let ln =
            |column: &str| rows.iter().map(|row| row.number(column).ln()).collect::<Vec<f64>>();
        Self::new(&ln(x), &ln(y))
    }

    fn at(&self, x: f64) -> f64 {
        self.at_mean + self.slope * (x - self.mean)
    }
}

const SIZE: &str = "non_embedding_parameters";

/// The 97.5 % point of the standard normal distribution.
const NORMAL: f64 = 1.959_963_985;

/// The points of a line: rows that were measured and not left out.
fn points<'a>(rows: &[Row<'a>], value: &str) -> Vec<Row<'a>> {
    rows.iter().copied().filter(|row| row.has(value) && !row.has("left_out_because")).collect()
}

#[test]
fn values_are_of_their_counts_and_the_line_is_that_of_least_squares() {
    let mut lines = 0;
    for name in ["greedy--ants", "head--ants", "tail--ants", "together--ants", "sequences--bees"] {
        for rows in Table::read(name).groups(&["corpus", "quantity"]) {
            let points = points(&rows, "value");
            for row in points.iter().filter(|row| row.has("hits")) {
                let (hits, tokens) = (row.number("hits"), row.number("tokens"));
                near(row.number("value"), -(hits / tokens).ln());
                assert_eq!(row.number("misses"), tokens - hits);
            }
            for row in points.iter().filter(|row| row.has("low_95")) {
                // An interval of the logarithm.
                near(row.number("low_95") * row.number("high_95"), row.number("value").powi(2));
            }
            let line = Line::through(&points, SIZE, "value");
            for row in rows.iter().filter(|row| row.has("fitted")) {
                near(row.number("fitted").ln(), line.at(row.number(SIZE).ln()));
            }
            lines += 1;
        }
    }
    assert!(lines > 20, "{lines}");
}

#[test]
fn exponents_and_their_r_squared_are_those_of_the_points() {
    let tables = ["greedy--ants", "head--ants", "tail--ants"].map(Table::read);
    let (alphas, squares) = (Table::read("exponent-by-k--ants"), Table::read("fit-by-k--ants"));
    let mut compared = 0;
    for table in &tables {
        for rows in table.groups(&["corpus", "quantity"]) {
            let Some(k) = rows[0].text("quantity").strip_prefix("'-ln RBP_") else { continue };
            let line = Line::through(&points(&rows, "value"), SIZE, "value");
            let here =
                |row: &Row<'_>| row.text("k") == k && row.text("corpus") == rows[0].text("corpus");
            near(alphas.rows().find(here).unwrap().number("alpha"), -line.slope);
            within(squares.rows().find(here).unwrap().number("r_squared"), line.r_squared, 2e-5);
            compared += 1;
        }
    }
    assert!(compared >= 10, "{compared}");
}

#[test]
fn residuals_and_leverages_are_those_of_the_line() {
    let points = Table::read("together--ants");
    for rows in Table::read("residuals--ants").groups(&["corpus", "quantity"]) {
        let sizes: Vec<f64> = rows.iter().map(|row| row.number(SIZE).ln()).collect();
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let spread: f64 = sizes.iter().map(|x| (x - mean).powi(2)).sum();
        for (row, x) in rows.iter().zip(&sizes) {
            near(row.number("leverage"), 1.0 / sizes.len() as f64 + (x - mean).powi(2) / spread);
            let same = |point: &Row<'_>| {
                ["corpus", "quantity", "model"]
                    .iter()
                    .all(|name| point.text(name) == row.text(name))
            };
            let Some(point) = points.rows().find(same) else { continue };
            near(row.number("log_residual"), (point.number("value") / point.number("fitted")).ln());
            let error = row.number("log_standard_error");
            near(point.number("high_95"), point.number("value") * (NORMAL * error).exp());
        }
        // They add up to nothing, in themselves and along ln S.
        let sum: f64 = rows.iter().map(|row| row.number("log_residual")).sum();
        let moment: f64 =
            rows.iter().zip(&sizes).map(|(row, x)| row.number("log_residual") * x).sum();
        assert!(sum.abs() < 1e-7 && moment.abs() < 1e-6, "{sum} {moment}");
    }
}

#[test]
fn held_out_models_are_predicted_from_the_others() {
    let mut predicted = 0;
    for rows in Table::read("held-out--ants").groups(&["corpus", "quantity"]) {
        let (held, kept): (Vec<_>, Vec<_>) =
            rows.iter().copied().partition(|row| row.text("held_out") == "true");
        let line = Line::through(&kept, SIZE, "observed");
        for row in kept.iter().chain(&held) {
            near(row.number("line").ln(), line.at(row.number(SIZE).ln()));
        }
        predicted += held.len();
    }
    assert_eq!(predicted, 4);
    // The audit of four models is the same step.
    let held = Table::read("held-out--ants");
    for row in Table::read("audit--ants").rows() {
        let same = |other: &Row<'_>| {
            ["corpus", "quantity", "model"].iter().all(|name| other.text(name) == row.text(name))
        };
        let other = held.rows().find(same).unwrap();
        near(row.number("predicted"), other.number("line"));
        near(row.number("relative_error"), other.number("line") / other.number("observed") - 1.0);
    }
}

#[test]
fn the_noise_of_independent_tokens_is_binomial() {
    let greedy = Table::read("greedy--ants");
    for row in Table::read("noise-floor--ants").rows().filter(|row| row.text("k") == "1") {
        let same = |point: &Row<'_>| {
            (point.text("model"), point.text("corpus"))
                == (row.text("largest_model"), row.text("corpus"))
        };
        let point = greedy.rows().find(same).unwrap();
        let (n, value) = (point.number("tokens"), point.number("value"));
        let share = (-value).exp();
        // Var p = p (1 - p) / n, carried to ln(-ln p) by the derivative 1 / (p ln p).
        let error = ((1.0 - share) / (n * share)).sqrt() / value;
        near(row.number("independent_log_standard_error"), error);
        let times = error / row.number("log_standard_error");
        // The table's is by the variance of the share itself, not of its logarithm.
        within(row.number("effective_tokens") / (n * times * times), 1.0, 5e-3);
    }
}

#[test]
fn sequences_are_shares_of_windows_beside_powers_of_single_tokens() {
    let table = Table::read("sigmoids--bees");
    for row in table.rows().filter(|row| row.has("successes")) {
        near(row.number("p"), row.number("successes") / row.number("windows"));
        let single = |one: &Row<'_>| {
            one.text("length") == "1"
                && one.text("k") == row.text("k")
                && one.text("model") == row.text("model")
        };
        let single = table.rows().find(single).unwrap().number("p");
        near(row.number("independent"), single.powf(row.number("length")));
    }
    for rows in Table::read("independence--bees").groups(&["k", "model", "what"]) {
        let at = |length: f64| *rows.iter().find(|row| row.number("at") == length).unwrap();
        if rows[0].text("what") == "share of runs of at least" {
            // Both chains start at 1 and fall by their own factor a token.
            for row in &rows {
                let steps = row.number("at") - 1.0;
                for chain in ["independent", "markov"] {
                    within(row.number(chain), at(2.0).number(chain).powf(steps), 1e-7);
                }
            }
        }
        if rows[0].text("what") == "effective length of" {
            let sequences = Table::read("sequences--bees");
            let value = |length: f64| {
                let name = format!("'-ln p_{{{length},{}}}", rows[0].text("k"));
                let same = |row: &Row<'_>| {
                    row.text("quantity") == name && row.text("model") == rows[0].text("model")
                };
                sequences.rows().find(same).map(|row| row.number("value"))
            };
            for row in &rows {
                if let (Some(long), Some(one)) = (value(row.number("at")), value(1.0)) {
                    within(row.number("value"), long / one, 1e-6);
                }
            }
        }
    }
}

/// The normal distribution function, by the series of erf about 0.
fn normal(z: f64) -> f64 {
    let (mut term, mut sum) = (z, z);
    for n in 1..200 {
        term *= -z * z / (2.0 * f64::from(n));
        sum += term / (2.0 * f64::from(n) + 1.0);
    }
    0.5 + sum / (2.0 * std::f64::consts::PI).sqrt()
}

#[test]
fn ranks_are_shares_and_the_lognormal_is_a_difference_of_normals() {
    let parameters = Table::read("mu-sigma--bees");
    let vocabulary = 4_096.0_f64;
    for rows in Table::read("ranks--bees").groups(&["model", "form"]) {
        let total = 30.0 * 150.0;
        assert_eq!(rows.iter().map(|row| row.number("tokens")).sum::<f64>(), total);
        for row in rows.iter().filter(|row| row.has("share_per_rank")) {
            let ranks = row.number("highest_rank") - row.number("lowest_rank") + 1.0;
            near(row.number("share_per_rank"), row.number("tokens") / total / ranks);
        }
        if rows[0].text("form") != "lognormal" {
            continue;
        }
        let same = |row: &Row<'_>| {
            row.text("form") == "lognormal" && row.text("model") == rows[0].text("model")
        };
        let found = parameters.rows().find(same).unwrap();
        let (mu, sigma) = (found.number("mu"), found.number("sigma"));
        near(found.number("ratio"), mu / sigma);
        let below = |rank: f64| if rank < 1.0 { 0.0 } else { normal((rank.ln() - mu) / sigma) };
        for row in rows.iter().filter(|row| row.has("fitted_share_per_rank")) {
            let (low, high) = (row.number("lowest_rank"), row.number("highest_rank"));
            let share = (below(high) - below(low - 1.0)) / below(vocabulary) / (high - low + 1.0);
            // The table holds six digits of it.
            within(row.number("fitted_share_per_rank") / share, 1.0, 1e-5);
        }
    }
    for rows in Table::read("simulation--bees").groups(&["form", "quantity"]) {
        near(rows[0].number("simulated_exponent"), -Line::through(&rows, SIZE, "drawn").slope);
        near(rows[0].number("measured_exponent"), -Line::through(&rows, SIZE, "measured").slope);
    }
}

#[test]
fn gaps_are_ratios_and_their_slopes_differences_of_exponents() {
    let absolute = Table::read("absolute--relative");
    let mut beta = BTreeMap::new();
    for rows in absolute.groups(&["distribution"]) {
        let rows = points(&rows, "value");
        let line = Line::through(&rows, "x", "value");
        for row in &rows {
            near(row.number("fitted").ln(), line.at(row.number("x").ln()));
            near(row.number("beta"), -line.slope);
        }
        beta.insert(rows[0].text("distribution"), rows[0].number("beta"));
    }
    let slopes = Table::read("slopes--relative");
    let mut compared = 0;
    for rows in Table::read("gap--relative").groups(&["treatment"]) {
        let measured: Vec<Row<'_>> =
            rows.iter().copied().filter(|row| row.text("row") == "measured").collect();
        let measured = points(&measured, "gap");
        for row in &measured {
            near(row.number("gap"), row.number("treatment_error") / row.number("baseline_error"));
            near(row.number("low") * row.number("high"), row.number("gap").powi(2));
        }
        let line = Line::through(&measured, "x", "gap");
        for row in measured.iter().filter(|row| row.has("fitted")) {
            near(row.number("fitted").ln(), line.at(row.number("x").ln()));
        }
        for row in rows.iter().filter(|row| ["law", "predicted"].contains(&row.text("row"))) {
            near(row.number("gap").ln(), line.at(row.number("x").ln()));
        }
        let (treatment, baseline) = (rows[0].text("treatment"), rows[0].text("baseline"));
        let slope = slopes.rows().find(|row| row.text("treatment") == treatment).unwrap();
        near(slope.number("delta_beta"), line.slope);
        within(slope.number("r_squared"), line.r_squared, 2e-5);
        if absolute.rows().filter(|row| row.text("distribution") == treatment).count() == 7 {
            near(line.slope, beta[baseline] - beta[treatment]);
            compared += 1;
        }
    }
    assert!(compared >= 3);
    for row in Table::read("covariate--relative").rows().filter(|row| row.has("delta_beta")) {
        let slope =
            slopes.rows().find(|slope| slope.text("treatment") == row.text("treatment")).unwrap();
        assert_eq!(row.text("delta_beta"), slope.text("delta_beta"));
    }
    let sizes: Vec<f64> = absolute.rows().map(|row| row.number("x")).collect();
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = sizes.iter().copied().fold(0.0, f64::max);
    for row in Table::read("gap-by-k--relative").rows().filter(|row| row.text("models") == "7") {
        let grown = row.number("gap_at_largest") / row.number("gap_at_smallest");
        near(grown.ln(), row.number("delta_beta") * (most / least).ln());
    }
}

#[test]
fn blind_choices_and_stages() {
    for row in Table::read("choices--choices--ants--mmlu").rows() {
        // Four options each.
        assert_eq!(row.number("chance"), 0.25);
        assert!(
            row.number("low") < row.number("value") && row.number("value") < row.number("high")
        );
    }
    for rows in Table::read("formats--stages").groups(&["group"]) {
        let (group, points): (Vec<_>, Vec<_>) =
            rows.iter().copied().partition(|row| row.text("row") == "group");
        let x: Vec<f64> = points.iter().map(|row| row.number("x").ln()).collect();
        let loss: Vec<f64> = points.iter().map(|row| row.number("loss")).collect();
        within(
            group[0].number("power_r_squared"),
            Line::through(&points, "x", "loss").r_squared,
            1e-6,
        );
        let (curve, mean) = polynomial(&x, &loss, 2);
        let average = loss.iter().sum::<f64>() / loss.len() as f64;
        let total: f64 = loss.iter().map(|y| (y - average).powi(2)).sum();
        let at =
            |x: f64| (0..3).map(|power| curve[power] * (x - mean).powi(power as i32)).sum::<f64>();
        let left: f64 = x.iter().zip(&loss).map(|(&x, y)| (y - at(x)).powi(2)).sum();
        within(group[0].number("quadratic_r_squared"), 1.0 - left / total, 1e-6);
    }
    for name in ["stages--stages--modified", "stages--stages--standard"] {
        let table = Table::read(name);
        let of = |kind: &str, route: &str| {
            let rows =
                table.rows().filter(|row| row.text("row") == kind && row.text("route") == route);
            rows.collect::<Vec<_>>()
        };
        let points = of("fitted", "");
        let x: Vec<f64> = points.iter().map(|row| row.number("x").ln()).collect();
        let y: Vec<f64> = points.iter().map(|row| (-row.number("accuracy").ln()).ln()).collect();
        let line = Line::new(&x, &y);
        let drawn = of("predicted", "direct power law");
        assert!(!drawn.is_empty());
        for row in drawn {
            near((-row.number("accuracy").ln()).ln(), line.at(row.number("x").ln()));
        }
    }
}

#[test]
fn slopes_over_slices_are_their_mean() {
    for rows in
        Table::read("size-tokens--size-tokens").groups(&["distribution", "quantity", "along"])
    {
        let slices: Vec<f64> = rows
            .iter()
            .filter(|row| row.text("row") == "slice")
            .map(|row| row.number("slope"))
            .collect();
        let mean = rows.iter().find(|row| row.text("row") == "mean of slices").unwrap();
        near(mean.number("slope"), slices.iter().sum::<f64>() / slices.len() as f64);
    }
}

#[test]
fn curves_of_a_budget_are_polynomials_and_optima_grow_along_a_line() {
    let runs = Table::read("isoflop--isoflop--all");
    for rows in runs.groups(&["budget"]) {
        let points: Vec<Row<'_>> =
            rows.iter().copied().filter(|row| row.text("row") == "run").collect();
        let loss: Vec<f64> = points.iter().map(|row| row.number("loss")).collect();
        for (name, degree) in [("cubic", 3), ("parabola", 2)] {
            for along in ["params", "tokens"] {
                let x: Vec<f64> = points.iter().map(|row| row.number(along).ln()).collect();
                let (curve, mean) = polynomial(&x, &loss, degree);
                let drawn = rows.iter().filter(|row| {
                    (row.text("row"), row.text("curve"), row.text("along"))
                        == ("curve", name, along)
                });
                for row in drawn {
                    let place = row.number(along).ln() - mean;
                    let value: f64 = curve
                        .iter()
                        .enumerate()
                        .map(|(power, c)| c * place.powi(power as i32))
                        .sum();
                    within(row.number("loss"), value, 1e-6);
                }
            }
        }
    }
    for rows in Table::read("left-out--isoflop--all").groups(&["left_out_by", "form", "method"]) {
        assert!(rows.len() >= 5 && rows.len() <= 10, "{}", rows.len());
        for row in rows {
            let off = row.number("predicted") / row.number("loss") - 1.0;
            assert!((row.number("relative_error") - off).abs() < 1e-5);
            let inside = (row.number("low")..=row.number("high")).contains(&row.number("loss"));
            assert_eq!(row.text("covered"), inside.to_string());
        }
    }
    for rows in Table::read("optima--isoflop--all").groups(&["quantity", "method"]) {
        let minima: Vec<Row<'_>> =
            rows.iter().copied().filter(|row| row.text("row") == "minimum").collect();
        let law = rows.iter().find(|row| row.text("row") == "law");
        let Some(law) = law.filter(|_| minima.len() > 2) else { continue };
        let line = Line::through(&minima, "budget", "value");
        near(law.number("exponent"), line.slope);
        within(law.number("r_squared"), line.r_squared, 2e-5);
        within(law.number("prefactor").ln(), line.at(0.0), 1e-6);
    }
}
