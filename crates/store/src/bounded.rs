//! How many bytes the answers to reads may have.

tokio::task_local! {
    static MOST: u64;
}

/// Runs reads of stores: over a network, an answer of more bytes is refused (`Limit`) before it is fetched.
pub async fn at_most<T>(bytes: u64, work: impl Future<Output = T>) -> T {
    MOST.scope(bytes, work).await
}

/// Bytes that answers may have in the running task, where somebody said so.
pub fn most_bytes() -> Option<u64> {
    MOST.try_with(|most| *most).ok()
}
