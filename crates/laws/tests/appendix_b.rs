//! Every row of the table in `record/2026-11-28-appendix-b.md` is what the code computes.

use relscale_laws::rank_distribution::appendix_b::{closed_form, endless_sum, sum};

const VOCABULARY: u32 = 50_257;

#[test]
fn the_table_in_the_documents_is_true() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../record/2026-11-28-appendix-b.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows: Vec<Vec<f64>> = page
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            line.trim_matches('|').split('|').map(|cell| cell.trim().parse().unwrap()).collect()
        })
        .collect();
    assert_eq!(rows.len(), 37, "9 mu by 4 sigma, and GPT-2");
    for row in rows {
        let (mu, sigma) = (row[0], row[1]);
        let (closed, cut) = (closed_form(mu, sigma).unwrap(), sum(mu, sigma, VOCABULARY).unwrap());
        let endless = endless_sum(mu, sigma).unwrap();
        let computed = [
            closed.minus_ln_p1,
            cut.minus_ln_p1,
            closed.minus_ln_p1 - cut.minus_ln_p1,
            closed.minus_ln_p1 - endless.minus_ln_p1,
            closed.entropy,
            cut.entropy,
            closed.entropy - cut.entropy,
            closed.entropy - endless.entropy,
        ];
        for (printed, computed) in row[2..].iter().zip(computed) {
            assert!(
                (printed - computed).abs() < 5.1e-5,
                "mu {mu}, sigma {sigma}: {printed} {computed}"
            );
        }
    }
}

/// The sums and closed forms for the paper's fit of GPT-2, as computed independently: to the four
/// digits published with it.
#[test]
fn gpt2_as_published() {
    let (mu, sigma) = (-65.192, 12.892);
    let (closed, cut) = (closed_form(mu, sigma).unwrap(), sum(mu, sigma, VOCABULARY).unwrap());
    for (found, expected) in [
        (closed.minus_ln_p1, 1.0851),
        (closed.entropy, 3.8671),
        (cut.minus_ln_p1, 1.1129),
        (cut.entropy, 3.6570),
    ] {
        assert!((found - expected).abs() < 5e-5, "{found} {expected}");
    }
}
