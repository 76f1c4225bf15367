//! Aggregations that are written part by part.
use crate::codecs;
use crate::dataset::Dataset;
use crate::errors::wait;
use crate::options::Keywords;
use crate::selection::resolved;
use crate::session::Session;
use crate::tools::MasterWords;
use crate::values;
use ncirrus::internals::DatasetInternals;
use ncirrus::layout::grid::AxisBlocks;
use ncirrus::{CodecSpec, Error, ErrorKind};
use ncirrus_tools::aggregate::{
    AggregationWriter as Writer, ArrayDivision, AxisKind, DEFAULT_SIZE, DividedAxis, FragmentStorage,
    MasterOptions, WriterOptions, master_options,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{PoisonError, RwLock};

/// An aggregation that is being written; gone once it was closed.
#[pyclass(frozen, weakref, module = "ncirrus._ncirrus")]
pub(crate) struct AggregationWriter {
    url: String,
    session: ncirrus::Session,
    writer: RwLock<Option<Writer>>,
}

#[pymethods]
impl AggregationWriter {
    /// Starts a new aggregation.
    #[staticmethod]
    fn create(
        py: Python<'_>,
        url: &str,
        options: &Bound<'_, PyDict>,
        session: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let session = Session::of(session)?;
        let options = writer_options(options, MasterOptions::default())?;
        let writer = wait(py, || Writer::create(url, &options, &session))?;
        Ok(Self { url: url.to_owned(), session, writer: RwLock::new(Some(writer)) })
    }

    /// Opens an aggregation for changing; it stays of its convention.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        url: &str,
        options: &Bound<'_, PyDict>,
        session: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let session = Session::of(session)?;
        let like = wait(py, || match master_options(url, &session) {
            // One without aggregated variables yet.
            Err(error) if error.kind() == ErrorKind::Invalid => Ok(MasterOptions::default()),
            found => found,
        })?;
        let options = writer_options(options, like)?;
        let writer = wait(py, || Writer::open(url, &options, &session))?;
        Ok(Self { url: url.to_owned(), session, writer: RwLock::new(Some(writer)) })
    }

    /// The master, in which aggregated variables are scalars.
    fn master(&self, py: Python<'_>) -> PyResult<Dataset> {
        let master = self.look(py, |writer| Ok(writer.dataset().clone()))?;
        Ok(Dataset::of_facade(master, self.session.clone()))
    }

    /// Puts a variable that the master has as a scalar into fragments, along the dimensions of these paths.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn divide(&self, py: Python<'_>, path: &str, dims: Vec<String>, how: &Bound<'_, PyDict>) -> PyResult<()> {
        let words = Keywords::new(how, "divide")?;
        let letters: Vec<Option<String>> = words.take("axes")?.unwrap_or_default();
        let division = ArrayDivision {
            shape: words.take("shape")?,
            max_size: words.size("max_size")?.unwrap_or(DEFAULT_SIZE),
            like_s3netcdf4: words.take("like_s3netcdf4")?.unwrap_or(false),
        };
        let filters = filters_of(words.object("filters")?)?;
        let chunks: Option<Vec<u64>> = words.take("chunks")?;
        words.done()?;
        self.look(py, |writer| {
            let blocks = blocks(writer, path, (&dims, &letters), &division)?;
            writer.divide_variable(path, &dims, FragmentStorage { blocks, filters, chunks })
        })
    }

    /// Names of the dimensions of an aggregated variable, which of them grow, and the filters of its fragments; nothing
    /// for other variables.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn division<'py>(
        &self,
        py: Python<'py>,
        path: &str,
    ) -> PyResult<Option<(Bound<'py, PyTuple>, Vec<bool>, Vec<Bound<'py, PyDict>>)>> {
        let (model, division) =
            self.look(py, |writer| Ok((writer.dataset().snapshot(), writer.division(path))))?;
        let Some((dims, storage)) = division else { return Ok(None) };
        let dims: Vec<_> = dims.iter().filter_map(|dim| model.dimension(*dim)).collect();
        let names = PyTuple::new(py, dims.iter().map(|dim| dim.name.as_str()))?;
        let grows = dims.iter().map(|dim| dim.len.is_unlimited()).collect();
        let filters =
            storage.filters.iter().map(|filter| codecs::to_python(py, filter)).collect::<PyResult<_>>()?;
        Ok(Some((names, grows, filters)))
    }

    /// Present lengths of an aggregated variable.
    fn shape<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.look(py, |writer| writer.shape(path))?)
    }

    /// Lengths of the fragments of an aggregated variable along each of its dimensions.
    fn sizes(&self, py: Python<'_>, path: &str) -> PyResult<Vec<Vec<u64>>> {
        self.look(py, |writer| writer.fragment_sizes(path))
    }

    /// Writes an array in C order, of the variable's dtype, to axes that were resolved.
    fn write(
        &self,
        py: Python<'_>,
        path: &str,
        axes: &Bound<'_, PyAny>,
        array: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let selection = resolved(axes)?;
        let (model, ty) = self.look(py, |writer| {
            let variable = writer.dataset().variable(path)?;
            let ty = variable.ty().ok_or_else(|| Error::not_found("the variable was removed"))?;
            Ok((writer.dataset().model()?, ty))
        })?;
        let values = values::from_array(&model, ty, &array.call_method1("reshape", (-1,))?)?;
        self.look(py, |writer| writer.write_selection(path, &selection, &values))
    }

    /// The aggregated variables as they are now, for reading.
    fn view(&self, py: Python<'_>) -> PyResult<Dataset> {
        let view = self.look(py, Writer::view)?;
        Ok(Dataset::of_facade(view, self.session.clone()))
    }

    /// The address of a fragment, its start and its shape.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn fragment_at(
        &self,
        py: Python<'_>,
        path: &str,
        at: Vec<usize>,
    ) -> PyResult<(String, Vec<u64>, Vec<u64>)> {
        let (url, region) = self.look(py, |writer| writer.fragment_at(path, &at))?;
        Ok((url, region.start, region.count))
    }

    /// Makes a variable of any dataset the fragment at a place.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn place(&self, py: Python<'_>, path: &str, at: Vec<usize>, url: &str, variable: &str) -> PyResult<()> {
        self.look(py, |writer| writer.place_fragment(path, &at, url, variable))
    }

    /// Takes over fragments that others wrote.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn adopt(&self, py: Python<'_>, path: &str, places: Vec<Vec<usize>>) -> PyResult<()> {
        self.look(py, |writer| places.iter().try_for_each(|at| writer.adopt_fragment(path, at)))
    }

    /// Writes the master, and goes on with it.
    fn reopen(&self, py: Python<'_>) -> PyResult<()> {
        let Some(writer) = self.take() else {
            return self.look(py, |_| Ok(()));
        };
        let again = wait(py, || writer.reopen())?;
        *self.writer.write().unwrap_or_else(PoisonError::into_inner) = Some(again);
        Ok(())
    }

    /// Writes the master.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self.take() {
            Some(writer) => wait(py, || writer.close()),
            None => Ok(()),
        }
    }

    /// Ends without a master.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        match self.take() {
            Some(writer) => wait(py, || writer.abort()),
            None => Ok(()),
        }
    }

    /// Keeps what it holds for as long as the process lives: after a fork nothing of it can be ended.
    fn leak(&self) {
        std::mem::forget(self.take());
    }
}

