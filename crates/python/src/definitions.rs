//! Variables, as Python describes them.
use crate::attributes;
use crate::codecs;
use crate::errors::{exception, invalid};
use crate::model::OpenDataset;
use crate::options::Keywords;
use crate::types::{describe, dtype, named_type};
use crate::values;
use ncirrus::convert::Quantize;
use ncirrus::{
    Attribute, CodecSpec, Endianness, Error, Fill, GroupId, Member, Model, Shards, Storage, TypeRef, VarId,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

/// What is said of a new variable besides name, type and dimensions.
struct Traits {
    storage: Storage,
    shards: Option<Shards>,
    filters: Vec<CodecSpec>,
    fill: Option<Fill>,
    endianness: Endianness,
    attributes: Vec<Attribute>,
    quantize: Option<Quantize>,
}

/// Adds a variable to a group, whole or not at all.
pub(crate) fn create_variable(
    py: Python<'_>,
    open: &OpenDataset,
    group: GroupId,
    (name, ty, dims): (&str, &Bound<'_, PyAny>, &[String]),
    how: &Bound<'_, PyDict>,
) -> PyResult<VarId> {
    let model = open.model(py)?;
    let ty = named_type(&model, group, ty)?;
    let traits = traits(py, &model, ty, how)?;
    open.edit(py, move |model| {
        let find = |name: &String| {
            let found = model.visible_dimension(group, name);
            found.ok_or_else(|| Error::no_member(Member::Dimension, format_args!("{name:?}")))
        };
        let ids = dims.iter().map(find).collect::<ncirrus::Result<Vec<_>>>()?;
        let id = model.add_variable(group, name, ty, &ids)?;
        traits.apply(model, id).map_err(|error| error.at_path(model.variable_path(id)))?;
        Ok(id)
    })
}

fn traits(py: Python<'_>, model: &Model, ty: TypeRef, how: &Bound<'_, PyDict>) -> PyResult<Traits> {
    let words = Keywords::new(how, "create_variable")?;
    let storage = match words.object("chunks")? {
        None => Storage::Default,
        Some(chunks) if chunks.cast::<PyBool>().is_ok_and(|chunked| !chunked.is_true()) => {
            Storage::Contiguous
        }
        Some(chunks) => Storage::Chunked(chunks.extract()?),
    };
    let shards = match words.object("shards")? {
        None => None,
        Some(shards) => {
            let index_first = words.take("index_first")?.unwrap_or(false);
            Some(Shards { shape: shards.extract()?, index_first })
        }
    };
    let filters = match words.object("filters")? {
        None => Vec::new(),
        Some(filters) => {
            filters.try_iter()?.map(|filter| codecs::of_python(&filter?)).collect::<PyResult<Vec<_>>>()?
        }
    };
    let fill = match words.object("fill")? {
        None => None,
        Some(word) if word.cast::<PyString>().is_ok() => Some(Fill::None),
        Some(value) => Some(Fill::Apart(values::from_array(model, ty, &value)?)),
    };
    let orders = [("native", Endianness::Native), ("little", Endianness::Little), ("big", Endianness::Big)];
    let endianness = words.word("endian", &orders)?.unwrap_or_default();
    let attributes = match words.object("attrs")? {
        None => Vec::new(),
        Some(attrs) => attributes::of_dict(model, attrs.cast::<PyDict>()?)?,
    };
    let quantize = match words.object("quantize")? {
        None => None,
        Some(quantize) => Some(quantize_of(&quantize)?),
    };
    if let Some(quantize) = quantize {
        quantize.check(ty).map_err(|error| exception(py, &error))?;
    }
    words.done()?;
    Ok(Traits { storage, shards, filters, fill, endianness, attributes, quantize })
}

impl Traits {
    fn apply(self, model: &mut Model, id: VarId) -> ncirrus::Result<()> {
        if let Some(Fill::Apart(fill)) = &self.fill {
            model.set_fill(id, fill.clone())?;
        }
        let Some(variable) = model.variable_mut(id) else { return Ok(()) };
        if let Some(Fill::None) = self.fill {
            variable.fill = Fill::None;
        }
        variable.storage = self.storage;
        variable.shards = self.shards;
        variable.filters = self.filters;
        variable.endianness = self.endianness;
        let quantized = self.quantize.map(Quantize::attribute);
        for attribute in self.attributes.into_iter().chain(quantized) {
            variable.attributes.known_mut().set(attribute)?;
        }
        Ok(())
    }
}

/// `{"granular": 3}` and the like.
fn quantize_of(given: &Bound<'_, PyAny>) -> PyResult<Quantize> {
    let (mode, kept): (String, u32) = given.extract()?;
    match mode.as_str() {
        "bitgroom" => Ok(Quantize::BitGroom(kept)),
        "granular" => Ok(Quantize::GranularBitRound(kept)),
        "bitround" => Ok(Quantize::BitRound(kept)),
        _ => Err(invalid(given.py(), format!("quantize={mode:?} is none of bitgroom, granular, bitround"))),
    }
}

/// A fill value as an array of one element; nothing for the default, and the word `none` where there is none.
pub(crate) fn fill<'py>(py: Python<'py>, model: &Model, id: VarId) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(variable) = model.variable(id) else { return Ok(None) };
    match variable.own_fill() {
        None if !variable.is_filled() => Ok(Some(PyString::new(py, "none").into_any())),
        None => Ok(None),
        Some(fill) => {
            let dtype = dtype(py, &describe(py, model, variable.ty)?)?;
            values::to_array(py, fill.clone(), &dtype).map(Some)
        }
    }
}
