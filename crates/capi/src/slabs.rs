//! Which elements a call reads or writes, and what is checked before: in the order in which the reference checks.
use crate::codes::{
    Code, NC_EBADTYPE, NC_ECHAR, NC_EEDGE, NC_EGLOBAL, NC_EHDFERR, NC_EINDEFINE, NC_EINVALCOORDS, NC_ENOMEM,
    NC_EPERM, NC_ESTRIDE, Outcome,
};
use crate::convert;
use crate::files::{FileGroup, GLOBAL, size};
use crate::memory::In;
use ncirrus::{Atomic, AxisSelection, Selection, TypeRef, VarId};
use std::ffi::c_int;

/// The elements that a call is about, as it says them: null for counts and strides stands for all, and for 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CSlab {
    pub(crate) start: In<usize>,
    pub(crate) count: Option<In<usize>>,
    pub(crate) stride: Option<In<isize>>,
}

/// A selection of a variable, and how many elements each axis has in the caller's memory.
#[derive(Debug)]
pub(crate) struct Slab {
    pub(crate) selection: Selection,
    pub(crate) counts: Vec<usize>,
}

/// What a call does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlabCall {
    /// The elements; none for all.
    pub(crate) slab: Option<CSlab>,
    /// Whether the memory has distances of its own.
    pub(crate) is_mapped: bool,
    /// The type of the memory, if it is not the variable's own.
    pub(crate) memory: Option<Atomic>,
    pub(crate) writes: bool,
}

/// A variable of a call that passed all checks.
#[derive(Debug)]
pub(crate) struct SlabAccess {
    pub(crate) at: FileGroup,
    pub(crate) id: VarId,
    pub(crate) ty: TypeRef,
    /// Whether each axis grows.
    pub(crate) growing: Vec<bool>,
    pub(crate) slab: Slab,
}

impl Slab {
    pub(crate) fn element_count(&self) -> Outcome<usize> {
        let product = self.counts.iter().try_fold(1usize, |product, count| product.checked_mul(*count));
        product.ok_or(Code(NC_ENOMEM))
    }
}

impl SlabAccess {
    /// Whether no element of a classic file is asked for: nothing is done then.
    pub(crate) fn is_nothing(&self) -> bool {
        self.slab.counts.contains(&0) && self.at.file.is_classic()
    }
}

/// The last record of a classic file.
const LAST_RECORD: u64 = 0xffff_ffff;

/// In which order axes are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckOrder {
    /// All starts, then all ends; records have no start that is wrong.
    StartsFirst,
    /// Each axis: start, stride, end.
    AxisByAxis,
    /// All starts and strides, then all ends.
    EndsLast,
    /// All strides, then each axis: start and end.
    StridesFirst,
}

/// A call as it is checked.
struct SlabCheck<'a> {
    call: &'a SlabCall,
    shape: Vec<u64>,
    growing: Vec<bool>,
    /// Whether the handle can add records.
    may_grow: bool,
}

/// Checks a call: the file, the variable, the types, the mode and the elements.
///
/// # Errors
/// As the reference, by the kind of file: `NC_EBADID`, `NC_ENOTVAR`, `NC_EGLOBAL`, `NC_EPERM`, `NC_EINDEFINE`, `NC_ECHAR`,
/// `NC_EBADTYPE`, `NC_EINVALCOORDS`, `NC_EEDGE`, `NC_ESTRIDE`.
pub(crate) fn access(at: FileGroup, varid: c_int, call: &SlabCall) -> Outcome<SlabAccess> {
    let has_strides = call.slab.is_some_and(|slab| slab.stride.is_some());
    let is_plain_map = call.is_mapped && call.slab.and_then(|slab| slab.stride).is_none_or(In::is_null);
    let is_stepwise = !is_plain_map && (has_strides || call.is_mapped);
    if !at.file.is_classic() {
        return access_netcdf4(at, varid, call);
    }
    check_null_start(&at, varid, call)?;
    if call.memory.is_none() && call.slab.is_some_and(|slab| slab.count.is_some()) && !is_stepwise {
        // Its own type is looked up before the mode.
        at.variable_id(varid)?;
    }
    if call.slab.is_some() && !is_stepwise && !call.is_mapped {
        check_mode(&at, call)?;
        if varid == GLOBAL {
            return Err(Code(NC_EGLOBAL));
        }
    }
    let (id, ty) = (at.variable_id(varid)?, at.variable(varid)?.ty);
    let check = SlabCheck::of(&at, id, call);
    if is_stepwise || call.is_mapped {
        check_text(ty, call)?;
    }
    let order = match (is_stepwise, call.writes) {
        (false, _) => CheckOrder::StartsFirst,
        (true, false) => CheckOrder::AxisByAxis,
        (true, true) => CheckOrder::EndsLast,
    };
    if is_stepwise {
        let slab = check.slab(order)?;
        let (is_nothing, growing) = (slab.counts.contains(&0), check.growing.clone());
        if is_nothing && (call.is_mapped || !call.writes) {
            // Whatever the mode.
            return Ok(SlabAccess { at, id, ty, growing, slab });
        }
    }
    check_mode(&at, call)?;
    check_text(ty, call)?;
    let slab = check.slab(order)?;
    check_types(ty, call)?;
    let growing = check.growing;
    Ok(SlabAccess { at, id, ty, growing, slab })
}

