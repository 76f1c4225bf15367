//! New datasets that are written whole or not at all.
use ncirrus::{Dataset, Result};

/// Fills a new dataset and closes it. After a failure it is aborted: on an object store nothing of it remains, either.
///
/// # Errors
/// Those of `fill` and of [`Dataset::close`].
pub(crate) fn completed<T>(dataset: Dataset, fill: impl FnOnce(&Dataset) -> Result<T>) -> Result<T> {
    let filled = fill(&dataset).and_then(|filled| dataset.clone().close().map(|()| filled));
    if filled.is_err() {
        // The first failure says why; what an abort cannot remove is left to "ncirrus clean".
        _ = dataset.abort();
    }
    filled
}
