//! The checks of elements that are read or written, in the order of the reference ([`ncirrus::netcdf::slabs`]), between those of the file,
//! the variable, the types and the mode.
use crate::c_types::codes::{
    Code, NC_EEDGE, NC_EGLOBAL, NC_EHDFERR, NC_EINDEFINE, NC_EINVALCOORDS, NC_EMAPTYPE, NC_EPERM, NC_ESTRIDE,
    Outcome,
};
use crate::c_types::memory::In;
use crate::definitions::inquiry::first_unlimited;
use crate::files::{FileGroup, GLOBAL, size};
use crate::rules::slabs::{Slab, SlabAccess, SlabCall, check_mode, check_text, check_types};
use ncirrus::netcdf::slabs::{self, RequestedAxis, SlabRefusal};
use ncirrus::{AxisSelection, Selection, TypeRef, VarId};
use std::ffi::c_int;

/// A call as it is checked.
#[derive(Debug)]
struct SlabCheck<'a> {
    at: &'a FileGroup,
    call: &'a SlabCall,
    id: VarId,
    ty: TypeRef,
    growing: Vec<bool>,
    axes: Vec<RequestedAxis>,
}

/// The code of a refusal.
pub(crate) fn coded(refusal: SlabRefusal) -> Code {
    Code(match refusal {
        SlabRefusal::Start => NC_EINVALCOORDS,
        SlabRefusal::End => NC_EEDGE,
        SlabRefusal::Stride => NC_ESTRIDE,
        SlabRefusal::Beyond => NC_EHDFERR,
    })
}

/// Checks a call: the file, the variable, the types, the mode and the elements, in the order of the reference.
///
/// # Errors
/// As the reference, by the kind of file: `NC_EBADID`, `NC_ENOTVAR`, `NC_EGLOBAL`, `NC_EPERM`, `NC_EINDEFINE`, `NC_ECHAR`,
/// `NC_EBADTYPE`, `NC_EMAPTYPE`, `NC_EINVALCOORDS`, `NC_EEDGE`, `NC_ESTRIDE`.
pub(crate) fn access(at: FileGroup, varid: c_int, call: &SlabCall) -> Outcome<SlabAccess> {
    if call.has_null() {
        check_null_start(&at, varid, call)?;
    }
    if at.file.is_classic() && call.is_box() && call.slab.is_some() {
        if call.memory.is_none() && call.slab.is_some_and(|slab| slab.count.is_some()) {
            // Its own type is looked up before the mode.
            at.variable_id(varid)?;
        }
        check_mode(&at, call)?;
        if varid == GLOBAL {
            return Err(Code(NC_EGLOBAL));
        }
    }
    let (id, ty) = (at.variable_id(varid)?, at.variable(varid)?.ty);
    let check = SlabCheck::of(&at, (id, ty), call)?;
    let mut is_nothing = check.check_parts()?;
    if !is_nothing {
        check.check()?;
        is_nothing = at.file.is_classic() && check.has_none();
    }
    let (slab, growing) = (check.slab()?, check.growing);
    Ok(SlabAccess { at, id, ty, growing, slab, is_nothing })
}

/// Where anything is left to the library, the variable is looked up before all else; if it has dimensions, there is a start.
fn check_null_start(at: &FileGroup, varid: c_int, call: &SlabCall) -> Outcome<()> {
    at.variable_id(varid)?;
    let rank = at.variable(varid)?.rank();
    let has_start = call.slab.is_none_or(|slab| !slab.start.is_null());
    if rank == 0 || has_start { Ok(()) } else { Err(Code(NC_EINVALCOORDS)) }
}

