//! Elements as bytes in memory of the caller, and single elements.
use super::Variable;
use crate::{Error, PointSelection, Result, Selection, Values};

impl Variable {
    /// Bytes of one element in memory, where the type has a fixed size: numbers, char, enums (as their base type), opaque,
    /// and compounds whose members have one, nested ones too. `None` for strings, vlens, what holds them, and once the
    /// variable was removed.
    ///
    /// Numbers are in the machine's byte order. The fields of a compound follow each other in the order of their
    /// definition, **without padding**, each with all elements of its own array: the length of a compound is the sum of the
    /// lengths of its fields, whatever padding there is where it is stored.
    pub fn packed_len(&self) -> Option<usize> {
        let len = self.ty().and_then(|ty| self.dataset.snapshot().packed_len(ty));
        len.and_then(|len| usize::try_from(len).ok())
    }

    /// Reads a selection into a buffer: elements as [`packed_len`](Self::packed_len) has them, row-major. Nothing is held
    /// twice: elements go from the chunks into the buffer. Those that are stored as something else (references, text) or
    /// that are compounds put together from other datasets are converted a part at a time.
    ///
    /// # Errors
    /// `Invalid` when the type has no fixed size or the buffer's length is not the selection's; else as
    /// [`values`](Self::values).
    pub fn read_bytes_into(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        self.dataset.read_native(self.id, selection, out).map_err(|error| error.at_path(self.path()))
    }

    /// Writes elements from a buffer, as [`packed_len`](Self::packed_len) has them, row-major; a selection past the end of
    /// an unlimited dimension makes it grow. They are not copied but into the chunks, unless the variable is quantized or
    /// its numbers are stored in another size.
    ///
    /// # Errors
    /// `Invalid` when the type has no fixed size or the buffer's length is not the selection's; else as
    /// [`write_values`](Self::write_values).
    pub fn write_bytes(&self, selection: &Selection, bytes: &[u8]) -> Result<()> {
        let written = match (self.quantization(), self.ty()) {
            (Some(_), Some(ty)) => {
                let values = ncirrus_engine::convert::unpack(&self.dataset.snapshot(), ty, bytes);
                values.and_then(|values| self.write_values(selection, &values))
            }
            _ => self.dataset.write_packed(self.id, selection, bytes),
        };
        written.map_err(|error| error.at_path(self.path()))
    }

    /// The values of single elements in the variable's own type, in the order of the points. Each chunk that holds some of
    /// them is fetched and decoded once, however many points there are; of data that no codec changed only the bytes that
    /// are needed are read, neighbours together. An aggregated variable is read by its fragments, neighbouring points together.
    ///
    /// # Errors
    /// `Invalid` naming the first point that is outside; else as [`values`](Self::values).
    pub fn point_values(&self, points: &PointSelection) -> Result<Values> {
        self.dataset.read_points(self.id, points).map_err(|error| error.at_path(self.path()))
    }

    /// As [`point_values`](Self::point_values), into a buffer: elements as [`packed_len`](Self::packed_len) has them.
    ///
    /// # Errors
    /// As [`point_values`](Self::point_values); `Invalid` when the type has no fixed size or the buffer's length is not
    /// that of the points.
    pub fn read_points_into(&self, points: &PointSelection, out: &mut [u8]) -> Result<()> {
        let read = self.dataset.read_points_native(self.id, points, out);
        read.map_err(|error: Error| error.at_path(self.path()))
    }
}

#[cfg(test)]
mod tests;
