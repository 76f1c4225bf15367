//! A variable: what is known of it before values are read; coordinates of its dimensions.
use super::coordinates::{Role, coordinate, plane, positive, role, text};
use super::failure::{Failure, json_response};
use super::parameters::Call;
use super::values::check_cost;
use super::visible;
use super::work::work;
use axum::response::Response;
use ncirrus::{Atomic, AxisSelection, Dataset, Error, Selection, Variable};
use serde_json::{Value, json};

/// Coordinates of an axis at most: longer ones are read with a stride.
const COORDINATES: u64 = 1 << 16;

/// The variable with its dimensions, their coordinate variables, and which two of them make a picture.
pub(super) async fn variable(call: Call) -> Response {
    work(call, |call| {
        let served = call.dataset()?;
        let variable = call.variable(served.dataset())?;
        Ok(json_response(&described(call, served.dataset(), &variable)?))
    })
    .await
}

fn described(call: &Call, dataset: &Dataset, variable: &Variable) -> Result<Value, Failure> {
    let model = dataset.model()?;
    let attributes = variable.attributes()?;
    let definition =
        model.variable(variable.id()).ok_or_else(|| Error::not_found("the variable was removed"))?;
    let group = model.variable_group(variable.id()).unwrap_or_else(|| model.root());
    let shape = variable.shape();
    let (mut roles, mut dimensions) = (Vec::new(), Vec::new());
    for (dim, length) in definition.dims.iter().zip(&shape) {
        let found = coordinate(dataset, &model, group, *dim).filter(is_number);
        let known = found.as_ref().map(role).transpose()?.flatten();
        let about = found.as_ref().map(Variable::attributes).transpose()?.unwrap_or_default();
        let is_vertical = known == Some(Role::Vertical);
        dimensions.push(json!({
            "name": model.dimension(*dim).map(|dimension| dimension.name.clone()), "length": length,
            "coordinate": found.as_ref().map(Variable::path), "role": known.map(Role::name),
            "units": text(&about, "units"), "label": text(&about, "long_name").or_else(|| text(&about, "standard_name")),
            "positive": is_vertical.then(|| positive(&about)),
        }));
        roles.push(known);
    }
    let plane = plane(&shape, &roles);
    let shown: serde_json::Map<String, Value> = visible::info(call, dataset)?
        .groups
        .into_iter()
        .filter(|shown| shown.path == model.group_path(group))
        .flat_map(|shown| shown.variables)
        .find(|shown| shown.name == definition.name)
        .map(|shown| shown.attributes.into_iter().map(|(name, value)| (name, value.into())).collect())
        .unwrap_or_default();
    let reason = |fault: ncirrus::Fault| {
        if call.options.is_local { fault.to_string() } else { visible::UNREADABLE.to_owned() }
    };
    Ok(json!({
        "path": variable.path(), "name": variable.name(), "type": ncirrus_tools::type_name(&model, definition.ty),
        "shape": shape, "dimensions": dimensions, "x": plane.map(|plane| plane.0), "y": plane.map(|plane| plane.1),
        "is_number": is_number(variable),
        "is_time": variable.decoding().is_ok_and(|decoding| decoding.time().is_some()),
        "title": text(&attributes, "long_name").or_else(|| text(&attributes, "standard_name")),
        "units": text(&attributes, "units"), "attributes": shown,
        "fault": variable.fault().map(reason),
    }))
}

/// Whether the values are numbers, also after decoding by the attributes.
fn is_number(variable: &Variable) -> bool {
    let ty = variable.ty().and_then(|ty| variable.dataset().model().ok()?.base_atomic(ty));
    ty.is_some_and(|ty| !matches!(ty, Atomic::Char | Atomic::String))
}

/// The values of a coordinate variable, with a stride if there are many; dates, if they are times.
pub(super) async fn axis(call: Call) -> Response {
    work(call, |call| {
        let served = call.dataset()?;
        let variable = call.variable(served.dataset())?;
        let (selection, stride) = whole_axis(&variable)?;
        check_cost(call, served.dataset(), &variable, &selection)?;
        let (values, labels) = coordinates(&variable, &selection)?;
        let values: Vec<Value> = values
            .into_iter()
            .map(|value| if value.is_finite() { json!(value) } else { Value::Null })
            .collect();
        Ok(json_response(&json!({"stride": stride, "values": values, "labels": labels})))
    })
    .await
}

fn whole_axis(variable: &Variable) -> Result<(Selection, u64), Failure> {
    match variable.shape().as_slice() {
        [] => Ok((Selection::new(Vec::new()), 1)),
        [length] => {
            let stride = length.div_ceil(COORDINATES).max(1);
            let slice = AxisSelection::Slice { start: 0, count: length.div_ceil(stride), stride };
            Ok((Selection::new(vec![slice]), stride))
        }
        shape => Err(Failure::invalid(format!(
            "{}: an axis has 1 dimension, not {}",
            variable.path(),
            shape.len()
        ))),
    }
}

/// Coordinates as numbers, and as dates if they are times.
pub(super) fn coordinates(
    variable: &Variable,
    selection: &Selection,
) -> Result<(Vec<f64>, Option<Vec<String>>), Failure> {
    let decoding = variable.decoding()?;
    let decoded = variable.read_decoded(selection)?;
    let dates = decoding.time().map(|_| {
        let dates = decoding.dates(&decoded).into_iter();
        dates.map(|date| date.map_or_else(|| "missing".to_owned(), |date| date.to_string())).collect()
    });
    Ok((decoded.numbers(), dates))
}
