//! Results of earlier versions, as JSON, in today's layout: what was of one kind had several names
//! before one format held for all results (4). What a file did not hold yet has a value of its own
//! where it is read.

use serde_json::{Map, Value, json};

use super::{Flag, Quantity, series};

/// The first format with today's names.
pub(super) const TODAYS_NAMES: u32 = 4;

/// `laws.json` of formats 2 and 3.
pub(super) fn study(file: &mut Value) {
    for path in ["rank_laws/*", "cross_entropy_law", "emergence/by_k/*/lengths/*/law"] {
        each(file, &format!("groups/*/{path}"), &mut law_of_study);
    }
    each(file, "groups/*/emergence/by_k/*/lengths/*/half", &mut found);
    each(file, "groups/*/next_size/values/*/prediction/outcome", &mut found);
    each(file, "groups/*/rank_distribution/left_out/*", &mut place_of_model);
    each(file, "groups/*/rank_distribution/ratio_laws/*/left_out/*", &mut place_of_model);
}

/// Predictions of formats 1 and 2.
pub(super) fn predictions(file: &mut Value) {
    each(file, "groups/*/values/*/outcome", &mut found);
    each(file, "groups/*/sizes/*/outcome", &mut found);
}

/// Laws of a table, formats 1 and 2.
pub(super) fn table(file: &mut Value) {
    each(file, "groups/*/laws/*", &mut |law| {
        rename(law, "column", "name");
        let (kind, symbol) = (take(law, "kind"), take(law, "symbol"));
        law["quantity"] = json!({ "name": "column", "kind": kind, "symbol": symbol });
        each(law, "outcome", &mut |law| law["claimed"] = true.into());
    });
}

/// `relative.json` of formats 1 and 2.
pub(super) fn relative(file: &mut Value) {
    let unit = file["unit"].clone();
    each(file, "families/*/absolute/*", &mut |law| absolute(law, &unit));
    each(file, "families/*/gaps/*", &mut gap);
    each(file, "families/*/covariate/left_out/*", &mut |left| rename(left, "model", "label"));
}

/// `choices.json` of format 1.
pub(super) fn choices(file: &mut Value) {
    each(file, "groups/*/left_out/*", &mut |left| rename(left, "item", "label"));
}

/// `isoflop.json` of format 2.
pub(super) fn isoflop(file: &mut Value) {
    each(file, "groups/*/left_out/*", &mut |left| rename(left, "run", "label"));
    each(file, "groups/*/budgets/*/minima/*/outcome", &mut found);
}

/// A result whose members are as they were.
pub(super) fn unchanged(_: &mut Value) {}

fn law_of_study(law: &mut Value) {
    let quantity: Option<Quantity> = serde_json::from_value(law["quantity"].clone()).ok();
    law["name"] = quantity.map_or(String::new(), |quantity| quantity.symbol()).into();
    for points in ["points/*", "left_out/*", "rivals/forms/*/held_out/*/predictions/*"] {
        each(law, points, &mut place_of_model);
    }
    each(law, "outcome", &mut |law| {
        rename(law, "exponent_sampling_interval", "exponent_sampling");
        rename(law, "centre_parameters", "centre");
        rename(law, "parameter_range", "range");
        held_out(law);
    });
}

/// What a power law says of points that it has not seen.
fn held_out(law: &mut Value) {
    rename(law, "models", "points");
    each(law, "leave_one_out/*", &mut place_of_model);
    each(law, "audit/*/predictions/*", &mut place_of_model);
    each(law, "audit/*", &mut |step| rename(step, "fitted_models", "fitted_points"));
}

fn absolute(law: &mut Value, unit: &Value) {
    rename(law, "distribution", "name");
    each(law, "left_out/*", &mut place_of_model);
    each(law, "points/*", &mut |point| {
        rename(point, "model", "label");
        rename(point, "error", "value");
    });
    let (exponent, prefactor) = (take(law, "exponent"), take(law, "prefactor"));
    let (r_squared, refused) = (take(law, "r_squared"), take(law, "refused"));
    let mut outcome = json!({ "status": "refused", "reason": refused });
    if !exponent.is_null() {
        outcome = json!({
            "status": "fitted", "exponent": exponent, "prefactor": prefactor, "r_squared": r_squared,
            "residual_standard_deviation": null, "claimed": true,
        });
        centred(&mut outcome, &law["points"], unit);
    }
    law["outcome"] = outcome;
    law["quantity"] = json!({ "name": "error" });
    law["unit"] = unit.clone();
    law["flags"] = json!([]);
}

