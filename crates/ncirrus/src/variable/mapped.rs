//! Reading arrays that are larger than memory.
use super::Variable;
use crate::dataset::State;
use crate::{Element, Error, Result, Selection, Storage, TypeRef};
use ncirrus_layout::Layout;
use ncirrus_store::MappedFile;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// An array in a file that is mapped into memory: a slice that the operating system keeps in memory as far as there is
/// room. The file has no name, and is gone when this is dropped or the process ends.
pub struct MappedArray<T> {
    file: MappedFile,
    shape: Vec<u64>,
    elements: PhantomData<T>,
}

/// Bytes of values that are converted at a time.
const WINDOW: u64 = 16 << 20;

impl<T: Element> MappedArray<T> {
    /// Shape of the array, one length per axis of the selection.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }
}

impl<T: Element> Deref for MappedArray<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // A map starts at the boundary of a page: only an empty slice, which has no map, can fail to be aligned.
        bytemuck::try_cast_slice(self.file.bytes()).unwrap_or_default()
    }
}

impl<T: Element> DerefMut for MappedArray<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::try_cast_slice_mut(self.file.bytes_mut()).unwrap_or_default()
    }
}

impl<T: Element> fmt::Debug for MappedArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MappedArray({} of shape {:?})", T::ATOMIC.name(), self.shape)
    }
}

impl Variable {
    /// Values of a selection, converted to `T`, row-major, in a file that is mapped into memory: for arrays that are
    /// larger than memory. The file lies in the session's [`cache_folder`](crate::Session::cache_folder), without a name,
    /// and takes no room any more once the array is dropped, or the process has ended.
    ///
    /// # Errors
    /// As [`read_selection`](Self::read_selection); `Io` when the folder has no room.
    pub fn read_mapped<T: Element>(&self, selection: &Selection) -> Result<MappedArray<T>> {
        let place = |error: Error| error.at_path(self.path());
        selection.check(&self.shape()).map_err(|error| place(error.into()))?;
        let len = selection.element_count().and_then(|count| count.checked_mul(size_of::<T>() as u64));
        let len = len.ok_or_else(|| place(Error::limit("the selection has more than 2^64 bytes")))?;
        let file = MappedFile::create(&self.dataset.session().cache_folder(), len).map_err(place)?;
        let mut array = MappedArray { file, shape: selection.shape(), elements: PhantomData };
        if self.is_read_in_place::<T>()? {
            self.read_into(selection, &mut array)?;
        } else {
            self.read_windows(selection, &mut array)?;
        }
        Ok(array)
    }

    /// Whether values can be read into memory of the caller without being held elsewhere.
    fn is_read_in_place<T: Element>(&self) -> Result<bool> {
        if self.ty() != Some(TypeRef::Atomic(T::ATOMIC)) || matches!(self.dataset.state(), State::Writing(_))
        {
            return Ok(false);
        }
        let source = self.dataset.source(self)?;
        Ok(!matches!(source.layout, Layout::Mosaic { .. }))
    }

    /// Reads one part of a selection after the other, each small enough to be held and converted. They are cut between
    /// chunks where that can be.
    fn read_windows<T: Element>(&self, selection: &Selection, mut out: &mut [T]) -> Result<()> {
        let chunks = match self.storage() {
            Storage::Chunked(chunks) => chunks,
            _ => Vec::new(),
        };
        let most = WINDOW / size_of::<T>().max(size_of::<u64>()) as u64;
        let mut rest = vec![selection.clone()];
        while let Some(part) = rest.pop() {
            let count = part.element_count().unwrap_or(u64::MAX);
            if let Some((first, second)) = part.halves(&chunks).filter(|_| count > most) {
                rest.extend([second, first]);
                continue;
            }
            let values = self.read_selection::<T>(&part)?;
            let window = out.split_off_mut(..values.len());
            let window = window.ok_or_else(|| Error::internal("more values than were selected"))?;
            window.copy_from_slice(&values);
        }
        Ok(())
    }
}
