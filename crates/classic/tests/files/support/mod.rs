//! Helpers shared by the tests of this crate: opening bytes, reading every element of a variable.
use ncirrus_classic::ClassicDriver;
use ncirrus_layout::{Catalog, Driver, Error, Layout, OpenOptions, Source, Stall, Step};
use ncirrus_model::{Model, VarId};
use ncirrus_testkit::{MemoryView, ObjectView};
use std::sync::Arc;

pub(crate) mod file;
pub(crate) mod sample;

/// An open file with everything available.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) view: MemoryView,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) model: Arc<Model>,
}

/// The key of the files of these tests.
pub(crate) const KEY: &str = "file.nc";

pub(crate) fn done<T>(step: Step<T>) -> Result<T, Error> {
    match step {
        Ok(value) => Ok(value),
        Err(Stall::Fail(error)) => Err(error),
        Err(Stall::Need(needs)) => panic!("a need with everything at hand: {needs:?}"),
    }
}

pub(crate) fn open(bytes: &[u8]) -> Result<Opened, Error> {
    let view = MemoryView::new(ObjectView::one(KEY, bytes.to_vec()));
    let catalog = done(ClassicDriver.open(&view, &ObjectView::id(KEY), &OpenOptions::default()))?;
    let model = done(catalog.tree(&view))?;
    Ok(Opened { view, catalog, model })
}

impl Opened {
    pub(crate) fn var(&self, name: &str) -> VarId {
        self.model.variable_at(name).unwrap_or_else(|| panic!("no variable {name}"))
    }

    pub(crate) fn source(&self, var: VarId) -> Result<Source, Error> {
        done(self.catalog.source(&self.view, var))
    }

    /// The stored bytes of all elements in row-major order, or `None` when some of them are past the end of the file.
    pub(crate) fn stored_bytes(&self, var: VarId) -> Option<Vec<u8>> {
        let source = self.source(var).expect("a sound variable");
        let file = self.view.objects.find(KEY).expect("the file");
        let Layout::Affine { extents, base, strides } = &source.layout else { panic!("not affine") };
        let size = source.stored.byte_len().expect("a fixed size");
        let shape = &source.extent;
        let count: u64 = shape.iter().product();
        let mut bytes = Vec::new();
        let mut index = vec![0u64; shape.len()];
        for _ in 0..count {
            let at = base + index.iter().zip(strides).map(|(index, stride)| index * stride).sum::<u64>();
            let extent = &extents[0];
            assert!(extent.logical.start <= at && at + size <= extent.logical.end, "outside the extent");
            let at = usize::try_from(extent.offset + (at - extent.logical.start)).ok()?;
            bytes.extend_from_slice(file.get(at..at + usize::try_from(size).ok()?)?);
            for axis in (0..shape.len()).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        Some(bytes)
    }
}
