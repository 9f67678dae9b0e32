//! Sentences about training, with their numbers.

use relscale_records::digits;

use crate::result::{Estimate, Quantity, TrainingLaw};
use crate::verdict::magnitude;

fn slope(estimate: &Estimate) -> String {
    let spelled = digits::estimate(estimate.value, estimate.bounds());
    match spelled.ends {
        Some([low, high]) => format!("{} [{low}, {high}]", spelled.value),
        None => format!("{} (no interval)", spelled.value),
    }
}

/// What a mistake of |ln(predicted / found)| is in per cent.
fn per_cent(log: f64) -> String {
    format!("{:.1} %", 100.0 * (log.exp() - 1.0))
}

/// What training does to one quantity.
pub(super) fn law(law: &TrainingLaw) -> String {
    let mut said = Vec::new();
    if let (Some(size), Some(tokens)) = (&law.split.along_size.slope, &law.split.along_tokens.slope)
    {
        said.push(format!(
            "ln {} moves by {} with ln S at fixed tokens and by {} with ln D at fixed size",
            law.quantity.symbol(),
            slope(size),
            slope(tokens)
        ));
    } else if let Some(plane) = law.split.plane.fit() {
        said.push(format!(
            "ln {} moves by {} with ln S and by {} with ln D (a plane, as no tokens are shared)",
            law.quantity.symbol(),
            slope(&plane.size),
            slope(&plane.tokens)
        ));
    } else {
        said.push(format!(
            "{}: three sizes after as many tokens, or three checkpoints of a size, are needed",
            law.quantity.symbol()
        ));
    }
    if let Some(half) = law.early.iter().rev().find(|cut| cut.part <= 0.5001) {
        let ways = [("its own line", half.own_line), ("the surface", half.surface)];
        let ways: Vec<String> = ways
            .into_iter()
            .filter_map(|(way, error)| Some(format!("{way} misses by {}", per_cent(error?))))
            .collect();
        said.push(format!(
            "after {:.0} % of the tokens the end of a run is told thus: {}as it is it misses by {}",
            100.0 * half.part,
            ways.iter().map(|way| format!("{way}, ")).collect::<String>(),
            per_cent(half.unchanged)
        ));
    }
    if let Some(seeds) = &law.seeds {
        let text = seeds
            .text
            .map_or(String::new(), |text| format!(", the text's noise is {}", per_cent(text)));
        said.push(format!(
            "seeds scatter by {} ({} runs of {} sizes after {} tokens){text}",
            per_cent(seeds.deviation),
            seeds.runs,
            seeds.sizes,
            magnitude(seeds.tokens)
        ));
    }
    format!("{}.", said.join("; "))
}

/// What training does to the exponents of a group.
pub(super) fn group(laws: &[TrainingLaw]) -> String {
    let told = laws.iter().filter_map(|law| {
        let Quantity::Rank { k } = law.quantity else { return None };
        let slices = &law.split.along_size.slices;
        let (first, last) = (slices.first()?, slices.last()?);
        (first.fixed < last.fixed && [1, 10, 100].contains(&k)).then(|| {
            format!(
                "k = {k}: {} after {} tokens, {} after {}",
                digits::number(0.0 - first.slope),
                magnitude(first.fixed),
                digits::number(0.0 - last.slope),
                magnitude(last.fixed)
            )
        })
    });
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => "The exponent along size is not seen at two numbers of tokens.".to_owned(),
        false => format!("The exponent of -ln RBP_k along size, by {}.", told.join("; ")),
    }
}
