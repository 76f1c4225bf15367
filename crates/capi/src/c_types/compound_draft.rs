//! Compounds that programs make field by field.
use std::ffi::{CString, c_int};

/// A compound that is made field by field.
#[derive(Debug)]
pub(crate) struct CompoundDraft {
    pub(crate) ncid: c_int,
    pub(crate) name: CString,
    /// 0: as a C compiler; 1: without padding.
    pub(crate) mode: c_int,
    pub(crate) fields: Vec<DraftField>,
}

/// A field of it.
#[derive(Debug)]
pub(crate) struct DraftField {
    pub(crate) name: CString,
    pub(crate) ty: c_int,
    pub(crate) dims: Vec<c_int>,
    pub(crate) len: usize,
    pub(crate) align: usize,
}
