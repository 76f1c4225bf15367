//! Converting a dataset to a variable (docs/spec/hdf5-netcdf4.md D.4, H.5).
use super::describe::DatasetFacts;
use crate::datatypes::{BitField, Datatype, DatatypeClass, FloatOrder, NativeType, native};
use crate::group::variable_name;
use crate::layout::{ElementLayout, StoredDataset};
use ncirrus_layout::{ByteOrder, Error};
use ncirrus_model::{
    Atomic, AttributeState, DimId, Endianness, Fault, Fill, Model, Storage, TypeRef, Values, Variable,
};

/// A variable of that type with those dimensions; its attributes are read later.
pub(super) fn variable(
    model: &Model,
    name: &str,
    dataset: &StoredDataset,
    facts: &DatasetFacts,
    (ty, dims): (Result<TypeRef, String>, Vec<DimId>),
) -> Variable {
    let (ty, fault) = match ty {
        Ok(ty) => (ty, None),
        Err(reason) => (Atomic::Byte.into(), Some(Fault::from(&Error::unsupported(reason)))),
    };
    let filters = match dataset.arrangement {
        ElementLayout::Chunked { .. } => dataset.filters.clone(),
        _ => Vec::new(),
    };
    Variable {
        attributes: AttributeState::Pending,
        fill: fill_of(model, ty, facts),
        endianness: endianness(&dataset.element),
        storage: storage(dataset),
        filters,
        fault,
        ..Variable::new(variable_name(name), ty, dims)
    }
}

/// A variable of which only the name is known.
pub(super) fn damaged(name: &str, error: &Error) -> Variable {
    let mut variable = Variable::new(variable_name(name), Atomic::Byte.into(), Vec::new());
    variable.fault = Some(Fault::from(error));
    variable
}

/// Its own value is the attribute, which is not read yet, if that is of the variable's type; without one in the dataset there
/// is none at all, as in `ncdump`.
fn fill_of(model: &Model, ty: TypeRef, facts: &DatasetFacts) -> Fill {
    let fits = |values: &&Values| match model.base_atomic(ty) {
        Some(atomic) => values.atomic() == Some(atomic),
        None => values.is_of(ty),
    };
    match (facts.own_fill.as_ref().filter(fits), &facts.fill.value) {
        (Some(own), _) => Fill::Apart(own.clone()),
        (None, Some(_)) => Fill::Attribute,
        (None, None) => Fill::None,
    }
}

fn endianness(element: &Datatype) -> Endianness {
    let order = match &element.class {
        _ if element.byte_len < 2 => return Endianness::Native,
        DatatypeClass::Integer(BitField { order, .. }) | DatatypeClass::BitField(BitField { order, .. }) => {
            *order
        }
        DatatypeClass::Float(format) => match format.order {
            FloatOrder::Little => ByteOrder::Little,
            FloatOrder::Big => ByteOrder::Big,
            FloatOrder::Vax => return Endianness::Native,
        },
        DatatypeClass::Enum { base, .. } => return endianness(base),
        _ => return Endianness::Native,
    };
    match order {
        ByteOrder::Little => Endianness::Little,
        ByteOrder::Big => Endianness::Big,
    }
}

fn storage(dataset: &StoredDataset) -> Storage {
    match &dataset.arrangement {
        ElementLayout::Compact(_) => Storage::Compact,
        ElementLayout::Contiguous { .. } | ElementLayout::External(_) => Storage::Contiguous,
        ElementLayout::Chunked { shape, .. } => {
            let within = dataset.shape.get(shape.len()..).unwrap_or_default();
            Storage::Chunked(shape.iter().chain(within).copied().collect())
        }
        ElementLayout::Virtual { .. } => Storage::Virtual,
    }
}

/// Whether netCDF-C lists variables of a datatype; it skips those with references, bit fields, times and arrays of
/// their own.
pub(super) fn is_listed(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::Array { .. } => false,
        _ => is_understood(datatype),
    }
}

fn is_understood(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::BitField(_) | DatatypeClass::Time | DatatypeClass::Reference(_) => false,
        DatatypeClass::Compound(members) => members.iter().all(|member| is_understood(&member.datatype)),
        DatatypeClass::Array { base, .. } | DatatypeClass::Vlen(base) => is_understood(base),
        _ => !matches!(native(datatype), NativeType::None(_)),
    }
}
