//! Reading arrays that are larger than memory.
use super::Variable;
use super::array::{Array, bytes_of, no_room};
use crate::dataset::DatasetState;
use crate::{Element, Error, Result, Selection, Storage, TypeRef};
use ncirrus_layout::Layout;
use ncirrus_store::MappedFile;

/// Maximum number of bytes of values that are converted at a time.
const WINDOW: usize = 16 << 20;
/// The fraction of the session's memory that this may be: values are held before and after they are converted, in
/// addition to what they are decoded from.
const PART: usize = 8;

impl Variable {
    /// Values of a selection, converted to `T`, row-major, in a file that is mapped into memory, however few they are.
    /// The file is in the session's [`cache_folder`](crate::Session::cache_folder), has no name, and its space is
    /// released when the array is dropped, or the process ends.
    ///
    /// # Errors
    /// As [`read_selection`](Self::read_selection).
    pub fn read_mapped<T: Element>(&self, selection: &Selection) -> Result<Array<T>> {
        self.read_to_file(selection).map_err(|error| error.at_path(self.path()))
    }

    /// Whether an array of a selection is larger than the session's memory.
    pub(super) fn is_larger_than_memory<T: Element>(&self, selection: &Selection) -> bool {
        let memory = self.dataset.session().memory();
        bytes_of::<T>(selection.element_count()).is_ok_and(|len| len > memory as u64)
    }

    pub(super) fn read_to_file<T: Element>(&self, selection: &Selection) -> Result<Array<T>> {
        selection.check(&self.shape())?;
        let session = self.dataset.session();
        let len = bytes_of::<T>(selection.element_count())?;
        let file = MappedFile::create(&session.cache_folder(), len);
        let file = file.map_err(|error| no_room(error, len, session.memory()))?;
        let mut array = Array::in_file(file, selection.shape());
        if self.is_read_in_place::<T>()? {
            self.read_into(selection, &mut array)?;
        } else {
            self.read_windows(selection, &mut array)?;
        }
        Ok(array)
    }

    /// Whether values can be read into the caller's memory without an intermediate copy.
    fn is_read_in_place<T: Element>(&self) -> Result<bool> {
        if self.ty() != Some(TypeRef::Atomic(T::ATOMIC))
            || matches!(self.dataset.state(), DatasetState::Writing(_))
        {
            return Ok(false);
        }
        let source = self.dataset.source(self)?;
        Ok(!matches!(source.layout, Layout::Mosaic { .. }))
    }

    /// Reads a selection part by part, each small enough to be held and converted. The cuts are between chunks if
    /// possible.
    fn read_windows<T: Element>(&self, selection: &Selection, mut out: &mut [T]) -> Result<()> {
        let chunks = match self.storage() {
            Storage::Chunked(chunks) => chunks,
            _ => Vec::new(),
        };
        let window = (self.dataset.session().memory() / PART).min(WINDOW);
        let max = (window / size_of::<T>().max(size_of::<u64>())) as u64;
        let mut rest = vec![selection.clone()];
        while let Some(part) = rest.pop() {
            let count = part.element_count().unwrap_or(u64::MAX);
            if let Some((first, second)) = part.halves(&chunks).filter(|_| count > max) {
                rest.extend([second, first]);
                continue;
            }
            let values = self.read_vec::<T>(&part)?;
            let window = out.split_off_mut(..values.len());
            let window = window.ok_or_else(|| Error::internal("more values than were selected"))?;
            window.copy_from_slice(&values);
        }
        Ok(())
    }
}
