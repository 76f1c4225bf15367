//! `_FillValue` of another type than its variable, which Zarr cannot have for every reader.
use ncirrus::{CreateOptions, Kind, LeftOut, Values};
use ncirrus_model::{Atomic, Attribute, AttributeState, ExactNumber, Model, TypeRef};

/// Converts each `_FillValue` to the type of its variable, in copies that are Zarr. Values that the type does not have stay
/// as they are; those that other programs cannot read then, in Zarr v3, are returned: xarray refuses whole datasets with
/// such a fill value, so that only ncirrus reads it.
pub(super) fn fit(model: &mut Model, create: &CreateOptions) -> Vec<LeftOut> {
    let is_v3 = create.kind == Some(Kind::Zarr3);
    let mut hidden = Vec::new();
    if !create.kind.is_some_and(Kind::is_zarr) {
        return hidden;
    }
    for var in model.variables() {
        let (path, base) = (model.variable_path(var), model.variable(var).map(|variable| variable.ty));
        let numbers = base.and_then(|ty| model.base_atomic(ty));
        let (Some(ty), Some(variable)) = (base, model.variable_mut(var)) else { continue };
        let AttributeState::Known(list) = &mut variable.attributes else { continue };
        let Some(attribute) = list.find(FILL_VALUE).filter(|attribute| !is_of(attribute, ty)).cloned() else {
            continue;
        };
        let number = match ExactNumber::all(&attribute.values)[..] {
            [number] => Some(number),
            _ => None,
        };
        let converted =
            number.zip(numbers).and_then(|(number, atomic)| ExactNumber::all_as(&[number], atomic));
        // xarray writes it as a double for floats, too.
        let is_double = matches!(numbers, Some(Atomic::Float | Atomic::Double))
            && number.is_some_and(|number| number.exact_f64().is_some());
        match converted {
            Some(values) => list.put(Attribute { name: attribute.name, ty, values, is_json: false }),
            None if is_v3 && !is_double => {
                hidden.push(LeftOut { path: format!("{path}:{FILL_VALUE}"), reason: reason(&attribute) });
            }
            None => {}
        }
    }
    hidden
}

const FILL_VALUE: &str = "_FillValue";

fn is_of(attribute: &Attribute, ty: TypeRef) -> bool {
    attribute.ty == ty && attribute.values.len() == 1
}

fn reason(attribute: &Attribute) -> String {
    let values = match &attribute.values {
        Values::Char(_) | Values::String(_) => format!("{:?}", attribute.as_text().unwrap_or_default()),
        other => match (other.len(), other.number(0)) {
            (1, Some(number)) => number.to_string(),
            (len, _) => format!("a list of {len}"),
        },
    };
    format!("{values} is not one value of the variable's type: only ncirrus reads it in Zarr v3")
}
