//! Whether a dataset is stored as a profile requires.
use super::report::{CheckReport, FindingCode, Findings, Severity};
use super::unreadable;
use crate::Profile;
use crate::profile::{Conformity, ProfileFaultKind, examine_remote};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, OpenOptions, Result, Session};
use ncirrus_store::{Scheme, Url};

/// Checks the storage of a dataset by its metadata.
///
/// # Errors
/// As [`check`](super::check); `Unsupported` if it is not a netCDF-4 file.
pub(super) fn check(
    url: &str,
    profile: &Profile,
    open: &OpenOptions,
    session: &Session,
) -> Result<CheckReport> {
    let examined = if matches!(Url::parse(url)?.scheme(), Scheme::File | Scheme::Memory) {
        Dataset::open_with(url, open, session)
            .and_then(|dataset| Conformity::examine(dataset.reader()?, profile))
    } else {
        examine_remote(url, profile, open, session)
    };
    let found = match examined {
        Ok(found) => found,
        Err(error) => return unreadable(error),
    };
    let mut findings = Findings::default();
    for fault in found.faults {
        findings.note(code(fault.kind), Severity::Warning, fault.path, fault.message);
    }
    Ok(CheckReport {
        format: found.format,
        variables: found.variables,
        chunks: found.chunks,
        omitted: findings.omitted,
        findings: findings.list,
        ..CheckReport::default()
    })
}

fn code(kind: ProfileFaultKind) -> FindingCode {
    match kind {
        ProfileFaultKind::ScatteredMetadata => FindingCode::ProfileMetadata,
        ProfileFaultKind::NotOneChunk => FindingCode::ProfileNotOneChunk,
        ProfileFaultKind::SmallChunks => FindingCode::ProfileSmallChunks,
        ProfileFaultKind::LargeChunks => FindingCode::ProfileLargeChunks,
        ProfileFaultKind::OtherChunks => FindingCode::ProfileOtherChunks,
        ProfileFaultKind::OtherFilters => FindingCode::ProfileOtherFilters,
    }
}
