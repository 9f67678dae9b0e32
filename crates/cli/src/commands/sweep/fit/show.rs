//! What `relscale sweep fit` shows: a table a subject, doubts as notes.

use relscale_laws::{
    Agreement, Along, Curve, Estimate, Interval, IsoflopBudget, IsoflopFit, IsoflopGroup, IsoflopSurface,
    Judged, Minimum, OptimumAhead, Outcome,
};

use crate::terminal;

/// What C and N count.
pub(super) fn title(fit: &IsoflopFit) -> String {
    let flops = match fit.flops.as_str() {
        "fwd" => "FLOPs of the forward pass",
        "train" => "training FLOPs",
        _ => "FLOPs (not stated which)",
    };
    let computed = fit.budget_from.as_ref().map(|from| format!(", computed as {from}")).unwrap_or_default();
    let params = match fit.params.as_str() {
        "not stated" => "parameters (not stated which)".to_owned(),
        "total" => "all parameters".to_owned(),
        convention => {
            format!("{} parameters", convention.replace('-', " ").replace("non embedding", "non-embedding"))
        }
    };
    let held = fit.size_exponent.map(|a| format!("; N* is held to C^{a}")).unwrap_or_default();
    format!("C counts {flops}{computed}; N {params}{held}")
}

/// A group of runs.
pub(super) fn group(group: &IsoflopGroup) -> String {
    let mut lines = vec![format!("\n{}: {}", group.name, group.verdict)];
    if !group.budgets.is_empty() {
        let many = |budget: &&IsoflopBudget| budget.size_count() >= SIZES;
        let rows: Vec<Vec<String>> = group.budgets.iter().filter(many).map(minima).collect();
        if !rows.is_empty() {
            let header = [
                "budget",
                "sizes",
                "N* cubic",
                "95 % interval",
                "D* cubic",
                "95 % interval ",
                "loss",
                "N* parabola",
                "D* parabola",
                "bias, cubic",
                "bias, parabola",
            ];
            let to_go = [
                "D* parabola",
                "bias, cubic",
                "bias, parabola",
                "N* parabola",
                "95 % interval ",
                "95 % interval",
            ];
            lines.push(format!("\n{}", terminal::fitting(&header, 0, &[rows], &to_go)));
        }
        lines.extend(refusals(group));
        lines.push(format!("\n{}", growth(group)));
        lines.extend(floors(group));
    }
    lines.push(format!("\n{}", surfaces(group)));
    if group.agreement.len() > 1 && !group.budgets.is_empty() {
        lines.push(format!("\n{}", agreement(&group.agreement)));
    }
    lines.extend(group.ahead.iter().map(ahead));
    lines.extend(group.flags.iter().map(|flag| terminal::paragraph("note: ", &flag.message)));
    lines.join("\n")
}

fn minima(budget: &IsoflopBudget) -> Vec<String> {
    let outcome = |curve, along| budget.minimum(curve, along)?.outcome.fit();
    let at = |curve, along| match outcome(curve, along) {
        Some(Minimum { at, .. }) => format!("{at:.3e}"),
        _ => "-".to_owned(),
    };
    let place = |along| match outcome(Curve::Cubic, along) {
        Some(Minimum { place: Interval::None { .. }, .. }) => "open".to_owned(),
        Some(Minimum { place, .. }) => ends(place.bounds()),
        _ => "-".to_owned(),
    };
    // Of N*, by the shape of the curve alone.
    let bias = |curve| match outcome(curve, Along::Params) {
        Some(Minimum { bias: Some(bias), .. }) => format!("{:+.1} %", 100.0 * bias),
        _ => "-".to_owned(),
    };
    let sizes = match budget.size_count() {
        sizes if sizes < budget.runs.len() => format!("{sizes} ({} runs)", budget.runs.len()),
        sizes => sizes.to_string(),
    };
    let least = budget.minimum(Curve::Cubic, Along::Tokens).and_then(|minimum| minimum.found());
    vec![
        format!("{:.2e}", budget.budget),
        sizes,
        at(Curve::Cubic, Along::Params),
        place(Along::Params),
        at(Curve::Cubic, Along::Tokens),
        place(Along::Tokens),
        least.map_or("-".to_owned(), |(_, loss)| format!("{loss:.4}")),
        at(Curve::Parabola, Along::Params),
        at(Curve::Parabola, Along::Tokens),
        bias(Curve::Cubic),
        bias(Curve::Parabola),
    ]
}

/// Sizes of a budget without which it has no minimum and no line in the table.
const SIZES: usize = 4;

/// Tolerances that are tried before one is hinted at.
const WIDER: [f64; 4] = [0.05, 0.1, 0.2, 0.3];

