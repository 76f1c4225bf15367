//! The parts of aggregated variables.
use super::report::{CheckFinding, FindingCode, Findings, Severity};
use ncirrus::{ErrorKind, FragmentCheck, Result, Selection, Variable};
use std::ops::ControlFlow;

/// Opens all parts of a variable and reports those that are absent or do not fit.
pub(super) fn check(variable: &Variable, findings: &mut Findings) -> Result<()> {
    let path = variable.path();
    // HDF5 defines that the elements of a virtual dataset whose source is absent are fill values.
    let is_virtual = variable.dataset().kind().is_hdf5();
    let mut show = |checks: Vec<FragmentCheck>| {
        for FragmentCheck { fragment, fault } in checks {
            let Some(fault) = fault else { continue };
            let is_absent = fault.kind() == ErrorKind::NotFound;
            let severity = if is_absent && is_virtual { Severity::Warning } else { Severity::Error };
            let code = if is_absent && is_virtual {
                FindingCode::ReferenceBroken
            } else {
                FindingCode::FragmentFaulty
            };
            let object = fragment.places.first().or(fragment.names.first()).cloned();
            findings.add(CheckFinding {
                object,
                chunk: Some(fragment.index),
                ..CheckFinding::new(code, severity, path.as_str(), fault.to_string())
            });
        }
        Ok(ControlFlow::Continue(()))
    };
    variable.each_fragment(&Selection::all(&variable.shape()), true, &mut show)
}
