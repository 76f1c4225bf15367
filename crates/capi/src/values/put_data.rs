//! Writing values.
use crate::c_types::codes::{Code, NC_EHDFERR, NC_EINVAL, NC_EMAPTYPE, NC_ENOMEM, NC_ERANGE, Outcome};
use crate::c_types::memory::{Bytes, In};
use crate::c_types::modes::SHARE;
use crate::definitions::layouts;
use crate::files::{self, CallHandle};
use crate::programs::user_calls;
use crate::programs::user_formats::table_of;
use crate::rules::convert;
use crate::rules::slab_checks;
use crate::rules::slabs::{CSlab, SlabAccess, SlabCall, SlabMemory};
use crate::values::late_puts;
use ncirrus::netcdf::slabs::MappedPlaces;
use ncirrus::{Atomic, TypeRef, Values};
use std::ffi::c_int;

/// When a write ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PutEnd {
    /// Before the call returns.
    Now,
    /// Later, if it takes long.
    Behind,
}

impl PutEnd {
    /// A write whose place does not depend on the number of records may end later.
    fn of(slab: Option<&CSlab>) -> Self {
        let has_counts = slab.and_then(|slab| slab.count).is_some_and(|count| !count.is_null());
        if has_counts { Self::Behind } else { Self::Now }
    }
}

impl SlabAccess {
    /// Writes values that lie one after the other in the program's memory.
    fn write(&self, memory: Option<Atomic>, data: Bytes, when: PutEnd) -> Outcome<()> {
        let (members, slab) = (&self.at.members, &self.slab);
        let (count, base) = (slab.element_count()?, self.at.model().base_atomic(self.ty));
        let own = memory.filter(|memory| Some(*memory) != base).is_none();
        let of = if own { self.ty } else { memory.map_or(self.ty, TypeRef::Atomic) };
        let len = count.checked_mul(layouts::size_of_type(members, of)?.len).ok_or(Code(NC_ENOMEM))?;
        if len > 0 && own && data.is_null() && self.at.file.is_hdf5() {
            return Err(Code(NC_EHDFERR));
        }
        let bytes = data.read(len)?;
        if count == 0 {
            return Ok(());
        }
        let goes_behind = |len| when == PutEnd::Behind && self.can_go_behind(len);
        if own && self.is_packed() {
            return match goes_behind(bytes.len()) {
                true => self.put_behind(bytes),
                false => self.put(|variable| variable.write_bytes(&slab.selection, bytes)),
            };
        }
        let (values, ended) = self.converted(&layouts::values(members, of, bytes)?)?;
        match values.as_bytes().filter(|bytes| goes_behind(bytes.len())) {
            Some(bytes) => self.put_behind(bytes)?,
            None => self.put(|variable| variable.write_values(&slab.selection, &values))?,
        }
        ended
    }

    /// Whether elements in C's memory are as the dataset takes them.
    fn is_packed(&self) -> bool {
        match self.ty {
            TypeRef::Atomic(atomic) => atomic != Atomic::String,
            TypeRef::User(_) => self.at.model().base_atomic(self.ty).is_some(),
        }
    }

    /// The values as the variable's type; whether all fit it.
    fn converted(&self, values: &Values) -> Outcome<(Values, Outcome<()>)> {
        match (values.atomic(), self.at.model().base_atomic(self.ty)) {
            (Some(from), Some(to)) if from != to => convert::to_file(self.at.file.core.format, values, to),
            _ => Ok((values.clone(), Ok(()))),
        }
    }

    fn put(&self, write: impl FnOnce(&ncirrus::Variable) -> ncirrus::Result<()>) -> Outcome<()> {
        let core = &self.at.file.core;
        if core.look(|state| state.locked_len.is_some()) {
            core.state().make_room(self.id, &self.slab.selection)?;
        }
        write(&core.settled()?.variable_by_id(self.id)).map_err(|error| core.code_of(error))?;
        if self.growing.contains(&true) && self.extends() {
            core.refresh()?;
        }
        Ok(())
    }

