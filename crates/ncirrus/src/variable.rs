//! A variable and its values.
mod array;
mod bytes;
mod encoded;
mod fragments;
mod mapped;
mod strided;

pub use array::{Array, Numbers};
pub(crate) use fragments::ShowFragments;
pub use strided::StridedBytes;

use crate::dataset::DatasetState;
use crate::{
    Attribute, Attributes, Dataset, Element, Error, ExtendedType, Result, Selection, Shards, Storage,
    TypeRef, Values,
};
use ncirrus_engine::StoredChunk;
use ncirrus_engine::convert::{Quantize, RangeReport};
use ncirrus_layout::StoredType;
use ncirrus_model::{CodecSpec, Dimension, Fault, NodeId, VarId};
use std::borrow::Cow;

/// A variable of a dataset: a handle, cheap to clone. Any number of threads may read and write through it.
#[derive(Debug, Clone)]
pub struct Variable {
    dataset: Dataset,
    id: VarId,
}

impl Variable {
    pub(crate) fn new(dataset: Dataset, id: VarId) -> Self {
        Self { dataset, id }
    }

    /// The dataset that contains the variable.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The model's id of the variable.
    pub fn id(&self) -> VarId {
        self.id
    }

    /// Simple name.
    pub fn name(&self) -> String {
        self.with(|variable| variable.name.clone()).unwrap_or_default()
    }

    /// Absolute path.
    pub fn path(&self) -> String {
        self.dataset.path_of(self.id)
    }

    /// Current shape, one length per dimension; empty for a scalar.
    pub fn shape(&self) -> Vec<u64> {
        self.dataset.snapshot().shape(self.id)
    }

    /// Element type; `None` once the variable was removed.
    pub fn ty(&self) -> Option<TypeRef> {
        self.with(|variable| variable.ty)
    }

    /// What the format says about the elements beyond netCDF's types: that Zarr's `ubyte` is a boolean, that its
    /// `int64` counts seconds, that text has a fixed number of characters. `None` if [`ty`](Self::ty) says everything,
    /// and for variables that this program defined. Also available through a handle for writing, for what existed when
    /// it was opened.
    pub fn stored_type(&self) -> Option<ExtendedType> {
        let of = |model: &ncirrus_model::Model| {
            model.variable(self.id).and_then(|variable| variable.extended.clone())
        };
        match self.dataset.state() {
            DatasetState::Reading(dataset) => of(&dataset.model()),
            DatasetState::Writing(open) => open.writer.base().and_then(|base| of(&base.model())),
        }
    }

    /// The dimensions that span it, slowest first.
    pub fn dimensions(&self) -> Vec<Dimension> {
        let model = self.dataset.snapshot();
        let dims = model.variable(self.id).map(|variable| variable.dims.as_slice()).unwrap_or_default();
        dims.iter().filter_map(|dim| model.dimension(*dim).cloned()).collect()
    }

    /// How the elements are laid out in storage.
    pub fn storage(&self) -> Storage {
        self.with(|variable| variable.storage.clone()).unwrap_or_default()
    }

    /// How the chunks share objects; `None` if they do not.
    pub fn shards(&self) -> Option<Shards> {
        self.with(|variable| variable.shards.clone()).flatten()
    }

    /// The value of elements that are never written, as the file says: a single value. It need not be that of `_FillValue`: HDF5 has a fill
    /// value of its own.
    ///
    /// # Errors
    /// If the variable is inaccessible, or its definition is refused by the format.
    pub fn unwritten_value(&self) -> Result<Values> {
        let engine = self.dataset.engine();
        match self.dataset.state() {
            DatasetState::Reading(dataset) => Ok(engine.wait(dataset.source(self.id))?.fill.clone()),
            DatasetState::Writing(_) => {
                engine.wait(self.dataset.open_for_writing()?.writer.unwritten_value(self.id))
            }
        }
    }

    /// Whether the integers are without sign where they come from: those of OPeNDAP may be shown in a signed type
    /// (docs/opendap.md, the view of netCDF-C). False where that is not known.
    pub fn is_unsigned_at_source(&self) -> bool {
        let DatasetState::Reading(dataset) = self.dataset.state() else { return false };
        let source = self.dataset.engine().wait(dataset.source(self.id));
        source.is_ok_and(|source| matches!(source.stored, StoredType::Integer { signed: false, .. }))
    }

    /// Filters in the order of encoding.
    pub fn filters(&self) -> Vec<CodecSpec> {
        self.with(|variable| variable.filters.clone()).unwrap_or_default()
    }

    /// Why the values cannot be read, if they cannot.
    pub fn fault(&self) -> Option<Fault> {
        self.with(|variable| variable.fault.clone()).flatten()
    }

