//! What the CF conventions ask of attributes and coordinates.
use super::is_of_data;
use super::report::{FindingCode, Findings, Severity};
use crate::copy::in_scope;
use ncirrus::cf::{Calendar, TimeUnits, Unit, UnitErrorKind};
use ncirrus::{Attributes, Dataset, GroupId, Model, Result, Selection, VarId, Variable};
use ncirrus_model::ExactNumber;
use ncirrus_units::cf;

/// Attributes that list names of variables.
const LISTS: [&str; 3] = ["coordinates", "ancillary_variables", "bounds"];
/// Elements of a coordinate that are read; longer ones are not checked for order.
const MAX_ELEMENTS: u64 = 1 << 24;
/// Units that CF takes from before UDUNITS.
const OLD_UNITS: [&str; 3] = ["level", "layer", "sigma_level"];

/// Checks all variables of a dataset; with `quick` no values are read.
pub(super) fn check(dataset: &Dataset, model: &Model, quick: bool, findings: &mut Findings) -> Result<()> {
    for variable in dataset.variables() {
        let attributes = match variable.attributes() {
            Ok(attributes) => attributes,
            Err(error) if is_of_data(&error) => continue,
            Err(error) => return Err(error),
        };
        check_units(&variable, &attributes, findings);
        check_names(model, &variable, &attributes, findings);
        check_range(&variable, &attributes, findings);
        if !quick && variable.fault().is_none() && is_coordinate(model, &variable) {
            check_coordinate(&variable, findings)?;
        }
    }
    Ok(())
}

fn text(attributes: &Attributes, name: &str) -> Option<String> {
    attributes.find(name).and_then(ncirrus::Attribute::as_text)
}

fn note(findings: &mut Findings, code: FindingCode, variable: &Variable, name: &str, message: String) {
    let place = if name.is_empty() { variable.path() } else { format!("{}:{name}", variable.path()) };
    findings.note(code, Severity::Warning, place, message);
}

fn check_units(variable: &Variable, attributes: &Attributes, findings: &mut Findings) {
    let calendar = text(attributes, "calendar");
    if let Some(name) = &calendar
        && let Err(error) = Calendar::parse(Some(name))
    {
        let message = format!("{} is not known", error.message());
        note(findings, FindingCode::CfCalendar, variable, "calendar", message);
    }
    let Some(units) = text(attributes, "units") else { return };
    if units.is_empty() || OLD_UNITS.contains(&units.as_str()) {
        return;
    }
    let known = match TimeUnits::parse(&units, None) {
        Ok(Some(_)) => TimeUnits::parse(&units, calendar.as_deref()).map(|_| ()),
        Ok(None) => Unit::parse(&units).map(|_| ()),
        Err(error) => Err(error),
    };
    match known {
        Err(error) if error.kind() != UnitErrorKind::Unsupported => {
            let code = match TimeUnits::parse(&units, None) {
                Ok(Some(_)) => FindingCode::CfCalendar,
                _ => FindingCode::CfUnits,
            };
            note(findings, code, variable, "units", error.message().to_owned());
        }
        _ => {}
    }
}

fn check_names(model: &Model, variable: &Variable, attributes: &Attributes, findings: &mut Findings) {
    let Some(group) = model.variable_group(variable.id()) else { return };
    let mut missing = |attribute: &str, name: &str| {
        if find(model, group, name).is_none() {
            let message = format!("there is no variable {name:?}");
            note(findings, FindingCode::CfReference, variable, attribute, message);
        }
    };
    for attribute in LISTS {
        let list = text(attributes, attribute).unwrap_or_default();
        list.split_whitespace().for_each(|name| missing(attribute, name));
    }
    // Either one name, or `mapping: coordinate coordinate mapping: ...`.
    let mapping = text(attributes, "grid_mapping").unwrap_or_default();
    mapping.split_whitespace().for_each(|name| missing("grid_mapping", name.trim_end_matches(':')));
}