fn gap(gap: &mut Value) {
    rename(gap, "treatment", "name");
    rename(gap, "unpaired", "left_out");
    each(gap, "left_out/*", &mut place_of_model);
    each(gap, "points/*", &mut |point| {
        rename(point, "model", "label");
        rename(point, "gap", "value");
    });
    gap["quantity"] = json!({ "name": "gap" });
    gap["unit"] = "1".into();
    let flags: Vec<Flag> = serde_json::from_value(gap["flags"].clone()).unwrap_or_default();
    let points = gap["points"].clone();
    each(gap, "outcome", &mut |law| {
        if law["status"] != "fitted" {
            return;
        }
        rename(law, "gamma", "prefactor");
        let mut exponent = law["delta_beta"].clone();
        turn(&mut exponent, "value");
        let ends = (exponent["interval"]["low"].as_f64(), exponent["interval"]["high"].as_f64());
        if let (Some(low), Some(high)) = ends {
            exponent["interval"]["low"] = (0.0 - high).into();
            exponent["interval"]["high"] = (0.0 - low).into();
        }
        law["exponent"] = exponent;
        law["claimed"] = series::claimed(&flags).into();
        each(law, "audit/*", &mut |step| {
            rename(step, "delta_beta", "exponent");
            turn(step, "exponent");
        });
        held_out(law);
        centred(law, &points, &"1".into());
    });
}

/// Number, range and centre of the points, where they are not told, and the line there; its
/// interval was not kept.
fn centred(law: &mut Value, points: &Value, unit: &Value) {
    let of = |name: &str| -> Vec<f64> {
        points.as_array().into_iter().flatten().filter_map(|point| point[name].as_f64()).collect()
    };
    let mean = |all: &[f64]| (all.iter().map(|one| one.ln()).sum::<f64>() / all.len() as f64).exp();
    let (x, values) = (of("x"), of("value"));
    // A law by itself was without them, a gap has them.
    if law["range"].is_null() {
        law["points"] = x.len().into();
        law["range"] = json!([x.first(), x.last()]);
    }
    law["centre"] = mean(&x).into();
    law["at_centre"] = json!({
        "value": mean(&values), "unit": unit, "standard_error": null,
        "interval": { "method": "none", "reason": "not kept by the version that wrote the file" },
    });
}

/// A model by its size, as points of every kind are named now.
fn place_of_model(point: &mut Value) {
    rename(point, "model", "label");
    rename(point, "parameters", "x");
}

/// What was found is told as what was fitted.
fn found(outcome: &mut Value) {
    if outcome["status"] == "found" {
        outcome["status"] = "fitted".into();
    }
}

/// A slope as the exponent of which it is minus the value, or the other way round.
fn turn(object: &mut Value, member: &str) {
    if let Some(value) = object[member].as_f64() {
        object[member] = (0.0 - value).into();
    }
}

/// Does something to every value at a path of members, `*` for each entry of a list; what is not
/// there is passed over.
fn each(value: &mut Value, path: &str, change: &mut dyn FnMut(&mut Value)) {
    let Some((step, rest)) = path.split_once('/').or(Some((path, ""))).filter(|_| !path.is_empty())
    else {
        return change(value);
    };
    match value {
        Value::Array(entries) if step == "*" => {
            entries.iter_mut().for_each(|entry| each(entry, rest, change))
        }
        Value::Object(members) => {
            if let Some(member) = members.get_mut(step).filter(|member| !member.is_null()) {
                each(member, rest, change);
            }
        }
        _ => {}
    }
}

fn rename(value: &mut Value, from: &str, to: &str) {
    if let Some(members) = value.as_object_mut().filter(|members| members.contains_key(from)) {
        let moved = remove(members, from);
        members.insert(to.to_owned(), moved);
    }
}

fn take(value: &mut Value, member: &str) -> Value {
    value.as_object_mut().map_or(Value::Null, |members| remove(members, member))
}

fn remove(members: &mut Map<String, Value>, name: &str) -> Value {
    members.shift_remove(name).unwrap_or(Value::Null)
}