/// A slab of a variable that has dimensions has a start; the reference looks at that before anything else.
fn check_null_start(at: &FileGroup, varid: c_int, call: &SlabCall) -> Outcome<()> {
    let has_none = call.slab.is_some_and(|slab| slab.start.is_null());
    let variable = at.variable(varid).ok().filter(|_| has_none);
    if variable.is_some_and(|variable| variable.rank() > 0) { Err(Code(NC_EINVALCOORDS)) } else { Ok(()) }
}

fn access_netcdf4(at: FileGroup, varid: c_int, call: &SlabCall) -> Outcome<SlabAccess> {
    let (id, ty) = (at.variable_id(varid)?, at.variable(varid)?.ty);
    let check = SlabCheck::of(&at, id, call);
    if !check.shape.is_empty() && call.slab.is_some_and(|slab| slab.start.is_null()) {
        return Err(Code(NC_EINVALCOORDS));
    }
    check_text(ty, call)?;
    let is_plain = call.slab.and_then(|slab| slab.stride).is_none_or(In::is_null);
    // What is mapped is done step by step.
    let order = match (call.is_mapped && !is_plain, call.writes) {
        (false, _) => CheckOrder::StridesFirst,
        (true, false) => CheckOrder::AxisByAxis,
        (true, true) => CheckOrder::EndsLast,
    };
    if at.file.core.format.is_strict() && call.is_mapped && !is_plain {
        check.slab(order)?;
    }
    at.file.core.look(|state| {
        let refuses = state.is_defining && at.file.core.format.is_strict();
        if refuses { Err(Code(NC_EINDEFINE)) } else { Ok(()) }
    })?;
    at.file.core.enter_data_mode()?;
    let slab = check.slab(order)?;
    at.file.core.note_use(id);
    check_types(ty, call)?;
    if call.writes && !at.file.writes {
        // HDF5 is the one who refuses.
        return Err(Code(if at.file.is_hdf5() { NC_EHDFERR } else { NC_EPERM }));
    }
    let growing = check.growing;
    Ok(SlabAccess { at, id, ty, growing, slab })
}

/// Whether a classic file is written or read now.
fn check_mode(at: &FileGroup, call: &SlabCall) -> Outcome<()> {
    if call.writes && !at.file.writes {
        return Err(Code(NC_EPERM));
    }
    at.file.core.enter_data_mode()
}

/// Text is told apart first; that strings are not converted is seen where values are.
fn check_text(ty: TypeRef, call: &SlabCall) -> Outcome<()> {
    match check_types(ty, call) {
        Err(Code(NC_ECHAR)) => Err(Code(NC_ECHAR)),
        _ => Ok(()),
    }
}

/// Text and numbers are told apart; values of user-defined types have no other type.
fn check_types(ty: TypeRef, call: &SlabCall) -> Outcome<()> {
    match (call.memory, ty) {
        (Some(memory), TypeRef::Atomic(base)) => convert::check(base, memory),
        (Some(Atomic::Char), TypeRef::User(_)) => Err(Code(NC_ECHAR)),
        (Some(_), TypeRef::User(_)) => Err(Code(NC_EBADTYPE)),
        (None, _) => Ok(()),
    }
}

impl<'a> SlabCheck<'a> {
    fn of(at: &FileGroup, id: VarId, call: &'a SlabCall) -> Self {
        Self { call, shape: at.model().shape(id), growing: at.model().growing(id), may_grow: at.file.writes }
    }

