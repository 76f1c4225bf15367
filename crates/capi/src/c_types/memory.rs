//! C's memory: the roles of arguments, and blocks of `malloc` that programs free. All code that dereferences a pointer of
//! the caller is here.
//!
//! A role is made of a raw pointer by the shim alone, which is `unsafe`: the caller of the C function vouches that the
//! pointer is null or refers to as much memory as the reference's documentation says. The lengths that the safe functions
//! give to a role follow from the same documentation: the number of elements of a selection, the rank of a variable,
//! `NC_MAX_NAME + 1` for names.

mod answers;
mod blocks;
mod dispatch;
#[cfg(all(target_os = "linux", not(miri)))]
mod first_thread;
mod globals;
mod lists;
mod roles;
mod structures;
#[cfg(test)]
mod tests;

pub(crate) use answers::{CReturn, ConstText, LastErrorText, NoAnswer, OwnedText, returned_as};
pub(crate) use blocks::{
    CBlock, Lending, LentBlock, allocated, allocated_text, at_exit, at_fork, free_address,
    other_hdf5_version, system_text,
};
pub(crate) use dispatch::{DISPATCH_ENTRIES, DispatchEntry, PassedTable, TableOut, UserTable};
pub(crate) use globals::{ncerr, ncopts};
pub(crate) use lists::{
    AddressOut, AddressesIn, CompoundHandle, FilterListOut, FilterSpecHandle, KeptPointer, ListHandle,
    MemoryFile, ShortsOut, StartsIn, TextsOut, UriHandle, UriOut, WordsOut,
};
pub(crate) use roles::{
    Bytes, BytesOut, CArgument, CNumber, CPassed, CText, CTextMut, Char, In, Long, NameOut, Out, TextAddress,
    TextOut, Vlens,
};
pub(crate) use structures::{ByteBuffer, TextList, TextListIn};