    /// All attributes, in definition order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn attributes(&self) -> Result<Attributes> {
        self.dataset.node_attributes(NodeId::Variable(self.id))
    }

    /// An attribute by name; `None` if there is none.
    ///
    /// # Errors
    /// If attributes cannot be read.
    pub fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        Ok(self.attributes()?.find(name).cloned())
    }

    /// Adds or replaces an attribute.
    ///
    /// # Errors
    /// `Invalid` for a bad name; if the dataset is not open for writing.
    pub fn set_attribute(&self, attribute: Attribute) -> Result<()> {
        self.dataset.set_node_attribute(NodeId::Variable(self.id), attribute)
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// `NotFound`; if the dataset is not open for writing.
    pub fn remove_attribute(&self, name: &str) -> Result<Attribute> {
        self.dataset.remove_node_attribute(NodeId::Variable(self.id), name)
    }

    /// Sets the fill value: one element of the variable's own type.
    ///
    /// # Errors
    /// `Invalid` if it is not; if the dataset is not open for writing.
    pub fn set_fill(&self, fill: Values) -> Result<()> {
        self.dataset.edit(|model| Ok(model.set_fill(self.id, fill)?))
    }

    /// Sets storage and filters; only before any value is written.
    ///
    /// # Errors
    /// If the format does not support it, or the dataset is not open for writing.
    pub fn set_storage(&self, storage: Storage, filters: Vec<CodecSpec>) -> Result<()> {
        self.dataset.edit(|model| {
            let variable =
                model.variable_mut(self.id).ok_or_else(|| Error::not_found("the variable was removed"))?;
            variable.storage = storage;
            variable.shards = None;
            variable.filters = filters;
            Ok(())
        })
    }

    /// Sets how the chunks share objects, only before any value is written; [`set_storage`](Self::set_storage), which is called
    /// before, has set the chunks.
    ///
    /// # Errors
    /// `Unsupported` if the format has no shards, `Invalid` if a length is not a multiple of the chunk's; if the dataset is not
    /// open for writing.
    pub fn set_shards(&self, shards: Option<Shards>) -> Result<()> {
        self.dataset.edit(|model| {
            let variable =
                model.variable_mut(self.id).ok_or_else(|| Error::not_found("the variable was removed"))?;
            variable.shards = shards;
            Ok(())
        })
    }

    /// Quantizes the values that are written from now on, and records it in the attribute that netCDF-C uses
    /// (docs/spec/hdf5-netcdf4.md G.4). A variable that already has such an attribute is quantized without this call.
    ///
    /// # Errors
    /// `Invalid` for types other than float and double or more digits than they have; if the dataset is not open for
    /// writing.
    pub fn set_quantize(&self, quantize: Quantize) -> Result<()> {
        let ty = self.ty().ok_or_else(|| Error::not_found("the variable was removed"))?;
        quantize.check(ty).map_err(|error| error.at_path(self.path()))?;
        if let Some(old) = self.quantization() {
            self.remove_attribute(old.attribute_name())?;
        }
        self.set_attribute(quantize.attribute())
    }

    /// How values are quantized when they are written, as the variable's attributes record it.
    pub fn quantization(&self) -> Option<Quantize> {
        let quantize = self.with(|variable| variable.attributes.known().and_then(Quantize::recorded));
        quantize.flatten().filter(|quantize| self.ty().is_some_and(|ty| quantize.check(ty).is_ok()))
    }

    /// Gives the variable a cache of its own for decoded chunks, of so many bytes, instead of its part of the session's;
    /// 0: its chunks are decoded whenever they are read. A chunk is kept when it is requested for the second time.
    ///
    /// # Errors
    /// `Unsupported` if the dataset is open for writing: chunks are held until they are encoded then.
    pub fn set_chunk_cache(&self, bytes: usize) -> Result<()> {
        self.dataset.reader()?.set_chunk_cache(self.id, bytes);
        self.dataset.pace().forget_blocks();
        Ok(())
    }

    /// Renames the variable.
    ///
    /// # Errors
    /// `Invalid` for a bad name, `Conflict` if it is in use.
    pub fn rename(&self, name: &str) -> Result<()> {
        self.dataset.edit(|model| Ok(model.rename_variable(self.id, name)?))
    }

    /// Where the chunks that a selection touches are stored, in row-major order, without those that are known never to
    /// have been written; a variable that is not chunked has none. For tools that keep their own references.
    ///
    /// # Errors
    /// If the selection does not fit or touches too many chunks, the variable is inaccessible, its index is damaged, or
    /// the dataset is open for writing.
    pub fn chunks(&self, selection: &Selection) -> Result<Vec<StoredChunk>> {
        self.dataset.stored_chunks(self.id, selection)
    }

    /// Values of a selection in the variable's own type, row-major; in memory, whatever their number.
    ///
    /// # Errors
    /// If the selection does not fit, or data are damaged or cannot be read; the place names chunk and object.
    pub fn values(&self, selection: &Selection) -> Result<Values> {
        self.values_paced(selection).map_err(|error| error.at_path(self.path()))
    }

    /// All values, converted to `T`, row-major: a slice of them, in memory or, if they are larger than the session's
    /// [`memory`](crate::Session::memory), in a file in its [`cache_folder`](crate::Session::cache_folder).
    ///
    /// # Errors
    /// As [`values`](Self::values); `Invalid` if the variable is not numeric, or values are out of the range of `T`;
    /// `Io` if the folder has no space left.
    pub fn read<T: Element>(&self) -> Result<Array<T>> {
        self.read_selection(&Selection::all(&self.shape()))
    }

    /// Values of a selection, converted to `T`, row-major, in the form that [`read`](Self::read) returns.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_selection<T: Element>(&self, selection: &Selection) -> Result<Array<T>> {
        if self.is_larger_than_memory::<T>(selection) {
            return self.read_mapped(selection);
        }
        Ok(Array::in_memory(self.read_vec(selection)?, selection.shape()))
    }

    /// Values of a selection, converted to `T`, in memory.
    fn read_vec<T: Element>(&self, selection: &Selection) -> Result<Vec<T>> {
        let values = self.values(selection)?;
        if values.atomic() == Some(T::ATOMIC) {
            return T::from_values(values);
        }
        let (cast, report) =
            ncirrus_engine::convert::cast(&values, T::ATOMIC).map_err(|e| e.at_path(self.path()))?;
        in_range(report).map_err(|error| error.at_path(self.path()))?;
        T::from_values(cast)
    }

    /// Reads a selection into a buffer of the variable's own type, without allocating: the fastest way.
    ///
    /// # Errors
    /// `Invalid` if the variable's type is not `T` or the buffer's length is not the selection's; otherwise as
    /// [`values`](Self::values).
    pub fn read_into<T: Element>(&self, selection: &Selection, out: &mut [T]) -> Result<()> {
        if self.ty() != Some(TypeRef::Atomic(T::ATOMIC)) {
            let message = format!("the variable is not of type {}", T::ATOMIC.name());
            return Err(Error::invalid(message).at_path(self.path()));
        }
        let out = bytemuck::cast_slice_mut(out);
        self.read_paced(selection, out).map_err(|error| error.at_path(self.path()))
    }

    /// Writes values of the variable's own type, or numbers that are converted to it; a selection past the end of an
    /// unlimited dimension extends it.
    ///
    /// # Errors
    /// `Invalid` if the selection, or the number or type of the values, does not fit, or numbers are out of the range
    /// of the variable's type; if the dataset is not open for writing; if writing fails. New remote datasets are sent
    /// in the background: a put that fails is an error of the next call, or of `sync` and `close`.
    pub fn write_values(&self, selection: &Selection, values: &Values) -> Result<()> {
        self.written(values, |values| self.dataset.write_values(self.id, selection, values))
    }

    /// Hands values to `write` as the variable holds them.
    fn written(&self, values: &Values, write: impl FnOnce(&Values) -> Result<()>) -> Result<()> {
        let place = |error: Error| error.at_path(self.path());
        let values = self.as_held(values).map_err(place)?;
        write(&values).map_err(place)
    }

    /// Values as the variable holds them: converted to its type, and quantized.
    pub(crate) fn as_held<'v>(&self, values: &'v Values) -> Result<Cow<'v, Values>> {
        let base = self.ty().and_then(|ty| self.dataset.snapshot().base_atomic(ty));
        let mut values = match base {
            Some(base) if values.atomic() != Some(base) => {
                let (cast, report) = ncirrus_engine::convert::cast(values, base)?;
                in_range(report)?;
                Cow::Owned(cast)
            }
            _ => Cow::Borrowed(values),
        };
        if let Some(quantize) = self.quantization() {
            let fill = self.with(ncirrus_model::Variable::fill_value).flatten();
            let fill = fill.unwrap_or_else(|| values.empty_like());
            quantize.apply(values.to_mut(), &fill);
        }
        Ok(values)
    }

    /// Writes numbers to a selection; see [`write_values`](Self::write_values). Numbers of the variable's own type are
    /// copied only into the chunks.
    ///
    /// # Errors
    /// As [`write_values`](Self::write_values).
    pub fn write<T: Element>(&self, selection: &Selection, numbers: &[T]) -> Result<()> {
        if self.ty() != Some(TypeRef::Atomic(T::ATOMIC)) || self.quantization().is_some() {
            return self.write_values(selection, &T::into_values(numbers.to_vec()));
        }
        let written = self.dataset.write_native(self.id, selection, T::ATOMIC, bytemuck::cast_slice(numbers));
        written.map_err(|error| error.at_path(self.path()))
    }

    /// Writes all values: `numbers` has as many elements as the variable's current shape.
    ///
    /// # Errors
    /// As [`write_values`](Self::write_values).
    pub fn write_all<T: Element>(&self, numbers: &[T]) -> Result<()> {
        self.write(&Selection::all(&self.shape()), numbers)
    }

    fn with<T>(&self, look: impl FnOnce(&ncirrus_model::Variable) -> T) -> Option<T> {
        self.dataset.snapshot().variable(self.id).map(look)
    }
}

/// Numbers that do not fit the target type are an error (`NC_ERANGE`).
fn in_range(report: RangeReport) -> Result<()> {
    match report.first {
        None => Ok(()),
        Some(first) => {
            let message = format!("{} values do not fit the type, the first at {first}", report.count);
            Err(Error::invalid(message))
        }
    }
}

#[cfg(test)]
mod tests;
