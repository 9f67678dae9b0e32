//! What can go wrong with a report.

use std::io;
use std::path::PathBuf;

/// Result with this crate's [`ReportError`].
pub type Result<T, E = ReportError> = std::result::Result<T, E>;

/// Everything that this crate fails at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The file system said no.
    #[error(
        "{}: cannot write the report: {source}; what was measured and fitted is intact{}",
        path.display(),
        relscale_records::error::hint(source)
    )]
    Write {
        /// File or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Something lies where the report is to be written, a link for instance.
    #[error(transparent)]
    Place(Box<relscale_records::Error>),
    /// The study's records, from which the provenance comes, cannot be read.
    #[error("the study's provenance cannot be read: {0}")]
    Records(#[from] relscale_records::Error),
    /// A result of the folder is not what it should be.
    #[error(transparent)]
    Result(#[from] relscale_laws::LawsError),
    /// A result is of another study.
    #[error(
        "{} is about the model {model}, which this study has not measured: it is of another study, or older than this one; run `{command}` again, \
         or move the file elsewhere",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The model that is not there.
        model: String,
        /// The command that makes such a file.
        command: &'static str,
    },
    /// A result's file cannot be read as JSON.
    #[error("{}: cannot be read: {reason}; run the command that wrote it again", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The folder holds no result.
    #[error(
        "{} holds nothing to report: no laws.json (`relscale fit STUDY` makes it), relative.json (`relscale relative`), choices.json \
         (`relscale choices`), isoflop.json (`relscale sweep fit`), stages.json (`relscale stages --json`) or size-tokens.json \
         (`relscale size-tokens`)",
        folder.display()
    )]
    Nothing {
        /// The folder.
        folder: PathBuf,
    },
    /// A figure cannot be turned into pixels: a fault of this program.
    #[error("{}: the figure cannot be drawn as PNG: {reason}; its SVG and its numbers stand beside it; please report this with the CSV", path.display())]
    Image {
        /// The image.
        path: PathBuf,
        /// What the rasteriser says.
        reason: String,
    },
    /// The page's template does not fit its data: a fault of this program.
    #[error(
        "the page cannot be made from its template: {source}; please report this with the study's laws.json"
    )]
    Template {
        /// Line and reason.
        source: minijinja::Error,
    },
}
