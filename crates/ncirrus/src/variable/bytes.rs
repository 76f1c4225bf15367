//! Elements as bytes in the caller's memory, and single elements.
use super::Variable;
use crate::{Error, PointSelection, Result, Selection, Values};

impl Variable {
    /// Bytes of one element in memory, if the type has a fixed size: numbers, char, enums (as their base type), opaque,
    /// and compounds whose members all have one, including nested ones. `None` for strings, vlens, types that contain
    /// them, and after the variable was removed.
    ///
    /// Numbers are in the machine's byte order. The fields of a compound are contiguous in the order of their
    /// definition, **without padding**, each with all elements of its own array: the length of a compound is the sum of
    /// the lengths of its fields, whatever the padding in storage.
    pub fn packed_len(&self) -> Option<usize> {
        let len = self.ty().and_then(|ty| self.dataset.snapshot().packed_len(ty));
        len.and_then(|len| usize::try_from(len).ok())
    }

    /// Reads a selection into a buffer: elements in the form that [`packed_len`](Self::packed_len) describes,
    /// row-major. No second copy is held: elements go from the chunks directly into the buffer. Elements that are
    /// stored in another form (references, text), and compounds assembled from other datasets, are converted part by
    /// part.
    ///
    /// # Errors
    /// `Invalid` if the type has no fixed size or the buffer's length is not the selection's; otherwise as
    /// [`values`](Self::values).
    pub fn read_bytes_into(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        self.read_paced(selection, out).map_err(|error| error.at_path(self.path()))
    }

    /// Writes elements from a buffer, in the form that [`packed_len`](Self::packed_len) describes, row-major; a
    /// selection past the end of an unlimited dimension extends it. They are copied only into the chunks, unless the
    /// variable is quantized or its numbers are stored in another size.
    ///
    /// # Errors
    /// `Invalid` if the type has no fixed size or the buffer's length is not the selection's; otherwise as
    /// [`write_values`](Self::write_values).
    pub fn write_bytes(&self, selection: &Selection, bytes: &[u8]) -> Result<()> {
        let packed = |bytes: &[u8]| self.dataset.write_packed(self.id, selection, bytes);
        self.written_bytes(bytes, packed, |values| self.write_values(selection, values))
    }

    /// Hands bytes to `packed`, or where they are to be quantized as values to the other.
    fn written_bytes(
        &self,
        bytes: &[u8],
        packed: impl FnOnce(&[u8]) -> Result<()>,
        quantized: impl FnOnce(&Values) -> Result<()>,
    ) -> Result<()> {
        let written = match (self.quantization(), self.ty()) {
            (Some(_), Some(ty)) => {
                let values = ncirrus_engine::convert::unpack(&self.dataset.snapshot(), ty, bytes);
                values.and_then(|values| quantized(&values))
            }
            _ => packed(bytes),
        };
        written.map_err(|error| error.at_path(self.path()))
    }

    /// Writes values to single elements, in the order of the points; those past the end of an unlimited dimension make it
    /// grow. Each chunk that holds some of them is read and changed once, however many points there are. Of several values
    /// for one element the last counts.
    ///
    /// # Errors
    /// As [`write_values`](Self::write_values).
    pub fn write_point_values(&self, points: &PointSelection, values: &Values) -> Result<()> {
        self.written(values, |values| self.dataset.write_point_values(self.id(), points, values))
    }

    /// As [`write_point_values`](Self::write_point_values), from a buffer: elements as [`packed_len`](Self::packed_len) has
    /// them.
    ///
    /// # Errors
    /// As [`write_bytes`](Self::write_bytes).
    pub fn write_point_bytes(&self, points: &PointSelection, bytes: &[u8]) -> Result<()> {
        let packed = |bytes: &[u8]| self.dataset.write_point_bytes(self.id, points, bytes);
        self.written_bytes(bytes, packed, |values| self.write_point_values(points, values))
    }

    /// The values of single elements in the variable's own type, in the order of the points. Each chunk that holds some
    /// of them is fetched and decoded once, however many points there are; of data stored without codecs only the
    /// necessary bytes are read, neighbours together. The same holds for the fragments of an aggregated
    /// variable.
    ///
    /// # Errors
    /// `Invalid` naming the first point that is outside; otherwise as [`values`](Self::values).
    pub fn point_values(&self, points: &PointSelection) -> Result<Values> {
        self.dataset.read_points(self.id, points).map_err(|error| error.at_path(self.path()))
    }

    /// As [`point_values`](Self::point_values), into a buffer: elements in the form that
    /// [`packed_len`](Self::packed_len) describes.
    ///
    /// # Errors
    /// As [`point_values`](Self::point_values); `Invalid` if the type has no fixed size or the buffer's length is not
    /// that of the points.
    pub fn read_points_into(&self, points: &PointSelection, out: &mut [u8]) -> Result<()> {
        let read = self.dataset.read_points_native(self.id, points, out);
        read.map_err(|error: Error| error.at_path(self.path()))
    }
}

#[cfg(test)]
mod tests;