impl AggregationWriter {
    fn look<T: Send>(
        &self,
        py: Python<'_>,
        look: impl FnOnce(&Writer) -> ncirrus::Result<T> + Send,
    ) -> PyResult<T> {
        wait(py, || match &*self.writer.read().unwrap_or_else(PoisonError::into_inner) {
            Some(writer) => look(writer),
            None => Err(Error::invalid("the dataset was closed").at_object(&self.url)),
        })
    }

    fn take(&self) -> Option<Writer> {
        self.writer.write().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn writer_options(given: &Bound<'_, PyDict>, like: MasterOptions) -> PyResult<WriterOptions> {
    let words = Keywords::new(given, "AggregationWriter")?;
    let fragments = words.take::<String>("fragments")?;
    let replaces: bool = words.take("replace_fragments")?.unwrap_or(false);
    let fragment_kind = words.word("fragment_kind", &crate::options::KINDS)?;
    let master = MasterWords::take(&words)?.changing(like);
    words.done()?;
    Ok(WriterOptions::new()
        .master(master)
        .fragments(fragments)
        .fragment_kind(fragment_kind)
        .replace_fragments(replaces))
}

fn filters_of(given: Option<Bound<'_, PyAny>>) -> PyResult<Vec<CodecSpec>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    given.try_iter()?.map(|filter| codecs::of_python(&filter?)).collect()
}

/// The fragments of a variable that the master has as a scalar; kinds of axes that are not given follow from names and
/// attributes.
fn blocks(
    writer: &Writer,
    path: &str,
    (dims, letters): (&[String], &[Option<String>]),
    division: &ArrayDivision,
) -> ncirrus::Result<Vec<AxisBlocks>> {
    let model = writer.dataset().model()?;
    let letter = |at: usize| letters.get(at).cloned().flatten();
    let axis = |(at, dim): (usize, &String)| {
        let id = model
            .dimension_at(dim)
            .ok_or_else(|| Error::no_member(ncirrus::Member::Dimension, format_args!("{dim:?}")))?;
        let len = model.dimension(id).map(|dim| dim.len);
        let kind = letter(at).and_then(|letter| AxisKind::from_letter(&letter));
        Ok(DividedAxis {
            len: len.map_or(0, |len| len.current()),
            grows: len.is_some_and(|len| len.is_unlimited()),
            kind: kind.unwrap_or_else(|| AxisKind::of(&model, id)),
        })
    };
    let axes: Vec<DividedAxis> = dims.iter().enumerate().map(axis).collect::<ncirrus::Result<_>>()?;
    let element = model.variable_at(path).and_then(|var| model.variable(var)).map(|variable| variable.ty);
    // Text has no length of its own: as `split` counts it.
    let element_len = element.and_then(|ty| model.packed_len(ty)).unwrap_or(16);
    division.blocks(&axes, element_len).map_err(|error| error.at_path(path.to_owned()))
}
