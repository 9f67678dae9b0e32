//! Figures and the page that explains a study.
//!
//! **Purpose.** [`Results`] hold every number of a study; this crate turns them into something that
//! a colleague can read in five minutes and check for an hour: one page that needs no network,
//! figures as files, and the numbers behind each figure as a table.
//!
//! **Actors.**
//!
//! | room | what |
//! |---|---|
//! | [`Results`] | what a folder holds: laws, relative laws, questions, stages, sweeps; any of them |
//! | [`expected`] | what a study is expected to give, beside what it gave |
//! | [`render`] | the entrance: results and study folder in, files out |
//! | `figures` | a figure a file: a table and what its rows look like; or why it is not there |
//! | `frame` | tables with named columns, and as CSV |
//! | `plot` | the wall around kuva: rows of a table as marks, lines and bands on axes; nothing else knows pixels |
//! | `page` | the page: what is said where, a template, a style sheet |
//! | `format` | numbers as people read them |
//! | `write` | files that appear whole |
//!
//! **Files on disk** (in the study folder):
//!
//! ```text
//! report.html               everything inline: style, figures, script
//! figures/NAME--FAMILY.svg  each figure as a file of its own
//! figures/NAME--FAMILY.png  the same in pixels
//! figures/NAME--FAMILY.csv  the numbers that it shows; FAMILY is the result's file where a figure is of no family
//! ```
//!
//! **Invariants.**
//! * Nothing is computed here that a result file does not hold, but for the ends of error bars.
//! * Every verdict, flag, left-out point and count of non-finite positions of the fit is on the
//!   page, in words.
//! * Names are data: no name of a model, family or corpus can become markup.
//! * The page opens no connection. The same laws and records give the same bytes: there is no clock
//!   in it.

#![forbid(unsafe_code)]

mod error;
pub mod expected;
mod figures;
mod format;
mod frame;
mod page;
mod plot;
mod results;
pub mod shown;
mod write;

use std::path::{Path, PathBuf};

use relscale_laws::{FitOptions, StudyFit};

pub use error::{ReportError, Result};
use figures::{Family, Figure};
pub use plot::{FigureStyle, UnknownStyle};
pub use results::{Named, Results};

/// The files of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFiles {
    /// The page.
    pub page: PathBuf,
    /// The figures as SVG, in the order of the page.
    pub figures: Vec<PathBuf>,
    /// The same as PNG.
    pub images: Vec<PathBuf>,
    /// The numbers of each figure, in the same order.
    pub numbers: Vec<PathBuf>,
}

/// How a report is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Size of the figures' files; on the page they have its own.
    pub style: FigureStyle,
}

/// Writes `report.html` and `figures/` into `folder`.
///
/// `folder` is the study folder, of which [`Results::read`] has the results: where it holds
/// records, the page tells their provenance and whether the laws were fitted to them; where it
/// holds none (laws of a table that somebody brought), the page says so.
///
/// # Errors
/// [`ReportError::Write`], [`ReportError::Place`] where a link lies, [`ReportError::Records`] when
/// there are records and they cannot be read.
pub fn render(results: &Results, folder: &Path, options: &Options) -> Result<ReportFiles> {
    let figures_folder = folder.join("figures");
    write::folder(&figures_folder)?;

    let records = page::Records::read(folder)?;
    let no_laws = no_laws();
    let study = results.laws.as_ref().unwrap_or(&no_laws);
    let mut files = ReportFiles {
        page: folder.join("report.html"),
        figures: Vec::new(),
        images: Vec::new(),
        numbers: Vec::new(),
    };
    let families = Family::all(study);
    let mut on_page = page::Questions::new(&families);
    for section in figures::sections(results) {
        for slot in &section.slots {
            let figure = match &slot.figure {
                Ok(figure) => figure,
                Err(left) => {
                    on_page.leave_out(slot.name, &section.heading, left);
                    continue;
                }
            };
            let stem = section.stem(slot.name);
            let drawing = figure.drawing();
            files.add(figure, &drawing, &figures_folder.join(&stem), options.style)?;
            let drawn = [
                plot::svg(&drawing, FigureStyle::Page),
                plot::untold(&plot::svg(&drawing, FigureStyle::Column)),
            ];
            on_page.add(slot.name, &section.heading, &stem, figure, drawn);
        }
    }
    // The page last: it names the figures.
    write::whole(&files.page, page::html(study, results, &records, &families, on_page)?)?;
    let written: Vec<&PathBuf> =
        files.figures.iter().chain(&files.images).chain(&files.numbers).collect();
    write::remove_stale(&figures_folder, &figures::names(), &written)?;
    Ok(files)
}

impl ReportFiles {
    /// Writes one figure three ways; `stem` is its path without an ending.
    fn add(
        &mut self,
        figure: &Figure<'_>,
        drawing: &plot::Drawing,
        stem: &Path,
        style: FigureStyle,
    ) -> Result<()> {
        // Names of families may have dots, so `with_extension` would cut them; and the folder need
        // not be UTF-8.
        let at = |ending: &str| {
            let mut path = stem.as_os_str().to_owned();
            path.push(format!(".{ending}"));
            PathBuf::from(path)
        };
        let image = at("png");
        write::whole(&at("svg"), plot::svg(drawing, style))?;
        let pixels = plot::png(drawing, style)
            .map_err(|reason| ReportError::Image { path: image.clone(), reason })?;
        write::whole(&image, pixels)?;
        write::whole(&at("csv"), figure.numbers.to_csv())?;
        self.figures.push(at("svg"));
        self.images.push(image);
        self.numbers.push(at("csv"));
        Ok(())
    }
}

/// What the page is given where there is no laws.json.
fn no_laws() -> StudyFit {
    StudyFit {
        format: relscale_laws::RESULT_FORMAT,
        tool: format!("relscale {}", env!("CARGO_PKG_VERSION")),
        options: FitOptions::default(),
        groups: Vec::new(),
        across_tokenizers: Vec::new(),
    }
}
