//! The value of `--means-by`: a map from members to the groups they are averaged into.

use std::path::Path;

use relscale_corpus::loaders::mmlu::{Domains, test_questions};
use relscale_laws::relative::{Means, Weighting};

/// `lm-eval`, `hendrycks`, or `FILE[:COLUMN]`.
pub(super) fn means(text: &str) -> Result<Means, String> {
    let domains = Domains::named(text);
    let found = match &domains {
        Domains::Harness | Domains::Hendrycks => {
            let questions = test_questions();
            let domain_of = domains.table().map_err(|error| error.to_string())?;
            let members = domain_of.into_iter().filter_map(|(subject, domain)| {
                let weight = questions.get(subject.as_str()).copied()?;
                Some((subject, domain, f64::from(weight)))
            });
            Means::new(&format!("domains of {text}"), "mmlu_", members, Weighting::Shares)
                .map(|means| means.of_groups("domain"))
        }
        Domains::File(_) => match text.rsplit_once(':') {
            // What follows the colon of a drive's letter is a path.
            Some((file, weight)) if !weight.contains(['/', '\\']) => {
                Means::read(Path::new(file), Some(weight))
            }
            _ => Means::read(Path::new(text), None),
        },
    };
    found.map_err(|error| error.to_string())
}