/// The least tolerance by which more budgets have sizes enough for a minimum, and how many do then; none where neighbours are of no help.
fn wider(group: &IsoflopGroup) -> Option<(f64, usize)> {
    let enough = |tolerance: f64| {
        let mut gathered: Vec<(f64, Vec<f64>)> = Vec::new();
        for budget in &group.budgets {
            let sizes = budget.sizes.iter().map(|size| size.params);
            match gathered.last_mut().filter(|(first, _)| budget.budget <= *first * (1.0 + tolerance)) {
                Some((_, there)) => there.extend(sizes),
                None => gathered.push((budget.budget, sizes.collect())),
            }
        }
        let different = |(_, mut sizes): (f64, Vec<f64>)| {
            sizes.sort_unstable_by(f64::total_cmp);
            sizes.chunk_by(|a, b| *b <= a * 1.001).count()
        };
        gathered.into_iter().filter(|of| different(of.clone()) >= SIZES).count()
    };
    let now = enough(0.0);
    WIDER.into_iter().map(|tolerance| (tolerance, enough(tolerance))).find(|(_, found)| *found > now)
}

/// Why budgets have no minimum by the default curve, each reason once a budget.
fn refusals(group: &IsoflopGroup) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let few = group.budgets.iter().filter(|budget| budget.size_count() < SIZES).count();
    if few > 0 {
        let budgets = terminal::several(few as u64, "budget");
        let note = format!("{budgets} with fewer than {SIZES} sizes: no minimum there");
        let hint = wider(group).map_or(String::new(), |(tolerance, found)| {
            format!("; if FLOPs scatter about their budgets, --budget-tolerance {tolerance} makes {found} with {SIZES} sizes of them")
        });
        lines.push(terminal::paragraph("note: ", &format!("{note}{hint}")));
    }
    for budget in group.budgets.iter().filter(|budget| budget.size_count() >= SIZES) {
        for along in Along::ALL {
            let refused = budget.minimum(Curve::Cubic, along).map(|minimum| &minimum.outcome);
            if let Some(Outcome::Refused { reason }) = refused {
                let line =
                    terminal::paragraph("note: ", &format!("{:.2e}: no minimum: {reason}", budget.budget));
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
    }
    lines
}

fn growth(group: &IsoflopGroup) -> String {
    let mut rows = Vec::new();
    for path in &group.paths {
        for (what, outcome) in [("N*", &path.params), ("D*", &path.tokens), ("least loss", &path.loss)] {
            let mut row = vec![what.to_owned(), path.curve.name().to_owned()];
            row.extend(match outcome {
                Outcome::Refused { .. } => ["-", "-", "-", "-", "-", "-"].map(str::to_owned),
                Outcome::Fitted(law) => [
                    format!("{:.4}", law.exponent.value),
                    interval(&law.exponent),
                    interval(&law.exponent_by_runs),
                    format!("{:.3e}", law.prefactor.value),
                    ends(law.prefactor.bounds()),
                    law.r_squared.map_or("-".to_owned(), |r| {
                        format!("{:.4}", if r < 1.0 { r.min(0.9999) } else { r })
                    }),
                ],
            });
            rows.push(row);
        }
    }
    let header = ["A C^a", "curve", "a", "Student t", "by runs", "A", "Student t ", "R²"];
    terminal::fitting(&header, 2, &[rows], &["R²", "Student t ", "by runs"])
}

/// The least loss with a floor, a line a curve.
fn floors(group: &IsoflopGroup) -> Vec<String> {
    let line = |path: &relscale_laws::OptimumPath| {
        let curve = path.curve.name();
        let text = match &path.loss_with_floor {
            Outcome::Refused { reason } => format!("least loss with a floor, {curve}: none, {reason}"),
            Outcome::Fitted(law) => format!(
                "least loss with a floor, {curve}: {:.4} + {:.3e} C^-{:.4}, the floor {}{}",
                law.floor.value,
                law.prefactor.value,
                law.exponent.value,
                law.floor.bounds().map_or("without interval".to_owned(), |_| interval(&law.floor)),
                if law.told { "" } else { ", not told from 0" },
            ),
        };
        terminal::paragraph("", &text)
    };
    let mut lines: Vec<String> = group.paths.iter().map(line).collect();
    // Both curves are refused for one reason: too few budgets.
    if group.paths.iter().all(|path| path.loss_with_floor.fit().is_none()) {
        lines.truncate(1);
    }
    lines
}

fn interval(estimate: &Estimate) -> String {
    let none = match estimate.interval.reason() {
        Some(reason) if reason.starts_with("held") => "held",
        _ => "none",
    };
    estimate.bounds().map_or(none.to_owned(), |(low, high)| format!("[{low:.4}, {high:.4}]"))
}

/// Ends over orders of magnitude.
fn ends(bounds: Option<(f64, f64)>) -> String {
    bounds.map_or("none".to_owned(), |(low, high)| format!("[{low:.2e}, {high:.2e}]"))
}

fn surfaces(group: &IsoflopGroup) -> String {
    let header = ["surface", "E", "A", "B", "alpha", "beta", "a of N*", "95 % interval"];
    let rows: Vec<Vec<String>> = group.surfaces.iter().map(surface).collect();
    let mut text = terminal::fitting(&header, 1, &[rows], &["B", "A"]);
    for surface in &group.surfaces {
        let notes: Vec<String> = match &surface.outcome {
            Outcome::Refused { reason } => vec![format!("{}: none, {reason}", surface.method.name())],
            Outcome::Fitted(law) => {
                law.flags.iter().map(|flag| format!("{}: {}", surface.method.name(), flag.message)).collect()
            }
        };
        for note in notes {
            text.push('\n');
            text.push_str(&terminal::paragraph("note: ", &note));
        }
    }
    text
}

fn surface(surface: &IsoflopSurface) -> Vec<String> {
    let mut row = vec![surface.method.name().to_owned()];
    row.extend(match surface.law() {
        None => ["-"; 7].map(str::to_owned),
        Some(law) => [
            format!("{:.4}", law.e.value),
            format!("{:.4e}", law.a.value),
            format!("{:.4e}", law.b.value),
            format!("{:.4}", law.alpha.value),
            format!("{:.4}", law.beta.value),
            format!("{:.4}", law.size_exponent.value),
            interval(&law.size_exponent),
        ],
    });
    row
}

fn agreement(of: &[Agreement]) -> String {
    let number = |value: f64| match value.abs() {
        0.001..1000.0 => format!("{value:.4}"),
        _ => format!("{value:.3e}"),
    };
    let row = |agreement: &Agreement| {
        let (low, high) = (&agreement.smallest, &agreement.largest);
        vec![
            agreement.quantity.clone(),
            number(low.value),
            low.method.clone(),
            number(high.value),
            high.method.clone(),
            format!("{:.3}", high.value / low.value),
            match &agreement.outcome {
                Judged::Within => "meet".to_owned(),
                Judged::Apart { .. } => "do not meet".to_owned(),
                Judged::NotJudged => "-".to_owned(),
            },
        ]
    };
    let rows: Vec<Vec<String>> = of.iter().map(row).collect();
    let header = ["agreement", "least", "by", "most", "by ", "ratio", "intervals"];
    let mut text = terminal::fitting(&header, 1, &[rows], &["by ", "by"]);
    for agreement in of {
        if let Judged::Apart { pairs } = &agreement.outcome {
            let pairs: Vec<String> = pairs.iter().map(|(a, b)| format!("{a} with {b}")).collect();
            let pairs = terminal::some_of(&pairs, 3);
            let note = format!("{}: these intervals do not meet: {pairs}", agreement.quantity);
            text.push('\n');
            text.push_str(&terminal::paragraph("note: ", &note));
        }
    }
    text
}

fn ahead(optimum: &OptimumAhead) -> String {
    let place = match optimum.decades_beyond {
        0.0 => String::new(),
        decades if decades > 0.0 => format!(", {decades:.1} decades beyond the budgets with a minimum"),
        decades => format!(", {:.1} decades below the budgets with a minimum", -decades),
    };
    let title = format!("\nOptimum at C = {:.2e}{place}\n", optimum.budget);
    if optimum.methods.is_empty() {
        let why =
            "no method tells it: curves need two budgets with a minimum, a surface budgets and six runs";
        return format!("{title}\n{}", terminal::paragraph("note: ", why));
    }
    let header = ["method", "N*", "95 % interval", "D*", "95 % interval "];
    let rows: Vec<Vec<String>> = optimum
        .methods
        .iter()
        .map(|method| {
            let mut row = vec![method.method.clone()];
            for estimate in [&method.params, &method.tokens] {
                row.extend([format!("{:.3e}", estimate.value), ends(estimate.bounds())]);
            }
            row
        })
        .collect();
    let places = terminal::fitting(&header, 1, &[rows], &["95 % interval "]);
    let mut text = format!("{title}\n{places}\n\n{}\n", losses(optimum));
    if let Some(loss) = &optimum.loss {
        let within = loss.value.bounds().map_or(String::new(), |_| format!(" {}", interval(&loss.value)));
        let sentence = format!(
            "expect a loss of {:.4}{within}, by the {} ({})",
            loss.value.value,
            loss.method,
            loss.form.formula()
        );
        text.push_str(&terminal::paragraph("", &sentence));
        text.push('\n');
    }
    if !optimum.agreement.is_empty() {
        text.push_str(&format!("\n{}", agreement(&optimum.agreement)));
    }
    text.trim_end().to_owned()
}

/// The loss by every method and form.
fn losses(optimum: &OptimumAhead) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for method in &optimum.methods {
        let mut row = |form: &str, loss: &Estimate| {
            rows.push(vec![
                method.method.clone(),
                form.to_owned(),
                format!("{:.4}", loss.value),
                interval(loss),
            ]);
        };
        row(method.loss_form.formula(), &method.loss);
        if let Some(pure) = method.loss_without_floor.as_ref().filter(|pure| **pure != method.loss) {
            row(relscale_laws::LossForm::Power.formula(), pure);
        }
    }
    terminal::fitting(&["loss there", "by", "value", "95 % interval"], 2, &[rows], &[])
}
