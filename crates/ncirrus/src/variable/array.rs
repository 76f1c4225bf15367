//! Arrays that were read: in memory, or in a file if they are larger than that.
use crate::{Element, Error, Result};
use ncirrus_store::MappedFile;
use std::fmt;
use std::ops::{Deref, DerefMut, Range};

/// Numbers that were read: a slice of them in row-major order.
///
/// An array that is larger than the session's memory is in a file that is mapped into memory; the operating system
/// keeps as much of it in memory as there is room for. The file has no name, and is removed when this is dropped or the
/// process ends.
pub struct Array<T> {
    place: ArrayMemory<T>,
    shape: Vec<u64>,
}

enum ArrayMemory<T> {
    Memory(Vec<T>),
    Mapped(MappedFile),
}

impl<T: Element> Array<T> {
    pub(super) fn in_memory(values: Vec<T>, shape: Vec<u64>) -> Self {
        Self { place: ArrayMemory::Memory(values), shape }
    }

    pub(super) fn in_file(file: MappedFile, shape: Vec<u64>) -> Self {
        Self { place: ArrayMemory::Mapped(file), shape }
    }

    /// Shape of the array, one length per axis of the selection.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Whether it is in a file.
    pub fn is_mapped(&self) -> bool {
        matches!(self.place, ArrayMemory::Mapped(_))
    }

    /// The numbers as a vector: in memory, whatever their number.
    pub fn into_vec(self) -> Vec<T> {
        match self.place {
            ArrayMemory::Memory(values) => values,
            ArrayMemory::Mapped(_) => self.to_vec(),
        }
    }
}

impl<T: Element> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.place {
            ArrayMemory::Memory(values) => values,
            // A map starts at a page boundary: only an empty slice, which has no map, can be misaligned.
            ArrayMemory::Mapped(file) => bytemuck::try_cast_slice(file.bytes()).unwrap_or_default(),
        }
    }
}

impl<T: Element> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.place {
            ArrayMemory::Memory(values) => values,
            ArrayMemory::Mapped(file) => bytemuck::try_cast_slice_mut(file.bytes_mut()).unwrap_or_default(),
        }
    }
}

impl<T: Element> AsRef<[T]> for Array<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: Element> From<Array<T>> for Vec<T> {
    fn from(array: Array<T>) -> Self {
        array.into_vec()
    }
}

/// Equal to any slice of the same numbers; shapes are not compared.
impl<T: Element + PartialEq, O: AsRef<[T]> + ?Sized> PartialEq<O> for Array<T> {
    fn eq(&self, other: &O) -> bool {
        **self == *other.as_ref()
    }
}

impl<T: Element + PartialEq> PartialEq<Array<T>> for Vec<T> {
    fn eq(&self, other: &Array<T>) -> bool {
        **self == **other
    }
}

impl<T: Element + PartialEq> PartialEq<Array<T>> for [T] {
    fn eq(&self, other: &Array<T>) -> bool {
        *self == **other
    }
}

impl<T: Element + fmt::Debug> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_mapped() {
            return write!(f, "Array({} of shape {:?}, in a file)", T::ATOMIC.name(), self.shape);
        }
        fmt::Debug::fmt(&**self, f)
    }
}

impl<'a, T: Element> IntoIterator for &'a Array<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Element> IntoIterator for Array<T> {
    type Item = T;
    type IntoIter = Numbers<T>;

    fn into_iter(self) -> Numbers<T> {
        Numbers { left: 0..self.len(), array: self }
    }
}

/// The numbers of an [`Array`], one by one.
#[derive(Debug)]
pub struct Numbers<T: Element> {
    array: Array<T>,
    left: Range<usize>,
}

impl<T: Element> Iterator for Numbers<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left.next().and_then(|at| self.array.get(at).copied())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl<T: Element> ExactSizeIterator for Numbers<T> {}

/// Why an array cannot be put into a file, and the settings that determine that.
pub(super) fn no_room(error: Error, len: u64, memory: usize) -> Error {
    let message = format!(
        "an array of {len} bytes goes to a file in the folder of the setting cache.folder where it is larger than the \
         setting memory ({memory} bytes), and that file cannot be made: {}",
        error.message()
    );
    Error::new(error.kind(), message)
        .at_object(error.place().object.clone().unwrap_or_default())
        .because(error)
}

/// Bytes of an array of `count` elements.
pub(super) fn bytes_of<T: Element>(count: Option<u64>) -> Result<u64> {
    let len = count.and_then(|count| count.checked_mul(size_of::<T>() as u64));
    len.ok_or_else(|| Error::limit("the selection has more than 2^64 bytes"))
}
