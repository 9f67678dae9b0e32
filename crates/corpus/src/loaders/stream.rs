//! Streams of documents.

use crate::document::Document;
use crate::error::Result;

/// A stream of documents. After an error it ends.
pub type Documents = Box<dyn Iterator<Item = Result<Document>> + Send>;

/// Ends a stream after its first error, so that no loader has to.
pub(super) fn until_error(
    documents: impl Iterator<Item = Result<Document>> + Send + 'static,
) -> Documents {
    let mut failed = false;
    Box::new(documents.take_while(move |item| {
        let go_on = !failed;
        failed |= item.is_err();
        go_on
    }))
}

/// The documents of one source after another, each read when it is its turn.
pub(super) fn in_turn<T: Send + 'static, D: IntoIterator<Item = Document> + 'static>(
    sources: impl Iterator<Item = T> + Send + 'static,
    read: impl Fn(T) -> Result<D> + Send + 'static,
) -> Documents
where
    D::IntoIter: Send,
{
    until_error(sources.flat_map(move |source| match read(source) {
        Ok(documents) => Box::new(documents.into_iter().map(Ok)) as Documents,
        Err(error) => Box::new(std::iter::once(Err(error))),
    }))
}
