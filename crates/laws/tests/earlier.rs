//! Files of earlier versions, cut from what those versions wrote, are read: nothing that they say
//! is lost.

use std::path::{Path, PathBuf};

use relscale_laws::{
    ChoicesFit, IsoflopFit, LawsError, Predictions, Quantity, RESULT_FORMAT, RelativeFit, Saved,
    SizeTokensFit, StagesFit, StudyFit, TableFit,
};
use serde_json::Value;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/earlier/{name}.json"))
}

/// Every number and text of a value, the signs of numbers aside: a gap's audit told its slope, and
/// tells its exponent now. Members of the old layout that can be computed from others are passed
/// over.
fn said(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !["log_value", "format", "status"].contains(&name.as_str()))
            .for_each(|(_, member)| said(member, all)),
        Value::Array(entries) => entries.iter().for_each(|entry| said(entry, all)),
        Value::Number(number) => all.push(format!("{:?}", number.as_f64().unwrap().abs())),
        Value::String(text) => all.push(text.clone()),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Reads the file of a kind: it says all that it said, in today's layout.
#[track_caller]
fn renewed<T: Saved + PartialEq + std::fmt::Debug>(name: &str) -> T {
    let old: Value = serde_json::from_str(&std::fs::read_to_string(file(name)).unwrap()).unwrap();
    assert!(old["format"].as_u64().unwrap() < u64::from(RESULT_FORMAT));
    let found = T::load(&file(name)).unwrap();
    let new = serde_json::to_value(&found).unwrap();
    assert_eq!(new["format"], RESULT_FORMAT);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    said(&old, &mut before);
    said(&new, &mut after);
    after.sort();
    let lost: Vec<&String> =
        before.iter().filter(|one| after.binary_search(one).is_err()).collect();
    assert!(lost.is_empty(), "{name}: {lost:?}");
    // Once saved it is a file of today.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.json");
    found.save(&path).unwrap();
    assert_eq!(T::load(&path).unwrap(), found);
    found
}

#[test]
fn laws() {
    let study: StudyFit = renewed("laws");
    let group = &study.groups[0];
    let law = group.rank_law(1).unwrap();
    assert_eq!((law.name.as_str(), law.unit.as_str()), ("-ln RBP_1", "nats"));
    let (point, fit) = (&law.points[0], law.fit().unwrap());
    assert!((fit.at(point.x) / point.fitted.unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(fit.range.0, point.x);
    assert_eq!((law.left_out[0].label.as_str(), law.left_out[0].x), ("m0", Some(1000.0)));
    let sampling = fit.exponent_sampling.as_ref().unwrap();
    assert!(sampling.standard_error.is_some() && sampling.bounds().is_some());
    assert_eq!(fit.audit[0].fitted_points, 3);
    assert!(group.emergence.as_ref().unwrap().by_k[0].lengths[0].half.fit().is_some());
    assert!(
        group.next_size.as_ref().unwrap().values.iter().all(|next| next
            .prediction
            .outcome
            .fit()
            .is_some())
    );
}

/// Format 4 had today's names, and the noise of a text in full.
#[test]
fn laws_of_4() {
    let study: StudyFit = renewed("laws-4");
    let law = study.groups[0].rank_law(1).unwrap();
    let text = law.text.as_ref().unwrap();
    assert_eq!(text.covariance.len(), law.points.len() * law.points.len());
    assert!(text.along.is_empty() && text.elsewhere.is_none());
}

/// A gap told its exponent by then, whose sign stays.
#[test]
fn gaps_of_4() {
    let found: RelativeFit = renewed("relative-4");
    let law = found.families[0].gaps[0].fit().unwrap();
    assert_eq!(law.power.exponent.value, -law.delta_beta.value);
    assert!(found.families[0].absolute[0].fit().is_some());
}

#[test]
fn predictions() {
    let found: Predictions = renewed("predictions");
    let group = &found.groups[0];
    assert!(group.values[0].outcome.fit().is_some() && group.sizes[0].outcome.fit().is_some());
}

#[test]
fn a_table() {
    let found: TableFit = renewed("table");
    let law = &found.groups[0].laws[0];
    assert_eq!(law.name, "loss_ice");
    assert!(matches!(&law.quantity, Quantity::Column { symbol, .. } if symbol == "loss_ice"));
    assert!(law.fit().unwrap().claimed && law.points[0].place.is_some());
}

#[test]
fn gaps() {
    let found: RelativeFit = renewed("relative");
    let family = &found.families[0];
    let law = &family.absolute[0];
    let (fit, x) = (law.fit().unwrap(), law.points[0].x);
    assert!(fit.exponent.value > 0.0 && fit.range.0 == x && fit.claimed);
    let gap = &family.gaps[0];
    let (law, power) = (gap.fit().unwrap(), &gap.fit().unwrap().power);
    assert_eq!(gap.name, "crates-docs");
    assert_eq!(power.exponent.value, -law.delta_beta.value);
    let (low, high) = law.delta_beta.bounds().unwrap();
    assert_eq!(power.exponent.bounds(), Some((-high, -low)));
    // A fit to the smallest three tells the same sign.
    assert_eq!(power.audit[0].fitted_points, 3);
}

#[test]
fn choices() {
    let found: ChoicesFit = renewed("choices");
    assert_eq!(found.groups[0].left_out[0].label, "q7");
}

#[test]
fn two_stages() {
    let found: StagesFit = renewed("stages");
    assert!(found.groups[0].curves.loss.fit().is_some());
}

#[test]
fn size_against_tokens() {
    let found: SizeTokensFit = renewed("size-tokens");
    assert!(found.distributions[0].absolute.plane.fit().is_some());
}

#[test]
fn a_sweep() {
    let found: IsoflopFit = renewed("isoflop");
    let minima = found.groups[0].budgets.iter().flat_map(|budget| &budget.minima);
    assert!(
        minima.filter_map(|minimum| minimum.found()).count() > 0
            && !found.groups[0].paths.is_empty()
    );
}

/// What is older than any layout that is read, or newer than this program, is refused by its
/// number.
#[test]
fn other_layouts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("laws.json");
    for format in [1, RESULT_FORMAT + 1] {
        std::fs::write(&path, format!("{{\"format\": {format}}}")).unwrap();
        assert!(
            matches!(StudyFit::load(&path), Err(LawsError::Format { found, .. }) if found == format)
        );
    }
}
