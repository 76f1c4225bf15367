//! Records: one call for the elements that all variables have at one place of the unlimited dimension.
use crate::c_types::codes::{Code, NC_ENOMEM, Outcome};
use crate::c_types::memory::{AddressOut, AddressesIn, BytesOut, In, Out};
use crate::definitions::layouts;
use crate::files::{FileGroup, group_of, number, size};
use crate::rules::slabs::CSlab;
use crate::{values::data, values::put_data};
use std::ffi::c_int;

/// The part of a variable that belongs to one record.
#[derive(Debug)]
pub(crate) struct RecordPart {
    pub(crate) varid: c_int,
    /// Bytes in memory.
    pub(crate) len: usize,
    /// Elements along each axis.
    counts: Vec<usize>,
}

/// The variables of a group that have records: whose first dimension is the unlimited one.
///
/// # Errors
/// `NC_EBADID`.
pub(crate) fn of(ncid: c_int) -> Outcome<Vec<RecordPart>> {
    let at = group_of(ncid)?;
    let is_unlimited =
        |id: &ncirrus::DimId| at.model().dimension(*id).is_some_and(|dim| dim.len.is_unlimited());
    let Some(dim) = at.group()?.dims.iter().copied().find(is_unlimited) else { return Ok(Vec::new()) };
    let vars = at.group()?.vars.iter().enumerate();
    let with_records = vars.filter(|(_, id)| {
        at.model().variable(**id).is_some_and(|variable| variable.dims.first() == Some(&dim))
    });
    with_records.map(|(index, id)| part(&at, number(index), *id)).collect()
}

fn part(at: &FileGroup, varid: c_int, id: ncirrus::VarId) -> Outcome<RecordPart> {
    let ty = at.variable(varid)?.ty;
    let mut counts = at.model().shape(id).into_iter().map(size).collect::<Outcome<Vec<_>>>()?;
    if let Some(first) = counts.first_mut() {
        *first = 1;
    }
    let each = layouts::size_of_type(&at.members, ty)?.len;
    let len = counts.iter().try_fold(each, |len, count| len.checked_mul(*count)).ok_or(Code(NC_ENOMEM))?;
    Ok(RecordPart { varid, len, counts })
}

/// `nc_inq_rec`.
pub(crate) fn inq(ncid: c_int, count: Out<usize>, ids: Out<c_int>, sizes: Out<usize>) -> Outcome<()> {
    let records = of(ncid)?;
    count.set(records.len());
    ids.set_all(&records.iter().map(|record| record.varid).collect::<Vec<_>>());
    sizes.store_all(&records.iter().map(|record| record.len).collect::<Vec<_>>())
}

/// `nc_get_rec`: memory for each variable; null for those that are not read.
pub(crate) fn get(ncid: c_int, record: usize, memory: AddressOut) -> Outcome<()> {
    each(ncid, record, memory, |varid, slab, memory| data::get(ncid, varid, Some(slab), None, memory))
}

/// `nc_put_rec`: values of each variable; null for those that are left as they are.
pub(crate) fn put(ncid: c_int, record: usize, memory: AddressesIn) -> Outcome<()> {
    each(ncid, record, memory.untyped(), |varid, slab, memory| {
        put_data::put(ncid, varid, Some(slab), None, memory.as_bytes())
    })
}

fn each(
    ncid: c_int,
    record: usize,
    memory: AddressOut,
    call: impl Fn(c_int, CSlab, BytesOut) -> Outcome<()>,
) -> Outcome<()> {
    let records = of(ncid)?;
    for (part, address) in records.iter().zip(memory.addresses(records.len())?) {
        if address == 0 {
            continue;
        }
        let mut start = vec![0; part.counts.len()];
        if let Some(first) = start.first_mut() {
            *first = record;
        }
        let slab = CSlab::of(In::of(&start), In::of(&part.counts));
        call(part.varid, slab, BytesOut::at_address(address))?;
    }
    Ok(())
}
