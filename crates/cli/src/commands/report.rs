//! `relscale report`: the page of a study, its figures, and on request a PDF.

mod pdf;

use std::path::PathBuf;

use relscale_report::{FigureStyle, Options, ReportFiles, Results};
use serde::Serialize;

use super::json::{self, Json};
use crate::spare::{Input, spare};
use crate::terminal;

pub(super) use pdf::url;

/// Write the page of a study: report.html and its figures.
///
/// Shows what STUDY holds: laws.json of `relscale fit`, relative.json of `relative`, choices.json,
/// isoflop.json of a sweep, stages.json, size-tokens.json, and further ones such as
/// relative-mmlu.json. The page needs no network and can be sent as it is. Each figure is a file of
/// its own under STUDY/figures: SVG, PNG, and its numbers as CSV.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  relscale report study
  relscale report study --style column
  relscale report study --pdf")]
pub(crate) struct Arguments {
    /// The study folder
    study: PathBuf,

    /// What the figures' files are for: a column of a paper (3.35 inches) or both (7 inches), a
    /// page (900 pixels), a talk (large text); those on the page stay as they are
    #[arg(long, value_name = "column|two-column|page|talk", default_value = "page", value_parser = style)]
    style: FigureStyle,

    /// Print the page to STUDY/report.pdf too, by a browser or converter on the PATH: chromium,
    /// google-chrome, msedge, weasyprint, wkhtmltopdf
    #[arg(long)]
    pdf: bool,

    /// Write what was made as JSON to a file, or to standard output (-) and nothing else there
    #[arg(long, value_name = "FILE")]
    json: Option<Json>,
}

fn style(text: &str) -> Result<FigureStyle, String> {
    text.parse().map_err(|error: relscale_report::UnknownStyle| error.to_string())
}

/// The page of a study.
pub(super) const PAGE: &str = "report.html";

/// What was made, for machines.
#[derive(Serialize)]
struct Made {
    page: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pdf: Option<String>,
    style: &'static str,
    figures: Vec<Figure>,
}

#[derive(Serialize)]
struct Figure {
    svg: String,
    png: String,
    csv: String,
}

/// Carries the command out.
///
/// # Errors
/// There are no results yet, one is of another study, the page cannot be written, or no PDF can be
/// made of it.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    spare(&[Json::file(arguments.json.as_ref())], &Input::results(&arguments.study))?;
    let results = Results::read(&arguments.study)?;
    let mut options = Options::default();
    options.style = arguments.style;
    let report = relscale_report::render(&results, &arguments.study, &options)?;
    let pdf = match arguments.pdf {
        true => Some(pdf::convert(&report.page)?),
        false => None,
    };
    let made = Made {
        page: json::text(&report.page),
        pdf: pdf.as_deref().map(json::text),
        style: arguments.style.name(),
        figures: figures(&report),
    };
    json::hand_over(&made, arguments.json.as_ref(), || {
        let number = terminal::several(report.figures.len() as u64, "figure");
        terminal::message(&format!(
            "{number}, as SVG, PNG and numbers, and the page with all of them:"
        ));
        terminal::print(&report.page.display().to_string())?;
        pdf.iter().try_for_each(|pdf| terminal::print(&pdf.display().to_string()))
    })?;
    terminal::next(&format!("view {}", terminal::quoted(&arguments.study)));
    Ok(())
}

fn figures(report: &ReportFiles) -> Vec<Figure> {
    let files = report.figures.iter().zip(&report.images).zip(&report.numbers);
    files
        .map(|((svg, png), csv)| Figure {
            svg: json::text(svg),
            png: json::text(png),
            csv: json::text(csv),
        })
        .collect()
}
