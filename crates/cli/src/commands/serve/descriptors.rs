//! File descriptors: one for each connection, and more for files and for the connections to stores.

/// Descriptors that are kept for everything except connections, at most.
const RESERVE: u64 = 1024;

/// Raises the number of descriptors to what the system allows; how many connections may be open then.
pub(super) fn max_connections(wanted: usize) -> usize {
    let Some(descriptors) = raise() else { return wanted };
    let allowed = usize::try_from(for_connections(descriptors)).unwrap_or(usize::MAX);
    if allowed < wanted {
        tracing::warn!(
            target: "ncirrus::serve",
            "at most {allowed} connections are accepted: the process may have {descriptors} file descriptors"
        );
    }
    wanted.min(allowed)
}

fn for_connections(descriptors: u64) -> u64 {
    (descriptors - (descriptors / 4).min(RESERVE)).max(1)
}

/// The limit afterwards; `None` if there is none.
#[cfg(unix)]
fn raise() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // macOS rejects what the kernel cannot give: the limit stays then.
    if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current }
}

#[cfg(not(unix))]
fn raise() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::for_connections;

    #[test]
    fn some_descriptors_are_left_for_files() {
        for (descriptors, connections) in
            [(0, 1), (64, 48), (1024, 768), (20_000, 18_976), (1 << 20, 1_047_552)]
        {
            assert_eq!(for_connections(descriptors), connections);
        }
    }
}