impl<'a> SlabCheck<'a> {
    /// What a call asks of a variable.
    ///
    /// # Errors
    /// `NC_ENOMEM` for more elements than memory has.
    fn of(at: &'a FileGroup, (id, ty): (VarId, TypeRef), call: &'a SlabCall) -> Outcome<SlabCheck<'a>> {
        let (shape, growing) = (at.model().shape(id), at.model().growing(id));
        let rank = shape.len();
        let slab = call.slab.as_ref();
        let start = slab.map(|slab| slab.start).filter(|start| !start.is_null());
        let count = slab.and_then(|slab| slab.count).filter(|count| !count.is_null());
        let stride = slab.and_then(|slab| slab.stride).filter(|stride| !stride.is_null());
        let start = start.as_ref().map(|start| start.read(rank)).transpose()?;
        let count = count.as_ref().map(|count| count.read(rank)).transpose()?;
        let stride = stride.as_ref().map(|stride| stride.read(rank)).transpose()?;
        let is_one = slab.is_some_and(|slab| slab.count.is_none());
        let axis = |(axis, (len, grows)): (usize, (&u64, &bool))| RequestedAxis {
            len: *len,
            grows: *grows,
            start: start.and_then(|start| start.get(axis)).map_or(0, |start| *start as u64),
            count: match count.and_then(|count| count.get(axis)) {
                Some(count) => *count as u64,
                None if is_one => 1,
                None => *len,
            },
            stride: stride.and_then(|stride| stride.get(axis)).map_or(1, |stride| *stride),
        };
        let axes = shape.iter().zip(&growing).enumerate().map(axis).collect();
        Ok(SlabCheck { at, call, id, ty, growing, axes })
    }

    /// The elements.
    ///
    /// # Errors
    /// `NC_ENOMEM`.
    fn slab(&self) -> Outcome<Slab> {
        let slice = |axis: &RequestedAxis| AxisSelection::Slice {
            start: if axis.count == 0 { 0 } else { axis.start },
            count: axis.count,
            stride: axis.stride.unsigned_abs() as u64,
        };
        let counts = self.axes.iter().map(|axis| size(axis.count)).collect::<Outcome<_>>()?;
        let selection = match self.call.slab {
            Some(_) => Selection::new(self.axes.iter().map(slice).collect()),
            None => Selection::all(&self.axes.iter().map(|axis| axis.len).collect::<Vec<_>>()),
        };
        Ok(Slab { selection, counts })
    }

    /// The checks that calls which go in parts make first, whatever the mode of the file; whether they then have nothing to do.
    ///
    /// # Errors
    /// As of [`access`].
    fn check_parts(&self) -> Outcome<bool> {
        if self.call.map.is_some() {
            self.check_mapped()
        } else if self.call.has_strides() && self.at.file.is_classic() {
            self.check_strided()
        } else {
            Ok(false)
        }
    }

    fn check_mapped(&self) -> Outcome<bool> {
        if matches!(self.ty, TypeRef::User(_)) {
            return Err(Code(NC_EMAPTYPE));
        }
        check_text(self.ty, self.call)?;
        if self.axes.is_empty() {
            return Ok(false);
        }
        slabs::check_strides(&self.axes).map_err(coded)?;
        if self.is_one_box() {
            return Ok(false);
        }
        let has_records = self.call.writes && self.has_records()?;
        slabs::check_mapped(&self.axes, self.call.writes, has_records).map_err(coded)?;
        Ok(self.has_none())
    }

    fn check_strided(&self) -> Outcome<bool> {
        check_text(self.ty, self.call)?;
        slabs::check_strided(&self.axes, self.call.writes).map_err(coded)?;
        Ok(self.has_none() && !(self.call.writes && self.is_one_box()))
    }

    /// Whether the first dimension is the one that the file calls its unlimited one.
    fn has_records(&self) -> Outcome<bool> {
        let first = self.at.model().variable(self.id).and_then(|variable| variable.dims.first().copied());
        Ok(first.is_some() && first == first_unlimited(self.at)?)
    }

    /// Whether no element is asked for.
    fn has_none(&self) -> bool {
        slabs::has_none(&self.axes)
    }

    /// Whether the call is one for a box: it takes no steps, neither in the file nor in memory.
    fn is_one_box(&self) -> bool {
        self.axes.iter().all(|axis| axis.stride == 1) && self.call.map.is_none_or(In::is_null)
    }

    /// The checks of the file's format.
    ///
    /// # Errors
    /// As of [`access`].
    fn check(&self) -> Outcome<()> {
        let is_classic = self.at.file.is_classic();
        let is_in_parts = self.call.map.is_some() || self.call.has_strides() && is_classic;
        let last: Vec<RequestedAxis>;
        let axes = if is_in_parts && !self.is_one_box() {
            last = self.axes.iter().map(RequestedAxis::last_part).collect();
            &last
        } else {
            &self.axes
        };
        if is_classic { self.check_classic(axes) } else { self.check_netcdf4(axes) }
    }

    fn check_classic(&self, axes: &[RequestedAxis]) -> Outcome<()> {
        check_mode(self.at, self.call)?;
        check_text(self.ty, self.call)?;
        slabs::check_classic(axes, self.call.writes, self.at.file.writes).map_err(coded)?;
        let is_converted = !self.has_none() || slabs::is_converted_at_once(self.at.model(), &self.axes);
        if is_converted { check_types(self.ty, self.call) } else { Ok(()) }
    }

    fn check_netcdf4(&self, axes: &[RequestedAxis]) -> Outcome<()> {
        let (call, core) = (self.call, &self.at.file.core);
        check_text(self.ty, call)?;
        if core.format.is_strict() && core.look(|state| state.is_defining) {
            return Err(Code(NC_EINDEFINE));
        }
        core.enter_data_mode()?;
        slabs::check_netcdf4(axes, call.writes, self.has_none()).map_err(coded)?;
        if call.writes {
            core.note_use(self.id);
        }
        check_types(self.ty, call)?;
        if call.writes && !self.at.file.writes {
            // The reference passes on the error of HDF5.
            return Err(Code(if self.at.file.is_hdf5() { NC_EHDFERR } else { NC_EPERM }));
        }
        Ok(())
    }
}
