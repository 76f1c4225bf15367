//! A variable.
use crate::attributes;
use crate::codecs;
use crate::decoding::Decoding;
use crate::definitions;
use crate::elements::ElementForm;
use crate::errors::{exception, wait};
use crate::held_elements::HeldNumbers;
use crate::inspecting;
use crate::marking::{Marked, Marks};
use crate::model::OpenDataset;
use crate::pending::Pending;
use crate::reading::{self, Wanted};
use crate::selection::{Selected, indices, plain, resolved};
use crate::types::{self, Described, describe};
use crate::values;
use crate::writing::{self, Target};
use ncirrus::{
    AttributeState, DimensionLen, Endianness, Error, NodeId, PointSelection, Selection, Storage, TypeRef,
    VarId,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::sync::{Arc, OnceLock};

/// A variable of an open dataset.
#[pyclass(frozen, module = "ncirrus._ncirrus")]
pub(crate) struct Variable {
    open: Arc<OpenDataset>,
    id: VarId,
    dtype: PyOnceLock<Py<PyAny>>,
    /// What is known of single elements, from the first read on.
    held: OnceLock<Option<HeldNumbers>>,
}

#[pymethods]
impl Variable {
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |variable| variable.name.clone())
    }

    fn path(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.open.model(py)?.variable_path(self.id))
    }

    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.open.model(py)?.shape(self.id))
    }

    /// Which axes may grow.
    fn growing(&self, py: Python<'_>) -> PyResult<Vec<bool>> {
        Ok(self.open.model(py)?.growing(self.id))
    }

    /// How far the variable reaches itself along each axis.
    fn reach(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.facade(py)?.reach().map_err(|error| exception(py, &error))
    }

    /// Lets the dimension of an axis grow, in formats where any may.
    fn make_unlimited(&self, py: Python<'_>, axis: usize) -> PyResult<()> {
        let model = self.open.model(py)?;
        let dims = self.look(py, |variable| variable.dims.clone())?;
        let Some(&dim) = dims.get(axis) else { return Ok(()) };
        let refused = |why: &str| {
            let error = Error::invalid(format!("axis {axis} cannot grow: {why}"));
            Err(exception(py, &error.at_path(model.variable_path(self.id))))
        };
        let name = model.dimension(dim).map(|dimension| dimension.name.as_str()).unwrap_or_default();
        if dims.iter().filter(|other| **other == dim).count() > 1 {
            return refused(&format!("another axis has the dimension {name}, too"));
        }
        if name.starts_with("_Anonymous_Dim_") && model.users_of(dim).count() > 1 {
            return refused("it has no dimension of its own, and other variables would grow, too");
        }
        self.open.edit(py, |model| {
            let len = model.dimension(dim).map_or(0, |dimension| dimension.len.current());
            Ok(model.set_dimension_len(dim, DimensionLen::Unlimited(len))?)
        })
    }

    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let model = self.open.model(py)?;
        let ids = self.look(py, |variable| variable.dims.clone())?;
        let name = |id| model.dimension(id).map(|dim| dim.name.clone()).unwrap_or_default();
        PyTuple::new(py, ids.into_iter().map(name))
    }

    /// The type, described.
    fn ty<'py>(&self, py: Python<'py>) -> PyResult<Described<'py>> {
        let model = self.open.model(py)?;
        describe(py, &model, self.type_ref(py)?)
    }

    pub(crate) fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let made = self.dtype.get_or_try_init(py, || types::dtype(py, &self.ty(py)?).map(Bound::unbind))?;
        Ok(made.bind(py).clone())
    }

    /// How the elements lie: a word, and the shape of chunks.
    fn storage(&self, py: Python<'_>) -> PyResult<(&'static str, Option<Vec<u64>>)> {
        self.look(py, |variable| match &variable.storage {
            Storage::Default => ("default", None),
            Storage::Contiguous => ("contiguous", None),
            Storage::Compact => ("compact", None),
            Storage::Chunked(chunks) => ("chunked", Some(chunks.clone())),
            Storage::Virtual => ("virtual", None),
        })
    }

    /// The shape of shards, if the chunks share objects.
    fn shards(&self, py: Python<'_>) -> PyResult<Option<Vec<u64>>> {
        self.look(py, |variable| variable.shards.as_ref().map(|shards| shards.shape.clone()))
    }

    fn filters<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let filters = self.look(py, |variable| variable.filters.clone())?;
        filters.iter().map(|filter| codecs::to_python(py, filter)).collect()
    }

    /// The fill value as an array of one element; nothing for the default, and the word `none` where there is none.
    fn fill<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let model = self.open.model(py)?;
        definitions::fill(py, &model, self.id)
    }

    fn endian(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.look(py, |variable| match variable.endianness {
            Endianness::Native => "native",
            Endianness::Little => "little",
            Endianness::Big => "big",
        })
    }

    fn fault(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.look(py, |variable| variable.fault.as_ref().map(ToString::to_string))
    }

    fn is_aggregated(&self, py: Python<'_>) -> PyResult<bool> {
        let variable = self.defined(py)?;
        wait(py, || Ok(variable.is_aggregated()))
    }

    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        attributes::all(py, &self.open, NodeId::Variable(self.id))
    }

    /// Adds or replaces attributes, all together; with `fills`, `_FillValue` is refused where elements may have been filled.
    #[pyo3(signature = (given, fills=false))]
    fn set_attributes(&self, py: Python<'_>, given: &Bound<'_, PyDict>, fills: bool) -> PyResult<()> {
        attributes::set(py, &self.open, NodeId::Variable(self.id), (given, fills))
    }

    /// Adds or replaces an attribute that is one text: a string of any length or characters, by default as the dataset's kind has it.
    #[pyo3(signature = (name, text, as_string=None))]
    fn set_text(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyString>,
        text: &Bound<'_, PyString>,
        as_string: Option<bool>,
    ) -> PyResult<()> {
        attributes::set_text(py, &self.open, NodeId::Variable(self.id), (name, text, as_string))
    }

    fn remove_attribute(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        attributes::remove(py, &self.open, NodeId::Variable(self.id), name)
    }

    fn rename_attribute(&self, py: Python<'_>, old: &str, new: &str) -> PyResult<()> {
        attributes::rename(py, &self.open, NodeId::Variable(self.id), old, new)
    }

    /// numpy's word for what the store says beyond netCDF's types, where it has one.
    fn stored_dtype(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.defined(py)?.stored_type().as_ref().and_then(types::numpy_word))
    }

    /// How values are decoded by the attributes.
    fn decoding(&self, py: Python<'_>) -> PyResult<Decoding> {
        Decoding::of(py, &self.facade(py)?)
    }

    fn rename(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.open.edit(py, |model| Ok(model.rename_variable(self.id, name)?))
    }

    /// What integers, forward slices and an ellipsis select; nothing for indices of other kinds, and for more bytes than
    /// the session's memory.
    fn get<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(array) = self.held_element(py, key)? {
            return array.get_item(PyTuple::empty(py)).map(Some);
        }
        let Some((array, selected)) = self.read_plain(py, key)? else { return Ok(None) };
        if selected.shape.is_empty() && !selected.has_dots {
            return array.get_item(PyTuple::empty(py)).map(Some);
        }
        Ok(Some(array))
    }

    /// As `get`, with what is missing among the values, if anything is; a single element is an array without axes.
    fn get_marked<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        marks: &Marks,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Option<Marked<'py>>)>> {
        if let Some(array) = self.held_element(py, key)? {
            let marked = marks.mask_of(py, (&array, &[]))?;
            return Ok(Some((array, marked)));
        }
        let Some((array, selected)) = self.read_plain(py, key)? else { return Ok(None) };
        let marked = marks.mask_of(py, (&array, &selected.shape))?;
        Ok(Some((array, marked)))
    }

    /// A new array with the values of axes that were resolved.
    fn read<'py>(&self, py: Python<'py>, axes: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (variable, selection) = (self.facade(py)?, resolved(axes)?);
        let shape = lens(&selection)?;
        let wanted = (&Wanted::Selection(&selection), shape.as_slice());
        let array = reading::new_array(py, &variable, wanted, &self.dtype(py)?, self.form(py)?)?;
        self.open.warn_of_filled(py).map(|()| array)
    }

    /// Fills an array in C order with the values of axes that were resolved.
    fn read_into(&self, py: Python<'_>, axes: &Bound<'_, PyAny>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let selection = resolved(axes)?;
        reading::into_array(py, &self.facade(py)?, &Wanted::Selection(&selection), out, self.form(py)?)?;
        self.open.warn_of_filled(py)
    }

    /// A new array with the values of single elements, whose indices are given by axis.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn read_points<'py>(&self, py: Python<'py>, axes: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let points = points(py, &axes)?;
        let shape = [points.count()];
        let wanted = (&Wanted::Points(&points), shape.as_slice());
        let array = reading::new_array(py, &self.facade(py)?, wanted, &self.dtype(py)?, self.form(py)?)?;
        self.open.warn_of_filled(py).map(|()| array)
    }

    /// Begins to read axes that were resolved; the callable is given an array of one dimension, or an error.
    fn begin_read(&self, py: Python<'_>, axes: &Bound<'_, PyAny>, callable: Py<PyAny>) -> PyResult<Pending> {
        let (variable, selection) = (self.facade(py)?, resolved(axes)?);
        match self.form(py)? {
            ElementForm::Columns => self.begin_values(py, variable.values_async(selection), callable),
            _ => self.begin_bytes(py, variable.read_bytes_async(selection), callable),
        }
    }

    /// Begins to read single elements, whose indices are given by axis; the callable is given an array, or an error.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn begin_read_points(
        &self,
        py: Python<'_>,
        axes: Vec<Bound<'_, PyAny>>,
        callable: Py<PyAny>,
    ) -> PyResult<Pending> {
        let (variable, points) = (self.facade(py)?, points(py, &axes)?);
        match self.form(py)? {
            ElementForm::Columns => self.begin_values(py, variable.point_values_async(points), callable),
            _ => self.begin_bytes(py, variable.read_points_async(points), callable),
        }
    }

    /// Writes an array in C order, of the variable's dtype, to axes that were resolved.
    fn write(&self, py: Python<'_>, axes: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let (variable, model) = (self.facade(py)?, self.open.model(py)?);
        let target = Target::Selection(&resolved(axes)?);
        writing::from_array(py, &variable, &target, array, (&model, self.type_ref(py)?))
    }

    /// Writes an array in C order, of the variable's dtype, to single elements, whose indices are given by axis. Of an
    /// element that is given twice the last value counts.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn write_points(
        &self,
        py: Python<'_>,
        axes: Vec<Bound<'_, PyAny>>,
        array: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (variable, model) = (self.facade(py)?, self.open.model(py)?);
        let points = points(py, &axes)?;
        writing::from_array(py, &variable, &Target::Points(&points), array, (&model, self.type_ref(py)?))
    }

    /// How axes that were resolved would be read.
    fn plan<'py>(&self, py: Python<'py>, axes: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        inspecting::plan(py, &self.facade(py)?, &resolved(axes)?)
    }

    fn fragments<'py>(&self, py: Python<'py>, axes: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        inspecting::fragments(py, &self.facade(py)?, &resolved(axes)?)
    }

    fn stored_chunks(
        &self,
        py: Python<'_>,
        axes: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<inspecting::ChunkTuple>> {
        inspecting::chunks(py, &self.facade(py)?, &resolved(axes)?)
    }

    fn chunk_lengths(&self, py: Python<'_>) -> PyResult<Option<Vec<Vec<u64>>>> {
        inspecting::chunk_lengths(py, &self.facade(py)?)
    }

    fn stored_bytes(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let variable = self.facade(py)?;
        wait(py, || Ok(ncirrus_tools::stored_bytes(variable.dataset(), variable.id())))
    }

    /// How elements are filled that were never written: `own`, `default` or `none`.
    fn fill_mode(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.look(py, |variable| match (variable.is_filled(), variable.own_fill()) {
            (false, _) => "none",
            (true, Some(_)) => "own",
            (true, None) => "default",
        })
    }

    /// Whether the attributes are at hand.
    fn has_attributes(&self, py: Python<'_>) -> PyResult<bool> {
        self.look(py, |variable| !matches!(variable.attributes, AttributeState::Pending))
    }
}

