//! What definitions say, and whether they agree with each other.
use super::report::{FindingCode, Findings, Severity};
use crate::type_name;
use ncirrus::{
    AttributeState, Dataset, DimId, DimensionLen, FaultKind, LeftOut, Model, NodeId, Result, TypeRef, Values,
    Variable,
};
use std::collections::HashMap;

/// Members that cannot be read, and fill values.
pub(super) fn check(dataset: &Dataset, model: &Model, findings: &mut Findings) -> Result<()> {
    for (node, left_out) in dataset.left_out_members()? {
        let is_unsupported = fault_kind(model, node, &left_out) == Some(FaultKind::Unsupported);
        let (code, severity) = if is_unsupported {
            (FindingCode::MemberUnsupported, Severity::Warning)
        } else {
            (FindingCode::MemberDamaged, Severity::Error)
        };
        findings.note(code, severity, left_out.path, left_out.reason);
    }
    for var in model.variables() {
        let Some(variable) = model.variable(var).filter(|variable| variable.fault.is_none()) else {
            continue;
        };
        let fill = variable.attributes.known().and_then(|attributes| attributes.find("_FillValue"));
        let Some(fill) = fill else { continue };
        let path = format!("{}:_FillValue", model.variable_path(var));
        if !is_of(model, &fill.values, fill.ty, variable.ty) {
            let [own, wanted] = [fill.ty, variable.ty].map(|ty| type_name(model, ty));
            let message = format!("the fill value is of type {own}, the variable of {wanted}");
            findings.note(FindingCode::FillType, Severity::Warning, path, message);
        } else if fill.values.len() != 1 {
            let message = format!("there are {} fill values", fill.values.len());
            findings.note(FindingCode::FillType, Severity::Warning, path, message);
        }
    }
    Ok(())
}

fn is_of(model: &Model, values: &Values, fill: TypeRef, ty: TypeRef) -> bool {
    fill == ty || (values.atomic().is_some() && values.atomic() == model.base_atomic(ty))
}

/// Whether what is left out is damaged or not supported.
fn fault_kind(model: &Model, node: NodeId, left_out: &LeftOut) -> Option<FaultKind> {
    let own = match node {
        NodeId::Group(group) => model.group(group).and_then(|group| group.fault.as_ref()),
        NodeId::Variable(var) => model.variable(var).and_then(|variable| variable.fault.as_ref()),
    };
    let name = left_out.path.rsplit_once(':').map(|(_, name)| name);
    match (model.attributes(node), name) {
        (Some(AttributeState::Known(attributes)), Some(name)) => {
            let fault = attributes.faults.iter().find(|(faulty, _)| faulty == name);
            fault.map(|(_, fault)| fault.kind).or(own.map(|fault| fault.kind))
        }
        _ => own.map(|fault| fault.kind),
    }
}

/// Unlimited dimensions that are longer than any variable, and stored shapes that are larger than the variables'.
pub(super) fn check_unlimited(
    dataset: &Dataset,
    model: &Model,
    variables: &[Variable],
    findings: &mut Findings,
) -> Result<()> {
    let mut longest: HashMap<DimId, u64> = HashMap::new();
    for variable in variables.iter().filter(|variable| !variable.is_aggregated()) {
        let (Some(known), Ok(source)) = (model.variable(variable.id()), dataset.source(variable)) else {
            continue;
        };
        for ((dim, stored), len) in known.dims.iter().zip(&source.extent).zip(variable.shape()) {
            let max = longest.entry(*dim).or_default();
            *max = (*max).max(*stored);
            let name = model.dimension_path(*dim);
            if *stored > len {
                let message = format!("{stored} elements are stored along {name}, whose length is {len}");
                findings.note(FindingCode::ShapeContradicted, Severity::Warning, variable.path(), message);
            }
        }
    }
    for (dim, max) in longest {
        let len = model.dimension(dim).map(|dimension| dimension.len);
        if let Some(DimensionLen::Unlimited(len)) = len.filter(|len| len.current() > max) {
            let message =
                format!("the length is {len}, and no variable has more than {max} elements along it");
            findings.note(
                FindingCode::UnlimitedUnused,
                Severity::Warning,
                model.dimension_path(dim),
                message,
            );
        }
    }
    Ok(())
}
