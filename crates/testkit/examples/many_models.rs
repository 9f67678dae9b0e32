//! Writes a study of many made-up models on two texts, to see how long a fit takes.
//!
//! ```text
//! cargo run --release -p relscale-testkit --example many_models -- FOLDER [MODELS [DOCUMENTS [rows]]]
//! relscale fit FOLDER
//! ```
//!
//! Without `rows` the parts are removed as soon as their sums are kept.

use std::path::Path;

use relscale_records::Study;
use relscale_testkit::{MadeUpFamily, made_up_study};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("which folder?")?;
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse());
    let (models, documents): (u32, u32) = (number(200)?, number(300)?);
    let rows = arguments.next().is_some_and(|what| what == "rows");
    // Three decades of sizes.
    let size = |model| 1e4 * 1e3_f64.powf(f64::from(model) / f64::from(models.max(2) - 1));
    let sizes: Vec<u64> = (0..models).map(|model| size(model).round() as u64).collect();
    for (corpus, alpha) in [("prose", 0.12), ("code", 0.09)] {
        let family = MadeUpFamily {
            corpus: corpus.into(),
            sizes: sizes.clone(),
            alpha,
            beta: 0.1,
            documents,
            ..MadeUpFamily::default()
        };
        made_up_study(Path::new(&folder), &family);
    }
    let study = Study::create_or_open(Path::new(&folder))?;
    for run in study.current()? {
        study.keep_tally(&run)?;
        for part in 0..if rows { 0 } else { run.record().plan.parts } {
            std::fs::remove_file(run.part_path(part))?;
        }
    }
    Ok(())
}