/// Lengths of what is selected.
fn lens(selection: &Selection) -> PyResult<Vec<usize>> {
    Ok(selection.shape().into_iter().map(usize::try_from).collect::<Result<_, _>>()?)
}

/// Single elements, by their indices along each axis.
fn points(py: Python<'_>, axes: &[Bound<'_, PyAny>]) -> PyResult<PointSelection> {
    let axes = axes.iter().map(indices).collect::<PyResult<Vec<_>>>()?;
    PointSelection::new(axes).map_err(|error| exception(py, &error.into()))
}

impl Variable {
    /// A single number that is in memory, as an array without axes; nothing for other indices and elements.
    fn held_element<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let dataset = self.open.dataset(py)?;
        let held = self.held.get_or_init(|| HeldNumbers::of(&dataset, self.id));
        Ok(held.as_ref().and_then(|held| held.element(&dataset, key)))
    }

    /// A new array with the values of a plain index; nothing for others, and for more bytes than the session's memory.
    fn read_plain<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Selected)>> {
        let variable = self.facade(py)?;
        let Some(selected) = plain(key, &variable.shape())? else { return Ok(None) };
        let element = variable.packed_len().unwrap_or(0).max(1);
        let len = selected.shape.iter().try_fold(element, |product, len| product.checked_mul(*len));
        if len.is_none_or(|len| len > variable.dataset().session().memory()) {
            return Ok(None);
        }
        let wanted = (&Wanted::Selection(&selected.selection), selected.shape.as_slice());
        let array = reading::new_array(py, &variable, wanted, &self.dtype(py)?, self.form(py)?)?;
        self.open.warn_of_filled(py)?;
        Ok(Some((array, selected)))
    }

    /// Begins to read values in columns.
    fn begin_values(
        &self,
        py: Python<'_>,
        work: impl Future<Output = ncirrus::Result<ncirrus::Values>> + Send + 'static,
        callable: Py<PyAny>,
    ) -> PyResult<Pending> {
        let (dtype, session) = (self.dtype(py)?.unbind(), self.facade(py)?.dataset().session().clone());
        let open = Arc::clone(&self.open);
        let make = move |py: Python<'_>, values| {
            open.warn_of_filled(py)?;
            values::to_array(py, values, dtype.bind(py)).map(Bound::unbind)
        };
        Pending::begin(py, &session, work, make, callable)
    }

    /// Begins to read values as bytes.
    fn begin_bytes(
        &self,
        py: Python<'_>,
        work: impl Future<Output = ncirrus::Result<Vec<u8>>> + Send + 'static,
        callable: Py<PyAny>,
    ) -> PyResult<Pending> {
        let (dtype, session) = (self.dtype(py)?.unbind(), self.facade(py)?.dataset().session().clone());
        let open = Arc::clone(&self.open);
        let make = move |py: Python<'_>, bytes: Vec<u8>| {
            open.warn_of_filled(py)?;
            let array = PyArray1::from_vec(py, bytes).into_any();
            array.call_method1("view", (dtype,)).map(Bound::unbind)
        };
        Pending::begin(py, &session, work, make, callable)
    }

    pub(crate) fn new(open: &Arc<OpenDataset>, id: VarId) -> Self {
        Self { open: Arc::clone(open), id, dtype: PyOnceLock::new(), held: OnceLock::new() }
    }

    /// The facade's handle, which may have no values yet.
    fn defined(&self, py: Python<'_>) -> PyResult<ncirrus::Variable> {
        Ok(self.open.dataset(py)?.variable_by_id(self.id))
    }

    /// The facade's handle, for values.
    pub(crate) fn facade(&self, py: Python<'_>) -> PyResult<ncirrus::Variable> {
        self.open.variable(py, self.id)
    }

    fn form(&self, py: Python<'_>) -> PyResult<ElementForm> {
        Ok(ElementForm::of(&*self.open.model(py)?, self.type_ref(py)?))
    }

    /// The facade's id.
    pub(crate) fn id(&self) -> VarId {
        self.id
    }

    /// The facade's id, with axes that were resolved.
    pub(crate) fn selected(&self, axes: &Bound<'_, PyAny>) -> PyResult<(VarId, Selection)> {
        Ok((self.id, resolved(axes)?))
    }

    fn type_ref(&self, py: Python<'_>) -> PyResult<TypeRef> {
        self.look(py, |variable| variable.ty)
    }

    fn look<T>(&self, py: Python<'_>, look: impl FnOnce(&ncirrus::model::Variable) -> T) -> PyResult<T> {
        let model = self.open.model(py)?;
        let gone = || exception(py, &Error::not_found("the variable was removed").at_object(&self.open.url));
        model.variable(self.id).map(look).ok_or_else(gone)
    }
}