    /// Whether an axis has no end for this call.
    fn is_open(&self, axis: usize) -> bool {
        self.call.writes && self.growing.get(axis) == Some(&true)
    }

    fn slab(&self, order: CheckOrder) -> Outcome<Slab> {
        let Some(call) = &self.call.slab else {
            let counts = self.shape.iter().map(|len| size(*len)).collect::<Outcome<_>>()?;
            return Ok(Slab { selection: Selection::all(&self.shape), counts });
        };
        let rank = self.shape.len();
        if rank > 0 && call.start.is_null() {
            return Err(Code(NC_EINVALCOORDS));
        }
        let starts = call.start.read(rank)?;
        let strides = match call.stride.filter(|stride| !stride.is_null()) {
            Some(stride) => stride.read(rank)?.to_vec(),
            None => vec![1; rank],
        };
        if order == CheckOrder::StridesFirst && strides.iter().any(|stride| *stride <= 0) {
            return Err(Code(NC_ESTRIDE));
        }
        let counts = match call.count {
            None => vec![1; rank],
            Some(count) if count.is_null() => {
                let rest = |(len, start): (&u64, &usize)| size(len.saturating_sub(*start as u64));
                self.shape.iter().zip(starts).map(rest).collect::<Outcome<Vec<_>>>()?
            }
            Some(count) => count.read(rank)?.to_vec(),
        };
        let axes: Vec<(u64, u64)> =
            starts.iter().zip(&counts).map(|(start, count)| (*start as u64, *count as u64)).collect();
        if matches!(order, CheckOrder::StartsFirst | CheckOrder::EndsLast) {
            for (axis, (start, count)) in axes.iter().enumerate() {
                // The end of the records is looked at below, with the other ends.
                if order == CheckOrder::EndsLast || !(axis == 0 && self.growing.first() == Some(&true)) {
                    self.check_start(axis, *start, *count)?;
                } else if *start > LAST_RECORD || !self.may_grow && self.is_after_end(axis, *start, *count) {
                    return Err(Code(NC_EINVALCOORDS));
                }
                if order == CheckOrder::EndsLast && strides.get(axis).is_some_and(|stride| *stride <= 0) {
                    return Err(Code(NC_ESTRIDE));
                }
            }
        }
        let mut selected = Vec::with_capacity(rank);
        for (axis, ((start, count), stride)) in axes.iter().zip(&strides).enumerate() {
            if matches!(order, CheckOrder::AxisByAxis | CheckOrder::StridesFirst) {
                self.check_start(axis, *start, *count)?;
            }
            let len = self.shape.get(axis).copied().unwrap_or(0);
            let ends_inside = |end: Option<u64>| end.is_some_and(|end| end <= len || self.is_open(axis));
            if *stride <= 0 {
                return Err(Code(NC_ESTRIDE));
            }
            let end = start.checked_add(*count);
            if !ends_inside(end) {
                // HDF5 is the one who refuses records that no number counts.
                let is_beyond = end.is_none() && order == CheckOrder::StridesFirst && self.is_open(axis);
                return Err(Code(if is_beyond { NC_EHDFERR } else { NC_EEDGE }));
            }
            let first = if *count == 0 { 0 } else { *start };
            let slice =
                AxisSelection::Slice { start: first, count: *count, stride: stride.unsigned_abs() as u64 };
            if !ends_inside(slice.end()) {
                // Where a call goes on step by step, a step that lies outside is a wrong start.
                let is_edge = order == CheckOrder::StridesFirst;
                return Err(Code(if is_edge { NC_EEDGE } else { NC_EINVALCOORDS }));
            }
            selected.push(slice);
        }
        Ok(Slab { selection: Selection::new(selected), counts })
    }

    /// A start at the end is right for no elements.
    fn check_start(&self, axis: usize, start: u64, count: u64) -> Outcome<()> {
        let is_outside = !self.is_open(axis) && self.is_after_end(axis, start, count);
        if is_outside { Err(Code(NC_EINVALCOORDS)) } else { Ok(()) }
    }

    fn is_after_end(&self, axis: usize, start: u64, count: u64) -> bool {
        let len = self.shape.get(axis).copied().unwrap_or(0);
        start > len || start == len && count > 0
    }
}