    /// Whether elements are written that were not there when the call began.
    fn extends(&self) -> bool {
        let shape = self.at.model().shape(self.id);
        let extent = self.slab.selection.extent();
        extent.is_none_or(|extent| extent.iter().zip(&shape).any(|(end, len)| end > len))
    }
}

/// Writes while the dataset is not replaced; then makes it permanent, where the handle asks for that.
fn write_with(handle: &CallHandle, write: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
    let outcome = {
        let _in_use = handle.file.core.in_use();
        write()
    };
    handle.file.core.note_change();
    let is_written = matches!(outcome, Ok(()) | Err(Code(NC_ERANGE)));
    // In define mode a call without elements ends well, too.
    let is_defining = || handle.file.core.look(|state| state.is_defining);
    if is_written && handle.file.mode & SHARE != 0 && !is_defining() {
        handle.file.core.alone().publish()?;
    }
    outcome
}

/// Writes a slab, or the whole variable; from another type, if one is given.
pub(crate) fn put(
    ncid: c_int,
    varid: c_int,
    slab: Option<CSlab>,
    memory: Option<Atomic>,
    data: Bytes,
) -> Outcome<()> {
    if let Some(table) = table_of(ncid) {
        return user_calls::transfer(&table, (ncid, varid), slab, None, memory, SlabMemory::Written(data));
    }
    if let Some(slab) = &slab
        && late_puts::continued(ncid, varid, slab, memory, &data)
    {
        return Ok(());
    }
    let handle = files::handle_of(ncid)?;
    if let Some(slab) = &slab
        && late_puts::collected(&handle, varid, slab, memory, &data)?
    {
        return Ok(());
    }
    let call = SlabCall { slab, map: None, memory, writes: true };
    write_with(&handle, || {
        let when = PutEnd::of(slab.as_ref());
        let group = if when == PutEnd::Behind { handle.group_to_put()? } else { handle.group()? };
        let access = slab_checks::access(group, varid, &call)?;
        access.write(memory, data, when)?;
        late_puts::remember(&handle, varid, &access, memory);
        Ok(())
    })
}

/// Writes a slab from memory with a distance per axis, counted in elements.
pub(crate) fn put_mapped(
    ncid: c_int,
    varid: c_int,
    slab: CSlab,
    map: In<isize>,
    memory: Option<Atomic>,
    data: Bytes,
) -> Outcome<()> {
    if let Some(table) = table_of(ncid) {
        let (slab, map, memory_of_call) = (Some(slab), Some(map), SlabMemory::Written(data));
        return user_calls::transfer(&table, (ncid, varid), slab, map, memory, memory_of_call);
    }
    let call = SlabCall { slab: Some(slab), map: Some(map), memory, writes: true };
    let handle = files::handle_of(ncid)?;
    write_with(&handle, || {
        write_mapped(&slab_checks::access(handle.group()?, varid, &call)?, map, memory, data)
    })
}

fn write_mapped(target: &SlabAccess, map: In<isize>, memory: Option<Atomic>, data: Bytes) -> Outcome<()> {
    let slab = &target.slab;
    if map.is_null() || slab.counts.is_empty() {
        return target.write(memory, data, PutEnd::Now);
    }
    let base = target.at.model().base_atomic(target.ty).ok_or(Code(NC_EMAPTYPE))?;
    let memory = memory.unwrap_or(base);
    let distances = map.read(slab.counts.len())?;
    if data.is_null() && memory == base && target.at.file.is_hdf5() && slab.element_count()? > 0 {
        return Err(Code(NC_EHDFERR));
    }
    let element = layouts::size_of_type(&target.at.members, memory.into())?.len;
    let count = slab.element_count()?;
    let mut gathered = Vec::with_capacity(count.saturating_mul(element).min(1 << 24));
    let mut places = MappedPlaces::new(&slab.counts, distances, element);
    for _ in 0..count {
        gathered.extend_from_slice(data.at(places.step().ok_or(Code(NC_EINVAL))?).read(element)?);
    }
    target.write(Some(memory), Bytes::of(&gathered), PutEnd::Now)
}
