//! Huge objects: each separate in the file, found through a B-tree or by its id.
use super::FractalHeap;
use crate::address::{FieldSizes, FileAddress};
use crate::btree::{BtreeHeader, NodeRequest};
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};
use std::collections::HashMap;
use std::sync::Arc;

/// The location of a huge object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HugeObject {
    addr: FileAddress,
    /// Its size in the file.
    stored: u64,
    /// Skipped filters, and size of the object, if it is filtered.
    filtered: Option<(u32, u64)>,
}

impl HugeObject {
    /// As encoded in ids and records.
    pub(super) fn parse(
        cursor: &mut ByteCursor<'_>,
        sizes: FieldSizes,
        filtered: bool,
    ) -> Result<Self, Error> {
        let addr = cursor.addr(sizes)?;
        let addr = addr.ok_or_else(|| Error::malformed("a huge object of a heap without address"))?;
        let stored = cursor.len(sizes)?;
        let filtered = if filtered { Some((cursor.u32()?, cursor.len(sizes)?)) } else { None };
        Ok(Self { addr, stored, filtered })
    }
}

impl HugeObject {
    /// Its size in the file.
    pub(super) fn stored_len(&self) -> u64 {
        self.stored
    }

    /// Bytes of the object.
    pub(super) fn len(&self) -> u64 {
        self.filtered.map_or(self.stored, |(_, len)| len)
    }
}

impl FractalHeap {
    /// The object of that key.
    pub(super) fn find_huge(&self, view: &dyn View, file: &Hdf5File, key: u64) -> Step<HugeObject> {
        let Some(addr) = self.huge else {
            return Err(Error::malformed("a huge object in a heap that has none").into());
        };
        let all = file.memo(view, addr, "hdf5 huge objects", || {
            let all = self.all_huge(view, file, addr)?;
            let cost = all.len() * size_of::<(u64, HugeObject)>();
            Ok((all, cost))
        });
        let all: Arc<HashMap<u64, HugeObject>> = all?;
        let missing = || Error::malformed(format!("no huge object {key} in the heap"));
        Ok(all.get(&key).copied().ok_or_else(missing)?)
    }

    /// Huge objects by key, from records of types 1 and 2; those of types 3 and 4 are found by their ids.
    fn all_huge(
        &self,
        view: &dyn View,
        file: &Hdf5File,
        addr: FileAddress,
    ) -> Step<HashMap<u64, HugeObject>> {
        let tree = BtreeHeader::load(view, file, addr, NodeRequest::Among)?;
        let filtered = match tree.kind {
            1 => false,
            2 => true,
            other => {
                return Err(Error::malformed(format!("huge objects by key in a tree of type {other}")).into());
            }
        };
        let mut all = HashMap::new();
        for record in tree.records(view, file)? {
            let mut cursor = ByteCursor::new(&record, "a record of a huge object");
            let huge = HugeObject::parse(&mut cursor, file.sizes, filtered)?;
            all.insert(cursor.len(file.sizes)?, huge);
        }
        Ok(all)
    }

    pub(super) fn huge_object(&self, view: &dyn View, file: &Hdf5File, huge: HugeObject) -> Step<Bytes> {
        match huge.filtered {
            None => {
                let len = view.limits().metadata_len(huge.stored, "an object of a fractal heap")?;
                Ok(file.exact(view, huge.addr, len as u64)?)
            }
            Some((mask, len)) => self.decoded(view, file, huge.addr, huge.stored, mask, len),
        }
    }
}
