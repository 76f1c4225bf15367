//! Which elements a call reads or writes, and the variable that it does that with.
use crate::c_types::codes::{Code, NC_EBADTYPE, NC_ECHAR, NC_ENOMEM, NC_EPERM, Outcome};
use crate::c_types::memory::{Bytes, BytesOut, In};
use crate::files::FileGroup;
use crate::rules::convert;
use ncirrus::{Atomic, Selection, TypeRef, VarId};

/// The elements that a call is about, as it says them: null for counts and strides stands for all, and for 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CSlab {
    pub(crate) start: In<usize>,
    pub(crate) count: Option<In<usize>>,
    pub(crate) stride: Option<In<isize>>,
}

impl CSlab {
    /// One element.
    pub(crate) fn one(start: In<usize>) -> Self {
        Self { start, count: None, stride: None }
    }

    /// A box.
    pub(crate) fn of(start: In<usize>, count: In<usize>) -> Self {
        Self { start, count: Some(count), stride: None }
    }

    /// The start and the counts, if there are any, of a variable of a rank; `None` for null pointers.
    pub(crate) fn read(&self, rank: usize) -> Option<(&[usize], Option<&[usize]>)> {
        let counts = self.count.as_ref().map(|count| count.read(rank)).transpose().ok()?;
        Some((self.start.read(rank).ok()?, counts))
    }

    /// A box with strides.
    pub(crate) fn strided(start: In<usize>, count: In<usize>, stride: In<isize>) -> Self {
        Self { start, count: Some(count), stride: Some(stride) }
    }
}

/// A selection of a variable, and how many elements each axis has in the caller's memory.
#[derive(Debug)]
pub(crate) struct Slab {
    pub(crate) selection: Selection,
    pub(crate) counts: Vec<usize>,
}

/// The program's memory for values.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SlabMemory {
    Read(BytesOut),
    Written(Bytes),
}

impl SlabMemory {
    /// The memory from some bytes after or before the start on.
    pub(crate) fn moved(self, bytes: isize) -> Self {
        match self {
            Self::Read(out) => Self::Read(out.moved(bytes)),
            Self::Written(data) => Self::Written(data.moved(bytes)),
        }
    }
}

/// What a call does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlabCall {
    /// The elements; none for all.
    pub(crate) slab: Option<CSlab>,
    /// The distances in memory of calls that take them; they may be null.
    pub(crate) map: Option<In<isize>>,
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
    /// Whether the call has nothing to do, as no element is asked for.
    pub(crate) is_nothing: bool,
}

impl Slab {
    pub(crate) fn element_count(&self) -> Outcome<usize> {
        let product = self.counts.iter().try_fold(1usize, |product, count| product.checked_mul(*count));
        product.ok_or(Code(NC_ENOMEM))
    }
}

impl SlabCall {
    /// Whether it takes steps along axes, without distances in memory.
    pub(crate) fn has_strides(&self) -> bool {
        self.map.is_none() && self.slab.is_some_and(|slab| slab.stride.is_some())
    }

    /// Whether it is about one element or one box.
    pub(crate) fn is_box(&self) -> bool {
        self.map.is_none() && !self.has_strides()
    }

    /// Whether anything that says the elements is left to the library.
    pub(crate) fn has_null(&self) -> bool {
        self.slab.is_none_or(|slab| {
            slab.start.is_null()
                || slab.count.is_some_and(In::is_null)
                || slab.stride.is_some_and(In::is_null)
        })
    }
}

/// Whether a classic file is written or read now.
pub(crate) fn check_mode(at: &FileGroup, call: &SlabCall) -> Outcome<()> {
    if call.writes && !at.file.writes {
        return Err(Code(NC_EPERM));
    }
    at.file.core.enter_data_mode()
}

/// Text is told apart first; that strings are not converted is seen where values are.
pub(crate) fn check_text(ty: TypeRef, call: &SlabCall) -> Outcome<()> {
    match check_types(ty, call) {
        Err(Code(NC_ECHAR)) => Err(Code(NC_ECHAR)),
        _ => Ok(()),
    }
}

/// Text and numbers are told apart; values of user-defined types have no other type.
pub(crate) fn check_types(ty: TypeRef, call: &SlabCall) -> Outcome<()> {
    match (call.memory, ty) {
        (Some(memory), TypeRef::Atomic(base)) => convert::check(base, memory),
        (Some(Atomic::Char), TypeRef::User(_)) => Err(Code(NC_ECHAR)),
        (Some(_), TypeRef::User(_)) => Err(Code(NC_EBADTYPE)),
        (None, _) => Ok(()),
    }
}
