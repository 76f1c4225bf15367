//! Options that come as keywords.
use crate::errors::invalid;
use ncirrus::store::config::parse_size;
use ncirrus::{
    Consolidated, CreateOptions, DefaultChunks, Dialect, FileStructures, Kind, Members, OpenOptions,
    PackedArrays, StringForm,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Keywords, of which each is taken once; what is left at the end is not known.
pub(crate) struct Keywords<'py> {
    left: Bound<'py, PyDict>,
    of: &'static str,
}

impl<'py> Keywords<'py> {
    pub(crate) fn new(given: &Bound<'py, PyDict>, of: &'static str) -> PyResult<Self> {
        Ok(Self { left: given.copy()?, of })
    }

    /// The value of a keyword; nothing when it is not given, or `None`.
    pub(crate) fn object(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(value) = self.left.get_item(name)? else { return Ok(None) };
        self.left.del_item(name)?;
        Ok((!value.is_none()).then_some(value))
    }

    pub(crate) fn take<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let Some(value) = self.object(name)? else { return Ok(None) };
        let extracted = value.extract::<T>();
        extracted.map(Some).map_err(|_| {
            let shown = value.repr().map(|text| text.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!("{name}={shown} is of a type that {} does not take", self.of))
        })
    }

    /// Bytes: a number, or text such as `2G`.
    pub(crate) fn size(&self, name: &str) -> PyResult<Option<u64>> {
        let Some(value) = self.object(name)? else { return Ok(None) };
        if let Ok(text) = value.cast::<PyString>() {
            let size = parse_size(text.to_str()?);
            return size.map(Some).map_err(|error| invalid(value.py(), format!("{name}: {error}")));
        }
        let wrong = |_| invalid(value.py(), format!("{name}={value} is no number of bytes"));
        value.extract::<u64>().map(Some).map_err(wrong)
    }

    /// One of several words.
    pub(crate) fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> PyResult<Option<T>> {
        let Some(text) = self.take::<String>(name)? else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        let known = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        found
            .map(Some)
            .ok_or_else(|| invalid(self.left.py(), format!("{name}={text:?} is none of {}", known())))
    }

    /// Refuses options that were not used.
    pub(crate) fn done(self) -> PyResult<()> {
        match self.left.keys().iter().next() {
            None => Ok(()),
            Some(name) => Err(PyTypeError::new_err(format!("{} has no option {}", self.of, name.repr()?))),
        }
    }
}

/// The kinds by their short names, those of the commands.
pub(crate) const KINDS: [(&str, Kind); 10] = [
    ("nc3", Kind::Nc3),
    ("nc6", Kind::Nc6),
    ("nc5", Kind::Nc5),
    ("nc4", Kind::Nc4),
    ("nc4c", Kind::Nc4Classic),
    ("nc7", Kind::Nc4Classic),
    ("nczarr", Kind::NcZarr),
    ("zarr", Kind::Zarr2),
    ("zarr2", Kind::Zarr2),
    ("zarr3", Kind::Zarr3),
];

pub(crate) fn open_options(given: &Bound<'_, PyDict>) -> PyResult<OpenOptions> {
    let words = Keywords::new(given, "open")?;
    let mut options = OpenOptions::new();
    if let Some(used) = words.take::<bool>("consolidated")? {
        options = options.consolidated(if used { Consolidated::Auto } else { Consolidated::Never });
    }
    let members = [("auto", Members::Auto), ("all", Members::All), ("named", Members::Named)];
    if let Some(members) = words.word("members", &members)? {
        options = options.members(members);
    }
    let packed = [
        ("decoded", PackedArrays::Decoded),
        ("exact", PackedArrays::Exact),
        ("stored", PackedArrays::Stored),
    ];
    options.packed = words.word("packed", &packed)?.unwrap_or_default();
    options.prefer_v2 = words.take("prefer_v2")?.unwrap_or(false);
    options.no_repairs = words.take("no_repairs")?.unwrap_or(false);
    options.name = words.take("name")?;
    options.raw = words.take("raw")?.unwrap_or(false);
    options.substitutions = words.take("substitutions")?.unwrap_or_default();
    options.aligned = words.take("aligned")?.unwrap_or(false);
    options.expected_tag = words.take("expected_tag")?;
    options.lenient = words.take("lenient")?.unwrap_or(false);
    words.done().map(|()| options)
}

pub(crate) fn create_options(given: &Bound<'_, PyDict>) -> PyResult<CreateOptions> {
    let words = Keywords::new(given, "create")?;
    let structures = [("v18", FileStructures::V18), ("v110", FileStructures::V110)];
    let chunks = [("balanced", DefaultChunks::Balanced), ("netcdf-c", DefaultChunks::NetcdfC)];
    let strings = match words.take::<String>("strings")? {
        None => StringForm::Suited,
        Some(form) => {
            StringForm::parse(&form).map_err(|error| crate::errors::exception(given.py(), &error))?
        }
    };
    let options = CreateOptions::new()
        .kind(words.word("kind", &KINDS)?)
        .overwrite(words.take("overwrite")?.unwrap_or(false))
        .dialect(words.word("dialect", &Dialect::NAMES)?)
        .array_dimensions(words.take("array_dimensions")?.unwrap_or(true))
        .consolidated(words.take("consolidated")?.unwrap_or(true))
        .separator(words.take::<char>("separator")?)
        .header_pad(words.size("header_pad")?)
        .zip_top_folder(words.take("zip_top_folder")?.unwrap_or(false))
        .structures(words.word("structures", &structures)?.unwrap_or_default())
        .default_chunks(words.word("default_chunks", &chunks)?.unwrap_or_default())
        .align(words.size("align")?)
        .reserve(words.size("reserve")?)
        .strings(strings)
        .json_attributes(words.take::<bool>("json_attributes")?);
    words.done().map(|()| options)
}
