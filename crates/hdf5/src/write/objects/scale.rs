//! Connections between dimensions and variables (docs/spec/hdf5-netcdf4.md H.2, H.3, H.4).
use super::attribute::{row, text_type};
use super::{FileObject, ObjectDescriber, dimension_of, known, scale_of};
use crate::datatypes::{CompoundMember, Dataspace, Datatype, DatatypeClass, ReferenceKind};
use crate::write::out::ByteSink;
use crate::write::types::datatype_of;
use bytes::Bytes;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, DimId, Endianness, Model, TypeRef, VarId};
use std::collections::HashMap;

/// Prefix of `NAME` if a scale is not a variable.
const NO_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable.";
/// Elements of the longest dimension: a scale that is not a variable has four bytes for each, which have no place but are counted.
const MAX_ELEMENTS: u64 = u64::MAX / 4;
/// Size of an object reference in a heap, where HDF5 stores it as in memory, whatever the width of addresses.
const HEAP_REFERENCE: u64 = 8;

/// Ids for all dimensions, in the order of definition, which runs through all groups.
pub(crate) fn dimension_ids(model: &Model) -> HashMap<DimId, i32> {
    let groups = model.walk().into_iter().filter_map(|id| model.group(id));
    let mut dims: Vec<DimId> = groups.flat_map(|group| group.dims.iter().copied()).collect();
    dims.sort_unstable();
    dims.into_iter().zip(0..).collect()
}

/// The datatype of a scale that is not a variable; it never has data.
pub(super) fn placeholder(model: &Model) -> Result<Datatype> {
    datatype_of(model, Atomic::Float.into(), Endianness::Big)
}

impl ObjectDescriber<'_> {
    /// The hidden netCDF attributes of a variable.
    pub(crate) fn hidden_attributes(&mut self, id: VarId) -> Result<Vec<Bytes>> {
        let dims = known(self.model, id)?.dims.clone();
        if dims.is_empty() {
            return Ok(Vec::new());
        }
        let ids = self.integers("_Netcdf4Coordinates", &dims, &row(dims.len() as u64))?;
        let mut attributes = match dimension_of(self.model, id) {
            Some(dim) => self.scale_attributes(dim, Some(id))?,
            None => vec![self.dimension_list(&dims)?],
        };
        attributes.push(ids);
        Ok(attributes)
    }

    /// The attributes that make a dataset the scale of a dimension: of that variable, or a separate one.
    pub(crate) fn scale_attributes(&mut self, dim: DimId, var: Option<VarId>) -> Result<Vec<Bytes>> {
        let dimension = self.model.dimension(dim).ok_or_else(|| Error::not_found("no such dimension"))?;
        let len = dimension.len.current();
        if var.is_none() && len > MAX_ELEMENTS {
            let name = &dimension.name;
            let message = format!("dimension {name} of {len} elements: HDF5 has at most {MAX_ELEMENTS}");
            return Err(Error::unsupported(message));
        }
        let mut name = match var {
            Some(_) => dimension.name.clone(),
            None => format!("{NO_VARIABLE}{len:10}"),
        };
        name.push('\0');
        let class = b"DIMENSION_SCALE\0";
        let mut attributes = vec![
            self.raw("CLASS", &text_type(class.len()), &Dataspace::Scalar, class)?,
            self.raw("NAME", &text_type(name.len()), &Dataspace::Scalar, name.as_bytes())?,
            self.integers("_Netcdf4Dimid", &[dim], &Dataspace::Scalar)?,
        ];
        attributes.extend(self.reference_list(dim)?);
        Ok(attributes)
    }

    fn integers(&mut self, name: &str, dims: &[DimId], space: &Dataspace) -> Result<Bytes> {
        let datatype = datatype_of(self.model, TypeRef::Atomic(Atomic::Int), Endianness::Little)?;
        let ids = dims.iter().map(|dim| self.ids.get(dim).copied().unwrap_or(-1));
        let data: Vec<u8> = ids.flat_map(i32::to_le_bytes).collect();
        self.raw(name, &datatype, space, &data)
    }

    /// The scales of all axes. An axis without one has no references: a null reference in their place is an error to
    /// HDF5's dimension scales, and netCDF-C does not open the file.
    fn dimension_list(&mut self, dims: &[DimId]) -> Result<Bytes> {
        let byte_len = 8 + u64::from(self.sizes.offsets);
        let mut data = ByteSink::new();
        for dim in dims {
            match self.stored_addr(scale_of(self.model, *dim)) {
                Some(scale) => {
                    let (collection, index) = self.heap.add(&scale.0.to_le_bytes(), self.space)?;
                    data.u32(1).addr(Some(collection), self.sizes).u32(index);
                }
                None => _ = data.zeros(8 + usize::from(self.sizes.offsets)),
            }
        }
        let base = Box::new(reference(HEAP_REFERENCE));
        let datatype = Datatype { byte_len, class: DatatypeClass::Vlen(base), committed: None };
        self.raw("DIMENSION_LIST", &datatype, &row(dims.len() as u64), &data.finish())
    }

    /// The users of a dimension, with their axes; none if it is unused. Those in other files cannot be referred to.
    fn reference_list(&mut self, dim: DimId) -> Result<Option<Bytes>> {
        let (mut data, mut count) = (ByteSink::new(), 0);
        for var in self.model.users_of(dim).filter(|var| dimension_of(self.model, *var).is_none()) {
            let Some(addr) = self.stored_addr(FileObject::Variable(var)) else { continue };
            let dims = &known(self.model, var)?.dims;
            for (axis, _) in
                dims.iter().zip(0u32..).filter(|(used, _)| **used == dim).map(|(used, axis)| (axis, used))
            {
                data.addr(Some(addr), self.sizes).u32(axis).zeros(4);
                count += 1;
            }
        }
        if count == 0 {
            return Ok(None);
        }
        let number = datatype_of(self.model, TypeRef::Atomic(Atomic::UInt), Endianness::Little)?;
        let member =
            |name: &str, offset, datatype| CompoundMember { name: name.to_owned(), offset, datatype };
        let width = u64::from(self.sizes.offsets);
        let members = [member("dataset", 0, reference(width)), member("dimension", width, number)];
        let class = DatatypeClass::Compound(members.into());
        let datatype = Datatype { byte_len: width + 8, class, committed: None };
        self.raw("REFERENCE_LIST", &datatype, &row(count as u64), &data.finish()).map(Some)
    }
}

fn reference(byte_len: u64) -> Datatype {
    Datatype { byte_len, class: DatatypeClass::Reference(ReferenceKind::Object), committed: None }
}

#[cfg(test)]
mod tests;