/// A variable by the name that an attribute of a member of `group` uses: a path, or a name in the group or above it.
fn find(model: &Model, group: GroupId, name: &str) -> Option<VarId> {
    if name.contains('/') && !name.starts_with('/') {
        return model.variable_at(&format!("{}/{name}", model.group_path(group).trim_end_matches('/')));
    }
    in_scope(model, group, name)
}

fn check_range(variable: &Variable, attributes: &Attributes, findings: &mut Findings) {
    let number =
        |name: &str, at| attributes.find(name).and_then(|attribute| ExactNumber::of(&attribute.values, at));
    let (min, max, name) = match (number("valid_range", 0), number("valid_range", 1)) {
        (Some(min), Some(max)) => (Some(min), Some(max), "valid_range"),
        _ => (number("valid_min", 0), number("valid_max", 0), "valid_min"),
    };
    let (Some((lowest, highest)), true) =
        (stored_range(variable, attributes), min.is_some() || max.is_some())
    else {
        return;
    };
    let (min, max) = (min.unwrap_or(lowest), max.unwrap_or(highest));
    let (min, max) = (if min < lowest { lowest } else { min }, if max > highest { highest } else { max });
    // A range may be NaN, which holds nothing either.
    if min.partial_cmp(&max).is_none_or(std::cmp::Ordering::is_gt) {
        let message = "no value of the stored type is in the range".to_owned();
        note(findings, FindingCode::CfEmptyRange, variable, name, message);
    }
}

/// The numbers that the stored type has.
fn stored_range(variable: &Variable, attributes: &Attributes) -> Option<(ExactNumber, ExactNumber)> {
    let model = variable.dataset().model().ok()?;
    let stored = model.base_atomic(variable.ty()?)?;
    let stored = if cf::is_unsigned(attributes) { cf::unsigned(stored) } else { stored };
    match stored.integer_range() {
        Some((lowest, highest)) => Some((ExactNumber::Integer(lowest), ExactNumber::Integer(highest))),
        None => stored
            .is_numeric()
            .then_some((ExactNumber::Real(f64::NEG_INFINITY), ExactNumber::Real(f64::INFINITY))),
    }
}

/// Whether it is the coordinate variable of its only dimension.
fn is_coordinate(model: &Model, variable: &Variable) -> bool {
    let dims = model.variable(variable.id()).map(|known| known.dims.clone()).unwrap_or_default();
    match dims.as_slice() {
        [dim] => model.coordinate_of(*dim) == Some(variable.id()),
        _ => false,
    }
}

fn check_coordinate(variable: &Variable, findings: &mut Findings) -> Result<()> {
    let selection = Selection::all(&variable.shape());
    if selection.element_count().is_none_or(|count| count > MAX_ELEMENTS) {
        let message = format!("the order of more than {MAX_ELEMENTS} coordinates is not checked");
        note(findings, FindingCode::LimitReached, variable, "", message);
        return Ok(());
    }
    let decoded = match variable.read_decoded(&selection) {
        Ok(decoded) => decoded,
        // Damage is found when the values are read; text has no order.
        Err(error) if is_of_data(&error) || error.kind() == ncirrus::ErrorKind::Invalid => return Ok(()),
        Err(error) => return Err(error),
    };
    let numbers = ExactNumber::all(&decoded.values);
    if numbers.len() != decoded.values.len() {
        return Ok(());
    }
    let is_missing =
        |at: usize, number: ExactNumber| decoded.missing.get(at) == Some(&true) || number.is_nan();
    let mut known = Vec::with_capacity(numbers.len());
    let mut missing = None;
    for (at, number) in numbers.into_iter().enumerate() {
        if is_missing(at, number) { _ = missing.get_or_insert(at) } else { known.push(number) }
    }
    if let Some(at) = missing {
        let message = format!("element {at} is missing");
        note(findings, FindingCode::CfMissingCoordinate, variable, "", message);
    }
    let rises = known.first() <= known.last();
    let wrong = known.windows(2).position(|pair| if rises { pair[0] >= pair[1] } else { pair[0] <= pair[1] });
    if let Some(at) = wrong {
        let message = format!("element {} does not continue the order of those before it", at + 1);
        note(findings, FindingCode::CfNotMonotonic, variable, "", message);
    }
    Ok(())
}
